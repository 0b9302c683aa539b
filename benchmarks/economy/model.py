"""A task and the steps of each way: plain values, so that a reader sees what is done and what is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Way: TypeAlias = Literal["plain", "cli", "mcp"]
WAYS: tuple[Way, ...] = ("plain", "cli", "mcp")


class Shell(Struct, frozen=True):
    """One call of a shell; commands that are chained are one call."""

    command: str

    @property
    def typed(self) -> str:
        """What the caller writes."""
        return self.command


class Tool(Struct, frozen=True):
    """One `tools/call` of MCP."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def typed(self) -> str:
        """What the caller writes: the tool's name and its arguments as JSON, line ends and quotes escaped."""
        arguments = json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))
        return f"{self.name} {arguments}"


Step: TypeAlias = Shell | Tool


class Given(Struct, frozen=True):
    """A piece of text that is replaced before the task begins, and is part of the first commit."""

    path: str
    old: str
    new: str


class Task(Struct, frozen=True, kw_only=True):
    """One everyday task.

    Parameters:
        number: from 1 on.
        title: in a few words.
        statement: what is wanted, as a person would say it; every way starts from these words.
        package: the release that it is done on, by its name in the corpus.
        plain: the steps by a shell.
        cli: the steps by our command line.
        mcp: the steps by our MCP server.
        spelled: new source text that every way has to write; see `counting`.
        tests: what pytest has to pass at the end.
        given: what is changed before the task begins.
        facts: lines that the caller has to have read at the end, without the blanks around them.
    """

    number: int
    title: str
    statement: str
    package: str
    plain: tuple[Step, ...]
    cli: tuple[Step, ...]
    mcp: tuple[Step, ...]
    spelled: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()
    facts: tuple[str, ...] = ()

    def steps(self, way: Way) -> tuple[Step, ...]:
        """Return the steps of one way."""
        return {"plain": self.plain, "cli": self.cli, "mcp": self.mcp}[way]


def texts(step: Step) -> Iterator[str]:
    """Yield the texts that a step hands over, as they are before they are escaped."""
    if isinstance(step, Shell):
        yield step.command
    else:
        yield from _strings(step.arguments)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
