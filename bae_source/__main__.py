"""Start the command line: `python -m bae_source VERB …`, and the console script `bae-source`."""

from __future__ import annotations

import signal
import sys
from types import FrameType

INTERRUPTED = 130


def main() -> int:
    """Run the command line on this process's arguments and return its exit status."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _interrupt)
    try:
        from bae_source.adapters.cli import main as run  # heavy: Ctrl-C while it loads must not show a traceback

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what was begun is taken back, and no child is left behind."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
