"""A bare repository of our own, and git at work on it.

Invariants:
- git runs in an environment that holds only what is named here, so that no inherited `GIT_DIR`, no configuration of
  the user, no hook, filter, signing or fsmonitor has a say, and nothing is fetched whatever is missing;
- git runs only on a repository that holds what we write and nothing else (`history_shape`);
- a commit is durable when `write` returns, and reaches the ref whole or not at all;
- every commit comes as a pack of its own, and `pack` puts the small ones together, so that a repository is never more
  than some dozens of files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from bae_source.history.record.shape import configuration, strange_in
from bae_source.history.record.stream import LOG_FORMAT
from bae_source.system.own_files import beginning_of

REF = "refs/bae-source/operations"

_ENV = "/usr/bin/env"
_SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "commit.gpgSign=false",
    "core.fsync=all", "core.fsyncMethod=fsync", "core.logAllRefUpdates=false", "gc.auto=0",
    "fastimport.unpackLimit=1", "pack.threads=1", "protocol.allow=never", "safe.bareRepository=explicit",
)  # fmt: skip
_INSTALL = "Install git, and operations will be recorded and can be undone."
_LEAST_ROOM = 256 * 1024
"""How many bytes must be free for what git says to be about anything else."""
_LONGEST_NAME = 200
_REPORT = "dumping crash report"
_CIRCUMSTANCES = (
    ("No space left on device", "the disk is full", "Free some space."),
    ("Disk quota exceeded", "the disk quota is used up", "Free some space."),
    ("File too large", "a file would be larger than allowed", "Raise the limit on file sizes."),
    ("Read-only file system", "the file system is read-only", "Make it writable."),
    ("Permission denied", "permission was denied", "Check who owns our folders; doctor says what is amiss."),
    ("Too many open files", "too many files are open", "Try again, or raise the limit of open files."),
)
"""What git says, in the language that its environment asks for, where nothing is wrong with the history."""


class HistoryUnavailable(Exception):
    """The history can neither be read nor written; the message says why, `hint` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


