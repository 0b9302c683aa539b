"""A project in which changes are cut short, recovered, and judged by a process that knows nothing of ours."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from stat import S_IMODE
from types import TracebackType

from bae_source.model.outcome import Notice
from bae_source.transaction.disk.port import Disk
from benchmarks.crash import judge
from benchmarks.crash.scenario import Scenario, digests, lay_out, transactions

WHOLE = ("before", "after")


class Arena:
    """A project that is put back into its first state between trials.

    Parameters:
        folder: where it is made; it is removed by nobody.

    Attributes:
        verdicts: how often each was given, by its first word.
        bad: every verdict that names something torn, lost, stray or mixed, and what stands about it.
        seconds: how long each recovery took that had something to do.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.verdicts: Counter[str] = Counter()
        self.bad: list[str] = []
        self.seconds: list[float] = []
        self._judge = subprocess.Popen(
            [sys.executable, "-I", judge.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._now: dict[str, bytes] | None = None
        self._modes: dict[str, int] = {}

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._judge.communicate()

    def reset(self, made: Scenario) -> Path:
        """Make the project hold what it does before the change, and return its root."""
        if self._now != made.before:
            lay_out(self.root, made.before)
            for path, mode in made.modes.items():
                if (self.root / path).is_dir():
                    (self.root / path).chmod(mode)
        for path, (mode, _) in made.permissions.items():
            (self.root / path).chmod(mode)
        self._now = None
        self._modes = made.modes
        return self.root

    def taken(self) -> Path:
        """Return the root to somebody who lays out something else there."""
        self._now = None
        self._modes = {}
        return self.root

    def recover(self, disk: Disk | None = None) -> tuple[Notice, ...]:
        """Recover as a new process would, and note how long it took."""
        begun = time.perf_counter()
        notices = transactions(self.root, disk).recover()
        if notices:
            self.seconds.append(time.perf_counter() - begun)
        return notices

    def judge(self, made: Scenario, about: str, *, allowed: Iterable[str] = WHOLE, folders: bool = True) -> str:
        """Have the files judged, and the folders of ours looked at.

        Parameters:
            about: what was done, for the report of something bad.
            allowed: the verdicts that are right here.
            folders: whether an empty folder that is left is bad; not where the disk refused to remove it.
        """
        verdict = self.check(made, about, allowed=allowed)
        self.verdicts[verdict.partition(" ")[0]] += 1
        left = self._left(folders=folders)
        self.bad += [f"{about}: left {place}" for place in left]
        self.bad += [f"{about}: the folder {path} has other bits" for path in self._other_modes()]
        if verdict == "before" and not left:
            self._now = made.before
        return verdict

    def check(self, made: Scenario, about: str, *, allowed: Iterable[str] = WHOLE) -> str:
        """Have the files judged and nothing else."""
        request = {"root": str(self.root), "before": digests(made.before), "after": digests(made.after)}
        assert self._judge.stdin is not None
        assert self._judge.stdout is not None
        self._judge.stdin.write(json.dumps(request) + "\n")
        self._judge.stdin.flush()
        verdict = self._with_permissions(made, self._judge.stdout.readline().strip())
        if verdict not in allowed:
            self.bad.append(f"{about}: {verdict}")
        return verdict

    def _with_permissions(self, made: Scenario, verdict: str) -> str:
        """Return the verdict on bytes and modes: of whole bytes, the modes of files tell as well which side it is."""
        if verdict not in WHOLE or not made.permissions:
            return verdict
        sides = WHOLE if made.before == made.after else (verdict,)
        found = {path: S_IMODE((self.root / path).stat().st_mode) for path in made.permissions}
        for side, name in enumerate(WHOLE):
            if name in sides and all(found[path] == pair[side] for path, pair in made.permissions.items()):
                return name
        return f"mixed bytes of {verdict} and modes {' '.join(f'{path} {mode:o}' for path, mode in found.items())}"

    def _other_modes(self) -> list[str]:
        """Return folders that have not the permission bits that they should."""
        folders = ((path, self.root / path, mode) for path, mode in self._modes.items())
        return [path for path, folder, mode in folders if folder.is_dir() and S_IMODE(folder.stat().st_mode) != mode]

    def _left(self, *, folders: bool) -> list[str]:
        """Return files of ours that should be gone, and folders of the project that hold nothing."""
        staging = self.root / ".bae-source/staging"
        left = [path.name for path in staging.iterdir()] if staging.exists() else []
        for path in self.root.rglob("*") if folders else ():
            ours = path.relative_to(self.root).parts[0] == ".bae-source"
            if not ours and path.is_dir() and not any(path.iterdir()):
                left.append(path.relative_to(self.root).as_posix())
        return left
