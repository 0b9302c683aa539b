"""`deps list`, through Python, the command line and a session, on projects with environments laid out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from bae_source import Session, Source
from bae_source.model.outcome import Outcome, to_json
from tests.adapters.mcp.test_clients import over_pipes, text_of, with_client
from tests.adapters.support import run
from tests.resources.deps.support import PACKAGES, distribution, environment, has_run, written

PYPROJECT = """\
[project]
name = "app"
version = "1"
dependencies = ["httpx>=0.27", "PyYAML>=6", "tomli; python_version < '3.11'", "lonely"]
[project.optional-dependencies]
fast = ["ujson"]
all = ["app[fast]"]
[dependency-groups]
test = ["pytest>=8", "pytest-cov", {include-group = "typing"}]
typing = ["mypy", "types-PyYAML"]
[build-system]
requires = ["hatchling"]
"""
CODE = {
    "pyproject.toml": PYPROJECT,
    "app/__init__.py": "import json\nimport httpx\nfrom . import core\n",
    "app/core.py": "import os.path\nimport yaml, idna\nfrom app import other\nfrom google.cloud.storage import Client\n"
    "try:\n    import ujson\nexcept ImportError:\n    ujson = None\n",
    "app/other.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml\n"
    "    from rich.console import (\n        Console,\n    )\ntry:\n    import orjson\nexcept ImportError:\n"
    "    orjson = None\n\n\n"
    "def f():\n    import httpx\n    import pytest\n",
    "tests/test_core.py": "import pytest\nimport helper\nfrom httpx import get\nimport idna.core\n",
    "tests/helper.py": "",
    "docs/conf.py": "import sphinx\n",
    "setup.py": "import setuptools\n",
    "uv.lock": '[[package]]\nname = "httpx"\nversion = "0.27.2"\n',
}
UNDECLARED = """\
Imports without a declared dependency:
  idna: undeclared (comes with httpx); idna gives it
    app.core:2, tests.test_core:4 (of tests)
  google.cloud.storage: undeclared; google-cloud-storage gives it
    app.core:4
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    written(environment(tmp_path), CODE)
    distribution(tmp_path, "httpx", "0.27.0", requires=("anyio", "h2; extra == 'http2'"))
    distribution(tmp_path, "anyio", "4.0", requires=("idna>=2",))
    distribution(tmp_path, "idna", "3.7", record="idna/__init__.py\nidna/core.py")
    distribution(tmp_path, "google-cloud-storage", record="google/cloud/storage/__init__.py")
    distribution(tmp_path, "google-cloud-logging", record="google/cloud/logging/__init__.py")
    distribution(tmp_path, "PyYAML", "6.0.1", record="yaml/__init__.py")
    distribution(tmp_path, "lonely", "1.0")
    distribution(tmp_path, "ujson", "5.0", record="ujson.cpython-312-x86_64-linux-gnu.so")
    distribution(tmp_path, "rich", "13.0")
    distribution(tmp_path, "pytest", "8.1")
    distribution(tmp_path, "pytest-cov", "5.0", files={"entry_points.txt": "[pytest11]\ncov = pytest_cov.plugin\n"})
    distribution(tmp_path, "mypy", "1.9", files={"entry_points.txt": "[console_scripts]\nmypy = mypy:main\n"})
    distribution(tmp_path, "types-PyYAML", "6.0", record="yaml-stubs/__init__.pyi")
    return tmp_path


def listed(root: Path, *names: str, **how: Any) -> Outcome:
    outcome = Source(root).deps_list(*names, **how).outcome
    assert not has_run(root), "the environment's Python is never started"
    assert not (root / "app.egg-info").exists()
    return outcome


def lines(root: Path, *names: str, **how: Any) -> list[str]:
    return listed(root, *names, **how).text.splitlines()


def data(outcome: Outcome, kind: str) -> list[dict[str, Any]]:
    return [each for each in json.loads(to_json(outcome))["found"] if each["kind"] == kind]


def test_each_dependency_has_a_line_by_what_it_is_for(root: Path) -> None:
    text = listed(root).text
    first, _, rest = text.partition("\n\n")
    assert first == (
        "10 dependencies are declared; all are installed. Imported, and not declared: google.cloud.storage, idna. "
        "Declared, and no import found: lonely; 5 others with a reason."
    )
    assert rest.partition("\n\nImports")[0] == (
        "Always:\n"
        "  httpx>=0.27: locked 0.27.2; installed 0.27.0; imported by 2 modules, 1 of tests\n"
        "  PyYAML>=6: installed 6.0.1; imported by 1 module, 1 for types alone\n"
        "  tomli; python_version < '3.11': not needed on this Python or system\n"
        "  lonely: installed 1.0\n\n"
        "Extra fast:\n  ujson: installed 5.0; imported by 1 module optionally\n\n"
        "Extra all:\n  app[fast]: the project itself\n\n"
        "Group test:\n  pytest>=8: installed 8.1; imported by 1 module, 1 of tests\n  pytest-cov: installed 5.0\n\n"
        "Group typing:\n  mypy: installed 1.9\n  types-PyYAML: installed 6.0\n\n"
        "For building:\n  hatchling: not installed, and needed for building alone"
    )


