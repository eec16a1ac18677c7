"""Reads YAML and remembers the line of every key, so that an error can point at it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import yaml

from segue.domain.errors import CatalogError

Loc = tuple[str | int, ...]
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_MOST_KEYS = 20_000
"""Far more than any catalog needs; a few lines of nested aliases can stand for billions."""


class LocatedYaml:
    """A YAML file and where each of its keys stands."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        self._lines: dict[Loc, int] = {}
        self._moves: dict[Loc, Loc] = {}
        try:
            loader = yaml.SafeLoader(content.decode("utf-8"))
            node = loader.get_single_node()
            if node is not None:
                self._locate(node, ())  # before `construct_document`, which writes merged keys into the nodes
            self.value: Any = {} if node is None else loader.construct_document(node)
        except UnicodeDecodeError as error:
            raise CatalogError(f"{path} is not UTF-8 text (byte {error.start})") from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise CatalogError(f"{path}:{line}: this is no YAML: {error.problem or error.context}") from error
        except RecursionError as error:
            raise CatalogError(f"{path}: this is nested too deeply, or contains itself") from error
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError) as error:
            # The last four are what PyYAML lets through for a date, number or tag that makes no sense.
            first_line = str(error).partition("\n")[0]
            raise CatalogError(f"{path}: this is no YAML: {first_line}") from error
        if not isinstance(self.value, dict):
            raise CatalogError(f"{path}:1: a list of `key: value` lines is expected here")

    def line(self, loc: Loc) -> int:
        """The line of a key, or of the nearest key around it."""
        found = self._written_at(loc)
        while found and found not in self._lines:
            found = found[:-1]
        return self._lines.get(found, 1)

    def _written_at(self, loc: Loc) -> Loc:
        """Where a key of the content stands in the file."""
        for length in range(len(loc), 0, -1):
            if (moved := self._moves.get(loc[:length])) is not None:
                return (*moved, *loc[length:])
        return loc

    def wrong(self, loc: Loc, message: str) -> CatalogError:
        """An error that points at a key."""
        return CatalogError(f"{self.path}:{self.line(loc)}: {message}")

    def rewritten(self, value: dict[str, Any], moves: Mapping[Loc, Loc]) -> LocatedYaml:
        """The same file with another content; `moves` says where the keys of that content are written."""
        made = copy(self)
        made.value = value
        made._moves = dict(moves)  # of the same class
        return made

    def _locate(self, node: yaml.Node, loc: Loc) -> None:
        self._lines.setdefault(loc, node.start_mark.line + 1)
        if len(self._lines) > _MOST_KEYS:
            raise CatalogError(
                f"{self.path}: this has more than {_MOST_KEYS} entries, aliases counted each time"
            )
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._locate(item, (*loc, index))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                    key.tag = (
                        _TEXT  # YAML takes `on` for true and 12 for a number; a name is what stands there
                    )
                here = (*loc, str(key.value))
                if here in self._lines:
                    raise CatalogError(
                        f'{self.path}:{key.start_mark.line + 1}: "{key.value}" stands here twice'
                    )
                self._lines[here] = key.start_mark.line + 1
                self._locate(value, here)
