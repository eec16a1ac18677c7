"""Commits of ky, ofetch and commander.js, and what is said of them."""

# ruff: noqa: E501, RUF001  (text of statements)
from __future__ import annotations

from open_world.awkward_fourth import of
from open_world.awkward_held_out import no, yes
from open_world.awkward_round5_commit import RealCommit
from open_world.worlds import Run

KY, OFETCH, COMMANDER = "sindresorhus/ky", "unjs/ofetch", "tj/commander.js"

WEB = (
    RealCommit(
        repository=KY,
        commit="d112283ffd615479c6adaeeeccf225906da9f3ff",
        runs=[
            Run(
                command="npx ava test/bytes.ts",
                exit_code=0,
                output="  ✔ .bytes() returns Uint8Array when supported\n  ✔ .bytes() throws on HTTP errors when supported\n  ─\n\n  2 tests passed\n",
                passed=2,
            ),
            Run(
                command="npx xo",
                exit_code=1,
                output="  source/core/Ky.ts:98:5\n  ✖  98:5  Unexpected any. Specify a different type.  @typescript-eslint/no-explicit-any\n\n  1 error\n",
            ),
        ],
        said=[
            *of(
                "files",
                yes(
                    "| file | what |\n|---|---|\n| `test/bytes.ts` | new |\n| `source/core/Ky.ts`, `source/core/constants.ts` | edited |\n| `source/types/ResponsePromise.ts` | edited |\n| `readme.md` | edited |"
                ),
                no(
                    "| file | what |\n|---|---|\n| `test/bytes.ts` | new |\n| `source/core/Ky.ts`, `source/core/constants.ts` | edited |\n| `source/index.ts` | edited |\n| `readme.md` | edited |",
                    "source/index.ts",
                ),
                no(
                    "Documented `.bytes()` in `readme.md` and bumped the version in `package.json`.",
                    "package.json",
                    "bumped",
                    "version",
                ),
            ),
            *of(
                "counts",
                yes("72 lines came and none went."),
                no("72 lines came and 6 went.", "6"),
            ),
            *of(
                "symbols",
                yes("`bytes` is the last key of `responseTypes`, with `*/*` like `arrayBuffer` and `blob`."),
                yes("`ResponsePromise` got `bytes: () => Promise<Uint8Array>`."),
                no(
                    "In `responseTypes`, `bytes` maps to `application/octet-stream`.",
                    "application/octet-stream",
                ),
                no("`ResponsePromise.bytes` resolves to an `ArrayBuffer`.", "ArrayBuffer"),
            ),
            *of("sets", no("The shortcut `.bytes()` is there in every runtime.", "every")),
            *of(
                "tests",
                yes("Both tests in `test/bytes.ts` end early with `t.pass()` if `supportsBytes` is false."),
                no(
                    "`test/bytes.ts` has three tests: for success, for HTTP errors and for an empty body.",
                    "three",
                    "empty",
                ),
            ),
            *of(
                "commands",
                yes("`npx xo` reports one error, in `source/core/Ky.ts`."),
                no("Both `npx ava test/bytes.ts` and `npx xo` succeed.", "Both", "npx xo"),
            ),
            *of(
                "other",
                yes("Added `.bytes()` together with its type, its docs and its tests."),
                no(
                    "Added `.bytes()` together with its type, its tests and an entry in a changelog.",
                    "changelog",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=KY,
        commit="7e1fd0ba60be6ae2c5aec0ef401393a54d98e372",
        runs=[
            Run(command="npx tsc --noEmit", exit_code=0),
            Run(command="npx ava test/hooks.ts", exit_code=0, output="  ─\n\n  58 tests passed\n", passed=58),
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "`source/utils/type-guards.ts` exports `isKyError`, `isHTTPError` and `isTimeoutError`, and nothing else."
                ),
                yes("`Ky.ts` no longer imports `TimeoutError`, but still imports `HTTPError`."),
                yes("`isKyError` is made of the other two guards."),
                no("`isHTTPError` and `isTimeoutError` are generic, `isKyError` is not.", "isTimeoutError"),
                no("`isHTTPError` and `isTimeoutError` look at the `name` of the error alone.", "alone"),
                no(
                    "`source/index.ts` no longer exports `HTTPError`.",
                    "no longer",
                    "HTTPError",
                ),
            ),
            *of(
                "files",
                yes("One new file, `source/utils/type-guards.ts`; four others were modified."),
                no(
                    "The type guards went into `source/errors/guards.ts`, next to the error classes.",
                    "source/errors/guards.ts",
                    "errors/guards.ts",
                    "next",
                ),
            ),
            *of("sets", no("`source/` is free of `instanceof` now.", "free")),
            *of(
                "tests",
                yes(
                    "The test 'beforeRetry hook with parseJson and error.response.json()' plans 11 assertions where it planned 10."
                ),
                yes("No test was added; two existing ones in `test/hooks.ts` got one more assertion each."),
                no("Added `test/type-guards.ts` with one test per guard.", "test/type-guards.ts", "Added"),
            ),
            *of(
                "commands",
                yes("`npx ava test/hooks.ts`: 58 passed."),
                no("Ran `npx tsc --noEmit` and `npx xo`, both without complaints.", "npx xo", "both"),
            ),
        ],
    ),
    RealCommit(
        repository=KY,
        commit="6edddd986f2f6a9c7d91e851d9b9a48df439d328",
        runs=[
            Run(
                command="npx ava test/methods.ts test/retry.ts",
                exit_code=1,
                output="  ✘ [fail]: retry › QUERY retries by default\n  ─\n\n  1 test failed\n  61 tests passed\n",
                passed=61,
                failed=1,
            )
        ],
        said=[
            *of(
                "values",
                yes("`requestMethods` ends with `'query'` now, and so does `retryMethods`."),
                no(
                    "`'query'` was added to `requestMethods`, but not to `retryMethods`.",
                    "not",
                    "retryMethods",
                ),
                no("The default retry limit went from 2 to 3.", "3", "limit", "went"),
            ),
            *of(
                "symbols",
                yes("`RequestHttpMethod` covers seven methods."),
                yes("`KyInstance` has a new member `query`, right after `head`."),
                no(
                    "`HttpMethod` names `'query'` itself, beside `'options'` and `'trace'`.",
                    "itself",
                    "HttpMethod",
                    "beside",
                ),
                no("`query` in `KyInstance` has exactly the type of `head`.", "exactly", "head"),
            ),
            *of(
                "files",
                yes("`source/core/Ky.ts` needed no change."),
                no("Changed in `source/core/`: `Ky.ts` and `constants.ts`.", "Ky.ts"),
            ),
            *of(
                "tests",
                yes(
                    "Four tests for QUERY, one each in `test/browser.ts`, `test/main.ts`, `test/methods.ts` and `test/retry.ts`."
                ),
                no("`test/main.ts` is the only file with a new test.", "only"),
            ),
            *of(
                "commands",
                yes(
                    "`npx ava test/methods.ts test/retry.ts` ends with one failure, 'QUERY retries by default'."
                ),
                no("`npx ava test/methods.ts test/retry.ts` is all green.", "all", "green"),
            ),
            *of(
                "counts",
                yes("Ten files changed: four tests, five sources and the readme."),
                no("Ten files changed, half of them tests.", "half"),
            ),
            *of(
                "other",
                yes("In `test/main.ts`, 'QUERY request' follows 'DELETE request' and precedes 'POST JSON'."),
                no("In `requestMethods`, `'query'` comes first.", "first"),
            ),
        ],
    ),
    RealCommit(
        repository=OFETCH,
        commit="858d416204245cf57e66f53304eb8d6c3dc24c19",
        runs=[
            Run(
                command="pnpm vitest run",
                exit_code=0,
                output=" Test Files  1 passed (1)\n      Tests  41 passed (41)\n",
                passed=41,
            ),
            Run(
                command="pnpm build",
                exit_code=1,
                output=" ERROR  Potential missing package.json files: dist/index.d.ts\n",
            ),
        ],
        said=[
            *of(
                "values",
                yes("`dependencies` holds `destr` and `ufo`, and no longer `node-fetch-native`."),
                yes("`build.config.ts` has a single entry now, `src/index`."),
                no("`exports` in `package.json` keeps its entry for `./node`.", "keeps", "./node"),
                no(
                    "`main` in `package.json` points to `./dist/index.mjs` now.",
                    "main",
                    "points",
                    "./dist/index.mjs",
                ),
                no("`externals` in `build.config.ts` is empty.", "externals", "empty"),
            ),
            *of(
                "files",
                yes("`src/node.ts` is the only file that was deleted."),
                yes("`playground/index.ts` was left alone and still imports `../src/node`."),
                no(
                    "`playground/index.ts` imports from `../src/index` now.",
                    "playground/index.ts",
                    "../src/index",
                ),
            ),
            *of(
                "symbols",
                yes("`src/index.ts` exports neither `Headers` nor `AbortController` any more."),
                yes("`CreateFetchOptions` is down to `defaults` and `fetch`."),
                no(
                    "`createNodeFetch` moved to `src/fetch.ts`.",
                    "moved",
                    "src/fetch.ts",
                    "fetch.ts",
                    "createNodeFetch",
                ),
            ),
            *of(
                "sets",
                no(
                    "`node-fetch-native` does not occur in `pnpm-lock.yaml` any more.",
                    "not",
                    "does not",
                    "pnpm-lock.yaml",
                ),
            ),
            *of(
                "tests",
                yes(
                    "`test/index.test.ts` takes `$fetch` from `../src/index.ts` where it took it from `../src/node.ts`."
                ),
                no("A new test covers `globalThis.Headers`.", "new", "globalThis.Headers"),
            ),
            *of(
                "commands",
                yes("`pnpm build` fails with exit code 1, while all 41 tests of `pnpm vitest run` pass."),
                no("`pnpm build` goes through.", "through", "goes"),
            ),
            *of("counts", no("154 lines went and 80 came.", "80")),
            *of(
                "other",
                yes("`package.json` lost more lines than `README.md`."),
                no("`src/index.ts` lost more lines than `src/node.ts`.", "more"),
            ),
        ],
    ),
    RealCommit(
        repository=OFETCH,
        commit="c7d8c93b1dc9af6f556b713d63787d4295709908",
        runs=[Run(command="pnpm lint", exit_code=0)],
        said=[
            *of(
                "files",
                yes(
                    "Deleted:\n- `cjs/undici.cjs`\n- `playground/undici.ts`\n- `src/undici.ts`\n- `undici.d.ts`"
                ),
                yes("`pnpm-lock.yaml` was not updated and still lists `undici`."),
                no(
                    "Deleted:\n- `cjs/undici.cjs`\n- `cjs/node.cjs`\n- `src/undici.ts`\n- `undici.d.ts`",
                    "cjs/node.cjs",
                ),
                no("`src/undici.ts` was folded into `src/node.ts`.", "folded", "src/node.ts", "node.ts"),
            ),
            *of(
                "values",
                yes("Dropped `undici` from `dependencies`; `ufo` stays at `^1.0.0`."),
                yes("`files` in `package.json` names three entries: `dist`, `node.d.ts` and `cjs`."),
                no("`exports` has entries neither for `./undici` nor for `./node` any more.", "./node"),
                no(
                    "`undici` was moved from `dependencies` to `devDependencies`.", "moved", "devDependencies"
                ),
            ),
            *of(
                "counts",
                yes("Seven files changed, four of them by deletion."),
                no("Seven files changed, five of them by deletion.", "five"),
            ),
            *of(
                "commands",
                yes("The only command I ran was `pnpm lint`, and it passed."),
                no("`pnpm install` was run to refresh the lock file.", "pnpm install", "run", "refresh"),
            ),
            *of(
                "values",
                yes(
                    "| dependency | before | after |\n|---|---|---|\n| `undici` | ^5.12.0 | removed |\n| `ufo` | ^1.0.0 | ^1.0.0 |\n| `node-fetch-native` | ^1.0.1 | ^1.0.1 |"
                ),
                no(
                    "| dependency | before | after |\n|---|---|---|\n| `undici` | ^5.12.0 | removed |\n| `ufo` | ^1.0.0 | ^1.0.1 |\n| `node-fetch-native` | ^1.0.1 | ^1.0.1 |",
                    "ufo",
                ),
            ),
        ],
    ),
    RealCommit(
        repository=OFETCH,
        commit="6aff08e529223d728b6fc49459aadf2bb9be7274",
        said=[
            *of(
                "values",
                yes(
                    "`undici` is a new dev dependency, `^5.27.0` in `package.json` and 5.28.4 in `pnpm-lock.yaml`."
                ),
                yes("`build.config.ts` names `undici` under `externals`."),
                no("`undici` is a new dev dependency and locked at 5.27.0.", "5.27.0", "locked"),
                no(
                    "Raised `vitest` from `^2.0.4` to `^2.0.5`.",
                    "Raised",
                    "vitest",
                    "2.0.4",
                    "^2.0.4",
                ),
            ),
            *of(
                "symbols",
                yes(
                    "`FetchOptions` got two optional fields, `dispatcher` and `agent`; the latter is `unknown`."
                ),
                no(
                    "`FetchOptions` got `dispatcher`, which is required, and `agent`, which is optional.",
                    "required",
                ),
                no("`duplex` was dropped from `FetchOptions`.", "dropped", "duplex"),
            ),
            *of(
                "files",
                yes("`examples/proxy.mjs` is new, and nothing in `src/` besides `types.ts` was touched."),
                no(
                    "`src/fetch.ts` hands `dispatcher` on to the native `fetch`, a change of one line.",
                    "src/fetch.ts",
                    "fetch.ts",
                    "change",
                ),
            ),
            *of("counts", no("`README.md` lost more lines than it gained.", "more", "lost")),
            *of("tests", yes("There is no new test, `test/` is as it was.")),
            *of("other", yes("The part of `README.md` about `keepAlive` stands further down than before.")),
        ],
    ),
    RealCommit(
        repository=COMMANDER,
        commit="5aaca0d666271f56fcc79044391765db527123f2",
        runs=[
            Run(
                command="npx jest tests/command.executableSubcommand.signals.test.js",
                exit_code=0,
                output="PASS tests/command.executableSubcommand.signals.test.js\nTests:       8 passed, 8 total\n",
                passed=8,
            ),
            Run(command="npm run lint", exit_code=0),
        ],
        said=[
            *of(
                "files",
                yes("Added the fixtures `pm-fail.js` and `pm-terminate.js`, one line each."),
                no(
                    "Both new fixtures are registered in `tests/fixtures/pm-cache.js`.",
                    "tests/fixtures/pm-cache.js",
                    "pm-cache.js",
                ),
            ),
            *of(
                "values",
                yes("`pm-fail.js` exits with 42, and a new test expects just that."),
                no(
                    "For a subprocess that a signal killed, the exit code is 128 plus the number of the signal.",
                    "128",
                    "plus",
                    "number",
                ),
            ),
            *of(
                "symbols",
                yes(
                    "`lib/command.js` registers a single handler for `close`, with or without `exitCallback`."
                ),
                yes("In `lib/command.js`, the handler for `close` takes 1 where the code is `null`."),
                no("`tests/fixtures/pm` still declares `program` with `var`.", "still", "var"),
                no(
                    "With `exitOverride`, the `CommanderError` made on `close` still carries `process.exitCode`.",
                    "still",
                    "process.exitCode",
                ),
            ),
            *of(
                "tests",
                yes("The signal test runs for the same five signals as before; three tests are new."),
                no("`SIGKILL` joined the signals under test.", "SIGKILL", "joined"),
                no(
                    "The two new tests with `exitOverride` went into a new file, `tests/command.exitOverride.signals.test.js`.",
                    "new file",
                    "went",
                    "tests/command.exitOverride.signals.test.js",
                ),
            ),
            *of(
                "commands",
                yes("`npx jest tests/command.executableSubcommand.signals.test.js`: 8 of 8 passed."),
                no("`npx jest` over all of `tests/` passed.", "all", "tests/"),
            ),
        ],
    ),
    RealCommit(
        repository=COMMANDER,
        commit="c876dee8a5ac71598dd8f252a3a29d71942e3c73",
        runs=[
            Run(
                command="npx jest",
                exit_code=0,
                output="Test Suites: 98 passed, 98 total\nTests:       3 skipped, 1097 passed, 1100 total\n",
                passed=1097,
                skipped=3,
            )
        ],
        said=[
            *of(
                "symbols",
                yes(
                    "`index.js` exports `program`, `createCommand`, `createOption` and `createArgument` by name."
                ),
                yes("`module.exports` of `index.js` is not a `Command` any more."),
                no("The exported `createCommand` takes a name and a description.", "description"),
                no(
                    "`InvalidOptionArgumentError` is not exported any more.",
                    "not",
                    "any more",
                    "InvalidOptionArgumentError",
                ),
            ),
            *of(
                "tests",
                yes("`tests/program.test.js` has 11 tests where it had 3."),
                yes(
                    "'legacy default export of global Command' is gone from `tests/ts-imports.test.ts`, which keeps its other eight tests."
                ),
                no("`tests/ts-imports.test.ts` was deleted along with the default export.", "deleted"),
                no("The new test for `InvalidArgumentError` is skipped.", "skipped"),
            ),
            *of(
                "files",
                yes("Neither `package.json` nor anything in `lib/` or `typings/` was changed."),
                no(
                    "The default export is gone from `index.js` and from `typings/index.d.ts`, which both changed.",
                    "typings/index.d.ts",
                    "both",
                ),
            ),
            *of(
                "counts",
                yes("Four fixtures were switched to `{ program }`."),
                no("All three fixtures that changed are in `tests/fixtures/`.", "three", "All"),
            ),
            *of(
                "values",
                no("`docs/deprecated.md` says that the default export is removed in Commander v13.", "v13"),
            ),
            *of(
                "commands",
                yes("`npx jest`: 1097 passed, 3 skipped."),
                no("`npx jest` ran 1097 tests in all and skipped none.", "none", "1097", "in all"),
            ),
        ],
    ),
    RealCommit(
        repository=COMMANDER,
        commit="c119028f9fd66fbb1d850a8a66237fcb8a2d6f4a",
        runs=[
            Run(command="npm run test-esm", exit_code=0),
            Run(
                command="npx jest tests/ts-imports.test.ts",
                exit_code=0,
                output="PASS tests/ts-imports.test.ts\nTests:       8 passed, 8 total\n",
                passed=8,
            ),
        ],
        said=[
            *of(
                "files",
                yes("`tests/esm-test.mjs` is called `tests/esm-imports-test.mjs` now."),
                no(
                    "`tests/esm-imports-test.mjs` is a copy; `tests/esm-test.mjs` is still in place.",
                    "copy",
                    "still",
                    "in place",
                ),
            ),
            *of(
                "values",
                yes("New dev dependency: `ts-jest` `^26.5.1`. `jest` itself stays at `^26.6.3`."),
                yes(
                    "`testEnvironment`, `transform` and `testPathIgnorePatterns` are new in the Jest settings of `package.json`; `collectCoverage` was there before."
                ),
                yes("The script `typescript-lint` looks at `tests/*.ts`, too."),
                no("The script `test` runs `test-esm` as well.", "test-esm", "as well"),
                no("`typescript` went up to `^4.2.0`.", "4.2.0", "^4.2.0", "went"),
                no("`collectCoverage` was switched off.", "off", "switched"),
                no("`types` in `tsconfig.json` is `jest` alone.", "alone"),
            ),
            *of(
                "tests",
                yes("`tests/ts-imports.test.ts` has eight tests."),
                no(
                    "`tests/ts-imports.test.ts` covers `createOption` and `createArgument`, too.",
                    "createOption",
                    "createArgument",
                ),
            ),
            *of(
                "symbols",
                no("`checkClass` sits in a helper file that both import tests use.", "helper", "both"),
            ),
            *of("commands", yes("Ran `npm run test-esm`, which exited with 0.")),
        ],
    ),
)
