"""The runner of the suite: one red test takes no other with it, and the last line tells the truth."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loopback import LEFT
from tests.run import MOST_RERUN, Beside, Suite, run_suite

ROOT = Path(__file__).parents[1]
SETTINGS = """
[pytest]
addopts = -p xdist -p pytest_timeout -p pytest_asyncio.plugin
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
timeout = 3
timeout_method = signal
faulthandler_timeout = 8
faulthandler_exit_on_timeout = true
"""
ONCE = """
from pathlib import Path

def first_time(name):
    try:
        Path(name).touch(exist_ok=False)
        return True
    except FileExistsError:
        return False
"""
GOOD = "def test_good(): pass\n"
HANGING = """
import asyncio, signal, threading, time

async def wait_for_nothing(): await asyncio.Event().wait()
async def test_hangs(): await wait_for_nothing()
def test_hangs_in_a_thread_too():
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
def test_hears_no_alarm():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    time.sleep(60)
"""
CRASHING = """
import os
from once import first_time

def test_kills_its_worker(): os._exit(3)
def test_kills_its_worker_once():
    if first_time("killed"): os._exit(3)
"""
FLAKY = """
import pytest
from once import first_time

@pytest.mark.parametrize("words", ["a b"])
def test_fails_once(words): assert not first_time(words)
"""


@pytest.fixture
def suite(project: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite of the project's folder, to which tests are added as files."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{project}")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (project / "pytest.ini").write_text(SETTINGS)
    (project / "once.py").write_text(ONCE)
    (project / "test_good.py").write_text(GOOD)
    return Suite()


Pretend = Callable[..., Suite]


@pytest.fixture
def pretend(project: Path) -> Pretend:
    """A suite whose passes end as told, without a pytest: each is an exit code and how its tests ended."""

    def make(*passes: tuple[int, dict[str, str]]) -> Suite:
        for number, (code, ended) in enumerate(passes):
            lines = [[name, word] for name in ended for word in ("planned", ended[name])]
            (project / f"{number}.code").write_text(str(code))
            (project / f"{number}.lines").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (project / "next").write_text("0")
        script = (
            "n=$(cat next); echo $((n + 1)) > next; echo passed in 1.00s\n"
            'for word; do case $word in --outcomes=*) cp $n.lines "${word#*=}";; esac; done\n'
            "exit $(cat $n.code)"
        )
        return Suite(launcher=["sh", "-c", script, "sh"])

    return make


def last_line(capfd: pytest.CaptureFixture[str]) -> str:
    return re.sub(r" in [\d.]+s.*", "", capfd.readouterr().out.strip().splitlines()[-1])


@pytest.mark.thorough
def test_what_hangs_or_crashes_fails_alone_and_is_shown(
    suite: Suite, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "test_crashing.py").write_text(CRASHING)
    (project / "test_hanging.py").write_text(HANGING)
    (project / "conftest.py").write_text("from tests.stacks import pytest_runtest_makereport")
    assert run_suite(suite, [["-n", "2"]], rerun=False) == 1
    assert suite.errors == []
    assert suite.ended == {
        "test_good.py::test_good": "passed",
        "test_crashing.py::test_kills_its_worker": "failed",
        "test_crashing.py::test_kills_its_worker_once": "failed",
        "test_hanging.py::test_hangs": "failed",
        "test_hanging.py::test_hangs_in_a_thread_too": "failed",
        "test_hanging.py::test_hears_no_alarm": "failed",
    }
    shown = capfd.readouterr()
    assert "in wait_for_nothing" in shown.out
    assert "Stack of Thread-1" in shown.out
    assert "in test_hears_no_alarm" in shown.err
    assert "failed:\n  test_" in shown.out


@pytest.mark.thorough
def test_what_passes_in_a_fresh_process_is_named_as_flaky(
    suite: Suite, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "test_crashing.py").write_text(CRASHING)
    (project / "test_flaky.py").write_text(FLAKY)
    (project / "test_bad.py").write_text("def test_bad(): assert False\n")
    (project / "test_broken.py").write_text("import nothing_of_that_name\n")
    unsure = "from once import first_time\nassert not first_time('imported')\ndef test_late(): pass\n"
    (project / "test_unsure.py").write_text(unsure)
    assert run_suite(suite, [["-n", "1"]], rerun=True) == 1
    assert sorted(suite.flaky) == [
        "test_crashing.py::test_kills_its_worker_once",
        "test_flaky.py::test_fails_once[a b]",
        "test_unsure.py",
    ]
    assert last_line(capfd) == "3 failed, 4 passed, 1 error"


def test_two_flaky_tests_are_green_and_three_are_red(
    pretend: Pretend, capfd: pytest.CaptureFixture[str]
) -> None:
    two, three = (dict.fromkeys(names, "failed") for names in (("a::1", "a::2"), ("a::1", "a::2", "a::3")))
    suite = pretend((1, {**two, "b::1": "skipped"}), (0, dict.fromkeys(two, "passed")))
    assert run_suite(suite, [[]], rerun=True) == 0
    shown = capfd.readouterr().out
    assert "flaky: failed, then passed in a fresh process:\n  a::1\n  a::2\n2 passed, 1 skipped in " in shown
    assert run_suite(pretend((1, three), (0, dict.fromkeys(three, "passed"))), [[]], rerun=True) == 1
    assert last_line(capfd) == "3 passed, 1 error"


def test_nothing_is_run_again_unless_asked_for_nor_if_too_much_failed(
    pretend: Pretend, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_suite(pretend((1, {"a::1": "failed", "a::2": "passed"})), [[]], rerun=False) == 1
    assert last_line(capfd) == "1 failed, 1 passed"
    many = {f"a::{number}": "failed" for number in range(MOST_RERUN + 1)}
    assert run_suite(pretend((1, many)), [[]], rerun=True) == 1
    assert last_line(capfd) == f"{MOST_RERUN + 1} failed"
    assert (project / "next").read_text() == "1\n"


def test_several_passes_are_counted_together_and_the_first_is_not_forgotten(
    pretend: Pretend, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = pretend((1, {"a::1": "failed"}), (0, {"b::1": "passed"}))
    assert run_suite(suite, [[], []], rerun=False) == 1
    assert last_line(capfd) == "1 failed, 1 passed"


@pytest.mark.parametrize(
    ("code", "ended", "told"),
    [
        (0, {"a::1": "passed", "a::2": "planned"}, "1 test never ran"),
        (2, {"a::1": "failed", "a::2": "planned"}, "1 test never ran"),
        (137, {"a::1": "passed", "a::2": "planned"}, "pytest ended with 137"),
        (1, {"a::1": "passed"}, "pytest ended with 1 although no test failed"),
        (4, {}, "pytest ended with 4"),
        (5, {}, "no tests ran"),
        (LEFT, {"a::1": "failed"}, "something tried to reach another host, see `loopback:` above"),
    ],
)
def test_a_run_that_did_not_do_its_work_is_red_whatever_passes_the_second_time(
    code: int, ended: dict[str, str], told: str, pretend: Pretend, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = pretend((code, ended), (0, {"a::1": "passed"}))
    assert run_suite(suite, [[]], rerun=True) == 1
    assert told in suite.errors
    assert "error" in last_line(capfd)


def test_what_runs_beside_fails_the_run_and_is_shown_whole(
    pretend: Pretend, capfd: pytest.CaptureFixture[str]
) -> None:
    with Beside("style", ["sh", "-c", "seq 2000; exit 1"]) as check:
        assert run_suite(pretend((0, {"a::1": "passed"})), [[]], rerun=True, check=check) == 1
    shown = capfd.readouterr().out
    assert "style: failed\n1\n2\n" in shown
    assert "\n2000\nerror: style failed, see above\n1 passed, 1 error in " in shown


def test_a_request_to_end_ends_what_was_started(suite: Suite, project: Path) -> None:
    (project / "test_good.py").write_text(
        "import os, time\ndef test_waits():\n    print(os.getpid(), flush=True)\n    time.sleep(600)\n"
    )
    (project / "pytest.ini").write_text("[pytest]\naddopts = -s -p xdist\n")
    code = (
        "import sys; from tests.run import *; end_politely();"
        "sys.exit(run_suite(Suite(), [['-n', '0']], rerun=True, check=Beside('x', ['sleep', '600'])))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        assert next(line for line in runner.stdout if line.strip().isdigit())
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(120) == 128 + signal.SIGTERM
        assert runner.stdout.read() == ""  # nobody holds the other end any more
