"""Lines for an `AGENTS.md`: the command line as a coding agent needs it, each command as it is typed.

bae-source agents >> AGENTS.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.model.outcome import Outcome

LINES = """\
## Reading and changing Python: bae-source

Use it for cat, grep and sed. Code has names: app.net.Client.send, or Client.send if unique. Changes are undoable.

    bae-source read app.net                               # interface of a module; of a package its modules
    bae-source read app.net.Client.send app.util.wait     # their source; --around adds siblings, imports, callers
    bae-source read app/net.py:6                          # the symbol at a line of a traceback; app/net.py:4-9
    bae-source grep -w timeout app.net                    # text, with grep's flags; --names | bae-source read -
    bae-source find 'Client($$$ARGS)'                     # code by its shape: $X an expression, $$$X any number
    bae-source references app.net.Client.send             # who uses it, and how sure that is
    bae-source edit app.util.wait --old 'x + 1' --new 'x + 2'       # more pairs, --every, --nth N
    bae-source edit app.net.Client.send --source - < new.py         # a whole symbol at any indentation, or @body,
    bae-source edit app.net.Client.send@docstring --code '"Send it."'    # @signature, @docstring, @decorators
    bae-source insert app.util.wait --position after --source - < more.py
    bae-source write app.more --source - < more.py        # a new module; :docs/a.md a text file
    bae-source rename app.net.Client.send post            # everywhere: imports, overrides, __all__, strings
    bae-source move app.util.wait app.net                 # with its imports; all that use it follow
    bae-source change_signature app.util.wait '(x, *, times=1)'     # calls follow; see extract, inline, codemod
    bae-source apply --patch - < fix.diff                 # a unified diff, or *** Begin Patch
    bae-source do < commands.txt                          # one command a line; changes are one transaction
    bae-source undo                                       # your last change, exactly; git is not touched

Every change takes --verify tests, --verify types, --dry-run and -q (no diff). Text files are :README.md, :docs/a.md.
Errors name the next call; exit status 3 is not found, 5 refused, 6 did not verify: then nothing was written.
A long text that was refused is kept: bae-source amend DRAFT --old … --new … mends it. bae-source help VERB says more.
"""


def agents(_: Mapping[str, Any], __: Streams) -> Outcome:
    """Return the lines."""
    return Outcome(status="answer", text=LINES)
