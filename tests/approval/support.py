"""Proposals to keep, and the store of a project as another process of the same user finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal, Risk
from bae_source.errors import ResourceError
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

NOW = "2026-11-29T12:00:00+00:00"
REPOSITORY = Path(__file__).parents[2]


def plans_of(root: Path) -> Plans:
    return Plans(StateFolders(root, UserState(os.environ)))


def name(number: int) -> str:
    return f"code_mod_{number:08x}"


def proposal(number: int = 1, **fields: Any) -> Proposal:
    usual = {
        "id": name(number),
        "requests": ({"do": "edit", "target": "app.f", "new_source": "x = 1\n"},),
        "reason": "to try it",
        "who": "bot",
        "at": NOW,
        "digest": "d1",
        "diff": "--- a\n+++ b\n",
        "symbols": ("app.f", "app.g"),
        "risk": Risk(level="high", reasons=("app.f goes",), counts={"files": 1}),
    }
    return Proposal(**{**usual, **fields})


FIRST = name(1)


def refusal(ask: Callable[[], object]) -> ResourceError:
    try:
        ask()
    except ResourceError as error:
        return error
    raise AssertionError("it was not refused")


def everything(plans: Plans) -> list[Proposal]:
    return [plans.get(each.id) for each in plans.listed()]


def started(module: str, *words: object) -> subprocess.Popen[str]:
    """Start a module of these tests as a process that is spoken to."""
    line = [sys.executable, "-m", f"tests.approval.{module}", *map(str, words)]
    return subprocess.Popen(line, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def died_writing(path: Path) -> None:
    """Have a process die after it wrote over half of a file of plans; its journal has what was there."""
    dying = (
        "import os, signal, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA journal_mode = PERSIST')\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "connection.execute('UPDATE bodies SET diff = zeroblob(60000)')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    before = path.read_bytes()
    subprocess.run([sys.executable, "-c", dying, str(path)], check=False)
    assert path.read_bytes() != before
