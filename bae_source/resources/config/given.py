"""Values as callers give them: plain ones of Python and JSON as they are, and texts that are read as TOML.

    value="5.1"                                         the string, as any door but the command line gives it
    toml="100"   "true"   '["E", "F"]'   '"text"'       what TOML says, as the command line gives it
    toml="google"   "-q -x"                             a string, since it is a bare word and no other TOML
    toml="1.0"                                          refused where the key holds a string: "1.0" is one
    toml="3.10"                                         refused where no float is there: as a number it is 3.1

Invariants:
- no value changes its type without the caller's word;
- a call that a refusal offers has been tried on the text of the file.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Struct

from bae_source.errors import RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.request import command_of, described, signature, summary
from bae_source.resources.config.document import Document, same
from bae_source.resources.config.entries import file_scope
from bae_source.resources.config.key import Path, written_key
from bae_source.resources.config.meaning import new_problems
from bae_source.resources.config.opened import Change
from bae_source.resources.config.written import Written, kind_of, written

Value = str | int | float | bool | list[Any] | dict[str, Any]
PLAIN = "A text is a string, also one like a number."

_WORD = re.compile(r"-*[^\W\d][^\r\n#]*|[./~*@$<>=!^][^\r\n#]*")
"""A text that no other value of TOML begins like."""
_MISTAKEN = {
    "true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false",
    "none": "", "null": "", "inf": "", "nan": "",
}  # fmt: skip
"""Words that are hardly meant as strings, and what TOML writes for them."""
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9_]+\.[0-9_]+")
_COLUMN = re.compile(r" \(at [^()]*\)$")
"""The end of the message of Python's reader, which has columns of a line that is ours."""
_LONGEST = 100


class Valued(Change, frozen=True, kw_only=True):
    """A change with a value."""

    value: Annotated[Value | None, described(f"The value. {PLAIN}", placed=True)] = None
    toml: Annotated[
        str | None,
        described(
            'The same as TOML, in place of value: 100, true, ["E", "F"], "text", 1979-05-27. A text that is none is a '
            "string if it is a bare word, or if the key or its items are strings. The command line reads VALUE so.",
            seldom=True,
        ),
    ] = None

    @property
    def has_value(self) -> bool:
        """True where there is a value.

        Raises:
            RequestError: `invalid_arguments` for two.
        """
        if self.value is not None and self.toml is not None:
            raise self.wrong("value and toml exclude each other")
        return self.value is not None or self.toml is not None

    def wrong(self, reason: str) -> RequestError:
        """Return the refusal of a call."""
        hints = [f"{signature(type(self))}: {summary(type(self))}"]
        return RequestError("invalid_arguments", f"{self.verb} was called wrongly: {reason}.", hints=hints)


class Writing(Valued, frozen=True, kw_only=True):
    """A change that writes a value."""

    retype: Annotated[bool, described("Let the value have another type than the one that is there.")] = False


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


def value_for(document: Document, path: Path, given: Writing, *, is_item: bool = False) -> Written:
    """Return a value for a key, as a caller gave it.

    Parameters:
        is_item: whether it becomes an item of the array at the key.

    Raises:
        RequestError: `invalid_arguments` if it is no value, or of another type.
    """
    if not given.has_value:
        raise given.wrong("value is missing")
    beside = _beside(document, path, is_item=is_item)

    def fits(value: Written) -> bool:
        kinds = {kind_of(each) for each in beside}
        is_mixed = is_item and isinstance(value.value, dict)  # as groups of dependencies are
        return not kinds or kind_of(value.value) in kinds or is_mixed

    def works(value: Written) -> bool:
        after = Document(document.add(path, value) if is_item else document.set(path, value))
        return not any(each.refuses for each in new_problems(document.data, after.data))

    goes = not is_item and document.has(path)
    calls = _Calls(given=given, path=path, fits=fits, works=works, may_go=goes)
    if given.toml is None:
        value = written(given.value)
    else:
        value = _read(given.toml, calls, may_be_word=bool(beside) and all(isinstance(each, str) for each in beside))
        is_number = not is_item and bool(beside) and isinstance(beside[0], float)
        if not is_number and not given.retype and fits(value) and (lost := _lost(value.text)):
            raise _not_as_written(value, lost, calls)
    if not (given.retype or fits(value)):
        raise _other_type(value, sorted({kind_of(each) for each in beside}), calls, is_item=is_item)
    return value


def equal_to(document: Document, path: Path, given: Valued) -> list[int]:
    """Return the numbers of the items of an array that are equal to a value, as a caller gave it.

    Raises:
        RequestError: `invalid_arguments` if it is no value, or the key no array.
    """
    items = document.value(path)
    if not isinstance(items, list):
        raise RequestError(
            "invalid_arguments",
            f"{written_key(path)} is {kind_of(items)}, and has no items.",
            hints=["Leave the value out to remove the key."],
        )

    def found(value: Written) -> list[int]:
        return [number for number, each in enumerate(items) if same(each, value.value)]

    if given.toml is None:
        return found(written(given.value))
    calls = _Calls(given=given, path=path, fits=lambda _: True, works=lambda value: bool(found(value)))
    return found(_read(given.toml, calls, may_be_word=bool(items) and all(isinstance(each, str) for each in items)))


