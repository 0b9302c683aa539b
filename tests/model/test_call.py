"""A request as a line: the real command line makes the same request of it."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from bae_source import Source
from bae_source.adapters.python import api
from bae_source.engine.registry import called, request
from bae_source.engine.service import REQUESTS
from bae_source.errors import HistoryError
from bae_source.model import call as calls
from bae_source.model.call import Call, call_of
from bae_source.model.request import Effect, Request, parameters
from tests.adapters.support import Recorder, call

VALUES = {
    "target": "a.b", "place": "a.py:1", "pattern": "-x 'y' $z", "scope": "a.b", "words": ["one", "two three"],
    "log": "app.log", "dependency": "httpx", "task": "code_mod_1a2b3c4d", "uris": ["sym://python/mod/a", "sym://python/mod/b"],
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
    assert called.status == 0, (line, called.err_text)
    assert door.requests == [asked], line
    assert [(context.budget, context.cursor) for context in door.contexts] == [(more.get("budget"), more.get("cursor"))]


def test_what_is_left_at_its_default_is_not_reported() -> None:
    assert call_of(request("read", {"target": "a.b", "dedent": True})) == "read a.b --dedent"
    assert call_of(request("history", {})) == "history"


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("kind", READING, ids=lambda kind: kind.verb)
def test_the_call_in_python_and_as_a_tool_makes_the_same_request(
    kind: type[Request], everything: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(kind.verb, given(kind, everything=everything))
    more = {} if kind.family == "ast" else {"budget": 500, "cursor": "0"}
    offered = call_of(asked, **more)
    door = Recorder(HistoryError("nothing_to_undo", "It was made."))
    monkeypatch.setattr(api, "Service", lambda *_, **__: SimpleNamespace(run=partial(door, tmp_path, {}), close=int))
    source = Source(tmp_path)
    names = {verb: getattr(source, verb) for verb in REQUESTS.verbs if hasattr(source, verb)}
    with pytest.raises(HistoryError):
        eval(offered.written("python"), {**names, "within": source.within})
    assert door.requests == [asked], offered.written("python")
    assert [(context.budget, context.cursor) for context in door.contexts] == [(more.get("budget"), more.get("cursor"))]
    tools = {verb: lambda _verb=verb, **given: called(_verb, given) for verb in REQUESTS.verbs}
    made, context = eval(offered.written("tool"), tools)
    assert (made, context.budget, context.cursor) == (asked, more.get("budget"), more.get("cursor"))
    relayed = offered.written("session", {kind.verb: "call"})
    made, context = eval(relayed, {"call": lambda verb, arguments: called(verb, arguments)})
    assert (made, context.budget, context.cursor) == (asked, more.get("budget"), more.get("cursor"))


def test_a_call_that_cannot_be_made_in_a_door_is_no_hint_there() -> None:
    hints = (Call("tests run", failed=True, then="runs them again."), "Look at it.", Call("read", target="a"))
    assert calls.written(hints, "session", {"tests_run": ""}) == ("Look at it.", 'read("a")')
    relayed = 'change(verb="tests_run", arguments={"failed": True}) runs them again.'
    assert calls.written(hints, "session", {"tests_run": "change"}) == (relayed, "Look at it.", 'read("a")')
    assert calls.written(hints, "tool", {"tests_run": "change"})[0] == relayed.replace("True", "true")


def test_a_call_in_a_sentence_is_written_as_its_door_makes_it() -> None:
    offered = Call("commit", draft="draft_1", unsure="leave", then="makes it.")
    assert offered == "commit draft_1 --unsure leave makes it."
    assert offered.written("python") == offered.written("session") == 'commit("draft_1", unsure="leave") makes it.'
    assert offered.written("tool") == 'commit(draft="draft_1", unsure="leave") makes it.'
    several = Call("undo", operation_id=("op_1", "op_2"))
    assert (several, several.written("python")) == ("undo op_1 op_2", 'undo(["op_1", "op_2"])')
    assert Call("exports check", target="a").written("tool") == 'exports_check(target="a")'
    assert Call("read", target="a.f[1]", full=True) == "read 'a.f[1]' --full"


@pytest.mark.parametrize("kind", list(REQUESTS), ids=lambda kind: kind.verb)
def test_calls_are_written_as_the_declarations_say(kind: type[Request]) -> None:
    for each in parameters(kind):
        assert (each.name in calls.STARRED) is each.starred, each.name
        assert calls.SPELLED.get(each.name, "") == each.flag, each.name
        if each.name in calls.PLACED and not each.required:
            assert each.placed or kind.verb in ("exports_add", "exports_remove", "undo"), each.name  # they have --to
