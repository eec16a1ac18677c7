"""A session is the same in a step and in a chat: messages, tools, activity, questions, checked claims."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from segue.application.handoffs.handover import Draft
from segue.application.handoffs.outcomes import HandoffCancelled
from segue.application.pipelines.submit import PipelineRequest
from segue.application.pipelines.transactions_deciding import HumanDecision
from segue.application.ports.backend import PermissionAsked, SessionEvent, SessionRequest
from segue.application.segue import Segue
from segue.domain.activity import ActivityKind
from segue.domain.approvals import Approval, ApprovalStatus
from segue.domain.errors import ToolsClosed
from segue.domain.handoff.model import Blocker
from segue.domain.session import MessageKind
from segue.domain.template import TemplateStep
from segue.testing import ScriptedBackend, build_test_segue, follow_to_end, say_handoff
from tests.mcp.rig import WaitingAgents, token_of
from tests.sessions.scripts import HANDOFF, agent, handed, talked, write_catalog

FALSE = HANDOFF.replace(
    "- [x] Found the cause of the dead button", "- [x] I ran `sh check.sh` and it passed (exit code 0)"
)
"""A handoff whose claim the log refutes."""
FAILING: dict[str, Any] = {"run": ["sh", "check.sh"]}


class Conversing(WaitingAgents):
    """Agents with tools that hold a conversation."""

    async def converses(self, request: SessionRequest) -> bool:
        return True


@asynccontextmanager
async def chat(folder: Path, repository: Path, *first: Any, **when: Any) -> AsyncIterator[Segue]:
    """A Segue with one agent, and a check that fails."""
    (repository / "check.sh").write_text("echo one test failed; exit 1\n")
    write_catalog(repository, {"helper": agent(*first, **when)})
    async with build_test_segue(folder, ScriptedBackend()) as segue:
        yield segue


async def asked(segue: Segue) -> Approval:
    """What waits for a person."""
    async with asyncio.timeout(120):
        while not (found := await segue.views.approvals()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found[0]


async def test_the_messages_of_a_step_s_session_are_shown(tmp_path: Path, repository: Path) -> None:
    backend = ScriptedBackend({"developer": [say_handoff("Fixed it.")]})
    async with build_test_segue(tmp_path, backend) as segue:
        request = PipelineRequest(prompt="Fix it.", custom_steps=(TemplateStep(agent="developer"),))
        pipeline = await follow_to_end(segue, (await segue.pipelines.submit(request)).id)
        (attempt,) = (await segue.views.step(pipeline.id, 1)).attempts
        shown = await segue.sessions.show(attempt.session)
    (briefing,) = shown.said
    assert (briefing.kind, briefing.status) == (MessageKind.BRIEFING, "replied")
    assert briefing.text == attempt.text == backend.received["developer"][0]
    assert briefing.reply == attempt.reply
    assert (shown.pipeline_id, shown.messages) == (pipeline.id, 2)


async def test_what_the_agent_of_a_chat_does_is_recorded(tmp_path: Path, repository: Path) -> None:
    async with chat(tmp_path, repository, FAILING, {"say": "It fails."}) as segue:
        session = await talked(segue)
        done = await segue.views.activity_of(session)
        everything = await segue.views.activity_after(0)
    assert done == everything
    assert {(each.session_id, each.pipeline_id, each.step_id) for each in done} == {(session, None, None)}
    (ran,) = [each.payload for each in done if each.payload.get("state") in ("done", "failed")]
    assert (ran["target"], ran["exit_code"]) == ("sh check.sh", 1)
    assert "It fails." in "".join(each.payload["text"] for each in done if each.kind is ActivityKind.SAID)


@pytest.mark.parametrize(("approve", "word"), [(True, "approved"), (False, "rejected")])
async def test_what_the_agent_of_a_chat_asks_can_be_decided_by_anybody(
    tmp_path: Path, repository: Path, approve: bool, word: str
) -> None:
    async with chat(tmp_path, repository, {"ask": "rm -rf build"}, {"say": "Good."}) as segue:
        session = await segue.sessions.start("helper")
        saying = asyncio.create_task(segue.sessions.say(session.id, "Clean up."))
        approval = await asked(segue)
        assert (approval.session_id, approval.pipeline_id, approval.title) == (
            session.id,
            None,
            "rm -rf build",
        )
        await segue.approvals.decide(approval.id, HumanDecision(approve=approve, decided_by="mara"))
        reply = (await saying).reply
        (settled,) = await segue.views.approvals(everything=True)
        entries = await segue.views.entries_after(0)
    assert (settled.status, word in reply) == (ApprovalStatus(word), True)
    told = {str(entry.event_type): dict(entry.payload or {}) for entry in entries}
    assert told["permission_decided"]["decided_by"] == "mara"
    assert told["permission_asked"]["session"] == session.id


async def test_who_listens_answers_and_that_is_kept(tmp_path: Path, repository: Path) -> None:
    async with chat(tmp_path, repository, {"ask": "rm -rf build"}, {"say": "Good."}) as segue:
        session = await segue.sessions.start("helper")
        questions: asyncio.Queue[str] = asyncio.Queue()

        def hear(event: SessionEvent) -> None:
            if isinstance(event, PermissionAsked):
                questions.put_nowait(event.id)

        saying = asyncio.create_task(segue.sessions.say(session.id, "Clean up.", on_event=hear))
        await segue.sessions.answer(session.id, await questions.get(), allow=True)
        assert (await saying).reply.endswith("approved\nGood.")
        (settled,) = await segue.views.approvals(everything=True)
    assert settled.status is ApprovalStatus.APPROVED


async def test_nobody_waits_for_an_answer_after_the_turn(tmp_path: Path, repository: Path) -> None:
    async with chat(tmp_path, repository, {"ask": "rm -rf build"}, {"say": "Good."}) as segue:
        session = await segue.sessions.start("helper")
        saying = asyncio.create_task(segue.sessions.say(session.id, "Clean up."))
        await asked(segue)
        assert await segue.sessions.stop(session.id)
        await asyncio.gather(saying, return_exceptions=True)
        (settled,) = await segue.views.approvals(everything=True)
    assert settled.status is ApprovalStatus.VOID


async def test_the_claims_of_a_chat_are_checked_against_what_its_agent_ran(
    tmp_path: Path, repository: Path
) -> None:
    async with chat(
        tmp_path, repository, FAILING, {"say": "Done."}, asked=[{"say": FALSE}], fix=[{"say": FALSE}]
    ) as segue:
        done = handed(await segue.sessions.hand_off(await talked(segue), reason="shift_end"))
        (handoff,) = (await segue.sessions.show(done.session_id)).handoffs
    assert any("check.sh" in line for line in done.refuted), done
    assert handoff.evidence is not None
    assert [run["exit_code"] for run in handoff.evidence["commands"]] == [1]


async def test_a_draft_tells_what_is_false_while_it_can_be_edited(tmp_path: Path, repository: Path) -> None:
    drafts: list[Draft] = []

    async def look(draft: Draft) -> None:
        drafts.append(draft)

    async with chat(
        tmp_path, repository, FAILING, {"say": "Done."}, asked=[{"say": FALSE}], fix=[{"say": FALSE}]
    ) as segue:
        outcome = await segue.sessions.hand_off(await talked(segue), reason="shift_end", edit=look)
    assert isinstance(outcome, HandoffCancelled)
    (draft,) = drafts
    assert any("check.sh" in line for line in draft.findings)


async def test_a_false_claim_that_is_edited_away_is_not_passed_on(tmp_path: Path, repository: Path) -> None:
    async def correct(draft: Draft) -> str:
        return draft.text.replace("it passed (exit code 0)", "it failed (exit code 1)")

    async with chat(
        tmp_path, repository, FAILING, {"say": "Done."}, asked=[{"say": FALSE}], fix=[{"say": FALSE}]
    ) as segue:
        outcome = await segue.sessions.hand_off(await talked(segue), reason="shift_end", edit=correct)
    assert handed(outcome).refuted == ()


async def test_the_agent_of_a_chat_has_tools_and_hands_off_with_them(
    tmp_path: Path, repository: Path
) -> None:
    write_catalog(repository, {"helper": {"backend": "scripted"}})
    backend = Conversing()
    async with build_test_segue(tmp_path, backend) as segue:
        session = await segue.sessions.start("helper", title="The button")
        saying = asyncio.create_task(segue.sessions.say(session.id, "Fix the button."))
        request = await backend.at_work(1)
        token = token_of(request)
        task = await segue.tools.get_task(token)
        assert await segue.tools.report_blocker(token, Blocker(blocker="The key is missing")) == 1
        backend.reply(request, "I looked at it.")
        await saying
        handing = asyncio.create_task(segue.sessions.hand_off(session.id, reason="shift_end"))
        request = await backend.at_work(2)
        record = {"what_was_done": ["Found the cause"], "suggested_next_steps": ["Fix it"]}
        submitted = await segue.tools.submit_handoff(
            token, {"outcome": "partial", "goal": "Fix it", **record}
        )
        assert submitted.handoff is not None
        backend.reply(request, "I have handed off.")
        successor = await backend.at_work(3)
        recalled = await segue.tools.recall(token_of(successor), "cause")
        backend.reply(successor, "I go on.")
        done = handed(await handing)
        await segue.sessions.end(session.id)
        with pytest.raises(ToolsClosed, match="this session has ended"):
            await segue.tools.get_task(token)
    assert f'session {session.id}, "The button"' in task
    assert "Fix the button." in task
    assert "Found the cause" in done.text
    assert "The key is missing" in done.text
    assert "Found the cause" in recalled
