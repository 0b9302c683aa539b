"""The facts that a walk found about each folder, as values from which the next walk starts, in any process.

Invariants:
- a visit is true as long as the stamps in it are those of the files that they belong to; what is not is met anew;
- saved paths lead nowhere but into folders below the root, whichever process wrote them;
- saved folders are decoded on demand: mostly nothing has changed, and `Shape` is enough.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from bae_source.project.files.port import Folder
from bae_source.project.files.stamps import TOGETHER, Stamp, Stamps, decoded, encoded, from_pieces, in_pieces, whole

VENV = "pyvenv.cfg"
SETTINGS = "pyproject.toml"

Rules = dict[str, Any]


class Visit(msgspec.Struct, frozen=True):
    """The facts that a walk found about one folder.

    Parameters:
        settled: whether the folder's stamp would tell of every later change.
        rules: stamps of the files that say what is ignored here.
        watched: stamps of other files on which it depends what is ignored, such as a `pyvenv.cfg` in what was left out.
        folder: what it holds.
        python: paths of its Python files, without what is ignored.
        entered: paths of the folders in it that the walk entered.
        outside: paths of the Python files that are not read, as of a census.
    """

    settled: bool
    rules: Rules
    watched: Rules
    folder: Folder
    python: tuple[str, ...]
    entered: tuple[str, ...]
    outside: tuple[str, ...] = ()


class Shape:
    """The sum of all visits of a walk, for one quick look whether anything has changed.

    Parameters:
        paths: of the folders.
        pieces: their stamps, as `files.stamps` has them; None for one that may change without a new stamp.
        rules: what has to be as it was, so that the same is ignored.
        folders: names of the files in each folder, virtual environments left out.
        python: paths of the Python files, sorted.
        closed: folders that may not be listed.
        outside: paths of the Python files that are not read, as of a census.
        settings: folders below the root that hold a pyproject.toml.
    """

    def __init__(
        self,
        paths: Sequence[str],
        pieces: list[bytes],
        rules: Rules,
        folders: Mapping[str, tuple[str, ...]],
        python: tuple[str, ...],
        closed: tuple[str, ...] = (),
        outside: tuple[str, ...] = (),
        settings: tuple[str, ...] = (),
    ) -> None:
        self.paths = paths
        self.pieces = pieces
        self.rules = rules
        self.folders = folders
        self.python = python
        self.closed = closed
        self.outside = outside
        self.settings = settings

    @cached_property
    def stamps(self) -> dict[str, Stamp | None]:
        """Of each folder; none is known where they cannot be understood."""
        try:
            return dict(zip(self.paths, from_pieces(self.pieces), strict=True))
        except ValueError:
            return dict.fromkeys(self.paths)

    def changed(self, stamps: Mapping[str, Stamp]) -> list[str]:
        """Return the folders that may have changed.

        Parameters:
            stamps: theirs of now, in the order of the visits; folders that have gone are left out.
        """
        if isinstance(stamps, Stamps) and len(stamps) == len(self.paths):
            pairs = enumerate(zip(self.pieces, stamps.pieces, strict=True))
            differing = [_differing(self._part(number), *pair) for number, pair in pairs if pair[0] != pair[1]]
            return [path for paths in differing for path in paths]
        now = whole(stamps)
        return [path for path, stamp in self.stamps.items() if stamp is None or now.get(path) != stamp]

    def renew(self, path: str, stamp: Stamp | None) -> None:
        """Set the stamp of a folder anew."""
        number, place = divmod(self.paths.index(path), TOGETHER)
        try:
            stamps = decoded(self.pieces[number])
            stamps[place] = stamp
        except (ValueError, IndexError):
            stamps = [None] * len(self._part(number))
        self.pieces[number] = encoded(stamps)
        if "stamps" in self.__dict__:
            self.stamps[path] = stamp

    def _part(self, number: int) -> Sequence[str]:
        """Return the folders whose stamps are in a piece."""
        return self.paths[number * TOGETHER : (number + 1) * TOGETHER]


def shape_of(visits: Mapping[str, Visit]) -> Shape:
    """Return the summary of visits."""
    stamps: list[Stamp | None] = []
    rules: Rules = {}
    python: list[str] = []
    closed: list[str] = []
    outside: list[str] = []
    settings: list[str] = []
    for path, visit in visits.items():
        stamps.append(visit.folder.stamp if visit.settled else None)
        python += visit.python
        outside += visit.outside
        if visit.watched:
            rules |= visit.watched
        if not visit.folder.readable:
            closed.append(path)
        if not path:
            rules |= visit.rules
        elif SETTINGS in visit.folder.files:
            settings.append(path)
    python.sort()
    aside = tuple(sorted(closed)), tuple(sorted(outside)), tuple(settings)
    return Shape(list(visits), in_pieces(stamps), rules, folders_of(visits), tuple(python), *aside)


def folders_of(visits: Mapping[str, Visit]) -> dict[str, tuple[str, ...]]:
    """Return the names of the files in each folder, virtual environments left out."""
    return {path: files for path, visit in visits.items() if VENV not in (files := visit.folder.files) or not path}


_Names = tuple[str, ...]
_Facts = dict[str, Stamp | None]
_Row = tuple[Stamp | None, _Names, _Names, int, _Facts, _Names, _Names]
"""Stamp, folders, files, number of the rules, watched files, names of Python files, names of entered folders."""
_Outline = tuple[list[bytes], _Facts, str, list[str], list[str]]
"""Of a shape: stamps of the folders, rules, Python files joined by NUL, virtual environments, folders with settings."""

_ENCODE = msgspec.msgpack.encode
_DECODE = msgspec.msgpack.Decoder(tuple[list[_Facts], str, list[memoryview], _Outline | None]).decode
_DECODE_ROWS = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_DECODE_ROW = msgspec.msgpack.Decoder(_Row).decode


def save(visits: Mapping[str, Visit], shape: Shape) -> bytes | None:
    """Return visits as bytes, without those whose truth cannot be checked later; None where names are no text.

    Parameters:
        shape: what they come to.
    """
    numbers: dict[int, int] = {}
    rules: list[Rules] = []
    paths: list[str] = []
    rows: list[tuple[object, ...]] = []
    for path, visit in visits.items():
        around, watched, folder = visit.rules, visit.watched, visit.folder
        if id(around) not in numbers:
            numbers[id(around)] = len(rules) if _are_stamps(around) else -1
            rules += [around] if _are_stamps(around) else []
        number = numbers[id(around)]
        if number < 0 or not folder.readable or visit.outside or (watched and not _are_stamps(watched)):
            continue
        lead = len(path) + 1 if path else 0
        names = [inner[lead:] for inner in visit.python] if visit.python else ()
        inside = [inner[lead:] for inner in visit.entered] if visit.entered else ()
        paths.append(path)
        stamp = folder.stamp if visit.settled else None
        rows.append((stamp, folder.folders, folder.files, number, watched, names, inside))
    outline = None
    if len(rows) == len(visits) and "" in visits:
        left_out = [path for path in shape.paths if path not in shape.folders]
        outline = shape.pieces, shape.rules, _joined(shape.python), left_out, shape.settings
    try:
        return _ENCODE((rules, _joined(paths), _pieces(rows), outline))
    except UnicodeEncodeError:
        return None


def load(saved: bytes) -> tuple[MutableMapping[str, Visit], Shape | None]:
    """Return saved visits and their summary; none where they cannot be understood."""
    try:
        rules, joined, rows, outline = _DECODE(saved)
    except (msgspec.DecodeError, ValueError):
        return {}, None
    if not _are_inside(joined):
        return {}, None
    visits = SavedVisits(_split(joined), rows, rules)
    return visits, outline and _shape(visits, *outline)


class SavedVisits(MutableMapping[str, Visit]):
    """Saved visits, decoded one by one; what makes no sense is not there.

    Parameters:
        paths: of the folders.
        saved: a row for each, in the same order, so many in a piece.
        rules: as the rows refer to them by number.

    Attributes:
        known: rows of the pieces that were decoded, by the number of the piece.
    """

    def __init__(self, paths: list[str], saved: list[memoryview], rules: list[_Facts]) -> None:
        self.paths = paths
        self._saved = saved
        self._rules = rules
        self.known: dict[int, list[msgspec.Raw]] = {}
        self._renewed: dict[str, Visit] = {}

    @cached_property
    def _places(self) -> dict[str, int]:
        """The number of each path; whether a folder is there is asked more often than what it holds."""
        return {path: number for number, path in enumerate(self.paths)}

    def _row(self, number: int) -> msgspec.Raw:
        """Return the saved visit of a folder; raise where it cannot be understood."""
        piece, place = divmod(number, TOGETHER)
        if piece not in self.known:
            self.known[piece] = _DECODE_ROWS(self._saved[piece])
        return self.known[piece][place]

    def __setitem__(self, path: str, visit: Visit) -> None:
        self._renewed[path] = visit

    def __delitem__(self, path: str) -> None:
        del self._places[path]
        self.paths.remove(path)
        self._renewed.pop(path, None)

    def __getitem__(self, path: str) -> Visit:
        if path in self._renewed:
            return self._renewed[path]
        try:
            stamp, folders, files, number, watched, python, entered = _DECODE_ROW(self._row(self._places[path]))
            rules = self._rules[number]
        except (msgspec.DecodeError, ValueError, IndexError):
            raise KeyError(path) from None
        if not all(map(_is_name, (*python, *entered))):
            raise KeyError(path)
        lead = f"{path}/" if path else ""
        inner = tuple([lead + name for name in python]), tuple([lead + name for name in entered])
        folder = Folder(path, folders, files, stamp)
        return Visit(stamp is not None, rules, watched, folder, *inner)

    def __contains__(self, path: object) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


class _Folders(Mapping[str, tuple[str, ...]]):
    """Names of the files in each folder."""

    def __init__(self, visits: SavedVisits, left_out: Collection[str]) -> None:
        self._visits = visits
        self._left_out = frozenset(left_out)

    def __getitem__(self, path: str) -> tuple[str, ...]:
        if path in self._left_out:
            raise KeyError(path)
        return self._visits[path].folder.files

    def __contains__(self, path: object) -> bool:
        return path in self._visits and path not in self._left_out

    def __iter__(self) -> Iterator[str]:
        return (path for path in self._visits if path not in self._left_out)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _differing(paths: Sequence[str], saved: bytes, now: bytes) -> Sequence[str]:
    """Return the folders that do not have the stamps that were saved; all where these cannot be understood."""
    try:
        pairs = zip(paths, decoded(saved), decoded(now), strict=True)
        return [path for path, before, stamp in pairs if before != stamp]
    except ValueError:
        return paths


def _shape(
    visits: SavedVisits, stamps: list[bytes], rules: _Facts, python: str, left_out: list[str], settings: list[str]
) -> Shape | None:
    if not _are_inside(python) or not _are_inside(_joined(settings)) or len(stamps) != -(-len(visits) // TOGETHER):
        return None
    inner: Mapping[str, tuple[str, ...]] = _Folders(visits, left_out)
    return Shape(
        visits.paths, stamps, dict(rules), inner, tuple(_split(python)) if python else (), settings=tuple(settings)
    )


def _pieces(values: list[Any]) -> list[bytes]:
    return [_ENCODE(values[start : start + TOGETHER]) for start in range(0, len(values), TOGETHER)]


def _joined(paths: Iterable[str]) -> str:
    return "\0".join(paths)


def _split(joined: str) -> list[str]:
    return joined.split("\0")


def _are_stamps(rules: Rules) -> bool:
    return all(value is None or isinstance(value, Stamp) for value in rules.values())


def _are_inside(joined: str) -> bool:
    """Return whether none of some paths leads out of the root; they are looked at one by one only where one might."""
    if "\0/" in f"\0{joined}":
        return False
    return ".." not in joined or not any(".." in path.split("/") for path in _split(joined))


def _is_name(name: str) -> bool:
    return "/" not in name and name not in ("", ".", "..")
