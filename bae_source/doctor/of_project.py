"""The doctor's look at the project and at what is installed: roots, interpreter, settings, what does not parse."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.doctor.health import Part, Trouble
from bae_source.doctor.scene import Scene, quoted
from bae_source.errors import ResourceError
from bae_source.language_server.language_server import COMMANDS
from bae_source.model.settings import TABLE, Problem, UserSettings, problems
from bae_source.model.text import counted
from bae_source.project.files.census import WINDOWED
from bae_source.project.files.layout import as_setting, without_names
from bae_source.project.files.settings import lets_in
from bae_source.project.files.user_settings import user_file
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.installed import Required, installed, own_requirements, python_version, version_of
from bae_source.reloading.child.interpreter import Interpreter

_AGAIN = "doctor"
_TESTS = "pytest"
_NOWHERE = "(a file without a module's name)"
_SHOWN_PROJECTS = 5
_FEW = 3
_RULE = "rule"
"""The key among details of an error by which a policy forbids something."""
_SHOWN = 100
"""Characters that are shown of a setting."""


def roots(scene: Scene) -> Part:
    """Look at where the project's modules lie."""
    if scene.homeless is not None:
        trouble = _trouble("layout_unknown", scene.homeless)
        line = "unknown: other requests are refused until that is mended; the usual ones are looked at here"
        return Part(name="source roots", lines=(line,), troubles=(trouble,))
    layout = scene.workspace.layout
    found = [root or "the root itself" for root in layout.roots]
    moved = [f"{name} in {folder}" for name, folder in sorted(layout.packages.items())]
    inner = [f"{project.folder} ({', '.join(sorted(names)[:_FEW])})" for project, _, names in without_names(layout)]
    if not inner:
        return Part(name="source roots", lines=(", ".join([*found, *moved]),))
    message = (
        f"{counted(len(inner), 'folder')} hold projects of their own, whose code is not known by the names that "
        f"import it: {_some(inner, _SHOWN_PROJECTS)}."
    )
    trouble = Trouble(code="projects_inside", message=message, mend=as_setting(layout))
    return Part(name="source roots", lines=(", ".join([*found, *moved]),), troubles=(trouble,))


def interpreter(scene: Scene) -> Part:
    """Look at the project's interpreter, without running it."""
    found = scene.interpreter
    if scene.program is None:
        return Part(name="interpreter", lines=(f"{found.path} ({found.origin})",), troubles=(_missing(found),))
    version = python_version(scene.program)
    line = f"{found.path} ({found.origin}){f', Python {version}' if version else ''}"
    return Part(name="interpreter", lines=(line,), troubles=tuple(_unfit(scene, version)))


def modules(scene: Scene, limit: int) -> Part:
    """Look at every Python file.

    Parameters:
        limit: how many of those that do not parse are named.
    """
    try:
        found = _unparsed(scene.readable)
    except ResourceError as error:
        return Part(name="modules", lines=("unknown",), troubles=(_trouble(error.code, error),))
    line = f"{counted(found.examined, 'Python file')}, {len(found.failed) or 'none'} of them unreadable"
    line += f", {found.hidden} kept back by the policy" if found.hidden else ""
    line += f"; {counted(found.windowed, '.pyw file')} not looked into" if found.windowed else ""
    return Part(name="modules", lines=(line,), troubles=tuple(_unreadable(scene, found, limit)))


def settings(scene: Scene) -> Part:
    """Look at our own table in pyproject.toml, and at the user's own settings, where there are any."""
    line, troubles = _of_the_project(scene)
    users, more = _of_the_user(scene)
    return Part(name="settings", lines=(line, *users), troubles=(*troubles, *more))


def _of_the_project(scene: Scene) -> tuple[str, Iterable[Trouble]]:
    if scene.obstacle is not None:  # which the source roots report already, if it was in their way
        return "unknown", () if scene.homeless else (_trouble("settings_unreadable", scene.obstacle),)
    table = scene.own_settings
    names = list(table) if isinstance(table, dict) else []
    return ", ".join(map(str, names)) or "none", _wrong_settings(problems(table), TABLE)


