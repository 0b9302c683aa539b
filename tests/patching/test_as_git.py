"""Patches that git made are applied as git applies them, byte for byte, and taken back exactly."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from bae_source import Source
from tests.patching.support import git, make, state

pytestmark = pytest.mark.sampled

_KINDS = ("insert", "delete", "replace", "double", "spaces", "blank", "end")


def _edited(rng: random.Random, content: bytes) -> bytes:
    """Return a text with some lines changed at random."""
    lines = (
        content.splitlines(keepends=True) if b"\r" not in content else content.replace(b"\r\n", b"\n\0").split(b"\0")
    )
    lines = [line.replace(b"\n", b"\r\n") if b"\r" in content else line for line in lines if line]
    newline = b"\r\n" if b"\r" in content else b"\n"
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(max(1, len(lines)))
        kind = rng.choice(_KINDS)
        if kind == "insert":
            lines[at:at] = [b"# %d%b" % (rng.randrange(9), newline)] * rng.randint(1, 3)
        elif kind == "delete" and len(lines) > 4:
            del lines[at : at + rng.randint(1, 2)]
        elif kind == "replace" and lines:
            lines[at] = b"# other%b" % newline
        elif kind == "double":
            lines[at:at] = lines[at : at + 3]
        elif kind == "spaces" and lines:
            lines[at] = lines[at].rstrip(b"\r\n") + b"  " + newline
        elif kind == "blank":
            lines[at:at] = [newline]
        elif lines:
            lines[-1] = lines[-1].rstrip(b"\r\n") + rng.choice([b"", newline])
    return b"".join(lines)


def _is_python(content: bytes) -> bool:
    try:
        compile(content, "m.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _changed(rng: random.Random, root: Path) -> None:
    """Change some files at random: their text, their names, whether they are there, whether they are programs."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix in (".py", ".md", ".txt")]
    for path in rng.sample([each for each in files if ".git" not in each.parts], 3):
        before = path.read_bytes()
        tries = (_edited(rng, before) for _ in range(9))
        found = next((each for each in tries if each and (path.suffix != ".py" or _is_python(each))), before)
        path.write_bytes(found)
        match rng.randrange(8):
            case 0 if path.name != "__init__.py":
                path.rename(path.with_name(f"other_{path.name}"))
            case 1 if path.name != "__init__.py":
                path.unlink()
            case 2:
                path.chmod(0o755)
            case 3:
                (root / "docs" / f"new {rng.randrange(9)}.md").write_bytes(rng.choice([b"", b"a\n", b"a\nb", b"a\r\n"]))
            case _:
                pass


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two trees alike: git changes one, and we the other."""
    mine = make(tmp_path_factory.mktemp("mine") / "project")
    text = "".join(f"{number}: {'x' * (number % 3)}\n" for number in range(30))
    (mine / "docs" / "crlf.txt").write_bytes(text.replace("\n", "\r\n").encode())
    (mine / "docs" / "mark.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (mine / "docs" / "latin é.txt").write_bytes("Grüße\n\nÖl\n\nGrüße\n\nEnde".encode("latin-1"))
    (mine / "app" / "latin.py").write_bytes(
        "# coding: latin-1\nA = 'Öl'\n\n\ndef f():\n    return A\n".encode("latin-1")
    )
    (mine / "app" / "more.py").write_text("\n\n".join(f"def f{n}():\n    a = {n}\n    return a\n" for n in range(9)))
    git(mine, "add", "-A")
    git(mine, "commit", "-q", "-m", "more")
    other = tmp_path_factory.mktemp("other") / "project"
    shutil.copytree(mine, other)
    return mine, other


@pytest.mark.parametrize("seed", range(24))
def test_what_git_diffs_is_applied_as_git_applies_it(trees: tuple[Path, Path], seed: int) -> None:
    mine, other = trees
    rng = random.Random(seed)
    before = state(mine)
    _changed(rng, other)
    git(other, "add", "-A")
    lines = seed % 6
    options = [
        f"-U{lines}",
        *rng.choice(([], ["-M"], ["--no-renames"], ["--full-index"], ["-C", "--find-copies-harder"])),
    ]
    if seed % 4 == 3:
        git(other, "commit", "-q", "-m", "change\n\n- a list\n+ that is none of the patch")
        patch = git(other, "format-patch", "-1", "--stdout", *options)
        git(other, "reset", "-q", "--hard", "HEAD~1")
    else:
        patch = git(other, "diff", "--cached", *options)
        git(other, "reset", "-q", "--hard")
    git(other, "clean", "-qfd")
    assert state(other) == before
    git(other, "apply", *(["--unidiff-zero"] if lines == 0 else []), "-", given=patch)
    src = Source(mine, who="patches")
    made = src.apply(patch=patch.decode("utf-8", "surrogateescape"), reload="off")
    try:
        assert made.status == "applied"
        assert state(mine) == state(other)
        assert [each.code for each in made.warnings if each.code.startswith("hunk")] == []
        again = src.apply(patch=patch.decode("utf-8", "surrogateescape"), reload="off")
        assert (again.status, state(mine)) == ("unchanged", state(other))
    finally:
        src.undo()
        git(other, "reset", "-q", "--hard")
        git(other, "clean", "-qfd")
    assert state(mine) == before


@pytest.mark.parametrize("seed", range(12))
def test_several_commits_are_applied_as_git_has_them(trees: tuple[Path, Path], seed: int) -> None:
    mine, other = trees
    rng = random.Random(seed)
    before, first = state(mine), git(other, "rev-parse", "HEAD").decode().strip()
    for number in range(rng.randint(2, 4)):
        _changed(rng, other)
        git(other, "add", "-A")
        git(other, "commit", "-q", "--allow-empty", "-m", f"change {number}")
    options = rng.choice(([], ["-M"], ["-C"], ["--no-renames"], ["-U1"]))
    patch = git(other, "format-patch", "--stdout", f"{first}..HEAD", *options)
    expected = state(other)
    git(other, "reset", "-q", "--hard", first)
    src = Source(mine, who="patches")
    made = src.apply(patch=patch.decode("utf-8", "surrogateescape"), reload="off")
    try:
        assert state(mine) == expected
        git(other, "apply", "-", given=made.diff.encode("utf-8", "surrogateescape"))
        assert state(other) == expected
    finally:
        src.undo()
        git(other, "reset", "-q", "--hard")
        git(other, "clean", "-qfd")
    assert state(mine) == before


def test_a_diff_of_ours_is_applied_by_us(trees: tuple[Path, Path]) -> None:
    mine, _ = trees
    src = Source(mine, who="patches")
    before = state(mine)
    diff = src.edit(":docs/latin é.txt", old="Ende", new="Schluß", dry_run=True, reload="off").diff
    assert src.apply(patch=diff, reload="off").status == "applied"
    assert "Schluß".encode("latin-1") in (mine / "docs" / "latin é.txt").read_bytes()
    src.undo()
    assert state(mine) == before
