"""What an item is about where its heading does not say it: by its own words, its label, its place."""

from __future__ import annotations

import pytest

from segue.domain.handoff.extract.extraction import extract_handoff
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.vocabulary import read_heading
from segue.domain.handoff.model import Handoff


def read(source: str) -> Handoff:
    found = extract_handoff(source).handoff
    assert found is not None
    return found


def steps(handoff: Handoff) -> list[str]:
    return [each.step for each in handoff.suggested_next_steps]


def traps(handoff: Handoff) -> list[str]:
    return [each.issue for each in handoff.gotchas]


@pytest.mark.parametrize("heading", ["Root cause and background", "Notes", "Selector slice"])
@pytest.mark.parametrize(
    "item",
    [
        "Removed the second cache from `store.py`.",
        "**Cache:** Replaced the second one.",
        "We also moved the tests next to the code.",
        "Successfully migrated all rows.",
        "**Limpeza:** Removida a chave antiga.",
    ],
)
def test_an_item_that_tells_of_work_is_done_work(heading: str, item: str) -> None:
    handoff = read(
        f"# Report\n\n## {heading}\n- {item}\n- The store is a dictionary.\n\n## Next steps\n- Ship it\n"
    )
    assert handoff.what_was_done == (item,)


@pytest.mark.parametrize(
    "fact",
    [
        "Cached responses expire after a minute",
        "Built with Vite 5",
        "**Auth:** Disabled in dev",
        "Tested nothing on Windows",
        "Reverted by the user",
    ],
)
def test_a_fact_is_no_work(fact: str) -> None:
    handoff = read(f"## Notes\n- {fact}\n\n## Next steps\n- Ship it\n")
    assert (handoff.what_was_done, handoff.critical_context) == ((), (fact,))


def test_a_date_is_no_work() -> None:
    handoff = read("## Notes\n- Updated: 2026-05-04\n- Reviewed, then merged.\n\n## Next steps\n- Ship it\n")
    assert handoff.what_was_done == ("Reviewed, then merged.",)


def test_a_line_that_tells_of_work_before_a_list_is_done_work() -> None:
    handoff = read("## Done\n\nUpdated `compose.yml`:\n\n- limits for memory\n- no more root\n")
    assert handoff.what_was_done == ("Updated `compose.yml`:", "limits for memory", "no more root")


def test_what_is_said_beside_the_work_is_not_the_work() -> None:
    handoff = read("## Fixed\n\n- Closed the socket\n- **Impact:** one leak an hour\n- **File**: `net.py`\n")
    assert handoff.what_was_done == ("Closed the socket",)
    assert "**Impact:** one leak an hour" in handoff.critical_context


def test_a_stressed_verb_is_no_label() -> None:
    asked = ["**Commit** the staged files", "**Test** the login", "**Tests:** add more of them"]
    assert steps(read("## Next steps\n" + "".join(f"- {each}\n" for each in asked))) == asked


def test_a_section_that_says_what_it_is_keeps_its_lists() -> None:
    handoff = read("## Constraints\n\nThe solution must:\n\n- keep Python 3.11\n\n## Done\n- Wrote it\n")
    assert handoff.constraints == ("keep Python 3.11",)


def test_a_sentence_before_a_list_says_what_is_asked() -> None:
    handoff = read(
        "## Notes\n\nThe import must:\n\n- keep ids\n- run twice\n\nIt must not:\n\n- touch prices\n"
    )
    assert steps(handoff) == ["keep ids", "run twice"]
    assert traps(handoff) == ["touch prices"]


def test_what_forbids_is_no_step() -> None:
    handoff = read("## Next steps\n- Merge the branch\n- Do not merge before the tests are green\n")
    assert steps(handoff) == ["Merge the branch"]
    assert traps(handoff) == ["Do not merge before the tests are green"]


