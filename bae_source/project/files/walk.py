"""The walk through a project: every folder that is part of it, asked about as little as can be.

Invariants:
- ignored files (`files.ignored`) are left out, and folders behind links not entered, so no file is listed twice;
- nothing is read but folders, and the files that say what is ignored;
- a census that is made of an earlier walk says the same as one that is made from nothing.
"""

from __future__ import annotations

from _thread import allocate_lock  # what threading's Lock is, without the 3 ms that threading takes to load
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from operator import is_

from msgspec.structs import replace

from bae_source.model.changeset import Contents
from bae_source.project.files.census import PYTHON, STUB, WINDOWED, Census
from bae_source.project.files.ignored import Patterns, is_ignored, never_entered
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import FileKind, Files, Folder
from bae_source.project.files.stamps import Stamp, is_settled
from bae_source.project.files.visits import SETTINGS, Rules, Shape, Visit, folders_of, load, save, shape_of
from bae_source.project.files.visits import VENV as VENV

_PYTHON = (PYTHON, STUB)
_TELLING = (PYTHON, STUB, WINDOWED, ".gitignore")
"""Endings of the files that matter to a walk; `pyvenv.cfg` matters where there are others."""
_DECIDING = (VENV, ".gitignore", SETTINGS)
_INIT = "/__init__.py"
_RULES = (".git/index", ".git/info/exclude", ".git/HEAD", "build/__init__.py", "dist/__init__.py")
"""Files that decide, besides the root's `.gitignore`, about ignored paths; a `.git` that is no folder has no HEAD."""
MANY = 100
"""Python files past which a request is expected to take long."""
FEW = 50
"""Folders; to list so many anew takes less time than to remember them. More have the whole walk gone over again."""


