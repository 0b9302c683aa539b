"""Uses of a file of which suites were left out, and are looked into as soon as somebody asks for what is in them.

    uses.mentions.get("send")         every suite whose text holds `send`
    uses.scopes[7].returns            the suite of the function that has this scope
    scope.attributes.get("go")        of the methods of a class those that may assign to `self.go`
    list(uses.mentions)               all that is left

What is found is added behind what is known: a number stays what it was, so whoever holds one goes on with it.

Invariants:
- whoever asks is told what is true of the whole file;
- several threads may ask at once: one looks into a suite, and the others wait for it.
"""

from __future__ import annotations

from _thread import allocate_lock  # what threading's Lock is, without the 3 ms that threading takes to load
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, overload

from msgspec import structs

from bae_source.syntax.names import uses as u

T = TypeVar("T")

_MOST_LOOKS = 3
"""How often suites of a file are chosen; whoever asks for more will ask again, so all that is left is looked into."""


def growing(known: u.Uses, reach: u.Reach, content: memoryview) -> u.Uses:
    """Return uses that grow as they are asked.

    Parameters:
        known: what is known of the file, with the suites that were left out.
        reach: what these may bind.
        content: what holds all of their text, in UTF-8; so none of them need be decoded to tell that a word is in none.
    """
    return _File(known, reach, content).uses


def has_grown(uses: u.Uses) -> bool:
    """Say whether more is known of a file than when its uses were made."""
    return isinstance(uses.left_out, _Left) and len(uses.left_out) < uses.left_out.first


def holds(uses: u.Uses, words: Collection[str]) -> bool:
    """Say whether one of some words stands in what was left out."""
    return isinstance(uses.left_out, _Left) and any(map(uses.left_out.file.holding, words))


def known(uses: u.Uses) -> u.Uses:
    """Return what is known of a file by now, for `growing` to go on with; nothing is looked into."""
    return uses.left_out.file.known() if isinstance(uses.left_out, _Left) else uses


def is_whole(uses: u.Uses) -> bool:
    """Say whether all of a file can be analysed; all of it is looked into."""
    if isinstance(uses.left_out, _Left):
        uses.left_out.file.look_into_all()
    return uses.whole


def headers(uses: u.Uses) -> Sequence[u.Scope]:
    """Return the scopes for what is known of them without their suites: what a function is, not what it does."""
    return uses.scopes.row.known if isinstance(uses.scopes, _Scopes) else uses.scopes


def known_mentions(uses: u.Uses, name: str) -> Sequence[u.Mention]:
    """Return the mentions of a name in what was looked into; suites that were left out stay so."""
    mentions = uses.mentions
    return mentions.known_of(name) if isinstance(mentions, _ByName) else mentions.get(name, ())


def mentions_at(uses: u.Uses, name: str, lines: Iterable[int]) -> Sequence[u.Mention]:
    """Return the mentions of a name in what was looked into, and in every suite that some lines are in."""
    if isinstance(uses.left_out, _Left):
        uses.left_out.file.look_at(lines)
    return known_mentions(uses, name)


def known_bound(uses: u.Uses) -> Iterator[tuple[str, Sequence[u.Binding]]]:
    """Yield what binds attributes of anything but `self` in what was looked into, by their names."""
    bound = uses.bound
    for name in bound:
        yield name, bound.known_of(name) if isinstance(bound, _ByName) else bound[name]


