"""The diff of a proposal in sections, each headed by the symbol whose lines it changes, for a person to read.

    app/core.py     app.core.send        -    return x
                                         +    return x + 1
                    app.core.LIMIT       - LIMIT = 3
                                         + LIMIT = 5

Invariants:
- every line of the diff stands in one section, in its order, so nothing is left out;
- a section's digest is of what it changes, and of nothing else: one that is the same after a new plan has the same;
- symbols are named where the files are still as they were planned on, or are as they were planned; else the file's name
  heads all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bae_source.approval.proposals import Proposal
from bae_source.errors import RequestError, ResourceError
from bae_source.model.changeset import between, digest
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.syntax.patches.patch import Section as Part
from bae_source.syntax.patches.reading import read_patch
from bae_source.system.hashing import sha256
from bae_source.verification.choosing import symbols_in

_PYTHON = (".py", ".pyi")


class Row(Struct, frozen=True, array_like=True):
    """A line of a diff.

    Parameters:
        mark: ` `, `-` or `+`.
        old, new: its number before and after; None where it is not there.
        text: without its end.
    """

    mark: str
    old: int | None
    new: int | None
    text: str


class Section(Struct, frozen=True, kw_only=True):
    """The effect of a change on one symbol, in one place.

    Parameters:
        symbol: its address; that of the file where no symbol is known.
        digest: of what changes.
        rows: its lines, with those around them.
        added, removed: how many lines.
    """

    symbol: str
    digest: str
    rows: tuple[Row, ...]
    added: int
    removed: int


class File(Struct, frozen=True, kw_only=True):
    """The effect of a change on one file.

    Parameters:
        name: its address.
        path: from the project's root.
        origin: the path that it had before; "" where that is the same.
        what: `changed`, `created`, `deleted`, `moved` or `copied`.
        sections: in their order; none where only its name or its permissions change.
        note: what else there is to say, such as that it is no text.
    """

    name: str
    path: str
    origin: str = ""
    what: str = "changed"
    sections: tuple[Section, ...] = ()
    note: str = ""


def files_of(proposal: Proposal, workspace: Workspace) -> tuple[File, ...]:
    """Return the diff of a proposal in files and sections.

    Parameters:
        workspace: the project as it is now.
    """
    if not proposal.diff:
        return ()
    try:
        parts = read_patch(proposal.diff)
    except RequestError:  # what is no text, or names that a patch cannot have
        whole = _section("the change", [Row(" ", None, None, line) for line in proposal.diff.split("\n")])
        return (File(name="the change", path="", sections=(whole,)),)
    return tuple(_file(part, workspace, proposal.base) for part in parts)


def _file(part: Part, workspace: Workspace, base: Mapping[str, str | None]) -> File:
    """Return the effect of a part of the diff on a file."""
    old, new = _plain(part, part.old), _plain(part, part.new)
    path = new or old or ""
    what = _WHAT[part.action]
    name = name_at(workspace.census, path)
    rows = _numbered(part)
    before = None if old is None else _content(workspace, old)
    is_there = old is None or (before is not None and digest(before) == base.get(old))
    symbols = _symbols(workspace, old, path, rows, before) if is_there and path.endswith(_PYTHON) else {}
    sections = tuple(each for hunk in rows for each in _sections(hunk, symbols, name))
    return File(
        name=name,
        path=path,
        origin=old or "" if what in ("moved", "copied") else "",
        what=what,
        sections=sections,
        note="" if sections else "no lines of text change",
    )


_WHAT = {"change": "changed", "create": "created", "delete": "deleted", "rename": "moved", "copy": "copied"}


def _plain(part: Part, name: str | None) -> str | None:
    return name[2:] if name is not None and part.prefixed else name


def _content(workspace: Workspace, path: str) -> bytes | None:
    try:
        return workspace.content(path)
    except ResourceError:
        return None


def _numbered(part: Part) -> list[list[Row]]:
    """Return the lines of each hunk with their numbers before and after."""
    found: list[list[Row]] = []
    shift = 0
    for hunk in part.hunks:
        old = (hunk.start or 0) + 1
        new = old + shift
        rows: list[Row] = []
        for line in hunk.lines:
            rows.append(Row(line.mark, None if line.mark == "+" else old, None if line.mark == "-" else new, line.text))
            old += line.mark != "+"
            new += line.mark != "-"
        shift = new - old
        found.append(rows)
    return found


def _symbols(
    workspace: Workspace, old: str | None, path: str, hunks: Sequence[Sequence[Row]], before: bytes | None
) -> dict[tuple[str, int], str]:
    """Return the symbol around each line that goes or comes, by its mark and its number."""
    lines = (before or b"").decode("utf-8", "surrogateescape").split("\n")
    after = _new_text(lines, hunks)
    there = {path: before} if old == path else {path: None} if old is None else {old: before, path: None}
    changes = between(there, dict.fromkeys(there) | {path: after.encode("utf-8", "surrogateescape")})
    later = workspace.after(changes)
    places = ("-", symbols_in(workspace, old or path)), ("+", symbols_in(later, path))
    return {
        (mark, number): at(number)
        for mark, at in places
        for rows in hunks
        for row in rows
        if row.mark == mark and row.text.strip() and (number := row.old if mark == "-" else row.new) is not None
    }


def _new_text(lines: Sequence[str], hunks: Sequence[Sequence[Row]]) -> str:
    """Return the text of lines with hunks applied."""
    found: list[str] = []
    at = 0
    for rows in hunks:
        first = next((row.old for row in rows if row.old is not None), None)
        start = at if first is None else first - 1
        found += [*lines[at:start], *(row.text for row in rows if row.mark != "-")]
        at = start + sum(row.mark != "+" for row in rows)
    return "\n".join((*found, *lines[at:]))


def _sections(rows: Sequence[Row], symbols: Mapping[tuple[str, int], str], name: str) -> Iterator[Section]:
    """Cut a hunk where the symbol of the lines that change becomes another one.

    What is around the first of them, and blank lines, are part of the section that they stand in.
    """
    begun, around = 0, ""
    for at, row in enumerate(rows):
        number = row.old if row.mark == "-" else row.new
        symbol = around if row.mark == " " or number is None else symbols.get((row.mark, number), around or name)
        if around and symbol != around:
            yield _section(around, rows[begun:at])
            begun = at
        around = symbol or around
    yield _section(around or name, rows[begun:])


def _section(symbol: str, rows: Sequence[Row]) -> Section:
    changed = [f"{row.mark}{row.text}" for row in rows if row.mark != " "]
    text = "\n".join((symbol, *changed))
    return Section(
        symbol=symbol,
        digest=sha256(text.encode("utf-8", "surrogateescape"))[:16],
        rows=tuple(rows),
        added=sum(row.mark == "+" for row in rows),
        removed=sum(row.mark == "-" for row in rows),
    )