class Walk:
    """Repeated walks of a project; folders unchanged since the last walk are not listed again.

    A folder is listed anew if its own stamp changed, or if it changed so shortly before it was listed that the stamp
    could not tell of another change. What is ignored is decided anew if a `.gitignore` on the way, git's index, or
    whatever else the decision rested on, did. Files and folders are asked for their stamps each time.

    Parameters:
        files: where the project is read.

    Attributes:
        visits: the folders that the last walk went through, by path.
        shape: what these come to; None before a walk, and where one was interrupted.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self.visits: MutableMapping[str, Visit] = {}
        self._paths: tuple[str, ...] = ()
        self.shape: Shape | None = None
        self._unsaved = 0
        self._last: Census | None = None
        self._names: tuple[object, ...] = (None, None)
        self._of_names: dict[object, object] = {}
        self._lock = allocate_lock()

    def census(
        self,
        layout: Layout,
        now: int = 0,
        on_many: Callable[[], None] | None = None,
        files: Files | None = None,
    ) -> Census:
        """Walk the project.

        Parameters:
            layout: its source roots.
            now: nanoseconds since the epoch; nothing is taken over by the next census where it is left out.
            on_many: called when many Python files were met in folders of which nothing was known.
            files: the same files as this caller may read them.
        """
        with self._lock:
            self.files = files or self.files
            return self._census(layout, now, on_many)

    def recall(self, saved: bytes) -> None:
        """Take over what another process met, before the first census; what cannot be understood is not."""
        with self._lock:
            if not self.visits:
                self.visits, self.shape = load(saved)
                self._paths = tuple(self.visits)

    def memory(self) -> bytes | None:
        """Return what `recall` takes, if so much is new that it is worth keeping."""
        with self._lock:
            if self._unsaved <= FEW or self.shape is None:
                return None
            self._unsaved = 0
            return save(self.visits, self.shape)

    def _census(self, layout: Layout, now: int, on_many: Callable[[], None] | None) -> Census:
        shape, self.shape = self.shape, None  # a walk that is interrupted leaves none, and the next one asks for all
        folders = self.files.stamps(self._paths)
        if shape is None or not self._is_still(shape, folders, now):
            visits = self._visited(folders, self._rules(_RULES, now), now, on_many)
            self.visits, self._paths = visits, tuple(visits)
            shape = shape_of(visits)
        self.shape = shape
        stamps = self.files.stamps(shape.python)
        last = self._last
        if (
            last is None
            or (last.stamps, last.folders) != (stamps, shape.folders)
            or (last.closed, last.outside, last.settings) != (shape.closed, shape.outside, shape.settings)
            or (last.layout.roots, last.layout.packages) != (layout.roots, layout.packages)
        ):
            aside = shape.closed, shape.outside, shape.settings
            self._last = last = Census(layout, stamps, shape.folders, *aside)
        names, rules = (shape.folders, shape.python), (shape.rules, layout.roots, layout.packages)
        is_same = all(map(is_, names, self._names)) and rules == self._names[2:]  # what is kept of folders may change
        if not is_same or len(stamps) != len(shape.python):
            self._names, self._of_names = (*names, *rules), {}
        last.of_names = self._of_names
        return last

    def _is_still(self, shape: Shape, stamps: Mapping[str, Stamp], now: int) -> bool:
        """Return whether a walk would have the same result; folders that changed in nothing that matters are noted.

        Parameters:
            stamps: of the folders of the last walk.
        """
        changed = shape.changed(stamps)
        if len(changed) > FEW or self._rules(shape.rules, now) != shape.rules:
            return False
        return all(self._is_as_before(shape, path, now) for path in changed)

    def _is_as_before(self, shape: Shape, path: str, now: int) -> bool:
        """List a folder that may have changed; note what it holds now, unless that matters to the walk."""
        before, folder = self.visits.get(path), self.files.folder(path)
        if before is None or _matters(before.folder) != _matters(folder):
            return False
        settled = folder.stamp is not None and is_settled(folder.stamp, now)
        self._unsaved += settled
        self.visits[path] = replace(before, settled=settled, folder=folder)
        shape.renew(path, folder.stamp if settled else None)
        if folder.files != before.folder.files:
            shape.folders = folders_of(self.visits)
        return True

    def _visited(
        self, stamps: Mapping[str, Stamp], rules: Rules, now: int, on_many: Callable[[], None] | None
    ) -> dict[str, Visit]:
        """Visit every folder, an outer one before its inner ones.

        Parameters:
            stamps: of the folders of the last walk.
            rules: what is ignored in the root depends on this.
        """
        patterns = Patterns(self.files)
        visits: dict[str, Visit] = {}
        waiting = [("", rules)]
        count = 0
        while waiting:
            path, outer = waiting.pop()
            before = self.visits.get(path)
            if before is not None and before.settled and before.folder.stamp == stamps.get(path):
                patterns.enter(before.folder)
                visit = self._revisit(before, outer, patterns, now)
            else:
                visit = self._visit(path, outer, patterns, now)
            visits[path] = visit
            if on_many is not None and before is None:
                count += len(visit.python)
                if count > MANY:
                    on_many()
                    on_many = None
            if visit.entered:
                waiting += [(name, visit.rules) for name in reversed(visit.entered)]
        return visits

    def _visit(self, path: str, outer: Rules, patterns: Patterns, now: int) -> Visit:
        folder = self.files.folder(path)
        stamp = folder.stamp
        settled = stamp is not None and is_settled(stamp, now)
        self._unsaved += settled
        if not (folder.folders or folder.outside or [name for name in folder.files if name.endswith(_TELLING)]):
            return Visit(settled, outer, {}, folder, (), ())  # of translations alone there are thousands
        patterns.enter(folder)
        return self._decided(folder, self._rules_in(folder, outer, now), patterns, now, settled=settled)

    def _revisit(self, before: Visit, outer: Rules, patterns: Patterns, now: int) -> Visit:
        rules = self._rules_in(before.folder, outer, now)
        if rules == before.rules and self._rules(before.watched, now) == before.watched:
            return before
        self._unsaved += 1
        return self._decided(before.folder, rules, patterns, now, settled=True)

    def _decided(self, folder: Folder, rules: Rules, patterns: Patterns, now: int, *, settled: bool) -> Visit:
        """Sort out what is part of the project among what a folder holds."""
        lead = f"{folder.path}/" if folder.path else ""
        telling = [name for name in folder.files if name.endswith(_TELLING)]
        python = [name for name in telling if name.endswith(_PYTHON)]
        entered = [name for name in folder.folders if not never_entered(name)] if folder.folders else []
        outside = [name for name in folder.outside if not never_entered(name.partition("/")[0])]
        watched: list[str] = []
        if len(telling) > len(python):
            outside += [name for name in telling if name.endswith(WINDOWED)]
            watched += [f"{lead}.gitignore"] if ".gitignore" in telling else []
        if VENV in folder.files and folder.path:
            python, entered, outside = [], [], []  # a virtual environment, recognised by its content
        elif (python or entered or outside) and patterns.reach(folder):
            linked = [name.removesuffix(_INIT) for name in outside]
            out = {name for name in patterns.suspects(folder, python + linked) if is_ignored(self.files, lead + name)}
            closed = {name for name in patterns.suspects(folder, entered) if is_ignored(self.files, f"{lead}{name}/")}
            python = [name for name in python if name not in out]
            entered = [name for name in entered if name not in closed]
            outside = [name for name in outside if name.removesuffix(_INIT) not in out]
            watched += [f"{lead}{name}/{VENV}" for name in closed]
        stamps = self._rules(watched, now) if watched else {}
        if not (python or entered or outside):
            return Visit(settled, rules, stamps, folder, (), ())
        return Visit(settled, rules, stamps, folder, _under(lead, python), _under(lead, entered), _under(lead, outside))

    def _rules_in(self, folder: Folder, outer: Rules, now: int) -> Rules:
        if ".gitignore" not in folder.files:
            return outer
        return outer | self._rules([f"{folder.path}/.gitignore" if folder.path else ".gitignore"], now)

    def _rules(self, paths: Iterable[str], now: int) -> Rules:
        """Return a value that is equal next time if some files are the same, and never where that is not sure."""
        stamps = {path: self.files.stamp(path) for path in paths}
        return {path: it if it is None or is_settled(it, now) else object() for path, it in stamps.items()}


def _matters(folder: Folder) -> tuple[bool, list[str], list[str], tuple[str, ...]]:
    """Return the parts of a folder that a walk needs."""
    files = [name for name in folder.files if name.endswith((*_PYTHON, WINDOWED)) or name in _DECIDING]
    return folder.readable, [name for name in folder.folders if not never_entered(name)], files, folder.outside


def _under(lead: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple([lead + name for name in names]) if names else ()


def census_of(files: Files, layout: Layout) -> Census:
    """Walk a project once.

    Parameters:
        files: where it is read.
        layout: its source roots.
    """
    return Walk(files).census(layout)


def census_after(before: Census, files: Files, layout: Layout, planned: Contents) -> Census:
    """Return the census as some planned files leave it, which takes no walk where no folder appears or goes.

    Parameters:
        before: of the files in front of which they are planned, or of others that differ in planned ones alone.
        files: what is there with them.
        layout: the source roots of these.
        planned: content by path; None for a file that will be gone.
    """
    folders = {path.rpartition("/")[0] for path in planned}
    if any(map(_decides, planned)) or not all(
        path in before.folders and files.kind(path) is FileKind.FOLDER for path in folders
    ):
        return census_of(files, layout)
    listed = {path: files.folder(path).files for path in folders}
    python = [path for path in planned if path.endswith(_PYTHON)]
    own = [path for path in python if path in before.stamps or _is_new(before, files, path)]
    stamps = {path: stamp for path, stamp in before.stamps.items() if path not in planned}
    outside = tuple(path for path in before.outside if path not in planned)
    aside = before.closed, outside, before.settings
    return Census(layout, {**stamps, **files.stamps(own)}, {**before.folders, **listed}, *aside)


def _decides(path: str) -> bool:
    """Return whether a file matters to a walk in another way than by being a module."""
    return path in _RULES or path.endswith(WINDOWED) or path.rpartition("/")[2] in (VENV, ".gitignore")


def _is_new(before: Census, files: Files, path: str) -> bool:
    """Return whether a file is none that was ignored, and is not now."""
    folder, _, name = path.rpartition("/")
    return name not in before.folders[folder] and not is_ignored(files, path)
