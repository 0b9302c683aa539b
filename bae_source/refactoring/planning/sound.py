"""Python files in which text was replaced by text: whether Python reads them as well as before.

Invariants:
- a file that parsed and compiled does so afterwards, or nothing is changed; one that did not may stay so;
- no file is parsed where one word takes the place of another that a text does not have yet: that cannot matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from keyword import issoftkeyword

from bae_source.errors import SourceError
from bae_source.model.changeset import FileChange
from bae_source.model.text import counted, listed
from bae_source.project.search.replacing import Edits, Text
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import check_whole
from bae_source.syntax.rewrite.postcondition import names_alone
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import may_name_encoding

_PREFIX = re.compile(r"[rbuft]|rb|br|fr|rf|tr|rt", re.IGNORECASE)
_FEATURES = ("annotations", "division", "absolute_import", "print_function", "unicode_literals", "generators",
             "nested_scopes", "with_statement", "generator_stop", "barry_as_FLUFL")  # fmt: skip
_SPECIAL = frozenset({"__debug__", "__future__", *_FEATURES})


def check_sound(workspace: Workspace, edits: Sequence[tuple[Text, Edits]], changes: Mapping[str, FileChange]) -> None:
    """Check that Python reads the files in which text is replaced as well as before.

    Parameters:
        changes: what comes of it in each file, by path.

    Raises:
        SourceError: `syntax_invalid`, with each file that is at fault then.
    """
    faults: list[tuple[str, SourceError]] = []
    for text, places in edits:
        change = changes[text.file.path]
        if not text.file.python or _puts_word_for_word(text, places):
            continue
        try:
            check_whole(workspace, change, change.apply(text.content), {})
        except SourceError as error:
            if _was_sound(workspace, text.content):
                faults.append((text.file.name, error))
    if faults:
        shown = listed(f"{name}{_line(error)}" for name, error in faults)
        raise SourceError(
            "syntax_invalid",
            f"With the change, {counted(len(faults), 'file')} would not be read by Python as before: {shown}",
            unchanged=True,
            hints=[
                faults[0][1].message,
                "Narrow the scope, or replace whole words alone (word), or code alone (code).",
            ],
            details={"files": [name for name, _ in faults]},
        )


def _puts_word_for_word(text: Text, edits: Edits) -> bool:
    """Return whether one word is put for another everywhere in a file that did not have it.

    Then names that were equal or different still are, so all is read as it was.
    """
    words = {(span.cut(text.text), new) for span, new in edits}
    if len(words) != 1 or may_name_encoding(text.content):
        return False
    [(old, new)] = words
    if not (old.isidentifier() and new.isidentifier() and old.isascii() and new.isascii()):
        return False
    if any(issoftkeyword(each) or _PREFIX.fullmatch(each) or each in _SPECIAL for each in (old, new)):
        return False
    return (
        names_alone(text.text, edits) and not _has_word(text.text, new) and not _has_word(splice(text.text, edits), old)
    )


def _has_word(text: str, word: str) -> bool:
    """Return whether a word stands in a text; what begins with plain text is found ten times as fast."""
    return re.search(rf"{word}(?<!\w{word})(?!\w)", text) is not None


def _was_sound(workspace: Workspace, content: bytes) -> bool:
    try:
        workspace.kept.trees.get(content)
    except SourceError:
        return False
    return True


def _line(error: SourceError) -> str:
    return f":{error.details['line']}" if "line" in error.details else ""
