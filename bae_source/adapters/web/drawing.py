"""A proposal as the page gets it: data alone, each line of its diff in pieces of one kind, for the page to colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from pygments.lexers import get_lexer_for_filename
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from bae_source.engine.approving.deciding import Proposal
from bae_source.engine.approving.sections import File, Row, Section

Json = dict[str, Any]
Pieces = list[list[str]]
_MOST_COLOURED = 3_000
"""Lines of a diff that are coloured, in whole sections; a longer one takes too long to wait for."""
_LONGEST = 2_000
"""Characters of a line in a section that is coloured."""
_KINDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Builtin, "b"),
)


def drawn(proposal: Proposal, files: Sequence[File], *, is_stale: bool, now: datetime) -> Json:
    """Return a proposal whole.

    Parameters:
        is_stale: whether what it was planned on has changed.
    """
    return {
        "task_id": proposal.id,
        "state": str(proposal.state),
        "who": proposal.who,
        "at": proposal.at,
        "planned_at": proposal.planned_at or proposal.at,
        "reason": proposal.reason,
        "goal": proposal.goal,
        "summary": proposal.summary,
        "digest": proposal.digest,
        "stale": is_stale,
        "risk": {
            "level": proposal.risk.level,
            "reasons": proposal.risk.reasons,
            "counts": dict(proposal.risk.counts),
        },
        "symbols": proposal.symbols,
        "waits_for": proposal.waits_for,
        "warnings": proposal.warnings,
        "checks": [
            {
                "name": each.name,
                "result": each.result,
                "detail": each.detail,
                "digest": each.digest,
                "seconds": each.seconds,
                "counts": dict(each.counts),
                "age": _age(proposal.planned_at or proposal.at, now),
                "stale": is_stale,
            }
            for each in proposal.checks
        ],
        "refused": [{"symbol": each.symbol, "reason": each.reason, "by": each.by} for each in proposal.refused],
        "decided_by": proposal.decided_by,
        "decided_at": proposal.decided_at,
        "decision": proposal.decision,
        "operation_id": proposal.operation_id if proposal.state == "applied" else "",
        "note": proposal.note,
        "expires": proposal.expires,
        "files": _files(files),
    }


def _age(at: str, now: datetime) -> float:
    """Return the seconds since a time."""
    return max(0.0, (now - datetime.fromisoformat(at)).total_seconds())


def _files(files: Sequence[File]) -> list[Json]:
    left = _MOST_COLOURED
    found = []
    for file in files:
        sections = []
        for section in file.sections:
            sections.append(_section(section, file.path if len(section.rows) <= left else ""))
            left -= len(section.rows) if len(section.rows) <= left else 0
        names = ("name", "path", "origin", "what", "note")
        found.append({**{name: getattr(file, name) for name in names}, "sections": sections})
    return found


def _section(section: Section, path: str) -> Json:
    return {
        "symbol": section.symbol,
        "digest": section.digest,
        "added": section.added,
        "removed": section.removed,
        "rows": [
            [row.mark, row.old, row.new, pieces]
            for row, pieces in zip(section.rows, coloured(section.rows, path), strict=True)
        ],
    }


def coloured(rows: Sequence[Row], path: str) -> Iterator[Pieces]:
    """Yield each line in pieces: the kind, or "" for none, and the text.

    Lines are coloured as the file has them before and after, so that what is in a docstring is known to be.
    """
    texts = [row.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for row in rows]
    lexer = _lexer(path) if all(len(text) <= _LONGEST for text in texts) else None
    if lexer is None:
        yield from ([["", text]] for text in texts)
        return
    sides = {
        side: iter(_lines(lexer, "\n".join(text for row, text in zip(rows, texts, strict=True) if row.mark in side)))
        for side in (" -", " +")
    }
    for row in rows:
        old, new = (next(sides[side]) if row.mark in side else [] for side in (" -", " +"))
        yield old if row.mark == "-" else new


def _lexer(path: str) -> Any:
    """Return the lexer of a file; None for a file without one."""
    if path.endswith((".py", ".pyi")):
        return PythonLexer(stripnl=False, ensurenl=False)
    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lines(lexer: Any, text: str) -> list[Pieces]:
    """Return the lines of a text, each in pieces."""
    found: list[Pieces] = [[]]
    for _, kind, piece in lexer.get_tokens_unprocessed(text):
        name = _name_of(kind)
        for number, part in enumerate(piece.split("\n")):
            if number:
                found.append([])
            if not part:
                continue
            if found[-1] and found[-1][-1][0] == name:
                found[-1][-1][1] += part
            else:
                found[-1].append([name, part])
    whole = "\n".join("".join(part for _, part in line) for line in found)
    return found if whole == text else [[["", line]] for line in text.split("\n")]


@cache
def _name_of(kind: Any) -> str:
    return next((short for wanted, short in _KINDS if kind in wanted), "")
