"""A process that answers requests through one adapter: a line of JSON in, a line of JSON out.

    python driver.py python|session|mcp|functions ROOT

In comes `{"verb", "arguments"}`; out goes the answer as the adapter's caller can have it as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from bae_source import ResourceError, Session, Source
from bae_source.adapters import functions
from bae_source.adapters.session.places import holders
from bae_source.model.outcome import as_mapping, failed
from bae_source.model.selection import KINDS, Selected, selected_failure
from bae_source.model.selection import as_mapping as selection_as_mapping

Json = dict[str, Any]
Ask = Callable[[str, Json], Any]
SEVERAL = {"symbols": "uris", "snippet": "uris", "hover": "uris", "search": "words"}
"""Parameters that are written one after the other in Python."""


def through_python(root: str, _: ExitStack) -> Ask:
    """Ask as a program does: methods of `Source`, whose errors are raised."""
    src = Source(root)

    def ask(verb: str, arguments: Json) -> Any:
        given = dict(arguments)
        here = src.within(given.pop("budget", None), cursor=given.pop("cursor", None))
        several = SEVERAL.get(verb, "")
        placed = given.pop(several) if isinstance(given.get(several), list) else ()
        try:
            got = getattr(here, verb)(*placed, **given)
        except ResourceError as error:
            return _failure(verb, error)
        if verb in KINDS:
            return {"answers": got} if isinstance(got, list) else got
        return as_mapping(getattr(got, "outcome", got))

    return ask


def _failure(verb: str, error: ResourceError) -> Json:
    if verb not in KINDS:
        return as_mapping(failed(error))
    found = selected_failure(failed(error), KINDS[verb])
    assert isinstance(found, Selected)
    return selection_as_mapping(found.selections[0])


CODE = """\
from bae_source import ResourceError as _Error
from bae_source.adapters.tools import answered as _answered
from bae_source.model.outcome import failed as _failed
from bae_source.model.selection import KINDS as _KINDS, selected_failure as _selected
import json as _json
try:
    with open({place!r}) as _file:
        _arguments = _json.load(_file)
    {way}
    _value = {verb}(**_arguments)
    _outcome = getattr(_value, "outcome", _value)
except _Error as _error:
    _outcome = _failed(_error)
    if {verb!r} in _KINDS:
        _outcome = _selected(_outcome, _KINDS[{verb!r}])
with open({place!r}, "w") as _file:
    _json.dump(_answered(_outcome), _file)
"""


def through_session(root: str, open_until_end: ExitStack) -> Ask:
    """Ask as an agent does in a session: code that calls the tools of the namespace."""
    session = open_until_end.enter_context(Session(root, budget=1_000_000))
    place = os.path.join(os.path.dirname(root), "answer.json")  # noqa: PTH118, PTH120  # told to code as text
    session.run("source()")

    def ask(verb: str, arguments: Json) -> Any:
        with open(place, "w") as file:  # noqa: PTH123
            json.dump(arguments, file)
        way = "pass" if "source" in holders(verb) else "home()"
        session.run(CODE.format(verb=verb, way=way, place=place))
        session.run("source()")
        with open(place) as file:  # noqa: PTH123
            found = json.load(file)
        assert "next_actions" in found or "answers" in found, "the block has not answered"
        return found

    return ask


def through_mcp(root: str, open_until_end: ExitStack) -> Ask:
    """Ask as a client of the protocol does: the official one, over the standard streams of a server of its own."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters

    words = ["-m", "bae_source", "mcp", "--root", root, "--who", os.environ["USER"], "--budget", "1000000"]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    portal = open_until_end.enter_context(start_blocking_portal())
    client = open_until_end.enter_context(portal.wrap_async_context_manager(Client(server)))

    async def call(verb: str, arguments: Json) -> Any:
        result = await client.call_tool(verb, arguments)
        found = result.structured_content
        assert isinstance(found, dict), result
        failed_all = found.get("status") == "error" or all(
            each["status"] == "error" for each in found.get("answers", [{"status": "ok"}])
        )
        assert bool(result.is_error) is failed_all, result
        return found

    return lambda verb, arguments: portal.call(call, verb, arguments)


def through_functions(root: str, _: ExitStack) -> Ask:
    """Ask as a model does that calls functions."""
    return lambda verb, arguments: functions.dispatch(verb, json.dumps(arguments), root=root, budget=None)


ENTRANCES: dict[str, Callable[[str, ExitStack], Ask]] = {
    "python": through_python,
    "session": through_session,
    "mcp": through_mcp,
    "functions": through_functions,
}


def main() -> None:
    """Answer until standard input ends; what anything prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with ExitStack() as open_until_end:
        ask = ENTRANCES[sys.argv[1]](sys.argv[2], open_until_end)
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                answer = ask(asked["verb"], asked["arguments"])
            except Exception as error:  # noqa: BLE001  # what should never come out is compared like the rest
                answer = {"status": f"raised {error!r}", "errors": []}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
