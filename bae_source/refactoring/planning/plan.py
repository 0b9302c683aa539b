"""From splices and new contents of files to a plan that has passed every check; the last step of each operation.

Invariants:
- every Python file of a plan parses and compiles, and its bytes outside the splices are those that were there;
- a file whose line ends are of one kind keeps to that kind, whatever the given text has;
- a file that is only moved keeps its bytes, so it is let through whatever is in it, unparsed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, ResourceError, SourceError
from bae_source.model.address import Address
from bae_source.model.call import Call
from bae_source.model.changeset import ChangeSet, Contents, FileChange, between
from bae_source.model.outcome import ETAG, PREVIEW, Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.span import Span
from bae_source.project.facts.index import named
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.outline.compiling import compile_error
from bae_source.syntax.outline.locate import group_span
from bae_source.syntax.outline.tree import Tree, has_bare_exceptions, too_new_for
from bae_source.syntax.rewrite.postcondition import (
    check,
    check_renamed,
    names_alone,
    renames_alone,
    replaced_and_written,
)
from bae_source.syntax.text.source import Source, kept_uniform

_BARE_EXCEPTIONS = (3, 14)
"""Since this Python the exceptions of an `except` need no parentheses (PEP 758)."""

Splices = Sequence[tuple[Span, str]]
"""Disjoint spans of a module's text, and what stands there afterwards."""


class Spliced(Struct, frozen=True, kw_only=True):
    """The changes inside one existing module.

    Parameters:
        module: the module.
        splices: the changes, in any order; none where the module is as it should be.
        targets: spans of what they may change inside, such as a symbol or a list; other definitions are only moved.
        names: of a rename, the old name and the new one: definitions get no other, and stay where they are.
    """

    module: ModuleFile
    splices: tuple[tuple[Span, str], ...]
    targets: tuple[Span, ...] = ()
    names: tuple[str, str] | None = None


def check_etag(resolved: Resolved, if_match: str | None) -> None:
    """Refuse a change whose caller has seen another state of the symbol.

    Raises:
        Refused: `stale`.
    """
    if if_match is None:
        return
    source = span_of(resolved).cut(resolved.tree.text)
    if if_match != etag_of(source):
        raise outdated(str(resolved.address), etag_of(source), source)


def outdated(address: str, present: str, source: str | None) -> Refused:
    """Return the refusal of a change whose caller has seen another state.

    Parameters:
        present: the etag now.
        source: the text now, which the error carries; None where there is none to be shown.
    """
    is_shown = "it stands below" if source is not None else f"read {address} again"
    return Refused(
        "stale",
        f"{address} is not what it was when its etag was read.",
        hints=[f"Look at what it is now, {is_shown}, and repeat the change with the new etag {present}."],
        details={ETAG: present, **({} if source is None else {PREVIEW: source})},
    )


@contextmanager
def telling_etag(etag: str) -> Iterator[None]:
    """Add the present etag to the error for a text that does not occur where it is to be replaced."""
    try:
        yield
    except LookupFailed as error:
        raise error.altered(details={**error.details, ETAG: etag}) from None


def planned(
    workspace: Workspace,
    resolved: Resolved,
    splices: Splices,
    *,
    summary: str,
    changed: Iterable[Address] = (),
    warnings: Iterable[Notice] = (),
) -> Plan:
    """Make the plan of a set of splices on one module, and check it.

    Raises:
        SourceError: `syntax_invalid` if the new file would not parse; `encoding_invalid`; `not_lossless`.
        Refused: `unsafe_change` if another definition would change.
    """
    group = resolved.group
    targets = (group_span(resolved.tree.outline, group.members),) if group else ()
    return planned_files(
        workspace,
        spliced=[Spliced(module=resolved.module, splices=tuple(splices), targets=targets)],
        summary=summary,
        changed=tuple(map(str, changed)) or (str(resolved.address),),
        seen=_seen(resolved),
        warnings=warnings,
    )


