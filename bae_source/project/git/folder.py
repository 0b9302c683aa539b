"""A git folder of our own, through which git's plumbing looks at a repository without its settings.

    place/config                    ours: no filter, hook, remote, alias, pager or other program is named anywhere
          index  sharedindex.…      copies of the repository's
          info/exclude              a copy
          objects/info/alternates   where the repository's objects lie

Git never starts on the repository itself, so nothing in it, whichever file says so, can make git run a program, fetch
something, or look elsewhere. What git might write ends up here, too.

Invariants:
- git is a program that PATH names absolutely, outside the repository;
- neither settings of the system or the user count, nor what of git is in the environment, but for where objects are;
- nothing is fetched and no protocol is allowed, which nothing here would ask for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bae_source.errors import RequestError
from bae_source.project.git.repository import GitRepository, whole, wrong
from bae_source.system.git_places import LISTS
from bae_source.system.hashing import sha1, sha256
from bae_source.system.programs import within_reach

SECONDS = 60.0
_MOST_OF_INDEX = 2_000_000_000
_MOST_SETTINGS = 1_000_000
_OURS = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C",
}  # fmt: skip
_OF_THE_USER = ("HOME", "XDG_CONFIG_HOME", *LISTS)
"""Folders, besides that of git's objects, in which the user's own list of ignored files may lie."""

_KNOWN = frozenset({"noop", "noop-v1", "partialclone", "preciousobjects", "worktreeconfig", "relativeworktrees",
                    "objectformat", "compatobjectformat", "refstorage"})  # fmt: skip
"""The extensions of git's format with which an index and objects are read as ever."""

_SAYS_MORE = re.compile(rb"extensions|worktree", re.IGNORECASE)
_SHARED = re.compile(r"sharedindex\.([0-9a-f]{40}(?:[0-9a-f]{24})?)")
_SIZES = (20, 32)
"""Bytes of a checksum, by SHA-1 and by SHA-256."""
_FOLDED = re.compile(rb"sdir\0{4}(?:EOIE.{28}|EOIE.{40})?\Z", re.DOTALL)
"""The end of an index with folders in it; git would unfold it itself, and touch the trees that it names."""


