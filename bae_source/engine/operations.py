"""Protocols of requests that plan changes, by what the engine can ask of them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from bae_source.errors import RequestError
from bae_source.model.plan import Plan
from bae_source.model.request import Request, as_mapping
from bae_source.project.workspace import Workspace


@runtime_checkable
class Operation(Protocol):
    """A request that plans a change."""

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change."""


@runtime_checkable
class Composed(Protocol):
    """A request that may stand for several changes, each made on what those before it leave."""

    def steps(self) -> tuple[dict[str, Any], ...]:
        """Return the changes as `apply` takes them; none where it is one by itself."""


@runtime_checkable
class Gathering(Protocol):
    """A request that is several changes, made together."""

    @property
    def changes(self) -> tuple[dict[str, Any], ...]:
        """The changes as `apply` takes them."""

    def parsed(self) -> tuple[dict[str, Any], ...]:
        """Return the changes with every parameter, in one form whichever words they were given in."""


@runtime_checkable
class Exporting(Protocol):
    """A request that can do without what it exports, where that is what fails."""

    def export_behind(self) -> Operation | None:
        """Return the request with its exports behind the imports of the package; None if there are none to move."""

    def without_export(self) -> Operation | None:
        """Return the request without the exports; None if there are none."""


@runtime_checkable
class Untangling(Protocol):
    """A request that can be made in a way which leads to fewer circles of imports."""

    def untangled(self) -> Operation | None:
        """Return the request in that form; None if it has it already, or cannot."""


@runtime_checkable
class Checking(Protocol):
    """A change that may be asked for only to see whether there is anything to change."""

    check: bool
    verb: str


def check_makes(request: object) -> None:
    """See that a part of a transaction is one that is made.

    Raises:
        RequestError: `invalid_arguments`.
    """
    if isinstance(request, Checking) and request.check:
        raise RequestError(
            "invalid_arguments",
            f"check makes nothing, and this {request.verb} is a part of something that is made",
            unchanged=True,
            hints=["Leave check out, or ask by a call of its own."],
        )


def changes_of(request: Request) -> tuple[dict[str, Any], ...]:
    """Return the changes that a request consists of, as `apply` takes them."""
    return request.changes if isinstance(request, Gathering) else ({"do": request.verb, **as_mapping(request)},)


def parsed_changes_of(request: Request) -> tuple[dict[str, Any], ...]:
    """Return the changes of a request, each with all of its parameters."""
    return request.parsed() if isinstance(request, Gathering) else changes_of(request)
