"""Members that a class outside the project may have under the same name, so that renaming them leaves those behind.

class Handler(logging.Handler):      Handler.emit overrides one of the standard library: it cannot be renamed
def emit(self, record): ...
class Worker(unknown.Base):          Worker.run may override one of a package that is not installed: unsure
def run(self): ...
"""

from __future__ import annotations

import builtins

from bae_source.project.renaming.family import Family
from bae_source.project.usage.project import Project
from bae_source.project.usage.sole import files_of, is_standard, may_have
from bae_source.project.usage.values import BUILTINS, STANDARD


def overridden(project: Project, family: Family) -> dict[str, str]:
    """Return the classes outside, above a family, that have its name or may have it, each with the reason."""
    word = family.sought.word
    found: dict[str, str] = {}
    if word.startswith("__"):
        return found  # private, so another class's is another name
    for name in family.outside:
        package = name.partition(".")[0]
        if name.startswith(BUILTINS):
            kind = getattr(builtins, name.removeprefix(BUILTINS), None)
            if isinstance(kind, type) and hasattr(kind, word):
                found[name] = f"{name.removeprefix(BUILTINS)} has a {word} too"
        elif package in STANDARD:
            if is_standard(word):
                found[name] = f"{name}, which is above it, may have a {word} too"
        else:
            files = list(files_of(project.workspace.kept.packages, package))
            if not files:
                found[name] = f"{name}, which is above it, could not be looked into: {package} is not installed"
            elif may_have(files, word):
                found[name] = f"{name}, which is above it, may have a {word} too"
    return found
