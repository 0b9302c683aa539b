"""Requests as tools: derived from the declarations, called through the one door, never raising."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bae_source.adapters.offer import Offer
from bae_source.adapters.toolbox import Toolbox
from bae_source.adapters.tools import as_text, as_texts, tools
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Service
from bae_source.errors import RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import Notice
from bae_source.model.request import MAX_CHARACTERS, Effect
from bae_source.model.selection import answered
from bae_source.refactoring.edit import Edit

LONGEST_DESCRIPTION = 250


@pytest.fixture
def toolbox(project: Path) -> Toolbox:
    return Toolbox(Service(project), who="agent")


def test_every_request_is_a_tool_in_the_order_of_the_registry() -> None:
    assert [tool.name for tool in tools()] == list(REQUESTS.verbs)


@pytest.mark.parametrize("tool", tools(), ids=lambda tool: tool.name)
def test_a_description_tells_the_outcome_and_then_when_to_use_it(tool: Any) -> None:
    assert tool.description.startswith(tool.summary)
    assert tool.kind.when.startswith("Use it ")
    assert tool.kind.when.endswith(".")
    assert len(tool.description) <= LONGEST_DESCRIPTION
    assert "\n" not in tool.description


def test_annotations_follow_the_effect() -> None:
    for tool in tools():
        hints = tool.annotations
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert hints["readOnlyHint"] is (tool.kind.effect is Effect.READS)
        assert hints["destructiveHint"] is (tool.kind.effect is Effect.DESTROYS)


def test_a_selection_keeps_the_order_and_refuses_what_is_not_there() -> None:
    assert [tool.name for tool in tools(["edit", "read"])] == ["read", "edit"]
    assert all(tool.kind.effect is Effect.READS for tool in tools(read_only=True))
    with pytest.raises(RequestError, match="no tool 'raed'"):
        tools(["raed"])


def test_a_call_is_an_outcome_whatever_happens(toolbox: Toolbox, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    codes = {
        "read": ({"target": "app.client.nope"}, "symbol_not_found"),
        "edit": ({"target": 3}, "invalid_arguments"),
        "raed": ({}, "unknown_operation"),
    }
    for name, (arguments, code) in codes.items():
        outcome = toolbox.call(name, arguments)
        assert (outcome.status, outcome.errors[0].code) == ("error", code)
        assert f"error[{code}]" in as_text(outcome)
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before


def test_a_tool_that_is_not_offered_is_not_called(project: Path) -> None:
    toolbox = Toolbox(Service(project), offer=Offer(read_only=True))
    outcome = toolbox.call("delete", {"target": "app.client.Client"})
    assert outcome.errors[0].code == "unknown_operation"
    assert "not offered" in outcome.errors[0].message
    assert b"class Client" in (project / "app/client.py").read_bytes()


def test_a_bug_of_ours_is_an_outcome_too(toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(toolbox.service, "run", broken)
    outcome = toolbox.call("read", {})
    assert outcome.errors[0].code == "internal_error"
    assert "ZeroDivisionError" in outcome.text


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("x" * (MAX_CHARACTERS + 1), "characters"),
        (["x" * 1000] * 9000, "characters"),
        ([["x"]] * 150_000, "parts"),
        ({"a": 1}, "expected"),
    ],
)
def test_what_is_too_large_is_refused_before_anything_looks_into_it(
    toolbox: Toolbox, value: object, problem: str
) -> None:
    failure = toolbox.call("read", {"target": value}).errors[0]
    assert failure.code == "invalid_arguments"
    assert problem in failure.message
    assert len(failure.message) < 500


def test_what_is_nested_too_deeply_is_refused(toolbox: Toolbox) -> None:
    value: Any = "x"
    for _ in range(100_000):
        value = [value]
    failure = toolbox.call("apply", {"requests": [{"do": "edit", "target": value}]}).errors[0]
    assert "nested more than 32 deep" in failure.message
    while isinstance(value, list):  # taken apart by hand: doing so in one go recurses
        value = value.pop()


def test_the_text_says_all_that_the_json_does(toolbox: Toolbox) -> None:
    outcome = toolbox.call("edit", {"target": "app.client.Client.stop", "old": "pass", "new": "return", "why": "tidy"})
    text, found = as_text(outcome), answered(outcome)
    assert found["operation_id"] in text
    assert found["diff"].strip() in text
    assert found["changed"][0]["address"] in text
    assert found["changed"][0]["etag"] in text
    assert all(action in text for action in found["next_actions"])


def test_what_ast_prints_stands_apart_from_what_else_there_is_to_know(toolbox: Toolbox) -> None:
    found = toolbox.call("symbols", {"uris": ["sym://python/mod/client", "nonsense"]})
    assert as_texts(found) == [found.text]
    assert [json.loads(line) for line in found.text.splitlines()] == answered(found)["answers"]
    recovered = replace(found, warnings=(Notice("recovered", "Taken back."),))
    assert as_texts(recovered) == [found.text, "warning[recovered]: Taken back.\n"]


def test_several_selections_are_one_object(toolbox: Toolbox) -> None:
    one = answered(toolbox.call("symbols", {"uris": ["sym://python/mod/client"]}))
    two = answered(toolbox.call("symbols", {"uris": ["sym://python/mod/client", "sym://python/mod/windows"]}))
    assert one["status"] == "ok"
    assert two["answers"][0] == one


def test_of_many_unknown_names_the_first_are_listed_and_the_others_counted(toolbox: Toolbox) -> None:
    failure = toolbox.call("read", {f"x{number}": 1 for number in range(200_000)}).errors[0]
    assert "x0 is unknown" in failure.message
    assert "199,980 more names are unknown" in failure.message
    assert len(failure.message) < 1000


def test_far_too_many_selectors_are_refused(toolbox: Toolbox) -> None:
    found = answered(toolbox.call("snippet", {"uris": ["sym://python/mod/client"] * 1001}))
    assert found["errors"][0]["code"] == "INVALID_ARGUMENTS"


def test_a_draft_takes_nothing_that_was_not_checked(toolbox: Toolbox, project: Path) -> None:
    before = (project / "app/client.py").read_bytes()
    draft = toolbox.service.draft("why")
    with pytest.raises(RequestError, match="expected `str"):
        draft.run(Edit(target="app.client.Client", new_source=5), Context())  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="verify"):
        draft.commit(Context(verify=("nope",)))
    assert draft.preview().text == "There is nothing to change."
    assert draft.commit(Context()).status == "unchanged", "a context that was wrong has not ended it"
    assert (project / "app/client.py").read_bytes() == before
