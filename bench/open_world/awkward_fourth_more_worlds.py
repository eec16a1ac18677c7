"""Three more small repositories, before and after a step: for `awkward_fourth`."""

# ruff: noqa: E501  (text of files)
from __future__ import annotations

from open_world.worlds import Run

DUPE_BEFORE = {
    ".golangci.yml": """\
linters:
  enable:
    - errcheck
    - govet
    - staticcheck
run:
  timeout: 2m
""",
    "README.md": """\
# dupe

Finds files with the same content.

    dupe [--min-size N] [--workers N] [--csv] DIR...

Files are compared by their MD5 sums. Symbolic links are followed.

Exit codes: 0 if all went well, 1 after an error, 2 for wrong arguments.
""",
    "go.mod": """\
module example.com/dupe

go 1.21

require (
	github.com/spf13/pflag v1.0.5
	golang.org/x/sync v0.6.0
)
""",
    "internal/hash/hash.go": """\
package hash

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
)

// BufferSize is how much is read at once.
const BufferSize = 32 * 1024

// File returns the checksum of a file.
func File(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := md5.New()
	if _, err := io.CopyBuffer(sum, file, make([]byte, BufferSize)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Bytes returns the checksum of some bytes.
func Bytes(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}
""",
    "internal/hash/hash_test.go": """\
package hash

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	os.WriteFile(path, []byte("hello"), 0o644)
	sum, err := File(path)
	if err != nil || sum != "5d41402abc4b2a76b9719d911017c592" {
		t.Fatalf("got %q, %v", sum, err)
	}
}

func TestBytes(t *testing.T) {
	if got := Bytes([]byte("hello")); got != "5d41402abc4b2a76b9719d911017c592" {
		t.Fatalf("got %q", got)
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := File("/nowhere"); err == nil {
		t.Fatal("no error")
	}
}
""",
    "internal/report/report.go": """\
package report

import (
	"fmt"
	"io"
	"strings"

	"example.com/dupe/internal/scan"
)

// Text prints groups for people.
func Text(out io.Writer, groups []scan.Group) {
	for _, group := range groups {
		fmt.Fprintf(out, "%s (%d bytes)\\n", group.Sum, group.Size)
		for _, path := range group.Paths {
			fmt.Fprintf(out, "  %s\\n", path)
		}
	}
}

// CSV prints a line for each file.
func CSV(out io.Writer, groups []scan.Group) {
	for _, group := range groups {
		fmt.Fprintf(out, "%s,%d,%s\\n", group.Sum, group.Size, strings.Join(group.Paths, ","))
	}
}
""",
    "internal/scan/scan.go": """\
package scan

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"example.com/dupe/internal/hash"
)

// Group is a set of files with the same content.
type Group struct {
	Sum   string
	Size  int64
	Paths []string
}

// Find returns the groups of equal files below some roots.
func Find(roots []string, minSize int64, workers int) ([]Group, error) {
	bySize := map[int64][]string{}
	for _, root := range roots {
		if err := walk(root, minSize, bySize); err != nil {
			return nil, err
		}
	}
	var groups []Group
	for size, paths := range bySize {
		if len(paths) < 2 {
			continue
		}
		sums, err := sumAll(paths, workers)
		if err != nil {
			return nil, err
		}
		groups = append(groups, collect(size, paths, sums)...)
	}
	return groups, nil
}

func walk(root string, minSize int64, bySize map[int64][]string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() >= minSize {
			bySize[info.Size()] = append(bySize[info.Size()], path)
		}
		return nil
	})
}

func sumAll(paths []string, workers int) ([]string, error) {
	sums := make([]string, len(paths))
	var group errgroup.Group
	group.SetLimit(workers)
	for at, path := range paths {
		at, path := at, path
		group.Go(func() error {
			sum, err := hash.File(path)
			sums[at] = sum
			return err
		})
	}
	return sums, group.Wait()
}

func collect(size int64, paths, sums []string) []Group {
	bySum := map[string][]string{}
	for at, sum := range sums {
		bySum[sum] = append(bySum[sum], paths[at])
	}
	var groups []Group
	for sum, equal := range bySum {
		if len(equal) > 1 {
			groups = append(groups, Group{Sum: sum, Size: size, Paths: equal})
		}
	}
	return groups
}
""",
    "internal/scan/scan_test.go": """\
package scan

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "same")
	write(t, folder, "b", "same")
	write(t, folder, "c", "else")
	groups, err := Find([]string{folder}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 1 || len(groups[0].Paths) != 2 {
		t.Fatalf("got %v", groups)
	}
}

func TestFindIgnoresSmallFiles(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "x")
	write(t, folder, "b", "x")
	groups, err := Find([]string{folder}, 2, 2)
	if err != nil || len(groups) != 0 {
		t.Fatalf("got %v, %v", groups, err)
	}
}
""",
    "main.go": """\
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"example.com/dupe/internal/report"
	"example.com/dupe/internal/scan"
)

const version = "0.5.1"

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	flags := pflag.NewFlagSet("dupe", pflag.ContinueOnError)
	minSize := flags.Int64P("min-size", "m", 1, "ignore files smaller than this")
	workers := flags.IntP("workers", "w", 4, "files hashed at once")
	asCSV := flags.Bool("csv", false, "print CSV")
	showVersion := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *showVersion {
		fmt.Println(version)
		return 0
	}
	groups, err := scan.Find(flags.Args(), *minSize, *workers)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if *asCSV {
		report.CSV(os.Stdout, groups)
	} else {
		report.Text(os.Stdout, groups)
	}
	return 0
}
""",
}

