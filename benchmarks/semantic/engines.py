"""The engines, each of which makes one change in a copy of a package, without options.

Invariants:
- ours writes by its own door; rope plans in a process of its own, and what it plans is written here;
- rope is given the folder that stands on `sys.path`, which ours finds by itself;
- a change that an engine does not make leaves the copy as it was, but for an empty module to move to.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bae_source
from bae_source.errors import ResourceError
from benchmarks.read.peers import REQUIREMENTS, Peers
from benchmarks.read.processes import Failed, TooSlow, run
from benchmarks.semantic.drawing import Change
from benchmarks.semantic.subjects import Subject

OURS = "ours"
ROPE = "rope"
_SECONDS = 300


class NotMade(Exception):
    """A change that the engine refuses or cannot make; the message says why."""


Made = Callable[[Path, Subject, Change], Mapping[str, Any]]
"""Makes a change in a folder, and returns the report about it."""


def ours(root: Path, _: Subject, change: Change) -> Mapping[str, Any]:
    """Have ours make the change by its Python API.

    Raises:
        NotMade: it is refused.
    """
    project = bae_source.Source(root)
    try:
        if change.signature:
            outcome = project.change_signature(
                change.named.target, change.signature, renamed=change.renamed, value=change.value, reload="off"
            )
        elif change.extract:
            outcome = project.extract(change.named.target, **change.extract, reload="off")
        elif change.inlines:
            outcome = project.inline(change.named.target, reload="off")
        elif change.to:
            outcome = project.move(change.named.target, change.to, reload="off")
        else:
            outcome = project.rename(change.named.target, change.new, reload="off")
    except ResourceError as error:
        raise NotMade(f"{error.code}: {error.message}") from error
    return outcome.report or {}


def by_rope(peers: Peers) -> Made:
    """Return what has rope make a change; its plans have no report."""

    def made(root: Path, subject: Subject, change: Change) -> Mapping[str, Any]:
        named = change.named
        at = [str(root), named.path, str(named.line), str(named.column)]
        if change.to:
            asked = ["move_by_rope.py", *at, change.to_path]
        else:
            asked = ["rename_by_rope.py", *at, change.new, *(["--module"] if named.kind == "module" else [])]
        source = ["--source", subject.source] if subject.source else []
        _write(root, _planned(peers, root, [*asked, *source]))
        return {}

    return made


def _planned(peers: Peers, root: Path, asked: list[str]) -> str:
    with tempfile.TemporaryDirectory() as cache:
        environment = {"XDG_CACHE_HOME": cache, "HOME": cache, "PATH": os.environ.get("PATH", "")}
        command = [peers.program("python"), str(REQUIREMENTS.parent / asked[0]), *asked[1:]]
        try:
            return run(command, cwd=root, environment=environment, limit=_SECONDS)[1]
        except TooSlow as error:
            raise NotMade(str(error)) from error
        except Failed as error:
            raise NotMade(str(error).strip().split("\n")[-1]) from error


def _write(root: Path, plan: str) -> None:
    """Write what rope plans: a text, or the new path of a file."""
    for path, text, *to in map(json.loads, plan.splitlines()):
        if text is None:
            (root / path).rename(root / to[0])
        else:
            (root / path).write_text(text, encoding="utf-8", newline="")
