"""Start the command line: `python -m bae_source VERB …`, and the console script `bae-source`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command line on this process's arguments and return its exit status."""
    try:
        from bae_source.adapters.cli import main as run  # heavy: Ctrl-C while it loads must not show a traceback

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
