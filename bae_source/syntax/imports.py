"""Add import statements to a module, where they are missing.

    \"\"\"Docstring.\"\"\"
    from __future__ import annotations      <- first
    import os                               <- then the standard library,
    import numpy                            <- what is installed,
    from . import x                         <- and the project's own
                                            A new statement goes behind the last one of its kind, else of those before.

Imports under `if TYPE_CHECKING` do not count as there, since they are not when the code runs; nor is anything ever put
into an `if` or a `try`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from bae_source.errors import Refused, RequestError, SourceError
from bae_source.model.span import Span
from bae_source.model.text import is_text
from bae_source.syntax.lexer import end_of_line
from bae_source.syntax.locate import reserved_lines
from bae_source.syntax.outline import MODULE, ImportBinding, Outline
from bae_source.syntax.tree import Tree, parse_text

_NO_CODE = re.compile(r"(?:[\s);\\]|#[^\r\n]*)*")
_BLANK_BEFORE = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t\f]*(?:\r\n|\n|\r)\Z")
_IMPORT = re.compile(r"(?:import|from)\b")
_COMPOUND = re.compile(r"(?:def|class|async)\b|@")
_LAST = 9


def add_imports(tree: Tree, module: str, statements: Iterable[str]) -> tuple[list[tuple[Span, str]], list[str]]:
    """Plan to add import statements to a module.

    Parameters:
        module: the module's dotted name, which tells its own project's imports from others.
        statements: source that holds nothing but imports.

    Returns:
        The splices, and the statements that were missing.

    Raises:
        RequestError: `invalid_arguments` if a statement is no import.
        Refused: `name_collision` if the module binds a name to something else; `unsafe_change` if there is no place.
    """
    missing: dict[str, ImportBinding] = {}
    for statement in statements:
        wanted: dict[tuple[int, str], list[ImportBinding]] = {}  # `from a import b, c` stays one, `import a, b` is two
        for binding in _bindings(statement):
            if not _is_there(tree, binding):
                apart = binding.name if binding.attribute is None else ""
                wanted.setdefault((binding.start, apart), []).append(binding)
        missing.update({_statement(bindings): bindings[0] for bindings in wanted.values()})
    by_place: dict[int, list[tuple[int, str]]] = {}
    for text, binding in missing.items():
        rank = _rank(binding, module)
        by_place.setdefault(_place(tree, module, rank), []).append((rank, text))
    splices = [
        (Span(at, at), _block(tree, module, at, sorted(lines, key=lambda line: line[0])))
        for at, lines in by_place.items()
    ]
    return splices, list(missing)


def _statement(bindings: Sequence[ImportBinding]) -> str:
    """Return one import statement for bindings that came in one."""
    names = [_source(binding).partition("import ")[2] for binding in bindings]
    return f"{_source(bindings[0]).partition('import ')[0]}import {', '.join(dict.fromkeys(names))}"


def _bindings(statement: str) -> Sequence[ImportBinding]:
    if not is_text(statement):
        raise RequestError(
            "invalid_arguments",
            f"The import {statement!r} holds a lone surrogate.",
            hints=["Give text that can be encoded as UTF-8."],
        )
    try:
        outline, _ = parse_text(statement.strip())
    except SourceError as error:
        raise RequestError("invalid_arguments", f"The import {statement!r} does not parse: {error.message}") from None
    module = outline.suites[0]
    statements = len({binding.start for binding in outline.imports if binding.top})
    if not outline.imports or module is None or module.size != statements:
        raise RequestError(
            "invalid_arguments",
            f"{statement!r} is no import statement.",
            hints=["Give statements such as 'from typing import Any' or 'import os'."],
        )
    return outline.imports


def _is_there(tree: Tree, wanted: ImportBinding) -> bool:
    """Say whether the module has the import; refuse where the name is something else."""
    outline = tree.outline
    for present in outline.imports:
        if present.name != wanted.name or present.typing_only:
            continue
        if (present.module, present.attribute, present.level) == (wanted.module, wanted.attribute, wanted.level):
            return True
        if wanted.name == "*" or _same_package(present, wanted):
            continue
        raise _collision(wanted, f"imports {wanted.name} from elsewhere ({_source(present)})")
    if wanted.name != "*" and outline.named(MODULE, wanted.name):
        raise _collision(wanted, f"defines {wanted.name} itself")
    if wanted.name != "*" and _binds(tree, wanted.name):
        raise _collision(wanted, f"binds {wanted.name} to something else")
    return False


def _binds(tree: Tree, name: str) -> bool:
    from bae_source.syntax.uses_reading import binds  # 10 ms, for what brings new imports

    return binds(tree.source, name)


def _same_package(present: ImportBinding, wanted: ImportBinding) -> bool:
    """`import a.b` and `import a.c` bind the same `a`."""
    return all(item.attribute is None and item.name == item.module.partition(".")[0] for item in (present, wanted))


def _collision(wanted: ImportBinding, what: str) -> Refused:
    return Refused(
        "name_collision",
        f"The import '{_source(wanted)}' collides: the module {what}.",
        hints=[f"Import it under another name: {_source(wanted).partition(' as ')[0]} as …"],
    )


def _source(binding: ImportBinding) -> str:
    dots = "." * binding.level
    if binding.attribute is None:
        renamed = binding.name != binding.module.partition(".")[0]
        return f"import {binding.module}" + (f" as {binding.name}" if renamed else "")
    renamed = binding.name != binding.attribute
    return f"from {dots}{binding.module} import {binding.attribute}" + (f" as {binding.name}" if renamed else "")


def _rank(binding: ImportBinding, module: str) -> int:
    """Return the kind of an import: future, standard library, installed, own package, relative."""
    top = binding.module.partition(".")[0]
    if binding.level:
        return 4
    if top == "__future__":
        return 0
    if top == module.partition(".")[0]:
        return 3
    return 1 if top in sys.stdlib_module_names else 2


def end_of_imports(tree: Tree) -> int:
    """Return the offset behind the module's docstring and the imports at its head."""
    return _place(tree, "", _LAST)


