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
from segue.application.app import Segue
from segue.application.backends import AgentBackend
from segue.application.views import PipelineDetail
from segue.application.workers import WorkerPolicy
from segue.bootstrap import open_segue
from segue.domain.audit import FINAL_KINDS
from segue.domain.errors import InvalidRequest
from segue.settings import Settings

__all__ = ["ScriptedBackend", "build_test_segue", "follow_to_end", "say_handoff", "trust_project"]

_DATABASES = ("segue.db", "segue-engine.db")
_EMPTY: dict[str, bytes] = {}
"""The files of databases in which nothing has happened yet, made once a process."""


@asynccontextmanager
async def build_test_segue(
    folder: Path,
    backend: AgentBackend,
    /,
    *,
    policy: WorkerPolicy | None = None,
    **settings: Any,
) -> AsyncIterator[Segue]:
    """A running Segue whose data is in `folder` and whose agents all run on `backend`."""
    if "database_url" not in settings:
        await asyncio.to_thread(lay_out_databases, folder / "data")
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
    async with open_segue(made, policy=policy, backends={name: backend}) as segue:
        await segue.start()
        yield segue


def lay_out_databases(folder: Path) -> None:
    """Put empty databases into a data folder that has none: copies take a tenth of the time of new ones."""
    if any((folder / name).exists() for name in _DATABASES):
        return
    if not _EMPTY:
        _EMPTY.update(_make_databases())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in _EMPTY.items():
        (folder / name).write_bytes(content)


def _make_databases() -> Mapping[str, bytes]:
    from dbos import DBOS  # noqa: PLC0415  # slow to import

    async def make_main(path: Path) -> None:
        await (await open_database(f"sqlite:///{path}")).close()

    main, engine = _DATABASES
    with TemporaryDirectory() as made:
        asyncio.run(make_main(Path(made, main)))
        DBOS.migrate(f"sqlite:///{Path(made, engine)}")
        return {name: Path(made, name).read_bytes() for name in _DATABASES}


async def follow_to_end(segue: Segue, pipeline_id: int) -> PipelineDetail:
    """Wait until a pipeline has ended, and give it as it stands then."""
    async with segue.feed.subscribe(after=0, pipeline_id=pipeline_id) as entries:
        async for entry in entries:
            if entry.event_type in FINAL_KINDS:
                break
    return await segue.views.pipeline(pipeline_id)


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
