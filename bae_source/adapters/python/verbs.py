"""Every request as a method of a class; the types stand in `verbs.pyi`, which is drawn from the same declarations.

    python -m bae_source.adapters.python.stub > bae_source/adapters/python/verbs.pyi

A method is made when it is first looked at, since that loads its request.
"""

from __future__ import annotations

from typing import Any

from bae_source.adapters.python.methods import CODE, families, method_of
from bae_source.engine.registry import REQUESTS


class _Method:
    """The place of a method in its class.

    Parameters:
        verb: the request that it is.
    """

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def __get__(self, instance: object, owner: type) -> Any:
        return method_of(self._verb).__get__(instance, owner)


class Family:
    """Requests that share a word, under the rest of their names: `src.deps.add` is `src.deps_add`.

    Parameters:
        owner: the project, or a transaction in it.
        name: the word.
    """

    def __init__(self, owner: object, name: str) -> None:
        self._owner = owner
        self._name = name

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._owner, f"{self._name}_{verb}")

    def __dir__(self) -> list[str]:
        lead = f"{self._name}_"
        return [each.removeprefix(lead) for each in dir(self._owner) if each.startswith(lead)]


class CodeVerbs:
    """Requests that read and change code, which is what a transaction takes."""


class Verbs(CodeVerbs):
    """All requests."""


for _verb, _place in REQUESTS.declared:
    setattr(CodeVerbs if _place.startswith(CODE) else Verbs, _verb, _Method(_verb))
for _of_code in (True, False):
    for _family in families(of_code=_of_code):
        setattr(CodeVerbs if _of_code else Verbs, _family, property(lambda owner, name=_family: Family(owner, name)))
