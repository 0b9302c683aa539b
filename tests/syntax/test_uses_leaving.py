"""Suites that are left out before a file is parsed: they are those of functions, and nothing else is lost with them."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source.errors import SourceError
from bae_source.syntax.names import reading
from bae_source.syntax.names.leaving import suites_without, without
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.text.assigned import assigned_in
from bae_source.syntax.text.source import Source
from tests.syntax.test_uses import sample
from tests.syntax.test_uses_growing import Told, lean, same

PLAIN = "def f(x):\n    y = x\n    return y\n"
QUOTES = '"""'


def texts(code: str, *words: str) -> list[str]:
    return [suite.text for suite in suites_without(code, words)]


def test_what_is_left_has_every_line_under_its_number() -> None:
    method = "    @a.b\n    async def g(self):  # so\n        await a\n\n        return 1\n"
    code = f"import a\n\n{PLAIN}\n\nclass A:\n{method}\nx = 1\n"
    assert texts(code) == ["    y = x\n    return y", "        await a\n\n        return 1"]
    less = without(code, suites_without(code, ()))
    assert less.split("\n")[3:5] == [" pass", ""]
    assert less.count("\n") == code.count("\n")
    assert [type(each).__name__ for each in ast.parse(less).body] == ["Import", "FunctionDef", "ClassDef", "Assign"]


LEFT = {
    "a string goes to the first column": (f"def f():\n    x = {QUOTES}\nback\n{QUOTES}\n    return x\n", 1),
    "a function in a string": (f"x = {QUOTES}\ndef f():\n    a\n    b\n{QUOTES}\n{PLAIN}", 1),
    "code behind that": (f"class A:\n    x = {QUOTES}\n def f():\n  a{QUOTES}\n    y = {QUOTES}b{QUOTES}\n", 0),
    "quotes in a comment": (f"# it's {QUOTES}\n{PLAIN}", 1),
    "quotes in a string": (f"x = '{QUOTES}'  # {QUOTES}\n{PLAIN}", 1),
    "a string that goes on with quotes": (f"x = 'a\\\n{QUOTES}'\n{PLAIN}", 0),
    "quotes behind a backslash": (f"x = {QUOTES}a\\{QUOTES}\ndef f():\n  a\n  b\n{QUOTES}\n{PLAIN}", 1),
    "quotes behind two": (f"x = {QUOTES}a\\\\{QUOTES}\n{PLAIN}", 1),
    "brackets to the first column": ("def f():\n    x = (\n1,\n)\n    return x\n", 0),
    "a comment in the first column": ("def f():\n    x = 1\n# so\n    return x\ny = 1\n", 1),
    "a line that goes on in the first column": ("def f():\n    x = 1 + \\\n1\n    return x\n", 0),
    "a long header": ("def f(\n    a=(1, 2),\n    b: str = 'x'\n) -> None:\n    x = a\n    return x\n", 1),
    "a header with a colon": ("def f(a={1:\n       2}):\n    x = a\n    return x\n", 0),
    "no suite": ("def f(a): return a  # so:\n\nx = 1\n", 0),
    "a header like that of another": (
        "def f(): return (\n    1)\n\nclass A:\n    def g(\n        s\n    ):\n        x = 1\n        x\n    y = 1\n",
        0,
    ),
    "tabs": ("def f():\n\tx = 1\n\treturn x\n", 0),
    "a function in another": ("def f():\n    def g():\n        x = 1\n        return x\n    return g\n", 1),
    "under a condition": (
        "if f:\n    def f():\n        x = 1\n        return x\nelse:\n    def f():\n        pass\n",
        1,
    ),
    "no last line end behind a header": ("import a\n\ndef f():x", 0),
    "no last line end": ("x = 1\ndef f(x):\n    y = 2\n    return x", 1),
    "a docstring": ("def f():\n    '''a'''\n    return 1; x = 2\n", 1),
}


@pytest.mark.parametrize(("code", "left"), LEFT.values(), ids=LEFT)
def test_only_suites_of_functions_are_left_out(code: str, left: int) -> None:
    found = lean(code.encode())
    assert len(found.left_out) == left
    same(code.encode(), found)


