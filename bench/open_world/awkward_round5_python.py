"""Commits of sqlite-utils, watchfiles and structlog, and what is said of them."""

# ruff: noqa: E501  (text of statements)
from __future__ import annotations

from open_world.awkward_fourth import of
from open_world.awkward_held_out import no, yes
from open_world.awkward_round5_commit import RealCommit
from open_world.worlds import Run

SQLITE, WATCH, LOG = "simonw/sqlite-utils", "samuelcolvin/watchfiles", "hynek/structlog"

PYTHON = (
    RealCommit(
        repository=SQLITE,
        commit="7a52214624ae0e2c3fdf07215c1bcfc1393dbd93",
        runs=[
            Run(
                command="pytest tests/test_create.py tests/test_cli.py -k index",
                exit_code=0,
                output="..................                                         [100%]\n18 passed, 402 deselected in 2.31s\n",
                passed=18,
            ),
            Run(
                command="flake8",
                exit_code=1,
                output="./sqlite_utils/cli.py:708:5: E303 too many blank lines (2)\n",
            ),
        ],
        said=[
            *of(
                "files",
                yes(
                    "Files touched:\n- `sqlite_utils/cli.py`, `sqlite_utils/db.py`\n- `tests/test_cli.py`, `tests/test_create.py`\n- four pages in `docs/`, none of them new"
                ),
                no(
                    "Documented `drop-index` on a page of its own, `docs/drop-index.rst`.",
                    "docs/drop-index.rst",
                    "drop-index.rst",
                    "own",
                ),
            ),
            *of(
                "symbols",
                yes(
                    "`Table.drop_index(index_name, ignore=False)` raises `OperationalError` for an index that the table does not have, unless `ignore` is set."
                ),
                yes("The CLI function `drop_index` carries `@load_extension_option`."),
                no("`Table.drop_index` gives back `None` if the index is missing and `ignore=True`.", "None"),
                no("`drop_index` is defined on `Queryable`, so `View` has it, too.", "Queryable", "View"),
                no(
                    "`drop_index` in `sqlite_utils/db.py` takes two parameters besides `self`: `index_name` and `if_exists`.",
                    "if_exists",
                ),
            ),
            *of(
                "tests",
                yes(
                    "Four tests came in: `test_drop_index` in `tests/test_cli.py` and three in `tests/test_create.py`."
                ),
                no(
                    "The four new tests are spread evenly: two in `tests/test_cli.py`, two in `tests/test_create.py`.",
                    "evenly",
                    "two",
                ),
                no(
                    "New tests in `tests/test_create.py`:\n- [x] `test_drop_index`\n- [x] `test_drop_index_ignore`\n- [x] `test_drop_index_if_exists`\n- [x] `test_drop_index_wrong_table`",
                    "test_drop_index_if_exists",
                ),
            ),
            *of(
                "commands",
                yes(
                    "`flake8` is not clean: it stopped with exit code 1 over one line of `sqlite_utils/cli.py`."
                ),
                no("Ran `flake8`, which had nothing to say.", "nothing"),
                no(
                    "`pytest tests/test_create.py tests/test_cli.py -k index` ran all 420 tests of the two files.",
                    "all",
                    "420",
                ),
            ),
            *of("values", yes("The changelog line about `drop-index` refers to issue 626.")),
            *of(
                "other",
                no(
                    "In `sqlite_utils/cli.py` the command `drop-index` stands after `enable-fts`.",
                    "after",
                    "enable-fts",
                ),
            ),
            *of(
                "other",
                yes("`tests/test_cli.py` grew less than `tests/test_create.py`."),
                no("`sqlite_utils/db.py` grew more than `sqlite_utils/cli.py`.", "more"),
                yes(
                    "Implemented `drop-index` end to end: `Table.drop_index` in `sqlite_utils/db.py`, the command in `sqlite_utils/cli.py`, four tests, docs and a changelog entry."
                ),
                no(
                    "Implemented `drop-index` end to end: `Table.drop_index` in `sqlite_utils/db.py`, the command in `sqlite_utils/cli.py`, a hook in `sqlite_utils/hookspecs.py`, four tests and docs.",
                    "hook",
                    "sqlite_utils/hookspecs.py",
                    "hookspecs.py",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=SQLITE,
        commit="29d84bc95db63c47fd02fd3956684b148fba3fb9",
        runs=[
            Run(
                command="uv run pytest",
                exit_code=0,
                output="=========== 1043 passed, 14 skipped in 61.02s (0:01:01) ===========\n",
                passed=1043,
                skipped=14,
            ),
            Run(
                command="uv run mypy sqlite_utils tests",
                exit_code=0,
                output="Success: no issues found in 58 source files\n",
            ),
        ],
        said=[
            *of(
                "files",
                yes("- `.gitpod.yml`: deleted\n- nothing else was deleted, nothing was created"),
                no(
                    "Removed `.gitpod.yml` and `.readthedocs.yaml`.",
                    ".readthedocs.yaml",
                ),
            ),
            *of(
                "sets",
                yes(
                    "Five workflows install with `--group` now: `publish`, `spellcheck`, `test-coverage`, `test-sqlite-support` and `test`."
                ),
                yes(
                    "In the `Justfile`, Black is the only tool of the recipe `lint` that still goes through `just run`."
                ),
                no("Every workflow under `.github/workflows/` was changed.", "Every"),
                no("No recipe of the `Justfile` calls `just run` any more.", "No", "any more"),
            ),
            *of(
                "values",
                yes(
                    "`pyproject.toml` has no `[project.optional-dependencies]` any more; what `test`, `mypy` and `flake8` listed is in the group `dev`."
                ),
                yes(
                    "| `.readthedocs.yaml` | before | after |\n|---|---|---|\n| os | ubuntu-22.04 | ubuntu-24.04 |\n| python | 3.11 | 3.13 |"
                ),
                no(
                    "| `.readthedocs.yaml` | before | after |\n|---|---|---|\n| os | ubuntu-22.04 | ubuntu-24.04 |\n| python | 3.11 | 3.14 |",
                    "3.14",
                ),
                no(
                    "The requirements of the docs (`furo`, `codespell` and so on) went into the group `dev` as well.",
                    "dev",
                    "docs",
                ),
                no("Bumped `black` to `>=25.1` on the way.", "25.1", ">=25.1", "Bumped"),
            ),
            *of(
                "commands",
                yes("`uv run pytest`: 1043 passed, 14 skipped"),
                no("`uv run pytest` finished with 1057 passed and nothing skipped.", "1057", "nothing"),
            ),
            *of("tests", yes("No test was added, changed or removed.")),
            *of(
                "counts",
                yes(
                    "**Packaging**: the four extras `test`, `docs`, `mypy` and `flake8` became two dependency groups, `dev` and `docs`."
                ),
                no(
                    "**Packaging**: the four extras `test`, `docs`, `mypy` and `flake8` became three dependency groups.",
                    "three",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=SQLITE,
        commit="397183debd9329a2ddbcabe7a181278f042952ad",
        runs=[
            Run(
                command="make -C docs html",
                exit_code=0,
                output="make: Entering directory 'docs'\nbuild succeeded, 3 warnings.\n\nThe HTML pages are in _build/html.\n",
            )
        ],
        said=[
            *of(
                "files",
                yes(
                    "`docs/_templates/layout.html` is gone; its banner script lives in `docs/_static/js/custom.js` now."
                ),
                yes("Created `docs/_templates/base.html`, which fills the block `site_meta`."),
                no(
                    "`docs/_templates/layout.html` stays as a fallback beside the new `docs/_templates/base.html`.",
                    "stays",
                    "fallback",
                ),
            ),
            *of(
                "values",
                yes(
                    "`html_theme` went from `sphinx_rtd_theme` to `furo`, and `html_title` is set to `sqlite-utils`."
                ),
                yes(
                    "In `setup.py`, `furo` takes the place of `sphinx_rtd_theme` in the extra `docs`; the extra `test` is as it was."
                ),
                no("`html_theme` went from `alabaster` to `furo`.", "alabaster"),
                no(
                    "Pinned the theme in `setup.py` (`furo==2022.4.7`).",
                    "Pinned",
                    "furo==2022.4.7",
                    "2022.4.7",
                ),
                no(
                    "`html_static_path` was changed to `_static/js`.",
                    "html_static_path",
                    "_static/js",
                    "changed",
                ),
            ),
            *of(
                "symbols",
                yes("`docs/conf.py` no longer defines `html_sidebars`, but defines `html_js_files`."),
                no(
                    "`html_sidebars` is kept in `docs/conf.py`, without `relations.html`.",
                    "kept",
                    "html_sidebars",
                    "without",
                ),
            ),
            *of(
                "counts",
                yes("Four `.rst` files got one line each and lost none."),
                no("Each of the five `.rst` files that changed got one line.", "five"),
            ),
            *of(
                "commands",
                yes("`make -C docs html` succeeded with 3 warnings."),
                no(
                    "`make -C docs html` built the pages without a single warning.",
                    "without",
                    "warning",
                    "single",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=WATCH,
        commit="257747b7af919bdb283522b579abcd9d447d175a",
        runs=[
            Run(
                command="pytest tests/test_rust_notify.py",
                exit_code=0,
                output="tests/test_rust_notify.py .................                 [100%]\n\n============ 17 passed in 3.80s ============\n",
                passed=17,
            ),
            Run(
                command="cargo clippy",
                exit_code=0,
                output="warning: `watchfiles_rust_notify` (lib) generated 2 warnings\n    Finished dev [unoptimized + debuginfo] target(s) in 0.21s\n",
            ),
        ],
        said=[
            *of(
                "files",
                yes("`d.txt` and `e.txt` moved into `tests/test_files/dir_a/`, their content is the same."),
                yes(
                    "`tests/test_files/a.txt`, `b.txt` and `c.txt` stay where they were; `dir_a` has its own three."
                ),
                no(
                    "All six files of `tests/test_files/dir_a/` were moved there from `tests/test_files/`.",
                    "All",
                    "six",
                ),
                no(
                    "Files changed:\n- `tests/conftest.py` (fixture)\n- `tests/test_rust_notify.py` (tests)\n- `tests/test_watch.py` (tests)\n- `src/lib.rs` (fix)",
                    "tests/test_watch.py",
                    "test_watch.py",
                ),
            ),
            *of(
                "symbols",
                yes("`src/lib.rs` imports neither `AtomicBool` nor `Ordering` any more."),
                yes(
                    "The fixture `test_dir` walks its folder with `glob('**/*.*')` where it used `iterdir()`."
                ),
                no("`last_rename` is still there, but only Linux uses it.", "still", "last_rename", "Linux"),
                no(
                    "A bare `ModifyKind::Name` counts as `CHANGE_ADDED` if the path does not exist.",
                    "not",
                    "does not",
                    "CHANGE_ADDED",
                ),
            ),
            *of(
                "tests",
                yes(
                    "`test_rename_out` and `test_rename_multiple_out` are gone; `test_move_in`, `test_move_out` and `test_move_internal` are new."
                ),
                yes(
                    "`test_modify_chmod` works on `b.txt` and no longer on `a.txt`; its skip on Windows is unchanged."
                ),
                no("`tests/test_rust_notify.py` has one test less than before.", "less", "one"),
                no("`test_move_internal` is skipped on Windows.", "skipped"),
                no(
                    "`test_move_out` carries the `skipif` for macOS that `test_rename_out` had.",
                    "carries",
                    "skipif",
                ),
            ),
            *of(
                "commands",
                yes("`pytest tests/test_rust_notify.py` passed, 17 of 17."),
                no("`cargo clippy` came back without warnings.", "without", "warnings"),
            ),
        ],
    ),
    RealCommit(
        repository=WATCH,
        commit="6349679457b3bf90744195c1a952ed1c194c4759",
        runs=[
            Run(
                command="make build-dev",
                exit_code=0,
                output="Finished release [optimized] target(s) in 14.02s\n",
            ),
            Run(
                command="pytest",
                exit_code=1,
                output="FAILED tests/test_watch.py::test_awatch_interrupt_raise\n============ 1 failed, 98 passed in 12.40s ============\n",
                passed=98,
                failed=1,
            ),
            Run(
                command="pytest",
                exit_code=0,
                output="============ 99 passed in 12.11s ============\n",
                passed=99,
            ),
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "`RustNotify` got `close`, `__enter__` and `__exit__`, in `src/lib.rs` and in the stub `watchfiles/_rust_notify.pyi`."
                ),
                yes("Both `watch` and `awatch` create their `RustNotify` in a `with` statement."),
                yes("`WatcherEnum` has a third variant, `None`, ahead of `Poll` and `Recommended`."),
                yes(
                    "`MockRustNotify` (`tests/conftest.py`) and `MockRustNotifyRaise` (`tests/test_watch.py`) got the same three methods."
                ),
                no(
                    "`__exit__` of the Rust class sets the watcher to `None` itself and does not go through `close`.",
                    "itself",
                    "not",
                    "does not",
                ),
                no("Calling `watch` on a closed `RustNotify` raises a `ValueError`.", "ValueError"),
                no(
                    "The signature of `RustNotify.watch` changed: it has a new last parameter `closed`.",
                    "closed",
                    "signature",
                    "parameter",
                ),
            ),
            *of(
                "sets",
                yes("Nothing in `watchfiles/` calls `RustNotify(` outside of a `with` statement any more."),
                no(
                    "Only `watch` uses the context manager; `awatch` closes its watcher in a `finally` block.",
                    "Only",
                    "finally",
                    "closes",
                ),
            ),
            *of(
                "files",
                yes("`watchfiles/cli.py` and `watchfiles/run.py` are untouched."),
                no("Adapted `watchfiles/main.py` and `watchfiles/run.py`.", "watchfiles/run.py", "run.py"),
            ),
            *of(
                "tests",
                yes(
                    "`test_recommended_repr` was renamed to `test_close` and extended; no other test came or went."
                ),
                no(
                    "Added `test_context_manager` to `tests/test_rust_notify.py`.",
                    "test_context_manager",
                    "Added",
                ),
            ),
            *of(
                "commands",
                yes("The last `pytest` passed with 99 tests; the one before had 1 failure."),
                no("`pytest` was green at the first attempt.", "first", "attempt"),
            ),
            *of(
                "other",
                yes("In `src/lib.rs`, `close` is defined between `__enter__` and `__exit__`."),
                no("In `src/lib.rs`, `clear` comes before `close`.", "before"),
                yes(
                    "**watchfiles/main.py**: the loops of `watch` and `awatch` are one level deeper, inside `with RustNotify(...) as watcher`; their branches on `raw_changes` are the same as before."
                ),
                no(
                    "**watchfiles/main.py**: the loops of `watch` and `awatch` are one level deeper, inside `with RustNotify(...) as watcher`; the branch for `'signal'` is gone from `awatch`.",
                    "gone",
                    "signal",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=WATCH,
        commit="6ea19cac0447b3594cca29793fe0d308c3585a6a",
        runs=[
            Run(
                command="make test",
                exit_code=0,
                output="coverage run -m pytest\n============ 101 passed, 1 skipped in 13.20s ============\n",
                passed=101,
                skipped=1,
            )
        ],
        said=[
            *of(
                "values",
                yes(
                    "`requires-python` is `>=3.8` now; the classifier for 3.7 is out, the one for 3.12 is in."
                ),
                yes(
                    "`Cargo.toml`: pyo3 `0.19.2` → `=0.20`, feature `generate-import-lib` in place of `abi3-py37`"
                ),
                yes(
                    "`requirements/testing.txt`: dropped `attrs` and `py`, raised `pytest` from 7.1.3 to 7.4.2, left `pluggy` at 1.0.0."
                ),
                no("`Cargo.lock` moves `syn` from 1.0.109 to 2.0.38.", "2.0.38"),
                no("The oldest Rust in the CI matrix went from 1.56.0 to 1.60.0.", "1.60.0", "went"),
                no(
                    "- pyo3 0.19.2 → 0.20\n- notify 5.0.0 → 6.1.1\n- crossbeam-channel unchanged",
                    "notify",
                    "6.1.1",
                ),
            ),
            *of(
                "files",
                yes("`docs/index.md` was not touched and still speaks of Python 3.7."),
                no(
                    "The supported versions are up to date in `README.md` and in `docs/index.md`, which both changed.",
                    "docs/index.md",
                    "both",
                ),
            ),
            *of(
                "sets",
                no("Python 3.7 is mentioned nowhere in the repository any more.", "nowhere", "any more"),
            ),
            *of(
                "counts",
                yes("The CI matrix for tests lists eight interpreters now, five CPython and three PyPy."),
                no("Three packages are new in `Cargo.lock`: `cc`, `heck` and `indoc`.", "indoc"),
            ),
            *of(
                "tests",
                yes(
                    "`test_ignore_permission_denied` reads its path from `WATCHFILES_TEST_PERMISSION_DENIED_PATH` and falls back to `/`."
                ),
                no(
                    "`test_ignore_permission_denied` lost its `@skip_unless_linux`.",
                    "lost",
                    "@skip_unless_linux",
                    "skip_unless_linux",
                ),
            ),
            *of(
                "commands",
                yes("`make test` passed: 101 passed, 1 skipped, 0 failed."),
                no("All 102 tests passed under `make test`.", "All", "102"),
            ),
            *of(
                "other",
                yes(
                    "Dropped Python 3.7 and added 3.12, in `pyproject.toml`, in the CI matrix and in `README.md`."
                ),
                no(
                    "Dropped Python 3.7 and 3.8 and added 3.12, in `pyproject.toml`, in the CI matrix and in `README.md`.",
                    "3.8",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=LOG,
        commit="aca10f23dd12bd9e14cfe712f1ce66c9cb5f4400",
        runs=[
            Run(
                command="grep -rn pretend tests",
                exit_code=0,
                output="tests/helpers.py:27:    Similar to pretend.stub().\n",
            ),
            Run(
                command="pytest -q",
                exit_code=0,
                output="1012 passed, 11 skipped in 4.87s\n",
                passed=1012,
                skipped=11,
            ),
        ],
        said=[
            *of(
                "values",
                yes(
                    "`pretend` is no longer among the `tests` dependencies in `pyproject.toml`; nothing replaced it there."
                ),
                no("`pyproject.toml`: `pretend` out, `pytest-mock` in.", "pytest-mock"),
            ),
            *of(
                "symbols",
                yes(
                    "`tests/helpers.py` defines `stub`, `raiser` and `call_recorder`, each of which returns a `Mock`."
                ),
                yes("Of `stub`, `raiser` and `call_recorder`, only `stub` seals its mock."),
                no(
                    "In `tests/test_config.py`, `call` comes from `tests/helpers.py`.",
                    "call",
                    "tests/helpers.py",
                    "helpers.py",
                ),
                no("`raiser` takes the exception and an optional message.", "optional", "message"),
                no(
                    "`CustomError` in `tests/helpers.py` derives from `RuntimeError`.",
                    "RuntimeError",
                    "derives",
                ),
            ),
            *of(
                "files",
                yes(
                    "`tests/utils.py` was deleted; `stdlib_log_methods` and `CustomError` are in `tests/helpers.py` now."
                ),
                yes("Nothing below `src/` changed."),
                no(
                    "`tests/conftest.py` was switched to the new helpers as well.",
                    "tests/conftest.py",
                    "conftest.py",
                ),
            ),
            *of(
                "sets",
                yes("No test module imports `pretend` any more."),
                no("The word `pretend` is gone from `tests/` without a trace.", "gone", "without"),
            ),
            *of(
                "counts",
                yes("Eight test modules import from `helpers` now."),
                no("Seven test modules import from `helpers` now.", "Seven"),
            ),
            *of(
                "commands",
                yes("`pytest -q` ended with 1012 passed and 11 skipped."),
                no("`grep -rn pretend tests` found nothing.", "nothing"),
            ),
            *of(
                "other",
                yes(
                    "Replaced `pretend` with helpers on top of `unittest.mock`; `o.calls` in `tests/test_twisted.py` is `o.call_args_list` now."
                ),
                no(
                    "Replaced `pretend` with helpers on top of `unittest.mock`, and deleted `tests/utils.py` and `tests/additional_frame.py`.",
                    "tests/additional_frame.py",
                    "additional_frame.py",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=LOG,
        commit="ba04ac275291ea1754aba24643d17cb8e5638c66",
        runs=[
            Run(
                command="pytest tests/processors -q",
                exit_code=0,
                output="167 passed, 2 skipped in 1.02s\n",
                passed=167,
                skipped=2,
            ),
            Run(
                command="mypy src",
                exit_code=1,
                output='src/structlog/_native.py:66: error: Unused "type: ignore" comment  [unused-ignore]\nFound 1 error in 1 file (checked 24 source files)\n',
            ),
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "New in `src/structlog/contextvars.py`: the context variable `_ASYNC_CALLING_THREAD`, which holds a tuple of thread id and thread name."
                ),
                yes(
                    "`_get_callsite_thread` and `_get_callsite_thread_name` ask `threading` only if `_ASYNC_CALLING_THREAD` is unset; their signatures are the same as before."
                ),
                no(
                    "`_ASYNC_CALLING_THREAD` holds the `threading.Thread` object itself.",
                    "threading.Thread",
                    "object",
                ),
                no(
                    "`_ASYNC_CALLING_THREAD` is always reset before `_ASYNC_CALLING_STACK`.",
                    "before",
                    "always",
                ),
                no("`_ASYNC_CALLING_THREAD` was created with a default of `None`.", "default", "None"),
            ),
            *of(
                "counts",
                yes(
                    "`_ASYNC_CALLING_THREAD` is set in five places: three in `_native.py`, two in `stdlib.py`."
                ),
                no(
                    "`_ASYNC_CALLING_THREAD` is set four times, twice in `_native.py` and twice in `stdlib.py`.",
                    "four",
                    "twice",
                ),
            ),
            *of(
                "sets",
                no(
                    "In `stdlib.py`, `BoundLogger` alone captures the thread; `AsyncBoundLogger` is as it was.",
                    "alone",
                    "AsyncBoundLogger",
                    "as it was",
                ),
            ),
            *of(
                "tests",
                yes(
                    "Added `test_async_native_logger`; the existing test of async invocations compares `thread` and `thread_name` now, too."
                ),
                no("Two tests are new, both for the native logger.", "Two", "both"),
            ),
            *of("files", yes("No file in `docs/` was changed; `CHANGELOG.md` was.")),
            *of("values", no("The new entry in `CHANGELOG.md` links issue 720.", "720")),
            *of(
                "commands",
                yes("`mypy src` still fails: 1 error, in `src/structlog/_native.py`."),
                no("`pytest tests/processors -q` and `mypy src` both exit with 0.", "mypy src", "both"),
            ),
            *of(
                "other",
                yes("No other file under `src/` gained as many lines as `_native.py`."),
                no("`processors.py` gained more lines than `stdlib.py`.", "more"),
            ),
        ],
    ),
    RealCommit(
        repository=LOG,
        commit="bc67e8a7c1cd36f3f704e0646c712ff1e6287123",
        runs=[
            Run(
                command="pytest tests/test_dev.py",
                exit_code=0,
                output="============ 93 passed in 0.61s ============\n",
                passed=93,
            )
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "The function `get_active_console_renderer` became the class method `ConsoleRenderer.get_active`."
                ),
                no("`ConsoleRenderer.get_active` is a `@staticmethod`.", "@staticmethod", "staticmethod"),
                no(
                    "`get_active_console_renderer` stays in `dev.py` as a deprecated alias.",
                    "stays",
                    "alias",
                    "deprecated",
                ),
                no(
                    "`get_active` returns `None` where no `ConsoleRenderer` is configured.", "None", "returns"
                ),
            ),
            *of(
                "sets",
                yes("`get_active_console_renderer` is left nowhere, neither in code nor in the docs."),
            ),
            *of(
                "tests",
                yes("The class `TestGetActiveConsoleRenderer` kept its name, and no test came or went."),
                no(
                    "`TestGetActiveConsoleRenderer` is called `TestConsoleRendererGetActive` now.",
                    "TestConsoleRendererGetActive",
                    "called",
                ),
            ),
            *of(
                "files",
                yes("Five files were edited, two of them in `docs/`."),
                no("Besides code and tests only `CHANGELOG.md` was edited.", "only"),
            ),
            *of(
                "values",
                yes(
                    "`docs/api.rst` lists `get_active` among the members of `ConsoleRenderer` and has no `autofunction` for it."
                ),
                no("The docstring of `get_active` says `versionadded` 25.4.0.", "25.4.0"),
            ),
            *of(
                "counts",
                no("`ConsoleRenderer.get_active` takes two parameters, `cls` and `config`.", "two", "config"),
            ),
        ],
    ),
)
