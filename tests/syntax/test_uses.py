"""Uses of real files, against the tokenizer, against the compiler's own symbol tables, and shape by shape."""

from __future__ import annotations

import ast
import gc
import io
import itertools
import keyword
import random
import symtable
import tokenize
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bae_source.errors import SourceError
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.kept import kept, recalled
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off
from benchmarks import corpus

SEED = 20261122
SOURCES = Path(__file__).parent.parent.parent / "fixtures" / "sources"


def uses(text: str) -> u.Uses:
    return uses_of(Source(text.encode()))


def kinds(text: str, name: str) -> list[str]:
    return [u.KINDS[mention[3]] for mention in sorted(uses(text).mentions.get(name, []))]


def sample(part: int, parts: int = 4, count: int = 15) -> list[Path]:
    """A seeded part of the standard library's files that the tokenizer and the parser here understand alike."""
    files = sorted(corpus.python_files(corpus.standard_library()))
    random.Random(SEED).shuffle(files)
    return list(itertools.islice(filter(_is_plain, files[part::parts]), count))


def _is_plain(path: Path) -> bool:
    """Whether `tokenize` and `ast` count the lines of a file alike, and it is Python for the running one."""
    content = path.read_bytes()
    if len(content) > 150_000 or b"\f" in content or b"\r" in content:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
            list(tokenize.tokenize(io.BytesIO(content).readline))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return False
    return True


@pytest.mark.parametrize("part", range(4))
def test_every_name_of_a_file_is_a_mention_or_a_definition_and_stands_at_the_reported_place(part: int) -> None:
    for path in sample(part):
        _check_places(path)


def _check_places(path: Path) -> None:
    source = Source(path.read_bytes())
    found = uses_of(source)
    lines = source.text.split("\n")
    places: set[tuple[int, int]] = set()
    for name, mentions in found.mentions.items():
        for line, column, *_ in mentions:
            places.add((line, column))
            written = lines[line - 1].encode()[column:].decode()
            normalised = unicodedata.normalize("NFKC", written)
            assert normalised.startswith((name, f"__{name.rpartition('__')[2]}")), (path, name, line, column, written)
    tree = ast.parse(source.text)
    parameters = {(node.lineno, node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.arg)}
    class_keywords = {
        (each.lineno, each.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for each in node.keywords
    }
    missing = [
        place
        for place, word, before in _names(source.text, lines)
        if place not in places | parameters | class_keywords
        and before not in ("def", "class", "as", "!")  # `!r` in an f-string, from Python 3.12 on
        and word not in ("match", "case", "type", "_")
    ]
    assert missing == [], path


def _names(text: str, lines: list[str]) -> list[tuple[tuple[int, int], str, str]]:
    """Every identifier outside strings: its place, itself, and the token before it."""
    found = []
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            line, column = token.start
            found.append(((line, len(lines[line - 1][:column].encode())), token.string, before))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.string
    return found


@pytest.mark.parametrize("part", range(4))
def test_scopes_bind_what_the_compiler_says_they_bind(part: int) -> None:
    for path in sample(part):
        source = Source(path.read_bytes())
        assert _ours(uses_of(source)) == _theirs(symtable.symtable(source.text, "m", "exec")), path


def _ours(found: u.Uses) -> Counter[tuple[str, frozenset[str]]]:
    """What each function and class binds, with the comprehensions and lambdas in it, which newer Pythons put into it.

    The module is left out: it is bound to from inside, by `global`.
    """
    own = [_bound(scope) for scope in found.scopes]
    for number in range(len(found.scopes) - 1, 0, -1):  # an outer scope comes before its inner ones
        if found.scopes[number].kind == u.INNER_SCOPE:
            own[found.scopes[number].parent] |= own[number]
    kinds = {u.CLASS_SCOPE: "class", u.FUNCTION_SCOPE: "function"}
    return Counter(
        (kinds[scope.kind], frozenset(own[number])) for number, scope in enumerate(found.scopes) if scope.kind in kinds
    )


def _bound(scope: u.Scope) -> set[str]:
    names = scope.names.items()
    bound = {name for name, found in names if any(each[0] not in (u.GLOBAL, u.NONLOCAL) for each in found)}
    return {name for name in bound if "@" not in name}  # what a handler catches has a name of its own besides


def _theirs(table: symtable.SymbolTable) -> Counter[tuple[str, frozenset[str]]]:
    scopes: Counter[tuple[str, frozenset[str]]] = Counter()
    for child in table.get_children():
        kind = str(child.get_type()).rpartition(".")[2].lower()
        if kind in ("class", "function") and child.get_name() not in _INNER:
            scopes[kind, frozenset(_with_inner(child))] += 1
        scopes.update(_theirs(child))
    return scopes


def _with_inner(table: symtable.SymbolTable) -> set[str]:
    inner = (_with_inner(child) for child in table.get_children() if child.get_name() in _INNER)
    return _names_bound(table).union(*inner)


_INNER = ("listcomp", "setcomp", "dictcomp", "genexpr", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "lambda")
_MADE = ("__static_attributes__", "__firstlineno__", "__classdict__", "__conditional_annotations__")
"""Names that newer Pythons bind in every class by themselves."""


def _names_bound(table: symtable.SymbolTable) -> set[str]:
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_local() and symbol.get_name() not in _MADE and symbol.get_name()[0] != "." and _is_bound(symbol)
    }


