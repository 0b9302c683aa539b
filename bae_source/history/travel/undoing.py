"""Undo and redo, planned: the changes that are meant, whether they can be taken back, and the result.

Invariants:
- a file that is what the operation left, to the byte, gets back every byte that it had; of one that has changed since
  the caller's `Merge` takes the change back, or says what stands in the way;
- several are one: each is checked on what the ones before it come to, and all of them or none are done; what they lead
  to, and what can be made of a part of them later, is what it is one at a time;
- nothing is written here: a conflict is refused, and shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import HistoryError
from bae_source.history.record.entry import MOST_BITS, Bits, Entry, TouchedFile
from bae_source.history.travel.choosing import Word, chosen
from bae_source.history.travel.commands import Redo, Undo
from bae_source.history.travel.preview import Conflict, preview, versions
from bae_source.history.travel.timeline import Timeline
from bae_source.model.call import Call
from bae_source.model.changeset import ChangeSet, FileChange, Obstacle, between, digest, digest_of
from bae_source.model.text import listed

if TYPE_CHECKING:
    from bae_source.history.record.history import History

Read = Callable[[str, Mapping[str, str]], bytes | None]
Users = Callable[["Travel"], list[tuple[Entry, list[tuple[str, str]]]]]
"""Names the later changes that use what would go, in other files, each with the names and who uses them."""
Merge = Callable[[str, bytes, bytes, bytes], bytes | Obstacle]
"""Takes a change back from one file, by its path: from what the change left, what is there, and what it shall be."""
_UNKNOWN: Bits = (None, None)
_MOST_TOGETHER = 12
"""Changes that are tried together, to find out which of them stand in the way."""


class Travel(Struct, frozen=True, kw_only=True):
    """The destination of an undo or redo.

    Parameters:
        changes: what becomes of the files.
        entries: the changes that are undone or made again, in that order.
        passed: of several, what each took away on the way, as the history is to hold it.
        merged: what the files are called that have changed since.
        trials: of what else could be undone.
    """

    changes: ChangeSet
    entries: tuple[Entry, ...]
    passed: Mapping[str, Mapping[str, Bits]]
    merged: tuple[str, ...] = ()
    trials: _Trials | None = None


def exact(_path: str, _left: bytes, _now: bytes, _aim: bytes) -> Obstacle:
    """Refuse to take a change back from a file that has changed since."""
    return Obstacle()


def plan(
    request: Undo | Redo,
    history: History,
    who: str,
    read: Read,
    bits: Callable[[str], Bits] = lambda _: _UNKNOWN,
    merge: Merge = exact,
    now: datetime | None = None,
    users: Users = lambda _: [],
) -> Travel:
    """Plan an undo or a redo.

    Parameters:
        who: the caller.
        read: the content of a file by project-relative path, None where there is no file; what files are called in
            messages comes with it.
        bits: permission bits and owner of a file, as far as they can be read.
        merge: takes a change back from a file that has changed since.
        now: the time, for ages.
        users: names the later changes that use what would go, in other files; so nothing is advised that is refused.

    Raises:
        RequestError: `invalid_arguments`.
        HistoryError: `nothing_to_undo`, `undo_conflict`, `handle_expired`.
    """
    line = Timeline(history, who)
    words = chosen(request, line, history, who, now or datetime.now(UTC))
    ground = _Ground(history=history, line=line, read=read, bits=bits, merge=merge)
    trials = _Trials(ground, users)
    deed = _Deed(request.verb, ground, trials)
    for change, word in words:
        deed.do(change, word, [each for each, _ in words])
    changes = deed.changes()
    if not changes:
        raise HistoryError(
            "nothing_to_undo",
            f"{listed(change.id for change, _ in words)} cancel each other out; there is nothing to {deed.name}.",
            hints=[f"{deed.name}({words[0][0].id!r}) does the first of them alone."],
        )
    passed = deed.passed if len(words) > 1 else {}
    entries = tuple(change for change, _ in words)
    return Travel(changes=changes, entries=entries, passed=passed, merged=tuple(deed.merged), trials=trials)


def later_than(travel: Travel, history: History, who: str) -> list[Entry]:
    """Return the changes that came later than one of those that are to be undone or made again, the last one first."""
    line = Timeline(history, who)
    asked = {entry.id for entry in travel.entries}
    found = {each.id: each for entry in travel.entries for each, _ in line.since(entry, line.last(entry))}
    return [each for each in found.values() if each.id not in asked]


def needed_later(verb: str, travel: Travel, later: Entry, used: Sequence[tuple[str, str]]) -> HistoryError:
    """Return the error of an undo, or a redo, that would take away what a later change uses."""
    ids = [entry.id for entry in travel.entries]
    done = "undone" if verb == "undo" else "made again"
    assert travel.trials is not None
    every = travel.trials.needed(ids) if verb == "undo" else None
    return HistoryError(
        "undo_conflict",
        f"{', '.join(ids)} cannot be {done}: {_uses(used)}; {later.id} ({later.summary}) came later.",
        hints=travel.trials.hints(later, every, ids),
        details={"modules": [user for _, user in used], "symbols": [user for _, user in used], "later": [later.id]},
    )


class _Ground(Struct, frozen=True, kw_only=True):
    """Arguments of `plan` with the timeline of the caller, on which a plan is made."""

    history: History
    line: Timeline
    read: Read
    bits: Callable[[str], Bits]
    merge: Merge


class _Deed:
    """The files on the way, as each change leaves them.

    Attributes:
        passed: mode and owner of the files that a change took away, or gave others, by its id and by path.
        merged: what the files are called that have changed since, each once.
    """

    def __init__(self, name: str, ground: _Ground, trials: _Trials | None = None) -> None:
        self.name = name
        self.passed: dict[str, dict[str, Bits]] = {}
        self.merged: dict[str, None] = {}
        self._ground = ground
        self._trials = trials
        self._first: dict[str, bytes | None] = {}
        self._now: dict[str, bytes | None] = {}
        self._origins: dict[str, str] = {}
        self._bits: dict[str, Bits] = {}
        self._folders: dict[str, int] = {}

    def do(self, change: Entry, word: Entry, together: Sequence[Entry]) -> None:
        """Undo one change, or make it again, on top of what was done before.

        Parameters:
            word: the last word on it.
            together: all changes of the request.
        """
        back = self.name == "undo"
        names = {file.path: file.name for file in change.files}
        for path in names.keys() - self._now.keys():
            self._first[path] = self._now[path] = self._ground.read(path, names)
        before, after = self._ground.history.contents(change)
        left, aim = (after, before) if back else (before, after)
        wanted, obstacles = dict(aim), dict[str, Obstacle]()
        for file in change.files:
            if digest_of(self._now[file.path]) != _left(file, back=back):
                found = self._differing(file, change, word, left[file.path], aim[file.path])
                if isinstance(found, Obstacle):
                    obstacles[file.path] = found
                else:
                    wanted[file.path] = found
        if obstacles:
            raise self._conflict(change, word, obstacles, together)
        self._look_different(change, word)
        self._now |= wanted
        self._folders = word.folders | self._folders  # what was recorded last comes first

    def _differing(
        self, file: TouchedFile, change: Entry, word: Entry, left: bytes | None, aim: bytes | None
    ) -> bytes | Obstacle:
        """Return the new content of a file that changed since; one that was merged before goes back exactly."""
        now = self._now[file.path]
        if now is None or left is None or aim is None:
            return Obstacle()
        last = next((each for each in word.files if each.path == file.path), None)
        if word.of == (change.id,) and last is not None and last.after == digest(now):
            before, _ = self._ground.history.contents(word)
            if (content := before[file.path]) is not None:
                return content
        found = self._ground.merge(file.path, left, now, aim)
        if not isinstance(found, Obstacle):
            self.merged[file.name] = None
        return found

    def _look_different(self, change: Entry, word: Entry) -> None:
        """Give the files of a change the mode and owner that they had beyond it; they still hold what it left."""
        back = self.name == "undo"
        recorded = _recorded(change, word)
        moved = _moved(change, back=back)
        bits, origins = dict(self._bits), dict(self._origins)
        lost = {file.path: self._bits_of(file.path) for file in change.files if _left(file, back=back) is not None}
        gone = {file.path for file in change.files if _left(file, back=not back) is None}
        is_other = gone | recorded.keys() | moved.keys()
        self.passed[change.id] = {path: bits for path, bits in lost.items() if path in is_other and bits != _UNKNOWN}
        for file in change.files:
            if file.path not in lost or file.path in recorded:
                self._bits[file.path] = recorded.get(file.path, _UNKNOWN)
                self._origins.pop(file.path, None)
        for came, went in moved.items():
            taken = lost.get(went, _UNKNOWN)
            self._bits[came] = recorded.get(came, _UNKNOWN) if taken == _UNKNOWN else taken
            if origin := origins.get(went, None if went in bits else went):
                self._origins[came] = origin

    def _bits_of(self, path: str) -> Bits:
        """Return mode and owner of a file as it is by now."""
        return self._bits[path] if path in self._bits else self._ground.bits(path)

    def changes(self) -> ChangeSet:
        """Return the changeset of all of it."""
        origins = {path: origin for path, origin in self._origins.items() if self._first[origin] is not None}
        found = between(self._first, self._now, {path: origin for path, origin in origins.items() if path != origin})
        files = [self._with_bits(change) if change.path not in origins else change for change in found.files]
        files += filter(None, (self._same(path, origins.get(path)) for path in self._bits))
        return ChangeSet(tuple(sorted(files, key=lambda file: file.path)), tuple(self._folders.items()))

    def _with_bits(self, change: FileChange) -> FileChange:
        """Give a file that went on the way, and came again, the bits that it had; its origin's are better."""
        if change.after is None:
            return change
        mode, owner = self._bits.get(change.path, _UNKNOWN)
        return replace(change, mode=mode, owner=owner)

    def _same(self, path: str, origin: str | None) -> FileChange | None:
        """Return the change of a file that went on the way, and came again with the same bytes but another mode."""
        content = self._first[path]
        if content is None or content != self._now[path] or path == origin:
            return None
        now, source = self._ground.bits(path), _UNKNOWN if origin is None else self._ground.bits(origin)
        mode, owner = self._bits[path] if source == _UNKNOWN else source
        if now == _UNKNOWN or mode is None or now == (mode, owner or now[1]):
            return None
        same = digest(content)
        return FileChange(path=path, before=same, after=same, edits=(), mode=mode, owner=owner)

    def _conflict(
        self, change: Entry, word: Entry, obstacles: Mapping[str, Obstacle], together: Sequence[Entry]
    ) -> HistoryError:
        files = [file for file in change.files if file.path in obstacles]
        later = self._later(change, word, obstacles, together)
        if self._trials is None:
            raise _InTheWay([each for each, last in later if last.kind != "undo"])
        every = None
        if later and self.name == "undo" and all(last.kind != "undo" for _, last in later):
            every = self._trials.needed([each.id for each in together])
            later = [each for each in later if not every or each[0].id in every] or later
        conflicts = self._conflicts(change, files)
        names = list(dict.fromkeys(name for file in files for name in obstacles[file.path].changed or (file.name,)))
        used = [each for file in files for each in obstacles[file.path].used]
        verb = "undone" if self.name == "undo" else "made again"
        neighbour = None if later else self._neighbour(word, files)
        because = _because(*later[0]) if later else _from_elsewhere(neighbour)
        reason = next((each.reason for each in obstacles.values() if each.reason), "")
        why = _uses(used) if used else f"{listed(names)} is no longer as it left it"
        return HistoryError(
            "undo_conflict",
            f"{change.id} cannot be {verb}: {why}; {because}.{reason and f' {reason}'}",
            hints=self._hints(later, together, neighbour, every),
            details={
                "modules": [file.name for file in files],
                "symbols": names if not used else list(dict.fromkeys(user for _, user in used)),
                "later": [each.id for each, _ in later] + ([neighbour.id] if neighbour else []),
                "versions": [versions(each, change.id, self.name) for each in conflicts],
                "preview": "".join(preview(each, change.id, self.name) for each in conflicts),
            },
        )

    def _later(
        self, change: Entry, word: Entry, obstacles: Mapping[str, Obstacle], together: Sequence[Entry]
    ) -> list[Word]:
        """Return the changes that came later to what is in the way; to its files where none is known to be about it."""
        asked = {each.id for each in together}
        later = [
            (each, last)
            for each, last in self._ground.line.since(change, word)
            if each.id not in asked and any(file.path in obstacles for file in each.files)
        ]
        ways = obstacles.values()
        symbols = [name for way in ways for name in (*way.changed, *(user for _, user in way.used))]
        about_it = [each for each in later if any(_is_about(name, each[0].changed) for name in symbols)]
        return about_it or later

    def _neighbour(self, word: Entry, files: Sequence[TouchedFile]) -> Entry | None:
        """Return the operation of another project of the repository that left a file as it is now; None for none."""
        paths = {file.path for file in files}
        for entry in self._ground.history.neighbours(word):
            for file in entry.files:
                if file.path in paths:
                    return entry if file.after == digest_of(self._now[file.path]) else None
        return None

    def _conflicts(self, change: Entry, files: Sequence[TouchedFile]) -> list[Conflict]:
        before, after = self._ground.history.contents(change)
        left, aim = (after, before) if self.name == "undo" else (before, after)
        return [
            Conflict(path=file.path, name=file.name, left=left[file.path], now=self._now[file.path], aim=aim[file.path])
            for file in files
        ]

    def _hints(
        self, later: Sequence[Word], together: Sequence[Entry], neighbour: Entry | None, every: Sequence[str] | None
    ) -> list[str]:
        shown = "The preview shows what is there now and what would come of it; nothing was written."
        if neighbour is not None:
            return [f"Take {neighbour.id} back first, with the root that it was made with.", shown]
        if not later:
            again = f"Take the outside change back and {self.name} again, or edit the code by name."
            return [again, shown]
        first, word = later[0]
        if word.kind == "undo":
            return [f"redo {first.id} first, then {self.name} {' '.join(each.id for each in together)}.", shown]
        assert self._trials is not None
        return [*self._trials.hints(first, every, [each.id for each in together]), shown]


