"""A project with packages in packages, a session on it that the tests of a file share, and one in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bae_source import Session
from bae_source.adapters.session.events import CallEvent
from bae_source.adapters.session.namespace import Namespace
from bae_source.engine.service import Service

FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": '"""An application."""\n',
    "app/client.py": '"""A client."""\n\n\nclass Client:\n    """Talks."""\n\n'
    "    def send(self, text: str) -> str:\n        return text\n\n\nlimit = 3\n",
    "app/other.py": "import app.client\n\nvalue = 1\n",
    "app/net/__init__.py": '"""The network."""\n',
    "app/net/wire.py": '"""Wires."""\n\n\ndef pull() -> int:\n    return 1\n',
    "limit.py": "top = 1\n",
    "read.py": '"""A module that is called like a tool."""\n',
}


def built(root: Path) -> Path:
    """Write the project below a folder, and return its root."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def contents(root: Path) -> dict[str, str]:
    """Return what the project's own files hold."""
    return {name: (root / name).read_text() for name in FILES}


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def gone(process: int) -> bool:
    """Say whether a process ends within some seconds."""
    until = time.monotonic() + 10
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_running(process)


CHANGING = "source.edit('app.client.limit', 'limit = 9', reload='off', verify=['command sh verify'])"
"""A block that changes the project, for which the script `verify` of `in_a_change` runs for half a minute first."""


def built_to_change(root: Path) -> Path:
    """Write the project below a folder, with what `CHANGING` needs, and return its root."""
    (root / "verify").write_text(f"echo $$ > {root}/new; mv {root}/new {root}/begun; exec sleep 30\n")
    return built(root)


def in_a_change(root: Path, begun: Path) -> int:
    """Wait until the change of `CHANGING` is judged, and return the process that judges it; nothing is written."""
    until = time.monotonic() + 30
    while not begun.exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert not contents(root)["app/client.py"].endswith("limit = 9\n")
    return int(begun.read_text())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's folder; the tests of a file leave it as it is."""
    return built(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[Session]:
    """A session that the tests of a file share: each of them begins at home, with what names it likes."""
    with Session(root, who="tester", seconds=20) as opened:
        yield opened


@dataclass
class Here:
    """A namespace in this process, and the events that it told."""

    namespace: Namespace
    events: list[CallEvent] = field(default_factory=list)

    @property
    def names(self) -> Any:
        return self.namespace.names

    @property
    def lines(self) -> list[str]:
        """The events since this was asked last, as lines."""
        found = [event.line for event in self.events]
        self.events.clear()
        return found


@pytest.fixture
def here(root: Path) -> Here:
    """A namespace in this process, at home."""
    events: list[CallEvent] = []
    return Here(
        Namespace(Service(root, environment={**os.environ, "BAE_SOURCE_TELEMETRY": "0"}), events.append), events
    )
