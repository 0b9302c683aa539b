"""Files that a caller may not read: to everything above the port they are files that cannot be read.

    [tool.bae-source.policy]
    read.deny = ["app.secrets", ":.env", "app.core.KEY"]

    app/secrets.py, .env       may not be read, and a search says that it did not look into them
    app/core.py                likewise, since a part of it is named
    app/open.py -> secrets.py  likewise, as is any other name of such a file

Invariants:
- no byte of such a file comes out of `Veiled`, and its stamp is another than the file has, so that nothing is found
  that was kept of it for others;
- its name is no secret, so answers can say what they leave out;
- settings are read by the engine for itself, piece by piece (`settings.content_of`), whatever a caller may read of
  them; who reads a file for a caller in that way has it checked first (`Workspace.check_readable`);
- where nothing is hidden, the only check is whether folders between the root and a file have a policy.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from msgspec.structs import replace

from bae_source.approval.policy import Answer, Kind, Ruling
from bae_source.engine.approving.governing import Governed, Governing
from bae_source.engine.approving.looking import between
from bae_source.engine.approving.names import PYTHON, Names
from bae_source.errors import Refused, ResourceError
from bae_source.project.files.ignored import never_entered
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import Disk, Stamp, bytes_of
from bae_source.project.files.settings import parsed_toml
from bae_source.project.files.stamps import Stamps, in_pieces
from bae_source.resources.config.key import keys_below, written_key

_TOML = "pyproject.toml"
_CODING = re.compile(rb"coding[:=][ \t]*+(?!utf-?8\b)", re.IGNORECASE)
_PLACE = re.compile(r"""(?<![\w./\\-])([\w./\\-]++)["']?(?::|, line )\d+""")
"""A place in a file, by its name or its path."""
_HINT = "A person decides that, in the settings; go on without it."
_MOST_KNOWN = 8
Parts = tuple[tuple[Ruling, tuple[str, ...]], ...]
Known = tuple[Ruling, Parts]
"""The decision on a file by its names, and the rules for it as a module that has a part of some name."""


