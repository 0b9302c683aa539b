"""The names in a definition that may lead out of it: its references, before they are looked up.

    def send(self, message: Message) -> net.Reply:      Message, net.Reply
        return self.pool.take(retry(message))           self.pool.take (of a bound name), retry

Invariants:
- a name that is bound anywhere around or inside the definition is never called free: better one too few;
- names in string annotations are left out;
- code that only a newer Python understands, or that is nested too deeply, has none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.static_values import chain_of, names_bound
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import end_of_header
from bae_source.syntax.text.source import Lines
from bae_source.system.silence import unwarned

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WRAPPER = "if 1:\n"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Outward(Struct, frozen=True, kw_only=True):
    """One name, or a chain of attributes of one.

    Parameters:
        chain: `("net", "Reply")` for `net.Reply`.
        offset: where its last component stands.
        free: whether the first component is bound neither in the definition nor in what encloses it.
    """

    chain: tuple[str, ...]
    offset: int
    free: bool


def outward_names(tree: Tree, index: int, *, header_only: bool) -> tuple[Outward, ...]:
    """Return the names that a class or function uses, in source order.

    Parameters:
        header_only: only decorators, parameters, annotations and bases; not the body.
    """
    outer = index
    while tree.outline.definitions[outer].parent != MODULE:
        outer = tree.outline.definitions[outer].parent
    span = tree.outline.definitions[outer].span
    indented = bool(tree.outline.definitions[outer].indent)
    text = (_WRAPPER if indented else "") + span.cut(tree.text)
    parsed = _parsed(text)
    if parsed is None:
        return ()
    shift = span.start - (len(_WRAPPER) if indented else 0)
    lines = Lines(text)
    path = _path_to(parsed, lines.number(tree.outline.definitions[index].keyword - shift))
    if not path:
        return ()
    node = path[-1]
    around = {name for enclosing in path[:-1] for name in _bound(enclosing)}
    bound = around | (_parameters(node) if header_only else set(_bound(node, deep=True)))
    return tuple(
        Outward(chain=chain, offset=shift + lines.offset(line, column), free=chain[0] not in bound)
        for line, column, chain in sorted(_chains(_header(node) if header_only else [node]))
    )


def named_bases(tree: Tree, index: int) -> tuple[str, ...]:
    """Return the dotted names of a class's bases, without what is in square brackets behind them."""
    definition, text = tree.outline.definitions[index], tree.text
    parsed = _parsed(f"{text[definition.keyword : end_of_header(text, definition.keyword)]}\n pass")
    node = parsed.body[0] if parsed is not None else None
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    chains = (chain_of(base.value if isinstance(base, ast.Subscript) else base)[0] for base in bases)
    return tuple(".".join(chain) for chain in chains if chain)


def _parsed(text: str) -> ast.Module | None:
    try:
        with unwarned():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _path_to(tree: ast.Module, line: int) -> list[_Definition]:
    """Return the definitions from the outermost to the one whose keyword stands on `line`."""
    containing = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _DEFINITIONS) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    path = sorted(containing, key=lambda node: (node.lineno, node.col_offset))
    return path if path and path[-1].lineno == line else []


def _bound(node: _Definition, *, deep: bool = False) -> Iterator[str]:
    """Yield the names that a definition binds: a function all inside it, a class only its own level, unless `deep`."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if each is not node:  # its own name is bound outside of it
            yield from names_bound(each)
        own_level = not deep and isinstance(node, ast.ClassDef)
        if each is node or not (own_level and isinstance(each, (*_FUNCTIONS, ast.ClassDef))):
            stack += ast.iter_child_nodes(each)


def _parameters(node: _Definition) -> set[str]:
    """Return the type parameters; a definition's other parameters are not visible in its header."""
    return {each.name for each in getattr(node, "type_params", ())}


def _header(node: _Definition) -> list[ast.AST]:
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *getattr(node, "type_params", ()), *node.bases, *node.keywords]
    returns = [node.returns] if node.returns else []
    return [*node.decorator_list, *getattr(node, "type_params", ()), node.args, *returns]


def _chains(nodes: list[ast.AST]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield each chain of names with line and column of its last component."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        chain = chain_of(node)[0]
        if chain and isinstance(node, (ast.Name, ast.Attribute)):
            if len(chain) > 1 or isinstance(node.ctx, ast.Load):
                yield _last_component(node, chain)
            continue
        stack += ast.iter_child_nodes(node)


def _last_component(node: ast.Name | ast.Attribute, chain: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    if isinstance(node, ast.Name):
        return node.lineno, node.col_offset, chain
    end = node.end_col_offset or node.col_offset
    return node.end_lineno or node.lineno, end - len(node.attr.encode()), chain
