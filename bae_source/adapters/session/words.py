"""The navigation words as callables: each describes itself where it stands alone, and explains a wrong call.

    >>> nav
    nav(depth: int = 3) -> str
        Show the places as a tree, with where you are.

Invariant: a call that does not fit is answered by its signature; its error shows no internals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from bae_source.adapters.python.methods import by_name
from bae_source.adapters.session.arguments import drawn
from bae_source.adapters.session.calls import Desk, watched
from bae_source.adapters.session.trail import Spot
from bae_source.errors import RequestError
from bae_source.model.closest import closest
from bae_source.model.request import MOST_NAMED

_LONGEST_NAME = 100


class Word:
    """One word.

    Parameters:
        shown: how it is called: `nav(depth: int = 3) -> str`.
        sentence: what it does, in one sentence.
        takes: its parameters.
        do: carries it out.
        desk: where calls that do not fit are reported.
        spot: returns the place in which it is called.
    """

    __slots__ = ("__desk", "__do", "__name__", "__sentence", "__shown", "__signature__", "__spot")

    def __init__(
        self,
        shown: str,
        sentence: str,
        do: Callable[..., Any],
        desk: Desk,
        spot: Callable[[], Spot],
        *,
        takes: Sequence[Parameter] = (),
    ) -> None:
        self.__name__ = shown.partition("(")[0]
        self.__signature__ = Signature([*takes])
        self.__shown = shown
        self.__sentence = sentence
        self.__do = do
        self.__desk = desk
        self.__spot = spot

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        """Carry it out.

        Raises:
            RequestError: `invalid_arguments`, with every problem.
        """
        takes = tuple(self.__signature__.parameters.values())
        if any(each.kind is Parameter.VAR_KEYWORD for each in takes):
            return self.__do(*given, **named)  # it checks them itself
        arguments, problems = by_name(takes, given, named)
        problems += _strangers([name for name in named if name not in self.__signature__.parameters], takes)
        if not problems:
            return self.__do(**arguments)
        return watched(
            self.__desk, self.__spot(), lambda: drawn(self.__name__, given, named), self.__refusing(problems)
        )

    def __dir__(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return f"{self.__shown}\n    {self.__sentence}"

    @property
    def help(self) -> str:
        """All there is to say of it."""
        return repr(self)

    def wrong(self, problems: Sequence[str]) -> RequestError:
        """Return the error of a call with these problems."""
        return RequestError(
            "invalid_arguments",
            f"{self.__name__} was called wrongly: {'; '.join(problems)}.",
            hints=[f"{self.__shown}: {self.__sentence}"],
            details={"problems": list(problems)},
        )

    def __refusing(self, problems: Sequence[str]) -> Callable[[], None]:
        def refuse() -> None:
            raise self.wrong(problems)

        return refuse


def _strangers(names: Sequence[str], takes: Sequence[Parameter]) -> list[str]:
    """Return the unknown arguments: the first ones, and the number of the others."""
    problems = []
    for name in names[:MOST_NAMED]:
        close = closest(name[:_LONGEST_NAME], [each.name for each in takes], n=1)
        problems.append(f"{name[:_LONGEST_NAME]} is unknown" + (f", did you mean {close[0]}?" if close else ""))
    return problems if len(names) <= MOST_NAMED else [*problems, f"{len(names) - MOST_NAMED:,} more names are unknown"]
