"""The distributions that are installed for a project, read from the files of its environment.

    site-packages/httpx-0.27.0.dist-info/METADATA       name, release, requirements, extras
                                         RECORD         httpx/__init__.py, …: it gives `httpx`
                                         top_level.txt  the same, where there is no RECORD
    google_cloud_storage-2.1.dist-info/RECORD           google/cloud/storage/__init__.py: `google.cloud.storage`
    types_requests-2.3.dist-info/RECORD                 requests-stubs/__init__.pyi: stubs for `requests`
    __editable___app_1_0_finder.py, app.pth             where the code of an editable installation lies

Invariants:
- files are listed and read, and nothing is run or imported, whatever the environment holds;
- no link is followed to a file of metadata, no more of one is read than its limit, and of a path in it at most the
  folder is listed;
- what is broken there is a problem of that distribution, and never an error.
"""

from __future__ import annotations

import ast
import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field
from msgspec.json import decode

from bae_source.project.workspace import Workspace
from bae_source.resources.deps.declared import NAME, normalised
from bae_source.system.own_files import beginning_of

DIST_INFO, EGG_INFO, EGG_LINK = ".dist-info", ".egg-info", ".egg-link"
_LARGEST_METADATA = 1 << 18
_LARGEST_RECORD = 1 << 24
_LARGEST_FILE = 1 << 16
_MOST_DISTRIBUTIONS = 5_000
_MOST_NAMES = 2_000
_LONGEST_PATH = 500
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}")
_CODE = re.compile(r"([\w./-]+?)(?:\.(?:py|pyi)|(?:\.[\w-]+)*\.(?:so|pyd))")
_FINDER = re.compile(r"__editable___\w+_finder\.py")
_MAPPING = re.compile(r"^(?:MAPPING|NAMESPACES)(?:\s*:[^=\n]*)? = (\{.*\})$", re.MULTILINE)
_GROUP = re.compile(r"^\[([^\]\n]+)\]", re.MULTILINE)
_MACHINERY = ("__editable__", "_editable_", "_virtualenv", "__pycache__")
_STUBS = "-stubs"
_NO_PACKAGES = frozenset({"setup", "conftest", "noxfile", "tests", "test", "docs", "examples", "build", "dist"})
"""Names that lie beside packages in the folder of a project, and are not installed."""


class Installed(Struct, frozen=True, kw_only=True):
    """One distribution.

    Parameters:
        name: normalised.
        version: "" where it is not known.
        requires: requirements, as METADATA has them.
        extras: which it has.
        gives: what can be imported of it: the shortest dotted names that are its own.
        modules: all modules that its RECORD has, by dotted name.
        stubs: packages for which it has stubs alone.
        entry_points: the groups of its entry points, such as `console_scripts`.
        editable: the folder of its code, where that is not installed but linked to.
        is_guessed: whether what it gives is no more than its own name.
        problem: what is wrong with its metadata; "" for nothing.
    """

    name: str
    version: str = ""
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()
    stubs: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    editable: str = ""
    is_guessed: bool = False
    problem: str = ""