DUPE_AFTER = {
    ".golangci.yml": DUPE_BEFORE[".golangci.yml"],
    "README.md": """\
# dupe

Finds files with the same content.

    dupe [--min-size N] [--workers N] [--json] [--exclude NAME]... DIR...

Files are compared by their MD5 sums. Symbolic links are followed.

Exit codes: 0 if there are no duplicates, 1 after an error, 2 for wrong arguments, 3 if there are duplicates.
""",
    "go.mod": """\
module example.com/dupe

go 1.22

require (
	github.com/spf13/pflag v1.0.5
	github.com/zeebo/xxh3 v1.0.2
	golang.org/x/sync v0.8.0
)
""",
    "internal/hash/hash.go": """\
package hash

import (
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// BufferSize is how much is read at once.
const BufferSize = 128 * 1024

// File returns the checksum of a file.
func File(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := xxh3.New()
	if _, err := io.CopyBuffer(sum, file, make([]byte, BufferSize)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", sum.Sum64()), nil
}
""",
    "internal/hash/hash_test.go": """\
package hash

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	os.WriteFile(path, []byte("hello"), 0o644)
	sum, err := File(path)
	if err != nil || len(sum) != 16 {
		t.Fatalf("got %q, %v", sum, err)
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := File("/nowhere"); err == nil {
		t.Fatal("no error")
	}
}
""",
    "internal/report/report.go": """\
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"example.com/dupe/internal/scan"
)

// Text prints groups for people.
func Text(out io.Writer, groups []scan.Group) {
	for _, group := range groups {
		fmt.Fprintf(out, "%s (%d bytes)\\n", group.Sum, group.Size)
		for _, path := range group.Paths {
			fmt.Fprintf(out, "  %s\\n", path)
		}
	}
	fmt.Fprintf(out, "%d bytes wasted\\n", Wasted(groups))
}

// JSON prints groups for programs.
func JSON(out io.Writer, groups []scan.Group) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(groups)
}

// Wasted returns how many bytes the copies take.
func Wasted(groups []scan.Group) int64 {
	var bytes int64
	for _, group := range groups {
		bytes += group.Size * int64(len(group.Paths)-1)
	}
	return bytes
}
""",
    "internal/report/report_test.go": """\
package report

import (
	"strings"
	"testing"

	"example.com/dupe/internal/scan"
)

var groups = []scan.Group{{Sum: "ab", Size: 10, Paths: []string{"x", "y", "z"}}}

func TestText(t *testing.T) {
	var out strings.Builder
	Text(&out, groups)
	if !strings.HasSuffix(out.String(), "20 bytes wasted\\n") {
		t.Fatalf("got %q", out.String())
	}
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	if err := JSON(&out, groups); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"Sum": "ab"`) {
		t.Fatalf("got %q", out.String())
	}
}
""",
    "internal/scan/scan.go": """\
package scan

import (
	"io/fs"
	"path/filepath"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"example.com/dupe/internal/hash"
)

// Group is a set of files with the same content.
type Group struct {
	Sum   string
	Size  int64
	Paths []string
}

// Options is what a search is told.
type Options struct {
	MinSize int64
	Workers int
	Exclude []string
}

// Find returns the groups of equal files below some roots.
func Find(roots []string, options Options) ([]Group, error) {
	bySize := map[int64][]string{}
	for _, root := range roots {
		if err := walk(root, options, bySize); err != nil {
			return nil, err
		}
	}
	var groups []Group
	for size, paths := range bySize {
		if len(paths) < 2 {
			continue
		}
		sums, err := sumAll(paths, options.Workers)
		if err != nil {
			return nil, err
		}
		groups = append(groups, collect(size, paths, sums)...)
	}
	sort.Slice(groups, func(i, j int) bool { return groups[i].Size > groups[j].Size })
	return groups, nil
}

func walk(root string, options Options, bySize map[int64][]string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if slices.Contains(options.Exclude, entry.Name()) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Size() >= options.MinSize {
			bySize[info.Size()] = append(bySize[info.Size()], path)
		}
		return nil
	})
}

func sumAll(paths []string, workers int) ([]string, error) {
	sums := make([]string, len(paths))
	var group errgroup.Group
	group.SetLimit(workers)
	for at, path := range paths {
		group.Go(func() error {
			sum, err := hash.File(path)
			sums[at] = sum
			return err
		})
	}
	return sums, group.Wait()
}

func collect(size int64, paths, sums []string) []Group {
	bySum := map[string][]string{}
	for at, sum := range sums {
		bySum[sum] = append(bySum[sum], paths[at])
	}
	var groups []Group
	for sum, equal := range bySum {
		if len(equal) > 1 {
			groups = append(groups, Group{Sum: sum, Size: size, Paths: equal})
		}
	}
	return groups
}
""",
    "internal/scan/scan_test.go": """\
package scan

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "same")
	write(t, folder, "b", "same")
	write(t, folder, "c", "else")
	groups, err := Find([]string{folder}, Options{MinSize: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 1 || len(groups[0].Paths) != 2 {
		t.Fatalf("got %v", groups)
	}
}

func TestFindIgnoresSmallFiles(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "x")
	write(t, folder, "b", "x")
	groups, err := Find([]string{folder}, Options{MinSize: 2, Workers: 2})
	if err != nil || len(groups) != 0 {
		t.Fatalf("got %v, %v", groups, err)
	}
}

func TestFindExcludes(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a", "same")
	write(t, folder, "b", "same")
	groups, err := Find([]string{folder}, Options{Workers: 1, Exclude: []string{"b"}})
	if err != nil || len(groups) != 0 {
		t.Fatalf("got %v, %v", groups, err)
	}
}

func TestFindSkipsLinks(t *testing.T) {
	if os.Getenv("DUPE_LINKS") == "" {
		t.Skip("needs links")
	}
	folder := t.TempDir()
	if err := os.Symlink(write(t, folder, "a", "same"), filepath.Join(folder, "b")); err != nil {
		t.Fatal(err)
	}
	groups, err := Find([]string{folder}, Options{Workers: 1})
	if err != nil || len(groups) != 0 {
		t.Fatalf("got %v, %v", groups, err)
	}
}
""",
    "main.go": """\
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/pflag"

	"example.com/dupe/internal/report"
	"example.com/dupe/internal/scan"
)

const version = "0.6.0"

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	flags := pflag.NewFlagSet("dupe", pflag.ContinueOnError)
	minSize := flags.Int64P("min-size", "m", 4096, "ignore files smaller than this")
	workers := flags.IntP("workers", "w", runtime.NumCPU(), "files hashed at once")
	asJSON := flags.Bool("json", false, "print JSON")
	exclude := flags.StringSlice("exclude", nil, "names to leave out")
	showVersion := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *showVersion {
		fmt.Println(version)
		return 0
	}
	options := scan.Options{MinSize: *minSize, Workers: *workers, Exclude: *exclude}
	groups, err := scan.Find(flags.Args(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if *asJSON {
		err = report.JSON(os.Stdout, groups)
	} else {
		report.Text(os.Stdout, groups)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(groups) > 0 {
		return 3
	}
	return 0
}
""",
}

