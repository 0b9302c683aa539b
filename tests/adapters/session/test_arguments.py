"""Calls in one line, signatures with types, and arguments by name."""

from __future__ import annotations

from typing import Any

import pytest

from bae_source.adapters.session.arguments import drawn, gathered, signature, taken
from bae_source.engine.registry import REQUESTS
from bae_source.model.context import steering


class Loud:
    def __repr__(self) -> str:
        raise AssertionError("nobody may ask")


@pytest.mark.parametrize(
    ("given", "named", "expected"),
    [
        (("httpx",), {}, "read(httpx)"),
        (("a", "x = 1\n"), {}, "read(a, x = 1)"),
        (("a", "def f():\n    return 1\n"), {}, "read(a, <2 lines>)"),
        (("x" * 100,), {}, f"read({'x' * 59}…)"),
        ((325035,), {"full": True, "why": None}, "read(325035, full=True, why=None)"),
        (("\x1b[31m\u202e",), {}, "read(\\x1b[31m\\u202e)"),
        ((Loud(), {"a": 1}), {}, "read(<Loud>, <dict>)"),
        ((["a", "b", "c", "d"],), {}, "read([a, b, c, … (4)])"),
        ((10**5000,), {}, "read(<a long int>)"),
        (tuple("x" * 50 for _ in range(9)), {}, f"read({', '.join(['x' * 50] * 4)}, …)"),
    ],
)
def test_a_call_is_drawn_in_one_line(given: tuple[Any, ...], named: dict[str, Any], expected: str) -> None:
    assert drawn("read", given, named) == expected


def test_a_signature_has_types_and_stops_at_what_can_be_left_out_where_there_is_no_room() -> None:
    assert signature("where") == "where(place: str) -> str"
    assert signature("move", 10) == "move(target: str | Sequence[str], to: str, …) -> Outcome"
    assert signature("glob", 50) == "glob(pattern: str, …) -> str"
    assert "view: Literal" in signature("read")


def test_every_verb_has_a_signature_and_takes_what_its_request_takes() -> None:
    for verb in REQUESTS.verbs:
        kind = REQUESTS.named(verb)
        assert kind is not None
        names = {each.name for each in taken(verb)} - {"view"}
        assert names - {each.name for each in steering(kind)} == set(kind.__struct_fields__), verb
        assert signature(verb).startswith(f"{verb}(")


def test_arguments_by_place_get_their_names() -> None:
    assert gathered("grep", ("x", "app"), {"word": True}) == ({"pattern": "x", "scope": "app", "word": True}, [])
    assert gathered("symbols", ("sym://a", "sym://b"), {}) == ({"uris": ("sym://a", "sym://b")}, [])


def test_everything_that_is_wrong_with_arguments_is_reported() -> None:
    _, problems = gathered("callers", ("a", "b", "d"), {"target": "c"})
    assert problems == ["3 arguments are given by place, at most 2 can be", "target is given twice"]


@pytest.mark.parametrize(("view", "full"), [("auto", None), ("summary", False), ("source", True)])
def test_a_view_says_how_much_of_a_module_is_read(view: str, full: bool | None) -> None:
    arguments, problems = gathered("read", ("app",), {"view": view})
    assert problems == []
    assert arguments.get("full") is full
    assert "view" not in arguments


@pytest.mark.parametrize("named", [{"view": "all"}, {"view": 3}, {"view": []}, {"view": "source", "full": False}])
def test_a_view_that_is_none_or_that_contradicts_is_a_problem(named: dict[str, Any]) -> None:
    assert len(gathered("read", ("app",), named)[1]) == 1
