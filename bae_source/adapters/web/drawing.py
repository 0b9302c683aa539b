"""A proposal as the page gets it: data alone, each line of its diff in pieces of one kind, for the page to colour."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pygments.lexers import get_lexer_for_filename
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from bae_source.engine.approving.deciding import Proposal
from bae_source.engine.approving.sections import File, Row, Section
from bae_source.history.travel.listing import Told

Json = dict[str, Any]
_MOST_COLOURED = 20_000
"""Lines of a diff that are coloured; of a longer one none is."""
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


def operation(found: Told) -> Json:
    """Return what the history shows of an operation."""
    entry = found.entry
    return {
        "id": entry.id,
        "kind": str(entry.kind),
        "of": entry.of,
        "who": entry.who,
        "at": entry.when,
        "why": entry.why,
        "summary": entry.summary,
        "symbols": entry.changed,
        "files": [each.name for each in entry.files],
        "undone_by": found.undone_by or "",
        "diff": found.diff,
    }


def drawn(proposal: Proposal, files: Sequence[File], *, is_stale: bool, now: datetime) -> Json:
    """Return a proposal whole.

    Parameters:
        is_stale: whether what it was planned on has changed.
    """
    lines = sum(len(section.rows) for file in files for section in file.sections)
    coloured = lines <= _MOST_COLOURED
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
        "files": [_file(each, coloured=coloured) for each in files],
    }


def _age(at: str, now: datetime) -> float:
    """Return the seconds since a time."""
    return max(0.0, (now - datetime.fromisoformat(at)).total_seconds())


def _file(file: File, *, coloured: bool) -> Json:
    return {
        "name": file.name,
        "path": file.path,
        "origin": file.origin,
        "what": file.what,
        "note": file.note,
        "sections": [_section(each, file.path, coloured=coloured) for each in file.sections],
    }


def _section(section: Section, path: str, *, coloured: bool) -> Json:
    colour = _colouring(path) if coloured else None
    return {
        "symbol": section.symbol,
        "digest": section.digest,
        "added": section.added,
        "removed": section.removed,
        "rows": [[row.mark, row.old, row.new, _pieces(row, colour)] for row in section.rows],
    }


def _colouring(path: str) -> Any:
    """Return what tells the kinds of pieces in a file's lines; None for what has none."""
    if path.endswith((".py", ".pyi")):
        return PythonLexer(stripnl=False, ensurenl=False)
    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _pieces(row: Row, lexer: Any) -> list[list[str]]:
    """Return a line in pieces: the kind, or "" for none, and the text."""
    text = row.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if lexer is None or not text.strip() or len(text) > 2_000:
        return [["", text]]
    found: list[list[str]] = []
    for kind, piece in lexer.get_tokens(text):
        name = next((short for wanted, short in _KINDS if kind in wanted), "")
        if found and found[-1][0] == name:
            found[-1][1] += piece
        else:
            found.append([name, piece])
    return found
