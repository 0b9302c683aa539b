"""Real git repositories with something staged, and the hook run on them in this process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.model.outcome import Outcome

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "BAE_SOURCE_TELEMETRY": "0",
    "BAE_SOURCE_TRACEBACK": "1",
}
_IDENTITY = {f"GIT_{role}_{what}": "u@u" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git, isolated from the settings of whoever runs the tests."""
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        input=given,
        env=ENVIRONMENT | _IDENTITY,
        timeout=60,
    ).stdout


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode() if isinstance(text, str) else text)


def staged(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a repository in which some files are staged, and nothing is committed."""
    root.mkdir(parents=True, exist_ok=True)
    write(root, files)
    git(root, "init", "-q", "-b", "main", ".")
    git(root, "add", "-f", ".")
    return root


def check(root: Path, *files: str, environment: Mapping[str, str] = ENVIRONMENT) -> Outcome:
    """Ask the one door what is wrong with what is staged."""
    service = Service(root, environment=environment)
    try:
        return service.run(request("check_staged", {"files": files}))
    finally:
        service.close()


def findings(root: Path, *files: str) -> list[str]:
    """Return the findings as lines; the outcome agrees with itself."""
    outcome = check(root, *files)
    lines = list(map(str, outcome.found))
    assert outcome.exit_code == bool(lines)
    assert outcome.text.splitlines() == lines or not lines
    return lines
