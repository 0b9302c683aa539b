"""Subjects of a planned change: each thing that it touches, worked out from the planned bytes, whatever was requested.

    app/core.py       other bytes in f            code   app.core.f
                      another import              code   app.core
    tests/test_a.py   test_b gone                 tests  tests.test_a.test_b
    docs/guide.md     moved to docs/start.md      data   :docs/guide.md, :docs/start.md
    pyproject.toml    rich>=14                    data   :pyproject.toml, config project.dependencies, deps rich

Invariants:
- a file is a subject under each name that leads to it: by links to it, by links around it, and by hard links;
- a file that comes, goes, or becomes a program, is a subject as a whole, besides all definitions in it;
- a doubtful subject is one more, never one less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from bae_source.approval.policy import Kind, Subject
from bae_source.engine.approving.touching.changed_settings import PYPROJECT, of_pyproject, of_requirements
from bae_source.engine.approving.touching.paths import is_called, is_requirements, why_never, why_waits
from bae_source.engine.approving.touching.touched import PYTHONS, Touched, touched_by
from bae_source.errors import ResourceError
from bae_source.model.changeset import FileChange
from bae_source.model.plan import Plan, distribution_of
from bae_source.project.files.port import FileKind, Files
from bae_source.project.files.second_names import followed
from bae_source.project.workspace import Workspace

_NAMES_CHANGE = "modules get other names by it"
_DECIDING = ("pyproject.toml", "setup.py", "setup.cfg", "__init__.py")
"""Files that may decide, by being there or not, how modules are called."""
_GIT_FOLDER = "gitdir:"


def subjects_of(plan: Plan, before: Workspace, after: Workspace) -> tuple[Subject, ...]:
    """Return the subjects that a planned change touches, each once, in the order of its files.

    Parameters:
        before: the project as the change was planned on it.
        after: the project as the change leaves it.
    """
    reader = _Reader(touched_by(plan, before, after))
    found = [subject for file in plan.changes.files for subject in reader.subjects(file)]
    return tuple(dict.fromkeys((*found, *reader.renamed(), *_distributions(plan))))


def forbidden_in(plan: Plan, before: Workspace, after: Workspace) -> tuple[Subject, ...]:
    """Return those subjects of a change that no request may change, without a walk through the project."""
    reader = _Reader(Touched(plan, before, after))
    return tuple(dict.fromkeys(each for file in plan.changes.files for each in reader.forbidden(file)))


class _Reader:
    """Finds the subjects of one plan.

    Parameters:
        touched: the files that it changes.
    """

    def __init__(self, touched: Touched) -> None:
        self._touched = touched
        self._files: Files = touched.before.files

    def subjects(self, file: FileChange) -> Iterator[Subject]:
        """Yield the subjects that the change of a file has."""
        paths = self._touched.names.of(file.path)
        for path in paths:
            for kind, name in self._touched.called(path, file):
                yield from self._flagged(path, kind, name, self._addresses(path, file, kind, name))
        yield from self._settings(file, paths)

    def forbidden(self, file: FileChange) -> Iterator[Subject]:
        """Yield those subjects of a file that no request may change."""
        paths = followed(self._files, file.path)
        for path in paths:
            if reason := why_never(path, git_folder=self._git_folder):
                yield Subject(kind="data", name=f":{path}", never=reason)
        yield from (each for each in self._settings(file, paths) if each.never)

    def renamed(self) -> Iterator[Subject]:
        """Yield a subject for a change that gives other names to modules that it does not touch."""
        touched = self._touched
        if any(map(_decides, touched.plan.changes.files)):
            try:
                old, new = [(each.layout.roots, each.layout.packages) for each in (touched.before, touched.after)]
            except ResourceError:  # the settings that say so cannot be read, before or after
                old, new = ((), {}), ((), {"": ""})
            if old != new:
                yield Subject(kind="config", name="source-roots", runs=_NAMES_CHANGE)

    @cached_property
    def _git_folder(self) -> str | None:
        """The folder that git uses for the project, where a file called `.git` names one in it."""
        if self._files.kind(".git") is not FileKind.FILE:
            return None
        head = next(iter(self._files.pieces(".git")), b"").decode("utf-8", "surrogateescape").partition("\n")[0]
        path = head.removeprefix(_GIT_FOLDER).strip()
        return self._files.inside(path) if head.startswith(_GIT_FOLDER) and path and "\0" not in path else None

    def _addresses(self, path: str, file: FileChange, kind: Kind, name: str) -> Iterator[str]:
        """Yield the addresses of what differs in a file."""
        is_python = kind != "data" or path.endswith(PYTHONS)
        if not is_python or None in (file.before, file.after) or file.executable is not None or file.mode is not None:
            yield name
        if not is_python:
            return
        module = self._touched.module(file)
        if not module.is_known or not module.names:
            yield name
        yield from (f"{name}.{inner}" if inner else name for inner in module.names)

    def _flagged(self, path: str, kind: Kind, name: str, addresses: Iterable[str]) -> Iterator[Subject]:
        """Yield subjects of a path with why they wait, or may not change.

        Parameters:
            name: of the file, with which the addresses begin.
        """
        runs, never = why_waits(path), why_never(path, git_folder=self._git_folder)
        place = () if name == f":{path}" else (f":{path}",)
        for address in addresses:
            also = (*place, *self._marked(path, name, address))
            yield Subject(kind=kind, name=address, runs=runs, never=never, also=also)

    def _marked(self, path: str, name: str, address: str) -> Iterator[str]:
        """Yield the notation of an attribute of a package that has a module of the same name: `app@module.run`."""
        folder, _, last = path.rpartition("/")
        inner = address[len(name) + 1 :]
        if inner and last == "__init__.py":
            beside = f"{folder}/{inner.partition('.')[0]}"
            if any(self._files.kind(each) for each in (f"{beside}.py", beside)):
                yield f"{name}@module.{inner}"

    def _settings(self, file: FileChange, paths: Sequence[str]) -> Iterator[Subject]:
        """Yield the settings and distributions that a file is about, by whichever of its names it is changed."""
        if any(is_called(path, PYPROJECT) for path in paths):
            yield from of_pyproject(file.path, *self._touched.contents(file))
        elif any(map(is_requirements, paths)):
            yield from of_requirements(*self._touched.contents(file))


def _decides(file: FileChange) -> bool:
    """Return whether a file may decide how modules are called."""
    name = file.path.rpartition("/")[2]
    return (
        is_called(file.path, PYPROJECT)
        or name == "setup.cfg"
        or (None in (file.before, file.after) and name in _DECIDING)
    )


def _distributions(plan: Plan) -> Iterator[Subject]:
    wanted = plan.requirements
    given = () if wanted is None else (*wanted.add, *wanted.drop, *wanted.upgrade)
    for name in (*map(distribution_of, given), *(each.name for each in plan.releases)):
        yield Subject(kind="deps", name=name)
