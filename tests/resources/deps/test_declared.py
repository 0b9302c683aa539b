"""Declarations of dependencies, in every notation, each with its place."""

from __future__ import annotations

import pytest

from bae_source.errors import SourceError
from bae_source.resources.deps.declared import Declarations, Declared, declared
from tests.memory import Memory


def declared_in(files: dict[str, str]) -> Declarations:
    return declared(Memory({path: text.encode() for path, text in files.items()}))


def of_toml(text: str) -> Declarations:
    return declared_in({"pyproject.toml": text})


def place(one: Declared) -> tuple[tuple[str, ...], str, int | None, int]:
    return one.table, one.key, one.index, one.line


def test_dependencies_and_extras_of_a_project_have_table_key_index_and_line() -> None:
    found = of_toml(
        '[project]\nname = "My.App"\ndependencies = [\n  "HTTPX[http2]>=0.27,<1 ; python_version < \'3.14\'",\n'
        '  "rich",\n]\n'
        '[project.optional-dependencies]\ncli = ["my_app[x]", "click"]\n'
    )
    first, second, own, click = found.dependencies
    assert (found.project, first.name, first.versions, first.extras) == ("my-app", "httpx", "<1,>=0.27", ("http2",))
    assert first.marker == 'python_version < "3.14"'
    assert place(first) == (("project",), "dependencies", 0, 4)
    assert place(second) == (("project",), "dependencies", 1, 5)
    assert (own.kind, own.part, own.groups) == ("own", "extra", ("cli",))
    assert place(click) == (("project", "optional-dependencies"), "cli", 1, 8)
    assert (found.unread, found.unknown) == ((), ())


def test_groups_include_others_and_a_circle_of_them_ends() -> None:
    found = of_toml(
        '[dependency-groups]\nTest_All = ["pytest", {include-group = "typing"}]\n'
        'typing = ["mypy", {include-group = "test-all"}]\n'
        'docs = [{include-group = "gone"}, {other = 1}, "sphinx"]\n'
    )
    assert [(each.name, each.groups, each.index) for each in found.dependencies] == [
        ("pytest", ("Test_All",), 0), ("mypy", ("typing",), 0), ("sphinx", ("docs",), 2)
    ]  # fmt: skip
    assert found.within("test-all") == found.within("typing") == {"test-all", "typing"}
    assert [each.reason for each in found.unread] == ["there is no group gone", "it is no text"]
    assert [each.line for each in found.unread] == [4, 4]


def test_poetry_is_listed_in_its_own_notation() -> None:
    found = of_toml(
        '[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\npython = "^3.11"\nDjango = "^5.0"\n'
        'celery = {version = "~5.3", extras = ["redis"], python = ">=3.12"}\n'
        'foo = [{version = "<2", markers = "sys_platform == \'win32\'"}, {git = "https://example.org/foo"}]\n'
        'boto = {version = "*", optional = true}\n[tool.poetry.extras]\naws = ["boto"]\n'
        '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n[tool.poetry.dev-dependencies]\nblack = "*"\n'
    )
    facts = {each.written: (each.kind, each.part, each.groups, each.index) for each in found.dependencies}
    assert facts == {
        "Django ^5.0": ("poetry", "always", (), None),
        "celery ~5.3": ("poetry", "always", (), None),
        "foo <2": ("poetry", "always", (), 0),
        "foo @ https://example.org/foo": ("place", "always", (), 1),
        "boto *": ("poetry", "extra", ("aws",), None),
        "black *": ("poetry", "group", ("dev",), None),
        "pytest ^8": ("poetry", "group", ("dev",), None),
    }
    assert found.dependencies[0].key == "Django"
    assert found.dependencies[0].line == 5


def test_tables_of_pdm_hatch_uv_and_of_what_builds_are_read() -> None:
    found = of_toml(
        '[build-system]\nrequires = ["hatchling"]\n[tool.pdm.dev-dependencies]\nlint = ["ruff", "-e file:///sub#egg=sub"]\n'
        '[tool.hatch.envs.default]\ndependencies = ["pytest"]\n[tool.hatch.envs."py 3"]\nextra-dependencies = ["tox"]\n'
        '[tool.uv]\ndev-dependencies = ["mypy"]\n'
    )
    assert {each.name: (each.part, each.groups, each.table, each.key) for each in found.dependencies} == {
        "ruff": ("group", ("lint",), ("tool", "pdm", "dev-dependencies"), "lint"),
        "pytest": ("group", ("default",), ("tool", "hatch", "envs", "default"), "dependencies"),
        "tox": ("group", ("py 3",), ("tool", "hatch", "envs", "py 3"), "extra-dependencies"),
        "mypy": ("group", ("dev",), ("tool", "uv"), "dev-dependencies"),
        "hatchling": ("build", (), ("build-system",), "requires"),
    }
    assert [each.text for each in found.unread] == ["-e file:///sub#egg=sub"]


