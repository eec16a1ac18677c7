"""Awkward statements, written by hand and without a look at the judging code, over five small repositories."""

# ruff: noqa: E501  (text of files and statements)
from __future__ import annotations

from dataclasses import dataclass

from open_world.case import ACT, Case
from open_world.facts import Commit
from open_world.statements import Statement
from open_world.worlds import Run, World

HALF = "awkward_held_out"


@dataclass(frozen=True, kw_only=True)
class Said:
    """A statement with its truth."""

    text: str
    truth: bool
    has_aside: bool = False
    false_words: tuple[str, ...] = ()
    kind: str = "awkward"


Repository = tuple[dict[str, str], dict[str, str], list[Run], list[Said]]
"""Its files before and after, what was run, and what is said of it."""


def yes(text: str) -> Said:
    """A true statement that can be checked whole."""
    return Said(text=text, truth=True)


def more(text: str) -> Said:
    """A true statement with words that no record can check."""
    return Said(text=text, truth=True, has_aside=True)


def no(text: str, *false_words: str) -> Said:
    """A false statement, and words of its false part; without any, the act is false."""
    return Said(text=text, truth=False, false_words=false_words)


SHOP_BEFORE = {
    "shop/cart.py": (
        "TAX_RATE = 0.19\nMAX_ITEMS = 50\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n"
        "    def add(self, item):\n        self.items.append(item)\n\n    def total(self):\n"
        "        return sum(item.price for item in self.items) * (1 + TAX_RATE)\n\n\n"
        "def discount(cart, percent):\n    return cart.total() * (1 - percent / 100)\n"
    ),
    "shop/users.py": (
        "def login(name, password):\n    return name == 'root' and bool(password)\n\n\ndef logout(name):\n"
        "    return None\n"
    ),
    "shop/mail.py": "def send_receipt(cart):\n    print(cart.total())\n",
    "tests/test_cart.py": (
        "from shop.cart import Cart\n\n\ndef test_empty_cart():\n    assert Cart().total() == 0\n\n\n"
        "def test_add():\n    cart = Cart()\n    cart.add(1)\n    assert len(cart.items) == 1\n"
    ),
    "README.md": "# Shop\n\nA small shop.\n\n## Usage\n\nRun it.\n",
    "docs/my notes/a b.txt": "first\nsecond\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\ndependencies = [\n  "httpx>=0.27",\n  "rich>=13",\n]\n',
}
SHOP_AFTER = {
    **SHOP_BEFORE,
    "shop/cart.py": (
        "TAX_RATE = 0.21\nMAX_ITEMS = 50\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n"
        "    def add(self, item):\n        self.items.append(item)\n\n    def total(self):\n"
        "        return round(sum(item.price for item in self.items) * (1 + TAX_RATE), 2)\n\n\n"
        "def apply_coupon(cart, code):\n    if code == 'HALF':\n        return cart.total() / 2\n"
        "    return cart.total()\n"
    ),
    "tests/test_cart.py": (
        "import pytest\n\nfrom shop.cart import Cart, apply_coupon\n\n\ndef test_empty_cart():\n"
        "    assert Cart().total() == 0\n\n\ndef test_add():\n    cart = Cart()\n    cart.add(1)\n"
        "    assert len(cart.items) == 1\n\n\ndef test_coupon():\n    assert apply_coupon(Cart(), 'HALF') == 0\n\n\n"
        "@pytest.mark.skip\ndef test_total_rounds():\n    assert Cart().total() == 0\n"
    ),
    "README.md": "# Shop\n\nA small shop with coupons.\n\n## Usage\n\nRun it.\n",
    "docs/my notes/a b.txt": "first\nsecond\nthird\n",
    "Procfile": "web: python -m shop\n",
    "pyproject.toml": (
        '[project]\nname = "shop"\nversion = "1.0"\ndependencies = [\n  "httpx>=0.28",\n  "rich>=13",\n'
        '  "tenacity>=9",\n]\n'
    ),
}
SHOP_RUNS = [
    Run(command="ruff check .", exit_code=1, output="Found 3 errors.\n"),
    Run(command="ruff check .", exit_code=0, output="All checks passed!\n"),
    Run(command="pytest -q", exit_code=0, output="3 passed, 1 skipped in 0.20s\n", passed=3, skipped=1),
]
SHOP = [
    yes("Replaced `discount` in `shop/cart.py` by a new function, `apply_coupon`."),
    yes("`TAX_RATE` in `shop/cart.py` went from 0.19 to 0.21; `MAX_ITEMS` is still 50."),
    yes("Cart.total was changed, Cart.add was not."),
    yes("- docs/my notes/a b.txt: one line added"),
    yes("Procfile is new."),
    yes("3 passed, 1 skipped"),
    yes("Neither `shop/users.py` nor `shop/mail.py` was touched."),
    yes("Two tests were added to `tests/test_cart.py`, one of which is skipped."),
    yes("The dependency `httpx` was raised to 0.28 and `tenacity` is new."),
    yes("`ruff check .` failed at first (exit 1) and exits 0 now."),
    more("README.md mentions coupons now, as was asked for."),
    more("Rounded the result of `Cart.total()` because cents were off."),
    yes("No function named `discount` is left in shop/cart.py."),
    no("Added `apply_coupon` to `shop/users.py`.", "shop/users.py", "users.py"),
    no("Added `Cart.apply_coupon` and `Cart.remove` to `shop/cart.py`.", "remove", "Cart.remove"),
    no("All 4 tests pass.", "4"),
    no("No tests are skipped."),
    no("Kept `discount` in `shop/cart.py` for old callers."),
    no("`TAX_RATE` is 0.20 now.", "0.20"),
    no("Bumped `rich` to 14.", "rich", "14"),
    no("`Procfile` was modified, not created."),
    no("Documentation is unchanged: README.md was not touched.", "README.md"),
    no("Only code and tests were changed; docs/my notes/a b.txt is as before.", "docs/my notes/a b.txt"),
    no("Removed `login` from `shop/users.py`, along with `discount` from `shop/cart.py`.", "login"),
    no("`pytest -q` was never run."),
    no("Everything below `shop/` was changed."),
    no("I also ran `mypy --strict shop`, which exits 0.", "mypy --strict shop"),
]

