"""Tells from an agent's words how the work ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from segue.domain.handoff.extract.conclusions import conclusion_of
from segue.domain.handoff.extract.heading_words import words_of
from segue.domain.handoff.extract.reply_outcome import QUOTED, find_reply_outcome
from segue.domain.handoff.extract.reply_outcome import WEIGHT as REPLY
from segue.domain.handoff.extract.units import OutcomeWords, Outline
from segue.domain.handoff.model import Outcome

WORDS: Final[dict[Outcome, str]] = {
    Outcome.BLOCKED: """
        blocked; stuck; on hold; halted; blockiert; bloqué; bloqueado; заблокировано; 阻塞; 被阻塞;
        ブロック中
    """,
    Outcome.FAILED: """
        failed; failure; fail; rejected; reject; aborted; cancelled; canceled; broken; unsuccessful;
        gescheitert; fehlgeschlagen; échec; fallido; falhou; провал; не удалось; 失败; 失敗; 실패
    """,
    Outcome.PARTIAL: """
        partial; partially; partly; in progress; wip; ongoing; incomplete; unfinished; not complete;
        not completed; not done; not finished; not started; not yet; not deployed; not merged;
        not tested; not verified; pending; mostly; nearly; almost; iterate; changes requested;
        request changes; conditional pass; conditional approval; progress made;
        needs work; needs changes; paused; underway; halfway; started; awaiting;
        waiting; remain; pas fait; remaining; modify; needs attention; not implemented; not run;
        nothing is; teilweise; in arbeit; nicht; noch nicht; offen; partiel; en cours; parcial;
        en curso; em andamento; pendiente; pendente; частично; в процессе; в работе; не сделано;
        parziale; in corso; 部分; 进行中; 進行中; 未完成; 尚未; 仍未; 未验证; 未着手; 一部; 진행 중;
        진행중; 미완료; 미배포; 일부
    """,
    Outcome.COMPLETED: """
        complete; completed; done; finished; success; succeeded; successful; successfully; shipped;
        merged; delivered; pass; passed; passing; approve; approved; accomplished; resolved; fixed;
        released; live; closed; green; implemented; landed; verified; published; production ready;
        ready for; operational; stable; all complete; fertig; abgeschlossen; erledigt; terminé; livré;
        fini; completado; completa; concluído; concluida; finalizado; сделано; готово; завершено;
        выполнено; completato; finito; klart; selesai; 完成; 已完成; 通过; 完了; 済み; 완료
    """,
}
"""Words in a status line. An outcome that stands first here wins over those below."""

_AWAITS: Final = re.compile(r"(?:^|[\s\uff0c\u3001\uff1b\u3002,;(\uff08])(?:\u7b49)?\u5f85")
"""A clause that begins with what is waited for: `\u67b6\u6784\u5b8c\u6210\uff0c\u5f85\u9a8c\u8bc1`."""
_PERCENT: Final = re.compile(r"(?<![\d.])(\d{1,3})(?:\.\d+)?[ ]?%")
_NO: Final = re.compile(r"\b(?:no|0|zero|without|keine?|sans|sin|sem|нет|非|无)\s+\w+", re.IGNORECASE)
_COMPOUND: Final = re.compile(r"\b(?:fail|pass|block)-\w+", re.IGNORECASE)
"""`Fail-closed`, `pass-through`: no verdict."""
_ASIDE: Final = re.compile(r"[\u2192>].*|\bnext\b.*", re.IGNORECASE | re.DOTALL)
_SIGNS: Final = {
    "\u2705": Outcome.COMPLETED,
    "\u2714": Outcome.COMPLETED,
    "\U0001f7e2": Outcome.COMPLETED,
    "\U0001f389": Outcome.COMPLETED,
    "\u23f3": Outcome.PARTIAL,
    "\U0001f504": Outcome.PARTIAL,
    "\U0001f6a7": Outcome.PARTIAL,
    "\U0001f7e1": Outcome.PARTIAL,
    "\u274c": Outcome.FAILED,
    "\U0001f534": Outcome.FAILED,
    "\u26d4": Outcome.BLOCKED,
    "\U0001f6ab": Outcome.BLOCKED,
}
_STRONG_WORD: Final = re.compile(
    r"[cdfbpw](?<!\w.)(?:ompleted\b|omplete\b(?!\s+\w)|one\b|inish|locked|ail|artial|ip\b)", re.DOTALL
)
_STRONG: Final = (
    *("in progress", "\u2705", "100%", "100 %", "abgeschlossen", "fertig", "termin\u00e9", "conclu\u00edd"),
    *("successfully", "\u5b8c\u6210", "\u5b8c\u4e86", "\uc644\ub8cc", "\u0433\u043e\u0442\u043e\u0432\u043e"),
)
"""What a title, or a sentence on the state of things, must say to state that the work is done."""
_RESULT: Final = re.compile(r"\W*(?:results?|ergebnis|résultat|resultado)\b", re.IGNORECASE)
_CHECK: Final = re.compile(
    r"\b(?:builds?|tests?|lint\w*|compil\w+|suites?|type ?checks?|\d+ (?:pass|fail)\w*)\b", re.IGNORECASE
)
_VERDICT: Final = re.compile(
    r"\W*(?:pass(?:ed)?|fail(?:ed)?|approved?|reject(?:ed)?|request(?:ed)? changes"
    r"|changes requested|blocked)\b",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(r"\W*(?:\w+\W+){0,6}?(?:failed|fail|rejected|failure)\b(?! to\b)", re.IGNORECASE)
"""A sentence on the state of things that says it in its first words."""
_FILLERS: Final = frozenset(
    {"all", "now", "fully", "work", "not", "yet", "and", "mostly", "everything", "but", "committed", "pushed"}
)
_UNFINISHED: Final = (
    "partially done",
    "partially complete",
    "in progress",
    "in-progress",
    "partial success",
    "not deployed",
    "not yet deployed",
    "still needs",
    "still missing",
    "still broken",
    "not built",
    "not finished",
    "unfinished",
    "pas fait",
    "nicht fertig",
    "незаверш",
    "\uc9c4\ud589 \uc911",
    "\uc9c4\ud589\uc911",
    "\ubbf8\ubc30\ud3ec",
    "\u8fdb\u884c\u4e2d",
    "\u9032\u884c\u4e2d",
)
_TAIL: Final = re.compile(r"[\u2014\u2013:(-][ ]*([^\u2014\u2013:()-]{2,40})\)?[ ]*$")
"""What a heading says of its subject: `Phase 2 - COMPLETE`, `Login (done)`."""
TITLE, STATEMENT, HEADING, EXACT = 7, 5, 1, 100
"""How much a document's title, a sentence on the state of things, a heading, and the canonical key count."""
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
CONTRADICTED: Final = "the outcome is stated as"
"""How the note begins that the text tells of another outcome."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lexicon:
    words: dict[str, Outcome]
    phrases: tuple[tuple[str, Outcome], ...]
    unspaced: tuple[tuple[str, Outcome], ...]


@cache
def _lexicon() -> _Lexicon:
    found = [(" ".join(words_of(p)), outcome) for outcome, listed in WORDS.items() for p in listed.split(";")]
    found = [(phrase, outcome) for phrase, outcome in found if phrase]
    return _Lexicon(
        words={p: o for p, o in reversed(found) if " " not in p},
        phrases=tuple((f" {p} ", o) for p, o in found if " " in p),
        unspaced=tuple((p.replace(" ", ""), o) for p, o in found if _UNSPACED.search(p)),
    )


@lru_cache(maxsize=2048)
def judge(words: str) -> Outcome | None:
    """The outcome that a status line states, or none."""
    line = _COMPOUND.sub(" ", _NO.sub(" ", words[:300].split("\n", 1)[0]))
    lexicon = _lexicon()
    said = words_of(line)
    found = {lexicon.words[word] for word in said if word in lexicon.words}
    joined = f" {' '.join(said)} "
    found |= {outcome for phrase, outcome in lexicon.phrases if phrase in joined}
    if _UNSPACED.search(line):
        squashed = joined.replace(" ", "")
        found |= {outcome for phrase, outcome in lexicon.unspaced if phrase in squashed}
        if _AWAITS.search(line):
            found.add(Outcome.PARTIAL)
    percent = _PERCENT.search(line) if "%" in line else None
    if percent:
        found.add(Outcome.COMPLETED if int(percent[1]) >= 100 else Outcome.PARTIAL)
    if not found:
        return next((_SIGNS[sign] for sign in line if sign in _SIGNS), None)
    return next(outcome for outcome in _ORDER if outcome in found)


_ORDER: Final = (Outcome.BLOCKED, Outcome.FAILED, Outcome.PARTIAL, Outcome.COMPLETED)


def is_status_alone(words: str, longest: int = 2) -> bool:
    """True if a text is nothing but a status: `Complete.`, `all done`."""
    if words.count(" ") > longest + 2:
        return False
    known = _lexicon().words
    first, space, _ = words.partition(" ")
    lower = first.lower()
    if space and lower.isascii() and lower.isalpha() and lower not in known and lower not in _FILLERS:
        return False
    said = words_of(words)
    return 0 < len(said) <= longest and all(word in known or word in _FILLERS for word in said)


def is_verdict(words: str) -> bool:
    """True for what stands behind `QA decision:`, `FAIL, cannot merge`."""
    return _VERDICT.match(words) is not None


def is_result_of_check(label: str, words: str) -> bool:
    """True for `Result: debug build succeeded`: one check ended so, not the work."""
    return _RESULT.match(label) is not None and _CHECK.search(words) is not None


def decide(evidence: Iterable[OutcomeWords]) -> tuple[str, OutcomeWords] | None:
    """The outcome that the weightiest words state; of equals, the one that claims least."""
    by_weight: dict[int, list[OutcomeWords]] = {}
    for item in evidence:
        by_weight.setdefault(item.weight, []).append(item)
    for weight in sorted(by_weight, reverse=True):
        if weight >= EXACT:
            return by_weight[weight][0].text, by_weight[weight][0]
        judged = _JUDGES.get(weight, _judge_line)
        found = [(outcome, item) for item in by_weight[weight] if (outcome := judged(item)) is not None]
        if found:
            outcome, item = min(found, key=lambda pair: _ORDER.index(pair[0]))
            return outcome.value, item
    return None


def _is_strong(words: str) -> bool:
    lower = words.lower()
    return any(each in lower for each in _STRONG) or _STRONG_WORD.search(lower) is not None


def _judge_line(item: OutcomeWords) -> Outcome | None:
    return judge(item.text)


def _judge_title(item: OutcomeWords) -> Outcome | None:
    """A title states an outcome only in so many words."""
    return judge(_ASIDE.sub("", item.text)) if _is_strong(item.text) else None


def _judge_statement(item: OutcomeWords) -> Outcome | None:
    """A sentence on the state of things tells of many things; not every word in it is the outcome."""
    words = QUOTED.sub(" ", item.text)
    found = judge(words)
    if found is Outcome.FAILED:
        return found if _FAILED.match(words) else None
    if found is Outcome.COMPLETED and not _is_strong(words):
        return None
    if found is Outcome.PARTIAL and "%" in words and not _is_strong(words):
        return judge(words.replace("%", ""))
    return found


def _judge_heading(item: OutcomeWords) -> Outcome | None:
    return said_by_heading(item.text)


@lru_cache(maxsize=8192)
def said_by_heading(heading: str) -> Outcome | None:
    """A heading states an outcome where it says one of its subject."""
    lower = heading.lower()
    if "/" not in heading and any(words in lower for words in _UNFINISHED):
        return Outcome.PARTIAL  # `Done / In progress / Next` stands over all of them
    tail = _TAIL.search(heading)
    return judge(tail[1]) if tail and (is_status_alone(tail[1], 4) or _is_phrase(tail[1])) else None


def _is_phrase(words: str) -> bool:
    """True for a status of several words and nothing else: `en cours`."""
    return any(phrase == f" {' '.join(words_of(words))} " for phrase, _ in _lexicon().phrases)


_JUDGES: Final = {TITLE: _judge_title, STATEMENT: _judge_statement, HEADING: _judge_heading}


def decide_outcome(outline: Outline, *, exact: bool, plain: bool) -> tuple[str, OutcomeWords] | None:
    """How the work ended, by the weightiest words that say so.

    What a reply itself says of a failure, a refusal or a block outweighs a title or a sentence that tells of
    success; against a label or a key it is only noted.
    """
    if exact:
        return decide(outline.evidence)
    said = find_reply_outcome(outline, plain=plain)
    stated = decide([each for each in outline.evidence if each.weight > REPLY])
    if stated is not None:
        if (
            said is None
            or stated[0] != Outcome.COMPLETED
            or said.text not in (Outcome.FAILED, Outcome.BLOCKED)
        ):
            return stated
        if stated[1].weight > TITLE:
            outline.note(f"{CONTRADICTED} {stated[0]}, yet the text says {said.text}")
            return stated
    if said is not None:
        return said.text, said
    if weak := decide(outline.evidence):
        return weak
    concluded = conclusion_of(outline)
    return (concluded.text, concluded) if concluded else None
