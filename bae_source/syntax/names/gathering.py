"""The collector of uses while a tree is walked: scopes, bindings, mentions and expressions get their numbers here."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.class_suites import Lacking
from bae_source.syntax.names.code_strings import names_in
from bae_source.syntax.outline.exported import Exports
from bae_source.syntax.outline.static_values import is_typing_test

_NAME_LIKE = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)*")
_ENTRY_POINT = re.compile(r"\s*[\w.-]+\s*=\s*([^\W\d][\w.]*:[^\W\d][\w.]*)\s*(?:\[[^\]]*\]\s*)?")
_BETWEEN_NAMES = re.compile("[.:]")
_LAST_WORD = re.compile(r"\w+\Z")
_LONGEST_NAME = 200
_WORD = re.compile(r"[^\W\d]\w*")
_ASSIGNED = re.compile(r"(?:\b(\w+)\s*)?\.\s*(\w+)\s*(?:[,:][^()=]*)?[-+*/%&|^@<>]*=(?!=)")
"""An attribute that may be assigned, and the name that it is of."""


Note = Callable[[u.Mention], None]
"""A function that notes one more mention of a name."""


class Place(Struct, frozen=True):
    """The position of the walk.

    Parameters:
        scope: number of the scope in which names are looked up and bound.
        owner: number of the innermost definition.
        in_function: whether assignments here bind local variables, which are no definitions.
        numbers: by each name that stands in the scope, the number of its expression.
    """

    scope: int
    owner: int
    in_function: bool
    numbers: dict[str, int]

    def within(self, owner: int) -> Place:
        """Return the same place as part of a definition."""
        return Place(self.scope, owner, self.in_function, self.numbers)


class _Owner(Struct, frozen=True):
    """A definition: what holds it, its name, its number among its namesakes, and which run of them it is in."""

    parent: int
    name: str
    index: int
    run: int


class _Words(dict[str, tuple[str, Note]]):
    """By each name as it is written: the name as Python stores it, and what notes a mention of it.

    Parameters:
        mentions: where they are noted.
    """

    def __init__(self, mentions: defaultdict[str, list[u.Mention]]) -> None:
        super().__init__()
        self.mentions = mentions
        self.class_name = ""
        """The innermost class around the walk, for the mangling of private names."""

    def __missing__(self, name: str) -> tuple[str, Note]:
        if name.startswith("__"):  # what a private name stands for changes with the class, so it is not kept here
            stored = u.mangled(name, self.class_name)
            return stored, self.mentions[stored].append
        word = self[name] = name, self.mentions[name].append
        return word


class Gathering:
    """The uses of one file, as far as it was walked.

    Parameters:
        lines: of the file, as Python counts them.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.wide = _wide(lines)
        """Numbers of the lines with characters outside ASCII, in which columns are not simply counted."""
        self.scopes: list[u.Scope] = []
        self.imports: list[u.Imported] = []
        self.stars: list[int] = []
        self.expressions: list[u.Expression] = [()]
        self.mentions: defaultdict[str, list[u.Mention]] = defaultdict(list)
        self.words = _Words(self.mentions)
        self.strings: defaultdict[str, list[u.Text]] = defaultdict(list)
        self.bound: defaultdict[str, list[u.Binding]] = defaultdict(list)
        self.selves: dict[int, tuple[str, int]] = {}
        """By function scope: the name of its `self` or `cls`, and the scope of the class."""
        self._of_classes: dict[int, dict[str, int]] = {}
        """By class scope: the numbers of the names that stand in its suite."""
        self._declared: set[tuple[int, str]] = set()
        """Names that the suite of a class annotates and has not bound, so they are the outer ones; by its scope."""
        self.declares = False
        """True where the file has a `global` or `nonlocal`."""
        self.shared: set[str] = set()
        """Names that `nonlocal` lets inner functions bind."""
        self.whole = True
        """True where all of the file could be analysed."""
        self.exports_owner = 0
        self.numbers: dict[u.Expression, int] = {}
        self._owners: list[_Owner] = []
        self._last: dict[tuple[int, str], tuple[int, int]] = {}
        self.exports = Exports()

    def module(self) -> Place:
        """Open the module's scope."""
        self.scopes.append(u.Scope(u.MODULE_SCOPE, -1, 0, {}, (), {}, [], []))
        return Place(0, 0, in_function=False, numbers={})

    def open(
        self,
        kind: str,
        around: Place,
        *,
        bases: Sequence[int] = (),
        flags: tuple[u.Flag, ...] = (),
        metaclass: int = u.OPAQUE,
    ) -> Place:
        """Open a scope inside another."""
        scope = u.Scope(kind, around.scope, around.owner, {}, tuple(bases), {}, list(flags), [], metaclass, [])
        self.scopes.append(scope)
        in_function = kind in (u.FUNCTION_SCOPE, u.INNER_SCOPE) or (kind == u.TYPE_SCOPE and around.in_function)
        inner = Place(len(self.scopes) - 1, around.owner, in_function, {})
        if kind == u.CLASS_SCOPE:
            self._of_classes[inner.scope] = inner.numbers
        return inner

    def class_around(self, place: Place) -> int | None:
        """Return the scope of the class that a function defined at `place` is a method of."""
        scope = self.scopes[place.scope]
        if scope.kind == u.TYPE_SCOPE:
            scope = self.scopes[scope.parent]
            return self.scopes[place.scope].parent if scope.kind == u.CLASS_SCOPE else None
        return place.scope if scope.kind == u.CLASS_SCOPE else None

    def owner(self, parent: int, name: str, *, next_to: bool) -> int:
        """Number a definition.

        Parameters:
            next_to: whether the statement before it defines the same name, so that both are one symbol.
        """
        index, run = self._last.get((parent, name), (-1, -1))
        run = run if next_to else run + 1
        self._last[parent, name] = (index + 1, run)
        number = 1 + len(self._owners)
        self._owners.append(_Owner(parent, name, index + 1, run))
        if name == "__all__" and not parent:
            self.exports_owner = number
        return number

    def list_words(self, first: int, last: int, place: Place) -> None:
        """Note each word of the suite of a function that does not parse; attributes it may assign may be anything.

        Parameters:
            first, last: its lines.
            place: in it.
        """
        itself, owner = self.selves.get(place.scope, ("", -1))
        for number in range(first, last + 1):
            line = self.lines[number - 1]
            for word, _, column in words_in(line):
                self.mention(word, number, column, place, u.MENTION, u.OPAQUE)
            for receiver, name in _ASSIGNED.findall(line):
                stored = u.mangled(name, self.words.class_name)
                if itself and receiver == itself:
                    self.scopes[owner].attributes.setdefault(stored, []).append(u.Binding(u.OTHER, 0, 0, number))
                else:
                    self.bound[stored].append(u.Binding(u.SET, u.OPAQUE, u.PLAIN, number))
        self.scopes[place.scope].returns.append(u.OPAQUE)
        self.whole = False

    def bind(self, scope: int, name: str, binding: u.Binding) -> None:
        """Note that a name is bound in a scope."""
        if name.startswith("__"):
            name = u.mangled(name, self.words.class_name)
        names = self.scopes[scope].names
        if name in names:
            names[name].append(binding)
            if self._declared and (scope, name) in self._declared and binding.how != u.DECLARED:
                self._declared.remove((scope, name))
                self._bound_below(scope, name, binding)
        else:
            names[name] = [binding]
            if scope in self._of_classes:
                if binding.how == u.DECLARED:
                    self._declared.add((scope, name))
                else:
                    self._bound_below(scope, name, binding)

    def _bound_below(self, scope: int, name: str, binding: u.Binding) -> None:
        """Note that a class's suite has read a name before it binds it."""
        number = self._of_classes[scope].pop(name, None)
        if number is None:
            return
        self.expressions[number] = (u.NAME, name, scope, u.ABOVE)
        last = max(mention[:2] for mention in self.mentions[name] if mention.scope == scope)
        self._read_in_suite(scope, u.ABOVE, name, 1, last)
        if (
            binding.how == u.ANNOTATED and binding.second
        ):  # the annotation is evaluated once the name is bound, if at all
            self._read_in_suite(scope, u.PERHAPS, name, binding.line, last)

    def may_lack(self, place: Place, where: Iterable[Lacking]) -> None:
        """Note where the suite of a class, which was visited, may lack names though they stand above, or at its end."""
        if self._declared:
            for scope, name in sorted(each for each in self._declared if each[0] == place.scope):
                self._declared.remove((scope, name))
                self._bound_below(scope, name, self.scopes[scope].names[name][0])
        for each in where:
            name = u.mangled(each.name, self.words.class_name)
            if each.last == sys.maxsize:
                self.scopes[place.scope].partly.append(u.Partly(name, u.ONE_WAY))
            read = [mention[:2] for mention in self.mentions.get(name, ()) if mention.scope == place.scope]
            here = [position for position in read if each.first <= position[0] <= each.last]
            if here:
                self._read_in_suite(place.scope, u.PERHAPS, name, each.first, max(here))
                if (number := place.numbers.get(name)) is not None:
                    self.expressions[number] = (u.NAME, name, place.scope, u.PERHAPS)

    def _read_in_suite(self, scope: int, how: int, name: str, first: int, last: tuple[int, int]) -> None:
        self.scopes[scope].partly.append(u.Partly(name, how, first, *last))

    def is_class(self, place: Place) -> bool:
        """Return whether a place is in the suite of a class itself."""
        return place.scope in self._of_classes

    def is_unbound(self, name: str, place: Place) -> bool:
        """Return whether a place is in the suite of a class that has not bound a name so far."""
        return self.is_class(place) and u.mangled(name, self.words.class_name) not in self.scopes[place.scope].names

    def bound_for_types(self, place: Place, node: ast.If) -> None:
        """Note which names a class's suite binds under `if TYPE_CHECKING` alone, as far as it was visited."""
        scope = self.scopes[place.scope]
        if not is_typing_test(node.test) or not self.is_class(place):
            return
        end = node.body[-1].end_lineno or node.lineno
        for name, bindings in scope.names.items():
            if all(node.lineno <= binding.line <= end for binding in bindings):
                scope.partly.append(u.Partly(name, u.FOR_TYPES))

    def column(self, word: str, line: int, last: int, column: int) -> tuple[int, int]:
        """Return line and column of a word in a statement, whose own place the parser does not give.

        Parameters:
            line, column: from where to look.
            last: the statement's last line.
        """
        pattern = re.compile(rf"\b{re.escape(word)}\b".encode())
        for number in range(line, min(last, len(self.lines)) + 1):
            match = pattern.search(self.lines[number - 1].encode(), column if number == line else 0)
            if match:
                return number, match.start()
        return line, column

    def stands_at(self, text: str, line: int, column: int) -> bool:
        """Return whether ASCII text stands at a place."""
        here = line <= len(self.lines) and line not in self.wide
        return here and self.lines[line - 1].startswith(text, column)

    def column_before(self, line: int, end: int, name: str) -> int:
        """Return the column at which a name begins that ends before the column `end`."""
        if line not in self.wide:
            return end - len(name)
        before = self.lines[line - 1].encode()[:end].decode(errors="replace") if line <= len(self.lines) else ""
        match = _LAST_WORD.search(before)
        return len(before[: match.start()].encode()) if match else end - len(name.encode())

    def imported(self, module: str, level: int, attribute: str, line: int, name: str, *, begins: bool = False) -> int:
        """Number an import."""
        self.imports.append(u.Imported(module, level, attribute, line, name, begins))
        return len(self.imports) - 1

    def mention(self, name: str, line: int, column: int, place: Place, kind: int, receiver: int = u.PLAIN) -> None:
        """Note a mention of a name."""
        _, note = self.words[name]
        note(u.Mention(line, column, place.scope, kind, receiver, place.owner))

    def capture(self, name: str, line: int, column: int, place: Place) -> None:
        """Note a name that a pattern, or `except … as`, binds to something unknown."""
        self.mention(name, line, column, place, u.WRITE)
        self.bind(place.scope, name, u.Binding(u.OTHER, 0, 0, line))

    def string(self, text: str, line: int, column: int, place: Place) -> None:
        """Note a string, if it could be a name."""
        if len(text) > _LONGEST_NAME:
            return
        found = u.Text(line, column, place.owner, text)
        if text.isascii() and text.isidentifier():
            self.strings[text].append(found)
        elif _NAME_LIKE.fullmatch(text):
            for part in dict.fromkeys(_BETWEEN_NAMES.split(text)):
                self.strings[part].append(found)
        elif "=" in text and (entry := _ENTRY_POINT.fullmatch(text)):
            self.string(entry[1], line, column + entry.start(1), place)

    def code(self, text: str, line: int, last: int, column: int, place: Place) -> None:
        """Note the dotted names in a string that may hold code.

        Parameters:
            line, last, column: where it begins, and its last line.
        """
        for name, imports in names_in(text):
            parts = name.split(".")
            place_in = self.column(parts[-1], line, last, column)
            found = u.Text(*place_in, place.owner, name, imports)
            for part in dict.fromkeys(parts):
                self.strings[part].append(found)

    def expression(self, *form: int | str) -> int:
        """Number an expression; equal ones have one number."""
        number = self.numbers.get(form)
        if number is None:
            number = self.numbers[form] = len(self.expressions)
            self.expressions.append(form)
        return number

    def uses(self) -> u.Uses:
        """Return the gathered uses."""
        if self.declares:
            self._carry_outward()
        exports, bound = self.exports, self.scopes[0].names.get("__all__")
        if bound and sum(map(_has_value, bound)) > exports.bindings:
            exports.lose()  # bound by a statement that is not analysed
        return u.Uses(
            scopes=tuple(self.scopes),
            imports=tuple(self.imports),
            stars=tuple(self.stars),
            expressions=tuple(self.expressions),
            mentions=dict(self.mentions),
            strings=dict(self.strings),
            owners=self.qualnames(),
            exported=exports.names,
            exports_known=exports.known,
            listed=exports.listed,
            bound=dict(self.bound),
            whole=self.whole,
        )

    def _carry_outward(self) -> None:
        """Move what `global` and `nonlocal` let a scope bind to the scope that they mean."""
        for scope in reversed(self.scopes):  # an inner `nonlocal` may mean a scope with another one
            for name, bindings in scope.names.items():
                declared = [binding for binding in bindings if binding.how in (u.GLOBAL, u.NONLOCAL)]
                if declared and len(bindings) > len(declared):
                    target = self.scopes[0] if declared[0][0] == u.GLOBAL else self._outer(scope, name)
                    target.names.setdefault(name, []).extend(each for each in bindings if each not in declared)
                    bindings[:] = declared

    def _outer(self, scope: u.Scope, name: str) -> u.Scope:
        outer = self.scopes[scope.parent]
        while outer.parent >= 0 and (outer.kind == u.CLASS_SCOPE or name not in outer.names):
            outer = self.scopes[outer.parent]
        return outer

    def qualnames(self) -> tuple[str, ...]:
        """Return the qualified name of each definition."""
        found = [""]
        for owner in self._owners:
            several = self._last[owner.parent, owner.name][1] > 0
            own = f"{owner.name}[{owner.index}]" if several else owner.name
            found.append(f"{found[owner.parent]}.{own}" if owner.parent else own)
        return tuple(found)


def words_in(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a line, where it begins, and the same in bytes."""
    column = counted = 0
    for word in _WORD.finditer(line):
        column += len(line[counted : word.start()].encode())
        counted = word.start()
        yield word[0], counted, column


def _has_value(binding: u.Binding) -> bool:
    """Return whether a binding gives a name a value, and does not only annotate it."""
    return binding.how != u.ANNOTATED or binding.second != u.OPAQUE


def _wide(lines: Sequence[str]) -> frozenset[int]:
    if all(map(str.isascii, lines)):  # as most files are
        return frozenset()
    return frozenset(number for number, line in enumerate(lines, 1) if not line.isascii())
