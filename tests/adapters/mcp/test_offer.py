"""What clients see of the tools: names, descriptions, schemas and annotations."""

from __future__ import annotations

import json
import re

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from bae_source.adapters.mcp import prompts
from bae_source.adapters.mcp.offer import TRANSACTIONS, described, input_schema, offered
from bae_source.adapters.tools import Tool
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError

ALL = offered()
HINTS = {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


def test_every_request_is_a_tool_and_transactions_follow() -> None:
    assert list(ALL.tools) == [*REQUESTS.verbs, *(tool.name for tool in TRANSACTIONS)]


@pytest.mark.parametrize("tool", ALL.tools.values(), ids=lambda tool: tool.name)
def test_a_tool_is_described_for_a_client(tool: Tool) -> None:
    found = described(ALL, tool)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", found["name"])
    assert 60 <= len(found["description"]) <= 300, found["description"]
    assert re.search(r"\. \S", found["description"]), "it has no sentence on when to use it"
    assert set(found["annotations"]) == HINTS
    Draft202012Validator.check_schema(found["inputSchema"])
    Draft202012Validator.check_schema(found["outputSchema"])
    assert found["inputSchema"]["additionalProperties"] is False
    assert "$ref" not in json.dumps(found)
    assert all(each.get("description") for each in found["inputSchema"]["properties"].values())


def test_what_can_be_part_of_a_transaction_takes_its_handle() -> None:
    taking = {tool.name for tool in ALL.tools.values() if "transaction" in input_schema(ALL, tool)["properties"]}
    assert {"read", "references", "symbols", "edit", "insert", "delete", "move", "write", "exports_add"} <= taking
    assert not taking & {"undo", "redo", "history", "prune", "forget", "telemetry", "transaction_begin"}


def test_a_commit_takes_what_is_reported_of_the_whole_transaction() -> None:
    [commit] = [tool for tool in TRANSACTIONS if tool.name == "transaction_commit"]
    schema = input_schema(ALL, commit)
    steered = {"reload", "verify", "tidy", "format", "cascade", "propose", "goal", "budget"}
    assert set(schema["properties"]) == {"transaction", "unsure", "include", *steered}
    assert schema["required"] == ["transaction"]
    assert commit.annotations["destructiveHint"]


def test_read_only_offers_nothing_that_changes() -> None:
    offer = offered(read_only=True)
    assert offer.tools
    assert all(tool.annotations["readOnlyHint"] for tool in offer.tools.values())
    assert not any("transaction" in input_schema(offer, tool)["properties"] for tool in offer.tools.values())


def test_only_the_named_tools_are_offered_in_their_usual_order() -> None:
    assert list(offered(["transaction_begin", "grep", "read"]).tools) == [
        "read",
        "grep",
        "transaction_begin",
    ]


def test_a_tool_that_there_is_not_is_refused() -> None:
    for names, read_only in ((["nope"], False), (["edit"], True), (["transaction_begin"], True)):
        with pytest.raises(RequestError) as caught:
            offered(names, read_only=read_only)
        assert caught.value.code == "unknown_operation"
        assert caught.value.hints


def test_prompts_speak_of_offered_tools_alone() -> None:
    every = prompts.offered(ALL.tools)
    assert list(every) == ["change_one_thing", "change_several_things", "find_users", "take_back"]
    assert list(prompts.offered(offered(read_only=True).tools)) == ["find_users"]
    for prompt in every.values():
        assert set(re.findall(r"\w+", prompt.text)) & ALL.tools.keys() == set(prompt.needs)


def test_a_prompt_is_filled_or_says_everything_that_is_wrong() -> None:
    every = prompts.offered(ALL.tools)
    filled = prompts.filled(every, "change_one_thing", {"target": "a.{change}", "change": "x"})
    assert filled["messages"][0]["content"]["text"].startswith("Change a.{change}: x\n")
    with pytest.raises(RequestError) as caught:
        prompts.filled(every, "change_one_thing", {"tagret": "a", "change": "x" * 20_000})
    for each in ("target is missing", "tagret is unknown", "change is too long"):
        assert each in caught.value.message
    with pytest.raises(RequestError):
        prompts.filled(every, "nope", {})


@pytest.mark.parametrize(("profile", "most_tools", "most_bytes"), [("core", 12, 16_000), ("read", 5, 6_000)])
def test_a_short_profile_costs_few_bytes(profile: str, most_tools: int, most_bytes: int) -> None:
    offer = offered(profile=profile)
    found = [described(offer, tool) for tool in offer.tools.values()]
    assert len(found) <= most_tools
    assert len(json.dumps({"tools": found}, ensure_ascii=False).encode()) <= most_bytes
    for each in found:
        Draft202012Validator.check_schema(each["inputSchema"])
        assert "Example: " in each["description"]
        assert "outputSchema" not in each
        hints = each["annotations"]
        assert hints.get("readOnlyHint", False) is (each["name"] in ("read", "grep", "find", "references", "call"))


def test_transactions_are_reached_by_a_change() -> None:
    offer = offered(profile="core")
    assert offer.through["transaction_begin"] == offer.through["transaction_commit"] == "change"
    assert offer.through["transaction_preview"] == "call"
    assert "transaction_begin" not in offered(profile="read").reached
