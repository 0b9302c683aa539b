"""Functions for a model that may look at a project, and propose changes: their definitions, and the code of calls.

    found = access(".")
    found.definitions                                       hand these to the model as they are
    found.handlers["read_logs"](log_file="app.log")         a mapping, ready for `json.dumps`

Adding a function is adding its entry to `_FUNCTIONS`. A handler turns its arguments into a request of the one door.

Invariants:
- nothing is written: what the model wants changed waits until a person approves it;
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
from bae_source.errors import ResourceError
from bae_source.model.outcome import NOT_SHOWN, Outcome

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
    """Return the functions by which a model reads a project, and proposes changes of it.

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


def read_source_code(toolbox: Toolbox, file_path: str) -> Json:
    """Return the content of a module or a text file.

    Parameters:
        file_path: its path from the project's folder, or the name of a module.
    """
    if wrong := _wrong(read_source_code, file_path=file_path):
        return _refused(file_path, wrong)
    outcome = toolbox.call("read", {"target": _address(toolbox, file_path), "full": True})
    if outcome.errors:
        return _refused(file_path, _denied(outcome, file_path))
    if unseen := [each.message for each in outcome.warnings if each.code == NOT_SHOWN]:
        return _refused(file_path, unseen[0])
    text = outcome.text
    lines = text.count("\n") + bool(text and not text.endswith("\n"))
    return {"success": True, "file_path": file_path, "content": text, "lines": lines}


def schedule_code_modification(
    toolbox: Toolbox, file_path: str, new_content: str, reason: str, goal_id: str | None = None
) -> Json:
    """Have a change wait for a person: what a module or a text file is to hold.

    Parameters:
        file_path: as `read_source_code` takes it; one that is not there yet is made.
        new_content: all of it.
        reason: why, for the person.
        goal_id: what it is a step to.
    """
    if wrong := _wrong(schedule_code_modification, file_path=file_path, new_content=new_content, reason=reason):
        return _refused(file_path, wrong)
    if goal_id is not None and (wrong := _wrong(schedule_code_modification, goal_id=goal_id)):
        return _refused(file_path, wrong)
    if not reason.strip():
        return _refused(file_path, "A reason is needed: the person who decides reads it.")
    given: Json = {"target": _address(toolbox, file_path), "source": new_content, "overwrite": True, "propose": reason}
    outcome = toolbox.call("write", given if goal_id is None else {**given, "goal": goal_id})
    if outcome.errors:
        return _refused(file_path, _denied(outcome, file_path))
    if outcome.task_id is None:
        return _refused(file_path, outcome.text)
    return {
        "success": True,
        "task_id": outcome.task_id,
        "file_path": file_path,
        "status": "awaiting_approval",
        "message": outcome.text,
    }


def _wrong(function: Handler, **given: object) -> str:
    """Return the problem of arguments that have to be texts; "" where there is none."""
    for name, value in given.items():
        if not isinstance(value, str):
            return f"{function.__name__} was called wrongly: {name}: expected `str`, got `{type(value).__name__}`."
    return "" if given.get("file_path", "-") else f"{function.__name__} was called wrongly: file_path is empty."


def _refused(file_path: object, why: str) -> Json:
    return {"success": False, "error": why, "file_path": file_path if isinstance(file_path, str) else repr(file_path)}


def _address(toolbox: Toolbox, file_path: str) -> str:
    """Return the address of a file; a name, and what is no path, stays as it is."""
    try:
        return toolbox.service.address_at(file_path) or file_path
    except ResourceError:
        return file_path


def _denied(outcome: Outcome, file_path: str) -> str:
    [error] = outcome.errors
    leads_out = file_path.startswith(("/", "~")) or ".." in file_path.replace("\\", "/").split("/")
    denied = error.code in ("forbidden", "outside_project") or (error.code == "invalid_name" and leads_out)
    return f"Access denied: {error.message}" if denied else error.message


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
    none = "" if names else " None is there now: a person has to name a folder of logs, or a program to write one."
    properties = {"log_file": {**log_file, "enum": names} if names else log_file, "lines": lines}
    return _defined(read_logs.__name__, f"Read the last lines of a log of the project.{none}", properties, ["log_file"])


_FILE_PATH: Json = {
    "type": "string",
    "description": "Path of the file from the project's folder, such as src/app/core.py, or the name of a module.",
}


def _of_read_source_code(_: Toolbox) -> Json:
    return _defined(
        read_source_code.__name__,
        "Read what a module or a text file of the project holds, as a whole.",
        {"file_path": _FILE_PATH},
        ["file_path"],
    )


def _of_schedule_code_modification(_: Toolbox) -> Json:
    properties = {
        "file_path": {**_FILE_PATH, "description": f"{_FILE_PATH['description']} One that is not there yet is made."},
        "new_content": {"type": "string", "description": "All that the file is to hold."},
        "reason": {"type": "string", "description": "Why, for the person who decides about it.", "minLength": 1},
        "goal_id": {"type": ["string", "null"], "description": "What it is a step to.", "default": None},
    }
    return _defined(
        schedule_code_modification.__name__,
        "Propose what a file of the project is to hold. Nothing is written until a person approves it.",
        properties,
        ["file_path", "new_content", "reason"],
    )


def _defined(name: str, description: str, properties: Json, required: list[str]) -> Json:
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


_FUNCTIONS: Mapping[str, tuple[Callable[[Toolbox], Json], Handler]] = {
    "read_source_code": (_of_read_source_code, read_source_code),
    "schedule_code_modification": (_of_schedule_code_modification, schedule_code_modification),
    "read_logs": (_of_read_logs, read_logs),
}
"""The two functions that define one for a model and that run it, by its name."""
