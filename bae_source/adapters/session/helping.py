"""What `help` says in a session: all of a tool, a word or a place, given as such or by its name.

Invariant: of what is not ours nothing is said here; Python has a help of its own.
"""

from __future__ import annotations

from typing import Any

from bae_source.adapters.session.calls import Tool
from bae_source.adapters.session.namespace import Namespace
from bae_source.adapters.session.trail import START
from bae_source.adapters.session.ways import Way
from bae_source.adapters.session.words import Word
from bae_source.engine.registry import REQUESTS

NOTHING = "help(NAME) tells all of a tool, nav() where there is what."
"""What is said where nothing is asked."""


def help_of(asked: Any, namespace: Namespace) -> str | None:
    """Return what there is to say of something; None if it is not ours."""
    found = _named(asked, namespace) if type(asked) is str else asked
    if type(found) is Tool:
        return found.help
    if type(found) is Word:
        return repr(found)
    return _of_place(found) if type(found) is Way else None


def _named(name: str, namespace: Namespace) -> Any:
    """Return the word, place or tool of a name, wherever the session is."""
    if name in namespace.words:
        return namespace.words[name]
    return Tool(name, namespace.desk, START[0]) if name in REQUESTS.verbs else namespace.names.get(name)


def _of_place(way: Way) -> str:
    lines = [repr(way), f"Tools: {', '.join(way.supported_tools)}"]
    if inner := way.children:
        lines.append(f"Inside: {', '.join(inner[:_MOST])}{f', +{len(inner) - _MOST:,} more' * (len(inner) > _MOST)}")
    return "\n".join(lines)


_MOST = 24
