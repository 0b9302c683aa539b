"""The project that the requests are made on: small, with one of everything that can go wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

FILES: dict[str, bytes] = {
    "pyproject.toml": b'[project]\nname = "app"\nversion = "1"\n\n[tool.bae-source]\nverify-seconds = 2\n',
    "app/__init__.py": b'"""The app."""\n\nfrom app.client import Client\n\n__all__ = ["Client"]\n',
    "app/client.py": b'''"""A client."""

import json


class Base:
    """Sends."""

    def send(self, text: str) -> str:
        """Send a text."""
        return text

    def stop(self) -> None:
        pass


class Client(Base):
    """Talks."""

    timeout = 5

    def send(self, text: str) -> str:
        return json.dumps(encoded(text))

    @property
    def name(self) -> str:
        return "client"

    @name.setter
    def name(self, value: str) -> None:
        self._name = value


def encoded(text: str) -> str:
    """Encode a text."""
    return text.upper()


def unused() -> None:
    """Nobody calls this."""
''',
    "app/use.py": b'''"""Uses."""

from app.client import Client, encoded


def go():
    Client().send("x")
    return encoded("y")
''',
    "app/greek.py": '''"""Ελληνικά."""


def χαῖρε(κόσμε="🌍"):
    """Grüße – „Welt“."""
    return κόσμε
'''.encode(),
    "app/latin.py": b'# -*- coding: latin-1 -*-\n"""Caf\xe9."""\n\nNAME = "caf\xe9"\n',
    "app/windows.py": b'"""From Windows."""\r\n\r\n\r\ndef greet():\r\n    return "hi"\r\n',
    "app/broken.py": b"def f(:\n    pass\n",
    "app/garbage.py": b'"""\xff\xfe"""\nx = 1\n',
    "app/twice.py": b"def f():\n    return 1\n\n\nX = 0\n\n\ndef f():\n    return 2\n",
    "app/long.py": b"".join(b'def f%d():\n    """Number %d."""\n    return %d\n\n\n' % (n, n, n) for n in range(400)),
    "app/cycle_a.py": b"A = 1\n",
    "app/cycle_b.py": b"from app.cycle_a import A\n\nB = A\n",
    "app/templates/page.html": b"<p>Hello</p>\n",
    "app/binary.bin": bytes(range(256)),
    "app/lossy.py": b'# coding: utf-7\nX = "+AGE-"\n',
}


def build(root: Path) -> None:
    """Write the project, and have git know it."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "app/linked.py").symlink_to(outside / "x.py")
    (outside / "x.py").write_text("X = 1\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