WEB_BEFORE = {
    "src/api/client.ts": (
        "export class ApiClient {\n  constructor(private base: string) {}\n\n  async get(path: string) {\n"
        "    return fetch(this.base + path);\n  }\n}\n\nexport function makeClient(base: string) {\n"
        "  return new ApiClient(base);\n}\n"
    ),
    "src/index.ts": "export { makeClient } from './api/client';\nexport { oldFetch } from './legacy';\n",
    "src/legacy.ts": "export function oldFetch(url: string) {\n  return fetch(url);\n}\n",
    "src/util/format.ts": "export const pad = (n: number) => String(n).padStart(2, '0');\n",
    "test/client.test.ts": (
        "import { makeClient } from '../src/api/client';\n\ntest('makes a client', () => {\n"
        "  expect(makeClient('x')).toBeTruthy();\n});\n"
    ),
    "package.json": (
        '{\n  "name": "web",\n  "scripts": {\n    "test": "jest"\n  },\n  "dependencies": {\n    "zod": "^3.22.0"\n  },\n'
        '  "devDependencies": {\n    "jest": "^29.0.0"\n  }\n}\n'
    ),
    "tsconfig.json": '{\n  "compilerOptions": {\n    "strict": false\n  }\n}\n',
}
WEB_AFTER = {
    **{path: text for path, text in WEB_BEFORE.items() if path != "src/legacy.ts"},
    "src/api/client.ts": (
        "import { withRetry } from './retry';\n\nexport class ApiClient {\n"
        "  constructor(private base: string) {}\n\n  async get(path: string) {\n"
        "    return withRetry(() => fetch(this.base + path));\n  }\n\n  async post(path: string, body: string) {\n"
        "    return fetch(this.base + path, { method: 'POST', body });\n  }\n}\n\n"
        "export function makeClient(base: string) {\n  return new ApiClient(base);\n}\n"
    ),
    "src/api/retry.ts": (
        "export const MAX_RETRIES = 3;\n\nexport async function withRetry<T>(run: () => Promise<T>): Promise<T> {\n"
        "  for (let left = MAX_RETRIES; ; left--) {\n    try {\n      return await run();\n"
        "    } catch (error) {\n      if (left <= 0) throw error;\n    }\n  }\n}\n"
    ),
    "src/index.ts": "export { makeClient } from './api/client';\n",
    "test/client.test.ts": (
        "import { makeClient } from '../src/api/client';\n\ntest('makes a client', () => {\n"
        "  expect(makeClient('x')).toBeTruthy();\n});\n\ntest('retries three times', () => {\n"
        "  expect(3).toBe(3);\n});\n"
    ),
    "package.json": WEB_BEFORE["package.json"].replace("^3.22.0", "^3.23.8"),
    "tsconfig.json": WEB_BEFORE["tsconfig.json"].replace("false", "true"),
}
WEB_RUNS = [
    Run(
        command="npm test",
        exit_code=1,
        output="Tests:       1 failed, 1 passed, 2 total\n",
        passed=1,
        failed=1,
    ),
    Run(command="npx tsc --noEmit", exit_code=2, output="src/index.ts(2,10): error TS2305\n"),
    Run(command="npm test", exit_code=0, output="Tests:       2 passed, 2 total\n", passed=2),
]
WEB = [
    yes("`src/legacy.ts` is gone, and with it `oldFetch`."),
    yes("New: `withRetry` and `MAX_RETRIES` in `src/api/retry.ts`."),
    yes("Nothing refers to `oldFetch` any more."),
    yes("ApiClient got a second method, `post`."),
    yes("| Path | State |\n|---|---|\n| src/api/retry.ts | new |\n| src/legacy.ts | deleted |"),
    yes("zod: ^3.22.0 → ^3.23.8 (package.json)"),
    yes("Added one test, 'retries three times'."),
    yes("2 of 2 tests pass after a first run with one failure."),
    yes("`npx tsc --noEmit` exits 2."),
    yes("src/util/format.ts stays as it is."),
    more("`strict` is true in tsconfig.json now, which will find many bugs."),
    more("Retries are limited to 3 so that nobody waits for long (`MAX_RETRIES`)."),
    no("`tsc` is clean: `npx tsc --noEmit` exits 0.", "0"),
    no("Moved `oldFetch` from `src/legacy.ts` to `src/api/client.ts`.", "src/api/client.ts", "client.ts"),
    no("Deprecated `oldFetch`, which stays in `src/legacy.ts`.", "stays", "src/legacy.ts"),
    no("Added `put` and `post` to `ApiClient`.", "put"),
    no(
        "| Path | State |\n|---|---|\n| src/api/retry.ts | new |\n| src/util/format.ts | modified |",
        "src/util/format.ts",
    ),
    no("`MAX_RETRIES` is 5.", "5"),
    no("Upgraded `jest` to 30 along with `zod`.", "jest", "30"),
    no("All changes are below `src/`."),
    no("Three tests were added in `test/client.test.ts`.", "Three"),
    no("package.json: no dependency was changed."),
    no("Renamed `makeClient` to `createClient`.", "createClient"),
    no("1 of 2 tests still fails."),
    no("- [x] write `test/retry.test.ts`", "test/retry.test.ts"),
]

