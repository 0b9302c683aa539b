"""The answers about references: the number of places, then the places by certainty, reason and module.

    1 sure, 1 unsure

    app.core
      12: return send(x)    [call in retry]

    unsure: what stands before the dot is not known statically
    app.web
      7: thing.send()    [call in view]

Results that have names, such as callees and subclasses, are listed by them:

    app.core.Base.run — app.core:14: self.run()

Invariants:
- an answer is complete only if every file that could hold more was read, and names those that were not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.reference import Defined, Reference, counts_of
from bae_source.project.files.unseen import name_at
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.search.narrowing import Narrowing
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.project.references.meaning.project import Project

_LONGEST_LINE = 160
_MAKING = ("__init__", "__new__", "__post_init__")
_OF_MODULES = ("__getattr__", "__dir__")
"""Functions of a module that Python calls."""
_DEFINED = get_args(Defined)
_CERTAINTIES = {"sure": "sure", "probable": "probable", "unsure": "unsure", "mention": "mentions"}
"""From the surest on, with what `counts` calls them."""


def answer_of(
    workspace: Workspace,
    request: Narrowing,
    places: Sequence[Reference],
    unreadable: Iterable[tuple[str, ResourceError]],
    *,
    nothing: str,
    draw: Callable[[Reference], str] | None = None,
    notices: Iterable[Notice] = (),
) -> Outcome:
    """Return references as an outcome.

    Parameters:
        request: the question, which may want some of them only.
        unreadable: files that may hold more, with the reason.
        nothing: what to say where nothing was found.
        draw: draws one as a line; as places that refer, by module, if left out.
        notices: what else was not searched.
    """
    every, places = places, request.narrowed(workspace, places)
    if every and not places:
        nothing = f"(none of {len(every)}; scope, certainty and kind leave out the others)"
    warnings = tuple(dict.fromkeys((*not_searched(workspace, unreadable), *notices)))
    counts = counts_of(places)
    return Outcome(
        status="answer",
        text="\n\n".join(_blocks(places, counts, draw)) or nothing,
        complete=not warnings,
        warnings=warnings,
        found=tuple(places),
        counts=counts,
    )


def noting_unnamed_uses(answer: Outcome, resolved: Resolved, project: Project, *, is_used: bool) -> Outcome:
    """Return an answer about users as one that leaves out code which does not name the symbol, where there may be some.

    Parameters:
        is_used: whether anything was found, be it listed or not.
    """
    answer = _noting_python_calls(answer, resolved)
    if is_used or not resolved.address.qualname:
        return answer
    from bae_source.project.references.calls.from_outside import noting_outside_calls  # most answers find something

    return noting_outside_calls(answer, resolved, project)


def _noting_python_calls(answer: Outcome, resolved: Resolved) -> Outcome:
    """Return an answer about a special method as one that leaves out code which does not name it."""
    *around, last = resolved.address.qualname or (None,)
    if last is None or not (last.name.startswith("__") and last.name.endswith("__")):
        return answer
    if not around and last.name not in _OF_MODULES:
        return answer
    owner = structs.replace(resolved.address, qualname=tuple(around), part=None)
    making = f"calls of {owner}, and of classes below it, call it too: ask for callers of {owner}"
    of = "an object" if around else "a module"
    how = making if last.name in _MAKING else f"what Python does with {of} calls it too"
    unnamed = Notice("called_by_python", f"Only code that names {last.name} is listed; {how}.")
    return structs.replace(answer, complete=False, warnings=(*answer.warnings, unnamed))


def named(reference: Reference) -> str:
    """Draw a line for what a place leads to, its own name first."""
    return f"{reference.address} — {reference.module}:{reference.line}: {_cut(reference.text)}"


def listed_places(places: Sequence[Reference]) -> list[str]:
    """Return the parts of a text about places: how many there are, then those of each certainty and reason."""
    return list(_blocks(places, counts_of(places), None))


def _blocks(
    found: Sequence[Reference], counts: Mapping[str, int], draw: Callable[[Reference], str] | None
) -> Iterator[str]:
    """Yield the parts of the text: the counts, and then for each certainty and reason what is so."""
    groups: dict[tuple[str, str], list[Reference]] = {}
    for certainty in _CERTAINTIES:
        for each in found:
            if each.certainty == certainty:
                groups.setdefault((certainty, each.why if certainty != "sure" else ""), []).append(each)
    if groups:
        counted = ((count, name.removesuffix("s") if count == 1 else name) for name, count in counts.items() if count)
        yield ", ".join(f"{count:,} {name}" for count, name in counted)
    for (certainty, why), places in groups.items():
        heading = [f"{_CERTAINTIES[certainty]}: {why}"] if certainty != "sure" else []
        yield "\n".join([*heading, *(map(draw, places) if draw else _by_module(places))])


def _by_module(places: Iterable[Reference]) -> Iterator[str]:
    module = ""
    for each in places:
        if each.module != module:
            module = each.module
            yield module
        among = "" if each.kind in _DEFINED else "in "
        inside = f" {among}{each.address.removeprefix(f'{module}.')}" if each.address != module else ""
        yield f"  {each.line}: {_cut(each.text)}    [{each.kind}{inside}]"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"


def not_searched(workspace: Workspace, unreadable: Iterable[tuple[str, ResourceError]]) -> Iterable[Notice]:
    """Return a notice for each file and folder that could not be read, with the reason."""
    for path, error in unreadable:
        name = _name_at(workspace, path)
        yield Notice("not_searched", f"{error.clause_about(name)}, so there may be more in {name}.")


def _name_at(workspace: Workspace, path: str) -> str:
    return name_at(workspace.census, path)