class GitFolder:
    """The folder, and git started on it.

    Parameters:
        place: an empty folder of ours.
        root: the folder that paths are relative to.
        repository: what to look at.
        environment: the caller's.

    Raises:
        RequestError: `invalid_arguments` where git is not there, or the index cannot be read.
    """

    def __init__(self, place: Path, root: Path, repository: GitRepository, environment: Mapping[str, str]) -> None:
        self._place = place
        self._root = root
        self._repository = repository
        self._callers = environment
        path = within_reach(environment.get("PATH", os.defpath), repository.top)
        self._program = shutil.which("git", path=path)
        kept = {name: environment[name] for name in _OF_THE_USER if name in environment}
        places = {"GIT_DIR": str(place), "GIT_WORK_TREE": str(repository.top), "GIT_INDEX_FILE": str(place / "index")}
        self._environment = {"PATH": path, **kept, **_OURS, **places}
        self.is_sha256 = False
        self._make()

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        settings: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git to its end, in the root.

        Parameters:
            given: what it reads.
            settings: of git, such as `core.excludesFile=/x`.
            environment: in the place of our own.

        Raises:
            RequestError: `invalid_arguments` where it cannot be started, or does not end.
        """
        command = self._command([*(word for each in settings for word in ("-c", each)), *arguments])
        try:
            env = environment or self._environment
            return subprocess.run(command, cwd=self._root, env=env, input=given, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise silent() from None
        except OSError as error:
            raise _absent(error.strerror) from None

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git, which is asked and answers as long as it lives; raise as `run` does."""
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self._command(arguments),
                cwd=self._root,
                env=self._environment,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _absent(error.strerror) from None

    def settings_of_the_user(self, name: str) -> list[str]:
        """Return the values of a setting that names paths, as the user's own and the system's settings have it."""
        callers = {key: value for key, value in self._callers.items() if key.startswith("GIT_CONFIG")}
        around = {key: value for key, value in self._environment.items() if not key.startswith("GIT_CONFIG")}
        try:
            done = self.run("config", "--null", "--type=path", "--get-all", name, environment={**around, **callers})
        except RequestError:
            return []
        return os.fsdecode(done.stdout).split("\0")[:-1]

    def _command(self, arguments: Sequence[str]) -> list[str]:
        if self._program is None:
            raise _absent("PATH leads to none outside of the project")
        return [self._program, "--no-pager", *arguments]

    def _make(self) -> None:
        for folder in ("refs", "objects/info", "info"):
            (self._place / folder).mkdir(parents=True)
        self._write("HEAD", b"ref: refs/heads/none\n")
        self._write("config", b"[core]\n\trepositoryformatversion = 0\n")
        self._write("objects/info/alternates", b'"%b"\n' % _quoted(os.fsencode(self._repository.objects)))
        self._heed_settings()
        with suppress(OSError):
            self._write("info/exclude", whole(self._repository.common / "info/exclude", _MOST_SETTINGS))
        self._copy_index()

    def _write(self, name: str, content: bytes) -> None:
        (self._place / name).write_bytes(content)

    def _heed_settings(self) -> None:
        """Read the few settings of the repository that say how it is to be read; git takes them from our hands."""
        repository = self._repository
        try:
            content = whole(Path(os.path.realpath(repository.common / "config")), _MOST_SETTINGS)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unreadable(f"its settings: {error.strerror}") from None
        if not _SAYS_MORE.search(content):
            return
        done = self.run("config", "--file", "-", "--no-includes", "--null", "--list", given=content)
        if done.returncode:
            raise unreadable(f"its settings: {last_line(done.stderr)}")
        entries = [each.partition("\n") for each in os.fsdecode(done.stdout).split("\0")]
        settings = {name: value for name, _, value in entries}
        extensions = {name.partition(".")[2]: settings[name] for name in settings if name.startswith("extensions.")}
        if unknown := sorted(extensions.keys() - _KNOWN):
            raise unreadable(f"it needs {unknown[0]!r} of git")
        if extensions.get("objectformat", "sha1").lower() == "sha256":
            self.is_sha256 = True
            self._write("config", b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
        named = settings.get("core.worktree") if repository.folder == repository.common else None
        if named is not None and os.path.realpath(repository.folder / named) != str(repository.top):
            raise wrong(
                "The repository has its working tree elsewhere, so the project does not lie in it.",
                "See what `git config core.worktree` says there.",
            )

    def _copy_index(self) -> None:
        source = self._repository.index
        if not os.path.lexists(source):
            return  # nothing was ever staged
        try:
            index = whole(source, _MOST_OF_INDEX)
            for path in self._repository.folder.glob("sharedindex.*"):
                name = _SHARED.fullmatch(path.name)
                if name and bytes.fromhex(name[1]) in index:
                    self._write(path.name, whole(path, _MOST_OF_INDEX))
        except OSError as error:
            raise unreadable(f"its index: {error.strerror}") from None
        if not _is_whole(index, is_sha256=self.is_sha256):
            raise unreadable("its index is damaged")
        self._write("index", index)
        if _FOLDED.search(index[: -_SIZES[self.is_sha256]]):
            raise wrong(
                "The index of this project has folders in the place of files, which are not read.",
                "Unfold it by `git sparse-checkout reapply --no-sparse-index`.",
            )


def silent() -> RequestError:
    """Return the error that git does not answer."""
    hint = "Run `git status` and `git fsck` there; something in .git may make git wait."
    return wrong(f"Git did not answer within {SECONDS:.0f} seconds.", hint)


def unreadable(what: str) -> RequestError:
    """Return the error for a repository that cannot be read."""
    return wrong(f"Git cannot read the index of this project ({what}).")


def last_line(output: bytes) -> str:
    """Return the last line of git's output, without paths."""
    lines = output.decode("utf-8", "replace").splitlines()
    return " ".join("…" if "/" in word else word for word in (lines or ["it says nothing"])[-1].split())


def _is_whole(index: bytes, *, is_sha256: bool) -> bool:
    """Return whether an index has the checksum that it ends with, or none; git itself no longer looks."""
    size, digest_of = _SIZES[is_sha256], sha256 if is_sha256 else sha1
    end = index[-size:]
    return not any(end) or digest_of(index[:-size]) == end.hex()


def _quoted(path: bytes) -> bytes:
    return re.sub(rb'[\x00-\x1f"\\]', lambda match: b"\\%03o" % match[0][0], path)


def _absent(why: str | None) -> RequestError:
    message = f"Git is needed to read what is staged, and could not be started: {why}."
    return wrong(message, "Install git, and see that PATH leads to it.")
