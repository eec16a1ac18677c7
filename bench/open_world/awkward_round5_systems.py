"""Commits of kong, chi and hyperfine, and what is said of them."""

# ruff: noqa: E501  (text of statements)
from __future__ import annotations

from open_world.awkward_fourth import of
from open_world.awkward_held_out import no, yes
from open_world.awkward_round5_commit import RealCommit
from open_world.worlds import Run

KONG, CHI, HYPERFINE = "alecthomas/kong", "go-chi/chi", "sharkdp/hyperfine"

SYSTEMS = (
    RealCommit(
        repository=KONG,
        commit="4ecb53599b72bbe620e2417a3d6eed815a2e6f2a",
        runs=[
            Run(command="go test ./...", exit_code=0, output="ok  \tgithub.com/alecthomas/kong\t0.412s\n"),
            Run(
                command="golangci-lint run",
                exit_code=1,
                output="kong_test.go:370:1: Function 'TestNegatableFlag' is too long (84 > 60) (funlen)\n",
            ),
        ],
        said=[
            *of(
                "symbols",
                yes("`Tag.Negatable` is a `string` now, it was a `bool`."),
                yes(
                    "`negatableFlagName` is defined in `negatable.go` and used in `build.go` and `context.go`, nowhere else."
                ),
                no("`negatableFlagName` gives `--no-` plus the name where the negation is empty.", "empty"),
                no("`negatable` can be set on strings as well now.", "strings"),
                no("`Tag.Negatable` turned from a `bool` into a `*string`.", "*string"),
            ),
            *of(
                "values",
                yes('`negatableDefault` is a constant with the value `"_"`.'),
                no("`negatableDefault` is `no-`.", "no-"),
            ),
            *of(
                "tests",
                yes(
                    "`TestNegatableFlag` has nine cases where it had five, and `TestDuplicateNegatableLong` is new."
                ),
                no(
                    "`help_test.go` has a new test function for custom negations.",
                    "new",
                    "test function",
                ),
                no("The custom negation is tested in `negatable_test.go`.", "negatable_test.go"),
            ),
            *of(
                "counts",
                yes("`README.md` gained one line and lost none."),
                no("`help.go` is longer than before.", "longer"),
            ),
            *of(
                "commands",
                yes("`go test ./...` passed; `golangci-lint run` failed with exit code 1."),
                no("`go test ./...` and `golangci-lint run` are both clean.", "both", "golangci-lint run"),
            ),
            *of(
                "other",
                yes("In `negatable.go`, the constant stands above the function."),
                no("In `negatable.go`, the function stands above the constant.", "above"),
            ),
        ],
    ),
    RealCommit(
        repository=KONG,
        commit="a86adbbb25c02f414c222d42bf4cec9bcb824f96",
        runs=[
            Run(
                command="go test -run OnError ./...",
                exit_code=0,
                output="ok  \tgithub.com/alecthomas/kong\t0.035s\n",
            )
        ],
        said=[
            *of(
                "symbols",
                yes("`exit.go` has a new interface, `ExitCoder`, which `*ParseError` implements."),
                yes(
                    "`FatalIfErrorf` does not go through `Fatalf` any more; `Fatalf` itself still exits with 1."
                ),
                yes(
                    "`Parse` returns errors of all four hooks as they are, without a `ParseError` around them."
                ),
                no("`exitCodeFromError` is exported, so that applications can call it.", "exported"),
                no("`Fatalf` exits with the code of the error that it is given.", "Fatalf", "code"),
            ),
            *of(
                "sets",
                no("`Parse` does not return a `ParseError` in any case now.", "any", "not", "does not"),
            ),
            *of(
                "values",
                yes("`exitUsageError` is 80, `exitOk` 0 and `exitNotOk` 1."),
                no("`exitCodeFromError(nil)` is 1.", "1"),
                no(
                    "| constant | value |\n|---|---|\n| `exitOk` | 0 |\n| `exitNotOk` | 1 |\n| `exitUsageError` | 64 |",
                    "64",
                ),
            ),
            *of(
                "files",
                yes("`exit.go` is new; `error.go`, `help_test.go` and `kong.go` were modified."),
                no("`error.go` was merged into `exit.go`.", "merged", "error.go"),
            ),
            *of(
                "tests",
                yes("Three tests of `help_test.go` expect exit code 80 now, none of them is new."),
                no("`TestUsageOnError` was split into two tests.", "split", "two"),
            ),
            *of("commands", no("Ran `go test -race ./...`: ok.", "-race", "go test -race ./...")),
        ],
    ),
    RealCommit(
        repository=KONG,
        commit="9610ed62d93992d4f13e210ada9fd0917530f079",
        runs=[
            Run(
                command="go test ./...",
                exit_code=1,
                output="--- FAIL: TestEnvarsWithDefault (0.00s)\nFAIL\nFAIL\tgithub.com/alecthomas/kong\t0.388s\n",
            ),
            Run(command="go test ./...", exit_code=0, output="ok  \tgithub.com/alecthomas/kong\t0.391s\n"),
        ],
        said=[
            *of(
                "symbols",
                yes("The field `Env string` became `Envs []string`, in `Tag` and in `Flag`."),
                yes(
                    "`atLeastOneEnvSet` is new in `context.go` and takes the place of `os.LookupEnv` in three spots."
                ),
                yes("In `DefaultEnvars`, a lone `-` sets `Envs` to `nil`."),
                no("`Value.Reset` takes the last variable of the list that is set.", "last"),
                no("`formatEnvs` joins the names with a blank and no comma.", "blank", "no comma", "no"),
                no("`Flag` keeps `Env` beside the new `Envs`.", "keeps", "beside"),
                no(
                    "`${env}` in a help text stands for all variables, joined by commas.",
                    "all",
                    "joined",
                    "commas",
                ),
            ),
            *of("sets", yes("No Go file reads `Tag.Env` any more.")),
            *of(
                "tests",
                yes("Five test functions are new: three in `help_test.go` and two in `resolver_test.go`."),
                no("`TestInterpolationIntoModel` was removed.", "removed"),
                no(
                    "New in `resolver_test.go`: `TestEnvarsFlagMultiple`, `TestEnvarsFlagOrder` and `TestEnvarsEnvPrefixMultiple`.",
                    "TestEnvarsFlagOrder",
                ),
            ),
            *of(
                "files",
                yes("Eleven files were edited, `README.md` among them, and none was created."),
                no(
                    "The list of variables is split in `tag.go` and in `mapper.go`, both edited for that.",
                    "mapper.go",
                    "both",
                ),
            ),
            *of(
                "commands",
                yes("`go test ./...` failed at first and passed in the end."),
                no("`go test ./...` passed both times.", "both"),
            ),
            *of(
                "other",
                yes(
                    "Renamed `Env` to `Envs` and adapted what reads it, in `build.go`, `context.go`, `help.go`, `kong.go`, `model.go` and `options.go`."
                ),
                no(
                    "Renamed `Env` to `Envs` and adapted what reads it, in `build.go`, `context.go`, `help.go`, `kong.go`, `resolver.go` and `options.go`.",
                    "resolver.go",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=CHI,
        commit="a52c582b532cd261dbedc4c811d809d6e024c1ff",
        runs=[
            Run(
                command="go test ./...",
                exit_code=0,
                output="ok  \tgithub.com/go-chi/chi/v5\t0.611s\nok  \tgithub.com/go-chi/chi/v5/middleware\t9.204s\n",
            ),
            Run(command="go vet ./...", exit_code=0),
        ],
        said=[
            *of(
                "values",
                yes("`go.mod` asks for Go 1.22 where it asked for 1.20."),
                yes("CI: 1.20.x and 1.21.x out, 1.25.x in, 1.22.x to 1.24.x as before."),
                no("CI does without Windows now.", "without", "Windows"),
                no("`go.mod` now says `go 1.22` and `toolchain go1.25`.", "toolchain", "go1.25"),
            ),
            *of(
                "files",
                yes(
                    "- removed `path_value.go`\n- removed `path_value_fallback.go`\n- kept `path_value_test.go`, minus its build tags"
                ),
                no("All three `path_value*` files were deleted.", "All", "three"),
            ),
            *of(
                "symbols",
                yes("What `setPathValue` did is part of `routeHTTP` now."),
                yes("`longestPrefix` has a named result, `i`, and no variable `max` any more."),
                no("`supportsPattern` is gone together with `supportsPathValue`.", "supportsPattern"),
                no("`contentEncoding` asks `strings.Contains`.", "strings.Contains"),
                no("`longestPrefix` takes any number of strings now.", "any", "number"),
            ),
            *of(
                "sets",
                yes(
                    "Not every loop with an index was turned into a `range`: the one over `paramKeys` in `tree.go` is as it was."
                ),
                no("No three-part `for` is left in `middleware/throttle_test.go`.", "No", "left"),
            ),
            *of("tests", yes("`compress_test.go` lost one line, `tc := tc`.")),
            *of("counts", no("11 files changed: 79 insertions, 24 deletions.", "79", "24")),
            *of(
                "counts",
                yes("`tree.go` is eight lines shorter."),
                no("`tree.go` is eight lines longer.", "longer"),
            ),
        ],
    ),
    RealCommit(
        repository=CHI,
        commit="a54874f0e2f12647a19e82ee70dfa8185014100c",
        runs=[Run(command="go build ./...", exit_code=0)],
        said=[
            *of(
                "files",
                yes(
                    "`pattern.go` and `pattern_fallback.go` were deleted, `pattern_test.go` was not touched."
                ),
                no("`pattern_test.go` lost its build tag.", "pattern_test.go", "lost"),
            ),
            *of(
                "symbols",
                yes("`routeHTTP` sets `r.Pattern` without asking `supportsPattern`."),
                no("`supportsPattern` is a constant of `mux.go` now.", "constant", "mux.go"),
                no("`setPattern` is a method of `Mux` now.", "method", "setPattern"),
            ),
            *of("sets", yes("No code refers to `setPattern` any more.")),
            *of(
                "values",
                yes("Go 1.22 left the CI matrix and nothing took its place."),
                no("`go.mod`: 1.22 → 1.24", "1.24"),
                no("CI covers five versions of Go now.", "five"),
            ),
            *of("counts", yes("3 lines came, 38 went.")),
            *of("tests", no("A test for `r.Pattern` was added to `mux_test.go`.", "added", "mux_test.go")),
            *of(
                "commands",
                yes("`go build ./...` is fine; I ran no tests."),
                no("`go test ./...` is green.", "go test ./...", "green"),
            ),
            *of(
                "other",
                yes(
                    "With Go 1.23 as the minimum, both variants of `setPattern` and of the constant `supportsPattern` were removed."
                ),
                no(
                    "With Go 1.23 as the minimum, `pattern.go` was removed; `pattern_fallback.go` was kept for TinyGo.",
                    "kept",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=CHI,
        commit="4b14b832d53cef6c77fdcf852876a34f46bc84a2",
        runs=[
            Run(
                command="go test -run TestMethodNotAllowed -v .",
                exit_code=0,
                output="--- PASS: TestMethodNotAllowed (0.00s)\n    --- PASS: TestMethodNotAllowed/Registered_Method (0.00s)\n    --- PASS: TestMethodNotAllowed/Unregistered_Method (0.00s)\nPASS\nok  \tgithub.com/go-chi/chi/v5\t0.006s\n",
            )
        ],
        said=[
            *of(
                "symbols",
                yes("`Mux.MethodNotAllowedHandler` is variadic now: `methodsAllowed ...methodTyp`."),
                yes("`Context` got the unexported field `methodsAllowed`."),
                yes("`reverseMethodMap` in `tree.go` covers nine methods."),
                no("`methodsAllowed` is filled in `routeHTTP`.", "routeHTTP"),
                no(
                    "`methodNotAllowedHandler` sends one `Allow` header with all methods, separated by commas.",
                    "one",
                    "commas",
                    "separated",
                ),
                no("`mSTUB` and `mALL` are in `reverseMethodMap`, too.", "mSTUB", "mALL", "reverseMethodMap"),
                no("`MethodNotAllowedHandler` takes a `[]string`.", "[]string"),
            ),
            *of(
                "sets",
                yes(
                    "One of the two calls of `mx.MethodNotAllowedHandler` in `routeHTTP` still passes nothing."
                ),
            ),
            *of(
                "tests",
                yes(
                    "`TestMethodNotAllowed` is new and has two subtests; `BenchmarkMux` got the route `/hi-post`."
                ),
                no("`TestMethodNotAllowed` expects `GET`, `HEAD` and `OPTIONS` in `Allow`.", "OPTIONS"),
                no("`BenchmarkMux` was left as it is.", "left", "BenchmarkMux"),
            ),
            *of(
                "files",
                yes("Changed: `context.go`, `mux.go`, `mux_test.go`, `tree.go`. Nothing else."),
                no(
                    "Changed: `context.go`, `mux.go`, `mux_test.go`, `tree.go`, `CHANGELOG.md`.",
                    "CHANGELOG.md",
                ),
            ),
            *of(
                "commands",
                yes("`go test -run TestMethodNotAllowed -v .` passed with both subtests."),
                no("The whole suite passed (`go test ./...`).", "whole", "go test ./...", "suite"),
            ),
            *of(
                "other",
                yes("In the struct `Context`, `methodsAllowed` comes right after `methodNotAllowed`."),
                no("In `tree.go`, `reverseMethodMap` is defined before `methodMap`.", "before"),
            ),
        ],
    ),
    RealCommit(
        repository=HYPERFINE,
        commit="99d24b7a2edcd9d7b9aafd897796f99d6f723bc1",
        runs=[
            Run(
                command="cargo test",
                exit_code=0,
                output="test result: ok. 71 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 9.41s\n",
                passed=71,
                skipped=1,
            ),
            Run(command="cargo clippy", exit_code=0),
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "`command_output_policy` of `Options` became `command_output_policies`, a `Vec<CommandOutputPolicy>`."
                ),
                yes("`num_commands` has a parameter now, `has_reference_command: bool`."),
                yes(
                    "`validate_against_command_list` takes `&mut self`, therefore `options` in `main.rs` is `mut`."
                ),
                yes(
                    "`RawExecutor`, `ShellExecutor` and `MockExecutor` are all given the output policy as an argument of `run_command_and_measure`."
                ),
                no("A single `--output` counts for the first command only.", "first", "only"),
                no(
                    "`ShellExecutor` calibrates with `CommandOutputPolicy::Inherit`.",
                    "CommandOutputPolicy::Inherit",
                    "Inherit",
                ),
                no(
                    "`run_setup_command` and `run_cleanup_command` have the same parameters as before.",
                    "same",
                    "before",
                ),
            ),
            *of(
                "values",
                yes("`--output` uses `ArgAction::Append` instead of `ArgAction::Set`."),
                no("`--output` no longer conflicts with `show-output`.", "no longer", "conflicts"),
                no(
                    "Without `--output`, every command gets `CommandOutputPolicy::Pipe`.",
                    "CommandOutputPolicy::Pipe",
                    "Pipe",
                ),
            ),
            *of(
                "files",
                yes("Six of the seven files are below `src/`; the seventh is `doc/hyperfine.1`."),
                no(
                    "The help text in `cli.rs`, `doc/hyperfine.1` and `README.md` were all edited.",
                    "README.md",
                ),
            ),
            *of(
                "tests",
                yes("`tests/` has no change."),
                no(
                    "`tests/integration_tests.rs` has a test that gives `--output` twice.",
                    "tests/integration_tests.rs",
                    "integration_tests.rs",
                    "twice",
                ),
            ),
            *of(
                "commands",
                yes("`cargo test`: 71 passed, 1 ignored."),
                no("`cargo test` ran clean: 72 passed, none ignored.", "72", "none"),
            ),
            *of(
                "other",
                yes("No file changed in more lines than `src/options.rs`."),
                no("`src/options.rs` changed in fewer lines than `src/benchmark/mod.rs`.", "fewer"),
            ),
        ],
    ),
    RealCommit(
        repository=HYPERFINE,
        commit="0ffc6d7cc0e38ace11cca70afa4130b64f1e224c",
        runs=[
            Run(
                command="cargo build",
                exit_code=0,
                output="    Finished dev [unoptimized + debuginfo] target(s) in 3.30s\n",
            ),
            Run(command="cargo fmt --check", exit_code=1, output="Diff in src/timer/mod.rs at line 10:\n"),
        ],
        said=[
            *of(
                "files",
                yes(
                    "`src/timer/wallclocktimer.rs` is `src/timer/wall_clock_timer.rs` now, with the same content."
                ),
                yes("`src/execute.rs` is gone and `main.rs` no longer declares it."),
                no(
                    "`src/execute.rs` was renamed to `src/timer/execute.rs`.",
                    "renamed",
                    "src/timer/execute.rs",
                ),
                no(
                    "`src/timer/windows_timer.rs` was edited, as `unix_timer.rs` was.",
                    "src/timer/windows_timer.rs",
                    "windows_timer.rs",
                ),
            ),
            *of(
                "symbols",
                yes(
                    "`execute_and_measure` and `ExecuteResult` moved from `src/execute.rs` to `src/timer/mod.rs`."
                ),
                yes("`CPUInterval` is defined in `unix_timer.rs` now and no longer in `timer/mod.rs`."),
                yes(
                    "`user_time` and `system_time` of `ExecuteResult` are of type `Second`, they were `f64`."
                ),
                yes("`CPUTimes` is not `pub` any more."),
                no("`CPUInterval` was deleted.", "deleted", "CPUInterval"),
                no("There is one `execute_and_measure` for all platforms now.", "one", "all"),
                no("`ExecuteResult` lost its field `status`.", "lost", "status"),
            ),
            *of(
                "sets",
                yes("Of the three modules in `timer/`, only `wall_clock_timer` is public now."),
                no("All modules in `timer/` are still `pub mod`.", "All", "still"),
            ),
            *of(
                "commands",
                yes("`cargo build` works, `cargo fmt --check` does not: exit code 1."),
                no("`cargo fmt --check` has no complaints.", "no", "complaints"),
            ),
            *of(
                "other",
                yes(
                    "Moved `execute_and_measure` into `src/timer/mod.rs`, made the timers of the platforms private and renamed the module of the wall clock."
                ),
                no(
                    "Moved `execute_and_measure` into `src/timer/unix_timer.rs`, made the timers of the platforms private and renamed the module of the wall clock.",
                    "src/timer/unix_timer.rs",
                    "unix_timer.rs",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=HYPERFINE,
        commit="2166c9f02e43c5bb74171abf441dce0aae4b0912",
        runs=[
            Run(
                command="cargo test shows_reference_name",
                exit_code=0,
                output="test shows_reference_name ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 58 filtered out; finished in 0.02s\n",
                passed=1,
            )
        ],
        said=[
            *of(
                "values",
                yes("`--reference-name` requires `--reference`; its value name is `CMD`."),
                no("`--reference-name` conflicts with `--reference`.", "conflicts"),
                no("`--reference-name` has a short form, `-R`.", "-R", "short"),
            ),
            *of(
                "symbols",
                yes("`Options` has `reference_name: Option<String>`, which is `None` by default."),
                no("`reference_name` defaults to an empty string.", "empty"),
                no("`Command::new` has a third parameter for the name.", "third", "parameter"),
            ),
            *of(
                "tests",
                yes("`shows_reference_name` is the only new test."),
                no(
                    "`shows_reference_name` looks for the name in an exported JSON file.",
                    "JSON",
                    "exported",
                    "file",
                ),
            ),
            *of(
                "files",
                yes("Neither `CHANGELOG.md` nor `doc/hyperfine.1` was updated."),
                no("`CHANGELOG.md` has a line about `--reference-name`.", "CHANGELOG.md", "line"),
            ),
            *of("counts", yes("Four files, 28 lines in, 1 out.")),
            *of(
                "other", yes("In `build_command`, `reference-name` stands between `reference` and `prepare`.")
            ),
            *of(
                "commands",
                yes("`cargo test shows_reference_name` ran 1 test, which passed."),
                no("`cargo test shows_reference_name` ran 59 tests.", "59"),
            ),
            *of(
                "other",
                yes(
                    "Added `--reference-name` in `cli.rs`, kept it in `Options` and passed it on in `scheduler.rs`."
                ),
                no(
                    "Added `--reference-name` in `cli.rs` with a test, and described it in the man page.",
                    "man page",
                    "described",
                ),
            ),
        ],
    ),
)
