"""Writes the canonical record as YAML in the shape of the handoff template, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import yaml

from segue.domain.handoff.model import Handoff, Identified

_FLOW_LISTS = frozenset({"applies_to", "depends_on", "blocking_tasks"})
_ALWAYS_WRITTEN = frozenset({"blocking"})


class _Flow(list[Any]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Lists indented under their key, texts of several lines as blocks, tags on one line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 (PyYAML's)
        """PyYAML would put list items at their key's own column."""
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # PyYAML leaves these line ends as they are outside double quotes, and reads them as others.
    odd = any(c in text for c in "\r\x85\u2028\u2029\ufeff")
    style = '"' if odd else "|" if "\n" in text.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_flow(dumper: yaml.SafeDumper, values: _Flow) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(_Flow, _represent_flow)


def render_yaml(handoff: Handoff) -> str:
    """The record as YAML: fields in the record's order, a blank line between them, empty ones left out."""
    content = written_fields(handoff)
    if not content:
        return "{}\n"
    return "\n".join(_dump({name: value}) for name, value in content.items())


def render_json(handoff: Handoff) -> str:
    """The record as indented JSON, empty fields left out."""
    return json.dumps(written_fields(handoff), ensure_ascii=False, indent=2) + "\n"


def written_fields(handoff: Handoff) -> dict[str, Any]:
    """The fields that hold something, as plain values; ids that follow from the content are left out."""
    return {
        name: _plain(value)
        for name in type(handoff).model_fields
        if (value := getattr(handoff, name)) is not None and value != ()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if not hasattr(value, "model_dump"):
        return value
    content = {}
    for name in type(value).model_fields:
        part = getattr(value, name)
        if part is None or part == () or (part is False and name not in _ALWAYS_WRITTEN):
            continue
        if name == "id" and _follows_from_content(value):
            continue
        content[name] = _Flow(part) if name in _FLOW_LISTS else part
    return content


def _follows_from_content(value: Identified) -> bool:
    return type(value).model_validate({**value.model_dump(), "id": ""}).id == value.id


def _dump(content: dict[str, Any]) -> str:
    # One line for one text, however long: agents and simple readers go by lines.
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31)
