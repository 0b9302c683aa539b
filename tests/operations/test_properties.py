"""What holds of every edit, insertion and deletion, on real files and on generated source.

- an edit made twice is the edit made once; a symbol or part given back as it was read plans nothing;
- what replaced something is replaced by it again, and every byte is back;
- whatever is pasted, and however it is indented, it is what stands there afterwards, and nothing else has changed.
"""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import Part
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from bae_source.refactoring.delete import Delete
from bae_source.refactoring.edit import Edit
from bae_source.refactoring.insert import Insert
from bae_source.syntax.outline.locate import has_parts, suite_is_inline
from tests.operations.support import FORMS, addresses, applied, functions, missing, others, parsed, pasted, space
from tests.project.library import sample, shown

FILES = sample(15, "operations", largest=25_000)
QUICK = settings(
    derandomize=True, deadline=None, max_examples=50, database=None, suppress_health_check=list(HealthCheck)
)
OF_A_FILE = 6


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_part_given_back_plans_nothing_and_put_back_gives_every_byte_back(path: Path) -> None:
    content = path.read_bytes()
    for address in addresses(content, OF_A_FILE, "parts"):
        here = space(content)
        resolved = resolve(here, address)
        assert resolved.group is not None
        members = resolved.group.members
        if len(members) > 1 or not has_parts(resolved.tree.outline.definitions[members[0]]):
            continue
        for part in (Part.SIGNATURE, Part.DECORATORS, Part.DOCSTRING, Part.BODY):
            _check_part(content, f"{address}@{part.value}", part)


_OTHER_PARTS = {
    Part.DOCSTRING: '"""Other.\n\nText.\n"""\n',
    Part.BODY: "other = 1\nif other:\n  return_ = other\n",
    Part.DECORATORS: "@other\n@more(\n    1,\n)\n",
}


def _check_part(content: bytes, target: str, part: Part) -> None:
    here = space(content)
    try:
        stands = Read(target=target).answer(here).text
    except LookupFailed:
        assert part is Part.DOCSTRING
        return
    for dedent in (False, True):
        text = Read(target=target, dedent=dedent).answer(here).text
        if text.strip() or part is not Part.BODY:
            assert not Edit(target=target, new_source=text).plan(here).changes, (target, text)
    other = _OTHER_PARTS.get(part) or _other_signature(stands)
    if part is Part.BODY and (not stands.strip() or _shares_a_line(here, target)):
        return  # a docstring alone has no body to put back; what stood on its header's line gets lines of its own
    try:
        plan = Edit(target=target, new_source=other).plan(here)
    except Refused:
        return  # decorators that make a group something else
    between = applied(content, plan)
    assert between != content, target
    parsed(between)
    assert missing(others(content, resolve(here, target)), between) == []
    again = Edit(target=target, new_source=other).plan(space(between))
    assert not again.changes, target
    back = Edit(target=target, new_source=stands).plan(space(between))
    assert applied(between, back) == content, target


def _shares_a_line(here: Workspace, target: str) -> bool:
    resolved = resolve(here, target)
    assert resolved.group is not None
    return suite_is_inline(resolved.tree, resolved.tree.outline.definitions[resolved.group.members[0]])


def _other_signature(stands: str) -> str:
    bare = stands.strip()
    if bare.startswith("class"):
        return f"{bare.partition(':')[0].partition('(')[0]}(\n  Other,\n):"
    return f"{bare.partition('(')[0]}(\n  *other, # why\n  **more) -> {{1: 2}}:"


def _source(name: str, seed: str) -> str:
    """Make a function of that name, with most of what is hard to indent."""
    choose = random.Random(seed)
    statements = [
        "x = 1",
        "if x:\n    return x  # why\nelse:\n    pass",
        "text = '''\n  left\nmargin\n'''",
        'value = f"""\n{x!r:>{x}}\n  at column 2"""',
        "call(1,\n     2,\n  3)",
        "total = 1 + \\\n  2",
        "def inner(a):\n    '''Inner.\n\n    Text.\n    '''\n    return [a,\n            a]",
        "class Inner:\n    y = 1\n\n    def m(self): return self",
        "with a as b, c:\n    for n in b:\n        continue\n    # after the loop",
        "try:\n    pass\nexcept E:\n    raise\nfinally:\n    # only\n    pass",
        "# a comment",
        "x = [\n    n\n    for n in x\n]; y = 2",
        "match x:\n    case [1, *_]:\n        return\n    case _:\n        pass",
        "lambda: (yield)",
        "",
    ]
    head = choose.choice(
        [f"def {name}(self):", f"def {name}(self, a=(\n    1,\n    2,\n), *b):", f"async def {name}(x): # n"]
    )
    docstring = choose.choice(["", '"""One."""', '"""One.\n\n    Deeper.\n\nTwo.\n"""', 'r"""\\d\n"""'])
    chosen = [docstring, *choose.choices(statements, k=choose.randint(1, 5)), "return 1"]
    body = "\n".join(statement for statement in chosen if statement or choose.random() < 0.5)
    decorators = choose.choice(["", "@one\n", "@one(\n    2\n)\n# between\n@three.four\n"])
    if head.startswith("async"):
        body = body.replace("lambda: (yield)", "x")
    return f"{decorators}{head}\n{_indented(body)}\n"


