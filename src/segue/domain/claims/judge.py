"""Judges one statement: reads it, checks every part of it, decides."""

from __future__ import annotations

from collections.abc import Collection

from segue.domain.claims.atoms import (
    Atom,
    AtomStatus,
    Case,
    StatementReading,
    by_words,
    contradicts,
    holds,
    in_tree,
    unknown,
)
from segue.domain.claims.check_commands import capped, judge_exit
from segue.domain.claims.check_commits import check_commits
from segue.domain.claims.check_counts import check_counts
from segue.domain.claims.check_definitions import NAMES, check_name, covered
from segue.domain.claims.check_dependencies import check_dependency_words
from segue.domain.claims.check_files import (
    check_path,
    check_rename,
    cover,
    path_within,
    place_atoms,
    says_kept,
)
from segue.domain.claims.check_heads import check_heads
from segue.domain.claims.check_moves import check_extracted, check_renamed, check_replaced
from segue.domain.claims.check_presence import check_has
from segue.domain.claims.check_runs import check_runs
from segue.domain.claims.check_sets import check_only, check_untouched
from segue.domain.claims.check_tests import check_tests
from segue.domain.claims.check_uses import check_not_used, check_unused
from segue.domain.claims.check_values import check_value, value_state
from segue.domain.claims.decide import decide, needs_cover, no_claim, soften
from segue.domain.claims.gate import gate
from segue.domain.claims.ledger import LedgerEntry
from segue.domain.claims.lexicon import DETERMINERS, NEGATIONS, NEW
from segue.domain.claims.lexing import tokens_of
from segue.domain.claims.relations import Clause, ClauseItem, Role
from segue.domain.claims.runs import pointer_to, same_runs, shown, tells
from segue.domain.claims.tokens import ENTITIES, StatementToken, WordKind
from segue.domain.claims.verbs import EDITS, NOUNS, VAGUE, Relation
from segue.domain.text.words import word_set

_GENERIC = word_set("repo repository project codebase root tree top folder directory package src source")


def judge(case: Case, taken_back: Collection[str] = ()) -> LedgerEntry:
    """The verdict on one statement."""
    statement = case.reading.statement
    if statement.not_claim:
        return no_claim(statement, statement.not_claim)
    if (typed := _typed(case)) is not None:
        return decide(StatementReading(statement=statement, tokens=[]), [typed])
    if reason := gate(case.tokens, case.reading.clauses):
        return no_claim(statement, reason)
    only_names = all(t.kind in ENTITIES or not needs_cover(t) for t in case.tokens)
    if only_names and not case.reading.clauses and not any(t.kind is WordKind.COMMIT for t in case.tokens):
        return no_claim(statement, "it only names something")
    sets = check_only(case) or check_not_used(case)
    atoms = [*sets, *check_runs(case), *check_commits(case), *check_heads(case)]
    clauses = case.reading.clauses if not sets or sets[0].status is AtomStatus.UNKNOWN else _deeds(case)
    found = [(clause, atom) for clause in clauses for atom in _check(case, clause)]
    held = [atom for clause, atom in found if clause.relation in _WENT and atom.status is AtomStatus.HOLDS]
    went = {at for atom in held for at in atom.covers}
    atoms += [soften(clause, atom, case.tokens, taken_back, went) for clause, atom in found]
    return decide(case.reading, atoms)


_WENT = (Relation.REMOVED, Relation.RENAMED, Relation.EXTRACTED)


def _deeds(case: Case) -> list[Clause]:
    """The clauses beside what a set says: "changed a.py only" still says that it changed."""
    denied = any(token.low in NEGATIONS or token.value == 0 for token in case.tokens)
    return (
        []
        if denied
        else [c for c in case.reading.clauses if c.relation is not Relation.UNTOUCHED and not c.negated]
    )