class _File:
    """What is known of one file, and how it grows.

    Attributes:
        uses: what others see of it.
        left: the scopes of the functions whose suites nobody has looked into, each with the number of its suite.
        reach: what all may bind that were left out.
    """

    def __init__(self, first: u.Uses, reach: u.Reach, content: memoryview) -> None:
        self.left = {scope: number for number, scope in enumerate(reach.scopes)}
        self.reach = reach
        self._content = content
        self._first = first
        self._lock = allocate_lock()
        self._asked: set[str] = set()
        self._absent: set[str] = set()
        self._looks = 0
        self._scopes, self._expressions = _Row(self, first.scopes), _Row(self, first.expressions)
        self._owners = _Row(self, first.owners)
        self._mentions, self._strings = _ByName(self, first.mentions), _ByName(self, first.strings)
        self._bound = _Bound(self, first.bound)
        self.uses = u.Uses(
            _Scopes(self, self._scopes), first.imports, first.stars, self._expressions, self._mentions, self._strings,
            self._owners, first.exported, first.exports_known, first.whole, self._bound, _Left(self),
            first.listed,
        )  # fmt: skip

    def known(self) -> u.Uses:
        """Return what is known by now."""
        first = self._first
        with self._lock:
            return u.Uses(
                self._scopes.known, first.imports, first.stars, self._expressions.known, self._mentions.known(),
                self._strings.known(), self._owners.known, first.exported, first.exports_known, self.uses.whole,
                self._bound.known(), self.suites(), first.listed,
            )  # fmt: skip

    def suites(self) -> tuple[u.LeftOut, ...]:
        """Return the suites that nobody has looked into."""
        return tuple([self._first.left_out[number] for number in tuple(self.left.values())])

    def holding(self, word: str) -> list[int]:
        """Return the scopes of the functions whose suites hold a word, of those that nobody has looked into."""
        if word in self._absent:
            return []
        encoded = word.encode("utf-8", "surrogatepass")
        if encoded not in bytes(self._content):  # copied for a moment: whatever stays takes new memory
            self._absent.add(word)
            return []
        return [suite.scope for suite in self.suites() if word in suite.text or word in suite.joined]

    def look_for(self, name: str) -> None:
        """Look into every suite that may mention a name."""
        if self.left and name not in self._asked:
            self._look_into(self.holding(_written(name)))
            self._asked.add(name)

    def look_for_attribute(self, scope: int, name: str) -> None:
        """Look into every suite that may bind an attribute of the `self` of a class."""
        if self.left:
            self._look_into(self.reach.attributes.get(scope, {}).get(name, ()))

    def look_for_bound(self, name: str) -> None:
        """Look into every suite that may bind an attribute of something else."""
        if self.left:
            self._look_into(self.reach.bound.get(name, ()))

    def look_inside(self, scope: int) -> None:
        """Look into the suite of a function, if nobody has."""
        if scope in self.left:
            self._look_into([scope])

    def look_at(self, lines: Iterable[int]) -> None:
        """Look into every suite that some lines are in."""
        if self.left:
            ordered = sorted(lines)
            suites = [(each.line, each.line + each.text.count("\n"), each.scope) for each in self.suites()]
            self._look_into(
                [scope for first, last, scope in suites if bisect_left(ordered, first) < bisect_right(ordered, last)]
            )

    def look_into_all(self) -> None:
        """Look into everything."""
        if self.left:
            self._look_into(tuple(self.left))

    def _look_into(self, scopes: Collection[int]) -> None:
        """Look into the suites of some functions, if nobody has."""
        if not scopes or self.left.keys().isdisjoint(scopes):
            return
        with self._lock:
            chosen = [scope for scope in scopes if scope in self.left]
            if not chosen:
                return
            self._looks += 1
            if self._looks > _MOST_LOOKS:
                chosen = list(self.left)
            suites = [self._first.left_out[self.left[scope]] for scope in chosen]
            try:
                self._add(suites)
            except (RecursionError, MemoryError):
                self._add_from_the_top(suites)
            for suite in suites:
                del self.left[suite.scope]

    def _add(self, suites: Collection[u.LeftOut]) -> None:
        """Add what suites hold; nothing is added if that fails.

        Raises:
            RecursionError, MemoryError: one is too deep to be looked into from here.
        """
        from bae_source.syntax.names.reading import looked_into  # 10 ms, which what is known need not pay

        scopes, expressions = self._scopes.as_list(), self._expressions.as_list()
        before = len(scopes), len(expressions)
        changing = {each: _copied(scopes[each]) for suite in suites for each in {suite.scope, max(suite.owner, 0)}}
        try:
            more = looked_into(suites, scopes, expressions, self._owners.known, self.uses.imports)
        except (RecursionError, MemoryError):
            del scopes[before[0] :], expressions[before[1] :]
            for number, scope in changing.items():
                _restore(scopes[number], scope)
            raise
        self._owners.known = more.qualnames()
        self._mentions.add(more.mentions)
        self._strings.add(more.strings)
        self._bound.add(more.bound)
        if not more.whole:
            structs.force_setattr(self.uses, "whole", False)

    def _add_from_the_top(self, suites: Collection[u.LeftOut]) -> None:
        """Add what suites hold that are too deep to be looked into from here; word by word what is so from anywhere."""
        from concurrent.futures import ThreadPoolExecutor  # seldom needed

        from bae_source.syntax.names.reading import made_shallow

        with ThreadPoolExecutor(1) as thread:  # which has a whole stack to itself
            for suite in suites:
                try:
                    thread.submit(self._add, [suite]).result()
                except (RecursionError, MemoryError):
                    rest, words = made_shallow(suite, self._scopes.known[suite.scope].owner)
                    thread.submit(self._add, [rest]).result()
                    self._mentions.add(words)
                    structs.force_setattr(self.uses, "whole", False)


class _Row(Sequence[T]):
    """A sequence that more is added to: whole for who goes through it, and whoever has a number asks for what is known.

    Attributes:
        known: what is known by now.
    """

    def __init__(self, file: _File, known: Sequence[T]) -> None:
        self.known = known
        self._file = file

    def as_list(self) -> list[T]:
        """Return what is known as a list to add to."""
        if not isinstance(self.known, list):
            self.known = list(self.known)
        return self.known

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[T]: ...
    def __getitem__(self, number: int | slice) -> T | Sequence[T]:
        return self.known[number]

    def __iter__(self) -> Iterator[T]:
        self._file.look_into_all()
        return iter(self.known)

    def __len__(self) -> int:
        self._file.look_into_all()
        return len(self.known)


