"""TOML text changed by key: what changes, what does not, and that taking it back gives every byte back."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.errors import ResourceError
from bae_source.resources.config.document import Document, same

Change = Callable[[Document], str]

BASE = """\
# the project
[build-system]
requires = ["hatchling"]

[project]
name = 'demo'  # what it is called
dependencies = [
    "httpx>=0.27",  # the client
    "rich"
]

[tool.ruff.lint]
select = ["E",]

[[tool.mypy.overrides]]
module = "a"

[[tool.mypy.overrides]]
module = "b"
extra = { x = 1 }
"""

CHANGES: dict[str, tuple[Change, list[tuple[str, str]]]] = {
    "another value": (lambda d: d.set("project.name", "other"), [("'demo'", '"other"')]),
    "a new key below the others": (
        lambda d: d.set("project.version", "1.0"),
        [('"rich"\n]\n', '"rich"\n]\nversion = "1.0"\n')],
    ),
    "an item where each has a line": (
        lambda d: d.add("project.dependencies", "click"),
        [('"rich"\n', '"rich",\n    "click"\n')],
    ),
    "an item behind a trailing comma": (
        lambda d: d.add("tool.ruff.lint.select", "F"),
        [('["E",]', '["E", "F",]')],
    ),
    "a new table behind those that it shares most with": (
        lambda d: d.set("tool.ruff.format.quote-style", "double"),
        [('["E",]\n', '["E",]\n\n[tool.ruff.format]\nquote-style = "double"\n')],
    ),
    "a header for a table that others imply": (
        lambda d: d.set("tool.ruff.line-length", 100),
        [("[tool.ruff.lint]", "[tool.ruff]\nline-length = 100\n\n[tool.ruff.lint]")],
    ),
    "a key in an inline table of an array of tables": (
        lambda d: d.set("tool.mypy.overrides[1].extra.y", True),
        [("{ x = 1 }", "{ x = 1, y = true }")],
    ),
    "one more table of an array of tables": (
        lambda d: d.add("tool.mypy.overrides", {"module": "c"}),
        [("{ x = 1 }\n", '{ x = 1 }\n\n[[tool.mypy.overrides]]\nmodule = "c"\n')],
    ),
    "a table of an array of tables goes": (
        lambda d: d.remove("tool.mypy.overrides[0]"),
        [('\n[[tool.mypy.overrides]]\nmodule = "a"\n', "")],
    ),
    "an item goes with its comment": (
        lambda d: d.remove_item("project.dependencies", 0),
        [('    "httpx>=0.27",  # the client\n', "")],
    ),
    "the last item goes with the comma before it": (
        lambda d: d.remove("project.dependencies[1]"),
        [('"httpx>=0.27",  # the client\n    "rich"\n', '"httpx>=0.27"  # the client\n')],
    ),
    "a table by another name": (lambda d: d.rename("tool.mypy", "pyright"), [("tool.mypy", "tool.pyright")]),
    "a name that needs quotes": (lambda d: d.rename("project.name", '"the name"'), [("\nname =", '\n"the name" =')]),
    "a key above all tables": (
        lambda d: d.set("title", "x"),
        [("# the project\n", 'title = "x"\n\n# the project\n')],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_but_the_key_changes(name: str) -> None:
    change, replacements = CHANGES[name]
    wanted = BASE
    for old, new in replacements:
        assert old in wanted
        wanted = wanted.replace(old, new)
    assert change(Document(BASE)) == wanted


CASES = {
    "nothing": "",
    "a comment alone": "# nothing yet\n",
    "blank lines alone": "\n\n",
    "no end of the last line": "[t]\na = 1",
    "other line ends": "# c\r\n[t]\r\na = [\r\n  1,\r\n]\r\n\r\n[t.u]\r\nb = 2\r\n",
    "line ends of both kinds": '[t]\r\na = [\n  "x",\r\n  "y"\n]\r\n[t.u]\nb = 1\n',
    "a byte order mark": "\ufeff[t]\na = 1\n",
    "a header without keys above one that implies it": "[t]\n\n[t.u]\na = 1\n",
    "tables that are implied alone": "[a.b.c]\nx = 1\n\n[d]\n",
    "tables without blank lines between": "[a]\nx = 1\n[b]\n# about c\n[c]\n",
    "comments behind a table, and above the next": "[a]\nx = 1\n# y = 2\n\n# about b\n[b]\nz = 1\n# the end\n",
    "tables out of order": "[a.x]\nk = 1\n\n[b]\n\n[a.y]\nk = 2\n\n[a]\nk = 3\n",
    "dotted keys": "[a]\nb.c = 1\nb.d.e = [ ]\nf = 2\n",
    "dotted keys and a table below": "[fruit]\napple.color = 1\n\n[fruit.apple.taste]\nsweet = true\n",
    "keys that are indented": "[a]\n  x = 1\n    [a.b]\n\ty = [\n\t\t1\n\t]\n",
    "names in quotes": "[tool.\"a.b\".'c d']\n\"x\\u0041\" = 1\n'' = 2\n",
    "inline tables": "a = {}\nb = { }\nc = {x = 1, y.z = [ {} ]}\n",
    "arrays of every layout": 'a = []\nb = [ ]\nc = [\n]\nd = [\n  # none\n]\ne = ["x"]\nf = ["x",]\n'
    'g = [\n"x" ,\n"y"\n  ,"z"]\nh = [1, 2,\n  3, 4,\n]\ni = [ "]", "#", \'"\' ,]\n',
    "strings that look like other things": 'a = """\n[x]\n# no\n"""\nb = \'\'\'a = "]"\'\'\'\nc = """a""\\""""\n[t]\n',
    "signs without spaces": "[a]\nx=1\n",
    "an array of tables with tables below": "[[a]]\nx = 1\n[a.b]\ny = 1\n[[a]]\n[a.b]\ny = 2\n",
}


