"""Protocols of requests that plan changes, by what the engine can ask of them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

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


def changes_of(request: Request) -> tuple[dict[str, Any], ...]:
    """Return the changes that a request consists of, as `apply` takes them."""
    return request.changes if isinstance(request, Gathering) else ({"do": request.verb, **as_mapping(request)},)


def parsed_changes_of(request: Request) -> tuple[dict[str, Any], ...]:
    """Return the changes of a request, each with all of its parameters."""
    return request.parsed() if isinstance(request, Gathering) else changes_of(request)
