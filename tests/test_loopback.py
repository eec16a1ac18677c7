"""The launcher of all tests: whoever tries to leave this machine is seen, and fails the run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from shlex import quote

import pytest

from tests import namespace
from tests.loopback import LEFT

ROOT = Path(__file__).parents[1]

with tempfile.TemporaryDirectory() as _folder:
    WHY_NOT = namespace.why_not(Path(_folder))

shut_in = pytest.mark.skipif(WHY_NOT is not None, reason=f"no network namespace: {WHY_NOT}")

KNOCK = """
import socket
knocking = socket.socket(socket.{family}, socket.{kind})
try:
    knocking.connect(({address!r}, 443)); knocking.send(b"x")
except OSError:
    pass
"""
STAY = """
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.create_server((address, 0), family=family)
    socket.create_connection(server.getsockname()[:2]).sendall(b"x" * 1000)
socket.getaddrinfo("localhost", 80)
"""
ASK = """
import socket
try:
    socket.getaddrinfo("models.example.org", 443)
except OSError:
    pass
"""
HOLD = """
import socket, sys
held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
held.connect(({address!r}, 9))  # sends nothing
sys.stdin.read()
"""


def launch(*command: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.loopback", *command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


@shut_in
def test_what_stays_on_loopback_passes() -> None:
    code, said = launch(sys.executable, "-c", STAY)
    assert (code, said) == (0, "loopback: nothing left this machine (every packet was seen)\n")


@shut_in
@pytest.mark.parametrize(
    ("family", "kind", "address", "seen"),
    [
        ("AF_INET", "SOCK_STREAM", "203.0.113.7", "tcp 203.0.113.7:443"),
        ("AF_INET", "SOCK_DGRAM", "203.0.113.7", "udp 203.0.113.7:443"),
        ("AF_INET6", "SOCK_STREAM", "2001:db8::7", "tcp [2001:db8::7]:443"),
        ("AF_INET6", "SOCK_DGRAM", "2001:db8::7", "udp [2001:db8::7]:443"),
    ],
)
def test_a_packet_to_another_host_fails_a_run(family: str, kind: str, address: str, seen: str) -> None:
    code, said = launch(sys.executable, "-c", KNOCK.format(family=family, kind=kind, address=address))
    assert code == LEFT
    assert "1 attempt was made to reach other hosts" in said
    assert seen in said


@shut_in
def test_a_name_that_is_asked_is_told_with_who_asked() -> None:
    code, said = launch("sh", "-c", f"{sys.executable} -c {quote(ASK)}; exit 0")
    assert code == LEFT
    assert "name models.example.org, by " in said
    assert "import socket" in said


@shut_in
def test_what_a_process_left_behind_does_counts_too(tmp_path: Path) -> None:
    knock = KNOCK.format(family="AF_INET", kind="SOCK_STREAM", address="203.0.113.7")
    knock += f"open({str(tmp_path / 'knocked')!r}, 'w')"
    wait = f"until test -e {quote(str(tmp_path / 'knocked'))}; do sleep 0.02; done"
    code, said = launch("sh", "-c", f"(setsid {sys.executable} -c {quote(knock)} &) ; {wait}")
    assert code == LEFT
    assert "tcp 203.0.113.7:443" in said


@pytest.mark.parametrize("way", [(), ("--watch",)], ids=["shut in", "watched"])
def test_the_command_s_own_failure_is_handed_on(way: tuple[str, ...]) -> None:
    assert launch(*way, "sh", "-c", "exit 5")[0] == 5


@shut_in
def test_a_failure_of_the_command_does_not_hide_that_something_left() -> None:
    knock = KNOCK.format(family="AF_INET", kind="SOCK_STREAM", address="203.0.113.7")
    assert launch("sh", "-c", f"{sys.executable} -c {quote(knock)}; exit 1")[0] == LEFT


def test_the_weaker_way_sees_a_connection_that_is_held() -> None:
    hold = HOLD.format(address="203.0.113.7")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.loopback", "--watch", sys.executable, "-c", hold],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as launched:
        assert launched.stderr is not None
        seen = next(line for line in launched.stderr if "seen: " in line)
        _, said = launched.communicate(timeout=120)
    assert launched.returncode == LEFT
    assert "203.0.113.7:9, by " in seen
    assert "1 attempt was made to reach other hosts" in said


def test_the_weaker_way_says_that_it_is_weaker_and_lets_loopback_pass() -> None:
    code, said = launch("--watch", sys.executable, "-c", HOLD.format(address="127.0.0.1"))
    assert code == 0
    assert "connections are looked at every 0.2 s instead" in said


def test_a_command_is_needed() -> None:
    code, said = launch()
    assert code == 2
    assert "name a command to run" in said
