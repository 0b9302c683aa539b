"""Directed graphs as mappings from each node to those that it leads to: what is reached, and what is in circles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

N = TypeVar("N")


def reached(starts: Iterable[N], following: Callable[[N], Iterable[N]]) -> dict[N, None]:
    """Return some nodes and all that they lead to, the nearest first."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:
        for each in following(node):
            if each not in found:
                found[each] = None
                waiting.append(each)
    return found


def inverted(graph: Mapping[N, Iterable[N]]) -> dict[N, list[N]]:
    """Return the graph with each edge the other way round."""
    found: dict[N, list[N]] = {}
    for node, targets in graph.items():
        for each in targets:
            found.setdefault(each, []).append(node)
    return found


def components(graph: Mapping[N, Iterable[N]]) -> list[list[N]]:
    """Return the strongly connected components; each comes behind those that it leads to.

    Of those that do not lead to each other the order of the mapping is kept. Targets that are no keys are passed over.
    """
    done: dict[N, None] = {}  # by when they were left: what a node leads to is left before it, but for circles
    for start in graph:
        way = [(start, iter(graph[start]))] if start not in done else []
        entered = {start}
        while way:
            node, targets = way[-1]
            new = next((each for each in targets if each in graph and each not in done and each not in entered), None)
            if new is None:
                way.pop()
                done[node] = None
            else:
                entered.add(new)
                way.append((new, iter(graph[new])))
    importers, placed = inverted(graph), set[N]()
    found: list[list[N]] = []
    for node in reversed(done):
        if node not in placed:
            group = reached([node], lambda each: (one for one in importers.get(each, ()) if one not in placed))
            placed.update(group)
            found.append(list(group))
    return found[::-1]
