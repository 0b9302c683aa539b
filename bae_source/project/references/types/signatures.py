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

from msgspec import Struct

from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.syntax.names import uses as u
from bae_source.syntax.text.source import SingleLines
from bae_source.system.silence import unwarned

_MOST_LINES = 20
"""Lines of a call, or of a header."""
_CHANGING = frozenset({u.Flag.WRAPPED, u.Flag.PROPERTY, u.Flag.SETTER, u.Flag.DELETER})
_ONE = r"(?:([^\W\d]\w*)\s*=(?!=)\s*)?(\"[^\"\\\n]*\"|'[^'\\\n]*'|[\w.]+)"
_NAME = re.compile(r"\w+")
_PARTIAL = re.compile(r"\bpartial(?:method)?(\()\s*(?:\w+\s*\.\s*)*\Z")
_ARGUMENT = re.compile(_ONE)
_PLAIN = re.compile(rf"\(\s*(?:{_ONE}\s*(?:,\s*{_ONE}\s*)*,?\s*)?\)")
"""Arguments that are seen without a parser, and a call of none but these."""
_ITSELF = frozenset({"self", "cls", "instance", "obj", "klass"})
_CLASS_BEFORE = re.compile(r"(?:\b[A-Z]\w*|\w*(?:cls|class|klass|[Tt]ype)\w*(?:\(.*\))?|super\(.*\)|\))\s*\.\s*$")
"""The text before a name that is taken from a possible class."""


class _Called(Struct):
    """The value of a call.

    Parameters:
        first: the first argument, if it is a name.
        given: how many arguments stand by themselves.
        named: keywords.
        is_starred: whether `*` gives more.
        has_more: whether `**` gives more.
    """

    first: str
    given: int
    named: list[str]
    is_starred: bool = False
    has_more: bool = False


class _Defined(Struct):
    """A function.

    Parameters:
        arguments: its parameters.
        is_bound: whether the first one is given by Python, where it is called on an instance.
        of_class: whether it is so where it is called on a class, too.
    """

    arguments: ast.arguments
    is_bound: bool
    of_class: bool


class Signatures:
    """The calls that may be of the target.

    Parameters:
        project: where to look.
        sought: the target.
    """

    def __init__(self, project: Project, sought: Sought) -> None:
        self.project = project
        self.sought = sought

    def may_take(self, path: str, name: str, mention: u.Mention) -> bool:
        """Return whether a call of an attribute of something unknown may be of the target."""
        if not self._known or name in self.project.uses(path).bound:  # where it may be anything that code puts there
            return True
        lines, (line, column) = self.project.lines(path), mention[:2]
        called = _called(lines, line, column + len(name.encode()))
        if called is None:
            return True
        before = lines.cut(line).encode()[:column].decode("utf-8", "replace")
        is_unbound = called.first in _ITSELF or bool(_CLASS_BEFORE.search(before))
        return any(
            _fits(called, each.arguments, skipped)
            for each in self._known
            for skipped in ((int(each.is_bound), 0) if is_unbound else (int(each.is_bound),))
        )

    @cached_property
    def _known(self) -> Sequence[_Defined]:
        """Each definition; nothing where one is not known."""
        found: list[_Defined] = []
        for symbol in self.sought.meanings:
            several = list(self._of(symbol)) if isinstance(symbol, Symbol) else [None]
            known = [each for each in several if each is not None]
            if len(known) < len(several):
                return ()
            found += known
        return () if any(_takes_all(each.arguments) for each in found) else found

    def may_set(self, path: str, mention: u.Mention, parameter: str, *, is_bound: bool) -> bool:
        """Return whether a call of the target may set a parameter by `**`: it gives it in no other way.

        Parameters:
            mention: of what is called, or of what a partial function is made of.
            is_bound: whether the first parameter of a method is given by Python.
        """
        lines, (line, column) = self.project.lines(path), mention[:2]
        code = lines.cut(line).encode()
        before, text = (part.decode("utf-8", "replace") for part in (code[:column], code[column:]))
        partial = _PARTIAL.search(before) if mention.kind != u.CALL else None
        name = _NAME.match(text)
        if name is None or (partial is None and mention.kind != u.CALL):
            return False
        start = column + len(name[0].encode()) if partial is None else len(before[: partial.start(1)].encode())
        called = _called(lines, line, start)
        if called is None:
            return any("**" in lines.cut(number) for number in range(line, line + _MOST_LINES))
        if not called.has_more or parameter in called.named:
            return False
        given = called.given - (partial is not None)
        several = [
            each for symbol in self.sought.meanings if isinstance(symbol, Symbol) for each in self._defined(symbol)
        ]
        return not all(
            each is not None and _is_given(given + (each.is_bound and (is_bound or each.of_class)), each, parameter)
            for each in several
        )

    def _of(self, symbol: Symbol) -> Iterator[_Defined | None]:
        scope = self.project.uses(symbol.path).scopes[symbol.scope]
        if scope.kind != u.CLASS_SCOPE or symbol.name in scope.attributes:
            yield None
        yield from self._defined(symbol)

    def _defined(self, symbol: Symbol) -> Iterator[_Defined | None]:
        scopes = self.project.uses(symbol.path).scopes
        scope = scopes[symbol.scope]
        for how, number, _, line in scope.names.get(symbol.name, ()):
            if how != u.FUNCTION or not _CHANGING.isdisjoint(scopes[number].flags):
                yield None
                continue
            function = _parsed(self.project.lines(symbol.path), line, 0, "", ": pass")
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                flags, in_class = scopes[number].flags, scope.kind == u.CLASS_SCOPE
                yield _Defined(
                    function.args, in_class and u.Flag.STATIC not in flags, in_class and u.Flag.CLASS in flags
                )
            else:
                yield None


