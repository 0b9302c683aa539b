"""A request as a line: the real command line makes the same request of it."""

from __future__ import annotations

import shlex

import pytest

from bae_source.model.call import call_of
from bae_source.model.request import Effect, Request, parameters
from bae_source.service import REQUESTS, request
from tests.adapters.support import Recorder, call

VALUES = {
    "target": "a.b", "place": "a.py:1", "pattern": "-x 'y' $z", "scope": "a.b", "words": ["one", "two three"],
    "uris": ["sym://python/mod/a", "sym://python/mod/b"],
}  # fmt: skip
READING = [kind for kind in REQUESTS if kind.effect is Effect.READS]


def given(kind: type[Request], *, everything: bool) -> dict[str, object]:
    values: dict[str, object] = {}
    for parameter in parameters(kind):
        if parameter.required or everything:
            default = parameter.default
            if isinstance(default, bool):
                values[parameter.name] = not default
            elif isinstance(default, (int, float)):
                values[parameter.name] = default + 1
            elif parameter.name == "kind":
                values[parameter.name] = "class" if kind.verb in ("glob", "unused") else "call"
            elif parameter.name in VALUES:
                values[parameter.name] = VALUES[parameter.name]
    return values


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("kind", READING, ids=lambda kind: kind.verb)
def test_the_command_line_makes_the_same_request_of_the_line(kind: type[Request], everything: bool) -> None:
    asked = request(kind.verb, given(kind, everything=everything))
    more = {} if kind.family == "ast" else {"budget": 500, "cursor": "0"}
    line = call_of(asked, **more)
    door = Recorder()
    called = call("--root", "/", *shlex.split(line), door=door)
    assert called.status == 0, (line, called.said)
    assert door.requests == [asked], line
    assert [(context.budget, context.cursor) for context in door.contexts] == [(more.get("budget"), more.get("cursor"))]


def test_what_is_left_at_its_default_is_not_said() -> None:
    assert call_of(request("read", {"target": "a.b", "dedent": True})) == "read a.b --dedent"
    assert call_of(request("history", {})) == "history"
