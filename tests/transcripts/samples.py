"""One small story, written down as each tool would: the shapes are real, the words are ours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ASKED = "Add a login page to the shop. Never touch the database schema.\n- Tests must stay green."
TURNED = "Actually, use cookies instead of tokens. Please do not add a dependency."
REPORT = "The login page works with cookies.\n\n- login.py holds the form\n- app.py routes to it"


@dataclass(frozen=True)
class Step:
    """One thing of the story: `user`, `say`, `read`, `write`, `edit` or `shell`."""

    do: str
    text: str = ""
    """What is said, the path, or the command."""
    code: int | None = 0
    """The exit code of a command; none if it never ended."""
    output: str = "ok"


STORY = (
    Step("user", ASKED),
    Step("say", "I look first."),
    Step("read", "app.py"),
    Step("write", "login.py"),
    Step("edit", "app.py"),
    Step("shell", "pytest -q", code=1, output="1 failed"),
    Step("user", TURNED),
    Step("edit", "login.py"),
    Step("shell", "ls", output="app.py"),
    Step("shell", "pytest -q", output="3 passed"),
    Step("say", REPORT),
)


@dataclass
class Clock:
    """Moments that go on by a second."""

    at: int = 1_794_772_700
    ids: int = 0

    def iso(self) -> str:
        self.at += 1
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def milliseconds(self) -> int:
        self.at += 1
        return self.at * 1000

    def name(self, prefix: str = "") -> str:
        self.ids += 1
        return f"{prefix}{self.ids:08x}"


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


CLAUDE_ID = "11111111-aaaa-4bbb-8ccc-000000000001"
CODEX_ID = "22222222-aaaa-7bbb-8ccc-000000000002"
OPENCODE_ID = "ses_333333334ffeffuNUbx000003"
PI_ID = "44444444-aaaa-7bbb-8ccc-000000000004"
OMP_ID = "55555555-aaaa-7bbb-8ccc-000000000005"
GOOSE_ID = "20261115_66"


@dataclass
class ClaudeLines:
    """Lines of Claude Code, each with its parent."""

    cwd: str
    clock: Clock = field(default_factory=Clock)
    records: list[dict[str, Any]] = field(default_factory=list)
    parent: str | None = None

    def add(self, kind: str, message: Mapping[str, Any] | None = None, **more: Any) -> str:
        own = self.clock.name("uuid-")
        record: dict[str, Any] = {
            "parentUuid": self.parent, "isSidechain": False, "type": kind, "uuid": own,
            "timestamp": self.clock.iso(), "cwd": self.cwd, "sessionId": CLAUDE_ID, "version": "2.1.325",
        }  # fmt: skip
        if message is not None:
            record["message"] = dict(message)
        self.records.append({**record, **more})
        self.parent = own
        return own

    def user(self, text: str, **more: Any) -> str:
        return self.add("user", {"role": "user", "content": text}, **more)

    def say(self, *blocks: Mapping[str, Any], **more: Any) -> str:
        usage = {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5}
        message = {
            "id": self.clock.name("msg_"), "role": "assistant", "model": "scripted",
            "content": list(blocks), "usage": usage,
        }  # fmt: skip
        return self.add("assistant", {**message, **more})

    def result(self, call: str, output: str, told: Any = None, *, is_error: bool = False, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": is_error}
        return self.add("user", {"role": "user", "content": [block]}, toolUseResult=told, **more)

    def step(self, step: Step) -> None:
        path = f"{self.cwd}/{step.text}"
        if step.do == "user":
            self.user(step.text)
        elif step.do == "say":
            self.say({"type": "text", "text": step.text})
        else:
            call = self.clock.name("toolu_")
            names = {"read": "Read", "write": "Write", "edit": "Edit", "shell": "Bash"}
            given = {"command": step.text} if step.do == "shell" else {"file_path": path}
            self.say({"type": "tool_use", "id": call, "name": names[step.do], "input": given})
            if step.code is None:
                return
            told: Any = {
                "read": {"type": "text"},
                "write": {"type": "create"},
                "edit": {"filePath": path},
            }.get(step.do, {"stdout": step.output, "stderr": "", "interrupted": False})
            if step.code:
                self.result(
                    call, f"Exit code {step.code}\n{step.output}", f"Error: {step.output}", is_error=True
                )
            else:
                self.result(call, step.output, told)


def claude(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    lines = ClaudeLines(cwd)
    lines.records.append({"type": "queue-operation", "operation": "enqueue", "sessionId": CLAUDE_ID})
    for step in story:
        lines.step(step)
    folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)
    return write_lines(home / ".claude" / "projects" / folder / f"{CLAUDE_ID}.jsonl", lines.records)


def codex(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    clock = Clock()
    records: list[dict[str, Any]] = []

    def add(kind: str, payload: Mapping[str, Any]) -> None:
        records.append({"timestamp": clock.iso(), "type": kind, "payload": dict(payload)})

    def message(role: str, text: str) -> None:
        block = "output_text" if role == "assistant" else "input_text"
        add("response_item", {"type": "message", "role": role, "content": [{"type": block, "text": text}]})

    add("session_meta", {"id": CODEX_ID, "timestamp": clock.iso(), "cwd": cwd, "cli_version": "0.166.0"})
    message("developer", "Standing orders.")
    message("user", f"<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>")
    add("turn_context", {"cwd": cwd, "model": "scripted"})
    for step in story:
        call = clock.name("call_")
        if step.do == "user":
            message("user", step.text)
        elif step.do == "say":
            message("assistant", step.text)
        elif step.do in ("write", "edit"):
            verb = "Add" if step.do == "write" else "Update"
            patch = f"*** Begin Patch\n*** {verb} File: {step.text}\n+x\n*** End Patch"
            add(
                "response_item",
                {"type": "custom_tool_call", "call_id": call, "name": "apply_patch", "input": patch},
            )
            add("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": "Success."})
        else:
            command = f"cat {step.text}" if step.do == "read" else step.text
            given = json.dumps({"cmd": command})
            add(
                "response_item",
                {"type": "function_call", "call_id": call, "name": "exec_command", "arguments": given},
            )
            if step.code is not None:
                output = f"Chunk ID: 1\nProcess exited with code {step.code}\nOutput:\n{step.output}"
                add("response_item", {"type": "function_call_output", "call_id": call, "output": output})
    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 9}
    add("event_msg", {"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}})
    name = f"rollout-2026-11-15T19-59-16-{CODEX_ID}.jsonl"
    return write_lines(home / ".codex" / "sessions" / "2026" / "11" / "15" / name, records)


def opencode_messages(cwd: str, story: Iterable[Step], clock: Clock) -> list[dict[str, Any]]:
    """Messages in the shape of an export."""
    messages: list[dict[str, Any]] = []
    for step in story:
        role = "user" if step.do == "user" else "assistant"
        info = {"id": clock.name("msg_"), "role": role, "time": {"created": clock.milliseconds()}}
        if step.do in ("user", "say"):
            part: dict[str, Any] = {"type": "text", "text": step.text}
        else:
            names = {"shell": "bash"}
            given = {"command": step.text} if step.do == "shell" else {"filePath": f"{cwd}/{step.text}"}
            told: dict[str, Any] = {"exit": step.code} if step.do == "shell" else {}
            if step.do == "write":
                told["exists"] = False
            state: dict[str, Any] = {
                "status": "completed",
                "input": given,
                "output": step.output,
                "metadata": told,
            }
            if step.code is None:
                state = {"status": "running", "input": given}
            part = {
                "type": "tool",
                "tool": names.get(step.do, step.do),
                "callID": clock.name("c_"),
                "state": state,
            }
        parts = [{**part, "id": clock.name("prt_")}]
        messages.append({"info": info, "parts": parts})
    return messages


def opencode_export(path: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    clock = Clock()
    info = {
        "id": OPENCODE_ID, "directory": cwd, "title": "Login page", "model": {"id": "scripted"},
        "tokens": {"input": 5, "output": 1},
        "time": {"created": clock.milliseconds(), "updated": clock.milliseconds()},
    }  # fmt: skip
    document = {"info": info, "messages": opencode_messages(cwd, story, clock)}
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def opencode(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    path = home / "data" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    database = sqlite3.connect(path)
    database.executescript(
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, model text,"
        " cost real, tokens_input integer, tokens_output integer, revert text, time_created integer,"
        " time_updated integer);"
        "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);"
        "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);"
    )
    database.execute(
        "INSERT INTO session VALUES (?, NULL, ?, 'Login page', ?, 0.5, 5, 1, NULL, ?, ?)",
        (OPENCODE_ID, cwd, json.dumps({"id": "scripted"}), clock.milliseconds(), clock.milliseconds()),
    )
    for message in opencode_messages(cwd, story, clock):
        info = message["info"]
        data = json.dumps({key: value for key, value in info.items() if key != "id"})
        database.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?)",
            (info["id"], OPENCODE_ID, info["time"]["created"], data),
        )
        for part in message["parts"]:
            database.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?)",
                (part["id"], info["id"], OPENCODE_ID, json.dumps(part)),
            )
    database.commit()
    database.close()
    return path


@dataclass
class PiLines:
    """Lines of pi, each with its parent."""

    cwd: str
    own_id: str = PI_ID
    clock: Clock = field(default_factory=Clock)
    records: list[dict[str, Any]] = field(default_factory=list)
    parent: str | None = None

    def header(self) -> None:
        self.records.append(
            {
                "type": "session",
                "version": 3,
                "id": self.own_id,
                "timestamp": self.clock.iso(),
                "cwd": self.cwd,
            }
        )

    def add(self, kind: str, **more: Any) -> str:
        own = self.clock.name()
        self.records.append(
            {"type": kind, "id": own, "parentId": self.parent, "timestamp": self.clock.iso(), **more}
        )
        self.parent = own
        return own

    def message(self, role: str, **more: Any) -> str:
        return self.add("message", message={"role": role, **more})

    def say(self, *blocks: Mapping[str, Any]) -> str:
        usage = {"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}
        return self.message(
            "assistant", content=list(blocks), model="scripted", usage=usage, stopReason="stop"
        )

    def step(self, step: Step) -> None:
        if step.do == "user":
            self.message("user", content=[{"type": "text", "text": step.text}])
            return
        if step.do == "say":
            self.say({"type": "text", "text": step.text})
            return
        call = self.clock.name("call_")
        name = "bash" if step.do == "shell" else step.do
        given = {"command": step.text} if step.do == "shell" else {"path": f"{self.cwd}/{step.text}"}
        self.say({"type": "toolCall", "id": call, "name": name, "arguments": given})
        if step.code is not None:
            output = f"{step.output}\n\nCommand exited with code {step.code}" if step.code else step.output
            self.message(
                "toolResult", toolCallId=call, toolName=name, isError=bool(step.code),
                content=[{"type": "text", "text": output}],
            )  # fmt: skip


def pi(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    lines = PiLines(cwd)
    lines.header()
    lines.add("model_change", provider="scripted", modelId="scripted")
    for step in story:
        lines.step(step)
    folder = "--" + cwd.strip("/").replace("/", "-") + "--"
    name = f"2026-11-15T19-59-56-000Z_{PI_ID}.jsonl"
    return write_lines(home / ".pi" / "agent" / "sessions" / folder / name, lines.records)


def omp(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    lines = PiLines(cwd, OMP_ID)
    lines.records.append({"type": "title", "v": 1, "title": "Login page", "pad": "  "})
    lines.header()
    for step in story:
        lines.step(step)
    name = f"2026-11-15T20-00-23-667Z_{OMP_ID}.jsonl"
    return write_lines(home / ".omp" / "agent" / "sessions" / "work" / name, lines.records)


@dataclass
class GooseMessages:
    """Messages of goose, as its database, its older files and its exports hold them."""

    cwd: str
    clock: Clock = field(default_factory=Clock)
    records: list[dict[str, Any]] = field(default_factory=list)

    def add(self, role: str, *blocks: Mapping[str, Any], **seen: bool) -> None:
        self.clock.at += 1
        told = {"userVisible": True, "agentVisible": True, **seen}
        own = self.clock.name("msg_")
        record = {
            "id": own,
            "role": role,
            "created": self.clock.at,
            "content": list(blocks),
            "metadata": told,
        }
        self.records.append(record)

    def say(self, role: str, words: str, **seen: bool) -> None:
        self.add(role, {"type": "text", "text": words}, **seen)

    def call(self, name: str, given: Mapping[str, Any], result: Mapping[str, Any] | None) -> None:
        call = self.clock.name("call_")
        asked = {"status": "success", "value": {"name": name, "arguments": given}}
        self.add("assistant", {"type": "toolRequest", "id": call, "toolCall": asked})
        if result is not None:
            self.add("user", {"type": "toolResponse", "id": call, "toolResult": result})

    def step(self, step: Step) -> None:
        path = f"{self.cwd}/{step.text}"
        if step.do == "user":
            self.say("user", step.text)
        elif step.do == "say":
            self.say("assistant", step.text)
        elif step.do in ("write", "edit"):
            done = "Created" if step.do == "write" else "Edited"
            self.call(step.do, {"path": path}, goose_result(f"{done} {path} (1 lines)"))
        else:
            command = f"cat {path}" if step.do == "read" else step.text
            ended = None if step.code is None else goose_result(step.output, step.code)
            self.call("shell", {"command": command}, ended)


def goose_result(output: str, code: int | None = None) -> dict[str, Any]:
    """What goose writes down of a call that ended; a code only for commands."""
    words = f"{output}\n\nCommand exited with code {code}" if code else output
    value: dict[str, Any] = {"content": [{"type": "text", "text": words}], "isError": bool(code)}
    if code is not None:
        value["structuredContent"] = {"stdout": output, "stderr": "", "exit_code": code}
    return {"status": "success", "value": value}


def goose_messages(cwd: str, story: Iterable[Step] = STORY) -> GooseMessages:
    messages = GooseMessages(cwd)
    for step in story:
        messages.step(step)
    return messages


def goose(home: Path, cwd: str, story: Iterable[Step] = STORY) -> Path:
    return goose_database(home, goose_messages(cwd, story))


def goose_database(home: Path, messages: GooseMessages, own: str = GOOSE_ID, kind: str = "user") -> Path:
    path = home / "data" / "goose" / "sessions" / "sessions.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.executescript(
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT,"
        " session_type TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP,"
        " input_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER,"
        " accumulated_cost REAL, model_config_json TEXT);"
        "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT,"
        " role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);"
    )
    row = (
        own,
        "Login page",
        "",
        kind,
        messages.cwd,
        "2026-11-15 19:59:16",
        "2026-11-15 20:01:02",
        40,
        90,
        7,
        0.5,
    )
    model = json.dumps({"model_name": "scripted"})
    database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, model))
    for each in messages.records:
        told = (own, each["role"], json.dumps(each["content"]), each["created"], json.dumps(each["metadata"]))
        database.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?)", told)
    database.commit()
    database.close()
    return path


def goose_file(home: Path, messages: GooseMessages, own: str = "20250612_101530") -> Path:
    """A session of a version before the database."""
    about = {"working_dir": messages.cwd, "description": "Old page", "message_count": 3, "total_tokens": 50}
    plain = [{key: each[key] for key in ("role", "created", "content")} for each in messages.records]
    return write_lines(home / "data" / "goose" / "sessions" / f"{own}.jsonl", [about, *plain])


def goose_export(path: Path, messages: GooseMessages) -> Path:
    """What `goose session export --format json` writes."""
    about = {"id": GOOSE_ID, "working_dir": messages.cwd, "name": "Login page", "session_type": "user"}
    document = {**about, "conversation": messages.records, "model_config": {"model_name": "scripted"}}
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


WRITERS: dict[str, Callable[..., Path]] = {
    "claude": claude, "codex": codex, "opencode": opencode, "goose": goose, "pi": pi, "omp": omp,
}  # fmt: skip
IDS = {
    "claude": CLAUDE_ID, "codex": CODEX_ID, "opencode": OPENCODE_ID, "goose": GOOSE_ID, "pi": PI_ID,
    "omp": OMP_ID,
}  # fmt: skip
