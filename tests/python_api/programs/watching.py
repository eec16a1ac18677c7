import asyncio

from segue import AgentAsked, AgentSaid, AgentUsedTool, RunEnded, StepStarted, open_segue


async def main() -> None:
    async with open_segue(".", settings={"step_timeout": 900}) as segue:
        run = await segue.run("quick_fix", "The login button is broken.", key="login-button")
        async for event in run.events():
            match event:
                case StepStarted():
                    print(f"\nstep {event.step}: {event.agent}")
                case AgentSaid(text=text):
                    print(text, end="", flush=True)
                case AgentUsedTool(name=name, target=target):
                    print(f"\n[{name} {target}]")
                case AgentAsked(question=question, title=title):
                    said = await asyncio.to_thread(input, f"\n{title} [y/N] ")
                    await run.answer(question, allow=said == "y")
                case RunEnded(status=status):
                    print(f"\n{status}")


asyncio.run(main())
