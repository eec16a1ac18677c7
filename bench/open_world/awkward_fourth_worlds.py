"""Two of five small repositories, before and after a step, with what was run in it: for `awkward_fourth`."""

# ruff: noqa: E501  (text of files)
from __future__ import annotations

from open_world.worlds import Run

TIDE_BEFORE = {
    "pyproject.toml": """\
[project]
name = "tidewatch"
version = "0.8.3"
description = "Tide forecasts from gauge stations"
requires-python = ">=3.10"
dependencies = [
    "rich>=13.0",
    "requests==2.31.0",
    "python-dateutil>=2.8",
]

[project.optional-dependencies]
test = ["pytest>=8.0", "responses>=0.24"]

[project.scripts]
tidewatch = "tidewatch.cli:main"

[tool.pytest.ini_options]
addopts = "-ra"
testpaths = ["tests"]
""",
    "src/tidewatch/__init__.py": """\
\"\"\"Tide forecasts from gauge stations.\"\"\"

from tidewatch.client import Client, StationError
from tidewatch.forecast import next_high, next_low
from tidewatch.units import feet_to_metres

__version__ = "0.8.3"
__all__ = ["Client", "StationError", "feet_to_metres", "next_high", "next_low"]
""",
    "src/tidewatch/cache.py": """\
\"\"\"A dictionary whose entries expire.\"\"\"

import time


class Cache:
    def __init__(self, ttl):
        self.ttl = ttl
        self._entries = {}

    def __contains__(self, key):
        return key in self._entries and time.time() - self._entries[key][0] < self.ttl

    def __getitem__(self, key):
        return self._entries[key][1]

    def __setitem__(self, key, value):
        self._entries[key] = (time.time(), value)

    def clear(self):
        self._entries.clear()
""",
    "src/tidewatch/cli.py": """\
\"\"\"The command line.\"\"\"

import argparse
import sys

from rich.console import Console

from tidewatch.client import Client, StationError
from tidewatch.forecast import next_high, next_low, tidal_range
from tidewatch.units import metres_to_feet

console = Console()


def cmd_next(client, args):
    levels = client.levels(args.station)
    console.print("high", next_high(levels))
    console.print("low", next_low(levels))
    return 0


def cmd_report(client, args):
    for name in client.stations():
        levels = client.levels(name, hours=48)
        console.print(name, next_high(levels), tidal_range(levels))
    return 0


def cmd_list(client, args):
    for name in client.stations():
        console.print(name)
    return 0


def build_parser():
    parser = argparse.ArgumentParser(prog="tidewatch")
    parser.add_argument("--base-url")
    commands = parser.add_subparsers(dest="command", required=True)
    following = commands.add_parser("next")
    following.add_argument("station")
    following.add_argument("--feet", action="store_true")
    following.set_defaults(run=cmd_next)
    commands.add_parser("report").set_defaults(run=cmd_report)
    commands.add_parser("list").set_defaults(run=cmd_list)
    return parser


def main(argv=None):
    args = build_parser().parse_args(argv)
    try:
        return args.run(Client(), args)
    except StationError as error:
        print(f"no such station: {error}", file=sys.stderr)
        return 1
""",
    "src/tidewatch/client.py": """\
\"\"\"Access to the station service.\"\"\"

import logging
import time

import requests

from tidewatch.cache import Cache

BASE_URL = "http://gauges.example.net/v1"
TIMEOUT = 10
MAX_ATTEMPTS = 3

log = logging.getLogger(__name__)


class StationError(Exception):
    \"\"\"The service did not answer with a station.\"\"\"


class Client:
    \"\"\"Asks the service, and keeps its answers for a while.\"\"\"

    def __init__(self, base_url=BASE_URL, timeout=TIMEOUT, session=None):
        self.base_url = base_url
        self.timeout = timeout
        self.session = session or requests.Session()
        self.cache = Cache(ttl=600)

    def station(self, name):
        return self._get(f"stations/{name}")

    def stations(self):
        return self._get("stations")

    def levels(self, name, hours=24):
        return self._get(f"stations/{name}/levels?hours={hours}")["levels"]

    def _get(self, path):
        if path in self.cache:
            return self.cache[path]
        for attempt in range(MAX_ATTEMPTS):
            try:
                answer = self.session.get(f"{self.base_url}/{path}", timeout=self.timeout)
                answer.raise_for_status()
            except requests.RequestException:
                log.warning("attempt %d failed", attempt)
                time.sleep(1)
            else:
                self.cache[path] = answer.json()
                return self.cache[path]
        raise StationError(path)
""",
    "src/tidewatch/forecast.py": """\
\"\"\"When the water is high, and when it is low.\"\"\"

from dateutil.parser import isoparse

TOLERANCE = 0.05
WINDOW = 3


def next_high(levels):
    \"\"\"The first level that none around it exceeds.\"\"\"
    return _first(levels, max)


def next_low(levels):
    \"\"\"The first level that none around it undercuts.\"\"\"
    return _first(levels, min)


def tidal_range(levels):
    heights = [each["height"] for each in levels]
    return max(heights) - min(heights)


def smooth(levels, window=WINDOW):
    # TODO: weigh by distance
    heights = [each["height"] for each in levels]
    return [sum(heights[at : at + window]) / window for at in range(len(heights) - window + 1)]


def parse_time(level):
    return isoparse(level["at"])


def _first(levels, best):
    for at in range(1, len(levels) - 1):
        around = levels[at - 1 : at + 2]
        if best(around, key=lambda each: each["height"]) is levels[at]:
            return levels[at]
    return None
""",
    "src/tidewatch/units.py": """\
\"\"\"Feet and metres.\"\"\"

FEET_PER_METRE = 3.28084


def feet_to_metres(feet):
    return feet / FEET_PER_METRE


def metres_to_feet(metres):
    return metres * FEET_PER_METRE


def knots_to_kmh(knots):
    return knots * 1.852
""",
    "tests/test_client.py": """\
import pytest
import responses

from tidewatch import client
from tidewatch.client import BASE_URL, Client, StationError


@responses.activate
def test_station():
    responses.get(f"{BASE_URL}/stations/kiel", json={"name": "kiel"})
    assert Client().station("kiel") == {"name": "kiel"}


@responses.activate
def test_answers_are_cached():
    responses.get(f"{BASE_URL}/stations", json=["kiel"])
    asked = Client()
    asked.stations()
    asked.stations()
    assert len(responses.calls) == 1


@responses.activate
def test_gives_up(monkeypatch):
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    responses.get(f"{BASE_URL}/stations/nowhere", status=500)
    with pytest.raises(StationError):
        Client().station("nowhere")
    assert len(responses.calls) == 3
""",
    "tests/test_forecast.py": """\
from tidewatch.forecast import next_high, next_low, smooth, tidal_range


def rows(*heights):
    return [{"at": f"2024-05-01T{at:02}:00:00Z", "height": each} for at, each in enumerate(heights)]


def test_next_high():
    assert next_high(rows(1.0, 2.0, 1.5, 3.0, 2.0))["height"] == 2.0


def test_next_low():
    assert next_low(rows(2.0, 1.0, 1.5))["height"] == 1.0


def test_no_high():
    assert next_high(rows(1.0, 2.0, 3.0)) is None


def test_range():
    assert tidal_range(rows(0.5, 2.25)) == 1.75


def test_smooth():
    assert smooth(rows(1.0, 2.0, 3.0, 4.0)) == [2.0, 3.0]
""",
    "tests/test_units.py": """\
import pytest

from tidewatch.units import feet_to_metres, knots_to_kmh, metres_to_feet


@pytest.mark.parametrize("metres", [0, 1, 12.5])
def test_there_and_back(metres):
    assert feet_to_metres(metres_to_feet(metres)) == pytest.approx(metres)


def test_knots():
    assert knots_to_kmh(10) == pytest.approx(18.52)
""",
}

