"""Where our own files lie, worked out from the disk alone: git is never run and the environment never read.

Invariants:
- history, lock, journal and staging lie in `<this worktree's git dir>/bae-source`, so `git clean` does not reach them
  and worktrees do not share them; without git, or where its folder cannot be written, in `.bae-source` of the project;
- where they lie once they stay, whatever becomes of git's folder, so that all processes find the same ones;
- cache and telemetry lie in `.bae-source`, which ignores itself;
- nothing is created before `make` is called, and reading never calls it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from bae_source.state.journal_head import NAME, STAGING

OURS = "bae-source"
LOCAL = ".bae-source"
HISTORY = "history.git"


class StateFolders:
    """The folders and files of our own state for the project at `root`.

    Attributes:
        root: the project's root, without links.
        project: the root relative to the top of its repository, with forward slashes; "" at the top. Projects of
            one repository share a history, and this tells their operations apart.
        local: `.bae-source` in the project: cache and telemetry.
        base: the folder of history, lock, journal and staging.
        history: our own bare repository.
        lock: the lock file of the project.
        staging: where transactions keep old and new files while they run.
        pending: operations that were made but are not in the history yet.
        kept: old files that recovery kept for a person, because somebody had changed what we wrote.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.local = self.root / LOCAL
        top, git_dir = _repository(self.root)
        usable = git_dir is not None and self._belong_in(git_dir)
        self.base = git_dir / OURS if git_dir is not None and usable else self.local
        self.project = self.root.relative_to(top).as_posix().removeprefix(".") if usable else ""
        self.history = self.base / HISTORY
        self.lock = self.base / "lock"
        self.staging = self.base / STAGING
        self.pending = self.base / "pending"
        self.kept = self.base / "kept"

    def _belong_in(self, git_dir: Path) -> bool:
        """Say whether history, lock and journal are in a git dir, or will be there if they are nowhere yet."""
        if _is_ours(self.local):  # the git dir's may be another project's
            return False
        return _is_ours(git_dir / OURS) or os.access(git_dir, os.W_OK | os.X_OK)

    @property
    def is_led_away(self) -> bool:
        """Whether `.bae-source` is a link: what comes with a project must not say where else we write."""
        return os.path.islink(self.local)  # noqa: PTH114 - half the time, and it is asked before each change

    def check(self) -> None:
        """See that `.bae-source` is no link.

        Raises:
            OSError: it is one.
        """
        if self.is_led_away:
            raise OSError(errno.ELOOP, "it is a link", str(self.local))

    def make(self, folder: Path) -> Path:
        """Create `folder`, one of ours, and return it; `.bae-source` is made to ignore itself.

        Raises:
            OSError: the folder cannot be created.
        """
        if folder.is_relative_to(self.local):
            self.check()
        folder.mkdir(parents=True, exist_ok=True)
        ignore = self.local / ".gitignore"
        if folder.is_relative_to(self.local) and not os.path.lexists(ignore):
            ignore.write_text("*\n", encoding="ascii")
        return folder


def _repository(root: Path) -> tuple[Path, Path | None]:
    """Find the nearest repository: its top, and the git dir of this very worktree."""
    for folder in (root, *root.parents):
        git_dir = _git_dir(folder / ".git")
        if git_dir is not None:
            return folder, git_dir
    return root, None


def _git_dir(entry: Path) -> Path | None:
    """Return the git dir that a `.git` stands for: itself, or what the `.git` file of a worktree or submodule names."""
    try:
        if entry.is_file():
            text = entry.read_text(encoding="utf-8", errors="surrogateescape")
            if not text.startswith("gitdir:"):
                return None
            entry = entry.parent / text.removeprefix("gitdir:").strip()
        if (entry / "HEAD").is_file() and ((entry / "objects").is_dir() or (entry / "commondir").is_file()):
            return Path(os.path.realpath(entry))
    except OSError:
        return None
    return None


def _is_ours(folder: Path) -> bool:
    """Say whether a folder holds what we write down of changes."""
    return any(os.path.exists(folder / name) for name in (NAME, HISTORY))  # noqa: PTH110 - false where nobody may look
