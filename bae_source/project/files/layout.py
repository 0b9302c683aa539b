"""The layout of a project's modules: its source roots, its packages, and which file a module's name means.

Roots come from `[tool.bae-source] source-roots`, else from the settings of build backends (setuptools, hatch, poetry,
pdm, flit, uv, maturin) and from the tree itself (`src/`), and the project's own folder is the last of them. Where that
has no package itself, those of the projects in its folders count, as far as their names mean one thing. Nothing is
executed to find them out: a `setup.py` is read, not run.

A stub (`mod.pyi` beside the module, or below `pkg-stubs/`) is a module of its own, called `pkg.mod@stub`. It is never
imported to check a change. A folder without Python in it or below it is no package.

Source of the settings: each backend's reference; PEP 420 for packages without `__init__`, PEP 561 for stubs.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bae_source.errors import ResourceError, SourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.text import on_a_line
from bae_source.project.files.ignored import is_ignored, never_entered
from bae_source.project.files.port import FileKind, Files
from bae_source.project.files.settings import content_of, sections, settings_of, table

STUB = "@stub"
"""Ending of the name of a stub."""

_INIT = "__init__.py"
_DEEPEST = 3
"""`python_modules/libraries/dagster-aws/setup.py` has as many folders around it."""
_MOST_LISTED = 400
_DATA = frozenset(
    {"test", "tests", "testing", "testdata", "test_data", "fixture", "fixtures", "example", "examples", "sample",
     "samples", "template", "templates", "doc", "docs", "documentation", "demo", "demos", "benchmark", "benchmarks",
     "vendor", "vendored", "third_party", "third-party", "thirdparty", "build", "dist"}
)  # fmt: skip
"""Names of folders whose projects are no source of the project."""
_NO_PACKAGES = _DATA | {"bin", "ci", "python", "scripts", "tools", "util", "utils"}
"""Names of folders that a flat project does not install."""
_PROJECT = rb"(?m)^[ \t]*\[[ \t]*(?:project|tool\.poetry|tool\.flit\.(?:metadata|module))[ \t]*\]"
_SAYING = (
    ("pyproject.toml", _PROJECT),
    ("setup.cfg", rb"(?m)^\[(?:metadata|options)\]"),
    ("setup.py", rb"\bsetup\s*\("),
)
_MARKS = frozenset(name for name, _ in _SAYING)
_STUBS = "-stubs"
_LAYOUT_KEYS = (
    ("setuptools", "where"),
    ("setuptools", "package-dir"),
    ("hatch", "packages"),
    ("hatch", "sources"),
    ("poetry", "packages"),
    ("pdm", "package-dir"),
    ("uv", "module-root"),
    ("uv", "workspace"),
    ("maturin", "python-source"),
    ("bae-source",),
)
_PACKAGE_DIR = rb"package_dir\s*+=\s*+(\{[^{}]{,10000}\})"
_EVERYWHERE = frozenset({"setup.py", "conftest.py", "noxfile.py", "tasks.py", "tests", "test", "docs", "examples"})
"""Modules beside the packages of many projects that are never imported by name."""
_NOT_IMPORTED = ("__main__", "setup", "conftest", "test", "tests")


class Nested(Struct, frozen=True, kw_only=True):
    """A project in a folder of another one, known by its own settings, and the names by which code imports it.

        part_a/pyproject.toml      [project]
        part_a/pkg_a/core.py       pkg_a.core, since a flat project is imported from its own folder
        part_b/setup.py
        part_b/src/pkg_b.py        pkg_b

    Parameters:
        folder: its own.
        flat: packages directly in its folder, or in namespace packages there, by dotted name.
    """

    folder: str
    flat: tuple[tuple[str, str], ...]


class Found(Struct, frozen=True):
    """A module that a prefix of a dotted name means.

    Parameters:
        length: how many components the prefix has.
        name: the module's name.
        file: its file; None for a package without `__init__` (PEP 420), and for any other folder.
        folder: the folder of a package; None for a module.
    """

    length: int
    name: str
    file: ModuleFile | None
    folder: str | None = None


class Layout:
    """The source roots of a project.

    Parameters:
        files: where its files are read.
        roots: folders that stand on `sys.path`, the first one wins; "" is the project's own.
        packages: packages that lie elsewhere than their name says, by dotted name.
    """

    def __init__(self, files: Files, roots: Iterable[str], packages: Mapping[str, str] | None = None) -> None:
        self.files = files
        self.roots = tuple(dict.fromkeys(roots))
        self.packages = dict(packages or {})
        self._moved = frozenset(self.packages.values())

    def prefixes(self, parts: tuple[str, ...]) -> list[Found]:
        """Return every module that a prefix of `parts` names, the longest first; several for several files."""
        found: list[Found] = []
        for root in self.roots:
            found += self._below(root, parts)
        for name, folder in self.packages.items():
            lead = tuple(name.split("."))
            if parts[: len(lead)] == lead:
                package = self._package(name, folder, posixpath.dirname(folder))
                found += [
                    Found(len(lead), name, package, folder),
                    *self._descend(folder, lead, parts, posixpath.dirname(folder)),
                ]
        unique = {(item.length, item.file.path if item.file else item.folder): item for item in found}
        return sorted(unique.values(), key=lambda item: -item.length)

    def stubs(self, parts: tuple[str, ...]) -> list[Found]:
        """Return every stub that a prefix of `parts` names, the longest first; several for several files."""
        found: list[Found] = []
        for root in self.roots:
            if not self._is_no_package(root, _join(root, parts[0])):
                found += self._stubs_below(_join(root, parts[0]), (parts[0],), parts, root)
            found += self._stubs_below(_join(root, f"{parts[0]}{_STUBS}"), (parts[0],), parts, root)
        for name, folder in self.packages.items():
            lead = tuple(name.split("."))
            if parts[: len(lead)] == lead:
                found += self._stubs_below(folder, lead, parts, posixpath.dirname(folder))
        unique = {item.file.path: item for item in found if item.file}
        return sorted(unique.values(), key=lambda item: -item.length)

    def module_at(self, path: str) -> ModuleFile | None:
        """Return the module that a file is, or None where it is none; the name of a stub ends in `@stub`."""
        stem, _, ending = path.rpartition(".")
        if ending not in ("py", "pyi"):
            return None
        for name, folder in self.packages.items():
            if stem.startswith(f"{folder}/"):
                parts = (*name.split("."), *stem.removeprefix(f"{folder}/").split("/"))
                return self._module_of(parts, path, posixpath.dirname(folder))
        for root in sorted(self.roots, key=len, reverse=True):
            lead = f"{root}/" if root else ""
            if path.startswith(lead):
                return self._module_of(tuple(stem.removeprefix(lead).split("/")), path, root)
        return None

    def modules_below(self, name: str, folder: str) -> list[str]:
        """Return the names of the modules directly in a package's folder."""
        names = []
        for entry in self.files.names(folder):
            stem = entry.removesuffix(".py")
            if (entry.endswith(".py") and stem != "__init__") or self.files.kind(f"{folder}/{entry}/__init__.py"):
                names.append(f"{name}.{stem}")
        return names

    def _below(self, root: str, parts: tuple[str, ...]) -> Iterator[Found]:
        yield from self._descend(root, (), parts, root)

    def _is_no_package(self, root: str, folder: str) -> bool:
        """Return whether a folder below a root has another name than its own, or is a root itself."""
        if root:
            return False
        if folder in self._moved:
            return True
        return folder in self.roots and self.files.kind(f"{folder}/__init__.py") is None  # `src`, which is no package

    def _stubs_below(self, here: str, lead: tuple[str, ...], parts: tuple[str, ...], root: str) -> Iterator[Found]:
        """Yield the stubs of the modules from `lead` on, whose files lie at `here` and below it."""
        for length in range(len(lead), len(parts) + 1):
            if length > len(lead):
                here = f"{here}/{parts[length - 1]}"
                if self._is_no_package(root, here):
                    return
            for path in (f"{here}.pyi", f"{here}/__init__.pyi"):
                if self.files.kind(path) is FileKind.FILE and not is_ignored(self.files, path):
                    name = ".".join(parts[:length])
                    package = path.endswith("/__init__.pyi")
                    yield Found(length, name, self._module(f"{name}{STUB}", path, root, package=package))

    def _descend(self, folder: str, lead: tuple[str, ...], parts: tuple[str, ...], root: str) -> Iterator[Found]:
        for length in range(len(lead) + 1, len(parts) + 1):
            part = parts[length - 1]
            name = ".".join(parts[:length])
            here = _join(folder, part)
            if part == "__init__" and length > 1:
                package = self._package(".".join(parts[: length - 1]), folder, root)
                if package:
                    yield Found(length, package.name, package, folder)
                return
            if self.files.kind(f"{here}.py") is FileKind.FILE and not is_ignored(self.files, f"{here}.py"):
                yield Found(length, name, self._module(name, f"{here}.py", root, package=False))
            if self.files.kind(here) is not FileKind.FOLDER or is_ignored(self.files, f"{here}/"):
                return
            if self._is_no_package(root, here):
                return
            folder = here
            yield Found(length, name, self._package(name, folder, root), folder)

    def _package(self, name: str, folder: str, root: str) -> ModuleFile | None:
        path = f"{folder}/__init__.py" if folder else "__init__.py"
        return self._module(name, path, root, package=True) if self.files.kind(path) is FileKind.FILE else None

    def _module_of(self, parts: tuple[str, ...], path: str, root: str) -> ModuleFile:
        """Return the module whose file has these components below its root, the ending left out."""
        package, stub = parts[-1] == "__init__", path.endswith(".pyi")
        parts = parts[:-1] if package and len(parts) > 1 else parts
        if stub:
            parts = (parts[0].removesuffix(_STUBS), *parts[1:])
        return self._module(on_a_line(".".join(parts)) + (STUB if stub else ""), path, root, package=package)

    def _module(self, name: str, path: str, root: str, *, package: bool) -> ModuleFile:
        parts = name.split(".")
        checked = all(part.isidentifier() and not _is_for_itself(part) for part in parts)
        return ModuleFile(name=name, path=path, source_root=root, package=package, import_checked=checked)


