"""Writes the canonical record as YAML in the shape of the handoff template, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from segue.domain.handoff.model import Handoff, Identified

_ALWAYS_WRITTEN = frozenset({"blocking"})
_RESOLVER = Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"
_UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_PLAIN_IN_LIST = re.compile(r"\w[\w./@ -]*")


def render_yaml(handoff: Handoff) -> str:
    """The record as YAML: fields in the record's order, a blank line between them, empty ones left out."""
    content = written_fields(handoff)
    if not content:
        return "{}\n"
    return "\n".join("".join(_field(name, value)) for name, value in content.items())


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
        content[name] = list(part) if isinstance(part, tuple) else part
    return content


def _follows_from_content(value: Identified) -> bool:
    return type(value).model_validate({**value.model_dump(), "id": ""}).id == value.id


# PyYAML's own writer takes ten seconds for some megabytes; the record has one shape, so a few lines do.
def _field(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{name}: {_scalar(value, indent=2)}\n"
        return
    yield f"{name}:\n"
    for item in value:
        if not isinstance(item, dict):
            yield f"  - {_scalar(item, indent=4)}\n"
            continue
        mark = "  - "
        for part, content in item.items():
            yield f"{mark}{part}: {_value(content)}\n"
            mark = "    "


def _value(content: Any) -> str:
    if isinstance(content, list):
        return f"[{', '.join(_scalar(each, in_list=True) for each in content)}]"
    return _scalar(content, indent=6)


def _scalar(value: Any, *, indent: int = 0, in_list: bool = False) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value) and (not in_list or _PLAIN_IN_LIST.fullmatch(value)):
        return value
    if _UNPRINTABLE.search(value):
        return _double_quoted(value)
    if "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    return _double_quoted(value) if in_list or not _fits_block(value) else _block(value, indent)


def _is_plain(text: str) -> bool:
    if (
        not text
        or text[0] in _INDICATORS
        or text != text.strip()
        or text.endswith(":")
        or text.startswith("...")
    ):
        return False
    if ": " in text or " #" in text or "\n" in text or _UNPRINTABLE.search(text):
        return False
    tag = _RESOLVER.resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # no stubs
    return bool(tag == _TEXT_TAG)


def _fits_block(text: str) -> bool:
    """Whether the block's indentation can be told from the text, and its end from the lines after it."""
    return not text[0].isspace() and not text.endswith("\n\n")


def _block(text: str, indent: int) -> str:
    sign, body = ("|", text[:-1]) if text.endswith("\n") else ("|-", text)
    lead = "\n" + " " * indent
    return sign + "".join(lead + line if line else "\n" for line in body.split("\n"))


def _double_quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