DUPE_RUNS = [
    Run(command="go mod tidy", exit_code=0, output="go: downloading github.com/zeebo/xxh3 v1.0.2\n"),
    Run(command="gofmt -l .", exit_code=0),
    Run(command="go vet ./...", exit_code=0),
    Run(
        command="go test ./...",
        exit_code=0,
        output=(
            "?   \texample.com/dupe\t[no test files]\nok  \texample.com/dupe/internal/hash\t0.004s\n"
            "ok  \texample.com/dupe/internal/report\t0.003s\nok  \texample.com/dupe/internal/scan\t0.009s\n"
        ),
    ),
    Run(
        command="go test -race -v ./internal/scan",
        exit_code=0,
        output=(
            "--- PASS: TestFind (0.00s)\n--- PASS: TestFindIgnoresSmallFiles (0.00s)\n"
            "--- PASS: TestFindExcludes (0.00s)\n"
            "    scan_test.go:54: needs links\n--- SKIP: TestFindSkipsLinks (0.00s)\n"
            "PASS\nok  \texample.com/dupe/internal/scan\t1.021s\n"
        ),
        passed=3,
        skipped=1,
    ),
    Run(
        command="golangci-lint run",
        exit_code=1,
        output=(
            "internal/hash/hash_test.go:11:14: Error return value of `os.WriteFile` is not checked (errcheck)\n"
            "1 issues:\n* errcheck: 1\n"
        ),
    ),
]

