"""Which attributes a suite may assign, told by its text.

    self.x = 1                        `x` of `self`
    self.x, y = 1, 2                  `x` of `self`
    f(x).y.z: int = 1                 `z` of something
    f(x.y, z=1)                       none

Invariants:
- where a suite parses, no attribute that it assigns is missed; more may be told than there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bae_source.syntax.text.literals import literals_of

Assigned = frozenset[tuple[str, str]]
"""Attributes: the name that one is of, or `ANYTHING`, and its own."""
ANYTHING = ""
"""What an attribute is of that is of no plain name."""

_LONGEST_LINE = 1_000
"""Characters: for each attribute in a line, all that follows is looked at."""
_ATTRIBUTE = re.compile(
    r"\.(?>(?:[\s\\]|#[^\n]*\n)*)(?P<name>\w++)(?>(?:[\s\\]|#[^\n]*\n)*)"
    r"(?:(?P<list>(?=[,)\]][^\n]*(?:=(?!=)|\\\n)))|(?P<note>:(?![^\n=]*+=))|(?:\*\*|//|<<|>>|[-+*/%&|^@])?=(?!=)|:)"
)
"""An attribute and what follows one that is assigned: in a list, with an annotation alone, or with a value."""
_CLOSED = [re.compile(rf"\{closing}(?=(?>(?:[ \w.,*]|\\\n)*)[-+/%&|^@<>]*+=(?!=))") for closing in ")]}"]
"""Where a list of targets may end that began in a line above; the signs one by one, as that is faster."""
_FOR = re.compile(r"for\b(?<!\wfor)((?:(?!\bin\b)[^\n])*)(\n?)")
_FAR = 100
"""Characters at the beginning of a line in which its first word stands."""
_GOES_ON = re.compile(r" *(?:\Z|.*(?:\. *\w+ *\Z|[,\\] *\Z|[(\[{#]))")
"""What may be the first line of the targets of a loop, if there are attributes among them."""
_AS = re.compile(r"as\b(?<!\was)(?! *\w+ *[,):])")
"""`as`, where more than a name may follow."""
_MOST_EQUALS = 12
"""Signs in a line before each of which is looked at what may be targets."""
_EQUALS = re.compile(r"(?<![=!<>:])=(?!=)")
_STRING = re.compile(r"""\"[^"\\\n]*\"|'[^'\\\n]*'""")
_WITH_FIELDS = re.compile(r"""[fFtT][rR]?["'][^\n]*\{""")
"""What may hold quotes in strings of its own, from Python 3.12 on."""
_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))
_TEXT, _ITEM, _UNKNOWN = "\0", "\1", "\2"
"""Instead of a string, of brackets with what is in them, and of targets that cannot be told."""
_MAY_BE_ATTRIBUTE = re.compile(rf"[\w.\s{_TEXT}{_ITEM}]*\.\s*[^\W\d]\w*")
_HEADERS = frozenset({"if", "elif", "while", "except", "with", "for", "async"})
"""Words that a line begins with in which a colon is no annotation's."""
_ALONE = frozenset({"else", "try", "finally"})
"""Words that a statement may follow in their line."""
_OPERATOR = "-+*/%&|^@<>"
_COMMENTS = re.compile(r"\n *#[^\n]*")
_QUOTES = ('"""', "'''")
_DOCSTRING = re.compile(r"\s*[rR]?\"\"\"[^\"\\]*\"\"\" *(?=\n)")


def assigned_in(suite: str) -> Assigned | None:
    """Return the attributes that may be assigned; None where that is not certain.

    Parameters:
        suite: of a function.
    """
    if len(suite) > _LONGEST_LINE and any(len(line) > _LONGEST_LINE and "." in line for line in suite.split("\n")):
        return None
    code = _code(suite)
    found = None if code is None else _told(code)
    if found is not None:
        return found
    literals = literals_of(suite)  # which takes longer, and is seldom needed
    if literals is None:
        return None
    return _told("".join([before if literal[:1] in ("", "#") else before + _TEXT for before, literal in literals]))


