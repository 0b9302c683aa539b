"""Proposals as they are kept: added, listed, and moved from state to state by one process at a time.

    plans = Plans(folders)
    plans.add(proposal)
    plans.listed({State.AWAITING})                          summaries, the oldest first
    plans.move(id, State.APPROVED, digest=…, decided_by="ana", decided_at="…")

Invariants:
- a proposal is there whole, in a state that its moves lead to, or not at all, however a process ends;
- of two that move it at once one does, and the other gets an error with its new state and by whom;
- what enters a step in the ledger runs before the step counts: one that a process dies in may be entered twice, and
  none is left out;
- what was approved is never altered: a move changes the state and what is noted, and nothing that the digest is of;
- each project of a repository sees its own proposals.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bae_source.approval.plan_file import Damaged, PlanFile, check_row, check_rows, decoded, encoded, sum_of
from bae_source.approval.proposals import MOVES, PREFIX, Proposal, Risk, State, check_move
from bae_source.errors import LookupFailed, Refused
from bae_source.model.outcome import Notice
from bae_source.state.folders import StateFolders
from bae_source.system.collecting import collector_off

if TYPE_CHECKING:
    import _sqlite3 as sqlite3
    from collections.abc import Iterator

T = TypeVar("T")

MOST = 20_000
"""Proposals up to which none is let go of."""
_IDS = re.compile(rf"(?:{PREFIX})?([0-9a-f]{{1,8}})")
_NAMED = 10
_NAMEABLE = 40
_LONGEST = 400
"""Characters of a text of the proposer's that a summary has."""
_NAMES, _CHECKS = 3, 6
"""Symbols and checks that a summary has."""
_NOTED = frozenset(
    {"decided_by", "decided_at", "decision", "operation_id", "note", "notified", "expires", "warnings", "checks"}
)
"""The fields that a move may change besides the state."""
_RENEWABLE = frozenset({State.AWAITING, State.STALE, State.FAILED})
_OPEN = tuple(state for state, moves in MOVES.items() if State.EXPIRED in moves)
_CLOSED = tuple(state for state, moves in MOVES.items() if not moves)
_HEAD = "id, project, state, who, at, expires, notified, digest, head, check_sum"
_KEY = "CAST(id || ' ' || state AS BLOB)"
_WHOLE = (
    f"SELECT {_KEY}, head, proposals.check_sum, content, diff, bodies.check_sum "
    "FROM proposals LEFT JOIN bodies USING (number) WHERE number = ?"
)
_STRANGE = f"state NOT IN ({', '.join(repr(each.value) for each in State)})"
"""Rows with an unknown state, so damaged; a search for some states has to include them."""


Enter = Callable[[Proposal], object]


