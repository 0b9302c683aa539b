"""What an operation hands to the service: the changes, and what is known about them.

A plan is data. It crosses from the half that thinks (operations, syntax, project) to the half that writes
(transaction, runtime) once, and neither half reads the other's mind beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bae_source.model.outcome import Notice

if TYPE_CHECKING:
    from bae_source.model.changeset import ChangeSet
    from bae_source.model.report import Report

ReloadMode = Literal["auto", "patch", "process", "child", "off"]
"""How a change is verified by loading: in place where it is loaded, patched there, here, in a child, or not at all."""


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
        takes: whether names go that nothing takes the place of, so that who uses them is said beside the report.
        circles: whether a new circle of imports refuses it, be that asked for or not.
        finds: whether a dry run that would change something ends with the exit status of findings.
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
    passed: Mapping[str, Mapping[str, tuple[int | None, tuple[int, int] | None]]] = {}