class _Calls(Struct, frozen=True, kw_only=True):
    """Calls with other values, which a refusal offers.

    Parameters:
        fits: says whether a value has a type that the key may have.
        works: says whether the file may have a value; it raises ResourceError as the change would.
        may_go: whether there is a key that can be removed in place of having no value.
    """

    given: Valued
    path: Path
    fits: Callable[[Written], bool]
    works: Callable[[Written], bool]
    may_go: bool = False

    def offered(self, *values: tuple[Written | None, str]) -> list[str]:
        """Return the calls that work, each with what it does."""
        hints: list[str] = [self._call(value, then) for value, then in values if value and self._is_tried(value)]
        return hints or ["Give another value."]

    def _is_tried(self, value: Written) -> bool:
        try:
            return self.works(value)
        except ResourceError:
            return False

    def _call(self, value: Written, then: str) -> Call:
        """Return a call with a value, which the command line takes by its place, as TOML."""
        command, key = command_of(type(self.given)), written_key(self.path)
        retype = not self.fits(value)
        words = [*(["--"] if value.text.startswith("-") else []), key, value.text]
        line = f"{command} {shlex.join([*(['--retype'] if retype else []), *words])}"
        plain: Any = {"value": value.value} if isinstance(value.value, (str, int, float)) else {"toml": value.text}
        then = f"{then}, and changes the type." if retype else f"{then}."
        return Call(command, line=line, then=then, key=key, **plain, **({"retype": True} if retype else {}))


def _beside(document: Document, path: Path, *, is_item: bool) -> list[Any]:
    """Return the present value: that of the key, or the items beside a new one."""
    if not document.has(path):
        return []
    present = document.value(path)
    if not is_item:
        return [present]
    return present if isinstance(present, list) else []


def _read(text: str, calls: _Calls, *, may_be_word: bool) -> Written:
    try:
        return as_toml(text)
    except ValueError as error:
        reason = _COLUMN.sub("", str(error))[:_LONGEST].lower()
    is_word = _WORD.fullmatch(text) and text.lower() not in _MISTAKEN
    if is_word or (may_be_word and text[:1] not in ("[", "{", '"', "'")):
        return written(text)
    meant = _meant(text)
    hints = calls.offered(
        (meant, f"writes {kind_of(meant.value) if meant else ''}"), (written(text), "writes it as a string")
    )
    if text.lower() in ("none", "null"):
        reason = "TOML has no such value"
        if calls.may_go:
            hints.insert(0, Call("config remove", key=written_key(calls.path), then="takes the key away."))
    raise RequestError(
        "invalid_arguments", f"{text[:_LONGEST]!r} is no value of TOML, and no bare word: {reason}.", hints=hints
    )


def _meant(text: str) -> Written | None:
    """Return the TOML for a text that TOML writes otherwise; None where that cannot be known.

    False                       false
    [starlette, 'tests', True]  ["starlette", 'tests', true]
    """
    inner = text.strip()
    if word := _MISTAKEN.get(inner.lower()):
        return as_toml(word)
    if not (inner[:1] == "[" and inner[-1:] == "]") or re.search(r"[\[\]{}#]", inner[1:-1]):
        return None
    items = [each.strip() for each in inner[1:-1].split(",")]
    try:
        return as_toml(f"[{', '.join(_item(each) for each in items if each)}]")
    except ValueError:  # such as a quote that has no end, or stands around a comma
        return None


def _item(text: str) -> str:
    if word := _MISTAKEN.get(text.lower()):
        return word
    try:
        return as_toml(text).text
    except ValueError:
        return written(text).text if not re.search("[\"']", text) else text


def _lost(text: str) -> Mapping[str, str]:
    """Return the numbers in a value of TOML as they come back, if one is another then: {"3.10": "3.1"}."""
    import tomllib  # as above
    from decimal import Decimal

    read: dict[str, str] = {}

    def noted(number: str) -> float:
        if _PLAIN_NUMBER.fullmatch(number):
            read[number] = repr(float(number))
        return float(number)

    tomllib.loads(f"_ = {text}\n", parse_float=noted)
    is_same = all(Decimal(each).as_tuple() == Decimal(back).as_tuple() for each, back in read.items())
    return {} if is_same else read


def _not_as_written(value: Written, lost: Mapping[str, str], calls: _Calls) -> RequestError:
    number, back = next(each for each in lost.items() if each[0] != each[1])
    return RequestError(
        "invalid_arguments",
        f"{number} is a number, which reads back as {back}; nothing was changed.",
        hints=calls.offered(
            (_with_each(value, {one: f'"{one}"' for one in lost}), "writes a string"),
            (_with_each(value, lost), "writes the number"),
        ),
    )


def _with_each(value: Written, others: Mapping[str, str]) -> Written | None:
    """Return a value with other texts in the place of some numbers."""
    numbers = "|".join(map(re.escape, sorted(others, key=len, reverse=True)))
    try:
        return as_toml(re.sub(rf"(?<![\w.\"'+-])(?:{numbers})(?![\w.\"'])", lambda it: others[it[0]], value.text))
    except ValueError:
        return None


def _other_type(value: Written, kinds: list[str], calls: _Calls, *, is_item: bool) -> RequestError:
    shown = written_key(calls.path)
    what = f"the items of {shown} are each {' or '.join(kinds)}" if is_item else f"{shown} is {' or '.join(kinds)}"
    return RequestError(
        "invalid_arguments",
        f"{value.text[:_LONGEST]} is {kind_of(value.value)}, and {what}; nothing was changed.",
        hints=calls.offered(*_instead(value, kinds), (value, "writes it as it is")),
    )


def _instead(value: Written, kinds: list[str]) -> Iterator[tuple[Written, str]]:
    """Yield the value in a type that is wanted, if its spelling stays, and the verb of the hint for it."""
    if not isinstance(value.value, str):
        if "a string" in kinds:
            yield written(value.text), "writes it as a string"
        return
    try:
        found = as_toml(value.value)
    except ValueError:
        return
    if kind_of(found.value) in kinds:
        yield found, f"writes {kind_of(found.value)}"
