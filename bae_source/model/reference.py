"""A place that refers to something, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

Certainty = Literal["sure", "probable", "unsure", "mention"]
"""From bindings that lead there and nowhere else, down to a string that may name it."""

Kind = Literal[
    "import", "call", "read", "write", "delete", "base", "decorator", "annotation", "keyword", "export", "definition",
    "request", "string", "mention", "comment", "docstring", "text",
]  # fmt: skip


Defined = Literal["class", "function", "method", "assignment", "type alias"]
"""Kinds of definitions."""


class Place(Struct, frozen=True, kw_only=True):
    """A reference as the JSON of an outcome has it; `symbol` is its address, and `reason` why it is not sure."""

    module: str
    symbol: str
    line: int
    column: int
    kind: Kind | Defined
    certainty: Certainty
    reason: str


class Reference(Struct, frozen=True, kw_only=True):
    """One place that refers to something.

    Parameters:
        module: the module that it stands in; `pyproject.toml` or `setup.cfg` in the project's settings.
        address: the innermost definition that it stands in, or the same.
        line: counted from 1.
        column: counted from 1, in characters.
        kind: `import`, `call`, `read`, `write`, `delete`, `base`, `decorator`, `annotation`, `keyword`, `export` (in
            `__all__`), `definition` (in the module's stub), `request` (a parameter by which pytest gives a fixture),
            `string`, `comment`, `docstring`, `text` (in a file that is no Python), or `mention` (in code that could not
            be analysed); of a definition that nothing uses, what it is.
        certainty: `sure`; `probable` where nothing is known of the receiver, and one family of classes alone has the
            name; `unsure` where it cannot be decided without running the code; `mention` for a word that is no code.
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

    def as_data(self) -> dict[str, Any]:
        """Return the place as the JSON of an outcome has it."""
        return {
            "module": self.module,
            "symbol": self.address,
            "line": self.line,
            "column": self.column,
            "kind": self.kind,
            "certainty": self.certainty,
            "reason": self.why,
        }


LINES = "lines"
"""The kind of lines of a file, which are no symbol."""


class Shown(Struct, frozen=True, kw_only=True):
    """Something that was read, as one of several.

    Parameters:
        module: the module that it stands in; of a data file its address.
        address: canonical.
        line: where it begins, from 1.
        kind: what `Defined` has; `module`, which a package is too; `data file`; `lines` of a file; of what is bound
            without a definition `attribute`, of instances, or `variable`.
        etag: of what the address means, as `if_match` takes it; None where an outline or statements are shown for it.
    """

    module: str
    address: str
    line: int
    kind: str
    etag: str | None

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it: a place, with the etag besides."""
        return {
            "module": self.module,
            "symbol": self.address,
            "line": self.line,
            "column": 1,
            "kind": self.kind,
            "certainty": "sure",
            "reason": "",
            "etag": self.etag,
        }


def counts_of(references: Iterable[Reference | Shown]) -> dict[str, int]:
    """Return the number of places by certainty."""
    counted = Counter("sure" if isinstance(each, Shown) else each.certainty for each in references)
    return {
        "sure": counted["sure"],
        "probable": counted["probable"],
        "unsure": counted["unsure"],
        "mentions": counted["mention"],
    }
