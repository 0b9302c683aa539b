"""Requests as functions for models that call functions: definitions to hand over, and the way to run what they call.

    tools = definitions("openai", read_only=True)                       hand these to the model as they are
    answer = dispatch(call.name, call.arguments, root=".", who="agent") a mapping, ready for `json.dumps`

Invariants:
- a definition is derived from the request's declaration, and what is dispatched goes through the one door;
- whatever a model does wrong is an answer with `status: "error"`; only what the program around it does wrong is raised;
- the engine of a root is kept from one call to the next, so that a file is not read twice, until `close`; at most a few
  are, and the one that was idle longest gives way. Calls of several threads on one root wait for each other.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from bae_source.adapters.cli.incoming import values_of
from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.offer import CORE, INSTRUCTIONS, Offer, ProfileName, Relay, offered
from bae_source.adapters.toolbox import Toolbox
from bae_source.adapters.tools import Tool
from bae_source.engine.service import Service, find_root
from bae_source.errors import RequestError
from bae_source.model.context import Context, checked
from bae_source.model.outcome import Outcome, as_mapping, failed
from bae_source.model.page import USUAL
from bae_source.model.request import MAX_CHARACTERS
from bae_source.model.selection import answered

__all__ = ("INSTRUCTIONS", "close", "definitions", "dispatch", "on_project", "printed")

Json = dict[str, Any]
T = TypeVar("T")

_MOST_ROOTS = 8
_LONGEST = 6 * MAX_CHARACTERS
"""Characters of a JSON text: JSON may write each of an argument's as six."""


def definitions(
    style: str, names: Iterable[str] = (), read_only: bool = False, profile: ProfileName = CORE
) -> list[Json]:
    """Return the definitions of tools, in the order in which the reference has them.

    Parameters:
        style: `openai` (type, name, description, parameters), `anthropic` (name, description, input_schema), or `mcp`
            (name, description, inputSchema, annotations; in the profile `full` title and outputSchema, too).
        names: only these; all of the profile if there are none.
        read_only: only those that change nothing.
        profile: `core` for twelve tools, by which all verbs can be called, `read` for five that change nothing, or
            `full` for a tool a verb.

    Raises:
        RequestError: `invalid_arguments` for another style, `unknown_operation` for a tool or profile that there is
            not.
    """
    if style not in _STYLES:
        raise RequestError(
            "invalid_arguments", f"There is no style {style!r}.", hints=[f"There are {', '.join(_STYLES)}."]
        )
    return [_STYLES[style](tool) for tool in _offered(_several(names), read_only, profile).tools.values()]


def printed(given: Mapping[str, Any], _: Streams) -> Outcome:
    """Return the definitions as the command line prints them."""
    profile, read_only = given.get("profile", CORE), bool(given.get("read_only"))
    found = definitions(given["style"], given.get("tools", ()), read_only, profile)
    return Outcome(status="answer", text=json.dumps(found, indent=2))


def dispatch(
    name: str,
    arguments: Mapping[str, Any] | str | bytes,
    *,
    root: str | os.PathLike[str] | None = None,
    who: str | None = None,
    budget: int | None = USUAL,
    names: Iterable[str] = (),
    read_only: bool = False,
    profile: ProfileName | None = None,
) -> Json:
    """Run what a model called, and return the answer as JSON: `status`, `text`, `errors` and so on.

    Parameters:
        name: of the tool.
        arguments: a mapping, or the JSON text of one, as models give it; an empty text stands for none.
        root: the project's folder; None for the nearest one upwards from the working directory.
        who: the caller, for the history; `undo` takes back the last change of the same caller.
        budget: bytes of an answer where the call says nothing; None for any number.
        names, read_only, profile: those of the call of `definitions`: no other tool is run; without a profile any verb
            is, by its own name or by `call` and `change`.

    Returns:
        The outcome, the same as every `--json` prints; for `symbols`, `snippet` and `hover` what they print.

    Raises:
        RequestError: what is not the model's doing: `root` is no folder, `names` has a tool that there is not, `who` or
            `budget` is none.
    """
    offer = _offered(_several(names), read_only, profile)
    context = checked(Context(who=who, budget=budget))
    return on_project(root, lambda service: _called(service, offer, name, arguments, context))


def on_project(root: str | os.PathLike[str] | None, do: Callable[[Service], T]) -> T:
    """Do something with the engine of a root, which is kept until `close`.

    Parameters:
        root: as `dispatch` has it.
    """
    return _PROJECTS.run(_root(root), do)


def close(root: str | os.PathLike[str] | None = None) -> None:
    """Let go of what is kept for a root, or for all of them; a later call opens it again.

    Parameters:
        root: the project's folder, as `dispatch` got it; None for all that there are.
    """
    _PROJECTS.close(None if root is None else _root(root))


