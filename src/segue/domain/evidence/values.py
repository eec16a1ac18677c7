"""The values that a file sets: constants, defaults of parameters, keys of configuration."""

from __future__ import annotations

import ast
import configparser
import json
import tomllib
from collections.abc import Iterator

import yaml


def values_of(path: str, text: str) -> dict[str, str]:
    """Dotted name -> value, as far as a file of this kind can be read; empty if it cannot."""
    try:
        return {name: _shown(value) for name, value in _values(path, text)}
    except (ValueError, TypeError, RecursionError, SyntaxError, configparser.Error, yaml.YAMLError):
        return {}


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(path: str, text: str) -> Iterator[tuple[str, object]]:
    match path.rpartition(".")[2]:
        case "py":
            yield from _of_body(ast.parse(text).body, "")
        case "toml":
            yield from _flat(tomllib.loads(text), "")
        case "json":
            yield from _flat(json.loads(text), "")
        case "yml" | "yaml":
            yield from _flat(yaml.safe_load(text), "")
        case "ini" | "cfg":
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            yield from _flat({name: dict(parser[name]) for name in parser.sections()}, "")


def _flat(tree: object, prefix: str) -> Iterator[tuple[str, object]]:
    """The leaves of a tree of configuration."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from _flat(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(tree, str | int | float) and prefix:
        yield prefix, tree


def _of_body(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, object]]:
    """Constants, and defaults of parameters, of a module or a class."""
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
                    yield prefix + target.id, node.value.value
        elif isinstance(node, ast.ClassDef):
            yield from _of_body(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((f"{prefix}{node.name}.{name}", value) for name, value in _defaults(node.args))


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, object]]:
    placed = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(placed[len(placed) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if isinstance(default, ast.Constant):
            yield argument.arg, default.value
