"""The project's environment as part of a change: resolved before the change is judged, and installed with it.

    plan.requirements      pyproject.toml says anew what is needed
      -> resolved          what would be installed, and a new lock: part of the plan, and shown by a dry run
      -> installed         the environment has it while the change is judged and written; else it is put back

It is installed before the change is judged, and not behind it: what is to be judged is the code with the new release.
What failed without the change as well is not blamed on it, so the environment changes back while that is found out.

Invariants:
- to resolve changes nothing of the project or its environment;
- the lock of the project is held from before the environment changes until the files are written, or it is put back;
- whatever keeps the change from being made, the environment has what it had before, byte by byte, or the error says
  what it lacks; what a process that was killed leaves is put back by the next one that changes the environment;
- an undo installs what there was before; what others installed meanwhile, or need, stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bae_source.engine.dependencies import let_go
from bae_source.engine.lock_files import ABOUT
from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.model.changeset import between, digest_of
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import ModuleFile, Plan, Release, distribution_of, in_words
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.installed import package_folders, python_version
from bae_source.reloading.in_process.swapping import Swap
from bae_source.resources.deps.declared import declared
from bae_source.resources.deps.editing import parts_there, raised, requirements_to_meet
from bae_source.resources.deps.environment import Site
from bae_source.resources.deps.imported import OuterImport, imports_outside
from bae_source.resources.deps.installed import is_linked
from bae_source.resources.deps.programs import LOCK, Installer, installer_of, is_locked
from bae_source.resources.deps.saved import Saved
from bae_source.state.folders import StateFolders
from bae_source.transaction.commit.transaction import Transactions
from bae_source.verification.choosing import contents_of, setting_of
from bae_source.verification.judge import Copied

_SHOWN = 8
_OTHER_LOCKS = ("poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock")
_NO_LOCK = "No file holds what would be upgraded: without a lock only the environment does."
_FILES_ONLY = "Change the files alone with files_only."


class InEnvironment(Struct, frozen=True, kw_only=True):
    """A change that the environment has.

    Parameters:
        results: the check of it, and what the caller should know.
        users: modules that import what changed; the change does not hold unless they import.
        turn: has the environment be as it is with the change, or without it.
    """

    results: tuple[Check | Notice, ...]
    users: tuple[ModuleFile, ...]
    turn: Callable[[bool], None]


class Installing:
    """The environment of one project.

    Parameters:
        workspace: the project as a change was planned on it.
        folders: where our state lies.
    """

    def __init__(self, workspace: Workspace, folders: StateFolders) -> None:
        surroundings = workspace.kept.surroundings
        assert surroundings is not None, "an engine knows where the project's programs run"
        self._workspace = workspace
        self._folders = folders
        self._surroundings = surroundings
        self._kept = folders.base / "environment"
        python = surroundings.python
        self._own = declared(workspace.files).project
        self.site = Site(
            python, version=python_version(python), folders=package_folders(python), own=self._own, root=folders.root
        )

    @property
    def is_left(self) -> bool:
        """True where something is kept aside, by a process that installs or one that died."""
        return self._kept.exists()

    def resolved(self, plan: Plan, copy: Callable[[], Path]) -> Plan:
        """Return a plan with what it installs, and the lock that goes with it.

        Parameters:
            copy: makes a copy of the project that holds the planned files.

        Raises:
            Refused: `forbidden`, if the project has no environment of its own, or nothing to install with;
                `unsafe_change`, if something would go that came from no index.
            TransactionError: `resolution_failed`, with the reason of the program that resolves.
        """
        wanted = plan.requirements
        assert wanted is not None, "only what has requirements is resolved"
        plan = replace(plan, warnings=(*plan.warnings, *self._left_locks())) if plan.changes else plan
        if not wanted.install and not is_locked(self._surroundings.root):
            return plan if plan.changes or not wanted.upgrade else replace(plan, summary=_NO_LOCK)
        if wanted.install:
            self._check_own()
        after = self._workspace.after(plan.changes)
        there = self.site.versions()
        extras, groups = parts_there(self._workspace, there)
        wanted = replace(wanted, extras=(*wanted.extras, *extras), groups=(*wanted.groups, *groups))
        requirements = requirements_to_meet(after, there)
        if wanted.drop:
            requirements += sorted({name for _, giving in self._imports(after) for name in giving} - {*wanted.drop})
        found = self._installer(copy).resolved(wanted, requirements, requirements_to_meet(self._workspace, there))
        self._check_releases(found.releases, requirements)
        contents = {LOCK: found.lock} if found.lock is not None else dict(raised(after, wanted.upgrade, found.releases))
        plan = _with_files(plan, self._workspace, contents)
        if not found.releases:
            return plan if plan.changes else replace(plan, summary=self._nothing_new(plan))
        return replace(plan, releases=found.releases, summary=f"{plan.summary} {in_words(found.releases)}.")

    @contextmanager
    def installed(self, plan: Plan, *, is_change: bool, is_made: Callable[[], bool]) -> Iterator[InEnvironment]:
        """Have the environment hold releases; put it back where the context fails. The project's lock is held.

        Parameters:
            plan: has the releases.
            is_change: whether it was resolved on this very environment; else others may have changed it since.
            is_made: says whether the files were written, whatever came after that.

        Raises:
            Refused: `stale`, if others changed it after it was resolved; `forbidden` as `resolved`.
            TransactionError: `resolution_failed`; `rollback_failed`, if the environment could not be put back.
        """
        self._check_own()
        mended = self.mended()
        after = self._workspace.after(plan.changes)
        wanted, others = self._standing(plan.releases, after)
        if is_change and (others or len(wanted) < len(plan.releases)):
            raise Refused("stale", "The environment changed meanwhile; nothing was changed.", hints=["Try again."])
        installer = self._installer(Path)
        names = [each.name for each in wanted]
        users = self._users(wanted)
        given = self._given(names)
        requested = self.site.requested(names)
        before = self._saved(names, "before")
        undone = ExitStack()  # in this process, once the files are back

        def end(_kind: object, error: BaseException | None, _trace: object) -> None:
            if error is None or is_made():  # an interruption may come late
                self._forget(before)
                return
            with undone:
                self._put_back(before, error)

        with ExitStack() as ended:
            ended.push(end)
            installer.install(wanted, build=plan.requirements is not None and plan.requirements.build)
            self._check(wanted, after)
            wants = {*requested, *map(distribution_of, requirements_to_meet(after, self.site.versions()))}
            self.site.unrequest([name for name in names if name not in wants])
            swap = Swap({*given, *self._given(names)}, self.site.folders)
            undone.callback(let_go)
            undone.callback(swap.take_back)
            swap.make()
            let_go()
            aside: list[Saved] = []

            def turn(with_change: bool) -> None:
                if with_change and aside:
                    aside.pop().restore()
                elif not with_change and not aside:
                    aside.append(self._saved(names, "after"))
                    before.restore()

            check = Check(name="install", result="passed", detail=in_words(wanted))
            yield InEnvironment(results=(check, *mended, *others, *_swapped(swap, wanted)), users=users, turn=turn)

    def _check_own(self) -> None:
        """Check that the project has an environment of its own, which can be put back.

        Raises:
            Refused: `forbidden`.
        """
        around = self._surroundings
        is_others = not around.is_named and not is_linked(self.site.folders, self._own, around.root)
        if is_others or not self.site.folders:
            reason = "The project has no environment of its own to install into"
            raise Refused(
                "forbidden",
                reason if is_others else f"The folder of {self.site.python} does not show where its packages are",
                unchanged=True,
                hints=[
                    "Make one (python -m venv .venv), activate one, or name its Python in [tool.bae-source] python.",
                    _FILES_ONLY,
                ],
            )

    def _left_locks(self) -> Iterator[Notice]:
        """Name the locks that do not follow: of other tools, and of a workspace that the project is a member of."""
        root, top = self._folders.root, self._folders.top
        places = [root / name for name in _OTHER_LOCKS]
        places += () if is_locked(root) else (each / LOCK for each in root.parents if each.is_relative_to(top))
        found = [Path(os.path.relpath(each, root)).as_posix() for each in places if each.is_file()]
        if found:
            text = f"Locks that do not follow by themselves: {listed(found)}. Have the tools that wrote them lock anew."
            yield Notice("lock_left", text)

    def _installer(self, copy: Callable[[], Path]) -> Installer:
        return installer_of(self._surroundings, self.site, copy)

    def _check_releases(self, releases: Sequence[Release], requirements: Sequence[str]) -> None:
        """Check that releases break nothing that is there, and take out nothing that could not be brought back."""
        unmet = [each.clause for each in self.site.unmet(releases, requirements)]
        if unmet:
            raise TransactionError(
                "resolution_failed",
                f"{in_words(releases)}: installed distributions would lack requirements: {listed(unmet, _SHOWN)}",
                unchanged=True,
                hints=["Ask for a release that fits, or change the other one as well."],
            )
        direct = self.site.direct([each.name for each in releases if each.before is not None])
        if direct:
            raise Refused(
                "unsafe_change",
                f"{listed(direct, _SHOWN)} came from a folder or an address, and no index has it to take this back",
                unchanged=True,
                hints=[_FILES_ONLY, "Change the environment by pip or uv then."],
            )

    def _nothing_new(self, plan: Plan) -> str:
        """Return the summary of a plan that changes neither files nor environment."""
        wanted, there = plan.requirements, self.site.versions()
        names = [*wanted.upgrade, *(each.partition("[")[0] for each in wanted.add)] if wanted is not None else []
        newest = [f"{name} {there[name]}" for name in names if name in there]
        return f"Nothing newer is allowed: {listed(newest, _SHOWN)}." if wanted and wanted.upgrade else plan.summary

    def _standing(self, releases: Sequence[Release], after: Workspace) -> tuple[list[Release], tuple[Notice, ...]]:
        """Return the releases that can be made as things are now, and notices of the others."""
        now = self.site.versions()
        wanted = [each for each in releases if now.get(each.name) == each.before]
        others = [each.name for each in releases if now.get(each.name) not in (each.before, each.after)]
        notices: list[str] = []
        if others:
            notices.append(f"{listed(others, _SHOWN)} changed since in the environment, and stays as it is there.")
        requirements = requirements_to_meet(after, now)
        while unmet := list(self.site.unmet(wanted, requirements)):
            needed = {each.name for each in unmet}
            wanted = [each for each in wanted if each.name not in needed]
            clauses = listed((each.clause for each in unmet), _SHOWN)
            notices.append(f"{listed(sorted(needed), _SHOWN)} stays as it is in the environment, since {clauses}.")
        return wanted, tuple(Notice("others_kept", each) for each in notices)

    def _given(self, names: Collection[str]) -> set[str]:
        """Return the names that can be imported of distributions, as they are installed now."""
        every = self.site.environment().distributions
        return {given for name in names if name in every for given in every[name].gives}

    def _imports(self, workspace: Workspace) -> Iterator[tuple[OuterImport, set[str]]]:
        """Yield the imports of the project from outside, each with the distributions that give it now."""
        environment = self.site.environment()
        for each in imports_outside(workspace).imports:
            yield each, {one.name for one in environment.giving(each.dotted)}

    def _users(self, releases: Sequence[Release]) -> tuple[ModuleFile, ...]:
        """Return the modules of the project that import what another release takes the place of, or nothing."""
        names = {each.name for each in releases if each.before is not None}
        if not names:
            return ()
        imports = self._imports(self._workspace)
        found = {each.path for each, giving in imports if each.where == "code" and not each.purpose and giving & names}
        modules = (self._workspace.layout.module_at(path) for path in sorted(found))
        files = (self._workspace.module_file(module) for module in modules if module is not None)
        return tuple(each for each in files if each.import_checked)

    def _check(self, releases: Sequence[Release], after: Workspace) -> None:
        """Check that the environment holds releases, and that they have what they need."""
        now = self.site.versions()
        wrong = [each for each in releases if now.get(each.name) != each.after]
        if wrong:
            text = f"The installer ended well, and {wrong[0].name} is {now.get(wrong[0].name)} all the same"
            raise TransactionError("resolution_failed", text, unchanged=True)
        new = [each.name for each in releases if each.after is not None]
        lacking = list(self.site.lacking(new, requirements_to_meet(after, now)))
        if lacking:
            text = f"What was installed lacks what it needs: {listed(lacking, _SHOWN)}"
            raise TransactionError("resolution_failed", text, unchanged=True)

    def _saved(self, names: Sequence[str], part: str) -> Saved:
        """Keep distributions as they are now, with the files that a change begins with."""
        try:
            self._folders.make(self._kept)
            return Saved.of(self.site, names, self._kept / part, self._note())
        except OSError as error:
            raise Refused(
                "forbidden",
                f"The environment cannot be kept aside while it changes: {error.strerror}",
                unchanged=True,
                hints=["Check who owns it, and whether the disk is full."],
            ) from error

    def _note(self) -> dict[str, str | None]:
        """Return facts by which another process sees that these files are of this project, and not changed since."""
        return {"id": self._folders.id, **{path: digest_of(self._workspace.own_content(path)) for path in ABOUT}}

    def mended(self) -> tuple[Notice, ...]:
        """Put back what a process that died while it installed has left, unless its files were written already."""
        left = Saved.left_in(self.site, self._kept / "before")
        if left is None:
            return ()
        is_before = left.facts.note == self._note()
        if is_before:
            self._put_back(left, None)
        else:
            self._forget(left)
        text = (
            f"A change that was interrupted had left {listed(left.facts.names, _SHOWN)} half changed; it is put back."
        )
        return (Notice("recovered", text),) if is_before else ()

    def _put_back(self, before: Saved, error: BaseException | None) -> None:
        """Have the environment be as it was before.

        Raises:
            TransactionError: `rollback_failed`.
        """
        try:
            before.restore()
        except OSError as failure:
            names = listed(before.facts.names, _SHOWN)
            reason = f"{error.clause}; t" if isinstance(error, ResourceError) else "T"
            raise TransactionError(
                "rollback_failed",
                f"{reason}he files are as before, and the environment is not: {names} could not be put back: "
                f"{failure.strerror} ({failure.filename})",
                unchanged=False,
                hints=["Mend that; the next change of dependencies puts it back."],
            ) from error
        self._forget(before)

    def _forget(self, before: Saved) -> None:
        before.forget()
        shutil.rmtree(self._kept, ignore_errors=True)


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
    """Yield notices of changed packages that this process has loaded."""
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
    if (swap.anew or swap.gone) and (holders := swap.holders().names):
        text = f"{listed(holders, _SHOWN)} still hold objects of the old {names}; reload them, or restart the process."
        yield Notice("holds_old_objects", text)


def resolved(
    plan: Plan,
    workspace: Workspace,
    folders: StateFolders,
    environment: Mapping[str, str],
    locked: Callable[[], AbstractContextManager[object]],
) -> Plan:
    """Return a plan with what it installs and the lock that goes with it, as `Installing.resolved` does.

    Parameters:
        locked: takes the project's lock, for what a process that died has left in the environment.
    """
    installing = Installing(workspace, folders)
    if installing.is_left:
        with locked():
            plan = replace(plan, warnings=(*plan.warnings, *installing.mended()))
    setting = setting_of(folders.root, environment, workspace)
    with Copied(folders, setting, contents_of(workspace, plan)[1]) as copied:
        return installing.resolved(plan, lambda: copied.planned().root)


@contextmanager
def installed(
    plan: Plan,
    workspace: Workspace,
    folders: StateFolders,
    transactions: Transactions,
    look: Callable[[], Workspace],
    *,
    is_change: bool,
) -> Iterator[InEnvironment]:
    """Have the environment hold what a plan installs, as `Installing.installed` does, with the project's lock held.

    Parameters:
        look: takes another look at the project.

    Raises:
        Refused: also `stale`, if the files are no longer those that it was planned on.
    """
    first = transactions.committed_id
    with transactions.locked():
        now = look()
        for file in plan.changes.files:
            if file.before != digest_of(now.content(file.path)):
                reason = "Others changed the files while the change was planned; nothing was changed."
                raise Refused("stale", reason, hints=["Make the change again."])
        with Installing(workspace, folders).installed(
            plan, is_change=is_change, is_made=lambda: transactions.committed_id not in (None, first)
        ) as found:
            yield found
