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

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from bae_source.engine.dependencies import let_go
from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.model.changeset import between
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan, Release
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.installed import package_folders, python_version
from bae_source.reloading.in_process.swapping import Swap
from bae_source.resources.deps.declared import declared
from bae_source.resources.deps.editing import raised, to_be_met
from bae_source.resources.deps.environment import Site
from bae_source.resources.deps.installed import distributions_in
from bae_source.resources.deps.programs import LOCK, Installer, installer_of, is_locked
from bae_source.state.folders import StateFolders
from bae_source.verification.choosing import contents_of, setting_of
from bae_source.verification.judge import Copied

_SHOWN = 8


class Installing:
    """The environment of one project.

    Parameters:
        workspace: the project as a change was planned on it.
        copy: makes a copy of the project that holds the planned files.
    """

    def __init__(self, workspace: Workspace, copy: Callable[[], Path]) -> None:
        surroundings = workspace.kept.surroundings
        assert surroundings is not None, "an engine knows where the project's programs run"
        self._workspace = workspace
        self._surroundings = surroundings
        self._copy = copy
        python = surroundings.python
        self.site = Site(python, version=python_version(python), folders=package_folders(python))

    def resolved(self, plan: Plan) -> Plan:
        """Return a plan with what it installs, and the lock that goes with it.

        Raises:
            Refused: `forbidden`, if the project has no environment of its own, or nothing to install with.
            TransactionError: `resolution_failed`, with the reason of the program that resolves.
        """
        wanted = plan.requirements
        assert wanted is not None, "only what has requirements is resolved"
        if not wanted.install and not is_locked(self._surroundings.root):
            return plan
        after = self._workspace.after(plan.changes)
        found = self._installer().resolved(wanted, to_be_met(after, self.site.versions()))
        unmet = list(self.site.unmet(found.releases))
        if unmet:
            raise TransactionError(
                "resolution_failed",
                f"{_told(found.releases)}: something that is there would lack what it needs: {listed(unmet, _SHOWN)}",
                unchanged=True,
                hints=["Ask for a release that fits, or change the other one as well."],
            )
        contents = {LOCK: found.lock} if found.lock is not None else dict(raised(after, wanted.upgrade, found.releases))
        plan = _with_files(plan, self._workspace, contents)
        if not wanted.install or not found.releases:
            return plan
        summary = f"{plan.summary} {_told(found.releases)}."
        return replace(plan, releases=found.releases, summary=summary)

    @contextmanager
    def installed(self, releases: Sequence[Release], *, build: bool) -> Iterator[tuple[Check | Notice, ...]]:
        """Have the environment hold releases; put it back where the context fails.

        Yields:
            The check of it, and what is to be said.

        Raises:
            TransactionError: `resolution_failed`; `rollback_failed`, if the environment could not be put back.
        """
        before = self.site.versions()
        installer = self._installer()
        wanted = [each for each in releases if before.get(each.name) == each.before]
        others = [each.name for each in releases if before.get(each.name) not in (each.before, each.after)]
        given = self._given(wanted)
        swap: Swap | None = None
        try:
            installer.install(wanted, build=build)
            self._check(wanted)
            swap = Swap({*given, *self._given(wanted)}, self.site.folders)
            swap.make()
            let_go()
            text = f"{listed(others, _SHOWN)} changed since in the environment, and stays as it is there."
            notices = (Notice("others_kept", text),) if others else ()
            yield (Check(name="install", result="passed", detail=_told(wanted)), *notices, *_swapped(swap, wanted))
        except BaseException as error:
            self._put_back(installer, before, releases, error)
            if swap is not None:
                swap.take_back()
                let_go()
            raise

    def _given(self, releases: Sequence[Release]) -> set[str]:
        """Return the names that can be imported of releases, as they are installed now."""
        names = {each.name for each in releases}
        every = (each for folder in self.site.folders for each in distributions_in(folder))
        return {name for each in every if each.name in names for name in each.gives}

    def _check(self, releases: Sequence[Release]) -> None:
        now = self.site.versions()
        wrong = [each for each in releases if now.get(each.name) != each.after]
        if wrong:
            text = f"The installer ended well, and {wrong[0].name} is {now.get(wrong[0].name)} all the same"
            raise TransactionError("resolution_failed", text)

    def _put_back(
        self, installer: Installer, before: dict[str, str], releases: Sequence[Release], error: BaseException
    ) -> None:
        """Have the environment hold what it held before, as far as releases changed it."""
        names = {each.name for each in releases}
        back = [
            Release(name=each.name, before=each.after, after=each.before)
            for each in self.site.changes(before)
            if each.name in names
        ]
        try:
            installer.install(back, build=True)
        except ResourceError as failure:
            lacking = _told(self.site.changes(before))
            reason = error.clause if isinstance(error, ResourceError) else type(error).__name__
            raise TransactionError(
                "rollback_failed",
                f"{reason}; the files are as before, and the environment is not, since it could not be put back: "
                f"{lacking} ({failure.clause})",
                hints=["Install from the lock or the requirements again."],
            ) from error

    def _installer(self) -> Installer:
        surroundings = self._surroundings
        if not surroundings.is_named and declared(self._workspace.files).project not in self.site.versions():
            raise Refused(
                "forbidden",
                "The project has no environment of its own to install into",
                unchanged=True,
                hints=[
                    "Make one (python -m venv .venv), activate one, or name its Python in [tool.bae-source] python.",
                    "Change the files alone with files_only.",
                ],
            )
        return installer_of(surroundings, self.site, self._copy)


