"""Four small repositories, before and after a step, with what was run in it: for `awkward_third`."""

from __future__ import annotations

from open_world.worlds import Run

PARCEL_BEFORE = {
    "app/main.py": """\
from fastapi import FastAPI

from app.routes import router

API_PREFIX = "/api/v1"


def create_app(debug: bool = False) -> FastAPI:
    app = FastAPI(debug=debug)
    app.include_router(router, prefix=API_PREFIX)
    return app
""",
    "app/routes.py": """\
import json

from fastapi import APIRouter, Depends, HTTPException

from app.auth import require_token
from app.helpers import to_dict
from app.storage import Storage

router = APIRouter()
storage = Storage()


@router.get("/parcels")
def list_parcels():
    return [to_dict(each) for each in storage.all()]


@router.get("/parcels/{parcel_id}")
def get_parcel(parcel_id: str):
    found = storage.find(parcel_id)
    if found is None:
        raise HTTPException(status_code=400, detail="bad id")
    return to_dict(found)


@router.post("/parcels", dependencies=[Depends(require_token)])
def create_parcel(body: str):
    data = json.loads(body)
    return to_dict(storage.add(data["id"], data["address"]))


@router.get("/health")
def health():
    return {"status": "ok"}
""",
    "app/storage.py": """\
from app.models import Parcel

MAX_PAGE_SIZE = 100


class Storage:
    def __init__(self):
        self._rows = {}

    def add(self, parcel_id, address):
        parcel = Parcel(id=parcel_id, address=address)
        self._rows[parcel_id] = parcel
        return parcel

    def find(self, parcel_id):
        return self._rows.get(parcel_id)

    def all(self):
        return list(self._rows.values())
""",
    "app/models.py": """\
from dataclasses import dataclass


@dataclass
class Parcel:
    id: str
    address: str
    status: str = "created"
""",
    "app/auth.py": """\
import os

TOKEN_HEADER = "X-Token"
TOKEN_TTL = 3600


def require_token(token: str) -> None:
    if not verify_token(token):
        raise PermissionError("invalid token")


def verify_token(token: str) -> bool:
    # FIXME: compare in constant time
    return token == os.environ["PARCEL_TOKEN"]
""",
    "app/helpers.py": """\
def to_dict(parcel):
    return {
        "id": parcel.id,
        "address": parcel.address,
        "status": parcel.status,
    }


def to_row(parcel):
    return f"{parcel.id};{parcel.address};{parcel.status}"
""",
    "app/legacy_export.py": """\
from app.helpers import to_row


def export_csv(parcels):
    return "\\n".join(to_row(each) for each in parcels)


def export_tsv(parcels):
    return export_csv(parcels).replace(";", "\\t")
""",
    "tests/test_routes.py": """\
import pytest
from fastapi import HTTPException

from app import routes


def test_list_is_empty():
    assert routes.list_parcels() == []


def test_unknown_parcel():
    with pytest.raises(HTTPException) as caught:
        routes.get_parcel("nope")
    assert caught.value.status_code == 400


def test_create_parcel():
    made = routes.create_parcel('{"id": "p1", "address": "Main St 1"}')
    assert made["status"] == "created"


def test_health():
    assert routes.health() == {"status": "ok"}
""",
    "tests/test_storage.py": """\
from app.storage import Storage


def test_add_and_find():
    storage = Storage()
    storage.add("p1", "Main St 1")
    assert storage.find("p1").address == "Main St 1"


def test_find_unknown():
    assert Storage().find("p1") is None
""",
    "tests/test_models.py": """\
from app.models import Parcel


def test_default_status():
    assert Parcel(id="p1", address="x").status == "created"
""",
    "tests/test_legacy_export.py": """\
from app.legacy_export import export_csv


def test_export_csv():
    assert export_csv([]) == ""
""",
    "README.md": """\
# Parcel

A service that tracks parcels.

## Setup

Copy `.env.example` to `.env`.

## Export

Use `export_csv`.
""",
    "CHANGELOG.md": """\
# Changelog

## 2.3.1

- Fix the health check.
""",
    ".env.example": """\
PARCEL_TOKEN=change-me
PARCEL_WORKERS=2
""",
    "pyproject.toml": """\
[project]
name = "parcel"
version = "2.3.1"
requires-python = ">=3.10"
dependencies = [
  "fastapi==0.110.0",
  "uvicorn==0.29.0",
  "python-multipart==0.0.9",
]

[project.optional-dependencies]
dev = ["pytest==8.1.1", "ruff==0.4.4"]

[tool.ruff]
line-length = 100
""",
}
PARCEL_AFTER = {
    **{
        path: text
        for path, text in PARCEL_BEFORE.items()
        if path not in ("app/helpers.py", "app/legacy_export.py", "tests/test_legacy_export.py")
    },
    "app/routes.py": """\
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel

from app.auth import require_token
from app.serializers import to_dict
from app.storage import DEFAULT_PAGE_SIZE, ParcelNotFound, Storage

router = APIRouter()
storage = Storage()


class NewParcel(BaseModel):
    id: str
    address: str


@router.get("/parcels")
def list_parcels(limit: int = DEFAULT_PAGE_SIZE, offset: int = 0):
    return [to_dict(each) for each in storage.page(limit, offset)]


@router.get("/parcels/{parcel_id}")
def get_parcel(parcel_id: str):
    try:
        return to_dict(storage.get(parcel_id))
    except ParcelNotFound as error:
        raise HTTPException(status_code=404, detail="no such parcel") from error


@router.post("/parcels", status_code=201, dependencies=[Depends(require_token)])
def create_parcel(body: NewParcel):
    return to_dict(storage.add(body.id, body.address))


@router.delete("/parcels/{parcel_id}", status_code=204, dependencies=[Depends(require_token)])
def delete_parcel(parcel_id: str) -> None:
    storage.remove(parcel_id)


@router.get("/health")
def health():
    return {"status": "ok"}
""",
    "app/storage.py": """\
import threading

from app.models import Parcel

DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 200


class ParcelNotFound(KeyError):
    \"\"\"There is no parcel with this id.\"\"\"


class Storage:
    def __init__(self):
        self._rows = {}
        self._lock = threading.Lock()

    def add(self, parcel_id, address):
        parcel = Parcel(id=parcel_id, address=address)
        with self._lock:
            self._rows[parcel_id] = parcel
        return parcel

    def get(self, parcel_id):
        try:
            return self._rows[parcel_id]
        except KeyError:
            raise ParcelNotFound(parcel_id) from None

    def remove(self, parcel_id):
        self.get(parcel_id)
        with self._lock:
            del self._rows[parcel_id]

    def page(self, limit, offset=0):
        limit = min(limit, MAX_PAGE_SIZE)
        return list(self._rows.values())[offset : offset + limit]
""",
    "app/auth.py": """\
import hmac
import os

TOKEN_HEADER = "X-Token"
TOKEN_TTL = 900


def require_token(token: str) -> None:
    if not verify_token(token):
        raise PermissionError("invalid token")


def verify_token(token: str) -> bool:
    return hmac.compare_digest(token, os.environ["PARCEL_TOKEN"])
""",
    "app/serializers.py": PARCEL_BEFORE["app/helpers.py"],
    "tests/test_routes.py": """\
import pytest
from fastapi import HTTPException

from app import routes


def test_list_is_empty():
    assert routes.list_parcels() == []


def test_unknown_parcel():
    with pytest.raises(HTTPException) as caught:
        routes.get_parcel("nope")
    assert caught.value.status_code == 404


def test_create_parcel():
    made = routes.create_parcel(routes.NewParcel(id="p1", address="Main St 1"))
    assert made["status"] == "created"


def test_delete_parcel():
    routes.create_parcel(routes.NewParcel(id="p2", address="Main St 2"))
    routes.delete_parcel("p2")
    with pytest.raises(HTTPException):
        routes.get_parcel("p2")


@pytest.mark.parametrize(("limit", "offset"), [(1, 0), (2, 1)])
def test_pagination(limit, offset):
    assert len(routes.list_parcels(limit=limit, offset=offset)) <= limit


def test_health():
    assert routes.health() == {"status": "ok"}
""",
    "tests/test_storage.py": """\
import pytest

from app.storage import ParcelNotFound, Storage


def test_add_and_get():
    storage = Storage()
    storage.add("p1", "Main St 1")
    assert storage.get("p1").address == "Main St 1"


def test_get_unknown():
    with pytest.raises(ParcelNotFound):
        Storage().get("p1")


def test_page_is_capped():
    storage = Storage()
    for number in range(300):
        storage.add(str(number), "x")
    assert len(storage.page(1000)) == 200
""",
    "README.md": """\
# Parcel

A service that tracks parcels.

## Setup

Copy `.env.example` to `.env`.

## Pagination

Pass `limit` and `offset` to `GET /parcels`; a page has at most 200 parcels.
""",
    "CHANGELOG.md": """\
# Changelog

## 2.4.0

- Add `DELETE /parcels/{parcel_id}`.
- Add pagination.
- Remove the CSV export.

## 2.3.1

- Fix the health check.
""",
    ".env.example": """\
PARCEL_TOKEN=change-me
PARCEL_WORKERS=4
PARCEL_LOG_LEVEL=info
""",
    "pyproject.toml": """\
[project]
name = "parcel"
version = "2.4.0"
requires-python = ">=3.10"
dependencies = [
  "fastapi==0.115.2",
  "uvicorn==0.29.0",
  "pydantic==2.9.2",
]

[project.optional-dependencies]
dev = ["pytest==8.1.1", "ruff==0.6.9"]

[tool.ruff]
line-length = 100
""",
}
PARCEL_RUNS = [
    Run(
        command="pytest -q",
        exit_code=1,
        output="FAILED tests/test_routes.py::test_unknown_parcel\n1 failed, 10 passed in 0.52s\n",
        passed=10,
        failed=1,
    ),
    Run(command="ruff check app tests", exit_code=0, output="All checks passed!\n"),
    Run(
        command="mypy app",
        exit_code=1,
        output="app/storage.py:14: error: Function is missing a return type\nFound 3 errors in 1 file\n",
    ),
    Run(command="pytest -q", exit_code=0, output="11 passed in 0.47s\n", passed=11),
]

