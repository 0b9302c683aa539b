"""Names and signatures of definitions, without their code.

    class Client(Base):                      decorators by name, headers in one line
        timeout: float = ...                 an annotation stays, a value does not
        @property
        def open(self) -> bool: ...

Invariants:
- a signature is the header's own text: only comments, line breaks and the comma before the closing bracket go;
- nothing inside a string literal is touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind
from bae_source.syntax.outline.locate import effective_role, has_parts
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import end_of_header, lex
from bae_source.syntax.text.one_line import HEAD, in_one_line

_INDENT = "    "


def signature(tree: Tree, members: Sequence[int]) -> str:
    """Return the header of a class or function in one line, without decorators and colon."""
    return _header(tree, tree.outline.definitions[representative(tree, members)])


def representative(tree: Tree, members: Sequence[int]) -> int:
    """Return which of the definitions of one symbol speaks for it: the implementation, the getter, else the first."""
    outline = tree.outline
    headed = [index for index in members if has_parts(outline.definitions[index])]
    return next((index for index in headed if effective_role(outline, index) in ("impl", "getter")), headed[0])


def docstring(tree: Tree, members: Sequence[int] | None) -> str:
    """Return the text of a docstring, its indentation taken off; empty where there is none. None for the module's."""
    outline = tree.outline
    if members is None:
        spans = [outline.docstring]
    else:
        spans = [outline.definitions[index].docstring for index in (representative(tree, members), *members)]
    literal = next((span.cut(tree.text) for span in spans if span), None)
    if literal is None:
        return ""
    from inspect import cleandoc  # 10 ms, and only what has a docstring pays it

    return cleandoc(str(ast.literal_eval(f"({literal})")))


def skeleton(tree: Tree, members: Sequence[int] | None) -> str:
    """Return the names and signatures of some definitions and of their members; None for the whole module.

    What is inside a function is its own affair, and shown only where that function itself is asked for.
    """
    below = _below(tree)
    if members is None:
        return "\n".join(_inside(tree, below, MODULE, ""))
    return "\n".join(line for index in members for line in _lines(tree, below, index, "", within=True))


def children(tree: Tree, members: Sequence[int] | None) -> tuple[str, ...]:
    """Return the names of the classes and functions directly inside some definitions, in source order."""
    parents = (MODULE,) if members is None else tuple(members)
    return tuple(
        dict.fromkeys(
            definition.names[0]
            for definition in tree.outline.definitions
            if definition.parent in parents and has_parts(definition)
        )
    )


def name_offset(tree: Tree, index: int) -> int:
    """Return where the name of a class or function stands."""
    keyword = tree.outline.definitions[index].keyword
    match = HEAD.match(tree.text, keyword)
    return match.end() if match else keyword


def _header(tree: Tree, definition: Definition) -> str:
    header = tree.text[definition.keyword : end_of_header(tree.text, definition.keyword)]
    return in_one_line(header).removesuffix(":").rstrip()


def _below(tree: Tree) -> dict[int, list[int]]:
    """Return the definitions directly inside each, in source order."""
    below: dict[int, list[int]] = {}
    for index, definition in enumerate(tree.outline.definitions):
        below.setdefault(definition.parent, []).append(index)
    return below


def _lines(tree: Tree, below: Mapping[int, list[int]], index: int, indent: str, *, within: bool) -> Iterator[str]:
    """Yield the lines of one definition.

    Parameters:
        within: whether what is inside it is shown too.
    """
    definition = tree.outline.definitions[index]
    if not has_parts(definition):
        yield indent + _assignment(tree, definition)
        return
    yield from (f"{indent}@{decorator}" for decorator in definition.decorators if decorator)
    inside = list(_inside(tree, below, index, indent + _INDENT)) if within else []
    yield f"{indent}{_header(tree, definition)}:{'' if inside else ' ...'}"
    yield from inside


def _inside(tree: Tree, below: Mapping[int, list[int]], parent: int, indent: str) -> Iterator[str]:
    assigned: set[str] = set()
    for index in below.get(parent, ()):
        definition = tree.outline.definitions[index]
        if definition.kind is Kind.ASSIGNMENT and assigned.issuperset(definition.names):
            continue  # assigned once more
        assigned.update(definition.names)
        yield from _lines(tree, below, index, indent, within=definition.kind is Kind.CLASS)


def _assignment(tree: Tree, definition: Definition) -> str:
    if definition.kind is Kind.TYPE_ALIAS:
        return f"type {definition.names[0]} = ..."
    statement = Span(definition.keyword, definition.end).cut(tree.text)
    name = definition.names[0]
    if re.match(rf"{re.escape(name)}[ \t]*:", statement):
        annotated, valued = _before_value(in_one_line(statement))
        return f"{annotated} = ..." if valued else annotated
    return f"{', '.join(definition.names)} = ..."


def _before_value(statement: str) -> tuple[str, bool]:
    """Split an annotated assignment at its `=`: what stands before it, and whether there is a value."""
    lexed = lex(statement)
    brackets = [span for span, depth in lexed.brackets if depth == 1]
    closed = [*brackets, *lexed.strings]
    for match in re.finditer("=", statement):
        if not any(span.start <= match.start() < span.end for span in closed):
            return statement[: match.start()].rstrip(), True
    return statement, False
