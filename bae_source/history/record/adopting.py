"""Make state ours that was copied or moved with a project: for a person who knows where it comes from.

    .git/bae-source of a copied project, with the id of the original      ->      the same, with a new id

Every piece that bears the old id gets the new one. What git would obey beyond the settings of ours, links, and files of
other users are no reason to look further: such state is refused whole. A change that the journal has unfinished is
taken back by the next request, as after any crash.

Invariant: until the last step the folder is not ours; whatever cuts this short, it can be done again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from bae_source.errors import Refused
from bae_source.history.record.pending import Waiting
from bae_source.history.record.shape import configuration, strange_in
from bae_source.state.binding import Standing, user
from bae_source.state.folders import HISTORY, StateFolders, foreign, plans_name
from bae_source.state.journal_head import NAME, SECTOR, id_in
from bae_source.state.ledger_files import FOLDER as LEDGER
from bae_source.state.ledger_files import carry_on
from bae_source.state.lock import busy, is_held_now
from bae_source.system.own_files import beginning_of, content_of, replace_durably

_ID = re.compile(rb"\bid = ([0-9a-f]{32})\n")
_MOST = 4_096
_LINE_OF_ID = 5


def adoptable(folders: StateFolders) -> tuple[Path, ...]:
    """Return the folders that are this user's by their owner and were not made here.

    Raises:
        Refused: `forbidden` where one is another user's, or holds what we never put there; `busy` while it is used.
    """
    found = []
    for place in folders.places():
        standing = place.standing()
        if standing is Standing.OTHERS:
            raise foreign(standing, place.folder)
        if standing is Standing.FOREIGN:
            _check(place.folder)
            found.append(place.folder)
    return tuple(found)


def adopt(folders: StateFolders) -> tuple[Path, ...]:
    """Make them ours, and return them.

    Raises:
        Refused: as `adoptable`.
        OSError: it could not be done; what is not ours yet can be tried again.
    """
    wanted = adoptable(folders)
    for place in folders.places():
        if place.folder in wanted:
            place.adopt(partial(_stamp, place.folder))
    return wanted


def _check(folder: Path) -> None:
    strange = next(_strange(folder), None)
    if strange is not None:
        raise Refused(
            "forbidden",
            f"{folder.name} cannot be adopted: it holds what bae_source does not put there ({strange}).",
            hints=["forget --foreign removes it."],
            details={"place": str(folder)},
        )
    if is_held_now(folder / "lock"):
        raise busy(folder / "lock", 0)


def _strange(folder: Path) -> Iterator[str]:
    """Yield files in a folder of state that we never write."""
    for top, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(top, name)
            if path.is_symlink() or path.lstat().st_uid != user():
                yield name
    for repository in _repositories(folder):
        found = _ID.search(beginning_of(repository / "config", _MOST))
        if name := strange_in(repository, found[1].decode("ascii") if found else ""):
            yield f"{repository.name}/{name}"


def _repositories(folder: Path) -> list[Path]:
    history = folder / HISTORY
    return [each for each in (history, history.with_suffix(".1.git")) if (each / "HEAD").is_file()]


def _stamp(folder: Path, state_id: str) -> None:
    """Give every piece of a folder of state its new id."""
    carry_on(folder / LEDGER, id_in(folder), state_id)  # before the journal has it, too
    for repository in _repositories(folder):
        _replace(repository / "config", configuration(state_id))
    for path in (folder / "pending").glob("[0-9]*"):
        with suppress(msgspec.DecodeError):
            waiting = msgspec.msgpack.decode(content_of(path), type=Waiting)
            _replace(path, msgspec.msgpack.encode(structs.replace(waiting, state=state_id), enc_hook=repr))
    _rename_plans(folder, state_id)
    with suppress(FileNotFoundError):
        journal = folder / NAME
        content = content_of(journal)
        lines = content[:SECTOR].rstrip(b"\0").split(b"\n")
        if len(lines) > _LINE_OF_ID:
            lines[_LINE_OF_ID] = state_id.encode("ascii")
            _replace(journal, b"\n".join(lines).ljust(SECTOR, b"\0") + content[SECTOR:])


def _rename_plans(folder: Path, state_id: str) -> None:
    """Give the file of kept plans its new name, its journal first; of several files, none is known to count."""
    files, journals = (list(folder.glob(f"plans-*.sqlite{end}")) for end in ("", "-journal"))
    if len(files) == 1 and len(journals) <= 1:
        for path, end in (*((each, "-journal") for each in journals), (files[0], "")):
            path.rename(folder / f"{plans_name(state_id)}{end}")


def _replace(path: Path, content: bytes) -> None:
    replace_durably(path, path.with_name(f"{path.name}.new"), content)
