"""A problem that a check found: its place, its kind, and a sentence about it.

app.core:12: NAME_NOT_FOUND app.client has no send.
"""

from __future__ import annotations

import re

from msgspec import Struct

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that end a line; a file's name may hold them."""


UNFINISHED = "UNFINISHED_TRANSACTION"
"""The code of the one finding that is not about code."""


class Finding(Struct, frozen=True, kw_only=True, order=True):
    """One thing that is wrong.

    Parameters:
        address: the module that it is in, or the path of a file that is none; empty where it is about the project as a
            whole.
        line: where in it; 0 where it is about no line.
        code: what kind it is, in upper case.
        message: a sentence about it.
        mend: the name that is to be taken out of `__all__`; empty where nothing of ours mends it.
    """

    address: str
    line: int
    code: str
    message: str
    mend: str = ""

    def __str__(self) -> str:
        """Return it as one line."""
        place = f"{self.address}:{self.line}: " if self.address else ""
        return on_one_line(f"{place}{self.code} {self.message}")


def on_one_line(text: str) -> str:
    """Return a text with whatever would break the line written as an escape."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