class Repository:
    """One bare repository; it need not exist.

    Every method that runs git raises `HistoryUnavailable` where it cannot do its work.

    Parameters:
        folder: where it lies.
        search_path: where git is looked for, as in `PATH`.
        state_id: the id of the folder of ours that it lies in (`state.binding`); None where that is not ours.

    Attributes:
        inherited: descriptors that git gets while it writes.
    """

    def __init__(self, folder: Path, search_path: str, state_id: Callable[[], str | None] = lambda: "") -> None:
        self.folder = folder
        self.inherited: tuple[int, ...] = ()
        self._search_path = search_path
        self._state_id = state_id
        self._count = folder / "bae-source-count"

    @property
    def exists(self) -> bool:
        """Whether it is there, in a folder that is ours."""
        return self._state_id() is not None and (self.folder / "HEAD").is_file()

    @property
    def packs(self) -> dict[str, int]:
        """The sizes of its packs in bytes, by name."""
        try:
            with os.scandir(self.folder / "objects/pack") as found:
                return {each.name: each.stat().st_size for each in found if each.name.endswith(".pack")}
        except OSError:
            return {}

    def check(self) -> None:
        """Make sure that git is there."""
        self._command(())

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
        return self._ask("for-each-ref", "--format=%(objectname)", REF).decode("ascii").strip() or None

    def write(self, stream: bytes, commits: int) -> None:
        """Make commits of what is written for `git fast-import`; the repository is created if need be.

        Parameters:
            commits: how many there will be on the ref.

        The ref goes where the stream leads, without a look at where it was: git would walk the whole history for that
        where the clock has stood still or gone back.
        """
        if not self.exists:
            self._create()
        try:
            self._run("fast-import", "--quiet", "--done", "--force", "--date-format=raw", feed=stream + b"done\n")
        except HistoryUnavailable:
            self._drop_reports()
            raise
        with suppress(OSError):  # what is not noted is counted
            self._count.write_text(f"{self.tip()} {commits}\n", encoding="ascii")

    def _drop_reports(self) -> None:
        """Remove what `git fast-import` leaves in the repository where it fails, which nothing can switch off."""
        for report in self.folder.glob("fast_import_crash_*"):
            with suppress(OSError):
                report.unlink()

    def _create(self) -> None:
        """Make it beside its place first, so that a process that is killed meanwhile leaves no half of one there."""
        draft = Repository(self.folder.with_suffix(".new"), self._search_path, self._state_id)
        draft.inherited = self.inherited
        for folder in (draft.folder, self.folder):
            shutil.rmtree(folder, ignore_errors=True)
        draft._run("init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(draft.folder))
        try:
            (draft.folder / "config").write_bytes(configuration(self._state_id() or ""))
            draft.folder.rename(self.folder)
        except OSError as error:
            raise self._failed(("init",), error.strerror or type(error).__name__) from error

    def log(self, *, skip: int = 0, limit: int | None = None) -> bytes:
        """Return the newest commits first, as `history_stream.entries_of` reads them.

        Parameters:
            skip: how many of the newest are left out.
            limit: at most that many; None for all of them.
        """
        many = [] if limit is None else [f"--max-count={limit}"]
        return self._ask(
            "log", "--first-parent", "--no-show-signature", f"--format={LOG_FORMAT}", f"--skip={skip}", *many, REF
        )

    def count(self) -> int:
        """Return how many commits there are: what was noted for this very tip, since git would walk all of them."""
        tip = self.tip()
        if tip is None:
            return 0
        with suppress(OSError, ValueError):  # not noted, or not to the end
            noted, count = self._count.read_text(encoding="ascii").split()
            if noted == tip:
                return int(count)
        return int(self._run("rev-list", "--count", "--first-parent", REF))

    def files(self, tree: str) -> dict[str, bytes]:
        """Return every file of a tree by its path; files that are lost are left out."""
        listing = self._ask("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")
        found = [line.partition(b"\t") for line in listing if line]
        names = [os.fsdecode(path) for _, _, path in found]
        contents = self._objects([head.split()[2].decode() for head, _, _ in found])
        return {name: content for name, content in zip(names, contents, strict=True) if content is not None}

    def pack(self) -> None:
        """Put small packs together with others of their size, so that each object is copied a few times in its life.

        What `git repack --geometric` does, but for the walk over all commits that it takes.
        """
        folder = self.folder / "objects/pack"
        smallest = sorted(self.packs.items(), key=lambda pack: pack[1])
        together, total = 0, 0
        while together < len(smallest) and (not total or smallest[together][1] <= 2 * total):
            total += smallest[together][1]
            together += 1
        names = [name.removesuffix(".pack") for name, _ in smallest[:together]]
        if len(names) < 2:
            return
        ids = b"\n".join(each for name in names for each in _ids_in((folder / f"{name}.idx").read_bytes()))
        made = self._run("pack-objects", "--quiet", "--window=0", str(folder / "pack"), feed=ids + b"\n")
        for name in set(names) - {f"pack-{made.decode('ascii').strip()}"}:
            for suffix in (".idx", ".rev", ".pack"):
                (folder / f"{name}{suffix}").unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what no commit needs any more, and make the rest as small as can be."""
        self._run("repack", "-a", "-d", "-n", "--quiet")
        self._run("prune", "--expire=now")

    def _objects(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the content of objects, None for one that is missing."""
        answer = self._ask("cat-file", "--batch", feed="".join(f"{name}\n" for name in names).encode())
        contents: list[bytes | None] = []
        position = 0
        for _ in names:
            end = answer.index(b"\n", position)
            head = answer[position:end].rsplit(b" ", 2)
            position = end + 1
            if head[-1] == b"missing":
                contents.append(None)
                continue
            size = int(head[-1])
            contents.append(answer[position : position + size])
            position += size + 1
        return contents

    def _ask(self, *arguments: str, feed: bytes = b"") -> bytes:
        """Run git through GitPython, as whatever reads the history does.

        GitPython always adds the inherited environment; `env -i` in front of git takes it away again.
        """
        git = _gitpython()
        if git is None:
            return self._run(*arguments, feed=feed)
        from tempfile import TemporaryFile  # 5 ms, which recording need not pay

        inside = [f"{name}={value}" for name, value in self._environment().items()]
        try:
            with TemporaryFile() as stream:
                stream.write(feed)
                stream.seek(0)
                output = git.Git(str(self.folder.parent)).execute(
                    [_ENV, "-i", *inside, *self._command(arguments)],
                    istream=stream,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    start_new_session=True,
                )
        except (git.GitError, OSError, ValueError) as error:
            raise self._failed(arguments, str(getattr(error, "stderr", "") or error)) from error
        assert isinstance(output, bytes)
        return output

    def _run(self, *arguments: str, feed: bytes = b"") -> bytes:
        """Run git by itself, as recording does: a change must not wait for GitPython's import."""
        command = self._command(arguments)
        try:
            done = subprocess.run(
                command,
                input=feed,
                capture_output=True,
                check=False,
                cwd=self.folder.parent,
                env=dict(self._environment()),
                start_new_session=True,
                pass_fds=self.inherited,
            )
        except OSError as error:
            raise self._failed(arguments, error.strerror or type(error).__name__) from error
        if done.returncode:
            raise self._failed(arguments, os.fsdecode(done.stderr))
        return done.stdout

    def _command(self, arguments: Sequence[str]) -> list[str]:
        try:
            strange = strange_in(self.folder, self._state_id() or "") if self.exists else ""
        except OSError as error:
            raise self._failed(arguments or ("open",), error.strerror or type(error).__name__) from error
        if strange:
            raise self._strange(strange)
        executable = shutil.which("git", path=self._search_path)
        if executable is None:
            raise HistoryUnavailable("git is not installed", _INSTALL)
        return [executable, *(word for setting in _SETTINGS for word in ("-c", setting)), *arguments]

    def _environment(self) -> Mapping[str, str]:
        return {
            "PATH": self._search_path, "GIT_DIR": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C", "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_DEFAULT_REF_FORMAT": "files",
        }  # fmt: skip

    def _failed(self, arguments: Sequence[str], said: str) -> HistoryUnavailable:
        """Return the error with the last line that git said, without the paths in it; only damage is to be removed."""
        full = _CIRCUMSTANCES[0][0] if self._has_no_room() else ""  # which git does not say of a ref
        for words, reason, hint in _CIRCUMSTANCES:
            if words in said + full:
                return HistoryUnavailable(f"{reason}, so git could not {arguments[0]} our history", hint)
        lines = [line for line in said.strip().strip("'").strip().splitlines() if _REPORT not in line]
        reason = " ".join("…" if "/" in word else word for word in (lines or ["it said nothing"])[-1].split())
        return HistoryUnavailable(
            f"git could not {arguments[0]} our history ({reason})",
            f"If it stays like that, {self._moving_away()}",
        )

    def _strange(self, name: str) -> HistoryUnavailable:
        what = f"its repository holds what bae_source did not put there ({name})"
        return HistoryUnavailable(what, self._moving_away().capitalize())

    def _moving_away(self) -> str:
        what = f"the folder {self.folder.parent.name}/{self.folder.name}"
        return f"move {what} out of the way; the next operation starts a new history."

    def _has_no_room(self) -> bool:
        try:
            return shutil.disk_usage(self.folder.parent).free < _LEAST_ROOM
        except OSError:
            return False


def _ids_in(index: bytes) -> Iterator[bytes]:
    """Yield the ids of the objects in a pack, in hexadecimal, from its index (format 2, see gitformat-pack)."""
    names = 8 + 256 * 4
    count = int.from_bytes(index[names - 4 : names], "big")
    for start in range(names, names + 20 * count, 20):
        yield index[start : start + 20].hex().encode()


def _gitpython() -> ModuleType | None:
    """Import GitPython: late, since it costs 120 ms. At its import it wants a git of its own; None if it finds none."""
    try:
        import git
    except (ImportError, OverflowError):  # it imports `logging`, which tells the time: not from the year 2262 on
        return None
    return git
