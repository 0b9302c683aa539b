"""Blocks as a person types them on a terminal: edited, completed and remembered by prompt_toolkit.

Enter ends a block that is complete, and begins a line in one that is not; Ctrl-C empties what was typed, Ctrl-D leaves.

Invariant: a word is completed only from what the session says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.python import PythonLexer

from bae_source.adapters.shell.blocks import ends_here

_INDENT = "    "
Complete = Callable[[str], tuple[tuple[str, ...], int]]


def typed(prompt: Callable[[], str], complete: Complete, remembered: Path | None, *, colour: bool) -> Iterator[str]:
    """Yield blocks as they are typed, until there are no more.

    Parameters:
        prompt: returns what stands before a block.
        complete: returns what may stand at the end of a text, and how many of its characters it is for.
        remembered: the file that remembers lines; None to remember none.
    """
    session: PromptSession[str] = PromptSession(
        multiline=True,
        history=TypedLines(str(remembered)) if remembered is not None else None,
        completer=_Completer(complete),
        complete_while_typing=False,
        complete_in_thread=False,
        key_bindings=_keys(),
        lexer=PygmentsLexer(PythonLexer) if colour else None,
        enable_open_in_editor=False,
    )
    while True:
        shown = prompt()
        try:
            text = session.prompt(ANSI(f"\x1b[36m{shown}\x1b[0m") if colour else shown, prompt_continuation=_continued)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip():
            yield text


class TypedLines(FileHistory):
    """Lines that were typed, for the next shell on this project; kept for their owner's eyes alone."""

    def load_history_strings(self) -> Iterable[str]:
        """Yield the lines typed before, the last first."""
        with suppress(OSError):
            return list(super().load_history_strings())
        return []

    def store_string(self, string: str) -> None:
        """Keep a typed line, where there is a folder for it."""
        path = Path(os.fsdecode(self.filename))
        if path.parent.is_dir() and not path.parent.is_symlink():
            with suppress(OSError):
                _make_private(path)
                super().store_string(string)


def _make_private(path: Path) -> None:
    """Have a file be there that its owner alone reads, before anything is written to it.

    Raises:
        OSError: it cannot be had, or is a link.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(descriptor, 0o600)  # one that was there before
    finally:
        os.close(descriptor)


class _Completer(Completer):
    """Completes what stands before the cursor."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        """Yield the completions."""
        words, length = self._complete(document.text_before_cursor)
        for word in words:
            shown = word.rpartition(".")[2] or word
            yield Completion(word, start_position=-length, display=shown)


def _continued(width: int, _line: int, _wraps: int) -> str:
    """Return the prompt of a line that goes on with a block."""
    return "." * (width - 1) + " "


def _keys() -> Any:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif not buffer.document.text_after_cursor.strip() and ends_here(buffer.text):
            buffer.validate_and_handle()
        else:
            line = buffer.document.current_line_before_cursor
            indent = line[: len(line) - len(line.lstrip())]
            buffer.insert_text("\n" + indent + (_INDENT if line.rstrip().endswith(":") else ""))

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.document.current_line_before_cursor.strip():
            buffer.insert_text(_INDENT)
        elif buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    return keys
