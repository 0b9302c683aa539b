"""Uses from CPython's own tree: statements, which open scopes and bind names.

    def f(self, x: T = d()) -> R:     `T`, `d` and `R` are evaluated outside, parameters are bound inside
    class A(B, metaclass=M):          `B` is a base; the names of its suite are seen by no function in it
    for i in xs: …                    binds `i` to something unknown

Expressions are `uses_expressions`' work; both fill one `Gathering`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from bae_source.model.text import is_text
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.class_suites import lacking
from bae_source.syntax.names.decorators import flags_of
from bae_source.syntax.names.expressions import Expressions
from bae_source.syntax.names.gathering import Gathering, Place
from bae_source.syntax.names.narrowing import TELLING
from bae_source.syntax.names.regions import Regions
from bae_source.syntax.names.targets import ALIAS, defined, replaces_module
from bae_source.syntax.outline.exported import listed_strings, listing_of
from bae_source.system.silence import unwarned

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINING_ANYWHERE = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_DEFINING = _DEFINING_ANYWHERE | {ast.Assign, ast.AnnAssign, ast.AugAssign, ALIAS}
"""Statements that are definitions outside functions."""
_MAKERS = ("__new__", "__call__")
_OF_CLASSES = ("__new__", "__init_subclass__", "__class_getitem__")
"""Functions that get the class as their first argument without being decorated."""
_BEGINS = re.compile(rb"#\s*type:")


def uses_of_ast(body: Iterable[ast.stmt], lines: Sequence[str], broken: Mapping[int, int] | None = None) -> u.Uses:
    """Return the references in a module.

    Parameters:
        body: its statements.
        lines: of its text, as Python counts them.
        broken: by the first line of each suite of a function that does not parse, its last line; `pass` stands there.

    Raises:
        RecursionError: it is nested too deeply for a walk.
        SyntaxError: a function does not parse that decides what classes give.
    """
    gathering = Gathering(lines)
    walker = _Statements(gathering, broken or {})
    walker.suite(body, gathering.module())
    return gathering.uses()


class _Statements:
    """The visitor of statements."""

    def __init__(self, gathering: Gathering, broken: Mapping[int, int]) -> None:
        self.gathering = gathering
        self.broken = broken
        self.expressions = Expressions(gathering)
        self.comments = TypeComments(gathering, self.expressions)
        self.value = self.expressions.value
        self.narrowing = self.expressions.narrowing
        self.regions = Regions(gathering, self.narrowing.open)

    def suite(self, body: Iterable[ast.stmt], place: Place) -> None:
        """Visit statements; definitions of one name next to each other are one symbol."""
        # @overload
        # def f(a: int): ...    owner 1: `f`, run 0; `above` is ("f",) from here on
        # def f(a): ...         owner 2: `f`, run 0, since it stands next to the first: both are the symbol `f`
        # x = 1                 owner 3: `x`
        # def f(): ...          owner 4: `f`, run 1: now there are two symbols, and the three are f[0], f[1] and f[2]
        if not body:
            return
        by_type = self.by_type
        defining = _DEFINING_ANYWHERE if place.in_function else _DEFINING
        above: tuple[str, ...] = ()
        before = len(self.narrowing.open)
        around, self.regions.open = self.regions.open, {}
        for statement in body:
            type_ = type(statement)
            names = defined(statement) if type_ in defining else ()
            inner = place
            if names:
                inner = place.within(self.gathering.owner(place.owner, names[0], next_to=names[0] in above))
                for name in names[1:]:
                    self.gathering.owner(place.owner, name, next_to=name in above)
            by_type[type_](self, statement, inner)
            above = names
        if len(self.narrowing.open) > before:
            self.narrowing.close(before)
        self.regions.open = around

    def _where(self, test: ast.expr, body: Sequence[ast.stmt], place: Place, *, holds: bool) -> None:
        """Visit a suite that runs where a test that was visited holds, or does not."""
        narrowed = self.narrowing.begin(test, place, holds=holds)
        self.suite(body, place)
        self.narrowing.end(narrowed)

    def _function(self, node: _Function, place: Place) -> None:
        for decorator in node.decorator_list:
            self.expressions.decorator(decorator, place)
        arguments = node.args
        defaults = [
            self.value(default, place) if default is not None else u.OPAQUE  # type parameters are not visible here
            for default in (*arguments.defaults, *arguments.kw_defaults)
        ]
        outside = self._type_parameters(node, place)
        noted, returns = self.comments.of_function(node, outside) if node.type_comment else ({}, u.OPAQUE)
        returns = self.expressions.annotation(node.returns, outside) if node.returns else returns
        flags = flags_of(node, self.gathering, place.scope)
        inner = self.gathering.open(u.FUNCTION_SCOPE, outside, flags=flags)
        self._parameters(node, inner, outside, flags, defaults, noted)
        self.gathering.bind(place.scope, node.name, u.Binding(u.FUNCTION, inner.scope, returns, node.lineno))
        first = node.body[0].lineno
        if first in self.broken:
            if node.name in _MAKERS:
                raise SyntaxError
            self.gathering.list_words(first, self.broken[first], inner)
        else:
            self.suite(node.body, inner)

    def _parameters(
        self,
        node: _Function,
        inner: Place,
        outside: Place,
        flags: tuple[u.Flag, ...],
        defaults: Sequence[int],
        noted: Mapping[ast.arg, int],
    ) -> None:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        first = positional[0] if positional and u.Flag.STATIC not in flags else None
        owner = self.gathering.class_around(outside)
        with_defaults = [*positional[len(positional) - len(arguments.defaults) :], *arguments.kwonlyargs]
        given = dict(zip(map(id, with_defaults), defaults, strict=True)) if defaults else {}
        for argument in (*positional, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg):
            if argument is None:
                continue
            note = self._note(argument, outside, noted, node.body[0].lineno)
            if argument is first and owner is not None and not note:
                takes_class = u.Flag.CLASS in flags or node.name in (
                    "__new__",
                    "__init_subclass__",
                    "__class_getitem__",
                )
                binding = u.Binding(u.OWN_CLASS if takes_class else u.INSTANCE, owner, 0, argument.lineno)
                self.gathering.selves[inner.scope] = (argument.arg, owner)
            elif argument in (arguments.vararg, arguments.kwarg):
                kind = "tuple" if argument is arguments.vararg else "dict"
                binding = u.Binding(u.OTHER, self.gathering.expression(u.LITERAL, kind), 0, argument.lineno)
            else:
                binding = u.Binding(u.PARAMETER, note, given.get(id(argument), u.OPAQUE), argument.lineno)
            self.gathering.bind(inner.scope, argument.arg, binding)

    def _note(self, argument: ast.arg, place: Place, noted: Mapping[ast.arg, int], last: int) -> int:
        """Visit what a parameter is annotated with.

        Parameters:
            noted: what the comment below the header says of parameters.
            last: the line in which the header has ended.
        """
        if argument.annotation:
            return self.expressions.annotation(argument.annotation, place)
        if argument.type_comment:
            return self.comments.of_parameter(argument, place, last)
        return noted.get(argument, u.OPAQUE)

    def _class(self, node: ast.ClassDef, place: Place) -> None:
        decorators = [self.expressions.decorator(decorator, place) for decorator in node.decorator_list]
        decoration = self.expressions.called_each(decorators) if decorators else u.OPAQUE
        outside = self._type_parameters(node, place)
        bases = [self._base(base, outside) for base in node.bases]
        metaclass = u.OPAQUE
        for keyword in node.keywords:
            value = self.value(keyword.value, outside)
            metaclass = value if keyword.arg == "metaclass" else metaclass
        inner = self.gathering.open(u.CLASS_SCOPE, outside, bases=bases, metaclass=metaclass)
        self.gathering.bind(place.scope, node.name, u.Binding(u.CLASS, inner.scope, decoration, node.lineno))
        words = self.gathering.words
        around, words.class_name = words.class_name, node.name
        self.suite(node.body, inner)
        self.gathering.may_lack(inner, lacking(node.body, in_expressions=inner.scope in self.expressions.binding))
        words.class_name = around

    def _base(self, node: ast.expr, place: Place) -> int:
        visit = self.expressions.typed if isinstance(node, ast.Subscript) else self.value
        return visit(node, place, u.BASE)

    def _type_parameters(self, node: ast.stmt, place: Place) -> Place:
        """Open the scope of PEP 695's parameters, if there are some."""
        parameters = getattr(node, "type_params", ())
        if not parameters:
            return place
        inner = self.gathering.open(u.TYPE_SCOPE, place)
        for parameter in parameters:
            bound, default = getattr(parameter, "bound", None), getattr(parameter, "default_value", None)
            says = self.expressions.annotation(bound, inner) if bound is not None else u.OPAQUE
            if default is not None:
                self.expressions.annotation(default, inner)
            self.gathering.bind(inner.scope, parameter.name, u.Binding(u.ASSIGNED, says, 0, parameter.lineno))
        return inner

    def _type_alias(self, node: ast.stmt, place: Place) -> None:
        inner = self._type_parameters(node, place)
        value = self.expressions.annotation(node.value, inner)  # type: ignore[attr-defined]
        name = node.name  # type: ignore[attr-defined]
        self.expressions.target(name, place, u.Binding(u.ASSIGNED, value, 0, node.lineno))

    def _assign(self, node: ast.Assign, place: Place) -> None:
        value = self.value(node.value, place)
        last = node.end_lineno or node.lineno
        notes = (
            self.comments.of_targets(node.type_comment, node.targets, place, last, last) if node.type_comment else []
        )
        self._exports(node, place)
        if place.in_function and len(node.targets) == 1:
            self.regions.until_the_end(node.targets[0], place, node.lineno)
        for target in node.targets:
            if not place.in_function and replaces_module(target):
                self.gathering.scopes[0].flags.append(u.Flag.REPLACED)
            if notes:
                self._noted(target, place, notes, value, node.lineno)
            else:
                self.expressions.target(target, place, u.Binding(u.ASSIGNED, value, 0, node.lineno))

    def _noted(self, target: ast.expr, place: Place, notes: Sequence[int], value: int, line: int) -> None:
        """Bind what a type comment annotates.

        Parameters:
            notes: the annotation, or one for each of several in a row.
        """
        if isinstance(target, (ast.Tuple, ast.List)):
            several = notes if len(notes) == len(target.elts) else [u.OPAQUE] * len(target.elts)
            for each, note in zip(target.elts, several, strict=True):
                self.expressions.target(
                    each, place, u.Binding(u.ANNOTATED, note, 0, line) if note else u.Binding(u.OTHER, 0, 0, line)
                )
        else:
            self.expressions.target(target, place, u.Binding(u.ANNOTATED, notes[0], value, line))

    def _annotated(self, node: ast.AnnAssign, place: Place) -> None:
        note = self.expressions.annotation(node.annotation, place)
        is_alias = getattr(node.annotation, "attr", getattr(node.annotation, "id", "")) == "TypeAlias"
        visit = self.expressions.typed if is_alias else self.value
        value = visit(node.value, place) if node.value else u.OPAQUE
        self._exports(node, place)
        if isinstance(node.target, ast.Name) and not node.simple and node.value is None:
            return  # `(x): int` binds nothing
        if place.in_function and node.value:
            self.regions.until_the_end(node.target, place, node.lineno)
        declares = isinstance(node.target, ast.Name) and node.value is None and self.gathering.is_class(place)
        self.expressions.target(
            node.target, place, u.Binding(u.DECLARED if declares else u.ANNOTATED, note, value, node.lineno)
        )

    def _augmented(self, node: ast.AugAssign, place: Place) -> None:
        self.value(node.value, place)
        self._exports(node, place)
        if isinstance(node.target, ast.Name) and self.gathering.is_unbound(node.target.id, place):
            self.value(node.target, place)
        self.expressions.target(node.target, place, u.Binding(u.OTHER, 0, 1, node.lineno), is_read=True)

    def _return(self, node: ast.Return, place: Place) -> None:
        if node.value is not None:
            self.gathering.scopes[place.scope].returns.append(self.value(node.value, place))

    def _expression(self, node: ast.Expr, place: Place) -> None:
        self.value(node.value, place)
        self._exports(node, place)

    def _exports(self, node: ast.stmt, place: Place) -> None:
        """Note the listing in a statement about `__all__`, whose parts were visited, and the strings in it."""
        listing = listing_of(node) if not place.scope else None
        if listing is None:
            return
        self.gathering.exports.read(node, lambda each: self._visited(each, place))
        inside = Place(0, self.gathering.exports_owner, in_function=False, numbers={})
        for constant in listed_strings(listing[1]) if listing[1] is not None else ():
            if is_text(str(constant.value)):
                self.gathering.mention(str(constant.value), constant.lineno, constant.col_offset + 1, inside, u.EXPORT)

    def _visited(self, node: ast.expr, place: Place) -> int:
        """Return the number of a name or an attribute that was visited."""
        if isinstance(node, ast.Name):
            return place.numbers.get(node.id, u.OPAQUE)
        before = self._visited(node.value, place) if isinstance(node, ast.Attribute) else u.OPAQUE
        return self.gathering.numbers.get((u.ATTRIBUTE, before, node.attr), 0) if before else u.OPAQUE  # type: ignore[attr-defined]

    def _import(self, node: ast.Import, place: Place) -> None:
        for alias in node.names:
            parts = alias.name.split(".")
            column = alias.col_offset
            for length in range(1, len(parts) + 1):
                module = ".".join(parts[:length])
                last = length == len(parts)
                bound = (alias.asname if last else "") if alias.asname else (parts[0] if length == 1 else "")
                number = self.gathering.imported(module, 0, "", node.lineno, bound or "", begins=not last)
                self.gathering.mention(parts[length - 1], alias.lineno, column, place, u.IMPORT, number)
                if bound:
                    self.gathering.bind(place.scope, bound, u.Binding(u.IMPORTED, number, 0, node.lineno))
                column += len(parts[length - 1].encode()) + 1

    def _import_from(self, node: ast.ImportFrom, place: Place) -> None:
        module = node.module or ""
        line, column, last = node.lineno, node.col_offset + len("from"), node.end_lineno or node.lineno
        parts = module.split(".") if module else []
        as_usual = self.gathering.stands_at(f" {'.' * node.level}{module} ", line, column)
        column += 1 + node.level if as_usual else 0
        for length, part in enumerate(parts, 1):
            number = self.gathering.imported(".".join(parts[:length]), node.level, "", node.lineno, "", begins=True)
            if not as_usual:
                line, column = self.gathering.column(part, line, last, column)
            self.gathering.mention(part, line, column, place, u.IMPORT, number)
            column += len(part.encode()) + as_usual
        for alias in node.names:
            bound = "" if alias.name == "*" else alias.asname or alias.name
            number = self.gathering.imported(module, node.level, alias.name, node.lineno, bound)
            if alias.name == "*":
                self.gathering.stars.append(number)
                continue
            self.gathering.mention(alias.name, alias.lineno, alias.col_offset, place, u.IMPORT, number)
            self.gathering.bind(place.scope, bound, u.Binding(u.IMPORTED, number, 0, node.lineno))
            if bound == "__all__" and not place.scope:
                taken = self.gathering.expression(u.NAME, bound, place.scope)
                self.gathering.exports.bind((), [taken])  # what it lists stands in another file

    def _if(self, node: ast.If, place: Place) -> None:
        self.value(node.test, place)
        if type(node.test) in TELLING:
            self._where(node.test, node.body, place, holds=True)
            self._where(node.test, node.orelse, place, holds=False)
            self.narrowing.behind(node, place)
        else:
            self.suite(node.body, place)
            self.suite(node.orelse, place)
        if not place.in_function:
            self.gathering.bound_for_types(place, node)

    def _assert(self, node: ast.Assert, place: Place) -> None:
        self.value(node.test, place)
        if node.msg:
            self.value(node.msg, place)
        self.narrowing.until_the_end(node.test, place, holds=True)

    def _for(self, node: ast.For | ast.AsyncFor, place: Place) -> None:
        items = self.expressions.item(self.value(node.iter, place))
        begin, end = node.iter.end_lineno or node.lineno, node.body[0].lineno
        notes = self.comments.of_targets(node.type_comment, [node.target], place, begin, end)
        looped = self.regions.begin(node.target, place, node.lineno)
        if notes:
            self._noted(node.target, place, notes, u.OPAQUE, node.lineno)
        else:
            self.expressions.target(node.target, place, u.Binding(u.OTHER, items, 0, node.lineno))
        self.suite(node.body, place)
        self.regions.end(looped)
        self.suite(node.orelse, place)

    def _with(self, node: ast.With | ast.AsyncWith, place: Place) -> None:
        for item in node.items:
            manager = self.value(item.context_expr, place)
            if item.optional_vars is not None:
                entered = self.expressions.entered(manager, isinstance(node, ast.AsyncWith))
                begin, end = item.optional_vars.end_lineno or node.lineno, node.body[0].lineno
                comment = node.type_comment if item is node.items[-1] else None
                if notes := self.comments.of_targets(comment, [item.optional_vars], place, begin, end):
                    self._noted(item.optional_vars, place, notes, entered, node.lineno)
                else:
                    self.expressions.target(item.optional_vars, place, u.Binding(u.ASSIGNED, entered, 0, node.lineno))
        self.suite(node.body, place)

    def _try(self, node: ast.Try, place: Place) -> None:
        self.suite(node.body, place)
        for handler in node.handlers:
            caught = self.value(handler.type, place) if handler.type else u.OPAQUE
            if handler.name and handler.type:
                end = handler.type.end_lineno or handler.lineno, handler.type.end_col_offset or 0
                line, column = self.gathering.column(handler.name, end[0], handler.body[0].lineno, end[1])
                self.gathering.mention(handler.name, line, column, place, u.WRITE)
                self._handler(handler, handler.name, caught, place)
            else:
                self.suite(handler.body, place)
        self.suite(node.orelse, place)
        self.suite(node.finalbody, place)

    def _handler(self, handler: ast.ExceptHandler, written: str, caught: int, place: Place) -> None:
        """Visit a handler, in whose suite its name is what is caught there, whatever else it is in the scope."""
        gathering, scope = self.gathering, place.scope
        name, binding = gathering.words[written][0], u.Binding(u.CAUGHT, caught, 0, handler.lineno)
        gathering.bind(scope, written, binding)
        bound = gathering.scopes[scope].names[name]
        before, number = len(bound), place.numbers.get(name)
        here = f"{name}@{handler.lineno}"
        gathering.bind(scope, here, binding)
        place.numbers[name] = gathering.expression(u.NAME, here, scope)
        self.suite(handler.body, place)
        for again in bound[before:]:
            gathering.bind(scope, here, again)
        if number is None:
            del place.numbers[name]
        else:
            place.numbers[name] = number

    def _global(self, node: ast.Global | ast.Nonlocal, place: Place) -> None:
        how = u.GLOBAL if isinstance(node, ast.Global) else u.NONLOCAL
        self.gathering.declares = True
        self.gathering.shared.update(node.names if how == u.NONLOCAL else ())
        line, column = node.lineno, node.col_offset
        for name in node.names:
            line, column = self.gathering.column(name, line, node.end_lineno or line, column)
            self.gathering.mention(name, line, column, place, u.READ)
            self.gathering.bind(place.scope, name, u.Binding(how, 0, 0, node.lineno))

    def _delete(self, node: ast.Delete, place: Place) -> None:
        for target in node.targets:
            self.expressions.target(target, place, u.Binding(u.OTHER, 0, 0, node.lineno))

    def _match(self, node: ast.Match, place: Place) -> None:
        self.value(node.subject, place)
        for case in node.cases:
            self._pattern(case.pattern, place)
            if case.guard is not None:
                self.value(case.guard, place)
            self.suite(case.body, place)

    def _pattern(self, node: ast.pattern, place: Place) -> None:
        """Visit a pattern and those inside it: what they compare with, and what they capture.

        case Point(x=0, y=other):        mentions Point, and x and y of an instance of it; binds `other`
        case {"k": v, **rest}:           binds `v` and `rest`
        """
        name = getattr(node, "name", None)
        if name is not None:
            end = node.end_lineno or node.lineno
            column = self.gathering.column_before(end, node.end_col_offset or 0, name)
            self.gathering.capture(name, end, column, place)
        if isinstance(node, ast.MatchMapping) and node.rest is not None:
            after = (node.patterns or node.keys or [node])[-1]
            at = (after.end_lineno, after.end_col_offset) if after is not node else (node.lineno, node.col_offset)
            last = node.end_lineno or node.lineno
            line, column = self.gathering.column(node.rest, at[0] or last, last, at[1] or 0)
            self.gathering.capture(node.rest, line, column, place)
        if isinstance(node, ast.MatchClass):
            self._class_pattern(node, place)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self._pattern(child, place)
            elif isinstance(child, ast.expr):
                self.value(child, place)

    def _class_pattern(self, node: ast.MatchClass, place: Place) -> None:
        instance = self.gathering.expression(u.CALLED, self.value(node.cls, place))
        line, column = node.cls.end_lineno or node.lineno, node.cls.end_col_offset or 0
        for attribute, inner in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            line, column = self.gathering.column(attribute, line, inner.lineno, column)
            self.gathering.mention(attribute, line, column, place, u.READ, instance)
            self._pattern(inner, place)
        for inner in node.patterns:
            self._pattern(inner, place)

    def _other(self, node: ast.stmt, place: Place) -> None:
        """Visit a statement that binds nothing: its expressions, and its suites."""
        if isinstance(node, ast.While):
            self.value(node.test, place)
            self._where(node.test, node.body, place, holds=True)
            self.suite(node.orelse, place)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, place)

    by_type: ClassVar[Mapping[type[ast.AST], Callable[..., None]]] = {
        **dict.fromkeys(ast.stmt.__subclasses__(), _other),
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Expr: _expression,
        ast.Return: _return,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.If: _if,
        ast.Assert: _assert,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
        ast.Global: _global,
        ast.Nonlocal: _global,
        ast.Delete: _delete,
        ast.Match: _match,
        getattr(ast, "TryStar", ast.Try): _try,
        ALIAS: _type_alias,
    }
    """Visitors by type of statement; plain functions, as in `Expressions.visits`."""


