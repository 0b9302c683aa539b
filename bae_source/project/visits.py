"""What a walk found out about each folder, as values that the next walk can start from, in this process or another.

Invariants:
- a visit is true as long as the stamps in it are those of the files that they belong to; what is not is met anew;
- what was saved leads nowhere but into folders below the root, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from bae_source.project.files import Folder, Stamp

Rules = dict[str, object]


class Visit(NamedTuple):
    """What a walk found out about one folder.

    Parameters:
        settled: whether the folder's stamp would tell of every later change.
        rules: stamps of the files that say what is ignored here.
        watched: stamps of other files on which it depends what is ignored, such as a `pyvenv.cfg` in what was left out.
        folder: what it holds.
        python: paths of its Python files, without what is ignored.
        entered: paths of the folders in it that the walk entered.
    """

    settled: bool
    rules: Rules
    watched: Rules
    folder: Folder
    python: tuple[str, ...]
    entered: tuple[str, ...]


_Names = tuple[str, ...]
_Facts = dict[str, Stamp | None]
_Row = tuple[str, Stamp, _Names, _Names, int, _Facts, _Names, _Names]
"""Path, stamp, folders, files, number of the rules, watched files, names of Python files, names of entered folders."""


def save(visits: Mapping[str, Visit]) -> bytes | None:
    """Return visits as bytes, without those whose folder may change unnoticed; None where names are no text."""
    numbers: dict[int, int] = {}
    rules: list[Rules] = []
    rows: list[tuple[object, ...]] = []
    for path, visit in visits.items():
        if not visit.settled or not _are_stamps(visit.watched) or not _are_stamps(visit.rules):
            continue
        if id(visit.rules) not in numbers:
            numbers[id(visit.rules)] = len(rules)
            rules.append(visit.rules)
        lead = len(path) + 1 if path else 0
        python, entered = ([inner[lead:] for inner in names] for names in (visit.python, visit.entered))
        folder = visit.folder
        rows.append(
            (path, folder.stamp, folder.folders, folder.files, numbers[id(visit.rules)], visit.watched, python, entered)
        )
    try:
        return msgspec.msgpack.encode((rules, rows))
    except UnicodeEncodeError:
        return None


def load(saved: bytes) -> dict[str, Visit]:
    """Return saved visits; none where they cannot be understood."""
    visits: dict[str, Visit] = {}
    try:
        rules, rows = msgspec.msgpack.decode(saved, type=tuple[list[_Facts], list[_Row]])
        for path, stamp, folders, files, number, watched, python, entered in rows:
            lead = f"{path}/" if path else ""
            if not (_is_inside(path) and all(map(_is_name, (*python, *entered)))):
                return {}
            folder = Folder(path, folders, files, stamp)
            inner = (tuple([lead + name for name in python]), tuple([lead + name for name in entered]))
            visits[path] = Visit(True, rules[number], watched, folder, *inner)  # type: ignore[arg-type]
    except (msgspec.DecodeError, IndexError):
        return {}
    return visits


def _are_stamps(rules: Rules) -> bool:
    return all(value is None or isinstance(value, Stamp) for value in rules.values())


def _is_inside(path: str) -> bool:
    return not path or (path[0] != "/" and ".." not in path.split("/"))


def _is_name(name: str) -> bool:
    return "/" not in name and name not in ("", ".", "..")
