"""What standards say of [project], [build-system] and [dependency-groups], before and after a change."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.resources.config.meaning import problems
from tests.resources.config.support import SETTINGS, called, made, refused

HEAD = '[project]\nname = "a"\nversion = "1"\n'
WRONG = {
    "project = 1": "project is an integer, and has to be a table",
    '[project]\nname = "a b"\nversion = "1"': "project.name is no name of a distribution: 'a b'",
    '[project]\nname = "a"\nversion = "one"': "project.version is no version (PEP 440): 'one'",
    '[project]\nname = "a"': "[project] has no version",
    f'{HEAD}dynamic = ["version"]': "project.version is there, and dynamic as well",
    f'{HEAD}dynamic = ["name"]': "an item of project.dynamic is no key that may be dynamic: 'name'",
    f'{HEAD}requires-python = "three"': "project.requires-python is no set of version specifiers: 'three'",
    f'{HEAD}dependencies = ["a =="]': "an item of project.dependencies is no requirement (PEP 508): 'a =='",
    f"{HEAD}dependencies = [1]": "an item of project.dependencies is an integer, and has to be a string",
    f'{HEAD}dependencies = "a"': "project.dependencies is a string, and has to be an array",
    f'{HEAD}optional-dependencies = ["a"]': "project.optional-dependencies is an array, and has to be a table",
    f'{HEAD}optional-dependencies."-x" = []': "project.optional-dependencies.-x is no name that can be normalised",
    f'{HEAD}license = "nonsense"': "project.license is no SPDX license expression (PEP 639): 'nonsense'",
    f'{HEAD}license = {{file = "a", text = "b"}}': "project.license needs either file or text",
    f'{HEAD}license-files = ["../LICENSE"]': "an item of project.license-files leads out of the project: '../LICENSE'",
    f"{HEAD}readme = {{path = 1}}": "project.readme is a table with something else than content-type, file, text as "
    "strings",
    f'{HEAD}authors = ["me"]': "an item of project.authors is no table of name and email",
    f"{HEAD}urls = {{a = 1}}": "project.urls.a is an integer, and has to be a string",
    f'{HEAD}entry-points.console_scripts.a = "b"': "project.entry-points.console_scripts belongs into project.scripts",
    f"{HEAD}dependancies = []": "project.dependancies is no key that the standard knows (did you mean dependencies?)",
    "[build-system]": "[build-system] has no requires",
    '[build-system]\nrequires = ["==1"]': "an item of build-system.requires is no requirement (PEP 508): '==1'",
    '[build-system]\nrequires = []\nbuild-backend = "a b"': "build-system.build-backend is no name of a backend, as "
    "module or module:object: 'a b'",
    '[build-system]\nrequires = []\nbackend-path = ["a/../../b"]': "an item of build-system.backend-path leads out of "
    "the project: 'a/../../b'",
    '[dependency-groups]\na = [{include-group = "b"}]': "dependency-groups.a includes the group b, which is not there",
    '[dependency-groups]\na = [{include-group = "B"}]\nb = [{include-group = "a"}]': "groups include each other in a "
    "circle: a, b",
    "[dependency-groups]\na-b = []\na_b = []": "the groups a-b and a_b have one name to installers",
    "[dependency-groups]\na = [{x = 1}]": "a table in dependency-groups.a has something else than include-group with a "
    "group's name",
    '[dependency-groups]\na = ["="]': "an item of dependency-groups.a is no requirement (PEP 508): '='",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_reported(text: str) -> None:
    assert [each.text for each in problems(tomllib.loads(text))] == [WRONG[text]]


def test_what_is_right_says_nothing() -> None:
    text = f"""{HEAD}readme = {{ file = "README.md", content-type = "text/markdown" }}
license = "MIT OR Apache-2.0"
license-files = ["LICENSE*", "docs/**/COPYING"]
requires-python = ">=3.9, !=3.9.1"
authors = [{{ name = "A" }}, {{ email = "a@example.org" }}]
dependencies = ["a[b] >= 1 ; python_version < '3.12'", "c @ https://example.org/c.zip"]
dynamic = ["description"]
[project.scripts]
run = "a:main"
other = "a.b : C.main [extra]"
[project.entry-points."a.plugins"]
b = "a.b"
[build-system]
requires = []
build-backend = "backend.inner:object"
backend-path = ["_build", "."]
[dependency-groups]
test = ["pytest", {{ include-group = "Base_One" }}]
base-one = []
"""
    assert problems(tomllib.loads(text)) == []


@pytest.mark.parametrize(
    ("verb", "placed"),
    [
        ("config_set", ("project.version", "one")),
        ("config_set", ("project.name", "-")),
        ("config_set", ("project.dynamic", ["version"])),
        ("config_set", ("project.scripts.run", "not an entry")),
        ("config_set", ("project.gui-scripts", {"run": "app"})),
        ("config_set", ('project.entry-points."app.plugins".a', "app:")),
        ("config_set", ("project.requires-python", "three")),
        ("config_add", ("project.dependencies", "a ==")),
        ("config_add", ("build-system.requires", "a b")),
        ("config_set", ("build-system.backend-path", ["../x"])),
        ("config_add", ("dependency-groups.test", {"include-group": "all"})),
        ("config_add", ("dependency-groups.test", {"include-group": "none"})),
        ("config_remove", ("dependency-groups.test",)),
        ("config_rename", ("dependency-groups.test", "tests")),
        ("config_rename", ("project.optional-dependencies.dev", "-")),
    ],
)
def test_a_change_that_makes_it_wrong_is_refused(tmp_path: Path, verb: str, placed: tuple[object, ...]) -> None:
    error = refused(made(tmp_path / "project"), verb, *placed)
    assert error.code == "unsafe_change"
    assert error.message.startswith("With this change ")
    assert error.message.endswith("Nothing was changed.")


def test_what_was_wrong_before_is_a_warning_and_no_reason_to_refuse(tmp_path: Path) -> None:
    root = made(tmp_path / "project", SETTINGS.replace('"httpx>=0.27"', '"httpx=>0.27"'))
    source = Source(root)
    [notice] = source.config_set("project.version", "1.1").warnings
    assert notice.code == "settings_invalid"
    assert "no requirement (PEP 508): 'httpx=>0.27'" in notice.message
    assert "'httpx=>0.27'" in source.config_read().outcome.warnings[0].message
    source.config_add("project.dependencies", "rich")  # which moves no blame
    assert source.config_remove("project.dependencies[0]").warnings == ()


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (("remove", "project.name"), "[project] has no name"),
        (("remove", "project.version"), "[project] has no version"),
        (("set", "project.dependancies", "[]"), "did you mean dependencies?"),
    ],
)
def test_what_is_missing_or_unknown_is_warned_of_as_help_says(
    tmp_path: Path, words: tuple[str, ...], warned: str
) -> None:
    root = made(tmp_path / "project")
    answer = called(root, "config", *words)
    assert answer.status == 0
    assert "warning[settings_incomplete]" in answer.err_text
    assert warned in answer.err_text
    help_text = " ".join(called(root, "config", "set", "--help").out.decode().split())
    assert (
        "of a key that they require and that is missing, and of one that they do not know, there is a warning"
        in help_text
    )


def test_a_key_that_is_still_missing_is_reported_and_may_come_later(tmp_path: Path) -> None:
    root = made(tmp_path / "project", "")
    [notice] = Source(root).config_set("project.name", "demo").warnings
    assert (notice.code, "[project] has no version" in notice.message) == ("settings_incomplete", True)
    assert Source(root).config_set("project.version", "1").warnings == ()
