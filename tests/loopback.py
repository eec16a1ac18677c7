"""Runs a command and fails it if anything it started tried to reach another host than this one.

python -m tests.loopback COMMAND ...            in a network namespace of its own: all is seen
python -m tests.loopback --watch COMMAND ...    the weaker way: look now and then
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import psutil

from tests import namespace

LEFT = 90
"""The exit code if something tried to leave, whatever else the command says."""
_LOOK_SECONDS = 0.2
_JOIN_SECONDS = 120


class Attempts:
    """Who tried to leave, and how often."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def add(self, what: str) -> None:
        """One more."""
        self._seen[what] += 1

    def report(self, *, way: str) -> int:
        """Say how it went; the exit code, if it is one of ours."""
        if not self._seen:
            _say(f"nothing left this machine ({way})")
            return 0
        count = self._seen.total()
        _say(f"{count} {'attempt was' if count == 1 else 'attempts were'} made to reach other hosts ({way}):")
        for what, times in self._seen.most_common():
            _say(f"  {what}" + (f" ({times} times)" if times > 1 else ""))
        return LEFT


def run_shut_in(command: Sequence[str], folder: Path) -> int:
    """Run it in a namespace of its own, and see every packet and every name that is asked."""
    exits = namespace.enter(folder)
    attempts = Attempts()

    def see_packets() -> None:
        while (found := namespace.destination(exits.packets.recv(128))) != namespace.LAST_PACKET:
            if found != f"udp {namespace.NAME_SERVER}:53":
                attempts.add(found)

    def answer_names() -> None:
        while True:
            query, asker = exits.names.recvfrom(4096)
            if not query:
                return
            attempts.add(f"name {namespace.asked_name(query)}, by {namespace.process_on(asker[1])}")
            exits.names.sendto(namespace.refusal(query), asker)

    seers = [threading.Thread(target=seer, daemon=True) for seer in (see_packets, answer_names)]
    for seer in seers:
        seer.start()
    code = _run(command)
    broke = not all(seer.is_alive() for seer in seers)
    namespace.send_last()  # what was sent before is seen before
    for seer in seers:
        seer.join(_JOIN_SECONDS)
    if broke or any(seer.is_alive() for seer in seers):
        attempts.add("nobody knows what: the look-out itself broke, see above")
    told = attempts.report(way="every packet was seen")
    return told or code


def run_watched(command: Sequence[str], reason: str) -> int:
    """Run it and look at the connections of all that it started, now and then."""
    _say(f"no network namespace ({reason}): connections are looked at every {_LOOK_SECONDS} s instead")
    attempts, over = Attempts(), threading.Event()
    known: set[tuple[int, str]] = set()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    for connection in process.net_connections("inet"):
                        if len(connection.raddr) and not _is_here(connection.raddr.ip):
                            found = f"{connection.raddr.ip}:{connection.raddr.port}, by {process.name()}"
                            if (process.pid, found) not in known:
                                known.add((process.pid, found))
                                _say(f"seen: {found}")
                                attempts.add(found)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        code = _run(command)
    finally:
        over.set()
        watcher.join()
    told = attempts.report(way="looked at now and then")
    return told or code


def _is_here(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None) or found
    return bool(mapped.is_loopback)


def _run(command: Sequence[str]) -> int:
    """Its exit code. Ctrl-C reaches it by itself; a request to end is handed on."""
    process = subprocess.Popen(command)

    def hand_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, hand_on)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _say(line: str) -> None:
    sys.stderr.write(f"loopback: {line}\n")
    sys.stderr.flush()


def main(arguments: Sequence[str]) -> int:
    """The exit code: that of the command, or `LEFT` if something tried to leave."""
    if not [word for word in arguments if word != "--watch"]:
        _say("name a command to run, as in: python -m tests.loopback pytest -q")
        return 2
    if arguments[0] == "--watch":
        return run_watched(arguments[1:], "asked for")
    with tempfile.TemporaryDirectory(prefix="segue-loopback-") as folder:
        if reason := namespace.why_not(Path(folder)):
            return run_watched(arguments, reason)
        return run_shut_in(arguments, Path(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