def test_imports_that_nothing_declared_gives_come_with_what_excuses_them(root: Path) -> None:
    text = listed(root, undeclared=True).text
    assert UNDECLARED in text
    assert text.partition("Imports by the code")[2] == (
        " of what is declared for a group of development alone:\n"
        "  pytest: declared in test; pytest gives it\n    app.other:15\n\n"
        "Imports without a declared dependency that may do without:\n"
        "  rich: for types alone, and undeclared; rich gives it\n    app.other:4\n"
        "  orjson: optional, and undeclared; nothing that is installed gives it\n    app.other:8\n"
        "  sphinx: beside code and tests, and undeclared; nothing that is installed gives it\n    docs.conf:1\n"
        "  setuptools: beside code and tests, and undeclared; nothing that is installed gives it\n    setup:1"
    )
    assert "helper" not in text, "it lies beside the test"
    assert "json" not in text.replace("orjson", ""), "the standard library is no dependency"


def test_what_no_import_was_found_of_has_the_reasons_that_may_excuse_it(root: Path) -> None:
    written(root, {"app/plugins.py": 'LOADED = ["lonely.plugin"]\n'})
    assert lines(root, unused=True)[1:] == [
        "",
        "Declared, and no import found:",
        "  tomli: not needed on this Python or system",
        "  lonely: its name stands in a string of app.plugins",
        "  pytest-cov (test): a plugin of pytest",
        "  mypy (typing): it brings a program (console script)",
        "  types-pyyaml (typing): stubs for type checkers",
        "  hatchling: it builds the project",
    ]


def test_named_ones_are_shown_with_the_modules_that_import_them(root: Path) -> None:
    assert lines(root, "HTTPX", "idna") == [
        "1 dependency is declared; all are installed. Imported, and not declared: idna.",
        "",
        "Always:",
        "  httpx>=0.27: locked 0.27.2; installed 0.27.0; imported by 2 modules, 1 of tests",
        "    app",
        "    app.other",
        "    tests.test_core (of tests)",
        "",
        *UNDECLARED.splitlines()[:3],
    ]


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("Test", {"pytest", "pytest-cov", "mypy", "types-pyyaml"}),
        ("typing", {"mypy", "types-pyyaml"}),
        ("fast", {"ujson"}),
        ("build", {"hatchling"}),
        ("always", {"httpx", "pyyaml", "tomli", "lonely"}),
    ],
)
def test_a_group_is_shown_with_those_that_it_includes(root: Path, group: str, names: set[str]) -> None:
    assert {each["name"] for each in data(listed(root, group=group), "dependency")} == names


def test_a_part_without_a_dependency_is_no_error_and_what_is_not_understood_is_counted(root: Path) -> None:
    text = PYPROJECT.replace("[dependency-groups]", "[dependency-groups]\nnone = []").replace('"mypy"', '"mypy =="')
    written(root, {"pyproject.toml": text.replace('dependencies = ["httpx', 'other = ["httpx')})
    for group in ("always", "none"):
        answer = run("deps", "list", "--group", group, folder=root)
        assert (answer.status, answer.out.decode()) == (0, f"No dependency is declared in {group}.\n")
        assert "incomplete: This is not all there is: the warnings below say why.\n" in answer.err_text
        assert "1 declaration could not be understood; deps list shows them." in answer.err_text
    answer = run("deps", "list", "--group", "nope", folder=root)
    assert answer.status == 3
    assert "could not be understood" not in run("deps", "list", folder=root).err_text


def test_the_data_have_places_importers_and_statuses(root: Path) -> None:
    outcome = listed(root)
    httpx, yaml, *_ = data(outcome, "dependency")
    assert httpx["name"] == "httpx"
    assert (httpx["table"], httpx["key"], httpx["index"], httpx["line"]) == (["project"], "dependencies", 0, 4)
    assert (httpx["locked"], httpx["installed"]) == (["0.27.2"], "0.27.0")
    assert httpx["importers"] == {"code": ["app", "app.other"], "tests": ["tests.test_core"]}
    assert yaml["importers"] == {"code": ["app.core"], "types": ["app.other"]}
    imports = {(each["imported"], each["module"], each["line"]): each for each in data(outcome, "import")}
    idna = imports["idna", "app.core", 2]
    assert (idna["status"], idna["distributions"], idna["comes_with"]) == ("undeclared", ["idna"], ["httpx"])
    assert {each["imported"]: each["status"] for each in data(outcome, "import")} == {
        "idna": "undeclared", "google.cloud.storage": "undeclared", "pytest": "misplaced", "rich": "types",
        "orjson": "optional", "sphinx": "beside", "setuptools": "beside",
    }  # fmt: skip
    assert dict(outcome.counts) == {"declared": 10, "not_installed": 0, "undeclared": 2, "unfound": 6}
    assert outcome.complete


