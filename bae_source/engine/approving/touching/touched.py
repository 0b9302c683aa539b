"""Files that a plan changes: the names of each before and after, and the differences in it.

Invariants:
- a module is parsed once, and not at all where the plan did;
- what is a test is decided by the settings before the change, so that a change cannot make tests of code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from keyword import iskeyword

from msgspec import Struct

from bae_source.approval.policy import Kind
from bae_source.engine.approving.touching.paths import is_called
from bae_source.engine.approving.touching.pieces import Difference, differences, rebound, whole
from bae_source.errors import ResourceError
from bae_source.model.changeset import Edit, FileChange
from bae_source.model.plan import ModuleFile, Plan
from bae_source.project.files.census import PYTHON, STUB, WINDOWED
from bae_source.project.files.data_listing import address_of
from bae_source.project.files.layout import Layout
from bae_source.project.files.second_names import Names
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.suite import CONFTEST, Suite
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.broken import broken_tree
from bae_source.syntax.outline.tree import Tree

FEW = 20
"""Files of a change; to parse as many takes no time."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_MAY_DEFINE = re.compile(rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+([^\s(:\[]+)|([^\s#'\"():=,.]+)[ \t]*(?::|=))", re.M)
_ELSEWHERE = frozenset({u.READ, u.CALL, u.BASE, u.DECORATOR, u.ANNOTATION, u.KEYWORD, u.IMPORT})
"""Kinds of mentions that bind nothing which a definition is called by."""
PYTHONS = (PYTHON, STUB, WINDOWED)
"""Suffixes of Python files."""


