"""Holds the statements of a text against the evidence."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

from segue.domain.claims.atoms import Case, StatementReading
from segue.domain.claims.check_definitions import NAMES
from segue.domain.claims.counted import counted_in
from segue.domain.claims.judge import judge
from segue.domain.claims.ledger import Ledger, LedgerEntry, Statement, Verdict
from segue.domain.claims.linking import World, core_of
from segue.domain.claims.reading import read
from segue.domain.claims.relations import Role
from segue.domain.claims.statements import statements_of
from segue.domain.claims.tokens import WordKind
from segue.domain.claims.unmentioned import Mentions, removed_names, unmentioned_paths
from segue.domain.claims.verbs import Relation
from segue.domain.evidence.model import Evidence, Standing, WeakenedTest
from segue.domain.evidence.sources import Sources
from segue.domain.handoff.checking.rules_values import places_of
from segue.domain.handoff.extract.result import Extraction
from segue.domain.handoff.model import Handoff
from segue.domain.text.words import word_set

_WENT = (Relation.REMOVED, Relation.RENAMED, Relation.REPLACED)
_MOST_NAMES = 2000
_NO_CLAIM_FIELDS = ("decisions_made",)


def verify_claims(
    record: Extraction | Handoff | None,
    evidence: Evidence,
    *,
    source: str = "",
    sources: Sources | None = None,
    passed_over: Collection[str] = (),
) -> Ledger:
    """Every statement with its verdict, and the changes that nobody mentioned.

    `source` is the text that the handoff was read from: with it, statements have their places. `sources`
    gives the text of all files: without it, nothing is refuted by being absent. Weakened tests of
    which the handoff speaks are disclosed, like those that the task asks for (`find_weakened`). Changes of
    paths in `passed_over` need no mention, such as that of the file which holds the handoff.
    """
    handoff = record.handoff if isinstance(record, Extraction) else record
    world = World(evidence, sources)
    text = "\n".join((source, *(place.text for place in places_of(handoff or Handoff()))))
    mentions = Mentions(text)
    readings = [read(statement, world) for statement in statements_of(record, source)]
    world.look_up(_names(readings), _base_names(readings))
    weakened = _with_standing(evidence.weakened, mentions)
    said = frozenset(
        path for path in evidence.changes if path in passed_over or mentions.names_change(path, evidence)
    )
    context = _Shared(world, said, readings, weakened)
    entries = [context.entry(reading) for reading in readings]
    claims = tuple(entry for entry in entries if entry.verdict is not None)
    others = tuple(entry for entry in entries if entry.verdict is None)
    return Ledger(
        entries=claims,
        others=others,
        not_claims=len(others),
        unmentioned=unmentioned_paths(mentions, evidence, _folders(claims), passed_over),
        removed=removed_names(mentions, evidence),
        weakened=weakened,
    )


class _Shared:
    """What all statements of one text share."""

    def __init__(
        self,
        world: World,
        said: frozenset[str],
        readings: Sequence[StatementReading],
        weakened: Sequence[WeakenedTest],
    ) -> None:
        self.world = world
        self.said = said
        self.taken_back = _taken_back(readings)
        numbers = {c.value for r in readings for c in counted_in(r.tokens) if c.what == "passed"}
        self.is_rival = len(numbers) > 1
        hidden = next((each for each in weakened if each.standing is Standing.WEAKENED), None)
        self.weakened = hidden.reason.rstrip(".") if hidden else None
        self._known: dict[Statement, LedgerEntry] = {}

    def entry(self, reading: StatementReading) -> LedgerEntry:
        """The verdict on a statement; the same words in the same place have the same."""
        key = replace(reading.statement, span=None)
        found = self._known.get(key)
        if found is None:
            case = Case(
                reading=reading,
                world=self.world,
                said=self.said,
                is_rival=self.is_rival,
                weakened=self.weakened,
            )
            found = self._known[key] = _without_opinions(judge(case, self.taken_back))
        return replace(found, statement=reading.statement)


def _without_opinions(entry: LedgerEntry) -> LedgerEntry:
    """A decision that says nothing of a change, and a file's purpose, are not claims."""
    field = entry.statement.field
    is_opinion = field.startswith(_NO_CLAIM_FIELDS) or field.endswith(".purpose")
    if entry.verdict is Verdict.UNVERIFIABLE and is_opinion:
        return replace(
            entry, verdict=None, reason="it is a decision" if "decisions" in field else "it is a purpose"
        )
    return entry


def _names(readings: Sequence[StatementReading]) -> list[str]:
    """The names of all statements, to be looked up at once."""
    found: dict[str, None] = {}
    for reading in readings:
        for token in reading.tokens:
            if token.kind in NAMES and len(token.text) < 200 and "\n" not in token.text:
                found[token.text] = None
    return list(found)[:_MOST_NAMES]


def _base_names(readings: Sequence[StatementReading]) -> set[str]:
    """The names of the files that statements name: text may speak of files that are made when it runs."""
    paths = (t.text for r in readings for t in r.tokens if t.kind is WordKind.PATH and len(t.text) < 200)
    return set(islice((posixpath.basename(path.rstrip("/")) for path in paths), _MOST_NAMES))


def _taken_back(readings: Sequence[StatementReading]) -> frozenset[str]:
    """The names that the text itself says were renamed or removed."""
    return frozenset(
        core_of(reading.tokens[item.at].text)
        for reading in readings
        for clause in reading.clauses
        if clause.relation in _WENT and not clause.negated and not clause.foreign
        for item in clause.of(Role.OBJECT, Role.SOURCE)
        if reading.tokens[item.at].kind in {*NAMES, WordKind.PATH}
    )


def _folders(claims: Sequence[LedgerEntry]) -> frozenset[str]:
    """The paths of typed entries: a folder among them is a mention of all that is in it."""
    return frozenset(entry.statement.path for entry in claims if entry.statement.path)


_DISCLOSING = word_set(
    "skip skipped skipping skips xfail xfailed disable disabled delete deleted remove removed removes "
    "drop dropped weaken weakened relax relaxed loosen loosened lower lowered expectation "
    "deselect deselected ignore ignored ignores raise raised raises increase increased timeout "
    "regenerate regenerated quarantine quarantined"
)
"""Words that tell how a test proves less; that a file was changed tells nothing."""


def _with_standing(weakened: Sequence[WeakenedTest], mentions: Mentions) -> tuple[WeakenedTest, ...]:
    """Tests that prove less; those of which the handoff speaks openly are disclosed.

    An agent cannot excuse by its own words what hides a failure: only the task can.
    """
    found = []
    for each in weakened:
        name = (
            (each.test or each.path).rpartition("::")[2].rpartition(".")[2]
            if each.test
            else each.path.rpartition("/")[2]
        )
        is_open = mentions.speaks_of(name, _DISCLOSING)
        hidden = each.standing is Standing.WEAKENED and is_open and not each.hides_failure
        found.append(replace(each, standing=Standing.DISCLOSED) if hidden else each)
    return tuple(found)
