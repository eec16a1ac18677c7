"""Reads an exported file as a browser would: its elements, and the data in it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Elements(HTMLParser):
    """All elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self._text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style", "title"):
            self._open, self._text = (tag, dict(attrs)), []

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._open is not None and self._open[0] == tag:
            self.texts.append((*self._open, "".join(self._text)))
            self._open = None

    def text_of(self, tag: str, **attributes: str) -> str:
        """The text of the one element with these attributes."""
        (text,) = [t for name, has, t in self.texts if name == tag and attributes.items() <= has.items()]
        return text


def data_of(html: str) -> dict[str, Any]:
    """What the page shows."""
    found: dict[str, Any] = json.loads(Elements(html).text_of("script", id="xray"))
    return found
