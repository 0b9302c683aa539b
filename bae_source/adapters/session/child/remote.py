"""The names of a session as its own process sees them: callables whose calls are made in the worker.

    session.namespace["source"].httpx._client()
    session.namespace["read"]("Client.send")        a text, as `Source.read` returns it

Invariants:
- what is given to a call is plain data, and travels as a literal, by names that are identifiers; nothing else of this
  process reaches the worker;
- an error is raised here as it was raised there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import Any

from bae_source.adapters.session.places import HOME, inside
from bae_source.adapters.session.profile import Profile
from bae_source.adapters.session.ran import Ran
from bae_source.adapters.session.trail import Spot
from bae_source.errors import RequestError, ResourceError
from bae_source.model.outcome import Failure, Notice, Text, telling

Run = Callable[[str], Ran]
_DEEPEST = 32
_LONGEST_NAMED = 100


class BlockFailed(Exception):
    """The code of a block raised an error that is not the engine's, or the names are gone.

    Parameters:
        failure: what an outcome says of it.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure

    def __str__(self) -> str:
        return self.failure.message


class Name:
    """A name of a session.

    Parameters:
        dotted: the name, or an attribute of it.
        run: runs a block.
    """

    __slots__ = ("__dotted", "__run")

    def __init__(self, dotted: str, run: Run) -> None:
        self.__dotted = dotted
        self.__run = run

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        """Call it in the worker; what a call of a tool returns comes back.

        Raises:
            ResourceError: as it was raised there, or `invalid_arguments` for what cannot be given.
            BlockFailed: something else was raised there, or the names are gone.
        """
        pieces = [literal(each) for each in given]
        pieces += [f"{identifier(name)}={literal(each)}" for name, each in named.items()]
        return _value(self.__run(f"{self.__dotted}({', '.join(pieces)})"))

    def __getattr__(self, name: str) -> Name:
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(f"{self.__dotted}.{identifier(name)}", self.__run)

    def __getitem__(self, name: str) -> Name:
        return Name(f"{self.__dotted}[{literal(name)}]", self.__run)

    def __repr__(self) -> str:
        return f"<{self.__dotted} of a session>"


class Names(Mapping[str, Name]):
    """The names that a session gives: those that lead around, and the tools of the place where it is.

    Parameters:
        run: runs a block.
        spot: returns where the session is.
        profile: which tools there are.
    """

    def __init__(self, run: Run, spot: Callable[[], Spot], profile: Profile) -> None:
        self._run = run
        self._spot = spot
        self._profile = profile

    def __getitem__(self, name: str) -> Name:
        if name not in self._names():
            raise KeyError(name)
        return Name(name, self._run)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> tuple[str, ...]:
        return (HOME, *(place.name for place in inside(HOME)), "back", "nav", *self._profile.names(self._spot().place))


def identifier(name: str) -> str:
    """Return a name, which becomes code as it stands.

    Raises:
        RequestError: it could be more than a name.
    """
    if type(name) is str and name.isidentifier() and not iskeyword(name):
        return name
    raise RequestError(
        "invalid_arguments",
        f"{str(name)[:_LONGEST_NAMED]!r} is no name that a call in a session can have.",
        hints=["Arguments and attributes are named by identifiers; run(code) runs anything else."],
    )


def literal(value: Any, depth: int = 0) -> str:
    """Return plain data as Python writes it.

    Raises:
        RequestError: it is something else.
    """
    if depth < _DEEPEST:
        if value is None or isinstance(value, bool) or type(value) in (str, int, Text):
            return repr(str(value)) if isinstance(value, str) else repr(value)
        if type(value) is float and math.isfinite(value):
            return repr(value)
        if type(value) in (list, tuple):
            return f"[{', '.join(literal(each, depth + 1) for each in value)}]"
        if type(value) is dict:
            inner = (f"{literal(name, depth + 1)}: {literal(each, depth + 1)}" for name, each in value.items())
            return f"{{{', '.join(inner)}}}"
    raise RequestError(
        "invalid_arguments",
        f"A call in a session takes plain data, and {type(value).__name__} is none.",
        hints=["Give text, numbers, lists and dicts; run(code) runs anything else."],
    )


def _value(ran: Ran) -> Any:
    if ran.outcome.errors:
        raise _error(ran.outcome.errors[0], ran.outcome.warnings)
    if "text" not in ran.answer:  # of selections
        return ran.answer.get("answers", ran.answer)
    return Text(ran.outcome) if ran.outcome.status == "answer" else ran.outcome


def _error(failure: Failure, notices: Sequence[Notice]) -> Exception:
    kinds: list[type[ResourceError]] = ResourceError.__subclasses__()
    for kind in kinds:
        if failure.code in kind.codes:
            error = kind(failure.code, failure.message, hints=failure.hints, candidates=failure.candidates)
            return telling(error, notices)
    return BlockFailed(failure)
