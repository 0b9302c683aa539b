"""A bare repository of our own, read and written by GitPython.

Invariants:
- git runs only on a repository that holds what we write and nothing else (`shape`), in an environment of our own
  (`started`), and none outlives a call;
- a commit is durable when `write` returns, and reaches the ref whole or not at all;
- every `write` makes a pack of its own, and `pack` puts the small ones together, so that a repository is never more
  than some dozens of files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from types import ModuleType
from typing import TYPE_CHECKING

from bae_source.history.record.entry import Entry
from bae_source.history.record.shape import configuration, strange_in
from bae_source.history.record.stream import entry_of
from bae_source.system.own_files import beginning_of

if TYPE_CHECKING:
    import git

REF = "refs/bae-source/operations"

_INSTALL = "Install git, and operations will be recorded and can be undone."
_LONGEST_NAME = 200
_CIRCUMSTANCES = (
    ("No space left on device", "the disk is full", "Free some space."),
    ("Disk quota exceeded", "the disk quota is used up", "Free some space."),
    ("File too large", "a file would be larger than allowed", "Raise the limit on file sizes."),
    ("Read-only file system", "the file system is read-only", "Make it writable."),
    ("Permission denied", "permission was denied", "Check who owns our folders; doctor shows what is wrong."),
    ("Too many open files", "too many files are open", "Try again, or raise the limit of open files."),
)
"""Messages of git, in the language of its environment, that mean no damage to the history."""
_REPORT = "dumping crash report"


class HistoryUnavailable(Exception):
    """The history can neither be read nor written; the message says why, `hint` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