class _InTheWay(Exception):
    """Some changes cannot be undone together.

    Attributes:
        later: changes that stand in the way, the last one first.
    """

    def __init__(self, later: Sequence[Entry]) -> None:
        super().__init__(later)
        self.later = later


class _Trials:
    """Undoes changes for a trial, to tell which calls are possible.

    Parameters:
        users: as `plan` takes it.
    """

    def __init__(self, ground: _Ground, users: Users) -> None:
        self._ground = ground
        self._line = ground.line
        self._users = users

    def needed(self, ids: Sequence[str]) -> list[str] | None:
        """Return the changes with which some can be undone, and all of which it takes; None if none are found."""
        found, in_the_way = list(ids), self._in_the_way(ids)
        while in_the_way:
            new = [each.id for each in in_the_way if each.id not in found]
            if not new or len(found) >= _MOST_TOGETHER:
                return None
            found.append(new[0])
            in_the_way = self._in_the_way(found)
        if in_the_way is None:
            return None
        extra = [each for each in found if each not in ids]
        while less := next((each for each in extra if self._is_possible([*ids, *_without(extra, each)])), None):
            extra.remove(less)
        return [change.id for change, _ in self._line.chosen([*ids, *extra])]

    def hints(self, first: Entry, every: Sequence[str] | None, ids: Sequence[str]) -> list[str]:
        """Return calls that help: to undo a later change first, or those asked for with all in the way."""
        alone = (each for each in (first.id, *(every or ())) if each not in ids and self._is_possible([each]))
        hints: list[str] = [Call("undo", operation_id=each, then="first.") for each in islice(alone, 1)]
        if every:
            hints.append(Call("undo", operation_id=tuple(every), then="takes all of them back at once."))
        return hints or [f"What came later than {first.id} stands in the way of that, too: edit the code by name."]

    def _is_possible(self, ids: Sequence[str]) -> bool:
        return self._in_the_way(ids) == []

    def _in_the_way(self, ids: Sequence[str]) -> list[Entry] | None:
        """Return the changes that stand in the way of undoing some together; None where it is something else."""
        words = list(self._line.chosen(ids))
        deed, entries = _Deed("undo", self._ground), tuple(change for change, _ in words)
        try:
            for change, word in words:
                deed.do(change, word, entries)
        except _InTheWay as found:
            return list(found.later) or None
        except HistoryError:
            return None
        changes = deed.changes()
        if not changes:
            return None
        return [each for each, _ in self._users(Travel(changes=changes, entries=entries, passed={}))]