def test_what_is_dynamic_is_read_where_it_is_plainly_given() -> None:
    found = declared_in(
        {
            "pyproject.toml": '[project]\nname = "app"\ndynamic = ["dependencies", "optional-dependencies"]\n'
            '[tool.setuptools.dynamic]\ndependencies = {file = ["reqs.in"]}\n'
            'optional-dependencies.x = {file = "x.in"}\n',
            "reqs.in": "# top\nhttpx>=1 \\\n  --hash=sha256:abc\nrich  # for colours\n-r other.in\n",
            "x.in": "attrs\n",
        }
    )
    assert [(each.name, each.part, each.path, each.line) for each in found.dependencies] == [
        ("httpx", "always", "reqs.in", 2), ("rich", "always", "reqs.in", 4), ("attrs", "extra", "x.in", 1)
    ]  # fmt: skip
    assert [(each.path, each.line, each.text) for each in found.unread] == [("reqs.in", 5, "-r other.in")]
    assert (found.dynamic, found.unknown) == (("dependencies", "optional-dependencies"), ())


def test_a_setup_cfg_is_read_with_its_lines_and_a_setup_py_is_not_run() -> None:
    files = {
        "setup.cfg": "[metadata]\nname = My-App\n[options]\ninstall_requires =\n    httpx>1\n    # none\n"
        '    rich; python_version<"4"  # colours\nzip_safe = no\n[options.extras_require]\nTest = pytest; attrs\n',
        "setup.py": "raise SystemExit('run')\n",
    }
    found = declared_in(files)
    assert [(each.name, each.key, each.index, each.line) for each in found.dependencies] == [
        ("httpx", "install_requires", 0, 5), ("rich", "install_requires", 1, 7),
        ("pytest", "Test", 0, 10), ("attrs", "Test", 1, 10),
    ]  # fmt: skip
    assert (found.project, found.unknown) == ("my-app", ())
    assert declared_in({"setup.py": files["setup.py"]}).unknown == (
        "setup.py is not run, so what it declares is not known.",
    )


def test_dynamic_dependencies_that_nothing_says_are_called_unknown() -> None:
    found = of_toml('[project]\nname = "app"\ndynamic = ["dependencies"]\n')
    assert found.unknown == ("[project] says that dependencies are dynamic: the build finds them, and it is not run.",)


def test_files_of_requirements_are_groups_beside_a_project_and_all_there_is_without_one() -> None:
    files = {
        "requirements.txt": "httpx\n",
        "requirements-dev.txt": "-r requirements.txt\n-e .[x]\npytest\n",
        "requirements/docs.txt": "sphinx\n",
    }
    alone = {each.name: (each.part, each.groups) for each in declared_in(files).dependencies}
    assert alone == {
        "httpx": ("always", ()),
        "pytest": ("group", ("requirements-dev",)),
        "sphinx": ("group", ("docs",)),
    }
    beside = declared_in(files | {"pyproject.toml": '[project]\nname = "app"\n'})
    assert {each.name: each.groups for each in beside.dependencies}["httpx"] == ("requirements",)
    assert beside.unread == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("httpx>=0.27 ; $(rm -rf /)", "Expected a marker variable or quoted string"),
        ("httpx && touch x", "Expected semicolon (after name with no version specifier) or end"),
        ("`touch x`", "Expected package name at the start of dependency specifier"),
        ("-r other.txt", "it is an option of pip's, which is not followed"),
        ("--index-url https://example.org", "it is an option of pip's, which is not followed"),
        ("git+ssh://-oProxyCommand=x/y", "it is a place without a name"),
        ("./local", "it is a place without a name"),
        ("", "Expected package name at the start of dependency specifier"),
        ("a" * 3_000, "it has more than 2,000 characters"),
    ],
)
def test_what_is_no_requirement_is_listed_with_the_reason(text: str, reason: str) -> None:
    found = of_toml(f"[project]\nname = 'app'\ndependencies = [\n'''{text}''',\n]\n")
    assert found.dependencies == ()
    [unread] = found.unread
    assert (unread.reason, unread.line, unread.index) == (reason, 4, 0)
    assert len(unread.text) <= 100


@pytest.mark.parametrize(
    "text", ["evil @ file:///tmp/x", "evil @ git+https://example.org/x", "evil.whl", "evil.tar.gz"]
)
def test_a_requirement_that_names_a_place_is_one(text: str) -> None:
    [found] = of_toml(f'[project]\nname = "app"\ndependencies = ["{text}"]\n').dependencies
    assert found.kind == "place"


@pytest.mark.parametrize(
    "text",
    [
        'dependencies = "httpx"', "dependencies = 3", "dependencies = [3]", "dependencies = [[1]]",
        'optional-dependencies = {x = "y"}',
    ],
)  # fmt: skip
def test_other_values_than_lists_of_texts_are_listed_as_what_they_are(text: str) -> None:
    found = of_toml(f'[project]\nname = "app"\n{text}\n')
    assert (found.dependencies, len(found.unread)) == ((), 1)


@pytest.mark.parametrize(
    "text", ["project.dependencies = {}", "project.optional-dependencies = 3", "[[project]]", "project = 1", "tool = 1"]
)
def test_tables_that_are_none_declare_nothing(text: str) -> None:
    assert of_toml(f"{text}\n").dependencies == ()


def test_a_pyproject_that_does_not_parse_is_an_error_with_line_and_column() -> None:
    with pytest.raises(SourceError) as caught:
        of_toml("[project]\ndependencies = [\n")
    assert caught.value.code == "syntax_invalid"
    assert "pyproject.toml does not parse: " in caught.value.message
    with pytest.raises(SourceError, match="line 2, column 8"):
        of_toml("[project]\nname = = 1\n")


def test_a_project_without_any_file_declares_nothing() -> None:
    assert declared_in({"app.py": ""}) == Declarations()
