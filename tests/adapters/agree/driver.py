"""A process that answers requests through one adapter: a line of JSON in, a line of JSON out.

    python driver.py python|"command line"|session|mcp|functions ROOT

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
from bae_source.adapters.cli.cli import through_service
from bae_source.adapters.session.arguments import signature as typed
from bae_source.adapters.session.places import PLACES, call_name, holders, short_name
from bae_source.engine.registry import REQUESTS
from bae_source.model.outcome import Outcome, as_mapping, failed
from bae_source.model.request import signature, summary
from bae_source.model.selection import KINDS, selected_failure
from bae_source.model.selection import as_mapping as selection_as_mapping
from tests.adapters.agree.entrances import FAULTS
from tests.adapters.support import call

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
    return _selected(verb, failed(error))


def _selected(verb: str, failure: Outcome) -> Json:
    return selection_as_mapping(selected_failure(failure, KINDS[verb]).selections[0])


def _as_a_request(verb: str, answer: Any) -> Any:
    """Return an answer of a session with the signature of the request, where it has exactly that of the session."""
    if isinstance(answer, dict):
        return {key: _as_a_request(verb, each) for key, each in answer.items()}
    if isinstance(answer, list):
        return [_as_a_request(verb, each) for each in answer]
    kind = REQUESTS.named(verb)
    if kind is None or answer != f"{typed(verb)}: {summary(kind)}":
        return answer
    return f"{signature(kind)}: {summary(kind)}"


def through_session(root: str, open_until_end: ExitStack) -> Ask:
    """Ask as an agent does in a session: code that calls the tools of the namespace."""
    session = open_until_end.enter_context(Session(root, budget=1_000_000))
    place = os.path.join(os.path.dirname(root), "arguments.json")  # noqa: PTH118, PTH120  # told to code as text
    session.run(f"import runpy as _runpy\n_runpy.run_path({str(FAULTS / 'sitecustomize.py')!r})\nsource()")

    def ask(verb: str, arguments: Json) -> Any:
        with open(place, "w") as file:  # noqa: PTH123
            json.dump(arguments, file)
        holder = PLACES[next(iter(holders(verb)), "source")]
        called = f"{call_name(holder)}.{short_name(holder, verb)}" if holder.family else verb
        elsewhere = not holder.family and "source" not in holders(verb)
        if elsewhere:
            session.run("home()")
        ran = session.run(f"import json as _json\n{called}(**_json.load(open({place!r})))")
        if elsewhere:
            session.run("source()")
        raised = verb in KINDS and "operation_id" in ran.answer  # as in Python, where nothing came to be selected
        return _as_a_request(verb, _selected(verb, ran.outcome) if raised else ran.answer)

    return ask


def through_mcp(root: str, open_until_end: ExitStack) -> Ask:
    """Ask as a client of the protocol does: the official one, over the standard streams of a server of its own."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client, StdioServerParameters

    words = ["-m", "bae_source", "mcp", "--root", root, "--who", os.environ["USER"], "--budget", "1000000"]
    words += ["--profile", "full"]
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
    return lambda verb, given: functions.dispatch(verb, json.dumps(given), root=root, budget=None, profile="full")


def through_command_line(root: str, _: ExitStack) -> Ask:
    """Ask as a person does who types a line, but for the process that each command has."""
    os.chdir(root)

    def ask(_: str, given: Json) -> Any:
        typed = given["typed"].encode("utf-8", "surrogatepass")
        called = call(*given["line"], door=through_service, stdin=typed, environment=dict(os.environ))
        assert called.out, called.err_text
        return {"lines": [json.loads(line) for line in called.out.splitlines()]}

    return ask


ENTRANCES: dict[str, Callable[[str, ExitStack], Ask]] = {
    "python": through_python,
    "command line": through_command_line,
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
