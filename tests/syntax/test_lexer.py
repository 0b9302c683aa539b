"""Strings, comments and lines as CPython's own tokenizer sees them; f-strings by hand, on every interpreter alike."""

from __future__ import annotations

import io
import itertools
import time
import token
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source.model.span import Span
from bae_source.syntax.text.lexer import Lexed, LineKind, end_of_header, end_of_line, lex
from bae_source.syntax.text.source import Lines, Source
from tests.project.library import sample, shown

_STARTS = {getattr(token, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(token, name)}
_ENDS = {getattr(token, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(token, name)}
_QUIET = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.NEWLINE}
FILES = sample(60, "lexer", largest=120_000)


def _tokens(text: str) -> Iterator[tuple[int, Span, int]]:
    """Yield the kind, span and first line of every token outside f-strings; an f-string is one token."""
    lines, opened = Lines(text), []
    for found in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        start = lines.start(found.start[0]) + found.start[1]
        if found.type in _STARTS:
            opened.append((start, found.start[0]))
        elif found.type in _ENDS:
            start, row = opened.pop()
            if not opened:
                yield tokenize.STRING, Span(start, lines.start(found.end[0]) + found.end[1]), row
        elif not opened:
            yield found.type, Span(start, lines.start(found.end[0]) + found.end[1]), found.start[0]


def _kinds(text: str, tokens: list[tuple[int, Span, int]]) -> list[LineKind | None]:
    """Return what each line is, read off the tokens; None where a continuation could be blank or behind a backslash."""
    lines = Lines(text)
    count = len(lines) - (1 if lines.start(len(lines)) == len(text) and len(lines) > 1 else 0)
    kinds: list[LineKind | None] = [None] * count
    for kind, span, _ in tokens:
        if kind == tokenize.STRING:
            for line in range(lines.number(span.start) + 1, lines.number(max(span.start, span.end - 1)) + 1):
                kinds[line - 1] = LineKind.STRING
    begins, depth = True, 0
    for kind, span, row in tokens:
        if kind == tokenize.NEWLINE:
            begins = True
        elif kind == tokenize.COMMENT and depth == 0 and begins and not text[lines.start(row) : span.start].strip():
            kinds[row - 1] = LineKind.COMMENT
        elif kind not in _QUIET:
            if begins:
                kinds[row - 1] = LineKind.LOGICAL
            begins = False
            if kind == tokenize.OP:
                depth += (span.cut(text) in "([{") - (span.cut(text) in ")]}")
    return kinds


@pytest.mark.parametrize("part", range(6))
def test_strings_and_comments_of_the_standard_library_are_those_of_the_tokenizer(part: int) -> None:
    for path in FILES[part::6]:
        text = Source(path.read_bytes()).text
        tokens = list(_tokens(text))
        lexed = lex(text)
        assert list(lexed.strings) == [span for kind, span, _ in tokens if kind == tokenize.STRING], shown(path)
        assert list(lexed.comments) == [span for kind, span, _ in tokens if kind == tokenize.COMMENT], shown(path)
        assert lexed.closed
        for line, (mine, theirs) in enumerate(zip(lexed.kinds, _kinds(text, tokens), strict=True), 1):
            if theirs is not None:
                assert mine is theirs, f"{shown(path)}:{line}"
            else:
                assert mine in (LineKind.BLANK, LineKind.CONTINUATION), f"{shown(path)}:{line}"


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_logical_line_ends_where_the_next_line_that_is_its_own_begins(path: Path) -> None:
    text = Source(path.read_bytes()).text
    lexed = lex(text)
    own = [n for n, kind in enumerate(lexed.kinds) if kind not in (LineKind.CONTINUATION, LineKind.STRING)]
    ends = [*(lexed.starts[n] for n in own[1:]), len(text)]
    for number, end in zip(own, ends, strict=True):
        if lexed.kinds[number] is LineKind.LOGICAL:
            assert end_of_line(text, lexed.starts[number]) == end


@pytest.mark.parametrize("path", FILES[:10], ids=shown)
def test_a_text_is_covered_by_its_lines_whatever_its_newlines(path: Path) -> None:
    text = Source(path.read_bytes()).text
    for newline in ("\n", "\r\n", "\r"):
        other = text.replace("\r\n", "\n").replace("\n", newline)
        lexed = lex(other)
        assert lexed.kinds == lex(text.replace("\r\n", "\n")).kinds
        assert list(lexed.starts) == [start for start in Lines(other).starts if start < len(other) or start == 0]
        assert [span.cut(other).replace(newline, "\n") for span in lexed.strings] == [
            span.cut(text).replace("\r\n", "\n") for span in lex(text).strings
        ]


@pytest.mark.parametrize("path", FILES[10:25], ids=shown)
def test_any_cut_of_a_text_is_scanned_without_a_crash(path: Path) -> None:
    text = Source(path.read_bytes()).text
    for number in range(20):
        _check_shape(text[len(text) * number // 20 :][:3000])


def _check_shape(text: str) -> Lexed:
    """What holds of any text, Python or not."""
    lexed = lex(text)
    assert len(lexed.kinds) == len(lexed.starts)
    assert list(lexed.starts) == [start for start in Lines(text).starts if start < len(text) or start == 0]
    spans = sorted([*lexed.strings, *lexed.comments])
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(text[span.start] in "([{" and text[span.end - 1] in ")]}" for span, _ in lexed.brackets)
    return lexed


#: Each literal stands alone as `x = LITERAL + y` and must be one string, wherever it is put.
LITERALS = [
    "'a'", '"a"', "''", '""', '""""""', "''''''", "'''a'''", '"""a"b""c"""', "'a\\'b'", '"\\\\"', "'\\\\\\''",
    "r'\\''", "R'\\\\'", "b'a'", "B'a'", "br'\\''", "Rb'a'", "rB'a'", "u'a'", "U'a'",
    "'a\\\nb'", "'a\\\r\nb'", "'''a\nb'''", "'''a\r\nb\rc'''", "'''a\\'''b'''", "'#'", '"""#\n# a"""', "'({['",
    "f'a'", "F'{x}'", "f'{x}{y}'", "f'{{'", "f'}}'", "f'{{x}}'", "f'{{{x}}}'", "f'{x!r}'", "f'{x!s:>10}'", "f'{x=}'",
    "f'{x = !r:^20}'", "f'{x:{y}}'", "f'{x:{y}.{z}}'", "f'{x:%H:%M}'", "f'{x:>3}}}'",
    "f'{x[\"a\"]}'", "f\"{x['a']}\"", "f'{(lambda a: a)(1)}'", "f'{(lambda: 1)()}'", "f'{ {1: 2}[1] }'",
    "f'{({1: 2})[1]}'", "f'{[n for n in x if n]}'", "f'{x[1:2]}'", "f'{f(a, b=\"c\")}'", "f'{x!r:{w!r}}'",
    "f'{x if y else z}'", "f'{(x := 1)}'", "f'{x:=5}'", "f'{x != y}'", "f'{x == y}'", "f'{a < b > c}'",
    "f'\\N{BULLET}'", "f'\\N{LATIN SMALL LETTER A}{x}'", "f'\\'{x}\\''", "f'\\{x}'", "f'\\\\{x}'",
    "rf'\\{x}'", "fr'\\N{x}'", "fR'\\d{{2}}'", "rf'{x}\\''",
    "f'''{x}'''", "f'''a\n{x}\nb'''", "f'''{\nx\n}'''", "f'''{\nx:\n}'''", "f'''{x['a']}'''",
    'f"""a"b{x}"c"""', "f'''{x:\n>10}'''", "f'''{x!r}'''", "f'a\\\n{x}'", "f'{x:\\n}'",
]  # fmt: skip
#: Only from Python 3.12 on (PEP 701), or 3.14 (PEP 750).
NEW_LITERALS = [
    "f'{x['a']}'", "f'{f'{f'{1}'}'}'", "f'{'\\n'.join(x)}'", 'f"{x["a"]["b"]}"', "f'{x!r:{'a'}}'", "f'{x:{f'{y}'}}'",
    "f'{\nx\n}'", "f'{\n  x  # why\n}'", "f'{x # }\n}'", "f'''{\nx  # it's {here}\n}'''",
    "f'{x[\n1\n]}'", "f'{'}'}'", "f'{'{'}'",
    "f'{\"'\"}'", "f'{x:{'>'}10}'", "f'{ {'a': 1}['a'] }'", "f'{(lambda x: '}')(1)}'",
    "f'{b'''a\nb'''}'", "f'{'''a\nb'''}'",
    "f'{(x:='a')}'", "f'{'a' 'b'}'", "f'{rf'{x}\\d'}'", "f'{'\\''}'", "rf'{'\\''}'", "f'{x!r}{'#'}'",
    "t'a'", "t'{x}'", "T'{x!r:>{w}}'", "tr'\\{x}'", "Rt'{x['a']}'",
    "t'{t'{x}'}'", "t'''{\nx # a\n}'''", "t'{f'{t'{x}'}'}'",
]  # fmt: skip


@pytest.mark.parametrize("literal", [*LITERALS, *NEW_LITERALS], ids=repr)
def test_a_literal_is_one_string_wherever_it_stands(literal: str) -> None:
    for before, after in (
        ("x = ", " + y\n"), ("", "\n"), ("f(", ", y)\n"), ("a = [\n  1,\n  ", ",\n]\nb = 1\n"),
        ("if x == ", ":\n    pass\n"),
        ("x = 'a' + ", " + 'b'  # c's\n"), ("return(", ")\n"), ("x=", "\r\ny=1\r\n"), ("1 if 0else ", ""),
    ):  # fmt: skip
        text = before + literal + after
        lexed = _check_shape(text)
        assert lexed.closed, text
        assert Span(len(before), len(before) + len(literal)) in lexed.strings, text
        others = [span.cut(text) for span in lexed.strings if span.start != len(before)]
        assert others == (["'a'", "'b'"] if "'a' + " in before else []), text


@pytest.mark.parametrize("literal", LITERALS, ids=repr)
def test_the_literals_are_what_every_python_says(literal: str) -> None:
    text = f"x = {literal} + y\n"
    assert [span.cut(text) for kind, span, _ in _tokens(text) if kind == tokenize.STRING] == [literal]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # f'\\{x}' has an invalid escape
        compile(text, "literal", "exec")


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ("rub'a'\n", ["'a'"]),  # a name before a quote is no prefix: invalid, yet one string
        ("xf'{'\n", ["'{'"]),
        ("éf'{'\n", ["'{'"]),
        ("print(f'a'f'b')\n", ["f'a'", "f'b'"]),
        ("'a'if x else'b'\n", ["'a'", "'b'"]),
        ("'a''b'\n", ["'a'", "'b'"]),
        ("'''a''''b'\n", ["'''a'''", "'b'"]),
        ("x = 'a' # 'b'\n", ["'a'"]),
        ("# f'{\nx = 'a'\n", ["'a'"]),
        ("x = 'a\ny = 'b'\n", ["'a", "'b'"]),  # unterminated: it ends with its line
        ("x = f'{a\ny = 'b'\n", ["f'{a", "'b'"]),
        ("x = f'{a'\ny = 'b'\n", ["f'{a'", "'b'"]),
        ("x = f'{'\ny = 1\n", ["f'{'"]),
        ("1_000if x else'b'\n", ["'b'"]),
        ("0x1f'a'\n", ["'a'"]),
        ("x\\\n'a'\n", ["'a'"]),
        ("{'a': f'{b}', 'c': {'d': f\"{e}\"}}\n", ["'a'", "f'{b}'", "'c'", "'d'", 'f"{e}"']),
    ],
)
def test_strings_that_stand_close_to_other_things(text: str, strings: list[str]) -> None:
    lexed = _check_shape(text)
    assert [span.cut(text) for span in lexed.strings] == strings


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", "B"),
        ("\n", "B"),
        ("x", "L"),
        ("x\n", "L"),
        ("x\n\n", "LB"),
        (" \t\f\nx\n", "BL"),
        ("# a\n  # b\nx\n", "CCL"),
        ("f(\n# a\n\nb)\n", "LKKK"),
        ("x = \\\n  1\n# a\n", "LKC"),
        ("x = '''\n# a\n\n'''\n", "LSSS"),
        ("f('''\n''',\n1)\n", "LSK"),
        ("x = 1 # \\\ny = 2\n", "LL"),
        ("x = 'a\\\nb'\ny\n", "LSL"),
        ("f'''{\nx\n}'''\ny\n", "LSSL"),
        ("\\\nx\n", "LK"),
        ("if x:\r\n\r\n    y\r\n", "LBL"),
        ("if x:\r\r    y\r", "LBL"),
        ("@a\n\ndef f(): pass\n", "LBL"),
        ("x; y\n", "L"),
        (")\nx\n", "LL"),
        ("x = '\x0c'\n\x0cy\n", "LL"),
        ("x = '\u2028'\n", "L"),
    ],
)
def test_each_line_is_known_for_what_it_is(text: str, kinds: str) -> None:
    letters = {"L": "logical", "K": "continuation", "S": "string", "C": "comment", "B": "blank"}
    assert [kind.value for kind in _check_shape(text).kinds] == [letters[letter] for letter in kinds]


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("f(", False),
        ("f()", True),
        ("'''a", False),
        ("f'''{", False),
        ("[(]", False),
        ("x", True),
        ("", True),
        ("'a", False),
    ],
)
def test_what_is_left_open_is_known(text: str, closed: bool) -> None:
    assert _check_shape(text).closed is closed