class Repository:
    """One bare repository; it need not exist.

    Every method that needs git raises `HistoryUnavailable` where it cannot do its work.

    Parameters:
        folder: where it lies.
        search_path: where git is looked for, as in `PATH`.
        state_id: the id of the folder of ours that it lies in (`state.binding`); None where that is not ours.
    """

    def __init__(self, folder: Path, search_path: str, state_id: Callable[[], str | None] = lambda: "") -> None:
        self.folder = folder
        self._search_path = search_path
        self._state_id = state_id
        self._count = folder / "bae-source-count"

    @property
    def exists(self) -> bool:
        """Return whether it is there, in a folder that is ours."""
        return self._state_id() is not None and (self.folder / "HEAD").is_file()

    @property
    def packs(self) -> dict[str, int]:
        """The sizes of its packs in bytes, by name."""
        try:
            with os.scandir(self.folder / "objects/pack") as found:
                return {each.name: each.stat().st_size for each in found if each.name.endswith(".pack")}
        except OSError:
            return {}

    def check(self) -> str:
        """Make sure that git is there, and may start on what is here; return where git is. No git is started."""
        try:
            strange = strange_in(self.folder, self._state_id() or "") if self.exists else ""
        except OSError as error:
            raise self._failed("open", error.strerror or type(error).__name__) from error
        if strange:
            raise self._strange(strange)
        program = shutil.which("git", path=self._search_path)
        if program is None:
            raise HistoryUnavailable("git is not installed", _INSTALL)
        return program

    def tip(self) -> str | None:
        """Return the newest commit; None where nothing is recorded."""
        if self._state_id() is None:
            return None
        if self.folder.is_symlink():
            raise self._strange(self.folder.name)
        with suppress(FileNotFoundError):
            return beginning_of(self.folder / REF, _LONGEST_NAME).decode("ascii", "replace").strip()
        if not (self.folder / "packed-refs").is_file():
            return None
        with self._opened("read") as repository:
            return str(repository.git.for_each_ref("--format=%(objectname)", REF)) or None

    def write(self, stream: bytes, commits: int, *, lock: int | None = None) -> None:
        """Make commits of what is written for `git fast-import`; the repository is created if need be.

        Parameters:
            commits: how many there will be on the ref.
            lock: a descriptor that git keeps open until it has finished, even if we are killed.

        The ref goes where the stream leads, without a look at where it was: git would walk the whole history for that
        where the clock has stood still or gone back.
        """
        if not self.exists:
            self._create()
        try:
            with self._opened("write") as repository:
                words = ["git", "fast-import", "--quiet", "--done", "--force", "--date-format=raw"]
                kept = () if lock is None else (lock,)
                importing = repository.git.execute(words, istream=PIPE, as_process=True, pass_fds=kept)
                _, errors = importing.communicate(stream + b"done\n")
                importing.wait(stderr=errors)
        except HistoryUnavailable:
            for report in self.folder.glob("fast_import_crash_*"):  # which nothing can switch off
                with suppress(OSError):
                    report.unlink()
            raise
        with suppress(OSError):  # what is not noted is counted
            self._count.write_text(f"{self.tip()} {commits}\n", encoding="ascii")

    def _create(self) -> None:
        """Make it beside its place first, so that a process that is killed meanwhile leaves no half of one there."""
        draft = Repository(self.folder.with_suffix(".new"), self._search_path, self._state_id)
        for folder in (draft.folder, self.folder):
            shutil.rmtree(folder, ignore_errors=True)
        with draft._explained("init"):
            git = _gitpython().git_on(draft.folder, self._search_path, self.check)
            draft.folder.mkdir()
            git.init("--quiet", "--bare", "--template=", "--object-format=sha1")
            (draft.folder / "config").write_bytes(configuration(self._state_id() or ""))
            draft.folder.rename(self.folder)

    def operations(self, start: str, most: int) -> tuple[list[tuple[str, Entry]], str | None]:
        """Return tree and entry of a commit and of those before it, the newest first, and where to go on.

        Parameters:
            start: the commit.
            most: at most that many commits are read.
        """
        words = ("--first-parent", "--no-show-signature", "--format=%T%x00%P%x00%B%x00", f"--max-count={most}")
        with self._opened("read") as repository:  # three times as fast as GitPython's commits
            fields = str(repository.git.log(*words, "--end-of-options", start, "--")).split("\0")
        trees, parents, messages = fields[0:-1:3], fields[1::3], fields[2::3]
        found = [(tree.strip(), entry_of(message)) for tree, message in zip(trees, messages, strict=True)]
        return [(tree, entry) for tree, entry in found if entry is not None], parents[-1] or None

    def count(self) -> int:
        """Return the number of commits, noted for this very tip, since git would walk all of them."""
        tip = self.tip()
        if tip is None:
            return 0
        with suppress(OSError, ValueError):  # not noted, or not to the end
            noted, count = self._count.read_text(encoding="ascii").split()
            if noted == tip:
                return int(count)
        with self._opened("read") as repository:
            return int(repository.git.rev_list("--count", "--first-parent", REF))

    def files(self, tree: str) -> dict[str, bytes]:
        """Return every file of a tree by its path; files that are lost are left out."""
        found = {}
        with self._opened("read") as repository:
            import git

            for each in git.Tree(repository, bytes.fromhex(tree), path="").traverse():
                if isinstance(each, git.Blob):
                    with suppress(ValueError):
                        found[os.fsdecode(each.path)] = each.data_stream.read()
        return found

    def pack(self) -> None:
        """Put small packs together with others of their size, so that each object is copied a few times in its life."""
        with self._opened("pack") as repository:
            repository.git.repack("--geometric=2", "-d", "-n", "--quiet")

    def sweep(self) -> None:
        """Remove what no commit needs any more, and make the rest as small as can be."""
        with self._opened("pack") as repository:
            repository.git.repack("-a", "-d", "-n", "--quiet")
            repository.git.prune("--expire=now")

    @contextmanager
    def _opened(self, what: str) -> Iterator[git.Repo]:
        """Open it for GitPython.

        Parameters:
            what: is about to be done.
        """
        with self._explained(what), _gitpython().opened(self.folder, self._search_path, self.check) as repository:
            yield repository

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except HistoryUnavailable:
            raise
        except Exception as error:  # whatever GitPython makes of a repository that is damaged
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: Exception | str) -> HistoryUnavailable:
        """Return the error with git's last line, without the paths in it; only damage is to be removed."""
        message = str(getattr(error, "stderr", "") or error)
        for words, reason, hint in _CIRCUMSTANCES:
            if words in message:
                return HistoryUnavailable(f"{reason}, so git could not {what} our history", hint)
        lines = [line for line in message.strip().strip("'").strip().splitlines() if _REPORT not in line]
        reason = " ".join("…" if "/" in word else word for word in (lines or ["it said nothing"])[-1].split())
        return HistoryUnavailable(
            f"git could not {what} our history ({reason})",
            f"If it stays like that, {self._moving_away()}",
        )

    def _strange(self, name: str) -> HistoryUnavailable:
        what = f"its repository holds what bae_source did not put there ({name})"
        return HistoryUnavailable(what, self._moving_away().capitalize())

    def _moving_away(self) -> str:
        what = f"the folder {self.folder.parent.name}/{self.folder.name}"
        return f"move {what} out of the way; the next operation starts a new history."


def _gitpython() -> ModuleType:
    try:
        from bae_source.history.record import started
    except OverflowError as error:
        reason = "this machine's clock is past the year 2262, where Python cannot tell the time to GitPython"
        raise HistoryUnavailable(reason, "Set the clock.") from error
    except ImportError as error:
        raise HistoryUnavailable(f"GitPython cannot be loaded ({error})", "doctor says what is missing.") from error
    return started
