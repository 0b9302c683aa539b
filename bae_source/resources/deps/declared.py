"""The dependencies that a project declares, each with the place where it stands.

    [project] dependencies, optional-dependencies           and what `dynamic` says of them
    [dependency-groups]                                     with include-group (PEP 735)
    [build-system] requires
    [tool.poetry] dependencies, group.*, extras             in Poetry's own notation, as it stands
    [tool.pdm] dev-dependencies     [tool.hatch] envs.*     [tool.uv] dev-dependencies
    setup.cfg, requirements.txt                             where they are what `dynamic` or the project itself uses
    requirements-dev.txt, requirements/*.txt                a group of development each

Invariants:
- files are read, and nothing is run: a `setup.py` is named and left alone;
- what cannot be parsed is listed with the reason, and never left out;
- a requirement that names a place (a URL, a folder, an archive) is listed as one, and is none that a name stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from bae_source.project.files.port import FileKind, Files
from bae_source.project.files.settings import content_of, settings_of, table
from bae_source.resources.config.document import Document

if TYPE_CHECKING:
    from bae_source.resources.config.document import Document

PYPROJECT = "pyproject.toml"
SETUP_CFG = "setup.cfg"
REQUIREMENTS = "requirements.txt"
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
"""The name of a distribution (PEP 508), an extra or a group."""
ARCHIVES = (".whl", ".zip", ".egg", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".tlz", ".lz", ".lzma")
"""Ends of the names of files that pip installs, each of which is the name of a distribution as well."""

Kind = Literal["index", "place", "poetry", "own"]
"""Kinds of requirements: a name that an index knows, a URL or path, one in Poetry's notation, or the project itself."""
Part = Literal["always", "extra", "group", "build"]

_LONGEST = 2_000
_MOST_FILES = 20
_REQUIREMENTS = re.compile(r"(?:requirements|reqs)/[\w.-]+\.txt|(?:[\w.-]*[._-])?requirements(?:[._-][\w.-]*)?\.txt")
"""Names of files as pip's `-r` takes them."""
_PLACES = ("git", "url", "path", "file", "hg", "svn")
_TABLE: tuple[str, ...] = ("project",)
_COMMENT = re.compile(r"(?:^|\s)#.*")


class Declared(Struct, frozen=True, kw_only=True):
    """One dependency.

    Parameters:
        name: of the distribution, normalised (PEP 503).
        requirement: as it stands; of Poetry only which versions.
        kind: whether it is a name, a place, Poetry's, or the project itself with extras.
        part: whether it is needed always, for an extra, for a group of development, or for building.
        groups: the extras or groups that it belongs to.
        versions: which are wanted, such as `>=2,<3`; as Poetry writes them, if it is Poetry's.
        marker: where it is needed; "" for everywhere.
        extras: of the distribution.
        path: the file that it stands in.
        table: the table there, as the names of its path; of setup.cfg the title of the section.
        key: the key in the table, whose value it is or is in.
        index: the place in that list; None where the value is no list.
        line: counted from 1; 0 where it is not known.
    """

    name: str
    requirement: str
    kind: Kind = "index"
    part: Part
    groups: tuple[str, ...] = ()
    versions: str = ""
    marker: str = ""
    extras: tuple[str, ...] = ()
    path: str = PYPROJECT
    table: tuple[str, ...] = ()
    key: str = ""
    index: int | None = None
    line: int = 0

    @property
    def written(self) -> str:
        """The requirement as one text, the name with it."""
        is_poetry = self.kind in ("poetry", "place") and self.table[:2] == ("tool", "poetry")
        return f"{self.key} {self.requirement}".rstrip() if is_poetry else self.requirement


class Unread(Struct, frozen=True, kw_only=True):
    """A text among dependencies that cannot be understood, and why."""

    text: str
    reason: str
    path: str = PYPROJECT
    table: tuple[str, ...] = ()
    key: str = ""
    index: int | None = None
    line: int = 0