@pytest.mark.parametrize("field", ['{"a"}', '{x["""b"""]}', "{'''\n", '{x["a"]}'])
def test_a_string_with_fields_is_where_this_python_has_it(field: str) -> None:
    code = f'x = f"{field}"; y = {QUOTES}\ndef f():\n    a\n    b\n{QUOTES}\n{PLAIN}'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except SyntaxError:
            assert sys.version_info < (3, 12) or "\n" in field
            return
    same(code.encode(), lean(code.encode()))


def test_a_string_in_a_field_of_a_string_is_no_end_of_it() -> None:
    code = f"def f(x):\n    y = f{QUOTES}{{ {QUOTES}\nback\n{QUOTES} }}{QUOTES}\n    return y\n"
    assert texts(code) == []
    if sys.version_info >= (3, 12):
        same(code.encode(), lean(code.encode()))


@pytest.mark.parametrize(
    "long",
    ["    return [" + "x.a, " * 40_000 + "]", "    f(" + "a=x.a, " * 40_000 + ")", "    x = '" + "def " * 40_000 + "'",
     '    """' + '\\"""' * 40_000 + '"""', "    x = '" + "class for as " * 20_000 + "'"],
)  # fmt: skip
def test_long_lines_take_no_longer_than_their_length(long: str) -> None:
    content = f"{PLAIN}\ndef g(x):\n    y = x\n{long}\n".encode()
    same(content, lean(content))


@pytest.mark.parametrize(
    "code",
    ["def f(\n" + "".join(f"    a{number},  # the first,\n" for number in range(60)) + "): return send(1)\n",
     'x = """' + '"\ndef f(\n' * 4_000 + '"""\n'],
    ids=["a header", "headers in a string"],
)  # fmt: skip
def test_what_looks_like_a_header_is_looked_at_once(code: str) -> None:
    same(code.encode(), lean(code.encode(), "w"))


def test_a_broken_function_of_one_long_line_is_listed_once() -> None:
    found = uses_of(Source(f"{PLAIN}\ndef g(x):\n    y = = x\n    # \u00e9 {'w ' * 40_000}\n    x\n".encode()))
    assert [mention[:2] for mention in found.mentions["w"][:2]] == [(7, 9), (7, 11)]
    assert len(found.mentions["w"]) == 40_000


def test_a_file_of_another_language_is_parsed_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(reading, "without", lambda text, suites: tried.append(text) or without(text, suites))
    code = "".join(f"def f{number}():\n    x = 1\n    print 'x'\n\n" for number in range(100)) + "print 'x'\n"
    with pytest.raises(SourceError):
        uses_of(Source(code.encode()), ("w",))
    assert 1 < len(tried) < 8


def test_what_is_left_out_by_mistake_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(code: str, words: object) -> object:
        return [each for each in suites_without(f"def g():\n{code}", ()) if each.column == 4]

    monkeypatch.setattr(reading, "suites_without", mistaken)
    code = "  x = 1\n  y = 2\n"
    assert uses_of(Source(code.replace("  ", "").encode()), ("w",)).left_out == ()


SEED = 20261123
PIECES = [
    '"""', "'''", "'", '"', "\\\n", "#", "(", ")", "[", "]", "{", "}", "\n", 'f"""{', " ", "    ", "\n    ", ":", ",",
    "\ndef f():\n    a\n    b\n", '"""\ndef f(x):\n', '\n"""\n', "; x.y = 1", '\n# """\n', "class ",
    "\t", "\r\n", "\u00e9",
]  # fmt: skip


JOINED = {
    "side by side": 'x = "se" "nd"',
    "without a blank": "x = 'se'\"nd\"",
    "in lines, with a comment": 'x = (\n        "se"  # and "\n        # so\n        "nd"\n    )',
    "with nothing between": "x = 'se'\"\"'nd'",
    "with prefixes": "x = b'a', rb'se'b'nd'",
    "behind quotes of three": 'x = """se""""nd"',
    "with a field": 'x = f"{y}se" f"nd"',
    "with quotes in it": "x = \"it's se\" 'nd'",
}


@pytest.mark.parametrize("statement", JOINED.values(), ids=JOINED)
def test_a_word_that_strings_make_together_is_found_however_it_is_asked_for(statement: str) -> None:
    code = f"def f(y):\n    {statement}\n    return x\n"
    assert texts(code, "send") == []
    assert len(texts(code, "other")) == 1
    found = lean(code.encode(), "other")
    assert [suite.joined != "" for suite in found.left_out] == [True]
    assert found.strings.get("send", []) == uses_of(Source(code.encode())).strings.get("send", [])
    same(code.encode(), lean(code.encode(), "other"))