def _is_for_itself(part: str) -> bool:
    """Return whether a component is that of a script or a test, which may do anything when it is imported."""
    return part in _NOT_IMPORTED or part.startswith("test_") or part.endswith("_test")


def import_name(module: ModuleFile) -> str:
    """Return the name by which a module is imported: that of a stub is its module's."""
    return module.name.removesuffix(STUB)


def layout_of(files: Files) -> Layout:
    """Work out the layout of a project.

    Raises:
        SourceError: `syntax_invalid` if its pyproject.toml does not parse.
    """
    settings = settings_of(files, only=_LAYOUT_KEYS)
    own = _strings(table(settings, "tool", "bae-source").get("source-roots"))
    if own:
        missing = [root for root in own if files.kind(_clean(root)) is not FileKind.FOLDER]
        if missing:
            raise SourceError(
                "syntax_invalid",
                f"[tool.bae-source] source-roots names {missing[0]!r}, which is no folder of the project.",
                hints=["Mend the setting in pyproject.toml."],
            )
        return Layout(files, [*(_clean(root) for root in own), ""])  # what lies elsewhere is a module by its path
    roots, packages = _roots_below(files, "", settings)
    for member in _members(files, settings):
        found, moved = _roots_below(files, member, settings_of(files, member, only=_LAYOUT_KEYS))
        roots += [*found, member]
        packages.update(moved)
    existing = [root for root in roots if files.kind(root) is FileKind.FOLDER]
    if existing or packages or _has_own_code(files):
        return Layout(files, [*existing, ""], packages)
    roots, packages = _unmistakable(files, _nested_projects(files))
    return Layout(files, ["", *roots], packages)  # what is new, and of no project, goes to the root itself


