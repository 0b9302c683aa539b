"""The project's settings with a new dotted name where they had the old one, such as entry points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bae_source.model.reference import Reference
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.strings import in_settings


class Settings(Struct, frozen=True, kw_only=True):
    """The changes in settings, and the places that stay.

    Parameters:
        contents: the text of each file that changes.
        changed: how many places change in each.
        left: places that lead there by another name.
    """

    contents: Mapping[str, bytes]
    changed: Mapping[str, int]
    left: Sequence[Reference]


def renamed_settings(project: Project, sought: Sequence[Sought], names: Mapping[str, str]) -> Settings:
    """Return the settings with new names.

    Parameters:
        sought: the modules or definitions.
        names: their new dotted names by the old ones.
    """
    contents: dict[str, bytes] = {}
    changed: dict[str, int] = {}
    left: list[Reference] = []
    for each in sought:
        module, _, last = each.dotted.rpartition(".")
        new, _, new_last = names[each.dotted].rpartition(".")
        dot = rf"{re.escape(module)}([.:])" if module else "()"
        pattern = re.compile(rf"(?<![\w.]){dot}{re.escape(last)}(?!\w)")
        for place in in_settings(project.workspace, each, [each.word], project.inference):
            content = contents.get(place.module) or project.workspace.content(place.module) or b""
            rows = content.decode("utf-8", "surrogateescape").split("\n")
            row = pattern.sub(lambda match, new=new, last=new_last: _written(new, match[1], last), rows[place.line - 1])  # type: ignore[misc]
            if row == rows[place.line - 1]:
                if not any(row.replace(":", ".").count(name) for name in names.values()):
                    left.append(place)
                continue
            rows[place.line - 1] = row
            contents[place.module] = "\n".join(rows).encode("utf-8", "surrogateescape")
            changed[place.module] = changed.get(place.module, 0) + 1
    return Settings(contents=contents, changed=changed, left=left)


def _written(module: str, separator: str, last: str) -> str:
    return f"{module}{separator or '.'}{last}" if module else last
