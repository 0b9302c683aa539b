"""Selectors: `sym://` text parsed, and the selector of an address.

    URI        = "sym://" Language "/" Kind "/" Path ("#" Member)?
    Language   = "python"
    Kind       = "mod" | "type"
    Path       = Identifier ("/" Identifier)*
    Member     = Identifier ("." Identifier)*
    Identifier = [a-zA-Z_][a-zA-Z0-9_]*

A `mod` takes no member; the last component of a `type`'s path is a top-level class or function, so it has at least two.
Parsing never looks at a project, and takes a text whole or not at all: nothing is trimmed, folded or decoded.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.address import SELECTOR, Address, is_selector

MAX_LENGTH = 4096

_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
_URI = (  # compiled when there is a selector: few requests have one
    rf"sym://(?P<language>{_NAME})/(?P<kind>mod|type)/(?P<path>{_NAME}(?:/{_NAME})*)(?:#(?P<member>{_NAME}(?:\.{_NAME})*))?"
)
_SHAPE = "A selector looks like sym://python/mod/pkg/module or sym://python/type/pkg/module/Class#method."

SelectorKind = Literal["mod", "type"]


class Selector(Struct, frozen=True, kw_only=True):
    """The parts of a `sym://` URI.

    Parameters:
        kind: `mod` for a module, `type` for a class or function, or a member of one.
        path: trailing components of the module's path, without what is named inside it.
        names: the path of names inside the module, the top-level one first; empty for a module.
    """

    kind: SelectorKind
    path: tuple[str, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{SELECTOR}python/{self.kind}/{'/'.join((*self.path, *self.names[:1]))}"
        return f"{text}#{'.'.join(self.names[1:])}" if len(self.names) > 1 else text

    def inside(self, name: str) -> Selector | None:
        """Return the selector of something directly inside; None where the name can be no part of one."""
        if not is_identifier(name):
            return None
        return Selector(kind="type", path=self.path, names=(*self.names, name))


def parse_selector(text: str) -> Selector:
    """Parse a `sym://` URI.

    Raises:
        RequestError: `invalid_selector_syntax`; `language_not_supported` for a well-formed one of another language.
            The details hold the text as `sym`, and what is wrong with it as `reason`.
    """
    match = re.fullmatch(_URI, text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise _invalid(text, _problem(text))
    parts = tuple(match["path"].split("/"))
    if match["kind"] == "mod" and match["member"]:
        raise _invalid(text, "a mod takes no #member; members belong to a type")
    if match["kind"] == "type" and len(parts) == 1:
        raise _invalid(text, "a type is named behind its module: sym://python/type/module/Name")
    if match["language"] != "python":
        raise RequestError(
            "language_not_supported",
            f"{_shown(text)} asks for {match['language']}; only python has selectors here.",
            hints=[_SHAPE],
            details={"sym": text, "language": match["language"], "supported": ["python"]},
        )
    if match["kind"] == "mod":
        return Selector(kind="mod", path=parts)
    members = tuple(match["member"].split(".")) if match["member"] else ()
    return Selector(kind="type", path=parts[:-1], names=(parts[-1], *members))


def selector_of(address: Address) -> Selector | None:
    """Return the selector of an address; None where no selector can say it.

    Parts, data files, stubs, one of several, and names outside ASCII have none. An assignment has none either, which
    only its definition tells: ask for addresses of modules, classes and functions.
    """
    path = tuple(address.module.split("."))
    names = tuple(segment.name for segment in address.qualname)
    special = address.part or address.marker or address.resource is not None
    if special or not all(segment.plain for segment in address.qualname):
        return None
    if not all(is_identifier(name) for name in (*path, *names)):
        return None
    return Selector(kind="type" if names else "mod", path=path, names=names)


def is_identifier(name: str) -> bool:
    """Return whether a name can be a component of a selector."""
    return name.isascii() and name.isidentifier()


def _invalid(text: str, problem: str) -> RequestError:
    return RequestError(
        "invalid_selector_syntax",
        f"{_shown(text)} is no selector: {problem}.",
        hints=[_SHAPE],
        details={"sym": text, "reason": problem},
    )


def _problem(text: str) -> str:
    """Return the reason why a text is outside the grammar."""
    if len(text) > MAX_LENGTH:
        return f"it has {len(text):,} characters, more than {MAX_LENGTH:,}"
    if not is_selector(text):
        return f"it does not begin with {SELECTOR}"
    head, _, member = text[len(SELECTOR) :].partition("#")
    language, *rest = head.split("/")
    if not is_identifier(language):
        return f"{language!r} is no language"
    if not rest or rest[0] not in ("mod", "type"):
        return f"{rest[0] if rest else ''!r} is neither mod nor type"
    odd = next((name for name in rest[1:] or [""] if not is_identifier(name)), None)
    if odd is not None:
        if odd.endswith((".py", ".pyi")):
            return f"{odd!r} has a file extension, which no module's name has"
        return f"{odd!r} is no component of a path, which has only letters, digits and underscores of ASCII"
    odd = next((name for name in member.split(".") if not is_identifier(name)), member)
    return f"{odd!r} is no member's name"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:97] + "...")
