"""How the agent is to hand off: the notation to answer in, and the rules it will be checked by."""

from __future__ import annotations

from segue.domain.handoff.custom_notation import CustomNotation
from segue.domain.handoff.writing.rendering import OutputNotation
from segue.domain.handoff.writing.template import (
    FOUR_SECTIONS_TEMPLATE,
    JSON_TEMPLATE,
    SIX_SECTIONS_TEMPLATE,
    YAML_TEMPLATE,
)

_CHECKED = (
    "It is checked: `partial` needs blockers and next steps, `failed` a blocker with its resolution, "
    "`blocked` one with the tasks it holds up; paths are relative to the project root; no placeholders, "
    "repetitions or secrets; what you say about files and commands is compared with what really happened."
)
_BY_TOOL = (
    "Hand off with the tool `submit_handoff` (its name may carry a prefix, such as `segue_`): it answers at "
    "once with what is wrong, so fix that and submit again until it is accepted. Then end with a short "
    "closing message. Only if you have no such tool: "
)
_IN_SECTIONS = "End your reply with these sections. Only what stands there reaches the next agent."
_IN_BLOCK = (
    "End your reply with one `{word}` code block{fields}. Only what stands there reaches the next agent."
)


AskedNotation = OutputNotation | CustomNotation
"""What an agent can be asked to hand off in."""


def how_to_hand_off(notation: AskedNotation, *, tools: bool = False) -> str:
    """The last part of every briefing; with `tools`, the notation is what to fall back on."""
    if isinstance(notation, CustomNotation):
        return f"## How to hand off\n\n{_BY_TOOL if tools else ''}{notation.request.strip()}\n\n{_CHECKED}"
    match notation:
        case OutputNotation.FOUR_SECTIONS:
            asked, template = _IN_SECTIONS, FOUR_SECTIONS_TEMPLATE
        case OutputNotation.SIX_SECTIONS:
            asked, template = _IN_SECTIONS, SIX_SECTIONS_TEMPLATE
        case OutputNotation.JSON:
            asked = _IN_BLOCK.format(word="json", fields=" with these fields, those that apply")
            template = f"```json\n{JSON_TEMPLATE}```"
        case OutputNotation.YAML | OutputNotation.TASK_FILE:
            asked = _IN_BLOCK.format(
                word="yaml", fields=" under a `## Handoff` heading; leave out what is empty"
            )
            template = f"## Handoff\n\n```yaml\n{YAML_TEMPLATE}```"
    if tools:
        asked = _BY_TOOL + asked[0].lower() + asked[1:]
    return f"## How to hand off\n\n{asked} {_CHECKED}\n\n{template.rstrip()}"