def _is_bound(symbol: symtable.Symbol) -> bool:
    return (
        symbol.is_assigned()
        or symbol.is_imported()
        or symbol.is_parameter()
        or symbol.is_namespace()
        or symbol.is_annotated()
    )


def test_uses_come_back_from_the_cache_as_they_went_in() -> None:
    for path in sample(0, count=10):
        found = uses_of(Source(path.read_bytes()))
        assert recalled(msgspec.msgpack.encode(kept(found))) == found


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.py")), ids=lambda path: path.stem)
def test_a_nasty_file_has_uses_or_the_error_that_parsing_it_gives(path: Path) -> None:
    def outcome(read: Callable[[Source], object]) -> str:
        try:
            read(Source(path.read_bytes()))
        except SourceError as error:
            return error.code
        return "read"

    if outcome(uses_of) != outcome(parse):
        assert path.stem in ("python2", "tab_error"), "in which nothing but suites of functions is broken"
        assert not uses_of(Source(path.read_bytes())).whole


def test_a_name_is_mentioned_in_the_way_it_is_used() -> None:
    assert kinds("import f\nf()\nf.x\nf = 1\ndel f\n", "f") == ["import", "call", "read", "write", "delete"]
    assert kinds("@C\nclass D(C, k=C): ...\ndef g(x: C, y=C) -> 'C': ...\n", "C") == [
        "decorator", "base", "read", "annotation", "read", "annotation",
    ]  # fmt: skip
    assert kinds("g(k=1)\n__all__ = ['k']\n", "k") == ["keyword", "export"]


def test_an_annotation_in_a_string_is_read_and_its_names_are_where_they_stand() -> None:
    found = uses("x: \"List[ 'C' ] | app.C\" = 1\n")
    assert sorted(found.mentions["C"])[0][:2] == (1, 11)
    assert sorted(found.mentions["C"])[1][:2] == (1, 22)
    assert "app" in found.mentions


def test_definitions_of_one_name_are_numbered_only_where_they_stand_apart() -> None:
    together = "class A:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, v): ...\n"
    assert uses(together).owners == ("", "A", "A.x", "A.x")
    apart = "def f(): ...\ny = 1\ndef f(): ...\n"
    assert uses(apart).owners == ("", "f[0]", "y", "f[1]")


def test_a_private_name_of_a_class_is_the_class_s_own() -> None:
    found = uses("__m = 1\nclass _C:\n    def __m(self): return self.__m, __m, __m__\n")
    assert set(found.mentions) >= {"__m", "_C__m", "__m__"}
    assert len(found.mentions["_C__m"]) == 2


def test_what_global_lets_a_function_bind_is_bound_in_the_module() -> None:
    found = uses("x = 1\ndef f():\n    global x\n    x = make()\n")
    assert [binding[0] for binding in found.scopes[0].names["x"]] == [u.ASSIGNED, u.ASSIGNED]
    assert [binding[0] for binding in found.scopes[1].names["x"]] == [u.GLOBAL]


def test_attributes_of_self_are_the_class_s() -> None:
    found = uses(
        "class A:\n    def f(me):\n        me.x = 1\n        def g(): me.y = 2\n"
        "    @staticmethod\n    def h(a): a.z = 3\n"
    )
    assert set(found.scopes[1].attributes) == {"x", "y"}


def test_attributes_of_anything_else_are_bound_by_name_with_the_value_and_the_receiver() -> None:
    found = uses(
        "class A:\n    def f(self):\n        self.x = 1\n        other.x = one\n"
        "a.b.x, c.y = two, three\nsetattr(d, 'z', four)\nsetattr(e, name, five)\ndel f.w\n"
    )
    named = {name: [(how, found.expressions[value][1:2], line) for how, value, _, line in found.bound[name]]
             for name in found.bound}  # fmt: skip
    assert named == {
        "x": [(u.SET, ("one",), 4), (u.SET, ("two",), 5)],
        "y": [(u.SET, ("three",), 5)],
        "z": [(u.SET, ("four",), 6)],
    }
    assert [found.expressions[binding[2]][1] for binding in found.bound["z"]] == ["d"]


