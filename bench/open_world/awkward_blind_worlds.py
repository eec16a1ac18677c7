"""Five small repositories, before and after a step, with what was run in it: for `awkward_blind`."""

from __future__ import annotations

from open_world.worlds import Run

COURIER_BEFORE = {
    "courier/queue.py": """\
import time
import os

MAX_RETRIES = 3
BACKOFF = 0.5
DEFAULT_HOST = "localhost"


class Queue:
    \"\"\"Holds messages until they are sent.\"\"\"

    def __init__(self, limit=100):
        self.limit = limit
        self.items = []

    def push(self, item):
        # TODO: refuse duplicates
        if len(self.items) >= self.limit:
            raise ValueError("queue full")
        self.items.append(item)

    def pop(self):
        return self.items.pop(0)

    def drain(self):
        while self.items:
            yield self.pop()


def send(message, host=DEFAULT_HOST):
    for attempt in range(MAX_RETRIES):
        if deliver(message, host):
            return True
        time.sleep(BACKOFF)
    return False


def deliver(message, host):
    return os.path.exists(host) and bool(message)


def legacy_send(message):
    return send(message)
""",
    "courier/cli.py": """\
from courier.queue import legacy_send, send


def main(argv):
    if "--old" in argv:
        return legacy_send(argv[0])
    return send(argv[0])


def version():
    return "1.4.0"
""",
    "courier/store.py": """\
class Store:
    def __init__(self):
        self.rows = {}

    def save(self, key, value):
        self.rows[key] = value

    def load(self, key):
        # TODO: expire old rows
        return self.rows[key]
""",
    "courier/format.py": """\
def render(message):
    lines = message.strip().splitlines()
    return "\\n".join(line.rstrip() for line in lines)


def shorten(message, width=72):
    return message if len(message) <= width else message[: width - 1] + "…"
""",
    "settings.toml": """\
[queue]
limit = 100
retries = 3

[log]
level = "info"
""",
    "tests/test_queue.py": """\
import pytest

from courier.queue import Queue


def test_push():
    queue = Queue()
    queue.push("a")
    assert queue.items == ["a"]


def test_pop_order():
    queue = Queue()
    queue.push("a")
    queue.push("b")
    assert queue.pop() == "a"


def test_full():
    with pytest.raises(ValueError):
        Queue(limit=0).push("a")
""",
    "tests/test_cli.py": """\
from courier.cli import main


def test_main():
    assert main(["hello"]) is False


def test_old_flag():
    assert main(["hello", "--old"]) is False
""",
    "tests/test_store.py": """\
from courier.store import Store


def test_round_trip():
    store = Store()
    store.save("a", 1)
    assert store.load("a") == 1
""",
    "docs/usage.md": """\
# Usage

## Install

Run `pip install courier`.

## Old flag

Pass `--old` for the old path.

## Limits

A queue holds 100 messages.
""",
    "CHANGELOG.md": """\
# Changelog

## 1.4.0

- First public release.
""",
    "pyproject.toml": """\
[project]
name = "courier"
version = "1.4.0"
requires-python = ">=3.9"
dependencies = [
  "click>=8.1",
  "pyyaml>=6.0",
  "rich>=13.7",
]
""",
}
COURIER_AFTER = {
    **{path: text for path, text in COURIER_BEFORE.items() if path != "courier/format.py"},
    "courier/queue.py": """\
import logging
import time
from pathlib import Path

MAX_RETRIES = 5
BACKOFF = 0.5
DEFAULT_HOST = "localhost"

log = logging.getLogger(__name__)


class QueueFull(Exception):
    \"\"\"No room is left.\"\"\"


class Queue:
    \"\"\"Holds messages until they are sent.\"\"\"

    def __init__(self, limit=250):
        self.limit = limit
        self.items = []

    def push(self, item):
        if item in self.items:
            return
        if len(self.items) >= self.limit:
            raise QueueFull("no room for another message")
        self.items.append(item)

    def pop(self):
        return self.items.pop(0)

    def drain(self):
        while self.items:
            yield self.pop()

    def peek(self):
        return self.items[0]


def send(message, host=DEFAULT_HOST, *, timeout=30) -> bool:
    for attempt in range(MAX_RETRIES):
        if deliver(message, host):
            return True
        log.warning("attempt %s failed", attempt)
        time.sleep(BACKOFF)
    return False


def deliver(message, host):
    return Path(host).exists() and bool(message)
""",
    "courier/cli.py": """\
from courier.queue import send


def main(argv):
    return send(argv[0])


def version():
    return "1.5.0"
""",
    "courier/rendering.py": COURIER_BEFORE["courier/format.py"],
    "settings.toml": """\
[queue]
limit = 250
retries = 3

[log]
level = "debug"
file = "courier.log"
""",
    "tests/test_queue.py": """\
import pytest

from courier.queue import Queue, QueueFull


def test_push():
    queue = Queue()
    queue.push("a")
    assert queue.items == ["a"]


def test_pop_order():
    queue = Queue()
    queue.push("a")
    queue.push("b")
    assert queue.pop() == "a"


def test_full():
    with pytest.raises(QueueFull):
        Queue(limit=0).push("a")


def test_duplicates_are_ignored():
    queue = Queue()
    queue.push("a")
    queue.push("a")
    assert queue.items == ["a"]


def test_peek():
    queue = Queue()
    queue.push("a")
    assert queue.peek() == "a"
""",
    "tests/test_cli.py": """\
from courier.cli import main


def test_main():
    assert main(["hello"]) is False
""",
    "docs/usage.md": """\
# Usage

## Install

Run `pip install courier`.

## Limits

A queue holds 250 messages.

## Peeking

`Queue.peek` shows the next message.
""",
    "CHANGELOG.md": """\
# Changelog

## 1.5.0

- `Queue.peek` is new.
- The flag `--old` is gone.

## 1.4.0

- First public release.
""",
    "pyproject.toml": """\
[project]
name = "courier"
version = "1.5.0"
requires-python = ">=3.11"
dependencies = [
  "click>=8.1",
  "rich>=14.0",
  "tenacity>=9.0",
]
""",
}
COURIER_RUNS = [
    Run(command="pytest -q", exit_code=1, output="2 failed, 5 passed in 0.40s\n", passed=5, failed=2),
    Run(command="ruff check courier", exit_code=0, output="All checks passed!\n"),
    Run(command="mypy courier", exit_code=1, output="Found 2 errors in 1 file (checked 4 source files)\n"),
    Run(command="pytest -q", exit_code=0, output="7 passed in 0.31s\n", passed=7),
]

