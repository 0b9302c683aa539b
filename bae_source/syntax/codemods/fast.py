"""Work that libcst does again and again in a codemod, done once; its results stay the same.

    MetadataWrapper(module)         copies a whole tree, in case a node stands in it twice; in one that comes from the
                                    parser none does, as libcst's own documentation of the copy says
    Matcher….on_visit, on_leave,    look for matchers of each function, at each node and attribute, also where no
    on_visit_attribute, …           function of the codemod has any
    _gather_…                       look for them on each of a visitor's 600 attributes, for each file anew

Invariant: a function of libcst is replaced only where its source is the one that is known here.
"""

from __future__ import annotations

import hashlib
import inspect
import types
from typing import Any

_KNOWN: dict[str, str] = {
    "Codemod._handle_metadata_reference": "47b2294017a8e978",
    "_gather_constructed_visit_funcs": "ad3e82129254345a",
    "_gather_constructed_leave_funcs": "76ab36b58f1e84e7",
    "_gather_matchers": "71d18b2dd0161eae",
    "MatcherDecoratableTransformer.on_visit": "839a8ed65aa1092a",
    "MatcherDecoratableTransformer.on_leave": "a39f66fe515f9c12",
    "MatcherDecoratableTransformer.on_visit_attribute": "23e9ad4c2ec78205",
    "MatcherDecoratableTransformer.on_leave_attribute": "7279a2c79e30bc8a",
    "MatcherDecoratableVisitor.on_visit": "5ab3a94b8373b914",
    "MatcherDecoratableVisitor.on_leave": "4334beef9d5f8d53",
    "MatcherDecoratableVisitor.on_visit_attribute": "e06da5d1b1750d50",
    "MatcherDecoratableVisitor.on_leave_attribute": "9665ccaa74059f9e",
}
"""Digests of the functions as they are known, by their qualified names."""
_FIRST: list[Any] = []
"""The tree that comes from the parser, until it is wrapped."""
_PLAIN = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
"""Types of attributes that do nothing when they are asked for."""
_WALKS = ("on_visit", "on_leave", "on_visit_attribute", "on_leave_attribute")


def install() -> None:
    """Have libcst do less in this process and its copies."""
    import libcst
    from libcst.codemod import _codemod
    from libcst.matchers import _visitors

    if _is_known(getattr(_codemod.Codemod, "_handle_metadata_reference", None)):
        vars(_codemod)["MetadataWrapper"] = _wrapping(vars(_codemod)["MetadataWrapper"])
    for kind, base in (
        (_visitors.MatcherDecoratableTransformer, libcst.CSTTransformer),
        (_visitors.MatcherDecoratableVisitor, libcst.CSTVisitor),
    ):
        for name in _WALKS:
            if _is_known(getattr(kind, name)):
                extra = {"on_visit": "_extra_visit_funcs", "on_leave": "_extra_leave_funcs"}.get(name)
                setattr(kind, name, _without_matchers(getattr(kind, name), getattr(base, name), extra))

    for name, marks in (
        ("_gather_constructed_visit_funcs", ("CONSTRUCTED_VISIT_MATCHER_ATTR",)),
        ("_gather_constructed_leave_funcs", ("CONSTRUCTED_LEAVE_MATCHER_ATTR",)),
        ("_gather_matchers", ("VISIT_POSITIVE_MATCHER_ATTR", "VISIT_NEGATIVE_MATCHER_ATTR")),
    ):
        if _is_known(getattr(_visitors, name, None)):
            found = tuple(getattr(_visitors, mark) for mark in marks)
            setattr(_visitors, name, _gathering(getattr(_visitors, name), found))


def first_tree(tree: Any) -> None:
    """Take note of a tree that comes from the parser and has no other user yet."""
    _FIRST[:] = [tree]


def digest_of(function: Any) -> str:
    """Return a digest of a function's source; "" where it cannot be had."""
    try:
        source = inspect.getsource(getattr(function, "__wrapped__", function))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _is_known(function: Any) -> bool:
    return digest_of(function) == _KNOWN.get(getattr(function, "__qualname__", ""), "-")


def _wrapping(original: Any) -> Any:
    def wrapper(module: Any, *more: Any, **given: Any) -> Any:
        if _FIRST and module is _FIRST[0] and not more:
            given["unsafe_skip_copy"] = True  # once: what wraps it next may be inside of a codemod that has its nodes
        _FIRST.clear()
        return original(module, *more, **given)

    return wrapper


def _without_matchers(original: Any, base: Any, extra: str | None) -> Any:
    """Return a method that does what its base does where the visitor has no matchers, as the original does then."""

    def decorated(self: Any, *nodes: Any) -> Any:
        if self._matchers or (extra is not None and getattr(self, extra)):
            return original(self, *nodes)
        return base(self, *nodes)

    return decorated


def _gathering(original: Any, marks: tuple[str, ...]) -> Any:
    """Return what gathers the functions with some marks: none from a class whose attributes have none of them.

    What a visitor has besides may have one, and is looked at each time.
    """
    unmarked: dict[type, bool] = {}

    def gather(visitor: Any) -> Any:
        kind = type(visitor)
        if kind not in unmarked:
            unmarked[kind] = _is_unmarked(kind, marks)
        if unmarked[kind] and not any(hasattr(each, mark) for each in vars(visitor).values() for mark in marks):
            return {}
        return original(visitor)

    return gather


def _is_unmarked(kind: type, marks: tuple[str, ...]) -> bool:
    """Return whether all attributes of a class are plain functions and values, and none has a mark."""
    if any({"__getattribute__", "__dir__"} & vars(base).keys() for base in kind.__mro__ if base is not object):
        return False
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        if isinstance(value, property):
            continue  # which nobody asks
        value = getattr(value, "__func__", value) if isinstance(value, (staticmethod, classmethod)) else value
        is_plain = isinstance(value, _PLAIN) or not hasattr(type(value), "__get__")
        if not is_plain or any(hasattr(value, mark) for mark in marks):
            return False
    return True
