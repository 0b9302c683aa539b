"""Judges of a planned change, and the places in which children see the project with it and without it.

    judge.judge(place)    -> place.planned()    the folder holds the planned text: run what judges it there
                          -> place.present()    it holds the project without the change: what fails there, too?
                          -> place.tree()       the project's own folder: does what fails in a copy pass there?

A place is a copy of the project in our state (`Copied`), or where a project cannot be judged in a copy, the project
itself (`InProject`): the change is made first then, and undone where it does not hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from bae_source.model.outcome import Check, Notice
from bae_source.reloading.child.import_check import Contents, Setting
from bae_source.state.folders import StateFolders
from bae_source.verification.shadow import Shadow, shadow_of


class Place(Protocol):
    """A folder that holds a project, with a planned change or without it."""

    def planned(self) -> Setting:
        """Have it hold the planned text, and return the setting for code there."""

    def present(self) -> Setting:
        """Have it hold the project without the change, and return the setting for code there."""

    def tree(self) -> Setting | None:
        """Return the setting for code in the project's own folder, as it is now; None where this place is it."""


class NotInCopy(Exception):
    """A project cannot be judged in a copy; the message is a clause that says why."""


class Judge(Protocol):
    """One way to judge a planned change.

    Attributes:
        name: what it verifies, as `verify` names it.
    """

    name: str

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Judge the planned text, and return what came of it.

        Raises:
            TransactionError: the change does not hold.
            NotInCopy: what fails in the copy passes in the project.
        """


class Copied:
    """A copy of the project; made when it is first needed, and let go at the end of the context.

    Parameters:
        folders: where our state lies.
        setting: how code is run in the project's own folder.
        changed: the planned content of each file that changes, by path.
        progress: called with the number of files copied, and of those to be copied.
    """

    def __init__(
        self,
        folders: StateFolders,
        setting: Setting,
        changed: Contents,
        progress: Callable[[int, int], None] = lambda _, __: None,
    ) -> None:
        self._folders = folders
        self._setting = setting
        self._changed = changed
        self._progress = progress
        self._shadow: Shadow | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Copied:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._shadow = None

    def planned(self) -> Setting:
        """Have the copy hold the planned text.

        Raises:
            NoShadow: there can be no copy.
        """
        self._setting.turn(True)
        return self._holding(self._changed)

    def present(self) -> Setting:
        """Have the copy hold the project without the change.

        Raises:
            NoShadow: there can be no copy.
        """
        self._setting.turn(False)
        return self._holding({})

    def tree(self) -> Setting:
        """Return the setting for code in the project's own folder."""
        self._setting.turn(False)
        return self._setting

    def changed(self) -> list[str]:
        """Return the paths of files that changed in the project since the copy was brought up, but for planned ones."""
        return [] if self._shadow is None else self._shadow.changed()

    def _holding(self, contents: Contents) -> Setting:
        if self._shadow is None:
            self._shadow = self._stack.enter_context(shadow_of(self._folders, self._progress))
        self._shadow.bring_up(contents)
        tree, copy = Path(self._setting.root).resolve(), self._shadow.root.resolve()
        environment = _moved(self._setting, tree, copy)
        return replace(self._setting, root=copy, environment=environment, tree=tree, caches=self._shadow.caches)


class InProject:
    """The project itself: what is planned is made, and undone again.

    Parameters:
        setting: how code is run there.
        make: makes the change.
        undo: undoes it.

    Attributes:
        is_made: whether the change is in the project now.
    """

    def __init__(self, setting: Setting, make: Callable[[], None], undo: Callable[[], None]) -> None:
        self._setting = setting
        self._make = make
        self._undo = undo
        self.is_made = False

    def planned(self) -> Setting:
        """Make the change, unless it is made."""
        if not self.is_made:
            self._make()
            self.is_made = True
        return self._setting

    def present(self) -> Setting:
        """Undo the change, if it is made."""
        if self.is_made:
            self._undo()
            self.is_made = False
        return self._setting

    def tree(self) -> None:
        """Return nothing: this is the project."""


def _moved(setting: Setting, tree: Path, copy: Path) -> dict[str, str]:
    """Return an environment in which code of the project is found in the copy.

    The source roots of the copy stand first, before what an editable install leads to; so they do for mypy, but for the
    top folder, below which it finds modules by itself.
    """
    roots = [str(copy / folder) for folder in setting.source_roots]
    entries = []
    for entry in filter(None, setting.environment.get("PYTHONPATH", "").split(os.pathsep)):
        place = Path(os.path.realpath(tree / entry))
        entries.append(str(copy / place.relative_to(tree)) if place.is_relative_to(tree) else entry)
    search = {"PYTHONPATH": os.pathsep.join(dict.fromkeys([*roots, *entries]))}
    if below := [str(copy / folder) for folder in setting.source_roots if folder]:
        search["MYPYPATH"] = os.pathsep.join([*below, *filter(None, [setting.environment.get("MYPYPATH")])])
    return {**setting.environment, **search}
