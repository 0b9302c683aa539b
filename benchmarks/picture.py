"""The picture of a terminal in README: commands on the demonstration's project, recorded at a pseudo-terminal.

`python -m benchmarks.picture docs/terminal.svg` draws it.
"""

from __future__ import annotations

import os
import pty
import re
import sys
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bae_source.adapters.cli.demo import FILES

_COMMANDS = (
    "bae-source references shop.cart.Cart.total",
    "bae-source rename shop.cart.Cart.total sum_up",
    """bae-source edit shop.cart --old "import price_of" --new "import price_for" --quiet""",
    "bae-source undo --quiet",
)
_WIDTH = 116
_FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""The fonts that the drawing would fetch from elsewhere; the reader's own monospace takes their place."""


def main(arguments: Sequence[str]) -> int:
    """Record the commands and draw what they print into the file that is named."""
    console = Console(record=True, width=_WIDTH, file=StringIO())
    with tempfile.TemporaryDirectory() as folder:
        for path, content in FILES.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for command in _COMMANDS:
            console.print(Text(f"$ {command}", style="bold"))
            console.print(Text.from_ansi(_recorded(command, folder)))
    Path(arguments[0]).write_text(_FONT.sub("", console.export_svg(title="bae-source")), encoding="utf-8")
    return 0


def _recorded(command: str, folder: str) -> str:
    """Return what a command prints at a terminal, with its colours."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ |= {"PATH": path, "TERM": "xterm-256color", "COLUMNS": str(_WIDTH)}
        os.environ |= {"BAE_SOURCE_SERVE": "off", "XDG_STATE_HOME": f"{folder}/.state"}
        os.execvp("sh", ["sh", "-c", command])
    printed = b""
    while piece := _read(terminal):
        printed += piece
    os.waitpid(child, 0)
    return printed.decode().replace("\r\n", "\n").rstrip("\n") + "\n"


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the end of a terminal whose child is gone
        return b""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
