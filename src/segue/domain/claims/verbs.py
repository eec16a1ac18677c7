"""The verbs of change: which relation each states, how surely, and all of their forms. Mostly data."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from segue.domain.claims.lexicon import by_word
from segue.domain.text.words import word_set


class Relation(StrEnum):
    """What a clause says of its objects."""

    CREATED = "created"
    ADDED = "added"
    """Like created, but of a file it only says that something was put there."""
    REMOVED = "removed"
    RENAMED = "renamed"
    EXTRACTED = "extracted"
    REPLACED = "replaced"
    CHANGED = "changed"
    VALUE = "value"
    HAS = "has"
    RAN = "ran"
    RESULT = "result"
    UNTOUCHED = "untouched"
    UNUSED = "unused"


class Form(StrEnum):
    """A form of a verb."""

    BASE = "base"
    THIRD = "third"
    PAST = "past"
    GERUND = "gerund"


class Sense(NamedTuple):
    """What a verb means."""

    relation: Relation
    strong: bool
    lemma: str


_SENSES: dict[tuple[Relation, bool], str] = {
    (Relation.CREATED, True): (
        "add create introduce come_up_with scaffold generate bootstrap establish author spin_up stand_up "
        "set_up stub_out"
    ),
    (Relation.ADDED, True): (
        "implement write insert append prepend put put_in put_in_place land ship define declare include "
        "build provide bring_in register install inject embed attach contribute deliver drop_in slot_in "
        "wire_in throw_in pull_in bake_in supply craft draft code code_up develop reintroduce plug_in "
        "write_up put_together place tack_on work_in re-add commit deploy build_out roll_out"
    ),
    (Relation.ADDED, False): "expose restore flesh_out reinstate cover document",
    (Relation.REMOVED, True): (
        "remove delete drop rip_out rip strip strip_out prune purge retire eliminate kill kill_off nuke axe "
        "erase scrap discard cut cut_out excise get_rid_of do_away_with take_out tear_out throw_away "
        "throw_out clean_out clear_out weed_out unregister uninstall wipe zap ditch jettison chop "
        "obliterate expunge cull yank take_away dump root_out pull_down tear_down decommission"
    ),
    (Relation.REMOVED, False): "trim clear phase_out sunset unset undo unwire unhook",
    (Relation.RENAMED, True): "rename move relocate rehome retitle transfer shift",
    (Relation.EXTRACTED, True): (
        "extract pull_out carve_out factor_out split_out break_out split_off spin_off spin_out lift_out "
        "hoist move_out lift carve separate_out"
    ),
    (Relation.REPLACED, True): (
        "replace swap swap_out switch switch_over substitute exchange trade supersede"
    ),
    (Relation.REPLACED, False): "migrate convert port",
    (Relation.CHANGED, True): (
        "change update modify edit alter rewrite rework refactor extend adjust tweak touch patch overhaul "
        "revise amend restructure reformat expand reorganize reorganise rejig revamp redo rebuild reorder "
        "retouch annotate augment adapt parametrize parameterize parametrise reword rephrase reimplement "
        "touch_up rejigger redesign retool re-work re-write redraft"
    ),
    (Relation.CHANGED, False): (
        "simplify modernize modernise streamline generalize generalise tidy tidy_up beef_up fix improve "
        "ensure handle support make allow avoid prevent address resolve optimise optimize enable disable "
        "clarify take_care_of iron_out sort_out see_to attend_to harden tighten wire wire_up hook_up hook "
        "connect plug teach guard validate speed_up repair correct polish enhance refine integrate "
        "configure normalise normalize strengthen loosen relax deprecate mark apply adopt debug deal_with "
        "clean clean_up format inline split merge consolidate unify wrap decorate cache isolate reuse "
        "combine flip toggle sort decouple dedupe deduplicate translate localize bind route gate patch_up "
        "trim_down cut_down bring_back prepare finalize finish complete finalise sanitize escape retry "
        "rescue work_around clamp memoize vectorize parallelize batch stabilize stabilise silence suppress "
        "sync align link point update_to span affect involve"
    ),
    (Relation.VALUE, True): (
        "set bump raise lower increase decrease reduce upgrade downgrade pin cap default double halve "
        "shrink lengthen shorten reset assign bump_up bring_up dial_down dial_up crank_up turn_up turn_down "
        "lock widen narrow"
    ),
    (Relation.HAS, True): "gain come_with ship_with",
    (Relation.HAS, False): (
        "have contain hold carry receive feature offer live reside exist sit get list depend"
    ),
    (Relation.RAN, True): "run rerun re-run execute invoke launch exercise kick_off fire_off",
    (Relation.UNTOUCHED, True): "leave keep stay remain left-alone",
}
"""A relation, and whether it is stated surely -> verbs, each with its particles."""
VAGUE = word_set(
    "ensure allow avoid prevent enable disable support validate prepare finish complete finalize "
    "finalise sync align point mark adopt link expose restore stabilize stabilise behave"
)
"""Soft verbs that do not even say that the file of which they tell has changed."""
EDITS = word_set("update modify edit tweak adjust extend alter amend rewrite rework refactor patch")
"""Verbs that say that a thing was there before, and still is."""
KEEPS = EDITS | {"change", "touch"}
"""Verbs that say that a thing is still there."""
_IRREGULAR: dict[str, list[str]] = {
    lemma: forms.split(",")
    for lemma, _, forms in (
        pair.partition("=")
        for pair in word_set(
            "write=wrote,written rewrite=rewrote,rewritten re-write=re-wrote build=built rebuild=rebuilt "
            "put=put see=saw,seen set=set get=got,gotten make=made take=took,taken leave=left keep=kept "
            "bring=brought cut=cut split=split redo=redid,redone undo=undid,undone teach=taught run=ran,run "
            "rerun=reran,rerun re-run=re-ran,re-run spin=spun throw=threw,thrown tear=tore,torn "
            "break=broke,broken do=did,done stand=stood hold=held come=came shrink=shrank,shrunk reset=reset "
            "bind=bound have=had sit=sat deal=dealt left-alone=left-alone"
        )
    )
}
_DOUBLED = word_set(
    "drop strip swap plug wrap trim ship pin rip scrap cap stub skip stop zap chop slot pull_in "
    "transfer cut split run rerun re-run set get put spin commit sit reset flip shim dump_ unset unplug "
    "slim"
)
_ENDS_IN_Y = "aeiou"


def _forms(lemma: str) -> dict[str, Form]:
    """Every form of one word: `adds`, `added`, `adding`."""
    stem = lemma[:-1] if lemma.endswith("e") and not lemma.endswith("ee") else lemma
    twice = lemma + lemma[-1] if lemma in _DOUBLED else stem
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        third = lemma + "es"
    elif lemma.endswith("y") and lemma[-2] not in _ENDS_IN_Y:
        third = lemma[:-1] + "ies"
    else:
        third = "has" if lemma == "have" else "does" if lemma == "do" else lemma + "s"
    past = lemma[:-1] + "ied" if lemma.endswith("y") and lemma[-2] not in _ENDS_IN_Y else twice + "ed"
    found = {lemma: Form.BASE, third: Form.THIRD, twice + "ing": Form.GERUND}
    for each in _IRREGULAR.get(lemma, (past,)):
        found[each] = Form.PAST
    return found


class Verb(NamedTuple):
    """One reading of a word as a verb, with the particles that must follow."""

    sense: Sense
    form: Form
    particles: tuple[str, ...]


def _table() -> dict[str, tuple[Verb, ...]]:
    found: dict[str, dict[tuple[str, Form], Verb]] = {}
    for (relation, strong), lemmas in _SENSES.items():
        for lemma in lemmas.split():
            head, *particles = lemma.split("_")
            for word, form in _forms(head).items():
                verb = Verb(Sense(relation, strong, lemma), form, tuple(each for each in particles if each))
                found.setdefault(word, {}).setdefault((lemma, form), verb)
    return {
        word: tuple(sorted(verbs.values(), key=lambda verb: -len(verb.particles)))
        for word, verbs in found.items()
    }


VERBS = _table()
"""Word -> its readings as a verb, those with most particles first."""
NOUNS: dict[str, Relation] = by_word(
    {
        Relation.CREATED: "addition creation introduction",
        Relation.ADDED: "insertion",
        Relation.REMOVED: "removal deletion elimination",
        Relation.RENAMED: "renaming relocation rename move",
        Relation.EXTRACTED: "extraction",
        Relation.REPLACED: "replacement",
        Relation.CHANGED: (
            "modification modifications change changes edit edits rewrite update updates refactor "
            "refactoring tweak tweaks adjustments adjustment"
        ),
        Relation.VALUE: "bump upgrade",
    }
)
"""Nouns that state a deed where `of`, `to` or `in` follows: `removal of X`."""
