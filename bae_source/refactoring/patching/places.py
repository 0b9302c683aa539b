"""The files that a patch names: from the names in its text to paths below the project's root.

    a/pkg/core.py       pkg/core.py         `a/` and `b/` are git's
    lib/pkg/core.py     pkg/core.py         where the project is the folder `lib`, and the diff begins around it
    /home/me/lib/x.py   x.py                absolute, and inside

Invariants:
- a name that leads elsewhere is refused before anything is looked at there;
- nothing is reached through a link to a folder, and what is no part of the project stays out of reach.
"""

from __future__ import annotations

import os.path
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import Refused, RequestError
from bae_source.project.files.data_listing import NO_DATA, address_of
from bae_source.project.files.ignored import is_ignored, never_entered
from bae_source.project.files.overlay import Planned
from bae_source.project.files.port import FileKind
from bae_source.project.files.unseen import name_at
from bae_source.refactoring.planning.extent import check_way

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace
    from bae_source.syntax.patches.patch import Section

_PREFIX = re.compile(r"[abciow]/")
_NEVER = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_LONGEST = 4096
_COMPILED = tuple(each for each in NO_DATA if each not in (".py", ".pyi"))


class Named(Struct, frozen=True, kw_only=True):
    """One file of a patch, found.

    Parameters:
        section: of the patch.
        old, new: paths below the project's root; None where there is no file.
    """

    section: Section
    old: str | None
    new: str | None


def named(workspace: Workspace, sections: Sequence[Section]) -> Iterator[Named | Refused | RequestError]:
    """Yield the files of a patch, in its order, or why one of them is out of reach."""
    base = _base(workspace, sections)
    adds: set[str] = set()
    for section in sections:
        try:
            old = None if section.old is None else _path(workspace, section, section.old, base, adds, is_new=False)
            new = None if section.new is None else _path(workspace, section, section.new, base, adds, is_new=True)
            if section.action == "change":
                both = [each for each in (new, old) if each is not None and _is_there(workspace, each, adds)]
                old = new = both[0] if both else new or old
            for path in dict.fromkeys(each for each in (old, new) if each is not None):
                check_reachable(workspace, path)
        except (Refused, RequestError) as error:
            yield error
            continue
        adds |= {each for each in (new,) if each is not None}
        yield Named(section=section, old=old, new=new)


def called(workspace: Workspace, path: str) -> str:
    """Return the address of a file, be it there or not."""
    if path.endswith((".py", ".pyi")):
        return name_at(workspace.census, path)
    return address_of(workspace.census, path)


def check_reachable(workspace: Workspace, path: str) -> None:
    """Refuse a file that is no part of the project, whether it is there or not.

    Raises:
        Refused: `forbidden`, `outside_project`, or `unsafe_change` for what a link to a folder leads to.
    """
    files = workspace.files
    parts = path.split("/")
    foreign = next((part for part in parts if never_entered(part)), None)
    if foreign is not None or path.endswith(_COMPILED):
        what = f"{foreign} belongs to other programs" if foreign else "Python itself writes what ends so"
        raise Refused(
            "forbidden",
            f"{path} is out of reach: {what}",
            unchanged=True,
            hints=["Take it out of the patch; only files of the project are changed."],
        )
    check_way(workspace, path, _present_part(workspace, path.rpartition("/")[0]))
    names = files.names(path.rpartition("/")[0])
    if (parts[-1] in names and files.kind(path) is None) or is_ignored(Planned(files, {path: b""}), path):
        leads = parts[-1] in names and files.kind(path) is None
        why = "it is a link that leads elsewhere, or no file" if leads else "git ignores it, or it is of an environment"
        raise Refused(
            "outside_project",
            f"{path} is no part of the project: {why}",
            unchanged=True,
            hints=["Take it out of the patch, or change .gitignore first."],
        )


def _present_part(workspace: Workspace, folder: str) -> str:
    """Return the part of a folder's path that exists."""
    parts, here = folder.split("/") if folder else [], ""
    for part in parts:
        if part not in workspace.files.names(here):
            break
        here = posixpath.join(here, part)
    return here


def _path(workspace: Workspace, section: Section, name: str, base: int, adds: set[str], *, is_new: bool) -> str:
    """Return the path that a name means.

    Parameters:
        base: how many folders around the project the names begin at.
        adds: paths of files that the patch adds before this section.
        is_new: whether the file need not be there.

    Raises:
        Refused: `outside_project`.
        RequestError: `invalid_name`.
    """
    every = [_inside(workspace, each, base) for each in _spelled(section, name)]
    inside = [each for each in every if each]
    if every[0] is None:
        raise Refused(
            "outside_project",
            f"{name} lies outside of the project",
            unchanged=True,
            hints=["Only the project's own files are changed; see --root."],
        )
    there = [each for each in inside if _is_there(workspace, each, adds)]
    if not there and is_new:
        there = [each for each in inside if _has_way(workspace, each, adds)]
    return (there or inside)[0]


def _spelled(section: Section, name: str) -> list[str]:
    """Return the names that may be meant by one: without git's prefix, if it has one, and as it stands.

    Raises:
        RequestError: `invalid_name`.
    """
    if not name or len(name) > _LONGEST or _NEVER.search(name):
        raise RequestError(
            "invalid_name",
            f"Line {section.at} of the patch names a file by what is no name of one",
            unchanged=True,
            hints=["Names are UTF-8, and have no control characters."],
        )
    bare = [name[2:]] if _PREFIX.match(name) and len(name) > 2 else []
    return [*bare, name] if section.prefixed else [name, *bare]


def _inside(workspace: Workspace, name: str, base: int) -> str | None:
    """Return a name as a path below the root; None where it leads elsewhere."""
    if name[1:3] == ":/" or name.startswith("//"):
        return None
    if not name.startswith("/"):
        plain = posixpath.normpath(name)
        if plain == "." or ".." in name.split("/"):
            return None
        name = posixpath.join(*[".."] * base, plain) if base else plain
    found = workspace.files.inside(name)
    return None if found is None else found.replace(os.sep, "/")


def _base(workspace: Workspace, sections: Sequence[Section]) -> int:
    """Return how many folders around the project the names of a patch begin at: as few as all of them fit.

    Where the project is the top of a repository, none.
    """
    if ".git" in workspace.files.names(""):
        return 0
    names = [(section, name) for section in sections if (name := section.old or section.new) is not None]
    deepest = max((name.count("/") for _, name in names), default=0)
    for base in range(deepest + 1):
        if all(_fits(workspace, section, name, base) for section, name in names):
            return base
    return 0


def _fits(workspace: Workspace, section: Section, name: str, base: int) -> bool:
    """Return whether a name means a file that is there, or one that may be made."""
    try:
        spelled = _spelled(section, name)
    except RequestError:
        return True  # which is an error of its own
    inside = [each for each in (_inside(workspace, each, base) for each in spelled) if each]
    if section.action == "create":
        return any(_has_way(workspace, each, set()) for each in inside)
    others = [] if section.new in (None, name) else [_inside(workspace, section.new or "", base)]
    return any(_is_there(workspace, each, set()) for each in (*inside, *filter(None, others)))


def _is_there(workspace: Workspace, path: str, adds: set[str]) -> bool:
    return path in adds or workspace.files.kind(path) is FileKind.FILE


def _has_way(workspace: Workspace, path: str, adds: set[str]) -> bool:
    """Return whether the outermost folder of a path is there, or it needs none."""
    top, slash, _ = path.partition("/")
    return not slash or workspace.files.kind(top) is FileKind.FOLDER or any(each.startswith(f"{top}/") for each in adds)