def _typed(case: Case) -> Atom | None:  # noqa: PLR0911 (one way out for each finding)
    """The check of a typed entry; none for a sentence."""
    statement, world = case.reading.statement, case.world
    if statement.is_outcome:
        return _outcome(case)
    if statement.path is not None:
        if statement.old_path is not None:
            return check_rename(world, statement.old_path, statement.path)
        path = statement.path
        if not world.find_path(path).paths and ((tokens := tokens_of(path, world)) and len(tokens) > 1):
            path = (
                tokens[0].text
                if tokens[0].kind is WordKind.PATH and tokens[1].kind is WordKind.SIGN
                else path
            )
        return check_path(world, path, statement.relation or Relation.CHANGED, statement.lines)
    if statement.command is not None and statement.text.strip("`$ ") == statement.command.strip("`$ "):
        if statement.exit_code is not None:
            return judge_exit(case, statement.command, statement.exit_code, [])
        _, logged, around = same_runs(world.evidence, statement.command)
        if logged or around:
            told = f"the log of the agent shows {shown(statement.command)}"
            return holds(told, (), pointer_to((logged or around)[-1]))
        atom = judge_exit(case, statement.command, -1, [])
        return atom if "was not run" in atom.reason else unknown(f"no log shows {shown(statement.command)}")
    return None


def _outcome(case: Case) -> Atom:
    """`completed`: every check passes, and something was done."""
    checks = case.world.evidence.checks
    failed = [run for run in checks if tells(run) and run.exit_code != 0]
    if failed:
        told = f"{shown(failed[0].command)} ended with {failed[0].exit_code}, when Segue ran it"
        return contradicts(told, pointer_to(failed[0]))
    silent = [run for run in checks if not tells(run)]
    if silent:
        return unknown(f"the check {shown(silent[0].command)} {silent[0].fault or 'could not be run'}")
    if not checks:
        return unknown("the step has no checks")
    told = "the only check passed when Segue ran it"
    if len(checks) > 1:
        told = f"all {len(checks)} checks passed when Segue ran them"
    return capped(case, holds(told, (), *(pointer_to(run) for run in checks)))


def _check(case: Case, clause: Clause) -> list[Atom]:  # noqa: PLR0911 (one way out for each finding)
    """Everything that one clause says."""
    if clause.relation in (Relation.RAN, Relation.RESULT):
        return []
    if clause.foreign:
        return _foreign(case, clause)
    if clause.relation is Relation.UNTOUCHED:
        return check_untouched(case, clause) or _still_there(case, clause)
    if clause.negated:
        return _negated(case, clause)
    if unused := check_unused(case, clause):
        return unused
    if clause.relation is Relation.UNUSED:
        return []
    atoms = _by_relation(case, clause)
    if clause.lemma in _UNTOLD:
        places = place_atoms(case, clause, covered(atoms))
        return [_told_softly(clause, atom) for atom in (*atoms, *places)]
    atoms += check_counts(case, clause)
    atoms = _with_new(case, clause, _with_amounts(case, clause, atoms))
    return atoms + place_atoms(case, clause, covered(atoms))


def _still_there(case: Case, clause: Clause) -> list[Atom]:
    """`kept X in a.py`: it is there, at least."""
    if clause.lemma not in ("keep", "stay", "remain") or clause.negated:
        return []
    values = [i for i in clause.items if case.kind(i.at) in (WordKind.NUMBER, WordKind.VERSION)]
    keys = [i for i in clause.of(Role.OBJECT) if case.kind(i.at) is WordKind.NAME]
    if len(values) == len(keys) == 1 and case.low(values[0].at - 1) in ("at", "is"):
        return [value_state(case, clause, keys[0], values[0])]
    return [atom for atom in check_has(case, clause) if atom.status is AtomStatus.CONTRADICTS]


_UNTOLD = frozenset({"titled", "behave"})
"""What was done is not told: that the thing changed proves a part at most."""


def _told_softly(clause: Clause, atom: Atom) -> Atom:
    if atom.status is AtomStatus.CONTRADICTS and not atom.is_absence and clause.lemma == "behave":
        return unknown(atom.reason)
    return by_words(atom.reason, (), *atom.evidence) if atom.status is AtomStatus.HOLDS else atom


_COMES = (Relation.CREATED, Relation.ADDED, Relation.HAS, Relation.EXTRACTED)


def _with_new(case: Case, clause: Clause, atoms: list[Atom]) -> list[Atom]:
    """What came is new: the word needs no other proof."""
    new = case.at(NEW, range(clause.first, clause.last + 1))
    if clause.relation not in _COMES or not new:
        return atoms
    return [cover(atom, (*atom.covers, *new)) if atom.status is AtomStatus.HOLDS else atom for atom in atoms]


