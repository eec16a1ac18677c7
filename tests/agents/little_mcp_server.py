"""A little MCP server for tests: one tool, `submit`, that writes what it got to a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "submit",
    "description": "Hand the finished step over.",
    "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-03-26"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "little", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        Path(os.environ["SUBMITTED"]).write_text(params["arguments"]["what"])
        return {"content": [{"type": "text", "text": "accepted"}]}
    return {}


for line in sys.stdin:
    heard = json.loads(line)
    if "id" in heard and "method" in heard:
        found = answer(heard["method"], heard.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": heard["id"], "result": found}) + "\n")
        sys.stdout.flush()
