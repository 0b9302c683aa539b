"""Patches on a file that has changed since: each is taken right or refused, and never lands elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused
from tests.patching.support import git, make, state

TEXT = "".join(
    f"def f{n}(a, b):\n    total = a + b\n    if total > {n // 2}:\n        return total\n    return b\n\n\n"
    for n in range(14)
)
SHIFTS: dict[str, Callable[[str], str]] = {
    "lines above": lambda text: "# above\n# and above\n" * 3 + text,
    "deeper": lambda text: "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True)),
    "spaces at ends": lambda text: text.replace(":\n", ":  \n"),
    "line ends": lambda text: text.replace("\n", "\r\n"),
    "lines in between": lambda text: text.replace("\n\n\ndef f7", "\n\n\n# between\n\n\ndef f7"),
    "as it was": lambda text: text,
}


def _edited(rng: random.Random) -> str:
    """Return the text with a line inserted, replaced or deleted in some functions."""
    lines = TEXT.splitlines(keepends=True)
    for number in sorted(rng.sample(range(14), rng.randint(1, 3)), reverse=True):
        at = number * 7 + rng.randint(1, 4)
        match rng.randrange(3):
            case 0:
                lines.insert(at, f"    b = b + {number}\n")
            case 1:
                lines[at] = lines[at].replace("total", "sum_").replace("return b", "return a")
            case _:
                del lines[at]
    return "".join(lines)


def _without_headers(patch: str, form: str) -> str:
    """Return a diff without what only git writes, and in one form without numbers."""
    if form == "git":
        return patch
    lines = [line for line in patch.splitlines(keepends=True) if not line.startswith(("diff ", "index "))]
    return "".join("@@ @@\n" if form == "no numbers" and line.startswith("@@ ") else line for line in lines)


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["git", "plain", "no numbers"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_a_patch_is_taken_right_or_refused(tmp_path: Path, shift: str, form: str) -> None:
    project = make(tmp_path / "project")
    file = project / "docs" / "code.txt"
    src = Source(project)
    file.write_text(TEXT)
    git(project, "add", "-A")
    taken = 0
    for seed in range(12):
        rng = random.Random(seed)
        edited = _edited(rng)
        file.write_text(edited)
        patch = _without_headers(git(project, "diff", f"-U{1 + seed % 4}").decode(), form)
        shifted = SHIFTS[shift](TEXT).encode()
        file.write_bytes(shifted)
        before = state(project)
        try:
            assert src.apply(patch=patch, reload="off").status == "applied"
        except Refused:  # as stale, which alone it is when a hunk does not fit
            assert state(project) == before
            continue
        taken += 1
        expected = SHIFTS[shift](edited)
        if shift == "spaces at ends":  # a line that the patch writes anew has none
            assert file.read_text().replace(":  \n", ":\n") == expected.replace(":  \n", ":\n")
        else:
            assert file.read_bytes() == expected.encode()
    assert taken >= (12 if shift == "as it was" and form != "no numbers" else 4)
