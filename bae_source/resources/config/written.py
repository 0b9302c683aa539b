"""Values as TOML writes them, by tomlkit.

Invariants:
- what is written reads back as the very value, of the same type;
- a value that was given as TOML stays as it was spelt.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.text import is_text
from bae_source.resources.config.key import written_name

_WIDEST = 100
"""Characters of an array on one line; a longer one has a line an item."""
_LARGEST = 2**63
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a boolean"),
    (str, "a string"),
    (int, "an integer"),
    (float, "a float"),
    (Mapping, "a table"),
    ((list, tuple), "an array"),
    (datetime.datetime, "a date and time"),
    (datetime.date, "a date"),
    (datetime.time, "a time"),
)


class Written(Struct, frozen=True):
    """A value and its text.

    Parameters:
        text: as TOML writes it.
        value: as Python's reader gives it.
    """

    text: str
    value: Any


def kind_of(value: object) -> str:
    """Return the type of a value, as TOML calls it, with its article."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "no value of TOML")


def written(value: Any) -> Written:
    """Return a value as TOML writes it.

    Parameters:
        value: a plain value, or one that is written already.

    Raises:
        RequestError: `invalid_arguments` if TOML has no such value.
    """
    if isinstance(value, Written):
        return value
    return Written(_text(value), _plain(value))


def laid_out(given: Written, like: str, indent: str, newline: str) -> str:
    """Return the text of an array that takes the place of another: with a line an item where that has one.

    Parameters:
        like: the text of the other one.
        indent: what stands before the key.
    """
    if not isinstance(given.value, list) or not given.value or "\n" in given.text or "\n" not in like:
        return given.text
    lines = [line for line in like.split("\n")[1:-1] if line.strip()]
    inner = lines[0][: len(lines[0]) - len(lines[0].lstrip(" \t"))] if lines else f"{indent}    "
    last = like.rstrip("] \t\r\n").endswith(",")
    items = f",{newline}".join(f"{inner}{written(each).text}" for each in given.value)
    return f"[{newline}{items}{',' if last else ''}{newline}{indent}]"


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        items = [_text(each) for each in value]
        line = f"[{', '.join(items)}]"
        return line if len(line) <= _WIDEST else "[\n" + "".join(f"    {each},\n" for each in items) + "]"
    if isinstance(value, Mapping):
        return _table(value)
    if value is None or kind_of(value).startswith("no "):
        raise _no_value(f"TOML has no value such as {type(value).__name__}")
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise _no_value("A whole number of TOML has at most 64 bits")
    from tomlkit import item  # 40 ms, which reading need not pay

    text: str = item(value).as_string()
    if not is_text(text):
        raise _no_value("Half a pair of surrogates is no character of TOML")
    return text


def _table(value: Mapping[Any, Any]) -> str:
    if not all(isinstance(name, str) and is_text(name) for name in value):
        raise _no_value("A key of TOML is a string")
    pairs = [f"{written_name(name)} = {_text(each)}" for name, each in value.items()]
    return f"{{ {', '.join(pairs)} }}" if pairs else "{}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _no_value(reason: str) -> RequestError:
    return RequestError("invalid_arguments", f"{reason}.", hints=["Give another value."])
