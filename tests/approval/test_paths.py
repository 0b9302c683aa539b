"""Paths that no change may have, and paths that other programs go by, in all their spellings."""

from __future__ import annotations

import pytest

from bae_source.engine.approving.touching.paths import is_called, is_requirements, why_never, why_waits

NEVER = [
    ".git", ".git/config", "a/b/.git/hooks/x", ".GIT/x", ".giT", ".git./x", ".git. . /x", ".git ",
    ".git::$INDEX_ALLOCATION/x", ".git:x", "git~1", "GIT~2/config", ".g\u200cit/x", "\ufeff.git/x", ".\u2064git",
    ".gi\u00adt/x", "\uff0egit/x", ".\uff27\uff29\uff34/x", "a\\.git\\x", ".gi\ufe0ft/x", ".\u202egit/x",
    ".bae-source", "a/.bae-source/lock", ".BAE-Source/x", ".bae\u200b-source/x", "BAE-SO~1/x", ".bae-source. /x",
    ".\u1d4dit/x",
]  # fmt: skip
NOT_NEVER = [
    ".gitignore", "git/x", ".github/x", "a.git/x", ".git-hooks/x", "git~x", "x/.gitx/y", "bae-source/x",
    ".bae-sources", "bae_source/x.py", "digit~1", ".g-it/x", "docs/.git_/x",
]  # fmt: skip
WAITS = [
    "conftest.py", "a/b/ConfTest.PY", "conftest.py. ", "x.pth", "a/x.PTH", "sitecustomize.py", "lib/usercustomize.py",
    ".github/x", "a/.github/workflows/x.yml", ".GitHub/x", ".gitlab-ci.yml", ".circleci/config.yml",
    "azure-pipelines.yml", "Jenkinsfile", ".travis.yml", "tox.ini", "noxfile.py", ".pre-commit-config.yaml",
    ".husky/pre-commit", ".githooks/pre-push", "lefthook.yml", ".mcp.json", ".claude/settings.json", ".claude",
    ".vscode/tasks.json", ".envrc", "Makefile", "GNUmakefile", "setup.py", "setup.cfg", "pytest.ini", ".pytest.ini",
    "hatch_build.py", "docs/conf.py", "docs/source/conf.py", "uv.lock", "requirements.txt", "requirements-dev.txt",
    "requirements/dev.txt", "Dockerfile", "docker-compose.yml", ".devcontainer/x", "CLAUDE.md", "AGENTS.md", ".env",
    ".env.local", "tasks.py", ".venv/lib/x.py", "pyvenv.cfg", "a/site-packages/b.py", "x.dist-info/RECORD",
    "con\u200bftest.py", "\uff43onftest.py", ".gitattributes", ".gitmodules", "package.json", ".idea/x",
    ".python-version",
]  # fmt: skip
NOT_WAITS = [
    "app/core.py", "README.md", "app/tasks.py", "app/conf.py", "docs/guide.md", "tests/test_conftest.py", "setup.txt",
    "app/build.py", "github/x", "conftest.pyc.txt", "makefile_notes.md", "LICENSE", "pyproject.toml", ".gitignore",
    "data/requirements.md",
]  # fmt: skip


@pytest.mark.parametrize("path", NEVER)
def test_our_state_and_gits_are_known_in_any_spelling(path: str) -> None:
    assert why_never(path)


@pytest.mark.parametrize("path", NOT_NEVER)
def test_other_names_are_not_taken_for_them(path: str) -> None:
    assert why_never(path) == ""


@pytest.mark.parametrize("path", WAITS)
def test_what_other_programs_run_waits(path: str) -> None:
    assert why_waits(path)


@pytest.mark.parametrize("path", NOT_WAITS)
def test_what_they_do_not_run_need_not(path: str) -> None:
    assert why_waits(path) == ""


def test_a_folder_of_gits_is_git_by_whatever_name() -> None:
    assert why_never("store/GIT/config", git_folder="store/git")
    assert why_never("store/gitx/config", git_folder="store/git") == ""
    assert why_never("store/config", git_folder=None) == ""


def test_a_hundred_thousand_characters_take_no_time() -> None:
    for path in ("a/" * 50_000, "\u200b" * 100_000, "." * 100_000, "requirements-" * 8_000, "a.code-workspac" * 7_000):
        assert (why_never(path), is_requirements(path), is_called(path, "pyproject.toml")) == ("", False, False)
        assert why_waits(path) == ""
    assert why_waits("docs/" + "a/" * 2_000 + "conf.py")
    assert why_never("a/" * 2_000 + ".git/config")
