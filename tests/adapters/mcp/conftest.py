"""Servers that several tests share: each is a real process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.mcp.support import Raw, make_project, raw


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that the tests of a module share."""
    return make_project(tmp_path_factory.mktemp("mcp") / "project")


@pytest.fixture(scope="module")
def server(project: Path) -> Iterator[Raw]:
    """A server over pipes that the tests of a module share; the handshake has been made,
    in a version that never was, and a request before it."""
    with raw(project) as started:
        started.early = started.ask("tools/list")
        started.handshake = started.initialize("1999-01-01")
        yield started


@pytest.fixture(scope="module")
def url(project: Path) -> Iterator[str]:
    """The address of a server over HTTP that the tests of a module share."""
    with raw(project, "--http", "0") as started:
        assert started.process.stderr is not None
        output = started.process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{43}/mcp", output)
        assert found, output
        yield found[0]