TINY_BEFORE = {
    "src/cache.ts": """\
import { now } from './util/clock';
import type { CacheOptions, Entry } from './types';

export const DEFAULT_MAX_SIZE = 500;

export class Cache<V> {
  private entries = new Map<string, Entry<V>>();

  constructor(private options: CacheOptions = {}) {}

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    return entry?.value;
  }

  set(key: string, value: V): void {
    const limit = this.options.maxSize ?? DEFAULT_MAX_SIZE;
    if (this.entries.size >= limit) {
      throw new Error('cache is full');
    }
    this.entries.set(key, { value, at: now() });
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  reset(): void {
    this.entries.clear();
  }
}
""",
    "src/types.ts": """\
export interface CacheOptions {
  maxSize?: number;
}

export interface Entry<V> {
  value: V;
  at: number;
}

export type Key = string | number;
""",
    "src/memoize.ts": """\
import { Cache } from './cache';

export function memoize<R>(fn: (arg: string) => R): (arg: string) => R {
  const cache = new Cache<R>();
  return (arg) => {
    if (!cache.has(arg)) {
      cache.set(arg, fn(arg));
    }
    return cache.get(arg) as R;
  };
}
""",
    "src/util/clock.ts": """\
export function now(): number {
  return Date.now();
}

export function seconds(n: number): number {
  return n * 1000;
}

export function minutes(n: number): number {
  return seconds(n * 60);
}
""",
    "src/util/debug.ts": """\
export function dump(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
""",
    "src/util/hash.ts": """\
export function hash(text: string): number {
  let h = 0;
  for (const c of text) h = (h * 31 + c.charCodeAt(0)) | 0;
  return h;
}
""",
    "src/index.ts": """\
export { Cache, DEFAULT_MAX_SIZE } from './cache';
export { memoize } from './memoize';
export { dump } from './util/debug';
export type { CacheOptions, Key } from './types';
""",
    "test/cache.test.ts": """\
import { describe, expect, it } from 'vitest';
import { Cache } from '../src/cache';

describe('Cache', () => {
  it('returns what was set', () => {
    const cache = new Cache<number>();
    cache.set('a', 1);
    expect(cache.get('a')).toBe(1);
  });

  it('throws when full', () => {
    const cache = new Cache<number>({ maxSize: 0 });
    expect(() => cache.set('a', 1)).toThrow('cache is full');
  });

  it('forgets everything on reset', () => {
    const cache = new Cache<number>();
    cache.set('a', 1);
    cache.reset();
    expect(cache.has('a')).toBe(false);
  });
});
""",
    "test/memoize.test.ts": """\
import { expect, it } from 'vitest';
import { memoize } from '../src/memoize';

it('calls the function once', () => {
  let calls = 0;
  const f = memoize((s) => s + ++calls);
  f('a');
  expect(f('a')).toBe('a1');
});
""",
    "test/hash.test.ts": """\
import { expect, it } from 'vitest';
import { hash } from '../src/util/hash';

it('is stable', () => {
  expect(hash('abc')).toBe(hash('abc'));
});

it.todo('has few collisions');
""",
    "package.json": """\
{
  "name": "tinystash",
  "version": "1.8.3",
  "type": "commonjs",
  "scripts": {
    "build": "tsc -p .",
    "test": "vitest run"
  },
  "engines": {
    "node": ">=16"
  },
  "dependencies": {
    "eventemitter3": "^4.0.7"
  },
  "devDependencies": {
    "tslib": "^2.6.0",
    "typescript": "^5.3.3",
    "vitest": "^1.2.0"
  }
}
""",
    "tsconfig.json": """\
{
  "compilerOptions": {
    "target": "ES2019",
    "module": "CommonJS",
    "strict": true,
    "outDir": "dist"
  }
}
""",
    "README.md": """\
# tinystash

A tiny cache.

## Install

`npm install tinystash`

## API

`get`, `set`, `has`, `reset`.
""",
}
TINY_AFTER = {
    **{
        path: text
        for path, text in TINY_BEFORE.items()
        if path not in ("src/util/clock.ts", "src/util/debug.ts")
    },
    "src/cache.ts": """\
import { CacheFullError } from './errors';
import { now } from './util/time';
import type { CacheOptions, Entry } from './types';

export const DEFAULT_MAX_SIZE = 1000;
export const DEFAULT_TTL_MS = 60_000;

export class Cache<V> {
  private entries = new Map<string, Entry<V>>();

  constructor(private readonly options: CacheOptions = {}) {}

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || this.isExpired(entry)) {
      return undefined;
    }
    return entry.value;
  }

  set(key: string, value: V, ttlMs: number = DEFAULT_TTL_MS): this {
    const limit = this.options.maxSize ?? DEFAULT_MAX_SIZE;
    if (this.entries.size >= limit) {
      throw new CacheFullError(limit);
    }
    this.entries.set(key, { value, at: now(), ttlMs });
    return this;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  delete(key: string): boolean {
    const removed = this.entries.delete(key);
    if (removed) this.options.onEvict?.(key);
    return removed;
  }

  clear(): void {
    this.entries.clear();
  }

  private isExpired(entry: Entry<V>): boolean {
    return now() - entry.at > entry.ttlMs;
  }
}
""",
    "src/errors.ts": """\
export class CacheError extends Error {}

export class CacheFullError extends CacheError {
  constructor(readonly limit: number) {
    super(`cache holds ${limit} entries already`);
    this.name = 'CacheFullError';
  }
}
""",
    "src/types.ts": """\
export interface CacheOptions {
  maxSize?: number;
  onEvict?: (key: string) => void;
}

export interface Entry<V> {
  value: V;
  at: number;
  ttlMs: number;
}
""",
    "src/util/time.ts": """\
export function now(): number {
  return performance.now();
}

export function seconds(n: number): number {
  return n * 1000;
}

export function minutes(n: number): number {
  return seconds(n * 60);
}
""",
    "src/index.ts": """\
export { Cache, DEFAULT_MAX_SIZE, DEFAULT_TTL_MS } from './cache';
export { CacheError, CacheFullError } from './errors';
export { memoize } from './memoize';
export type { CacheOptions } from './types';
""",
    "test/cache.test.ts": """\
import { describe, expect, it } from 'vitest';
import { Cache } from '../src/cache';
import { CacheFullError } from '../src/errors';

describe('Cache', () => {
  it('returns what was set', () => {
    const cache = new Cache<number>();
    cache.set('a', 1);
    expect(cache.get('a')).toBe(1);
  });

  it('throws when full', () => {
    const cache = new Cache<number>({ maxSize: 0 });
    expect(() => cache.set('a', 1)).toThrow(CacheFullError);
  });

  it('forgets everything on clear', () => {
    const cache = new Cache<number>();
    cache.set('a', 1);
    cache.clear();
    expect(cache.has('a')).toBe(false);
  });

  it('deletes one key', () => {
    const cache = new Cache<number>().set('a', 1).set('b', 2);
    expect(cache.delete('a')).toBe(true);
    expect(cache.has('b')).toBe(true);
  });

  it('tells the listener about a deleted key', () => {
    const gone: string[] = [];
    const cache = new Cache<number>({ onEvict: (key) => gone.push(key) });
    cache.set('a', 1).delete('a');
    expect(gone).toEqual(['a']);
  });
});
""",
    "test/ttl.test.ts": """\
import { expect, it } from 'vitest';
import { Cache } from '../src/cache';
import { minutes } from '../src/util/time';

it('drops an expired entry', () => {
  const cache = new Cache<number>().set('a', 1, -1);
  expect(cache.get('a')).toBeUndefined();
});

it('keeps a fresh entry', () => {
  const cache = new Cache<number>().set('a', 1, minutes(5));
  expect(cache.get('a')).toBe(1);
});
""",
    "package.json": """\
{
  "name": "tinystash",
  "version": "2.0.0",
  "type": "module",
  "scripts": {
    "build": "tsc -p .",
    "lint": "eslint src test",
    "test": "vitest run"
  },
  "engines": {
    "node": ">=18"
  },
  "dependencies": {},
  "devDependencies": {
    "eslint": "^9.12.0",
    "tslib": "^2.6.0",
    "typescript": "^5.6.3",
    "vitest": "^1.2.0"
  }
}
""",
    "tsconfig.json": """\
{
  "compilerOptions": {
    "target": "ES2022",
    "module": "NodeNext",
    "strict": true,
    "outDir": "dist"
  }
}
""",
    "README.md": """\
# tinystash

A tiny cache.

## Install

`npm install tinystash`

## API

`get`, `set`, `has`, `delete`, `clear`.

## Migrating from 1.x

- `reset` is called `clear`.
- `dump` and `Key` are gone.
""",
}
TINY_RUNS = [
    Run(command="npm install", exit_code=0, output="added 74 packages in 3s\n"),
    Run(
        command="npm run build",
        exit_code=2,
        output="src/index.ts(4,15): error TS2305: Module './types' has no exported member 'Key'.\n",
    ),
    Run(command="npm run build", exit_code=0),
    Run(command="npx eslint src test", exit_code=0, output="✖ 2 problems (0 errors, 2 warnings)\n"),
    Run(
        command="npm test",
        exit_code=0,
        output=(" Test Files  4 passed (4)\n      Tests  9 passed | 1 todo (10)\n   Duration  612ms\n"),
        passed=9,
        skipped=1,
    ),
]