def planned_files(
    workspace: Workspace,
    *,
    summary: str,
    changed: Sequence[str],
    spliced: Iterable[Spliced] = (),
    contents: Contents | None = None,
    origins: Mapping[str, str] | None = None,
    seen: Sequence[str] = (),
    checked: Collection[str] = (),
    warnings: Iterable[Notice] = (),
) -> Plan:
    """Make the plan of changes of several files, and check each of them.

    Parameters:
        changed: addresses of what the change is about, canonical.
        spliced: what is changed inside modules that are there; each module once, and none that is in `contents`.
        contents: what files hold afterwards as a whole, by path: new ones, replaced ones, and None for what goes.
        origins: where each moved file of `contents` came from, by the path that it has afterwards.
        seen: etag of each symbol that was named, as `Plan` has them.
        checked: paths of `contents` of which it is known already that they are as sound as they were.

    Raises:
        SourceError: `syntax_invalid` if a new file would not parse; `encoding_invalid`; `not_lossless`.
        Refused: `unsafe_change` if a definition outside the splices would change.
    """
    given = contents or {}
    files: list[FileChange] = []
    modules: list[ModuleFile] = []
    notices = list(warnings)
    for each in map(partial(_uniform, workspace), spliced):
        try:
            change = workspace.change(each.module, each.splices)
        except SourceError as error:
            raise named(error, each.module.name) from None
        if change.edits:
            notices += _check_spliced(workspace, each, change)
            files.append(change)
            modules.append(workspace.module_file(each.module))
    whole = between({path: workspace.content(path) for path in given}, given, origins)
    for change in whole.files:
        if change.path not in checked:
            notices += check_whole(workspace, change, given[change.path], origins or {})
    modules += _modules(workspace, whole)
    return Plan(
        changes=ChangeSet(tuple(sorted((*files, *whole.files), key=lambda change: change.path))),
        changed=tuple(changed),
        seen=tuple(seen),
        modules=tuple(sorted(modules, key=lambda module: module.path)),
        warnings=tuple(dict.fromkeys(notices)),
        summary=summary,
    )


def _uniform(workspace: Workspace, each: Spliced) -> Spliced:
    """Return a module's changes with the line ends of a file that has one kind, without those that change nothing."""
    if not each.splices:
        return each
    text = workspace.source(each.module).text
    uniform = [(span, kept_uniform(new, text)) for span, new in each.splices]
    splices = tuple((span, new) for span, new in uniform if span.cut(text) != new)
    return replace(each, splices=splices)


def _check_spliced(workspace: Workspace, each: Spliced, change: FileChange) -> list[Notice]:
    """Compare a module before and after, and return the notices about it."""
    if _is_alike(workspace, each, change):
        return []
    before = workspace.tree(each.module)
    replaced, written = replaced_and_written(each.splices)
    after = _parsed(workspace, each.module.name, change.apply(before.source.content), change.after, written)
    if each.names is not None:
        check_renamed(before, change, each.splices, after, each.names)
    else:
        check(before, change, each.splices, after, targets=each.targets, broken=workspace.lets_broken_in)
    if not before.newer and not names_alone(before.text, each.splices):
        _check_version(workspace, each.module.name, after, before)
    error = compile_error(after, written)
    if error is not None and compile_error(before, replaced) is None:
        raise _at_fault(error, each.module.name)
    return _unchecked(after) if after.newer and not before.newer else []


def _is_alike(workspace: Workspace, each: Spliced, change: FileChange) -> bool:
    """Return whether a module is unchanged, but for names."""
    before = workspace.source(each.module)
    try:
        after = Source(change.apply(before.content), change.after)
    except SourceError:
        return False
    return renames_alone(before, change, each.splices, after)


def check_whole(
    workspace: Workspace, change: FileChange, content: bytes | None, origins: Mapping[str, str]
) -> list[Notice]:
    """Check that a file which is written as a whole is Python, if its name says so, and return the notices.

    Raises:
        SourceError: `syntax_invalid`.
    """
    origin = origins.get(change.path)
    if content is None or not change.path.endswith((".py", ".pyi")):
        return []
    if origin is not None and workspace.content(origin) == content:
        return []
    module = workspace.layout.module_at(change.path)
    name = module.name if module else "A file"
    after = _parsed(workspace, name, content, change.after)
    before = _before(workspace, change.path)
    _check_version(workspace, name, after, before)
    error = compile_error(after)
    if error is not None and (before is None or compile_error(before) is None):
        raise _at_fault(error, name)
    return _unchecked(after) if after.newer else []


def _before(workspace: Workspace, path: str) -> Tree | None:
    """Return the outline of a replaced file; None where there was none, or it did not parse."""
    content = workspace.content(path)
    try:
        return None if content is None else workspace.kept.trees.get(content)
    except SourceError:
        return None


