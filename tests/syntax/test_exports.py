"""What packages expose, more of it and less again: cases as text, real packages, and properties of runs of items."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import Refused
from bae_source.model.span import Span
from bae_source.syntax.exports.expose import Exposed, expose
from bae_source.syntax.exports.view import View
from bae_source.syntax.exports.withdraw import exposed_of, withdraw
from bae_source.syntax.outline.tree import Tree, parse
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.revision import Revision
from bae_source.syntax.text.source import Source
from benchmarks import corpus

MODULES = ["x", "y", "new", "sub.deep", "aaa"]
INITS = [
    ("httpx", "httpx"),
    ("flask", "src/flask"),
    ("attrs", "src/attr"),
    ("rich", "rich"),
    ("requests", "src/requests"),
    ("sqlalchemy", "lib/sqlalchemy"),
    ("sqlalchemy", "lib/sqlalchemy/dialects/mysql"),
    ("django", "django/db/models"),
    ("django", "django/contrib/gis/db/models"),
    ("black", "src/black"),
]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing that is exposed by one `__init__`."""

    about: str
    text: str
    module: str
    names: tuple[str, ...]
    exports_them: bool
    changes: str
    notices: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Read the cases of exports.cases."""
    whole = (Path(__file__).parent / "exports.cases").read_text(encoding="utf-8").replace("␉", "\t")
    for block in whole.split("\n=== ")[1:]:
        head, *asked = re.split(r"^>>> ", block.removesuffix("\n") + "\n", flags=re.MULTILINE)
        about, _, text = head.partition("\n")
        about, _, how = about.partition(" [")
        text = text.removesuffix("\n") if "no-final-newline" in how else text
        for each in asked:
            first, *lines = each.rstrip("\n").split("\n")
            module, *names = first.split()
            yield Case(
                about=about,
                text=text.replace("\n", "\r\n") if "crlf" in how else text,
                module=module.removesuffix("!"),
                names=tuple(names),
                exports_them=module.endswith("!"),
                changes="\n".join(line for line in lines if line[:1] in "+-"),
                notices=tuple(line[1:] for line in lines if line[:1] == "?"),
            )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.about}: {case.module} {' '.join(case.names)}")
def test_what_is_exposed_comes_out_as_written_and_goes_again_to_the_byte(case: Case) -> None:
    found, after = exposed(case.text, case.module, case.names, exports_them=case.exports_them)
    assert changes(case.text, after) == case.changes
    assert tuple(notice.code for notice in found.notices) == case.notices
    assert "\r\n" not in case.text or "\n" not in after.replace("\r\n", "")
    again, _ = exposed(after, case.module, case.names, exports_them=case.exports_them)
    assert again.splices == []
    assert withdrawn(after, case.module, found.names or case.names, exports_them=case.exports_them) == case.text


@pytest.mark.parametrize(("name", "folder"), INITS)
@pytest.mark.parametrize("names", [("Alpha", "BETA", "gamma_rays"), ()], ids=["names", "module"])
def test_real_packages_give_every_byte_back(name: str, folder: str, names: tuple[str, ...]) -> None:
    root = corpus.fetch(next(release for release in corpus.RELEASES if release.name == name)) / folder
    content, package = (root / "__init__.py").read_bytes(), root.name
    tree = parse(Source(content))
    modules = [*(each.stem for each in root.glob("*.py")), "middle_new"]
    found = expose(tree, package, "middle_new", names, modules=modules)
    after = splice(tree.text, found.splices)
    assert _bound(after) - _bound(tree.text) == set(names or ("middle_new",))
    later = parse(Source(tree.source.encode(after)))
    back = withdraw(later, package, "middle_new", found.names, modules=modules)
    assert tree.source.encode(splice(after, back.splices)) == content


def test_a_name_that_the_package_binds_otherwise_is_refused() -> None:
    for text in ("from .y import N\n", "def N(): ...\n", "import os as N\n", "from os import path as N\n"):
        with pytest.raises(Refused) as caught:
            exposed(text, "new", ("N",))
        assert caught.value.code == "name_collision"
        assert caught.value.candidates == ("pkg.N",)


def test_what_the_package_itself_uses_it_goes_on_importing() -> None:
    text = 'from .x import A, B\n\n__all__ = ["A", "B"]\n\n\ndef f():\n    return A\n'
    found = withdraw(tree_of(text), "pkg", "x", ["A", "B"], modules=MODULES)
    assert splice(text, found.splices) == text.replace("A, B\n", "A\n").replace('["A", "B"]', "[]")
    assert [notice.code for notice in found.notices] == ["import_kept"]


def test_a_local_variable_of_the_same_name_is_no_use() -> None:
    text = "from .x import mode, other\n\n\ndef f(mode):\n    return mode\n"
    assert withdrawn(text, "x", ("mode",)) == text.replace("mode, other", "other")


def test_without_names_all_of_a_module_is_withdrawn() -> None:
    text = 'from . import x, y\nfrom .x import A\nfrom .y import B\n\n__all__ = ["A", "B", "x"]\n'
    assert exposed_of(tree_of(text), "pkg", "x", modules=MODULES) == ("x", "A")
    assert withdrawn(text, "x", ()) == 'from . import y\nfrom .y import B\n\n__all__ = ["B"]\n'


def test_a_star_import_stays_while_some_of_its_names_do() -> None:
    text = 'from .x import *\n\n__all__ = ["A", "B"]\n'
    found = withdraw(tree_of(text), "pkg", "x", ["A"], modules=MODULES)
    assert splice(text, found.splices) == 'from .x import *\n\n__all__ = ["B"]\n'
    assert [notice.code for notice in found.notices] == ["star_kept"]


def test_the_last_import_for_type_checkers_leaves_a_statement_behind() -> None:
    text = (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .x import A\n\n"
        '_LAZY = {"A": ".x", "B": ".y"}\n\n\ndef __getattr__(name):\n    return import_module(_LAZY[name])\n'
    )
    after = withdrawn(text, "x", ("A",))
    assert after == text.replace("from .x import A", "pass").replace('"A": ".x", ', "")


def test_a_table_is_one_only_where_names_are_found_by_it() -> None:
    unused = '_LAZY = {"A": ".x"}\n\n\ndef __getattr__(name):\n    raise AttributeError(name)\n'
    foreign = '_NAMES = {"A": "somewhere"}\n\n\ndef __getattr__(name):\n    return _NAMES[name]\n'
    for text in (unused, foreign):
        found, after = exposed(text, "new", ("N",))
        assert "from .new import N\n" in after
        assert text in after
        assert [notice.code for notice in found.notices] == ["not_lazy"]


def test_syntax_newer_than_the_running_python_is_read_statement_by_statement() -> None:
    text = 'from .x import A\n\n__all__ = ["A"]\n\nt = t"{A}"\n'
    view = View(text)
    assert [each.module for each in view.froms] == ["x"]
    assert [listed.names for each in view.alls for listed in each.lists] == [("A",)]
    _, after = exposed(text, "new", ("N",))
    assert after == 'from .new import N\nfrom .x import A\n\n__all__ = ["A", "N"]\n\nt = t"{A}"\n'


ITEM = st.sampled_from(["A", "B", "C", "Dd", "e", "F1", "F10", "f2"])
GAP = st.sampled_from(["", " ", "\n    ", "  # why\n    ", "\n\n    # above\n    "])
REMARK = st.sampled_from(["", "  # why", "  # noqa"])


@st.composite
def lists(draw: st.DrawFn) -> str:
    """Draw an `__all__` that is written in some way or other."""
    names = draw(st.lists(ITEM, unique=True, max_size=6))
    quote = draw(st.sampled_from(["'", '"']))
    opening, closing = draw(st.sampled_from([("[", "]"), ("(", ")")]))
    pieces = [f"{quote}{name}{quote}" for name in names]
    text = "".join(f"{piece},{draw(GAP)}" for piece in pieces[:-1]) + "".join(pieces[-1:])
    ended: bool = draw(st.booleans())
    comma = "," if pieces and (ended or (opening == "(" and len(pieces) == 1)) else ""
    return f"__all__ = {opening}{draw(GAP)}{text}{comma}{draw(GAP)}{closing}\n"


@settings(max_examples=80, deadline=None)
@given(lists(), st.sampled_from(["AA", "Zz", "b", "F2"]))
def test_any_list_takes_a_name_and_gives_it_back(text: str, name: str) -> None:
    _, after = exposed(text, "new", (name,))
    before = ast.literal_eval(text.partition("= ")[2])
    there = ast.literal_eval(after.partition("__all__ = ")[2])
    assert type(there) is type(before)
    assert [each for each in there if each != name] == list(before)
    assert list(there).count(name) == 1
    assert sorted(before) != list(before) or sorted(there) == list(there)
    assert withdrawn(after, "new", (name,)) == text


@st.composite
def inits(draw: st.DrawFn) -> str:
    """Draw an `__init__` that imports from some modules, in brackets or not, and may load others lazily."""
    lines = [draw(st.sampled_from(["", '"""Doc."""', '"""Doc."""\n', "# c", "import os", "import os\n"]))]
    for number, module in enumerate(draw(st.lists(st.sampled_from(["x", "y", "sub.deep"]), unique=True))):
        names = [f"{name}{number}" for name in draw(st.lists(ITEM, unique=True, min_size=1, max_size=4))]
        between = "".join(f"{name},{draw(GAP)}" for name in names[:-1]) + names[-1]
        opened: bool = draw(st.booleans())
        listed = f"({draw(GAP)}{between}{draw(st.sampled_from(['', ',']))}{draw(GAP)})" if opened else ", ".join(names)
        lines.append(f"from {draw(st.sampled_from(['', 'pkg']))}.{module} import {listed}{draw(REMARK)}")
    if draw(st.booleans()):
        entries = [f'"{name}": ".y"' for name in draw(st.lists(ITEM, unique=True, min_size=1, max_size=4))]
        body = (
            "".join(f"{entry},{draw(GAP)}" for entry in entries[:-1]) + entries[-1] + draw(st.sampled_from(["", ","]))
        )
        lines += [f"_T = {{{draw(GAP)}{body}{draw(GAP)}}}", "def __getattr__(name): return import_module(_T[name])"]
    text = "\n".join(line for line in lines if line)
    ending: str = draw(st.sampled_from(["", "\n", "\n\n\ndef f(): ...\n"]))
    return text + ending


@settings(max_examples=120, deadline=None)
@given(inits(), st.sampled_from(MODULES), st.sampled_from([("N",), ("NN", "n"), ()]), st.booleans())
def test_any_init_exposes_something_and_gives_every_byte_back(
    text: str, module: str, names: tuple[str, ...], crlf: bool
) -> None:
    text = text.replace("\n", "\r\n") if crlf else text
    found, after = exposed(text, module, names)
    assert "\r\n" not in text or "\n" not in after.replace("\r\n", "")
    assert exposed(after, module, names)[0].splices == []
    assert withdrawn(after, module, found.names or names) == text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), st.text("xyz", max_size=4)), max_size=6))
def test_steps_on_a_text_come_to_splices_on_the_first(steps: list[tuple[int, int, str]]) -> None:
    first = "0123456789abcdefghij"
    revision = Revision(first)
    for start, length, new in steps:
        start = min(start, len(revision.text))
        revision.apply([(Span(start, min(start + length, len(revision.text))), new)])
    assert splice(first, revision.splices()) == revision.text


def tree_of(text: str) -> Tree:
    return parse(Source(text.encode()))


def exposed(text: str, module: str, names: tuple[str, ...], *, exports_them: bool = False) -> tuple[Exposed, str]:
    found = expose(tree_of(text), "pkg", module, names, modules=MODULES, exports_them=exports_them)
    return found, splice(text, found.splices)


def withdrawn(text: str, module: str, names: tuple[str, ...], *, exports_them: bool = False) -> str:
    found = withdraw(tree_of(text), "pkg", module, names, modules=MODULES, exports_them=exports_them)
    return splice(text, found.splices)


def changes(before: str, after: str) -> str:
    lines = difflib.ndiff(_lines(before), _lines(after))
    return "\n".join(line[0] + line[2:] for line in lines if line[0] in "+-")


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _bound(text: str) -> set[str]:
    imports = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name for node in imports for alias in node.names}


@pytest.mark.parametrize(
    ("present", "name", "expected"),
    [
        (("request", "Request", "Response"), "Proxy", ("Proxy", "request", "Request", "Response")),
        (("delete", "request", "Request"), "post", ("delete", "post", "request", "Request")),
        (("a", "B", "b", "C"), "c", ("a", "B", "b", "C", "c")),
        (("z", "A", "m"), "b", ("z", "A", "m", "b")),
    ],
)
def test_an_all_sorted_without_regard_to_case_stays_so(
    present: tuple[str, ...], name: str, expected: tuple[str, ...]
) -> None:
    text = f"from .x import {', '.join(present)}\n\n__all__ = {list(present)!r}\n"
    tree = parse(Source.of_text(text))
    found = splice(text, expose(tree, "pkg", "x", [name], modules=["x"]).splices)
    assert View(found).alls[0].lists[0].names == expected


@pytest.mark.parametrize(
    ("before", "imported"),
    [
        ("if X:\n    from .mod import alpha\n", True),
        ("try:\n    from .mod import alpha\nexcept ImportError:\n    pass\n", True),
        ("for _ in ():\n    from .mod import alpha\n", True),
        ("try:\n    from .mod import alpha\nexcept ImportError:\n    alpha = None\n", False),
        ("if X:\n    from .mod import alpha\nelse:\n    from .other import alpha\n", False),
        ("try:\n    from .mod import alpha\nexcept ImportError:\n    raise\n", False),
    ],
)
def test_a_name_is_exported_only_where_the_package_always_has_it(before: str, *, imported: bool) -> None:
    text = f"X = 1\n{before}\n__all__ = []\n"
    found = expose(parse(Source.of_text(text)), "pkg", "mod", ["alpha"], modules=["mod", "other"])
    after = splice(text, found.splices)
    assert bool(re.search(r"(?m)^from \.mod import alpha$", after)) is imported
    assert [each.code for each in found.notices] == (["conditional_import"] if imported else [])
    assert "__all__ = ['alpha']" in after.replace('"', "'")


@pytest.mark.parametrize("module", ["alpha", "alpha.inner"])
def test_a_lazy_name_of_its_own_module_is_refused_and_an_eager_one_is_not(module: str) -> None:
    lazy = '_LAZY = {"Gamma": ".other"}\n\n\ndef __getattr__(name):\n    return __import__(_LAZY[name])\n'
    modules = ["alpha", "alpha.inner", "other"]
    with pytest.raises(Refused) as caught:
        expose(parse(Source.of_text(lazy)), "pkg", module, ["beta", "alpha"], modules=modules)
    assert caught.value.code == "name_collision"
    assert expose(parse(Source.of_text(lazy)), "pkg", module, ["beta"], modules=modules).splices
    assert expose(parse(Source.of_text("")), "pkg", module, ["alpha"], modules=modules).splices
