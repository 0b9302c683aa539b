"""Every request as a method of a class; the types stand in `verbs.pyi`, which is drawn from the same declarations.

    python -m bae_source.adapters.python.stub > bae_source/adapters/python/verbs.pyi

A method is made when it is first looked at, since that loads its request.
"""

from __future__ import annotations

from typing import Any

from bae_source.adapters.python.methods import CODE, method_of
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


class CodeVerbs:
    """Requests that read and change code, which is what a transaction takes."""


class Verbs(CodeVerbs):
    """All requests."""


for _verb, _place in REQUESTS.declared:
    setattr(CodeVerbs if _place.startswith(CODE) else Verbs, _verb, _Method(_verb))