def _modules(workspace: Workspace, changes: ChangeSet) -> list[ModuleFile]:
    """Return the modules whose files are made, replaced or deleted as a whole."""
    if not changes:
        return []
    later = workspace.after(changes)
    found = ((file, workspace.layout.module_at(file.path)) for file in changes.files)
    # A deleted file is judged as it was, so that a script stays one, and no check imports it.
    return [(workspace if file.after is None else later).module_file(module) for file, module in found if module]


def _unchecked(tree: Tree) -> list[Notice]:
    """Return the notice on code that no compiler here has seen."""
    assert tree.newer
    text = "The new code is newer than the Python that runs here; it was not compiled."
    return [Notice("syntax_unchecked", text)]


def _seen(resolved: Resolved) -> tuple[str, ...]:
    """Return the etag of the symbol that was resolved; a module is no symbol, it only gives the place."""
    if resolved.group is None:
        return ()
    return (etag_of(group_span(resolved.tree.outline, resolved.group.members).cut(resolved.tree.text)),)


def _check_version(workspace: Workspace, name: str, after: Tree, before: Tree | None) -> None:
    """Refuse syntax that the oldest Python of the project does not know, unless the module has some already.

    `except A, B` is Python 2 as well, which is what is meant more often; so the project has to say that it may be new.
    """
    if before is not None and before.newer:
        return
    version = workspace.oldest_python
    if version is None and after.newer and has_bare_exceptions(after.text):
        version = workspace.oldest_python_below(_BARE_EXCEPTIONS)
    if version is None:
        return
    error = too_new_for(after.text, version)
    if error is not None and (before is None or too_new_for(before.text, version) is None):
        shown = ".".join(map(str, version))
        raise SourceError(
            "syntax_invalid",
            f"{name} would need a newer Python than {shown}, which the project supports: {error.details['reason']}.",
            hints=["Write it without the newer syntax, or raise requires-python first."],
            details=error.details,
        )


def still_broken(error: SourceError, name: str) -> SourceError:
    """Return the error of a file that did not parse, and would not after a change either."""
    details, fault = {**error.details, "module": name}, f"it {error.reason}"
    if "line" in details:
        fault = f"it would still not parse: line {details['line']}, column {details['column']}: {details['reason']}."
    return SourceError(
        error.code,
        f"{name} was not written: with the change, {fault}",
        hints=["Give all the edits that mend the file to one apply; only the last of them must leave it whole."],
        details=details,
    )


def still_in_use(address: str, places: str, *hints: str) -> Refused:
    """Return the refusal to delete a target that is still used.

    Parameters:
        hints: calls that delete it all the same.
    """
    return Refused(
        "unsafe_change",
        f"{address} is still used, and was not deleted: {places}.",
        hints=hints or [Call("delete", target=address, force=True, then="deletes it all the same.")],
    )


def import_in_use(target: str, names: Sequence[str], places: str) -> Refused:
    """Return the refusal to take out imports of names that are still used.

    Parameters:
        target: the module, or the function that imports them.
    """
    line = f"imports remove {target} {' '.join(names)} --force"
    it, used = (
        ("it", "is still used, and its import was")
        if len(names) == 1
        else ("them", "are still used, and their imports were")
    )
    then = f"takes {it} out all the same."
    forced = Call("imports remove", target=target, names=names, force=True, line=line, then=then)
    return Refused(
        "unsafe_change",
        f"{', '.join(names)} of {target} {used} not taken out: {places}.",
        hints=[forced],
        details={"verb": "imports_remove"},
    )


def _parsed(workspace: Workspace, name: str, content: bytes, known: str | None, written: Sequence[Span] = ()) -> Tree:
    """Return the definitions of a planned file.

    Parameters:
        written: the spans of its text that the change writes; an error elsewhere in it was there before.
    """
    try:
        return workspace.tree_after(content, known)
    except SourceError as error:
        if not workspace.lets_broken_in or not written or error.code != "syntax_invalid":
            raise (named(error, name) if workspace.lets_broken_in else _at_fault(error, name)) from None
        lines = Source(content).lines
        ranges = [(lines.number(each.start), lines.number(max(each.start, each.end - 1))) for each in written]
        here = any(first <= error.details.get("line", 0) <= last for first, last in ranges)
        raise (_at_fault(error, name) if here else still_broken(error, name)) from None


def _at_fault(error: SourceError, name: str) -> ResourceError:
    return SourceError(
        error.code,
        f"With the change, {name} would be at fault: {error.message}",
        hints=["Nothing was changed; give source that fits where it is to stand."],
        details=error.details,
    )
