"""Places are entries; their tools follow from where requests are declared."""

from __future__ import annotations

from bae_source.adapters.session.places import HOME, PLACES, Place, holders, inside, table
from bae_source.engine.registry import REQUESTS


def test_every_request_is_a_tool_of_at_least_one_place() -> None:
    assert [verb for verb, places in table() if not places] == []


def test_source_has_what_reads_and_changes_code_and_home_what_is_about_what_was_done() -> None:
    assert {"read", "glob", "grep", "write", "edit", "references", "symbols", "apply"} <= set(PLACES["source"].tools)
    assert {"history", "undo", "redo", "prune", "forget", "telemetry"} <= set(PLACES[HOME].tools)
    assert not {"read", "edit"} & set(PLACES[HOME].tools)


def test_what_takes_the_history_away_is_a_tool_of_home_alone() -> None:
    assert holders("forget") == holders("prune") == (HOME,)
    assert holders("undo") == (HOME, "source", "deps", "config")


def test_tools_stand_in_the_order_of_the_registry() -> None:
    order = list(REQUESTS.verbs)
    for place in PLACES.values():
        assert list(place.tools) == sorted(place.tools, key=order.index)


def test_a_place_is_an_entry_and_its_tools_come_from_its_areas() -> None:
    place = Place(name="questions", description="Only questions.", areas=("queries.",))
    assert "read" in place.tools
    assert "edit" not in place.tools


def test_every_place_lies_in_another_one_but_home() -> None:
    assert [place.name for place in PLACES.values() if place.above not in PLACES] == [HOME]
    assert [place.name for place in inside(HOME)] == ["source"]