def _of_the_user(scene: Scene) -> tuple[Sequence[str], Iterable[Trouble]]:
    try:
        found = user_file(scene.environment)
    except ResourceError as error:
        return ("unknown",), (_trouble("settings_unreadable", error),)
    lines = [f"{found.name}: {', '.join(found.table)}"] if found.table else []
    doubts = [Trouble(code=each.code, message=each.message, mend="chmod go-w, or chown") for each in found.notices]
    return lines, (*_wrong_settings(problems(found.table, UserSettings), found.name), *doubts)


def _wrong_settings(found: Iterable[Problem], where: str) -> Iterator[Trouble]:
    for each in found:
        yield Trouble(code="setting_wrong", message=each.message, mend=each.line or f"Remove {each.name} from {where}.")


def policy(scene: Scene) -> Part:
    """Look at the policies that govern the project, and at what is wrong with them."""
    try:
        folders = scene.readable.census.settings
    except ResourceError:
        folders = ()
    lines, wrong = scene.policies(folders)
    troubles = [Trouble(code="policy_wrong", message=each.message, mend=each.hints[0]) for each in wrong]
    return Part(name="policy", lines=tuple(lines) or ("unknown" if wrong else "none",), troubles=tuple(troubles))


def packages(scene: Scene) -> Part:  # noqa: ARG001  # one of several looks
    """Look at what we need, and at what our extras bring."""
    found = own_requirements()
    if found is None:
        return Part(name="packages", lines=("unknown, since this is no installed package",))
    lines = [", ".join(_release(each) for each in found if not each.extra)]
    for extra in dict.fromkeys(each.extra for each in found if each.extra):
        inside = [each for each in found if each.extra == extra]
        missing = "" if all(each.fits for each in inside) else f'  (pip install "bae-source[{extra}]")'
        lines.append(f"[{extra}] {', '.join(map(_release, inside))}{missing}")
    return Part(name="packages", lines=tuple(lines), troubles=tuple(_needed(found)))


def programs(scene: Scene) -> Part:
    """Look at the programs that are used if installed: git, language servers, and pytest for the project."""
    asked = "not found" if scene.git is None else version_of(scene.git, root=scene.root, environment=scene.environment)
    folders = os.pathsep.join([os.path.dirname(sys.executable), scene.search_path])  # noqa: PTH120  # as `which` wants it
    servers = [name for name, command in COMMANDS.items() if shutil.which(command[0], path=folders)]
    release, known = installed(_TESTS, scene.program) if scene.program else (None, False)
    tests = release or ("not installed" if known else "unknown without running it")
    return Part(
        name="programs",
        lines=(
            f"git: {asked.removeprefix('git version ')}",
            f"language servers: {', '.join(servers) or 'none'}",
            f"{_TESTS}, for the project's interpreter: {tests}",
        ),
    )


def _trouble(code: str, error: ResourceError) -> Trouble:
    return Trouble(code=code, message=error.message, mend=" ".join(error.hints) or _AGAIN)


def _missing(found: Interpreter) -> Trouble:
    named = found.origin.startswith(TABLE)
    return Trouble(
        code="interpreter_missing",
        message=f"The project's interpreter {found.path} (from {found.origin}) is no program that can be run.",
        mend='python = ".venv/bin/python"' if named else "python3 -m venv .venv",
    )


def _unfit(scene: Scene, version: str) -> Iterator[Trouble]:
    """Find a version that the project does not run on, as it says itself."""
    project = scene.pyproject.get("project")
    wanted = project.get("requires-python") if isinstance(project, dict) else None
    if not version or not isinstance(wanted, str):
        return
    fits = lets_in(wanted, version)
    if fits is None:
        message = f"requires-python is {wanted[:_SHOWN]!r}, which says no versions."
        yield Trouble(code="requirement_wrong", message=message, mend='requires-python = ">=3.11"')
    elif not fits:
        message = f"The project wants Python {wanted}, and its interpreter is Python {version}."
        yield Trouble(code="interpreter_unfit", message=message, mend="python3 -m venv --clear .venv")