def roots_of(files: Files, project: Nested) -> tuple[list[str], dict[str, str]]:
    """Return the folders that a project in a folder is imported from, and the packages in its own folder.

    The folder itself is such a one only where no package but a module is directly in it.

    Raises:
        SourceError: `syntax_invalid` if its pyproject.toml does not parse.
    """
    roots, moved = _roots_below(files, project.folder, settings_of(files, project.folder, only=_LAYOUT_KEYS))
    existing = [root for root in roots if files.kind(root) is FileKind.FOLDER]
    flat = {} if existing or moved else dict(project.flat)
    if not (existing or moved or flat):
        name = posixpath.basename(project.folder).replace("-", "_")
        existing = [project.folder] if files.kind(f"{project.folder}/{name}.py") else []
    return existing, {**moved, **flat}


def without_names(layout: Layout) -> Iterator[tuple[Nested, list[str], frozenset[str]]]:
    """Yield the projects in folders whose code has no names of its own: with its roots, and the names by those."""
    files = layout.files
    if table(settings_of(files, only=_LAYOUT_KEYS), "tool", "bae-source").get("source-roots"):
        return  # the settings name the roots
    for project in _nested_projects(files):
        try:
            roots, packages = roots_of(files, project)
        except SourceError:
            continue
        if layout.roots and not {*roots, project.folder}.isdisjoint(layout.roots):
            continue
        if not set(packages.values()).isdisjoint(layout.packages.values()):
            continue
        named = {*packages, *(name for root in roots for name in _names_in(files, root))}
        if named:
            yield project, roots or [project.folder], frozenset(named)


