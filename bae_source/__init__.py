"""bae_source: change a Python project by name; lossless, transactional, undoable.

Invariant: where `python -m bae_source` has put the current folder first on `sys.path`, it is taken off before anything
is imported, `__future__` too; in a process that was started for anything else `sys.path` stays as it is.
"""

import sys  # which is built in: no folder is looked into for it


def _is_started_by_name() -> bool:
    """Return whether `python -m` is looking for this package now, or for a module of it, to run it.

    Meanwhile it has `-m` in the place of the program's name, also where a package that is run so imports us; the name
    stands in the interpreter's own arguments, `-m NAME` or `-mNAME`, before those of the program.
    """
    given = getattr(sys, "argv", None)
    if sys.flags.safe_path or not given or given[0] != "-m" or len(given) > len(sys.orig_argv):
        return False
    name = sys.orig_argv[-len(given)]
    if name.startswith("-"):
        name = name.partition("m")[2]
    return name.partition(".")[0] == __name__


_folder_left_out = sys.path.pop(0) if _is_started_by_name() else None

TYPE_CHECKING = False
"""As `typing` has it, which takes as long to load as a server takes to answer."""
if TYPE_CHECKING:
    from typing import Any

    from bae_source.adapters import functions
    from bae_source.adapters.python.api import Source
    from bae_source.adapters.python.transacting import Transaction
    from bae_source.adapters.session.session import Session
    from bae_source.errors import (
        HistoryError,
        LookupFailed,
        Refused,
        RequestError,
        ResourceError,
        SourceError,
        TransactionError,
    )
    from bae_source.model.outcome import Outcome, Text

__version__ = "0.1.0"
__all__ = [
    "HistoryError",
    "LookupFailed",
    "Outcome",
    "Refused",
    "RequestError",
    "ResourceError",
    "Session",
    "Source",
    "SourceError",
    "Text",
    "Transaction",
    "TransactionError",
    "__version__",
    "functions",
]


def __getattr__(name: str) -> "Any":
    """Import what is heavy only when it is asked for: the command line needs none of it to start."""
    if name.endswith(("Error", "Failed", "Refused")) and name in __all__:
        from bae_source import errors

        return getattr(errors, name)
    if name == "Source":
        from bae_source.adapters.python.api import Source

        return Source
    if name == "Session":
        from bae_source.adapters.session.session import Session

        return Session
    if name == "Transaction":
        from bae_source.adapters.python.transacting import Transaction

        return Transaction
    if name == "functions":
        from importlib import import_module

        return import_module("bae_source.functions")
    if name in ("Outcome", "Text"):
        from bae_source.model import outcome

        return getattr(outcome, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