def _openai(tool: Tool | Relay) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }


def _anthropic(tool: Tool | Relay) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}


def _mcp(tool: Tool | Relay) -> Json:
    described = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    if isinstance(tool, Relay) or tool.prompt:
        return {**described, "annotations": tool.annotations}
    return {
        "name": tool.name,
        "title": tool.title,
        **described,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }


_STYLES: Mapping[str, Callable[[Tool | Relay], Json]] = {"openai": _openai, "anthropic": _anthropic, "mcp": _mcp}


class _Project:
    """The engine of one root, and who may use it now."""

    def __init__(self, root: Path) -> None:
        self.service = Service(root, environment=os.environ)
        self.alone = Lock()
        self.closed = False

    def close(self) -> None:
        """Let go of what is open, as soon as it is not in use."""
        with self.alone:
            self.end()

    def end(self) -> None:
        """Close what is open; for the only user of this object."""
        self.closed = True
        self.service.close()


class _Projects:
    """The engines of a few roots, the most recently used kept."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, _Project] = OrderedDict()
        self._choosing = Lock()

    def run(self, root: Path, do: Callable[[Service], T]) -> T:
        """Do something with the engine of a root."""
        while True:
            project = self._project(root)
            with project.alone:
                if not project.closed:  # between finding it and having it alone it may have given way
                    return do(project.service)

    def close(self, root: Path | None) -> None:
        """Forget a root, or all of them."""
        with self._choosing:
            going = [root] if root is not None else list(self._known)
            closing = [self._known.pop(each) for each in going if each in self._known]
        for project in closing:
            project.close()

    def _project(self, root: Path) -> _Project:
        """Return the project at a root; where there are many, one that is not in use gives way to it."""
        with self._choosing:
            if root not in self._known:
                self._known[root] = _Project(root)
            self._known.move_to_end(root)
            if len(self._known) > _MOST_ROOTS:
                self._give_way(besides=root)
            return self._known[root]

    def _give_way(self, besides: Path) -> None:
        """Let go of the project that was idle longest; of none while all of them are at work."""
        for root, project in list(self._known.items()):
            if root != besides and project.alone.acquire(blocking=False):
                try:
                    del self._known[root]
                    project.end()
                finally:
                    project.alone.release()
                return


_PROJECTS = _Projects()


def _called(
    service: Service,
    offer: Offer,
    name: object,
    arguments: object,
    context: Context,
) -> Json:
    try:
        if not isinstance(name, str):
            raise RequestError("unknown_operation", f"A tool's name is text, not {type(name).__name__}.")
        given = _arguments(name, arguments)
    except RequestError as error:
        return as_mapping(failed(error))
    toolbox = Toolbox(service, offer=offer, who=context.who, budget=context.budget)
    return answered(toolbox.call(name, given))


@cache
def _offered(names: tuple[str, ...], read_only: bool, profile: ProfileName | None) -> Offer:
    return offered(names, read_only=read_only, profile=profile or CORE, direct=profile is None)


def _several(names: Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _root(root: str | os.PathLike[str] | None) -> Path:
    return Path(os.path.realpath(root)) if root is not None else find_root(Path.cwd(), os.environ)


def _arguments(name: str, given: object) -> Mapping[str, Any]:
    """Return a call's arguments as a mapping.

    Raises:
        RequestError: `invalid_arguments`, if they are none.
    """
    if isinstance(given, (str, bytes, bytearray)):
        given = _read(name, given) if given.strip() else {}
    if not isinstance(given, Mapping):
        raise _wrong(name, f"its arguments are no object, but {_KINDS.get(type(given), type(given).__name__)}")
    return given


_KINDS = {list: "an array", str: "a text", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


def _read(name: str, text: str | bytes | bytearray) -> object:
    if len(text) > _LONGEST:
        raise _wrong(name, f"its arguments have {len(text):,} characters, more than {_LONGEST:,}")
    try:
        return values_of(text)
    except RecursionError:
        raise _wrong(name, "its arguments are nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"{error.msg[:1].lower()}{error.msg[1:]} in line {error.lineno}, column {error.colno}"
        raise _wrong(name, f"its arguments are no JSON: {where}") from None
    except ValueError as error:
        raise _wrong(name, f"its arguments are no JSON: {error}") from None


def _wrong(name: str, problem: str) -> RequestError:
    return RequestError(
        "invalid_arguments",
        f"{name[:80]} was called wrongly: {problem}.",
        hints=['Give one JSON object, such as {"target": "pkg.mod.f"}.'],
    )
