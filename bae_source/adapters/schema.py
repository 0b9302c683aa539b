"""Requests and outcomes as JSON Schema: one inlined object each, without references, as model providers want it.

Source of the format: JSON Schema, draft 2020-12; the types are translated by msgspec.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from bae_source.model.context import steering
from bae_source.model.outcome import Outcome
from bae_source.model.reference import Place
from bae_source.model.request import Parameter, Request, parameters
from bae_source.model.selection import Selection

_REFERENCES = "#/$defs/{name}"


def input_schema(kind: type[Request]) -> dict[str, Any]:
    """Return the schema of what a caller may give: the request's parameters and those of its context."""
    declared = (*parameters(kind), *steering(kind))
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in declared},
        "required": [each.name for each in declared if each.required],
        "additionalProperties": False,
    }


def brief_schema(kind: type[Request]) -> dict[str, Any]:
    """Return the schema of what a caller may give, for where few tools are offered and each byte is read often.

    Of the parameters of the context, which mean the same for every tool and are explained once, it has those alone that
    are wanted often, and of its own those that are not wanted seldom; the others are taken all the same. None, which is
    to leave a parameter out, is no choice of its own.
    """
    described = (each for each in parameters(kind) if not each.seldom)
    own = {each.name: {**_brief(_property(each)), "description": each.help} for each in described}
    often = {each.name: _brief(_property(each)) for each in steering(kind) if each.name in _OFTEN}
    required = [each.name for each in parameters(kind) if each.required]
    return {"type": "object", "properties": {**own, **often}, "required": required}


_OFTEN = ("dry_run", "verify", "quiet")


def _brief(schema: Any) -> Any:
    """Return a schema with nothing in it but types, choices and what is inside."""
    if "anyOf" in schema:
        several = [_brief(each) for each in schema["anyOf"] if each != {"type": "null"}]
        items = {key: value for each in several for key, value in each.items() if key != "type"}
        types = [each["type"] for each in several if "type" in each]
        return {"type": types[0] if len(types) == 1 else types, **items}
    kept = {key: value for key, value in schema.items() if key in ("type", "enum", "items")}
    if isinstance(kept.get("type"), list):
        kept["type"] = next(each for each in kept["type"] if each != "null")
    if "enum" in kept:
        kept["enum"] = [each for each in kept["enum"] if each is not None]
    if "items" in kept:
        kept["items"] = _brief(kept["items"])
    return kept


def output_schema(kind: type[Request]) -> dict[str, Any]:
    """Return the schema of what it answers: an outcome, or of `ast` a selection or several."""
    if kind.family != "ast":
        outcome = _struct(Outcome, leave_out=("address", "exit_code"))
        found = {"type": "array", **({"items": _struct(Place)} if kind.lists_places else {})}
        return {**outcome, "properties": {**outcome["properties"], "found": found}}
    one = _struct(Selection)
    several = {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": one}},
        "required": ["answers"],
        "additionalProperties": False,
    }
    return {"type": "object", "anyOf": [one, several]}


@cache
def _struct(kind: type[msgspec.Struct], leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of a value that always has all its keys."""
    (schema,), named = msgspec.json.schema_components([kind], ref_template=_REFERENCES)
    inlined: dict[str, Any] = _inlined(schema, named)
    fields = {name: _less(each) for name, each in inlined["properties"].items() if name not in leave_out}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def schema_of(annotation: Any) -> dict[str, Any]:
    """Return the schema of a type."""
    (schema,), named = msgspec.json.schema_components([annotation], ref_template=_REFERENCES)
    found: dict[str, Any] = _inlined(schema, named)
    return found


def _property(parameter: Parameter) -> dict[str, Any]:
    found = schema_of(parameter.annotation)
    if parameter.help:
        found["description"] = parameter.help
    if not parameter.required and parameter.default is not None:
        found["default"] = msgspec.to_builtins(parameter.default)
    return found


def _inlined(schema: Any, named: dict[str, Any]) -> Any:
    if isinstance(schema, (list, tuple)):
        return [_inlined(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(named[schema["$ref"].rpartition("/")[2]], named)
    inlined = {key: _inlined(value, named) for key, value in schema.items() if key != "title"}
    if isinstance(description := inlined.get("description"), str):
        inlined["description"] = description.partition("\n")[0]
    return _nullable(inlined)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `{"type": ["string", "null"]}` for `{"anyOf": [{"type": "string"}, {"type": "null"}]}`."""
    either = schema.get("anyOf", ())
    if len(either) != 2 or either[1] != {"type": "null"}:
        return schema
    rest: dict[str, Any] = {key: value for key, value in schema.items() if key != "anyOf"} | either[0]
    if isinstance(either[0].get("type"), str):
        rest["type"] = [either[0]["type"], "null"]
    elif "enum" in either[0]:
        rest["enum"] = [*either[0]["enum"], None]
    else:
        return schema
    return rest


def _less(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field of an answer: the default of what is always there says nothing."""
    return {key: value for key, value in schema.items() if key != "default"}