def _without(ids: Sequence[str], one: str) -> list[str]:
    return [each for each in ids if each != one]


def _is_about(symbol: str, changed: Sequence[str]) -> bool:
    """Return whether one of some addresses is a symbol, or in it, or around it."""
    return any(f"{symbol}.".startswith(f"{each}.") or f"{each}.".startswith(f"{symbol}.") for each in changed)


def _uses(used: Sequence[tuple[str, str]]) -> str:
    """Return the users of what would go."""
    name, user = used[0]
    return f"{user} uses {name}, which would go" + (
        f", and there are {len(used) - 1} more such uses" if used[1:] else ""
    )


def _because(change: Entry, word: Entry) -> str:
    """Return the clause for a later change, or for the undo of one."""
    what = f"{change.id} ({change.summary})"
    return f"{what} was undone later, by {word.id}" if word.kind == "undo" else f"{what} came later"


def _from_elsewhere(neighbour: Entry | None) -> str:
    """Return the clause for a file that no operation of this project changed."""
    if neighbour is None:
        return "it was changed outside bae_source"
    root = f"{neighbour.project} as the root" if neighbour.project else "the top of the repository as the root"
    return f"{neighbour.id} ({neighbour.summary}) came later, with {root}"


def _left(file: TouchedFile, *, back: bool) -> str | None:
    """Return the digest that a file must have for its change to be undone, or made again."""
    return file.after if back else file.before


def _recorded(change: Entry, word: Entry) -> Mapping[str, Bits]:
    """Return mode and owner that the last word on a change took from its files, by path, where they are known.

    Older entries about several changes hold only what files had in the beginning.
    """
    if change.id in word.passed:
        return {path: _plain(bits) for path, bits in word.passed[change.id].items()}
    return {file.path: _plain((file.mode, file.owner)) for file in word.files if file.mode is not None}


def _plain(bits: Bits) -> Bits:
    """Return mode and owner without what makes a file run with its owner's or group's rights."""
    mode, owner = bits
    return None if mode is None else mode & MOST_BITS, owner


def _moved(change: Entry, *, back: bool) -> dict[str, str]:
    """Return the old paths of files that a change moved, by their new ones."""
    names = {file.path for file in change.files}
    moved = [(file.path, file.origin) for file in change.files if file.origin in names]
    return {(went if back else came): (came if back else went) for came, went in moved if went is not None}
