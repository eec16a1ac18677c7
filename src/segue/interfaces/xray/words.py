"""The agent's own words, cut where statements begin and end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise

from segue.domain.handoff.checking.secrets import find_secrets
from segue.domain.text.span import Span
from segue.interfaces.xray.model import TextRun
from segue.interfaces.xray.text import visible


def cut_words(source: str, spans: Mapping[str, Span]) -> tuple[tuple[TextRun, ...], ...]:
    """The lines of a text, each in runs that tell which statements they make; secrets are taken out.

    Positions are those of the text as it is: a run of a secret is replaced only after all were cut.
    """
    secrets = {Span(each.start, each.end): f"[redacted: {each.kind}]" for each in find_secrets(source)}
    ends = {0, len(source)}
    for span in (*spans.values(), *secrets):
        ends |= {span.start, span.end}
    cuts = sorted(end for end in ends if 0 <= end <= len(source))
    made_by: list[list[str]] = [[] for _ in cuts]
    for name, span in spans.items():
        for at in range(bisect_right(cuts, span.start) - 1, bisect_right(cuts, span.end - 1)):
            made_by[at].append(name)
    lines: list[list[TextRun]] = [[]]
    for at, (start, end) in enumerate(pairwise(cuts)):
        secret = next((span for span in secrets if span.start <= start < span.end), None)
        text = source[start:end] if secret is None else secrets[secret] if secret.start == start else ""
        _add(lines, text, tuple(made_by[at]))
    return tuple(tuple(line) for line in lines)


def spans_in(source: str, entries: Sequence[Mapping[str, object]]) -> list[Span | None]:
    """Where the words of each entry of a ledger are in its source; none where they are not what they were."""
    return [_span_in(source, each.get("span"), str(each.get("text", ""))) for each in entries]


def _span_in(source: str, span: object, text: str) -> Span | None:
    if not isinstance(span, Mapping):
        return None
    found = Span(int(span["start"]), int(span["end"]))
    if not 0 <= found.start < found.end <= len(source):
        return None
    return found if _letters(source[found.start : found.end]) == _letters(text) else None


def _letters(text: str) -> str:
    """Enough to tell whether two texts are the same words, however they were cleaned."""
    return re.sub(r"\W+", "", text.replace("\\n", " "))[:40]


def _add(lines: list[list[TextRun]], text: str, statements: tuple[str, ...]) -> None:
    first, *others = text.replace("\r\n", "\n").split("\n")
    for at, words in enumerate((first, *others)):
        if at:
            lines.append([])
        if words:
            lines[-1].append(TextRun(visible(words), statements))
