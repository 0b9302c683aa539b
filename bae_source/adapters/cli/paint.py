"""Colour for terminals, by rich; loaded only where a stream wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

#: Only the sixteen colours that the person's own theme defines, so that any background works.
_STYLES: Mapping[str, str] = {
    "error": "bold red",
    "warning": "yellow",
    "done": "bold green",
    "dim": "dim",
    "heading": "bold",
    "command": "cyan",
}
_MOST_HIGHLIGHTED = 300_000


def paint(text: str, style: str) -> str:
    """Return `text` with escape sequences; `style` is `source`, `diff`, `help`, or one of the plain styles."""
    painter = _PAINTERS.get(style)
    body, newline = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    return _drawn(painter(body) if painter else Text(body, style=_STYLES[style])) + newline


def _source(text: str) -> Text:
    """Highlight Python source, unless there is too much of it to wait for."""
    if len(text) > _MOST_HIGHLIGHTED:
        return Text(text)
    highlighted = Syntax("", "python", theme="ansi_dark", background_color="default", tab_size=8).highlight(text)
    if not text.endswith("\n") and highlighted.plain.endswith("\n"):
        highlighted.right_crop(1)  # the lexer ends its input with a newline of its own
    return highlighted


def _diff(text: str) -> Text:
    """Colour a unified diff as git does, and highlight nothing inside a line that was not changed."""
    result = Text()
    inside = False
    for number, line in enumerate(text.split("\n")):
        inside = line.startswith("@@") or (inside and not line.startswith("diff "))
        result.append("\n" if number else "")
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
