"""One module `m` in memory, and the questions that properties of plans ask: what is there, and what stayed."""

from __future__ import annotations

import ast
import random
import textwrap
import warnings
from collections.abc import Callable, Iterator

from bae_source.model.address import Segment
from bae_source.model.plan import Plan
from bae_source.project.facts.kept import Trees
from bae_source.project.files.layout import Layout
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, Definition, Outline
from bae_source.syntax.outline.locate import group_span
from tests.memory import Memory

TREES = Trees()


def space(content: bytes) -> Workspace:
    files = Memory({"m.py": content})
    return Workspace(files, trees=TREES, layout=Layout(files, [""]))


def applied(content: bytes, plan: Plan) -> bytes:
    return plan.changes.files[0].apply(content) if plan.changes else content


def parsed(content: bytes | str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(content)


def addresses(content: bytes, count: int, seed: str) -> list[str]:
    """Choose definitions of a file, by their canonical addresses; groups count once."""
    here, found = space(content), dict[str, None]()
    outline = resolve(here, "m").tree.outline
    for index in range(len(outline.definitions)):
        found[str(resolve(here, _asked(outline, index)).address)] = None
    chosen = list(found)
    return random.Random(seed).sample(chosen, min(count, len(chosen)))


def _asked(outline: Outline, index: int) -> str:
    names: list[str] = []
    while index != MODULE:
        definition = outline.definitions[index]
        alike = outline.named(definition.parent, definition.names[0])
        names.append(str(Segment(definition.names[0], index=alike.index(index) if len(alike) > 1 else None)))
        index = definition.parent
    return ".".join(["m", *reversed(names)])


def others(content: bytes, without: Resolved) -> list[tuple[tuple[str, ...], bytes]]:
    """Return qualname and bytes of every definition that a change of one group may not touch.

    These are all but itself, what it encloses, and what encloses it; a last line's newline may come or go.
    """
    assert without.group is not None
    span = group_span(without.tree.outline, without.group.members)
    source = without.tree.source
    return [
        (without.tree.outline.qualname(index), source.encode(definition.span.cut(source.text).rstrip("\r\n")))
        for index, definition in enumerate(without.tree.outline.definitions)
        if not span.contains(definition.span) and not definition.span.contains(span)
    ]


def missing(before: list[tuple[tuple[str, ...], bytes]], after: bytes) -> list[tuple[str, ...]]:
    """Return what of `before` is no longer among the definitions of a file, in that order."""
    tree = resolve(space(after), "m").tree
    left = iter(
        (tree.outline.qualname(index), tree.source.encode(definition.span.cut(tree.text).rstrip("\r\n")))
        for index, definition in enumerate(tree.outline.definitions)
    )
    return [wanted[0] for wanted in before if not any(wanted == item for item in left)]


def functions(content: bytes, count: int, seed: str) -> Iterator[tuple[str, Definition]]:
    """Choose functions and methods that no other definition shares a name with."""
    for address in addresses(content, 10_000, seed):
        resolved = resolve(space(content), address)
        assert resolved.group is not None
        definition = resolved.tree.outline.definitions[resolved.group.members[0]]
        if count and len(resolved.group.members) == 1 and definition.kind.value == "function":
            count -= 1
            yield address, definition


def pasted(source: str, form: str) -> tuple[str, ast.stmt]:
    """Return source (at column 0, four spaces) as it arrives, and the statement that it means.

    Shifting lines shifts those inside of strings too, as an editor does; that is then what was given.
    """
    text = meant = _FORMS[form](source)
    if text[:1] in " \t":
        meant = f"if 1:\n{text}"
    elif form == "first line stripped":
        meant = f"if 1:\n{' ' * 8}{text}"
    statement = parsed(meant).body[0]
    return text, statement.body[0] if meant is not text else statement  # type: ignore[attr-defined]


def _reunit(source: str, unit: str) -> str:
    lines = []
    for line in source.splitlines(keepends=True):
        bare = line.lstrip(" ")
        lines.append(unit * ((len(line) - len(bare)) // 4) + bare)
    return "".join(lines)


_FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "in tabs": lambda source: _reunit(source, "\t"),
    "in twos": lambda source: _reunit(source, "  "),
    "indented by 7": lambda source: textwrap.indent(source, " " * 7),
    "indented by a tab": lambda source: textwrap.indent(source, "\t"),
    "first line stripped": lambda source: textwrap.indent(source, " " * 8).lstrip(),
    "CRLF": lambda source: source.replace("\n", "\r\n"),
    "no final newline": lambda source: source.rstrip("\n"),
    "blank lines around": lambda source: f"\n\n{source}\n\n",
}
FORMS = list(_FORMS)
