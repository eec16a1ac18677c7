"""A Segue opened by the public API, whose one agent follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from segue import AgentBackend, CustomNotation, OpenSegue, open_segue
from segue.testing.pipelines import lay_out_database

REPLY = "## What Was Done\n- Looked around\n"


@asynccontextmanager
async def opened(
    folder: Path,
    tmp_path: Path,
    backend: AgentBackend,
    *,
    options: Mapping[str, Any] | None = None,
    notation: CustomNotation | None = None,
    **settings: Any,
) -> AsyncIterator[OpenSegue]:
    """Open on a folder with the templates `alone` and `twice`, whose agent `dev` has these options."""
    agent = {"options": dict(options or {"actions": [{"say": REPLY}]})}
    steps = [{"agent": "dev", "description": "Do it."}]
    catalog = {
        "agents": {"dev": agent},
        "templates": {"alone": {"steps": steps}, "twice": {"steps": steps * 2}},
    }
    config = tmp_path / "config"
    config.mkdir(exist_ok=True)
    (config / "dev.yaml").write_text(json.dumps(catalog))
    await asyncio.to_thread(lay_out_database, tmp_path / "data")
    async with open_segue(
        folder,
        backend=backend,
        notation=notation,
        data_dir=tmp_path / "data",
        settings={"config_dir": config, **settings},
    ) as segue:
        yield segue
