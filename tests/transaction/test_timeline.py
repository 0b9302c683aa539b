"""What can be undone and redone, told from the newest operation back, and by replaying them from the first one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.history.record.entry import Entry, Kind
from bae_source.history.travel.timeline import Timeline, about, marked
from tests.transaction.support import ids


def entry(name: str, kind: Kind = "change", of: str = "", who: str = "me") -> Entry:
    when = "2026-11-21T12:00:00+00:00"
    return Entry(id=name, kind=kind, of=tuple(of.split()), who=who, when=when, summary="", files=())


@pytest.mark.parametrize(
    ("entries", "undoable", "redoable"),
    [
        ([], [], []),
        ([entry("1"), entry("2")], ["2", "1"], []),
        ([entry("1"), entry("2"), entry("3", "undo", "2")], ["1"], ["2"]),
        ([entry("1"), entry("2"), entry("3", "undo", "2"), entry("4", "undo", "1")], [], ["1", "2"]),
        ([entry("1"), entry("2"), entry("3", "undo", "2 1")], [], ["1", "2"]),
        ([entry("1"), entry("2"), entry("3", "undo", "2 1"), entry("4", "redo", "1 2")], ["2", "1"], []),
        ([entry("1"), entry("2"), entry("3", "undo", "1"), entry("4", "redo", "1")], ["1", "2"], []),
        ([entry("1"), entry("3", "undo", "1"), entry("4")], ["4"], []),
        ([entry("1"), entry("3", "undo", "1"), entry("4"), entry("5", "undo", "4")], [], ["4"]),
        ([entry("1"), entry("3", "undo", "1"), entry("4", who="you")], [], ["1"]),
        ([entry("1"), entry("3", "undo", "1", who="you")], [], []),
        ([entry("1", who="you"), entry("3", "undo", "1")], [], ["1"]),
        ([entry("1"), entry("2", "undo", "1"), entry("3", "redo", "1", who="you")], [], []),
        ([entry("3", "undo", "lost"), entry("4", "redo", "lost")], [], []),
    ],
)
def test_where_operations_stand(entries: list[Entry], undoable: list[str], redoable: list[str]) -> None:
    line = Timeline(entries[::-1], "me")
    assert [change.id for change, _ in line.undoable()] == undoable
    assert [change.id for change, _ in line.redoable()] == redoable


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """A history that could have been: only what is in effect is undone, only what is undone is made again."""
    entries: list[Entry] = []
    undone: set[str] = set()
    for number in range(draw(st.integers(0, 12))):
        who = draw(st.sampled_from(["me", "you"]))
        made = [each.id for each in entries if each.kind == "change"]
        choices: dict[Kind, list[str]] = {
            "undo": [each for each in made if each not in undone],
            "redo": [each for each in made if each in undone],
        }
        kind: Kind = draw(st.sampled_from(["change", *(each for each in choices if choices[each])]))
        of = [] if kind == "change" else draw(st.lists(st.sampled_from(choices[kind]), min_size=1, unique=True))
        undone = undone | set(of) if kind == "undo" else undone - set(of)
        entries.append(entry(str(number), kind, " ".join(of), who))
    return entries[draw(st.integers(0, 3)) :]  # the oldest have been pruned


@given(histories())
def test_read_backwards_it_comes_to_what_a_replay_comes_to(entries: list[Entry]) -> None:
    for who in ("me", "you"):
        undoable, redoable = replayed(entries, who)
        line = Timeline(entries[::-1], who)
        assert [change.id for change, _ in line.undoable()] == undoable[::-1]
        assert [change.id for change, _ in line.redoable()] == redoable[::-1]


@given(histories())
def test_a_change_is_marked_as_undone_while_an_undo_is_the_last_word_on_it(entries: list[Entry]) -> None:
    line = Timeline(entries[::-1], "me")
    for each, undo in marked(entries[::-1]):
        last = line.last(each)
        assert undo == (last if each.kind == "change" and last.kind == "undo" else None)


@given(histories())
def test_what_came_since_a_word_is_what_stands_otherwise_than_it_did_then(entries: list[Entry]) -> None:
    line = Timeline(entries[::-1], "me")
    known = {each.id for each in entries}
    for change, word in line.chosen(known):
        undone = [(each.id, last.id) for each, last in line.since(change, word)]
        words = [(each, entry) for entry in entries for each in about(entry)]
        moment = words.index((change.id, word)) + 1
        then, now = in_effect(words[:moment]), in_effect(words)
        assert {each for each, _ in undone} == (then ^ now) & known
        last = {each: place for place, (each, _) in enumerate(words)}
        places = [last[each] for each, _ in undone]
        assert [words[place][1].id for place in places] == [by for _, by in undone]
        assert places == sorted(places, reverse=True)


def in_effect(words: Sequence[tuple[str, Entry]]) -> set[str]:
    return {each for each, entry in dict(words).items() if entry.kind != "undo"}


def replayed(entries: Sequence[Entry], who: str) -> tuple[list[str], list[str]]:
    """Return a caller's two stacks, their tops last, by following the operations from the first one on."""
    known = {each.id for each in entries}
    undoable: list[str] = []
    redoable: list[str] = []
    for each in entries:
        if each.kind == "change" and each.who == who:
            undoable.append(each.id)
            redoable.clear()
        for change in each.of:
            undoable = [other for other in undoable if other != change]
            redoable = [other for other in redoable if other != change]
            if each.who == who and change in known:
                (redoable if each.kind == "undo" else undoable).append(change)
    return undoable, redoable


def test_only_the_newest_are_read_for_what_is_on_top() -> None:
    read: list[str] = []

    class Watched:
        def __iter__(self):  # type: ignore[no-untyped-def]
            for number in range(1_000):
                read.append(str(number))
                yield entry(str(number))

    change, word = next(Timeline(Watched(), "me").undoable())
    assert (change.id, word.id) == ("0", "0")
    assert read == ["0"]
    assert ids([change]) == ["0"]
