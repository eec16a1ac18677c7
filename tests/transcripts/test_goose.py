"""What is goose's own: a database, files of older versions, exports, compactions, sub-agents, damage."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.adapters.transcripts import goose
from segue.adapters.transcripts.local import LocalTranscripts
from segue.domain.errors import InvalidRequest
from segue.domain.transcripts import Summary, ToolCall, Transcript, UserMessage, first_prompt, summarise
from tests.transcripts import samples
from tests.transcripts.samples import GooseMessages, Step, goose_database, goose_messages, goose_result
from tests.transcripts.test_hostile import QUICK, VALUES, WORDS

CWD = "/home/ann/shop"
AFTER = "Your context was compacted. The previous message contains a summary of the conversation so far."


def read(path: Path) -> Transcript:
    return LocalTranscripts().read(str(path))


def asked_in(transcript: Transcript) -> list[str]:
    return [entry.text for entry in transcript.entries if isinstance(entry, UserMessage)]


def test_an_export_and_an_older_file_are_read_like_the_database(own_home: Path, tmp_path: Path) -> None:
    messages = goose_messages(CWD)
    stored = read(goose_database(own_home, messages))
    exported = read(samples.goose_export(tmp_path / "export.json", messages))
    old = read(samples.goose_file(own_home, messages))
    assert exported.entries == old.entries == stored.entries
    assert (exported.session_id, exported.title, exported.model) == (
        samples.GOOSE_ID,
        "Login page",
        "scripted",
    )
    assert (old.session_id, old.title, old.working_dir) == ("20250612_101530", "Old page", CWD)
    assert stored.usage is not None
    assert (stored.usage.input_tokens, stored.usage.context_tokens, stored.usage.cost) == (90, 40, 0.5)


def test_an_older_file_is_listed_unless_the_database_has_taken_it_over(own_home: Path) -> None:
    samples.goose_file(own_home, goose_messages(CWD), "20250612_101530")
    samples.goose_file(own_home, goose_messages(CWD), samples.GOOSE_ID)
    goose_database(own_home, goose_messages(CWD))
    found = LocalTranscripts().find("goose", Path(CWD))
    assert {(each.session_id, each.title, Path(each.path).suffix) for each in found} == {
        ("20250612_101530", "Old page", ".jsonl"),
        (samples.GOOSE_ID, "Login page", ".db"),
    }
    assert LocalTranscripts().read("20250612", tool="goose").title == "Old page"


def test_sub_agents_and_sessions_without_a_word_are_not_listed(own_home: Path) -> None:
    goose_database(own_home, goose_messages(CWD, [Step("user", "Help me.")]), "20261115_67", "sub_agent")
    goose_database(own_home, GooseMessages(CWD), "20261115_68")
    goose_database(own_home, goose_messages(CWD))
    assert [each.session_id for each in LocalTranscripts().find("goose")] == [samples.GOOSE_ID]


@pytest.mark.parametrize("repeated", [True, False], ids=["the words again", "other words"])
def test_a_compaction_is_a_summary_and_hides_nothing(own_home: Path, *, repeated: bool) -> None:
    messages = goose_messages(
        CWD, [Step("user", "Add a page. Never use tables."), Step("write", "page.html")]
    )
    messages.say("user", "## Next Steps\n1. Write the footer", userVisible=False)
    messages.say("assistant", AFTER, userVisible=False)
    messages.say("user", "Add a page. Never use tables." if repeated else "Add a footer.")
    messages.say("assistant", "The footer is there.")
    found = read(goose_database(own_home, messages))
    assert asked_in(found) == ["Add a page. Never use tables.", *([] if repeated else ["Add a footer."])]
    assert [entry.text for entry in found.entries if isinstance(entry, Summary)] == [
        "## Next Steps\n1. Write the footer"
    ]
    handoff = summarise(found)
    assert [each.path for each in handoff.files_created] == ["page.html"]
    assert [each.step for each in handoff.suggested_next_steps] == ["Write the footer"]


def test_the_same_words_twice_are_said_twice_where_nothing_was_compacted(own_home: Path) -> None:
    story = [Step("user", "Go on."), Step("say", "Done."), Step("user", "Go on."), Step("say", "Done.")]
    assert asked_in(read(samples.goose(own_home, CWD, story))) == ["Go on.", "Go on."]


def test_what_only_the_model_sees_is_no_word_of_the_user(own_home: Path) -> None:
    messages = goose_messages(CWD, [Step("user", "Add a page.")])
    messages.say("user", "A call to github was made.", userVisible=False)
    messages.say("user", "Hidden from all.", userVisible=False, agentVisible=False)
    found = read(goose_database(own_home, messages))
    assert [type(entry) for entry in found.entries] == [UserMessage]


def test_older_names_of_tools_and_results_are_known(own_home: Path) -> None:
    messages = goose_messages(CWD, [Step("user", "Add a page.")])
    done = {"status": "success", "value": [{"type": "text", "text": "ok"}]}
    messages.call("developer__text_editor", {"command": "write", "path": f"{CWD}/a.py"}, done)
    messages.call("developer__text_editor", {"command": "view", "path": f"{CWD}/b.py"}, done)
    messages.call("developer__text_editor", {"command": "str_replace", "path": f"{CWD}/c.py"}, done)
    messages.call("developer__shell", {"command": "make"}, {"status": "error", "error": "no such tool"})
    messages.call("write", {"path": f"{CWD}/d.py"}, goose_result(f"Wrote {CWD}/d.py (2 lines)"))
    messages.call("todo__todo_write", {"content": "# Plan\n- [x] Begin\n- [ ] Write the footer\n"}, done)
    found = read(goose_database(own_home, messages))
    shell = next(entry for entry in found.entries if isinstance(entry, ToolCall) and entry.command)
    assert (shell.command, shell.ok, shell.output) == ("make", False, "no such tool")
    handoff = summarise(found)
    assert [each.path for each in handoff.files_created] == ["a.py"]
    assert [each.path for each in handoff.files_modified] == ["c.py", "d.py"]
    assert [each.step for each in handoff.suggested_next_steps][-1] == "Write the footer"


def test_damaged_rows_are_counted_and_the_rest_is_read(own_home: Path) -> None:
    path = samples.goose(own_home, CWD)
    whole = read(path)
    database = sqlite3.connect(path)
    bad: list[Any] = ["{", '"text"', None, b"\xff\xfe", "[" * 100_000, "{}", 7]
    for content in bad:
        row = (samples.GOOSE_ID, "user", content, "never", "[1]")
        database.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?)", row)
    odd = (samples.GOOSE_ID, "user", '[{"type": "text", "text": 5}, 7, null]', None, None)
    database.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?)", odd)
    database.commit()
    database.close()
    found = read(path)
    assert found.skipped == len(bad)
    assert found.entries == whole.entries


def test_an_older_file_or_an_export_may_be_cut_anywhere(own_home: Path, tmp_path: Path) -> None:
    lines = samples.goose_file(own_home, goose_messages(CWD))
    export = samples.goose_export(tmp_path / "e.json", goose_messages(CWD))
    for path, reader in ((lines, goose.read), (export, goose.read_export)):
        whole = path.read_bytes()
        for size in range(0, len(whole), max(1, len(whole) // 60)):
            path.write_bytes(whole[:size])
            found = reader(path)
            assert found.skipped <= 1
            summarise(found)
            LocalTranscripts().find()


def test_damaged_lines_are_counted(own_home: Path) -> None:
    path = samples.goose_file(own_home, goose_messages(CWD))
    whole = goose.read(path)
    lines = path.read_bytes().splitlines(keepends=True)
    bad = [b"\xff\xfe garbage\n", b"[1, 2]\n", b'{"a": \n', b"[" * 100_000 + b"\n"]
    path.write_bytes(b"".join(lines[:3] + bad + lines[3:]))
    found = goose.read(path)
    assert (found.skipped, found.entries) == (len(bad), whole.entries)


def test_another_database_is_named_and_not_changed(own_home: Path) -> None:
    path = samples.goose(own_home, CWD)
    before = path.read_bytes()
    path.chmod(0o444)
    read(path)
    assert path.read_bytes() == before
    path.chmod(0o644)
    database = sqlite3.connect(path)
    database.execute("DROP TABLE messages")
    database.commit()
    database.close()
    assert LocalTranscripts().find("goose") == []
    with pytest.raises(InvalidRequest, match="cannot be read as a goose database"):
        read(path)


@QUICK
@given(
    records=st.lists(
        st.dictionaries(
            WORDS | st.sampled_from(["toolRequest", "toolResult", "created", "value"]), VALUES, max_size=8
        ),
        max_size=12,
    )
)
def test_no_record_raises(records: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    messages = [{"role": "user", "created": 1, "content": [record]} for record in records]
    path.write_text("".join(json.dumps(record) + "\n" for record in [*messages, *records]))
    first_prompt(summarise(goose.read(path)), tool="goose").encode()
    with suppress(InvalidRequest):
        read(path)
    path.write_text(json.dumps({"working_dir": 3, "id": 4, "conversation": records}))
    summarise(goose.read_export(path))