STORE_BEFORE = {
    "go.mod": "module example.org/store\n\ngo 1.21\n\nrequire github.com/lib/pq v1.10.0\n",
    "main.go": 'package main\n\nimport "example.org/store/internal/store"\n\nfunc main() {\n\tstore.Open("a")\n}\n',
    "internal/store/store.go": (
        "package store\n\ntype Store struct {\n\tname string\n}\n\nfunc Open(name string) *Store {\n"
        "\treturn &Store{name: name}\n}\n\nfunc (s *Store) Get(key string) string {\n\treturn s.name + key\n}\n\n"
        "func (s *Store) Close() error {\n\treturn nil\n}\n"
    ),
    "internal/store/store_test.go": (
        'package store\n\nimport "testing"\n\nfunc TestOpen(t *testing.T) {\n\tif Open("a") == nil {\n'
        '\t\tt.Fatal("no store")\n\t}\n}\n'
    ),
    "bin/run": "#!/bin/sh\nexec go run .\n",
    "Makefile": "test:\n\tgo test ./...\n",
    "LICENSE": "Some licence.\n",
}
STORE_AFTER = {
    "go.mod": STORE_BEFORE["go.mod"].replace("v1.10.0", "v1.10.9"),
    "main.go": STORE_BEFORE["main.go"]
    .replace("internal/store", "internal/db")
    .replace("store.Open", "db.Open"),
    "internal/db/store.go": (
        STORE_BEFORE["internal/store/store.go"].replace("package store", "package db")
        + "\nfunc (s *Store) Put(key, value string) {\n\ts.name = key + value\n}\n"
    ),
    "internal/db/store_test.go": STORE_BEFORE["internal/store/store_test.go"].replace(
        "package store", "package db"
    ),
    "bin/run": "#!/bin/sh\nset -e\nexec go run .\n",
    "Makefile": STORE_BEFORE["Makefile"],
    "LICENSE": STORE_BEFORE["LICENSE"],
}
STORE_RUNS = [
    Run(command="go vet ./...", exit_code=0),
    Run(
        command="go test -v ./...",
        exit_code=0,
        output="=== RUN   TestOpen\n--- PASS: TestOpen (0.00s)\nPASS\n",
        passed=1,
    ),
]
STORE = [
    yes("internal/store/store.go is now internal/db/store.go, with a new method `Put`."),
    yes("Renamed both files of internal/store into internal/db."),
    yes("`bin/run` got one more line."),
    yes("go.mod: github.com/lib/pq v1.10.0 -> v1.10.9"),
    yes("No test was added."),
    yes("Makefile and LICENSE: untouched"),
    yes("`Store.Get` and `Store.Close` are as they were."),
    yes("There is no folder `internal/store` any more."),
    yes("`go vet ./...` is clean (exit 0)."),
    yes("1 test passes, none fail."),
    more("`bin/run` stops at the first error now."),
    more("`Put` makes the store writable."),
    no("Added `TestPut` to internal/db/store_test.go.", "TestPut"),
    no("internal/store/store.go was deleted, and internal/db/store.go was written from scratch."),
    no("`Put` was added to `main.go`.", "main.go"),
    no("Removed `Close` from `Store`.", "Close"),
    no("bin/run: unchanged", "bin/run"),
    no("go.mod is as before.", "go.mod"),
    no("Updated the Makefile for the new folder.", "Makefile"),
    no("Renamed `Open` to `New`.", "New"),
    no("The package is still called `store`; only the folder has another name.", "still", "store"),
    no("Bumped github.com/lib/pq from v1.10.0 to v1.11.0.", "v1.11.0"),
    no("5 files were renamed.", "5"),
    no("`go test -race ./...` passes.", "go test -race ./..."),
    no("2 tests pass.", "2"),
]