LOGCUT_BEFORE = {
    "cmd/logcut/main.go": """\
package main

import (
	"flag"
	"fmt"
	"os"

	"example.com/logcut/internal/filter"
	"example.com/logcut/internal/output"
)

var version = "0.6.1"

func main() {
	level := flag.String("level", "info", "lowest level to show")
	limit := flag.Int("limit", 0, "most lines to print")
	flag.Parse()
	lines, err := filter.Read(os.Stdin)
	if err != nil {
		panic(err)
	}
	for _, line := range filter.ByLevel(lines, *level) {
		fmt.Println(output.Plain(line))
	}
	_ = limit
}
""",
    "internal/filter/filter.go": """\
package filter

import (
	"bufio"
	"io"
	"strings"
)

const MaxLineBytes = 65536

// Line is one line of a log.
type Line struct {
	Level string
	Text  string
}

// Read reads all lines.
func Read(r io.Reader) ([]Line, error) {
	var lines []Line
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		lines = append(lines, parseLine(scanner.Text()))
	}
	return lines, nil
}

func parseLine(text string) Line {
	level, rest, _ := strings.Cut(text, " ")
	return Line{Level: level, Text: rest}
}

// ByLevel keeps the lines of a level.
func ByLevel(lines []Line, level string) []Line {
	var kept []Line
	for _, line := range lines {
		if line.Level == level {
			kept = append(kept, line)
		}
	}
	return kept
}

// ByText keeps the lines that contain a text.
func ByText(lines []Line, text string) []Line {
	var kept []Line
	for _, line := range lines {
		if strings.Contains(line.Text, text) {
			kept = append(kept, line)
		}
	}
	return kept
}
""",
    "internal/filter/filter_test.go": """\
package filter

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	lines, err := Read(strings.NewReader("info a\\nwarn b\\n"))
	if err != nil || len(lines) != 2 {
		t.Fatal(lines, err)
	}
}

func TestByLevel(t *testing.T) {
	lines := []Line{{Level: "info"}, {Level: "warn"}}
	if len(ByLevel(lines, "warn")) != 1 {
		t.Fatal("wrong level")
	}
}

func TestByText(t *testing.T) {
	t.Skip("flaky")
	if len(ByText([]Line{{Text: "abc"}}, "b")) != 1 {
		t.Fatal("not found")
	}
}
""",
    "internal/output/plain.go": """\
package output

import "example.com/logcut/internal/filter"

// Plain renders a line as it was.
func Plain(line filter.Line) string {
	return line.Level + " " + line.Text
}
""",
    "internal/output/colour.go": """\
package output

const reset = "\\x1b[0m"

var palette = map[string]string{
	"error": "\\x1b[31m",
	"warn":  "\\x1b[33m",
}

// Paint wraps a text in the colour of its level.
func Paint(level, text string) string {
	return palette[level] + text + reset
}
""",
    "internal/config/config.go": """\
package config

// Config is what the file in the home folder says.
type Config struct {
	Level string
	Limit int
}

// Default is used where there is no file.
func Default() Config {
	return Config{Level: "info", Limit: 100}
}
""",
    "internal/config/env.go": """\
package config

import "os"

// FromEnv reads the variable LOGCUT_LEVEL.
func FromEnv() string {
	return os.Getenv("LOGCUT_LEVEL")
}
""",
    "go.mod": """\
module example.com/logcut

go 1.20

require (
	github.com/mattn/go-isatty v0.0.19
	github.com/pkg/errors v0.9.1
	golang.org/x/term v0.18.0
)
""",
    "Makefile": """\
.PHONY: build test

build:
	go build -o bin/logcut ./cmd/logcut

test:
	go test ./...
""",
    "README.md": """\
# logcut

Cuts logs.

## Flags

- `-level`: lowest level to show (default `info`)
- `-limit`: most lines to print (default 0)
""",
    ".golangci.yml": """\
run:
  timeout: 2m
linters:
  enable:
    - errcheck
    - govet
""",
}
LOGCUT_AFTER = {
    **{
        path: text
        for path, text in LOGCUT_BEFORE.items()
        if path not in ("internal/output/colour.go", "internal/config/env.go")
    },
    "cmd/logcut/main.go": """\
package main

import (
	"flag"
	"fmt"
	"os"

	"example.com/logcut/internal/filter"
	"example.com/logcut/internal/output"
)

var version = "0.7.0"

func main() {
	level := flag.String("level", "warn", "lowest level to show")
	limit := flag.Int("limit", 500, "most lines to print")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(*level, *limit, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "logcut:", err)
		os.Exit(2)
	}
}

func run(level string, limit int, asJSON bool) error {
	lines, err := filter.Read(os.Stdin)
	if err != nil {
		return err
	}
	for _, line := range filter.Head(filter.ByLevel(lines, level), limit) {
		if asJSON {
			fmt.Println(output.JSON(line))
			continue
		}
		fmt.Println(output.Plain(line))
	}
	return nil
}
""",
    "internal/filter/filter.go": """\
package filter

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

const MaxLineBytes = 1048576

// ErrEmpty is returned for an input without lines.
var ErrEmpty = errors.New("no lines in the input")

// Line is one line of a log.
type Line struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// Read reads all lines.
func Read(r io.Reader) ([]Line, error) {
	var lines []Line
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, MaxLineBytes)
	for scanner.Scan() {
		lines = append(lines, splitLine(scanner.Text()))
	}
	if len(lines) == 0 {
		return nil, ErrEmpty
	}
	return lines, scanner.Err()
}

func splitLine(text string) Line {
	level, rest, _ := strings.Cut(text, " ")
	return Line{Level: level, Text: rest}
}

// ByLevel keeps the lines of a level.
func ByLevel(lines []Line, level string) []Line {
	var kept []Line
	for _, line := range lines {
		if line.Level == level {
			kept = append(kept, line)
		}
	}
	return kept
}

// ByText keeps the lines that contain a text.
func ByText(lines []Line, text string) []Line {
	var kept []Line
	for _, line := range lines {
		if strings.Contains(line.Text, text) {
			kept = append(kept, line)
		}
	}
	return kept
}

// Head keeps the first lines; a limit of 0 keeps all.
func Head(lines []Line, limit int) []Line {
	if limit == 0 || len(lines) <= limit {
		return lines
	}
	return lines[:limit]
}
""",
    "internal/filter/filter_test.go": """\
package filter

import (
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	lines, err := Read(strings.NewReader("info a\\nwarn b\\n"))
	if err != nil || len(lines) != 2 {
		t.Fatal(lines, err)
	}
}

func TestReadEmpty(t *testing.T) {
	if _, err := Read(strings.NewReader("")); !errors.Is(err, ErrEmpty) {
		t.Fatal(err)
	}
}

func TestByLevel(t *testing.T) {
	lines := []Line{{Level: "info"}, {Level: "warn"}}
	if len(ByLevel(lines, "warn")) != 1 {
		t.Fatal("wrong level")
	}
}

func TestByText(t *testing.T) {
	if len(ByText([]Line{{Text: "abc"}}, "b")) != 1 {
		t.Fatal("not found")
	}
}

func TestHead(t *testing.T) {
	lines := make([]Line, 3)
	if len(Head(lines, 2)) != 2 || len(Head(lines, 0)) != 3 {
		t.Fatal("wrong number of lines")
	}
}
""",
    "internal/output/color.go": LOGCUT_BEFORE["internal/output/colour.go"],
    "internal/output/json.go": """\
package output

import (
	"encoding/json"

	"example.com/logcut/internal/filter"
)

// JSON renders a line as an object.
func JSON(line filter.Line) string {
	data, _ := json.Marshal(line)
	return string(data)
}
""",
    "internal/output/json_test.go": """\
package output

import (
	"testing"

	"example.com/logcut/internal/filter"
)

func TestJSON(t *testing.T) {
	if JSON(filter.Line{Level: "info", Text: "a"}) != `{"level":"info","text":"a"}` {
		t.Fatal("wrong object")
	}
}
""",
    "go.mod": """\
module example.com/logcut

go 1.22

require (
	github.com/mattn/go-isatty v0.0.20
	golang.org/x/term v0.18.0
)
""",
    "Makefile": """\
.PHONY: build lint test

build:
	go build -trimpath -o bin/logcut ./cmd/logcut

lint:
	golangci-lint run

test:
	go test ./...
""",
    "README.md": """\
# logcut

Cuts logs.

## Flags

- `-level`: lowest level to show (default `warn`)
- `-limit`: most lines to print (default 500)
- `-json`: print JSON (default `false`)

## Exit codes

0 if all went well, 2 on an error.
""",
}
LOGCUT_RUNS = [
    Run(command="gofmt -l .", exit_code=0),
    Run(command="go vet ./...", exit_code=0),
    Run(command="go build ./...", exit_code=0),
    Run(
        command="go test -v ./...",
        exit_code=1,
        output=(
            "--- PASS: TestRead (0.00s)\n--- PASS: TestReadEmpty (0.00s)\n--- PASS: TestByLevel (0.00s)\n"
            "--- PASS: TestByText (0.00s)\n--- FAIL: TestHead (0.00s)\nFAIL\n"
            "FAIL\texample.com/logcut/internal/filter\t0.005s\n"
            "--- PASS: TestJSON (0.00s)\nPASS\nok  \texample.com/logcut/internal/output\t0.003s\n"
        ),
        passed=5,
        failed=1,
    ),
    Run(
        command="go test -v ./...",
        exit_code=0,
        output=(
            "--- PASS: TestRead (0.00s)\n--- PASS: TestReadEmpty (0.00s)\n--- PASS: TestByLevel (0.00s)\n"
            "--- PASS: TestByText (0.00s)\n--- PASS: TestHead (0.00s)\nPASS\n"
            "ok  \texample.com/logcut/internal/filter\t0.005s\n"
            "--- PASS: TestJSON (0.00s)\nPASS\nok  \texample.com/logcut/internal/output\t0.003s\n"
        ),
        passed=6,
    ),
    Run(
        command="golangci-lint run",
        exit_code=1,
        output="cmd/logcut/main.go:12:5: var `version` is unused (unused)\n1 issues.\n",
    ),
]

