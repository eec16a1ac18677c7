"""Runs the suite for `./do test`: style and types beside it, what failed once more, and the truth at the end.

python -m tests.run [all] [--rerun-failed] [ARGS of pytest]
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import FrameType, TracebackType

from tests.loopback import LEFT
from tests.outcomes import Outcomes, read_outcomes

WORKERS = "4"
"""More than there are cores: a test often waits for a program that it started."""
MOST_FLAKY = 2
"""More in one run are red."""
MOST_RERUN = 20
"""If more tests fail, it is no accident: none of them is run again."""

_INTERRUPTED, _NOTHING_FOUND = 2, 5


@dataclass
class Suite:
    """Passes of pytest, each in a process of its own, and what became of the tests in all of them."""

    launcher: Sequence[str] = ()
    """A command that runs another one: pytest."""
    options: Sequence[str] = ()
    """For each pass."""
    planned: set[str] = field(default_factory=set)
    ended: dict[str, str] = field(default_factory=dict)
    flaky: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """What else makes the run red, each in a sentence."""

    def run(self, words: Sequence[str]) -> None:
        """One pass."""
        self.ended |= self._pytest(words)

    def rerun_failed(self) -> None:
        """Run what failed once more, one after the other, in a fresh process."""
        failed = [name for name, word in self.ended.items() if word == "failed"]
        if not failed:
            return
        if len(failed) > MOST_RERUN:
            _say(f"{len(failed)} tests failed: too many to be chance, so none is run again")
            return
        _say(f"running again what failed: {len(failed)}")
        again = self._pytest(["-n", "1", *failed])
        for name in failed:
            if again.get(name) == "passed":
                self.flaky.append(name)
            elif "::" not in name and any(each.startswith(f"{name}::") for each in again):
                self.flaky.append(name)  # a file that could be imported this time
                del self.ended[name]
        self.ended |= again
        if len(self.flaky) > MOST_FLAKY:
            self.errors.append(f"{len(self.flaky)} tests are flaky; at most {MOST_FLAKY} may be")

    def conclude(self, seconds: float) -> int:
        """Say how it went, at the end in the words of pytest; the exit code."""
        failed = [name for name, word in self.ended.items() if word == "failed"]
        _list("failed", failed)
        _list("flaky: failed, then passed in a fresh process", self.flaky)
        if unrun := len(self.planned - self.ended.keys()):
            self.errors.append(f"{unrun} {'test' if unrun == 1 else 'tests'} never ran")
        if not self.ended and not self.errors:
            self.errors.append("no tests ran")
        for error in self.errors:
            _say(f"error: {error}")
        counted = Counter(self.ended.values())
        counted["error" if len(self.errors) == 1 else "errors"] = len(self.errors)
        order = ("failed", "passed", "skipped", "xfailed", "error", "errors")
        words = ", ".join(f"{counted[word]} {word}" for word in order if counted[word])
        long = f" ({timedelta(seconds=int(seconds))})" if seconds >= 60 else ""
        _say(f"{words} in {seconds:.2f}s{long}")
        return 1 if failed or self.errors else 0

    def _pytest(self, words: Sequence[str]) -> dict[str, str]:
        with tempfile.TemporaryDirectory(prefix="segue-outcomes-") as folder:
            file = Path(folder) / "outcomes"
            # in one word: pytest takes any other that is a path for one to find its root from
            pytest = [sys.executable, "-m", "pytest", "-q", "-p", "tests.outcomes", f"--outcomes={file}"]
            code = call([*self.launcher, *pytest, "--dist", "worksteal", *self.options, *words])
            found = read_outcomes(file)
        self._examine(code, found)
        self.planned |= found.planned
        return found.ended

    def _examine(self, code: int, found: Outcomes) -> None:
        """What the exit code says beyond the tests that failed."""
        complete = found.planned <= found.ended.keys()
        if code == LEFT:
            self.errors.append("something tried to reach another host, see `loopback:` above")
        elif code not in (0, 1, _INTERRUPTED, _NOTHING_FOUND):
            self.errors.append(f"pytest ended with {code}")
        elif code in (1, _INTERRUPTED) and complete and not found.having("failed"):
            self.errors.append(f"pytest ended with {code} although no test failed")


class Beside:
    """A command that runs while the tests do; its output is shown whole, after theirs."""

    def __init__(self, what: str, command: Sequence[str]) -> None:
        self._what = what
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # closed on exit
        self._process = subprocess.Popen(command, stdout=self._output, stderr=subprocess.STDOUT)

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._output.close()

    def conclude(self) -> str | None:
        """Wait for its end and show what it wrote; an error in a sentence if it failed."""
        code = self._process.wait()
        self._output.seek(0)
        _say(f"{self._what}: {'failed' if code else 'passed'}")
        if not code:
            return None
        _say(self._output.read().decode("utf-8", "replace").rstrip())
        return f"{self._what} failed, see above"


def call(command: Sequence[str]) -> int:
    """Its exit code. Ctrl-C reaches it by itself; a request to end is handed on."""
    with subprocess.Popen(command) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
        except SystemExit:
            process.terminate()
            process.wait()
            raise


def run_suite(
    suite: Suite, passes: Sequence[Sequence[str]], *, rerun: bool, check: Beside | None = None
) -> int:
    """All passes, then what failed once more if asked for; the exit code."""
    begun = time.monotonic()
    for words in passes:
        suite.run(words)
    if rerun:
        suite.rerun_failed()
    if check is not None and (error := check.conclude()):
        suite.errors.append(error)
    return suite.conclude(time.monotonic() - begun)


def _list(title: str, names: Sequence[str]) -> None:
    if names:
        _say("\n  ".join([f"{title}:", *names]))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def end_politely() -> None:
    """A request to end ends what was started, too."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def main(arguments: Sequence[str]) -> int:
    """Set up what tests need, then run the suite or what the arguments name of it."""
    every = arguments[:1] == ["all"]
    rerun = "--rerun-failed" in arguments
    given = [word for word in arguments[int(every) :] if word != "--rerun-failed"]
    end_politely()
    python = sys.executable
    if not every:
        os.environ.setdefault("HYPOTHESIS_PROFILE", "few")
    with Beside("style, types and layers", ["./do", "check"]) as check:
        # else hundreds of processes compile it, each for itself
        call([python, "-m", "compileall", "-q", "src"])
        agents = "all" if every else "opencode"
        if code := call([python, "-m", "tests.agents.programs", "install", agents]):
            return code
        suite = Suite(
            launcher=[python, "-m", "tests.loopback"], options=[] if every else ["-m", "not thorough"]
        )
        return run_suite(suite, [["-n", WORKERS, *given]], rerun=rerun, check=check)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