DASH_BEFORE = {
    "src/hooks/useTimer.ts": """\
import { useEffect, useState } from 'react';

export const TICK_MS = 1000;

export function useTimer(start: number) {
  const [left, setLeft] = useState(start);
  useEffect(() => {
    const id = setInterval(() => setLeft((n) => n - 1), TICK_MS);
    return () => clearInterval(id);
  }, []);
  return left;
}

function clamp(n: number): number {
  return n < 0 ? 0 : n;
}
""",
    "src/hooks/useTimer.test.ts": """\
import { useTimer } from './useTimer';

it('counts down', () => {
  expect(useTimer(3)).toBe(3);
});

it.skip('stops at zero', () => {
  expect(useTimer(0)).toBe(0);
});
""",
    "src/components/Clock.tsx": """\
import { useTimer } from '../hooks/useTimer';

export default function Clock({ start }: { start: number }) {
  const left = useTimer(start);
  return <span>{left}</span>;
}
""",
    "src/components/Clock.test.tsx": """\
it('shows the time left', () => {
  expect(1).toBe(1);
});
""",
    "src/components/Header.tsx": """\
export function Header() {
  return <h1>Dashboard</h1>;
}
""",
    "src/index.ts": """\
export { default as Clock } from './components/Clock';
export { useTimer } from './hooks/useTimer';
export { formatDate } from './utils/dates';
""",
    "src/utils/dates.ts": """\
export function formatDate(d: Date): string {
  return d.toISOString();
}

export function parseDate(s: string): Date {
  return new Date(s);
}
""",
    "src/utils/strings.ts": """\
export function slugify(s: string): string {
  return s.toLowerCase().replace(/ /g, '-');
}
""",
    "src/api/routes.ts": """\
export const ROUTES = ['/login', '/home', '/stats'];

export function fetchStats(userId: string) {
  throw new Error('not implemented');
}
""",
    "package.json": """\
{
  "name": "dash",
  "version": "0.3.0",
  "scripts": {
    "test": "vitest run"
  },
  "dependencies": {
    "date-fns": "^3.6.0",
    "lodash": "^4.17.21",
    "react": "^18.2.0"
  },
  "devDependencies": {
    "vitest": "^1.6.0"
  }
}
""",
    "tsconfig.json": """\
{
  "compilerOptions": {
    "strict": false,
    "target": "ES2020"
  }
}
""",
    ".env.example": "API_URL=http://localhost:3000\n",
    "README.md": "# Dash\n\nA dashboard.\n",
}
DASH_AFTER = {
    **{path: text for path, text in DASH_BEFORE.items() if path != "src/utils/strings.ts"},
    "src/hooks/useTimer.ts": """\
import { useCallback, useEffect, useState } from 'react';

export const TICK_MS = 250;

export interface TimerState {
  left: number;
  reset: () => void;
}

export function useTimer(start: number, paused = false): TimerState {
  const [left, setLeft] = useState(start);
  const reset = useCallback(() => setLeft(start), [start]);
  useEffect(() => {
    if (paused) return undefined;
    const id = setInterval(() => setLeft((n) => clamp(n - 1)), TICK_MS);
    return () => clearInterval(id);
  }, [paused]);
  return { left, reset };
}

export function clamp(n: number): number {
  return n < 0 ? 0 : n;
}
""",
    "src/hooks/useTimer.test.ts": """\
import { useTimer } from './useTimer';

it('counts down', () => {
  expect(useTimer(3).left).toBe(3);
});

it('stops at zero', () => {
  expect(useTimer(0).left).toBe(0);
});

it('resets', () => {
  expect(useTimer(3).reset).toBeTruthy();
});

it('can be paused', () => {
  expect(useTimer(3, true).left).toBe(3);
});
""",
    "src/components/Clock.tsx": """\
import { useTimer } from '../hooks/useTimer';

export function Clock({ start }: { start: number }) {
  const { left, reset } = useTimer(start);
  return (
    <span>
      {left}
      <button onClick={reset}>Reset</button>
    </span>
  );
}
""",
    "src/components/Badge.tsx": """\
export function Badge({ label }: { label: string }) {
  return <em>{label}</em>;
}
""",
    "src/index.ts": """\
export { Clock } from './components/Clock';
export { useTimer, clamp } from './hooks/useTimer';
""",
    "src/api/routes.ts": """\
export const ROUTES = ['/home', '/login', '/stats', '/admin'];

export function fetchStats(userId: string) {
  return fetch('/stats?user=' + userId).then((r) => r.json());
}
""",
    "package.json": """\
{
  "name": "dash",
  "version": "0.4.0",
  "scripts": {
    "lint": "eslint src",
    "test": "vitest run"
  },
  "dependencies": {
    "date-fns": "^3.6.0",
    "react": "^18.3.1"
  },
  "devDependencies": {
    "vitest": "^2.1.0"
  }
}
""",
    "tsconfig.json": """\
{
  "compilerOptions": {
    "strict": true,
    "target": "ES2020"
  }
}
""",
    ".env.example": "API_URL=http://localhost:3000\nAPI_TIMEOUT=5000\n",
}
DASH_RUNS = [
    Run(command="npx tsc --noEmit", exit_code=2, output="Found 1 error.\n"),
    Run(command="npm run lint", exit_code=1, output="✖ 4 problems (1 error, 3 warnings)\n"),
    Run(command="npx tsc --noEmit", exit_code=0),
    Run(
        command="npx vitest run",
        exit_code=1,
        output="Tests:       1 failed, 4 passed, 5 total\n",
        passed=4,
        failed=1,
    ),
]

