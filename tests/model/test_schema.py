"""Requests and answers as JSON Schema: what a schema admits, the door takes; what an answer is, its schema admits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bae_source import Source
from bae_source.adapters.schema import input_schema, output_schema
from bae_source.adapters.toolbox import Toolbox
from bae_source.adapters.tools import tools
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Service
from bae_source.model.context import steering
from bae_source.model.request import Request, parameters
from bae_source.model.selection import answered

KINDS = list(REQUESTS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.verb)
def test_a_schema_is_one_closed_object_that_names_and_tells_every_parameter(kind: type[Request]) -> None:
    schema = input_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == [each.name for each in (*parameters(kind), *steering(kind))]
    assert all(each["description"] for each in schema["properties"].values())
    assert schema["required"] == [each.name for each in parameters(kind) if each.required]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.verb)
def test_the_schema_of_an_answer_is_an_object_that_refers_to_nothing(kind: type[Request]) -> None:
    schema = output_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert "$ref" not in json.dumps(schema)


def test_a_word_that_may_be_left_out_may_be_null() -> None:
    properties = input_schema(REQUESTS.called("edit"))["properties"]
    assert properties["new_source"]["type"] == ["string", "null"]
    assert properties["budget"] == {
        "type": ["integer", "null"], "minimum": 100, "description": properties["budget"]["description"]
    }  # fmt: skip
    assert properties["reload"]["default"] == "auto"


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    (tmp_path / "m.py").write_text('"""M."""\n\n\ndef f():\n    """Do."""\n    return 1\n')
    return Toolbox(Service(tmp_path))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read", {"target": "m.f"}),
        ("read", {"target": "m.nope"}),
        ("edit", {"target": "m.f", "old": "1", "new": "2", "reload": "off"}),
        ("edit", {"target": "m.f", "old": "1", "new": "3", "dry_run": True}),
        ("symbols", {"uris": ["sym://python/mod/m"]}),
        ("hover", {"uris": ["sym://python/type/m/f", "sym://python/mod/nope"], "language_server": "off"}),
        ("history", {}),
    ],
)
def test_answers_are_what_their_schema_says(toolbox: Toolbox, name: str, arguments: dict[str, Any]) -> None:
    (tool,) = tools([name])
    jsonschema.validate(arguments, tool.input_schema)
    jsonschema.validate(answered(toolbox.call(name, arguments)), tool.output_schema)


def test_what_a_schema_refuses_the_door_refuses_too(toolbox: Toolbox) -> None:
    for wrong in ({"target": 3}, {"target": "m", "nope": 1}, {"target": "m", "full": "yes"}, {"target": ["m", 3]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, tools(["read"])[0].input_schema)
        assert toolbox.call("read", wrong).errors[0].code == "invalid_arguments"


def test_the_same_arguments_reach_python(tmp_path: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("read", {"target": "m.f"}).text == Source(tmp_path).read("m.f")