class Hidden:
    """Tells which files one caller may not read, and why, as the policies are now.

    Parameters:
        governing: finds the policies.
        caller: by name.
        known: rulings by path, kept for those who ask later, each under what they depend on.
    """

    def __init__(self, governing: Governing, caller: str, known: dict[object, dict[str, Known]]) -> None:
        self.caller = caller
        self._governing = governing
        self._known = known
        self._around = list(self._hiding(governing.around()))
        self._within: dict[str, list[Governed | Refused]] = {}
        self._for_folder: dict[str, list[Governed | Refused]] = {}
        self._answers: dict[str, Refused | None] = {}
        self._layouts: dict[Path, dict[str, Known]] = {}
        self._names: dict[tuple[int, int], list[str]] | None = None

    @property
    def hides(self) -> bool:
        """Return whether there may be a file that may not be read, as far as folders were looked at."""
        return bool(self._around) or any(self._within.values())

    def take_settings(self, folders: Iterable[str]) -> bool:
        """Look at folders below the root that have settings; say whether that hides more than before."""
        before = sum(map(len, self._within.values()))
        for folder in folders:
            for each in (*between(folder), folder):
                self._look(each)
        if sum(map(len, self._within.values())) == before:
            return False
        self._answers.clear()
        self._for_folder.clear()
        return True

    def refusal(self, path: str) -> Refused | None:
        """Return the refusal to read a file under a name; None where it may be read.

        Parameters:
            path: relative to the root.
        """
        if path not in self._answers:
            self._answers[path] = self._refusal(path)
        return self._answers[path]

    def refusal_of(self, kind: Kind, name: str) -> Refused | None:
        """Return the refusal to read a setting, a distribution or a log; None where it may be read."""
        for each in self._around:
            if isinstance(each, Refused):
                return each
            ruling = each.policy.read(kind, name, self.caller)
            if ruling.answer is Answer.DENY:
                return _refused(ruling).altered(subject=name)
        return None

    def keeps_back(self, text: str) -> bool:
        """Return whether a text of what was run speaks of a place in a file that may not be read: `app.secrets:3`."""
        if not self.hides:
            return False
        found = {*_PLACE.findall(text)}
        return any(self._is_named(each) for each in found)

    def _is_named(self, name: str) -> bool:
        if name.endswith(PYTHON):
            root = f"{str(self._governing.root).rstrip(os.sep)}{os.sep}"
            full = os.path.normpath(os.path.join(root, name))
            return self.refusal_at(full) is not None
        parts = tuple(filter(None, name.split(".")))
        found = self._layout.prefixes(parts) if parts else ()
        return any(each.file is not None and self.refusal(each.file.path) is not None for each in found)

    @cached_property
    def _layout(self) -> Layout:
        return Names(self._governing.root).layout

    def other_names(self, path: str) -> Iterator[str]:
        """Yield the other names that a file has by links, hard ones too: absolute paths."""
        full = f"{self._governing.root}/{path}"
        try:
            status, real = os.stat(full), os.path.realpath(full)
        except (OSError, ValueError):
            return
        if real != full:
            yield real
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            yield from self._hard_links().get((status.st_dev, status.st_ino), ())

    def refusal_at(self, full: str) -> Refused | None:
        """Return the refusal to read a file under a name; None where it may be read, or no policy around it is known.

        Parameters:
            full: an absolute path without links.
        """
        root = str(self._governing.root).rstrip(os.sep) + os.sep
        if full.startswith(root):
            return self.refusal(full[len(root) :].replace(os.sep, "/"))
        for governed in self._around:
            if isinstance(governed, Governed) and (lead := f"{str(governed.folder).rstrip(os.sep)}{os.sep}"):
                inner = full[len(lead) :].replace(os.sep, "/") if full.startswith(lead) else None
                if inner is not None and (found := self._refused(governed, inner)) is not None:
                    return found
        return None

    def _look(self, folder: str) -> None:
        if folder not in self._within:
            self._within[folder] = list(self._hiding(self._governing.within(folder)))

    def _hiding(self, found: Iterable[Governed | Refused]) -> Iterator[Governed | Refused]:
        return (each for each in found if isinstance(each, Refused) or each.policy.hides_from(self.caller))

    def _refusal(self, path: str) -> Refused | None:
        folder = path.rpartition("/")[0]
        if folder not in self._for_folder:
            found = list(self._around)
            for each in between(path):
                self._look(each)
                found += self._within[each]
            self._for_folder[folder] = found
        for governed in self._for_folder[folder]:
            if isinstance(governed, Refused):
                return governed
            inner = governed.path(path)
            if inner is not None and (refused := self._refused(governed, inner)) is not None:
                return refused
        return None

    def _refused(self, governed: Governed, path: str) -> Refused | None:
        """Return why a folder's policy forbids to read a file."""
        ruling, parts = self._known_of(governed, path)
        if ruling.answer is Answer.DENY:
            return _refused(ruling)
        if parts:
            ruling = self._by_parts(governed, path, parts)
        elif path.rpartition("/")[2] == _TOML:
            ruling = self._by_keys(governed, path)
        return _refused(ruling, "config" if path.endswith(_TOML) else "") if ruling.answer is Answer.DENY else None

    def _known_of(self, governed: Governed, path: str) -> Known:
        known = self._layouts.get(governed.folder)
        if known is None:
            layout = governed.names.layout
            key = governed.fingerprint, self.caller, layout.roots, tuple(layout.packages.items())
            while key not in self._known and len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._layouts[governed.folder] = known = self._known.setdefault(key, {})
        if path not in known:
            first, *also = governed.names.of(path)
            ruling = governed.policy.read(*first, self.caller, also=also)
            parts = governed.policy.denied_below(*first, self.caller) if path.endswith(PYTHON) else ()
            known[path] = ruling, tuple(parts)
        return known[path]

    def _by_parts(self, governed: Governed, path: str, parts: Parts) -> Ruling:
        """Return the rule that denies to read a part of a module, which hides it whole.

        Parameters:
            parts: the rules that may be about one, each with the components of names below the module.
        """
        content: str | None = None
        for ruling, rest in parts:
            is_package = path.rpartition("/")[2].startswith("__init__.")
            if is_package and rest[0].isidentifier() and governed.names.is_submodule(path, rest[0]):
                continue
            content = _text(f"{governed.folder}/{path}") if content is None else content
            if content is None:
                return ruling
            if content.strip() and all(each in content for each in rest if each.isidentifier()):
                return ruling
        return Ruling()

    def _by_keys(self, governed: Governed, path: str) -> Ruling:
        """Return the rule that denies to read a key of a pyproject.toml, which hides its text whole."""
        try:
            found = parsed_toml(bytes_of(f"{governed.folder}/{path}")[0], path)
        except (OSError, ResourceError):
            return Ruling()
        for key in keys_below(found):
            ruling = governed.policy.read("config", written_key(key), self.caller)
            if ruling.answer is Answer.DENY:
                return ruling
        return Ruling()

    def _hard_links(self) -> dict[tuple[int, int], list[str]]:
        """Return the names of files below the root, and below the folders around it with a policy, by their inodes."""
        if self._names is None:
            self._names = {}
            tops = [each.folder for each in self._around if isinstance(each, Governed)]
            top = min([self._governing.root, *tops], key=lambda each: len(each.parts))
            for folder, name, status in _files(top):
                if status.st_nlink > 1:
                    self._names.setdefault((status.st_dev, status.st_ino), []).append(os.path.join(folder, name))
        return self._names