@pytest.mark.parametrize(
    "step",
    [
        "Don't forget the migrations",
        "Never tested on Windows",
        "Avoid the double query",
        "Warning banner: add it",
    ],
)
def test_what_sounds_like_a_warning_may_be_a_step(step: str) -> None:
    assert steps(read(f"## Next steps\n- {step}\n")) == [step]


def test_a_number_at_the_begin_of_a_line_of_prose_is_no_item() -> None:
    handoff = read("## Done\n\nThe limit was raised from 5 to\n10. It had been three.\n")
    assert handoff.what_was_done == ("The limit was raised from 5 to\n10. It had been three.",)


def test_numbered_lines_below_a_line_of_text_are_items() -> None:
    source = "## Next steps\n\n**High value:**\n1. Cache it\n\n**Low value:**\n2. Rename it\n3. Move it\n"
    assert steps(read(source)) == ["Cache it", "Rename it", "Move it"]


def test_what_was_shipped_is_done_even_inside_what_is_next() -> None:
    handoff = read(
        "## Next session\n- Begin with the map\n\n**Session 24 shipped (PR 34):**\n- Arrival mode\n\n"
        "**Remaining:**\n- Zoom\n"
    )
    assert handoff.what_was_done == ("Arrival mode",)
    assert steps(handoff) == ["Begin with the map", "Zoom"]


def test_a_bullet_above_a_list_of_its_own_is_a_heading() -> None:
    source = (
        "# Memo\n\n- Parser\n  - one file\n- Next steps\n  - Write the manual\n  - Test it\n"
        "- Printer\n  - [ ] Clean it\n  - [x] Buy paper\n"
    )
    handoff = read(source)
    assert steps(handoff) == ["Write the manual", "Test it", "Clean it"]
    assert handoff.what_was_done == ("Buy paper",)
    assert extract_handoff(source).places["what_was_done[0]"].headings == ("Memo", "Printer")


def test_items_with_boxes_keep_their_own() -> None:
    handoff = read("## Tasks\n- [x] Parser\n  - [x] tokens\n- [ ] Importer\n  - [ ] nulls\n")
    assert "Parser" in handoff.what_was_done[0]
    assert "Importer" in steps(handoff)[0]


def test_what_stands_below_an_inner_list_is_kept() -> None:
    handoff = read("# Memo\n\n- Next steps\n  - Write it\n\n  It stands on the second floor.\n")
    assert steps(handoff) == ["Write it"]
    assert any("second floor" in section.text for section in handoff.other_sections)


def test_a_list_of_files_that_names_none_is_kept() -> None:
    handoff = read("## Files modified\n- the importer and its two helpers\n\n## Done\n- Wrote it\n")
    assert [section.text for section in handoff.other_sections] == ["the importer and its two helpers"]


@pytest.mark.parametrize(
    ("heading", "topic"),
    [
        ("TODO from last session", Topic.NEXT),
        ("Blockers from previous session", Topic.BLOCKERS),
        ("Hecho esta semana", Topic.DONE),
        ("Flaky tests fixed", Topic.DONE),
        ("Tests to be fixed", Topic.NEXT),
        ("Goals for the next session", Topic.NEXT),
        ("Warnings for the next session", Topic.GOTCHAS),
        ("未修复的问题", None),
        ("아직 못한 것", None),
        ("待更新内容", Topic.NEXT),
        ("重要文件", None),
    ],
)
def test_the_word_that_matters_wins(heading: str, topic: Topic | None) -> None:
    reading = read_heading(heading)
    assert (reading.topic if reading else None) in (
        (topic,) if topic else (None, Topic.CONTEXT, Topic.READING)
    )


@pytest.mark.parametrize("name", ["Drift detection job", "Questions page of the form", "Blocked users page"])
def test_the_name_of_a_thing_that_was_done_is_no_topic(name: str) -> None:
    handoff = read(f"## Done\n\n### {name}\n- It works\n")
    assert handoff.what_was_done == ("It works",)


