"""Several plans, each made on the project after the one before, as one plan on the project before all.

Relative imports that mean something else once several changes have given their module another name:

    pkg/core.py     from .base import f      moved to pkg.net.core, and written with the same import once more there:
                                             it meant pkg.base, and means pkg.net.base

Invariants:
- a notice about something that a later plan may have mended is checked once more, in the end;
- a relative import of a module that moves along means the same as before, and gets no notice;
- a file that cannot be read is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.changeset import ChangeSet, FileChange, between, digest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan, Requirements, distribution_of
from bae_source.model.report import together
from bae_source.project.naming.resolve import absolute_name
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.importing.adding import IMPORTS_ADDED, imports_added
from bae_source.syntax.names.uses import Imported

_MENDED = ("relative_imports", "not_searched")
"""The codes of notices about relative imports, which a later plan may have mended."""
_MOST_SHOWN = 10
_IMPORTING = re.compile(rb"\bimport\b|^\s+\w+(?:\s+as\s+\w+)?\s*,?\s*\)?\s*(?:#.*)?$")
_RELATIVE = re.compile(rb"(?m)\bfrom(?:[ \t\f]|\\\r?\n)*\.")


def joined(first: Workspace, last: Workspace, plans: Sequence[Plan]) -> Plan:
    """Return several plans as one; each was made on the project after the one before.

    Parameters:
        first: what the first of them was planned on.
        last: what the last of them comes to.
    """
    paths = sorted({file.path for plan in plans for file in plan.changes.files})
    origins, created = _provenance(plans)
    before = {path: first.content(path) for path in paths}
    found = between(before, {path: last.content(path) for path in paths}, origins)
    alone = _alone(plans)
    files = [_anew(file) if file.path in created else alone.get(file.path, file) for file in found.files]
    changes = ChangeSet(tuple(with_modes(files, _modes(plans), last)))
    touched = {file.path for file in changes.files}
    modules: dict[str, ModuleFile] = {module.path: module for plan in plans for module in plan.modules}
    gaining = {each for each in touched if _has_new_import(before[each], last.content(each))}
    return Plan(
        changes=changes,
        changed=tuple(dict.fromkeys(address for plan in plans for address in plan.changed)),
        seen=tuple(etag for plan in plans for etag in plan.seen),
        modules=tuple(module for path, module in modules.items() if path in touched),
        warnings=tuple(_gathered(dict.fromkeys(_kept(_warnings(first, last, plans, changes), gaining, modules)))),
        summary=_summary(plans, to_nothing=not changes),
        summaries=_summaries(plans) if len(plans) > 1 else plans[0].summaries,
        report=together([plan.report for plan in plans if plan.report is not None]),
        unused=tuple(address for plan in plans for address in plan.unused),
        takes=any(plan.takes for plan in plans),
        circles=any(plan.circles for plan in plans),
        ran_code=any(plan.ran_code for plan in plans),
        requirements=_requirements([plan.requirements for plan in plans if plan.requirements is not None]),
    )


def _requirements(every: Sequence[Requirements]) -> Requirements | None:
    """Return the releases to install and drop for several plans, one after the other; a later one wins."""
    if not every:
        return None
    added: dict[str, None] = {}
    dropped: dict[str, None] = {}
    for each in every:
        names = {*each.drop, *map(distribution_of, each.add)}
        added = {one: None for one in added if distribution_of(one) not in names} | dict.fromkeys(each.add)
        dropped = {one: None for one in dropped if one not in names} | dict.fromkeys(each.drop)
    return Requirements(
        add=tuple(added),
        drop=tuple(dropped),
        upgrade=tuple(dict.fromkeys(name for each in every for name in each.upgrade if name not in dropped)),
        build=any(each.build for each in every),
        install=all(each.install for each in every),
        extras=tuple(dict.fromkeys(name for each in every for name in each.extras)),
        groups=tuple(dict.fromkeys(name for each in every for name in each.groups)),
    )


def _provenance(plans: Sequence[Plan]) -> tuple[dict[str, str], set[str]]:
    """Return where each file in the end came from that has another name than at first, and which ones are made here."""
    origins: dict[str, str] = {}
    created: set[str] = set()
    for plan in plans:
        came, fresh = dict(origins), set(created)
        for file in plan.changes.files:
            if file.before is not None and file.after is not None and file.origin is None:
                continue  # it stays what it is
            origins.pop(file.path, None)
            created.discard(file.path)
            if file.after is not None and (file.origin is None or file.origin in fresh):
                created.add(file.path)
            elif file.after is not None and file.origin is not None:
                origins[file.path] = came.get(file.origin, file.origin)
    return {path: origin for path, origin in origins.items() if path != origin}, created


def _alone(plans: Sequence[Plan]) -> dict[str, FileChange]:
    """Return the changes of files that one plan alone edits in their place, by path: its edits leave more as it is."""
    counts = Counter(file.path for plan in plans for file in plan.changes.files)
    every = (file for plan in plans for file in plan.changes.files if counts[file.path] == 1 and file.edits)
    return {each.path: each for each in every if each.before and each.after and each.origin is None}


def _modes(plans: Sequence[Plan]) -> dict[str, bool]:
    """Return the files that are to be programs, or no longer, as the last plan that says so has it."""
    found: dict[str, bool] = {}
    for plan in plans:
        before = dict(found)
        for file in plan.changes.files:
            if file.after is None or file.origin is not None:
                found.pop(file.path, None)
            if file.after is not None and file.origin in before:
                found[file.path] = before[file.origin]
            if file.executable is not None:
                found[file.path] = file.executable
    return found


def with_modes(files: Sequence[FileChange], modes: Mapping[str, bool], workspace: Workspace) -> Iterator[FileChange]:
    """Yield changes with what they make programs, and those of files of which nothing else changes.

    Parameters:
        modes: whether files are to be programs, by path.
        workspace: before or after the changes.
    """
    changed = {file.path: file for file in files}
    for path in sorted({*changed, *modes}):
        if path in changed:
            yield replace(changed[path], executable=modes.get(path))
        elif (content := workspace.content(path)) is not None:
            same = digest(content)
            yield FileChange(path=path, before=same, after=same, edits=(), executable=modes[path])


def _anew(file: FileChange) -> FileChange:
    """Return the change of a file that takes the name of another."""
    return file if file.before is None else replace(file, anew=True)


def _summary(plans: Sequence[Plan], *, to_nothing: bool) -> str:
    if len(plans) == 1:
        return plans[0].summary
    come = " that come to nothing" if to_nothing else ""
    every = _summaries(plans)
    about = list(dict.fromkeys(each.rstrip(".") for each in every))
    shown = "; ".join(about[:3]) + (f"; and {len(about) - 3} more" if len(about) > 3 else "")
    return f"{len(every)} changes{come}: {shown}."


def _summaries(plans: Sequence[Plan]) -> tuple[str, ...]:
    return tuple(each for plan in plans for each in (plan.summaries or (plan.summary,)))


def _kept(notices: Iterable[Notice], gaining: Collection[str], modules: Mapping[str, ModuleFile]) -> Iterator[Notice]:
    """Yield notices, those of imports only for modules that have a new one in the end.

    Parameters:
        gaining: the files that have one.
        modules: by their paths.
    """
    names = {module.name: path for path, module in modules.items()}
    for notice in notices:
        if notice.code != IMPORTS_ADDED or not notice.about:
            yield notice
            continue
        left = [each for each in notice.about[1:] if each not in names or names[each] in gaining]
        if left:
            yield notice if len(left) == len(notice.about) - 1 else imports_added(left, notice.about[0])


def _has_new_import(before: bytes | None, after: bytes | None) -> bool:
    """Return whether a line is new that imports something, or may be a name in an import of several lines."""
    known = frozenset((before or b"").splitlines())
    return any(each not in known and _IMPORTING.search(each) for each in (after or b"").splitlines())


def _gathered(notices: Iterable[Notice]) -> list[Notice]:
    """Return notices with those as one that tell of the same import in several modules."""
    found: dict[Any, list[Notice]] = {}
    for notice in notices:
        is_import = notice.code == IMPORTS_ADDED and notice.about
        found.setdefault(notice.about[0] if is_import else notice, []).append(notice)
    return [each[0] if len(each) == 1 else _added(each) for each in found.values()]


def _added(notices: Sequence[Notice]) -> Notice:
    modules = [module for notice in notices for module in notice.about[1:]]
    return imports_added(modules, notices[0].about[0])


def _warnings(first: Workspace, last: Workspace, plans: Sequence[Plan], changes: ChangeSet) -> Iterator[Notice]:
    """Yield the notices; those that a later change may have mended are checked once more, in the end."""
    names = dict.fromkeys(plan.gone for plan in plans[:-1] if plan.gone)
    if not names:
        for plan in plans:
            yield from plan.warnings
        return
    from bae_source.refactoring.planning import left_behind

    names.update(dict.fromkeys(plan.gone for plan in plans if plan.gone))
    again = {*left_behind.NOTICE_CODES, *_MENDED}
    for plan in plans:
        yield from (notice for notice in plan.warnings if not plan.gone or notice.code not in again)
    yield from _broken_at_last(first, last, changes)
    reported = {plan.gone for plan in plans if plan.report is not None}  # which says of all else where it is named
    for name in names:
        found = left_behind.left_at_last(last, name)
        yield from (each for each in found if name not in reported or each.code == "still_imported")


def _broken_at_last(first: Workspace, last: Workspace, changes: ChangeSet) -> tuple[Notice, ...]:
    """Return the notices about relative imports that several changes move and leave as they were.

    Parameters:
        first: the project as it is before all of them.
        last: as all of them leave it.
        changes: what they come to together.
    """
    paths = {file.origin: file.path for file in changes.files if file.origin and file.path.endswith((".py", ".pyi"))}
    before = {path: first.layout.module_at(path) for path in paths}
    after = {path: last.layout.module_at(new) for path, new in paths.items()}
    names = {here.name: there.name for path, here in before.items() if here and (there := after[path])}
    found: list[str] = []
    unread: list[str] = []
    for path, new in paths.items():
        here, there = before[path], after[path]
        if here is None or there is None or not _RELATIVE.search(_bytes(last, new)):
            continue
        try:
            stood = {_words(each) for each in project_of(first).uses(path).imports}
            imports = project_of(last).uses(new).imports
        except ResourceError:
            unread.append(there.name)
            continue
        for each in (each for each in imports if each.level and not each.begins and _words(each) in stood):
            meant, means = _named(here, each), _named(there, each)
            if meant is not None and means != _moved(meant, names):
                found.append(_sentence(there, each, meant, means))
    return tuple(_notices(list(dict.fromkeys(found)), unread))


def _words(imported: Imported) -> tuple[int, str, str]:
    return imported.level, imported.module, imported.attribute


def _moved(name: str, names: Mapping[str, str]) -> str:
    """Return the name of a module after the moves: of itself, or of a package around it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        new = names.get(".".join(parts[:length]))
        if new is not None:
            return ".".join((new, *parts[length:]))
    return name


def _named(module: ModuleFile, imported: Imported) -> str | None:
    """Return the module that a relative import names: what it takes from a package alone counts as one."""
    base = absolute_name(module, imported)
    if base is None:
        return None
    bare = not imported.module and imported.attribute not in ("", "*")
    return ".".join([*map(str, base), *([imported.attribute] if bare else [])])


def _sentence(module: ModuleFile, imported: Imported, before: str, now: str | None) -> str:
    means = f"means {now} now" if now else "leads out of the top package now"
    return f"{module.name}:{imported.line} meant {before} and {means}"


def _notices(found: list[str], unread: list[str]) -> Iterator[Notice]:
    if found:
        more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        yield Notice("relative_imports", f"Relative imports to mend: {'; '.join(found[:_MOST_SHOWN])}{more}.")
    if unread:
        shown = ", ".join(unread[:_MOST_SHOWN]) + (" and more" if len(unread) > _MOST_SHOWN else "")
        yield Notice("not_searched", f"Their relative imports could not be read: {shown}.")


def _bytes(workspace: Workspace, path: str) -> bytes:
    return workspace.content(path) or b""
