import asyncio
from pathlib import Path

from segue import (
    AgentBackend,
    CheckOutcome,
    CustomNotation,
    Handoff,
    Message,
    Reply,
    SessionRequest,
    TemplateStep,
    open_segue,
)


class Noter(AgentBackend):
    """An agent that is a few lines of Python."""

    def __init__(self, *, sessions_dir: Path) -> None:
        super().__init__(sessions_dir=sessions_dir)
        self.replies: dict[str, str] = {}

    async def open(self, request: SessionRequest) -> str:
        return request.key

    async def send(self, request: SessionRequest, session: str, message: Message) -> None:
        if message.id not in self.replies:
            Path(request.working_dir, "NOTE.md").write_text("I was here.\n")
            self.replies[message.id] = "did: Created NOTE.md"

    async def wait(self, session: str, message_id: str) -> Reply:
        return Reply(text=self.replies[message_id])

    async def abort(self, session: str) -> None: ...

    async def close(self, session: str) -> None: ...


def read_did(reply: str) -> Handoff | None:
    done = tuple(line.removeprefix("did: ") for line in reply.splitlines() if line.startswith("did: "))
    return Handoff(outcome="completed", what_was_done=done) if done else None


def has_note(folder: Path) -> CheckOutcome:
    found = (folder / "NOTE.md").is_file()
    return CheckOutcome(found, "" if found else "there is no NOTE.md")


async def main() -> None:
    notation = CustomNotation(read=read_did, request="End with a line `did: ...` for each thing you did.")
    steps = [TemplateStep(agent="developer", description="Leave a note.")]
    async with open_segue(".", backend=Noter, notation=notation) as segue:
        run = await segue.run(steps, "Say that you were here.", checks=["git diff --check", has_note])
        result = await run.result()
    print(result.sentence)
    for claim in result.steps[0].claims:
        print(claim.verdict, claim.text)


asyncio.run(main())
