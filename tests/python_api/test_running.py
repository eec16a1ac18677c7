"""Running pipelines from Python: what a run tells, what it gives, and how its end is said."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from segue import (
    AgentAsked,
    AgentSaid,
    AgentUsedTool,
    CheckOutcome,
    ClaimsVerified,
    CustomNotation,
    Handoff,
    PipelineTemplate,
    RunEnded,
    StepEnded,
    StepStarted,
    TemplateStep,
)
from segue.domain.template import Reaction
from segue.testing import ScriptedBackend
from tests.python_api.rig import REPLY, opened

WRITE = {"write": {"path": "a.py", "text": "A = 1\n"}}
HONEST = {"say": "## What Was Done\n- Added a.py\n"}
LIE = {"say": "## What Was Done\n- Added a.py\n- Added b.py\n"}


async def test_its_events_are_values_in_order_and_can_be_asked_for_again(
    repository: Path, tmp_path: Path
) -> None:
    actions = [WRITE, {"run": ["true"]}, HONEST]
    async with opened(repository, tmp_path, ScriptedBackend(), options={"actions": actions}) as segue:
        run = await segue.run("alone", "Add a.")
        events = [event async for event in run.events()]
        again = [event async for event in run.events()]
    assert sorted(events, key=str) == sorted(again, key=str)
    own = [type(event) for event in events if type(event).__name__ != "RunEvent"]
    assert own[0] is StepStarted
    assert own[-2:] == [StepEnded, RunEnded]
    assert own.index(ClaimsVerified) == len(own) - 3
    said = [event for event in events if isinstance(event, AgentSaid)]
    assert "".join(event.text for event in said).strip() == HONEST["say"].strip()
    assert {(event.step, event.agent) for event in said} == {(1, "dev")}
    used = [event for event in events if isinstance(event, AgentUsedTool) and event.tool == "shell"]
    assert [(str(event.state), event.target, event.exit_code) for event in used] == [("done", "true", 0)]
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert (last.status, last.reason, last.step) == ("done", None, None)


async def test_an_honest_run_gives_its_handoff_its_files_and_exit_code_0(
    repository: Path, tmp_path: Path
) -> None:
    async with opened(repository, tmp_path, ScriptedBackend(), options={"actions": [WRITE, HONEST]}) as segue:
        run = await segue.run("alone", "Add a.", title="A new file")
        result = await run.result()
        diff = await run.diff()
        commit = await run.merge()
    assert (result.id, result.title, result.status) == (run.id, "A new file", "done")
    assert result.is_ok
    assert result.sentence.endswith(": nothing refuted in 1 claim.")
    assert result.handoff is not None
    assert result.handoff.what_was_done == ("Added a.py",)
    assert result.files == result.steps[0].files == ("a.py",)
    assert result.changes is not None
    assert (result.changes.count, result.changes.additions) == (1, 1)
    assert result.branch == "segue/1-a-new-file"
    assert result.folder is not None
    assert Path(result.folder, "a.py").is_file()
    assert "+A = 1" in diff
    assert len(commit) == 40
    assert (repository / "a.py").is_file()


async def test_a_false_claim_is_refuted_and_makes_exit_code_1(repository: Path, tmp_path: Path) -> None:
    async with opened(repository, tmp_path, ScriptedBackend(), options={"actions": [WRITE, LIE]}) as segue:
        result = await (await segue.run("alone", "Add both.")).result()
    assert result.exit_code == 1
    assert not result.is_ok
    (claim, *_) = result.steps[0].refuted
    assert (claim.text, str(claim.verdict), claim.reason) == ("Added b.py", "refuted", "there is no b.py")
    assert result.findings[0].words == "Added b.py"


async def test_a_run_that_fails_says_at_which_step_and_why(repository: Path, tmp_path: Path) -> None:
    options = {"actions": [{"fail": "the model is overloaded"}]}
    async with opened(repository, tmp_path, ScriptedBackend(), options=options) as segue:
        result = await (await segue.run("twice", "Try.")).result()
    assert (result.status, result.exit_code) == ("failed", 1)
    assert "the model is overloaded" in result.sentence
    assert [(step.number, str(step.status)) for step in result.steps] == [(1, "failed"), (2, "pending")]
    assert result.steps[0].is_synthetic
    assert result.steps[0].reply == ""
    assert result.steps[1].handoff is None


async def test_an_abort_stops_the_agent_and_is_exit_code_130(repository: Path, tmp_path: Path) -> None:
    backend = ScriptedBackend()
    async with opened(repository, tmp_path, backend, options={"actions": [{"delay": 600}]}) as segue:
        run = await segue.run("alone", "Wait.")
        async for event in run.events():
            if event.kind == "message_sent":
                await run.abort("no longer needed")
        result = await run.result()
    assert (result.status, result.exit_code) == ("aborted", 130)
    assert "no longer needed" in result.sentence
    assert len(backend.aborted) >= 1


async def test_a_program_answers_what_an_agent_asks(repository: Path, tmp_path: Path) -> None:
    options = {"actions": [{"ask": "Push to origin"}, {"say": REPLY}]}
    async with opened(repository, tmp_path, ScriptedBackend(), options=options) as segue:
        run = await segue.run("alone", "Push.")
        titles = []
        async for event in run.events():
            if isinstance(event, AgentAsked):
                titles.append(event.title)
                await run.answer(event.question, allow=False, comment="not today")
        result = await run.result()
    assert titles == ["Push to origin"]
    assert "not today" in result.steps[0].reply


async def test_a_program_answers_an_agent_that_is_blocked(repository: Path, tmp_path: Path) -> None:
    blocked = "outcome: blocked\nblockers: [{blocker: no key, suggested_resolution: give one}]"
    options = {"actions": [{"say": blocked}], "when": {"A person answered": [{"say": REPLY}]}}
    async with opened(repository, tmp_path, ScriptedBackend(), options=options) as segue:
        run = await segue.run("alone", "Push.")
        async for event in run.events():
            if isinstance(event, AgentAsked):
                assert event.title == "it is blocked: no key"
                await run.answer(event.question, allow=True, comment="It is under the mat.")
        assert (await run.result()).status == "done"


async def test_steps_can_be_given_in_code(repository: Path, tmp_path: Path) -> None:
    steps = [TemplateStep(agent="dev", description="First."), TemplateStep(agent="dev", description="Then.")]
    backend = ScriptedBackend()
    async with opened(repository, tmp_path, backend) as segue:
        result = await (await segue.run(steps, "Look.")).result()
    assert [step.agent for step in result.steps] == ["dev", "dev"]
    assert "First." in backend.received["dev"][0]
    assert "Then." in backend.received["dev"][1]


async def test_a_template_in_code_keeps_its_gates_and_checks(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    template = PipelineTemplate(
        steps=(TemplateStep(agent="dev"), TemplateStep(agent="dev", checks=())),
        checks=(f"echo ran >> {ran}",),
        on_refuted=Reaction.FAIL,
    )
    async with opened(repository, tmp_path, ScriptedBackend(), options={"actions": [WRITE, LIE]}) as segue:
        run = await segue.run(template, "Add both.")
        result = await run.result()
    assert result.status == "failed"
    assert "its handoff makes a false claim" in result.sentence
    assert [step.status for step in result.steps] == ["failed", "pending"]
    assert ran.exists()


async def test_a_check_is_a_function_or_a_command(repository: Path, tmp_path: Path) -> None:
    folders = []

    def has_b(folder: Path) -> CheckOutcome:
        folders.append(folder)
        return CheckOutcome((folder / "b.py").exists(), "b.py is what the task asks for")

    async with opened(repository, tmp_path, ScriptedBackend(), options={"actions": [WRITE, HONEST]}) as segue:
        result = await (await segue.run("alone", "Add b.", checks=["test -f a.py", has_b])).result()
    command, function = result.checks
    assert (command.command, command.exit_code) == ("test -f a.py", 0)
    assert function.command.endswith("has_b")
    assert function.fails
    assert result.exit_code == 1
    assert "with a failing check: `python:" in result.sentence
    assert str(folders[0]) == result.folder


async def test_a_run_reads_and_repairs_replies_in_a_notation_of_its_own(
    repository: Path, tmp_path: Path
) -> None:
    def read_did(reply: str) -> Handoff | None:
        done = tuple(line.removeprefix("did: ") for line in reply.splitlines() if line.startswith("did: "))
        return Handoff(what_was_done=done) if done else None

    backend = ScriptedBackend()
    options = {"actions": [WRITE, {"say": "did: Created b.py"}], "later": [[{"say": "did: Created a.py"}]]}
    notation = CustomNotation(read=read_did, request="End with `did: ...` lines.")
    async with opened(repository, tmp_path, backend, notation=notation, options=options) as segue:
        run = await segue.run("alone", "Add a.")
        notations = [event.details.get("notation") async for event in run.events()]
        result = await run.result()
    assert [each for each in notations if each] == ["custom"]
    assert result.sentence.endswith("nothing refuted in 1 claim after 1 repair.")
    assert result.handoff == Handoff(what_was_done=("Created a.py",))
    briefing, repair = backend.received["dev"]
    assert "End with `did: ...` lines." in briefing
    assert "End with `did: ...` lines." in repair


async def test_files_that_came_and_went_do_not_differ_at_the_end(repository: Path, tmp_path: Path) -> None:
    scripts: dict[str, list[dict[str, Any]]] = {
        "developer": [
            {"write": {"path": "temporary.py", "text": "1\n"}},
            {"delete": "old.py"},
            {"say": REPLY},
        ],
        "qa": [{"delete": "temporary.py"}, {"write": {"path": "new.py", "text": "2\n"}}, {"say": REPLY}],
    }
    steps = [TemplateStep(agent="developer"), TemplateStep(agent="qa")]
    async with opened(repository, tmp_path, ScriptedBackend(scripts)) as segue:
        result = await (await segue.run(steps, "Replace it.")).result()
    assert result.steps[0].files == ("old.py", "temporary.py")
    assert result.files == ("new.py", "old.py")


async def test_more_runs_than_there_are_places_wait_for_one(tmp_path: Path, repository: Path) -> None:
    options = {"actions": [{"delay": 0.2}, {"say": REPLY}]}
    async with opened(repository, tmp_path, ScriptedBackend(), options=options, max_running=2) as segue:
        runs = await asyncio.gather(*(segue.run("alone", f"Look {number}.") for number in range(5)))
        results = await asyncio.gather(*(run.result() for run in runs))
    assert [str(result.status) for result in results] == ["done"] * 5
    assert len({result.id for result in results}) == 5
