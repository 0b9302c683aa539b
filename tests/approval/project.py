"""A project on which changes are proposed, and what tests look at: its files, what waits, and what was entered."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bae_source.adapters.cli.cli import through_service
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal, State
from bae_source.engine.approving.deciding import Deciding, Person
from bae_source.engine.service import Service
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from tests.adapters.support import Called, call

ANA = Person(name="ana", is_named=True)
FILES: Mapping[str, str] = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\nkeywords = ["a"]\n',
    "notes.txt": "one\ntwo\n",
    "app/__init__.py": '"""The app."""\n\nfrom app.core import send\n\n__all__ = ["gone", "send"]\n',
    "app/core.py": '"""The core."""\n\nimport os\n\nimport json\n\nLIMIT = 3\n\n\n'
    "def send(text):\n    return encoded(text)[:LIMIT]\n\n\n"
    'def encoded(text):\n    return json.dumps(text)\n\n\ndef spare():\n    """Nobody calls this."""\n',
    "app/other.py": '"""The others."""\n\nfrom app.core import send\n\n\ndef go():\n    return send("x")\n',
    "tests/test_app.py": "from app.core import LIMIT, send\n\n\n"
    "def test_limit():\n    assert LIMIT == 3\n    assert send('abc') == '\"ab'\n",
}
_OURS = {".bae-source", ".git", "__pycache__", ".pytest_cache"}


def built(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """Write a project below a folder, and return its root."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def files(root: Path) -> dict[str, bytes]:
    """Return what the project's own files hold, by path."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in found
        if not _OURS.intersection(path.relative_to(root).parts)
    }


def copied(root: Path, to: Path) -> Path:
    """Copy a project, without what we and Python put beside it."""
    shutil.copytree(root, to, ignore=shutil.ignore_patterns(*_OURS))
    return to


def line(root: Path, *words: str, typed: str | bytes = "", **variables: str) -> Called:
    """Give the command line a line, in this process."""
    here = [*words, "--root", str(root)]
    return call(
        *here,
        door=through_service,
        stdin=typed.encode() if isinstance(typed, str) else typed,
        environment={**os.environ, **variables},
    )


def proposed(root: Path, *words: str, typed: str | bytes = "", who: str = "bot") -> str:
    """Propose a change by the command line, and return its name."""
    done = line(root, *words, "--propose", "to try it", "--who", who, "--json", typed=typed)
    assert done.status == 10, done.out
    return str(done.json["task_id"])


def plans(root: Path) -> Plans:
    return Plans(StateFolders(root, UserState(os.environ)))


def waiting(root: Path) -> list[str]:
    """Return what waits for a decision, the oldest first."""
    return [each.id for each in plans(root).listed((State.AWAITING,))]


def deciding(root: Path) -> Deciding:
    """Return what decides on a project in this process, as the commands at a terminal do."""
    return Service(root, environment=os.environ).deciding


def approved(root: Path, task: str, person: Person = ANA, reason: str = "") -> Proposal:
    """Have a person approve a proposal as it is now, and return it as it is then."""
    decisions = deciding(root)
    decisions.approve(task, decisions.current(task).digest, person, reason)
    return plans(root).get(task)


def entries(root: Path, event: str = "") -> list[dict[str, Any]]:
    """Return the entries of the ledger, the oldest first, with their event among what they are about."""
    lines = [
        json.loads(text)
        for path in sorted((root / ".bae-source" / "ledger").glob("*.jsonl"))
        for text in path.read_text().splitlines()
    ]
    return [{"event": each["event"], **each["meta"]} for each in lines if event in ("", each["event"])]
