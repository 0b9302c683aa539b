"""The unified diff of any change is one that the real `git apply` takes, byte for byte."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from bae_source.history.record.diff import unified_diff
from bae_source.model.changeset import ChangeSet, Edit, FileChange, between, digest, file_change

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
    gone = FileChange(path=path, before=digest(content), after=None, edits=(Edit(0, content, b""),))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert _applied(tmp_path / "one", created, None) == content
    assert _applied(tmp_path / "two", gone, content) is None


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.py", "b.py"),
        ("d/e.py", "d/f/g.py"),
        ("a.py", "a/b.py"),
        ("sp ace.py", "é/q\"uote 'x.py"),
        ("tab\tx.py", "back\\slash.py"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"x\n", b"a\r\nb\xff", b"\0\1\2"])
@pytest.mark.parametrize("edited", [False, True], ids=["whole", "edited"])
def test_git_takes_a_move_for_one_with_its_mode(
    tmp_path: Path, old: str, new: str, content: bytes, edited: bool
) -> None:
    after = content + b"end\n" if edited else content
    changes = between({old: content, new: None}, {old: None, new: after}, {new: old})
    patch = unified_diff(changes, {old: content})
    assert ("similarity index 100%" in patch) is not edited
    assert patch.count("diff --git") == 1
    (tmp_path / old).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / old).write_bytes(content)
    (tmp_path / old).chmod(0o755)
    _git_apply(tmp_path, patch)
    assert (tmp_path / new).read_bytes() == after
    assert (tmp_path / new).stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / old).is_file()
    back = between({old: None, new: after}, {old: content, new: None}, {old: new})
    _git_apply(tmp_path, unified_diff(back, {new: after}))
    assert (tmp_path / old).read_bytes() == content


def test_a_second_file_from_the_same_place_is_created(tmp_path: Path) -> None:
    changes = between({"a": b"1\n", "b": None, "c": None}, {"a": None, "b": b"1\n", "c": b"1\n"}, {"b": "a", "c": "a"})
    (tmp_path / "a").write_bytes(b"1\n")
    _git_apply(tmp_path, unified_diff(changes, {"a": b"1\n"}))
    assert [(tmp_path / name).read_bytes() for name in "bc"] == [b"1\n", b"1\n"]


@pytest.mark.parametrize("seed", range(20))
def test_git_applies_binary_patches_there_and_back(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    before, after = (choose.randbytes(choose.choice([0, 1, 51, 52, 53, 5_000])) + b"\0" for _ in range(2))
    contents = {"x.bin": before, "new.bin": None, "old.bin": before}
    changes = between(contents, {"x.bin": after, "new.bin": after, "old.bin": None})
    for name in ("x.bin", "old.bin"):
        (tmp_path / name).write_bytes(before)
    patch = unified_diff(changes, {"x.bin": before, "old.bin": before})
    assert patch.isascii()
    _git_apply(tmp_path, patch)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.bin")} == {"x.bin": after, "new.bin": after}
    _git_apply(tmp_path, patch, "--reverse")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.bin")} == {"x.bin": before, "old.bin": before}


def test_of_a_very_large_binary_file_only_that_it_differs_is_shown() -> None:
    large = bytes(9_000_000)
    patch = unified_diff(between({"x": large}, {"x": None}), {"x": large})
    assert patch == "diff --git a/x b/x\ndeleted file mode 100644\nBinary files a/x and /dev/null differ\n"


ROWS = b"".join(b"def f%d(a):\n    return a\n\n\n" % number for number in range(8_000))


def test_edits_far_apart_in_a_large_file_are_compared_each_by_itself(tmp_path: Path) -> None:
    edits = [Edit(0, b"", b"import re\n"), Edit(ROWS.index(b"f7990"), b"f7990", b"g")]
    edits += [Edit(ROWS.index(b"a", edits[1].end), b"a", b"b")]
    change = file_change("a.py", ROWS, edits)
    begun = time.process_time()
    patch = unified_diff(ChangeSet((change,)), {"a.py": ROWS})
    assert time.process_time() - begun < 3  # 30 with everything between them
    assert _changed(patch) == [
        "+import re",
        "-def f7990(a):",
        "+def g(b):",
    ]
    assert _applied(tmp_path, change, ROWS) == change.apply(ROWS)


def test_edits_far_apart_among_lines_that_are_all_alike_show_alone(tmp_path: Path) -> None:
    before = b"    (1, 2),\n" * 20_000
    change = file_change("a.py", before, [Edit(0, b"", b"TABLE = [\n"), Edit(len(before) - 4, b"2", b"3")])
    patch = unified_diff(ChangeSet((change,)), {"a.py": before})
    assert _changed(patch) == [
        "+TABLE = [",
        "-    (1, 2),",
        "+    (1, 3),",
    ]
    assert _applied(tmp_path, change, before) == change.apply(before)


def test_changes_far_apart_that_are_one_edit_take_no_square_time(tmp_path: Path) -> None:
    after = b"import re\n" + ROWS.replace(b"f7990(a)", b"g(b)").replace(b"def f4000(a):\n    return a\n", b"")
    changes = between({"a.py": ROWS}, {"a.py": after})
    begun = time.process_time()
    patch = unified_diff(changes, {"a.py": ROWS})
    assert time.process_time() - begun < 3
    assert len(_changed(patch)) == 5
    assert _applied(tmp_path, changes.files[0], ROWS) == after


def _changed(patch: str) -> list[str]:
    return [line for line in patch.splitlines()[3:] if line[0] in "+-"]


def _git_apply(folder: Path, patch: str, *flags: str) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    command = ["git", "apply", "--whitespace=nowarn", *flags, "-"]
    done = subprocess.run(command, input=patch.encode("utf-8", "surrogateescape"), cwd=folder, capture_output=True)
    assert done.returncode == 0, (done.stderr, patch)
