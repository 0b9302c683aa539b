"""A small project and a change of one to twenty of its files, both made from a seed.

The change edits files, creates some (in new folders too), deletes some (the last of a folder too) and moves some; every
size from nothing to several pages occurs. With `dressed`, files get other modes as well, with their bytes or without.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bae_source.history.record.history import HistoryUnavailable
from bae_source.model.changeset import ChangeSet, FileChange, between, digest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.state.binding import ID, Binding, UserState
from bae_source.state.folders import LOCAL, StateFolders
from bae_source.transaction.commit.transaction import Transactions
from bae_source.transaction.disk.port import Disk, RealDisk
from benchmarks.crash.faults import replaced

Files = dict[str, bytes]

_ID = "0" * 32


class Scenario(Struct, frozen=True, kw_only=True):
    """What a project holds before and after a change.

    Parameters:
        origins: where a moved file came from.
        modes: permission bits of folders, by path, whether they are there before, after, or both.
        permissions: permission bits of files that have others after the change: those before it and after it, by path.
    """

    before: Files
    after: Files
    origins: dict[str, str]
    modes: dict[str, int] = {}
    permissions: dict[str, tuple[int, int]] = {}

    @property
    def touched(self) -> set[str]:
        """The files that the change is about."""
        paths = self.before.keys() | self.after.keys()
        return {path for path in paths if self.before.get(path) != self.after.get(path)} | self.permissions.keys()

    @property
    def size(self) -> int:
        """How many files the change is about."""
        return len(self.touched)

    @property
    def is_single(self) -> bool:
        """Whether it is one file, which stands once it is replaced (see `journal`)."""
        return self.size == 1 and self.before != self.after


def scenario(seed: int, files: int | None = None) -> Scenario:
    """Make a scenario with so many files in the change; as many as the seed says if None."""
    chance = random.Random(seed)
    count = files or chance.choice((1, 1, 2, 3, 5, 8, 13, 20))
    before = {f"pkg{number % 3}/m{number}.py": _content(chance) for number in range(count + 2)}
    before["alone/only.py"] = _content(chance)
    after, origins = dict(before), {}
    paths = sorted(before)
    chance.shuffle(paths)
    for number, path in enumerate(paths[:count]):
        kind = chance.choice(("edit", "edit", "edit", "create", "delete", "move"))
        if kind == "edit":
            after[path] = _content(chance) + b"# changed\n"
        elif kind == "create":
            after[f"{chance.choice(('pkg0', 'new', 'new/deep'))}/n{number}.py"] = _content(chance)
        elif kind == "delete":
            del after[path]
        else:
            target = f"{chance.choice(('pkg1', 'moved/to'))}/v{number}.py"
            after[target] = after.pop(path) + chance.choice((b"", b"# moved\n"))
            origins[target] = path
    modes = {_folder(path): chance.choice((0o755, 0o700, 0o2770)) for path in sorted(before)}
    for target in sorted(origins):
        modes.setdefault(_folder(target), modes[_folder(origins[target])])
    return Scenario(before=before, after=after, origins=origins, modes=modes)


def dressed(made: Scenario, chance: random.Random) -> Scenario:
    """Return the scenario with another mode for one to three files: one that keeps its bytes, others perhaps."""
    paths = sorted(path for path, content in made.before.items() if made.after.get(path) == content)
    edited = sorted(path for path in made.before.keys() & made.after.keys() if path not in paths)
    chosen = [*paths[:1], *chance.sample([*paths[1:], *edited], min(len(paths[1:] + edited), chance.randrange(3)))]
    return replace(made, permissions={path: chance.choice(((0o644, 0o755), (0o750, 0o600))) for path in chosen})


def lay_out(root: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder hold these files and nothing else."""
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def bind(root: Path) -> None:
    """Make the state in a project ours, always with one id: what a power cut leaves is laid out in folders anew."""
    folder = root / LOCAL
    folder.mkdir(exist_ok=True)
    (folder / ID).write_text(f"{_ID}\n")
    users, status = UserState(os.environ), folder.stat()
    users.release(_ID)
    users.bind(_ID, Binding(folder=status.st_ino, serves=root.stat().st_ino, device=status.st_dev))


def plan(made: Scenario) -> Plan:
    """Return the plan of the change."""
    paths = made.touched
    found = between(
        {path: made.before.get(path) for path in paths},
        {path: made.after.get(path) for path in paths},
        made.origins,
    )
    modes = {path: after for path, (_, after) in made.permissions.items()}
    files = [replace(change, mode=modes.pop(change.path, None)) for change in found.files]
    files += [_other_mode(path, made.before[path], mode) for path, mode in modes.items()]
    changes = ChangeSet(tuple(sorted(files, key=lambda file: file.path)))
    modules = (ModuleFile(name=path.removesuffix(".py").replace("/", "."), path=path) for path in sorted(paths))
    return Plan(changes=changes, changed=(), modules=tuple(modules), summary="change many files")


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of every file, as the judge compares it."""
    return {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}


class Unrecorded:
    """A history that is nowhere to be had, so that what is measured is the writing."""

    def record(self, *_: object) -> None:
        """Refuse."""
        raise HistoryUnavailable("it is left out here", "")

    def has_lately(self, _: str) -> bool:
        """Know of nothing."""
        return False


class Nothing:
    """A loader where no process has anything of the project."""

    def load(self) -> tuple[Notice, ...]:
        """Load nothing."""
        return ()

    def written(self) -> tuple[Notice, ...]:
        """Do nothing."""
        return ()

    def roll_back(self) -> None:
        """Do nothing."""


def transactions(root: Path, disk: Disk | None = None, wait: float = 10.0) -> Transactions:
    """Return the transactions of a project, without a history."""
    return Transactions(
        root,
        folders=StateFolders(root, UserState(os.environ)),
        history=Unrecorded(),  # type: ignore[arg-type]  # all that a transaction asks of it
        clock=lambda: datetime.now(UTC),
        new_id=lambda: f"op_{os.urandom(6).hex()}",
        disk=disk,
        wait=wait,
    )


def commit(
    root: Path,
    made: Scenario,
    disk: Disk | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> None:
    """Make the change.

    Parameters:
        meanwhile: is done when every file has been replaced, and the change is not committed yet.
    """
    disk = disk or RealDisk()
    with nullcontext() if meanwhile is None else replaced(disk, meanwhile):
        transactions(root, disk).commit(plan(made), loader=Nothing(), who="crash", why="", request={"do": "apply"})


def _content(chance: random.Random) -> bytes:
    lines = chance.choice((0, 1, 3, 40, 300))
    return b"".join(b"value_%d = %d\n" % (line, chance.randrange(10**9)) for line in range(lines))


def _other_mode(path: str, content: bytes, mode: int) -> FileChange:
    same = digest(content)
    return FileChange(path=path, before=same, after=same, edits=(), mode=mode)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
