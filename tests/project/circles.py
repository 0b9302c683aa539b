"""Whether an export makes a circle, between two states of a project in memory."""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.project.files.layout import Layout
from bae_source.project.importing.order import circle
from bae_source.project.workspace import Workspace
from tests.memory import Memory


def circle_told(before: Mapping[str, str], after: Mapping[str, str], folder: str = "p/") -> str | None:
    """Return what is told of the circle that the package in a folder makes by importing its module `n`."""
    old, new = space_of(before), space_of(after)
    package, module = new.layout.module_at(f"{folder}__init__.py"), new.layout.module_at(f"{folder}n.py")
    assert package is not None
    assert module is not None
    return circle(old, new, package, module)


def space_of(files: Mapping[str, str]) -> Workspace:
    """Return a project of these files."""
    memory = Memory({name: text.encode() for name, text in files.items()})
    return Workspace(memory, layout=Layout(memory, [""]))
