"""The question whether a module may export more names than the ones that its `__all__` is seen to list.

    __all__ = ["f"]                     lists `f`, and nothing else
    def public(g):
        __all__.append(g.__name__)      lists what is decorated with it as well
    __all__ = []                        is there to be filled: a module that exports nothing is imported by no star

Invariants:
- the answer is "no" only where the module changes the list by none but statements that can be analysed.

What other modules do to a list that is not empty, or a function that it is given to, is not looked at; nor are strings
with its name, which mostly mean something else: `fields = "__all__"`.
"""

from __future__ import annotations

from bae_source.syntax.names import uses as u

_EXPORTS = "__all__"
_ADDING = frozenset({"append", "extend", "insert", "__iadd__", "__setitem__"})
_STEPS = ((u.ATTRIBUTE,), (u.SUBSCRIPT,))


def lists_more(uses: u.Uses) -> bool:
    """Return whether a module may export names that its `__all__`, as far as it can be analysed, does not list."""
    if not (uses.exported or uses.listed) or _EXPORTS in uses.bound:
        return True
    if all(scope == 0 and kind == u.WRITE for _, _, scope, kind, _, _ in uses.mentions.get(_EXPORTS, ())):
        return False
    expressions = uses.expressions[:]  # those of suites that do not mention it are not read
    inside = {number for number, form in enumerate(expressions) if _is_list(form)}
    return any(_changes(form, expressions[int(form[1])], inside) for form in expressions if form[:1] in _STEPS)


def _is_list(form: u.Expression) -> bool:
    """Return whether an expression may be the module's list: its name, or an attribute of that name."""
    return form[:2] == (u.NAME, _EXPORTS) or (form[:1] == (u.ATTRIBUTE,) and form[2] == _EXPORTS)


def _changes(form: u.Expression, before: u.Expression, lists: set[int]) -> bool:
    """Return whether an expression may change the list, and is no statement of the module that can be read off."""
    if form[1] not in lists:
        return False
    if form[0] == u.SUBSCRIPT:
        return True
    return form[2] in _ADDING and before != (u.NAME, _EXPORTS, 0)
