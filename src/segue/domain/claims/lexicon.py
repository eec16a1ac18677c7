"""Closed lists of words: grammar, quantities, modality, things that are counted. Data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from segue.domain.text.words import word_set

_T = TypeVar("_T")


def by_word(table: Mapping[_T, str]) -> dict[str, _T]:
    """A table of values, each with the words that have it, turned round: word -> value."""
    return {word: value for value, words in table.items() for word in words.split()}


GRAMMAR = word_set(
    "a an the this that these those it its it's they them their there here i we i've we've i'd my our "
    "us me is are was were be been being am has have had having do does did done get gets got gotten "
    "and or as at by for from in inside into of on onto to within with under via per which who also now "
    "then so too just successfully finally currently still again already file files module modules "
    "script scripts folder folders directory directories repo repository codebase code named called 's "
    "s following respectively i.e e.g etc above below both-of thus hence next-to up out "
    "off over away down back along entry entries item one change changes commit step patch work pr "
    "session branch ok okay done yes well please made sure "
    "project source tree path paths name in-all diff changeset overall altogether contents "
    "content plus namely today actually there's"
)
"""Words that state nothing that would have to be checked."""
PHRASES: dict[tuple[str, ...], str] = {
    tuple(phrase.split()): word
    for word, phrases in {
        "and": "along with, as well as, together with, and so was, and so is, and so were, and so are, "
        "and so did, but "
        "also, on top of that, in addition, in addition to, while at it, while i was at it",
        "both": "not only",
        "passed": "came out green, comes out green, came back green, came back clean, comes back clean, "
        "came back "
        "ok, come out green, came through, come through, are through",
        "that-is-all": "that is all, that 's all, that is it, that 's it, full stop, and that was it, "
        "that was all",
        "nothing-else": "nothing more, nothing further, nothing beyond that, nothing beyond, nothing "
        "besides, no "
        "file more, not one file more, nothing other, no others, and no more, nothing else, only that",
        "full-list": "full list, complete list, entire list, exhaustive list, whole list",
        "everything-in": "everything i did, all i did, everything we did, everything i changed, all of "
        "it, all "
        "my changes, all my edits, all of the changes, all the changes, all changes, all edits, all "
        "modifications, every change, every edit",
        "gone": "is no more, are no more, had to go, has to go, was no more",
        "as-before": "as it was, as they were, as before, as it is, the way it was, the way they were, as it "
        "stood, as it used to be, as they are",
        "kept-content": "keeps its old content, kept its old content, keeps its contents, left it be, "
        "let it be",
        "i": "went ahead and, gone ahead and, go ahead and, ended up, had to, have had to, was able to",
        "now": "from now on, from here on, as of now, these days, as of this commit, at last, from this "
        "point on, "
        "going forward, as of today",
        "anymore": "any longer, any more",
        "was": "used to be, previously was",
        "formerly": "used to",
        "called": "goes by the name of, goes by, given the name, go by, named as, known as, the name of",
        "new": "brand new",
        "uses": "call sites, usage sites",
        "diff": "change set, overall diff, whole diff, entire diff, full diff, diff of this step",
        "pr": "pull request, merge request",
        "codebase": "code base, whole tree, entire tree, whole repo, whole repository, entire repository",
        "in-all": "in total, all in all, in all, all told, a total of, the total of, total of",
        "only": "exactly these, precisely these, exactly the following, exactly this",
        "every": "each and every, every single, every one of, each one of, each of, every last",
        "no": "not a single, not one, not any, no single",
        "exit-code": "exit code, exit status, return code, status code, return value, exit value",
        "test-suite": "test suite, suite of tests, test run, tests suite",
        "file": "file at",
        "not": "held off on, holding off on, refrained from, held back from",
        "left-alone": "stayed away from, kept out of, steered clear of, kept my hands off, hands off, stayed "
        "out of, kept away from, didn't go near, did not go near, stay away from, kept clear of",
    }.items()
    for phrase in phrases.split(", ")
}
"""Several words that say what one word says; the word stands for them."""
LONGEST_PHRASE = max(len(phrase) for phrase in PHRASES)
PREFIXES = word_set("feat fix chore refactor test tests build docs style perf ci revert deps doc wip cleanup")
"""What a commit message begins with, before a colon: it only says of which kind the change is."""
AGENT = word_set("i we i've we've i'd i'll it this which they agent")
"""Subjects that mean who did the work, or the work itself."""
WORK_NOUNS = word_set("change commit step patch pr session branch diff work update refactor iteration task")
ADVERBS = word_set(
    "also now then newly just successfully finally already recently additionally further simply "
    "explicitly directly only still again therefore thus hence quickly manually carefully fully "
    "completely entirely properly correctly cleanly subsequently effectively currently later again so "
    "have has had having been being be is are was were got get gets not never n't did do does to freshly "
    "actually deliberately intentionally"
)
BE = word_set("is are was were be been being got get gets gotten isn't aren't wasn't weren't 're 's")
DETERMINERS = word_set("a an the this that these those my our its their any each every some no all his your")
NEGATIONS = word_set(
    "not no never none nothing neither nor without cannot nobody didn't don't doesn't wasn't weren't "
    "isn't aren't hasn't haven't hadn't won't can't couldn't nowhere"
)
PREPOSITIONS: dict[str, str] = by_word(
    {
        "place": "in inside within under at on across throughout below",
        "target": "to into onto",
        "source": "from off",
        "topic": (
            "for about of covering against around regarding exercising via through between "
            "testing asserting checking towards like than per over"
        ),
        "with": "with by using as instead",
        "sub": (
            "because since so which who where when while if unless until after before whose "
            "whenever whether how why what rather once although though due during that"
        ),
    }
)
"""Word -> the role of what follows it."""
COUNT_NOUNS: dict[str, str] = by_word(
    {
        "files": "file files modules",
        "lines": "line lines loc insertion insertions deletion deletions",
        "tests": "test tests testcases spec specs",
        "functions": "function functions helpers helper",
        "methods": "method methods",
        "classes": "class classes",
        "commits": "commit commits",
        "dependencies": "dependency dependencies package packages",
        "passed": "passed passing pass passes green",
        "failed": "failed failing fail fails failure failures red",
        "skipped": "skipped skips skip xfailed",
        "collected": "collected total",
        "constants": "constants constant",
        "errors": "error errors",
        "warnings": "warning warnings",
        "types": "types interfaces structs enums",
    }
)
"""Noun -> what is counted."""
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen"
NUMBER_WORDS: dict[str, int] = {word: value for value, word in enumerate(_NUMBERS.split())} | by_word(
    {0: "no none neither", 1: "single", 2: "couple pair both", 12: "dozen", 15: "fifteen", 20: "twenty"}
)
ABOUT = word_set("about around roughly approximately approx ~ some nearly almost circa over under ca c")
_KIND_NOUNS: dict[str, str] = by_word(
    {
        "function method test": "function functions",
        "function method": "func helper method fixture funcs helpers methods fixtures",
        "class type": (
            "class dataclass type interface struct enum exception types interfaces structs enums "
            "exceptions classes"
        ),
        "test": "test tests",
        "constant": "constant variable setting constants variables settings",
        "function": "utility hook utilitys hooks",
        "class function": "component decorator components decorators",
        "class function method": "wrapper wrappers",
    }
)
KIND_NOUNS: dict[str, frozenset[str]] = {noun: word_set(kinds) for noun, kinds in _KIND_NOUNS.items()}
"""Noun -> kinds of definitions that it fits."""
FINE = word_set(
    "pass passes passed passing green succeed succeeds succeeded successful successfully ok clean "
    "cleanly succeeding ✅ ✓ ✔"
)
BAD = word_set("fail fails failed failing red broken break breaks broke crash crashes errors flaky")
ONLY = word_set("only solely exclusively purely limited confined restricted sole")
EXCEPT = word_set("besides outside than apart except aside beyond excluding but save")
"""With a word that denies: what comes behind is all that there is."""
NEW = word_set("new newly brand-new")
OTHERS = word_set("nothing-else other else others elsewhere further additional rest remaining another")
USES = word_set(
    "use uses usage usages reference references call calls occurrence occurrences mention mentions "
    "import imports caller callers instance instances trace traces"
)
UNCHANGED = word_set(
    "untouched unchanged unmodified intact alone as-is unaltered unaffected as_is same identical unedited "
    "left-alone as-before kept-content"
)
STATES: dict[str, str] = by_word(
    {
        "removed": "gone deleted",
        "untouched": (
            "untouched unchanged unmodified intact as-is unaltered unaffected unedited same identical "
            "as-before "
            "kept-content"
        ),
        "created": "new brand-new",
        "unused": "unused",
    }
)
"""Adjective after a form of `be`, or in a status cell -> relation."""
_PROGRAMS = word_set("ruff eslint flake8 pylint clippy golangci-lint mypy pyright tsc black prettier")
TOOLS: dict[str, str] = {name: name for name in _PROGRAMS} | by_word(
    {
        "lint": "lint linter linting linters",
        "types": "typecheck type-check typechecking typing type-checks typechecker",
        "build": "build compile compiles builds compilation",
        "format": "formatting formatter",
    }
)
"""Word -> the purpose or the program of a check."""
