"""An outline from libcst's tree, for syntax that is newer than the running interpreter.

libcst is imported here, on first need, because that alone takes 280 ms. It is given decoded text that `depth` has made
shallow, and it is believed only when it gives the text back unchanged. Its tree is used to find things, never to write.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Collector, ImportBinding, Kind, Outline
from bae_source.syntax.text.source import Lines

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import CodePosition, CodeRange


class CannotParse(Exception):
    """libcst refuses the text as well."""


class NotLossless(Exception):
    """libcst reads the text, but does not give it back unchanged, so that its positions cannot be trusted."""


def outline_by_libcst(text: str, lines: Lines) -> Outline:
    """Return the outline of `text`, which must be shallow.

    Raises:
        CannotParse: libcst refuses the text.
        NotLossless: libcst changes it.
    """
    try:
        module = cst.parse_module(text)
        if module.code != text:
            raise NotLossless
        walker = _Walker(
            Collector(text, lines), MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        )
        walker.module(module)
    except (cst.ParserSyntaxError, cst.CSTValidationError, cst.CSTLogicError, RecursionError) as error:
        # the second where text and bytes stand next to each other, the third where a template string follows
        raise CannotParse(str(error)) from None
    return walker.collector.outline()


class _Walker:
    def __init__(self, collector: Collector, positions: object) -> None:
        self.cst = cst
        self.collector = collector
        self.positions: dict[cst.CSTNode, CodeRange] = positions  # type: ignore[assignment]
        self.typing_only = False
        self.runs = True

    def module(self, module: cst.Module) -> None:
        self.collector.docstring = self._docstring(module.body)
        self._suite(module.body, MODULE, in_function=False, floor=0, top=True)

    def _suite(
        self, body: Sequence[cst.BaseStatement | cst.BaseSmallStatement], owner: int, *, in_function: bool, floor: int,
        top: bool = False,
    ) -> int:  # fmt: skip
        number = self.collector.open_suite()
        statements = list(self._statements(body))
        strings = 0
        for line, statement in enumerate(statements):
            string = None if in_function else self._string(statements, line + 1)
            known = len(self.collector.definitions)
            self._statement(
                statement, owner, number, line - strings, in_function=in_function, floor=floor, top=top, string=string
            )
            simple = isinstance(statement, self.cst.BaseSmallStatement)
            strings += bool(string and simple and len(self.collector.definitions) > known)
            floor = self.collector.lines.number(self._end(statement))
        start = self._start(statements[0]) if statements else 0
        end = self._end(statements[-1]) if statements else 0
        placeholder = len(statements) == 1 and self._holds_a_place(statements[0])
        self.collector.close_suite(
            number, owner=owner, size=len(statements) - strings, start=start, end=end, placeholder=placeholder
        )
        return number

    def _holds_a_place(self, statement: cst.CSTNode) -> bool:
        """Return whether a statement is `pass` or `...`."""
        value = statement.value if isinstance(statement, self.cst.Expr) else None
        return isinstance(statement, self.cst.Pass) or isinstance(value, self.cst.Ellipsis)

    def _statements(self, body: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        for statement in body:
            if isinstance(statement, self.cst.SimpleStatementLine):
                yield from statement.body
            else:
                yield statement

    def _statement(
        self, node: cst.CSTNode, owner: int, suite: int, position: int, *, in_function: bool, floor: int, top: bool,
        string: cst.Expr | None,
    ) -> None:  # fmt: skip
        cst = self.cst
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._definition(node, owner, suite, position, floor)
        elif isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.TypeAlias)):
            if not in_function:
                self._binding(node, owner, suite, position, floor, string)
        elif isinstance(node, (cst.Import, cst.ImportFrom)):
            if owner == MODULE or not in_function:
                self._import(node, owner, top=top)
        elif isinstance(node, cst.Expr):
            if owner == MODULE:
                self._read_exports(node)
        else:
            self._compound(node, owner, in_function=in_function, floor=floor)

    def _definition(
        self, node: cst.FunctionDef | cst.ClassDef, owner: int, suite: int, position: int, floor: int
    ) -> None:
        number = self.collector.open_definition()
        function = isinstance(node, self.cst.FunctionDef)
        keyword = self._offset(self.positions[node].start)
        body = self._suite(node.body.body, number, in_function=function, floor=self.collector.lines.number(keyword))
        self.collector.close_definition(
            number,
            names=(_plain(node.name.value),),
            kind=Kind.FUNCTION if function else Kind.CLASS,
            parent=owner,
            suite=suite,
            position=position,
            start=self._start(node),
            first_line=self.collector.lines.number(self._start(node)),
            keyword=keyword,
            end=self._end(node),
            last_line=self.collector.lines.number(self._end(node) - 1),
            decorators=tuple(self._dotted(decorator.decorator) for decorator in node.decorators),
            body=body,
            docstring=self._docstring(node.body.body),
            floor=floor,
        )

    def _binding(
        self, node: cst.CSTNode, owner: int, suite: int, position: int, floor: int, string: cst.Expr | None
    ) -> None:
        cst = self.cst
        if isinstance(node, cst.TypeAlias):
            kind = Kind.TYPE_ALIAS
            names: tuple[str, ...] = (_plain(node.name.value),)
        else:
            assert isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign))
            targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
            kind = Kind.ASSIGNMENT
            names = tuple(dict.fromkeys(self._names(targets)))
        if not names:
            return
        start = self._start(node)
        documented = self._end(string) if string else None
        self.collector.close_definition(
            self.collector.open_definition(),
            names=names,
            kind=kind,
            parent=owner,
            suite=suite,
            position=position,
            start=start,
            first_line=self.collector.lines.number(start),
            keyword=start,
            end=self._end(node),
            last_line=self.collector.lines.number((documented or self._end(node)) - 1),
            docstring=self._span(string) if string else None,
            floor=floor,
            documented=documented,
        )
        if owner == MODULE and "__all__" in names:
            self._read_exports(node)

    def _read_exports(self, node: cst.CSTNode) -> None:
        """Note a statement of the module about `__all__`."""
        text = self.collector.text[self._start(node) : self._end(node)]
        try:
            [statement] = ast.parse(text).body if "__all__" in text else [ast.Pass()]
            self.collector.exports.read(statement)
        except (SyntaxError, ValueError):
            self.collector.exports.lose()  # it is newer than the Python that runs here

    def _import(self, node: cst.Import | cst.ImportFrom, owner: int, *, top: bool) -> None:
        cst = self.cst
        start, end = self._start(node), self._end(node)
        level = len(node.relative) if isinstance(node, cst.ImportFrom) else 0
        source = (self._dotted(node.module) if node.module else "") if isinstance(node, cst.ImportFrom) else None
        aliases: list[tuple[str, str | None]] = [("*", None)]
        if isinstance(node.names, Sequence):
            aliases = [(self._dotted(alias.name), alias.evaluated_alias) for alias in node.names]
        for name, asname in aliases:
            bound = _plain(asname or "") or (name.partition(".")[0] if source is None else name)
            self.collector.note_import(
                owner,
                ImportBinding(
                    name=bound,
                    module=source if source is not None else name,
                    attribute=name if source is not None else None,
                    level=level,
                    top=top,
                    typing_only=self.typing_only,
                    start=start,
                    end=end,
                    runs=self.runs,
                ),
            )

    def _compound(self, node: cst.CSTNode, owner: int, *, in_function: bool, floor: int) -> None:
        outer, runs = self.typing_only, self.runs
        if isinstance(node, self.cst.If):
            self.typing_only = outer or self._dotted(node.test).rpartition(".")[2] == "TYPE_CHECKING"
            self.runs = runs and not self.typing_only and "__main__" not in self.cst.Module([]).code_for_node(node.test)
        body = getattr(node, "body", None)
        if isinstance(body, self.cst.BaseSuite):
            self._suite(body.body, owner, in_function=in_function, floor=floor)
        self.typing_only, self.runs = outer, runs
        for name in ("cases", "handlers", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            for clause in inner if isinstance(inner, (list, tuple)) else [inner] if inner is not None else []:
                self._compound(clause, owner, in_function=in_function, floor=floor)

    def _offset(self, place: CodePosition) -> int:
        return self.collector.lines.start(place.line) + place.column

    def _start(self, node: cst.CSTNode) -> int:
        decorators = getattr(node, "decorators", ())
        return self._offset(self.positions[decorators[0] if decorators else node].start)

    def _end(self, node: cst.CSTNode) -> int:
        """Return the offset behind a statement's last token; libcst's own end of a block takes in what follows."""
        last: cst.CSTNode | None = node
        while last is not None:
            node = last
            last = next((inner for inner in self._clauses(node) if inner is not None), None)
        end = self._offset(self.positions[node].end)
        bare = self.collector.text[:end].rstrip(" \t")
        return len(bare.rstrip("; \t")) if bare.endswith(";") else end  # a type alias takes its semicolon in

    def _clauses(self, node: cst.CSTNode) -> Iterator[cst.CSTNode | None]:
        """Yield the last thing inside a compound statement or suite."""
        yield getattr(node, "finalbody", None)
        yield getattr(node, "orelse", None)
        for name in ("handlers", "cases"):
            clauses = getattr(node, name, None) or (None,)
            yield clauses[-1]
        body = getattr(node, "body", None)
        if isinstance(body, self.cst.BaseSuite):
            yield body
        elif isinstance(node, (self.cst.BaseSuite, self.cst.SimpleStatementLine)):
            yield node.body[-1] if node.body else None

    def _docstring(self, body: Sequence[cst.CSTNode]) -> Span | None:
        first = self._string(list(self._statements(body)), 0)
        return self._span(first) if first else None

    def _string(self, statements: Sequence[cst.CSTNode], place: int) -> cst.Expr | None:
        """Return the statement at a place of a suite if it is nothing but a string."""
        cst, one = self.cst, statements[place] if place < len(statements) else None
        if not isinstance(one, cst.Expr) or not isinstance(one.value, (cst.SimpleString, cst.ConcatenatedString)):
            return None
        try:
            return one if isinstance(one.value.evaluated_value, str) else None
        except (SyntaxError, ValueError):
            return None  # bytes with letters that no Python takes there

    def _span(self, string: cst.Expr) -> Span:
        where = self.positions[string.value]
        return Span(self._offset(where.start), self._offset(where.end))

    def _names(self, targets: Sequence[cst.CSTNode]) -> Iterator[str]:
        cst = self.cst
        for target in targets:
            if isinstance(target, cst.Name):
                yield _plain(target.value)
            elif isinstance(target, (cst.Tuple, cst.List)):
                yield from self._names([element.value for element in target.elements])

    def _dotted(self, node: cst.CSTNode) -> str:
        cst = self.cst
        pieces: list[str] = []
        while True:
            if isinstance(node, cst.Call):
                node = node.func
            elif isinstance(node, cst.Attribute):
                pieces.append(_plain(node.attr.value))
                node = node.value
            else:
                return ".".join([_plain(node.value), *reversed(pieces)]) if isinstance(node, cst.Name) else ""


def _plain(name: str) -> str:
    """Return an identifier as Python compares it (NFKC)."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)
