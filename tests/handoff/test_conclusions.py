"""How the work ended, said in a sentence anywhere in a document that gives no status."""

import pytest

from segue.domain.handoff import extract_handoff

DOCUMENT = (
    "# Session notes\n\n## What was done\n\n- Added the importer\n\n"
    "## Notes\n\n{}\n\n## Next steps\n\n- Write the guide\n"
)


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The importer is only partially working on Windows.", "partial"),
        ("Moving the old rows is the only remaining task.", "partial"),
        ("What remains is the long training run.", "partial"),
        ("The change has not been tested on a real device.", "partial"),
        ("Nothing from this session has been applied to the servers yet.", "partial"),
        ("Two exports are done, 3 tables remaining.", "partial"),
        ("The build could not be run without the licence.", "partial"),
        ("Der Export ist noch nicht getestet.", "partial"),
        ("Le script n'a pas encore tourné, il reste à le lancer.", "partial"),
        ("El atajo global sigue sin terminar.", "partial"),
        ("Os testes ainda não passam.", "partial"),
        ("Импорт ещё не проверен на сервере.", "partial"),
        ("导入功能尚未部署到服务器。", "partial"),
        ("インポートはまだ検証していない。", "partial"),
        ("가져오기는 아직 배포하지 않았다.", "partial"),
        ("The problem is solved.", "completed"),
        ("All acceptance criteria are met.", "completed"),
        ("The importer is implemented, tested, and committed.", "completed"),
        ("Die Phasen 1-3 sind komplett.", "completed"),
        ("El código está terminado y todo está listo.", "completed"),
        ("Всё закоммичено и запушено.", "completed"),
        ("导入功能已全部完成。", "completed"),
        ("This page cannot be created without the texts of the customer.", "blocked"),
    ],
)
def test_a_sentence_anywhere_states_the_outcome(sentence: str, outcome: str) -> None:
    found = extract_handoff(DOCUMENT.format(sentence))
    assert found.handoff is not None
    assert found.handoff.outcome == outcome
    span = found.spans["outcome"]
    assert DOCUMENT.format(sentence)[span.start : span.end].strip() in sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "If the importer is not tested on Windows, users will tell us.",
        "Verify that everything is committed.",
        "The previous importer was not finished.",
        "Is the importer done and tested?",
        'The log says "not yet deployed".',
        "The importer reads `pending` rows.",
        "```\nthe build is still failing\n```",
        "You still need to set the key.",
        "Wenn der Export noch nicht getestet ist, warten.",
    ],
)
def test_conditions_orders_quotations_and_old_stories_state_none(sentence: str) -> None:
    found = extract_handoff(DOCUMENT.format(sentence))
    assert found.handoff is not None
    assert found.handoff.outcome is None


def test_a_sentence_on_the_whole_outweighs_a_part_that_is_open() -> None:
    found = extract_handoff(DOCUMENT.format("The migration is complete. The old table is not deleted yet."))
    assert found.handoff is not None
    assert found.handoff.outcome == "completed"


def test_a_part_that_is_open_outweighs_a_part_that_is_done() -> None:
    found = extract_handoff(
        DOCUMENT.format("The parser is done and tested. The writer has not been deployed.")
    )
    assert found.handoff is not None
    assert found.handoff.outcome == "partial"