def _unreadable(scene: Scene, found: _Unparsed, limit: int) -> Iterator[Trouble]:
    if found.failed:
        named = [_where(name, error) for name, error in found.failed]
        message = f"{counted(len(named), 'file')} cannot be read as code: {_some(named, limit)}."
        mend = f"doctor --limit {len(named)}" if len(named) > limit else f"read {found.failed[0][0]} --full --numbers"
        yield Trouble(code="not_parsed", message=message, mend=mend)
    if found.closed:
        message = f"{counted(len(found.closed), 'folder')} may not be listed: {_some(found.closed, limit)}."
        yield Trouble(code="folder_closed", message=message, mend=f"chmod u+rx {quoted(scene.root / found.closed[0])}")
    if found.outside:
        message = f"Not looked into, since these links lead out of the project: {_some(found.outside, limit)}."
        yield Trouble(code="links_lead_out", message=message, mend="doctor --root DIR")
    if not (found.examined or found.closed or found.outside or found.windowed):
        message = "There is no Python file below the root."
        yield Trouble(code="no_python", message=message, mend="doctor --root DIR")


def _where(name: str, error: ResourceError) -> str:
    line = error.details.get("line")
    return f"{name} ({error.code}{f', line {line}' if line else ''})"


def _some(names: Sequence[str], limit: int) -> str:
    rest = len(names) - limit
    return ", ".join(names[:limit]) + (f", and {rest:,} more" if rest > 0 else "")


class _Unparsed(Struct, frozen=True, kw_only=True):
    """Files of a project that cannot be looked into, and the number of all.

    Parameters:
        looked_at: how many Python files there are.
        failed: those that have no definitions for us: the module's name, and why.
        closed: folders that may not be listed.
        outside: names of the modules that are there by links out of the project.
        windowed: the number of `.pyw` files, which are not looked into.
        hidden: how many files a policy forbids to read.
    """

    examined: int
    failed: tuple[tuple[str, ResourceError], ...]
    closed: tuple[str, ...]
    outside: tuple[str, ...]
    windowed: int
    hidden: int


def _unparsed(workspace: Workspace) -> _Unparsed:
    """Look at every Python file of a project, stubs included.

    Raises:
        SourceError: its settings do not say what belongs to it.
    """
    census = workspace.census
    paths = [*census.paths, *census.stubs]
    unread = [
        (module.name if (module := census.module(path)) else _NOWHERE, found)
        for path, found in workspace.index.summaries(paths)
        if isinstance(found, ResourceError)
    ]
    failed = [each for each in unread if _RULE not in each[1].details]
    beyond = [path for path in census.outside if not path.endswith(WINDOWED)]
    return _Unparsed(
        examined=len(paths),
        failed=tuple(sorted(failed, key=lambda found: found[0])),
        closed=census.closed,
        outside=tuple(module.name if (module := census.module(path)) else _NOWHERE for path in beyond),
        windowed=len(census.outside) - len(beyond),
        hidden=len(unread) - len(failed),
    )


def _release(required: Required) -> str:
    if required.found is None:
        return f"{required.name} not installed"
    return f"{required.name} {required.found}" + ("" if required.fits else f" (wanted {required.wanted})")


def _needed(found: Iterable[Required]) -> Iterable[Trouble]:
    """Find what we cannot do without; an extra that is missing is a choice."""
    for each in found:
        if each.extra or each.fits:
            continue
        what = "is not installed" if each.found is None else f"is {each.found}, and {each.wanted} is wanted"
        message = f"{each.name}, which bae_source needs, {what}."
        yield Trouble(code="package_missing", message=message, mend=f'pip install "{each.name}{each.wanted}"')
