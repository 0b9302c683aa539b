"""Imports that a change leaves unread: named with the change, and taken out by it where that is asked for.

    edit app.core.load --old 'json.loads(text)' --new 'parse(text)'    app.core:1: import json    nothing reads it now

Invariants:
- a change that takes no imported name out of a text costs a look at the words that it takes out, and no parse;
- only what was read before, and surely nothing needs afterwards, counts;
- what all changes of one transaction leave together is looked at, once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.call import Call
from bae_source.model.changeset import FileChange
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.tree import Tree

if TYPE_CHECKING:
    from bae_source.project.importing.unread import Unread

UNREAD = "import_unused"
_WORD = re.compile(rb"[^\W\d]\w*|[^\x00-\x7f]+")
_IMPORTING = re.compile(r"import\b([^\r\n]*)")
_NAME = re.compile(r"[^\W\d]\w*")


def unread_by(workspace: Workspace, plan: Plan, *, tidy: bool) -> Plan:
    """Return a plan that tells which imports it leaves unread, or takes them out.

    Parameters:
        workspace: the project as it is before the change.
        tidy: whether it takes them out.
    """
    names = {module.path: (module, found) for module, found in _losing(workspace, plan)}
    if not names:
        return plan
    from bae_source.refactoring.planning.unneeded import (
        without_unneeded,  # names across files, which hardly any change has to look up
    )

    later, modules = workspace.after(plan.changes), [module for module, _ in names.values()]
    found = without_unneeded(later, modules, _were_read(workspace))
    if not found.count:
        return plan
    if not tidy:
        notices = [Notice(UNREAD, _told(name, gone), (name, *gone)) for name, gone in found.gone.items()]
        return replace(plan, warnings=(*plan.warnings, *notices))
    from bae_source.refactoring.planning.joining import joined
    from bae_source.refactoring.planning.plan import planned_files

    shown = listed(f"{name} ({listed(gone)})" for name, gone in found.gone.items())
    tidied = planned_files(later, spliced=found.spliced, changed=(), summary=f"Took out unused imports of {shown}.")
    both = joined(workspace, later.after(tidied.changes), [plan, tidied])
    notice = Notice("imports_removed", f"Took out imports that nothing needs any more: {shown}.")
    return replace(plan, changes=both.changes, modules=both.modules, warnings=(*plan.warnings, notice))


def removing(notice: Notice) -> Call:
    """Return the call that takes out the imports that a notice names."""
    name, *gone = notice.about
    line = f"imports remove {name} {' '.join(gone)}"
    return Call("imports remove", target=name, names=gone, line=line, then="takes out what is unused now.")


def _told(name: str, gone: tuple[str, ...]) -> str:
    it = "it" if len(gone) == 1 else "them"
    return f"Nothing uses {listed(gone)} of {name} any more: imports remove takes {it} out, and tidy with the change."


def _losing(workspace: Workspace, plan: Plan) -> Iterator[tuple[ModuleFile, set[str]]]:
    """Yield the modules that perhaps do not read an imported name any more, with these names."""
    for file in plan.changes.files:
        module = workspace.layout.module_at(file.path) if file.path.endswith((".py", ".pyi")) else None
        if module is None or file.before is None or file.after is None or file.origin or file.anew:
            continue
        lost = _words_lost(file)
        if not lost:
            continue
        try:
            before = workspace.tree(module).source.content
            after = workspace.kept.trees.get(file.apply(before), file.after)
        except ResourceError:
            continue
        if names := _not_standing(after, lost & _imported(after)):
            yield module, names


def _words_lost(file: FileChange) -> set[str]:
    """Return the words that a change takes out of a file, and does not put in again."""
    lost: Counter[bytes] = Counter()
    for edit in file.edits:
        lost.update(_WORD.findall(edit.old))
        lost.subtract(_WORD.findall(edit.new))
    return {word.decode("utf-8", "replace") for word, count in lost.items() if count > 0}


def _imported(tree: Tree) -> set[str]:
    """Return the names that a module imports, and words of what functions import."""
    inner = (word for start, end in _inner_imports(tree.text) for word in _NAME.findall(tree.text, start, end))
    return {*(each.name for each in tree.outline.imports), *inner}


def _inner_imports(text: str) -> list[tuple[int, int]]:
    """Return the spans of what follows the word `import` on lines that are indented."""
    found = []
    for match in _IMPORTING.finditer(text):
        start = max(text.rfind("\n", 0, match.start()), text.rfind("\r", 0, match.start())) + 1
        before = text[start : match.start()]
        if before[:1] in (" ", "\t") and before.split()[:1] in ([], ["from"]):
            found.append(match.span(1))
    return found


def _not_standing(tree: Tree, names: set[str]) -> set[str]:
    """Return those of some names that do not stand in a text where they may be read.

    That is outside of imports, comments, and strings without fields.
    """
    places = {name: _places(tree, name) for name in names}
    if not any(places.values()):
        return names
    if not _has_long_strings(tree):
        clear = {name for name, found in places.items() if any(_is_clear(tree, place) for place in found)}
        places = {name: found for name, found in places.items() if name not in clear}
    if not any(places.values()):
        return set(places)
    from bae_source.syntax.text.lexer import lex  # where the text alone does not tell

    text, lexed = tree.text, lex(tree.text)
    plain = [each for each in lexed.strings if "f" not in text[each.start : each.start + 2].lower()]
    spans = [*lexed.comments, *plain]
    return {
        name
        for name, found in places.items()
        if all(any(span.start <= place < span.end for span in spans) for place in found)
    }


def _places(tree: Tree, name: str) -> list[int]:
    """Return where a name stands outside of imports, and behind no dot."""
    text, imports = tree.text, [(each.start, each.end) for each in tree.outline.imports]
    found, place = list[int](), text.find(name)
    while place >= 0:
        end = place + len(name)
        around = text[place - 1 : place] + text[end : end + 1]
        if "." not in text[place - 1 : place] and not any(each == "_" or each.isalnum() for each in around):
            found.append(place)
        place = text.find(name, end)
    left = [place for place in found if not any(start <= place < end for start, end in imports)]
    inner = _inner_imports(text) if left else []
    return [place for place in left if not any(start <= place < end for start, end in inner)]


def _docstrings(tree: Tree) -> list[Span]:
    every = (tree.outline.docstring, *(each.docstring for each in tree.outline.definitions))
    return [each for each in every if each is not None]


def _has_long_strings(tree: Tree) -> bool:
    """Say whether a text has strings of several lines that are no docstrings."""
    known = sum(_long_quotes(each.cut(tree.text)) for each in _docstrings(tree))
    return _long_quotes(tree.text) > known


def _long_quotes(text: str) -> int:
    return text.count('"""') + text.count("'''")


def _is_clear(tree: Tree, place: int) -> bool:
    """Say whether a place is in code, in a text whose strings of several lines are docstrings."""
    start = max(tree.text.rfind("\n", 0, place), tree.text.rfind("\r", 0, place)) + 1
    before = tree.text[start:place]
    if tree.text[max(0, start - 3) : start].rstrip("\r\n").endswith("\\"):
        return False  # a string may go on
    return not any(mark in before for mark in "#\"'") and not any(
        each.start <= place < each.end for each in _docstrings(tree)
    )


def _were_read(workspace: Workspace) -> Callable[[Unread], bool]:
    """Return what says whether the name of an import was read before a change."""
    from bae_source.project.importing.unread import unread_here  # as above
    from bae_source.project.references.meaning.project import project_of

    read: dict[str, set[str]] = {}
    project = project_of(workspace)

    def was_read(each: Unread) -> bool:
        if each.path not in read:
            try:
                unread = {one.name for one in unread_here(project, each.path, purposes=False)}
                read[each.path] = {one.name for one in project.uses(each.path).imports} - unread
            except ResourceError:
                return False
        return each.imported.name in read[each.path]

    return was_read