def _called(lines: SingleLines, line: int, column: int) -> _Called | None:
    """Return the arguments of a call that begin at a place; None where they are not seen."""
    plain = _PLAIN.match(lines.cut(line).encode()[column:].decode("utf-8", "replace"))
    if plain:
        arguments = _ARGUMENT.findall(plain[0])
        named = [name for name, _ in arguments if name]
        return _Called(arguments[0][1] if arguments else "", len(arguments) - len(named), named)
    parsed = _parsed(lines, line, column, "f", "")
    call = parsed.value if isinstance(parsed, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return None
    first = call.args[0] if call.args else None
    given = [each for each in call.args if not isinstance(each, ast.Starred)]
    named = [each.arg for each in call.keywords if each.arg]
    return _Called(
        first=first.id if isinstance(first, ast.Name) else "",
        given=len(given),
        named=named,
        is_starred=len(given) < len(call.args),
        has_more=len(named) < len(call.keywords),
    )


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


def _is_given(given: int, function: _Defined, parameter: str) -> bool:
    """Return whether arguments that stand by themselves are those of a parameter, or nothing but such could be.

    Parameters:
        given: how many there are, with the one that Python gives.
    """
    alone = [each.arg for each in function.arguments.posonlyargs]
    positional = [*alone, *(each.arg for each in function.arguments.args)]
    return parameter in alone or parameter in positional[:given]


def _fits(called: _Called, arguments: ast.arguments, skipped: int) -> bool:
    """Return whether parameters take what a call is given.

    Parameters:
        skipped: how many of the first ones are bound.
    """
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    alone = [each.arg for each in arguments.kwonlyargs]
    if called.given > len(positional) - skipped and arguments.vararg is None:
        return False
    left = positional[skipped + called.given :]
    known = {*left, *alone} - {each.arg for each in arguments.posonlyargs}
    if arguments.kwarg is None and not known.issuperset(called.named):
        return False
    required = positional[skipped : len(positional) - len(arguments.defaults)][called.given :]
    required += [name for name, default in zip(alone, arguments.kw_defaults, strict=True) if default is None]
    return called.is_starred or called.has_more or set(required).issubset(called.named)
