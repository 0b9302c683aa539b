"""What a newcomer's first commands rest on: README, `.ci/run` and the packaging agree."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = ROOT / ".ci" / "run"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize(("name", "ending"), [("demo", "-m bae_source demo"), ("test", "-m pytest")])
def test_the_readme_has_one_marked_command_that_makes_its_own_environment(name: str, ending: str) -> None:
    found = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.+)\n```$", README, re.MULTILINE)
    assert len(found) == 1
    assert found[0].startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert found[0].endswith(ending)


def test_ci_runs_the_readmes_test_command_and_has_none_of_its_own(tmp_path: Path) -> None:
    # A copy of the script beside a README whose command leaves a trace, then fails.
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_bytes(CI.read_bytes())
    (tmp_path / "README.md").write_text("<!-- command: test -->\n```sh\ntouch trace && false\n```\n", encoding="utf-8")
    done = subprocess.run(["bash", str(tmp_path / ".ci" / "run")], cwd="/", capture_output=True, check=False)
    assert done.returncode == 1
    assert (tmp_path / "trace").exists()
    [line] = [line for line in CI.read_text(encoding="utf-8").splitlines() if "pytest" in line]
    assert line.strip().endswith("-m another_user)"), "but for those that change user, once more in a private folder"


def test_ci_refuses_a_readme_without_the_command(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_bytes(CI.read_bytes())
    (tmp_path / "README.md").write_text("Nothing here.\n", encoding="utf-8")
    done = subprocess.run(["bash", str(tmp_path / ".ci" / "run")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "README.md has no block marked <!-- command: test -->\n")


def test_ci_can_be_executed() -> None:
    assert os.access(CI, os.X_OK)


def test_every_extra_of_the_design_is_declared() -> None:
    assert set(PROJECT["optional-dependencies"]) == {"mcp", "lsp", "shell", "web", "deps", "test", "dev"}
    assert PROJECT["scripts"] == {"bae-source": "bae_source.__main__:start"}


def test_fixtures_are_kept_from_every_tool_that_rewrites() -> None:
    assert "fixtures/** -text" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    assert "fixtures" in ruff["extend-exclude"]