class Environment(Struct, frozen=True, kw_only=True, dict=True):
    """The distributions that are installed for a project.

    Parameters:
        folders: those of its interpreter that hold packages.
        distributions: by normalised name.
        python: the version of the interpreter as far as its folders tell, such as `3.12` or `3.12.1`; "" where they do
            not.
        sees_more: whether its interpreter sees what is installed for the system as well.
    """

    folders: tuple[str, ...]
    distributions: Mapping[str, Installed] = field(default_factory=dict)
    python: str = ""
    sees_more: bool = False

    def giving(self, dotted: str) -> tuple[Installed, ...]:
        """Return the distributions that an import of a dotted name takes; several where that is ambiguous.

        google.cloud.storage.blob     of what gives `google`, `google.cloud.storage` and `google.cloud.logging`: the
                                      second, whose name is the longest that leads there
        google.cloud                  all that lie in it, where no distribution gives it by itself
        """
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            found = self._by_name.get(".".join(parts[:length]), [])
            if found:
                return tuple(_deepest(found, parts) if len(found) > 1 else found)
        lead = f"{dotted}."
        below = [each for name, several in self._by_name.items() if name.startswith(lead) for each in several]
        return tuple({each.name: each for each in below}.values())

    def stubs_for(self, dotted: str) -> tuple[Installed, ...]:
        """Return the distributions that have stubs alone for the package of a dotted name."""
        top = dotted.partition(".")[0]
        return tuple(each for each in self.distributions.values() if top in each.stubs)

    def applies(self, marker: str, extras: Iterable[str] = ()) -> bool:
        """Return whether a requirement with a marker is needed for this interpreter; True where that is unknown."""
        if not marker:
            return True
        from packaging.markers import InvalidMarker, Marker  # 40 ms, which help need not pay

        try:
            parsed = Marker(marker)
            return any(parsed.evaluate({**self._facts, "extra": each}) for each in ("", *extras))
        except (InvalidMarker, ValueError, KeyError):
            return True

    @cached_property
    def _facts(self) -> dict[str, str]:
        if not self.python:
            return {}
        minor = ".".join(self.python.split(".")[:2])
        return {"python_version": minor, "python_full_version": self.python if self.python != minor else f"{minor}.0"}

    @cached_property
    def _by_name(self) -> dict[str, list[Installed]]:
        found: dict[str, list[Installed]] = {}
        for each in self.distributions.values():
            for name in each.gives:
                found.setdefault(name, []).append(each)
        return found

    def required_by(self, name: str, extras: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the names that a distribution requires here, with some of its extras."""
        one = self.distributions.get(name)
        if one is None:
            return ()
        from packaging.requirements import InvalidRequirement, Requirement  # as above

        found: list[str] = []
        for text in one.requires:
            try:
                wanted = Requirement(text)
            except (InvalidRequirement, ValueError):
                continue
            if self.applies(str(wanted.marker or ""), extras):
                found.append(normalised(wanted.name))
        return tuple(found)


def environment_of(workspace: Workspace, own: str) -> Environment | None:
    """Return the installed distributions of a project; None where it has no environment that can be read.

    The Python that runs us counts as the project's if that names no other, and the project's folder is linked there.

    Parameters:
        own: the project's own name, normalised.
    """
    folders = environment_folders(workspace, own)
    if not folders:
        return None
    found: dict[str, Installed] = {}
    for folder in folders:
        for each in distributions_in(folder):
            found.setdefault(each.name, each)
    return Environment(
        folders=folders, distributions=found, python=_python(folders[0]), sees_more=_sees_more(folders[0])
    )


def environment_folders(workspace: Workspace, own: str) -> tuple[str, ...]:
    """Return the folders in which the packages of a project's environment lie; none where it has none."""
    around = workspace.kept.surroundings
    folders = tuple(each for each in workspace.kept.packages if _names(each))
    if around is not None and not around.is_named and not is_linked(folders, own, around.root):
        return ()
    return folders


def is_linked(folders: Iterable[str], own: str, root: Path) -> bool:
    """Return whether a project is installed in some folders as what lies in its own folder, and not as a release of it.

    Parameters:
        own: the project's own name, normalised.
        root: its folder, without links.
    """
    found = (each for folder in folders for each in distributions_in(folder) if each.name == own and each.editable)
    return any(root.is_relative_to(place) or place.is_relative_to(root) for place in (_real(each) for each in found))


def _real(one: Installed) -> Path:
    return Path(os.path.realpath(one.editable))


def releases(folders: Iterable[str]) -> dict[str, str]:
    """Return name and version of what is installed in some folders, by the names of the records alone."""
    found: dict[str, str] = {}
    for folder in folders:
        for record in _records(folder):
            name, version = _titled(record)
            if name:
                found.setdefault(name, version)
    return found


def records_in(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the records in a folder of packages, each with the name of its distribution."""
    for record in _records(folder):
        if name := _titled(record)[0]:
            yield record, name


def paths_of_record(record: Path) -> Iterator[str]:
    """Yield the paths that the RECORD of a distribution lists, with those that leave the folder of packages."""
    for line in (_beginning(record / "RECORD", _LARGEST_RECORD) or "").splitlines():
        if path := next(csv.reader([line]), [""])[0]:
            yield path


def _deepest(found: Iterable[Installed], parts: list[str]) -> list[Installed]:
    """Return those of several distributions that have the most parts of an imported name."""
    depths = [(_depth(each, parts), each) for each in found]
    most = max(depth for depth, _ in depths)
    return [each for depth, each in depths if depth == most]


def _depth(one: Installed, parts: list[str]) -> int:
    return next((number for number in range(len(parts), 0, -1) if ".".join(parts[:number]) in one.modules), 0)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names, and of folders with thousands of them
    except (OSError, ValueError):
        return []


def _records(folder: str) -> list[str]:
    found = [name for name in _names(folder) if name.endswith((DIST_INFO, EGG_INFO, EGG_LINK))]
    return found[:_MOST_DISTRIBUTIONS]


def _titled(record: str) -> tuple[str, str]:
    """Return name and version as the name of a record has them: `httpx-0.27.0.dist-info`, `old-1-py3.11.egg-info`."""
    stem = record.rpartition(".")[0]
    name, _, version = stem.partition("-")
    version = version.partition("-")[0]
    if not NAME.fullmatch(name):
        return "", ""
    return normalised(name), version if _VERSION.fullmatch(version) else ""


def distributions_in(folder: str) -> Iterator[Installed]:
    """Yield the distributions that are installed in a folder."""
    for record in _records(folder):
        if _titled(record)[0]:
            yield _Record(folder, record).installed()


class _Record:
    """The files that tell of one distribution.

    Parameters:
        folder: that of packages.
        name: of the record in it: a folder, or a file for an old one.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name
        self._problem = ""

    def installed(self) -> Installed:
        """Return the distribution."""
        headers = self._headers()
        title, release = (headers.get(key, [""])[0] for key in ("name", "version"))
        name, version = _titled(self._name)
        name = normalised(title) if NAME.fullmatch(title) else name
        version = release if _VERSION.fullmatch(release) else version
        modules, stubs, editable = self._modules()
        gives, is_guessed = self._given(modules, stubs, editable, name)
        return Installed(
            name=name,
            version=version,
            requires=tuple(headers.get("requires-dist", ())),
            extras=tuple(map(normalised, headers.get("provides-extra", ()))),
            gives=gives,
            modules=modules,
            stubs=stubs,
            entry_points=tuple(_GROUP.findall(self._text("entry_points.txt", _LARGEST_FILE) or "")),
            editable=editable,
            is_guessed=is_guessed,
            problem=self._problem,
        )

    def _text(self, name: str, largest: int) -> str | None:
        """Return a file of the record, or the beginning of it; None where there is none that could be read."""
        return _beginning(Path(self._folder, self._name, name), largest)

    def _headers(self) -> dict[str, list[str]]:
        """Return the headers of METADATA, above its first empty line."""
        if self._name.endswith(EGG_LINK):
            return {}
        text = self._text("METADATA" if self._name.endswith(DIST_INFO) else "PKG-INFO", _LARGEST_METADATA)
        if text is None and self._name.endswith(EGG_INFO):
            text = _beginning(Path(self._folder, self._name), _LARGEST_METADATA)
        if text is None:
            self._problem = "it has no METADATA that could be read"
            return {}
        found: dict[str, list[str]] = {}
        for line in re.split(r"\r?\n\r?\n", text, maxsplit=1)[0].splitlines():
            key, colon, value = line.partition(":")
            if colon and not line[0].isspace():
                found.setdefault(key.lower(), []).append(value.strip())
        return found

    def _modules(self) -> tuple[frozenset[str], tuple[str, ...], str]:
        """Return the modules that RECORD has, the packages that it has stubs for, and where editable code lies."""
        is_new = self._name.endswith(DIST_INFO)
        text = self._text("RECORD" if is_new else "installed-files.txt", _LARGEST_RECORD) or ""
        if is_new and not text.strip() and not self._problem:
            self._problem = "it has no RECORD that could be read, or an empty one"
        if len(text) >= _LARGEST_RECORD:
            self._problem = f"its RECORD has more than {_LARGEST_RECORD:,} characters, of which the first count"
            text = text.rpartition("\n")[0]
        paths = list(_paths(text, "" if is_new else "../"))
        modules = frozenset(filter(None, map(_module, paths)))
        stubs = tuple(sorted({path.partition("/")[0].removesuffix(_STUBS) for path in paths if _is_stub(path)}))
        editable = self._linked()
        if editable or not modules:
            linked = {each for path in paths if "/" not in path for each in self._linking(path)}
            if self._name.endswith(EGG_LINK):
                linked = set(_importable(editable))
            modules = modules | frozenset(linked)
        return modules, stubs, editable

    def _linked(self) -> str:
        """Return the folder of an editable installation, as `direct_url.json` or an `.egg-link` says."""
        if self._name.endswith(EGG_LINK):
            link = _beginning(Path(self._folder, self._name), _LARGEST_FILE) or ""
            return link.partition("\n")[0].strip()
        text = self._text("direct_url.json", _LARGEST_FILE)
        if not text:
            return ""
        try:
            content = decode(text)
            url, how = content["url"], content.get("dir_info", {})
            return unquote(urlsplit(url).path) if how.get("editable") is True else ""
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # it is no JSON, or other JSON
            self._problem = "its direct_url.json cannot be understood"
            return ""

    def _linking(self, name: str) -> Iterator[str]:
        """Yield the modules that a file beside the record makes importable: a `.pth` file, or setuptools' finder."""
        if name.endswith(".pth"):
            text = _beginning(Path(self._folder, name), _LARGEST_FILE) or ""
            for line in text.splitlines():
                if line.strip() and not line.startswith(("import ", "import\t", "#")):
                    yield from _importable(str(Path(self._folder, line.strip())))
        elif _FINDER.fullmatch(name):
            text = _beginning(Path(self._folder, name), _LARGEST_FILE) or ""
            for found in _MAPPING.findall(text):
                yield from _keys(found)

    def _given(
        self, modules: frozenset[str], stubs: tuple[str, ...], editable: str, name: str
    ) -> tuple[tuple[str, ...], bool]:
        """Return the importable names, and whether they are a guess."""
        spaces = frozenset((self._text("namespace_packages.txt", _LARGEST_FILE) or "").split())
        if found := _roots(modules, spaces):
            return found, False
        listed = (self._text("top_level.txt", _LARGEST_FILE) or "").split()
        if named := tuple(each.replace("/", ".") for each in listed if each.replace("/", "").isidentifier()):
            return named, False
        if stubs or editable:
            return (), False
        there = {normalised(each.partition(".")[0]): each.partition(".")[0] for each in _names(self._folder)}
        return ((there[name],), True) if there.get(name, "").isidentifier() else ((), False)


def _beginning(path: Path, largest: int) -> str | None:
    try:
        return beginning_of(path, largest).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _paths(record: str, lead: str) -> Iterator[str]:
    """Yield the paths of a RECORD that lie in the folder of packages; those that leave it are not looked at.

    Parameters:
        lead: what they begin with, where they are relative to the record and not to that folder.
    """
    for line in record.splitlines():
        path = next(csv.reader([line]), [""])[0] if line.startswith('"') else line.partition(",")[0]
        path = path.replace("\\", "/").removeprefix(lead)
        if len(path) > _LONGEST_PATH or not path or path.startswith("/") or ":" in path:
            continue
        if ".." not in path.split("/"):
            yield path


def _module(path: str) -> str:
    """Return the module that a path of a RECORD is; "" for none."""
    match = _CODE.fullmatch(path)
    if match is None:
        return ""
    parts = match[1].removesuffix("/__init__").split("/")
    if parts[0].startswith(_MACHINERY) or not all(each.isidentifier() for each in parts):
        return ""
    return ".".join(parts)


def _is_stub(path: str) -> bool:
    top, _, rest = path.partition("/")
    return top.endswith(_STUBS) and rest.endswith(".pyi") and top.removesuffix(_STUBS).isidentifier()


def _roots(modules: Iterable[str], spaces: frozenset[str]) -> tuple[str, ...]:
    """Return the shortest names that modules lie below: `google.cloud.storage`, as neither `google` is one of them.

    Parameters:
        spaces: packages that several distributions share, though each has an `__init__`.
    """
    own = frozenset(modules) - spaces
    found = set[str]()
    for module in own:
        parts = module.split(".")
        prefixes = (".".join(parts[:number]) for number in range(1, len(parts) + 1))
        found.add(next(each for each in prefixes if each in own))
    return tuple(sorted(found)[:_MOST_NAMES])


def _keys(text: str) -> Iterator[str]:
    """Yield the names that the literal of a finder maps to folders."""
    try:
        mapping = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    for name in mapping if isinstance(mapping, dict) else ():
        if isinstance(name, str) and all(part.isidentifier() for part in name.split(".")):
            yield name


def _importable(folder: str) -> Iterator[str]:
    """Yield the modules and packages that lie in the folder of an editable installation."""
    for name in _names(folder)[:_MOST_NAMES]:
        stem = name.removesuffix(".py")
        if not stem.isidentifier() or stem in _NO_PACKAGES:
            continue
        if stem != name or _is_file(Path(folder, name, "__init__.py")):
            yield stem


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # it may not be looked into
        return False


def _python(folder: str) -> str:
    """Return the version of the Python whose packages lie in a folder, by its name."""
    match = re.search(r"python(3\.\d+)", folder)
    return match[1] if match else ""


def _sees_more(folder: str) -> bool:
    """Return whether an environment lets in what is installed for the system, as its `pyvenv.cfg` says."""
    for home in Path(folder).parents[:3]:
        text = _beginning(home / "pyvenv.cfg", _LARGEST_FILE)
        if text is not None:
            return re.search(r"(?im)^\s*include-system-site-packages\s*=\s*true\b", text) is not None
    return False