@pytest.mark.parametrize(
    "header",
    [
        "if (m := f(1)):",
        "if m := f(1):",
        "while a and (n := {1: 2}):",
        "def f(a: int = {1: 2}[1]) -> dict[str, int]:",
        "def f(a=lambda x: x, *, b: 'c:d' = ':') -> None:",
        "def f() -> (lambda: 1):",
        "def f() -> lambda: 1:",
        "def f() -> lambda x=lambda: 1: x:",
        "class C(Base, metaclass=M, **{'a': 1}):",
        "class C:",
        "def f( # a: b\n    a, # :\n):",
        "def f(a=f'{x:>10}', b='''\n:'''):",
        "def f(a=f'{x:{'a'}}'):",
        "def f[T: (int, str) = int](x: T) -> T:",
        "async  def  f (\n):",
        "def f(a) \\\n  -> x[1:2]:",
        "def lambda_(a):",
    ],
)
@pytest.mark.parametrize("rest", [" pass\n", "\n    x: int = 1\n", "  # a: b\n    return {1: 2}\n", "x = y[1:2]\n"])
def test_a_header_ends_at_its_own_colon(header: str, rest: str) -> None:
    before = "x: int = 1\n"
    assert end_of_header(before + header + rest, len(before)) == len(before) + len(header)


def test_deep_nesting_of_fields_is_scanned() -> None:
    for depth in (5, 29, 40, 200, 5_000):
        _check_shape("x = " + "f'{" * depth + "1" + "}'" * depth + "\n")
        _check_shape("x = f'{a:" + "{b:" * depth + "}" * depth + "}'\n")
        _check_shape("x = f'{" + "(" * depth + ")" * depth + "}'\n")


def test_fields_that_are_never_closed_take_no_exponential_time() -> None:
    started = time.process_time()
    _check_shape("x = " + "f'{" * 25 + "\n")
    assert time.process_time() - started < 0.3