def _indented(body: str) -> str:
    """Indent by four spaces every line that no multi-line string but a docstring holds."""
    lines, inside = [], ""
    for number, line in enumerate(body.split("\n")):
        docstring = inside == '"""' and lines and number < 8 and not any("value" in other for other in lines)
        lines.append(f"    {line}" if line and (not inside or docstring) else line)
        for mark in ("'''", '"""'):
            if line.count(mark) % 2:
                inside = "" if inside == mark else inside or mark
    return "\n".join(lines)


def _same_code(one: ast.AST, other: ast.AST) -> bool:
    """Compare two trees; docstrings, which move with their definition, by what their lines say."""
    return ast.dump(_cleaned(one)) == ast.dump(_cleaned(other))


def _cleaned(node: ast.AST) -> ast.AST:
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            docstring = ast.get_docstring(inner, clean=False)
            if docstring is not None:
                assert isinstance(inner.body[0], ast.Expr)
                inner.body[0].value = ast.Constant("\n".join(line.strip() for line in docstring.split("\n")))
    return node


def _code_of(content: bytes, address: str) -> ast.AST:
    text = Read(target=address, dedent=True).answer(space(content)).text
    return parsed(text).body[0]


def _check_edit(content: bytes, address: str, source: str, form: str) -> None:
    here = space(content)
    resolved = resolve(here, address)
    untouched = others(content, resolved)
    text, meant = pasted(source, form)
    between = applied(content, Edit(target=address, new_source=text).plan(here))
    parsed(between)
    assert missing(untouched, between) == []
    assert _same_code(_code_of(between, address), meant), text
    twice = Edit(target=address, new_source=text).plan(space(between))
    assert not twice.changes, applied(between, twice)
    stands = Read(target=address).answer(here).text
    assert applied(between, Edit(target=address, new_source=stands).plan(space(between))) == content


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_whatever_is_pasted_is_what_stands_there_and_nothing_else_has_changed(path: Path) -> None:
    content = path.read_bytes()
    for number, (address, _) in enumerate(functions(content, 3, "pasted")):
        source = _source(address.rpartition(".")[2], f"{path.name}:{number}")
        for form in random.Random(f"{path.name}:{address}").sample(FORMS, 4):
            try:
                _check_edit(content, address, source, form)
            except BaseException as error:
                error.add_note(f"{address}, {form}:\n{source}")
                raise


NEIGHBOURS = '''"""Doc."""
import os


class C:
{u}"""Class."""

{u}a = 1

{u}# owned
{u}@deco
{u}def f(self):
{u}{u}"""Old.

{u}{u}Text.
{u}{u}"""
{u}{u}return {{
{u}{u}{u}'a': """
left
{u}"""}}
{u}{u}# after

{u}def g(self): return 1; # g
{u}b = 2


def f(): pass
x = 1; y = 2
if x:
{u}def h(self):
{u}{u}return 1
{u}z = 3
last = """
"""'''


