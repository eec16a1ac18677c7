"""For your own tests: agents that follow a script, and a whole Segue in a temporary folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from segue.adapters.backends.scripted import ScriptedBackend
from segue.adapters.catalog.project import read_project
from segue.adapters.catalog.trust_store import TRUST_FILE, TrustStore
from segue.adapters.storage.database import open_database
from segue.application.ports.backend import AgentBackend
from segue.application.ports.engine import WorkerPolicy
from segue.application.ports.world import Clock
from segue.application.segue import Segue
from segue.application.views import PipelineDetail
from segue.bootstrap import open_segue
from segue.domain.audit import FINAL_KINDS, AuditKind
from segue.domain.errors import InvalidRequest, StorageError
from segue.domain.pipeline import PipelineStatus
from segue.settings import Settings

__all__ = ["ScriptedBackend", "build_test_segue", "follow_to_end", "say_handoff", "trust_project"]

_DATABASE = "segue.db"
_EMPTY: list[bytes] = []
"""The file of a database in which nothing has happened yet, made once a process."""


@asynccontextmanager
async def build_test_segue(
    folder: Path,
    backend: AgentBackend,
    /,
    *,
    policy: WorkerPolicy | None = None,
    clock: Clock | None = None,
    **settings: Any,
) -> AsyncIterator[Segue]:
    """A running Segue whose data is in `folder` and whose agents all run on `backend`."""
    if "database_url" not in settings:
        await asyncio.to_thread(lay_out_database, folder / "data")
    made = Settings(
        **{
            "data_dir": folder / "data",
            "config_dir": folder / "config",
            "backend": "scripted",
            "database_url": f"sqlite:///{folder / 'data' / 'segue.db'}",
            **settings,
        }
    )
    name = "scripted" if made.backend == "auto" else made.backend
    async with open_segue(made, policy=policy, backends={name: backend}, own_clock=clock) as segue:
        await segue.start()
        yield segue


def lay_out_database(folder: Path) -> None:
    """Put an empty database into a data folder that has none: copying one takes a tenth of the time."""
    path = folder / _DATABASE
    if path.exists():
        return
    if not _EMPTY:
        _EMPTY.append(_make_database())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(_EMPTY[0])


def _make_database() -> bytes:
    async def make(path: Path) -> None:
        await (await open_database(f"sqlite:///{path}")).close()

    with TemporaryDirectory() as folder:
        path = Path(folder, _DATABASE)
        asyncio.run(make(path))
        return path.read_bytes()


async def follow_to_end(segue: Segue, pipeline_id: int) -> PipelineDetail:
    """Wait until a pipeline has ended or waits for a person, and give it as it stands then."""
    async with segue.feed.subscribe(after=0, pipeline_id=pipeline_id) as entries:
        async for entry in entries:
            if entry.event_type in (*FINAL_KINDS, AuditKind.APPROVAL_REQUESTED):
                detail = await segue.views.pipeline(pipeline_id)
                waits = detail.status is PipelineStatus.WAITING_FOR_APPROVAL
                if detail.status.is_final or waits:
                    return detail
    raise StorageError("the feed ended before the pipeline did")


def trust_project(project: Path, *, data_dir: Path) -> None:
    """Trust a project's `.segue/` as it is now, as `segue trust` does.

    The data folder of `build_test_segue` is `folder / "data"`.
    """
    if (found := read_project(project)) is None:
        raise InvalidRequest(f"there is nothing to trust in {project}")
    TrustStore(data_dir / TRUST_FILE).trust(found.content)


def say_handoff(done: str = "Did the work.", **sections: str) -> Mapping[str, str]:
    """An action that says a handoff of four sections, for scripts."""
    titles = {"decisions": "Decisions Made", "questions": "Open Questions", "next": "Next Agent Context"}
    text = f"## What Was Done\n{done}\n"
    return {"say": text + "".join(f"\n## {titles[key]}\n{value}\n" for key, value in sections.items())}
