"""A small project on disk for the command line to work on."""

from __future__ import annotations

from pathlib import Path

import pytest

CLIENT = b'''\
"""A client."""


class Client:
    """Talks."""

    def send(self, text: str) -> str:
        """Send."""
        return text

    def stop(self) -> None:
        pass
'''
WINDOWS = b'"""From Windows."""\r\n\r\n\r\ndef greet() -> str:\r\n    return "gr\xc3\xbc\xc3\x9f"\r\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project `app` with modules `client` and `windows`; the folder is its root."""
    root = tmp_path / "project"
    package = root / "app"
    package.mkdir(parents=True)
    (root / "pyproject.toml").write_bytes(b'[project]\nname = "app"\nversion = "1"\n')
    (package / "__init__.py").write_bytes(b"")
    (package / "client.py").write_bytes(CLIENT)
    (package / "windows.py").write_bytes(WINDOWS)
    return root
