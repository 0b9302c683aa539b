"""A stranger's machine and a victim's: what the one ships, how it comes to the other, and what is looked at there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.errors import ResourceError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

CODE = "def send():\n    return 1\n"
USE = "from app import send\n\nsend()\n"


class Machine:
    """A user on a machine: a folder for the state of their programs, and a program that leaves a mark when it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.mark = folder / "mark"
        self.program = folder / "evil"
        self.program.write_text(f"#!/bin/sh\ntouch {self.mark}\n")
        self.program.chmod(0o755)
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "USER": folder.name}

    def service(self, root: Path) -> Service:
        return Service(root, environment=self.environment)

    def run(self, root: Path, verb: str, context: Context | None = None, **given: object) -> Outcome:
        service = self.service(root)
        try:
            return service.run(request(verb, given), context)
        finally:
            service.close()

    def fails(self, root: Path, verb: str, context: Context | None = None, **given: object) -> ResourceError | None:
        try:
            self.run(root, verb, context, **given)
        except ResourceError as error:
            return error
        return None

    def folders(self, root: Path) -> StateFolders:
        return StateFolders(root, UserState(self.environment))

    def command(self, root: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-P", "-m", "bae_source", *words, "--root", str(root)]
        where = {"PYTHONPATH": str(Path(__file__).parent.parent.parent)}
        return subprocess.run(
            line, capture_output=True, text=True, env=self.environment | where, cwd=cwd or root, timeout=60
        )


def project(root: Path, *, with_git: bool = True) -> Path:
    (root / "pkg").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
    (root / "app.py").write_text(CODE)
    (root / "use.py").write_text(USE)
    if with_git:
        git(root, "init", "-q")
        commit(root)
    return root


def git(folder: Path, *arguments: str) -> str:
    settings = [
        word for name in ("user.name=u", "user.email=u@u", "protocol.file.allow=always") for word in ("-c", name)
    ]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True).stdout.decode()


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "all")


def changed(stranger: Machine, root: Path) -> None:
    """Make two changes, one of them recorded, so that there is a history."""
    for old, new in (("1", "2"), ("2", "3")):
        stranger.run(root, "edit", Context(reload="off"), target="app.send", old=f"return {old}", new=f"return {new}")
        if old == "1":
            assert stranger.run(root, "history").found


def crashed(stranger: Machine, root: Path) -> None:
    """Kill a process in the middle of a change of two files, so that there is a journal that says so."""
    mark, changes = stranger.folder / "stopped", stranger.folder / "changes.json"
    edits = [{"do": "edit", "target": "app.send", "old": "return", "new": "return 4 +"}]
    edits.append({"do": "edit", "target": "use", "old": "send()", "new": "send()  # again"})
    changes.write_text(json.dumps({"message": "both", "requests": edits}))
    words = ["apply", str(changes), "--reload", "off", "--root", str(root)]
    line = [sys.executable, "-m", "tests.stopping", str(mark), "0", *words]
    repository = Path(__file__).parents[2]
    with subprocess.Popen(line, env=stranger.environment, stderr=subprocess.DEVNULL, cwd=repository) as process:
        while not mark.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    mark.unlink()


def to_local(stranger: Machine, root: Path) -> None:
    """Move the state of changes from the git folder into the project, where it can be tracked."""
    base = stranger.folders(root).base
    local = root / ".bae-source"
    if base != local:
        shutil.rmtree(local, ignore_errors=True)
        base.rename(local)


def picture(folder: Path, *, leaving: Callable[[str], bool] = lambda name: False) -> dict[str, str]:
    """What lies below a folder, by name: kind, mode and digest of each."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if leaving(name):
            continue
        status = path.lstat()
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        kind = stat.filemode(status.st_mode)
        found[name] = f"{kind} {hashlib.sha256(content).hexdigest()[:16] if kind[0] != 'd' else ''}"
    return found