def test_a_word_that_strings_make_in_a_broken_function_is_listed() -> None:
    code = f"{PLAIN}\ndef g(x):\n    y = = 'se' 'nd'\n    return y\n"
    for found in lean(code.encode(), "other"), uses_of(Source(code.encode())):
        assert [mention[:2] for mention in found.mentions["send"]] == [(6, 0)]
        assert not found.whole


@pytest.mark.parametrize(
    ("line", "left"),
    [("x = importable", 1), ("x = 'imported'", 1), ("# What imports it?", 1), ("x = import_(y)", 1),
     ("import a", 0), ("from a import(b)", 0), ("from a import\\\n  b", 0), ("if y: import a", 0), ("y;import\ta", 0)],
)  # fmt: skip
def test_only_what_may_import_is_looked_into_for_it(line: str, left: int) -> None:
    code = f"def f(y):\n    {line}\n    return y + 1\n"
    assert len(texts(code, "send")) == left
    same(code.encode(), lean(code.encode(), "send"))


def altered(text: str, chosen: random.Random) -> str:
    """Return a text in which something was put, taken out, or said twice."""
    for _ in range(chosen.randrange(1, 4)):
        here, there = (chosen.randrange(len(text) + 1) for _ in range(2))
        if (what := chosen.random()) < 0.6:
            text = text[:here] + chosen.choice(PIECES) + text[here:]
        elif what < 0.8:
            text = text[:here] + text[here + chosen.randrange(1, 30) :]
        else:
            text = text[:here] + text[there : there + chosen.randrange(1, 300)] + text[here:]
    return text


@pytest.mark.parametrize("path", sample(4, count=20), ids=lambda path: path.stem)
def test_a_file_that_is_altered_says_the_same_however_it_is_looked_into(path: Path) -> None:
    chosen = random.Random(f"{SEED} {path.name}")
    text = path.read_bytes()[:6_000].decode(errors="ignore").rpartition("\n\n")[0]
    for _ in range(25):
        content = altered(text, chosen).encode()
        try:
            found = lean(content, chosen.choice(["self", "name", "nobody"]))
        except SourceError:
            continue
        whole = uses_of(Source(content))
        assert Told(found).all() == Told(whole).all()


