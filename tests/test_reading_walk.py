"""The way through httpx, flask and django in docs/reading.md, as it is printed there, through the real command line."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import corpus

pytestmark = pytest.mark.sampled

HOUSE = Path(__file__).resolve().parent.parent
PAGE = (HOUSE / "docs/reading.md").read_text(encoding="utf-8")
SECTION = re.search(r"\n## Find your way\n(.*?)\n## ", PAGE, re.DOTALL)
assert SECTION
BLOCKS = re.findall(r"of (httpx|flask|django):\n\n```console\n(.*?)```", SECTION[1], re.DOTALL)
WALK = [(name, line[2:]) for name, block in BLOCKS for line in block.splitlines()]


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for release in corpus.RELEASES:
        if release.name in dict(BLOCKS):
            found[release.name] = tmp_path_factory.mktemp("walk") / release.name
            shutil.copytree(corpus.fetch(release), found[release.name], symlinks=True, ignore=_translations)
    return found


def _translations(folder: str, names: list[str]) -> set[str]:
    """Folders without code, of which django has thousands."""
    return {name for name in names if name == "locale" and Path(folder).name != "i18n"}


def test_the_walk_goes_through_three_projects() -> None:
    assert {name for name, _ in WALK} == {"httpx", "flask", "django"}
    assert len(WALK) > 25


@pytest.mark.parametrize(("project", "command"), WALK, ids=lambda text: text[:60])
def test_each_step_finds_something(projects: dict[str, Path], project: str, command: str) -> None:
    words = shlex.split(command, comments=True)
    assert words[0] == "bae-source"
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", *words[1:]],
        cwd=projects[project],
        env={**os.environ, "PYTHONPATH": str(HOUSE)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
    assert not done.stdout.startswith("(")
    assert str(projects[project]) not in done.stdout
