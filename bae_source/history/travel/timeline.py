"""The operations that can be undone and redone, worked out from the entries alone, reading as few as it takes.

Each caller has a stack of changes in effect and a stack of changes undone. A change goes on the first and empties the
second; an undo moves changes to the second, a redo moves them back on top of the first.

Invariant: from the newest entry backwards, the first word on a change is the last one that was said. So both stacks
come out top first, and what is deep in the history is not read for what is on top.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from bae_source.history.record.entry import Entry


class Timeline:
    """The positions of the operations, as one caller sees them.

    Parameters:
        entries: newest first; they are read again and again.
        who: the caller.
    """

    def __init__(self, entries: Iterable[Entry], who: str) -> None:
        self._entries = entries
        self._who = who

    def undoable(self) -> Iterator[tuple[Entry, Entry]]:
        """Yield the caller's changes in effect, the next to undo first, each with the last word on it."""
        for entry, changes in self._words():
            if entry.who == self._who and entry.kind != "undo":
                yield from self._named(changes, entry)

    def redoable(self) -> Iterator[tuple[Entry, Entry]]:
        """Yield the changes that the caller may make again, the next one first, each with the last word on it."""
        for entry, changes in self._words():
            if entry.who == self._who and entry.kind == "change":
                return
            if entry.who == self._who and entry.kind == "undo":
                yield from self._named(changes, entry)

    def chosen(self, ids: Collection[str]) -> Iterator[tuple[Entry, Entry]]:
        """Yield changes by their ids, each with the last word on it, the last of these words first."""
        left = set(ids)
        for entry, changes in self._words():
            found = [change for change in changes if change in left]
            yield from self._named(found, entry)
            left.difference_update(found)
            if not left:
                return

    def since(self, change: Entry, word: Entry) -> Iterator[tuple[Entry, Entry]]:
        """Yield the changes, of all callers, that stand otherwise than when this last word was said on a change.

        Each comes with the last word on it, the last of these words first. What was undone and made again since, or
        made and undone, is left out.
        """
        words = self._every_word()
        last: dict[str, Entry] = {}
        stood: dict[str, bool] = {}
        for each, entry in words:
            if each == change.id and entry.id == word.id:
                break
            last.setdefault(each, entry)
            if entry.kind == "change":
                stood[each] = False
        unknown = last.keys() - stood.keys()
        while unknown and (found := next(words, None)):
            each, entry = found
            if each in unknown:
                stood[each] = entry.kind != "undo"
                unknown.discard(each)
        for each, entry in last.items():
            if stood.get(each) != (entry.kind != "undo"):
                yield from self._named((each,), entry)

    def last(self, change: Entry) -> Entry:
        """Return the last word on a change: itself, or what undid it or made it again."""
        return next((word for _, word in self.chosen((change.id,))), change)

    def _words(self) -> Iterator[tuple[Entry, list[str]]]:
        """Yield each entry with the ids of those changes on which it says the last word, the last of them first."""
        decided: set[str] = set()
        for entry in self._entries:
            changes = [change for change in reversed(about(entry)) if change not in decided]
            decided.update(changes)
            yield entry, changes

    def _every_word(self) -> Iterator[tuple[str, Entry]]:
        """Yield every word on every change, the last one first."""
        return ((change, entry) for entry in self._entries for change in reversed(about(entry)))

    def _named(self, changes: Iterable[str], word: Entry) -> Iterator[tuple[Entry, Entry]]:
        """Yield changes by their ids with the word on them; those that are no longer in the history are left out."""
        for change in changes:
            found = word if word.id == change else next((entry for entry in self._entries if entry.id == change), None)
            if found is not None:
                yield found, word


def about(entry: Entry) -> tuple[str, ...]:
    """Return the ids of the changes that an operation is about: itself, or those that it undid or made again."""
    return (entry.id,) if entry.kind == "change" else entry.of


def marked(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Yield each entry with the one that undid it; None for a change that is in effect, and for what is no change.

    Parameters:
        entries: newest first, none of the newest left out.
    """
    latest: dict[str, Entry] = {}
    for entry in entries:
        for change in entry.of:
            latest.setdefault(change, entry)
        last = latest.get(entry.id)
        yield entry, last if last is not None and last.kind == "undo" else None
