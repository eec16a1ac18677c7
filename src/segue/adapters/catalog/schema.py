"""The JSON Schema of catalog files, for editors: made from the models, with what only their checks know."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from segue.domain.catalog import AgentProfile, Catalog
from segue.domain.permissions import PermissionRule
from segue.domain.template import (
    KEYS_OF_TYPE,
    REACTIONS,
    CatalogEntry,
    PipelineTemplate,
    Reaction,
    StepType,
    TemplateStep,
)

Schema = dict[str, Any]
_DESCRIBED: tuple[type[BaseModel], ...] = (AgentProfile, PermissionRule, PipelineTemplate, TemplateStep)


def catalog_schema(backends: Iterable[str], options_model: Callable[[str], type[BaseModel]]) -> Schema:
    """What may stand in a catalog file, with the options of these back ends.

    That two steps have one name, or that `back_to` names no earlier step, no schema can say.
    """
    schema: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Catalog.model_json_schema(),
    }
    parts: dict[str, Schema] = schema["$defs"]
    for model in _DESCRIBED:
        _describe(parts[model.__name__], model)
    step = parts[TemplateStep.__name__]
    step["allOf"] = [*(_keys_of(kind, step["properties"]) for kind in StepType), *_sending_back()]
    is_agents = {"properties": {"type": {"const": StepType.AGENT}}}
    parts[PipelineTemplate.__name__]["properties"]["steps"]["contains"] = is_agents
    profile = parts[AgentProfile.__name__]
    profile["allOf"] = [_options_of(name, options_model(name), parts) for name in backends]
    _drop_titles(schema)
    schema["title"] = "A catalog file of Segue"
    return schema


def _keys_of(kind: StepType, known: Mapping[str, Any]) -> Schema:
    """A step of this type has no key of another one."""
    is_kind: Schema = {"properties": {"type": {"const": kind}}}
    if kind is not StepType.AGENT:
        is_kind["required"] = ["type"]
    then: Schema = {"properties": {key: False for key in known if key not in KEYS_OF_TYPE[kind]}}
    if kind is StepType.AGENT:
        then["required"] = ["agent"]
        then["properties"]["agent"] = {"type": "string", "minLength": 1}
    if kind is StepType.GATE:
        then["required"] = ["checks"]
        then["properties"]["checks"] = {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}]}
    return {"if": is_kind, "then": then}


def _sending_back() -> Iterable[Schema]:
    """What sends work back says where to."""
    back, target = Reaction.BACK_TO, {"required": ["back_to"], "properties": {"back_to": {"type": "string"}}}
    for key in (*REACTIONS, "on_reject"):
        yield {"if": {"required": [key], "properties": {key: {"const": back}}}, "then": target}
    yield {
        "if": {
            "required": ["on_outcome"],
            "properties": {"on_outcome": {"not": {"additionalProperties": {"not": {"const": back}}}}},
        },
        "then": target,
    }
    yield {"if": {"required": ["at_most"], "properties": {"at_most": {"type": "integer"}}}, "then": target}


def _options_of(name: str, model: type[BaseModel], parts: dict[str, Schema]) -> Schema:
    """The options of a back end; none is required, for the settings may have it."""
    options = model.model_json_schema()
    parts.update(options.pop("$defs", {}))
    _describe(options, model)
    options.pop("required", None)
    parts[f"{model.__name__}"] = options
    return {
        "if": {"required": ["backend"], "properties": {"backend": {"const": name}}},
        "then": {"properties": {"options": {"$ref": f"#/$defs/{model.__name__}"}}},
    }


def _describe(schema: Schema, model: type[BaseModel]) -> None:
    """Give each key the text that stands below it in the code."""
    for parent in reversed(model.__mro__):
        if issubclass(parent, BaseModel) and parent not in (BaseModel, CatalogEntry):
            for key, text in _texts_of(parent):
                if key in schema["properties"]:
                    schema["properties"][key]["description"] = text


def _texts_of(model: type[BaseModel]) -> Iterable[tuple[str, str]]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(words))):
                yield key, " ".join(words.split())


def _drop_titles(schema: Any) -> None:
    """Titles are the keys again, with capitals."""
    if isinstance(schema, list):
        for each in schema:
            _drop_titles(each)
    elif isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for each in schema.values():
            _drop_titles(each)
