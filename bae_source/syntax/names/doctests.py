"""Names that the doctests of a module take from it.

    def send(text):
        \"\"\"Send.

        >>> import re                          the doctest imports `re` itself
        >>> re.sub("a", "b", json.dumps(1))    takes `json` from the module
        \"\"\"

Invariants:
- only docstrings have doctests; what an example binds is not the module's in the rest of its docstring;
- an example that does not parse takes nothing.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator

from msgspec import Struct

from bae_source.syntax.outline.tree import parse_module
from bae_source.system.silence import unwarned

_MARK = ">>>"
_EXAMPLE = re.compile(r"^[ \t]*>>>(?: .*|$)(?:\n[ \t]*\.\.\.(?: .*|$))*", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.) ?", re.MULTILINE)
_OWNERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_TOO_MUCH = (SyntaxError, ValueError, RecursionError, MemoryError)


class Taken(Struct, frozen=True, kw_only=True):
    """One name that an example of a doctest takes from its module.

    Parameters:
        name: the name.
        line: the line of the text on which the example begins.
        code: the example, without its prompts.
    """

    name: str
    line: int
    code: str


def taken_by_doctests(text: str) -> list[Taken]:
    """Return the names that the doctests in a text take from its module, built-in ones too, in source order.

    Parameters:
        text: of a module; one that CPython does not parse has no doctests.
    """
    if _MARK not in text:
        return []
    try:
        module = parse_module(text)
    except _TOO_MUCH:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    firsts = [node.body[0] for node in ast.walk(module) if isinstance(node, _OWNERS) and node.body]
    found = [taken for each in firsts if isinstance(each, ast.Expr) for taken in _of_docstring(each, lines)]
    return sorted(found, key=lambda each: each.line)


def _of_docstring(node: ast.Expr, lines: list[str]) -> Iterator[Taken]:
    """Yield the names of one docstring, whose examples run one after the other in a copy of the module's names."""
    bound: set[str] = set()
    line = node.lineno
    value = node.value.value if isinstance(node.value, ast.Constant) else None
    for match in _EXAMPLE.finditer(value) if isinstance(value, str) else ():
        shown = match[0].partition("\n")[0].strip()
        line = next((n for n in range(line, (node.end_lineno or line) + 1) if shown in lines[n - 1]), line)
        code = _PROMPT.sub("", match[0])
        try:
            with unwarned():
                table = symtable.symtable(code, "", "exec")
        except _TOO_MUCH:
            continue
        own = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
        bound |= own
        yield from (
            Taken(name=name, line=line, code=code) for name in sorted(_global_names(table)) if name not in bound
        )


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that some code and its inner scopes read from around them."""
    is_top = table.get_type() == "module"
    own = {each.get_name() for each in table.get_symbols() if each.is_referenced() and (is_top or each.is_global())}
    return own.union(*map(_global_names, table.get_children()))
