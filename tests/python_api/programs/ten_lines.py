import asyncio

from segue import open_segue


async def main() -> None:
    async with open_segue(".") as segue:
        run = await segue.run("quick_fix", "The login button is broken.", checks=["python3 -m unittest -q"])
        async for event in run.events():
            print(event.kind, event.agent)
        result = await run.result()
        print(result.sentence, *[step.handoff for step in result.steps], sep="\n")


asyncio.run(main())
