"""Dotted names in strings that hold code: what they import, and what their chains of attributes name.

    "import pkg.core; pkg.core.boot()"             pkg.core, pkg.core.boot
    ">>> from pkg import core; core.boot()"        pkg.core, and pkg.core.boot, since `core` is that
    "call pkg.core.boot() first"                   nothing: it is prose

Invariants:
- a string is code if all of it parses, or each of its doctests, fenced blocks and lines that import;
- a name that stands alone is none, unless it is imported: it could be any.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bae_source.syntax.outline.static_values import chain_of, loaded_by
from bae_source.system.silence import unwarned

_LONGEST = 20_000
_IMPORTS = re.compile(r"^[ \t]*(?:>>>[ \t]?)?((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+[*\w., \t]+)$", re.MULTILINE)
_EXAMPLE = re.compile(r"^[ \t]*(?:>>>|\.\.\.)[ \t](.*)", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*```(?:python|py)?[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_CHAIN = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_CALL = re.compile(r"\s*(?:\w+\s*=\s*)?[^\W\d]\w*(?:\.[^\W\d]\w*)+\(")
"""Beginning of code that calls something by its dotted name."""


def may_hold_code(text: str) -> bool:
    """Return whether a string may hold code that names something by a dotted name; most do not."""
    return len(text) <= _LONGEST and ("import " in text or ("(" in text and _CALL.match(text) is not None))


def names_in(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the dotted names that the code in a string imports or uses, each once, and whether it imports it."""
    known: dict[str, str] = {}
    found: dict[str, bool] = {}
    is_prose = "\n\n" in text or ">>>" in text
    whole = None if is_prose else _parsed(text)
    if whole is not None:
        for node in ast.walk(whole):
            found.update(dict.fromkeys(_imported(node, known), True))
        inner: set[ast.AST] = set()
        for node in ast.walk(whole):  # what is around comes first
            if isinstance(node, ast.Attribute):
                inner.add(node.value)
            parts = chain_of(node)[0] if node not in inner else ()
            if len(parts) > 1 or (parts and parts[0] in known):
                found.setdefault(".".join([known.get(parts[0], parts[0]), *parts[1:]]), False)
    else:
        for line in dict.fromkeys(_IMPORTS.findall(text)):
            tree = _parsed(line)
            for node in tree.body if tree is not None else ():
                found.update(dict.fromkeys(_imported(node, known), True))
        if found:
            code = "\n".join([*_EXAMPLE.findall(text), *(_FENCED.findall(text) if "```" in text else ())])
            first = {*known, *(name.partition(".")[0] for name in found)}
            for chain in dict.fromkeys(_CHAIN.findall(code)):
                name, _, rest = chain.partition(".")
                if name in first:
                    found.setdefault(f"{known.get(name, name)}.{rest}", False)
    yield from found.items()


def _parsed(text: str) -> ast.Module | None:
    """Return the tree of code; None for other text."""
    lines = text.strip("\n").split("\n")
    indented = len(lines[0]) - len(lines[0].lstrip())
    code = "\n".join(line[indented:] if not line[:indented].strip() else line for line in lines)
    try:
        with unwarned():
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imported(node: ast.AST, known: dict[str, str]) -> Iterator[str]:
    """Yield what an import names, and note what it binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                known[alias.asname] = alias.name
            yield alias.name
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            if alias.name != "*":
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            yield node.module if alias.name == "*" else f"{node.module}.{alias.name}"
    elif isinstance(node, ast.Call) and (loaded := loaded_by(node)) is not None and not loaded[1]:
        yield loaded[0]
