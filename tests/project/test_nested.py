"""Projects in folders of a project: by which names their code is known, and where nothing gives it any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source import LookupFailed, Source
from tests.project.support import workspace
from tests.queries.support import laid

PROJECT = '[project]\nname = "x"\nversion = "1"\n'
TOOLS = "[tool.black]\nline-length = 100\n"
CODE = "def run():\n    return 1\n"
USED = {"part_b/pyproject.toml": PROJECT, "part_b/pkg_b/__init__.py": "from pkg_a.core import run\n\nrun()\n"}
FLAT = {"part_a/pyproject.toml": PROJECT, "part_a/pkg_a/__init__.py": "", "part_a/pkg_a/core.py": CODE}
SHAPES: Mapping[str, Mapping[str, str]] = {
    "flat": FLAT,
    "src": {"part_a/pyproject.toml": PROJECT, "part_a/src/pkg_a/__init__.py": "", "part_a/src/pkg_a/core.py": CODE},
    "namespace": {"libs/a/setup.cfg": "[metadata]\nname = x\n", "libs/a/src/pkg_a/core.py": CODE},
    "deep": {"python/libs/a/setup.py": "from setuptools import setup\nsetup()\n"}
    | {f"python/libs/a/{path.removeprefix('part_a/')}": text for path, text in FLAT.items() if path.endswith(".py")},
    "poetry": FLAT | {"part_a/pyproject.toml": '[tool.poetry]\nname = "x"\n'},
    "said": FLAT
    | {"part_a/pyproject.toml": PROJECT + '[tool.setuptools.package-dir]\npkg_a = "lib"\n'}
    | {
        "part_a/lib/__init__.py": "",
        "part_a/lib/core.py": CODE,
        "part_a/pkg_a/core.py": "",
        "part_a/pkg_a/__init__.py": "",
    },
}


@pytest.mark.parametrize("root", [{"pyproject.toml": TOOLS}, {}, {"pyproject.toml": PROJECT, "tests/__init__.py": ""}])
@pytest.mark.parametrize("shape", SHAPES)
def test_code_is_known_by_the_name_that_imports_it(tmp_path: Path, shape: str, root: Mapping[str, str]) -> None:
    source = laid(tmp_path, {**SHAPES[shape], **USED, **root})
    answer = source.references("pkg_a.core.run")
    assert answer.complete
    assert [(each.module, each.line, each.certainty) for each in answer.outcome.found] == [
        ("pkg_b", 1, "sure"),
        ("pkg_b", 3, "sure"),
    ]
    assert "projects_inside" not in source.doctor()


def test_a_single_module_is_one_too(tmp_path: Path) -> None:
    source = laid(
        tmp_path, {"pkg-a/setup.py": "setup()", "pkg-a/pkg_a.py": CODE, "b.py": "import pkg_a\npkg_a.run()\n"}
    )
    assert [(each.module, each.certainty) for each in source.references("pkg_a.run").outcome.found] == [("b", "sure")]


def test_what_stands_beside_the_packages_keeps_its_name() -> None:
    files = {
        "part_a/tests/test_a.py": "",
        "part_b/tests/test_a.py": "",
        "part_a/setup.py": "",
        "part_a/docs/conf.py": "",
    }
    for shape in ("flat", "src"):
        census = workspace({**SHAPES[shape], **USED, **files}).census
        for path in files:
            module = census.module(path)
            name = path.removesuffix(".py").replace("/", ".")
            assert module is not None
            assert module.name == name
            assert [found.file.path for found in census.layout.prefixes((*name.split("."),))[:1] if found.file] == [
                path
            ]


def test_what_is_new_and_of_no_project_goes_to_the_root(tmp_path: Path) -> None:
    source = laid(tmp_path, {**SHAPES["src"], **USED})
    source.write("fresh", "X = 1\n", reload="off")
    source.write("pkg_a.fresh", "X = 1\n", reload="off")
    assert (tmp_path / "fresh.py").exists()
    assert (tmp_path / "part_a/src/pkg_a/fresh.py").exists()


OTHERS: Mapping[str, Mapping[str, str]] = {
    "tools alone": FLAT | {"part_a/pyproject.toml": TOOLS},
    "no setup": {path: text for path, text in FLAT.items() if path.endswith(".py")}
    | {"part_a/setup.cfg": "[flake8]\n"},
    "fixtures": {f"tests/{path}": text for path, text in FLAT.items()},
    "templates": {f"templates/{path}": text for path, text in FLAT.items()},
    "vendored": {f"app/_vendor/{path}": text for path, text in FLAT.items()},
    "in a package": {f"app/{path}": text for path, text in FLAT.items()} | {"app/__init__.py": ""},
    "ignored": FLAT | {".gitignore": "part_a/\n"},
    "hidden": {f".cache/{path}": text for path, text in FLAT.items()},
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_project_of_its_own_gives_no_names(tmp_path: Path, kind: str) -> None:
    (tmp_path / ".git").mkdir()
    source = laid(tmp_path, {"pyproject.toml": TOOLS, **OTHERS[kind], **USED})
    with pytest.raises(LookupFailed, match="The project has no module pkg_a"):
        source.references("pkg_a.core")
    assert "(pkg_a)" not in source.doctor()


@pytest.mark.parametrize(
    "other",
    [
        {"part_c/pyproject.toml": PROJECT, "part_c/pkg_a/__init__.py": "", "part_c/pkg_a/core.py": CODE},
        {"part_c/pyproject.toml": PROJECT, "part_c/src/pkg_a/__init__.py": "", "part_c/src/pkg_a/core.py": CODE},
        {"pkg_a/__init__.py": "", "pkg_a/core.py": CODE},
        {"pkg_a.py": CODE},
    ],
)
@pytest.mark.parametrize("shape", ["flat", "src"])
def test_a_name_that_means_several_things_is_given_to_none(
    tmp_path: Path, shape: str, other: Mapping[str, str]
) -> None:
    lying = "part_a/src/pkg_a" if shape == "src" else "part_a/pkg_a"
    source = laid(tmp_path, {**SHAPES[shape], **other, "user.py": "from pkg_a.core import run\n"})
    answer = source.references(f"{lying.replace('/', '.')}.core.run")
    assert not [each for each in answer.outcome.found if each.certainty == "sure"]
    if "pkg_a/core.py" in other:
        assert [each.certainty for each in source.references("pkg_a.core.run").outcome.found] == ["sure"]


OWN = {"pyproject.toml": PROJECT, "app/__init__.py": "", **SHAPES["src"], **USED}


def test_beside_code_of_the_root_they_are_named_with_the_setting_that_gives_them_names(tmp_path: Path) -> None:
    source = laid(tmp_path, OWN)
    setting = 'source-roots = ["part_a/src", "part_b"]'
    report = source.doctor()
    assert "part_a (pkg_a), part_b (pkg_b)." in report
    assert setting in report
    for name in ("pkg_a", "pkg_a.core.run", "pkg_b"):
        with pytest.raises(LookupFailed, match=r"is in part_[ab], a project of its own") as caught:
            source.references(name)
        assert caught.value.code == "symbol_not_found"
        assert setting in caught.value.hints[0]
    with pytest.raises(LookupFailed, match="The project has no module pkg_c"):
        source.references("pkg_c")
    (tmp_path / "pyproject.toml").write_text(f"{PROJECT}[tool.bae-source]\n{setting}\n")
    source = Source(tmp_path)
    assert source.references("pkg_a.core.run").outcome.counts["sure"] == 2
    assert "projects_inside" not in source.doctor()


def test_the_setting_keeps_the_roots_that_there_are(tmp_path: Path) -> None:
    source = laid(tmp_path, {**OWN, "src/lib/__init__.py": ""})
    assert 'source-roots = ["src", "part_a/src", "part_b"]' in source.doctor()


def test_members_of_a_workspace_are_no_finding(tmp_path: Path) -> None:
    source = laid(tmp_path, {**OWN, "pyproject.toml": PROJECT + '[tool.uv.workspace]\nmembers = ["part_*"]\n'})
    assert "projects_inside" not in source.doctor()


def test_a_package_in_the_root_has_them_named_and_not_taken_whatever_the_root_says(tmp_path: Path) -> None:
    source = laid(tmp_path, {**OWN, "pyproject.toml": TOOLS})
    assert 'source-roots = ["part_a/src", "part_b"]' in source.doctor()
    assert source.references("part_b.pkg_b").complete
