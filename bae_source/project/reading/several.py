"""Several names read as one answer: each below a line that names it, what cannot be found named beside.

    # app.net.Client.send  app.net:12  etag 3f2c…
        def send(self): …

    # app.net  (interface)
    app.net — Sending. (1 class, 0 functions)

Invariants:
- names are answered in the order in which they were given, and what several of them mean is shown once;
- an error of one name leaves the others alone; the answer is not complete then, and its exit status is that of
  a name that was not found, or a higher one;
- a pattern stands for what matches it, as `glob` has it, and is not found where nothing does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.address import is_pattern
from bae_source.model.call import Call
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.reference import LINES, Shown, counts_of
from bae_source.model.text import listed
from bae_source.project.search.matches import data_matching, symbols_matching
from bae_source.project.workspace import Workspace

MOST = 1000
"""The most names that one pattern may stand for."""
_CANDIDATES = 5
"""The most candidates or hints in the warning of a name, and names in the error of several."""

Read = Callable[[str], Outcome]
"""A function that reads one name."""


def read_several(workspace: Workspace, names: Sequence[str], read: Read) -> Outcome:
    """Read names and patterns.

    Raises:
        RequestError: `invalid_arguments` if there is no name.
        ResourceError: of all names that were given nothing was found; it is the gravest of what is wrong with them.
    """
    if not names:
        raise RequestError("invalid_arguments", "No name is given.", hints=["Give at least one dotted name."])
    pieces: dict[tuple[str, str], Outcome] = {}
    failures: list[tuple[str, ResourceError]] = []
    notices: list[Notice] = []
    for name in dict.fromkeys(names):
        for each, outcome in _each(workspace, name, read, notices):
            if isinstance(outcome, Outcome):
                pieces.setdefault((outcome.address or each, outcome.text), outcome)
            else:
                failures.append((each, outcome))
    if not pieces:
        raise _nothing(failures)
    found = tuple(_shown(address, outcome) for (address, _), outcome in pieces.items())
    blocks = [f"{_head(each)}\n{_ended(outcome.text)}" for each, outcome in zip(found, pieces.values(), strict=True)]
    inner = [each for outcome in pieces.values() for each in outcome.warnings]
    return Outcome(
        status="answer",
        text="\n".join(blocks),
        found=found,
        counts=counts_of(found),
        complete=not failures and not notices and all(outcome.complete for outcome in pieces.values()),
        warnings=tuple(dict.fromkeys((*notices, *inner, *(_warning(name, error) for name, error in failures)))),
        exit_code=max((LookupFailed.exit_code, *(error.exit_code for _, error in failures))) if failures else 0,
    )


def _each(
    workspace: Workspace, name: str, read: Read, notices: list[Notice]
) -> Iterator[tuple[str, Outcome | ResourceError]]:
    """Yield the result for a name, or for each match of a pattern.

    Parameters:
        notices: takes what a pattern could not look into.
    """
    try:
        names = _matches(workspace, name, notices) if is_pattern(name) else [name]
    except ResourceError as error:
        yield name, error
        return
    for each in names:
        try:
            yield each, read(each)
        except ResourceError as error:
            yield each, error


def _matches(workspace: Workspace, pattern: str, notices: list[Notice]) -> list[str]:
    """Return the addresses that match a pattern.

    Raises:
        LookupFailed: `symbol_not_found` if nothing does.
        Refused: `budget_exceeded` if too much does.
        RequestError: `invalid_name` if the pattern is none.
    """
    found, unseen = data_matching(workspace, pattern) if ":" in pattern else symbols_matching(workspace, pattern)
    notices += unseen
    names = list(dict.fromkeys(match.address for match in found))
    if not names:
        hints = [Call("search", words=[pattern.strip("*?.:")], then="looks for the words.")]
        raise LookupFailed("symbol_not_found", f"Nothing matches {pattern}.", hints=hints)
    if len(names) > MOST:
        raise Refused(
            "budget_exceeded",
            f"{pattern} matches {len(names):,} names, more than the {MOST:,} that are read at once.",
            hints=[Call("glob", pattern=pattern, then="lists them.")],
        )
    return names


def _shown(address: str, outcome: Outcome) -> Shown:
    """Return what was read, as data; what has no place of its own is shown as an outline."""
    if outcome.found and isinstance(outcome.found[0], Shown):
        return outcome.found[0]
    return Shown(module=address, address=address, line=1, kind="module", etag=None)


def _head(shown: Shown) -> str:
    """Return the line above what was read."""
    place = f"  {shown.module}:{shown.line}" if shown.module != shown.address or shown.kind == LINES else ""
    instead = "(interface)" if shown.kind == "module" else "(statements)"
    return f"# {shown.address}{place}  {f'etag {shown.etag}' if shown.etag else instead}"


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) or not text else f"{text}\n"


def _warning(name: str, error: ResourceError) -> Notice:
    """Return the warning of a name that could not be read."""
    message = _sentence(name, error)
    if error.candidates:
        return Notice(error.code, f"{message} Candidates: {listed(error.candidates, _CANDIDATES)}.")
    hints = [hint for hint in error.hints if not isinstance(hint, Call)]  # which each door writes in its own way
    return Notice(error.code, " ".join([message, *hints[:_CANDIDATES]]))


def _nothing(failures: Sequence[tuple[str, ResourceError]]) -> ResourceError:
    """Return the error of a call of which no name was found: that of a single one as it stands."""
    worst = max((error for _, error in failures), key=lambda error: error.exit_code)
    if len(failures) == 1:
        return worst
    return worst.altered(
        reason=" ".join(_sentence(name, error) for name, error in failures[:_CANDIDATES])
        + (f" And {len(failures) - _CANDIDATES:,} more." if len(failures) > _CANDIDATES else ""),
        subject="",
        unchanged=None,
        hints=dict.fromkeys(hint for _, error in failures for hint in error.hints),
        candidates=dict.fromkeys(each for _, error in failures for each in error.candidates),
    )


def _sentence(name: str, error: ResourceError) -> str:
    return error.message if name in error.message else f"{name}: {error.message}"