RINGLOG_BEFORE = {
    "CHANGELOG.md": """\
# Changelog

## 0.3.2

- `Ring::len`.

## 0.3.1

- Records are checked with CRC-32.
""",
    "Cargo.toml": """\
[package]
name = "ringlog"
version = "0.3.2"
edition = "2021"
rust-version = "1.70"
license = "MIT"

[features]
default = ["std"]
std = []

[dependencies]
crc32fast = "1.3"
byteorder = "1.5"

[dev-dependencies]
tempfile = "3.8"
""",
    "src/bin/dump.rs": """\
use std::env;
use std::process::exit;

use ringlog::{decode, MAGIC};

fn main() {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: dump FILE");
        exit(64);
    };
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&MAGIC) {
        eprintln!("not a ringlog file");
        exit(1);
    }
    let mut rest = &bytes[MAGIC.len()..];
    while let Ok(record) = decode(rest) {
        println!("{}", String::from_utf8_lossy(&record));
        rest = &rest[6 + record.len()..];
    }
}
""",
    "src/codec.rs": """\
use byteorder::{BigEndian, ByteOrder};

use crate::{Error, MAX_RECORD};

const HEADER: usize = 6;

/// A record with its length and its checksum.
pub fn encode(record: &[u8]) -> Result<Vec<u8>, Error> {
    if record.len() > MAX_RECORD {
        return Err(Error::TooLong(record.len()));
    }
    let mut out = vec![0; HEADER];
    BigEndian::write_u16(&mut out[0..2], record.len() as u16);
    BigEndian::write_u32(&mut out[2..6], crc32fast::hash(record));
    out.extend_from_slice(record);
    Ok(out)
}

/// The record at the beginning of some bytes.
pub fn decode(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    if bytes.len() < HEADER {
        return Err(Error::Corrupt);
    }
    let length = BigEndian::read_u16(&bytes[0..2]) as usize;
    let record = bytes.get(HEADER..HEADER + length).ok_or(Error::Corrupt)?;
    if crc32fast::hash(record) != BigEndian::read_u32(&bytes[2..6]) {
        return Err(Error::Corrupt);
    }
    Ok(record.to_vec())
}
""",
    "src/error.rs": """\
use std::fmt;

/// What may go wrong.
#[derive(Debug)]
pub enum Error {
    TooLong(usize),
    Corrupt,
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLong(length) => write!(out, "record of {length} bytes"),
            Error::Corrupt => write!(out, "corrupt record"),
            Error::Io(error) => write!(out, "{error}"),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Io(error)
    }
}
""",
    "src/lib.rs": """\
//! A log in a file of fixed size; new records take the place of the oldest.

mod codec;
mod error;
mod ring;

pub use codec::{decode, encode};
pub use error::Error;
pub use ring::Ring;

/// The largest record, in bytes.
pub const MAX_RECORD: usize = 4096;
/// What a file begins with.
pub const MAGIC: [u8; 4] = *b"RLG1";
""",
    "src/ring.rs": """\
use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use crate::{decode, encode, Error, MAGIC};

/// The records that fit.
pub struct Ring {
    capacity: usize,
    used: usize,
    records: VecDeque<Vec<u8>>,
}

impl Ring {
    pub fn new(capacity: usize) -> Self {
        Ring { capacity, used: 0, records: VecDeque::new() }
    }

    pub fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        let encoded = encode(record)?;
        while self.used + encoded.len() > self.capacity {
            self.pop();
        }
        self.used += encoded.len();
        self.records.push_back(encoded);
        Ok(())
    }

    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let encoded = self.records.pop_front()?;
        self.used -= encoded.len();
        decode(&encoded).ok()
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut bytes = MAGIC.to_vec();
        for each in &self.records {
            bytes.extend_from_slice(each);
        }
        fs::write(path, bytes)?;
        Ok(())
    }
}
""",
    "tests/roundtrip.rs": """\
use ringlog::{decode, encode, Error, Ring, MAX_RECORD};

#[test]
fn there_and_back() {
    assert_eq!(decode(&encode(b"hello").unwrap()).unwrap(), b"hello");
}

#[test]
fn rejects_long_records() {
    let long = vec![0; MAX_RECORD + 1];
    assert!(matches!(encode(&long), Err(Error::TooLong(4097))));
}

#[test]
fn detects_a_flipped_bit() {
    let mut bytes = encode(b"hello").unwrap();
    bytes[8] ^= 1;
    assert!(matches!(decode(&bytes), Err(Error::Corrupt)));
}

#[test]
fn drops_the_oldest() {
    let mut ring = Ring::new(20);
    ring.push(b"first").unwrap();
    ring.push(b"second").unwrap();
    assert_eq!(ring.len(), 1);
}
""",
}