TIDE_AFTER = {
    "pyproject.toml": """\
[project]
name = "tidewatch"
version = "0.9.0"
description = "Tide forecasts from gauge stations"
requires-python = ">=3.11"
dependencies = [
    "rich>=13.0",
    "requests==2.32.3",
    "python-dateutil>=2.8",
]

[project.optional-dependencies]
test = ["pytest>=8.0", "responses>=0.24"]

[project.scripts]
tidewatch = "tidewatch.cli:main"

[tool.pytest.ini_options]
addopts = "-ra --strict-markers"
testpaths = ["tests"]
""",
    "src/tidewatch/__init__.py": """\
\"\"\"Tide forecasts from gauge stations.\"\"\"

from tidewatch.client import Client, StationError, StationNotFound
from tidewatch.convert import feet_to_metres
from tidewatch.forecast import next_high, next_low

__version__ = "0.9.0"
__all__ = ["Client", "StationError", "StationNotFound", "feet_to_metres", "next_high", "next_low"]
""",
    "src/tidewatch/cli.py": """\
\"\"\"The command line.\"\"\"

import argparse
import sys
from datetime import datetime, timezone

from rich.console import Console

from tidewatch.client import Client, StationError, StationNotFound
from tidewatch.convert import metres_to_feet
from tidewatch.forecast import next_high, next_low, tidal_range

console = Console()


def cmd_next(client, args):
    now = datetime.now(timezone.utc)
    levels = client.levels(args.station, hours=args.hours)
    console.print("high", next_high(levels, after=now))
    console.print("low", next_low(levels, after=now))
    return 0


def cmd_report(client, args):
    for name in client.stations():
        levels = client.levels(name, hours=48)
        console.print(name, next_high(levels), tidal_range(levels))
    return 0


def cmd_list(client, args):
    for name in client.stations():
        console.print(name)
    return 0


def build_parser():
    parser = argparse.ArgumentParser(prog="tidewatch")
    parser.add_argument("--base-url")
    commands = parser.add_subparsers(dest="command", required=True)
    following = commands.add_parser("next")
    following.add_argument("station")
    following.add_argument("--feet", action="store_true")
    following.add_argument("--hours", type=int, default=24)
    following.set_defaults(run=cmd_next)
    commands.add_parser("report").set_defaults(run=cmd_report)
    commands.add_parser("list").set_defaults(run=cmd_list)
    return parser


def main(argv=None):
    args = build_parser().parse_args(argv)
    try:
        return args.run(Client(), args)
    except StationNotFound as error:
        print(f"no such station: {error}", file=sys.stderr)
        return 2
    except StationError as error:
        print(f"the service failed: {error}", file=sys.stderr)
        return 1
""",
    "src/tidewatch/client.py": """\
\"\"\"Access to the station service.\"\"\"

import logging

import requests

from tidewatch.retry import with_retries

BASE_URL = "https://gauges.example.net/v2"
TIMEOUT = 4

log = logging.getLogger(__name__)


class StationError(Exception):
    \"\"\"The service did not answer with a station.\"\"\"


class StationNotFound(StationError):
    \"\"\"The service knows no such station.\"\"\"


class Client:
    \"\"\"Asks the service.\"\"\"

    def __init__(self, base_url=BASE_URL, timeout=TIMEOUT, session=None):
        self.base_url = base_url
        self.timeout = timeout
        self.session = session or requests.Session()

    def station(self, name):
        return self._get(f"stations/{name}")

    def stations(self):
        return self._get("stations")

    def levels(self, name, hours=48):
        return self._get(f"stations/{name}/levels?hours={hours}")["levels"]

    def _get(self, path):
        answer = with_retries(lambda: self._ask(path), requests.ConnectionError)
        if answer.status_code == 404:
            raise StationNotFound(path)
        if not answer.ok:
            raise StationError(path)
        return answer.json()

    def _ask(self, path):
        log.debug("GET %s", path)
        return self.session.get(f"{self.base_url}/{path}", timeout=self.timeout)
""",
    "src/tidewatch/convert.py": """\
\"\"\"Feet and metres.\"\"\"

FEET_PER_METRE = 3.280839895


def feet_to_metres(feet):
    return feet / FEET_PER_METRE


def metres_to_feet(metres):
    return metres * FEET_PER_METRE
""",
    "src/tidewatch/forecast.py": """\
\"\"\"When the water is high, and when it is low.\"\"\"

from dateutil.parser import isoparse

TOLERANCE = 0.05
WINDOW = 5


def next_high(levels, after=None):
    \"\"\"The first level that none around it exceeds.\"\"\"
    return _first(_since(levels, after), max)


def next_low(levels, after=None):
    \"\"\"The first level that none around it undercuts.\"\"\"
    return _first(_since(levels, after), min)


def tidal_range(levels):
    heights = [each["height"] for each in levels]
    return max(heights) - min(heights)


def smooth(levels, window=WINDOW):
    # TODO: weigh by distance
    heights = [each["height"] for each in levels]
    return [sum(heights[at : at + window]) / window for at in range(len(heights) - window + 1)]


def parse_time(level):
    return isoparse(level["at"])


def _since(levels, after):
    return levels if after is None else [each for each in levels if parse_time(each) > after]


def _first(levels, best):
    for at in range(1, len(levels) - 1):
        around = levels[at - 1 : at + 2]
        if best(around, key=lambda each: each["height"]) is levels[at]:
            return levels[at]
    return None
""",
    "src/tidewatch/retry.py": """\
\"\"\"Tries again what may fail for a moment.\"\"\"

import time

MAX_ATTEMPTS = 5
FIRST_WAIT = 0.5


def delays(attempts, first=FIRST_WAIT):
    \"\"\"The waits between attempts; each is twice the one before.\"\"\"
    return [first * 2**number for number in range(attempts - 1)]


def with_retries(call, errors, attempts=MAX_ATTEMPTS):
    \"\"\"What the call returns, once it does not raise one of these errors.\"\"\"
    for wait in delays(attempts):
        try:
            return call()
        except errors:
            time.sleep(wait)
    return call()
""",
    "tests/test_client.py": """\
import pytest
import requests
import responses

from tidewatch import retry
from tidewatch.client import BASE_URL, Client, StationError, StationNotFound


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(retry.time, "sleep", lambda _: None)


@responses.activate
def test_station():
    responses.get(f"{BASE_URL}/stations/kiel", json={"name": "kiel"})
    assert Client().station("kiel") == {"name": "kiel"}


@responses.activate
def test_unknown_station():
    responses.get(f"{BASE_URL}/stations/nowhere", status=404)
    with pytest.raises(StationNotFound):
        Client().station("nowhere")
    assert len(responses.calls) == 1


@responses.activate
def test_gives_up():
    responses.get(f"{BASE_URL}/stations/kiel", body=requests.ConnectionError())
    with pytest.raises(requests.ConnectionError):
        Client().station("kiel")
    assert len(responses.calls) == 5


@pytest.mark.skip(reason="the service has no sandbox")
def test_live_service():
    assert "kiel" in Client().stations()


@responses.activate
def test_server_error():
    responses.get(f"{BASE_URL}/stations/kiel", status=500)
    with pytest.raises(StationError):
        Client().station("kiel")
""",
    "tests/test_forecast.py": """\
from datetime import datetime, timezone

from tidewatch.forecast import next_high, next_low, smooth, tidal_range


def rows(*heights):
    return [{"at": f"2024-05-01T{at:02}:00:00Z", "height": each} for at, each in enumerate(heights)]


def test_next_high():
    assert next_high(rows(1.0, 2.0, 1.5, 3.0, 2.0))["height"] == 2.0


def test_next_high_after():
    after = datetime(2024, 5, 1, 1, tzinfo=timezone.utc)
    assert next_high(rows(1.0, 2.0, 1.5, 3.0, 2.0), after)["height"] == 3.0


def test_next_low():
    assert next_low(rows(2.0, 1.0, 1.5))["height"] == 1.0


def test_no_high():
    assert next_high(rows(1.0, 2.0, 3.0)) is None


def test_range():
    assert tidal_range(rows(0.5, 2.25)) == 1.75


def test_smooth():
    assert len(smooth(rows(1.0, 2.0, 3.0, 4.0, 5.0))) >= 1
""",
    "tests/test_units.py": """\
import pytest

from tidewatch.convert import feet_to_metres, metres_to_feet


@pytest.mark.parametrize("metres", [0, 1, 12.5])
def test_there_and_back(metres):
    assert feet_to_metres(metres_to_feet(metres)) == pytest.approx(metres)
""",
}

