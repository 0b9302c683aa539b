"""A place that refers to something, as data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Certainty = Literal["sure", "unsure", "string"]


class Reference(Struct, frozen=True, kw_only=True):
    """One place that refers to something.

    Parameters:
        module: the module that it stands in; `pyproject.toml` or `setup.cfg` in the project's settings.
        address: the innermost definition that it stands in, or the same.
        line: counted from 1.
        column: counted from 1, in characters.
        kind: `import`, `call`, `read`, `write`, `delete`, `base`, `decorator`, `annotation`, `keyword`, `export` (in
            `__all__`), `definition` (in the module's stub), `string`, or `mention` (in code that could not be
            analysed).
        certainty: `sure`; `unsure` where it cannot be decided without running the code; `string` for a mention in a
            string.
        why: why it is not sure; empty if it is.
        text: the line, without the white space around it; the beginning of a very long one.
    """

    module: str
    address: str
    line: int
    column: int
    kind: str
    certainty: Certainty
    why: str = ""
    text: str = ""