_AMOUNTS = word_set(
    "implementation body some few several part parts bits bit lines line places little couple"
)


def _with_amounts(case: Case, clause: Clause, atoms: list[Atom]) -> list[Atom]:
    """What changed got edits, and some lines of it are others: such words need no other proof."""
    span = range(clause.first, clause.last + 1)
    words = [n for n in span if case.low(n) in _AMOUNTS or NOUNS.get(case.low(n)) is Relation.CHANGED]
    if clause.relation is not Relation.CHANGED or not clause.strong or not words:
        return atoms
    counted = any(case.kind(n) is WordKind.NUMBER for n in span)
    return [
        cover(atom, (*atom.covers, *words)) if atom.status is AtomStatus.HOLDS and not counted else atom
        for atom in atoms
    ]


def _foreign(case: Case, clause: Clause) -> list[Atom]:
    """What somebody else does is not a deed; but a thing that exists nowhere does nothing."""
    for item in clause.items[:1] if clause.is_new else ():
        token = case.tokens[item.at]
        if token.kind is WordKind.NAME and token.certain and case.world.is_nowhere(token.text):
            return [contradicts(f"`{token.text}` is in no file after the step", in_tree())]
    return []


def _negated(case: Case, clause: Clause) -> list[Atom]:
    """`did not change X`, `X was not removed`."""
    if clause.relation is Relation.HAS:
        return []  # "a.py no longer declares it" does not say that a.py is unchanged
    if clause.relation in (Relation.CHANGED, Relation.VALUE):
        return check_untouched(case, clause) if clause.strong else []
    positive = [atom for atom in _by_relation(case, clause) if atom.status is AtomStatus.HOLDS]
    if positive:
        return [contradicts(positive[0].reason, *positive[0].evidence)]
    return []


def _by_relation(case: Case, clause: Clause) -> list[Atom]:
    match clause.relation:
        case Relation.RENAMED:
            return check_renamed(case, clause)
        case Relation.EXTRACTED:
            return check_extracted(case, clause)
        case Relation.REPLACED:
            return check_replaced(case, clause)
        case Relation.VALUE:
            return check_value(case, clause)
        case Relation.HAS:
            return [*check_has(case, clause), *check_tests(case, clause), *_new_files(case, clause)]
        case _:
            return _objects(case, clause)


def _new_files(case: Case, clause: Clause) -> list[Atom]:
    """`we now have a new file, a.py`."""
    files = [i for i in clause.of(Role.OBJECT) if case.kind(i.at) is WordKind.PATH and not i.modifies]
    is_new = clause.lemma == "gain" or any(case.low(n) in NEW for n in clause.words)
    relation = Relation.CREATED if is_new else Relation.HAS
    denied = [n for n in range(clause.first, clause.last + 1) if case.low(n) == "without"]
    if denied:
        relation = Relation.REMOVED  # `we do without a.py now`
    found = []
    for item in files:
        atom = check_path(case.world, case.text(item.at), relation)
        if atom.status is AtomStatus.CONTRADICTS and not case.tokens[item.at].certain:
            atom = unknown(atom.reason)
        found.append(
            cover(atom, (item.at, *clause.verb, *denied))
            if atom.status is AtomStatus.HOLDS and (relation is Relation.CREATED or not clause.is_new)
            else atom
        )
    return found


def _objects(case: Case, clause: Clause) -> list[Atom]:
    """The files and names that are said to have come, gone or changed."""
    values = [i for i in clause.of(Role.TARGET) if case.kind(i.at) in (WordKind.NUMBER, WordKind.VERSION)]
    if (
        clause.relation is Relation.CHANGED
        and clause.strong
        and values
        and clause.of(Role.OBJECT, Role.SOURCE)
    ):
        return check_value(case, clause)
    atoms: list[Atom] = [*check_tests(case, clause), *check_dependency_words(case, clause)]
    folders = [i for i in clause.of(Role.PLACE) if _quantifiers(case, i)]
    for item in (*clause.of(Role.OBJECT), *folders):
        token = case.tokens[item.at]
        if token.kind is WordKind.PATH and not item.modifies:
            atoms.append(_file(case, clause, item))
        elif token.kind in NAMES:
            atoms.append(check_name(case, clause, item))
    return atoms