class Declarations(Struct, frozen=True, kw_only=True):
    """All that a project declares.

    Parameters:
        project: its own name, normalised; "" where it has none.
        dependencies: in the order of the files.
        unread: what could not be understood.
        includes: the groups that a group of PEP 735 includes.
        dynamic: `dependencies` and `optional-dependencies`, where `[project]` says that they come from elsewhere.
        unknown: why there may be more than is listed here, in sentences.
    """

    project: str = ""
    dependencies: tuple[Declared, ...] = ()
    unread: tuple[Unread, ...] = ()
    includes: Mapping[str, tuple[str, ...]] = {}
    dynamic: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of all extras and groups, in the order of the files."""
        return tuple(dict.fromkeys([*(name for each in self.dependencies for name in each.groups), *self.includes]))

    def within(self, group: str) -> frozenset[str]:
        """Return a group with all that it includes, at whatever distance; names are compared as PEP 735 does."""
        found: set[str] = set()
        waiting = [normalised(group)]
        included = {normalised(name): tuple(map(normalised, each)) for name, each in self.includes.items()}
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += included.get(name, ())
        return frozenset(found)


def normalised(name: str) -> str:
    """Return the name of a distribution, an extra or a group as all its spellings are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(files: Files) -> Declarations:
    """Return the dependencies that a project declares.

    Raises:
        SourceError: `syntax_invalid` if pyproject.toml does not parse; the message has the line and the column.
        Refused: `forbidden` if a file may not be read.
    """
    settings = settings_of(files)
    reader = _Reader(files, settings)
    reader.read()
    return reader.declarations()


class _Place(Struct, frozen=True, kw_only=True):
    """A place in which requirements stand, and what they are for."""

    part: Part
    table: tuple[str, ...]
    key: str
    groups: tuple[str, ...] = ()
    path: str = PYPROJECT