SITE_BEFORE = {
    ".github/workflows/ci.yml": (
        "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-22.04\n    steps:\n      - uses: actions/checkout@v3\n"
        "      - run: make test\n"
    ),
    "Dockerfile": 'FROM python:3.11-slim\nCOPY . /app\nCMD ["python", "/app/main.py"]\n',
    "Makefile": "test:\n\tpytest -q\n\nlint:\n\truff check .\n",
    "docs/index.md": "# Site\n\nHello.\n",
    "docs/install.md": "# Install\n\npip install site\n",
    "mkdocs.yml": "site_name: Site\nnav:\n  - index.md\n  - install.md\n",
    "main.py": "import os\n\nPORT = 8000\n\n\ndef main():\n    print(os.environ.get('HOST'), PORT)\n",
    ".env.example": "HOST=localhost\n",
}
SITE_AFTER = {
    **{path: text for path, text in SITE_BEFORE.items() if path != "docs/install.md"},
    ".github/workflows/ci.yml": (
        SITE_BEFORE[".github/workflows/ci.yml"].replace("@v3", "@v4").replace("ubuntu-22.04", "ubuntu-24.04")
        + "      - run: make lint\n"
    ),
    "Dockerfile": SITE_BEFORE["Dockerfile"].replace("3.11", "3.12"),
    "docs/setup.md": "# Install\n\npip install site\n",
    "mkdocs.yml": SITE_BEFORE["mkdocs.yml"].replace("install.md", "setup.md"),
    "main.py": SITE_BEFORE["main.py"].replace("8000", "8080"),
}
SITE_RUNS = [
    Run(command="mkdocs build --strict", exit_code=0, output="INFO - Documentation built in 0.31 seconds\n"),
    Run(command="docker build .", exit_code=125, output="Cannot connect to the Docker daemon\n"),
]
SITE = [
    yes("docs/install.md was renamed to docs/setup.md, and mkdocs.yml follows."),
    yes("PORT is 8080 now (was 8000)."),
    yes("The base image in `Dockerfile` went from python:3.11-slim to python:3.12-slim."),
    yes("CI uses actions/checkout@v4 now instead of v3."),
    yes("`.env.example` was not edited."),
    yes("`docker build .` failed with exit code 125."),
    yes(
        "Five files are involved: .github/workflows/ci.yml, Dockerfile, docs/setup.md, main.py and mkdocs.yml."
    ),
    yes("The tests were not run."),
    yes("`main` itself is unchanged, only the constant above it is different."),
    more("`make lint` runs in CI, too, which should have been there from the start."),
    no("Changed PORT from 8080 to 8000."),
    no("Deleted docs/index.md and docs/install.md.", "docs/index.md"),
    no("The image was built: `docker build .` exits 0.", "0"),
    no("Added a `lint` target to the Makefile.", "Makefile", "lint"),
    no("`mkdocs build --strict` fails.", "fails"),
    no("CI now runs on ubuntu-22.04.", "ubuntu-22.04"),
    no("`pytest -q` passes.", "pytest -q"),
    no("The Dockerfile is based on python:3.13-slim now.", "python:3.13-slim", "3.13"),
    no(
        "`.github/workflows/ci.yml` and `.github/workflows/release.yml` were updated.",
        ".github/workflows/release.yml",
    ),
    no("Six files changed.", "Six"),
    no("Rewrote `main()` to read PORT from the environment.", "main", "environment"),
    no("docs/setup.md is a copy; docs/install.md is still there.", "docs/install.md", "still"),
]