RINGLOG_AFTER = {
    "CHANGELOG.md": RINGLOG_BEFORE["CHANGELOG.md"],
    "Cargo.toml": """\
[package]
name = "ringlog"
version = "0.4.0"
edition = "2021"
rust-version = "1.74"
license = "MIT"

[features]
default = []
serde = []

[dependencies]
crc32fast = "1.4"
thiserror = "1.0.63"

[dev-dependencies]
tempfile = "3.12"
""",
    "src/bin/dump.rs": """\
use std::env;
use std::process::exit;

use ringlog::{decode, HEADER, MAGIC};

fn main() {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: dump FILE");
        exit(64);
    };
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&MAGIC) {
        eprintln!("not a ringlog file");
        exit(65);
    }
    let mut offset = MAGIC.len();
    while let Ok(record) = decode(&bytes, offset) {
        println!("{}", String::from_utf8_lossy(&record));
        offset += HEADER + record.len();
    }
}
""",
    "src/error.rs": """\
use thiserror::Error as ThisError;

/// What may go wrong.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    #[error("record of {0} bytes")]
    TooLong(usize),
    #[error("corrupt record at {offset}")]
    Corrupt { offset: usize },
    #[error("not a ringlog file")]
    BadMagic,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
""",
    "src/frame.rs": """\
use crate::{Error, MAX_RECORD};

pub const HEADER: usize = 6;

/// A record with its length and its checksum.
pub fn encode(record: &[u8]) -> Result<Vec<u8>, Error> {
    if record.len() > MAX_RECORD {
        return Err(Error::TooLong(record.len()));
    }
    let mut out = Vec::with_capacity(HEADER + record.len());
    out.extend_from_slice(&(record.len() as u16).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(record).to_le_bytes());
    out.extend_from_slice(record);
    Ok(out)
}

/// The record at an offset of some bytes.
pub fn decode(bytes: &[u8], offset: usize) -> Result<Vec<u8>, Error> {
    let corrupt = || Error::Corrupt { offset };
    let bytes = bytes.get(offset..).ok_or_else(corrupt)?;
    let (header, rest) = bytes.split_at_checked(HEADER).ok_or_else(corrupt)?;
    let length = u16::from_le_bytes([header[0], header[1]]) as usize;
    let record = rest.get(..length).ok_or_else(corrupt)?;
    if crc32fast::hash(record).to_le_bytes() != header[2..] {
        return Err(corrupt());
    }
    Ok(record.to_vec())
}
""",
    "src/lib.rs": """\
//! A log in a file of fixed size; new records take the place of the oldest.

mod error;
mod frame;
mod ring;

pub use error::Error;
pub use frame::{decode, encode, HEADER};
pub use ring::{Ring, RingBuilder};

/// The largest record, in bytes.
pub const MAX_RECORD: usize = 65_535;
/// What a file begins with.
pub const MAGIC: [u8; 4] = *b"RLG2";
""",
    "src/ring.rs": """\
use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use crate::{decode, encode, Error, HEADER, MAGIC};

/// The records that fit.
#[derive(Debug, Default)]
pub struct Ring {
    capacity: usize,
    used: usize,
    records: VecDeque<Vec<u8>>,
}

/// Makes a ring.
#[derive(Debug, Clone)]
pub struct RingBuilder {
    capacity: usize,
}

impl Default for RingBuilder {
    fn default() -> Self {
        RingBuilder { capacity: 1 << 20 }
    }
}

impl RingBuilder {
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    pub fn build(self) -> Ring {
        Ring { capacity: self.capacity, ..Ring::default() }
    }
}

impl Ring {
    pub fn push(&mut self, record: &[u8]) -> Result<usize, Error> {
        let encoded = encode(record)?;
        let mut dropped = 0;
        while self.used + encoded.len() > self.capacity && self.pop_front().is_some() {
            dropped += 1;
        }
        self.used += encoded.len();
        self.records.push_back(encoded);
        Ok(dropped)
    }

    pub fn pop_front(&mut self) -> Option<Vec<u8>> {
        let encoded = self.records.pop_front()?;
        self.used -= encoded.len();
        decode(&encoded, 0).ok()
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut bytes = MAGIC.to_vec();
        for each in &self.records {
            bytes.extend_from_slice(each);
        }
        fs::write(path, bytes)?;
        Ok(())
    }

    pub fn load(path: &Path, capacity: usize) -> Result<Self, Error> {
        let bytes = fs::read(path)?;
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::BadMagic);
        }
        let mut ring = RingBuilder::default().capacity(capacity).build();
        let mut offset = MAGIC.len();
        while offset < bytes.len() {
            let record = decode(&bytes, offset)?;
            offset += HEADER + record.len();
            ring.push(&record)?;
        }
        Ok(ring)
    }
}
""",
    "tests/persistence.rs": """\
use ringlog::{Error, Ring, RingBuilder};

#[test]
fn saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut ring = RingBuilder::default().build();
    ring.push(b"one").unwrap();
    ring.push(b"two").unwrap();
    ring.save(&path).unwrap();
    let mut loaded = Ring::load(&path, 1024).unwrap();
    assert_eq!(loaded.pop_front().unwrap(), b"one");
    assert_eq!(loaded.len(), 1);
}

#[test]
fn refuses_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, b"RLG1").unwrap();
    assert!(matches!(Ring::load(&path, 1024), Err(Error::BadMagic)));
}

#[test]
#[ignore = "slow"]
fn survives_many_records() {
    let mut ring = RingBuilder::default().build();
    for number in 0..1_000_000u32 {
        ring.push(&number.to_le_bytes()).unwrap();
    }
    assert!(ring.len() > 0);
}
""",
    "tests/roundtrip.rs": """\
use ringlog::{decode, encode, Error, RingBuilder, MAX_RECORD};

#[test]
fn there_and_back() {
    assert_eq!(decode(&encode(b"hello").unwrap(), 0).unwrap(), b"hello");
}

#[test]
fn rejects_long_records() {
    let long = vec![0; MAX_RECORD + 1];
    assert!(encode(&long).is_err());
}

#[test]
fn detects_a_flipped_bit() {
    let mut bytes = encode(b"hello").unwrap();
    bytes[8] ^= 1;
    assert!(matches!(decode(&bytes, 0), Err(Error::Corrupt { offset: 0 })));
}

#[test]
fn drops_the_oldest() {
    let mut ring = RingBuilder::default().capacity(20).build();
    assert_eq!(ring.push(b"first").unwrap(), 0);
    assert_eq!(ring.push(b"second").unwrap(), 1);
}
""",
}

