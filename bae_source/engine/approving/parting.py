"""Take symbols out of a planned change, and leave the rest of it.

    - def send(self): ...          app.client.Client.send
    + def send(self, retry=3): …                                    out
    - LIMIT = 3                    app.client.LIMIT
    + LIMIT = 5                                                     stays

Each run of lines that differ belongs to the symbols around its lines, before and after. Lines that only come or only go
are told apart one by one; where lines of a refused symbol and of another one are exchanged together, they cannot be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from bae_source.errors import Refused, RequestError
from bae_source.history.record.diff import unified_diff
from bae_source.model.changeset import FileChange, between
from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.verification.choosing import symbol_at


def rest_of(plan: Plan, before: Workspace, parts: Sequence[str]) -> str:
    """Return a planned change without some symbols, as a patch; "" where nothing is left.

    Parameters:
        before: what it was planned on.
        parts: addresses of symbols, modules or files, which stand for all that is in them.

    Raises:
        RequestError: `invalid_arguments` for a part that the change does not touch.
        Refused: `unsafe_change` where a part cannot be told from what is left.
    """
    if plan.releases:
        raise Refused(
            "unsafe_change",
            "A change of the environment cannot be taken apart; nothing was changed.",
            hints=["Reject it whole, and say which part is wanted."],
        )
    after = before.after(plan.changes)
    taken: set[str] = set()
    left: dict[str, bytes | None] = {}
    old: dict[str, bytes | None] = {}
    for file in plan.changes.files:
        old[file.path] = before.content(file.path)
        left[file.path] = _rest(file, before, after, parts, taken)
    if unknown := [each for each in parts if each not in taken]:
        raise unknown_parts(unknown)
    changes = between(old, left)
    contents = {path: content or b"" for path, content in old.items()}
    return unified_diff(changes, contents) if changes else ""


def _rest(file: FileChange, before: Workspace, after: Workspace, parts: Sequence[str], taken: set[str]) -> bytes | None:
    """Return what a file holds once the parts are taken out of its change."""
    path, old, new = file.path, before.content(file.path), after.content(file.path)
    name = name_at(before.census, path)
    whole = [each for each in parts if covers(each, name)]
    taken.update(whole)
    if whole:
        return old
    lines = (old or b"").splitlines(keepends=True), (new or b"").splitlines(keepends=True)
    kept: list[bytes] = []
    for tag, start, end, first, last in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if tag == "equal":
            kept += lines[0][start:end]
            continue
        gone = [(line, symbol_at(before, path, number + 1)) for number, line in _numbered(lines[0], start, end)]
        come = [(line, symbol_at(after, path, number + 1)) for number, line in _numbered(lines[1], first, last)]
        kept += _chosen(gone, come, parts, taken)
    content = b"".join(kept)
    return None if new is None and not content else None if old is None and not content else content


def _numbered(lines: Sequence[bytes], first: int, last: int) -> Iterator[tuple[int, bytes]]:
    return ((number, lines[number]) for number in range(first, last))


def _chosen(
    gone: Sequence[tuple[bytes, str]], come: Sequence[tuple[bytes, str]], parts: Sequence[str], taken: set[str]
) -> list[bytes]:
    """Return the lines that stand in the place of one run of lines that differ."""
    symbols = {symbol for line, symbol in (*gone, *come) if line.strip()}
    refused = {symbol for symbol in symbols if any(covers(each, symbol) for each in parts)}
    taken.update(each for each in parts if any(covers(each, symbol) for symbol in refused))
    if not refused:
        return [line for line, _ in come]
    if refused == symbols:
        return [line for line, _ in gone]
    if gone and come:
        raise _together(refused, symbols - refused)
    return [line for line, symbol in come if symbol not in refused] + [
        line for line, symbol in gone if symbol in refused
    ]


def unknown_parts(parts: Sequence[str]) -> RequestError:
    """Return the error for parts that a change does not touch."""
    return RequestError(
        "invalid_arguments",
        f"The change does not touch {listed(parts)}; nothing was taken out of it.",
        hints=["Take the names that show gives, or that of a whole module."],
    )


def covers(part: str, symbol: str) -> bool:
    """Say whether a symbol is a part, or lies in it."""
    return symbol == part or (symbol.startswith(part) and symbol[len(part)] in ".:@[")


def _together(refused: Collection[str], others: Collection[str]) -> Refused:
    which = f"{listed(sorted(refused))} cannot be taken out without {listed(sorted(others))}"
    return Refused(
        "unsafe_change",
        f"{which}: they change in the same lines",
        unchanged=True,
        hints=["Take out both, or reject the change with a reason."],
    )
