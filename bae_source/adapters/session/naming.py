"""Names as they are written in a place, as the whole names that requests take.

    in source.httpx:   read("_client.Client")   httpx._client.Client
                       read("httpx._api")       httpx._api: a whole name means the same everywhere
                       write("new", source)     httpx.new, unless the project has a `new` of its own

Invariants:
- a name is tried in the current module first; where it means something there and as a whole name, it is ambiguous;
- patterns and selectors are always whole, and so are the names inside of `apply`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bae_source.adapters.session.modules import Modules
from bae_source.errors import LookupFailed
from bae_source.model.address import is_pattern, is_selector

_NAMES = ("target", "scope", "to")
"""Parameters that take a dotted name."""
_DEFAULTS = frozenset({"read", "outline", "grep", "find", "search"})
"""Verbs that are about the current module by default."""


def placed(
    verb: str, given: Mapping[str, Any], accepted: frozenset[str], module: str, modules: Modules
) -> dict[str, Any]:
    """Return the arguments of a call with whole names.

    Parameters:
        given: the arguments as they were given.
        accepted: the parameters that the request has.
        module: the package or module in which the call is made; empty outside of any.

    Raises:
        LookupFailed: `ambiguous_symbol`, for a name that means something there and something else as a whole name.
    """
    arguments = dict(given)
    if not module:
        return arguments
    for name in _NAMES:
        value = arguments.get(name) if name in accepted else None
        if value and isinstance(value, str):
            arguments[name] = _whole(value, module, modules)
        elif isinstance(value, (list, tuple)):
            arguments[name] = [
                _whole(each, module, modules) if each and isinstance(each, str) else each for each in value
            ]
    if verb in _DEFAULTS:
        default = "scope" if "scope" in accepted else "target"
        if not arguments.get(default):
            arguments[default] = modules.address(module)
            if verb == "read" and "full" not in arguments and not modules.inside(module):
                arguments["full"] = True
    return arguments


def _whole(name: str, module: str, modules: Modules) -> str:
    if is_selector(name) or is_pattern(name) or "/" in name.partition(":")[0] or re.search(r"\w:\d[\d-]*$", name):
        return name  # of paths, and of lines, too
    inner = f"{module}{name}" if name.startswith(":") else f"{module}.{name}"
    is_inner, is_whole = modules.knows(inner), modules.knows(name)
    if is_inner and is_whole:
        raise LookupFailed(
            "ambiguous_symbol",
            f"{name} is ambiguous: it is {inner} in {module}, and another symbol as a whole name.",
            hints=[f"source.read({name!r}) and the other tools of source take whole names."],
            candidates=[inner, name],
        )
    if is_inner or is_whole:
        return inner if is_inner else name
    first = re.split(r"[.:@\[]", name, maxsplit=1)[0]
    return name if first and modules.has(first) else inner
