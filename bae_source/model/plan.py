"""The plan that an operation hands to the service: the changes, and what is known about them.

A plan is data. It crosses from the half that thinks (operations, syntax, project) to the half that writes
(transaction, runtime) once, and neither half reads the other's mind beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from bae_source.model.outcome import Notice
from bae_source.model.text import listed

if TYPE_CHECKING:
    from bae_source.model.changeset import ChangeSet
    from bae_source.model.report import Report

ReloadMode = Literal["auto", "patch", "process", "child", "off"]
"""The way a change is verified by loading: where it is loaded, patched there, here, in a child, or not at all."""


_SHOWN = 8
"""Releases that a sentence names."""


class ModuleFile(Struct, frozen=True, kw_only=True):
    """A module of the project and the file it lives in.

    Parameters:
        name: dotted name, as an import statement has it.
        path: the file, project-relative with forward slashes.
        source_root: the folder that stands on `sys.path`, project-relative; "" for the project's root.
        package: whether the file is a package's `__init__`.
        import_checked: whether importing the module may verify a change; False for `__main__`, scripts, `setup`,
            conftest and test modules, which are only compiled.
    """

    name: str
    path: str
    source_root: str = ""
    package: bool = False
    import_checked: bool = True


class Release(Struct, frozen=True, kw_only=True):
    """A distribution in an environment, before a change and after it.

    Parameters:
        name: normalised.
        before: its version; None where it is not there.
        after: likewise.
    """

    name: str
    before: str | None
    after: str | None


class Requirements(Struct, frozen=True, kw_only=True):
    """Distributions that a plan wants in the project's environment, or no longer.

    Parameters:
        add: requirements to be met, as PEP 508 has them.
        drop: names of distributions that the project no longer declares.
        upgrade: names of distributions that are to be as new as what is declared lets them be.
        build: whether source distributions may be built, which runs code of theirs.
        install: whether the environment changes, and not the files of the project alone.
        extras, groups: what is installed of the project beside what it always needs.
    """

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    upgrade: tuple[str, ...] = ()
    build: bool = False
    install: bool = True
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def distribution_of(requirement: str) -> str:
    """Return the normalised name (PEP 503) that a requirement (PEP 508) begins with."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]*", requirement, re.ASCII)[0]).lower()  # type: ignore[index]


class Plan(Struct, frozen=True, kw_only=True):
    """A change, planned and not yet made.

    Parameters:
        changes: the edits by file; empty where nothing needs to change.
        changed: addresses of the symbols that the change is about, canonical, in the order of the request.
        seen: etag of each symbol that was named, as it was when the change was planned; a module or a package only
            gives the place, and has none.
        modules: the modules whose files the change touches.
        warnings: what the caller should know.
        summary: one line for people and for the history.
        summaries: those of the plans that it was joined of.
        gone: the module or package whose name goes with the change; who refers to it is among the warnings, and told
            anew where other changes follow that may mend it.
        unused: addresses of what goes that nothing may use, once all changes that are made together are.
        users: modules that use what goes, and are not changed: the change does not import unless they do.
        report: of a refactoring, what changes and what stays.
        takes: whether names go that nothing takes the place of, so that their users are named beside the report.
        circles: whether a new circle of imports refuses it, be that asked for or not.
        ran_code: whether code that is not ours worked it out, which may come to something else the next time, so that
            a proposal keeps the bytes.
        finds: whether a dry run that would change something ends with the exit status of findings.
        requirements: distributions that are to be resolved before the change is judged, and installed with it.
        releases: what is installed with the change, once that is resolved.
        passed: of an undo or redo of several changes, mode and owner that each took away on the way, for the history.
    """

    changes: ChangeSet
    changed: tuple[str, ...]
    seen: tuple[str, ...] = ()
    modules: tuple[ModuleFile, ...]
    warnings: tuple[Notice, ...] = ()
    summary: str
    gone: str | None = None
    unused: tuple[str, ...] = ()
    users: tuple[ModuleFile, ...] = ()
    report: Report | None = None
    summaries: tuple[str, ...] = ()
    takes: bool = False
    circles: bool = False
    finds: bool = False
    ran_code: bool = False
    requirements: Requirements | None = None
    releases: tuple[Release, ...] = ()
    passed: Mapping[str, Mapping[str, tuple[int | None, tuple[int, int] | None]]] = {}


def in_words(releases: Sequence[Release]) -> str:
    """Return a clause about releases: `Installs rich 14.0 for 13.9 and mdurl 0.1; takes out pygments 2.19`."""
    new = [
        f"{each.name} {each.after}" + (f" for {each.before}" if each.before else "") for each in releases if each.after
    ]
    gone = [f"{each.name} {each.before}" for each in releases if each.after is None]
    parts = [f"installs {listed(new, _SHOWN)}"] * bool(new) + [f"takes out {listed(gone, _SHOWN)}"] * bool(gone)
    text = "; ".join(parts) or "nothing to install"
    return f"{text[:1].upper()}{text[1:]}"


def recorded(plan: Plan) -> dict[str, Any]:
    """Return the history's record of the environment that a plan changes; empty where it changes none."""
    if not plan.releases:
        return {}
    build = plan.requirements is not None and plan.requirements.build
    return {"releases": [[each.name, each.before, each.after] for each in plan.releases], "build": build}


def releases_in(requests: Sequence[Mapping[str, Any]]) -> tuple[Release, ...]:
    """Return the changes of the environment by consecutive requests of the history, taken together."""
    found: dict[str, Release] = {}
    for request in requests:
        for name, before, after in request.get("releases", ()):
            first = found[name].before if name in found else before
            found[name] = Release(name=name, before=first, after=after)
    return tuple(each for each in found.values() if each.before != each.after)
