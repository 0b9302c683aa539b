"""Mentions in strings: `getattr(x, "send")`, `mock.patch("app.core.send")`, entry points in the project's settings.

A string is listed if it is a name and nothing else: the bare name, or a dotted one that could lead there. Prose that
speaks of the name is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from bae_source.model.reference import Reference
from bae_source.project.usage.meaning import InModule, Names, Symbol
from bae_source.project.usage.sought import Mentioned, Sought
from bae_source.syntax import uses as u

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace

_SETTINGS = ("pyproject.toml", "setup.cfg")
_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)+")


def in_strings(path: str, uses: u.Uses, word: str, sought: Sought, names: Names) -> Iterator[Mentioned]:
    """Yield the strings of a file that may name what is looked for.

    Parameters:
        word: its name, or one that it was imported under.
    """
    exported = {mention[:2] for mention in uses.mentions.get(word, ()) if mention[3] == u.EXPORT}
    for text in uses.strings.get(word, ()):
        why = "" if (text.line, text.column) in exported else _why(text.text, sought, names)
        if why:
            mention = (text.line, text.column, 0, u.STRING, u.OPAQUE, text.owner)
            yield Mentioned(path, mention, "string", why)


def in_settings(workspace: Workspace, sought: Sought, known: Collection[str], names: Names) -> Iterator[Reference]:
    """Yield the places in the project's settings that name what is looked for, such as entry points.

    Parameters:
        known: its name, and those that imports give it.
    """
    for place in _SETTINGS:
        content = workspace.content(place)
        if not content or not any(name.encode("utf-8", "replace") in content for name in known):
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            for match in _DOTTED.finditer(line):
                dotted = match[0].replace(":", ".")
                head, _, last = dotted.rpartition(".")
                if _leads_to(dotted, sought) or (last in known and _meant(names, head, last) & sought.meanings):
                    module = place.partition(".")[0]
                    yield Reference(
                        module=module, address=module, line=number, column=match.start() + 1, kind="string",
                        certainty="string", why="it names it in the project's settings", text=line.strip(),
                    )  # fmt: skip


def _leads_to(dotted: str, sought: Sought) -> bool:
    return dotted == sought.dotted or dotted.startswith(f"{sought.dotted}.")


def _why(text: str, sought: Sought, names: Names) -> str:
    dotted = text.replace(":", ".")
    if dotted == sought.word:
        return "a string with its bare name"
    if _leads_to(dotted, sought):
        return "a string with its dotted name"
    head, _, last = dotted.rpartition(".")
    if not head:
        return ""
    meanings = _meant(names, head, last)
    if meanings & sought.meanings:
        return "a string with a dotted name that leads to it"
    if not meanings and sought.dotted.endswith(f".{dotted}"):
        return "a string with the end of its dotted name"
    return ""  # it leads to something else


def _meant(names: Names, head: str, last: str) -> frozenset[Symbol | InModule]:
    found: set[Symbol | InModule] = set(map(InModule, names.census.find(f"{head}.{last}")))
    for path in names.census.find(head):
        found |= {each for each in names.attribute(path, last) if isinstance(each, (Symbol, InModule))}
    return frozenset(found)
