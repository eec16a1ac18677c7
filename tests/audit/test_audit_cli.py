"""`segue audit`: list, export, verify."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from segue.adapters.storage.database import open_database
from segue.testing.pipelines import lay_out_database
from tests.audit.conftest import add_entries
from tests.cli.conftest import Ran, segue

__all__ = ["segue"]
Segue = Callable[..., Ran]
DOCS = Path(__file__).parents[2] / "docs" / "audit.md"


@pytest.fixture
def data(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with entries of several chains."""
    folder = tmp_path / "data"
    lay_out_database(folder)

    async def add() -> None:
        store = await open_database(f"sqlite:///{folder / 'segue.db'}", user="mara")
        await add_entries(store, 20)
        await store.close()

    asyncio.run(add())
    monkeypatch.setenv("SEGUE_DATA_DIR", str(folder))
    return folder


def execute(data: Path, statement: str) -> None:
    with closing(sqlite3.connect(data / "segue.db", isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount == 1


def test_entries_are_listed_newest_first_and_chosen(segue: Segue, data: Path) -> None:
    everything = json.loads(segue("audit", "list", "--json").out)["items"]
    ids = [each["id"] for each in everything]
    assert ids == sorted(ids, reverse=True)
    assert {each["who"] for each in everything} == {"segue", "token:ci", "user:mara"}
    of_one = json.loads(segue("audit", "list", "--pipeline", "1", "--json").out)["items"]
    assert of_one == [each for each in everything if each["pipeline_id"] == 1]
    outside = json.loads(segue("audit", "list", "--pipeline", "0", "--json").out)["items"]
    assert outside == [each for each in everything if each["pipeline_id"] is None]
    sent = json.loads(segue("audit", "list", "--kind", "message_sent", "--json").out)["items"]
    assert {each["event_type"] for each in sent} == {"message_sent"}
    assert "no audit entries like that" in segue("audit", "list", "--since", "2030-01-01").out
    assert len(json.loads(segue("audit", "list", "--since", "2026-01-01", "--json").out)["items"]) == 20
    page = json.loads(segue("audit", "list", "--limit", "5", "--json").out)
    rest = segue("audit", "list", "--before", str(page["next_cursor"]), "--json")
    assert [*page["items"], *json.loads(rest.out)["items"]] == everything
    assert "user:mara" in segue("audit", "list").out
    assert segue("audit", "list", "--kind", "step_dome").code == 2


def test_an_altered_database_ends_with_1_and_names_the_entry(segue: Segue, data: Path) -> None:
    whole = segue("audit", "verify")
    assert (whole.code, whole.out, whole.err) == (0, "whole: 20 entries in 4 chains\n", "")
    execute(
        data, "UPDATE audit_events SET who = 'segue' WHERE pipeline_id = 1 AND seq = 2 AND who <> 'segue'"
    )
    altered = segue("audit", "verify")
    assert (altered.code, altered.err) == (1, "")
    assert altered.out.startswith("chain 1, entry 2: altered: ")
    shown = segue("audit", "verify", "--json")
    assert shown.code == 1
    assert [(each["chain"], each["seq"]) for each in json.loads(shown.out)["alterations"]] == [(1, 2)]


def test_an_export_is_verified_without_database_and_settings(
    segue: Segue, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trail.jsonl"
    assert segue("audit", "export", str(file)) == Ran(code=0, out="", err="")
    assert segue("audit", "export", "-").out == file.read_text()
    nowhere = tmp_path / "nowhere"
    monkeypatch.setenv("SEGUE_DATA_DIR", str(nowhere))
    monkeypatch.setenv("SEGUE_PORT", "not a port")
    assert segue("audit", "verify", str(file)).out == "whole: 20 entries in 4 chains\n"
    assert not nowhere.exists()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    cut = segue("audit", "verify", str(file))
    assert cut.code == 1
    assert "missing: the head says that the chain ends at entry" in cut.out
    assert segue("audit", "verify", str(tmp_path / "none.jsonl")).code == 2


def test_a_head_noted_earlier_is_compared(segue: Segue, data: Path, tmp_path: Path) -> None:
    heads = json.loads(segue("audit", "verify", "--json").out)["heads"]
    noted = f"{heads[1]['chain']}:{heads[1]['seq']}:{heads[1]['head']}"
    file = tmp_path / "trail.jsonl"
    segue("audit", "export", "--pipeline", str(heads[1]["chain"]), str(file))
    for arguments in ((), (str(file),)):
        assert segue("audit", "verify", *arguments, "--head", noted).code == 0
        other = segue("audit", "verify", *arguments, "--head", f"{noted[:-4]}0000")
        assert other.code == 1
        assert "differs from the head noted earlier" in other.out
        gone = segue("audit", "verify", *arguments, "--head", f"77:3:{heads[1]['head']}")
        assert "chain 77, entry 3: missing" in gone.out
    assert segue("audit", "verify", "--head", "7:12").code == 2


def test_the_program_in_the_docs_verifies_an_export(segue: Segue, data: Path, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "trail.jsonl"
    segue("audit", "export", str(file))
    run = [sys.executable, "-I", "-c", program, str(file)]
    whole = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert (whole.returncode, whole.stdout) == (0, "whole\n"), whole.stderr
    file.write_text(file.read_text().replace("token:ci", "token:cd", 1))
    altered = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert altered.returncode == 1
    assert "was altered" in altered.stderr
