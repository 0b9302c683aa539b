"""The project's environment as part of a change: resolved before the change is judged, and installed with it.

    plan.requirements      pyproject.toml says anew what is needed
      -> resolved          what would be installed, and a new lock: part of the plan, and shown by a dry run
      -> installed         the environment has it while the change is judged and written; else it is put back

It is installed before the change is judged, and not behind it: what is to be judged is the code with the new release.

Invariants:
- to resolve changes nothing of the project or its environment;
- whatever keeps the change from being made, the environment has what it had before, or the error says what it lacks;
- an undo installs what there was before; what others installed meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.model.changeset import between
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan, Release, Requirements
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.installed import package_folders, python_version
from bae_source.resources.deps.declared import declared_requirements
from bae_source.resources.deps.editing import PYPROJECT, raised
from bae_source.resources.deps.environment import Environment
from bae_source.resources.deps.programs import LOCK, Installer, installer_of
from bae_source.system.programs import Surroundings

_SHOWN = 8


class Installing:
    """The environment of one project.

    Parameters:
        setting: how the project's code is run.
        copy: makes a copy of the project that holds a plan's files, for as long as the context lasts.
    """

    def __init__(self, setting: Setting, copy: Callable[[], Path]) -> None:
        self._setting = setting
        self._copy = copy
        python = setting.interpreter.path
        self.environment = Environment(python, version=python_version(python), folders=package_folders(python))

    def resolved(self, plan: Plan, workspace: Workspace) -> Plan:
        """Return a plan with what it installs, and the lock that goes with it.

        Parameters:
            workspace: the project as the change was planned on it.

        Raises:
            Refused: `forbidden`, if the project has no environment of its own, or nothing to install with.
            TransactionError: `resolution_failed`, with the reason of the program that resolves.
        """
        wanted = plan.requirements
        assert wanted is not None, "only what has requirements is resolved"
        after = workspace.after(plan.changes)
        found = self._installer().resolved(wanted, declared_requirements(after, self.environment.versions()))
        unmet = list(self.environment.unmet(found.releases))
        if unmet:
            raise TransactionError(
                "resolution_failed",
                f"With {listed(map(str, found.releases), _SHOWN)} something installed would lack what it needs: "
                f"{listed(unmet, _SHOWN)}",
                unchanged=True,
                hints=["Ask for a release that fits, or change the other one as well."],
            )
        contents = {LOCK: found.lock} if found.lock is not None else dict(raised(after, wanted.upgrade, found.releases))
        plan = _with_files(plan, workspace, contents)
        return replace(plan, releases=found.releases if wanted.install else ())

    @contextmanager
    def installed(self, releases: Sequence[Release], *, build: bool) -> Iterator[Check]:
        """Have the environment hold releases; put it back where the context fails.

        Yields:
            The check of it.

        Raises:
            TransactionError: `resolution_failed`; `rollback_failed`, if the environment could not be put back.
        """
        before = self.environment.versions()
        installer = self._installer()
        wanted = [each for each in releases if before.get(each.name) != each.after]
        try:
            installer.install(wanted, build=build)
            self._check(wanted)
            shown = listed(map(str, releases), _SHOWN)
            yield Check(name="install", result="passed", detail=shown)
        except BaseException as error:
            self._put_back(installer, before, releases, error)
            raise

    def _check(self, releases: Sequence[Release]) -> None:
        now = self.environment.versions()
        for each in releases:
            if now.get(each.name) != each.after:
                raise TransactionError(
                    "resolution_failed", f"The installer ended well, and {each.name} is {now.get(each.name)} all the same"
                )

    def _put_back(
        self, installer: Installer, before: dict[str, str], releases: Sequence[Release], error: BaseException
    ) -> None:
        """Have the environment hold what it held before, as far as releases changed it."""
        names = {each.name for each in releases}
        back = [
            Release(name=each.name, before=each.after, after=each.before)
            for each in self.environment.changes(before)
            if each.name in names
        ]
        try:
            installer.install(back, build=True)
        except ResourceError as failure:
            lacking = listed((str(each) for each in self.environment.changes(before)), _SHOWN)
            reason = error.clause if isinstance(error, ResourceError) else type(error).__name__
            raise TransactionError(
                "rollback_failed",
                f"{reason}; the files are as before, and the environment is not, since it could not be put back: "
                f"{lacking} ({failure.clause})",
                hints=["Install from the lock or the requirements again."],
            ) from error

    def _installer(self) -> Installer:
        interpreter = self._setting.interpreter
        if interpreter.origin == "sys.executable":
            raise Refused(
                "forbidden",
                "The project has no environment of its own to install into",
                unchanged=True,
                hints=[
                    "Make one (python -m venv .venv), activate one, or name its Python in [tool.bae-source] python.",
                    "Change the files alone with files_only.",
                ],
            )
        root = self._setting.root
        surroundings = Surroundings(root=root, python=interpreter.path, environment=self._setting.environment)
        return installer_of(surroundings, self.environment, self._copy)


def _with_files(plan: Plan, workspace: Workspace, contents: dict[str, bytes]) -> Plan:
    """Return a plan in which more files get new content."""
    after = workspace.after(plan.changes)
    paths = {*(file.path for file in plan.changes.files), *contents}
    last = {path: contents.get(path, after.content(path)) for path in paths}
    changes = between({path: workspace.content(path) for path in paths}, last)
    known = {file.path: file for file in plan.changes.files}
    files = [known[file.path] if file.path in known and file.path not in contents else file for file in changes.files]
    return replace(plan, changes=replace(changes, files=tuple(files)))
