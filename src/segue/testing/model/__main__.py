"""Runs a scripted model from a file: `python -m segue.testing.model --script file.yaml`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from segue.testing.model.loading import ScriptError
from segue.testing.model.server import RequestRecord, ScriptedModel


def main() -> int:
    """Serve until Ctrl-C or a polite kill, and tell every request in a line."""
    parser = argparse.ArgumentParser(
        prog="python -m segue.testing.model", description="A model server on loopback that follows a script."
    )
    parser.add_argument("--script", type=Path, required=True, help="a YAML or JSON file of scenarios")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    given = parser.parse_args()
    try:
        model = ScriptedModel(given.script, port=given.port).start()
    except (ScriptError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a script's `... &` hears no Ctrl-C
    _print(f"{model.url} plays {', '.join(model.script.scenarios)}; Ctrl-C ends it")
    told = threading.Event()
    try:
        while not told.wait(0.2):
            _tell(model.requests)
    except KeyboardInterrupt:
        model.stop()
    return 0


def _tell(records: list[RequestRecord]) -> None:
    while records and records[0].ended:
        record = records.pop(0)
        end = "client closed" if record.client_closed else str(record.status)
        _print(f"{record.api} {record.scenario} turn {record.turn}: {end}")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
