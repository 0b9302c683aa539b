"""The display of a block's result: highlighted on a terminal, plain in a pipe.

On a terminal the code stands above already, and is not shown again. In a pipe standard output has what the code printed
and what its calls answered; lines about calls, and errors, go to standard error.

Invariant: nothing that is shown can drive a terminal, and tables are no wider than it.
"""

from __future__ import annotations

from io import StringIO

from bae_source.adapters.cli.paint import paint
from bae_source.adapters.cli.render import render
from bae_source.adapters.cli.streams import Sink, Streams, visible
from bae_source.adapters.session.arguments import signature
from bae_source.adapters.session.displays import Entry, Section
from bae_source.adapters.session.events import (
    Answered,
    Called,
    Entered,
    Event,
    LeftOut,
    Lost,
    Noted,
    Panel,
    breadcrumb,
)
from bae_source.adapters.session.ran import Ran
from bae_source.adapters.tools import Json
from bae_source.engine.registry import REQUESTS
from bae_source.model.outcome import Outcome

_NARROW = 40


def show(ran: Ran, streams: Streams, *, width: int) -> None:
    """Show what a block came to.

    Parameters:
        width: how many columns there are.
    """
    for event in ran.events:
        _event(event, streams)
    if not ran.is_shown:
        return
    if ran.entry is not None and streams.stdout.terminal:
        streams.stdout.write(drawn(ran.entry, width=width, colour=streams.stdout.colour))
    else:
        _answered(ran.outcome, ran.answer, streams)


def drawn(entry: Entry, *, width: int, colour: bool) -> str:
    """Draw the display of a place, with tables that keep to the width."""
    from rich.console import Console
    from rich.text import Text

    sink = StringIO()
    console = Console(
        file=sink,
        width=max(_NARROW, width),
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    console.print(Text(visible(entry.headline), style="bold"))
    console.print(Text(breadcrumb(entry.trail), style="cyan"))
    console.print(Text(visible(entry.state), style="dim"))
    for section in entry.sections:
        console.print()
        console.print(Text(section.title, style="bold"))
        if section.rows:
            console.print(_table(section, width=console.width))
        if section.more:
            console.print(Text(f"  +{section.more:,} more", style="dim"))
    return "".join(f"{line.rstrip()}\n" for line in sink.getvalue().splitlines())


def _table(section: Section, *, width: int) -> object:
    """Return a table of names and their descriptions; signatures are as long as there is room for."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_header=False, padding=(0, 1), pad_edge=True, show_edge=False)
    table.add_column(ratio=2, overflow="fold")
    table.add_column(ratio=3, overflow="fold")
    for name, text in section.rows:
        verb = name.partition("(")[0]
        shown = signature(verb, width * 2 // 5) if verb in REQUESTS.verbs else visible(name)
        head, bracket, rest = shown.partition("(")
        table.add_row(Text.assemble((head, "cyan"), (bracket + rest, "dim")), Text(visible(text)))
    return table


def _event(event: Event, streams: Streams) -> None:
    if isinstance(event, Panel):
        _panel(event, streams)
    elif isinstance(event, Answered):
        _answered(event.outcome, event.answer, streams)
    else:
        _line(streams.stderr, event.line, _style(event))


def _style(event: Event) -> str:
    if isinstance(event, Lost) or (isinstance(event, Called) and event.failed):
        return "error"
    if isinstance(event, (Noted, LeftOut)):
        return "warning"
    return "command" if isinstance(event, Entered) else "dim"


def _answered(outcome: Outcome, answer: Json, streams: Streams) -> None:
    """Show what a call came to."""
    if "data" in answer or "answers" in answer:
        _selections(answer, streams)
        return
    render(outcome, streams)
    is_source = outcome.status == "answer" and outcome.address and outcome.text
    if is_source and not outcome.text.endswith("\n") and not streams.stdout.seen:
        streams.stdout.write("\n")  # a pipe gets the source's own bytes, and what follows begins on its own line


def _panel(panel: Panel, streams: Streams) -> None:
    """Show what was printed, and the value; the code is where the person typed it."""
    if panel.output:
        text = panel.output if panel.output.endswith("\n") else f"{panel.output}\n"
        streams.stdout.write(visible(text.replace("\r\n", "\n")) if streams.stdout.seen else text)
    if panel.value:
        _painted(streams.stdout, f"{panel.value}\n", "source")


def _selections(found: Json, streams: Streams) -> None:
    for answer in found.get("answers", [found]):
        for failure in answer["errors"]:
            _line(streams.stderr, f"error[{failure['code']}]: {failure['message']}", "error")
        if answer["data"]:
            _line(streams.stderr, answer["data"]["uri"], "dim")
            _painted(streams.stdout, answer["data"]["content"].rstrip("\n") + "\n", "source")
        for action in answer["next_actions"]:
            _line(streams.stderr, f"  -> {action}", "dim")


def _line(sink: Sink, text: str, style: str) -> None:
    _painted(sink, f"{text}\n", style)


def _painted(sink: Sink, text: str, style: str) -> None:
    shown = visible(text) if sink.seen else text
    if sink.colour and style != "plain":
        shown = paint(shown, style)
    sink.write(shown)
