"""Part E: how long parsing takes by the size of the file, as our own telemetry reports it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.read import ours


def parses(root: Path) -> bool:
    """Outline a project without a cache, and show what telemetry says of it; return whether its targets are met."""
    ours.forget(root)
    ours.ask(root, "outline", "--depth", "9")
    _, out = ours.ask(root, "telemetry")
    print(out, flush=True)
    return "missed" not in out.lower()
