"""Files and settings that other programs run or go by: they wait wherever a policy has rules, and there alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import OPEN, PYPROJECT, Answer, Case, Place, check

RULES = 'change.deny = ["app.secrets"]'
FILES = (
    "conftest.py", "tests/conftest.py", "app/CONFTEST.py", "evil.pth", "sitecustomize.py", "app/usercustomize.py",
    "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "noxfile.py", ".github/workflows/new.yml", ".CircleCI/x.yml",
    ".gitlab-ci.yml", "Jenkinsfile", ".circleci/config.yml", ".pre-commit-config.yaml", ".husky/pre-commit",
    ".githooks/x", "lefthook.yml", ".gitattributes", ".gitmodules", ".mcp.json", ".claude/settings.json", "CLAUDE.md",
    "AGENTS.md", ".vscode/tasks.json", ".envrc", ".env", "Makefile", "justfile", "Dockerfile", "requirements.txt",
    "uv.lock", "uv.toml", "docs/conf.py", ".git\u200bhub/workflows/x.yml", "conf\u00adtest.py", ".mcp.json.",
)  # fmt: skip
SETTINGS = (
    '[build-system]\nrequires = ["x"]', "[tool.uv]\nindex-url = 'http://x'",
    '[tool.pytest.ini_options]\naddopts = "-p x"',
    '[tool.hatch.build.hooks.custom]\npath = "x.py"', "[tool.setuptools]\npackages = []", "[tool.poe.tasks]\nx = 'id'",
    '[project.entry-points.x]\ny = "app:z"', '[tool.mypy]\nplugins = ["x"]', '[tool.coverage.run]\nplugins = ["x"]',
    '["tool"."uv"]\nindex-url = "http://x"', "tool.'pytest'.ini_options.addopts = '-p x'",
)  # fmt: skip


def writes(path: str, content: str = "x = 1\n") -> Callable[[Place], Answer]:
    """Return the writing of a file, by a patch, which takes all names."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n+{content.rstrip()}\n*** End Patch\n"
    return lambda place: place.call("apply", "--patch", "-", "--reload", "off", given=patch)


def adds(setting: str) -> Callable[[Place], Answer]:
    """Return the adding of settings to pyproject.toml."""

    def add(place: Place) -> Answer:
        is_table = setting.startswith("[")
        text = f"{PYPROJECT}\n{setting}\n" if is_table else f"{setting}\n{PYPROJECT}"
        text += (place.root / "pyproject.toml").read_text().removeprefix(PYPROJECT)
        return place.call("write", ":pyproject.toml", "--overwrite", "--source", "-", given=text)

    return add


@pytest.mark.parametrize("path", [each for each in FILES if each != "conftest.py"])
def test_a_file_waits_under_rules_that_say_nothing_of_it(path: str, laid: Laid) -> None:
    check(Case(name=path, do=writes(path), code="pending"), laid(RULES))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_waits_likewise(setting: str, laid: Laid) -> None:
    check(Case(name=setting, do=adds(setting), code="pending"), laid(RULES))


@pytest.mark.parametrize(
    "path", ["tests/conftest.py", ".github/workflows/new.yml", "evil.pth", ".mcp.json", "Makefile"]
)
def test_both_are_ordinary_where_no_policy_has_rules(path: str, laid: Laid) -> None:
    assert writes(path)(laid(OPEN)).code == "applied"


@pytest.mark.parametrize("setting", [SETTINGS[0], SETTINGS[2]])
def test_so_are_settings(setting: str, laid: Laid) -> None:
    assert adds(setting)(laid(OPEN)).code == "applied"


def test_what_is_allowed_by_name_waits_all_the_same(laid: Laid) -> None:
    place = laid('preset = "review"\nchange.allow = ["tests *", ":**", "**"]')
    check(Case(name="allowed", do=writes("tests/conftest.py"), code="pending"), place)
    assert writes("tests/test_new.py")(place).code == "applied"


@pytest.mark.parametrize("way", ["edit", "delete", "move", "link"])
def test_a_file_that_is_there_waits_whatever_is_done_to_it(way: str, laid: Laid) -> None:
    ways: dict[str, tuple[str, ...]] = {
        "edit": ("edit", ":.github/workflows/ci.yml", "--old", "push", "--new", "pull"),
        "delete": ("delete", ":.github/workflows/ci.yml"),
        "move": ("move", ":.github/workflows/ci.yml", ":docs/ci.yml"),
        "link": ("edit", ":docs/l.yml", "--old", "push", "--new", "pull"),
    }

    def before(place: Place) -> None:
        (place.root / "docs/l.yml").symlink_to("../.github/workflows/ci.yml")

    check(Case(name=way, do=lambda place: place.call(*ways[way]), code="pending", before=before), laid(RULES))