GATE_BEFORE = {
    "internal/server/server.go": """\
package server

import (
	"fmt"
	"net/http"
)

const Port = 8080

type Server struct {
	addr string
}

func New(addr string) *Server {
	return &Server{addr: addr}
}

func (s *Server) Handle(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "ok")
}

func (s *Server) Close() {
}

func parse(text string) string {
	return text
}
""",
    "internal/server/server_test.go": """\
package server

import "testing"

func TestNew(t *testing.T) {
	if New(":0") == nil {
		t.Fatal("no server")
	}
}

func TestHandle(t *testing.T) {
	if Port == 0 {
		t.Fatal("no port")
	}
}
""",
    "internal/text/text.go": """\
package text

func Trim(s string) string {
	return s
}
""",
    "internal/auth/auth.go": """\
package auth

func Check(token string) bool {
	return token != ""
}
""",
    "cmd/gate/main.go": """\
package main

import "example.org/gate/internal/server"

func main() {
	server.New(":8080")
}
""",
    "go.mod": """\
module example.org/gate

go 1.21

require github.com/google/uuid v1.5.0
""",
    "Dockerfile": """\
FROM golang:1.21
WORKDIR /app
COPY . .
RUN go build -o gate ./cmd/gate
EXPOSE 8080
""",
    "config.yaml": """\
server:
  port: 8080
  tls: false
limits:
  burst: 20
""",
    "Makefile": """\
build:
	go build ./...

test:
	go test ./...
""",
    ".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n",
}
GATE_AFTER = {
    **GATE_BEFORE,
    "internal/server/server.go": """\
package server

import (
	"errors"
	"net/http"
	"time"
)

const Port = 9090

// ErrClosed is returned after Close.
var ErrClosed = errors.New("server is closed")

type Server struct {
	addr    string
	timeout time.Duration
}

func New(addr string, timeout time.Duration) *Server {
	return &Server{addr: addr, timeout: timeout}
}

func (s *Server) Handle(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) Close() error {
	return ErrClosed
}
""",
    "internal/server/server_test.go": """\
package server

import "testing"

func TestNew(t *testing.T) {
	if New(":0", 0) == nil {
		t.Fatal("no server")
	}
}

func TestHandle(t *testing.T) {
	if Port == 0 {
		t.Fatal("no port")
	}
}

func TestClose(t *testing.T) {
	if New(":0", 0).Close() != ErrClosed {
		t.Fatal("not closed")
	}
}
""",
    "internal/text/text.go": """\
package text

func Trim(s string) string {
	return s
}

func parse(text string) string {
	return text
}
""",
    "cmd/gate/main.go": """\
package main

import (
	"time"

	"example.org/gate/internal/server"
)

func main() {
	server.New(":9090", 5*time.Second)
}
""",
    "go.mod": """\
module example.org/gate

go 1.22

require (
	github.com/google/uuid v1.6.0
	golang.org/x/sync v0.7.0
)
""",
    "Dockerfile": """\
FROM golang:1.22
WORKDIR /app
COPY . .
RUN go build -o gate ./cmd/gate
EXPOSE 9090
""",
    "config.yaml": """\
server:
  port: 9090
  tls: false
limits:
  burst: 20
  rate: 5
""",
    "Makefile": """\
build:
	go build ./...

lint:
	go vet ./...

test:
	go test ./...
""",
}
GATE_RUNS = [
    Run(command="go build ./...", exit_code=0),
    Run(
        command="go vet ./...",
        exit_code=1,
        output="internal/text/text.go:7:6: func parse is unused\n",
    ),
    Run(command="gofmt -l .", exit_code=0, output="internal/text/text.go\n"),
    Run(
        command="go test -v ./...",
        exit_code=0,
        output=(
            "--- PASS: TestNew (0.00s)\n--- PASS: TestHandle (0.00s)\n--- PASS: TestClose (0.00s)\n"
            "PASS\nok  \texample.org/gate/internal/server\t0.004s\n"
        ),
        passed=3,
    ),
]