HARBOR_BEFORE = {
    "Dockerfile": """\
FROM python:3.11-slim
WORKDIR /srv
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY . .
EXPOSE 8000
USER root
CMD ["gunicorn", "-w", "2", "harbor.wsgi"]
""",
    "compose.yaml": """\
services:
  web:
    build: .
    ports:
      - "8000:8000"
    environment:
      LOG_LEVEL: debug
  db:
    image: postgres:14
    volumes:
      - data:/var/lib/postgresql/data
volumes:
  data: {}
""",
    ".github/workflows/ci.yml": """\
name: ci
on: [push]
jobs:
  test:
    runs-on: ubuntu-22.04
    strategy:
      matrix:
        python: ["3.10", "3.11"]
    steps:
      - uses: actions/checkout@v3
      - uses: actions/setup-python@v4
        with:
          python-version: ${{ matrix.python }}
      - run: pip install -r requirements.txt
      - run: python -m unittest
""",
    "config/production.toml": """\
[server]
host = "0.0.0.0"
port = 8000
workers = 2
timeout = 30

[cache]
backend = "memory"
ttl = 300

[features]
signup = true
""",
    "config/staging.toml": """\
[server]
host = "127.0.0.1"
port = 8000
workers = 1
""",
    "config/limits.json": """\
{
  "uploads": {"max_mb": 10, "per_day": 50},
  "api": {"per_minute": 60}
}
""",
    "scripts/backup.sh": """\
#!/bin/bash
set -e
KEEP_DAYS=7
pg_dump harbor > /backups/harbor.sql
find /backups -mtime +$KEEP_DAYS -delete
""",
    "scripts/rotate_keys.py": """\
import secrets

KEY_BYTES = 16


def new_key():
    return secrets.token_hex(KEY_BYTES)


def rotate(keys):
    return [new_key()] + keys[:1]


def main():
    print(rotate([]))
""",
    "tests/test_rotate_keys.py": """\
import unittest

from scripts.rotate_keys import new_key, rotate


class RotateTest(unittest.TestCase):
    def test_new_key_length(self):
        self.assertEqual(len(new_key()), 32)

    def test_keeps_one_old_key(self):
        self.assertEqual(rotate(["a", "b"])[1:], ["a"])
""",
    "docs/deploy.md": """\
# Deploying

## Requirements

Docker 20 or newer.

## Steps

1. Build the image.
2. Push it.

## Rollback

Run the previous tag.
""",
    "docs/faq.md": """\
# Questions

## Why is it slow?

Raise the number of workers.

## Where are the logs?

In the container's output.
""",
    "docs/heroku.md": """\
# Heroku

Create an app and push to it.
""",
    "requirements.txt": """\
django==4.2.11
gunicorn==21.2.0
psycopg2-binary==2.9.9
redis==5.0.3
""",
    "Makefile": """\
up:
	docker compose up -d

down:
	docker compose down
""",
    "README.md": """\
# Harbor

See `docs/deploy.md`.
""",
    "Procfile": "web: gunicorn harbor.wsgi\n",
    ".gitignore": "*.pyc\n.env\n",
}
HARBOR_AFTER = {
    **{
        path: text
        for path, text in HARBOR_BEFORE.items()
        if path not in ("docs/faq.md", "docs/heroku.md", "Procfile")
    },
    "Dockerfile": """\
FROM python:3.12-slim
WORKDIR /srv
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
EXPOSE 8080
USER app
HEALTHCHECK --interval=30s CMD curl -f http://localhost:8080/health
CMD ["gunicorn", "-w", "4", "harbor.wsgi"]
""",
    "compose.yaml": """\
services:
  web:
    build: .
    ports:
      - "8080:8080"
    environment:
      LOG_LEVEL: info
    depends_on:
      - db
      - cache
  db:
    image: postgres:16
    volumes:
      - data:/var/lib/postgresql/data
  cache:
    image: redis:7
volumes:
  data: {}
""",
    ".github/workflows/ci.yml": """\
name: ci
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-24.04
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python }}
      - run: pip install -r requirements.txt
      - run: python -m unittest
  docs:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - run: make docs
""",
    ".github/dependabot.yml": """\
version: 2
updates:
  - package-ecosystem: pip
    directory: /
    schedule:
      interval: weekly
  - package-ecosystem: docker
    directory: /
    schedule:
      interval: monthly
""",
    "config/production.toml": """\
[server]
host = "0.0.0.0"
port = 8080
workers = 4
timeout = 30

[cache]
backend = "redis"
ttl = 900

[features]
signup = false
beta = true
""",
    "scripts/backup.sh": """\
#!/bin/bash
set -euo pipefail
KEEP_DAYS=14
pg_dump harbor | gzip > /backups/harbor.sql.gz
find /backups -mtime +$KEEP_DAYS -delete
""",
    "scripts/rotate_keys.py": """\
import argparse
import secrets

KEY_BYTES = 32


def generate_key():
    return secrets.token_hex(KEY_BYTES)


def rotate(keys, keep=2):
    return [generate_key()] + keys[:keep]


def parse_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=int, default=2)
    return parser.parse_args(argv)


def main():
    print(rotate([], keep=parse_args().keep))
""",
    "tests/test_rotate_keys.py": """\
import unittest

from scripts.rotate_keys import generate_key, parse_args, rotate


class RotateTest(unittest.TestCase):
    def test_key_length(self):
        self.assertEqual(len(generate_key()), 64)

    def test_keeps_two_old_keys(self):
        self.assertEqual(rotate(["a", "b", "c"])[1:], ["a", "b"])

    def test_keep_nothing(self):
        self.assertEqual(len(rotate(["a"], keep=0)), 1)

    def test_default_of_keep(self):
        self.assertEqual(parse_args([]).keep, 2)
""",
    "docs/deploy.md": """\
# Deploying

## Requirements

Docker 24 or newer.

## Steps

1. Build the image.
2. Run `make check`.
3. Push it.

## Health checks

The container is asked every 30 seconds.

## Rollback

Run the previous tag.
""",
    "docs/troubleshooting.md": """\
# Troubleshooting

## Why is it slow?

Raise the number of workers.

## Where are the logs?

In the container's output.
""",
    "requirements.txt": """\
django==5.1.2
gunicorn==23.0.0
psycopg[binary]==3.2.3
redis==5.0.3
""",
    "Makefile": """\
.PHONY: up down check docs

up:
	docker compose up -d

down:
	docker compose down

check:
	shellcheck scripts/*.sh
	python -m unittest

docs:
	mkdocs build --strict
""",
    "README.md": """\
# Harbor

See `docs/deploy.md` and `docs/troubleshooting.md`.
""",
}
HARBOR_RUNS = [
    Run(command="docker compose config -q", exit_code=0),
    Run(
        command="shellcheck scripts/backup.sh",
        exit_code=1,
        output="In scripts/backup.sh line 5:\nSC2086 (info): Double quote to prevent globbing.\n",
    ),
    Run(
        command="python -m unittest",
        exit_code=0,
        output="....\n----------------------------------------\nRan 4 tests in 0.002s\n\nOK\n",
        passed=4,
    ),
    Run(command="mkdocs build --strict", exit_code=1, output="Aborted with 1 warnings in strict mode!\n"),
    Run(command="yamllint compose.yaml .github", exit_code=0),
]
