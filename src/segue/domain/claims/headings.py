"""What a heading or a label says of the things below it: created, removed, unchanged."""

from __future__ import annotations

from segue.domain.claims.lexicon import STATES, by_word
from segue.domain.claims.verbs import NOUNS, VERBS, Form, Relation, Verb
from segue.domain.text.words import word_set

FILE_NOUNS = word_set(
    "file files artifacts artifact modules paths dateien datei fichiers archivos ficheiros deliverables "
    "outputs"
)
_WORDS: dict[str, Relation] = by_word(
    {
        Relation.CREATED: "new neue erstellt erstellte créés creados criados",
        Relation.REMOVED: "gelöscht gelöschte supprimés eliminados",
        Relation.CHANGED: "geändert geänderte modifiés modificados",
    }
)
_MOST_WORDS = 6
_GLUE = word_set(
    "here is what i we was were got have has been are the following in this pr commit step by me to "
    "into from "
    "with of things all"
)
_TOLD = (Relation.CREATED, Relation.REMOVED, Relation.CHANGED, Relation.RENAMED)


def announced(line: str) -> tuple[Relation | None, bool]:
    """What a heading says of the things below it, and whether they are files."""
    words = [_bare(word) for part in line.split() if not _is_thing(part) for word in _parts(part)]
    words = [word for word in words if word]
    if not words or len(words) > _MOST_WORDS:
        return None, False
    if _says_untouched(words):
        return Relation.UNTOUCHED, True
    found = [each for n in range(len(words)) if (each := _relation(words, n)) is not None]
    about_files = any(word in FILE_NOUNS for word in words)
    if not found:
        return (Relation.CHANGED, True) if about_files and len(words) == 1 else (None, False)
    relation = Relation.CHANGED if len(set(found)) > 1 else found[0]
    if about_files:
        return relation, True
    told = range(len(words))
    is_short = len(words) <= 2 or all(words[n] in _GLUE or _relation(words, n) for n in told)
    return (relation, False) if is_short else (None, False)


def _is_thing(part: str) -> bool:
    """True for the file of "Added to src/a.py:"."""
    inner = part.strip("*_:()[]`.,")
    return "`" in part or (("." in inner or "/" in inner) and not inner.replace("/", "").isalpha())


def _parts(part: str) -> list[str]:
    return part.replace("/", " ").replace("_", " ").split()


def _bare(word: str) -> str:
    return word.strip("#*_:()[]\u2014-.,/").lower()


def _relation(words: list[str], n: int) -> Relation | None:
    """What a word of a heading says of the things below it."""
    word = words[n]
    if word in _WORDS:
        return _WORDS[word]
    if STATES.get(word) == "removed":
        return Relation.REMOVED
    if NOUNS.get(word) is Relation.CHANGED:
        return Relation.CHANGED
    found = next((v.sense.relation for v in VERBS.get(word, ()) if _fits(v, words[n + 1 :])), None)
    if found is Relation.ADDED:
        return Relation.CREATED
    return found if found in _TOLD else None


def _fits(verb: Verb, ahead: list[str]) -> bool:
    is_past = verb.form is Form.PAST and verb.sense.strong
    return is_past and tuple(ahead[: len(verb.particles)]) == verb.particles


def _says_untouched(words: list[str]) -> bool:
    """True for `Unchanged`, `Not touched`, `No changes`, `Left as is`."""
    denied = any(word in ("not", "no", "un") for word in words)
    said = any(STATES.get(word) == "untouched" for word in words)
    changed = any(_relation(words, n) is Relation.CHANGED for n in range(len(words)))
    kept = bool({"left", "kept"} & set(words)) and bool({"as", "alone", "untouched"} & set(words))
    return len(words) <= _MOST_WORDS - 1 and (said or kept or (denied and changed))
