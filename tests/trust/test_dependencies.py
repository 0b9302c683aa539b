"""Dependencies that change run pip or uv, and nothing of a project or a package, unless it may be built."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from tests.resources.deps.conftest import links, made_once, root
from tests.resources.deps.installable import (
    files_of,
    installed,
    packages,
    source_archive,
    versions,
    wheel,
)

pytestmark = pytest.mark.sampled

__all__ = ("links", "made_once", "root")


def refused(root: Path, *words: str, **options: object) -> ResourceError:
    before = files_of(root), installed(root)
    with pytest.raises(ResourceError) as caught:
        Source(root).deps.add(*words, **options)
    assert (files_of(root), installed(root)) == before
    return caught.value


def test_an_installer_imports_nothing_of_the_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = root.parent / "ran"
    for name in ("json.py", "pip.py", "sitecustomize.py", "runpy.py", "app/__init__.py"):
        (root / name).write_text(f"open({str(ran)!r}, 'w')\n")
    monkeypatch.setenv("PYTHONPATH", str(root))
    assert Source(root).deps.add("gamma", dry_run=True).status == "planned"
    assert Source(root).deps.add("gamma").status == "applied"
    assert versions(root)["gamma"] == "1.0"
    assert not ran.exists()


def test_nothing_is_built_unless_it_may_be(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    wheel(folder, "other", "1.0", requires=["built"])
    built = tmp_path / "built"
    source_archive(folder, "built", "1.0", marks=built)
    wheel(folder, "led", "1.0", requires=[f"built @ file://{folder}/built-1.0.tar.gz"])
    monkeypatch.setenv("PIP_FIND_LINKS", f"{os.environ['PIP_FIND_LINKS']} {folder}")
    for name in ("built", "other"):
        error = refused(root, name)
        assert "No matching distribution found for built" in error.message
        assert "build (--build) lets it be built" in error.hints[0]
    for options in ({}, {"dry_run": True}):
        assert "this needs a program to build or fetch it" in refused(root, "led", **options).message
    assert not built.exists(), "nothing was built, nor on trial what a wheel names by its address"
    assert "an address" in refused(root, "led", build=True).message
    built.unlink()
    Source(root).deps.add("other", build=True)
    assert (built.read_text(), versions(root)["built"]) == ("built", "1.0")
    assert Source(root).undo().status == "applied"
    assert Source(root).redo().status == "applied"
    assert versions(root)["built"] == "1.0", "what was allowed to be built may be built again"


def test_a_wheel_that_leads_out_of_the_environment_is_not_installed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    wheel(folder, "evil", "1.0", requires=["gamma"], files={"../../../../../../evil.txt": "out"})
    monkeypatch.setenv("PIP_FIND_LINKS", f"{os.environ['PIP_FIND_LINKS']} {folder}")
    Source(root).deps.add("alpha<2")
    error = refused(root, "evil")
    assert error.code == "resolution_failed"
    assert error.message.startswith("What was resolved cannot be installed:\n")
    assert error.message.endswith("; nothing was changed.")
    assert not (tmp_path / "evil.txt").exists()


def test_what_a_record_says_of_files_elsewhere_is_neither_kept_nor_put_back_nor_taken_out(root: Path) -> None:
    src = Source(root)
    src.deps.add("alpha<2")
    outside = root.parent / "outside.txt"
    outside.write_text("mine")
    record = packages(root) / "alpha-1.1.dist-info" / "RECORD"
    link = packages(root) / "alpha" / "led"
    link.symlink_to(root.parent)
    lines = [f"{outside},,", "../../../../../outside.txt,,", "alpha/led/outside.txt,,", "../../../../pyproject.toml,,"]
    text = record.read_text() + "\n".join([*lines, ""])
    record.unlink()  # it may be a second name of another's file
    record.write_text(text)
    with pytest.raises(ResourceError) as caught:
        src.deps.add("alpha==2.0", verify=["command false"])
    assert caught.value.code in ("verify_failed", "resolution_failed")
    assert versions(root)["alpha"] == "1.1"
    assert outside.read_text() == "mine"
    assert record.read_text() == text


def test_what_a_process_that_died_kept_is_believed_only_where_it_was_made_here(root: Path) -> None:
    kept = root / ".bae-source" / "environment" / "before"
    src = Source(root)
    src.deps.add("alpha<2")
    (kept / "files/lib").mkdir(parents=True)
    facts = {"names": ["alpha"], "kept": [], "there": [], "note": {"id": "another", "pyproject.toml": None}}
    (kept / "facts.json").write_text(json.dumps(facts))
    before = installed(root)
    assert src.deps.add("alpha<2").status == "unchanged"
    assert installed(root) == before
