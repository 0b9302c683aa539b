"""Attributes that run code of the project when they are read.

    @property
    def next_id(self):        `self.next_id` may change what else is read: it counts as a call

Invariants:
- they are known by name alone: an attribute of another class that bears the name counts as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from bae_source.errors import ResourceError
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.flow.scopes import running
from bae_source.syntax.names import uses as u


def calling_attributes(workspace: Workspace, nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names of attributes that some nodes read, and that a class of the project has as a property."""
    names = {each.attr for each in running(*nodes) if isinstance(each, ast.Attribute)}
    if not names:
        return frozenset()
    project, found = project_of(workspace), set[str]()
    for path in workspace.index.naming(names).paths:
        try:
            scopes = project.uses(path).scopes
        except ResourceError:
            continue
        for scope in scopes:
            if scope.kind == u.CLASS_SCOPE:
                every = ((name, each) for name in names for each in scope.names.get(name, ()))
                owned = [(name, each.first) for name, each in every if each.how == u.FUNCTION]
                found |= {name for name, first in owned if u.Flag.PROPERTY in scopes[first].flags}
    return frozenset(found)
