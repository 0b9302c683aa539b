"""Unused imports taken out of real code, by the API."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.project.files.port import Disk
from bae_source.project.importing.unread import unread_imports
from bae_source.project.workspace import Workspace

pytestmark = pytest.mark.sampled

REPOSITORY = Path(__file__).parent.parent.parent
LIBRARY = Path(os.__file__).parent
PACKAGES = ("json", "email", "logging", "asyncio", "http", "xml", "concurrent", "importlib", "unittest", "html")
"""Packages of the standard library with unused imports among them, and modules that run on import."""


@pytest.fixture
def library(tmp_path: Path) -> Source:
    """A project of copies of packages of the standard library."""
    for name in PACKAGES:
        shutil.copytree(LIBRARY / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "test*"))
    return Source(tmp_path)


def flagged(root: Path) -> set[str]:
    """Return the files in which ruff reports unused imports, and those that it does not read."""
    words = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F401", "--no-cache", "--quiet"]
    done = subprocess.run(
        [*words, "--output-format", "concise", "."], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return {line.partition(":")[0] for line in done.stdout.splitlines() if ":" in line}


def test_in_files_that_ruff_calls_clean_nothing_is_found(library: Source) -> None:
    root = library.root
    seeded = random.Random(3).sample(sorted((LIBRARY).glob("*.py")), 60)
    for path in seeded:
        shutil.copy(path, root / path.name)
    workspace = Workspace(Disk(root))
    modules = [module for path in workspace.census.sources if (module := workspace.census.module(path))]
    found = {each.path for each in unread_imports(workspace, modules).imports if not each.why}
    assert found
    assert found <= flagged(root)


def test_what_is_left_imports_and_has_no_more_to_take_out(library: Source) -> None:
    outcome = library.imports_organise(reload="off")
    assert outcome.status == "applied"
    report = outcome.report
    assert report is not None
    assert sum(each["places"] for each in report["changed"]) >= 5
    modules = [each["address"] for each in report["changed"]]
    code = "import importlib, sys; [importlib.import_module(each) for each in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(library.root)!r}); {code}", *modules],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert library.imports_organise(reload="off").status == "unchanged"
    assert library.imports_organise(dry_run=True).exit_code == 0


def test_a_change_that_is_undone_gives_every_byte_back(library: Source) -> None:
    before = {path: path.read_bytes() for path in library.root.rglob("*.py")}
    outcome = library.imports_organise(reload="off")
    assert {path: path.read_bytes() for path in before} != before
    library.undo(outcome.operation_id, reload="off")
    assert {path: path.read_bytes() for path in before} == before


def test_a_dry_run_shows_the_change_and_makes_nothing(library: Source) -> None:
    before = {path: path.read_bytes() for path in library.root.rglob("*.py")}
    outcome = library.imports_organise(dry_run=True)
    assert (outcome.status, outcome.exit_code) == ("planned", 1)
    assert outcome.diff
    assert outcome.text.startswith("Dry run, nothing was changed: Took out ")
    assert {path: path.read_bytes() for path in before} == before


def test_a_doctest_is_the_reason_only_where_it_reads_the_module(tmp_path: Path) -> None:
    code = '    """\n    >>> import re\n    >>> re.sub("a", "b", json.dumps(1))\n    """\n'
    (tmp_path / "core.py").write_text(f"import json\nimport re\n\n\ndef old():\n{code}")
    report = Source(tmp_path).imports_organise(reload="off").report
    assert report is not None
    reasons = {each["line"]: each["reason"] for each in report["unsure"]}
    assert reasons == {1: "a doctest of the module reads it", 2: "code in a string of the module may read it"}
