"""Uses inside expressions: mentions of names and attributes, and the small trees that later tell what a receiver is.

await a.b(c)[0].d        mentions a, b (receiver a, call), c, d (receiver: an item of the awaited call)
x: "list[C]" = y         the annotation's string is read as the expression that it holds
[f(i) for i in xs]       `xs` is evaluated outside, `i` is bound inside
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.code_strings import may_hold_code
from bae_source.syntax.names.gathering import Gathering, Place
from bae_source.syntax.names.narrowing import TELLING, Narrowing
from bae_source.syntax.names.types import GENERICS, TYPE_ARGUMENTS, TYPE_KEYWORDS, type_arguments
from bae_source.syntax.names.uses import ANNOTATION, ATTRIBUTE, CALL, CALLED, DECORATOR, KEYWORD, NAME, PLAIN, READ
from bae_source.system.silence import unwarned

Visit = Callable[["Expressions", Any, Place, int], int]

_LONGEST_ANNOTATION = 1000
_MOST_KEPT = 24
"""Arguments, and names of keywords, that are kept of a call; each keyword's mention leads to all of them."""
_TELLING = frozenset({"__new__", "setattr", "type"})
"""Functions whose arguments decide a class's value, the binding of an attribute, or a class."""
_METHODS: Mapping[type[ast.operator], str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__", ast.MatMult: "__matmul__",
}  # fmt: skip
"""By operator, the method of the left operand that decides the value."""
_DISPLAYS: Mapping[type[ast.AST], str] = {
    ast.List: "list", ast.Set: "set", ast.Dict: "dict",
    ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict",
}  # fmt: skip
_HOLDING = (NAME, ATTRIBUTE, u.SEVERAL, u.LITERAL)
"""Forms of elements of a display that are kept with it: names, and what may hold some."""

_OF_PATCH = ("target", "spec", "create", "spec_set", "autospec", "new_callable")
"""Parameters of `patch.multiple` itself."""


