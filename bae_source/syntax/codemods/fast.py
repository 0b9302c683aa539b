"""Work that libcst does again and again in a codemod, done once; its results stay the same.

    MetadataWrapper(module)              copies a whole tree, in case a node stands in it twice; in one that comes from
                                         the parser none does, as libcst's own documentation of the copy says
    _should_allow_visit(matchers, f)     asks each function, for each node and attribute, for matchers of its own, also
                                         where no function of the codemod has any

Invariant: a function of libcst is replaced only where its source is the one that is known here.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

_KNOWN = {
    "_should_allow_visit": "795df3925297c1a7",
    "_all_positive_matchers_true": "ba46bd84148b9fbb",
    "_all_negative_matchers_false": "171a79b42d99b431",
    "_handle_metadata_reference": "47b2294017a8e978",
}
"""Digests of the functions as they are known."""
_FIRST: list[Any] = []
"""The tree that comes from the parser, until it is wrapped."""


def install() -> None:
    """Have libcst do less in this process and its copies."""
    from libcst.codemod import _codemod
    from libcst.matchers import _visitors

    if _is_known(getattr(_codemod.Codemod, "_handle_metadata_reference", None)):
        vars(_codemod)["MetadataWrapper"] = _wrapping(vars(_codemod)["MetadataWrapper"])
    names = ("_should_allow_visit", "_all_positive_matchers_true", "_all_negative_matchers_false")
    if all(_is_known(getattr(_visitors, name, None)) for name in names):
        _visitors._should_allow_visit = _allowing(_visitors._should_allow_visit)  # noqa: SLF001


def first_tree(tree: Any) -> None:
    """Take note of a tree that comes from the parser and was given to nobody yet."""
    _FIRST[:] = [tree]


def _is_known(function: Any) -> bool:
    function = getattr(function, "__wrapped__", function)
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return False
    return hashlib.sha256(source.encode()).hexdigest()[:16] == _KNOWN.get(function.__name__)


def _wrapping(original: Any) -> Any:
    def wrapper(module: Any, *more: Any, **given: Any) -> Any:
        if _FIRST and module is _FIRST[0] and not more:
            given["unsafe_skip_copy"] = True  # once: what wraps it next may be inside of a codemod that has its nodes
        _FIRST.clear()
        return original(module, *more, **given)

    return wrapper


def _allowing(original: Any) -> Any:
    def allows(all_matchers: Any, function: Any) -> Any:
        return not all_matchers or original(all_matchers, function)

    return allows