def test_what_is_not_installed_is_reported_and_may_be_what_an_unknown_import_needs(root: Path) -> None:
    text = PYPROJECT.replace('"lonely"]', '"lonely", "Pillow", "toolz"]')
    written(root, {"pyproject.toml": text, "app/images.py": "import PIL.Image\nimport toolz\n"})
    outcome = listed(root)
    assert outcome.text.startswith("12 dependencies are declared; not installed: pillow, toolz. ")
    assert "Imported, and perhaps not declared: PIL." in outcome.text
    assert "  toolz: not installed; imported by 1 module, if its name is that of the package" in outcome.text
    assert "\n  Pillow: not installed\n" in outcome.text
    assert outcome.text.lower().count("pillow") == 2  # with the verdict
    assert "  pillow: not installed, so what it gives is not known" in listed(root, unused=True).text
    assert [each["status"] for each in data(outcome, "import") if each["imported"] == "PIL"] == ["open"]


@pytest.mark.parametrize(
    ("wanted", "fits"), [("httpx==0.27", True), ("httpx>=0.28", False), ("httpx>=0.28; python_version < '3'", True)]
)
def test_a_release_that_is_not_wanted_does_not_fit(root: Path, wanted: str, fits: bool) -> None:
    written(root, {"pyproject.toml": PYPROJECT.replace("httpx>=0.27", wanted)})
    called = run("deps", "list", "httpx", folder=root, VIRTUAL_ENV="")
    end = "" if fits else "; which does not fit"
    assert f"  {wanted}: locked 0.27.2; installed 0.27.0{end}; imported by 2 modules" in called.out.decode()
    [found] = run("deps", "list", "httpx", "--json", folder=root, VIRTUAL_ENV="").json["found"]
    assert found["is_unfit"] is not fits


def test_without_an_environment_names_alone_decide_and_the_answer_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    written(tmp_path, CODE)
    outcome = Source(tmp_path).deps_list().outcome
    assert not outcome.complete
    assert [notice.message.partition("(")[0] for notice in outcome.warnings] == [
        "The project has no environment that could be read "
    ]
    assert outcome.text.startswith("10 dependencies are declared; what is installed is not known.")
    found = {each["name"]: each for each in data(outcome, "dependency")}
    assert (found["httpx"]["is_guessed"], found["httpx"]["importers"]["code"]) == (True, ["app", "app.other"])
    assert found["pyyaml"]["importers"] == {}, "nothing says that yaml is of PyYAML"
    assert not any(each["is_missing"] for each in found.values())


def test_the_order_of_the_roots_and_own_modules_keep_a_namespace_apart(root: Path) -> None:
    written(root, {"google/cloud/app/__init__.py": "", "app/mine.py": "from google.cloud import app, logging\n"})
    outcome = listed(root)
    found = {(each["imported"], each["module"]) for each in data(outcome, "import") if each["module"] == "app.mine"}
    assert found == {("google.cloud.logging", "app.mine")}


def test_broken_metadata_is_reported_and_the_rest_is_listed(root: Path) -> None:
    (root / PACKAGES / "httpx-0.27.0.dist-info/METADATA").unlink()
    (root / PACKAGES / "lonely-1.0.dist-info/RECORD").write_text("")
    outcome = listed(root)
    assert not outcome.complete
    assert [notice.message for notice in outcome.warnings] == [
        "The metadata of httpx is broken: it has no METADATA that could be read.",
        "The metadata of lonely is broken: it has no RECORD that could be read, or an empty one.",
    ]
    assert "installed 0.27.0; it has no METADATA that could be read; imported by 2 modules" in outcome.text


def test_a_broken_lock_file_and_files_that_do_not_parse_are_reported(root: Path) -> None:
    written(root, {"uv.lock": "[[package", "app/broken.py": "def f(:\n", "notes.ipynb": '{"cells": []}'})
    outcome = listed(root)
    assert not outcome.complete
    assert [notice.message.partition(":")[0] for notice in outcome.warnings] == [
        "uv.lock does not parse",
        "What these import is not known",
    ]
    assert "app/broken.py (app.broken does not parse" in outcome.warnings[1].message
    assert "locked" not in outcome.text