RINGLOG_RUNS = [
    Run(
        command="cargo build",
        exit_code=101,
        output=(
            "error[E0061]: this function takes 2 arguments but 1 argument was supplied\n"
            '  --> src/bin/dump.rs:17:28\nerror: could not compile `ringlog` (bin "dump") due to 1 previous error\n'
        ),
    ),
    Run(
        command="cargo build",
        exit_code=0,
        output="    Finished `dev` profile [unoptimized + debuginfo] target(s) in 1.12s\n",
    ),
    Run(
        command="cargo test",
        exit_code=0,
        output=(
            "     Running tests/persistence.rs\nrunning 3 tests\ntest refuses_other_files ... ok\n"
            "test saved_and_loaded ... ok\ntest survives_many_records ... ignored, slow\n"
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
            "     Running tests/roundtrip.rs\nrunning 4 tests\ntest detects_a_flipped_bit ... ok\n"
            "test drops_the_oldest ... ok\ntest rejects_long_records ... ok\ntest there_and_back ... ok\n"
            "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
        ),
        passed=6,
        skipped=1,
    ),
    Run(
        command="cargo clippy --all-targets -- -D warnings",
        exit_code=101,
        output=(
            "error: struct `Ring` has a public `len` method, but no `is_empty` method\n"
            "error: could not compile `ringlog` (lib) due to 1 previous error\n"
        ),
    ),
]