TIDE_RUNS = [
    Run(command="pip install -e '.[test]'", exit_code=0, output="Successfully installed tidewatch-0.9.0\n"),
    Run(
        command="pytest -q",
        exit_code=1,
        output=(
            "FAILED tests/test_client.py::test_gives_up - assert 3 == 5\n"
            "1 failed, 12 passed, 1 skipped in 0.61s\n"
        ),
        passed=12,
        failed=1,
        skipped=1,
    ),
    Run(command="ruff check src", exit_code=0, output="All checks passed!\n"),
    Run(
        command="mypy src",
        exit_code=1,
        output=(
            'src/tidewatch/client.py:5: error: Library stubs not installed for "requests"  [import-untyped]\n'
            'src/tidewatch/forecast.py:3: error: Library stubs not installed for "dateutil.parser"  '
            "[import-untyped]\n"
            'src/tidewatch/forecast.py:3: error: Library stubs not installed for "dateutil"  [import-untyped]\n'
            "src/tidewatch/client.py:5: error: Cannot find implementation or library stub  [import-not-found]\n"
            "Found 4 errors in 2 files (checked 6 source files)\n"
        ),
    ),
    Run(
        command="pytest -q",
        exit_code=0,
        output=(
            "...s..........                                                           [100%]\n"
            "SKIPPED [1] tests/test_client.py:36: the service has no sandbox\n"
            "13 passed, 1 skipped in 0.58s\n"
        ),
        passed=13,
        skipped=1,
    ),
]

