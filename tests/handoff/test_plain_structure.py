"""What structure says where no heading does: progress lines, steps of a plan, letters without accents."""

import pytest

from segue.domain.handoff import extract_handoff
from segue.domain.handoff.extract.topics import Topic
from segue.domain.handoff.extract.vocabulary import read_heading

PROGRESS = "C1: DONE - fixed the exit code\nC2: DONE - added a limit of 30 s\nC3: {} - wrote the hook\n"


def test_lines_with_a_status_are_a_list_of_work() -> None:
    handoff = extract_handoff(PROGRESS.format("DONE")).handoff
    assert handoff is not None
    assert len(handoff.what_was_done) == 3
    assert handoff.outcome == "completed"


def test_one_line_that_is_open_makes_it_partial() -> None:
    handoff = extract_handoff(PROGRESS.format("TODO")).handoff
    assert handoff is not None
    assert handoff.outcome == "partial"


def test_two_labelled_lines_are_no_handoff() -> None:
    assert extract_handoff("Host: example.org\nPort: 8080\n").handoff is None


@pytest.mark.parametrize(
    ("step", "other"),
    [
        ("Step 1: The database", "Step 2: The server"),
        ("Paso 1: Base de datos", "Paso 2: Servidor"),
        ("Шаг 1", "Шаг 2"),
    ],
)
def test_what_stands_below_a_step_of_a_plan_is_ahead(step: str, other: str) -> None:
    text = (
        f"# Session handoff\n\n## {step}\n\n- The region is Europe\n- The plan is the free one\n\n"
        f"## {other}\n\n- One instance\n- A health check\n\n## Done\n\n- Added the model\n"
    )
    handoff = extract_handoff(text).handoff
    assert handoff is not None
    assert [each.step for each in handoff.suggested_next_steps] == [
        "The region is Europe",
        "The plan is the free one",
        "One instance",
        "A health check",
    ]
    assert handoff.what_was_done == ("Added the model",)


def test_a_step_that_tells_of_work_is_done() -> None:
    text = "# Session handoff\n\n## Step 1: The parser\n\n- Added the grammar\n- Fixed the lexer\n\n"
    text += "## Next\n\n- Ship it\n"
    handoff = extract_handoff(text).handoff
    assert handoff is not None
    assert handoff.what_was_done == ("Added the grammar", "Fixed the lexer")


@pytest.mark.parametrize(
    ("heading", "topic"),
    [
        ("Proximos pasos", Topic.NEXT),
        ("PRÓXIMOS PASOS", Topic.NEXT),
        ("Etat actuel", Topic.STATUS),
        ("Naechste Schritte", Topic.NEXT),
        ("Decisoes tomadas", Topic.DECISIONS),
        ("Resume", Topic.NEXT),
    ],
)
def test_headings_are_compared_without_accents(heading: str, topic: Topic) -> None:
    reading = read_heading(heading)
    assert reading is not None
    assert reading.topic is topic


def test_a_negated_word_for_done_stays_open_without_its_accent() -> None:
    reading = read_heading("Nao concluido")
    assert reading is None or reading.topic is not Topic.DONE
