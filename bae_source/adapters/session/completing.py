"""The completions of a line that is being typed: names, attributes, arguments, and dotted names in quotes.

    rea|              read
    source.htt|       source.httpx
    read("httpx._cl|  httpx._client
    read(tar|         target=
    import app.cl|    app.client

Invariant: nothing is called to find out, but an object's own code for its attributes.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from typing import Any

from bae_source.adapters.session.arguments import taken
from bae_source.adapters.session.calls import Tool
from bae_source.adapters.session.namespace import Namespace
from bae_source.adapters.session.words import Word
from bae_source.engine.registry import REQUESTS, request
from bae_source.errors import ResourceError
from bae_source.model.context import Context, steering
from bae_source.model.request import parameters

MOST = 200
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\.?$|$")
_QUOTED = re.compile(r"""([\w.]+)\s*\([^()'"]*(?:'[^']*'|"[^"]*"|[^()'"])*?(['"])([\w.@\[\]]*)$""")
_IMPORTED = re.compile(r"^\s*(?:import|from)\s+([\w.]*)$")
_CALLED = re.compile(r"([\w.]+)\s*\((?:[^()]*,)?\s*(\w*)$")


def completions(namespace: Namespace, text: str) -> tuple[tuple[str, ...], int]:
    """Return the completions of a line, and the number of its last characters that they replace.

    Raises:
        KeyboardInterrupt: it was interrupted.
    """
    try:
        return _completions(namespace, text)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the caller's objects may run any code here
        return (), 0


def _completions(namespace: Namespace, text: str) -> tuple[tuple[str, ...], int]:
    line = text.rpartition("\n")[2]
    if (quoted := _QUOTED.search(line)) is not None:
        return _limited([*_verbs(namespace, quoted[1], quoted[3]), *_addresses(namespace, quoted[3])]), len(quoted[3])
    found: list[str] = []
    if (imported := _IMPORTED.search(line)) is not None:
        found += (each.removesuffix("@module") for each in _matching(namespace, imported[1], ("package", "module")))
    if found and imported is not None:
        return _limited(found), len(imported[1])
    if (called := _CALLED.search(line)) is not None:
        found += _arguments(_object(namespace, called[1]), called[2])
    match = _WORD.search(line)
    word = match[0] if match else ""
    if word:
        found += _names(namespace, word)
    length = len(word) or (len(called[2]) if called else 0)
    return _limited(found), length


def _limited(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))[:MOST]


def _names(namespace: Namespace, word: str) -> list[str]:
    """Return names of the namespace, or attributes of what stands before the last dot."""
    before, dot, last = word.rpartition(".")
    if not dot:
        known = [*namespace.names, *keyword.kwlist, *dir(builtins)]
        return sorted(each for each in known if each.startswith(last) and (last or not each.startswith("_")))
    owner = _object(namespace, before)
    if owner is None:
        return []
    names = (each for each in dir(owner) if each.startswith(last) and (last or not each.startswith("__")))
    return [f"{before}.{each}" for each in sorted(names)]


def _arguments(tool: Any, start: str) -> list[str]:
    """Return the parameters of a tool that begin so."""
    if isinstance(tool, Word):
        return [f"{name}=" for name in tool.__signature__.parameters if name.startswith(start)]
    if not isinstance(tool, Tool):
        return []
    kind = REQUESTS.named(tool.verb)
    assert kind is not None, "tools come from the registry"
    names = [each.name for each in taken(tool.verb)]
    names += [each.name for each in (*parameters(kind), *steering(kind))]
    return [f"{name}=" for name in dict.fromkeys(names) if name.startswith(start)]


def _verbs(namespace: Namespace, called: str, start: str) -> list[str]:
    """Return the verbs with a beginning that a tool calls for the session; none for any other tool."""
    relay = called.rpartition(".")[2]
    return [verb for verb, by in namespace.desk.profile.through.items() if by == relay and verb.startswith(start)]


def _addresses(namespace: Namespace, start: str) -> list[str]:
    """Return the dotted names that begin so, whole ones and those of the current module."""
    found = _matching(namespace, start)
    module = namespace.trail[-1].module
    if module:
        found += [each.removeprefix(f"{module}.") for each in _matching(namespace, f"{module}.{start}")]
    return found


def _matching(namespace: Namespace, start: str, kinds: tuple[str | None, ...] = ()) -> list[str]:
    desk = namespace.desk
    if not set("*?[]@").isdisjoint(start):
        return []
    kinds = kinds or ((None,) if "." in start else ("package", "module"))
    found: list[str] = []
    try:
        for kind in kinds:
            outcome = desk.run(request("glob", {"pattern": f"{start}*", "kind": kind}), Context())
            found += [match.address for match in outcome.found]
    except ResourceError:
        return found  # a pattern that cannot be: then nothing begins so
    return found


def _object(namespace: Namespace, dotted: str) -> Any:
    """Return the value of a dotted name of the namespace; None where it has none."""
    first, *rest = dotted.split(".")
    found = namespace.names.get(first, namespace.words.get(first))
    for name in rest:
        found = getattr(found, name, None)
    return found
