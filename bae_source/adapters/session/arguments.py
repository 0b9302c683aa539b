"""Calls as Python makes them, as requests take them: arguments by name, and a call drawn in one line.

Invariants:
- which parameters have a place is what the Python API says; all of them can be given by name;
- surplus and repeated arguments are named with the other problems.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

from bae_source.adapters.python import methods
from bae_source.adapters.python.methods import by_name
from bae_source.model.context import steering
from bae_source.model.request import Parameter, parameters

View = Literal["auto", "summary", "source"]
_VIEW = "view"
_FULL: Mapping[str, bool | None] = {"auto": None, "summary": False, "source": True}
_VIEWED = Parameter(
    name=_VIEW,
    annotation=View,
    required=False,
    default="auto",
    help="What is shown of a module: auto, its interface as a summary, or its source; a symbol has its source anyway.",
)
_LONG = 60
_MOST_DRAWN = 200
_ROOM = 96


@cache
def taken(verb: str) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a verb, as the Python API has them; `read` takes the parts of a module to show."""
    found = list(methods.taken(methods.named(verb)))
    if verb == "read":
        view = inspect.Parameter(
            _VIEW, inspect.Parameter.KEYWORD_ONLY, default="auto", annotation='Literal["auto", "summary", "source"]'
        )
        found.insert(1, view)
    return tuple(found)


@cache
def declared(verb: str) -> tuple[Parameter, ...]:
    """Return all parameters of a verb that can be given by name, with their help."""
    kind = methods.named(verb)
    own = parameters(kind)
    return (*own[:1], _VIEWED, *own[1:], *steering(kind)) if verb == "read" else (*own, *steering(kind))


def signature(verb: str, room: int = 0, name: str = "") -> str:
    """Draw a verb with the types of its parameters; those that may be left out stop where there is no more room.

    Parameters:
        room: how many characters it may have; 0 for any number.
        name: how it is called, where that is not the verb.
    """
    end = f") -> {_returned(verb)}"
    text, is_named = f"{name or verb}(", False
    for number, parameter in enumerate(taken(verb)):
        piece = ", " if number else ""
        if parameter.kind is parameter.KEYWORD_ONLY and not is_named:
            piece, is_named = f"{piece}*, ", True
        piece += _drawn_parameter(parameter)
        if room and parameter.default is not parameter.empty and len(text) + len(piece) + len(end) + 3 > room:
            return f"{text}{', ' if number else ''}…{end}"
        text += piece
    return text + end


def gathered(verb: str, given: Sequence[Any], named: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a call by their names, and what is wrong with how they were given.

    Parameters:
        given: those that were given by their place.
        named: those that were given by name.
    """
    arguments, problems = by_name(taken(verb), given, named)
    if verb == "read":
        problems += _viewed(arguments)
    return arguments, problems


def drawn(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Draw a call in one line: texts as they are where they are short, by their number of lines where not."""
    shown, length = [], 0
    for key, value in [*(("", value) for value in given), *named.items()]:
        piece = f"{key}={_shown(value)}" if key else _shown(value)
        length += len(piece)
        if length > _MOST_DRAWN:
            shown.append("…")
            break
        shown.append(piece)
    return f"{name}({', '.join(shown)})"


def _viewed(arguments: dict[str, Any]) -> list[str]:
    """Put `full` for `view`, and return what is wrong with it."""
    if _VIEW not in arguments:
        return []
    view = arguments.pop(_VIEW)
    if not isinstance(view, str) or view not in _FULL:
        return [f"view: {view!r} is none, expected one of {', '.join(get_args(View))}"]
    full = _FULL[view]
    if full is not None and arguments.setdefault("full", full) is not full:
        return [f"view={view!r} and full={arguments['full']!r} exclude each other"]
    return []


def _drawn_parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    text = f"{star}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}"
    return text


def _returned(verb: str) -> str:
    type_name = methods.returned(methods.named(verb))
    return {"Text": "str", "Answer | list[Answer]": "dict | list[dict]"}.get(type_name, type_name)


def _shown(value: Any) -> str:
    """Draw an argument, without asking it how it would be drawn unless it is one of Python's own plain values."""
    if type(value) is str or isinstance(value, str):
        lines = value.count("\n")
        if lines > 1 or (lines and not value.endswith("\n")):
            return f"<{lines + (not value.endswith(chr(10)))} lines>"
        text = value.rstrip("\n")
        return _plain(text if len(text) <= _LONG else f"{text[: _LONG - 1]}…")
    if value is None or isinstance(value, (bool, int, float)):
        return f"<a long {type(value).__name__}>" if isinstance(value, int) and abs(value) > 10**18 else repr(value)
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_shown(each) for each in value[:3])
        more = f", … ({len(value)})" if len(value) > 3 else ""
        return f"[{inner}{more}]" if len(inner) < _ROOM else f"<{len(value)} items>"
    return f"<{type(value).__name__}>"


def _plain(text: str) -> str:
    """Return a text without what would break a line or drive a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
