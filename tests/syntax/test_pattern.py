"""Code patterns: what they match, where, and what the holes stand for."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bae_source.errors import RequestError, SourceError
from bae_source.syntax.patterns import match as pattern_match
from bae_source.syntax.patterns.holes import Bindings, bind
from bae_source.syntax.patterns.pattern import find_matches, parse_pattern
from bae_source.syntax.text.source import Source


def found(pattern: str, code: str | bytes) -> list[tuple[str, dict[str, str]]]:
    """Return the matched code and what the holes stand for."""
    source = Source(code if isinstance(code, bytes) else code.encode())
    return [(match.span.cut(source.text), dict(match.holes)) for match in find_matches(parse_pattern(pattern), source)]


def matches(pattern: str, code: str) -> bool:
    return bool(found(pattern, code))


@pytest.mark.parametrize(
    ("pattern", "code", "holes"),
    [
        ("requests.get($URL, timeout=$T)", "requests.get(a + b, timeout=5)", {"URL": "a + b", "T": "5"}),
        ("f($$$ARGS)", "f(1, *b, c=3, **d)", {"ARGS": "1, *b, c=3, **d"}),
        ("f($$$ARGS)", "f()", {"ARGS": ""}),
        ("f($A, $$$REST)", "f(1, 2, x=3)", {"A": "1", "REST": "2, x=3"}),
        ("f(b=$B, $$$REST)", "f(1, a=2, b=3)", {"B": "3", "REST": "1, a=2"}),
        ("f(b=$B, $$$REST)", "f(1, b=3, a=2)", {"B": "3", "REST": "1, a=2"}),
        ("f(g($$$ARGS), b=$B, $$$REST)", "f(g(0), 1, b=3)", {"ARGS": "0", "B": "3", "REST": "1"}),
        ("f($$$FIRST, $LAST)", "f(1, 2, 3)", {"FIRST": "1, 2", "LAST": "3"}),
        ("$F($A)", "a.b(1)", {"F": "a.b", "A": "1"}),
        ("$X.$M()", "a.b.c()", {"X": "a.b", "M": "c"}),
        ("f($K=$V)", "f(a=1)", {"K": "a", "V": "1"}),
        ("[$A, $$$M, $Z]", "[1, 2, 3, 4]", {"A": "1", "M": "2, 3", "Z": "4"}),
        ("{$K: $V, **$$$REST}", "{1: 2, 3: 4, **e}", {"K": "1", "V": "2", "REST": "3: 4, **e"}),
        ("$X[$I]", "a[1:2]", {"X": "a", "I": "1:2"}),
        ("$X if $C else $Y", "1 if a else 2", {"X": "1", "C": "a", "Y": "2"}),
        ("lambda $$$P: $B", "lambda a, *b, c=1, **d: a", {"P": "a, *b, c=1, **d", "B": "a"}),
        ("$X = $V", "a.b = 1", {"X": "a.b", "V": "1"}),
        ("return $X", "def f():\n    return 1 + 2\n", {"X": "1 + 2"}),
        ("if $C: $$$B", "if a:\n    b()\n    c()\n", {"C": "a", "B": "b()\n    c()"}),
        ("def $F($$$P): $$$B", "@deco\ndef go(a, /, b: int = 1, *, c) -> int:\n    return 1\n",
         {"F": "go", "P": "a, b: int=1, c", "B": "return 1"}),
        ("def $F(self, $A): $$$B", "def go(self, x: int): pass\n", {"F": "go", "A": "x: int", "B": "pass"}),
        ("class $C($$$B): $$$", "class A(B, metaclass=M):\n    x = 1\n", {"C": "A", "B": "B, metaclass=M"}),
        ("from $M import $N", "from a import b\n", {"M": "a", "N": "b"}),
        ("import $$$N", "import a, b.c as d\n", {"N": "a, b.c as d"}),
        ("try:\n    $$$B\nexcept $E as $N:\n    $$$H", "try:\n    a()\nexcept E as e:\n    pass\n",
         {"B": "a()", "E": "E", "N": "e", "H": "pass"}),
        ("for $A in $B: $S", "for x in y:\n    z = 1\n", {"A": "x", "B": "y", "S": "z = 1"}),
        ("$A\nreturn $A", "def f():\n    b\n    return b\n", {"A": "b"}),
    ],
)  # fmt: skip
def test_holes_stand_for_code(pattern: str, code: str, holes: dict[str, str]) -> None:
    [(_, bound)] = found(pattern, code)
    assert bound == holes


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("f(1, 2)", "f( 1,  # one\n   2 )"),
        ("f('a')", 'f("a")'),
        ("f('ab')", "f('a' \"b\")"),
        ("f(a=1, b=2)", "f(b=2, a=1)"),
        ("f(16)", "f(0x10)"),
        ("(a + b)", "a + b"),
        ("$X == None", "(a ==\n None)"),
        ("def f(a): pass", "def f(a: int) -> str: pass"),
        ("if $C: $$$B", "if a: pass\nelif b: pass\n"),
        ("if $C: $$$A\nelse: $$$B", "if a: b\n"),
        ("$X and $X", "a.b(1) and a.b( 1 )"),
        ("def $F(): return $F()", "def f(): return f()"),
        ("async def $F($$$): $$$", "async def f(): pass"),
        ("$_($_)", "f(g)"),
        ("f($$$)", "f(1)"),
        ("'$X'", "'$X'"),
        ("x = y = $V", "x = y = 1"),
        ("lambda $X: $X+1", "lambda x: x+1"),
        ("def $F($X): return $X", "def f(x): return x"),
        ("def $F($X): return $X", "def f(x: int) -> int: return x"),
        ("def $F($X, /): return $X", "def f(x, /): return x"),
        ("def $F(*$A, **$K): return g(*$A, **$K)", "def f(*a, **k): return g(*a, **k)"),
        ("def $F(*, $K=1): return $K", "def f(*, k=1): return k"),
        ("def $F($$$P): return g($$$P)", "def f(a, b: int): return g(a, b)"),
        ("f($X, lambda $X: 0)", "f(x, lambda x: 0)"),
        ("lambda $X: lambda $X: 0", "lambda x: lambda x: 0"),
        ("f($K=$K)", "f(a=a)"),
        ("$K = f($K=1)", "a = f(a=1)"),
        ("class $C: $C = 1", "class A: A = 1"),
        ("def $F(): $F", "def f(): f"),
    ],
)
def test_layout_does_not_matter(pattern: str, code: str) -> None:
    assert matches(pattern, code)


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("f($A)", "f(a, b)"),
        ("f($A)", "f(a=1)"),
        ("f(1)", "f(1.0)"),
        ("f(1)", "f(True)"),
        ("f('a')", "f(b'a')"),
        ("f(a=1)", "f(a=1, b=2)"),
        ("f(**$K)", "f(a=1)"),
        ("$X and $X", "a and b"),
        ("if $C: $$$B\nelse: pass", "if a: b\n"),
        ("def f(a): pass", "def f(a, b): pass"),
        ("def f(a: int): pass", "def f(a): pass"),
        ("@d\ndef f(): pass", "def f(): pass"),
        ("def $F(): pass", "async def f(): pass"),
        ("[$E for $V in $I]", "[x async for x in y]"),
        ("x.$A", "y.a"),
        ("'$X'", "'a'"),
        ("f($X, $X)", "f('1', 1)"),
        ("f(0.0)", "f(-0.0)"),
        ("lambda $X: $X+1", "lambda x: y+1"),
        ("lambda $X: $X+1", "lambda x: x.y+1"),
        ("lambda $X: $X+1", "lambda x=x: x+1"),
        ("lambda $X: $X", "lambda x: 'x'"),
        ("def $F($X): return $X", "def f(*x): return x"),
        ("def $F($$$P): return g($$$P)", "def f(a, *, b): return g(a, b)"),
        ("def $F($$$P): return g($$$P)", "def f(a, b): return g(b, a)"),
        ("def $F($$$P): return g($$$P)", "def f(a, b): return g(a)"),
        ("f(lambda $X: 0, lambda $X: 0)", "f(lambda x: 0, lambda y: 0)"),
        ("f($K=$K)", "f(a=b)"),
        ("f($K=$K)", "f(a='a')"),
        ("def $F(): return $F()", "def f(): return g()"),
    ],
)
def test_what_is_not_the_same_code_does_not_match(pattern: str, code: str) -> None:
    assert not matches(pattern, code)


def test_every_place_is_found_in_its_order_nested_ones_too() -> None:
    assert [text for text, _ in found("f($X)", "f(f(1))\nclass A:\n    def g(self):\n        f(2)\n")] == [
        "f(f(1))",
        "f(1)",
        "f(2)",
    ]


def test_runs_of_statements_are_found_in_every_suite() -> None:
    code = "a()\nb()\nif x:\n    a()\n    b()\nelse:\n    a()\n    c()\n"
    assert [text for text, _ in found("a()\nb()", code)] == ["a()\nb()", "a()\n    b()"]
    assert [text for text, _ in found("a()\n$$$M\nb()", "a()\n1\n2\nb()\nb()\n")] == ["a()\n1\n2\nb()"]


@pytest.mark.parametrize(
    ("pattern", "code", "texts"),
    [
        ("a()\nb()", "a()\na()\nb()\na()\nb()\na()\n", ["a()\nb()", "a()\nb()"]),
        ("a()\n$$$M", "a()\n1\na()\n", ["a()", "a()"]),
        ("$$$M\nb()", "1\n2\nb()\n3\n", ["1\n2\nb()"]),
        ("a($X)\n$$$M\nb($X)", "a(1)\na(2)\nb(2)\nb(1)\n", ["a(1)\na(2)\nb(2)\nb(1)"]),
        ("a($X)\n$$$M\nb($X)", "a(3)\na(2)\nb(2)\nb(1)\n", ["a(2)\nb(2)"]),
        ("a()\n$$$M\nb($X)\n$$$N\nc($X)", "a()\nb(1)\nb(2)\nc(2)\nc(1)\n", ["a()\nb(1)\nb(2)\nc(2)"]),
        ("$$$M\na()\n$$$M", "1\na()\n1\n", ["1\na()\n1"]),
        ("a()\n$$$\nb()", "b()\na()\n", []),
    ],
)
def test_a_run_begins_as_far_above_and_is_as_short_as_can_be(pattern: str, code: str, texts: list[str]) -> None:
    assert [text for text, _ in found(pattern, code)] == texts


@pytest.mark.parametrize("pattern", ["a($X)\nb($X)", "a($X)\n$$$M\nb($Y)", "$$$M\nb($Y)", "a($X)\n$$$M\na(None)"])
def test_each_statement_of_a_suite_is_compared_a_few_times_and_not_once_for_each_other(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[object] = []
    match = pattern_match.match

    def counted(sought: object, code: object, bound: pattern_match.Bindings) -> Iterator[pattern_match.Bindings]:
        if isinstance(code, ast.stmt):
            compared.append(code)
        return match(sought, code, bound)

    monkeypatch.setattr(pattern_match, "match", counted)
    monkeypatch.setattr("bae_source.syntax.patterns.pattern.match", counted)
    code = "".join(f"a({number})\n" for number in range(300))
    assert found(pattern, code) == []
    assert 0 < len(compared) <= 4 * 300


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("[$$$A, 1, $$$B, 1, $$$C, 2, $$$D]", "[{}]"),
        ("[$$$A, 1, $$$B, 1, $$$C, 1, 2, $$$D]", "[2, {}]"),
        ("[$$$A, $$$B, $$$C, $$$D, 2]", "[{}]"),
        ("f($$$A, 1, $$$B, 1, $$$C, $X, 2)", "f(2, {})"),
        ("f($$$A, 1, $$$B, 1, $$$C, 2, $$$D)", "f({})"),
        ("{{**$$$A, 1: 1, **$$$B, 1: 1, **$$$C, 1: 2}}", "{{2: 2, {}}}"),
    ],
)
def test_time_does_not_multiply_with_each_hole_in_a_row(pattern: str, code: str) -> None:
    item = "1: 1" if "{{" in pattern else "1"
    begun = time.perf_counter()
    assert not matches(pattern.replace("{{", "{").replace("}}", "}"), code.format(", ".join([item] * 1_000)))
    assert time.perf_counter() - begun < 3


@pytest.mark.parametrize(
    "pattern",
    ["[$$$A, 0, $$$A]", "[$$$A, $X, $$$A]", "[$$$A, 1, $$$A, 1, $$$A]", "[$$$A, 0, $$$A, 1, $$$A]", "[1, $$$A, $$$A]"],
)
def test_holes_of_one_name_are_of_one_length(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []
    bind = pattern_match.bind

    def counted(hole: str, things: tuple[Any, ...], given: pattern_match.Bindings) -> Iterator[pattern_match.Bindings]:
        bound.append(hole)
        return bind(hole, things, given)

    monkeypatch.setattr(pattern_match, "bind", counted)
    for count in (300, 301, 302):
        matches(pattern, f"[{', '.join(['0'] * count)}]")
    assert bound.count("A") < 12, "and not tried at each place where what is between them may stand"


@pytest.mark.parametrize(
    ("pattern", "code", "expected"),
    [
        ("[$$$A, 0, $$$A]", "[1, 2, 0, 1, 2]", {"A": "1, 2"}),
        ("[$$$A, 0, $$$A]", "[0, 0, 0]", {"A": "0"}),
        ("[$$$A, 0, $$$A]", "[1, 0, 2]", None),
        ("[$$$A, 0, $$$A]", "[0, 0]", None),
        ("[$$$A, 0, $$$A]", "[0]", {"A": ""}),
        ("[$$$A, $$$A, $X]", "[1, 2, 1, 2, 3]", {"A": "1, 2", "X": "3"}),
        ("[$$$A, $$$_, $$$A]", "[1, 2, 3, 1]", {"A": ""}),
        ("[$$$A, 0, $$$, $$$A]", "[1, 0, 3, 1]", {"A": "1"}),
        ("[$$$A, 0, $$$B, 0, $$$A, $$$B]", "[1, 0, 2, 3, 0, 1, 2, 3]", {"A": "1", "B": "2, 3"}),
        ("[$$$A, 0, $$$B, 0, $$$A, $$$B]", "[1, 0, 2, 3, 0, 1, 2]", None),
        ("f($$$A, 0, $$$A)", "f(1, 0, 1)", {"A": "1"}),
        ("f($$$A, 0, $$$A)", "f(1, 0, 2)", None),
        ("g($A, [$$$A, 0])", "g(1, [1, 0])", {"A": "1"}),
        ("g($A, [$$$A, 0, $$$B])", "g(1, [0, 1])", None),
        ("{**$$$A, 0: 0, **$$$A}", "{1: 1, **x, 0: 0, 1: 1, **x}", {"A": "1: 1, **x"}),
    ],
)
def test_holes_of_one_name_stand_for_the_same_wherever_they_stand(
    pattern: str, code: str, expected: dict[str, str] | None
) -> None:
    assert [holes for _, holes in found(pattern, code)] == ([expected] if expected is not None else [])


@pytest.mark.parametrize(
    ("pattern", "code", "item"),
    [
        ("[$$$A, $X, $$$B, $X, $$$C]", "[{}]", "a{0}"),
        ("[$$$, g($X), $$$, h($X), $$$]", "[{}]", "g(a{0}), h(b{0})"),
        ("f($$$, $X, $$$, $X, $$$)", "f({})", "a{0}"),
        ("f($$$, g($X, k=$Y), $$$, g($X, k=$Y), $$$)", "f({})", "g(a{0}, k=b{0})"),
        ("{**$$$, $K: $X, **$$$, $L: $X, **$$$}", "{{{}}}", "k{0}: a{0}"),
        ("def f($$$, $X, $$$, $X, $$$): pass", "def f({}): pass", "a{0}"),
        ("x = $X\n$$$\ny = $X", "", ""),
    ],
)
def test_what_two_holes_of_one_name_stand_for_is_looked_up_and_not_compared_with_each_other_thing(
    pattern: str, code: str, item: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    def counted(hole: str, things: tuple[object, ...], bound: Bindings) -> Iterator[Bindings]:
        nonlocal tried
        tried += 1
        return bind(hole, things, bound)

    monkeypatch.setattr(pattern_match, "bind", counted)
    row = code.format(", ".join(item.format(number) for number in range(200)))
    suite = "".join(f"x = a{number}\ny = b{number}\n" for number in range(200))
    assert not matches(pattern, suite if "\n" in pattern else row)
    assert 200 <= tried < 200 * 20


@pytest.mark.parametrize(
    ("pattern", "code", "holes"),
    [
        ("[$$$A, 1, $$$B, 2, $$$C]", "[1, 3, 1, 2, 2]", {"A": "", "B": "3, 1", "C": "2"}),
        ("[$$$A, $X, $$$B, $X, $$$C]", "[1, 2, 3, 2]", {"A": "1", "X": "2", "B": "3", "C": ""}),
        ("[$$$A, 0, $$$A, 1]", "[2, 0, 0, 2, 0, 1]", {"A": "2, 0"}),
        ("[$$$A, $$$B, 0, $$$B, $$$A]", "[1, 2, 0, 2, 1]", {"A": "1", "B": "2"}),
        ("f($$$A, $X, $$$B, g($X), $$$C)", "f(1, 2, 3, g(2), k=1)", {"A": "1", "X": "2", "B": "3", "C": "k=1"}),
        ("{**$$$A, 1: $X, **$$$B, 2: $X}", "{1: 3, 1: 4, 2: 4}", {"A": "1: 3", "X": "4", "B": ""}),
        ("f($$$A, $X, $$$B, $X, $$$C)", "f(1, 2, 2, 1)", {"A": "1", "X": "2", "B": "", "C": "1"}),
        ("[$$$A, g($X, $$$B), $$$C, $X]", "[g(1, 2), g(3, 4), 3]", {"A": "g(1, 2)", "X": "3", "B": "4", "C": ""}),
        ("[$$$A, f(k=$X, l=$Y), $Y]", "[f(l=1, k=2), f(l=2, k=1), 2]", {"A": "f(l=1, k=2)", "X": "1", "Y": "2"}),
        ("def f($$$A, $X, $$$B): return $X", "def f(a, b: int, c): return b", {"A": "a", "X": "b: int", "B": "c"}),
    ],
)
def test_what_was_tried_is_tried_again_where_a_hole_is_bound_to_another_thing(
    pattern: str, code: str, holes: dict[str, str]
) -> None:
    assert found(pattern, code) == [(code, holes)]


def test_what_several_holes_stand_for_is_found_in_long_rows_as_in_short_ones() -> None:
    row = ", ".join(map(str, range(3000)))
    [(_, bound)] = found("[$A, $$$M, $Z]", f"x = [{row}]\n")
    assert (bound["A"], bound["Z"], bound["M"].count(",")) == ("0", "2999", 2997)
    [(_, bound)] = found("f($A, $$$M)", f"f({row}, k=1)\n")
    assert (bound["A"], bound["M"].count(",")) == ("0", 2999)


@pytest.mark.parametrize(
    "content",
    [
        "x = 'é'; f( 'ü', 1 )\r\n".encode(),
        b"\xef\xbb\xbf" + "x = 'é'; f( 'ü', 1 )\r\n".encode(),
        "# -*- coding: latin-1 -*-\rx = 'é'; f( 'ü', 1 )\r".encode("latin-1"),
        "\f\nx = '𝔞'; f( 'ü', 1 )".encode(),
    ],
    ids=["crlf", "bom", "latin-1 and cr", "astral and form feed"],
)
def test_spans_fit_whatever_the_encoding_and_line_ends_are(content: bytes) -> None:
    assert found("f($A, $B)", content) == [("f( 'ü', 1 )", {"A": "'ü'", "B": "1"})]


def test_a_match_inside_an_f_string_has_a_true_line() -> None:
    code = 'x = 1\ny = (f"{f(a)}"\n     f"é {g( f(b) )}")\n'
    texts = found("f($X)", code)
    assert [bound["X"] for _, bound in texts] == ["a", "b"]
    if sys.version_info < (3, 12):
        assert all(text.startswith('f"{f(a)}"') for text, _ in texts)
    else:
        assert [text for text, _ in texts] == ["f(a)", "f(b)"]


def test_a_hole_in_the_field_of_an_f_string_is_one() -> None:
    assert matches('f"{$X}"', 'y = f"{a.b}"')
    assert not matches('f"{$X}"', 'y = f"{a.b}!"')


def test_a_decorated_definition_begins_at_its_keyword() -> None:
    [(text, _)] = found("def $F(): pass", "@d\ndef f(): pass\n")
    assert text == "def f(): pass"


def test_words_are_those_that_every_match_has() -> None:
    assert parse_pattern("requests.get($URL, timeout='send', $$$REST)").words == {"requests", "get", "timeout"}
    assert parse_pattern("if $C: return None  # why\nelse: $$$B").words == {"if", "return", "None"}
    assert parse_pattern("$X is not $Y").words == {"is", "not"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("f(", "line 1"),
        ("f(a=1, $X)", "positional argument follows"),
        ("x $Y", "line 1"),
        ("except $E: pass", "does not parse"),
        ("$X", "everything"),
        ("$$$ALL", "everything"),
        ("# nothing", "no code"),
        ("$1 + 1", "does not parse"),
        ("x" * 10_001, "at most"),
        ("(" * 500 + ")" * 500, "nested"),
        ("a\0b", "null bytes"),
    ],
)
def test_a_pattern_that_is_none_is_refused(pattern: str, expected: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_pattern(pattern)
    assert caught.value.code == "invalid_arguments"
    assert expected in caught.value.message
    assert caught.value.hints


def test_code_that_does_not_parse_is_an_error_with_its_place() -> None:
    with pytest.raises(SourceError) as caught:
        found("f($X)", "x = 1\nf(:\n")
    assert caught.value.code == "syntax_invalid"
    assert caught.value.details["line"] == 2


def test_code_that_is_too_deep_is_an_error_and_no_crash() -> None:
    with pytest.raises(SourceError) as caught:
        found("f($X)", "x = " + "-" * 100_000 + "1\n")
    assert caught.value.code == "not_lossless"
    assert found("f($X)", "f(1" + " + 1" * 400 + ")") != []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("@cached\ndef $F($$$): $$$", "@other\n@cached\n@third\ndef f():\n    return 1\n"),
        ("send($X)", "x = [\n    1,\n    send(\n        2\n    ),\n]  # type: ignore\n"),
        ("send($X)", "x = f'''\n{send(1)}\n{f(f'{send(2)}')}\n'''\nsend(3)\n"),
        ("send($X)", "def f(a=send(1), *, b: send(2) = 3):\n    with send(4) as x, y: pass\n"),
        ("send($X)", "x = f(\n    *y,\n    key=lambda: send(1),\n)\nmatch x:\n    case [1] if send(2): pass\n"),
        ("def $F($$$): return send($X)", "class A:\n\n    def f(\n        self,\n    ):\n        return send(1)\n"),
        ("$X.send", "x = (y\n     .z\n     .send)\r\nx.send\rz.send\n"),
        ("send($X)", "é = send(1)\nx = ｓend(2)\n"),
    ],
)
def test_what_lies_on_no_line_with_a_name_of_the_pattern_is_passed_over(pattern: str, text: str) -> None:
    found = find_matches(parse_pattern(pattern), Source(text.encode()))
    assert found
    nothing_is_passed_over = Source(f"{text}# ﬁ is fi to Python\n".encode())  # where text has such letters
    assert find_matches(parse_pattern(pattern), nothing_is_passed_over) == found
