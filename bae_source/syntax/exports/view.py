"""The names that a package's `__init__` exposes, and the statements that do so, as values with their places.

    from .x import A, B                      imports of its own package, those under `if TYPE_CHECKING` apart
    __all__ = ["A", *y.__all__] + z.__all__  names in lists, and what other modules export
    _LAZY = {"C": ".w"}                      tables by which `__getattr__` finds names (`exports_lazy`)

Invariants:
- nothing is run: what cannot be read off is called computed, and never guessed;
- where the text is newer than the running Python, single statements are read, and what needs the whole is not there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import SourceError
from bae_source.model.span import Span
from bae_source.syntax.importing.merging import imported_items
from bae_source.syntax.outline.ast_walk import span_of, suites_of
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.exported import ALL, is_all, listed_strings, listing_of
from bae_source.syntax.outline.static_values import is_skipped, is_typing_test
from bae_source.syntax.outline.tree import parse_module, parse_text
from bae_source.syntax.text.items import Items, items_of
from bae_source.syntax.text.source import Lines


class Statement(Struct, frozen=True, kw_only=True):
    """One statement of an `__init__`.

    Parameters:
        node: as CPython's parser has it.
        origin: offset of the piece of text that it was parsed from.
        lines: that piece.
        typing_only: whether it stands under `if TYPE_CHECKING`.
    """

    node: ast.stmt
    origin: int
    lines: Lines
    typing_only: bool = False

    def span(self, node: ast.stmt | ast.expr | ast.alias | None = None) -> Span:
        """Return where the statement, or a node in it, stands in the whole text."""
        found = span_of(self.lines, node or self.node)
        return Span(self.origin + found.start, self.origin + found.end)


class FromImport(Struct, frozen=True, kw_only=True):
    """One `from … import …`.

    Parameters:
        span: the statement.
        level: how many leading dots.
        module: the module without them.
        names: what is imported, and as what.
        items: their places; None where they stand in a way that is not understood, or it is a star import.
        typing_only: whether it stands under `if TYPE_CHECKING`.
    """

    span: Span
    level: int
    module: str
    names: tuple[tuple[str, str | None], ...]
    items: Items | None
    typing_only: bool

    @property
    def star(self) -> bool:
        """Return whether it imports all names."""
        return self.names == (("*", None),)


class PlainImport(Struct, frozen=True, kw_only=True):
    """One `import a.b` without a new name."""

    span: Span
    module: str


class Listed(Struct, frozen=True, kw_only=True):
    """A list, tuple or set of strings.

    Parameters:
        span: with its brackets.
        items: the places of all elements.
        names: the strings; None for an element that is none.
        quote: the quotes that the strings have; None where there is none.
    """

    span: Span
    items: Items
    names: tuple[str | None, ...]
    quote: str | None


class AllStatement(Struct, frozen=True, kw_only=True):
    """One statement that says what `__all__` holds.

    Parameters:
        span: the statement.
        how: `=`, `+=`, `append` or `extend`; `?` for anything else, `branch` for a compound statement around it.
        lists: the lists of names in it.
        refs: the modules whose own `__all__` is added.
        operands: the places of the summands where all of them are such modules.
        computed: whether there is more than lists and such modules.
        anew: whether what `__all__` held before it may not be in it behind it.
    """

    span: Span
    how: str
    lists: tuple[Listed, ...] = ()
    refs: tuple[str, ...] = ()
    operands: Items | None = None
    computed: bool = False
    anew: bool = False


class View:
    """The names that an `__init__` exposes.

    Parameters:
        text: the file, decoded.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.statements = tuple(_statements(text, self.lines))

    @cached_property
    def froms(self) -> tuple[FromImport, ...]:
        """The from-imports at the top level, and those under `if TYPE_CHECKING`."""
        return tuple(self._from_import(each) for each in self._all_statements(ast.ImportFrom))

    @cached_property
    def plain(self) -> tuple[PlainImport, ...]:
        """The imports of one whole module at the top level."""
        return tuple(
            PlainImport(span=each.span(), module=each.node.names[0].name)
            for each in self.statements
            if isinstance(each.node, ast.Import) and len(each.node.names) == 1 and not each.node.names[0].asname
        )

    @cached_property
    def alls(self) -> tuple[AllStatement, ...]:
        """The statements at the top level that say what `__all__` holds, and those around one that makes it anew."""
        found = (self._all_statement(each) for each in self.statements)
        return tuple(each for each in found if each is not None)

    @cached_property
    def nested_all(self) -> bool:
        """Return whether `__all__` is also changed inside other statements."""
        nodes = (node for each in self.statements if isinstance(each.node, _BLOCKS) for node in ast.walk(each.node))
        return any(isinstance(node, ast.Name) and node.id == ALL for node in nodes)

    @cached_property
    def nested_names(self) -> frozenset[str]:
        """The names in lists of `__all__` inside other statements."""
        inner = (
            replace(each, node=node) for each in self.statements for node in _inside(each.node) if node != each.node
        )
        listing = (self._all_statement(each) for each in inner)
        return frozenset(name for each in listing if each for listed in each.lists for name in listed.names if name)

    @cached_property
    def quote(self) -> str:
        """The quotes that the file uses most."""
        plain = self.text.replace('"""', "").replace("'''", "")
        return "'" if plain.count("'") > plain.count('"') else '"'

    def _all_statements(self, kind: type[ast.stmt]) -> Iterator[Statement]:
        for each in self.statements:
            if isinstance(each.node, kind):
                yield each
            elif isinstance(each.node, ast.If) and is_typing_test(each.node.test):
                for node in each.node.body:
                    if isinstance(node, kind):
                        yield Statement(node=node, origin=each.origin, lines=each.lines, typing_only=True)

    def _from_import(self, statement: Statement) -> FromImport:
        node = statement.node
        assert isinstance(node, ast.ImportFrom)
        span = statement.span()
        names = tuple((alias.name, alias.asname) for alias in node.names)
        return FromImport(
            span=span,
            level=node.level,
            module=node.module or "",
            names=names,
            items=imported_items(self.text, span),
            typing_only=statement.typing_only,
        )

    def _all_statement(self, statement: Statement) -> AllStatement | None:
        node = statement.node
        if isinstance(node, _BLOCKS):
            if not any(self._makes_anew(statement, inner) for inner in _inside(node)):
                return None
            return AllStatement(span=statement.span(), how=BRANCH, computed=True, anew=True)
        listing = listing_of(node)
        if listing is not None:
            how, value = listing
            anew = how == "=" and value is not None and not any(map(is_all, ast.walk(value)))
            if isinstance(node, ast.Expr):
                anew = node.value.func.attr not in _KEEPING  # type: ignore[attr-defined]
            return replace(self._read_listing(statement, how, value), anew=anew)
        if isinstance(node, _SIMPLE) and any(_sets_all(inner) for inner in ast.walk(node)):
            return AllStatement(span=statement.span(), how="?", computed=True, anew=True)
        return None

    def _makes_anew(self, around: Statement, node: ast.stmt) -> bool:
        """Return whether a statement inside another one makes `__all__` anew."""
        listing = self._all_statement(replace(around, node=node))
        return listing is not None and listing.anew

    def _read_listing(self, statement: Statement, how: str, value: ast.expr | None) -> AllStatement:
        if how == "append" and (named := list(listed_strings(value)) if value is not None else []):
            appended = self._appended(statement.span(named[0]), str(named[0].value))
            return AllStatement(span=statement.span(), how=how, lists=(appended,))
        lists: list[Listed] = []
        refs: list[str] = []
        summands = list(_summands(value)) if value is not None and how not in ("append", "?") else []
        computed = not summands and value is not None
        for each in summands:
            listed = self.listed(statement, each)
            if listed is not None:
                lists.append(listed)
                refs += [ref for inner in each.elts if (ref := _ref(inner))]  # type: ignore[attr-defined]
                computed = computed or listed.names.count(None) > sum(bool(_ref(e)) for e in each.elts)  # type: ignore[attr-defined]
            elif ref := _ref(each):
                refs.append(ref)
            else:
                computed = True
        operands = None
        if refs and not lists and not computed:
            operands = self._operands(statement, summands, refs)
        return AllStatement(
            span=statement.span(),
            how=how,
            lists=tuple(lists),
            refs=tuple(refs),
            operands=operands,
            computed=computed or how == "?",
        )

    def _appended(self, span: Span, name: str) -> Listed:
        items = Items(spans=(span,), keys=(name,), inside=span, bracketed=False, ends=(None,))
        return Listed(span=span, items=items, names=(name,), quote=_quote(self.text, [span]))

    def _operands(self, statement: Statement, summands: Sequence[ast.expr], refs: list[str]) -> Items | None:
        spans = [statement.span(each) for each in summands]
        inside = Span(spans[0].start, spans[-1].end)
        broken = "\n" in inside.cut(self.text) and "\\" not in inside.cut(self.text)
        return items_of(self.text, spans, refs, inside, bracketed=broken, separator="+")

    def listed(self, statement: Statement, node: ast.expr) -> Listed | None:
        """Return a list, tuple or set that is written out; None for anything else."""
        if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return None
        span, spans = statement.span(node), [statement.span(element) for element in node.elts]
        bracketed = not isinstance(node, ast.Tuple) or self.text[span.start : span.start + 1] == "("
        inside = Span(span.start + 1, span.end - 1) if bracketed else span
        names = tuple(
            element.value if isinstance(element, ast.Constant) and isinstance(element.value, str) else None
            for element in node.elts
        )
        keys = [name or "" for name in names]
        items = items_of(self.text, spans, keys, inside, bracketed=bracketed, is_tuple=isinstance(node, ast.Tuple))
        if items is None:
            return None
        strings = [place for place, name in zip(spans, names, strict=True) if name is not None]
        return Listed(span=span, items=items, names=names, quote=_quote(self.text, strings))


