"""An outline from CPython's own tree.

Only statements are visited, never expressions, except the targets of assignments and the value of `__all__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Collector, ImportBinding, Kind, Outline
from bae_source.syntax.outline.static_values import is_skipped
from bae_source.syntax.text.source import Lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_TYPE_ALIAS: type[ast.stmt] | tuple[()] = getattr(ast, "TypeAlias", ())
# What a statement is to an outline: most statements are nothing to it, and a dictionary tells so fastest.
_NOTHING, _LOCAL, _DEFINES, _COMPOUND = range(4)
_WHAT: dict[type[ast.stmt], int] = {
    **dict.fromkeys(
        (ast.Expr, ast.Return, ast.Pass, ast.Raise, ast.Delete, ast.Assert, ast.Global, ast.Nonlocal, ast.Continue,
         ast.Break),
        _NOTHING,
    ),
    **dict.fromkeys((*_ASSIGNMENTS, ast.Import, ast.ImportFrom), _LOCAL),
    **({_TYPE_ALIAS: _LOCAL} if isinstance(_TYPE_ALIAS, type) else {}),
    **dict.fromkeys(_DEFINITIONS, _DEFINES),
}  # fmt: skip
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def outline_of_ast(tree: ast.Module, text: str, lines: Lines) -> Outline:
    """Return the outline of a module that `ast.parse` made of `text`."""
    walker = _Walker(Collector(text, lines))
    walker.module(tree)
    return walker.collector.outline()


class _Walker:
    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.offset = collector.lines.offset
        self.typing_only = False
        self.runs = True

    def module(self, tree: ast.Module) -> None:
        self.collector.docstring = self._docstring(tree)
        self._suite(tree.body, MODULE, in_function=False, floor=0, top=True, own=True)

    def _suite(
        self,
        body: Sequence[ast.stmt],
        owner: int,
        *,
        in_function: bool,
        floor: int,
        top: bool = False,
        own: bool = False,
    ) -> int:
        """Walk a suite; `own` says that it is a definition's, so that it is kept though it may define nothing."""
        number = self.collector.open_suite()
        before, strings = len(self.collector.definitions), 0
        for line, statement in enumerate(body):
            what = _WHAT.get(type(statement), _COMPOUND)
            if what is _NOTHING or (in_function and what is _LOCAL):
                if owner == MODULE and isinstance(statement, ast.Expr):
                    self.collector.exports.read(statement)
                continue
            if what is _COMPOUND:
                self._compound(statement, owner, in_function=in_function)
                continue
            position = line - strings
            above = (body[line - 1].end_lineno if line else None) or floor
            if isinstance(statement, _DEFINITIONS):
                self._definition(statement, owner, number, position, above)
            elif isinstance(statement, _ASSIGNMENTS):
                string = _string(body, line + 1)
                strings += self._assignment(statement, owner, number, position, above, string)
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                if owner == MODULE or not in_function:
                    self._import(statement, owner, top=top)
            else:
                name = statement.name.id  # type: ignore[attr-defined]
                string = _string(body, line + 1)
                self._simple(statement, (name,), Kind.TYPE_ALIAS, owner, number, position, above, string)
                strings += string is not None
        if own or len(self.collector.definitions) > before:
            self._close(number, body, owner, *self._bounds(body), strings=strings)
        return number

    def _close(
        self, number: int, body: Sequence[ast.stmt], owner: int, start: int, end: int, *, strings: int = 0
    ) -> None:
        """Close a suite, of whose statements some are strings that document attributes."""
        size, placeholder = len(body) - strings, len(body) == 1 and _holds_a_place(body[0])
        self.collector.close_suite(number, owner=owner, size=size, start=start, end=end, placeholder=placeholder)

    def _definition(self, node: _Definition, owner: int, suite: int, position: int, floor: int) -> None:
        number = self.collector.open_definition()
        keyword = self.offset(node.lineno, node.col_offset)
        start = keyword
        if node.decorator_list:
            first = node.decorator_list[0]
            start = self.collector.text.rfind("@", 0, self.offset(first.lineno, first.col_offset))
        in_function = not isinstance(node, ast.ClassDef)
        end = self._end(node)
        body = self._body(node, number, end, in_function=in_function)
        self.collector.close_definition(
            number,
            names=(node.name,),
            kind=Kind.FUNCTION if in_function else Kind.CLASS,
            parent=owner,
            suite=suite,
            position=position,
            start=start,
            first_line=node.lineno if start == keyword else self.collector.lines.number(start),
            keyword=keyword,
            end=end,
            last_line=node.end_lineno or node.lineno,
            decorators=tuple(map(_dotted, node.decorator_list)),
            body=body,
            docstring=self._docstring(node),
            floor=floor,
        )

    def _body(self, node: _Definition, number: int, end: int, *, in_function: bool) -> int:
        """Walk a definition's suite; a function's without `def` or `class` in it need not be read."""
        if in_function:
            start = self.offset(node.body[0].lineno, node.body[0].col_offset)
            if not _may_define(self.collector.text, start, end):
                suite = self.collector.open_suite()
                self._close(suite, node.body, number, start, end)
                return suite
        return self._suite(node.body, number, in_function=in_function, floor=node.lineno, own=True)

    def _assignment(
        self,
        node: ast.Assign | ast.AnnAssign | ast.AugAssign,
        owner: int,
        suite: int,
        position: int,
        floor: int,
        string: ast.Expr | None,
    ) -> bool:
        """Note the bindings of an assignment, and return whether the string below documents it."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = tuple(dict.fromkeys(_names(targets)))
        if not names:
            return False
        self._simple(node, names, Kind.ASSIGNMENT, owner, suite, position, floor, string)
        if owner == MODULE and "__all__" in names:
            self.collector.exports.read(node)
        return string is not None

    def _simple(
        self,
        node: ast.stmt,
        names: tuple[str, ...],
        kind: Kind,
        owner: int,
        suite: int,
        position: int,
        floor: int,
        string: ast.Expr | None,
    ) -> None:
        start, last = self.offset(node.lineno, node.col_offset), string or node
        self.collector.close_definition(
            self.collector.open_definition(),
            names=names,
            kind=kind,
            parent=owner,
            suite=suite,
            position=position,
            start=start,
            first_line=node.lineno,
            keyword=start,
            end=self._end(node),
            last_line=last.end_lineno or last.lineno,
            docstring=self._span(string.value) if string else None,
            floor=floor,
            documented=self._end(string) if string else None,
        )

    def _import(self, node: ast.Import | ast.ImportFrom, owner: int, *, top: bool) -> None:
        start, end = self.offset(node.lineno, node.col_offset), self._end(node)
        source = node.module or "" if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            bound = alias.asname or (alias.name.partition(".")[0] if source is None else alias.name)
            self.collector.note_import(
                owner,
                ImportBinding(
                    name=bound,
                    module=source if source is not None else alias.name,
                    attribute=alias.name if source is not None else None,
                    level=node.level if isinstance(node, ast.ImportFrom) else 0,
                    top=top,
                    typing_only=self.typing_only,
                    start=start,
                    end=end,
                    runs=self.runs,
                ),
            )

    def _compound(self, node: ast.stmt, owner: int, *, in_function: bool) -> None:
        around = self.runs
        while isinstance(node, ast.If):  # a loop, because a long elif chain is nested as deeply as it is long
            outer, runs, skipped = self.typing_only, self.runs, is_skipped(node.test)
            self.typing_only = outer or _dotted(node.test).rpartition(".")[2] == "TYPE_CHECKING"
            self.runs = runs and not skipped
            self._suite(node.body, owner, in_function=in_function, floor=node.test.end_lineno or node.lineno)
            self.typing_only, self.runs = outer, runs and skipped is not False
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                self._suites([node.orelse], owner, in_function=in_function, floor=_last_line(node.body))
                break
            node = node.orelse[0]
        else:
            self._suites(suites_of(node), owner, in_function=in_function, floor=node.lineno)
        self.runs = around

    def _suites(self, bodies: Iterable[list[ast.stmt]], owner: int, *, in_function: bool, floor: int) -> None:
        for body in bodies:
            if body:
                self._suite(body, owner, in_function=in_function, floor=floor)
                floor = _last_line(body)

    def _bounds(self, body: Sequence[ast.stmt]) -> tuple[int, int]:
        if not body:
            return 0, 0
        first = body[0]
        start = self.offset(first.lineno, first.col_offset)
        if isinstance(first, _DEFINITIONS) and first.decorator_list:
            decorator = first.decorator_list[0]
            start = self.collector.text.rfind("@", 0, self.offset(decorator.lineno, decorator.col_offset))
        return start, self._end(body[-1])

    def _docstring(self, node: _Definition | ast.Module) -> Span | None:
        first = _string(node.body, 0)
        return self._span(first.value) if first else None

    def _span(self, node: ast.expr) -> Span:
        return Span(self.offset(node.lineno, node.col_offset), self._end(node))

    def _end(self, node: ast.stmt | ast.expr) -> int:
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)


def _string(body: Sequence[ast.stmt], place: int) -> ast.Expr | None:
    """Return the statement at a place of a suite if it is nothing but a string."""
    one = body[place] if place < len(body) else None
    is_string = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
    return one if is_string else None  # type: ignore[return-value]


def _holds_a_place(statement: ast.stmt) -> bool:
    """Return whether a statement is `pass` or `...`."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Pass) or (isinstance(value, ast.Constant) and value.value is ...)


