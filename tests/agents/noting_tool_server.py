"""A small MCP server on standard streams: its one tool, `submit_handoff`, notes who was called in a file."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOL = {
    "name": "submit_handoff",
    "description": "Hand over.",
    "inputSchema": {"type": "object", "properties": {"done": {"type": "string"}}, "required": ["done"]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SERVER}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        with open(os.environ["HANDOFF_FILE"], "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps({"who": os.environ["WHO"], "done": params["arguments"]["done"]}) + "\n")
        return {"content": [{"type": "text", "text": "accepted"}]}
    return {}


SERVER = {"name": "test", "version": "1"}

if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)  # noqa: T201
