"""Variables of modules that other modules bind anew, for one search: who goes through one may get something else.

    requirements = First()             in app.config
    config.requirements = Other()      in a file that need not name what is looked for
    config.requirements.method()       may be First's or Other's

Invariants:
- only where a mention would be sure, or none, by what such a variable holds, it is asked who binds it: to look for that
  takes as long as to look for one more name;
- what binds it is found by its text, `.requirements =`; other targets and `setattr` count in files that are found so,
  and an attribute of an instance that holds the variable's value is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.project.usage.meaning import InModule, Meaning, Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.values import Rebound, Value, Values, class_around, in_order, lacks
from bae_source.project.usage.verdict import Judge, Verdict
from bae_source.syntax import uses as u

_LINKS = (u.ATTRIBUTE, u.CALLED, u.AWAITED, u.SUBSCRIPT)
_HELD = (u.ASSIGNED, u.ANNOTATED, u.DECLARED)
_PIECES = (".{} =", ".{}=")
_OF_OTHERS = rb"(?<!\bself)(?<!\bcls)\.(?:%b)\s*=(?!=)"
_MOST_LINKS = 40


class Variables:
    """Tells which variables mentions go through, and decides those again that go through one bound anew.

    Parameters:
        project: where to look.
        judge: decided the mentions.
    """

    def __init__(self, project: Project, judge: Judge) -> None:
        self.project = project
        self.judge = judge
        self.unreadable: dict[str, ResourceError] = {}
        self._waiting: list[tuple[str, str, u.Mention, Verdict | None, frozenset[Symbol]]] = []
        self._behind: dict[tuple[str, int], frozenset[Symbol]] = {}

    def note(self, path: str, name: str, mention: u.Mention, verdict: Verdict | None) -> None:
        """Note a mention that was decided, if it is sure, or none, by what variables hold."""
        receiver = mention[4]
        if receiver <= 0 or mention[3] in (u.IMPORT, u.KEYWORD) or (verdict and verdict.certainty != "sure"):
            return
        variables = self._variables_behind(path, receiver)
        if variables and (verdict or any(map(class_around, self.project.inference.values(path, receiver)))):
            self._waiting.append((path, name, mention, verdict, variables))

    def doubted(self) -> Iterator[tuple[str, u.Mention, Verdict]]:
        """Yield the mentions that were noted and are not as sure as that, since other modules bind a variable anew."""
        variables = frozenset[Symbol]().union(*(noted[-1] for noted in self._waiting))
        bound = self._bound_anew(sorted(variables, key=in_order)) if variables else {}
        for path, name, mention, verdict, through in self._waiting if bound else ():
            for variable in sorted(through & bound.keys(), key=in_order):
                if self._may_be_other(path, name, mention[4], verdict, bound[variable]):
                    yield path, mention, Verdict("unsure", f"{self._dotted(variable)} is bound by other modules too")
                    break

    def _may_be_other(self, path: str, name: str, receiver: int, verdict: Verdict | None, values: Values) -> bool:
        """Say whether a mention is another than it looks where a variable that it goes through holds other values."""
        if not self._is_direct(path, receiver):
            return True
        may_be = [each for each in values if not isinstance(each, Rebound) and not lacks(each, name)]
        verdicts = (self.judge.of(each, name) for each in may_be)
        return any(each != verdict and not (each and each.doubts_receiver) for each in verdicts)

    def _is_direct(self, path: str, receiver: int) -> bool:
        """Say whether a receiver is what a variable holds, and nothing that comes of it."""
        form = self.project.uses(path).expressions[receiver]
        return form[0] == u.NAME or (form[0] == u.ATTRIBUTE and bool(self._modules(path, int(form[1]))))

    def _variables_behind(self, path: str, number: int) -> frozenset[Symbol]:
        """Return the variables of modules that an expression goes through; it must be of a file that can be read."""
        key = (path, number)
        if key not in self._behind:
            self._behind[key] = frozenset()  # in a circle
            self._behind[key] = frozenset(self._met(path, number))
        return self._behind[key]

    def _met(self, path: str, number: int) -> Iterator[Symbol]:
        expressions = self.project.uses(path).expressions
        for _ in range(_MOST_LINKS):
            form = expressions[number]
            if form[:1] == (u.NAME,):
                name = str(form[1])
                scope = self.project.names.scope_of(path, int(form[2]), name)
                if scope is not None:
                    asked = Symbol(path, scope, name)
                    yield from self._held(asked, self.project.names.bound(asked))
            if not form or form[0] not in _LINKS:
                return
            if form[0] == u.ATTRIBUTE:
                name = str(form[2])
                for module in self._modules(path, int(form[1])):
                    yield from self._held(Symbol(module, 0, name), self.project.names.attribute(module, name))
            number = int(form[1])

    def _modules(self, path: str, number: int) -> list[str]:
        return [each.path for each in self.project.inference.values(path, number) if isinstance(each, InModule)]

    def _held(self, asked: Symbol, meanings: Iterable[Meaning]) -> Iterator[Symbol]:
        """Yield the variables behind a name: where it is asked for, where it is bound, and those that it is given."""
        for symbol in meanings:
            if not isinstance(symbol, Symbol):
                continue
            scope = self.project.uses(symbol.path).scopes[symbol.scope]
            held = [binding for binding in scope.names.get(symbol.name, ()) if binding[0] in _HELD]
            if held and scope.kind == u.MODULE_SCOPE:
                yield from (each for each in (asked, symbol) if each.scope == 0)
            for how, value, *_ in held:
                if how == u.ASSIGNED and value:
                    yield from self._variables_behind(symbol.path, value)

    def _bound_anew(self, variables: Collection[Symbol]) -> dict[Symbol, Values]:
        """Return what other code binds variables to, where that is something new."""
        paths = self._binding({variable.name for variable in variables})
        found: dict[Symbol, Values] = {}
        for variable in variables:
            values: frozenset[Value] = frozenset()
            for path in paths:
                try:
                    if variable.name in self.project.uses(path).bound:
                        owner = InModule(variable.path)
                        values |= self.project.inference.elsewhere.held(path, [owner], variable.name)
                except ResourceError as error:
                    self.unreadable[path] = error
            values -= self.project.inference.held(variable)
            if values:
                found[variable] = values
        return found

    def _binding(self, names: Collection[str]) -> list[str]:
        """Return the files that bind attributes of these names, not only of `self` or `cls`."""
        workspace = self.project.workspace
        mentioning = workspace.index.mentioning([piece.format(name) for name in sorted(names) for piece in _PIECES])
        self.unreadable.update(mentioning.unreadable)
        pattern = re.compile(_OF_OTHERS % b"|".join(re.escape(name.encode()) for name in sorted(names)))
        found: list[str] = []
        for path in mentioning.paths:
            content = workspace.content(path) or b""
            if not content.isascii() or pattern.search(content):
                found.append(path)
        self.project.load(found)
        return found

    def _dotted(self, variable: Symbol) -> str:
        module = self.project.workspace.census.module(variable.path)
        return f"{module.name}.{variable.name}" if module else variable.name