def test_what_could_not_be_understood_has_its_line_and_is_not_called_undeclared(root: Path) -> None:
    written(root, {"pyproject.toml": PYPROJECT.replace('"lonely"', '"idna>=3; $(touch ran)", "-r x"')})
    outcome = listed(root)
    assert "Not understood:\n  pyproject.toml:4: 'idna>=3; $(touch ran)': Expected a marker variable" in outcome.text
    assert "idna" not in {each["imported"] for each in data(outcome, "import")}
    assert {each["status"] for each in data(outcome, "import") if each["imported"].startswith("google")} == {"open"}
    assert not outcome.complete


def test_control_characters_of_a_file_do_not_reach_the_terminal(root: Path) -> None:
    written(
        root,
        {"pyproject.toml": '[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\nhttpx = "^1\\u001b[31m\\n"\n'},
    )
    text = listed(root).text
    assert "\x1b" not in text
    assert "httpx ^1\\x1b[31m" in text


def test_a_setup_py_is_not_run_and_nothing_is_called_undeclared_then(root: Path) -> None:
    written(root, {"pyproject.toml": "", "setup.py": "open('ran', 'w')\n", "uv.lock": ""})
    outcome = listed(root)
    assert outcome.text.startswith("No dependency is declared. Imported, and perhaps not declared: ")
    assert [notice.message for notice in outcome.warnings] == ["setup.py is not run, so what it declares is not known."]
    assert outcome.counts["undeclared"] == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("htpx",), "The project declares no dependency htpx.\n  -> Did you mean httpx?\n"),
        (
            ("anyio",),
            "The project declares no dependency anyio. It is installed, with release 4.0 (comes with httpx).\n"
            "  -> deps list shows all that it declares.\n",
        ),
        (
            ("httpx", "--group", "test"),
            "The project declares no dependency httpx in test. It is declared elsewhere: always.\n",
        ),
        (
            ("--group", "tests"),
            "The project declares nothing in a group or extra 'tests'.\n"
            "  -> There are always, fast, all, test, typing, build.\n",
        ),
    ],
)
def test_names_that_are_none_are_not_found(root: Path, words: tuple[str, ...], expected: str) -> None:
    called = run("deps", "list", *words, folder=root, VIRTUAL_ENV="")
    assert (called.status, called.out) == (3, b"")
    assert expected in called.err_text


def test_a_pyproject_that_does_not_parse_is_an_error_with_its_line(root: Path) -> None:
    written(root, {"pyproject.toml": "[project]\nname = = 1\n"})
    called = run("deps", "list", folder=root)
    assert (called.status, called.out) == (4, b"")
    assert "pyproject.toml does not parse: Invalid value (at line 2, column 8)." in called.err_text
    assert "Mend pyproject.toml first." in called.err_text


def test_the_command_line_prints_it_and_has_the_data_as_json(root: Path) -> None:
    called = run("deps", "list", "--undeclared", folder=root, VIRTUAL_ENV="")
    assert called.status == 0, called.err_text
    assert UNDECLARED in called.out.decode()
    found = run("deps", "list", "httpx", "--json", folder=root, VIRTUAL_ENV="").json
    assert [(each["kind"], each["name"]) for each in found["found"]] == [("dependency", "httpx")]
    assert found["counts"]["declared"] == 1
    assert not has_run(root)


def test_the_brief_answer_counts_and_looks_at_no_code(root: Path) -> None:
    written(root, {"app/broken.py": "def f(:\n"})
    outcome = listed(root, brief=True)
    assert (outcome.text, outcome.complete) == ("10 dependencies are declared; all are installed.", True)
    written(root, {"pyproject.toml": PYPROJECT.replace('"lonely"', '"away"')})
    assert listed(root, brief=True).text == "10 dependencies are declared; not installed: away."


def test_a_session_has_a_place_for_dependencies_that_says_how_it_stands(root: Path) -> None:
    with Session(root) as session:
        shown = session.run("str(source.deps())").outcome.text.replace("\\n", "\n")
        assert "home > source > deps\nState: 10 dependencies are declared; all are installed; no changes yet" in shown
        assert "\n  deps_list(" in shown
        assert "idna" in session.run("source.deps.list(undeclared=True)").outcome.text
        written(root, {"pyproject.toml": "[project"})
        assert "State: pyproject.toml does not parse" in session.run("str(source.deps())").outcome.text.replace(
            "\\n", "\n"
        )
    assert not has_run(root)


def test_a_client_of_the_usual_server_asks_for_it(root: Path) -> None:
    async def walk(client: Client) -> None:
        asked = {"verb": "deps_list", "arguments": {"undeclared": True}}
        assert UNDECLARED in text_of(await client.call_tool("call", asked))

    with_client(over_pipes(root, ""), walk)
    assert not has_run(root)
