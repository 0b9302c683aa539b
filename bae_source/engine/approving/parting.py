"""Take symbols out of a planned change, and leave the rest of it.

    - def send(self): ...          app.client.Client.send
    + def send(self, retry=3): …                                    out
    - LIMIT = 3                    app.client.LIMIT
    + LIMIT = 5                                                     stays

Each run of lines that differ is cut into blocks by the symbols around its lines, before and after. Where both sides
have them in the same order, each symbol has its old lines or its new ones; elsewhere they cannot be separated.

Invariant: a file of which nothing is taken out is changed exactly as it was planned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.history.record.diff import unified_diff
from bae_source.model.changeset import ChangeSet, FileChange, between
from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.verification.choosing import symbol_at

Refuses = Callable[[str], bool]
_Lines = Sequence[tuple[bytes, str]]
"""Lines, each with its symbol."""


def rest_of(
    plan: Plan,
    before: Workspace,
    parts: Sequence[str],
    mode_of: Callable[[str], int | None],
    *,
    others: bool = False,
) -> str:
    """Return a planned change without some symbols, as a patch; "" where nothing is left.

    Parameters:
        before: what it was planned on.
        parts: addresses of symbols, modules or files, which stand for all that is in them.
        mode_of: the permission bits of a file.
        others: whether all but the parts is taken out.

    Raises:
        RequestError: `invalid_arguments` for a part that the change does not touch.
        Refused: `unsafe_change` where a part cannot be separated from the rest.
    """
    if plan.releases:
        raise Refused(
            "unsafe_change",
            "A change of the environment cannot be taken apart; nothing was changed.",
            hints=["Reject it whole, and say which part is wanted."],
        )
    known: set[str] = set()

    def refuses(symbol: str) -> bool:
        found = [each for each in parts if covers(each, symbol)]
        known.update(found)
        return bool(found) is not others

    after = before.after(plan.changes)
    rest = {file.path: _rest(file, before, after, refuses) for file in plan.changes.files}
    if unknown := [each for each in parts if each not in known]:
        raise unknown_parts(unknown)
    gone = {file.path for file in plan.changes.files if file.after is None}
    for file in plan.changes.files:
        if file.origin in gone:
            _check_moved(file.origin, file.path, rest, before)
    left = tuple(each for each in rest.values() if each is not None)
    contents = {path: before.content(path) or b"" for path in rest}
    return unified_diff(ChangeSet(left), contents, mode_of) if left else ""


def _rest(file: FileChange, before: Workspace, after: Workspace, refuses: Refuses) -> FileChange | None:
    """Return the change of a file without what is refused of it; None where nothing is left."""
    path, old, new = file.path, before.content(file.path), after.content(file.path)
    name = name_at(before.census, path)
    is_python = path.endswith((".py", ".pyi"))
    lines = (old or b"").splitlines(keepends=True), (new or b"").splitlines(keepends=True)

    def named(workspace: Workspace, side: int, first: int, last: int) -> _Lines:
        symbols = (symbol_at(workspace, path, number + 1) if is_python else name for number in range(first, last))
        return _attached(list(zip(lines[side][first:last], symbols, strict=True)), refuses)

    refused: list[bool] = []
    kept: list[bytes] = []
    for tag, start, end, first, last in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if tag == "equal":
            kept += lines[0][start:end]
        else:
            gone, come = named(before, 0, start, end), named(after, 1, first, last)
            refused += [refuses(symbol) for _, symbol in (*gone, *come)]
            kept += _chosen(gone, come, refuses)
    if not any(refused or [refuses(name)]):
        return file
    if all(refused):
        return None
    content = b"".join(kept)
    after_it = content if content or None not in (old, new) else None
    found = between({path: old}, {path: after_it}, {} if file.origin is None else {path: file.origin})
    return replace(found.files[0], executable=file.executable, mode=file.mode) if found.files else None


def _attached(lines: list[tuple[bytes, str]], refuses: Refuses) -> _Lines:
    """Return lines with blank ones, and comments directly above a definition, as its own.

    Of a run that begins with blank lines, each belongs to what is below it; of one that ends so, to what is above. Else
    those between two symbols go, or stay, with the one that is refused.
    """
    below = ""
    for number in reversed(range(len(lines))):
        line, symbol = lines[number]
        is_above = line.lstrip().startswith(b"#") and below.startswith(f"{symbol}.")
        below = below if is_above else symbol if line.strip() else ""
        lines[number] = line, below or symbol
    runs = [list(run) for _, run in groupby(lines, key=lambda each: bool(each[0].strip()))]
    begins_blank, ends_blank = (not each[0].strip() for each in (lines[0], lines[-1])) if lines else (False, False)
    found: list[tuple[bytes, str]] = []
    for number, run in enumerate(runs):
        above = runs[number - 1][-1][1] if number else ""
        under = runs[number + 1][0][1] if number + 1 < len(runs) else ""
        downwards = not begins_blank and (ends_blank or (above != "" and refuses(above)))
        owner = (above if downwards else under) or above or under
        is_blank = not run[0][0].strip()
        found += [(line, owner or symbol) for line, symbol in run] if is_blank else run
    return found


def _chosen(gone: _Lines, come: _Lines, refuses: Refuses) -> list[bytes]:
    """Return the lines that stand in the place of one run of lines that differ.

    gone A A B, come A C B, where A is refused: the old lines of A, those of C, the new ones of B
    """
    old, new = _blocks(gone), _blocks(come)
    refused = {symbol for symbol in (*old, *new) if refuses(symbol)}
    if not refused:
        return [line for line, _ in come]
    if refused >= old.keys() | new.keys():
        return [line for line, _ in gone]
    order = _merged(old, new) if (len(old), len(new)) == (_count(gone), _count(come)) else None
    if order is None:
        raise _together(refused, (old.keys() | new.keys()) - refused)
    return [line for symbol in order for line in (old if symbol in refused else new).get(symbol, ())]


def _blocks(lines: _Lines) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for line, symbol in lines:
        found.setdefault(symbol, []).append(line)
    return found


def _count(lines: _Lines) -> int:
    """Return the number of blocks, of which two may be of one symbol."""
    return sum(1 for _ in groupby(lines, key=lambda each: each[1]))


def _merged(old: Collection[str], new: Collection[str]) -> list[str] | None:
    """Return the symbols of both sides in one order; None where the sides leave another one open.

    A B, A C B          A C B
    A B, B A            None
    A B, A C            None: B and C stand in each other's place
    """
    common = [symbol for symbol in old if symbol in new]
    if common != [symbol for symbol in new if symbol in old]:
        return None
    found: list[str] = []
    left, right = iter(old), iter(new)
    for symbol in (*common, None):
        gone, come = (list(iter(partial(next, side, None), symbol)) for side in (left, right))
        if gone and come:
            return None
        found += [*gone, *come, *([symbol] if symbol is not None else [])]
    return found


def _check_moved(origin: str, path: str, rest: Mapping[str, FileChange | None], before: Workspace) -> None:
    """Check that a file that was moved is so, or is not, at both its places.

    Raises:
        Refused: `unsafe_change`.
    """
    if (rest[path] is None) is not (rest[origin] is None):
        names = {path: name_at(before.census, path) for path in (path, origin)}
        taken = {name for path, name in names.items() if rest[path] is None}
        raise _together(taken, set(names.values()) - taken)


def unknown_parts(parts: Sequence[str]) -> RequestError:
    """Return the error for parts that a change does not touch."""
    return RequestError(
        "invalid_arguments",
        f"The change does not touch {listed(parts)}; nothing was taken out of it.",
        hints=["Take the names that show gives, or that of a whole module."],
    )


def covers(part: str, symbol: str) -> bool:
    """Return whether a symbol is a part, or lies in it; nothing lies in "", by which lines of no symbol go."""
    return bool(part) and (symbol == part or (symbol.startswith(part) and symbol[len(part)] in ".:@["))


def _together(refused: Collection[str], others: Collection[str]) -> Refused:
    which = f"{listed(sorted(refused))} cannot be taken out without {listed(sorted(others))}"
    return Refused(
        "unsafe_change",
        f"{which}: they change in the same lines",
        unchanged=True,
        hints=["Take out both, or reject the change with a reason."],
    )
