"""Functions for a model that may look at a project and no more: definitions to hand over, and what runs when it calls.

    found = access(".")
    found.definitions                                       hand these to the model as they are
    found.handlers["read_logs"](log_file="app.log")         a mapping, ready for `json.dumps`

Adding a function is adding its entry to `_FUNCTIONS`. A handler turns its arguments into a request of the one door.

Invariants:
- a handler raises nothing: a wrong call, a refusal and a bug of ours are answers with `success: false`;
- a definition says what there is when it is made;
- the engine of a root is that of `functions.dispatch`: one thread uses it at a time, and `functions.close` ends it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.adapters.functions import on_project
from bae_source.adapters.toolbox import Toolbox
from bae_source.model.outcome import Outcome

Json = dict[str, Any]
Handler = Callable[..., Json]


class Access(Struct, frozen=True, kw_only=True):
    """Functions for a model.

    Parameters:
        definitions: of each function, for the model: type, name, description, parameters.
        handlers: a function of ours for each, by name.
    """

    definitions: tuple[Json, ...]
    handlers: Mapping[str, Handler]


def access(root: str | os.PathLike[str] | None = None, *, who: str | None = None) -> Access:
    """Return the functions by which a model reads facts on a project.

    Parameters:
        root: the project's folder; None for the nearest one upwards from the working directory.
        who: the caller, for what is recorded.

    Raises:
        RequestError: `invalid_arguments` if `root` is no folder.
    """
    place = None if root is None else Path(root).absolute()

    def run(do: Callable[[Toolbox], Json]) -> Json:
        return on_project(place, lambda service: do(Toolbox(service, who=who, budget=None)))

    return Access(
        definitions=tuple(run(define) for define, _ in _FUNCTIONS.values()),
        handlers={name: _answering(handler, run) for name, (_, handler) in _FUNCTIONS.items()},
    )


def _answering(handler: Handler, run: Callable[[Callable[[Toolbox], Json]], Json]) -> Handler:
    """Return a handler for one project, of which a wrong call is an answer.

    Parameters:
        run: does something with the project's tools.
    """
    signature = inspect.signature(handler)

    def called(*placed: Any, **named: Any) -> Json:
        try:
            signature.bind(None, *placed, **named)
        except TypeError as error:
            return {"success": False, "error": f"{handler.__name__} was called wrongly: {error}."}
        return run(lambda toolbox: handler(toolbox, *placed, **named))

    called.__name__ = called.__qualname__ = handler.__name__
    called.__doc__ = handler.__doc__
    called.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])  # type: ignore[attr-defined]
    return called


def read_logs(toolbox: Toolbox, log_file: str, lines: int = 100) -> Json:
    """Return the last lines of a log.

    Parameters:
        log_file: its name.
        lines: how many, at most 500.
    """
    outcome = toolbox.call("logs_read", {"log": log_file, "lines": lines})
    if outcome.errors:
        return _failed(toolbox, outcome, log_file)
    [facts] = outcome.found
    if facts.kind != "text":
        return {"success": False, "error": outcome.text}
    return {
        "success": True,
        "log_file": log_file,
        "lines_returned": facts.lines_returned,
        "total_lines": facts.total_lines,
        "content": outcome.text.partition("\n")[2],
    }


def _failed(toolbox: Toolbox, outcome: Outcome, log_file: object) -> Json:
    [error] = outcome.errors
    if error.code == "outside_project" and error.message.startswith(_TRAVERSAL):
        return {"success": False, "error": _TRAVERSAL}
    if error.code != "symbol_not_found":
        return {"success": False, "error": error.message}
    return {"success": False, "error": f"Log file not found: {log_file}", "available_logs": _names(toolbox)}


_TRAVERSAL = "Path traversal detected"


def _names(toolbox: Toolbox) -> list[str]:
    return [each.log for each in toolbox.call("logs_list", {}).found]


def _of_read_logs(toolbox: Toolbox) -> Json:
    """Define `read_logs`; the logs that there are, are the choices."""
    names = _names(toolbox)
    log_file: Json = {"type": "string", "description": "Name of the log."}
    lines = {
        "type": "integer",
        "description": "How many of its last lines.",
        "minimum": 1,
        "maximum": 500,
        "default": 100,
    }
    return {
        "type": "function",
        "name": "read_logs",
        "description": "Read the last lines of a log of the project."
        + ("" if names else " None is there now: a person has to name a folder of logs, or a program to write one."),
        "parameters": {
            "type": "object",
            "properties": {"log_file": {**log_file, "enum": names} if names else log_file, "lines": lines},
            "required": ["log_file"],
            "additionalProperties": False,
        },
    }


_FUNCTIONS: Mapping[str, tuple[Callable[[Toolbox], Json], Handler]] = {"read_logs": (_of_read_logs, read_logs)}
"""The two functions that define one for a model and that run it, by its name."""