@QUICK
@given(
    seed=st.integers(0, 10**6),
    form=st.sampled_from(FORMS),
    unit=st.sampled_from([" ", "  ", "   ", "    ", "        ", "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    address=st.sampled_from(["m.C.f", "m.C.g", "m.f", "m.h"]),
)
def test_generated_source_fits_wherever_it_is_put(seed: int, form: str, unit: str, newline: str, address: str) -> None:
    content = NEIGHBOURS.format(u=unit).replace("\n", newline).encode()
    _check_edit(content, address, _source(address.rpartition(".")[2], str(seed)), form)


@QUICK
@given(
    seed=st.integers(0, 10**6),
    form=st.sampled_from(FORMS),
    unit=st.sampled_from(["  ", "    ", "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    target=st.sampled_from(["m.C.f", "m.C.a", "m.C", "m.f", "m.h", "m"]),
    position=st.sampled_from(["before", "after", "first", "last"]),
)
def test_generated_source_is_inserted_anywhere_and_deleted_again(
    seed: int, form: str, unit: str, newline: str, target: str, position: str
) -> None:
    content = NEIGHBOURS.format(u=unit).replace("\n", newline).encode()
    source = _source("brand_new", str(seed))
    _check_insert(content, target, position, *pasted(source, form), exact=False)


def _check_insert(content: bytes, target: str, position: str, text: str, meant: ast.stmt, *, exact: bool) -> bool:
    """Insert, look at everything else, and delete again; say whether there was a place to insert at."""
    here = space(content)
    try:
        plan = Insert(target=target, new_source=text, position=position).plan(here)  # type: ignore[arg-type]
    except Refused as error:
        _check_refusal(error)
        return False
    between = applied(content, plan)
    parsed(between)
    (address,) = plan.changed
    new = resolve(space(between), address)
    kept = others(between, new)
    assert missing(kept, content) == [], (target, position)
    assert _same_code(_code_of(between, address), meant), text
    gone = applied(between, Delete(target=address).plan(space(between)))
    parsed(gone)
    assert missing(kept, gone) == []
    assert [line for line in gone.split() if line] == [line for line in content.split() if line]
    if exact:
        assert gone == content, (target, position)
    return True


BRAND_NEW = "def brand_new(self):\n    return 1\n"
REGULAR = '''"""Doc."""

import os

LIMIT = 1


# owned
@deco
def f(a):
    """Doc."""
    return a


class C:
    """Doc."""

    a = 1

    def m(self):
        return 1

    # why n
    def n(self):
        # first
        return 2


class D(C):
    def only(self):
        pass


def last():
    return 1
'''


#: Where blank lines come in that no other definition would need: deleting cannot know that they were not there.
BETWEEN_STATEMENTS = {("m", "first"), ("m.LIMIT", "before"), ("m.f", "first")}


@pytest.mark.parametrize("position", ["before", "after", "first", "last"])
@pytest.mark.parametrize("target", ["m", "m.f", "m.C", "m.C.m", "m.C.n", "m.D", "m.D.only", "m.last", "m.LIMIT"])
@pytest.mark.parametrize("unit", ["    ", "\t", "  "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_insertion_into_a_regular_file_is_undone_by_deleting(
    target: str, position: str, unit: str, newline: str
) -> None:
    content = REGULAR.replace("    ", unit).replace("\n", newline).encode()
    exact = (target, position) not in BETWEEN_STATEMENTS
    found = _check_insert(content, target, position, *pasted(BRAND_NEW, "plain"), exact=exact)
    assert found or _has_no_place(target, position)


def _has_no_place(target: str, position: str) -> bool:
    return (target == "m" and position in ("before", "after")) or (
        target == "m.LIMIT" and position in ("first", "last")
    )


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=shown)
def test_what_is_inserted_at_any_position_leaves_the_rest_and_can_be_deleted(path: Path) -> None:
    content = path.read_bytes()
    done = 0
    for address in addresses(content, 3, "insert"):
        for position in ("before", "after", "first", "last"):
            done += _check_insert(content, address, position, *pasted(BRAND_NEW, "plain"), exact=False)
    assert done or not addresses(content, 1, "insert")


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=shown)
def test_each_definition_can_be_deleted_and_the_others_stay_as_they_are(path: Path) -> None:
    content = path.read_bytes()
    for address in addresses(content, 2 * OF_A_FILE, "delete"):
        here = space(content)
        resolved = resolve(here, address)
        try:
            plan = Delete(target=address, force=True).plan(here)
        except Refused as error:
            _check_refusal(error, "binds")
            continue
        between = applied(content, plan)
        parsed(between)
        assert missing(others(content, resolved), between) == [], address
        name = resolved.address.qualname[-1]
        if name.plain and name.name not in {binding.name for binding in resolved.tree.outline.imports}:
            with pytest.raises(LookupFailed):
                resolve(space(between), address)


def _check_refusal(error: Refused, fragment: str = "") -> None:
    assert error.code == "unsafe_change"
    assert error.hints
    assert fragment in error.message
