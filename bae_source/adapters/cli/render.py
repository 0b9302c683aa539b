"""An outcome as people read it: plain in a pipe, painted on a terminal.

stdout carries the answer and stderr the rest. In a pipe a read is the source byte for byte, and a dry run the diff
alone, as `git apply` takes it. Of a change the verdict stands first, with how it is taken back, and its diff last.
Painting (`paint`, which loads rich) happens only where a stream wants colour.
"""

from __future__ import annotations

from collections.abc import Iterable

from bae_source.adapters.cli.streams import Sink, Streams, visible
from bae_source.model.outcome import Failure, Outcome, headed, to_json


def render(outcome: Outcome, streams: Streams, *, command: str = "{}") -> None:
    """Write the outcome to the streams.

    Parameters:
        command: how an action such as `undo op_7f3a` is typed as a command; the action goes where `{}` is.
    """
    if outcome.errors:
        _errors(outcome, streams.stderr)
    elif outcome.status == "planned" and not streams.stdout.terminal:
        _line(streams.stderr, outcome.text)
        _write(streams.stdout, outcome.diff, "diff")
    elif outcome.status == "answer":
        _answer(outcome, streams)
    else:
        _change(outcome, streams, command)
        render_warnings(outcome, streams)
        _write(streams.stdout, outcome.diff, "diff")
        return
    render_warnings(outcome, streams)


def render_warnings(outcome: Outcome, streams: Streams) -> None:
    """Write what else the caller should know."""
    for notice in outcome.warnings:
        _say(streams.stderr, f"warning[{notice.code}]", "warning", notice.message)


def render_json(outcome: Outcome, streams: Streams) -> None:
    """Write the outcome to standard output as one line of JSON."""
    streams.stdout.write(to_json(outcome) + "\n")


def render_help(text: str, streams: Streams) -> None:
    """Write a help text."""
    _write(streams.stdout, text, "help")


def render_heading(text: str, streams: Streams, *, style: str) -> None:
    """Write lines that set a text off: a `heading`, or a `command` that a person can type."""
    _line(streams.stdout, text, style)


def render_lines(text: str, streams: Streams) -> None:
    """Write lines of an answer before the rest of it is there."""
    _line(streams.stdout, text)


def render_text(text: str, streams: Streams, *, style: str) -> None:
    """Write a text as it is, in the colours of a `diff` or of `source`."""
    _write(streams.stdout, text, style)


def _answer(outcome: Outcome, streams: Streams) -> None:
    is_source = outcome.address is not None
    if is_source:
        _write(streams.stdout, outcome.text, "source")
    else:
        _line(streams.stdout, outcome.text)
    if not outcome.complete:
        why = ": the warnings below say why" if outcome.warnings else ""
        _say(streams.stderr, "incomplete", "warning", f"This is not all there is{why}.")
    if is_source and streams.stdout.terminal and streams.stderr.terminal:
        _line(streams.stderr, f"{outcome.address}  etag {outcome.etag}", "dim")
    if streams.stderr.terminal or not outcome.complete:
        _arrows(streams.stderr, outcome.next_actions)


def _change(outcome: Outcome, streams: Streams, command: str) -> None:
    first, rest, actions = headed(outcome, command)
    _line(streams.stdout, first, "done" if outcome.status in ("applied", "unchanged") else "warning")
    _line(streams.stdout, rest)
    _arrows(streams.stderr, actions)


def _errors(outcome: Outcome, stderr: Sink) -> None:
    for failure in outcome.errors:
        _say(stderr, f"error[{failure.code}]", "error", failure.message)
        _arrows(stderr, failure.hints)
        _candidates(failure, stderr)
    if outcome.etag:
        _line(stderr, f"etag {outcome.etag}", "dim")
    _write(stderr, outcome.diff, "diff")


def _candidates(failure: Failure, stderr: Sink) -> None:
    if not failure.candidates:
        return
    _line(stderr, "candidates:", "dim")
    for candidate in failure.candidates:
        _line(stderr, f"  {candidate}")


def _arrows(stderr: Sink, hints: Iterable[str]) -> None:
    for hint in hints:
        _line(stderr, f"  -> {hint}")


def _say(sink: Sink, label: str, style: str, message: str) -> None:
    shown = visible(f"{label}:")
    sink.write(f"{_painted(sink, shown, style)} {visible(message)}\n")


def _line(sink: Sink, text: str, style: str = "plain") -> None:
    """Write lines that are ours, not a file's."""
    if text:
        _write(sink, text if text.endswith("\n") else text + "\n", style)


def _write(sink: Sink, text: str, style: str) -> None:
    if not sink.seen:
        sink.write(text)
        return
    painted = _painted(sink, visible(_lines_ended(text)), style)
    sink.write(painted if painted.endswith("\n") or not painted else painted + "\n")


def _painted(sink: Sink, text: str, style: str) -> str:
    if not sink.colour or style == "plain":
        return text
    from bae_source.adapters.cli.paint import paint  # rich is heavy

    return paint(text, style)


def _lines_ended(text: str) -> str:
    """Drop the carriage returns of a text whose lines all have one; where lines differ, they stay, and are shown."""
    lines = [line for line in text.split("\n")[:-1] if not line.startswith(("diff ", "--- ", "+++ ", "@@ ", "\\ "))]
    if all(line.endswith("\r") for line in lines):
        return text.replace("\r\n", "\n")
    return text
