"""Profiles: few tools that reach every verb, and what is refused because a profile has it not."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bae_source import functions
from bae_source.adapters.offer import CALL, CHANGE, PROMPTS, Offer, Relay, offered
from bae_source.adapters.toolbox import Toolbox
from bae_source.engine.registry import REQUESTS, called
from bae_source.engine.service import Service
from bae_source.errors import RequestError
from bae_source.model.request import Effect

CORE = ["read", "grep", "find", "references", "edit", "delete", "move", "rename", "apply", "undo", "call", "change"]
READ = ["read", "grep", "find", "references", "call"]


def _box(project: Path, profile: str) -> Toolbox:
    return Toolbox(Service(project), offer=offered(profile=profile))


def test_a_profile_lists_its_tools() -> None:
    assert list(offered(profile="core").tools) == CORE
    assert list(offered(profile="read").tools) == READ
    assert list(offered(profile="core", read_only=True).tools) == READ
    assert list(offered(profile="full").tools) == list(REQUESTS.verbs)
    assert list(offered(["read,call", "edit"], profile="core").tools) == ["read", "edit", "call"]


@pytest.mark.parametrize("verb", PROMPTS)
def test_the_example_of_a_prompt_is_a_call_that_can_be_made(verb: str) -> None:
    example = PROMPTS[verb].rpartition("Example: ")[2].rstrip(".")
    _check_call(ast.parse(example.replace("true", "True"), mode="eval").body)


@pytest.mark.parametrize("relay", [CALL, CHANGE])
def test_the_example_of_a_relay_is_a_call_that_can_be_made(relay: str) -> None:
    offer = offered(profile="core")
    example = offer.tools[relay].description.rpartition("Example: ")[2].rstrip(".")
    made = ast.parse(example, mode="eval").body
    assert isinstance(made, ast.Call)
    verb, arguments = offer.opened(relay, {each.arg or "": ast.literal_eval(each.value) for each in made.keywords})
    assert called(verb, arguments)


def _check_call(made: ast.expr) -> None:
    assert isinstance(made, ast.Call)
    assert isinstance(made.func, ast.Name)
    assert called(made.func.id, {each.arg or "": ast.literal_eval(each.value) for each in made.keywords})


def test_every_verb_that_a_relay_names_is_one_of_its_own() -> None:
    offer = offered(profile="core")
    for relay in (CALL, CHANGE):
        named = re.findall(r"\w+", offer.tools[relay].description.partition(": ")[2].partition(". ")[0])
        verbs = [each for each in named if each in REQUESTS.verbs]
        assert len(verbs) >= 12
        for verb in verbs:
            assert offer.opened(relay, {"verb": verb}) == (verb, {})


def test_each_verb_is_a_tool_or_called_through_one_by_its_effect() -> None:
    offer = offered(profile="core")
    for kind in REQUESTS:
        reads = kind.effect is Effect.READS
        if kind.verb in offer.tools:
            assert kind.verb not in offer.through
        else:
            assert offer.through[kind.verb] == (CALL if reads else CHANGE)


def test_a_read_through_call_is_the_same_answer(project: Path) -> None:
    arguments = {"target": "app.client", "depth": 2}
    box = _box(project, "core")
    direct = Toolbox(Service(project)).call("outline", arguments)
    through = box.call("call", {"verb": "outline", "arguments": arguments})
    assert through.status == "answer"
    assert through.text == direct.text
    spaced = box.call("call", {"verb": "ast hover", "arguments": {"uris": ["sym://python/mod/client"]}})
    assert json.loads(spaced.text)["status"] == "ok"


def test_arguments_may_be_the_text_of_an_object(project: Path) -> None:
    box = _box(project, "core")
    found = box.call("call", {"verb": "outline", "arguments": '{"target": "app.client"}'})
    assert found.text == box.call("call", {"verb": "outline", "arguments": {"target": "app.client"}}).text
    for wrong in ("{", "[1]", "3"):
        assert box.call("call", {"verb": "outline", "arguments": wrong}).errors[0].code == "invalid_arguments"


def test_a_change_through_change_is_made_and_its_next_call_is_one_that_is_offered(project: Path) -> None:
    box = _box(project, "core")
    arguments = {"target": "app.client.Client", "position": "after", "new_source": "LIMIT = 3\n"}
    made = box.call("change", {"verb": "insert", "arguments": arguments})
    assert made.status == "applied"
    assert b"LIMIT = 3" in (project / "app/client.py").read_bytes()
    assert made.next_actions[0].startswith("undo(")
    back = box.call("undo", {})
    assert back.status == "applied"
    assert back.next_actions[0].startswith('change(verb="redo", arguments={"operation_id": "op_'), back.next_actions
    verb, own = re.fullmatch(r"(\w+)\((.*)\)", back.next_actions[0]).groups()  # type: ignore[union-attr]
    again = box.call(verb, {each.arg: ast.literal_eval(each.value) for each in _keywords(f"f({own})")})
    assert again.status == "applied"


def _keywords(text: str) -> list[Any]:
    made = ast.parse(text, mode="eval").body
    assert isinstance(made, ast.Call)
    return list(made.keywords)


@pytest.mark.parametrize(
    ("profile", "name", "arguments", "code", "hint"),
    [
        ("core", "call", {"verb": "delete", "arguments": {"target": "app.client.Client"}}, "invalid_arguments", "tool"),
        ("core", "call", {"verb": "write", "arguments": {}}, "invalid_arguments", 'change(verb="write"'),
        ("core", "change", {"verb": "outline"}, "invalid_arguments", 'call(verb="outline"'),
        ("core", "call", {"verb": "outlien"}, "unknown_operation", "Did you mean outline?"),
        ("core", "change", {"verb": "x" * 5000}, "unknown_operation", "change takes"),
        ("core", "insert", {"target": "app.client"}, "unknown_operation", 'change(verb="insert"'),
        ("core", "call", {}, "invalid_arguments", "call(verb="),
        ("core", "call", {"verb": 3, "arguments": []}, "invalid_arguments", "call(verb="),
        ("core", "call", {"verb": "outline", "target": "app"}, "invalid_arguments", "go into arguments"),
        ("core", "call", {"verb": "call", "arguments": {"verb": "outline"}}, "unknown_operation", "call takes"),
        ("read", "change", {"verb": "delete", "arguments": {"target": "app.client"}}, "unknown_operation", "read"),
        ("read", "call", {"verb": "delete", "arguments": {"target": "app.client"}}, "unknown_operation", "call takes"),
        ("read", "edit", {"target": "app.client"}, "unknown_operation", "There are read"),
        ("full", "call", {"verb": "outline"}, "unknown_operation", "There are read"),
    ],
)
def test_what_is_not_offered_is_refused_and_nothing_is_done(
    project: Path, profile: str, name: str, arguments: dict[str, Any], code: str, hint: str
) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    outcome = _box(project, profile).call(name, arguments)
    [failure] = outcome.errors
    assert (outcome.status, failure.code) == ("error", code)
    assert any(hint in each for each in failure.hints), failure.hints
    assert len(failure.message) < 300
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before


def test_help_lists_the_verbs_and_explains_one(project: Path) -> None:
    box = _box(project, "core")
    listed = box.call("call", {"verb": "help"})
    assert [line.partition(" ")[0] for line in listed.text.splitlines()] == list(REQUESTS.verbs)
    assert "insert (change): " in listed.text
    assert "outline (call): " in listed.text
    assert "edit (tool): " in listed.text
    one = box.call("call", {"verb": "help", "arguments": {"verb": "outline"}})
    assert one.text.startswith("outline(")
    assert "\ndepth = " in one.text
    for verb in (CALL, CHANGE):
        assert "Example" in box.call("call", {"verb": "help", "arguments": {"verb": verb}}).text
    wrong = box.call("call", {"verb": "help", "arguments": {"verb": "outlien"}})
    assert wrong.errors[0].hints[0] == "Did you mean outline?"
    assert box.call("call", {"verb": "help", "arguments": {"x": 1}}).errors[0].code == "invalid_arguments"


def test_what_is_called_by_a_relay_keeps_the_shape_of_its_errors(project: Path) -> None:
    found = _box(project, "core").call("call", {"verb": "hover", "arguments": {"uris": ["nonsense"]}})
    assert json.loads(found.text)["errors"][0]["code"] == "INVALID_SELECTOR_SYNTAX"


def test_functions_are_those_of_the_core_and_run_what_they_reach(project: Path) -> None:
    found = functions.definitions("anthropic")
    assert [each["name"] for each in found] == CORE
    assert all(each["input_schema"]["type"] == "object" for each in found)
    answer = functions.dispatch("call", {"verb": "glob", "arguments": {"pattern": "app.*"}}, root=project)
    assert "app.client" in answer["text"]
    refused = functions.dispatch("insert", {"target": "app.client"}, root=project, profile="core")
    assert refused["errors"][0]["code"] == "unknown_operation"
    assert functions.dispatch("glob", {"pattern": "app.*"}, root=project, profile="full")["text"] == answer["text"]
    assert functions.dispatch("glob", {"pattern": "app.*"}, root=project) == answer, "by its own name, too"
    assert functions.dispatch("insert", {}, root=project, read_only=True)["errors"][0]["code"] == "unknown_operation"
    functions.close(project)


def test_a_profile_that_there_is_not_is_refused() -> None:
    with pytest.raises(RequestError, match="no profile 'all'") as caught:
        offered(profile="all")
    assert caught.value.hints == ("There are core, read, full.",)


def test_relays_are_no_tools_of_requests() -> None:
    assert {name for name, each in Offer(profile="core").tools.items() if isinstance(each, Relay)} == {CALL, CHANGE}
