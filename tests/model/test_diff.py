"""The unified diff of any change is one that the real `git apply` takes, byte for byte."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from bae_source.model.changeset import ChangeSet, FileChange, digest, file_change
from bae_source.model.diff import unified_diff
from bae_source.model.edit import Edit

PATHS = [
    "a.py",
    "sp ace.py",
    " lead.py",
    'q"uote.py',
    "back\\slash.py",
    "é.py",
    "tab\tx.py",
    "d e/f ü.py",
    "$x.py",
    "-dash.py",
    "b/a/x.py",
    "日本.py",
]
PIECES = [
    b"",
    b"a",
    b"\r",
    b"x\ry",
    b"\xff\xfe",
    b"--- a",
    b"+++ b",
    b"@@ -1 +1 @@",
    b"\\ No newline",
    b"diff --git a b",
    b"\xc3\xa9",
    b"\x0c",
    b"-- ",
]


def _applied(folder: Path, change: FileChange, before: bytes | None) -> bytes | None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    file = folder / change.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        file.write_bytes(before)
    patch = unified_diff(ChangeSet((change,)), {} if before is None else {change.path: before})
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=patch.encode("utf-8", "surrogateescape"), cwd=folder, capture_output=True)
    assert done.returncode == 0, (done.stderr, patch)
    return file.read_bytes() if file.exists() else None


@pytest.mark.parametrize("content", [b"", b"x\n", b"x", b"a\r\nb\xff\n"])
@pytest.mark.parametrize("path", PATHS)
def test_git_applies_a_creation_and_a_deletion(tmp_path: Path, path: str, content: bytes) -> None:
    created = FileChange(path=path, before=None, after=digest(content), edits=(Edit(0, b"", content),))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert _applied(tmp_path / "one", created, None) == content
    assert _applied(tmp_path / "two", created.inverted(), content) is None


@pytest.mark.parametrize("seed", range(60))
def test_git_applies_random_edits_of_random_bytes(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    lines = [choose.choice(PIECES) + choose.choice([b"\n", b"\n", b"\r\n"]) for _ in range(choose.randint(1, 40))]
    before = b"".join(lines)[: None if seed % 3 else -1]
    edits, position = [], 0
    for _ in range(choose.randint(1, 4)):
        start = choose.randint(position, len(before))
        old = before[start : start + choose.choice([0, 1, 3, 20])]
        new = b"".join(choose.choice([b"n\n", b"m", b"\r\n", b"\xff"]) for _ in range(choose.randint(1, 4)))
        edits.append(Edit(start, old, new))
        position = start + len(old) + 1
        if position > len(before):
            break
    change = file_change(choose.choice(PATHS), before, edits)
    wanted = change.apply(before)
    assert _applied(tmp_path, change, before) == wanted
    assert change.inverted().apply(wanted) == before
    assert change.inverted().inverted() == change
