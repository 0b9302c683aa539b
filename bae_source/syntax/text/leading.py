"""Comments that lead: which line of a comment block speaks for the file or for all that follows, and not for a symbol.

    # Copyright 2026 The Authors      <- a licence at the head of a file speaks for the file, to the end of its block
    # mypy: strict                    <- so does a line for a tool, wherever it stands,
    # fmt: off                        <- and one that opens or closes a range speaks for what follows
    # how the table is laid out       <- what stands below the last such line is the symbol's own comment
    TABLE = [1,
      2]

The rule: of a block, the lines down to the last one for a tool stay. In a block that stands at the head of a file, with
nothing but the module's docstring above it, the whole of it stays if one of its lines is a licence, names an author, or
mentions the file ("This module …"), since the end of such text and the next comment look alike. A comment that is
for the next statement alone (`# noinspection`, `# pylint: disable-next`, `#: …`) is the symbol's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOOL = re.compile(
    r"""(?x)
    SPDX-\w                                                             # a licence in a line
    | (?:mypy|pyright|ruff|flake8|cspell|spell-checker|codespell|cython|distutils|pragma)\s*:
    | flake8-\w | pyre-(?:strict|unsafe|ignore-all-errors)\b
    | isort\s*:\s*(?!skip\b(?![_-]file))
    | type\s*:\s*ignore\b
    | [a-z][\w.-]*\s*:\s*(?:skip|ignore|disable|exclude)[_ -]file\b     # pylint: skip-file
    | nopycln\s*:\s*file\b
    | (?:[a-z][\w.-]*\s*)?[a-z][\w.-]*\s*:\s*
      (?:off|on|disable|enable|start|stop|begin|end)\s*(?:$|[=\[(\#;,])  # fmt: off, pylint: disable=…, no cover: start
    | -\*-.*-\*- | (?:vim?|ex)\s*:                                      # for editors
    | ///(?:[ ]?[\w-]+)?\s*$                                            # metadata of a script, at its start and end
    | %% | In\[[\d ]*\]\s*:                                             # a cell
    | </?editor-fold\b | @generated\b
    """
)
_ENDS = {"off": "on", "disable": "enable", "start": "(?:stop|end)", "begin": "end"}
_OPENING = re.compile(rf"\S.*?\b({'|'.join(_ENDS)})\b")
_FOLD = re.compile(r"(?:end)?region\b|.*(?:\{\{\{|\}\}\})\d?\s*$")
_CLOSING_FOLD = re.compile(r"(?m)^[ \t\f]*#[ \t]*(?:endregion\b|.*\}\}\}\d?[ \t]*\r?$)")
_RULED = re.compile(r"([-=*#~_+])\1{3}")
_WHOLE_FILE = re.compile(
    r"""(?ix)
    (?:\(c\)|©|copyright\b)
    | .*copyright\s*(?:\(c\)|©|\d{4})
    | .*(?:all\ rights\ reserved|permission\ is\ hereby\ granted|redistribution\ and\ use)
    | .*\b(?:licen[sc]ed|released|distributed)\s+(?:under|to)\b
    | .*\bGNU\ (?:\w+\ )?General\ Public\ Licen[sc]e
    | licen[sc]e\s*: | .*\bsee\ (?:the\ )?(?:file\ )?licen[sc]e\b
    | (?:the\ )?(?:MIT|BSD|ISC|Apache)\b.*\blicen[sc]e\b
    | @?(?:authors?|maintainers?)\s*:
    | this\ (?:\w+\ )?(?:file|module|script|program|software|package|library)(?![\w-]|\ (?:name|path|size|handle))
    | .*\b(?:generated\ (?:by|from)|do\ not\ (?:edit|modify))\b
    | \$(?:Id|Header)\b
    """
)


def lines_kept(block: Sequence[str], *, at_head: bool, text: str) -> int:
    """Return how many of the first lines of a comment block belong to the file, or to all that follows.

    Parameters:
        block: the lines, with whatever indents and ends them.
        at_head: whether the block stands at the head of the file.
        text: the whole file, which says whether a `region` is ever closed.
    """
    remarks = [line.strip().lstrip("#!").strip() for line in block]
    if at_head and any(map(_WHOLE_FILE.match, remarks)):
        return len(block)
    return max((number for number, each in enumerate(remarks, 1) if _is_for_all(each, text)), default=0)


def closes(line: str, opening: str) -> bool:
    """Return whether a comment line for a tool ends the range that another begins: `# fmt: on` that of `# fmt: off`."""
    begun, ended = (each.strip().lstrip("#").strip() for each in (opening, line))
    found = _OPENING.match(begun)
    if not found or not (_TOOL.match(begun) and _TOOL.match(ended)):
        return False
    before, behind = begun[: found.start(1)], begun[found.end(1) :]
    return re.fullmatch(f"{re.escape(before)}{_ENDS[found[1]]}{re.escape(behind)}", ended) is not None


def is_ruled(comment: str) -> bool:
    """Return whether a comment has a ruled line, as headings have."""
    return _RULED.search(comment) is not None


def is_of_an_attribute(comment: str) -> bool:
    """Return whether a comment documents the attribute below it, and nothing else."""
    return all(line.lstrip().startswith("#:") for line in comment.strip().splitlines())


def _is_for_all(remark: str, text: str) -> bool:
    """Return whether a comment line is for a tool, and rules over more than the next statement."""
    return bool(_TOOL.match(remark) or (_FOLD.match(remark) and _CLOSING_FOLD.search(text)))