def as_setting(layout: Layout) -> str:
    """Return the setting by which the code of all projects in folders gets the names by which it is imported."""
    inner = [root for _, roots, _ in without_names(layout) for root in roots]
    moved = [path.removesuffix(f"/{name.replace('.', '/')}") for name, path in layout.packages.items()]
    roots = [*filter(None, layout.roots), *moved, *inner]
    return f"source-roots = [{', '.join(map(_quoted, dict.fromkeys(roots)))}]"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _nested_projects(files: Files) -> list[Nested]:
    """Return the projects in folders of a project, sorted by folder; none below another one.

    Those among tests, examples, templates and the like are data, and left out; packages are not searched. So only few
    folders are listed, and each request can afford it.
    """
    found: list[Nested] = []
    level, listed = [""], 0
    for _ in range(_DEEPEST):
        following: list[str] = []
        for outer in level:
            for name in files.folder(outer).folders:
                if never_entered(name) or name.startswith((".", "_")) or name.lower() in _DATA:
                    continue
                listed += 1
                if listed > _MOST_LISTED:
                    return sorted(found, key=lambda each: each.folder)
                path = f"{outer}/{name}" if outer else name
                folder = files.folder(path)
                if _MARKS.intersection(folder.files) and _says_project(files, path):
                    if not is_ignored(files, f"{path}/"):
                        found.append(Nested(folder=path, flat=tuple(_packages(files, path, "", _DEEPEST))))
                elif _INIT not in folder.files:
                    following.append(path)
        level = following
    return sorted(found, key=lambda each: each.folder)


def _says_project(files: Files, folder: str) -> bool:
    """Return whether a folder's settings declare a project, and do not only configure tools."""
    for name, saying in _SAYING:
        try:
            content = content_of(files, posixpath.join(folder, name))
        except ResourceError:
            continue
        if content and re.search(saying, content):
            return True
    return False


def _has_own_code(files: Files) -> bool:
    """Return whether a package lies directly in the root, whose names those in folders would stand beside."""
    return any(
        "." not in name and name not in _NO_PACKAGES and files.kind(f"{name}/{_INIT}") is not None
        for name in files.names("")
    )


