"""Values as callers give them: TOML where a text parses as TOML, plain values of Python and JSON as they are.

    100   true   ["E", "F"]   "text"   1979-05-27       what TOML says
    google                                              a string, since it is a bare word and no other TOML
    1.0                                                 refused where the key holds a string: "1.0" is one

Invariant: no value changes its type without the caller's word.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from bae_source.errors import RequestError
from bae_source.model.call import Call
from bae_source.model.request import described
from bae_source.resources.config.document import Document, same
from bae_source.resources.config.entries import file_scope
from bae_source.resources.config.key import Path, written_key
from bae_source.resources.config.written import Written, kind_of, written

Value = str | int | float | bool | list[Any] | dict[str, Any]
GIVEN = (
    'A text is read as TOML: 100, true, ["E", "F"], "text"; a bare word is a string where the key holds one, or where '
    "it is no other TOML. From Python and JSON plain values will do, too."
)
Retype = Annotated[bool, described("Let the value have another type than the one that is there.")]

_WORD = re.compile(r"[^\W\d][^\r\n#]*|[./~*@$<>=!^][^\r\n#]*")
"""A text that no other value of TOML begins like."""
_MISTAKEN = frozenset({"true", "false", "inf", "nan", "none", "null", "yes", "no", "on", "off"})
_LONGEST = 100


def as_toml(text: str) -> Written:
    """Return the value that is written as TOML, as it is spelt.

    Raises:
        ValueError: it is no value of TOML, or more than one.
    """
    import tomllib  # 8 ms, which other requests need not pay

    inner = text.strip(" \t\r\n")
    line = f"_ = {inner}\n"
    try:
        found = tomllib.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    entries = file_scope(line).entries
    value = entries[0].value
    if len(entries) > 1 or value is None or value.cut(line) != inner:
        raise ValueError("it is more than a value")
    written(found["_"])  # refuses what Python's reader lets through, such as huge numbers
    return Written(inner, found["_"])


def value_for(document: Document, path: Path, given: Value, *, is_item: bool = False, retype: bool = False) -> Written:
    """Return a value for a key, as a caller gave it.

    Parameters:
        is_item: whether it becomes an item of the array at the key.
        retype: whether it may have another type than what is there.

    Raises:
        RequestError: `invalid_arguments` if it is no value, or of another type.
    """
    beside = _beside(document, path, is_item=is_item)
    holds_strings = bool(beside) and all(isinstance(each, str) for each in beside)
    value = _read(given, may_be_word=holds_strings) if isinstance(given, str) else written(given)
    kinds = {kind_of(each) for each in beside}
    is_mixed = is_item and isinstance(value.value, dict)  # as groups of dependencies are
    if kinds and kind_of(value.value) not in kinds and not retype and not is_mixed:
        raise _other_type(path, given, value, " or ".join(sorted(kinds)), is_item=is_item)
    return value


def equal_to(document: Document, path: Path, given: Value) -> list[int]:
    """Return the numbers of the items of an array that are equal to a value, as a caller gave it.

    Raises:
        RequestError: `invalid_arguments` if it is no value, or the key no array.
    """
    value = value_for(document, path, given, is_item=True, retype=True)
    items = document.value(path)
    if not isinstance(items, list):
        raise RequestError(
            "invalid_arguments",
            f"{written_key(path)} is {kind_of(items)}, and has no items.",
            hints=["Leave the value out to remove the key."],
        )
    return [number for number, each in enumerate(items) if same(each, value.value)]


def _beside(document: Document, path: Path, *, is_item: bool) -> list[Any]:
    """Return what is there now: the value of the key, or the items beside a new one."""
    if not document.has(path):
        return []
    present = document.value(path)
    if not is_item:
        return [present]
    return present if isinstance(present, list) else []


def _read(text: str, *, may_be_word: bool) -> Written:
    try:
        return as_toml(text)
    except ValueError as error:
        reason = str(error)[:_LONGEST]
    is_word = _WORD.fullmatch(text) and text.lower() not in _MISTAKEN
    if is_word or (may_be_word and text[:1] not in ("[", "{", '"', "'")):
        return written(text)
    raise RequestError(
        "invalid_arguments",
        f"{text[:_LONGEST]!r} is no value of TOML, and no bare word: {reason}.",
        hints=[f"Write a string in quotes: {written(text[:_LONGEST]).text}."],
    )


def _other_type(path: Path, given: Value, value: Written, kinds: str, *, is_item: bool) -> RequestError:
    shown, verb = written_key(path), f"config {'add' if is_item else 'set'}"
    what = f"the items of {shown} are each {kinds}" if is_item else f"{shown} is {kinds}"
    hints = [_call(verb, shown, given, "changes the type.", retype=True)]
    if isinstance(given, str) and "string" in kinds:
        hints.insert(0, _call(verb, shown, written(given).text, "writes it as a string."))
    return RequestError(
        "invalid_arguments",
        f"{value.text[:_LONGEST]} is {kind_of(value.value)}, and {what}; nothing was changed.",
        hints=hints,
    )


def _call(verb: str, key: str, given: Value, then: str, *, retype: bool = False) -> Call:
    """Return a call with a value, which the command line takes by its place."""
    import shlex  # 5 ms, which most calls need not

    text = given if isinstance(given, str) else written(given).text
    flags = ["--retype"] if retype else []
    words = [*flags, "--", key, text] if text.startswith("-") else [key, text, *flags]
    more = {"retype": True} if retype else {}
    return Call(verb, line=f"{verb} {shlex.join(words)}", then=then, key=key, value=given, **more)