def span_of(lines: Lines, node: ast.stmt | ast.expr | ast.alias | ast.arg | ast.keyword) -> Span:
    """Return where a node stands in the text that it was parsed from."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(lines.offset(node.lineno, node.col_offset), lines.offset(node.end_lineno, node.end_col_offset))


def suites_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the suites of a compound statement that opens no scope, in source order."""
    if isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body
        return
    yield getattr(node, "body", [])
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    yield getattr(node, "orelse", [])
    yield getattr(node, "finalbody", [])


def _may_define(text: str, start: int, end: int) -> bool:
    """Return whether `def` or `class` stands between two offsets, though it be in a string; `default` is neither."""
    for keyword in ("def", "class"):
        found = text.find(keyword, start, end)
        while found >= 0:
            behind = found + len(keyword)
            if not text[behind : behind + 1].isidentifier():
                return True
            found = text.find(keyword, behind, end)
    return False


def _last_line(body: Sequence[ast.stmt]) -> int:
    return (body[-1].end_lineno or 0) if body else 0


def _names(targets: Iterable[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, (ast.Tuple, ast.List)):
            yield from _names(target.elts)
        elif isinstance(target, ast.Starred):
            yield from _names([target.value])


def _dotted(node: ast.expr) -> str:
    """Return `a.b.c` for a chain of names, called or not; empty for anything else."""
    pieces: list[str] = []
    while True:
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Attribute):
            pieces.append(node.attr)
            node = node.value
        else:
            return ".".join([node.id, *reversed(pieces)]) if isinstance(node, ast.Name) else ""
