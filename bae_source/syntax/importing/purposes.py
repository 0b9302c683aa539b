"""Names that import statements of a file bind, each with the purpose that its text gives it besides being read.

    import app.signals  # registers them            a comment says why it is there
    from x import f  # noqa: F401                   likewise, to tools
    try: import fast                                tries whether it can be imported
    if sys.version_info >= (3, 14): import new      is run on one way alone
    import re                                       `>>> re.sub(…)` in a docstring needs it
    def f(): eval(code)                             may read any name of the module

Invariants:
- in doubt an import has a purpose;
- whether code of this file or of another one reads the name is not decided here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.model.reasons import Purpose
from bae_source.syntax.importing.guards import may_swallow
from bae_source.syntax.names.doctests import taken_by_doctests
from bae_source.syntax.outline.ast_walk import suites_of
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.lexer import Lexed, lex
from bae_source.syntax.text.source import Lines

_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_WITHS = (ast.With, ast.AsyncWith)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_UNUSED = "F401"
_CODES = r"[ \t]*:[ \t]*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)"
_NOQA = re.compile(rf"#[ \t]*noqa\b(?:{_CODES})?", re.IGNORECASE)
_NOQA_FILE = re.compile(rf"#[ \t]*(?:flake8|ruff)[ \t]*:[ \t]*noqa\b(?:{_CODES})?", re.IGNORECASE)
_PYLINT, _RUFF = r"[^#\n]*\b(?:unused-import|W0611)\b", r"\[[^\]\n]*\b(?:F401|unused-import)\b"
_FOR_NEXT = rf"pylint[ \t]*:[ \t]*disable-next={_PYLINT}|ruff[ \t]*:[ \t]*ignore{_RUFF}"
_FOR_TOOLS = re.compile(
    rf"#[ \t]*(?:pylint[ \t]*:[ \t]*disable={_PYLINT}|{_FOR_NEXT}|nopycln|isort:[ \t]*skip)", re.IGNORECASE
)
_ABOVE = re.compile(rf"#[ \t]*(?:{_FOR_NEXT})", re.IGNORECASE)
_SWITCH = re.compile(rf"#[ \t]*ruff[ \t]*:[ \t]*(disable|enable){_RUFF}", re.IGNORECASE)
_FOR_FILE = re.compile(
    rf"^[ \t]*#[ \t]*(?:pylint[ \t]*:[ \t]*(?:skip-file|disable={_PYLINT})|ruff[ \t]*:[ \t]*file-ignore{_RUFF}"
    r"|nopycln[ \t]*:[ \t]*file|autoflake[ \t]*:[ \t]*skip_file|pyflakes[ \t]*:[ \t]*(?:noqa|ignore))",
    re.IGNORECASE | re.MULTILINE,
)
_ALL_NAMES = re.compile(
    r"(?<![\w.])(?:globals|locals|vars|dir)\(\s*\)|(?<![\w.])(?:eval|exec)\s*\(|\bsys\.modules\[__name__\]"
)
_BY_NAME = re.compile(r"\b(?:[gsh]etattr|hasattr|attrgetter|patch|usefixtures|getfixturevalue|import_module)\b")
"""Functions that look names up which strings give them."""
_WHY = re.compile(
    r"side[ -]?effect|regist|export|\bkeep|need|requir|backward|compat|public|\bAPI\b|import(?:ed)? (?:for|so|to)\b"
    r"|unused|noinspection|\bused (?:by|in)\b|populat|\bhooks?\b|plugin|\bloads?\b|discover|alias",
    re.IGNORECASE,
)
"""Words of a comment that tells what an import is for."""


class ImportedName(Struct, frozen=True, kw_only=True):
    """One name of an import statement.

    Parameters:
        line: on which the statement begins.
        column: at which it begins, as `ast` counts.
        name: the name that is bound; of `import a.b` the first component.
        module: the module that is named, without leading dots.
        attribute: what is taken from it; None for `import module`.
        asname: the name behind `as`.
        level: how many leading dots.
        lines: the first and the last line of the statement, and between them that of the name itself.
        top: whether the module itself binds it, and no function.
        purpose: why it is there though nothing may read it; None where the text says nothing.
    """

    line: int
    column: int
    name: str
    module: str
    attribute: str | None
    asname: str | None
    level: int
    lines: tuple[int, int, int]
    top: bool
    purpose: Purpose | None

    @property
    def shown(self) -> str:
        """The name as `imports remove` takes it: `a.b` for `import a.b`."""
        return self.name if self.attribute is not None or self.asname else self.module


def imported_names(text: str) -> list[ImportedName]:
    """Return the names that the imports of a text bind in its module and in functions, in source order.

    Left out are stars, what a class binds, and `from __future__`. Purposes are those that the statements around tell.

    Raises:
        SyntaxError, RecursionError, MemoryError: as `parse_module`.
    """
    return list(_found(parse_module(text).body, None, top=True))


def with_purposes(text: str, names: Iterable[ImportedName]) -> list[ImportedName]:
    """Return names of a text with the purposes that its comments and strings give, where they have none."""
    remarks = _Remarks(text)
    return [each if each.purpose is not None else replace(each, purpose=remarks.of(each)) for each in names]


def _found(
    body: Sequence[ast.stmt], purpose: Purpose | None, *, top: bool, in_class: bool = False
) -> Iterator[ImportedName]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _names(node, purpose, top=top) if not in_class else ()
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from _found(node.body, None, top=False, in_class=isinstance(node, ast.ClassDef))
        else:
            around = purpose or _purpose_of(node)
            for suite in suites_of(node):
                yield from _found(suite, around, top=top, in_class=in_class)


def _names(node: ast.Import | ast.ImportFrom, purpose: Purpose | None, *, top: bool) -> Iterator[ImportedName]:
    module, level = (node.module or "", node.level) if isinstance(node, ast.ImportFrom) else ("", 0)
    is_from = isinstance(node, ast.ImportFrom)
    if module == "__future__" or node.names[0].name == "*":
        return
    for alias in node.names:
        yield ImportedName(
            line=node.lineno,
            column=node.col_offset,
            name=alias.asname or (alias.name if is_from else alias.name.partition(".")[0]),
            module=module if is_from else alias.name,
            attribute=alias.name if is_from else None,
            asname=alias.asname,
            level=level,
            lines=(node.lineno, alias.lineno, node.end_lineno or node.lineno),
            top=top,
            purpose=purpose or (Purpose.AS_ITSELF if alias.asname == alias.name else None),
        )


def _purpose_of(node: ast.stmt) -> Purpose | None:
    """Return the purpose of the imports in a compound statement."""
    if isinstance(node, _TRIES) and node.handlers:
        return Purpose.TRIED
    if isinstance(node, _WITHS) and any(may_swallow(item.context_expr) for item in node.items):
        return Purpose.TRIED
    if isinstance(node, ast.If):
        return None if is_typing_test(node.test) and not node.orelse else Purpose.CONDITIONAL
    return Purpose.CONDITIONAL if isinstance(node, ast.Match) else None


class _Remarks:
    """The comments and strings of a text, and what they mean for its imports."""

    def __init__(self, text: str) -> None:
        self._lines = Lines(text)
        lexed = lex(text)
        self._comments = {self._lines.number(span.start): span.cut(text) for span in lexed.comments}
        self._alone = {number for number in self._comments if self._lines.cut(number).lstrip(" \t\f").startswith("#")}
        self._strings = [span.cut(text) for span in lexed.strings]
        self._reads_by_name = _BY_NAME.search(text) is not None
        self._in_doctests = {each.name for each in taken_by_doctests(text)}
        switched = ((line, _SWITCH.match(self._comments[line])) for line in sorted(self._alone))
        self._switched = [(line, match[1].lower()) for line, match in switched if match]
        whole = [_NOQA_FILE.match(self._comments[number]) for number in self._alone]
        self._everything = None
        if any(each and _is_meant(each["codes"]) for each in whole) or _FOR_FILE.search(text):
            self._everything = Purpose.MARKED
        elif _ALL_NAMES.search(text) and _ALL_NAMES.search(_code_of(text, lexed)):
            self._everything = Purpose.ALL_NAMES

    def of(self, each: ImportedName) -> Purpose | None:
        """Return the purpose of an import, by the text."""
        comments = [found for line in dict.fromkeys(each.lines) if (found := self._comments.get(line))]
        above: list[str] = []
        while (line := each.line - len(above) - 1) in self._alone:
            above.append(self._comments[line])
        off = [state for line, state in self._switched if line < each.line][-1:] == ["disable"]
        is_marked = any(map(_marks, comments)) or any(map(_ABOVE.match, above))
        if self._everything is Purpose.MARKED or off or is_marked:
            return Purpose.MARKED
        if each.top and each.name in self._in_doctests:
            return Purpose.DOCTEST
        if self._everything is not None:
            return self._everything
        if any(map(_WHY.search, (*comments, *above))):
            return Purpose.COMMENT
        word = re.compile(rf"(?<![\w.])({re.escape(each.name)})(?!\w)(\s*[.(])?")
        for string in self._strings:
            if each.name in string and self._needs(string, each.name, word):
                return Purpose.STRING
        return None

    def _needs(self, string: str, name: str, word: re.Pattern[str]) -> bool:
        """Return whether the code in a string may read a name: a doctest, a fenced block, or an expression."""
        if ">>>" in string or "```" in string:
            return word.search(string) is not None
        if string.strip("rbuftRBUFT").strip("\"'") == name:
            return self._reads_by_name
        is_text = string.strip("rbuftRBUFT").startswith(('"""', "'''"))
        return not is_text and any(match[2] for match in word.finditer(string))


def _code_of(text: str, lexed: Lexed) -> str:
    """Return a text without its comments, and without its strings but those that may hold code in fields."""
    pieces, position = list[str](), 0
    for span in sorted([*lexed.comments, *lexed.plain_strings(text)]):
        pieces.append(text[position : span.start])
        position = max(position, span.end)
    return "".join([*pieces, text[position:]])


def _marks(comment: str) -> bool:
    """Return whether a comment tells tools to leave an import."""
    found = _NOQA.search(comment)
    return (found is not None and _is_meant(found["codes"])) or _FOR_TOOLS.search(comment) is not None


def _is_meant(codes: str | None) -> bool:
    """Return whether the codes behind `noqa`, none for all of them, have the one of unused imports among them."""
    return codes is None or any(_UNUSED.startswith(code) for code in re.split(r"[,\s]+", codes.upper()) if code)