def _is_loose(case: Case, token: StatementToken) -> bool:
    """True for a plain word that only files in folders have as their name: it may mean something else."""
    is_word = not token.is_code and "/" not in token.text and "." not in token.text
    return is_word and all("/" in path for path in case.world.find_path(token.text).paths)


def _file(case: Case, clause: Clause, item: ClauseItem) -> Atom:
    token = case.tokens[item.at]
    relation = clause.relation
    if relation is Relation.ADDED and any(
        case.low(n) in NEW for n in range(max(clause.first, item.at - 4), item.at)
    ):
        relation = Relation.CREATED
    if relation in (Relation.CREATED, Relation.REMOVED) and (
        _is_only_listed(case, clause, item) or _is_number_of(case, clause)
    ):
        return unknown(f"{token.text} is where something is listed or counted")
    atom = check_path(case.world, path_within(case, clause, item.at), relation)
    every = _quantifiers(case, item)
    if every and relation is Relation.CHANGED and (idle := _unchanged_in(case, token)):
        atom = contradicts(f"{idle} did not change", in_tree(idle))
    if clause.lemma in EDITS and atom.status is AtomStatus.HOLDS and " was added" in atom.reason:
        return by_words(atom.reason, (), *atom.evidence)
    refutes = clause.lemma not in VAGUE or atom.is_absence
    refutes = refutes and not _is_loose(case, token)
    if atom.is_absence and case.world.is_spoken_of(token.text):
        is_plain = not any(needs_cover(case.tokens[n]) for n in clause.words) and len(clause.items) == 1
        is_listed = case.low(item.at + 1) in ("to", "from")
        refutes = clause.relation is Relation.CREATED and is_plain and not is_listed
    if atom.reason.endswith("was deleted") and not says_kept(clause):
        refutes = False
    if atom.status is AtomStatus.CONTRADICTS and not (token.certain and refutes):
        atom = unknown(atom.reason)
    verb = clause.verb if clause.strong else ()
    return cover(atom, (item.at, *verb, *every)) if atom.status is AtomStatus.HOLDS else atom


def _is_number_of(case: Case, clause: Clause) -> bool:
    """True for the `one added` of "a.py: one line changed, one added"."""
    at = min(clause.verb, default=0) - 1
    return at >= 0 and case.tokens[at].value is not None


def _quantifiers(case: Case, item: ClauseItem) -> list[int]:
    """The `all` of "all files under docs/"."""
    near = range(max(0, item.at - 4), item.at)
    is_many = case.world.find_path(case.text(item.at)).is_many
    return case.at(("all", "every", "each", "everything"), near) if is_many else []


def _unchanged_in(case: Case, token: StatementToken) -> str | None:
    world = case.world
    after = world.evidence.after or frozenset()
    paths = world.find_path(token.text).paths
    return (
        next((p for p in paths if p in after and world.change(p) is None), None) if world.is_whole else None
    )


def _is_only_listed(case: Case, clause: Clause, item: ClauseItem) -> bool:
    """True for "added a.py to the allow list": the file itself did not come."""
    roles = [Role.TARGET, Role.SOURCE] if clause.relation is Relation.CREATED else [Role.SOURCE, Role.TARGET]
    preposition = {"to", "into"} if clause.relation is Relation.CREATED else {"from"}
    ahead = range(item.at + 1, clause.last + 1)
    at = next((n for n in ahead if case.low(n) in preposition), None)
    if at is None or any(
        other.at > at
        for other in clause.of(*roles)
        if case.kind(other.at) is WordKind.PATH and case.text(other.at).endswith("/")
    ):
        return False
    behind = [t for t in case.tokens[at + 1 : clause.last + 1] if t.kind is WordKind.WORD]
    is_thing = bool(behind) and (
        behind[0].low in DETERMINERS or behind[0].text[:1].isupper() or "from" in preposition
    )
    return is_thing and not _GENERIC & {t.low for t in behind}
