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
from typing import Any

from msgspec import Struct
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.closest import closest
from bae_source.model.plan import Release
from bae_source.model.text import listed
from bae_source.project.files.settings import settings_of, table
from bae_source.project.workspace import Workspace
from bae_source.resources.config.document import Document
from bae_source.resources.config.key import Path
from bae_source.resources.deps.declared import ARCHIVES, NAME, PYPROJECT, Declarations, Declared, declared, normalised

_PROJECT = ("project",)
_OTHERS = ("poetry", "pdm", "pipenv", "flit")
_BOUNDS = (">=", "~=", "==", ">")
"""Operators that say from which version on."""


class Place:
    """A list of requirements in pyproject.toml.

    Parameters:
        group: of PEP 735; None for none.
        extra: of the project; None for none.
        settings: of pyproject.toml, where a list may have another spelling of the name.

    Raises:
        RequestError: `invalid_arguments`, if both are given, or one is no name.
    """

    def __init__(self, group: str | None, extra: str | None, settings: Mapping[str, Any]) -> None:
        if group is not None and extra is not None:
            raise RequestError(
                "invalid_arguments", "A requirement is of a group or of an extra.", hints=["Leave one of them out."]
            )
        self.path: tuple[str, ...] = (*_PROJECT, "dependencies")
        if group is not None:
            self.path = ("dependency-groups", _spelled(group, table(settings, "dependency-groups")))
        if extra is not None:
            others = table(settings, *_PROJECT, "optional-dependencies")
            self.path = (*_PROJECT, "optional-dependencies", _spelled(extra, others))

    def __str__(self) -> str:
        return ".".join(self.path)

    def holds(self, each: Declared) -> bool:
        """Return whether a declared requirement stands here."""
        return each.path == PYPROJECT and (*each.table, each.key) == self.path


def _spelled(name: str, others: Mapping[str, Any]) -> str:
    """Return the name of a group or an extra as it stands among others, or as it is given.

    Raises:
        RequestError: `invalid_arguments` for what is no name.
    """
    if not NAME.fullmatch(name):
        raise RequestError(
            "invalid_arguments",
            f"{name!r} is no name of a group or an extra.",
            hints=["Use letters, digits, and . _ - between them, such as dev or typing-tests."],
        )
    return next((each for each in others if normalised(each) == normalised(name)), name)


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
    if found.url is not None or found.name.lower().endswith(ARCHIVES):
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
        names: of the distributions that are upgraded.
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
    text, done = checked_text(workspace), []
    _check_editable(workspace, place)
    own = declared(workspace.files).project
    if itself := next((each for each in wanted if normalised(each.name) == own and not each.extras), None):
        raise Refused(
            "unsafe_change",
            f"{itself.name} is the project itself, which needs no declaration",
            unchanged=True,
            hints=[f"With an extra, {itself.name}[extra] declares what that brings."],
        )
    for each in wanted:
        known = [(n, str(one)) for n, one in enumerate(_items(text, place.path)) if _named(one, each.name)]
        same = [one for one in known if Requirement(one[1]).marker == each.marker]
        if not known:
            text = Document(text).add(place.path, str(each))
            done.append(f"added {each} to {place}")
            continue
        if len(known) > 1 and len(same) != 1:
            raise _several(each, place, [one for _, one in known])
        number, before = (same or known)[0]
        if (other := _with(Requirement(before), each)) != Requirement(before):
            text = Document(text).set((*place.path, number), str(other))
            done.append(f"changed {before} to {other} in {place}")
    return Edited(text=text, done=tuple(done))


def _with(known: Requirement, given: Requirement) -> Requirement:
    """Return a declared requirement with the versions, extras and marker that are given for it, as far as they are.

    alpha[x]>=1; python_version < "3.12"   with alpha          as it was
                                           with alpha[y]>=2    alpha[x,y]>=2; python_version < "3.12"
    """
    other = Requirement(str(known))
    other.extras |= given.extras
    if given.specifier:
        other.specifier, other.url = given.specifier, None
    other.marker = given.marker or known.marker
    return other


def removed(workspace: Workspace, names: Sequence[str], place: Place | None) -> Edited:
    """Return pyproject.toml without distributions, in one place or wherever they are declared.

    Raises:
        RequestError: `invalid_arguments` for what is no name.
        LookupFailed: `symbol_not_found`, if one is declared nowhere there.
        Refused: `unsafe_change`, if one is declared where it is not edited.
    """
    if wrong := [each for each in names if not NAME.fullmatch(each)]:
        raise RequestError(
            "invalid_arguments", f"{wrong[0]!r} is no name of a distribution.", hints=["Give the name alone: httpx."]
        )
    text, done = checked_text(workspace), []
    known = declared(workspace.files)
    names = list(dict.fromkeys(map(normalised, names)))
    for name in names:
        there = [each for each in known.dependencies if each.name == name and (place is None or place.holds(each))]
        if not there:
            raise _not_declared(name, place, known)
        for each in there:
            text = _without(text, each)
            done.append(f"took {each.written} out of {'.'.join((*each.table, each.key))}")
    left = {each.name for each in known.dependencies if place is not None and not place.holds(each)}
    gone = [name for name in names if name not in left]
    return Edited(text=text, done=tuple(done), gone=tuple(gone))