MAILQ_BEFORE = {
    ".github/workflows/ci.yml": """\
name: ci
on:
  push:
    branches: [main]
jobs:
  test:
    runs-on: ubuntu-22.04
    services:
      postgres:
        image: postgres:14
        env:
          POSTGRES_PASSWORD: test
    steps:
      - uses: actions/checkout@v3
      - uses: actions/setup-python@v4
        with:
          python-version: "3.10"
      - run: pip install -r requirements.txt
      - run: make migrate
      - run: make test
""",
    "Dockerfile": """\
FROM python:3.10-slim
WORKDIR /srv
RUN apt-get update && apt-get install -y libpq-dev gcc
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY . .
ENV MAILQ_CONFIG=/srv/worker/settings.toml
EXPOSE 9000
CMD ["python", "-m", "worker.main"]
""",
    "Makefile": """\
IMAGE ?= mailq
TAG ?= dev

.PHONY: build test lint migrate clean

build:
	docker build -t $(IMAGE):$(TAG) .

test:
	python -m unittest discover -s worker

lint:
	flake8 worker

migrate:
	for f in migrations/*.sql; do psql "$$DATABASE_URL" -f $$f; done

clean:
	rm -rf build *.egg-info
""",
    "docs/ops.md": """\
# Operations

1. `make migrate`
2. `make build`
3. Start the container with `DATABASE_URL` set.

Metrics are off by default. Logs go to standard output.
""",
    "migrations/001_jobs.sql": """\
CREATE TABLE jobs (
    id BIGSERIAL PRIMARY KEY,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
""",
    "migrations/002_failures.sql": """\
CREATE TABLE failures (
    id BIGSERIAL PRIMARY KEY,
    job_id BIGINT REFERENCES jobs (id),
    reason TEXT NOT NULL
);

CREATE INDEX failures_job ON failures (job_id);
""",
    "requirements.txt": """\
psycopg2==2.9.9
jinja2==3.1.3
prometheus-client==0.20.0
""",
    "scripts/wait_for_db.sh": """\
#!/bin/sh
set -e

tries=30
while [ "$tries" -gt 0 ]; do
    if pg_isready -q -d "$DATABASE_URL"; then
        exit 0
    fi
    tries=$((tries - 1))
    sleep 1
done
echo "no database" >&2
exit 1
""",
    "worker/main.py": """\
import os
import smtplib
import time
import tomllib

import psycopg2

CLAIM = "SELECT id, recipient, subject, body FROM jobs ORDER BY id LIMIT 1"


def load_settings(path=None):
    with open(path or os.environ["MAILQ_CONFIG"], "rb") as file:
        return tomllib.load(file)


def connect():
    return psycopg2.connect(os.environ["DATABASE_URL"])


def claim(db):
    with db.cursor() as cursor:
        cursor.execute(CLAIM)
        return cursor.fetchone()


def send(settings, job):
    _, recipient, subject, body = job
    with smtplib.SMTP(settings["smtp"]["host"], settings["smtp"]["port"]) as smtp:
        smtp.sendmail(settings["smtp"]["sender"], recipient, f"Subject: {subject}\\n\\n{body}")


def main():
    settings = load_settings()
    db = connect()
    while True:
        job = claim(db)
        if job is None:
            time.sleep(settings["queue"]["poll_seconds"])
            continue
        send(settings, job)


if __name__ == "__main__":
    main()
""",
    "worker/settings.toml": """\
[smtp]
host = "localhost"
port = 25
sender = "noreply@example.org"

[queue]
poll_seconds = 5
max_tries = 3

[metrics]
enabled = false
""",
}

