"""The lines for an AGENTS.md: few, and each command in them does what it says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.adapters.support import call, run

NET = '''\
"""Talks."""


class Client:
    def send(self, text):
        return wait(text)


from app.util import wait  # noqa: E402

timeout = 5
'''
FILES = {
    "app/__init__.py": "",
    "app/net.py": NET,
    "app/util.py": "def wait(x):\n    return x + 1\n",
    "new.py": "def send(self, text):\n    return text\n",
    "more.py": "def more():\n    return wait(1)\n",
    "fix.diff": "--- a/app/util.py\n+++ b/app/util.py\n@@ -2,1 +2,1 @@\n-    return x + 1\n+    return x + 3\n",
    "commands.txt": "read app.util.wait\nedit app.util.wait --old 1 --new 2\n",
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
}
TEXT = call("agents").out.decode()
COMMANDS = [line.partition("  #")[0].strip() for line in TEXT.splitlines() if line.startswith("    bae-source ")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    run("edit", "app.net.timeout", "--code", "timeout = 6", "--reload", "off", folder=tmp_path)
    return tmp_path


def test_there_are_twenty_five_lines_and_none_is_too_long() -> None:
    lines = TEXT.splitlines()
    assert len(lines) == 25
    assert max(map(len, lines)) <= 120
    assert len(COMMANDS) == 17


@pytest.mark.sampled
@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_can_be_typed_as_it_stands(root: Path, line: str) -> None:
    words, _, file = line.partition(" < ")
    stdin = (root / file.strip()).read_bytes() if file else b""
    done = run(*shlex.split(words)[1:], folder=root, stdin=stdin)
    assert done.status == 0, done.err_text
    assert done.out
