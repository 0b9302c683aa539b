"""Projects in memory, and what their names and classes mean."""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.values import Class
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from tests.memory import Memory


def project(files: Mapping[str, str]) -> Project:
    """A project of some files."""
    return Project(Workspace(Memory({path: text.encode() for path, text in files.items()})))


def class_named(found: Project, path: str, name: str) -> Class:
    """A class at the top of a module."""
    [binding] = found.uses(path).scopes[0].names[name]
    assert binding[0] == u.CLASS
    return Class(path, binding[1])


def name_of(found: Project, each: Class) -> str:
    """What a class is called."""
    return found.uses(each.path).owners[found.uses(each.path).scopes[each.scope].owner]
