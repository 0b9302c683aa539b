"""An installation of bae_source for tests to change: a copy in a folder of packages, never the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bae_source

NEIGHBOUR = '"""A package beside the engine."""\n\nSECRET = "xyzzy"\n'
HELLO = '''\
"""Say hello."""

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request
from bae_source.project.workspace import Workspace


class Hello(Request, frozen=True, kw_only=True):
    """Say hello to the project."""

    verb: ClassVar[str] = "hello"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "To try it."
    examples: ClassVar[tuple[str, ...]] = ("hello",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer."""
        return Outcome(status="answer", text="Hello from the new verb")
'''
ENTRY = '"where": "queries.where.Where",'
NEW_REQUEST = [
    {"do": "write", "target": "bae_source.queries.hello", "source": HELLO},
    {
        "do": "edit",
        "target": "bae_source.engine.registry._DECLARED",
        "old": ENTRY,
        "new": f'{ENTRY}\n    "hello": "queries.hello.Hello",',
    },
]
"""A transaction that gives the engine another request."""


class Installed:
    """An installed engine, and the user's own folder.

    Attributes:
        folder: the folder of packages.
        package: the engine's.
        project: a project of the user's.
    """

    def __init__(self, place: Path) -> None:
        self.folder = place / "lib" / "site-packages"
        self.package = self.folder / "bae_source"
        self.project = place / "project"
        self._home = place / "home"
        shutil.copytree(Path(bae_source.__file__).parent, self.package)
        for name in ("neighbour.py", "pyproject.toml"):
            (self.folder / name).write_text(NEIGHBOUR if name.endswith(".py") else "[tool.bae-source]\npython = 7\n")
        (self.project / "app").mkdir(parents=True)
        (self.project / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
        (self.project / "app" / "__init__.py").write_text("VALUE = 1\n")
        self._home.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of a process that has this engine."""
        kept = {key: each for key, each in os.environ.items() if not key.startswith(("XDG_", "BAE_SOURCE", "PYTHON"))}
        return {**kept, "HOME": str(self._home), "PYTHONPATH": str(self.folder), "BAE_SOURCE_SERVE": "off"}

    @property
    def state(self) -> Path:
        """The user's own state folder."""
        return self._home / ".local" / "state" / "bae-source"

    def python(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the user's project."""
        return subprocess.run(
            [sys.executable, "-P", *words],
            cwd=self.project,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def typed(self, *words: str, **variables: str) -> dict[str, Any]:
        """Type a command, and return its outcome."""
        done = self.python("-m", "bae_source", *words, "--json", **variables)
        assert done.stdout.count("\n") == 1, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode == 0) is not bool(found["errors"]), found
        return found

    def code(self, *words: str, **variables: str) -> str:
        """Type a command, and return the code of its error."""
        found: str = self.typed(*words, **variables)["errors"][0]["code"]
        return found

    def changed_since(self, before: dict[str, bytes]) -> set[str]:
        """Return the paths of the files that are not as they were."""
        return {path for path, _ in before.items() ^ self.files().items()}

    def files(self) -> dict[str, bytes]:
        """Return everything in the folder of packages, by path, but for what Python compiled."""
        every = (path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in every}


def notices(outcome: dict[str, Any]) -> dict[str, str]:
    """Return the messages of an outcome's notices by their codes."""
    return {each["code"]: each["message"] for each in outcome["warnings"]}
