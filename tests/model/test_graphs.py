"""Graphs: what is reached, and components in the order in which they lead to each other."""

from __future__ import annotations

import pytest

from bae_source.system.graphs import components, inverted, reached


def test_what_is_reached_comes_the_nearest_first() -> None:
    graph = {"a": ["b", "c"], "b": ["d"], "c": ["b"], "d": ["a"]}
    assert list(reached(["a"], lambda node: graph[node])) == ["a", "b", "c", "d"]
    assert list(reached([], lambda node: graph[node])) == []


def test_an_inverted_graph_leads_back() -> None:
    assert inverted({"a": ["b", "c"], "b": ["c"]}) == {"b": ["a"], "c": ["a", "b"]}


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": [], "b": [], "c": []}, [["a"], ["b"], ["c"]]),
        ({"x": ["y"], "y": ["z"], "z": []}, [["z"], ["y"], ["x"]]),
        ({"a": ["b"], "b": ["a"], "c": ["a"]}, [["a", "b"], ["c"]]),
        ({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}, [["d"], ["b", "c"], ["a"]]),
        ({"a": ["elsewhere"]}, [["a"]]),
    ],
)
def test_components_come_behind_those_that_they_lead_to(graph: dict[str, list[str]], expected: list[list[str]]) -> None:
    assert [sorted(each) for each in components(graph)] == expected


def test_a_long_chain_needs_no_depth() -> None:
    graph = {number: [number + 1] for number in range(5_000)} | {5_000: [0]}
    [only] = components(graph)
    assert len(only) == 5_001
