"""Reads a tool call: what kind it is, which files it names and changes, which command it runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from segue.domain.transcripts.loose import clip, first_text, listed, mapping, text
from segue.domain.transcripts.model import FileChange, FileChangeKind, PlanItem, ToolCall, ToolKind

_KINDS: dict[ToolKind, str] = {
    ToolKind.READ: "read view cat readfile readmanyfiles notebookread viewimage open",
    ToolKind.WRITE: "write writefile create createfile",
    ToolKind.EDIT: "edit multiedit strreplace strreplaceeditor strreplacebasededittool replace applypatch"
    " patch notebookedit editfile texteditor",
    ToolKind.SHELL: "bash shell execcommand runshellcommand localshell localshellcall shellcommand terminal"
    " exec runterminalcmd containerexec powershell",
    ToolKind.SEARCH: "grep glob ls find list search listdir listdirectory grepfiles ripgrep codesearch"
    " searchfilecontent toolsearch",
    ToolKind.FETCH: "webfetch websearch fetch websearchcall",
    ToolKind.PLAN: "todowrite updateplan todo todoread",
    ToolKind.TASK: "task agent spawnagent delegate",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_PATH_KEYS = ("file_path", "filePath", "path", "notebook_path", "filename", "file", "absolute_path")
_COMMAND_KEYS = ("command", "cmd", "script")
_PATCH_KEYS = ("input", "patch", "patchText", "patch_text", "diff")
_PATCHED = re.compile(
    r"^\*\*\* (Add|Update|Delete) File: (.{1,1000})$|^\*\*\* Move to: (.{1,1000})$", re.MULTILINE
)
_PATCH_CHANGES = {
    "Add": FileChangeKind.CREATED,
    "Update": FileChangeKind.MODIFIED,
    "Delete": FileChangeKind.DELETED,
}
_POURED = re.compile(
    r"(?:^|[;&|\n]|\bdo\b)[ \t]*cat[ \t]*(>>?)[ \t]*(?P<quote>['\"]?)([^\s'\"<>;&|$`]{1,500})"
    r"(?P=quote)[ \t]*<<"
)
_CHECKBOX = re.compile(r"^[ \t]{0,8}[-*+] \[([ xX])\] (\S.{0,2000})$", re.MULTILINE)
_SHELL_WRAPPERS = {"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"}
_PRINTS = re.compile(r"\b(?:printf|echo)\b")
_MOST_PATHS = 100
_LONGEST_LEXED = 20_000
_MOST_PLAN = 60
_LONGEST_COMMAND = 4000


def read_call(name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
    """A tool call from its name and arguments; a bare text is a patch or a script."""
    bare = arguments if isinstance(arguments, str) else ""
    given = mapping(arguments)
    kind = kind_of(name)
    command = command_in(given) if kind is ToolKind.SHELL else None
    if kind is ToolKind.SHELL and not command:
        command = bare or None
    return ToolCall(
        name=text(name)[:200],
        kind=kind,
        paths=_paths(given),
        changes=_changes(kind, given, command or bare),
        command=clip(command, _LONGEST_COMMAND) if command else None,
        plan=_plan(given) if kind is ToolKind.PLAN else (),
    )


def kind_of(name: str) -> ToolKind:
    """What a tool of this name does."""
    plain = re.sub(r"[^a-z]", "", text(name)[:100].casefold())
    return _KIND_OF.get(plain, ToolKind.OTHER)


def command_in(given: Mapping[str, Any]) -> str:
    """The command line of a shell call, without the shell that wraps it."""
    for key in _COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return text(value).strip()
        if words := [text(each) for each in listed(value)]:
            if len(words) > 2 and words[0] in _SHELL_WRAPPERS and words[1].startswith("-"):
                return words[2].strip()
            return " ".join(words).strip()
    return ""


def _paths(given: Mapping[str, Any]) -> tuple[str, ...]:
    found = [path for key in _PATH_KEYS if (path := text(given.get(key)).strip())]
    return tuple(dict.fromkeys(path[:1000] for path in found))


def _changes(kind: ToolKind, given: Mapping[str, Any], free: str) -> tuple[FileChange, ...]:
    if kind in (ToolKind.WRITE, ToolKind.EDIT):
        patch = free or first_text(given, *_PATCH_KEYS)
        if patched := patched_files(patch):
            return patched
        change = FileChangeKind.CREATED if _creates(kind, given) else FileChangeKind.MODIFIED
        if text(given.get("command")) == "view":
            return ()
        return tuple(FileChange(path=path, change=change) for path in _paths(given)[:1])
    return (*patched_files(free), *_poured_files(free)) if kind is ToolKind.SHELL else ()


def _creates(kind: ToolKind, given: Mapping[str, Any]) -> bool:
    is_new = given.get("command") in ("create", "write") or given.get("old_string") == ""
    return kind is ToolKind.WRITE or is_new


def patched_files(patch: str) -> tuple[FileChange, ...]:
    """The files that a patch of the `*** Begin Patch` kind changes."""
    if "*** Begin Patch" not in patch:
        return ()
    found: list[FileChange] = []
    for match in _PATCHED.finditer(patch):
        if match[3] and found:
            found[-1] = FileChange(path=found[-1].path, change=FileChangeKind.DELETED)
            found.append(FileChange(path=match[3].strip(), change=FileChangeKind.CREATED))
        elif match[1]:
            found.append(FileChange(path=match[2].strip(), change=_PATCH_CHANGES[match[1]]))
        if len(found) > _MOST_PATHS:
            break
    return tuple(found)


def _poured_files(command: str) -> tuple[FileChange, ...]:
    """The files that a shell command fills with text that stands in it: `cat > a.py <<'EOF'`."""
    if "<<" not in command:
        return _printed_files(command)
    return tuple(
        FileChange(
            path=match[3], change=FileChangeKind.CREATED if match[1] == ">" else FileChangeKind.MODIFIED
        )
        for match in _POURED.finditer(command)
        if not match[3].startswith("/dev/")
    )[:_MOST_PATHS]


def _printed_files(command: str) -> tuple[FileChange, ...]:
    """The files that `printf` or `echo` fills: `printf 'a' > a.txt`."""
    if ">" not in command or len(command) > _LONGEST_LEXED or not _PRINTS.search(command):
        return ()
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return ()
    found: list[FileChange] = []
    program = before = ""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word in (">", ">>") and program in ("printf", "echo") and before != "2" and _is_file(after):
            change = FileChangeKind.CREATED if word == ">" else FileChangeKind.MODIFIED
            found.append(FileChange(path=after[:1000], change=change))
        is_border = set(word) <= set("();|&")
        program = "" if is_border else program or word
        before = word
    return tuple(found[:_MOST_PATHS])


def _is_file(word: str) -> bool:
    return bool(word) and not word.startswith(("/dev/", "$", "&", ">", "<")) and "$" not in word


def _plan(given: Mapping[str, Any]) -> tuple[PlanItem, ...]:
    rows = listed(given.get("todos")) or listed(given.get("plan")) or listed(given.get("items"))
    found = _checklist(text(given.get("content")))
    for row in rows[:_MOST_PLAN]:
        item = mapping(row)
        words = first_text(item, "content", "step", "text", "title", "description").strip()
        if words:
            found.append(PlanItem(text=words[:500], status=text(item.get("status"))[:40] or "pending"))
    return tuple(found)


def _checklist(content: str) -> list[PlanItem]:
    """The items of a list that was written as Markdown: `- [ ] do it`."""
    return [
        PlanItem(text=words[:500], status="pending" if mark == " " else "completed")
        for mark, words in _CHECKBOX.findall(content[:_LONGEST_LEXED])[:_MOST_PLAN]
    ]
