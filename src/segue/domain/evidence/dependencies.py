"""The dependencies that manifests list, before and after: Python, Node, Rust, Go and Ruby."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from segue.domain.evidence.model import Change, ChangeKind, DependencyChange

Listed = Mapping[str, str]
"""Name -> version or range as it is written; empty if there is none."""

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]{0,200})\s*(?:\[([^\]\n]{0,200})\])?\s*([^;#\n]{0,300})")
_REQUIREMENTS_FILE = re.compile(r"^(?:requirements|constraints)[\w.-]*\.(?:txt|in|pip)$")
_GO_LINE = re.compile(r"^\s*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+(v[\w.+-]+)", re.MULTILINE)
_GEM = re.compile(r"""^\s*gem\s+["']([\w.-]+)["'](?:\s*,\s*((?:["'][^"'\n]+["']\s*,?\s*)+))?""", re.MULTILINE)
_LARGEST = 1_000_000


def is_manifest(path: str) -> bool:
    """True if a file lists dependencies."""
    return _reader_of(path) is not None


def compare_dependencies(
    changes: Mapping[str, Change], before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[DependencyChange, ...]:
    """The dependencies that came, went or got another version, by manifest and name."""
    found: list[DependencyChange] = []
    for path, change in sorted(changes.items()):
        reader = _reader_of(path)
        if reader is None or change.is_binary:
            continue
        old = "" if change.kind is ChangeKind.ADDED else before.get(change.old_path or path)
        new = "" if change.kind is ChangeKind.DELETED else after.get(path)
        sides = [_listed(reader, text) for text in (old, new)]
        if (was := sides[0]) is None or (now := sides[1]) is None:
            continue
        found += [
            DependencyChange(manifest=path, name=name, before=was.get(name), after=now.get(name))
            for name in sorted({*was, *now})
            if was.get(name) != now.get(name)
        ]
    return tuple(found)


def _listed(reader: Callable[[str], Listed], text: str | None) -> Listed | None:
    """None if it cannot be read: then nothing is known of it."""
    if text is None or len(text) > _LARGEST:
        return None
    if not text.strip():
        return {}
    try:
        return reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError, configparser.Error):
        return None


def _reader_of(path: str) -> Callable[[str], Listed] | None:
    name = PurePosixPath(path).name
    if _REQUIREMENTS_FILE.match(name) or PurePosixPath(path).match("requirements/*.txt"):
        return _requirements
    return _READERS.get(name)


def _pyproject(text: str) -> Listed:
    document = tomllib.loads(text)
    project = document.get("project", {})
    lists: list[Any] = [project.get("dependencies", [])]
    lists += project.get("optional-dependencies", {}).values()
    lists += document.get("dependency-groups", {}).values()
    lists.append(document.get("build-system", {}).get("requires", []))
    found: dict[str, str] = {}
    for requirement in (each for one in lists for each in one if isinstance(each, str)):
        found.update(_requirement(requirement))
    poetry = document.get("tool", {}).get("poetry", {})
    tables = [poetry.get("dependencies", {}), poetry.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in poetry.get("group", {}).values()]
    for table in tables:
        found.update({name: _version(value) for name, value in table.items()})
    return found


def _requirements(text: str) -> Listed:
    found: dict[str, str] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.lstrip().startswith(("#", "-")):
            found.update(_requirement(line))
    return found


def _requirement(text: str) -> Iterator[tuple[str, str]]:
    if match := _REQUIREMENT.match(text):
        version = re.sub(r"\s*--hash=\S+", "", match[3]).strip()
        yield match[1], version.removeprefix("(").removesuffix(")")


def _setup_cfg(text: str) -> Listed:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lists = [parser.get("options", key, fallback="") for key in ("install_requires", "setup_requires")]
    if parser.has_section("options.extras_require"):
        lists += [value for _, value in parser.items("options.extras_require")]
    return _requirements("\n".join(lists).replace(";", "\n;"))


def _package_json(text: str) -> Listed:
    document = json.loads(text)
    found: dict[str, str] = {}
    for key in ("peerDependencies", "optionalDependencies", "devDependencies", "dependencies"):
        found.update({name: _version(value) for name, value in (document.get(key) or {}).items()})
    return found


def _cargo(text: str) -> Listed:
    document = tomllib.loads(text)
    places = [document, document.get("workspace", {}), *document.get("target", {}).values()]
    found: dict[str, str] = {}
    for place in places:
        for key in ("build-dependencies", "dev-dependencies", "dependencies"):
            found.update({name: _version(value) for name, value in place.get(key, {}).items()})
    return found


def _version(value: Any) -> str:
    """`"^1.2"`, or the version in a table: `{version = "1", features = []}`."""
    if isinstance(value, dict):
        value = value.get("version", "")
    return value if isinstance(value, str) else ""


def _go_mod(text: str) -> Listed:
    lines = [line for line in text.splitlines() if "=>" not in line and not line.startswith("module")]
    return {match[1]: match[2] for match in _GO_LINE.finditer("\n".join(lines))}


def _gemfile(text: str) -> Listed:
    return {match[1]: re.sub(r"[\"'\s]+", " ", match[2] or "").strip(" ,") for match in _GEM.finditer(text)}


_READERS: Mapping[str, Callable[[str], Listed]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "Gemfile": _gemfile,
}