def targets(code: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a suite assigns, told by its tree: the name that each is of, and its own."""
    for node in ast.walk(ast.parse(f"if 1:\n{code}")):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.value.id if isinstance(node.value, ast.Name) else "", node.attr


@pytest.mark.parametrize("path", [*sample(1, count=15), *sample(3, count=10)], ids=lambda path: path.stem)
def test_no_attribute_that_a_suite_assigns_is_missed(path: Path) -> None:
    text = Source(path.read_bytes()).text
    for suite in suites_without(text, ()):
        for of, name in targets(suite.text):
            assert {(of, name), ("", name)} & suite.assigned


@pytest.mark.parametrize(
    ("suite", "assigned"),
    [
        ("x.a = 1", "x.a"), ("self.a, self.b = x", "self.a self.b"), ("(self.a), [x.b, *y] = x", None),
        ("f(x.a, y=x.b)", ""), ("x = f(x.a, y=1)", ""), ("x[0].a += 1", ".a"), ("x.a: int", "x.a"), ("x.a == 1", ""),
        ("f(\n  x.a, y=1, z=x.b, w=2)", ""), ("(x.a,\n y) = 1", None), ("if x.a: x.b = 1", None),
        ("for x.a in y: pass", None), ("[x for x.a in y]", None), ("with x as y, z as x.a: pass", None),
        ("with x as y: pass", ""), ("x = {y.a: 1}", ".a"), ("x = y.a, 1", ""), ("y = x.a = 1", ".a"),
        ("# it ends.\nx = 1", ""), ("'''Ends.\nFor x.\n'''", ""), ("x(y).a, z = 1, 2", ".a"),
        ("z, x(y)[1] = 1, 2", ""), ("x.a <<= 1", "x.a"),
        ("(x.a,\n y), z.b= 1", None), ("x = 1; y.a, z.b= 2", None), ("{}.a, 'x'.b, x = 1", ".a .b"),
        ('x("a=1", y.b, "%s=2")', ""), ("f(x, ' for y.a ')\nz.b = '='", "z.b"),
        ("# x\n\"\"\"\n# y\n\"\"\"\nx.a = 1", "x.a"),
        ("f(f'{x}=1', y.a)", ""), ("f(f'{[1 for x.a in y]}=1', y.b)", None),
        ("x = \"\"\"\n#\"\"\"; y.a, z.b = 1, '='", None),
        ("if x: y.a, z.b= 2", None), ("else_(x)[y, z].a: int", ".a"), ("f(x='1', y=z.a, w=2)", ""),
    ],
)  # fmt: skip
def test_attributes_are_told_by_the_text(suite: str, assigned: str | None) -> None:
    code = "\n".join(f"    {line}" for line in suite.split("\n"))
    found = assigned_in(code)
    assert assigned is None if found is None else {*(assigned or "").split()} <= {f"{of}.{name}" for of, name in found}
    if assigned == "":
        assert found == frozenset()
    try:
        assert found is None or all({target, ("", target[1])} & found for target in targets(code))
    except SyntaxError:
        assert "\n" in suite


@pytest.mark.parametrize(
    "suite",
    ['x = f"{d["#"]}"; y.b, z = 1, 2', 'if f"{d["("]}": y.b, z = 1, 2', 'for i in f"{"#"}": y.b, z = 1, 2',
     'z[f"{ {1} | d["("] }"], y.b = 1, 2', 'for x in f"{"#"}", [0 for (i,\n  y.b) in z]: pass',
     'x = f"{\n0}"; y.b, z["#"] = 1, 2', 'x = f"{ g({{1}, "\'"}) }"; y.b = "a"; z = \'\'',
     'x = f"""{d # } """\n}"""; y.b = 1; z = """\n"""'],
)  # fmt: skip
def test_what_stands_in_fields_of_a_string_hides_no_attribute(suite: str) -> None:
    found = assigned_in(f"    {suite}")  # from Python 3.12 on
    assert found is None or {("y", "b"), ("", "b")} & found


@pytest.mark.parametrize("field", ["d # } {quotes}\n", "g({quotes}a{quotes})"])
def test_a_field_that_goes_on_behind_quotes_is_no_end_of_a_string(field: str) -> None:
    inner = field.replace("{quotes}", QUOTES)
    assert texts(f"def f(d, g):\n    y = f{QUOTES}}}}} {{{inner}}}{QUOTES}\n    return y\n") == []
    assert len(texts(f"def f(d):\n    y = f{QUOTES}{{{{ {{d['a']:>{{d}}}}{QUOTES}\n    return y\n")) == 1


def test_a_string_that_goes_on_behind_a_field_of_two_lines_is_told_from_code(tmp_path: Path) -> None:
    split = f"    x = f'{{\n        d}}{QUOTES} it'\n    return x\n\n"
    code = f"def f(d):\n{split}alias = send\n\ndef g(d):\n    {QUOTES}Go.{QUOTES}\n    return d\n\ndef h(d):\n{split}"
    assert texts(code, "other") == []
    (tmp_path / "m.py").write_text(f"from k import A\n\n{code.replace('send', 'A')}")
    (tmp_path / "k.py").write_text("class A:\n    def send(self):\n        return 1\n")
    (tmp_path / "user.py").write_text("from m import alias\n\nalias().send()\n")
    found = asked(tmp_path, "k.A.send")
    assert found.startswith("1 sure")
    assert "user\n  3: alias().send()" in found


FIELDS = """
class A:
    def send(self):
        return 1

class B:
    def send(self):
        return 2

class Holder:
    def __init__(self):
        self.held = A()

def change(holder: Holder, d):
    x = f"{d["#"]}"; holder.held, y = B(), 2
    return x, y

def use(holder: Holder):
    holder.held.send()
"""


def test_an_attribute_that_is_assigned_behind_such_a_field_is_not_sure(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(FIELDS)
    found = asked(tmp_path, "m.A.send").split("\n")
    [use] = [line for line in found if "holder.held.send()" in line]
    assert found.index(use) > next(n for n, line in enumerate(found) if line.startswith("unsure: "))


def asked(root: Path, name: str) -> str:
    """Return what the command line says of references; it alone leaves suites out."""
    command = [sys.executable, "-m", "bae_source", "references", name, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
