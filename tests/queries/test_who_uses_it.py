"""Questions about who uses what that have no labelled case: properties, stubs, and what cannot be asked."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from tests.queries.support import laid

PROJECT = {
    "app/__init__.py": "",
    "app/core.py": (
        "class A:\n    @property\n    def p(self): return 1\n"
        "    @p.setter\n    def p(self, v): ...\n    def m(self): ...\n"
    ),
    "app/core.pyi": "class A: ...\n",
    "app/page.html": "<p>\n",
    "app/user.py": "from app.core import A\nA().p\nA().p = 2\nA.p\nA().m\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, PROJECT)


def test_using_a_property_is_calling_it(source: Source) -> None:
    assert {(each.module, each.line) for each in source.callers("app.core.A.p").outcome.found} == {
        ("app.user", 2), ("app.user", 3), ("app.user", 4),
    }  # fmt: skip
    assert source.callers("app.core.A.m") == "(no callers)"


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("__init__", "calls of app.core.A, and of classes below it, call it too: ask for callers of app.core.A."),
        ("__enter__", "what Python does with an object calls it too."),
        ("__private", ""),
    ],
)
@pytest.mark.parametrize("verb", ["callers", "references"])
def test_the_answer_about_a_special_method_says_that_python_calls_it(
    tmp_path: Path, verb: str, method: str, expected: str
) -> None:
    code = f"class A:\n    def {method}(self): ...\n    def f(self): self.{method}()\nA()\n"
    source = laid(tmp_path, {"app/__init__.py": "", "app/core.py": code})
    outcome = getattr(source, verb)(f"app.core.A.{method}").outcome
    assert [each.line for each in outcome.found] == [3]
    assert outcome.complete is not bool(expected)
    assert [each.code for each in outcome.warnings] == ["called_by_python"] * bool(expected)
    assert all(expected in each.message for each in outcome.warnings)


@pytest.mark.parametrize(
    ("function", "is_called"), [("__getattr__", True), ("__dir__", True), ("__version__", False), ("f", False)]
)
def test_python_calls_some_functions_of_a_module(tmp_path: Path, function: str, is_called: bool) -> None:
    source = laid(tmp_path, {"core.py": f"def {function}(*names): ...\n", "user.py": "import core\ncore.x\n"})
    outcome = source.callers(f"core.{function}").outcome
    assert [each.code for each in outcome.warnings if "Python does with a module" in each.message] == (
        ["called_by_python"] * is_called
    )
    assert outcome.complete is not is_called


@pytest.mark.parametrize("verb", ["references", "callers", "importers_of"])
def test_a_stub_has_no_references_and_the_hint_names_the_code(source: Source, verb: str) -> None:
    target = "app.core@stub" if verb == "importers_of" else "app.core@stub.A"
    with pytest.raises(RequestError) as caught:
        getattr(source, verb)(target)
    asked, otherwise = caught.value.hints
    assert asked == f"Ask about {target.replace('@stub', '')}, which it describes."
    assert otherwise.startswith("If the project has no code of that name, look for the word: bae-source grep ")
    assert shlex.split(otherwise.partition("bae-source ")[2]) == [
        "grep",
        target.rpartition(".")[2].removesuffix("@stub"),
        "--word",
    ]


@pytest.mark.parametrize(
    ("verb", "target"),
    [
        ("callers", "app.core"),
        ("subclasses", "app.core.A.m"),
        ("overrides", "app.core.A"),
        ("imports_of", "app.core.A"),
        ("importers_of", "app.core.A"),
    ],
)
def test_what_cannot_have_an_answer_is_reported_with_a_next_step(source: Source, verb: str, target: str) -> None:
    with pytest.raises(RequestError) as caught:
        getattr(source, verb)(target)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints


@pytest.mark.parametrize("verb", ["references", "callers", "callees", "subclasses", "overrides"])
@pytest.mark.parametrize("target", ["app.nothing", "app:page.html", "nothing"])
def test_a_name_that_means_no_code_is_not_found(source: Source, verb: str, target: str) -> None:
    with pytest.raises(LookupFailed):
        getattr(source, verb)(target)


def test_a_part_is_asked_about_as_its_symbol(source: Source) -> None:
    assert source.references("app.core.A@body") == source.references("app.core.A")


def test_a_selector_is_understood(source: Source) -> None:
    assert source.references("sym://python/type/app/core/A") == source.references("app.core.A")


def test_an_answer_says_which_module_was_not_looked_into(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PROJECT, "app/broken.py": "from app.core import A\ndef (:\n", "app/fine.py": "def (:\n"})
    answer = source.references("app.core.A")
    assert not answer.complete
    assert [notice.code for notice in answer.outcome.warnings] == ["not_searched"]
    assert "app.broken" in answer.outcome.warnings[0].message


HUBS = {
    "another name": (
        "from .core import A as hub, f as g\n",
        "from .hub import hub, g\nclass Q(hub):\n    def m(self): ...\ng()\n",
    ),
    "a star": ("from .core import *\n", "from .hub import *\nclass Q(A):\n    def m(self): ...\nf()\n"),
}


@pytest.mark.parametrize("hub", HUBS)
def test_what_comes_through_a_module_that_does_not_parse_is_missing_from_the_answer(tmp_path: Path, hub: str) -> None:
    through, user = HUBS[hub]
    core = "class A:\n    def m(self): ...\ndef f(): ...\n"
    files = {"app/__init__.py": "", "app/core.py": core, "app/user.py": user}
    asked = [("subclasses", "A"), ("overrides", "A.m"), ("references", "A"), ("references", "f"), ("callers", "f")]
    for text, complete in ((through, True), (f"{through}def (\n", False)):
        source = laid(tmp_path, {**files, "app/hub.py": text})
        for verb, name in asked:
            answer = getattr(source, verb)(f"app.core.{name}")
            assert answer.complete is complete, (verb, name)
            if complete:
                assert answer != f"(no {verb})"


def test_code_that_cannot_be_analysed_makes_an_answer_incomplete(tmp_path: Path) -> None:
    deep = "from app.core import A\nclass B(A):\n    def m(self): ...\nx = " + "A() + " * 20_000 + "len([])\n"
    source = laid(tmp_path, {**PROJECT, "app/deep.py": deep})
    asked = {"subclasses": "app.core.A", "overrides": "app.core.A.m", "callees": "app.deep", "imports_of": "app.deep"}
    for verb, target in asked.items():
        answer = getattr(source, verb)(target)
        assert not answer.complete, verb
        [notice] = answer.outcome.warnings
        assert "app.deep has code that is too new or too deep to be analysed" in notice.message
    assert source.references("app.core.A").complete, "it is listed word by word"
    assert "app.deep\n  4: " in source.callers("app.core.A"), "it may be a call"
    found = [each for each in source.references("app.core.A").outcome.found if each.module == "app.deep"]
    assert len(found) > 10_000
    assert sum(len(each.text) for each in found) < 30_000_000, "not the whole line with each place in it"


def test_whatever_is_called_is_listed(tmp_path: Path) -> None:
    calls = [
        "helper()", "[helper][0]()", "(helper or print)()", "helper()()", "(lambda: 1)()", "type(self)()", "nowhere()",
        "table['x'](1)", "len([])", "type(nowhere)()",
    ]  # fmt: skip
    text = "\n        ".join(["def helper(): ...\nclass P:\n    def m(self):", *calls])
    source = laid(tmp_path, {"app.py": f"{text}\n"})
    found = source.callees("app.P.m").outcome.found
    assert {each.line for each in found} == set(range(4, 4 + len(calls)))
    sure = {each.address for each in found if each.certainty == "sure"}
    assert sure == {"app.helper", "app.P", "builtins.type", "builtins.len"}
    unsure = {each.address for each in found if each.certainty == "unsure"}
    assert unsure == {
        "…[…]()", "app.helper", "builtins.print", "helper()()", "…()", "type()()", "nowhere", "table[…]()",
    }  # fmt: skip


def test_an_entry_point_that_leads_there_is_listed(tmp_path: Path) -> None:
    settings = (
        '[project.scripts]\na = "lib:send"\nb = "lib.core:send"\nc = "lib:public"\nd = "lib:other"\ne = "x:send"\n'
    )
    files = {
        "lib/__init__.py": "from .core import send as public, send\nother = 1\n",
        "lib/core.py": "def send(): ...\n",
    }
    source = laid(tmp_path, {**files, "pyproject.toml": settings})
    for _ in range(2):
        found = source.references("lib.core.send").outcome.found
        assert [each.line for each in found if each.module == "pyproject.toml"] == [2, 3, 4]


def test_a_class_that_a_call_makes_is_listed_where_the_call_stands(tmp_path: Path) -> None:
    made = laid(tmp_path, {"a.py": "class A:\n    def m(self): ...\nB = type('B', (A,), {})\nclass C(f(A)): ...\n"})
    assert made.subclasses("a.A").splitlines() == [
        "2 unsure",
        "",
        "unsure: type() makes a class of it, which has no class statement",
        "a.B — a:3: B = type('B', (A,), {})",
        "",
        "unsure: its base is made by code that names A",
        "a.C — a:4: class C(f(A)): ...",
    ]
    assert "a.B — a:3" in made.overrides("a.A.m")


@pytest.mark.parametrize("making", ["Made", "metas.Made", "ABCMeta"])
def test_a_class_that_a_metaclass_makes_has_unknown_members(tmp_path: Path, making: str) -> None:
    metas = "class Made(type):\n    def __new__(mcs, *given):\n        return super().__new__(mcs, *given)\n"
    code = (
        "from abc import ABCMeta\nimport metas\nfrom metas import Made\n"
        f"class Base:\n    def go(self): ...\nNode = {making}(\n    'Node', (Base,), {{'__doc__': Base.__doc__}})\n"
        "class Seq(Node):\n    def run(self):\n        Node.go(self)\n        self.go()\n"
        "def use(register):\n    register(int, "
        f"{making}('Other', (Base,), {{}}))\n"
    )
    source = laid(tmp_path, {"metas.py": metas, "a.py": code})
    name = making.rpartition(".")[2]
    assert source.subclasses("a.Base").splitlines() == [
        "3 unsure",
        "",
        f"unsure: {name}() makes a class of it, which has no class statement",
        "a.Node — a:7: 'Node', (Base,), {'__doc__': Base.__doc__})",
        f"a.use — a:13: register(int, {making}('Other', (Base,), {{}}))",
        "",
        "unsure: its base is made by code that names Node",
        "a.Seq — a:8: class Seq(Node):",
    ]
    found = source.references("a.Base.go")
    assert [(each.line, each.certainty) for each in found.outcome.found] == [(10, "unsure"), (11, "unsure")]


def test_an_answer_about_an_assigned_name_does_not_say_that_nothing_is_below_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.py": "def f(): ...\nclass A: ...\nB = type('B', (A,), {})\nclass C(B): ...\n"})
    with pytest.raises(RequestError, match="is no class, so nothing is below it") as refused:
        source.subclasses("a.f")
    assert refused.value.hints == ("Name a class.",)
    with pytest.raises(RequestError, match="is assigned: no class statement makes it") as refused:
        source.subclasses("a.B")
    assert refused.value.code == "invalid_arguments"
    assert refused.value.hints == ("Ask for references of a.B: class headers that name it are among them.",)
    assert "a\n  4: class C(B): ..." in source.references("a.B")


def test_a_file_in_a_package_that_does_not_parse_may_import_from_it(tmp_path: Path) -> None:
    broken = laid(tmp_path, {"p/__init__.py": "", "p/x.py": "", "p/y.py": "from . import x\nx = (\n"})
    outcome = broken.importers_of("p").outcome
    assert not outcome.complete
    assert [each.message for each in outcome.warnings if each.message.startswith("p.y ")]


def test_a_mention_in_the_settings_is_not_shown_as_one_in_a_module(tmp_path: Path) -> None:
    settings = "[options.entry_points]\nconsole_scripts =\n  run = app.core:A\n"
    files = {**PROJECT, "setup.py": "x = 1\ny = 2\nimport app.core as A\n", "setup.cfg": settings}
    found = laid(tmp_path, {**files, "pyproject.toml": '[project.scripts]\nrun = "app.core:A"\n'}).references(
        "app.core.A"
    )
    strings = [(each.module, each.address, each.line) for each in found.outcome.found if each.kind == "string"]
    assert strings == [("pyproject.toml", "pyproject.toml", 2), ("setup.cfg", "setup.cfg", 3)]
    assert "setup.cfg\n  3: " in found
    assert "\nsetup\n" not in found.partition("mentions:")[2]


UNCODED = {
    "pkg/__init__.py": "from pkg import _native\n",
    "pkg/_native.pyi": (
        "from .types import Number\ndef fast(x: Number) -> Native: ...\n"
        "class Native:\n    def go(self) -> int: ...\n    def again(self) -> Native: ...\n"
    ),
    "pkg/types.pyi": "class Number: ...\n",
    "pkg/both.py": "def fast(): ...\n",
    "pkg/both.pyi": "def fast() -> int: ...\n",
    "pkg/user.py": (
        "from ._native import fast, Native\nfrom .both import fast as other\nfast(1).go()\n"
        "class Mine(Native):\n    def run(self): return self.go()\nother()\n"
    ),
}


@pytest.mark.parametrize(
    ("verb", "target", "lines"),
    [
        ("references", "pkg._native@stub.fast", ["pkg.user:1", "pkg.user:3"]),
        ("callers", "pkg._native@stub.Native.go", ["pkg.user:3", "pkg.user:5"]),
        (
            "references",
            "pkg._native@stub.Native",
            ["pkg._native@stub:2", "pkg._native@stub:5", "pkg.user:1", "pkg.user:4"],
        ),
        ("importers_of", "pkg._native@stub", ["pkg:1", "pkg.user:1"]),
        ("references", "pkg.types@stub.Number", ["pkg._native@stub:1", "pkg._native@stub:2"]),
        ("subclasses", "pkg._native@stub.Native", ["pkg.user:4"]),
        ("callers", "pkg.both.fast", ["pkg.user:6"]),
    ],
)
def test_a_stub_without_code_is_where_its_names_are_defined(
    tmp_path: Path, verb: str, target: str, lines: list[str]
) -> None:
    outcome = getattr(laid(tmp_path, UNCODED), verb)(target).outcome
    assert [f"{each.module}:{each.line}" for each in outcome.found] == lines
    assert {each.certainty for each in outcome.found} == {"sure"}
    assert outcome.complete


def test_a_stub_beside_code_declares_it_and_is_not_asked_about(tmp_path: Path) -> None:
    source = laid(tmp_path, UNCODED)
    found = source.references("pkg.both.fast").outcome.found
    assert [(each.module, each.certainty) for each in found if each.module != "pkg.user"] == [
        ("pkg.both@stub", "unsure")
    ]
    with pytest.raises(RequestError):
        source.references("pkg.both@stub.fast")


ATTRIBUTES = (
    "class Tool:\n    def __init__(self, val):\n        self.val = val\n        self.run = print\n"
    "    def again(self):\n        self.val, x = 2, 3\n        self.run(x)\nclass Low(Tool): ...\n"
    "def f(t: Tool):\n    t.val = 2\n"
)


def test_an_attribute_of_instances_is_read_as_its_assignments(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.py": ATTRIBUTES})
    outcome = source.read("a.Tool.val").outcome
    assert outcome.text == "a:3: self.val = val\na:6: self.val, x = 2, 3\n"
    assert outcome.address == "a.Tool.val"
    assert [(each.line, each.kind) for each in source.callers("a.Tool.run").outcome.found] == [(7, "call")]


@pytest.mark.parametrize("verb", ["read", "references", "callers"])
def test_an_attribute_that_a_class_above_sets_is_named_there(tmp_path: Path, verb: str) -> None:
    source = laid(tmp_path, {"a.py": ATTRIBUTES})
    with pytest.raises(LookupFailed) as caught:
        getattr(source, verb)("a.Low.val")
    assert str(caught.value) == "a.Low sets no val itself; it inherits it."
    assert caught.value.candidates == ("a.Tool.val",)
    for name in ("a.Tool.vel", "a.f.val", "a.Tool.x"):
        with pytest.raises(LookupFailed, match="defines no"):
            getattr(source, verb)(name)
