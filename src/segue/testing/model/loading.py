"""Scripts from plain data: YAML or JSON files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from segue.testing.model import script as values
from segue.testing.model.script import Fault, Script, ScriptedUsage, ScriptStep, Turn

_STEPS: Mapping[str, type[ScriptStep] | type[Fault]] = {
    "say": values.Say,
    "write": values.Write,
    "edit": values.Edit,
    "read": values.Read,
    "shell": values.Shell,
    "call": values.Call,
    "empty": values.Empty,
    "error": values.Error,
    "cut": values.Cut,
    "hang": values.Hang,
}
_KINDS: Mapping[str, tuple[type, ...]] = {"str": (str,), "Text": (str,), "int": (int,), "float": (int, float)}
_OPTIONS = {field.name for field in dataclasses.fields(Turn)} - {"steps"}


class ScriptError(ValueError):
    """A script that cannot be understood."""


def load_script(path: Path) -> Script:
    """The script in a YAML or JSON file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ScriptError(f"Cannot read the script {path}: {error}") from error
    return parse_script(data)


def parse_script(data: object) -> Script:
    """A script from plain data."""
    whole = _mapping(data, "the script")
    _only(whole, {"scenarios", "default", "side"}, "the script")
    named = _mapping(whole.get("scenarios"), "`scenarios`")
    scenarios = {str(name): _turns(value, f"scenario {name}") for name, value in named.items()}
    options: dict[str, Any] = {}
    if "side" in whole:
        options["side"] = None if whole["side"] is None else _turn(whole["side"], "`side`")
    try:
        return values.script(scenarios, default=whole.get("default"), **options)
    except ValueError as error:
        raise ScriptError(f"The script cannot be used: {error}.") from error


def _turns(data: object, place: str) -> tuple[Turn, ...]:
    listed = data if isinstance(data, list) else [data]
    return tuple(_turn(one, f"{place}, turn {number}") for number, one in enumerate(listed, 1))


def _turn(data: object, place: str) -> Turn:
    given = {"say": data} if isinstance(data, str) else dict(_mapping(data, place))
    _only(given, {*_STEPS, *_OPTIONS}, place)
    steps = tuple(
        _step(kind, one, place)
        for kind, value in given.items()
        if kind in _STEPS
        for one in (value if isinstance(value, list) else [value])
    )
    options: dict[str, Any] = {key: value for key, value in given.items() if key in _OPTIONS}
    if "usage" in options:
        options["usage"] = _build(ScriptedUsage, options["usage"], f"{place}, usage")
    if "then" in options:
        options["then"] = _turn(options["then"], f"{place}, then")
    _check_kinds(Turn, options, place)
    try:
        return Turn(steps, **options)
    except ValueError as error:
        raise ScriptError(f"Fix {place}: {error}.") from error


def _step(kind: str, value: object, place: str) -> ScriptStep | Fault:
    made: ScriptStep | Fault = _build(_STEPS[kind], value, f"{place}, {kind}")
    return made


def _build(made: type[Any], value: object, place: str) -> Any:
    """A value of a class, from its fields, or from its first one alone."""
    names = [field.name for field in dataclasses.fields(made)]
    if value is None or value is True:
        given: Mapping[str, Any] = {}
    else:
        given = value if isinstance(value, Mapping) else dict(zip(names[:1], [value], strict=False))
    _only(given, set(names), place)
    _check_kinds(made, given, place)
    try:
        return made(**given)
    except TypeError as error:
        raise ScriptError(f"Fix {place}: {str(error).removeprefix('__init__() ')}.") from error


def _check_kinds(made: type[Any], given: Mapping[str, Any], place: str) -> None:
    """Texts must be texts and numbers numbers; YAML makes others of what has no quotes."""
    for field in dataclasses.fields(made):
        kinds = _KINDS.get(str(field.type).removesuffix(" | None"))
        value = given.get(field.name)
        if kinds and value is not None and not isinstance(value, kinds):
            wanted = "a text" if str in kinds else "a number"
            raise ScriptError(f"Fix {place}: {field.name} is {wanted}, not {value!r}.")


def _mapping(data: object, place: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ScriptError(f"Make {place} a mapping, not {data!r}.")
    return data


def _only(given: Mapping[str, Any], known: set[str], place: str) -> None:
    if unknown := [str(key) for key in given if key not in known]:
        raise ScriptError(f"Fix {place}: {unknown[0]!r} is none of {', '.join(sorted(known))}.")
