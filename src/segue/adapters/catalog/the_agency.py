"""Catalog files of theAgency, read as ours: lists with names, `pipelines`, `opencode_agent` and the like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from segue.adapters.catalog.positions import Loc, LocatedYaml

_KINDS = {"agents": "agents", "templates": "templates", "pipelines": "templates"}
_OPENCODE = "opencode"


@dataclass(slots=True)
class Translated:
    """A file as a catalog, and what had to be changed for that."""

    source: LocatedYaml
    notes: list[str] = field(default_factory=list)
    """A line for each change that a person may want to look at."""


def translate(source: LocatedYaml) -> Translated:
    """The same file as a catalog of ours; as it is if it is one already."""
    value: dict[str, Any] = {}
    moves: dict[Loc, Loc] = {}
    notes: list[str] = []
    for key, inner in source.value.items():
        kind = _KINDS.get(key, key)
        if kind in value:
            raise source.wrong((key,), '"pipelines" and "templates" mean the same: keep one of them')
        if key != kind:
            moves[kind,] = (key,)
            notes.append(f'"{key}" is read as "{kind}"')
        value[kind] = _entries(source, key, kind, inner, moves) if key in _KINDS else inner
    for name, profile in _mappings(value.get("agents")).items():
        _move_agent_keys(value["agents"], name, profile, moves, notes)
    for name, template in _mappings(value.get("templates")).items():
        _drop_agent_type(value["templates"], name, template)
    if value == source.value:
        return Translated(source)
    return Translated(source.rewritten(value, moves), notes)


def agent_file(source: LocatedYaml, stem: str) -> LocatedYaml | None:
    """A file of `.opencode/agents/`: one agent; none if it is something else."""
    value = dict(source.value)
    name = value.pop("name", stem)
    if not isinstance(name, str) or not name or not value.keys() & {"description", "opencode_agent"}:
        return None
    return translate(source.rewritten({"agents": {name: value}}, {("agents", name): ()})).source


def _entries(source: LocatedYaml, key: str, kind: str, inner: Any, moves: dict[Loc, Loc]) -> Any:
    """A list of entries with names as a mapping; anything else as it is."""
    if not (isinstance(inner, list) and all(isinstance(entry, dict) for entry in inner)):
        return inner
    named: dict[str, Any] = {}
    at: dict[str, int] = {}
    for index, entry in enumerate(inner):
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            raise source.wrong((key, index), f'entry {index + 1} of "{key}" has no "name"')
        if name in named:
            first = source.line((key, at[name]))
            raise source.wrong(
                (key, index, "name"), f'"{name}" stands twice in "{key}", first on line {first}'
            )
        named[name] = {word: each for word, each in entry.items() if word != "name"}
        at[name] = index
        moves[kind, name] = (key, index)
    return named


def _move_agent_keys(
    agents: dict[str, Any],
    name: str,
    profile: Mapping[str, Any],
    moves: dict[Loc, Loc],
    notes: list[str],
) -> None:
    here = moves.get(("agents", name), ("agents", name))
    moved = dict(profile)
    if (agent := moved.pop("opencode_agent", None)) is not None:
        moved.setdefault("backend", _OPENCODE)
        if isinstance(options := moved.setdefault("options", {}), dict):
            moved["options"] = {**options, "agent": agent}
        moves["agents", name, "options", "agent"] = (*here, "opencode_agent")
        notes.append(f'agent "{name}": "opencode_agent: {agent}" is read as the option "agent" of OpenCode')
    if (model := moved.pop("default_model", None)) is not None:
        moved.setdefault("model", model)
        moves["agents", name, "model"] = (*here, "default_model")
        if moved.get("backend") == _OPENCODE and "/" not in str(model):
            notes.append(f'agent "{name}": the model "{model}" lacks a provider, as in anthropic/{model}')
    agents[name] = moved


def _drop_agent_type(templates: dict[str, Any], name: str, template: Mapping[str, Any]) -> None:
    """A step of `type: agent` is what a step is by itself."""
    if isinstance(steps := template.get("steps"), list):
        plain: Callable[[Any], Any] = lambda step: (  # noqa: E731
            {key: each for key, each in step.items() if (key, each) != ("type", "agent")}
            if isinstance(step, dict)
            else step
        )
        templates[name] = {**template, "steps": [plain(step) for step in steps]}


def _mappings(entries: Any) -> dict[str, dict[str, Any]]:
    """The entries that are mappings; what else stands there is reported when the catalog is read."""
    if not isinstance(entries, dict):
        return {}
    return {str(name): each for name, each in entries.items() if isinstance(each, dict)}