def upgraded(workspace: Workspace, wanted: Sequence[Requirement]) -> Edited:
    """Return pyproject.toml for what is to be upgraded: as it is, but for the versions that are given with a name.

    Raises:
        RequestError: `invalid_arguments` for extras and markers.
        LookupFailed: `symbol_not_found` for what is not declared.
        Refused: `unsafe_change` for what is declared where it is not edited.
    """
    text, done, names = checked_text(workspace), [], []
    known = declared(workspace.files)
    for each in wanted:
        name = normalised(each.name)
        there = [one for one in known.dependencies if one.name == name]
        if each.extras or each.marker:
            raise RequestError(
                "invalid_arguments",
                f"{each} says more than a name and versions, which is all that an upgrade takes.",
                hints=[Call("deps add", requirements=[str(each)], then="changes extras and markers.")],
            )
        if not there:
            raise _not_declared(name, None, known)
        for one in there:
            if not _is_edited(one) or one.index is None:
                raise _not_edited(one)
            if each.specifier and Requirement(one.requirement).specifier != each.specifier:
                text = _changed(text, one, each)
                done.append(f"changed {one.written} to {name}{each.specifier}")
        names.append(name)
    return Edited(text=text, done=tuple(done) or (f"upgrades {listed(names)}",), names=tuple(names))


def _changed(text: str, each: Declared, wanted: Requirement) -> str:
    """Return the text with other versions of a declared requirement, whose extras and marker stay."""
    assert each.index is not None, "it stands in a list"
    other = Requirement(each.requirement)
    other.specifier = wanted.specifier
    return Document(text).set((*each.table, each.key, each.index), str(other))


def requirements_to_meet(workspace: Workspace, there: Mapping[str, str]) -> list[str]:
    """Return the requirements that a project always has, and those of extras and groups as far as they are installed.

    Parameters:
        there: name and version of what is installed.
    """
    every = [each for each in declared(workspace.files).dependencies if each.kind == "index" and each.part != "build"]
    needed = [each for each in every if each.part == "always" or each.name in there]
    return list(dict.fromkeys(str(Requirement(each.requirement)) for each in needed if _parses(each.requirement)))


def parts_there(workspace: Workspace, there: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the extras and the groups of which everything is installed.

    Parameters:
        there: name and version of what is installed.
    """
    found = declared(workspace.files).dependencies
    extras = {each.key: True for each in found if each.table == (*_PROJECT, "optional-dependencies")}
    groups = {each.key: True for each in found if each.table == ("dependency-groups",)}
    for each in found:
        for parts in (extras, groups):
            if each.key in parts and each.name not in there:
                parts[each.key] = False
    return tuple(name for name, whole in extras.items() if whole), tuple(
        name for name, whole in groups.items() if whole
    )


def _parses(text: str) -> bool:
    """Return whether a requirement is one by name, and on one line, as installers read them from files."""
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
    for each in declared(workspace.files).dependencies:
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
    elsewhere = [".".join((*each.table, each.key)) for each in known.dependencies if each.name == name]
    where = f"in {place}" if place is not None else "by this project"
    return LookupFailed(
        "symbol_not_found",
        f"{name} is not declared {where}" + (f", but in {listed(elsewhere)}." if elsewhere else "."),
        hints=[Call("deps list", then="shows what is.")],
        candidates=closest(name, {each.name for each in known.dependencies}, n=5),
    )


def _several(wanted: Requirement, place: Place, known: Sequence[str]) -> Refused:
    return Refused(
        "unsafe_change",
        f"{place} has {wanted.name} several times, and {wanted} is not for one of them alone: {listed(known)}",
        unchanged=True,
        hints=["Give it the marker of one of them."],
    )


def _is_edited(each: Declared) -> bool:
    """Return whether a requirement is one by name that stands in a list which is edited."""
    return _is_in_list(each) and each.kind == "index"


def _is_in_list(each: Declared) -> bool:
    """Return whether a requirement stands in a list of the project's own tables, or of uv's."""
    own = each.table[:1] in (("project",), ("dependency-groups",)) or each.table == ("tool", "uv")
    return each.path == PYPROJECT and own and each.kind != "own"


def _without(text: str, each: Declared) -> str:
    if not _is_in_list(each):
        raise _not_edited(each)
    path = (*each.table, each.key)
    number = next(n for n, one in enumerate(_items(text, path)) if _named(one, each.name))
    return Document(text).remove_item(path, number)


def _not_edited(each: Declared) -> Refused:
    where = ".".join((*each.table, each.key)) or f"line {each.line}"
    return Refused(
        "unsafe_change",
        f"{each.written} stands in {each.path}, {where}, and is not changed here",
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
    tools = table(settings, "tool")
    tool = next((each for each in _OTHERS if each in tools and not table(settings, "project")), None)
    groups = ("group", "dev-dependencies")  # of Poetry, which has none of PEP 735 beside its own
    if place.path[0] == "dependency-groups" and any(table(settings, "tool", "poetry", each) for each in groups):
        tool = "poetry"
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
