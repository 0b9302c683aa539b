"""The question that a person answers before state that came with a project counts as theirs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.engine.service import Service, find_root
from bae_source.errors import Refused
from bae_source.model.outcome import Outcome

_AGREED = "adopt"


def adopt(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Have a person decide, and adopt the project's state.

    Parameters:
        given: `root`, if it was given.

    Raises:
        Refused: `forbidden` where no person is at a terminal, or where the state cannot be adopted.
    """
    if not (streams.stdin_terminal and streams.stderr.terminal):
        raise Refused(
            "forbidden",
            "Only a person may adopt the state of a project, at a terminal",
            unchanged=True,
            hints=["Ask the user to type `bae-source adopt`, or remove the state: forget --foreign."],
        )
    root = Path(given["root"]) if "root" in given else find_root(Path.cwd(), streams.environment)
    service = Service(root, environment=streams.environment)
    return service.adopt(lambda places: _agrees(places, streams))


def _agrees(places: tuple[Path, ...], streams: Streams) -> bool:
    lines = [
        "This state of bae_source was not made here by you:",
        *(f"  {place}" for place in places),
        "If you copied or moved this project yourself, it is yours. If it came from another person, it is not: what",
        "they put there would count as your changes, and `undo` and the next request may write files as it says.",
        f"Type {_AGREED} to make it yours: ",
    ]
    streams.stderr.write("\n".join(lines))
    return streams.stdin.readline().strip() == _AGREED.encode()
