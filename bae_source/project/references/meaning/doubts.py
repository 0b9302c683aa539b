"""Mentions that are not as sure as they look, since they go through a variable that other modules bind anew.

    requirements = First()             in app.config
    config.requirements = Other()      in a file that need not name what is looked for
    config.requirements.method()       may be First's or Other's

Invariants:
- only where a mention would be sure, or none, by what such a variable holds, it is asked who binds it: to look for that
  takes as long as to look for one more name.
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.project.references.meaning.meaning import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.variables import Variables
from bae_source.project.references.search.verdict import Judge, Verdict
from bae_source.project.references.types.values import Rebound, Values, class_around, in_order, lacks
from bae_source.syntax.names import uses as u


class Doubts:
    """Notes mentions that were decided, and decides those again that go through a variable bound anew.

    Parameters:
        project: where to look.
        judge: decided the mentions.
    """

    def __init__(self, project: Project, judge: Judge) -> None:
        self.project = project
        self.judge = judge
        self.variables = Variables(project)
        self._waiting: list[tuple[str, str, u.Mention, Verdict | None, frozenset[Symbol]]] = []

    def note(self, path: str, name: str, mention: u.Mention, verdict: Verdict | None) -> None:
        """Note a mention that was decided, if it is sure, or none, by what variables hold."""
        receiver = mention[4]
        if receiver <= 0 or mention[3] in (u.IMPORT, u.KEYWORD) or (verdict and verdict.certainty != "sure"):
            return
        if self.project.inference.called_on.itself(path, receiver):
            return  # no variable of a module
        variables = self.variables.behind(path, receiver)
        if variables and (verdict or any(map(class_around, self.project.inference.values(path, receiver)))):
            self._waiting.append((path, name, mention, verdict, variables))

    def raised(self) -> Iterator[tuple[str, u.Mention, Verdict]]:
        """Yield the mentions that were noted and are not as sure as that, since other modules bind a variable anew."""
        variables = frozenset[Symbol]().union(*(noted[-1] for noted in self._waiting))
        bound = self.variables.bound_anew(variables)
        for path, name, mention, verdict, through in self._waiting if bound else ():
            for variable in sorted(through & bound.keys(), key=in_order):
                if self._may_be_other(path, name, mention[4], verdict, bound[variable]):
                    yield path, mention, Verdict("unsure", self.variables.why(variable))
                    break

    def _may_be_other(self, path: str, name: str, receiver: int, verdict: Verdict | None, values: Values) -> bool:
        """Say whether a mention is another than it looks where a variable that it goes through holds other values."""
        if not self.variables.is_direct(path, receiver):
            return True
        may_be = [each for each in values if not isinstance(each, Rebound) and not lacks(each, name)]
        verdicts = (self.judge.of(each, name) for each in may_be)
        return any(each != verdict and not (each and each.doubts_receiver) for each in verdicts)
