"""Whether everything that a reply says reaches the next agent: every statement of plain replies, looked for.

    python bench/passed_on.py FOLDER [--budgets 500,1000,2000] [--list]

FOLDER has replies of agents as `*.md` or `*.txt`. A statement is a sentence, a list item, a table row
or a heading that is not just the name of a field. It is passed on if
its words are in the briefing of the next agent, as an item or in the raw reply, or in the list of what was
left out.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from segue.adapters.tokens import load_counter
from segue.domain.asking import reading_of
from segue.domain.briefing import Briefing, Predecessor, brief
from segue.domain.briefing.budget import CUT_HERE
from segue.domain.briefing.places import is_name
from segue.domain.handoff import Origin, extract_handoff, redact
from segue.domain.text.sentences import sentences_in

_WORD = re.compile(r"\w+")
_SIGNS = "#*_: \t"
_ENOUGH = 0.9
"""The share of a statement's words that must be in one place: its mark-up may be cut in the middle."""


def main() -> None:
    """Reads the replies, looks for their statements, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="a folder with replies as *.md or *.txt")
    parser.add_argument("--budgets", default="500,1000,2000", help="tokens, joined by commas")
    parser.add_argument("--list", action="store_true", help="print every statement that is not passed on")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.iterdir() if path.suffix in (".md", ".txt"))
    replies = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    if not replies:
        parser.error(f"no replies in {arguments.folder}")
    count = load_counter()
    total = sum(len(list(statements_in(reply))) for reply in replies.values())
    print(f"{len(replies)} replies, {total} statements\n\n budget  passed on  share  in the text")
    for budget in [*(int(each) for each in arguments.budgets.split(",") if each), None]:
        lost, in_text = 0, total
        for name, reply in replies.items():
            briefing = brief_next(reply, budget, count)
            missing = list(withheld(reply, briefing))
            lost += len(missing)
            in_text -= sum(not _is_in(each, [briefing.text]) for each in statements_in(reply))
            if arguments.list:
                for statement in missing:
                    print(f"{budget or 'none':>7}  {name}: {statement}")
        print(
            f"{budget or 'none':>7} {total - lost:>6} {(total - lost) / total:>8.1%} {in_text / total:>12.1%}"
        )


def brief_next(reply: str, budget: int | None, count_tokens: Callable[[str], int]) -> Briefing:
    """What the agent after the one with this reply is given."""
    extraction = extract_handoff(reply, origin=Origin.REPLY)
    reading = reading_of(extraction)
    before = Predecessor(
        agent_name="previous",
        handoff=extraction.handoff,
        reply=reply,
        coverage=reading.coverage,
        places=reading.places,
    )
    return brief(
        prompt="Continue the work.",
        agent_name="next",
        job="Read what was handed over and continue.",
        predecessors=[before],
        budget=budget,
        count_tokens=count_tokens,
    )


def statements_in(reply: str) -> Iterator[str]:
    """The sentences, list items and table rows of a reply."""
    for line in re.finditer(r"[^\n]+", reply):
        for start, end in sentences_in(reply, line.start(), line.end()):
            statement = reply[start:end].strip()
            label, colon, rest = statement.partition(":")
            if colon and is_name(label.strip(_SIGNS)):
                statement = rest.strip(_SIGNS)
            if (
                any(map(str.isalpha, statement))
                and not statement.startswith("```")
                and not _is_heading(statement)
            ):
                yield statement


def _is_heading(statement: str) -> bool:
    """Whether it is the name of a field, which the briefing writes in its own words."""
    return is_name(statement.strip(_SIGNS))


def withheld(reply: str, briefing: Briefing) -> Iterator[str]:
    """The statements that are neither in the briefing nor in its list of what was left out."""
    reply, _ = redact(reply)
    left = [each.text for each in briefing.left_out]
    # A long text may be passed on in part, and its end left out.
    passed = [briefing.text, *left, *(briefing.text.replace(CUT_HERE, each) for each in left)]
    for statement in statements_in(reply):
        if not _is_in(statement, passed):
            yield statement


def _is_in(statement: str, texts: list[str]) -> bool:
    words = _normal(statement)
    own = set(words.split())
    for text in texts:
        if f" {words} " in f" {_normal(text)} ":
            return True
        lines = [set(_normal(line).split()) for line in text.splitlines()]
        if any(len(own & line) >= _ENOUGH * len(own) for line in lines):
            return True
    return False


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


if __name__ == "__main__":
    main()