def test_code_below_a_next_step_is_no_step_and_a_prompt_is_one() -> None:
    handoff = read("## Next steps\n- Run it\n\n```bash\nmake run\n```\n\n```text\nGo on with the map.\n```\n")
    assert steps(handoff) == ["Run it", "Go on with the map."]
    assert any("make run" in section.text for section in handoff.other_sections)


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ("共通モジュールに実装済み。", "what_was_done"),
        ("見出しは調整済み\uff082025-02\uff09", "what_was_done"),
        ("`input` 언마스킹은 구현됨 (`f7e99e9`)", "what_was_done"),
        ("画面は未完成。", "suggested_next_steps"),
        ("버퍼 버그: **미수정**", "suggested_next_steps"),
        ("索引は辞書にある。", "critical_context"),
        ("支払い方式はカード決済", "critical_context"),
        ("デプロイの条件は QA 完了", "critical_context"),
    ],
)
def test_where_verbs_stand_last_an_item_says_at_its_end_whether_it_is_done(item: str, field: str) -> None:
    handoff = read(f"## 現在の状態\n- {item}\n\n## 完了済み\n- 他の作業\n")
    assert item in [getattr(each, "step", each) for each in getattr(handoff, field)]


@pytest.mark.parametrize(
    ("heading", "field"),
    [
        ("現状の留意点", "gotchas"),
        ("マニュアル作成機能は未実装", "suggested_next_steps"),
    ],
)
def test_where_a_heading_s_subject_stands_last_its_end_counts(heading: str, field: str) -> None:
    handoff = read(f"## 完了済み\n- 他の作業\n\n## {heading}\n- ひとつ\n")
    found = [getattr(each, "step", getattr(each, "issue", each)) for each in getattr(handoff, field)]
    assert "ひとつ" in found


def test_a_heading_that_ends_with_what_only_describes_stays_a_part_of_its_section() -> None:
    handoff = read("## 已完成\n- 其他\n\n### 前端已统一到当前真实架构\n- 聊天面板\n")
    assert handoff.what_was_done == ("其他", "聊天面板")


def test_lessons_are_told_of_whatever_follows_the_word() -> None:
    handoff = read("## Standing rules\n- One lock\n\n**Lessons reinforced this week:**\n- Measure first\n")
    assert traps(handoff) == ["Measure first"]


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("All 7 tracked tasks (#4-#10) closed in this session.", "completed"),
        ("The branch is ready to merge.", "completed"),
        ("All merged to main.", "completed"),
        ("`make check` remains blocked by the linter.", "partial"),
        ("The chat evidence is still UNCONFIRMED, and still open.", "partial"),
        ("The job is **not** deployed.", "partial"),
        ("La livraison n'a pas commencé.", "partial"),
        ("画面は未完成。", "partial"),
        ("All tests are green, and the job is not yet deployed.", "partial"),
        ("The job isn't deployed.", "partial"),
        ("Do not deploy it on Fridays.", None),
        ("What remains is said below.", None),
        ("The npm install completed with two warnings.", None),
        ("The branch is not ready to merge.", None),
        ("Once all tasks are done, merge.", None),
        ('Ann said "all done", which was wrong.', None),
        ("In the previous session all tests were fixed.", None),
        ("If the job is not deployed, run make deploy.", None),
        ("Keep-alive sockets remain open for 30 s.", None),
        ("The offset was not committed on close.", None),
        ("Der Cache ist beim ersten Aufruf noch nicht warm.", None),
        ("修复了尚未登录用户访问首页时的错误。", None),
        ("Wenn der Export nicht fertig ist, warten.", None),
    ],
)
def test_a_sentence_anywhere_may_say_how_the_work_ended(sentence: str, outcome: str | None) -> None:
    assert read(f"# Report\n\n## Notes\n- {sentence}\n\n## Done\n- Wrote it\n").outcome == outcome


@pytest.mark.parametrize(
    "heading", ["Phase 3 (pas fait)", "What's NOT built", "年预算体系仍未完成", "What still needs work"]
)
def test_a_heading_may_say_that_a_part_is_open(heading: str) -> None:
    assert read(f"# Report\n\n## Done\n- Wrote it\n\n## {heading}\n- The rest\n").outcome == "partial"