class Veiled:
    """The part of some files that a caller may read.

    Parameters:
        disk: the files.
        hidden: decides which files may not be read.
    """

    def __init__(self, disk: Disk, hidden: Hidden) -> None:
        self.hidden = hidden
        self._disk = disk
        self._listed: dict[str, frozenset[str]] = {}
        self._refusals: dict[str, Refused | None] = {}
        self._real: dict[str, bool] = {}

    def take_settings(self, folders: Iterable[str]) -> bool:
        """Look at folders that have settings; say whether that hides more than before."""
        is_more = self.hidden.take_settings(folders)
        if is_more:
            self._refusals.clear()
        return is_more

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return the content of a file that a walk found, and the stamp that belongs to it."""
        self._check_walked(path)
        return self._disk.read_stamped(path)

    def glance(self, path: str, size: int) -> bytes:
        """Return the content of a file that a walk found with a size."""
        self._check_walked(path)
        return self._disk.glance(path, size)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder."""
        found = self._disk.stamp(path)
        return _other(found) if found is not None and self._refusal_of_walked(path) is not None else found

    def stamps(self, paths: Sequence[str]) -> Mapping[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        found = self._disk.stamps(paths)
        hides = self.hidden.hides
        hidden = {path for path in found if self._refusal_of_walked(path) is not None} if hides else set()
        if not hidden:
            return found
        stamps = [_other(each) if path in hidden else each for path, each in found.items()]
        return Stamps(tuple(found), in_pieces(stamps))

    def check(self, path: str) -> None:
        """Check that the caller may read a file.

        Raises:
            Refused: `forbidden` if not.
            FileNotFoundError: none is spelt so.
        """
        refusal = self._refusal(path)
        if refusal is not None:
            raise refusal
        if self.hidden.hides and not self._is_spelt(path):
            raise FileNotFoundError(path)

    def _refusal(self, path: str) -> Refused | None:
        found = self.hidden.refusal(path)
        if found is not None or not self.hidden.hides:
            return found
        return next(filter(None, map(self.hidden.refusal_at, self.hidden.other_names(path))), None)

    def _check_walked(self, path: str) -> None:
        refusal = self._refusal_of_walked(path)
        if refusal is not None:
            raise refusal

    def _refusal_of_walked(self, path: str) -> Refused | None:
        """Return the refusal to read a file that a walk came to; each file is examined once."""
        if path not in self._refusals:
            self._refusals[path] = self._examined(path)
        return self._refusals[path]

    def _examined(self, path: str) -> Refused | None:
        try:
            status = os.lstat(f"{self._disk.root}/{path}")
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(status.st_mode):
            return None
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and self._is_real(path.rpartition("/")[0]):
            return self.hidden.refusal(path)
        return self._refusal(path)

    def _is_real(self, folder: str) -> bool:
        """Return whether no link leads to a folder."""
        if folder not in self._real:
            full = f"{self._disk.root}/{folder}" if folder else self._disk.root
            self._real[folder] = os.path.realpath(full) == full
        return self._real[folder]

    def _is_spelt(self, path: str) -> bool:
        """Return whether a path exists in exactly this spelling; some file systems ignore case."""
        here = self._disk.root
        for name in path.split("/"):
            try:
                if os.path.lexists(os.path.join(here, name)) and not self._has(here, name):
                    return False
            except OSError:
                return True
            here = os.path.join(here, name)
        return True

    def _has(self, folder: str, name: str) -> bool:
        names = self._listed.get(folder)
        if names is None or name not in names:
            self._listed[folder] = names = frozenset(os.listdir(folder))
        return name in names


def _other(stamp: Stamp) -> Stamp:
    return replace(stamp, inode=-1 - stamp.inode)


def _refused(ruling: Ruling, kind: str = "") -> Refused:
    """Return the refusal of a file.

    Parameters:
        kind: of what in it the rule is, where it is about a part.
    """
    reason, details = f"may not be read: {ruling.rule}.", {"rule": ruling.rule, "kind": kind}
    return Refused("forbidden", reason, subject="The file", hints=[_HINT], details=details)


def _text(full: str) -> str | None:
    """Return a module's text with names as Python understands them; None where its encoding may hide some."""
    try:
        content = bytes_of(full)[0]
    except OSError:
        return ""
    if _CODING.search(b"\n".join(content.split(b"\n", 2)[:2])):
        return None
    return normalize("NFKC", content.decode("utf-8", "replace"))


def _files(top: Path) -> Iterator[tuple[str, str, os.stat_result]]:
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not never_entered(entry.name):
                            waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield folder, entry.name, entry.stat(follow_symlinks=False)
        except OSError:
            continue
