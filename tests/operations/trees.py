"""Projects on the disk as pictures: every file, link and folder below a root, with its mode."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome

Picture = dict[str, tuple[int, bytes | str | None]]
PACKAGE: Mapping[str, str | bytes] = {
    "app/__init__.py": "from .core import f\n",
    "app/core.py": "def f():\n    return 1\n",
    "app/base.py": "x = 1\n",
    "app/sub/__init__.py": "",
    "app/sub/mod.py": "y = 1\n",
    "app/sub/page.html": "<p>one</p>\r\n<p>two</p>\r\n",
    "app/sub/data/logo.png": b"\x89PNG\r\n\0\0\1",
}


def laid(root: Path, files: Mapping[str, str | bytes] = PACKAGE) -> Source:
    """Lay out a project and open it."""
    return Source(put(root, files))


def put(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Lay out a project, and return its root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def picture(root: Path) -> Picture:
    """Return what is below a root, without git's and our own state."""
    found: Picture = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.partition("/")[0] in (".git", ".bae-source"):
            continue
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[name] = (stat.S_IMODE(path.lstat().st_mode), content)
    return found


def files(root: Path) -> set[str]:
    """Return the paths of the files below a root."""
    return {name for name, (_, content) in picture(root).items() if content is not None}


def refused(source: Source, call: Callable[[], Outcome], code: str) -> ResourceError:
    """Return the error of a call that is refused; nothing has changed, and it says what to do next."""
    before = picture(source.root)
    with pytest.raises(ResourceError) as caught:
        call()
    assert picture(source.root) == before
    assert (caught.value.code, bool(caught.value.hints or caught.value.candidates)) == (code, True), caught.value
    return caught.value


def codes(outcome: Outcome) -> list[str]:
    """Return the codes of what an outcome warns of."""
    return [notice.code for notice in outcome.warnings]


def message_of(outcome: Outcome, code: str) -> str:
    """Return what an outcome says under one code."""
    [message] = [notice.message for notice in outcome.warnings if notice.code == code]
    return message


def patched(root: Path, diff: str, *flags: str) -> None:
    """Have git apply a diff to the files below a root."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    patch = diff.encode("utf-8", "surrogateescape")
    command = ["git", "apply", "--whitespace=nowarn", *flags, "-"]
    done = subprocess.run(command, input=patch, cwd=root, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
