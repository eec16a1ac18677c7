"""Two versions of Segue on one PostgreSQL: each is a wheel of its own, built from this tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

from segue import __version__
from segue.adapters.storage.migrations import HEAD
from tests.engine.roles import Machine, begun, patient_agent, wait_until
from tests.engine.test_roles import submit, wait_for
from tests.git.repositories import new_repository

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
MIGRATION = """\"\"\"A column more.\"\"\"

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pipelines", sa.Column("later", sa.Text(), nullable=True))
"""


def build(folder: Path, version: str, revision: str | None = None) -> Path:
    """A folder with the package of this version, from a wheel; with a revision, its schema is a newer one."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    for place in (source / "pyproject.toml", source / "src/segue/__init__.py"):
        text = place.read_text(encoding="utf-8")
        assert f'"{__version__}"' in text
        place.write_text(text.replace(f'"{__version__}"', f'"{version}"', 1), encoding="utf-8")
    if revision is not None:
        migrations = source / "src/segue/adapters/storage/migrations"
        added = MIGRATION.format(revision=revision, before=HEAD)
        (migrations / "versions" / f"{revision.replace('.', '_')}_later.py").write_text(added)
        head = (migrations / "__init__.py").read_text(encoding="utf-8")
        assert f'HEAD = "{HEAD}"' in head
        (migrations / "__init__.py").write_text(head.replace(f'HEAD = "{HEAD}"', f'HEAD = "{revision}"'))
    made = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(made, cwd=source, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "package")
    return folder / "package"


@pytest.mark.parametrize("revision", [None, f"{HEAD}.1"], ids=["the same schema", "one that only adds"])
def test_processes_are_replaced_one_after_the_other_while_a_run_goes_through(
    tmp_path: Path, postgres_url: str, revision: str | None
) -> None:
    older = build(tmp_path / "older", "1.0.1")
    newer = build(tmp_path / "newer", "1.0.2", revision)
    start = partial(Machine, database=postgres_url, agent=patient_agent(tmp_path))
    serve = ("serve", "--front", "--port", "0")
    front = start(tmp_path / "front", *serve, package=older)
    worker = start(tmp_path / "worker", "worker", package=older)
    with front, worker:
        client = front.client()
        assert "segue 1.0.1 worker" in worker.log()
        running = submit(client, new_repository(tmp_path / "repo", {"a.txt": "a\n"}))
        wait_until(lambda: begun(tmp_path))
        with start(tmp_path / "next worker", "worker", package=newer) as replaced:
            assert "segue 1.0.2 worker" in replaced.log()
            worker.process.terminate()
            worker.says("^ending: 1 running")
            (tmp_path / "go").touch()
            assert worker.process.wait(120) == 0, worker.log()
            ended = wait_for(client, running["id"], "done", "failed")
            assert ended["status"] == "done", ended
            assert [step["attempt_count"] for step in ended["steps"]] == [1, 1]
            # The older front still takes in what the newer worker runs, also when it is started again.
            later = submit(client, new_repository(tmp_path / "other", {"a.txt": "a\n"}))
            assert wait_for(client, later["id"], "done", "failed")["status"] == "done"
            with start(tmp_path / "again", *serve, package=older) as again:
                assert again.client().get(f"/pipelines/{later['id']}").json()["status"] == "done"
            with start(tmp_path / "next front", *serve, package=newer) as last:
                found = last.client().get(f"/pipelines/{running['id']}/diff")
                assert "+hello" in found.text
                assert last.client().get("/audit/verify").json()["is_whole"]
            assert replaced.end() == 0
            assert "Traceback" not in worker.log() + replaced.log() + front.log()


def test_a_schema_that_changes_waits_until_every_older_process_has_ended(
    tmp_path: Path, postgres_url: str
) -> None:
    older = build(tmp_path / "older", "1.0.1")
    newer = build(tmp_path / "newer", "2.0.0", f"{int(HEAD.partition('.')[0]) + 1:04}")
    start = partial(Machine, database=postgres_url, agent=patient_agent(tmp_path))
    with start(tmp_path / "worker", "worker", package=older) as worker:
        with start(tmp_path / "early", "worker", package=newer, may_fail=True) as early:
            assert early.process.wait(120) == 1
            assert "an older Segue works with this database (process" in early.log()
            assert "Traceback" not in early.log()
        assert worker.end() == 0
    with start(tmp_path / "then", "worker", package=newer) as then:
        assert "segue 2.0.0 worker" in then.log()
        with start(tmp_path / "late", "worker", package=older, may_fail=True) as late:
            assert late.process.wait(120) == 1
            assert "made by another version of Segue" in late.log()
        assert then.end() == 0
