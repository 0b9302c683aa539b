"""A piece of a kept change replaced, so that what was refused need not be given once more.

    edit app.f --source f.py                    refused: line 12 does not parse          draft_9f2c…
    amend draft_9f2c --old "retrun" --new "return"                                       mends that, and makes it
    amend draft_9f2c --set '{"target": "app.g"}'                                         gives a parameter another value

Invariant: of a request nothing changes but what is named; what is left is as the caller gave it first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bae_source.engine.applying import operation
from bae_source.errors import LookupFailed, RequestError
from bae_source.history.travel.commands import Amend
from bae_source.model.text import counted
from bae_source.syntax.rewrite.textual import Piece, pieces_of, place_texts

Requests = tuple[dict[str, Any], ...]
WORTH = 200
"""Characters of the texts of a change from which on it is kept where it is refused: fewer are given as soon again."""
_NO_TEXT = ("do", "target")
_SOURCES = ("new_source", "source")


def is_worth_keeping(requests: Requests) -> bool:
    """Return whether changes have so much text that to give it once more costs more than to amend it."""
    return sum(len(text) for each in requests for _, text in _texts(each)) >= WORTH


def amended(requests: Requests, request: Amend) -> Requests:
    """Return changes of which one is as it was amended.

    Raises:
        RequestError: `invalid_arguments` where it is not clear what is to change, or the result is no change.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol` for a text that does not occur once.
    """
    pieces = pieces_of(request.old, request.new, verb=request.verb)
    number = _number(requests, request, pieces)
    given = dict(requests[number])
    if request.new_source is not None:
        own = type(operation(given)).__struct_fields__
        name = next((each for each in _SOURCES if each in own), None)
        if name is None:
            raise RequestError(
                "invalid_arguments", f"{given['do']} has no new source.", hints=["Use set, or old and new."]
            )
        given = {key: value for key, value in given.items() if key not in ("old", "new")} | {name: request.new_source}
    given |= request.set or {}
    for piece in pieces:
        given = _with_text(given, piece)
    operation(given)  # raises what is wrong with it
    return (*requests[:number], given, *requests[number + 1 :])


def _number(requests: Requests, request: Amend, pieces: Sequence[Piece]) -> int:
    """Return the index of the request that is amended."""
    count = len(requests)
    if not pieces and request.new_source is None and not request.set:
        problem = "Amend takes old and new, new_source, or set"
    elif request.number is not None and request.number > count:
        problem = f"The draft has {counted(count, 'request')}, and no number {request.number}"
    elif request.number is not None or count == 1:
        return (request.number or 1) - 1
    elif pieces and not request.set and request.new_source is None:
        holding = [n for n, each in enumerate(requests) if any(pieces[0].old in text for _, text in _texts(each))]
        if len(holding) == 1:
            return holding[0]
        problem = f"old occurs in {len(holding)} of the {count} requests of the draft"
    else:
        problem = f"The draft has {counted(count, 'request')}"
    hint = "number says which request is amended, counted from 1; old and new replace text that occurs once in it."
    raise RequestError("invalid_arguments", f"{problem}.", hints=[hint])


def _with_text(given: Mapping[str, Any], piece: Piece) -> dict[str, Any]:
    """Return a request in one of whose texts a piece is replaced."""
    texts = list(_texts(given))
    holding = [(path, text) for path, text in texts if piece.old in text]
    if len(holding) > 1:
        names = ", ".join(str(path[0]) for path, _ in holding)
        raise LookupFailed(
            "ambiguous_symbol", f"old occurs in {names} of the request.", hints=["Give more of the text around it."]
        )
    chosen = holding or sorted(texts, key=lambda each: -len(each[1]))[:1]
    if not chosen:
        raise LookupFailed("symbol_not_found", "The request has no text.", hints=["Use set to give it one."])
    [(path, text)] = chosen
    found = place_texts(text, [piece], newline="\n", name=f"{path[0]} of the draft")
    for span, new in reversed(found.splices):
        text = text[: span.start] + new + text[span.end :]
    changed: dict[str, Any] = _put(given, path, text)
    return changed


def _texts(given: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield the texts of a request that are no names, each with the way to it."""
    for name, value in given.items():
        if name not in _NO_TEXT:
            yield from _inside((name,), value)


def _inside(path: tuple[Any, ...], value: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from _inside((*path, index), each)


def _put(given: Any, path: tuple[Any, ...], text: str) -> Any:
    """Return nested values with another text at the end of a way."""
    if not path:
        return text
    first, *rest = path
    if isinstance(given, Mapping):
        return {**given, first: _put(given[first], tuple(rest), text)}
    return [_put(each, tuple(rest), text) if index == first else each for index, each in enumerate(given)]