BOOKING_BEFORE = {
    "package.json": """\
{
  "name": "room-booking",
  "version": "1.12.0",
  "type": "module",
  "scripts": {
    "dev": "tsx watch src/server.ts",
    "build": "tsc -p .",
    "test": "vitest run",
    "lint": "eslint src"
  },
  "dependencies": {
    "express": "^4.19.2",
    "moment": "^2.30.1",
    "zod": "^3.23.8"
  },
  "devDependencies": {
    "@types/express": "^4.17.21",
    "eslint": "^9.9.0",
    "tsx": "^4.16.2",
    "typescript": "~5.4.5",
    "vitest": "^1.6.0"
  }
}
""",
    "src/db.ts": """\
import type { Booking, Room } from "./types.js";

const rooms = new Map<string, Room>();
const bookings = new Map<string, Booking>();

export function addRoom(room: Room): void {
  rooms.set(room.id, room);
}

export function findRoom(id: string): Room | undefined {
  return rooms.get(id);
}

export function saveBooking(booking: Booking): Booking {
  bookings.set(booking.id, booking);
  return booking;
}

export function findBooking(id: string): Booking | undefined {
  return bookings.get(id);
}

export function bookingsOf(roomId: string): Booking[] {
  return [...bookings.values()].filter((each) => each.roomId === roomId);
}

export function reset(): void {
  rooms.clear();
  bookings.clear();
}
""",
    "src/middleware/rateLimit.ts": """\
import type { RequestHandler } from "express";

export const WINDOW_MS = 60_000;
export const MAX_REQUESTS = 100;

export function rateLimit(max: number = MAX_REQUESTS): RequestHandler {
  const seen = new Map<string, number>();
  setInterval(() => seen.clear(), WINDOW_MS).unref();
  return (req, res, next) => {
    const key = req.ip ?? "unknown";
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    if (count > max) {
      res.sendStatus(503);
      return;
    }
    next();
  };
}
""",
    "src/routes/bookings.ts": """\
import { randomUUID } from "node:crypto";

import { Router } from "express";

import { bookingsOf, findBooking, findRoom, saveBooking } from "../db.js";
import { priceOf } from "../services/pricing.js";

export const bookings = Router();

bookings.post("/", (req, res) => {
  const room = findRoom(req.body.roomId);
  if (!room) {
    return res.status(400).json({ error: "no such room" });
  }
  const booking = saveBooking({ ...req.body, id: randomUUID(), status: "open" });
  return res.status(200).json({ ...booking, price: priceOf(booking, room) });
});

bookings.get("/:id", (req, res) => {
  const booking = findBooking(req.params.id);
  return booking ? res.json(booking) : res.sendStatus(404);
});

bookings.get("/room/:roomId", (req, res) => {
  return res.json(bookingsOf(req.params.roomId));
});

bookings.delete("/:id", (req, res) => {
  const booking = findBooking(req.params.id);
  if (!booking) {
    return res.sendStatus(404);
  }
  saveBooking({ ...booking, status: "cancelled" });
  return res.sendStatus(204);
});
""",
    "src/server.ts": """\
import express from "express";

import { rateLimit } from "./middleware/rateLimit.js";
import { bookings } from "./routes/bookings.js";

const PORT = Number(process.env.PORT ?? 3000);

export function buildApp() {
  const app = express();
  app.use(express.json());
  app.use(rateLimit());
  app.use("/bookings", bookings);
  app.get("/healthz", (_req, res) => res.send("ok"));
  return app;
}

if (process.env.NODE_ENV !== "test") {
  buildApp().listen(PORT);
}
""",
    "src/services/pricing.ts": """\
import moment from "moment";

import type { Booking, Room } from "../types.js";

export const WEEKEND_FACTOR = 1.25;
export const MIN_HOURS = 1;

export function hoursOf(booking: Booking): number {
  return moment(booking.to).diff(moment(booking.from), "hours", true);
}

export function priceOf(booking: Booking, room: Room): number {
  const hours = Math.max(hoursOf(booking), MIN_HOURS);
  const factor = isWeekend(booking.from) ? WEEKEND_FACTOR : 1;
  return hours * room.hourlyRate * factor;
}

function isWeekend(at: string): boolean {
  return [0, 6].includes(moment(at).day());
}
""",
    "src/types.ts": """\
export type Status = "open" | "confirmed" | "cancelled";

export interface Room {
  id: string;
  seats: number;
  hourlyRate: number;
}

export interface Booking {
  id: string;
  roomId: string;
  from: string;
  to: string;
  status: Status;
  note?: string;
}
""",
    "test/db.test.ts": """\
import { beforeEach, expect, it } from "vitest";

import { addRoom, bookingsOf, findRoom, reset, saveBooking } from "../src/db.js";

beforeEach(reset);

it("finds a room", () => {
  addRoom({ id: "r1", seats: 4, hourlyRate: 20 });
  expect(findRoom("r1")?.seats).toBe(4);
});

it("lists the bookings of a room", () => {
  saveBooking({ id: "b1", roomId: "r1", from: "2024-06-03T09:00", to: "2024-06-03T10:00", status: "open" });
  saveBooking({ id: "b2", roomId: "r2", from: "2024-06-03T09:00", to: "2024-06-03T10:00", status: "open" });
  expect(bookingsOf("r1").map((each) => each.id)).toEqual(["b1"]);
});
""",
    "test/pricing.test.ts": """\
import { describe, expect, it } from "vitest";

import { hoursOf, priceOf } from "../src/services/pricing.js";

const room = { id: "r1", seats: 4, hourlyRate: 20 };
const booking = (from: string, to: string) => ({ id: "b1", roomId: "r1", from, to, status: "open" as const });

describe("pricing", () => {
  it("counts hours", () => {
    expect(hoursOf(booking("2024-06-03T09:00", "2024-06-03T11:30"))).toBe(2.5);
  });

  it("charges a weekday", () => {
    expect(priceOf(booking("2024-06-03T09:00", "2024-06-03T11:00"), room)).toBe(40);
  });

  it("charges more on a weekend", () => {
    expect(priceOf(booking("2024-06-08T09:00", "2024-06-08T11:00"), room)).toBe(50);
  });

  it("charges an hour at least", () => {
    expect(priceOf(booking("2024-06-03T09:00", "2024-06-03T09:15"), room)).toBe(20);
  });
});
""",
    "tsconfig.json": """\
{
  "compilerOptions": {
    "target": "ES2022",
    "module": "NodeNext",
    "strict": true,
    "outDir": "dist"
  },
  "include": ["src", "test"]
}
""",
}