def _packages(files: Files, folder: str, lead: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the packages in a folder by their names, those in namespace packages too.

    Parameters:
        lead: the name of the folder, if it is a namespace package.
    """
    for name in files.folder(folder).folders:
        if not name.isidentifier() or never_entered(name) or name.startswith("_") or name.lower() in _NO_PACKAGES:
            continue
        path, dotted = f"{folder}/{name}", f"{lead}.{name}".lstrip(".")
        if _INIT in files.folder(path).files:
            yield dotted, path
        elif depth and (name != "src" or lead):
            yield from _packages(files, path, dotted, depth - 1)


def _unmistakable(files: Files, projects: Sequence[Nested]) -> tuple[list[str], dict[str, str]]:
    """Return the roots and packages of projects in folders whose names mean nothing else, in the root or in another."""
    named: dict[str, list[str]] = {name.removesuffix(".py"): [""] for name in _names_in(files, "")}
    lying: list[tuple[list[str], dict[str, str]]] = []
    for project in projects:
        try:
            roots, packages = roots_of(files, project)
        except SourceError:
            continue  # it says so where it is a project of its own
        lying.append((roots, packages))
        for name in {*packages, *(name for root in roots for name in _names_in(files, root))}:
            named.setdefault(name, []).append(project.folder)
    several = {name for name, folders in named.items() if len(folders) > 1}
    return (
        [root for roots, _ in lying for root in roots if several.isdisjoint(_names_in(files, root))],
        {name: path for _, packages in lying for name, path in packages.items() if name not in several},
    )


def _names_in(files: Files, folder: str) -> list[str]:
    """Return the modules and packages directly in a folder, without those that every project may have."""
    names = [name for name in files.names(folder) if name not in _EVERYWHERE]
    inner = ((name, f"{folder}/{name}".lstrip("/")) for name in names)
    return [
        name.removesuffix(".py") for name, path in inner if name.endswith(".py") or files.kind(f"{path}/__init__.py")
    ]


def _roots_below(files: Files, folder: str, settings: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    tool = table(settings, "tool")
    packages: dict[str, str] = {}
    roots: list[str] = []
    roots += _strings(table(tool, "setuptools", "packages", "find").get("where"))
    for name, where in table(tool, "setuptools", "package-dir").items():
        _place(str(name), str(where), roots, packages)
    wheel = table(tool, "hatch", "build", "targets", "wheel")
    roots += [posixpath.dirname(_clean(path)) for path in _strings(wheel.get("packages"))]
    for build in (table(tool, "hatch", "build"), wheel):
        sources = build.get("sources")
        roots += _strings(sources) if not isinstance(sources, dict) else [key for key, to in sources.items() if not to]
    for package in _tables(table(tool, "poetry").get("packages")):
        roots += _strings(package.get("from"))
    roots += _strings(table(tool, "pdm", "build").get("package-dir"))
    roots += _strings(table(tool, "uv", "build-backend").get("module-root"))
    roots += _strings(table(tool, "maturin").get("python-source"))
    for name, where in _from_setup_files(files, folder):
        _place(name, where, roots, packages)
    roots.append("src")
    inside = [posixpath.normpath(posixpath.join(folder, _clean(root))) for root in roots if _clean(root)]
    kept = [root for root in inside if not root.startswith("..") and not files.kind(f"{root}/__init__.py")]
    moved = {name: posixpath.normpath(posixpath.join(folder, where)) for name, where in packages.items()}
    return kept, moved


def _place(name: str, where: str, roots: list[str], packages: dict[str, str]) -> None:
    """Note a `package-dir` entry: a root for the empty name, else a package that lies elsewhere."""
    if not name:
        roots.append(where)
    elif _clean(where).split("/")[-1] == name.split(".")[-1]:
        roots.append("/".join(_clean(where).split("/")[: -len(name.split("."))]))
    else:
        packages[name] = _clean(where)


def _from_setup_files(files: Files, folder: str) -> list[tuple[str, str]]:
    """Return where packages lie, as setup.cfg and setup.py say; the empty name stands for all of them."""
    config = sections(files, posixpath.join(folder, "setup.cfg"))
    lines = config.get("options", {}).get("package_dir", "").splitlines()
    pairs = [(name.strip(), where.strip()) for name, _, where in (line.partition("=") for line in lines)]
    found = [(name, where) for name, where in pairs if where]
    found += [("", where) for where in config.get("options.packages.find", {}).get("where", "").split()]
    script = content_of(files, posixpath.join(folder, "setup.py"))
    return found + _package_dir(script or b"")


def _package_dir(script: bytes) -> list[tuple[str, str]]:
    """Return the `package_dir` of a setup.py where it is written out; the script is never run."""
    match = re.search(_PACKAGE_DIR, script) if b"package_dir" in script else None
    if match is None:
        return []

    try:
        value = ast.literal_eval(match[1].decode())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return []
    pairs = value.items() if isinstance(value, dict) else ()
    return [(name, where) for name, where in pairs if isinstance(name, str) and isinstance(where, str)]


def _members(files: Files, settings: Mapping[str, Any]) -> list[str]:
    """Return the member folders of a uv workspace."""
    workspace = table(settings, "tool", "uv", "workspace")
    excluded = _strings(workspace.get("exclude"))
    members: list[str] = []
    for pattern in _strings(workspace.get("members")):
        folders = [""]
        for part in _clean(pattern).split("/"):
            found = [
                files.inside(posixpath.join(folder, name))  # links may lead round in circles
                for folder in folders
                for name in files.names(folder)
                if fnmatch.fnmatchcase(name, part)
            ]
            folders = list(dict.fromkeys(filter(None, found)))
        members += [folder for folder in folders if files.kind(f"{folder}/pyproject.toml") is FileKind.FILE]
    return [member for member in members if not any(fnmatch.fnmatchcase(member, pattern) for pattern in excluded)]


def _tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _clean(path: str) -> str:
    path = posixpath.normpath(path.replace("\\", "/")) if path else ""
    return "" if path == "." else path
