"""Choice of a move about places that it need not lead along."""

from __future__ import annotations

from msgspec import Struct

from bae_source.project.references.search.prose_edits import Wanted


class Choice(Struct, frozen=True, kw_only=True):
    """Choice about places that a move need not lead along.

    Parameters:
        leaves_unsure: whether places that are unsure stay, and refuse nothing.
        text: which mentions in prose change.
        skip_generated: whether files that a program writes stay as they are.
    """

    leaves_unsure: bool = False
    text: Wanted = "none"
    skip_generated: bool = False
