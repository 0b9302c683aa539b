"""The git repository in which a folder lies, found without git: where its index, its objects and its last commit are.

    repository = repository_of(root, environment)
    repository.index                    /home/me/app/.git/index
    last_commit(repository)             "8baef1…"

Invariants:
- only a `.git` makes a repository: a folder that merely holds what a bare one does is never taken for one;
- what git tells its hooks by the environment counts more than what is found, and has to fit it: an index of one
  repository is never looked at for a project that lies in another;
- nothing is run and nothing is written; no file is read but a regular one, and none without end.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.system.git_places import PATHS
from bae_source.system.own_files import content_of

_MOST = 65_536
_MOST_REFS = 256_000_000
_HEAD = re.compile(r"ref:\s*refs/|[0-9a-f]{40}")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_CHAIN = 5
_LINKED = "gitdir:"
_SAYS_WHY = "Run `git status` there; it says why."


class GitRepository(Struct, frozen=True, kw_only=True):
    """The folders in which the parts of a repository lie.

    Parameters:
        top: the folder that its paths begin in.
        folder: the git folder of this very worktree.
        common: the git folder that it shares with other worktrees; most often the same.
        index: what is about to be committed; nothing need be there.
        objects: where objects are.
        is_named: whether git named the folder by its environment, and so has looked whose it is.
    """

    top: Path
    folder: Path
    common: Path
    index: Path
    objects: Path
    is_named: bool

    def foreign(self, environment: Mapping[str, str]) -> Path | None:
        """Return the part of it that belongs to another user, by git's own rule; None where none does.

        Parameters:
            environment: in which `sudo` says for whom root works.
        """
        if self.is_named:
            return None
        users = {str(os.geteuid())} | ({environment.get("SUDO_UID", "0")} if not os.geteuid() else set())
        parts = (self.top, self.top / ".git", self.folder)
        return next((path for path in parts if path.exists() and str(path.lstat().st_uid) not in users), None)


def repository_of(root: Path, environment: Mapping[str, str]) -> GitRepository:
    """Return the repository that a folder lies in, or that git names by the environment.

    Parameters:
        root: without links.
        environment: as git sets it for its hooks; what is relative in it is relative to the root.

    Raises:
        RequestError: `invalid_arguments` where there is none, or none that the folder can belong to.
    """
    given = {name: root / environment[name] for name in PATHS if environment.get(name)}
    found = _found(root, environment)
    if "GIT_DIR" in given:
        folder = _folder_at(given["GIT_DIR"])
        if folder is None:
            raise wrong("Git names a repository that is not there.", "See that GIT_DIR leads to one, or unset it.")
        top = found[0] if found and found[1] == folder else None
    elif found is None:
        raise wrong("There is no git repository here.", "Run it inside of one, or name its folder with --root DIR.")
    else:
        top, folder = found
    if "GIT_WORK_TREE" in given:
        top = Path(os.path.realpath(given["GIT_WORK_TREE"]))
    if top is None:
        raise wrong("Git names a repository, and no working tree for it.", "Set GIT_WORK_TREE along with GIT_DIR.")
    index = given.get("GIT_INDEX_FILE", folder / "index")
    _check_fit(root, top, folder, index)
    common = given.get("GIT_COMMON_DIR") or _common(folder)
    objects = given.get("GIT_OBJECT_DIRECTORY", common / "objects")
    if "GIT_INDEX_FILE" in given and not os.path.lexists(index):
        raise wrong("The index that git names is not there.", "See where GIT_INDEX_FILE leads, or unset it.")
    return GitRepository(
        top=top, folder=folder, common=common, index=index, objects=objects, is_named="GIT_DIR" in given
    )


def last_commit(repository: GitRepository) -> str | None:
    """Return the name of the commit that `HEAD` stands for; None before the first one.

    Raises:
        RequestError: `invalid_arguments` where that is not known.
    """
    if (repository.common / "reftable").is_dir():
        raise wrong("The last commit is kept in a reftable, which is not read.", "Name the files to check.")
    try:
        head: str | None = _head(repository.folder)
        for _ in range(_LONGEST_CHAIN):
            if head is None or _ID.fullmatch(head):
                return head
            name = head.removeprefix("ref:").strip()
            if not head.startswith("ref:") or not name.startswith("refs/") or ".." in name or "\n" in name:
                break
            head = _ref(repository, name)
    except OSError as error:
        raise wrong(f"Which commit is the last cannot be read: {error.strerror}.") from None
    raise wrong("Which commit is the last cannot be made out.")


def whole(path: Path, most: int) -> bytes:
    """Return all that a regular file holds; links on the way to it are followed, and it is none itself.

    Raises:
        OSError: it is not there, is no regular file, has more than `most` bytes, or cannot be read.
    """
    if path.lstat().st_size > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content_of(path)


def wrong(message: str, hint: str = _SAYS_WHY) -> RequestError:
    """Return the error that a repository cannot be looked at."""
    return RequestError("invalid_arguments", message, hints=[hint])


def _found(root: Path, environment: Mapping[str, str]) -> tuple[Path, Path] | None:
    """Return the nearest folder upwards that has a repository, and that repository's git folder, as git finds them."""
    named = environment.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(each) for each in named if Path(each).is_absolute()}
    for top in (root, *takewhile(lambda each: str(each) not in ceilings, root.parents)):
        folder = _folder_at(top / ".git")
        if folder is not None:
            return top, folder
    return None


