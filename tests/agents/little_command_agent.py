"""A one-shot agent: sends its input to a model, writes the answer, and fixes the bug where it runs."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path


def main() -> None:
    """Ask once."""
    text = sys.stdin.read()
    tool = {"name": "Read", "input_schema": {"properties": {"file_path": {"type": "string"}}}}
    messages = [{"role": "user", "content": text}]
    body = {"model": "m", "max_tokens": 1000, "messages": messages, "tools": [tool]}
    request = urllib.request.Request(  # the model is on loopback
        f"{sys.argv[1]}/v1/messages",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        sys.stdout.write("".join(part.get("text", "") for part in json.load(answer)["content"]))
    with Path(sys.argv[2]).open("a", encoding="utf-8") as places:
        places.write(f"{Path.cwd()}\t{len(list(Path.cwd().iterdir()))}\n")
    Path("trace.txt").write_text("I was here.\n", encoding="utf-8")
    if (bug := Path("calc.py")).exists():
        bug.write_text(bug.read_text(encoding="utf-8").replace("a - b", "a + b"), encoding="utf-8")


if __name__ == "__main__":
    main()
