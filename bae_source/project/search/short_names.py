"""Names of symbols by their last parts, where these lead to one symbol alone.

    Client.send    no module is called Client, and one symbol's name ends so: app.net.Client.send
    send@body      the same with a part: app.net.Client.send@body
    twice[1]       the second of two definitions: app.net.twice[1]
    close          ambiguous, if app.net.Client.close and app.web.Socket.close are there: both are candidates

Invariants:
- a name whose first part is a module or a folder of a source root is never short for something else;
- of several symbols none is chosen; modules and data files have no short names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.outcome import SHORT_NAME, Notice
from bae_source.model.request import Request
from bae_source.model.text import normalised
from bae_source.project.files.layout import without_names

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace

R = TypeVar("R", bound=Request)

_FIELDS = ("target", "scope", "tests", "affected_by")
_SHAPE = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:[@\[].*)?", re.DOTALL)
_NUMBER = re.compile(r"\[\d+\]")
_MOST = 10
"""The most candidates that an ambiguous name has."""


def in_full(workspace: Workspace, request: R) -> tuple[R, tuple[Notice, ...]]:
    """Return a request with the short names of symbols in it written in full, and what each of them means.

    Raises:
        LookupFailed: `ambiguous_symbol` with candidates, if a short name is the end of several symbols' names.
    """
    meant: dict[str, str] = {}
    fields = {name: getattr(request, name, None) for name in _FIELDS} if request.abbreviates else {}
    for given in fields.values():
        meant.update(_meant(workspace, (given,) if isinstance(given, str) else given or ()))
    if not meant:
        return request, ()
    full = {name: _replaced(given, meant) for name, given in fields.items() if given is not None}
    notices = (Notice(SHORT_NAME, f"{short} is {name}.") for short, name in meant.items())
    return replace(request, **full), tuple(notices)


def with_namesakes(workspace: Workspace, request: Request, error: LookupFailed) -> LookupFailed:
    """Return an error of a name that was not found with the symbols whose names end as that name does, first.

    Of app.models.Client.send these are the symbols that end in models.Client.send, else in Client.send, else in send.
    """
    target = getattr(request, "target", None)
    shape = _SHAPE.fullmatch(target) if isinstance(target, str) and request.abbreviates else None
    if shape is None or error.code != "symbol_not_found":
        return error
    parts = shape[1].split(".")
    for first in range(1, len(parts) - _is_member(workspace, parts)):
        symbols = _ending(workspace, ".".join(parts[first:]))
        if shape[1] in symbols or f"{shape[1]}[0]" in symbols:  # it is there, and what it lacks is a part or a number
            return error
        if symbols:
            return error.altered(candidates=dict.fromkeys((*symbols[:_MOST], *error.candidates)))
    return error


def _is_member(workspace: Workspace, parts: Sequence[str]) -> bool:
    """Return whether a name is a member of a class or function that exists, so that its namesakes are no candidates."""
    from bae_source.project.naming.resolve import resolve  # once a name has failed

    try:
        return resolve(workspace, ".".join(parts[:-1])).group is not None
    except ResourceError:
        return False


def _ending(workspace: Workspace, tail: str, *, kind: Literal["class"] | None = None) -> list[str]:
    """Return the symbols whose names end so."""
    from bae_source.project.search.matches import symbols_matching  # 10 ms, which full names need not pay

    try:
        found, _ = symbols_matching(workspace, f"**.{tail}", kind=kind)
    except RequestError:  # longer than any name
        return []
    return [each.address for each in found if each.kind not in ("package", "module")]


def _meant(workspace: Workspace, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the short ones of some names, each with the name that it stands for."""
    for given in names:
        name = normalised(given)
        shape = _SHAPE.fullmatch(name)
        if shape is None or _is_module(workspace, shape[1].partition(".")[0]):
            continue
        short, symbols = shape[1], _ending(workspace, shape[1])
        number = _NUMBER.match(name, len(short))
        if number and (numbered := [each for each in symbols if each.endswith(number[0])]):
            short, symbols = name[: number.end()], numbered
        if not symbols and "." in short:  # what a class does not define, it may inherit, or set on its instances
            short = short.rpartition(".")[0]
            symbols = _ending(workspace, short, kind="class")
        if len(symbols) > 1:
            raise LookupFailed(
                "ambiguous_symbol",
                f"{short} is ambiguous: the names of {len(symbols):,} symbols end so.",
                hints=["Name one of the candidates."],
                candidates=symbols[:_MOST],
                details={SHORT_NAME: short},
            )
        if symbols:
            yield given, f"{symbols[0]}{name[len(short) :]}"


def _is_module(workspace: Workspace, name: str) -> bool:
    """Return whether a name is a module's, or one's of a project inside this one, whose imports are not followed."""
    layout = workspace.layout
    return bool(layout.prefixes((name,))) or any(
        name in (each.partition(".")[0] for each in inner) for _, _, inner in without_names(layout)
    )


def _replaced(given: str | Sequence[str], meant: dict[str, str]) -> str | tuple[str, ...]:
    return meant.get(given, given) if isinstance(given, str) else tuple(meant.get(each, each) for each in given)
