"""Go through what waits for a person, the riskiest first, one question at a time.

    [a]pprove  [t]ake some  [o]ut with some  [r]eject  [s]kip  [q]uit?

Each answer is about the proposal as it is shown. One that changed meanwhile is shown anew before it can be approved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bae_source.adapters.cli.render import render, render_lines
from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.deciding.terminal import (
    agreed,
    asked,
    check_terminal,
    deciding_of,
    listed_symbols,
    person_of,
    show,
)
from bae_source.engine.approving.deciding import Deciding, Person, Proposal, State
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome, failed
from bae_source.model.text import counted

_QUESTION = "[a]pprove  [t]ake some  [o]ut with some  [r]eject  [s]kip  [q]uit? "
_ANSWERS = ("a", "t", "o", "r", "s", "q", "")
_WHY = "Why? The proposer is given it: "
_HELP = (
    "a approves all of it, by a code; t keeps the parts that you name, and refuses the others; o refuses those that\n"
    "you name; r rejects all of it; s leaves it to wait; q ends this."
)
_OPEN = (State.AWAITING, State.APPROVED, State.STALE, State.FAILED)


def review(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Go through what waits.

    Parameters:
        given: `who` and `root` where they were given.

    Raises:
        Refused: `forbidden` where no person is at a terminal.
    """
    check_terminal(streams, "review")
    deciding, person = deciding_of(given, streams), person_of(given, streams)
    seen: list[str] = []
    done, answer = 0, ""
    while answer != "q" and (waiting := [each for each in deciding.waiting() if each not in seen]):
        for number, task in enumerate(waiting, 1):
            render_lines(f"\n{number} of {len(waiting)}", streams)
            answer = _one(deciding, person, task, streams)
            seen.append(task)
            done += answer == "done"
            if answer == "q":
                break
    left = len(deciding.waiting())
    return Outcome(status="answer", text=f"Decided about {counted(done, 'change')}; {left} left to wait.")


def _one(deciding: Deciding, person: Person, task: str, streams: Streams) -> str:
    """Have one proposal decided about; return `done`, `s` for one that is left to wait, or `q`."""
    while True:
        try:
            proposal = deciding.current(task)
        except ResourceError as error:
            render(failed(error), streams)
            return _of_stale(deciding, person, task, streams)
        if proposal.state not in _OPEN:
            render_lines(f"{task} was decided about meanwhile: it is {proposal.state}.", streams)
            return "s"
        show(proposal, streams)
        answer = asked(streams, _QUESTION)[:1].lower()
        while answer not in _ANSWERS:
            render_lines(_HELP, streams)
            answer = asked(streams, _QUESTION)[:1].lower()
        if answer in ("s", "q", ""):
            return answer or "q"
        try:
            outcome = _decided(deciding, person, proposal, answer, streams)
        except ResourceError as error:
            render(failed(error), streams)
            continue
        if outcome is None:
            continue
        render(outcome, streams)
        if answer in ("a", "r"):
            return "done"


def _of_stale(deciding: Deciding, person: Person, task: str, streams: Streams) -> str:
    """Have a proposal decided about that cannot be made as the files are now."""
    answer = asked(streams, "[r]eject  [s]kip  [q]uit? ")[:1].lower()
    if answer == "r":
        render(deciding.reject(task, person, asked(streams, _WHY)), streams)
        return "done"
    return "q" if answer == "q" else "s"


def _decided(deciding: Deciding, person: Person, proposal: Proposal, answer: str, streams: Streams) -> Outcome | None:
    """Carry one answer out; None where the question is to be asked again."""
    if answer == "a":
        deciding.check_may(proposal, person)
        return deciding.approve(proposal.id, proposal.digest, person) if agreed(proposal, streams) else None
    if answer == "r":
        return deciding.reject(proposal.id, person, asked(streams, _WHY))
    chosen = _chosen(proposal.symbols, streams)
    reason = asked(streams, _WHY)
    if not chosen:
        return None
    if answer == "o":
        return deciding.reject(proposal.id, person, reason, chosen)
    return deciding.keep_only(proposal.id, person, reason, chosen)


def _chosen(symbols: Sequence[str], streams: Streams) -> list[str]:
    """Ask for symbols by their numbers."""
    render_lines("\n".join(listed_symbols(symbols)), streams)
    numbers = asked(streams, "Which, by numbers: ").replace(",", " ").split()
    return [symbols[int(each) - 1] for each in numbers if each.isdigit() and 0 < int(each) <= len(symbols)]
