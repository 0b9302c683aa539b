"""Start a server without waiting for it: for the next read, after one that took long.

Invariants:
- it has a session of its own, the folder `/`, no terminal and none of our files;
- of our variables it has those that say where Python and temporary files are: what a request depends on comes with it;
- one that cannot live is not started again and again.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from bae_source.adapters.serve.meeting import LOCK
from bae_source.system.descriptors import SAFELY
from bae_source.system.own_process import python

_PAUSE = 60.0
"""Seconds between two starts."""
_VARIABLES = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "TMPDIR", "XDG_RUNTIME_DIR")
_NOWHERE = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]


def start(stem: str) -> None:
    """Start the server that will listen at a place, unless one was started a moment ago; failing changes nothing.

    Parameters:
        stem: as `meeting.stem_in` has it.
    """
    with suppress(OSError):
        os.makedirs(os.path.dirname(stem), mode=0o700, exist_ok=True)
        if not _is_due(stem + LOCK):
            return
        os.posix_spawn(
            (command := python("bae_source.adapters.serve.server:detached", stem, "\n".join(sys.path)))[0],
            command,
            {name: os.environ[name] for name in _VARIABLES if name in os.environ},
            file_actions=_NOWHERE,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE),
        )


def _is_due(lock: str) -> bool:
    """Return whether no server was started for a while, and note that one is now."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | SAFELY, 0o600)
        os.close(descriptor)
    except FileExistsError:
        since = time.time() - os.lstat(lock).st_mtime
        if 0 <= since < _PAUSE:
            return False
        os.utime(lock)
    return True