@lru_cache(maxsize=2)
def view_of(text: str) -> View:
    """Return what an `__init__` exposes; the same for the same text, which several steps ask for.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    return View(text)


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that may run with one and hold no others; itself if it is such a one."""
    if not isinstance(node, _BLOCKS):
        yield node
        return
    suites: Iterable[list[ast.stmt]] = suites_of(node)
    if isinstance(node, ast.If) and (skipped := is_skipped(node.test)) is not None:
        suites = [node.orelse if skipped else node.body]
    for suite in suites:
        for each in suite:
            yield from _inside(each)


def _statements(text: str, lines: Lines) -> Iterator[Statement]:
    try:
        module = parse_module(text)
    except (SyntaxError, RecursionError, MemoryError):
        yield from _single_statements(text, lines)
        return
    for node in module.body:
        yield Statement(node=node, origin=0, lines=lines)


def _single_statements(text: str, lines: Lines) -> Iterator[Statement]:
    """Yield the imports and the assignments to `__all__` that can be read on their own."""
    outline, _ = parse_text(text, lines)
    found = {binding.start: binding.end for binding in outline.imports if binding.top}
    suite = [outline.definitions[index] for index in outline.named(MODULE, ALL)]
    found |= {each.keyword: each.end for each in suite if each.suite == 0}
    for start, end in sorted(found.items()):
        piece = text[start:end]
        try:
            (node,) = parse_module(piece).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise SourceError(
                "syntax_invalid",
                "The package's __init__ is too new or too deep for the Python that runs here.",
                hints=["Run bae_source with a newer Python."],
            ) from error
        yield Statement(node=node, origin=start, lines=Lines(piece))


