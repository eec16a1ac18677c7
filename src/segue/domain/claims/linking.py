"""Links the names of a text to what happened: to files, definitions, changed lines, and the trees."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from segue.domain.claims.path_finder import Match, PathFinder, why_unseen
from segue.domain.evidence.dependencies import compare_dependencies, is_manifest
from segue.domain.evidence.model import Change, ChangeKind, DefinitionChange, Evidence
from segue.domain.evidence.sources import MOST_PLACES, FileLine, Sources
from segue.domain.evidence.values import values_of
from segue.domain.text.words import word_set

_WORDS = re.compile(r"\w+")
_DEFINES = word_set(
    "def class function func fn struct interface type enum trait const let var fun sub module macro_rules!"
)
_TEST_PARTS = frozenset({"test", "tests", "spec", "specs", "__tests__", "testing"})
_DOC_ENDINGS = (".md", ".rst", ".txt", ".adoc", ".mdx")
_CODE_ENDINGS = tuple(
    word_set(
        ".py .js .ts .tsx .jsx .go .rs .java .rb .c .h .cpp .cc .cs .php .kt .swift .scala .mjs .cjs .sh "
        ".vue .svelte .ex .exs .lua .dart"
    )
)


def squashed(text: str) -> str:
    """Letters and digits alone, in lower case: `max-retries` and `max_retries` are the same."""
    return "".join(c for c in text.casefold() if c.isalnum())


def core_of(name: str) -> str:
    """The identifier in `Cart.total(items)`: `total`."""
    bare = name.partition("(")[0].strip().strip("`'\"")
    bare = bare.replace("::", ".").replace("#", ".").rstrip(".:")
    last = bare.rpartition(".")[2]
    return last or bare


def is_test_path(path: str) -> bool:
    """True if a file's name or folder says that it holds tests."""
    folders, name = posixpath.split(path.lower())
    if not _TEST_PARTS.isdisjoint(folders.split("/")):
        return True
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_tests", "_spec", "test", "tests"))
        or ".test." in name
        or ".spec." in name
    )


def is_doc_path(path: str) -> bool:
    """True if a file is documentation."""
    return path.lower().endswith(_DOC_ENDINGS) or path.lower().startswith(("docs/", "doc/"))


def is_code_path(path: str) -> bool:
    """True if a file holds program text."""
    return path.lower().endswith(_CODE_ENDINGS)