def _place(tree: Tree, module: str, rank: int) -> int:
    """Return the offset of the line that a new import of this kind goes before."""
    top = [binding for binding in tree.outline.imports if binding.top]
    before = [binding for binding in top if _rank(binding, module) <= rank and _in_head(tree.outline, binding)]
    if before:
        return _behind(tree, before[-1].start, before[-1].end, rank)
    if top and _in_head(tree.outline, top[0]) and _begins_line(tree, top[0]):
        return tree.source.lines.start(tree.source.lines.number(top[0].start))
    suite, docstring = tree.outline.suites[0], tree.outline.docstring
    if suite and docstring:
        return _behind(tree, suite.start, docstring.end, rank)
    return _end_of_header(tree)


def _behind(tree: Tree, start: int, end: int, rank: int) -> int:
    """Return the offset behind the logical line of a statement; other statements may share it.

    Raises:
        Refused: `unsafe_change` if they do, and an import `from __future__` would come too late there.
    """
    place = end_of_line(tree.text, start)
    if rank == 0 and not _NO_CODE.fullmatch(tree.text, end, place):
        raise Refused(
            "unsafe_change",
            "There is no place for an import from __future__: what it goes behind shares its line with other code.",
            hints=["Put that code on a line of its own first."],
        )
    return place


def _begins_line(tree: Tree, binding: ImportBinding) -> bool:
    lines = tree.source.lines
    start = lines.start(lines.number(binding.start))
    return not tree.text[start : binding.start].strip() and not lines.joined(start)


def _end_of_header(tree: Tree) -> int:
    """Return the offset behind the comments at the module's head, but for a block that touches the first statement.

    The shebang and the encoding cookie belong to the head even where they touch it.
    """
    lines = tree.source.lines
    end, line = reserved_lines(tree), 1
    while line <= len(lines) and (not lines.cut(line).strip() or lines.cut(line).lstrip(" \t\f").startswith("#")):
        if not lines.cut(line).strip():
            end = max(end, line)
        line += 1
    return lines.start(end + 1) if line <= len(lines) else len(tree.text)


def _in_head(outline: Outline, binding: ImportBinding) -> bool:
    """Say whether an import stands above the first class or function."""
    first = next((d.span.start for d in outline.definitions if d.body is not None and d.parent == MODULE), None)
    return first is None or binding.start < first


def _block(tree: Tree, module: str, at: int, lines: list[tuple[int, str]]) -> str:
    """Return the new lines with the blank lines that set them apart from what is around them."""
    newline, text = tree.source.newline, tree.text
    above = next((b for b in reversed(tree.outline.imports) if b.top and b.end <= at), None)
    below = next((b for b in tree.outline.imports if b.top and b.start >= at), None)
    pieces = [""] if at and text[at - 1] not in "\r\n" else []
    if (
        text[:at].strip()
        and not _BLANK_BEFORE.search(text, 0, at)
        and not (above and _rank(above, module) == lines[0][0])
        and not (above and _IMPORT.match(text, at))
    ):
        pieces.append("")
    for number, (rank, line) in enumerate(lines):
        pieces += ["", line] if number and rank != lines[number - 1][0] else [line]
    dense = above is not None and not _BLANK_BEFORE.search(text, 0, at) and bool(_IMPORT.match(text, at))
    return newline.join(
        [*pieces, *_gap_below(text[at:], _rank(below, module) if below else None, lines[-1][0], dense=dense), ""]
    )


def _gap_below(following: str, rank_below: int | None, rank: int, *, dense: bool) -> list[str]:
    """Return the blank lines between new imports and what follows them; none in a block that has none."""
    if not following.strip() or following[0] in "\r\n":
        return []
    if _IMPORT.match(following):
        return [] if rank_below == rank or dense else [""]
    return ["", ""] if _COMPOUND.match(following) else [""]
