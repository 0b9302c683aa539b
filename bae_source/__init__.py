"""bae_source: change a Python project by name; lossless, transactional, undoable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bae_source.errors import (
    HistoryError,
    LookupFailed,
    Refused,
    RequestError,
    ResourceError,
    SourceError,
    TransactionError,
)

if TYPE_CHECKING:
    from bae_source.adapters import functions
    from bae_source.adapters.api import Source
    from bae_source.adapters.session.session import Session
    from bae_source.adapters.transacting import Transaction
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


def __getattr__(name: str) -> Any:
    """Import what is heavy only when it is asked for: the command line needs none of it to start."""
    if name == "Source":
        from bae_source.adapters.api import Source

        return Source
    if name == "Session":
        from bae_source.adapters.session.session import Session

        return Session
    if name == "Transaction":
        from bae_source.adapters.transacting import Transaction

        return Transaction
    if name == "functions":
        from importlib import import_module

        return import_module("bae_source.functions")
    if name in ("Outcome", "Text"):
        from bae_source.model import outcome

        return getattr(outcome, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