class _Reader:
    """Reads the tables of one project."""

    def __init__(self, files: Files, settings: Mapping[str, Any]) -> None:
        self._files = files
        self._settings = settings
        self._document: Document | None = None
        name = table(settings, "project").get("name") or table(settings, "tool", "poetry").get("name")
        self._own = normalised(name) if isinstance(name, str) else ""
        self._dependencies: list[Declared] = []
        self._unread: list[Unread] = []
        self._unknown: list[str] = []
        self._includes: dict[str, tuple[str, ...]] = {}
        named = table(settings, "project").get("dynamic")
        listed = named if isinstance(named, list) else []
        self._dynamic = tuple(each for each in ("dependencies", "optional-dependencies") if each in listed)

    def declarations(self) -> Declarations:
        return Declarations(
            project=self._own,
            dependencies=tuple(self._dependencies),
            unread=tuple(self._unread),
            includes=self._includes,
            dynamic=self._dynamic,
            unknown=tuple(self._unknown),
        )

    def read(self) -> None:
        project, poetry = table(self._settings, "project"), table(self._settings, "tool", "poetry")
        self._list(project.get("dependencies"), _Place(part="always", table=_TABLE, key="dependencies"))
        self._extras(project)
        self._poetry(poetry)
        has_project = bool(project or poetry)
        if not has_project or self._dynamic:
            self._elsewhere(has_project)
        self._groups()
        self._tools()
        self._files_of_requirements()
        requires = table(self._settings, "build-system").get("requires")
        self._list(requires, _Place(part="build", table=("build-system",), key="requires"))

    def _extras(self, project: Mapping[str, Any]) -> None:
        for extra, given in table(project, "optional-dependencies").items():
            place = _Place(part="extra", table=(*_TABLE, "optional-dependencies"), key=extra, groups=(extra,))
            self._list(given, place)

    def _groups(self) -> None:
        """Read `[dependency-groups]`: a list of requirements, and of `{include-group = "other"}`."""
        groups = table(self._settings, "dependency-groups")
        known = {normalised(name) for name in groups}
        for group, given in groups.items():
            place = _Place(part="group", table=("dependency-groups",), key=group, groups=(group,))
            included: list[str] = []
            for index, each in enumerate(self._items(given, place)):
                other = each.get("include-group") if isinstance(each, dict) else None
                if not isinstance(other, str):
                    self._one(each, place, index)
                elif normalised(other) not in known:
                    self._refuse(f"include-group {other}", f"there is no group {other}", place, index)
                else:
                    included.append(other)
            self._includes[group] = tuple(included)

    def _tools(self) -> None:
        """Read what tools have of their own: PDM, Hatch, uv."""
        pdm = ("tool", "pdm", "dev-dependencies")
        for group, given in table(self._settings, *pdm).items():
            self._list(given, _Place(part="group", table=pdm, key=group, groups=(group,)))
        for name, given in table(self._settings, "tool", "hatch", "envs").items():
            for key in ("dependencies", "extra-dependencies"):
                place = _Place(part="group", table=("tool", "hatch", "envs", name), key=key, groups=(name,))
                self._list(given.get(key) if isinstance(given, dict) else None, place)
        place = _Place(part="group", table=("tool", "uv"), key="dev-dependencies", groups=("dev",))
        self._list(table(self._settings, "tool", "uv").get("dev-dependencies"), place)

    def _poetry(self, poetry: Mapping[str, Any]) -> None:
        """Read Poetry's tables, whose keys are the names: `httpx = "^0.27"`, `httpx = { version = "^0.27", … }`."""
        extras: dict[str, list[str]] = {}
        for extra, names in table(poetry, "extras").items():
            for each in names if isinstance(names, list) else ():
                extras.setdefault(normalised(str(each)), []).append(extra)
        tables: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
            (("dependencies",), ()),
            (("dev-dependencies",), ("dev",)),
        ]
        tables += [(("group", name, "dependencies"), (name,)) for name in table(poetry, "group")]
        for path, groups in tables:
            for key, given in table(poetry, *path).items():
                if normalised(key) == "python":
                    continue  # which Pythons it runs on
                having = tuple(extras.get(normalised(key), ())) if not groups else ()
                part: Part = "group" if groups else "extra" if having else "always"
                place = _Place(part=part, table=("tool", "poetry", *path), key=key, groups=groups or having)
                several = given if isinstance(given, list) else [given]
                for index, each in enumerate(several):
                    self._of_poetry(each, place, index if isinstance(given, list) else None)

    def _of_poetry(self, given: Any, place: _Place, index: int | None) -> None:
        facts = given if isinstance(given, dict) else {"version": given}
        where = next((key for key in _PLACES if key in facts), None)
        version = facts.get("version", "")
        if not isinstance(version, str) or not (where or isinstance(given, (str, dict))):
            self._refuse(f"{place.key} = {given!r}", "it is neither a version nor a table with one", place, index)
            return
        marker = " and ".join(str(facts[key]) for key in ("python", "markers", "platform") if key in facts)
        asked = facts.get("extras")
        self._add(
            place,
            index,
            name=place.key,
            requirement=f"@ {facts[where]}" if where else version,
            kind="place" if where else "poetry",
            versions=version,
            marker=marker,
            extras=[str(each) for each in asked] if isinstance(asked, list) else [],
        )

    def _elsewhere(self, has_project: bool) -> None:
        """Read setup.cfg and the files that `dynamic` names, or that are all there is.

        Parameters:
            has_project: whether pyproject.toml describes the project, so that `dynamic` names what is elsewhere.
        """
        before = len(self._dependencies)
        dynamic = table(self._settings, "tool", "setuptools", "dynamic")
        self._from_files(dynamic.get("dependencies"), "always", ())
        for extra, given in table(dynamic, "optional-dependencies").items():
            self._from_files(given, "extra", (extra,))
        hook = table(self._settings, "tool", "hatch", "metadata", "hooks", "requirements_txt")
        self._from_files({"file": hook.get("files") or hook.get("filename")}, "always", ())
        for extra, given in table(hook, "optional-dependencies").items():
            self._from_files({"file": given}, "extra", (extra,))
        self._setup_cfg()
        is_read = len(self._dependencies) > before
        if self._files.kind("setup.py") is FileKind.FILE and not is_read:
            self._unknown.append("setup.py is not run, so what it declares is not known.")
        elif self._dynamic and not is_read:
            named = " and ".join(self._dynamic)
            self._unknown.append(f"[project] says that {named} are dynamic: the build finds them, and it is not run.")
        if not has_project and not is_read and self._files.kind(REQUIREMENTS) is FileKind.FILE:
            self._requirements(REQUIREMENTS, "always", ())

    def _files_of_requirements(self) -> None:
        """Read the files of requirements that lie about and were not read yet: a group of development each."""
        read = {*(each.path for each in self._dependencies), *(each.path for each in self._unread)}
        folders = [name for name in ("requirements", "reqs") if self._files.kind(name) is FileKind.FOLDER]
        names = [
            *self._files.names(""),
            *(f"{folder}/{name}" for folder in folders for name in self._files.names(folder)),
        ]
        for path in [each for each in names if _REQUIREMENTS.fullmatch(each) and each not in read][:_MOST_FILES]:
            self._requirements(path, "group", (path.rpartition("/")[2].removesuffix(".txt"),))

    def _from_files(self, given: Any, part: Part, groups: tuple[str, ...]) -> None:
        named = given.get("file") if isinstance(given, dict) else None
        for path in [named] if isinstance(named, str) else named if isinstance(named, list) else ():
            if isinstance(path, str):
                self._requirements(path, part, groups)

    def _requirements(self, path: str, part: Part, groups: tuple[str, ...]) -> None:
        """Read a file as pip's `-r` takes it; its options are listed, and not followed."""
        place = _Place(part=part, table=(), key="", groups=groups, path=path)
        content = content_of(self._files, path)
        if content is None:
            self._refuse(path, "there is no such file in the project", place, None)
            return
        for line, text in _logical_lines(content.decode("utf-8-sig", "replace")):
            if part == "group" and text.startswith("-"):
                continue  # the project itself, or another such file
            self._one(re.sub(r"\s+--(?:hash|config-settings?|global-option)\b.*", "", text), place, None, line)

    def _setup_cfg(self) -> None:
        content = content_of(self._files, SETUP_CFG) or b""
        for section, key, lines in _options(content.decode("utf-8-sig", "replace")):
            if section == "metadata" and key == "name" and not self._own and lines:
                self._own = normalised(lines[0][1])
            elif section == "options" and key == "install_requires":
                self._listed(lines, _Place(part="always", table=(section,), key=key, path=SETUP_CFG))
            elif section == "options.extras_require":
                self._listed(lines, _Place(part="extra", table=(section,), key=key, groups=(key,), path=SETUP_CFG))

    def _listed(self, lines: Iterable[tuple[int, str]], place: _Place) -> None:
        for index, (line, text) in enumerate(lines):
            self._one(_COMMENT.sub("", text), place, index, line)

    def _items(self, given: Any, place: _Place) -> list[Any]:
        if given is None or isinstance(given, list):
            return given or []
        self._refuse(repr(given)[:_LONGEST], "it is no list", place, None)
        return []

    def _list(self, given: Any, place: _Place) -> None:
        for index, each in enumerate(self._items(given, place)):
            self._one(each, place, index)

    def _one(self, text: Any, place: _Place, index: int | None, line: int = 0) -> None:
        """Take one requirement, or what stands in the place of one."""
        if not isinstance(text, str):
            self._refuse(repr(text), "it is no text", place, index, line)
        elif len(text) > _LONGEST:
            self._refuse(text, f"it has more than {_LONGEST:,} characters", place, index, line)
        elif text.lstrip().startswith("-"):
            self._refuse(text, "it is an option of pip's, which is not followed", place, index, line)
        else:
            self._parsed(text, place, index, line)

    def _parsed(self, text: str, place: _Place, index: int | None, line: int) -> None:
        from packaging.requirements import InvalidRequirement, Requirement  # 40 ms, which help need not pay

        try:
            found = Requirement(text)
        except (InvalidRequirement, ValueError, RecursionError) as error:
            is_bare = re.match(r"\s*(?:[\w+.-]+://|\.{0,2}/|git@)", text)
            reason = "it is a place without a name" if is_bare else str(error).strip().partition("\n")[0]
            self._refuse(text, reason, place, index, line)
            return
        is_place = found.url is not None or found.name.lower().endswith(ARCHIVES)
        is_own = bool(self._own) and normalised(found.name) == self._own and not is_place
        self._add(
            place,
            index,
            name=found.name,
            requirement=text.strip(),
            kind="place" if is_place else "own" if is_own else "index",
            versions=str(found.specifier),
            marker=str(found.marker or ""),
            extras=found.extras,
            line=line,
        )

    def _add(
        self,
        place: _Place,
        index: int | None,
        *,
        name: str,
        requirement: str,
        kind: Kind,
        versions: str,
        marker: str,
        extras: Iterable[str],
        line: int = 0,
    ) -> None:
        if not NAME.fullmatch(name):
            self._refuse(name, "it is no name of a distribution", place, index, line)
            return
        self._dependencies.append(
            Declared(
                name=normalised(name),
                requirement=requirement,
                kind=kind,
                part=place.part,
                groups=place.groups,
                versions=versions,
                marker=marker,
                extras=tuple(sorted(extras)),
                path=place.path,
                table=place.table,
                key=place.key,
                index=index,
                line=line or self._line(place, index),
            )
        )

    def _refuse(self, text: str, reason: str, place: _Place, index: int | None, line: int = 0) -> None:
        shown = text if len(text) <= 100 else f"{text[:99]}…"
        self._unread.append(
            Unread(
                text=shown,
                reason=reason[:200],
                path=place.path,
                table=place.table,
                key=place.key,
                index=index,
                line=line or self._line(place, index),
            )
        )

    def _line(self, place: _Place, index: int | None) -> int:
        if place.path != PYPROJECT:
            return 0
        if self._document is None:
            self._document = Document((content_of(self._files, PYPROJECT) or b"").decode("utf-8"), PYPROJECT)
        path = (*place.table, place.key)
        return self._document.line(path if index is None else (*path, index))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of requirements without comments, joined where one ends in a backslash."""
    begun, pieces = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        bare = _COMMENT.sub("", line).strip()
        begun = begun if pieces else number
        pieces.append(bare.removesuffix("\\").strip())
        if bare.endswith("\\"):
            continue
        if whole := " ".join(filter(None, pieces)):
            yield begun, whole
        pieces = []
    if whole := " ".join(filter(None, pieces)):
        yield begun, whole


def _options(text: str) -> Iterator[tuple[str, str, list[tuple[int, str]]]]:
    """Yield section, key and the lines of each value in a file that is written as setup.cfg is.

    A value of one line is a list whose parts have a semicolon between them, as setuptools reads it.
    """
    section, key, value = "", "", list[tuple[int, str]]()
    for number, line in enumerate([*text.split("\n"), "[]"], 1):
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        if line[0].isspace() and key:
            value.append((number, bare))
            continue
        if key:
            yield section, key, value
        key, value = "", []
        if bare[0] == "[" and "]" in bare:
            section = bare[1 : bare.rindex("]")]
        elif sign := re.search("[=:]", bare):
            key = bare[: sign.start()].rstrip()
            first = bare[sign.end() :].strip()
            value = [(number, each.strip()) for each in first.split(";") if each.strip()]