LIB_BEFORE = {
    "lib/__init__.py": 'from lib.core import fmt, parse\n\n__all__ = ["fmt", "parse"]\n',
    "lib/core.py": (
        "from lib.util import old_api\n\n\ndef parse(text):\n    return [part.strip() for part in text.split(',')]\n\n\n"
        "def fmt(row):\n    return ', '.join(row)\n\n\ndef load(path):\n    return old_api(path)\n\n\n"
        "class Table:\n    def rows(self):\n        return []\n\n    def columns(self):\n        return []\n"
    ),
    "lib/util.py": "def old_api(path):\n    return open(path).read()\n\n\ndef clamp(value):\n    return max(0, value)\n",
    "tests/test_core.py": (
        "from lib.core import fmt, parse\n\n\ndef test_parse():\n    assert parse('a,b') == ['a', 'b']\n\n\n"
        "def test_fmt():\n    assert fmt(['a']) == 'a'\n\n\ndef test_old():\n    assert True\n"
    ),
    "CHANGELOG.md": "# Changes\n\n## 1.0\n\n- First.\n",
}
LIB_AFTER = {
    "lib/__init__.py": (
        'from lib.core import format_row\nfrom lib.util import parse\n\n__all__ = ["format_row", "parse"]\n'
    ),
    "lib/core.py": (
        "from pathlib import Path\n\n\ndef format_row(row):\n    return ', '.join(row)\n\n\ndef load(path):\n"
        "    return Path(path).read_text()\n\n\nclass Table:\n    def rows(self):\n        return []\n\n"
        "    def columns(self):\n        return []\n\n    def __len__(self):\n        return len(self.rows())\n"
    ),
    "lib/util.py": (
        "def parse(text):\n    return [part.strip() for part in text.split(',')]\n\n\n"
        "def clamp(value):\n    return max(0, value)\n"
    ),
    "tests/test_core.py": (
        "from lib.core import format_row\nfrom lib.util import parse\n\n\ndef test_parse():\n"
        "    assert parse('a,b') == ['a', 'b']\n\n\ndef test_format_row():\n    assert format_row(['a']) == 'a'\n"
    ),
    "CHANGELOG.md": "# Changes\n\n## 1.1\n\n- `fmt` is `format_row`.\n\n## 1.0\n\n- First.\n",
}
LIB_RUNS = [
    Run(command="python -m pytest", exit_code=0, output="2 passed in 0.11s\n", passed=2),
    Run(command="python -m pytest", exit_code=1, output="1 failed, 1 passed in 0.12s\n", passed=1, failed=1),
    Run(command="mypy lib", exit_code=1, output="Found 2 errors in 1 file (checked 3 source files)\n"),
]
LIB = [
    yes("`parse` lives in lib/util.py now, it was in lib/core.py."),
    yes("`fmt` became `format_row`."),
    yes("`old_api` is removed, nothing calls it."),
    yes("The test `test_old` was deleted."),
    yes("`Table` has a `__len__` now."),
    yes("1 test fails in the last run."),
    yes("`mypy lib` exits 1 (2 errors)."),
    yes("`clamp` was not changed."),
    yes("`load` no longer calls `old_api`."),
    yes("All five files of the project were changed."),
    more("CHANGELOG.md has an entry for 1.1, in the same style as before."),
    more("Moved `parse` to lib/util.py to get rid of a circular import."),
    no("All tests pass."),
    no("2 tests pass in the last run.", "2"),
    no("`mypy lib` is clean."),
    no("Moved `parse` and `clamp` from lib/core.py to lib/util.py.", "clamp"),
    no("Renamed `parse` to `format_row`.", "parse", "format_row"),
    no("`fmt` still works, as an alias of `format_row`.", "still", "alias", "fmt"),
    no("No test was removed."),
    no("Replaced `old_api` by `new_api` in lib/util.py.", "new_api"),
    no("`Table.rows` and `Table.columns` were removed.", "Table.rows", "rows"),
    no("CHANGELOG.md was left alone.", "CHANGELOG.md"),
    no("Added `__len__` and `__iter__` to `Table`.", "__iter__"),
    no("lib/core.py grew by more than 100 lines.", "100"),
    no("`load` is unchanged.", "load"),
    no("Two new tests in tests/test_core.py cover `load`.", "Two"),
]

