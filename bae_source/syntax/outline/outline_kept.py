"""An outline as bytes to keep, so that a large file that was parsed once is not parsed again to look a name up in it.

Invariants:
- what is recalled equals what was saved; that it is of the same text, the caller knows;
- bytes that are none of ours are no outline, never another one.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import msgspec
from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition, ImportBinding, Outline, Suite
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.source import Source


class _Kept(Struct, frozen=True, kw_only=True, array_like=True):
    definitions: tuple[Definition, ...]
    suites: tuple[Suite | None, ...]
    imports: tuple[ImportBinding, ...]
    class_imports: tuple[ImportBinding, ...]
    docstring: Span | None
    exported: tuple[str, ...] | None
    exports_known: bool
    newer: bool


def saved(tree: Tree) -> bytes:
    """Return a file's outline as bytes."""
    outline = tree.outline
    kept = _Kept(
        definitions=outline.definitions,
        suites=outline.suites,
        imports=outline.imports,
        class_imports=outline.class_imports,
        docstring=outline.docstring,
        exported=outline.exported,
        exports_known=outline.exports_known,
        newer=tree.newer,
    )
    return msgspec.msgpack.encode(kept)


def recalled(source: Source, content: bytes) -> Tree | None:
    """Return the tree of a file whose outline was saved; None if these are no such bytes."""
    try:
        kept = msgspec.msgpack.decode(content, type=_Kept)
    except msgspec.MsgspecError:
        return None
    outline = Outline(
        definitions=kept.definitions,
        suites=kept.suites,
        imports=kept.imports,
        class_imports=kept.class_imports,
        docstring=kept.docstring,
        exported=kept.exported,
        exports_known=kept.exports_known,
    )
    return Tree(source, outline, newer=kept.newer)
