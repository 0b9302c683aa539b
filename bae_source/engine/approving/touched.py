"""Files that a plan changes: what each is called before and after, and what of it differs.

Invariants:
- a module is parsed once, and not at all where the plan did;
- what is a test is decided by the settings before the change, so that a change cannot make tests of code.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from bae_source.approval.policy import Kind
from bae_source.engine.approving.paths import is_called
from bae_source.engine.approving.pieces import Difference, differences, rebound, whole
from bae_source.errors import ResourceError
from bae_source.model.changeset import FileChange
from bae_source.model.plan import ModuleFile, Plan
from bae_source.project.files.census import PYTHON, STUB, WINDOWED
from bae_source.project.files.data_listing import address_of
from bae_source.project.files.second_names import Names
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.suite import CONFTEST, Suite
from bae_source.syntax.outline.broken import broken_tree
from bae_source.syntax.outline.tree import Tree

PYTHONS = (PYTHON, STUB, WINDOWED)
"""What names of files end in that hold Python."""


class Module(Struct, frozen=True, kw_only=True):
    """A Python file that a change touches.

    Parameters:
        before, after: its definitions; None where it is not there, or nothing can be told of it.
        is_known: whether it parses wherever it is there.
        differences: the definitions that differ, and the module itself as "" where it does.
    """

    before: Tree | None
    after: Tree | None
    is_known: bool
    differences: tuple[Difference, ...]

    @property
    def names(self) -> Iterator[str]:
        """What differs in the module, by names; "" for the module itself."""
        yield from (each.name for each in self.differences)
        if self.before and self.after and any(not each.name for each in self.differences):
            yield from rebound(self.before, self.after)


class Touched:
    """The files that a plan changes.

    Parameters:
        plan: the change.
        before, after: the project without it, and with it.
    """

    def __init__(self, plan: Plan, before: Workspace, after: Workspace) -> None:
        self.plan = plan
        self.before = before
        self.after = after
        self._modules: dict[str, Module] = {}
        self._suite = Suite(before)

    @cached_property
    def names(self) -> Names:
        """The names of all files that it changes."""
        return Names(self.before, [file.path for file in self.plan.changes.files])

    def contents(self, file: FileChange) -> tuple[bytes | None, bytes | None]:
        """Return what a file holds before and after."""
        before = None if file.before is None else self.before.content(file.path)
        return before, None if file.after is None else self.after.content(file.path)

    def module(self, file: FileChange) -> Module:
        """Return what differs in a Python file."""
        if file.path not in self._modules:
            self._modules[file.path] = self._compared(file)
        return self._modules[file.path]

    def called(self, path: str, file: FileChange) -> Iterator[tuple[Kind, str]]:
        """Yield what a file is called by one of its paths, before and after: its package may come or go with it."""
        for workspace, there in ((self.before, file.before), (self.after, file.after)):
            if there is not None:
                module = module_at(workspace, path)
                yield ("data", address_of(workspace.census, path)) if module is None else (self.kind(path), module.name)

    def kind(self, path: str) -> Kind:
        """Say whether a Python file holds tests or other code."""
        try:
            is_test = path.endswith(PYTHON) and (is_called(path, CONFTEST) or self._suite.is_test_file(path))
        except ResourceError:
            is_test = False  # the settings that say so cannot be read
        return "tests" if is_test else "code"

    def _compared(self, file: FileChange) -> Module:
        contents = self.contents(file)
        known = self._parsed(file, contents)
        there = [content is not None for content in contents]
        if [tree is not None for tree in known] == there:
            return Module(before=known[0], after=known[1], is_known=True, differences=_differing(*known))
        first, second = (tree or _guessed(content) for tree, content in zip(known, contents, strict=True))
        is_open = any(tree is not None and tree.open_from is not None for tree in (first, second))
        if is_open:  # it is not known where a definition ends, so each may be another one
            found = (*differences(first, None), *differences(None, second))
        else:
            found = tuple(differences(first, second))
        return Module(before=first, after=second, is_known=False, differences=found)

    def _parsed(self, file: FileChange, contents: tuple[bytes | None, bytes | None]) -> tuple[Tree | None, Tree | None]:
        """Return the definitions of a file; None where it does not parse, or is not there."""
        module = module_at(self.before, file.path)
        found: list[Tree | None] = []
        for content, known in zip(contents, (file.before, file.after), strict=True):
            is_planned_on = content is contents[0] and module is not None and not self.before.lets_broken_in
            try:
                if content is None:
                    found.append(None)
                elif is_planned_on and module is not None:
                    found.append(self.before.tree(module))
                else:
                    found.append(self.before.kept.trees.get(content, known))
            except ResourceError:
                found.append(None)
        return found[0], found[1]


def touched_by(plan: Plan, before: Workspace, after: Workspace) -> Touched:
    """Return the files that a plan changes; worked out once for the project as the plan leaves it."""
    return after.derived.get((Touched, plan.changes.digest), lambda: Touched(plan, before, after))


def module_at(workspace: Workspace, path: str) -> ModuleFile | None:
    """Return the module that a file is, on whatever system."""
    return workspace.layout.module_at(path.removesuffix("w")) if path.endswith(PYTHONS) else None


def _differing(before: Tree | None, after: Tree | None) -> tuple[Difference, ...]:
    """Return what differs; the module itself where it is not its text, or nothing but blank lines."""
    found = differences(before, after)
    if before is None or after is None or any(not each.name for each in found):
        return tuple(found)
    marks = [(tree.source.bom, tree.source.encoding) for tree in (before, after)]
    if not found or marks[0] != marks[1]:
        return (whole(before, after), *found)
    return tuple(found)


def _guessed(content: bytes | None) -> Tree | None:
    try:
        return None if content is None else broken_tree(content)
    except ResourceError:
        return None