def _with_files(plan: Plan, workspace: Workspace, contents: dict[str, bytes]) -> Plan:
    """Return a plan in which more files get new content."""
    after = workspace.after(plan.changes)
    paths = {*(file.path for file in plan.changes.files), *contents}
    last = {path: contents.get(path, after.content(path)) for path in paths}
    changes = between({path: workspace.content(path) for path in paths}, last)
    known = {file.path: file for file in plan.changes.files}
    files = [known[file.path] if file.path in known and file.path not in contents else file for file in changes.files]
    return replace(plan, changes=replace(changes, files=tuple(files)))


def _swapped(swap: Swap, releases: Sequence[Release]) -> Iterator[Notice]:
    """Yield what this process made of changed packages that it has loaded."""
    names = listed((each.name for each in releases), _SHOWN)
    if swap.failed:
        text = (
            f"This process goes on with the old modules of {names}, since {swap.failed}; restart it for the new ones."
        )
        yield Notice("restart_needed", text)
    if swap.anew:
        yield Notice("reloaded", f"Imported anew in this process: {listed(swap.anew, _SHOWN)}.")
    if swap.gone:
        yield Notice("forgotten", f"No longer loaded in this process: {listed(swap.gone, _SHOWN)}.")
    if (swap.anew or swap.gone) and (held := swap.held().names):
        text = f"{listed(held, _SHOWN)} still hold objects of the old {names}; reload them, or start anew."
        yield Notice("holds_old_objects", text)


def _told(releases: Sequence[Release]) -> str:
    """Return a sentence about releases: `Installs rich 14.0 for 13.9 and mdurl 0.1; takes out pygments 2.19`."""
    new = [
        f"{each.name} {each.after}" + (f" for {each.before}" if each.before else "") for each in releases if each.after
    ]
    gone = [f"{each.name} {each.before}" for each in releases if each.after is None]
    parts = [f"installs {listed(new, _SHOWN)}"] * bool(new) + [f"takes out {listed(gone, _SHOWN)}"] * bool(gone)
    text = "; ".join(parts) or "nothing to install"
    return f"{text[:1].upper()}{text[1:]}"


def resolved(plan: Plan, workspace: Workspace, folders: StateFolders, environment: Mapping[str, str]) -> Plan:
    """Return a plan with what it installs and the lock that goes with it, as `Installing.resolved` does."""
    setting = setting_of(folders.root, environment, workspace)
    with Copied(folders, setting, contents_of(workspace, plan)[1]) as copied:
        return Installing(workspace, lambda: copied.planned().root).resolved(plan)


@contextmanager
def installed(plan: Plan, workspace: Workspace) -> Iterator[tuple[Check | Notice, ...]]:
    """Have the environment hold what a plan installs, as `Installing.installed` does."""
    build = plan.requirements is None or plan.requirements.build
    with Installing(workspace, lambda: Path()).installed(plan.releases, build=build) as found:
        yield found
