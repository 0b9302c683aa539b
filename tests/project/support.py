"""Workspaces on files that only memory holds, and the questions that most tests of names and plans ask."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.plan import Plan
from bae_source.project.files import stamps
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from tests.memory import Memory

SHORT_TICK = 40_000_000
"""Nanoseconds; a tick of the clock of Linux takes ten milliseconds at most."""


def workspace(files: Mapping[str, str | bytes]) -> Workspace:
    return Workspace(Memory({path: text.encode() if isinstance(text, str) else text for path, text in files.items()}))


def same(one: Resolved, other: Resolved) -> bool:
    return (one.module.path, one.group, one.address.part) == (other.module.path, other.group, other.address.part)


def address(space: Workspace, name: str) -> str:
    """Resolve a name; the canonical address must lead to the very same thing."""
    resolved = resolve(space, name)
    again = resolve(space, str(resolved.address))
    assert same(again, resolved), f"{name} -> {resolved.address} -> {again.address}"
    assert again.address == resolved.address
    return str(resolved.address)


def refused(space: Workspace, name: str, code: str) -> ResourceError:
    """Expect an error whose candidates can all be used as they stand."""
    with pytest.raises(ResourceError) as caught:
        resolve(space, name)
    assert caught.value.code == code, caught.value
    if isinstance(caught.value, LookupFailed):
        for candidate in caught.value.candidates:
            if not candidate.startswith(":"):  # a file or a folder without code
                address(space, candidate)
    return caught.value


def after(space: Workspace, plan: Plan) -> dict[str, bytes]:
    """Return the contents of the files that a plan changes, as they will be."""
    return {change.path: change.apply(space.content(change.path) or b"") for change in plan.changes.files}


def settle(root: Path, patched: pytest.MonkeyPatch | None = None) -> None:
    """Wait until no stamp of the tree is so young that another change might not show in it.

    Parameters:
        patched: with it, the ticks of the file system's clock are taken to be short from now on.
    """
    seconds = 2.05
    if patched is not None:
        patched.setattr(stamps, "TICK", SHORT_TICK)
        seconds = 0.05
    newest = max(max(s.st_ctime, s.st_mtime) for s in (path.lstat() for path in [root, *root.rglob("*")]))
    time.sleep(max(0.0, newest + seconds - time.time()))