MAILQ_AFTER = {
    ".github/workflows/ci.yml": """\
name: ci
on:
  push:
    branches: [main]
  pull_request:
jobs:
  lint:
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v4
      - run: pip install ruff==0.6.9
      - run: make lint
  test:
    needs: lint
    runs-on: ubuntu-24.04
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    services:
      postgres:
        image: postgres:16
        env:
          POSTGRES_PASSWORD: test
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python }}
      - run: pip install -r requirements.txt pytest
      - run: scripts/wait-for-db.sh
      - run: make migrate
      - run: make test
""",
    "Dockerfile": """\
FROM python:3.12-slim AS build
WORKDIR /build
COPY requirements.txt .
RUN pip wheel --wheel-dir /wheels -r requirements.txt

FROM python:3.12-slim
WORKDIR /srv
COPY --from=build /wheels /wheels
RUN pip install --no-index /wheels/*.whl && useradd --uid 1001 mailq
COPY . .
ENV MAILQ_CONFIG=/srv/worker/settings.toml
EXPOSE 9102
USER mailq
HEALTHCHECK --interval=30s CMD ["python", "-c", "import worker.main"]
CMD ["python", "-m", "worker.main"]
""",
    "Makefile": """\
IMAGE ?= mailq
TAG ?= latest

.PHONY: build test lint format migrate rollback

build:
	docker build -t $(IMAGE):$(TAG) .

test:
	python -m pytest worker -q

lint:
	ruff check worker

migrate:
	for f in migrations/*.sql; do psql -v ON_ERROR_STOP=1 "$$DATABASE_URL" -f $$f; done

rollback:
	psql "$$DATABASE_URL" -c "DROP TABLE IF EXISTS attempts"

format:
	ruff format worker
""",
    "migrations/001_jobs.sql": MAILQ_BEFORE["migrations/001_jobs.sql"],
    "migrations/002_failures.sql": MAILQ_BEFORE["migrations/002_failures.sql"],
    "migrations/003_attempts.sql": """\
ALTER TABLE jobs ADD COLUMN state TEXT NOT NULL DEFAULT 'queued';
ALTER TABLE jobs ADD COLUMN locked_until TIMESTAMPTZ;
ALTER TABLE jobs ALTER COLUMN subject DROP NOT NULL;

CREATE TABLE attempts (
    id BIGSERIAL PRIMARY KEY,
    job_id BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    error TEXT
);

CREATE INDEX jobs_state ON jobs (state, locked_until);
""",
    "requirements.txt": """\
psycopg[binary]==3.2.3
jinja2==3.1.4
prometheus-client==0.20.0
""",
    "scripts/wait-for-db.sh": """\
#!/bin/sh
set -e

tries=60
while [ "$tries" -gt 0 ]; do
    if pg_isready -q -d "$DATABASE_URL"; then
        exit 0
    fi
    tries=$((tries - 1))
    sleep 2
done
echo "no database" >&2
exit 1
""",
    "worker/main.py": """\
import logging
import os
import smtplib
import time
import tomllib

import psycopg
from prometheus_client import Counter, start_http_server

CLAIM = \"\"\"
UPDATE jobs SET state = 'sending', locked_until = now() + interval '5 minutes', tries = tries + 1
WHERE id = (SELECT id FROM jobs WHERE state = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id, recipient, subject, body
\"\"\"
SENT = Counter("mailq_sent_total", "Mails sent")
FAILED = Counter("mailq_failed_total", "Mails that failed")

log = logging.getLogger("mailq")


def load_settings(path=None):
    with open(path or os.environ["MAILQ_CONFIG"], "rb") as file:
        return tomllib.load(file)


def connect():
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


def claim(db):
    return db.execute(CLAIM).fetchone()


def send(settings, job):
    _, recipient, subject, body = job
    smtp_settings = settings["smtp"]
    with smtplib.SMTP(smtp_settings["host"], smtp_settings["port"], timeout=20) as smtp:
        if smtp_settings["starttls"]:
            smtp.starttls()
        smtp.sendmail(smtp_settings["sender"], recipient, f"Subject: {subject or ''}\\n\\n{body}")


def work_once(settings, db, send=send):
    job = claim(db)
    if job is None:
        return False
    try:
        send(settings, job)
    except (OSError, smtplib.SMTPException) as error:
        log.error("job %s failed: %s", job[0], error)
        FAILED.inc()
        db.execute("INSERT INTO attempts (job_id, error) VALUES (%s, %s)", (job[0], str(error)))
    else:
        SENT.inc()
        db.execute("DELETE FROM jobs WHERE id = %s", (job[0],))
    return True


def main():
    settings = load_settings()
    if settings["metrics"]["enabled"]:
        start_http_server(settings["metrics"]["port"])
    with connect() as db:
        while True:
            if not work_once(settings, db):
                time.sleep(settings["queue"]["poll_seconds"])


if __name__ == "__main__":
    main()
""",
    "worker/settings.toml": """\
[smtp]
host = "localhost"
port = 587
starttls = true
sender = "noreply@example.org"

[queue]
poll_seconds = 2
max_tries = 3

[metrics]
enabled = true
port = 9102
""",
    "worker/test_main.py": """\
from worker.main import load_settings, work_once

JOB = (1, "a@example.org", None, "hello")


class Database:
    def __init__(self, job):
        self.job = job
        self.said = []

    def execute(self, query, values=()):
        self.said.append(query.split()[0])
        return self

    def fetchone(self):
        return self.job


def failing(settings, job):
    raise OSError("refused")


def test_settings():
    assert load_settings("worker/settings.toml")["smtp"]["port"] == 587


def test_no_job():
    assert not work_once({}, Database(None))


def test_sent_jobs_are_deleted():
    db = Database(JOB)
    assert work_once({}, db, send=lambda settings, job: None)
    assert db.said == ["UPDATE", "DELETE"]


def test_failures_are_kept():
    db = Database(JOB)
    assert work_once({}, db, send=failing)
    assert db.said == ["UPDATE", "INSERT"]
""",
}

MAILQ_RUNS = [
    Run(
        command="make lint",
        exit_code=2,
        output=(
            "ruff check worker\nworker/main.py:1:8: F401 [*] `logging` imported but unused\nFound 1 error.\n"
            "make: *** [Makefile:13: lint] Error 1\n"
        ),
    ),
    Run(command="make lint", exit_code=0, output="ruff check worker\nAll checks passed!\n"),
    Run(
        command="make test",
        exit_code=0,
        output=(
            "python -m pytest worker -q\n"
            "....                                                                     [100%]\n"
            "4 passed in 0.19s\n"
        ),
        passed=4,
    ),
    Run(command="sh -n scripts/wait-for-db.sh", exit_code=0),
    Run(
        command="docker build -t mailq:latest .",
        exit_code=1,
        output=(
            "ERROR: failed to solve: python:3.12-slim: failed to resolve source metadata for "
            "docker.io/library/python:3.12-slim\n"
        ),
    ),
]
