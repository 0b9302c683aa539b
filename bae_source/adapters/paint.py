"""Colour for terminals, by rich; loaded only where a stream wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

#: Only the sixteen colours that the person's own theme defines, so that any background works.
_STYLES: Mapping[str, str] = {"error": "bold red", "warning": "yellow", "done": "bold green", "dim": "dim"}


def paint(text: str, style: str) -> str:
    """Return `text` with escape sequences; `style` is `source`, `diff`, `help`, or one of the plain styles."""
    painter = _PAINTERS.get(style)
    body, newline = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    return _drawn(painter(body) if painter else Text(body, style=_STYLES[style])) + newline


def _source(text: str) -> Text:
    """Highlight Python source."""
    highlighted = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(text)
    highlighted.plain = text  # highlighting may end the text with a newline of its own
    return highlighted


def _diff(text: str) -> Text:
    """Colour a unified diff as git does, and highlight nothing inside a line that was not changed."""
    result = Text()
    inside = False
    for line in text.splitlines(keepends=True):
        inside = line.startswith("@@") or (inside and not line.startswith("diff "))
        result.append(line, style=_line_style(line, inside=inside))
    return result


def _line_style(line: str, *, inside: bool) -> str:
    if not inside:
        return "bold"
    return {"@": "cyan", "+": "green", "-": "red", "\\": "dim"}.get(line[:1], "")


def _help(text: str) -> Text:
    """Make the headings of a help text bold, and the words that can be typed cyan."""
    result = Text(text)
    result.highlight_regex(r"(?m)^[A-Z][a-zA-Z ]*:", "bold")
    result.highlight_regex(r"(?m)^  (?P<typed>[a-z]+|--?[a-zA-Z][\w\-, ]*?)(?=  | [A-Z\[]|$)", "cyan")
    return result


_PAINTERS: Mapping[str, Callable[[str], Text]] = {"source": _source, "diff": _diff, "help": _help}


def _drawn(text: Text) -> str:
    sink = StringIO()
    console = Console(
        file=sink, force_terminal=True, color_system="standard", legacy_windows=False, _environ={}, highlight=False
    )
    console.print(text, soft_wrap=True, end="")
    return sink.getvalue()