def _folder_at(entry: Path) -> Path | None:
    """Return the git folder that a `.git` is, or that the file in its place names; None where it is no repository.

    Raises:
        RequestError: `invalid_arguments` for a file that names none: git goes no further, either.
    """
    if entry.is_dir():
        return Path(os.path.realpath(entry)) if _is_git_folder(entry) else None
    if not entry.is_file():
        return None
    try:
        content = _text(entry)
    except OSError:
        content = ""
    folder = entry.parent / content.removeprefix(_LINKED).strip()
    if not content.startswith(_LINKED) or not _is_git_folder(folder):
        raise wrong("The .git of this project leads to no repository.")
    return Path(os.path.realpath(folder))


def _is_git_folder(folder: Path) -> bool:
    """Return whether git would take a folder for the inside a repository.

    Raises:
        RequestError: `invalid_arguments` for a part of one: what lies around it must not be taken in its place.
    """
    if not os.path.lexists(folder / "HEAD"):
        return False
    try:
        common = _common(folder)
        if _HEAD.match(_head(folder)) and all(part.is_dir() for part in (common / "objects", common / "refs")):
            return True
        why = "it is no repository"
    except OSError as error:
        why = error.strerror or "it cannot be read"
    raise wrong(f"The .git of this project cannot be read: {why}.")


def _common(folder: Path) -> Path:
    try:
        return Path(os.path.realpath(folder / _text(folder / "commondir")))
    except FileNotFoundError:
        return folder


def _head(folder: Path) -> str:
    """Return the content of `HEAD`; old ones are links."""
    head = folder / "HEAD"
    return f"ref: {head.readlink()}" if head.is_symlink() else _text(head)


def _text(path: Path) -> str:
    """Return the content of a small file, wherever it lies."""
    return os.fsdecode(whole(Path(os.path.realpath(path)), _MOST)).strip()


def _check_fit(root: Path, top: Path, folder: Path, index: Path) -> None:
    """Check that a project belongs to a worktree, and an index to its repository."""
    if not root.is_relative_to(top):
        raise wrong("The project does not lie in the repository that git names.", "Run the hook inside of it.")
    for inner in (root, *root.parents):
        if inner == top:
            break
        if _folder_at(inner / ".git") not in (None, folder):
            raise wrong("The project has a repository of its own, and git names another.", "Run the hook in its own.")
    around = Path(os.path.realpath(index.parent))
    if around != folder and _is_git_folder(around):
        raise wrong("Git names the index of another repository than the project's.", "Run the hook in that one.")


def _ref(repository: GitRepository, name: str) -> str | None:
    """Return the value of a ref; None where there is none of the name."""
    for folder in (repository.folder, repository.common):
        with suppress(FileNotFoundError, NotADirectoryError):
            if not (folder / name).is_dir():
                return _text(folder / name)
    try:
        packed = whole(Path(os.path.realpath(repository.common / "packed-refs")), _MOST_REFS)
    except FileNotFoundError:
        return None
    found = re.search(rb"^([0-9a-f]{40,64}) %b$" % re.escape(os.fsencode(name)), packed, re.MULTILINE)
    return found[1].decode() if found else None