class World:
    """What is known of a step, ready to be asked. Made once for a ledger."""

    def __init__(self, evidence: Evidence, sources: Sources | None) -> None:
        self.evidence = evidence
        self.sources = sources
        self.paths = PathFinder(evidence)
        self._values: dict[tuple[str, bool], Mapping[str, str]] = {}
        self._matches: dict[str, Match] = {}
        self._after: Mapping[str, tuple[FileLine, ...]] = {}
        self._before: Mapping[str, tuple[FileLine, ...]] = {}
        self.renamed = {c.old_path: path for path, c in evidence.changes.items() if c.old_path}
        self._by_name: dict[str, list[DefinitionChange]] = defaultdict(list)
        for each in evidence.definitions:
            self._by_name[each.name].append(each)
            if each.old_name and each.old_name != each.name:
                self._by_name[each.old_name].append(each)

    # names

    def is_known_path(self, text: str, *, is_code: bool = False) -> bool:
        """True if a file or a folder has this name."""
        bare = text.removeprefix("./").rstrip("/")
        if not bare or bare in (".", ".."):
            return False
        if bare in self.paths.known or ("/" in text and bare in self.paths.folders):
            return True
        if "/" in bare:
            return bool(self.find_path(text).paths) and "*" not in text
        if is_code and bare in self._base_names and not self.is_defined(bare):
            return True
        return bare in self._base_names and ("." in bare.strip(".") or bare[:1].isupper() or bare[0] == ".")

    @cached_property
    def _base_names(self) -> frozenset[str]:
        return frozenset(posixpath.basename(path) for path in self.paths.known)

    @cached_property
    def _blank_paths(self) -> dict[str, list[str]]:
        """The first word of a path with blanks -> such paths, the longest first."""
        found: dict[str, set[str]] = defaultdict(set)
        for path in self.paths.known:
            if " " in path:
                for name in (path, posixpath.basename(path)):
                    if " " in name:
                        found[name.partition(" ")[0]].add(name)
        return {first: sorted(names, key=len, reverse=True) for first, names in found.items()}

    def path_with_blanks(self, text: str, start: int) -> str | None:
        """The known path with blanks in it that begins here."""
        if not self._blank_paths:
            return None
        stop = text.find(" ", start)
        for path in self._blank_paths.get(text[start:stop], ()) if stop > 0 else ():
            after = text[start + len(path) : start + len(path) + 1]
            if text.startswith(path, start) and not after.isalnum():
                return path
        return None

    def is_defined(self, name: str) -> bool:
        """True if a definition that came, went or changed has this name."""
        return core_of(name) in self._by_name

    def is_dependency(self, name: str) -> bool:
        """True if a dependency that came, went or changed has this name."""
        return name.casefold().replace("_", "-") in self._dependencies

    @cached_property
    def _dependencies(self) -> frozenset[str]:
        return frozenset(d.name.casefold().replace("_", "-") for d in self.evidence.dependencies)

    def has_run(self, text: str) -> bool:
        """True if a program with the name that a line begins with was run."""
        return text.partition(" ")[0] in self._programs

    @cached_property
    def _programs(self) -> frozenset[str]:
        runs = (*self.evidence.commands, *self.evidence.checks)
        return frozenset(run.command.partition(" ")[0] for run in runs)

    def listed_versions(self, name: str) -> Mapping[str, str]:
        """Manifest -> the version that it lists for a dependency after the step."""
        return self._listed.get(name.casefold().replace("_", "-"), {})

    @cached_property
    def _listed(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = defaultdict(dict)
        paths = [path for path in self.evidence.after or () if is_manifest(path)] if self.sources else []
        texts = {path: text for path in paths if self.sources and (text := self.sources.text(path))}
        came = dict.fromkeys(texts, Change(kind=ChangeKind.ADDED))
        for each in compare_dependencies(came, {}, texts):
            found[each.name.casefold().replace("_", "-")][each.manifest] = each.after or ""
        return found

    # files

    def find_path(self, text: str) -> Match:
        """The files that a path means."""
        found = self._matches.get(text)
        if found is None:
            found = self._matches[text] = self.paths.find(text)
        return found

    def change(self, path: str) -> Change | None:
        """What happened to a path."""
        return self.evidence.changes.get(path)

    @property
    def has_trees(self) -> bool:
        """True if the files before and after are known."""
        return self.evidence.before is not None and self.evidence.after is not None

    @property
    def is_whole(self) -> bool:
        """True if every changed path and every file is known."""
        return self.has_trees and self.evidence.is_diff_whole and self.evidence.is_tree_whole

    def why_unseen(self, path: str) -> str | None:
        """Why git does not look at a path."""
        return why_unseen(self.evidence, path)

    def describe(self, path: str) -> str:
        """`README.md changed (+3 -1)`."""
        change = self.evidence.changes[path]
        lines = ""
        if change.additions is not None and change.deletions is not None:
            lines = f" (+{change.additions} -{change.deletions})"
        how = {
            ChangeKind.ADDED: "was added",
            ChangeKind.DELETED: "was deleted",
            ChangeKind.RENAMED: f"was renamed from {change.old_path}",
        }.get(change.kind, "changed")
        return f"{path} {how}{lines}"

    # definitions

    def definitions(self, name: str) -> list[DefinitionChange]:
        """The definitions that came, went or changed and are called so."""
        core = core_of(name)
        found = self._by_name.get(core, [])
        bare = name.partition("(")[0].strip().replace("::", ".").replace("#", ".")
        holder = bare.rpartition(".")[0].rpartition(".")[2]
        if holder:
            inside = [
                d
                for d in found
                if holder in d.qualified.split(".") or holder == posixpath.basename(d.path).partition(".")[0]
            ]
            return inside or ([] if any("." in d.qualified for d in found) else found)
        return found

    def members(self, name: str) -> list[DefinitionChange]:
        """The definitions inside of a class or a module that is called so."""
        core = core_of(name)
        return [d for d in self.evidence.definitions if core in d.qualified.split(".")[:-1]]

    # changed lines

    @cached_property
    def are_lines_whole(self) -> bool:
        """True if every changed line of text is known."""
        return self.is_whole and all(
            c.hunks is not None
            or c.is_binary
            or (c.kind is ChangeKind.RENAMED and not c.additions and not c.deletions)
            for c in self.evidence.changes.values()
        )

    @cached_property
    def _added(self) -> dict[str, set[str]]:
        return self._lines_by_word(added=True)

    @cached_property
    def _removed(self) -> dict[str, set[str]]:
        return self._lines_by_word(added=False)

    def _lines_by_word(self, *, added: bool) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for path, change in self.evidence.changes.items():
            for hunk in change.hunks or ():
                for line in hunk.added if added else hunk.removed:
                    for word in _WORDS.findall(line):
                        found[word].add(path)
        return found

    @cached_property
    def _squashed_lines(self) -> tuple[str, str]:
        sides: list[str] = []
        for added in (True, False):
            lines = (
                line
                for change in self.evidence.changes.values()
                for hunk in change.hunks or ()
                for line in (hunk.added if added else hunk.removed)
            )
            sides.append(squashed("\n".join(lines)))
        return sides[0], sides[1]

    def files_with(self, name: str, *, added: bool) -> frozenset[str]:
        """The files in whose added or removed lines a name is a word of its own."""
        core = core_of(name)
        index = self._added if added else self._removed
        words = _WORDS.findall(core)
        if not words:
            return frozenset()
        files = set.intersection(*(index.get(word, set()) for word in words))
        if len(words) == 1 and words[0] == core:
            return frozenset(files)
        return frozenset(
            path for path in files if any(core in line for line in self.lines(path, added=added))
        )

    def lines(self, path: str, *, added: bool) -> Iterable[str]:
        """The added or removed lines of a file."""
        change = self.evidence.changes.get(path)
        for hunk in (change.hunks if change else None) or ():
            yield from hunk.added if added else hunk.removed

    def is_in_lines(self, name: str, *, added: bool) -> bool:
        """True if an added or removed line may mean a name, however it is spelled."""
        wanted = squashed(core_of(name))
        if not wanted:
            return True
        if wanted in self._squashed_lines[0 if added else 1]:
            return True
        paths = (path if added else (c.old_path or path) for path, c in self.evidence.changes.items())
        return any(wanted in squashed(path) for path in paths)

    # the trees

    def look_up(self, names: Collection[str], base_names: Collection[str] = ()) -> None:
        """Asks the sources once for every name of a text, before and after."""
        wanted = {form for name in names for form in _spellings(core_of(name))} | set(base_names)
        wanted.discard("")
        if self.sources is not None and wanted:
            self._after = self.sources.find(wanted)
            self._before = self.sources.find(wanted, before=True)

    def places(self, name: str, *, before: bool = False) -> tuple[FileLine, ...]:
        """Where a name is in the text of a file."""
        index = self._before if before else self._after
        return tuple(place for form in _spellings(core_of(name)) for place in index.get(form, ()))

    def is_spoken_of(self, path: str) -> bool:
        """True if the text of a file has the name of another: one that a program may make when it runs."""
        return bool(self._after.get(posixpath.basename(path.rstrip("/"))))

    def knows_absence(self) -> bool:
        """True if a name that is found nowhere is nowhere."""
        return self.sources is not None and self.sources.is_whole and self.are_lines_whole

    def is_nowhere(self, name: str) -> bool:
        """True if a name is surely in no file, no path and no added line after the step."""
        if not self.knows_absence() or len(core_of(name)) < 3 or not self._was_asked(name):
            return False
        if self.places(name) or self.is_in_lines(name, added=True):
            return False
        wanted = squashed(core_of(name))
        return not any(wanted in squashed(path) for path in self.evidence.after or ())

    def _was_asked(self, name: str) -> bool:
        return core_of(name) in self._after

    def is_in_file(self, name: str, path: str) -> bool | None:
        """Whether the text of a file after the step has a name; none if that is not known."""
        text = self.text(path)
        if text is None:
            return None
        core = core_of(name)
        return core in text or squashed(core) in squashed(text)

    def values(self, path: str, *, before: bool = False) -> Mapping[str, str]:
        """The values that a file sets, after the step or before it."""
        if (path, before) not in self._values:
            text = self.sources.text(path, before=before) if self.sources is not None else None
            self._values[path, before] = values_of(path, text) if text is not None else {}
        return self._values[path, before]

    def text(self, path: str) -> str | None:
        """The text of a file after the step; none if that is not known."""
        return self.sources.text(path) if self.sources is not None else None

    def line(self, place: FileLine) -> str:
        """The text of a line after the step."""
        lines = (self.text(place.path) or "").splitlines()
        return lines[place.line - 1] if place.line <= len(lines) else ""

    def definition_places(self, name: str, *, before: bool = False) -> list[FileLine] | None:
        """Where a line seems to define a name; none if there are more places than were told."""
        places = self.places(name, before=before)
        if self.sources is None or len(places) >= MOST_PLACES:
            return None
        core = core_of(name)
        found = []
        for place in places:
            text = self.sources.text(place.path, before=before)
            lines = text.splitlines() if text is not None else []
            if place.line <= len(lines) and _defines(core, lines[place.line - 1]):
                found.append(place)
        return found

    def went(self, name: str, places: Collection[str] = ()) -> bool:
        """True if a removed line seems to have defined or imported a name, there or anywhere."""
        core = core_of(name)
        return any(
            "import" in line or line.strip(" \t,'\"") == core or _defines(core, line)
            for path in self.files_with(name, added=False)
            if not places or path in places
            for line in self.lines(path, added=False)
            if core in line
        )


def _defines(name: str, line: str) -> bool:
    words = line.replace("(", " ").replace(":", " ").replace("<", " ").split()
    for at, word in enumerate(words[:-1]):
        if word in _DEFINES and (words[at + 1] == name or (len(words) > at + 2 and words[at + 2] == name)):
            return True
    bare = line.strip()
    return bare.startswith((f"{name} =", f"{name}: "))


def _spellings(name: str) -> tuple[str, ...]:
    """A name as it may be written elsewhere: `max-retries`, `max_retries`."""
    return (
        tuple(dict.fromkeys((name, name.replace("-", "_"), name.replace("_", "-"))))
        if len(name) > 2
        else (name,)
    )