SIFT_BEFORE = {
    "src/lib.rs": """\
mod scan;
pub mod report;

pub use scan::Scanner;

pub fn run(path: &str) -> usize {
    Scanner::new(path).count()
}
""",
    "src/scan.rs": """\
pub struct Scanner {
    path: String,
}

impl Scanner {
    pub fn new(path: &str) -> Self {
        Scanner { path: path.to_string() }
    }

    pub fn count(&self) -> usize {
        self.path.len()
    }

    fn skip_hidden(&self) -> bool {
        false
    }
}
""",
    "src/report.rs": """\
pub fn print_report(n: usize) {
    println!("{n}");
}

pub fn to_json(n: usize) -> String {
    format!("{{\\"count\\": {n}}}")
}
""",
    "src/main.rs": """\
fn main() {
    let n = sift::run(".");
    sift::report::print_report(n);
}
""",
    "src/old_scan.rs": """\
pub fn walk(path: &str) -> usize {
    path.len()
}

pub fn walk_deep(path: &str, depth: u32) -> usize {
    path.len() * depth as usize
}
""",
    "docs/intro.md": "# Sift\n\nCounts things.\n",
    "Cargo.toml": """\
[package]
name = "sift"
version = "0.2.0"
edition = "2018"

[dependencies]
clap = "4.5"
log = "0.4"
serde = "1.0.190"
""",
}
SIFT_AFTER = {
    **{path: text for path, text in SIFT_BEFORE.items() if path != "src/old_scan.rs"},
    "src/lib.rs": """\
pub mod report;
mod scan;

pub use scan::{ScanError, Scanner};

pub fn run(path: &str) -> Result<usize, ScanError> {
    Scanner::new(path).count()
}
""",
    "src/scan.rs": """\
#[derive(Debug, PartialEq)]
pub enum ScanError {
    Empty,
    TooLong,
}

pub struct Scanner {
    path: String,
    depth: u32,
}

impl Scanner {
    pub fn new(path: &str) -> Self {
        Scanner { path: path.to_string(), depth: 4 }
    }

    pub fn count(&self) -> Result<usize, ScanError> {
        if self.path.is_empty() {
            return Err(ScanError::Empty);
        }
        Ok(self.path.len())
    }

    fn skip_hidden(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_path_is_an_error() {
        assert_eq!(Scanner::new("").count(), Err(ScanError::Empty));
    }

    #[test]
    #[ignore]
    fn long_path_is_an_error() {
        assert_eq!(Scanner::new("x").count(), Err(ScanError::TooLong));
    }
}
""",
    "src/main.rs": """\
fn main() {
    match sift::run(".") {
        Ok(n) => sift::report::print_report(n),
        Err(e) => eprintln!("scan failed: {e:?}"),
    }
}
""",
    "tests/cli.rs": """\
#[test]
fn counts_the_current_folder() {
    assert_eq!(sift::run("."), Ok(1));
}
""",
    "docs/errors.md": "# Errors\n\n## Empty\n\nThe path is empty.\n\n## TooLong\n\nThe path is too long.\n",
    "Cargo.toml": """\
[package]
name = "sift"
version = "0.2.0"
edition = "2021"

[dependencies]
anyhow = "1.0"
clap = "4.5"
serde = "1.0.203"
""",
}
SIFT_RUNS = [
    Run(command="cargo fmt --check", exit_code=0),
    Run(command="cargo clippy", exit_code=0, output="warning: field `depth` is never read\n"),
    Run(
        command="cargo test",
        exit_code=0,
        output=(
            "test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured\n"
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n"
        ),
        passed=2,
        skipped=1,
    ),
]

