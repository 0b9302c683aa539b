"""Calls that cannot be of a function, since it does not take their arguments: the code would fail.

    def pop(self): ...          options.pop("a", None), on something unknown, calls another `pop`
    def get(self, tag): ...     options.get("a") may call it; options.get("a", 1) and queue.get(timeout=1) do not
    Base.get(self, tag)         may: a class is given the instance

Invariants:
- only where the receiver is not known it is asked; what is called on a known one is called, fitting or not;
- a function that an unknown decorator has wrapped takes anything, as does what is no function;
- of a call that is not read off at once it is not said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from bae_source.model.silence import unwarned
from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.sought import Sought
from bae_source.syntax import uses as u
from bae_source.syntax.source import SingleLines
from bae_source.syntax.uses_growing import headers

_MOST_LINES = 20
"""Lines of a call, or of a header."""
_CHANGING = frozenset({"wrapped", "property", "setter", "deleter"})
_ITSELF = frozenset({"self", "cls", "instance", "obj", "klass"})
_CLASS_BEFORE = re.compile(r"(?:\b[A-Z]\w*|\w*(?:cls|class|klass|[Tt]ype)\w*(?:\(.*\))?|super\(.*\)|\))\s*\.\s*$")
"""The text before a name that is taken of what may be a class."""


class Signatures:
    """Tells which calls may be of what is looked for.

    Parameters:
        project: where to look.
        sought: what is looked for.
    """

    def __init__(self, project: Project, sought: Sought) -> None:
        self.project = project
        self.sought = sought

    def may_take(self, path: str, name: str, mention: u.Mention) -> bool:
        """Say whether a call of an attribute of something unknown may be of what is looked for."""
        if not self._known or name in self.project.uses(path).bound:  # where it may be anything that code puts there
            return True
        lines, (line, column) = self.project.lines(path), mention[:2]
        made = _parsed(lines, line, column + len(name.encode()), "f", "")
        called = made.value if isinstance(made, ast.Expr) else None
        if not isinstance(called, ast.Call):
            return True
        before = lines.cut(line).encode()[:column].decode("utf-8", "replace")
        first = called.args[0] if called.args else None
        is_unbound = bool(_CLASS_BEFORE.search(before)) or (isinstance(first, ast.Name) and first.id in _ITSELF)
        return any(
            _fits(called, arguments, skipped)
            for arguments, is_bound in self._known
            for skipped in ((int(is_bound), 0) if is_unbound else (int(is_bound),))
        )

    @cached_property
    def _known(self) -> Sequence[tuple[ast.arguments, bool]]:
        """Parameters of each definition, and whether the first is bound; nothing where one is not known."""
        found: list[tuple[ast.arguments, bool]] = []
        for symbol in self.sought.meanings:
            several = list(self._of(symbol)) if isinstance(symbol, Symbol) else [None]
            known = [each for each in several if each is not None]
            if len(known) < len(several):
                return ()
            found += known
        return () if any(_takes_all(arguments) for arguments, _ in found) else found

    def _of(self, symbol: Symbol) -> Iterator[tuple[ast.arguments, bool] | None]:
        scopes = headers(self.project.uses(symbol.path))
        scope = scopes[symbol.scope]
        whole = self.project.uses(symbol.path).scopes[symbol.scope]
        if scope.kind != u.CLASS_SCOPE or symbol.name in whole.attributes:
            yield None
        for how, number, _, line in scope.names.get(symbol.name, ()):
            if how != u.FUNCTION or not _CHANGING.isdisjoint(scopes[number].flags):
                yield None
                continue
            function = _parsed(self.project.lines(symbol.path), line, 0, "", ": pass")
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield function.args, "static" not in scopes[number].flags
            else:
                yield None


def _parsed(lines: SingleLines, line: int, column: int, before: str, behind: str) -> ast.AST | None:
    """Return the tree of the text from a place to the bracket that ends a call or a header; None where none is seen.

    Parameters:
        before, behind: what makes code of it.
    """
    text = lines.cut(line).encode()[column:].decode("utf-8", "replace").lstrip()
    if before and not text.startswith("("):
        return None
    end = -1
    for number in range(line + 1, line + _MOST_LINES):
        while (end := text.find(")", end + 1)) >= 0:
            try:
                with unwarned():
                    return ast.parse(f"{before}{text[: end + 1]}{behind}").body[0]
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        end = len(text)
        text += "\n" + lines.cut(number).rstrip("\r\n")
    return None


def _takes_all(arguments: ast.arguments) -> bool:
    required = [each for each in arguments.kw_defaults if each is None]
    return arguments.vararg is not None and arguments.kwarg is not None and not required


def _fits(called: ast.Call, arguments: ast.arguments, skipped: int) -> bool:
    """Say whether parameters take what a call is given.

    Parameters:
        skipped: how many of the first ones are bound.
    """
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    required = set(positional[skipped : len(positional) - len(arguments.defaults)])
    alone = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    required |= {each.arg for each, default in alone if default is None}
    is_spread = any(isinstance(each, ast.Starred) for each in called.args)
    given = len([each for each in called.args if not isinstance(each, ast.Starred)])
    taken, left = positional[skipped : skipped + given], positional[skipped + given :]
    if given > len(positional) - skipped and arguments.vararg is None:
        return False
    named = [each.arg for each in called.keywords]
    known = {*left, *(each.arg for each in arguments.kwonlyargs)} - {each.arg for each in arguments.posonlyargs}
    if arguments.kwarg is None and not {each for each in named if each} <= known:
        return False
    return is_spread or None in named or required <= {*taken, *named}