def _told(code: str) -> Assigned | None:
    """Return the attributes that may be assigned in code; None where that is not certain."""
    if ("with" in code and _AS.search(code)) or any(map(_binds_other, _FOR.finditer(code))):
        return None
    found: set[tuple[str, str]] = set()
    lines = {code.rfind("\n", 0, each.start()) + 1 for closed in _CLOSED for each in closed.finditer(code)}
    for attribute in _ATTRIBUTE.finditer(code):
        begin = code.rfind("\n", 0, attribute.start()) + 1
        before = code[begin : attribute.start()].strip()
        if "\n" in attribute[0]:
            if "#" not in _STRING.sub(_TEXT, before):
                return None
        elif attribute["list"] is not None:
            lines.add(begin)
        elif before.isidentifier():
            found.add((before, attribute["name"]))
        elif attribute["note"] is None or before.partition(" ")[0] not in _HEADERS or ":" in before:
            lines.add(begin)
            found.add((ANYTHING, attribute["name"]))
    for target in {target for begin in lines for target in _targets(code, begin) if not _is_plain(target)}:
        receiver, name = (each.strip() for each in target.rpartition(".")[::2])
        if not name.isidentifier():
            return None
        found.add((receiver if receiver.isidentifier() else ANYTHING, name))
    return frozenset(found)


def _code(suite: str) -> str | None:
    """Return a suite without its docstring, and without lines that are comments; None where that is not certain."""
    docstring = _DOCSTRING.match(suite)
    code = suite[docstring.end() :] if docstring else suite
    if "#" not in code:
        return code
    if any(quotes in code for quotes in _QUOTES) or _WITH_FIELDS.search(code):
        return None  # a string of several lines, or in another one, may hold what looks like a comment
    return _COMMENTS.sub("", code)


def _binds_other(loop: re.Match[str]) -> bool:
    """Say whether a loop, or one in an expression, may bind more than names."""
    if not loop[2]:
        return "." in loop[1] or any(loop[1].count(opens) != loop[1].count(closes) for opens, closes in _PAIRS)
    code = loop.string
    follows = code[loop.end() : loop.end() + _FAR].lstrip()
    if not _GOES_ON.match(loop[1]) and not follows.startswith((".", "[", "(")):
        return False
    return "#" not in _STRING.sub(_TEXT, code[code.rfind("\n", 0, loop.start()) + 1 : loop.start()])


def _targets(code: str, begin: int) -> Iterator[str]:
    """Yield what may be targets in a line: those that it has, with marks for brackets, or more.

    Parameters:
        begin: of the line.
    """
    end = code.find("\n", begin)
    line = code[begin : end if end >= 0 else len(code)]
    above = code[code.rfind("\n", 0, max(begin - 1, 0)) + 1 : begin]
    if line.endswith("\\"):
        yield _UNKNOWN
    for number, equals in enumerate(_EQUALS.finditer(line)):
        if number > _MOST_EQUALS:
            yield _UNKNOWN
            return
        before = line[: equals.start()]
        if _WITH_FIELDS.search(before):
            yield _UNKNOWN
            return
        before = _STRING.sub(_TEXT, before)
        if "#" in before:
            return
        if "\\" in before or '"' in before or "'" in before:
            yield _UNKNOWN
            return
        dotted = "." in before
        while (shorter := _BRACKETS.sub(_ITEM, before)) != before:
            before = shorter
        if "(" in before or "[" in before or "{" in before:
            continue  # what an argument is called
        if ")" in before or "]" in before or ("}" in before and dotted):
            yield _UNKNOWN
        elif dotted and not (above.rstrip().endswith(("(", "[", "{")) and "#" not in above):
            yield from _listed(before.rstrip(_OPERATOR))


def _listed(before: str) -> Iterator[str]:
    """Yield the targets in what stands before an equals sign; nothing if that cannot be targets."""
    targets = [target.strip().lstrip("*").strip() for each in before.split("=") for target in each.split(",")]
    noted, colon, _ = before.partition(":")
    if ";" in before or (colon and not noted.strip().isidentifier()) or noted.strip() in _ALONE:
        yield _UNKNOWN
    elif not colon and all(map(_may_be_target, targets)):
        yield from targets


def _may_be_target(target: str) -> bool:
    return _is_plain(target) or not target.strip(_ITEM) or _MAY_BE_ATTRIBUTE.fullmatch(target) is not None


def _is_plain(target: str) -> bool:
    """Say whether a target is a name, or an item."""
    return not target or target.isidentifier() or (target.endswith(_ITEM) and target.strip(f"{_ITEM} ") != "")
