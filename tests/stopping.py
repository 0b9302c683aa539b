"""A process that stops where its change is written and not committed, and the command line in it.

    python -m tests.stopping MARK STATUS WORDS...      as the command line with these words

It makes the file MARK when it stops and goes on once that is gone; then its disk fails, unless STATUS is 0.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from bae_source.adapters.cli.cli import main
from bae_source.transaction.commit import transaction
from bae_source.transaction.disk.port import RealDisk
from benchmarks.crash.faults import replaced


def stopping(mark: Path, status: str, *words: str) -> int:
    """Run the command line on a disk that stops."""

    def stop() -> None:
        mark.touch()
        while mark.exists():
            time.sleep(0.02)
        if status != "0":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with ExitStack() as stack:

        def made() -> RealDisk:
            disk = RealDisk()
            stack.enter_context(replaced(disk, stop))
            return disk

        transaction.RealDisk = made  # type: ignore[assignment, misc]
        return main(list(words))


if __name__ == "__main__":
    sys.exit(stopping(Path(sys.argv[1]), *sys.argv[2:]))
