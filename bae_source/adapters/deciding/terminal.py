"""Approve, reject and expire proposals at a terminal, where a person reads what is shown and types a code.

    $ bae-source approve code_mod_1a2b3c4d
    code_mod_1a2b3c4d waits for approval: Edited app.core.send.
    …                                                        the whole of it, risk first, and the diff
    Type 7c1e9a to approve exactly this (digest 5b03c1d2…):

The code is made for this one question and is nowhere but on the terminal, so that no pipe, script or answer written
beforehand approves anything.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bae_source.adapters.cli.render import render_lines, render_text
from bae_source.adapters.cli.streams import Streams
from bae_source.engine.approving.deciding import Deciding, Person, Proposal
from bae_source.engine.approving.proposing import drawn
from bae_source.engine.meta.service import Meta
from bae_source.engine.service import Service, find_root
from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.context import check_name
from bae_source.model.outcome import Outcome

_WHO = "BAE_SOURCE_WHO"
_SHORTEST = 8
"""Characters that name a digest."""


def approve(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Have a person approve one proposal, and make it.

    Parameters:
        given: `task`, and `only`, `digest`, `reason`, `who`, `root` where they were given.

    Raises:
        Refused: `forbidden` where no person is at a terminal, or the code is another one; `stale` where the digest is.
    """
    check_terminal(streams, "approve")
    deciding, person = deciding_of(given, streams), person_of(given, streams)
    proposal = deciding.current(given["task"])
    deciding.check_may(proposal, person)
    only = given.get("only")
    wanted = deciding.foreseen(proposal.id, person, only) if only else proposal
    _check_digest(wanted, given.get("digest"))
    show(wanted, streams)
    if not agreed(wanted, streams):
        raise Refused("forbidden", f"{proposal.id} was not approved, as the code was not typed", unchanged=True)
    if only and wanted.digest != proposal.digest:
        deciding.keep_only(proposal.id, person, why(given, streams), only)
    return deciding.approve(proposal.id, wanted.digest, person, given.get("reason", ""))


def _check_digest(proposal: Proposal, digest: str | None) -> None:
    if digest is not None and len(digest) < _SHORTEST:
        hint = f"Give its first {_SHORTEST} characters at least, as show has them."
        raise RequestError("invalid_arguments", "That is too short for a digest; nothing was approved.", hints=[hint])
    if digest is not None and not proposal.digest.startswith(digest):
        raise Refused(
            "stale",
            f"{proposal.id} has another digest: {proposal.digest}; nothing was approved.",
            hints=[Call("show", task=proposal.id, then="shows what it comes to now.")],
        )


def why(given: Mapping[str, Any], streams: Streams) -> str:
    """Return the reason that was given, or that the person types."""
    return given.get("reason") or asked(streams, "Why? The proposer is given it: ")


def reject(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Have a person reject a proposal, or take parts out of it.

    Parameters:
        given: `task` and `reason`, and `part`, `who`, `root` where they were given.

    Raises:
        Refused: `forbidden` where no person is at a terminal.
    """
    check_terminal(streams, "reject")
    person = person_of(given, streams)
    return deciding_of(given, streams).reject(given["task"], person, why(given, streams), given.get("part", ()))


def expire(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Have a person end proposals without a reason.

    Parameters:
        given: `task`, and `who`, `root` where they were given.

    Raises:
        Refused: `forbidden` where no person is at a terminal.
    """
    check_terminal(streams, "expire")
    return deciding_of(given, streams).expire(given["task"], person_of(given, streams))


def check_terminal(streams: Streams, verb: str) -> None:
    """Check that a person is there.

    Raises:
        Refused: `forbidden`.
    """
    if not (streams.stdin_terminal and streams.stderr.terminal):
        raise Refused(
            "forbidden",
            f"Only a person at a terminal may {verb} a change",
            unchanged=True,
            hints=[f"Ask the user to type `bae-source {verb} …`; wait says what becomes of it."],
        )


def deciding_of(given: Mapping[str, Any], streams: Streams) -> Deciding:
    """Return the decisions about the proposals of the project that was named, or that is here."""
    return engine_of(given, streams.environment).deciding


def engine_of(given: Mapping[str, Any], environment: Mapping[str, str]) -> Service:
    """Return the engine on the project that was named, or that is here; on itself for `meta`."""
    if given.get("meta"):
        return Meta(environment=environment)
    root = Path(given["root"]) if "root" in given else find_root(Path.cwd(), environment)
    return Service(root, environment=environment)


def person_of(given: Mapping[str, Any], streams: Streams) -> Person:
    """Return the person who decides."""
    environment = streams.environment
    named = given.get("who") or environment.get(_WHO)
    account = next(filter(None, map(environment.get, ("USER", "LOGNAME", "USERNAME"))), "anonymous")
    if named is not None:
        check_name(named)
    return Person(name=named or account, is_named=bool(named))


def show(proposal: Proposal, streams: Streams) -> None:
    """Write a proposal whole at the terminal, the risk first and the diff last, wherever the outcome goes."""
    streams = streams if streams.stdout.terminal else replace(streams, stdout=streams.stderr)
    render_lines(drawn(proposal), streams)
    render_text(proposal.diff, streams, style="diff")


def agreed(proposal: Proposal, streams: Streams) -> bool:
    """Ask the person for the code of this one question, and say whether it was typed."""
    code = secrets.token_hex(3)
    what = f"exactly this (digest {proposal.digest[:12]}…)"
    return asked(streams, f"Type {code} to approve {what}: ") == code


def asked(streams: Streams, question: str) -> str:
    """Return the line that the person types."""
    streams.stderr.write(question)
    return streams.stdin.readline().decode("utf-8", "replace").strip()


def listed_symbols(symbols: Sequence[str]) -> list[str]:
    """Return the symbols of a proposal with the numbers by which they are chosen."""
    return [f"  {number:>3}  {each}" for number, each in enumerate(symbols, 1)]