def containers(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    found = [(path, value)] if isinstance(value, (dict, list)) else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [each for name, one in inner for each in containers(one, (*path, name))]


@pytest.mark.parametrize("case", CASES)
def test_what_was_put_in_last_and_is_taken_out_leaves_every_byte(case: str) -> None:
    text = CASES[case]
    document = Document(text)
    for path, value in containers(document.data):
        if isinstance(value, dict):
            for deeper in ((), ("inner",)):
                changed = document.set((*path, "new", *deeper), "value")
                assert tomllib.loads(changed.removeprefix("\ufeff")) != document.data
                assert Document(changed).remove((*path, "new")) == text, (path, changed)
        else:
            tables = value and all(isinstance(each, dict) for each in value)
            changed = document.add(path, {"k": 1} if tables else "value")
            assert Document(changed).remove_item(path, len(value)) == text, (path, changed)


@pytest.mark.parametrize("case", CASES)
def test_every_key_can_be_removed_alone(case: str) -> None:
    document = Document(CASES[case])
    for path, _ in containers(document.data)[1:]:
        if isinstance(path[-1], str):
            assert not Document(document.remove(path)).has(path)


def test_a_table_whose_last_key_goes_keeps_its_header_and_one_that_a_key_implied_goes() -> None:
    assert Document("[tool.black]\nline-length = 1\n").remove("tool.black.line-length") == "[tool.black]\n"
    assert Document("[a]\nb.c = 1\n").remove("a.b.c") == "[a]\n"
    assert Document("x = {a.b = 1}\n").remove("x.a.b") == "x = {}\n"


def test_an_array_keeps_its_layout_when_it_is_set() -> None:
    text = "[t]\na = [\n  1,  # one\n  2\n]  # numbers\n"
    assert Document(text).set("t.a", [3, 4, 5]) == "[t]\na = [\n  3,\n  4,\n  5\n]  # numbers\n"


def test_a_key_is_read_with_its_lines() -> None:
    document = Document(BASE)
    found = document.read("tool.mypy.overrides[1]")
    assert found.text == '[[tool.mypy.overrides]]\nmodule = "b"\nextra = { x = 1 }\n'
    assert (found.line, found.value) == (18, {"module": "b", "extra": {"x": 1}})
    assert document.read("tool.mypy.overrides[1].extra").text == "extra = { x = 1 }\n"
    assert document.read("tool.mypy.overrides[1].extra.x").text == "x = 1"
    assert document.read("project.dependencies[1]").text == '"rich"'
    assert Document("x = {a.b = 1, c = 2, a.d = 3}\n").read("x.a").text == "a.b = 1, a.d = 3"


def test_values_are_the_same_only_with_their_types() -> None:
    assert same({"a": [1, float("nan")]}, {"a": [1, float("nan")]})
    assert not same([True], [1])
    assert not same({"a": 1}, {"a": 1.0})
    assert not same({"a": 0.0}, {"a": -0.0})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d.set("", 1), "invalid_arguments"),
        (lambda d: d.set("project..x", 1), "invalid_arguments"),
        (lambda d: d.set('project."x', 1), "invalid_arguments"),
        (lambda d: d.set(".".join("a" * 51), 1), "invalid_arguments"),
        (lambda d: d.set("project.name.x", 1), "invalid_arguments"),
        (lambda d: d.set("project[0]", 1), "invalid_arguments"),
        (lambda d: d.set("project.dependencies.x", 1), "invalid_arguments"),
        (lambda d: d.set("project.dependencies[2]", "x"), "symbol_not_found"),
        (lambda d: d.set("project.new[0]", "x"), "symbol_not_found"),
        (lambda d: d.set("project", 1), "invalid_arguments"),
        (lambda d: d.set("tool.mypy.overrides", []), "invalid_arguments"),
        (lambda d: d.set("project.x", None), "invalid_arguments"),
        (lambda d: d.set("project.x", 2**64), "invalid_arguments"),
        (lambda d: d.set("project.x", "\ud800"), "invalid_arguments"),
        (lambda d: d.set("project.x", {1: 2}), "invalid_arguments"),
        (lambda d: d.add("project.name", "x"), "invalid_arguments"),
        (lambda d: d.add("tool.mypy.overrides", "x"), "invalid_arguments"),
        (lambda d: d.remove("project.nam"), "symbol_not_found"),
        (lambda d: d.rename("project.name", "dependencies"), "name_collision"),
        (lambda d: d.rename("project.name", "a.b"), "invalid_arguments"),
        (lambda d: d.rename("project.dependencies[0]", "a"), "invalid_arguments"),
    ],
)
def test_what_cannot_be_done_is_refused(change: Change, code: str) -> None:
    with pytest.raises(ResourceError) as raised:
        change(Document(BASE))
    assert raised.value.code == code


def test_a_missing_key_has_those_that_are_close_as_candidates() -> None:
    with pytest.raises(ResourceError, match=r"has no project.nam\.") as raised:
        Document(BASE).remove("project.nam")
    assert raised.value.candidates == ("project.name",)


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab." ü#\n', max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES, case=st.sampled_from(sorted(CASES)), name=st.text('ab." ü#[\n', max_size=4))
def test_any_value_under_any_name_reads_back_and_goes_again(value: Any, case: str, name: str) -> None:
    text = CASES[case]
    key = ("made", name)
    changed = Document(Document(text).set(key, value))
    assert same(changed.value(key), value)
    assert changed.remove("made") == text
