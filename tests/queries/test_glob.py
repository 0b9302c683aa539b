"""glob: which names match, that each answer is an address, and what it says of what it could not look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import RequestError, Source
from tests.adapters.support import run
from tests.queries.support import laid

APP = {
    "app/__init__.py": "from app.net import Client\nfrom app.tool import run\nVERSION = '1'\ndef main(): ...\n",
    "app/net.py": (
        "import os\nLIMIT: int = 5\nA = B = 1\n\n\nclass Client:\n    size = 0\n\n    def send(self):\n"
        "        def inner(): ...\n\n    def _close(self): ...\n\n    @property\n    def limit(self): ...\n\n"
        "    @limit.setter\n    def limit(self, value): ...\n\n\nif os:\n    def go(): ...\nelse:\n    def go(): ...\n"
    ),
    "app/tool.py": "def run(): ...\n",
    "app/sub/__init__.py": "",
    "app/sub/0001_initial.py": "class Migration: ...\n",
    "loose/part.py": "def send(): ...\n",
    "script.py": "async def send(): ...\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, APP)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("app", ["app"]),
        ("app.*", ["app.VERSION", "app.main", "app.net", "app.sub", "app.tool"]),
        ("*", ["app", "loose", "script"]),
        ("app.net.*", ["app.net.A", "app.net.B", "app.net.Client", "app.net.LIMIT", "app.net.go[0]", "app.net.go[1]"]),
        ("app.net.Client.*", [f"app.net.Client.{name}" for name in ("_close", "limit", "send", "size")]),
        ("app.net.Client.**", [f"app.net.Client.{name}" for name in ("_close", "limit", "send", "send.inner", "size")]),
        ("**.send", ["app.net.Client.send", "loose.part.send", "script.send"]),
        ("**.Client.s???", ["app.net.Client.send", "app.net.Client.size"]),
        ("app.net.[AB]", ["app.net.A", "app.net.B"]),
        ("app.net.[!ABC]*", ["app.net.LIMIT", "app.net.go[0]", "app.net.go[1]"]),
        ("app.sub.**", ["app.sub.0001_initial", "app.sub.0001_initial.Migration"]),
        ("app.**.Migration", ["app.sub.0001_initial.Migration"]),
        ("**.app", ["app"]),
        ("app.net.**.inner", ["app.net.Client.send.inner"]),
        ("app.nothing*", []),
        ("app.net.client", []),
        ("app.run", []),
    ],
)
def test_a_pattern_matches_modules_and_what_they_define(app: Source, pattern: str, expected: list[str]) -> None:
    found = app.glob(pattern)
    assert found == ("\n".join(expected) or "(no matches)")
    assert found.complete
    assert [match.address for match in found.outcome.found] == expected


def test_every_answer_is_an_address(app: Source) -> None:
    addresses = app.glob("**").splitlines()
    assert len(addresses) == 25
    for address in addresses:
        assert app.read(address).address == address


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("package", ["app", "app.sub", "loose"]),
        ("module", ["app.net", "app.sub.0001_initial", "app.tool", "loose.part", "script"]),
        ("class", ["app.net.Client", "app.sub.0001_initial.Migration"]),
        ("method", ["app.net.Client._close", "app.net.Client.limit", "app.net.Client.send"]),
        ("assignment", ["app.VERSION", "app.net.A", "app.net.B", "app.net.Client.size", "app.net.LIMIT"]),
        ("type alias", []),
    ],
)
def test_a_kind_can_be_asked_for(app: Source, kind: str, expected: list[str]) -> None:
    assert app.glob("**", kind=kind) == ("\n".join(expected) or "(no matches)")  # type: ignore[arg-type]
    assert {match.kind for match in app.glob("**", kind=kind).outcome.found} <= {kind}  # type: ignore[arg-type]


def test_a_function_is_no_method(app: Source) -> None:
    assert app.glob("**.[is]*", kind="function").splitlines() == [
        "app.net.Client.send.inner",
        "loose.part.send",
        "script.send",
    ]


def test_a_module_that_is_an_attribute_too_is_listed_by_the_name_that_means_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "def run(): ...\n", "pkg/run.py": "X = 1\n"})
    assert source.glob("pkg.*") == "pkg.run@module\npkg@module.run"
    for address in source.glob("pkg.*").splitlines():
        assert source.read(address).address == address


def test_values_tell_the_module_and_the_line(app: Source) -> None:
    [match] = app.glob("app.net.Client").outcome.found
    assert (match.kind, match.module, match.line) == ("class", "app.net", 6)


def test_a_file_that_does_not_parse_is_reported_if_it_could_define_a_match(tmp_path: Path) -> None:
    source = laid(tmp_path, {"bad.py": "def f(:\n    sending\n", "good.py": "def f(): ...\n"})
    found = source.glob("**.f")
    assert (found, found.complete) == ("good.f", False)
    assert [notice.message.split(":")[0] for notice in found.outcome.warnings] == ["bad was not searched"]
    assert source.glob("**.other").complete
    assert source.glob("good.*").complete
    assert source.glob("bad") == "bad"


@pytest.mark.parametrize("pattern", ["", "a..b", ".a", "a.", "a.[b", "a.[z-a]", "x" * 1001, "a." * 200 + "b"])
def test_a_pattern_that_is_none_is_refused(app: Source, pattern: str) -> None:
    with pytest.raises(RequestError) as caught:
        app.glob(pattern)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints


def test_a_path_is_refused_with_the_pattern_that_it_means(app: Source) -> None:
    with pytest.raises(RequestError) as caught:
        app.glob("app/*.py")
    assert (caught.value.code, caught.value.hints) == ("invalid_name", ("Try app.*.",))


@pytest.mark.parametrize(
    ("pattern", "hints"),
    [
        ("app.{net,tool}.*", ("Try app.net.*.", "Try app.tool.*.")),
        ("{a,b}", ("Try a.", "Try b.")),
        ("app.{net", ("A pattern looks like pkg.*, **.Client.send or pkg.test_?[0-9]*.",)),
        ("app.net@module.*", ("Try app.net.*.",)),
        ("app.net.Client.limit@setter", ("Try app.net.Client.limit.",)),
        ("app.net@stu*", ("Try app.net.",)),
        ("@", ("A pattern looks like pkg.*, **.Client.send or pkg.test_?[0-9]*.",)),
    ],
)
def test_braces_and_markers_are_refused_with_patterns_that_work(
    app: Source, pattern: str, hints: tuple[str, ...]
) -> None:
    with pytest.raises(RequestError) as caught:
        app.glob(pattern)
    assert (caught.value.code, caught.value.hints) == ("invalid_arguments", hints)
    for hint in hints:
        if hint.startswith("Try "):
            app.glob(hint.removeprefix("Try ").removesuffix("."))


STUBS = {
    "app/__init__.py": "",
    "app/__init__.pyi": "def core(): ...\n",
    "app/core.py": "def f(): ...\n",
    "app/core.pyi": "class Name:\n    def send(self): ...\ndef f() -> int: ...\n",
    "app/bad.pyi": "def f(:\n",
}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("app.core@stub", ["app.core@stub"]),
        ("app.core@stub.*", ["app.core@stub.Name", "app.core@stub.f"]),
        ("app.core@stub.Name.**", ["app.core@stub.Name.send"]),
        ("app@stub.*", ["app@stub.core"]),
        ("app.c*@stub.f", ["app.core@stub.f"]),
        ("app.*@stub", ["app.bad@stub", "app.core@stub"]),
        ("app.**.f", ["app.core.f"]),
        ("app.core.f@stub", []),
    ],
)
def test_stubs_match_where_the_pattern_says_so_and_nowhere_else(
    tmp_path: Path, pattern: str, expected: list[str]
) -> None:
    source = laid(tmp_path, STUBS)
    found = source.glob(pattern)
    assert found == ("\n".join(expected) or "(no matches)")
    for address in set(expected) - {"app.bad@stub"}:
        assert source.read(address).address == address


def test_a_stub_that_does_not_parse_is_reported(tmp_path: Path) -> None:
    found = laid(tmp_path, STUBS).glob("app.*@stub.f")
    assert (found, found.complete) == ("app.core@stub.f", False)
    assert found.outcome.warnings[0].message.startswith("app.bad@stub was not searched")


def test_an_unknown_kind_is_refused_with_those_there_are(app: Source) -> None:
    with pytest.raises(RequestError) as caught:
        app.glob("app.*", kind="thing")  # type: ignore[arg-type]
    assert "kind" in caught.value.message
    called = run("glob", "app.*", "--kind", "thing", folder=app.root)
    assert called.status == 2
    assert "assignment" in called.err_text


def test_a_project_without_python_has_no_names(tmp_path: Path) -> None:
    found = laid(tmp_path, {"a.txt": ""}).glob("**")
    assert (found, found.complete) == ("(no matches)", True)


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "", "pkg/m.py": ""})
    (tmp_path / "pkg" / "again").symlink_to(tmp_path / "pkg", target_is_directory=True)
    assert source.glob("**") == "pkg\npkg.m"


def test_non_ascii_names_are_found_however_they_are_written(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def ﬁnd(): ...\nÅngström = 1\n"})
    assert source.glob("m.find") == "m.find"
    assert source.glob("m.*") == "m.find\nm.Ångström"


def test_the_command_line_prints_the_same(app: Source) -> None:
    called = run("glob", "app.*", "--kind", "module", folder=app.root)
    assert (called.status, called.out, called.err) == (0, b"app.net\napp.tool\n", b"")
    assert run("glob", "nope.*", folder=app.root).out == b"(no matches)\n"


def test_files_that_no_dotted_name_means_are_counted_as_in_an_outline_and_the_answer_is_not_complete(
    tmp_path: Path,
) -> None:
    odd = {"pk/a\nb.py": "def send(): ...\n", "pk/c.d.py": "def send(): ...\n"}
    source = laid(tmp_path, {"pk/__init__.py": "", "pk/m.py": "def send(): ...\n", **odd})
    outcome = source.glob("pk.**").outcome
    assert (outcome.text, outcome.complete) == ("pk.m\npk.m.send", False)
    assert outcome.warnings == source.outline("pk").outcome.warnings
    assert [notice.message for notice in outcome.warnings] == ["Not listed: 2 Python files that no dotted name means."]
    assert source.glob("pk.m.*").outcome.warnings == ()


def test_a_name_stands_on_one_line_whatever_the_file_is_called(tmp_path: Path) -> None:
    odd = {"pk/a\nb.py": "from pk.m import send\n", "pk/t\r.txt": "send\n"}
    source = laid(tmp_path, {"pk/__init__.py": "", "pk/m.py": "def send(): ...\n", **odd})
    assert source.grep("send").splitlines() == [
        "pk.a\\nb:1: from pk.m import send",
        "pk.m:1: def send(): ...",
        "pk:t\\r.txt:1: send",
    ]
    assert source.references("pk.m.send").splitlines()[2:] == ["pk.a\\nb", "  1: from pk.m import send    [import]"]


@pytest.mark.parametrize(
    ("selector", "hints"),
    [
        ("sym://python/mod/m/s", ["Try **.m.s.", "ast symbols sym://python/mod/m/s shows what it names."]),
        ("sym://python/mod/m/__init__", ["Try **.m.", "ast symbols sym://python/mod/m/__init__ shows what it names."]),
        ("sym://python/type/m/A#f", ["Try **.m.A.f.", "ast symbols sym://python/type/m/A#f shows what it names."]),
        ("sym://nonsense", ["A pattern looks like pkg.*, **.Client.send or pkg.test_?[0-9]*."]),
    ],
)
def test_a_selector_is_no_pattern_and_the_hints_lead_on(app: Source, selector: str, hints: list[str]) -> None:
    with pytest.raises(RequestError, match="is a selector") as caught:
        app.glob(selector)
    assert (caught.value.code, list(caught.value.hints)) == ("invalid_name", hints)
