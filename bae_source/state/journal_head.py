"""The first sector of the journal: enough to see that nothing was cut short, which every request asks for.

    bae_source journal 1 / state / operation / length / checksum      a line each, then zeros

What is behind it is known to `transaction.journal`, which takes as long to load as a small file takes to read.
"""

from __future__ import annotations

from pathlib import Path

from bae_source.state.reading import beginning_of

NAME = "journal"
MAGIC = b"bae_source journal 1"
SECTOR = 512
IDLE = b"idle"


def is_idle(folder: Path) -> bool:
    """Say whether nothing is left to recover, by one short read; True also where it cannot be read.

    Parameters:
        folder: the one that the journal lies in.
    """
    try:
        head = beginning_of(folder / NAME, SECTOR)
    except OSError:
        return True
    return not any(head) or head.startswith(b"%b\n%b\n" % (MAGIC, IDLE))