_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match, getattr(ast, "TryStar", ast.Try))
"""Statements that hold others which run with them."""
BRANCH = "branch"
"""Form of a compound statement that sets `__all__` on one of its branches."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Delete)
_KEEPING = ("append", "extend", "insert", "remove", "reverse", "sort")
"""Methods of a list that keep all names but the given ones."""


def _sets_all(node: ast.AST) -> bool:
    """Return whether a node binds `__all__`, or replaces its items: `__all__[:] = …`."""
    if isinstance(node, ast.Subscript):
        return is_all(node.value) and not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Name) and node.id == ALL and not isinstance(node.ctx, ast.Load)


def _summands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _summands(node.left)
        yield from _summands(node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WRAPPERS and node.args:
        yield from _summands(node.args[0])
    else:
        yield node


_WRAPPERS = ("list", "tuple", "sorted")


def _ref(node: ast.expr) -> str | None:
    """Return the module of `x.__all__` or `*x.__all__`."""
    if isinstance(node, ast.Starred):
        node = node.value
    if isinstance(node, ast.Attribute) and node.attr == ALL and isinstance(node.value, (ast.Name, ast.Attribute)):
        return ast.unparse(node.value)
    return None


def _quote(text: str, spans: Sequence[Span]) -> str | None:
    """Return the quotes of the last of some strings."""
    for span in reversed(spans):
        for char in span.cut(text):
            if char in "'\"":
                return char
    return None