SITE_BEFORE = {
    "scripts/build.sh": "#!/bin/sh\nset -e\nmkdir -p out\ncp -r content out/\n",
    "scripts/check_links.py": """\
import re
import sys


def find_links(text):
    return re.findall(r"\\]\\((.*?)\\)", text)


def main(path):
    for link in find_links(open(path).read()):
        if link.startswith("/old"):
            sys.exit("bad link")
""",
    "data/authors.json": '[\n  "linus",\n  "ada",\n  "grace"\n]\n',
    "content/about.md": "# About\n\nWe write about small tools.\n\nWrite to us.\n",
    "content/posts/hello.md": "# Hello\n\nThe first post.\n",
    "assets/style.css": ":root {\n  --accent: #336699;\n  --gap: 8px;\n}\n",
    ".github/workflows/deploy.yml": """\
on:
  push:
    branches: [main]
jobs:
  deploy:
    timeout-minutes: 10
    steps:
      - uses: actions/setup-node@v4
        with:
          node-version: 18
""",
    "nginx.conf": "server {\n  listen 80;\n}\n",
    "LICENSE": "MIT License\n",
}
SITE_AFTER = {
    **{path: text for path, text in SITE_BEFORE.items() if path != "content/about.md"},
    "scripts/build.sh": (
        '#!/bin/sh\nset -eu\nmkdir -p out\ncp -r content out/\necho "built $(ls out | wc -l) folders"\n'
    ),
    "scripts/check_links.py": """\
import re
import sys


def extract_links(text):
    return re.findall(r"\\]\\((.*?)\\)", text)


def main(path):
    for link in extract_links(open(path).read()):
        if link.startswith("/old"):
            sys.exit(f"broken: {link}")
""",
    "data/authors.json": '[\n  "ada",\n  "barbara",\n  "grace",\n  "linus"\n]\n',
    "content/team.md": SITE_BEFORE["content/about.md"],
    "content/posts/second.md": "# Second\n\nThe second post.\n\nWith more words.\n",
    "assets/style.css": ":root {\n  --accent: #993366;\n  --gap: 8px;\n}\n",
    ".github/workflows/deploy.yml": """\
on:
  push:
    branches: [main]
jobs:
  deploy:
    steps:
      - uses: actions/setup-node@v4
        with:
          node-version: 20
""",
}
SITE_RUNS = [
    Run(command="npx prettier --check .", exit_code=0, output="All matched files use Prettier code style!\n"),
    Run(command="sh scripts/build.sh", exit_code=0, output="built 1 folders\n"),
    Run(
        command="python scripts/check_links.py content/posts/hello.md", exit_code=1, output="broken: /old/1\n"
    ),
]