BOOKING_AFTER = {
    "package.json": """\
{
  "name": "room-booking",
  "version": "1.13.0",
  "type": "module",
  "scripts": {
    "dev": "tsx watch src/server.ts",
    "build": "tsc -p .",
    "test": "vitest run",
    "lint": "eslint src test --max-warnings 0",
    "typecheck": "tsc --noEmit"
  },
  "dependencies": {
    "date-fns": "^3.6.0",
    "express": "^4.21.1",
    "zod": "^3.23.8"
  },
  "devDependencies": {
    "@types/express": "^4.17.21",
    "eslint": "^9.9.0",
    "tsx": "^4.16.2",
    "typescript": "~5.6.3",
    "vitest": "^2.1.3"
  }
}
""",
    "src/db.ts": """\
import type { Booking, Room } from "./types.js";

const rooms = new Map<string, Room>();
const bookings = new Map<string, Booking>();

export function addRoom(room: Room): void {
  rooms.set(room.id, room);
}

export function findRoom(id: string): Room | undefined {
  return rooms.get(id);
}

export function saveBooking(booking: Booking): Booking {
  bookings.set(booking.id, booking);
  return booking;
}

export function findBooking(id: string): Booking | undefined {
  return bookings.get(id);
}

export function allRooms(): Room[] {
  return [...rooms.values()];
}

export function bookingsOf(roomId: string): Booking[] {
  return [...bookings.values()].filter((each) => each.roomId === roomId);
}

export function reset(): void {
  rooms.clear();
  bookings.clear();
}
""",
    "src/middleware/rateLimit.ts": """\
import type { RequestHandler } from "express";

export const WINDOW_MS = 60_000;
export const MAX_REQUESTS = 120;

export function rateLimit(max: number = MAX_REQUESTS): RequestHandler {
  const seen = new Map<string, number>();
  setInterval(() => seen.clear(), WINDOW_MS).unref();
  return (req, res, next) => {
    const key = req.ip ?? "unknown";
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    if (count > max) {
      res.sendStatus(429);
      return;
    }
    next();
  };
}
""",
    "src/routes/bookings.ts": """\
import { randomUUID } from "node:crypto";

import { Router } from "express";
import { z } from "zod";

import { findBooking, findRoom, saveBooking } from "../db.js";
import { priceOf } from "../services/pricing.js";

export const bookings = Router();

const NewBooking = z.object({
  roomId: z.string().min(1),
  from: z.string().datetime({ local: true }),
  to: z.string().datetime({ local: true }),
  createdBy: z.string().email(),
  withCleaning: z.boolean().default(false),
});

bookings.post("/", (req, res) => {
  const parsed = NewBooking.safeParse(req.body);
  if (!parsed.success) {
    return res.status(400).json({ error: parsed.error.issues });
  }
  const { withCleaning, ...wanted } = parsed.data;
  const room = findRoom(wanted.roomId);
  if (!room) {
    return res.status(422).json({ error: "no such room" });
  }
  const booking = saveBooking({ ...wanted, id: randomUUID(), status: "open" });
  return res.status(201).json({ ...booking, price: priceOf(booking, room, withCleaning) });
});

bookings.get("/:id", (req, res) => {
  const booking = findBooking(req.params.id);
  return booking ? res.json(booking) : res.sendStatus(404);
});

bookings.delete("/:id", (req, res) => {
  const booking = findBooking(req.params.id);
  if (!booking) {
    return res.sendStatus(404);
  }
  saveBooking({ ...booking, status: "cancelled" });
  return res.sendStatus(204);
});
""",
    "src/routes/rooms.ts": """\
import { Router } from "express";

import { allRooms, bookingsOf, findRoom } from "../db.js";
import { priceOf } from "../services/pricing.js";

export const rooms = Router();

rooms.get("/", (_req, res) => {
  return res.json(allRooms());
});

rooms.get("/:id/bookings", (req, res) => {
  return res.json(bookingsOf(req.params.id));
});

rooms.get("/:id/revenue", (req, res) => {
  const room = findRoom(req.params.id);
  if (!room) {
    return res.sendStatus(404);
  }
  const prices = bookingsOf(room.id).map((each) => priceOf(each, room));
  return res.json({ revenue: prices.reduce((sum, each) => sum + each, 0) });
});
""",
    "src/server.ts": """\
import express from "express";

import { rateLimit } from "./middleware/rateLimit.js";
import { bookings } from "./routes/bookings.js";
import { rooms } from "./routes/rooms.js";

const PORT = Number(process.env.PORT ?? 8080);

export function buildApp() {
  const app = express();
  app.use(express.json());
  app.use(rateLimit(240));
  app.use("/bookings", bookings);
  app.use("/rooms", rooms);
  app.get("/healthz", (_req, res) => res.send("ok"));
  return app;
}

if (process.env.NODE_ENV !== "test") {
  buildApp().listen(PORT);
}
""",
    "src/services/pricing.ts": """\
import { differenceInMinutes, isWeekend, parseISO } from "date-fns";

import type { Booking, Room } from "../types.js";

export const WEEKEND_FACTOR = 1.5;
export const MIN_HOURS = 1;
export const CLEANING_FEE = 15;

export function hoursOf(booking: Booking): number {
  return differenceInMinutes(parseISO(booking.to), parseISO(booking.from)) / 60;
}

export function priceOf(booking: Booking, room: Room, withCleaning = false): number {
  const hours = Math.max(hoursOf(booking), MIN_HOURS);
  const factor = isWeekend(parseISO(booking.from)) ? WEEKEND_FACTOR : 1;
  return hours * room.hourlyRate * factor + (withCleaning ? CLEANING_FEE : 0);
}
""",
    "src/types.ts": """\
export type Status = "open" | "confirmed" | "cancelled" | "expired";

export interface Room {
  id: string;
  seats: number;
  floor?: number;
  hourlyRate: number;
}

export interface Booking {
  id: string;
  roomId: string;
  from: string;
  to: string;
  status: Status;
  createdBy: string;
}
""",
    "test/db.test.ts": BOOKING_BEFORE["test/db.test.ts"],
    "test/pricing.test.ts": """\
import { describe, expect, it } from "vitest";

import { hoursOf, priceOf } from "../src/services/pricing.js";

const room = { id: "r1", seats: 4, hourlyRate: 20 };
const booking = (from: string, to: string) => ({ id: "b1", roomId: "r1", from, to, status: "open" as const, createdBy: "a@example.org" });

describe("pricing", () => {
  it("counts hours", () => {
    expect(hoursOf(booking("2024-06-03T09:00", "2024-06-03T11:30"))).toBe(2.5);
  });

  it("charges a weekday", () => {
    expect(priceOf(booking("2024-06-03T09:00", "2024-06-03T11:00"), room)).toBe(40);
  });

  it("charges more on a weekend", () => {
    expect(priceOf(booking("2024-06-08T09:00", "2024-06-08T11:00"), room)).toBe(60);
  });

  it("adds the cleaning fee", () => {
    expect(priceOf(booking("2024-06-03T09:00", "2024-06-03T11:00"), room, true)).toBeGreaterThan(40);
  });

  it.skip("charges an hour at least", () => {
    expect(priceOf(booking("2024-06-03T09:00", "2024-06-03T09:15"), room)).toBe(20);
  });
});
""",
    "test/rooms.test.ts": """\
import type { Server } from "node:http";

import { afterAll, beforeAll, expect, it } from "vitest";

import { addRoom, reset } from "../src/db.js";
import { buildApp } from "../src/server.js";

let server: Server;
let url: string;

beforeAll(() => {
  reset();
  addRoom({ id: "r1", seats: 4, hourlyRate: 20 });
  server = buildApp().listen(0);
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});

afterAll(() => server.close());

it("lists rooms", async () => {
  const answer = await fetch(`${url}/rooms`);
  expect(await answer.json()).toHaveLength(1);
});

it("has no revenue at first", async () => {
  const answer = await fetch(`${url}/rooms/r1/revenue`);
  expect(await answer.json()).toEqual({ revenue: 0 });
});

it("knows no other rooms", async () => {
  const answer = await fetch(`${url}/rooms/r9/revenue`);
  expect(answer.status).toBe(404);
});
""",
    "tsconfig.json": BOOKING_BEFORE["tsconfig.json"],
}

