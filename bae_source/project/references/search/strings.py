"""Mentions in strings: `getattr(x, "send")`, `mock.patch("app.core.send")`, entry points in the project's settings.

A string is listed if it is a name and nothing else: the bare name, or a dotted one that leads there or past it, through
re-exports, subclasses and assigned names too. So is one that holds code which imports it, or names it by a dotted name,
as a doctest may, and the label of a Django model, `library.Author`. Prose that mentions the name is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from bae_source.errors import Refused
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.references.meaning.meanings import InModule, Meaning, Meanings, Symbol
from bae_source.project.references.meaning.project import shown
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.types.inference import Inference
from bae_source.project.references.types.values import Rebound, Values
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace

_MODELS = "models"
SETTINGS = ("pyproject.toml", "setup.cfg")
_DOTTED = r"(?<!\w)[^\W\d]\w*+(?>(?:[.:][^\W\d]\w*+)+)"
"""Compiled where the settings hold a name that is sought; it begins once in a word, however long that is."""


def in_strings(
    path: str, uses: u.Uses, word: str, sought: Sought, inference: Inference, *, importing: bool = False
) -> Iterator[Mentioned]:
    """Yield the strings of a file that may name the target.

    Parameters:
        word: its name, or one that it was imported under.
        importing: leave out all but those that hold code which imports it.
    """
    exported = {mention[:2] for mention in uses.mentions.get(word, ()) if mention.kind == u.EXPORT}
    for text in uses.strings.get(word, ()):
        if importing and not (text.imports and ("." in text.text or text.text == sought.dotted)):
            continue
        why = "" if (text.line, text.column) in exported else _why(text.text, sought, inference)
        if why:
            mention = u.Mention(text.line, text.column, 0, u.STRING, u.OPAQUE, text.owner)
            yield Mentioned(path, mention, "mention", why)


def _readable(workspace: Workspace, path: str) -> bytes | None:
    """Return the content of a file of settings; None where it may not be read, which `unseen_in` tells."""
    try:
        workspace.check_readable(path)
    except Refused:
        return None
    return workspace.content(path)


def in_settings(
    workspace: Workspace, sought: Sought, known: Collection[str], inference: Inference
) -> Iterator[Reference]:
    """Yield the places in the project's settings that name the target, such as entry points.

    Parameters:
        known: its name, and those that imports give it.
    """
    for place in SETTINGS:
        content = _readable(workspace, place)
        if not content or not any(name.encode("utf-8", "replace") in content for name in known):
            continue
        leads: dict[str, bool] = {}
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            for match in re.finditer(_DOTTED, line):
                dotted = match[0].replace(":", ".")
                if dotted not in leads:
                    may_lead = not set(dotted.split(".")).isdisjoint(known)
                    passed = _walked(inference, dotted)[0] if may_lead else frozenset()
                    leads[dotted] = _leads_to(dotted, sought) or bool(passed & sought.meanings)
                if leads[dotted]:
                    yield Reference(
                        module=place, address=place, line=number, column=match.start() + 1, kind="string",
                        certainty="mention", why=Reason.SETTINGS.of(), text=shown(line),
                    )  # fmt: skip


def _leads_to(dotted: str, sought: Sought) -> bool:
    return any(dotted == each or dotted.startswith(f"{each}.") for each in sought.every)


def offset_in(dotted: str, sought: Sought, inference: Inference) -> int | None:
    """Return where the component of a dotted name stands that is the target; None where none surely is."""
    for match in re.finditer(r"\w+", dotted):
        name = dotted[: match.end()].replace(":", ".")
        if match[0] == sought.word and (name in sought.every or _walked(inference, name)[1] & sought.meanings):
            return match.start()
    return None


def _why(text: str, sought: Sought, inference: Inference) -> str:
    dotted = text.replace(":", ".")
    if dotted in (sought.word, sought.name):
        return Reason.BARE_NAME.of()
    if _leads_to(dotted, sought):
        return Reason.DOTTED_NAME.of()
    if "." not in dotted:
        return ""
    if dotted.count(".") == 1 and is_label(dotted, sought):
        return Reason.LABEL.of()
    passed, end = _walked(inference, dotted)
    if passed & sought.meanings:
        return Reason.LEADING_NAME.of()
    if not end and any(each.endswith(f".{dotted}") for each in sought.every):
        return Reason.END_OF_NAME.of()
    return ""  # it leads to something else


def lower_name(sought: Sought) -> str:
    """Return how the label of a model may write its name; nothing for what can be no model of Django."""
    return sought.word.lower() if _app_of(sought) else ""


def is_label(text: str, sought: Sought) -> bool:
    """Return whether a string is Django's label of a model, in which the case of the name does not matter."""
    app, _, name = text.partition(".")
    return bool(app) and app == _app_of(sought) and name.lower() == sought.word.lower()


def _app_of(sought: Sought) -> str:
    """Return the package in whose models a class stands; nothing for anything else."""
    *packages, _ = [*sought.module.split("."), ""]
    is_at_top = sought.dotted == f"{sought.module}.{sought.word}" and not sought.classes
    number = packages.index(_MODELS) if _MODELS in packages else 0
    return packages[number - 1] if is_at_top and number and sought.word[:1].isupper() else ""


def _walked(inference: Inference, dotted: str) -> tuple[Meanings, Meanings]:
    """Return what the components of a dotted name mean, from its module on, and what the last one means.

    A submodule and an attribute may have one name, so both are followed.
    """
    parts = dotted.split(".")
    lengths = range(min(len(parts), inference.names.census.deepest), 0, -1)
    starts = [(length, files) for length in lengths if (files := inference.names.census.find(".".join(parts[:length])))]
    passed: set[Meaning] = set()
    end: set[Meaning] = set()
    for length, files in starts[:2]:
        meanings: Meanings = frozenset(map(InModule, files))
        passed |= meanings
        for part in parts[length:]:
            if not meanings:
                break
            values = [value for meaning in meanings for value in _values(inference, meaning)]
            found = (inference.attribute(value, part) for value in values if not isinstance(value, Rebound))
            meanings = frozenset().union(*found) - {None}
            passed |= meanings
        end |= meanings
    return frozenset(passed), frozenset(end)


def _values(inference: Inference, meaning: Meaning) -> Values:
    return inference.values_of(meaning) if isinstance(meaning, Symbol) else frozenset({meaning})
