"""Makes one HTML file of an X-ray: styles, scripts and data inside it, and no request to anywhere."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from html import escape
from importlib.resources import files

from pydantic import TypeAdapter

from segue.interfaces.xray.model import XrayPage

STYLES = ("tokens.css", "layout.css", "panes.css", "briefing.css", "small.css")
SCRIPTS = (
    "data.js",
    "elements.js",
    "code.js",
    "words.js",
    "record.js",
    "evidence.js",
    "briefing.js",
    "header.js",
    "threads.js",
    "keys.js",
    "start.js",
)
"""In the order in which they need each other."""
_HARMLESS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def render_html(page: XrayPage) -> str:
    """The file. Whatever the page holds is data in it, never markup."""
    style, script = _joined(STYLES), f'"use strict";\n{_joined(SCRIPTS)}'
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "policy": policy,
        "title": escape(f"X-ray: {page.title}"),
        "style": style,
        "data": as_json(page),
        "script": script,
    }
    head, *others = _read("page.html").split("{{")
    rendered = [head]
    for other in others:  # in one pass: what was filled in is not looked at again
        name, _, text = other.partition("}}")
        rendered += [parts[name], text]
    return "".join(rendered)


def as_json(page: XrayPage) -> str:
    """The data as ASCII, without a character that could end the element that it stands in."""
    found = TypeAdapter(XrayPage).dump_python(page, mode="json")
    return json.dumps(found, ensure_ascii=True, separators=(",", ":")).translate(_HARMLESS)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(_read(name) for name in names)


@cache
def _read(name: str) -> str:
    return (files("segue.interfaces.xray") / "page" / name).read_text(encoding="utf-8")
