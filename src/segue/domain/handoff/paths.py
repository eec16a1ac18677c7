"""Finds file paths in text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from segue.domain.handoff.draft import Piece

_TOKEN = re.compile(r"[^\s`\"'<>|()\u3001\u3002\uff0c\uff1b\uff1a\uff08\uff09\u300c\u300d\u201c\u201d\u2192\u2190]+")
_LINE_SUFFIX = re.compile(r"(?::\d+(?:[-,\u2013]\d+)*|#L\d+(?:-L?\d+)?)+$")
_NAME = re.compile(r"[\w.@%+{}*,\[\]~$-]+")
_EXTENSION = re.compile(r".*\.([A-Za-z][A-Za-z0-9]{0,9})$")

EXTENSIONS = frozenset(
    """py pyi ipynb ts tsx js jsx mjs cjs vue svelte html htm css scss sass less json jsonl json5 yaml yml toml ini cfg conf env
    md mdx rst txt tex bib csv tsv xml svg png jpg jpeg gif webp pdf sql db sqlite sh bash zsh ps1 bat cmd go mod sum rs java kt kts
    swift c h cpp cc hpp cs fs fsproj csproj sln rb php lua pl r jl ex exs erl hs ml scala clj edn dart zig nim lean v sv vhdl asm s
    proto graphql tf hcl nix lock log dockerfile makefile gradle properties plist service baml qmd d wasm so dll exe zip gz tar whl
    example sample template tmpl j2 patch diff tscn gd unity prisma astro njk hbs ejs map snap webm mp4 mp3 wav""".split()
)
"""Endings that make a bare name a file."""
_BARE_NAMES = frozenset({"Makefile", "Dockerfile", "LICENSE", ".gitignore", ".env", ".dockerignore", "Jenkinsfile"})
_NOT_FILES = frozenset({"next.js", "node.js", "vue.js", "react.js", "three.js", "d3.js", "nuxt.js", "express.js", "console.log"})
_ROOTS = frozenset(
    """src lib app apps test tests docs doc packages internal cmd pkg scripts bin config configs backend frontend client server api
    public static assets components services handoffs tools examples bench web core infra deploy""".split()
)


def paths_in(text: str, start: int = 0, end: int | None = None) -> Iterator[Piece]:
    """Each path in `text[start:end]`, without `:line` suffixes and the punctuation around it."""
    for found in _TOKEN.finditer(text, start, len(text) if end is None else end):
        token = found[0]
        if len(token) > 400 or ("." not in token and "/" not in token and "\\" not in token and token not in _BARE_NAMES):
            continue
        quoted = found.start() > 0 and text[found.start() - 1] == "`"
        yield from _path(token, found.start(), quoted)


def _path(token: str, at: int, quoted: bool) -> Iterator[Piece]:
    lead = len(token) - len(token.lstrip("*[,;:!?_"))
    bare = token[lead:].rstrip(".,;:!?*_]" if "[" not in token[lead:] else ".,;:!?*_")
    bare = _LINE_SUFFIX.sub("", bare)
    if is_path(bare, quoted=quoted):
        yield Piece(bare, at + lead, at + lead + len(bare))


def is_path(token: str, *, quoted: bool = False) -> bool:
    """True if a token looks like a file or a folder of a project."""
    if "://" in token or "=" in token or len(token) < 3 or token.casefold() in _NOT_FILES:
        return False
    parts = re.split(r"[/\\]", token)
    if not all(_NAME.fullmatch(part) for part in parts if part):
        return False
    last = parts[-1]
    if last in _BARE_NAMES:
        return True
    ending = _EXTENSION.match(last)
    if ending and ending[1].lower() in EXTENSIONS:
        return bool(last[: -len(ending[1]) - 1]) or len(parts) > 1
    if len(parts) == 1 or not any(c.isalpha() for c in token):
        return False
    return _is_folder(token, parts, quoted)


def _is_folder(token: str, parts: list[str], quoted: bool) -> bool:
    if token.startswith(("./", "../", "~/")) or (parts[0] == "" and len(parts) > 2 and quoted):
        return True
    if parts[-1] == "" and len(parts) > 1 and parts[0]:
        return True
    if parts[0] in _ROOTS and len(parts) > 1:
        return True
    return token.endswith(("/*", "/**"))
