"""One name into `__all__` and out of it, however it is written down.

    __all__ = ["A"]                          the list
    __all__ = ["A"] + y.__all__              the list in the sum
    __all__ = x.__all__ + y.__all__          another summand, if the module says what it exports
    __all__ = []; __all__.append("A")        another call
    __all__ = ["A"]; __all__ = ["B"]         the list that stands in the end
    if X: __all__ = ["B"]                    none: which list it is, is computed

Invariants:
- an `__all__` that is computed when the code runs is left alone, with a notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from bae_source.syntax.exports.view import AllStatement, Listed, View
from bae_source.syntax.text.items import place_of, put_in, take_out
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import dominant_newline
from bae_source.syntax.text.statement_lines import behind, without

Done = Literal["added", "there", "computed", "none"]
"""Outcome: the name was added, was there, the list is computed, or there is no `__all__`."""

_APPENDED = re.compile(r"(?P<quote>['\"]).*?(?P=quote)")


def listed_in(view: View, name: str) -> bool:
    """Return whether `__all__` names something, as far as it can be read off."""
    return any(name in listed.names for each in _standing(view) for listed in each.lists)


def put_in_all(view: View, name: str, *, module: str | None = None) -> tuple[Splices, Done]:
    """Return the splices that put a name into `__all__`, and the outcome.

    Parameters:
        module: the name by which the package knows the module, if that exports this name by an `__all__` of its own.
    """
    if not view.alls:
        return [], "computed" if view.nested_all else "none"
    standing = _standing(view)
    if listed_in(view, name) or (module and any(module in each.refs for each in standing)):
        return [], "there"
    appends = [each for each in standing if each.how == "append"]
    target = _target(view)
    if appends and (target is None or not any(target.names)):
        return _appended(view, appends[-1], name), "added"
    if target is not None:
        return _into_list(view, target, name), "added"
    if module and (splices := _summand(view, module)):
        return splices, "added"
    return [], "computed"


def take_out_of_all(view: View, name: str) -> Splices:
    """Return the splices that take a name out of `__all__` once; none where it is not there."""
    for each in view.alls:
        for listed in each.lists:
            if name in listed.names:
                return _taken_out(view, each, listed, listed.names.index(name))
    return []


def take_last_out_of_all(view: View, name: str) -> Splices:
    """Return the splices that take out the last of the times that `__all__` names something, where it counts."""
    for each in reversed(counting(view)):
        for listed in reversed(each.lists):
            if name in listed.names:
                return _taken_out(view, each, listed, len(listed.names) - 1 - listed.names[::-1].index(name))
    return []


def take_out_summand(view: View, module: str) -> Splices:
    """Return the splices that take `module.__all__` out of `__all__`; none where it is not there."""
    for each in view.alls:
        if module in each.refs and each.operands is not None:
            if len(each.refs) == 1:
                return without(view.text, view.lines, each.span) if each.how != "=" else []
            return take_out(view.text, each.operands, each.refs.index(module))
    return []


def _taken_out(view: View, statement: AllStatement, listed: Listed, number: int) -> Splices:
    if statement.how == "append":
        return without(view.text, view.lines, statement.span)
    return take_out(view.text, listed.items, number)


def counting(view: View) -> Sequence[AllStatement]:
    """Return the statements that may say what `__all__` holds in the end; not those before it is surely made anew."""
    anew = (number for number, each in enumerate(view.alls) if each.anew and each.how == "=")
    return view.alls[max(anew, default=0) :]


def _standing(view: View) -> Sequence[AllStatement]:
    """Return the statements from the last one on that makes `__all__` anew: what others said before is lost."""
    return view.alls[max((number for number, each in enumerate(view.alls) if each.anew), default=0) :]


def _target(view: View) -> Listed | None:
    """Return the list that a new name goes into: the longest of those that begin `__all__`, else the longest."""
    lists = [(each.how == "=", listed) for each in _standing(view) if each.how != "append" for listed in each.lists]
    filled = [pair for pair in lists if any(pair[1].names)]
    if not lists:
        return None
    return max(filled or lists, key=lambda pair: (pair[0], len(pair[1].names)))[1]


def _into_list(view: View, listed: Listed, name: str) -> Splices:
    quote = listed.quote or view.quote
    strings = [n for n, each in enumerate(listed.names) if each is not None]
    first = strings[0] if strings else len(listed.names)
    together = strings == list(range(first, first + len(strings)))
    at = first + place_of([str(listed.names[n]) for n in strings], name) if together else len(listed.names)
    return put_in(view.text, listed.items, f"{quote}{name}{quote}", at, dominant_newline(view.text) or "\n")


def _appended(view: View, last: AllStatement, name: str) -> Splices:
    """Repeat the last `__all__.append` for another name."""
    text = _APPENDED.sub(lambda match: f"{match['quote']}{name}{match['quote']}", last.span.cut(view.text), count=1)
    return behind(view.text, last.span, text, dominant_newline(view.text) or "\n")


def _summand(view: View, module: str) -> Splices:
    """Add `module.__all__` to a sum of such, or in a statement of its own behind the last one."""
    sums = [each for each in _standing(view) if each.operands is not None]
    if not sums:
        return []
    last = sums[-1]
    assert last.operands is not None
    if last.how == "=" or len(last.refs) > 1:
        at = place_of(last.refs, module)
        return put_in(view.text, last.operands, f"{module}.__all__", at, dominant_newline(view.text) or "\n")
    text = last.span.cut(view.text).replace(f"{last.refs[0]}.__all__", f"{module}.__all__")
    return behind(view.text, last.span, text, dominant_newline(view.text) or "\n")