class TypeComments:
    """The visitor of type comments: annotations behind a statement, a header, or a parameter (PEP 484).

        x = []  # type: List[C]                      for x, y in zs:  # type: C, D
        def f(a, b):                                 def f(a,  # type: C
            # type: (C, D) -> E                            b):

    They are the parser's: a comment that only looks like one, as in a string, is none, and neither is `# type: ignore`.

    Parameters:
        gathering: takes what they mention.
        expressions: visits what they say.
    """

    def __init__(self, gathering: Gathering, expressions: Expressions) -> None:
        self.gathering = gathering
        self.expressions = expressions

    def of_targets(
        self, comment: str | None, targets: list[ast.expr], place: Place, first: int, last: int
    ) -> list[int]:
        """Visit the comment behind an assignment; return the number of each target's annotation, or nothing.

        Parameters:
            first, last: lines in which the comment stands.
        """
        inner = self._parsed(comment, "eval") if comment else None
        if not isinstance(inner, ast.Expression):
            return []
        rows = [each for each in targets if isinstance(each, (ast.Tuple, ast.List))]
        self._put(inner.body, first, last)
        if len(targets) == len(rows) == 1 and isinstance(inner.body, ast.Tuple):
            return [self.expressions.annotation(each, place) for each in inner.body.elts]
        return [self.expressions.annotation(inner.body, place)]

    def of_parameter(self, argument: ast.arg, place: Place, last: int) -> int:
        """Visit the comment behind a parameter; return the number of its type, or `OPAQUE`."""
        found = self.of_targets(argument.type_comment, [], place, argument.lineno, last)
        return found[0] if found else u.OPAQUE

    def of_function(self, node: _Function, place: Place) -> tuple[dict[ast.arg, int], int]:
        """Visit the comment below a header; return the annotations of parameters, and of the result."""
        inner = self._parsed(node.type_comment, "func_type") if node.type_comment else None
        if not isinstance(inner, ast.FunctionType):
            return {}, u.OPAQUE
        types = ast.Tuple([*inner.argtypes, inner.returns], ast.Load())
        self._put(types, node.lineno, node.body[0].lineno)
        given, arguments = [self.expressions.annotation(each, place) for each in inner.argtypes], node.args
        several = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs,
                   *filter(None, [arguments.kwarg])]  # fmt: skip
        several = several[1:] if len(several) == len(given) + 1 else several
        returned = self.expressions.annotation(inner.returns, place)
        return (dict(zip(several, given, strict=True)) if len(several) == len(given) else {}), returned

    def _parsed(self, comment: str, mode: str) -> ast.AST | None:
        try:
            with unwarned():
                return ast.parse(comment.strip(), mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _put(self, inner: ast.expr, first: int, last: int) -> None:
        """Give the names of a comment the places that they have in the file."""
        lines = self.gathering.lines
        for number in range(first, min(last, len(lines)) + 1):
            if found := _BEGINS.search(lines[number - 1].encode("utf-8", "surrogatepass")):
                self.expressions.place_in(inner, number, found.end(), last)
                return
