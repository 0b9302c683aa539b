"""Modules that a change may leave with imports that nothing reads any more, found by the words that it takes out.

    edit app.core.load --old 'json.loads(text)' --new 'parse(text)'    app.core:1: import json    nothing reads it now

Invariants:
- nothing is parsed: a change that takes no imported name out of a text costs a look at the words that it takes out;
- every module is found in which the name is left in imports, comments and plain strings alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.model.call import Call
from bae_source.model.changeset import FileChange
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.span import Span
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import lex

UNREAD = "import_unused"
"""The code of the notice on imports that a change leaves unread."""
_WORD = re.compile(rb"[^\W\d]\w*|[^\x00-\x7f]+")
_IMPORT = re.compile(rb"\bimport\b[\s\\]*(?:\((?:[^)#]|#[^\r\n]*)*|(?:[^\r\n\\]|\\(?:\r\n|.))*)", re.DOTALL)
"""The names of an import statement, or what follows the word elsewhere."""
_IMPORTING = re.compile(r"import\b([^\r\n]*)")
_NAME = re.compile(r"[^\W\d]\w*")


def losing(workspace: Workspace, plan: Plan) -> Iterator[ModuleFile]:
    """Yield the modules that perhaps do not read an imported name any more."""
    for file in plan.changes.files:
        module = workspace.layout.module_at(file.path) if file.path.endswith((".py", ".pyi")) else None
        if module is None or file.before is None or file.after is None or file.origin or file.anew:
            continue
        lost = _words_left(file, workspace.content(file.path) or b"", _words_lost(file))
        if not lost:
            continue
        try:
            before = workspace.tree(module).source.content
            after = workspace.kept.trees.get(file.apply(before), file.after)
        except ResourceError:
            continue
        if _not_standing(after, lost & _imported(after)):
            yield module


def removing(notice: Notice) -> Call:
    """Return the call that takes out the imports that a notice names."""
    name, *gone = notice.about
    line = f"imports remove {name} {' '.join(gone)}"
    return Call("imports remove", target=name, names=gone, line=line, then="takes out what is unused now.")


def _words_lost(file: FileChange) -> set[str]:
    """Return the words that a change takes out of a file, and does not put in again."""
    lost: Counter[bytes] = Counter()
    for edit in file.edits:
        lost.update(_WORD.findall(edit.old))
        lost.subtract(_WORD.findall(edit.new))
    return {word.decode("utf-8", "replace") for word, count in lost.items() if count > 0}


def _words_left(file: FileChange, before: bytes, lost: set[str]) -> set[str]:
    """Return those of the words that a change takes out which stand behind the word `import` afterwards."""
    imports = _IMPORT.findall(file.apply(before)) if lost else ()
    words = {word.decode("utf-8", "replace") for piece in imports for word in _WORD.findall(piece)}
    return {each for each in lost if not each.isascii() or each in words}


def _imported(tree: Tree) -> set[str]:
    """Return the names that a module imports, and words of the imports in functions."""
    inner = (word for start, end in _inner_imports(tree.text) for word in _NAME.findall(tree.text, start, end))
    return {*(each.name for each in tree.outline.imports), *inner}


def _inner_imports(text: str) -> list[tuple[int, int]]:
    """Return the spans of the text behind the word `import` on indented lines."""
    found = []
    for match in _IMPORTING.finditer(text):
        start = max(text.rfind("\n", 0, match.start()), text.rfind("\r", 0, match.start())) + 1
        before = text[start : match.start()]
        if before[:1] in (" ", "\t") and before.split()[:1] in ([], ["from"]):
            found.append(match.span(1))
    return found


def _not_standing(tree: Tree, names: set[str]) -> set[str]:
    """Return those of some names that do not stand in a text where they may be read.

    That is outside imports, comments, and strings without fields.
    """
    places = {name: _places(tree, name) for name in names}
    if not any(places.values()):
        return names
    if not _has_long_strings(tree):
        clear = {name for name, found in places.items() if any(_is_clear(tree, place) for place in found)}
        places = {name: found for name, found in places.items() if name not in clear}
    if not any(places.values()):
        return set(places)

    text, lexed = tree.text, lex(tree.text)
    spans = [*lexed.comments, *lexed.plain_strings(text)]
    return {
        name
        for name, found in places.items()
        if all(any(span.start <= place < span.end for span in spans) for place in found)
    }


def _places(tree: Tree, name: str) -> list[int]:
    """Return where a name stands outside imports, and behind no dot."""
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
    """Return whether a text has strings of several lines that are no docstrings."""
    known = sum(_long_quotes(each.cut(tree.text)) for each in _docstrings(tree))
    return _long_quotes(tree.text) > known


def _long_quotes(text: str) -> int:
    return text.count('"""') + text.count("'''")


def _is_clear(tree: Tree, place: int) -> bool:
    """Return whether a place is in code, in a text whose strings of several lines are docstrings."""
    start = max(tree.text.rfind("\n", 0, place), tree.text.rfind("\r", 0, place)) + 1
    before = tree.text[start:place]
    if tree.text[max(0, start - 3) : start].rstrip("\r\n").endswith("\\"):
        return False  # a string may go on
    return not any(mark in before for mark in "#\"'") and not any(
        each.start <= place < each.end for each in _docstrings(tree)
    )