class _Scopes(Sequence[u.Scope]):
    """Scopes, whole when they are given out."""

    def __init__(self, file: _File, row: _Row[u.Scope]) -> None:
        self.row = row
        self._file = file
        self._shown: dict[int, u.Scope] = {}

    @overload
    def __getitem__(self, number: int) -> u.Scope: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[u.Scope]: ...
    def __getitem__(self, number: int | slice) -> u.Scope | Sequence[u.Scope]:
        if isinstance(number, slice):
            return list(self)[number]
        shown = self._shown.get(number)
        return self._look_at(number) if shown is None else shown

    def __iter__(self) -> Iterator[u.Scope]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)

    def _look_at(self, number: int) -> u.Scope:
        self._file.look_inside(number)
        scope = self.row.known[number]
        if number in self._file.reach.attributes:
            scope = structs.replace(scope, attributes=_Attributes(self._file, number, scope.attributes))
        return self._shown.setdefault(number, scope) if number >= 0 else scope


class _Attributes(Mapping[str, list[u.Binding]]):
    """What binds attributes of `self` in a class."""

    def __init__(self, file: _File, scope: int, known: Mapping[str, list[u.Binding]]) -> None:
        self._file = file
        self._scope = scope
        self._known = known

    def __getitem__(self, name: str) -> list[u.Binding]:
        self._file.look_for_attribute(self._scope, name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._file.look_into_all()
        return iter(self._known)

    def __len__(self) -> int:
        self._file.look_into_all()
        return len(self._known)


class _ByName(Mapping[str, list[T]]):
    """What stands under a name."""

    def __init__(self, file: _File, known: Mapping[str, list[T]]) -> None:
        self._file = file
        self._known = known
        self._added: dict[str, list[T]] = {}

    def known(self) -> dict[str, list[T]]:
        """Return what is known by now."""
        added = self._added
        return {**{name: [*each, *added.get(name, ())] for name, each in self._known.items()}, **self._only_added()}

    def known_of(self, name: str) -> list[T]:
        """Return what is known under a name by now."""
        return [*self._known.get(name, ()), *self._added.get(name, ())]

    def add(self, more: Mapping[str, list[T]]) -> None:
        """Add to what is known."""
        for name, each in more.items():
            self._added[name] = [*self._added.get(name, ()), *each]

    def __getitem__(self, name: str) -> list[T]:
        self._file.look_for(name)
        added, found = self._added.get(name), self._known.get(name)
        if added is None and found is None:
            raise KeyError(name)
        return [*(found or ()), *added] if added else found or []

    def __iter__(self) -> Iterator[str]:
        self._file.look_into_all()
        yield from self._known
        yield from self._only_added()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _only_added(self) -> dict[str, list[T]]:
        return {name: each for name, each in self._added.items() if name not in self._known}


class _Bound(_ByName[u.Binding]):
    """What binds attributes of something else than `self`; under some names there may be nothing."""

    def __init__(self, file: _File, known: Mapping[str, list[u.Binding]]) -> None:
        super().__init__(file, known)
        self._names = frozenset(known).union(file.reach.bound)

    def __getitem__(self, name: str) -> list[u.Binding]:
        if name not in self._names:
            raise KeyError(name)
        self._file.look_for_bound(name)
        return [*self._known.get(name, ()), *self._added.get(name, ())]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Left(Sequence[u.LeftOut]):
    """The suites that nobody has looked into.

    Attributes:
        first: how many there were.
    """

    def __init__(self, file: _File) -> None:
        self.file = file
        self.first = len(file.left)

    @overload
    def __getitem__(self, number: int) -> u.LeftOut: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[u.LeftOut]: ...
    def __getitem__(self, number: int | slice) -> u.LeftOut | Sequence[u.LeftOut]:
        return self.file.suites()[number]

    def __iter__(self) -> Iterator[u.LeftOut]:
        return iter(self.file.suites())

    def __len__(self) -> int:
        return len(self.file.left)


def _copied(scope: u.Scope) -> u.Scope:
    """Return a scope as it is now, whatever is noted in it from now on."""
    names, attributes = ({name: list(each) for name, each in of.items()} for of in (scope.names, scope.attributes))
    return structs.replace(
        scope, names=names, attributes=attributes, flags=list(scope.flags), returns=list(scope.returns)
    )


def _restore(scope: u.Scope, before: u.Scope) -> None:
    """Make a scope what it was."""
    scope.names.clear()
    scope.names.update(before.names)
    scope.attributes.clear()
    scope.attributes.update(before.attributes)
    scope.flags[:], scope.returns[:] = before.flags, before.returns


def _written(name: str) -> str:
    """Return what surely stands in code that means a name: of a private one the end, as it is mangled."""
    return name.rpartition("__")[2] or name