def test_a_walrus_in_a_comprehension_binds_outside_of_it_and_in_a_lambda_inside() -> None:
    found = uses("[y := 1 for x in xs]\nlambda: (z := 1)\n")
    assert set(found.scopes[0].names) == {"y"}
    assert [set(scope.names) for scope in found.scopes[1:]] == [{"x"}, {"z"}]


def test_what_is_too_deep_is_listed_word_by_word() -> None:
    found = uses("def f(): ...\nx = " + "g(y) + " * 5_000 + "f()\nf()\n")
    assert [(m[0], u.KINDS[m[3]]) for m in sorted(found.mentions["f"])] == [(2, "mention"), (3, "call")]
    assert {u.KINDS[mention[3]] for mention in found.mentions["g"]} == {"mention"}
    assert [u.KINDS[mention[3]] for mention in found.mentions["x"]] == ["write"]


def test_a_long_chain_is_no_trouble() -> None:
    found = uses("x = " + " + ".join(["f()"] * 20_000) + "\n")
    assert len(found.mentions["f"]) == 20_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['a', 'b']\n", ("a", "b")),
        ("__all__ = ['a'] + ['b']\n__all__ += ('c',)\n", ("a", "b", "c")),
        ("__all__ = ['a']\n__all__.append('d')\n__all__.extend(['e'])\n", ("a", "d", "e")),
        ("__all__ = make()\n", None),
        ("x = 1\n", None),
    ],
)  # fmt: skip
def test_a_static_all_is_read(text: str, names: tuple[str, ...] | None) -> None:
    found = uses(text)
    assert found.exported == names
    assert found.exports_known is ("make" not in text)


def test_uses_leave_no_garbage_in_circles() -> None:
    content = (
        b"class A(B):\n    def f(self, x: 'C') -> None:\n        match x:\n            case D(y=1): send(lambda: y)\n"
    )
    source = Source(content)
    uses_of(source)
    gc.collect()
    with collector_off():
        uses_of(source)
        assert gc.collect() == 0


BROKEN = """
class A:
    def go(self, x):
        self.left, y = x.__next = 1, 2
        return (y

    def other(self):
        return self.go


async def f(
    a,
) -> int:
    # so
    text = '''
def inner(): ...
'''
    print a.send, "\u00e9", __x == 1

def g(x): return x
"""


def test_suites_that_do_not_parse_are_listed_word_by_word_and_the_rest_is_analysed() -> None:
    found = uses_of(Source(BROKEN.encode()))
    assert not found.whole
    assert found.owners == ("", "A", "A.go", "A.other", "f", "g")
    assert [each[3] for each in found.mentions["go"]] == [u.READ]
    assert [found.owners[each[5]] for each in found.mentions["send"]] == ["f"]
    assert found.mentions["send"] == [(18, 12, 4, u.MENTION, u.OPAQUE, 4)]
    assert found.mentions["__x"] == [(18, 24, 4, u.MENTION, u.OPAQUE, 4)]
    assert [each[0] for each in found.mentions["_A__next"]] == [4]
    assert found.scopes[1].attributes == {"left": [(u.OTHER, 0, 0, 4)]}
    assert found.bound == {"_A__next": [(u.SET, u.OPAQUE, u.PLAIN, 4)]}
    assert [scope.returns == [u.OPAQUE] for scope in found.scopes if scope.kind == u.FUNCTION_SCOPE][:3] == [
        True, False, True,
    ]  # fmt: skip


def test_a_broken_function_of_one_long_line_is_listed_once() -> None:
    found = uses_of(Source(f"\n\n\n\ndef g(x):\n    y = = x\n    # \u00e9 {'w ' * 40_000}\n    x\n".encode()))
    assert [mention[:2] for mention in found.mentions["w"][:2]] == [(7, 9), (7, 11)]
    assert len(found.mentions["w"]) == 40_000


def test_a_file_that_is_broken_in_more_than_functions_has_no_uses() -> None:
    code = "".join(f"def f{number}():\n    x = 1\n    print 'x'\n\n" for number in range(100))
    assert not uses_of(Source(code.encode())).whole
    with pytest.raises(SourceError):
        uses_of(Source(f"{code}print 'x'\n".encode()))