def _nowhere(proposal: Proposal) -> None:
    """Enter a step in no ledger."""


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal without what is long: each field as `Proposal` has it.

    Parameters:
        reason, goal: shortened, if they are long.
        symbols: how many it changes.
        names: the first of them.
        results: of its checks, by name.
    """

    id: str
    state: State
    who: str
    at: str
    reason: str
    is_named: bool = False
    goal: str = ""
    summary: str = ""
    symbols: int = 0
    names: tuple[str, ...] = ()
    results: Mapping[str, str] = {}
    risk: Risk = Risk()
    waits_for: tuple[str, ...] = ()
    digest: str = ""
    expires: str = ""
    decided_by: str = ""
    decided_at: str = ""
    decision: str = ""
    operation_id: str = ""
    note: str = ""
    notified: bool = False


class Plans:
    """The proposals of one project. Whatever cannot be read or written is `Refused` (`forbidden`, `busy`).

    Parameters:
        folders: where our state lies.
    """

    def __init__(self, folders: StateFolders) -> None:
        self._file = PlanFile(folders)
        self._folders = folders
        self._project = self._file.project

    def new_id(self) -> str:
        """Return an id that no proposal has."""
        drawn = [f"{PREFIX}{os.urandom(4).hex()}" for _ in range(_NAMED)]

        def free(connection: sqlite3.Connection) -> str:
            return next(each for each in drawn if not _ids(connection, None, each))

        return self._read(free, drawn[0])

    def add(self, proposal: Proposal, *, enter: Enter = _nowhere) -> None:
        """Keep a new proposal, which is durable then.

        Parameters:
            enter: enters it in the ledger.

        Raises:
            Refused: `name_collision`, if there is one with its id.
        """

        def adding(connection: sqlite3.Connection) -> None:
            if _ids(connection, None, proposal.id):
                raise Refused("name_collision", f"There is a proposal {proposal.id}", unchanged=True)
            self.insert(connection, proposal)
            enter(proposal)

        with self._refusing():
            self._folders.make(self._folders.base)
            self._folders.settle()  # else what is kept there would belong to no user after a power cut
            self._file.write(adding)

    def insert(self, connection: sqlite3.Connection, proposal: Proposal) -> None:
        """Put a proposal into the file, as part of a transaction of it."""
        marks = ", ".join("?" * (_HEAD.count(",") + 1))
        head = _head(proposal, self._project)
        row = connection.execute(f"INSERT INTO proposals ({_HEAD}) VALUES ({marks})", head)
        connection.execute("INSERT INTO bodies VALUES (?, ?, ?, ?)", (row.lastrowid, *_body(proposal)))

    def get(self, proposal_id: str) -> Proposal:
        """Return a proposal by its id, or by a beginning that no other one has, with or without its prefix.

        Raises:
            LookupFailed: `symbol_not_found`, or `ambiguous_symbol` with the ids that begin so.
        """
        found = self._read(lambda connection: self._one(connection, proposal_id)[1], None)
        if found is None:
            raise self._unknown(proposal_id)
        return found

    def listed(self, states: Collection[State] = (), *, who: str | None = None) -> list[Summary]:
        """Return the proposals without their long parts, the oldest first.

        Parameters:
            states: those that are wanted; all where none is given.
            who: the proposer whose are wanted; None for all.
        """
        wanted = tuple(states) or tuple(State)
        clause = f"state IN ({', '.join('?' * len(wanted))})"
        return self._summaries(clause if who is None else f"{clause} AND who = ?", *wanted, *_name(who))

    def counts(self) -> Mapping[State, int]:
        """Return the number of proposals in each state."""
        select = "SELECT state, count(*) FROM proposals WHERE project = ? GROUP BY state"

        def counting(connection: sqlite3.Connection) -> dict[str, int]:
            return dict(connection.execute(select, (self._project,)))

        found = self._read(counting, dict[str, int]())
        return {state: found.get(state.value, 0) for state in State}

    def move(
        self, proposal_id: str, to: State, *, digest: str | None = None, enter: Enter = _nowhere, **noted: Any
    ) -> Proposal:
        """Move a proposal to another state, and return it as it is then.

        Parameters:
            digest: that the caller was shown; None for any.
            enter: enters the move in the ledger, as it is then.
            noted: fields that are set with it, such as `decided_by`.

        Raises:
            LookupFailed: `symbol_not_found`.
            HistoryError: `proposal_closed`, where no move leads there from its state.
            Refused: `stale`, where it has another digest.
        """

        def moved(proposal: Proposal) -> Proposal:
            check_move(proposal, to)
            _check_digest(proposal, digest)
            return _noted(proposal, noted, to)

        return self._altered(proposal_id, moved, enter)

    def note(self, proposal_id: str, *, digest: str | None = None, **noted: Any) -> Proposal:
        """Note something of a proposal, as that its user was notified of it; it stays in its state.

        Raises:
            LookupFailed: `symbol_not_found`.
            Refused: `stale`, where it has another digest.
        """

        def with_note(proposal: Proposal) -> Proposal:
            _check_digest(proposal, digest)
            return _noted(proposal, noted, proposal.state)

        return self._altered(proposal_id, with_note)

    def renewed(self, proposal: Proposal, *, digest: str, enter: Enter = _nowhere) -> Proposal:
        """Replace a proposal by one that was planned anew, which waits for a new decision.

        Parameters:
            digest: that the old one had when it was read.
            enter: enters it in the ledger.

        Raises:
            LookupFailed: `symbol_not_found`.
            HistoryError: `proposal_closed`, where it cannot wait again.
            Refused: `stale`, where it has another digest now.
        """

        def again(old: Proposal) -> Proposal:
            if old.state not in _RENEWABLE:
                check_move(old, State.AWAITING)
            _check_digest(old, digest)
            blank = {"decided_by": "", "decided_at": "", "decision": "", "operation_id": ""}
            return replace(proposal, state=State.AWAITING, **blank)

        return self._altered(proposal.id, again, enter)

    def due(self, now: str) -> list[Summary]:
        """Return those that wait for a decision, and expired before a time."""
        marks = ", ".join("?" * len(_OPEN))
        return self._summaries(f"expires != '' AND expires <= ? AND state IN ({marks})", now, *_OPEN)

    def unnotified(self) -> list[Summary]:
        """Return those that wait, and of which the user was not notified."""
        return self._summaries("state = ? AND notified = 0", State.AWAITING)

    def removed(self, before: str, *, most: int = MOST) -> int:
        """Let go of closed proposals that were made before a time, where there are too many; return how many."""

        def removing(connection: sqlite3.Connection) -> int:
            [count] = connection.execute(
                "SELECT count(*) FROM proposals WHERE project = ?", (self._project,)
            ).fetchone()
            if count <= most:
                return 0
            marks = ", ".join("?" * len(_CLOSED))
            old = f"SELECT number FROM proposals WHERE project = ? AND at < ? AND state IN ({marks})"
            wanted = (self._project, before, *_CLOSED)
            connection.execute(f"DELETE FROM bodies WHERE number IN ({old})", wanted)
            return connection.execute(f"DELETE FROM proposals WHERE number IN ({old})", wanted).rowcount

        return self._write(removing) if self._file.is_there() else 0

    def notices(self) -> tuple[Notice, ...]:
        """Name proposals that were damaged, for as long as their file lies there; for lists of waiting changes."""
        return self._file.notices()

    def _altered(self, proposal_id: str, alter: Callable[[Proposal], Proposal], enter: Enter = _nowhere) -> Proposal:
        """Replace a proposal by a new version of it, while no other process can."""

        def altering(connection: sqlite3.Connection) -> Proposal:
            number, old = self._one(connection, proposal_id)
            new = alter(old)
            names = ", ".join(f"{name} = ?" for name in _HEAD.split(", "))
            given = (*_head(new, self._project), number, old.state)
            connection.execute(f"UPDATE proposals SET {names} WHERE number = ? AND state = ?", given)
            connection.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?)", (number, *_body(new)))
            enter(new)
            return new

        if not self._file.is_there():
            raise self._unknown(proposal_id)
        return self._write(altering)

    def _one(self, connection: sqlite3.Connection, proposal_id: str) -> tuple[int, Proposal]:
        """Return a proposal and its number."""
        found = _ids(connection, self._project, _named(proposal_id))
        if len(found) != 1:
            raise self._unknown(proposal_id, found.values())
        [number] = found
        key, head, head_sum, content, diff, body_sum = connection.execute(_WHOLE, (number,)).fetchone()
        check_row(head_sum, key, head)
        check_row(body_sum, content, diff)
        proposal = decoded(content, Proposal)
        if _key(proposal) != key:
            raise Damaged("its summary is another one's")
        return number, replace(proposal, diff=diff.decode("utf-8", "surrogatepass"))

    def _summaries(self, clause: str, *given: object) -> list[Summary]:
        wanted = f"project = ? AND {clause} OR {_STRANGE}"
        select = f"SELECT {_KEY}, head, check_sum FROM proposals WHERE {wanted} ORDER BY number"

        def reading(connection: sqlite3.Connection) -> list[Summary]:
            rows = connection.execute(select, (self._project, *given)).fetchall()
            check_rows(rows)
            try:  # all at once, which takes half the time
                return msgspec.json.decode(b"[%b]" % b",".join(head for _, head, _ in rows), type=list[Summary])
            except msgspec.DecodeError:
                return [decoded(head, Summary) for _, head, _ in rows]

        with collector_off():  # of many, it takes as long again
            return self._read(reading, [])

    def _unknown(self, proposal_id: str, found: Collection[str] = ()) -> LookupFailed:
        shown = proposal_id if proposal_id.isprintable() and len(proposal_id) < _NAMEABLE else "of that name"
        if found:
            message = f"{len(found)} proposals begin with {shown}."
            return LookupFailed("ambiguous_symbol", message, candidates=list(found)[:_NAMED])
        hints = ["pending lists those that wait.", *(each.message for each in self.notices())]
        return LookupFailed("symbol_not_found", f"There is no proposal {shown}.", hints=hints)

    def _read(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        with self._refusing():
            return self._file.read(work, otherwise)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._refusing():
            return self._file.write(work)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._file.unusable(error) from error


def _ids(connection: sqlite3.Connection, project: bytes | None, beginning: str) -> dict[int, str]:
    """Return the ids of a project, or of all, that begin so, by their numbers; of many some."""
    if not beginning:
        return {}
    clause, given = ("", ()) if project is None else (" AND project = ?", (project,))
    select = f"SELECT number, id FROM proposals WHERE id >= ? AND id < ?{clause} ORDER BY id LIMIT {_NAMED + 1}"
    return dict(connection.execute(select, (beginning, f"{beginning}g", *given)))


def _named(proposal_id: str) -> str:
    """Return an id, or the beginning of one, with its prefix; "" for what is none."""
    found = _IDS.fullmatch(proposal_id)
    return f"{PREFIX}{found[1]}" if found else ""


def _name(who: str | None) -> tuple[bytes, ...]:
    return () if who is None else (who.encode("utf-8", "surrogatepass"),)


def _noted(proposal: Proposal, noted: Mapping[str, Any], state: State) -> Proposal:
    """Return a proposal in a state, with what is noted."""
    if noted.keys() - _NOTED:
        raise TypeError(f"no move changes {', '.join(sorted(noted.keys() - _NOTED))}")
    return replace(proposal, state=state, **noted)


def _check_digest(proposal: Proposal, digest: str | None) -> None:
    if digest is not None and digest != proposal.digest:
        raise Refused(
            "stale",
            f"{proposal.id} was planned anew, and differs from the one that was shown",
            unchanged=True,
            hints=[f"show {proposal.id} shows it as it is now."],
            details={"digest": proposal.digest},
        )


def _head(proposal: Proposal, project: bytes) -> tuple[object, ...]:
    """Return the row of a list: the columns to search, and the summary."""
    own = {
        "symbols": len(proposal.symbols),
        "names": tuple(map(_shortened, proposal.symbols[:_NAMES])),
        "results": {each.name: each.result for each in proposal.checks[:_CHECKS]},
    }
    shared = {name: getattr(proposal, name) for name in Summary.__struct_fields__ if name not in own}
    short = {name: _shortened(shared[name]) for name in ("reason", "goal", "summary", "decision", "note")}
    head = encoded(Summary(**{**shared, **short, **own}))
    found = (proposal.id, project, proposal.state, *_name(proposal.who), proposal.at, proposal.expires)
    return (*found, int(proposal.notified), proposal.digest, head, sum_of(_key(proposal), head))


def _key(proposal: Proposal) -> bytes:
    """Return the further content of a summary's checksum: the columns by which it is found."""
    return f"{proposal.id} {proposal.state}".encode()


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _body(proposal: Proposal) -> tuple[bytes, bytes, int]:
    """Return the row of a proposal: all of it, and its diff, with their checksum."""
    content, diff = encoded(replace(proposal, diff="")), proposal.diff.encode("utf-8", "surrogatepass")
    return content, diff, sum_of(content, diff)
