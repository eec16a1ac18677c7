"""JavaScript, TypeScript, Go, Rust and Java, read by grammars where `segue[languages]` is installed.

A grammar is loaded when such a file changed, and not before.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from segue.domain.evidence.languages import Language, Languages, ending_of
from segue.domain.evidence.measure import LANGUAGES

_BY_ENDING = {
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}


def languages_for(paths: Iterable[str]) -> Languages:
    """How the files with these names are read; what no installed grammar reads is left out."""
    endings = {ending_of(path) for path in paths}
    found = {each: _grammar(_BY_ENDING[each]) for each in endings if each in _BY_ENDING}
    return {**LANGUAGES, **{ending: language for ending, language in found.items() if language is not None}}


@cache
def _grammar(name: str) -> Language | None:
    try:
        from segue.adapters.languages.grammars import load_grammar  # noqa: PLC0415 (only if such a file changed)
    except ImportError:
        return None
    return load_grammar(name)