class Module(Struct, frozen=True, kw_only=True):
    """A Python file that a change touches.

    Parameters:
        before, after: its definitions; None where it is not there, or it cannot be read.
        is_known: whether it parses wherever it is there.
        is_broken: whether it is there after the change and does not parse.
        differences: the definitions that differ, and the module itself as "" where it does; none where only names in
            other places than headers and targets are exchanged.
        names: what differs, and what import statements bind otherwise.
    """

    before: Tree | None
    after: Tree | None
    is_known: bool
    is_broken: bool = False
    differences: tuple[Difference, ...] = ()
    names: tuple[str, ...] = ()


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
    def named(self) -> tuple[Workspace, Workspace]:
        """The project before and after, each with source roots: of one the settings that say them may be unreadable."""
        found: list[Layout | None] = []
        for each in (self.before, self.after):
            try:
                found.append(each.layout)
            except ResourceError:
                found.append(None)
        first, second = (
            one or other or Layout(self.before.files, [""]) for one, other in zip(found, found[::-1], strict=True)
        )
        return (
            self.before if found[0] else Workspace(self.before.files, layout=first),
            self.after if found[1] else Workspace(self.after.files, layout=second),
        )

    @cached_property
    def names(self) -> Names:
        """The names of all files that it changes."""
        return Names(self.named[0], [file.path for file in self.plan.changes.files])

    def contents(self, file: FileChange) -> tuple[bytes | None, bytes | None]:
        """Return the content of a file before and after."""
        before = None if file.before is None else self.before.content(file.path)
        return before, None if file.after is None else self.after.content(file.path)

    def module(self, file: FileChange) -> Module:
        """Return the differences in a Python file."""
        if file.path not in self._modules:
            self._modules[file.path] = self._exchanged(file) or self._compared(file)
        return self._modules[file.path]

    def called(self, path: str, file: FileChange) -> Iterator[tuple[Kind, str]]:
        """Yield the names of a file by one of its paths, before and after: its package may come or go with it."""
        for workspace, there in zip(self.named, (file.before, file.after), strict=True):
            if there is not None:
                module = module_at(workspace, path)
                yield ("data", address_of(workspace.census, path)) if module is None else (self.kind(path), module.name)

    def kind(self, path: str) -> Kind:
        """Return whether a Python file holds tests or other code."""
        try:
            is_test = path.endswith(PYTHON) and (is_called(path, CONFTEST) or self._suite.is_test_file(path))
        except ResourceError:
            is_test = False  # the settings that say so cannot be read
        return "tests" if is_test else "code"

    def _compared(self, file: FileChange) -> Module:
        contents = self.contents(file)
        known = self._parsed(file, contents)
        there = [content is not None for content in contents]
        is_known = [tree is not None for tree in known] == there
        first, second = (
            known if is_known else [tree or _guessed(content) for tree, content in zip(known, contents, strict=True)]
        )
        is_open = any(tree is not None and tree.open_from is not None for tree in (first, second))
        if is_open:  # which definition ends where is not known
            found = (*differences(first, None), *differences(None, second))
        else:
            found = tuple(_differing(first, second) if is_known else differences(first, second))
        names = dict.fromkeys(each.name for each in found)
        if is_open:
            names |= dict.fromkeys(name for content in contents for name in _spoken(content))
        if first and second and "" in names:
            names |= dict.fromkeys(rebound(first, second))
        return Module(
            before=first,
            after=second,
            is_known=is_known,
            is_broken=known[1] is None and there[1],
            differences=found,
            names=tuple(names),
        )

    def _exchanged(self, file: FileChange) -> Module | None:
        """Return the differences in one of many files of a refactoring that exchanges nothing but names in it.

        What the refactoring has found out of its names tells in which definition each stands, so it is not parsed.

            old.send(x)      a mention of `old` in `f`, so `f` differs
            def old(): …     a definition gets another name: None

        """
        if self.plan.report is None or len(self.plan.changes.files) <= FEW or None in (file.before, file.after):
            return None
        content = self.before.content(file.path) or b""
        if file.path not in self.before.census.stamps or not all(map(exchanges, file.edits)):
            return None
        try:
            uses = self.before.index.uses(file.path)
            starts = _starts(content)
        except ResourceError:
            return None
        shared = {owner for owner, count in Counter(uses.owners).items() if count > 1}
        names: dict[str, None] = {}
        for edit in file.edits:
            line = bisect_right(starts, edit.start)
            place = line, edit.start - starts[line - 1]
            old = edit.old.decode()
            found = [each for each in uses.mentions.get(old, ()) if each[:2] == place and each[3] in _ELSEWHERE]
            if len(found) != 1:
                return None
            owner = uses.owners[found[0][5]]
            if not shared.isdisjoint(accumulate(owner.split("."), "{}.{}".format)):
                return None  # which of several it is
            names[owner] = None
            if found[0][3] == u.IMPORT and not owner:
                names[old] = None
        return Module(before=None, after=None, is_known=True, names=tuple(names))

    def _parsed(self, file: FileChange, contents: tuple[bytes | None, bytes | None]) -> tuple[Tree | None, Tree | None]:
        """Return the definitions of a file; None where it does not parse, or is not there."""
        module = module_at(self.named[0], file.path)
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


def _spoken(content: bytes | None) -> Iterator[str]:
    """Yield the names that may be defined at the top of a file that does not parse."""
    for match in _MAY_DEFINE.finditer(content or b""):
        yield (match[1] or match[2]).decode("utf-8", "replace")


def exchanges(edit: Edit) -> bool:
    """Return whether an edit puts a name in the place of another."""
    return all(_NAME.fullmatch(each) and not iskeyword(each.decode()) for each in (edit.old, edit.new))


def _starts(content: bytes) -> list[int]:
    """Return the offsets at which the lines of a file begin."""
    bom = len(BOM_UTF8) if content.startswith(BOM_UTF8) else 0
    return [bom, *(match.end() for match in _LINE_END.finditer(content))]


def touched_by(plan: Plan, before: Workspace, after: Workspace) -> Touched:
    """Return the files that a plan changes; worked out once for the project as the plan leaves it."""
    try:
        known = after.derived
    except ResourceError:  # the settings that it leaves cannot be read
        return Touched(plan, before, after)
    return known.get((Touched, plan.changes.digest), lambda: Touched(plan, before, after))


def module_at(workspace: Workspace, path: str) -> ModuleFile | None:
    """Return the module that a file is, on whatever system."""
    return workspace.layout.module_at(path.removesuffix("w")) if path.endswith(PYTHONS) else None


def _differing(before: Tree | None, after: Tree | None) -> tuple[Difference, ...]:
    """Return the differences; the module itself where it is not its text, or nothing but blank lines."""
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
