"""Comments, docstrings and text files that mention moved symbols, with their new dotted names.

    # see app.core.send              changed with `exact`: it is the dotted name, or the end of it
    from app.core import send        in a text file, likewise
    >>> app.core.send(3)             changed anyway: it is code

Invariants:
- an unchanged place is listed as a mention, at the line where it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.plan import Plan
from bae_source.model.reference import Reference
from bae_source.model.report import Report, together
from bae_source.model.span import Span
from bae_source.project.references.meaning.project import shown
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.prose import Spoken, spoken_of
from bae_source.project.references.search.prose_edits import Wording, edited, edits, other_name, other_word
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.planning.generated import generated_among
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.plan import Spliced, planned_files

_PYTHON = (".py", ".pyi")
_DOCTEST = re.compile(r"\s*(?:>>>|\.\.\.)\s")


class Moved(Struct, frozen=True, kw_only=True):
    """One thing that has another dotted name.

    Parameters:
        sought: as it is searched for.
        new: the dotted name that it has now.
        code: by path, line and column of places that are known to name it in code.
    """

    sought: Sought
    new: str
    code: Mapping[str, Sequence[tuple[int, int]]] = {}


def with_prose(workspace: Workspace, plan: Plan, moved: Sequence[Moved], choice: Choice) -> Plan:
    """Return a plan with the changes of prose about the moved symbols.

    Parameters:
        workspace: what the plan was made on.
    """
    report = plan.report
    assert report is not None
    now, plans = workspace.after(plan.changes), [plan]
    settings = {path: lines for path, lines in _lines(now, plan).items() if not path.endswith(_PYTHON)}
    left: list[Reference] = []
    for each in moved:
        spoken, notices = spoken_of(workspace, each.sought, each.code)
        report = replace(report, complete=report.complete and not notices)
        wanted_here = [one for one in _wanted(workspace, spoken, choice) if _is_found(workspace, one, each)]
        if wanted_here:
            further = _changed(now, each, choice)
            plans += [further] if further.changes else []
            now = now.after(further.changes)
        rest = (one for one in spoken if one not in wanted_here)
        left += [
            one.reference
            for one in rest
            if one.python or one.reference.text in settings.get(one.path, (one.reference.text,))
        ]
    reports = [each.report for each in plans[1:] if each.report is not None]
    lines = {line for file in (_lines(now, each) for each in plans[1:]) for row in file.values() for line in row}
    kept = tuple(each for each in report.mentions if not reports or each.text in lines or each.kind != "string")
    known = {(each.module, each.line) for each in kept}
    mentions = (each for each in dict.fromkeys(left) if (each.module, each.line) not in known)
    whole = together([replace(report, mentions=(*kept, *mentions)), *reports])
    if len(plans) == 1:
        return replace(plan, report=whole)
    count = sum(each.places for each in reports)
    also = f", and {count:,} {'place' if count == 1 else 'places'} in comments, docstrings and text files."
    changed = joined(workspace, now, plans)
    summary = plan.summary.rstrip(".") + also
    return replace(plan, changes=changed.changes, modules=changed.modules, report=whole, summary=summary)


def _lines(now: Workspace, plan: Plan) -> dict[str, frozenset[str]]:
    """Return the lines of each file that changes, as a mention shows them."""
    texts = {file.path: (now.content(file.path) or b"").decode("utf-8", "replace") for file in plan.changes.files}
    return {path: frozenset(map(shown, text.split("\n"))) for path, text in texts.items()}


def _is_found(workspace: Workspace, spoken: Spoken, moved: Moved) -> bool:
    """Return whether a place can be changed."""
    content = workspace.content(spoken.path) or b""
    try:
        text = workspace.tree_at(spoken.path).text if spoken.python else content.decode("utf-8", "replace")
    except ResourceError:
        return False
    return bool(edits(text, [(spoken.reference.line, spoken.reference.column)], _wording(moved, spoken)))


def _wanted(workspace: Workspace, spoken: Iterable[Spoken], choice: Choice) -> list[Spoken]:
    """Return the places that change."""
    found = [each for each in spoken if _is_wanted(each, choice)]
    skipped = generated_among(workspace, (each.path for each in found)) if choice.skip_generated else ()
    return [each for each in found if each.path not in skipped]


def _is_wanted(spoken: Spoken, choice: Choice) -> bool:
    if spoken.reference.kind == "string":
        return False  # it may be compared with what code makes of another name
    if choice.text == "words" or (choice.text == "exact" and spoken.dotted):
        return True
    return spoken.dotted and spoken.reference.kind == "docstring" and _DOCTEST.match(spoken.reference.text) is not None


def _changed(now: Workspace, moved: Moved, choice: Choice) -> Plan:
    """Return the plan of the prose about one symbol, on the project after its move."""
    spoken, _ = spoken_of(now, moved.sought)
    places: dict[str, list[Spoken]] = {}
    for each in _wanted(now, spoken, choice):
        places.setdefault(each.path, []).append(each)
    spliced: list[Spliced] = []
    contents: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for path, found in places.items():
        module = now.census.module(path)
        count = 0
        if module is not None:
            splices = list(_in_code(now, path, found, moved))
            count = len(splices)
            whole = Span(0, len(now.tree(module).text)) if splices else Span(0, 0)
            spliced += [Spliced(module=module, splices=tuple(splices), targets=(whole,))] if splices else []
        elif (content := _in_text(now.content(path) or b"", found, moved)) is not None:
            contents[path] = content
            count = len(found)
        if count:
            counts[module.name if module is not None else found[0].reference.module] = count
    plan = planned_files(now, spliced=spliced, contents=contents, summary="", changed=())
    return replace(plan, report=Report(changed=counts))


def _wording(moved: Moved, spoken: Spoken) -> Wording:
    old, last = moved.sought.dotted, moved.new.rpartition(".")[2]
    return other_name(old, moved.new) if spoken.dotted else other_word(moved.sought.word, last)


def _in_code(now: Workspace, path: str, spoken: Iterable[Spoken], moved: Moved) -> Iterator[tuple[Span, str]]:
    try:
        text = now.tree_at(path).text
    except ResourceError:
        return
    for each in spoken:
        place = (each.reference.line, each.reference.column)
        yield from edits(text, [place], _wording(moved, each)) or []


def _in_text(content: bytes, spoken: Sequence[Spoken], moved: Moved) -> bytes | None:
    """Return a text file as it speaks then; None if nothing of it changes."""
    before = content
    for each in sorted(spoken, key=lambda one: (one.reference.line, one.reference.column), reverse=True):
        content = edited(content, [(each.reference.line, each.reference.column)], _wording(moved, each)) or content
    return content if content != before else None