class Expressions:
    """The visitor of expressions.

    Half of the time that the uses of a file take is spent here, so a name is noted where it is met, without a call.
    """

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.words = gathering.words
        self.numbers = gathering.numbers
        self.forms = gathering.expressions
        self.wide = gathering.wide
        self.kind: int | None = None
        """Kind of all mentions inside an annotation; None elsewhere."""
        self.holds_types = False
        """True where strings are read as annotations though names are none."""
        self.literals: dict[type, int] = {}
        self.narrowing = Narrowing(gathering)
        self.lambdas: set[int] = set()
        """Scopes of lambdas, in which `:=` binds; it leaves those of comprehensions."""
        self.binding: set[int] = set()
        """Scopes in which `:=` binds names."""

    def value(self, node: ast.expr, place: Place, kind: int = READ) -> int:
        """Visit an expression that is evaluated, and return its number.

        Parameters:
            kind: how its outermost name is mentioned.
        """
        return self.visits[type(node)](self, node, place, kind)

    def decorator(self, node: ast.expr, place: Place) -> int:
        """Visit a decorator, and return its number; of `@f(1)` what `f` gives is called too, which has no name."""
        number = self.value(node, place, DECORATOR)
        if not isinstance(node, (ast.Name, ast.Attribute)):
            self.gathering.mention(u.NAMELESS, node.lineno, node.col_offset, place, DECORATOR, number)
        return number

    def annotation(self, node: ast.expr, place: Place) -> int:
        """Visit an annotation; strings in it are read as expressions."""
        before, self.kind = self.kind, u.ANNOTATION
        try:
            return self.value(node, place, u.ANNOTATION)
        finally:
            self.kind = before

    def typed(self, node: ast.expr, place: Place, kind: int = READ) -> int:
        """Visit an expression that is evaluated and gives a type; strings in it are read as annotations."""
        before, self.holds_types = self.holds_types, True
        try:
            return self.value(node, place, kind)
        finally:
            self.holds_types = before

    def called_each(self, functions: Sequence[int]) -> int:
        """Return the number of an expression for a call of any of several ones."""
        calls = [self.gathering.expression(CALLED, function) for function in functions if function]
        return self._any_of(calls) if len(calls) > 1 else calls[0] if calls else u.OPAQUE

    def item(self, iterated: int) -> int:
        """Return the number of the value that a loop over an expression binds."""
        return self.gathering.expression(u.ITEM, iterated) if iterated else u.OPAQUE

    def entered(self, manager: int, is_async: bool) -> int:
        """Return the number of the value that `with` binds: of the manager's `__enter__`."""
        if not manager:
            return u.OPAQUE
        method = self.gathering.expression(ATTRIBUTE, manager, "__aenter__" if is_async else "__enter__")
        given = self.gathering.expression(CALLED, method)
        return self.gathering.expression(u.AWAITED, given) if is_async else given

    def target(self, node: ast.expr, place: Place, binding: u.Binding, *, is_read: bool = False) -> None:
        """Visit what an assignment, a loop or `del` binds, and bind it.

        Parameters:
            is_read: whether it is read before, as an attribute in `x.y += 1`.
        """
        type_ = type(node)
        if type_ is ast.Name:
            kind = u.DELETE if type(node.ctx) is ast.Del else u.WRITE  # type: ignore[attr-defined]
            self.gathering.mention(node.id, node.lineno, node.col_offset, place, kind)  # type: ignore[attr-defined]
            self.gathering.bind(place.scope, node.id, binding)  # type: ignore[attr-defined]
        elif type_ is ast.Attribute:
            receiver = self._attribute_bound(node, place, binding)  # type: ignore[arg-type]
            if is_read:
                self._mentioned(node, receiver, place, READ)  # type: ignore[arg-type]
        elif type_ is ast.Tuple or type_ is ast.List:
            elements = node.elts  # type: ignore[attr-defined]
            parts = self._parts(binding, elements)
            for number, element in enumerate(elements):
                known = u.Binding(u.ASSIGNED, parts[number], 0, binding.line) if parts else None
                part = known or self._part(binding, elements, number)
                self.target(element, place, part)
        elif type_ is ast.Starred:
            self.target(node.value, place, u.Binding(u.OTHER, 0, 0, binding.line))  # type: ignore[attr-defined]
        else:
            self.visits[type_](self, node, place, READ)

    def _parts(self, binding: u.Binding, targets: Sequence[ast.expr]) -> Sequence[int]:
        """Return the values of several targets, where as many values stand beside each other."""
        form = self.forms[binding.first] if binding.how == u.ASSIGNED else ()
        is_known = form[:1] == (u.SEVERAL,) and len(form) == len(targets) + 1
        if not is_known or any(type(each) is ast.Starred for each in targets):
            return ()
        return form[1:]  # type: ignore[return-value]

    def _part(self, binding: u.Binding, targets: Sequence[ast.expr], number: int) -> u.Binding:
        """Return the value of one target, by its number, of an unpacking."""
        is_known = binding.how in (u.ASSIGNED, u.OTHER) and binding.first and not binding.second
        if not is_known or any(type(each) is ast.Starred for each in targets[: number + 1]):
            return u.Binding(u.OTHER, u.OPAQUE, 0, binding.line)
        return u.Binding(u.OTHER, self.gathering.expression(u.PART, binding.first, number), 0, binding.line)

    def _attribute_bound(self, node: ast.Attribute, place: Place, binding: u.Binding) -> int:
        """Visit an attribute that is bound, and return the number of its receiver."""
        kind = u.DELETE if type(node.ctx) is ast.Del else u.WRITE
        receiver = self.value(node.value, place)
        name = self._mentioned(node, receiver, place, kind)
        if kind == u.DELETE:
            return receiver
        owner = self._class_of_self(node.value, place)
        if owner is None:
            value = {u.ASSIGNED: binding.first, u.ANNOTATED: binding.second}.get(binding.how, u.OPAQUE)
            self.gathering.bound[name].append(u.Binding(u.SET, value, receiver, binding.line))
        else:
            self.gathering.scopes[owner].attributes.setdefault(name, []).append(binding)
        return receiver

    def _name(self, node: ast.Name, place: Place, kind: int) -> int:
        name, note = self.words[node.id]
        note(u.Mention(node.lineno, node.col_offset, place.scope, self.kind or kind, PLAIN, place.owner))
        number = place.numbers.get(name)
        if number is None:
            number = place.numbers[name] = len(self.forms)
            self.forms.append((NAME, name, place.scope))
        return number

    def _attribute(self, node: ast.Attribute, place: Place, kind: int) -> int:
        base = node.value
        receiver = self.visits[type(base)](self, base, place, READ)
        name = self._mentioned(node, receiver, place, self.kind or kind)
        if not receiver:
            return u.OPAQUE
        form = (ATTRIBUTE, receiver, name)
        number = self.numbers.get(form)
        if number is None:
            number = self.numbers[form] = len(self.forms)
            self.forms.append(form)
        return number

    def _mentioned(self, node: ast.Attribute, receiver: int, place: Place, kind: int) -> str:
        """Note the attribute's own name, and return it as Python stores it."""
        name, line, end = node.attr, node.end_lineno, node.end_col_offset
        assert line is not None
        assert end is not None
        column = end - len(name) if line not in self.wide else self.gathering.column_before(line, end, name)
        stored, note = self.words[name]
        note(u.Mention(line, column, place.scope, kind, receiver, place.owner))
        return stored

    def _call(self, node: ast.Call, place: Place, kind: int) -> int:
        function, visits = node.func, self.visits
        last = ""
        if type(function) is ast.Name:
            last = function.id
            if last == "super" and len(node.args) in (0, 2):
                return self._super(node, place)
        elif type(function) is ast.Attribute:
            last = function.attr
        around = self.kind, self.holds_types
        self.kind, self.holds_types = None, False  # `Annotated[int, f("x")]` calls `f`, and "x" is no annotation
        called = visits[type(function)](self, function, place, DECORATOR if kind == DECORATOR else CALL)
        if not last:
            self.gathering.mention(u.NAMELESS, node.lineno, node.col_offset, place, CALL, called)
        is_patching = last == "multiple" and _is_patch(function)
        number = self._patched(node, place) if is_patching else self._arguments(node, place, last, called)
        self.kind, self.holds_types = around
        return number

    def _patched(self, node: ast.Call, place: Place) -> int:
        """Visit the arguments of `patch.multiple`; what it gives is not known.

        Each keyword names an attribute of what comes first, as an assignment to it would:

        patch.multiple(core, main=1)             mention `main`, a keyword of what `core` is
        patch.multiple("app.core", main=1)       the string "app.core.main"
        """
        target: ast.expr | None = None
        number = u.OPAQUE
        for argument in node.args:
            found = self.value(argument, place)
            if target is None:
                target, number = argument, found
        for keyword in node.keywords:
            name, replaced = keyword.arg or "", u.OPAQUE
            if isinstance(target, ast.Constant) and isinstance(target.value, str) and name not in (*_OF_PATCH, ""):
                text = u.Text(keyword.lineno, keyword.col_offset, place.owner, f"{target.value}.{name}")
                self.gathering.strings[name].append(text)
            elif name not in _OF_PATCH:
                replaced = self.gathering.expression(u.PATCHED, number)
            if name:
                self.gathering.mention(name, keyword.lineno, keyword.col_offset, place, u.KEYWORD, replaced)
            found = self.value(keyword.value, place)
            if name == "target":
                target, number = keyword.value, found
        return u.OPAQUE

    def _arguments(self, node: ast.Call, place: Place, last: str, called: int) -> int:
        """Visit what a call is given; return the number of the call.

        Parameters:
            last: the last part of the name of what is called.
            called: the number of that.
        """
        visits = self.visits
        given: list[int] = []
        arguments: list[int | str] = []
        if last in TYPE_ARGUMENTS:
            given += type_arguments(self, node.args, place, last)
        elif last in _TELLING:
            given += [self.value(argument, place) for argument in node.args]
        else:
            arguments += [visits[type(argument)](self, argument, place, READ) for argument in node.args]
            if last == "getattr" and (taken := self._by_getattr(node, arguments)):
                return taken
            if u.OPAQUE in arguments:
                del arguments[_before_starred(node.args) :]
        for keyword in node.keywords:
            number = self._keyword(keyword, place, last, given)
            arguments += (keyword.arg, number) if keyword.arg is not None else ()
        if given:
            number = self._special_call(node, called, given, last)
        else:
            number = self.gathering.expression(CALLED, called, *arguments[:_MOST_KEPT]) if called else u.OPAQUE
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.gathering.mention(keyword.arg, keyword.lineno, keyword.col_offset, place, KEYWORD, number)
        return number

    def _by_getattr(self, node: ast.Call, arguments: Sequence[int | str]) -> int:
        """Return the number of the attribute that `getattr(x, "name")` gives, or that or a default."""
        is_built_in = isinstance(node.func, ast.Name) and "getattr" not in self.gathering.scopes[0].names
        name = node.args[1] if is_built_in and len(arguments) in (2, 3) and arguments[0] else None
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            return u.OPAQUE
        taken = self.gathering.expression(ATTRIBUTE, int(arguments[0]), name.value)
        return self._any_of([taken, int(arguments[2])]) if len(arguments) == 3 else taken

    def _keyword(self, keyword: ast.keyword, place: Place, function: str, given: list[int]) -> int:
        """Visit the value of a keyword, and return its number; add it to `given` where it is a type."""
        if (function, keyword.arg) not in TYPE_KEYWORDS:
            return self.value(keyword.value, place)
        number = self.typed(keyword.value, place)
        if keyword.arg == "bound":
            given.append(number)
        return number

    def _special_call(self, node: ast.Call, called: int, given: Sequence[int], last: str) -> int:
        """Note what `setattr(x, "name", value)` binds; return the number of that, of `x.__new__(C)` or `cast(C, x)`."""
        if last in TYPE_ARGUMENTS:
            return self.gathering.expression(u.TYPED, called, self._any_of(list(given))) if called else u.OPAQUE
        name = node.args[1] if len(given) == 3 else None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__new__":
            return self.gathering.expression(u.NEW, called, given[0])
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            self.gathering.bound[name.value].append(u.Binding(u.SET, given[2], given[0], node.lineno))
        if last == "type" and len(given) == 1 and called:
            return self.gathering.expression(u.TYPE_OF, called, given[0])
        return self.gathering.expression(CALLED, called) if called else u.OPAQUE

    def _super(self, node: ast.Call, place: Place) -> int:
        self.value(node.func, place, CALL)
        first = [self.value(argument, place) for argument in node.args]
        return self.gathering.expression(u.SUPER, place.scope, first[0] if first else u.OPAQUE)

    def _constant(self, node: ast.Constant, place: Place, _kind: int) -> int:
        value = node.value
        if isinstance(value, str):
            if self.kind == ANNOTATION or self.holds_types:
                return self._quoted(node, value, place)
            if " " not in value or ":" in value:
                self.gathering.string(value, node.lineno, node.col_offset + 1, place)
            if may_hold_code(value):
                self.gathering.code(value, node.lineno, node.end_lineno or node.lineno, node.col_offset + 1, place)
        type_ = type(value)
        literal = self.literals.get(type_)
        if literal is None:
            literal = self.literals[type_] = self.gathering.expression(u.LITERAL, type_.__name__)
        return literal

    def _quoted(self, node: ast.Constant, text: str, place: Place) -> int:
        """Visit the expression that a string in an annotation holds."""
        if len(text) > _LONGEST_ANNOTATION:
            return u.OPAQUE
        try:
            with unwarned():
                inner = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.gathering.string(text, node.lineno, node.col_offset + 1, place)
            return u.OPAQUE
        self.place_in(inner, node.lineno, node.col_offset, node.end_lineno or node.lineno)
        return self.annotation(inner, place)

    def place_in(self, inner: ast.expr, line: int, column: int, last: int) -> None:
        """Give the names of an expression the places that they have in the literal, or the comment, that holds it.

        Parameters:
            line, column, last: where that begins, and its last line.
        """
        children = [child for child in ast.walk(inner) if isinstance(child, (ast.expr, ast.keyword))]
        for child in sorted(children, key=lambda each: (each.end_lineno or 0, each.end_col_offset or 0)):
            word = getattr(child, "id", None) or getattr(child, "attr", None) or getattr(child, "arg", None)
            if word is not None and not isinstance(child, ast.keyword):
                line, column = self.gathering.column(word, line, last, column)
                column += len(word.encode())
            child.lineno = child.end_lineno = line
            child.end_col_offset = column
            child.col_offset = column - len((word or "").encode())

    def _subscript(self, node: ast.Subscript, place: Place, kind: int) -> int:
        base = self.value(node.value, place, kind if kind in (u.BASE, u.ANNOTATION) else u.READ)
        before = self.kind, self.holds_types
        last = getattr(node.value, "attr", getattr(node.value, "id", ""))
        if last == "Literal":
            self.kind, self.holds_types = None, False
        elif last in GENERICS:
            self.holds_types = True
        with_metadata = last == "Annotated" and isinstance(node.slice, ast.Tuple)
        inner = self._with_metadata(node.slice, place) if with_metadata else self.value(node.slice, place)
        self.kind, self.holds_types = before
        return self.gathering.expression(u.SUBSCRIPT, base, inner) if base else u.OPAQUE

    def _with_metadata(self, node: ast.expr, place: Place) -> int:
        """Visit what stands in the brackets of `Annotated`: only the first is a type."""
        numbers = []
        for element in node.elts:  # type: ignore[attr-defined]
            numbers.append(self.value(element, place))
            self.kind, self.holds_types = None, False
        return self.gathering.expression(u.SEVERAL, *numbers)

    def _bool(self, node: ast.BoolOp, place: Place, _kind: int) -> int:
        first, *others = node.values
        numbers, narrowed, holds = [self.value(first, place)], [], isinstance(node.op, ast.And)
        for before, value in zip(node.values, others, strict=False):
            if type(before) in TELLING:
                narrowed += self.narrowing.begin(before, place, holds=holds)
            numbers.append(self.value(value, place))
        self.narrowing.end(narrowed)
        return self._any_of(numbers)

    def _if(self, node: ast.IfExp, place: Place, _kind: int) -> int:
        self.value(node.test, place)
        return self._any_of(
            [
                self._where(node.test, node.body, place, holds=True),
                self._where(node.test, node.orelse, place, holds=False),
            ]
        )

    def _where(self, test: ast.expr, node: ast.expr, place: Place, *, holds: bool) -> int:
        """Visit what is evaluated where a test that was visited holds, or does not."""
        narrowed = self.narrowing.begin(test, place, holds=holds)
        number = self.value(node, place)
        self.narrowing.end(narrowed)
        return number

    def _binary(self, node: ast.BinOp, place: Place, _kind: int) -> int:
        left, right = self.value(node.left, place), self.value(node.right, place)
        is_type = isinstance(node.op, ast.BitOr) and (self.kind == u.ANNOTATION or self.holds_types)
        if is_type:
            return self._any_of([left, right])
        method = _METHODS.get(type(node.op), "") if left and self.forms[left][0] != u.LITERAL else ""
        return self.gathering.expression(u.OPERATED, left, method) if method else u.OPAQUE

    def _any_of(self, numbers: list[int]) -> int:
        return self.gathering.expression(u.ANY_OF, *numbers)

    def _await(self, node: ast.Await, place: Place, _kind: int) -> int:
        awaited = self.value(node.value, place)
        return self.gathering.expression(u.AWAITED, awaited) if awaited else u.OPAQUE

    def _tuple(self, node: ast.Tuple, place: Place, _kind: int) -> int:
        return self.gathering.expression(u.SEVERAL, *[self.value(element, place) for element in node.elts])

    def _compare(self, node: ast.Compare, place: Place, _kind: int) -> int:
        visits, left = self.visits, node.left
        visits[type(left)](self, left, place, READ)
        for other in node.comparators:
            visits[type(other)](self, other, place, READ)
        return u.OPAQUE

    def _listed(self, node: ast.List | ast.Set, place: Place, _kind: int) -> int:
        visits = self.visits
        return self._displayed(node, [visits[type(element)](self, element, place, READ) for element in node.elts])

    def _dict(self, node: ast.Dict, place: Place, _kind: int) -> int:
        visits = self.visits
        for key in node.keys:
            if key is not None:
                visits[type(key)](self, key, place, READ)
        return self._displayed(node, [visits[type(value)](self, value, place, READ) for value in node.values])

    def _displayed(self, node: ast.expr, elements: Sequence[int]) -> int:
        """Return the number of a display, which holds those elements that may be definitions."""
        forms = self.forms
        named = [each for each in elements if each and forms[each][0] in _HOLDING]
        others = [u.OPAQUE] * (len(named) < len(elements))
        return self.gathering.expression(u.LITERAL, _DISPLAYS[type(node)], *named, *others)

    def _formatted(self, node: ast.JoinedStr, place: Place, _kind: int) -> int:
        self._children(node, place, READ)
        return self.gathering.expression(u.LITERAL, "str")

    def _lambda(self, node: ast.Lambda, place: Place, _kind: int) -> int:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.value(default, place)
        inner = self.gathering.open(u.INNER_SCOPE, place)
        self.lambdas.add(inner.scope)
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg,
                         arguments.kwarg):  # fmt: skip
            if argument is not None:
                self.gathering.bind(inner.scope, argument.arg, u.Binding(u.OTHER, 0, 0, argument.lineno))
        self.value(node.body, inner)
        return u.OPAQUE

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, place: Place, _kind: int
    ) -> int:
        inner, narrowed = self.gathering.open(u.INNER_SCOPE, place), []
        for number, generator in enumerate(node.generators):
            items = self.item(self.value(generator.iter, inner if number else place))
            self.target(generator.target, inner, u.Binding(u.OTHER, items, 0, generator.target.lineno))
            for condition in generator.ifs:
                self.value(condition, inner)
                narrowed += self.narrowing.begin(condition, inner, holds=True)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            self.value(part, inner)
        self.narrowing.end(narrowed)
        display = _DISPLAYS.get(type(node))
        return self.gathering.expression(u.LITERAL, display, u.OPAQUE, u.OPAQUE) if display else u.OPAQUE

    def _named(self, node: ast.NamedExpr, place: Place, _kind: int) -> int:
        value = self.value(node.value, place)
        scope = place.scope
        while self.gathering.scopes[scope].kind == u.INNER_SCOPE and scope not in self.lambdas:
            scope = self.gathering.scopes[scope].parent
        self.gathering.mention(node.target.id, node.target.lineno, node.target.col_offset, place, u.WRITE)
        self.gathering.bind(scope, node.target.id, u.Binding(u.ASSIGNED, value, 0, node.lineno))
        self.binding.add(scope)
        return value

    def _yield(self, node: ast.Yield | ast.YieldFrom, place: Place, _kind: int) -> int:
        flags = self.gathering.scopes[place.scope].flags
        if u.Flag.GENERATOR not in flags:
            flags.append(u.Flag.GENERATOR)
        if node.value is not None:
            given = self.value(node.value, place)
            if isinstance(node, ast.Yield):
                self.gathering.scopes[place.scope].returns.append(given)
        return u.OPAQUE

    def _slice(self, node: ast.Slice, place: Place, kind: int) -> int:
        self._children(node, place, kind)
        return self.gathering.expression(u.LITERAL, "slice")

    def _children(self, node: ast.expr, place: Place, _kind: int) -> int:
        """Visit every expression directly in another."""
        visits = self.visits
        for field in node._fields:
            inner = getattr(node, field)
            for child in inner if type(inner) is list else (inner,):
                visit = visits.get(type(child))
                if visit is not None:
                    visit(self, child, place, READ)
        return u.OPAQUE

    def _class_of_self(self, node: ast.expr, place: Place) -> int | None:
        """Return the scope of the class whose instance a name is, if it is a method's `self`."""
        scope = place.scope
        while isinstance(node, ast.Name) and scope >= 0:
            own = self.gathering.selves.get(scope)
            if own is not None:
                return own[1] if own[0] == node.id else None
            scope = self.gathering.scopes[scope].parent
        return None

    visits: ClassVar[Mapping[type[ast.AST], Visit]] = {
        **dict.fromkeys(ast.expr.__subclasses__(), _children),
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Constant: _constant,
        ast.BoolOp: _bool,
        ast.IfExp: _if,
        ast.BinOp: _binary,
        ast.Compare: _compare,
        ast.Await: _await,
        ast.Tuple: _tuple,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
        ast.NamedExpr: _named,
        ast.List: _listed,
        ast.Set: _listed,
        ast.Dict: _dict,
        ast.JoinedStr: _formatted,
        ast.Yield: _yield,
        ast.YieldFrom: _yield,
    }
    """Visitors by type of expression, called with the node, the place, and the kind of its outermost name. These
    are plain functions, since methods would hold the walk, and all that it gathered, in a circle."""


def _before_starred(arguments: Sequence[ast.expr]) -> int:
    """Return how many arguments stand before the first one with `*`."""
    return next((number for number, each in enumerate(arguments) if type(each) is ast.Starred), len(arguments))


def _is_patch(function: ast.expr) -> bool:
    """Return whether the callee is `patch.multiple`, wherever `patch` comes from."""
    before = function.value if isinstance(function, ast.Attribute) and function.attr == "multiple" else None
    return getattr(before, "attr", getattr(before, "id", "")) == "patch"