BOOKING_RUNS = [
    Run(
        command="npm install",
        exit_code=0,
        output="added 4 packages, removed 1 package, and changed 17 packages in 6s\nfound 0 vulnerabilities\n",
    ),
    Run(
        command="npx vitest run",
        exit_code=1,
        output=(
            " FAIL  test/pricing.test.ts > pricing > charges more on a weekend\n"
            "AssertionError: expected 60 to be 50\n"
            " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 8 passed | 1 skipped (10)\n"
            "   Duration  934ms\n"
        ),
        passed=8,
        failed=1,
        skipped=1,
    ),
    Run(
        command="npx vitest run",
        exit_code=0,
        output=(
            " ✓ test/db.test.ts (2 tests)\n ✓ test/pricing.test.ts (5 tests | 1 skipped)\n"
            " ✓ test/rooms.test.ts (3 tests)\n"
            " Test Files  3 passed (3)\n      Tests  9 passed | 1 skipped (10)\n   Duration  911ms\n"
        ),
        passed=9,
        skipped=1,
    ),
    Run(
        command="npm run lint",
        exit_code=1,
        output=(
            "test/pricing.test.ts\n  25:3  warning  Skipped test  vitest/no-disabled-tests\n"
            "✖ 1 problem (0 errors, 1 warning)\nESLint found too many warnings (maximum: 0).\n"
        ),
    ),
    Run(
        command="npm run typecheck",
        exit_code=2,
        output=(
            "test/db.test.ts(13,15): error TS2345: Property 'createdBy' is missing in type '{ id: string; }'.\n"
            "test/db.test.ts(14,15): error TS2345: Property 'createdBy' is missing in type '{ id: string; }'.\n"
        ),
    ),
]
