"""Requirements put into pyproject.toml, changed there and taken out, with all that stands around them kept.

    add httpx>=0.27                  [project] dependencies
    add pytest --group dev           [dependency-groups] dev
    add rich --extra shell           [project.optional-dependencies] shell

Invariants:
- a requirement is a name with versions, extras and a marker: no URL, no path, no option, and no file's name;
- what another tool than uv keeps in a table of its own is not edited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.plan import Release
from bae_source.model.text import listed
from bae_source.project.files.settings import settings_of, table
from bae_source.project.workspace import Workspace
from bae_source.resources.config.document import Document
from bae_source.resources.config.key import Path
from bae_source.resources.deps.declared import PYPROJECT, Declarations, Declared, declared, normalised

_PROJECT = ("project",)
_OTHERS = ("poetry", "pdm", "pipenv", "flit")
_ARCHIVES = (".whl", ".zip", ".gz", ".bz2", ".xz", ".tgz", ".egg")
_BOUNDS = (">=", "~=", "==", ">")
"""Operators that say from which version on."""


class Place:
    """A list of requirements in pyproject.toml.

    Parameters:
        group: of PEP 735; None for none.
        extra: of the project; None for none.

    Raises:
        RequestError: `invalid_arguments`, if both are given.
    """

    def __init__(self, group: str | None, extra: str | None) -> None:
        if group is not None and extra is not None:
            raise RequestError(
                "invalid_arguments", "A requirement is of a group or of an extra.", hints=["Leave one of them out."]
            )
        self.path: tuple[str, ...] = (*_PROJECT, "dependencies")
        if group is not None:
            self.path = ("dependency-groups", group)
        if extra is not None:
            self.path = (*_PROJECT, "optional-dependencies", extra)

    def __str__(self) -> str:
        return ".".join(self.path)

    def holds(self, each: Declared) -> bool:
        """Say whether a declared requirement stands here."""
        return each.path == PYPROJECT and (*each.table, each.key) == self.path


def requirement_of(text: str) -> Requirement:
    """Parse a requirement, of which nothing but names and versions may come.

    Raises:
        RequestError: `invalid_arguments`.
    """
    try:
        found = Requirement(text.strip())
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise RequestError(
            "invalid_arguments",
            f"{text!r} is no requirement: {reason}.",
            hints=[
                'It is to be like "httpx>=0.27", "rich[jupyter]~=13.9" or "tomli; python_version < \'3.11\'" (PEP 508).'
            ],
        ) from None
    if found.url is not None or found.name.lower().endswith(_ARCHIVES):
        raise RequestError(
            "invalid_arguments",
            f"{text!r} names a file or an address, and a dependency is to come from an index.",
            hints=["Name it by its distribution's name, with the versions that will do."],
        )
    return found


class Edited(Struct, frozen=True, kw_only=True):
    """A pyproject.toml with other requirements.

    Parameters:
        text: of the file.
        done: what was done, as clauses; nothing where all was so already.
        names: of the distributions that were put in, or changed.
        gone: of those that nothing in the file declares any more.
    """

    text: str
    done: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def added(workspace: Workspace, wanted: Sequence[Requirement], place: Place) -> Edited:
    """Return pyproject.toml with requirements in it; one that is declared in the place already is changed there.

    Raises:
        Refused: `unsafe_change`, if the place is not edited here.
    """
    text, done, names = checked_text(workspace), [], []
    _check_editable(workspace, place)
    for each in wanted:
        known = [(n, str(one)) for n, one in enumerate(_items(text, place.path)) if _named(one, each.name)]
        if not known:
            text = Document(text).add(place.path, str(each))
            done.append(f"added {each} to {place}")
        elif known[0][1] != str(each) and Requirement(known[0][1]) != each:
            text = Document(text).set((*place.path, known[0][0]), str(each))
            done.append(f"changed {known[0][1]} to {each} in {place}")
        names.append(normalised(each.name))
    return Edited(text=text, done=tuple(done), names=tuple(names))


def removed(workspace: Workspace, names: Sequence[str], place: Place | None) -> Edited:
    """Return pyproject.toml without distributions, in one place or wherever they are declared.

    Raises:
        LookupFailed: `symbol_not_found`, if one is declared nowhere there.
        Refused: `unsafe_change`, if one is declared where it is not edited.
    """
    text, done = checked_text(workspace), []
    known = declared(workspace.files)
    for name in map(normalised, names):
        there = [each for each in known.found if each.name == name and (place is None or place.holds(each))]
        if not there:
            raise _not_declared(name, place, known)
        for each in there:
            text = _without(text, each)
            done.append(f"took {each.written} out of {'.'.join((*each.table, each.key))}")
    left = {each.name for each in known.found if place is not None and not place.holds(each)}
    gone = [name for name in map(normalised, names) if name not in left]
    return Edited(text=text, done=tuple(done), gone=tuple(gone))


def upgraded(workspace: Workspace, wanted: Sequence[Requirement]) -> Edited:
    """Return pyproject.toml for what is to be upgraded: as it is, but for the versions that are given with a name.

    Raises:
        LookupFailed: `symbol_not_found` for what is not declared.
        Refused: `unsafe_change` for what is declared where it is not edited.
    """
    text, done, names = checked_text(workspace), [], []
    known = declared(workspace.files)
    for each in wanted:
        name = normalised(each.name)
        there = [one for one in known.found if one.name == name]
        if not there:
            raise _not_declared(name, None, known)
        for one in there if each.specifier else ():
            text = _changed(text, one, each)
        wanted_before = listed(dict.fromkeys(one.written for one in there))
        done.append(f"upgraded {name}, which was to be {wanted_before}")
        names.append(name)
    return Edited(text=text, done=tuple(done), names=tuple(names))


def _changed(text: str, each: Declared, wanted: Requirement) -> str:
    """Return the text with other versions of a declared requirement, whose extras and marker stay."""
    if not _is_edited(each) or each.index is None:
        raise _not_edited(each)
    other = Requirement(each.requirement)
    other.specifier = wanted.specifier
    return Document(text).set((*each.table, each.key, each.index), str(other))


def to_be_met(workspace: Workspace, there: Mapping[str, str]) -> list[str]:
    """Return the requirements that a project always has, and those of extras and groups as far as they are installed.

    Parameters:
        there: name and version of what is installed.
    """
    every = [each for each in declared(workspace.files).found if each.kind == "index" and each.part != "build"]
    met = [each for each in every if each.part == "always" or each.name in there]
    return list(dict.fromkeys(str(Requirement(each.requirement)) for each in met if _parses(each.requirement)))


def _parses(text: str) -> bool:
    """Say whether a requirement is one by name, and on one line, as installers read them from files."""
    try:
        return Requirement(text).url is None and text.isprintable()
    except InvalidRequirement:
        return False


def raised(workspace: Workspace, names: Sequence[str], releases: Sequence[Release]) -> dict[str, bytes]:
    """Return pyproject.toml, by path, with the lowest versions of what is upgraded; nothing where it stays as it is.

    Where no lock holds the versions, a bound is what keeps an upgrade: `rich>=13` becomes `rich>=14.0.1`.
    """
    text = before = checked_text(workspace)
    versions = {each.name: each.after for each in releases if each.name in names and each.after is not None}
    for each in declared(workspace.files).found:
        if each.name in versions and _is_edited(each) and each.index is not None:
            other = _bounded(Requirement(each.requirement), versions[each.name])
            if other != each.requirement:
                text = Document(text).set((*each.table, each.key, each.index), other)
    return {PYPROJECT: text.encode()} if text != before else {}


def _bounded(requirement: Requirement, version: str) -> str:
    """Return a requirement with a version as its lowest."""
    public = Version(version).public
    kept = [each for each in requirement.specifier if each.operator not in (*_BOUNDS, "===")]
    exact = any(each.operator in ("==", "===") for each in requirement.specifier)
    compatible = [each for each in requirement.specifier if each.operator == "~="]
    if any(each.version.endswith(".*") for each in requirement.specifier):
        return str(requirement)  # `==1.*` says what may come, and that stays
    bound = f"=={public}" if exact else f"~={public}" if compatible else f">={public}"
    other = Requirement(str(requirement))
    other.specifier = SpecifierSet(",".join([bound, *map(str, kept)]))
    return str(other)


def _not_declared(name: str, place: Place | None, known: Declarations) -> LookupFailed:
    from difflib import get_close_matches  # for errors alone

    elsewhere = [".".join((*each.table, each.key)) for each in known.found if each.name == name]
    where = f"in {place}" if place is not None else "by this project"
    return LookupFailed(
        "symbol_not_found",
        f"{name} is not declared {where}" + (f", but in {listed(elsewhere)}." if elsewhere else "."),
        hints=[Call("deps list", then="shows what is.")],
        candidates=get_close_matches(name, {each.name for each in known.found}, n=5),
    )


def _is_edited(each: Declared) -> bool:
    """Say whether a requirement stands where it is edited: in a list of the project's own tables, or of uv's."""
    own = each.table[:1] in (("project",), ("dependency-groups",)) or each.table == ("tool", "uv")
    return each.path == PYPROJECT and own and each.kind == "index"


def _without(text: str, each: Declared) -> str:
    if not _is_edited(each):
        raise _not_edited(each)
    path = (*each.table, each.key)
    number = next(n for n, one in enumerate(_items(text, path)) if _named(one, each.name))
    return Document(text).remove_item(path, number)


def _not_edited(each: Declared) -> Refused:
    where = ".".join((*each.table, each.key)) or f"line {each.line}"
    return Refused(
        "unsafe_change",
        f"{each.written} stands in {each.path}, {where}, which is not edited here",
        unchanged=True,
        hints=["Use the tool that keeps it, or edit its text."],
    )


def _named(item: object, name: str) -> bool:
    try:
        return isinstance(item, str) and normalised(Requirement(item).name) == normalised(name)
    except InvalidRequirement:
        return False


def _check_editable(workspace: Workspace, place: Place) -> None:
    """Refuse to put a requirement where another tool, or the build, has them.

    Raises:
        Refused: `unsafe_change`.
    """
    settings = settings_of(workspace.files)
    tool = next((each for each in _OTHERS if each in table(settings, "tool") and not table(settings, "project")), None)
    if tool is not None:
        raise Refused(
            "unsafe_change",
            f"{tool} keeps the dependencies of this project in tables of its own, which are not edited here",
            unchanged=True,
            hints=[f"Use {tool} add."],
        )
    key = "optional-dependencies" if place.path[1] == "optional-dependencies" else place.path[1]
    dynamic = table(settings, "project").get("dynamic")
    if place.path[0] == "project" and isinstance(dynamic, list) and key in dynamic:
        raise Refused(
            "unsafe_change",
            f"[project] says that {key} are dynamic: the build finds them elsewhere",
            unchanged=True,
            hints=["Edit the file that the build reads, or take it out of dynamic by config remove."],
        )
    if place.path[0] == "project" and not table(settings, "project"):
        raise Refused(
            "unsafe_change",
            "pyproject.toml has no [project], so there is no place for dependencies",
            unchanged=True,
            hints=["Write [project] with name and version first, or give a group."],
        )


def checked_text(workspace: Workspace) -> str:
    """Return the text of pyproject.toml, which parses.

    Raises:
        LookupFailed: `symbol_not_found`, if there is none.
        SourceError: `syntax_invalid`, `encoding_invalid`.
    """
    settings_of(workspace.files)
    content = workspace.content(PYPROJECT)
    if content is None:
        raise LookupFailed(
            "symbol_not_found",
            "The project has no pyproject.toml to declare dependencies in.",
            hints=[Call("write", target=f":{PYPROJECT}", source="[project]\nname = …", then="makes one.")],
        )
    return content.decode()


def _items(text: str, path: Path) -> list[object]:
    document = Document(text)
    found = document.value(path) if document.has(path) else []
    return found if isinstance(found, list) else []
