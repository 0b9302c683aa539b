"""What other processes of a pool may do wrong, run by them in place of `pool.serve`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from bae_source.project.facts.kinds import FactKind
from bae_source.project.facts.pool import serve


def deadly_outside_of(process: int) -> Callable[[FactKind[Any], bytes], bytes]:
    """Return an `extract` that ends or stops every other process on a file that says so, as a parser's crash does."""
    whole = FactKind.extract

    def extract(kind: FactKind[Any], content: bytes) -> bytes:
        if b"# deadly" in content and os.getpid() != process:
            os.kill(os.getpid(), signal.SIGSEGV)
        if b"# hanging" in content and os.getpid() != process:
            time.sleep(600)
        return whole(kind, content)

    return extract


def serve_deadly() -> None:
    """Serve, but for files that are deadly."""
    FactKind.extract = deadly_outside_of(0)  # type: ignore[method-assign]
    serve()


def serve_nonsense() -> None:
    """Answer whatever comes by an empty list."""
    while os.read(0, 1 << 20):
        os.write(1, bytes([0, 0, 0, 1, 0x90]))