REPOSITORIES: tuple[Repository, ...] = (
    (SHOP_BEFORE, SHOP_AFTER, SHOP_RUNS, SHOP),
    (WEB_BEFORE, WEB_AFTER, WEB_RUNS, WEB),
    (STORE_BEFORE, STORE_AFTER, STORE_RUNS, STORE),
    (SITE_BEFORE, SITE_AFTER, SITE_RUNS, SITE),
    (LIB_BEFORE, LIB_AFTER, LIB_RUNS, LIB),
)


def awkward_worlds(repositories: tuple[Repository, ...], half: str) -> list[tuple[World, list[Statement]]]:
    """The repositories, each with what is said of it."""
    return [
        (
            World(
                commit=Commit(repository="awkward", number=1000 + number, files=(), context=()),
                before=before,
                after=after,
                runs=runs,
            ),
            [_statement(each, half) for each in said],
        )
        for number, (before, after, runs, said) in enumerate(repositories)
    ]


def _statement(said: Said, half: str) -> Statement:
    false = () if said.truth else said.false_words or (ACT,)
    case = Case(
        kind=said.kind, truth=said.truth, slots={}, variant="" if said.truth else "awkward", false=false
    )
    return Statement(
        case=case,
        half=half,
        text=said.text,
        has_aside=said.has_aside,
        false_words=said.false_words,
        may_be_act=not said.truth and not said.false_words,
    )