def test_a_sentence_that_all_is_done_counts_more_than_the_story_of_a_bug() -> None:
    handoff = read("# R\n\nThe work is complete.\n\n## Done\n- Fixed: the offset is not committed on close\n")
    assert handoff.outcome == "completed"


@pytest.mark.parametrize("lines", [0, 900])
def test_the_last_page_counts_however_long_the_document_is(lines: int) -> None:
    noise = "- The store is a dictionary of rows.\n" * lines
    assert read(f"## Notes\n{noise}\n## Done\n- Wrote it\n\nThe work is complete.\n").outcome == "completed"


def test_a_heading_over_done_and_open_work_says_nothing_of_the_outcome() -> None:
    assert read("# Report\n\n## Done / In progress / Next\n\n### Done\n- Wrote it\n").outcome is None


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("No known issues.", True),
        ("No blockers at this time", True),
        ("_(nessun problema noto)_", True),
        ("Keine offenen Fragen", True),
        ("No issue tracker is set up", False),
        ("No tests for the parser", False),
        ("None of the issues block us", False),
    ],
)
def test_what_says_that_there_is_nothing(text: str, *, nothing: bool) -> None:
    assert traps(read(f"## Done\n- No bugs found\n\n## Known issues\n- {text}\n")) == (
        [] if nothing else [text]
    )


def test_in_yaml_a_number_or_a_rank_is_no_statement() -> None:
    matter = "task: Covers\npriority: high\nknown_issues:\n  - 7\n  - Slow\n"
    handoff = read(f"---\n{matter}---\n\n## Next steps\n- Draw them\n")
    assert steps(handoff) == ["Draw them"]
    assert traps(handoff) == ["Slow"]


def test_in_yaml_a_list_of_files_that_names_none_is_kept() -> None:
    handoff = read(
        "what_was_done:\n  - Wrote it\nfiles_touched:\n  - the importer and its helpers\nnote: x\n"
    )
    assert "the importer and its helpers" in [section.text for section in handoff.other_sections]


def test_in_yaml_what_is_told_says_more_than_a_name() -> None:
    done = "completed:\n  - name: hooks/useCache\n    description: Caches the prices for a minute\n"
    handoff = read(f"{done}next_steps: [Ship it]\n")
    assert handoff.what_was_done == ("Caches the prices for a minute",)


@pytest.mark.parametrize(
    "row", ["`a.py` | Created", "`a.py` | New file for tests", "`a.py` — Created for tests"]
)
def test_a_list_of_modified_files_may_tell_of_a_new_one(row: str) -> None:
    lead = "| File | Change |\n|---|---|\n| " if "|" in row else "- "
    handoff = read(f"## Files modified\n\n{lead}{row}{' |' if '|' in row else ''}\n\n## Done\n- Wrote it\n")
    assert [each.path for each in handoff.files_created] == ["a.py"]


def test_a_label_counts_on_whatever_line_of_a_paragraph_it_stands() -> None:
    handoff = read(
        "# Report\n\n**Agent 10: specialist**\n**Mission**: Close all gaps\n\n## Done\n- Closed two\n"
    )
    assert handoff.goal == "Close all gaps"


@pytest.mark.parametrize("section", ["Blockers", "Open questions", "Known issues"])
@pytest.mark.parametrize(
    "item", ["None, milestone shipped.", "None - all three are merged.", "Keine, alles fertig."]
)
def test_none_and_more_is_no_item_but_another_section(section: str, item: str) -> None:
    handoff = extract_handoff(f"# Handoff\n\n## Done\n\n- Added it\n\n## {section}\n\n{item}\n").handoff
    assert handoff is not None
    assert handoff.blockers + handoff.open_questions + handoff.gotchas == ()
    assert item in handoff.other_sections[0].text
