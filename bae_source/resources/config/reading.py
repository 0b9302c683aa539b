"""Read the sections of pyproject.toml, their keys and values."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import datetime
import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from msgspec import Struct

from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import counted
from bae_source.project.workspace import Workspace, etag_of
from bae_source.resources.config.document import NAME
from bae_source.resources.config.key import keys_below, written_key
from bae_source.resources.config.meaning import problems
from bae_source.resources.config.opened import Opened, clauses, opened


class Section(Struct, frozen=True, kw_only=True):
    """A table of the file.

    Parameters:
        section: its name; "" for the keys above the first header.
        keys: how many keys stand below its header.
        line: that of its header.
    """

    section: str
    keys: int
    line: int

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        return {"section": self.section, "keys": self.keys, "line": self.line}


class Setting(Struct, frozen=True, kw_only=True):
    """A key or a table with what it holds.

    Parameters:
        key: its name.
        line: where it begins.
        etag: as `if_match` takes it.
        value: what it holds; dates and times as texts.
    """

    key: str
    line: int
    etag: str
    value: Any

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        return {"key": self.key, "line": self.line, "etag": self.etag, "value": self.value}


class ConfigRead(Request, frozen=True, kw_only=True):
    """Read pyproject.toml: which sections there are, or one of them as it stands.

    Without a section each has a line. A section comes with the tables below it, its etag and, in JSON, its data; a key,
    an item or a quoted part can be named as well: `tool.ruff.lint.select`, `tool.mypy.overrides[0]`, `tool."a.b".c`.
    """

    verb: ClassVar[str] = "config_read"
    family: ClassVar[str] = "config"
    when: ClassVar[str] = "Use it to see settings before you change them, and for the etag that makes the change safe."
    examples: ClassVar[tuple[str, ...]] = (
        "config read",
        "config read project",
        "config read tool.ruff.lint --json",
        "config read 'tool.mypy.overrides[0]'",
    )

    section: Annotated[
        str, described("A section or a key, such as tool.ruff; all sections if left out.", placed=True)
    ] = ""

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace.

        Raises:
            LookupFailed: `symbol_not_found` if there is no such section, or no file.
        """
        file = opened(workspace, by_key=True)
        if not self.section:
            return _listed(file, workspace)
        found = file.document.read(self.section)
        for key in (found.path, *keys_below(found.value, found.path)):
            refusal = workspace.refusal_of("config", written_key(key))
            if refusal is not None:
                raise refusal
        etag = etag_of(found.text)
        setting = Setting(key=written_key(found.path), line=found.line, etag=etag, value=_plain(found.value))
        keys = len(found.value) if isinstance(found.value, dict) else 1
        return Outcome(
            status="answer",
            text=found.text,
            etag=etag,
            address=setting.key,
            found=(setting,),
            counts={"keys": keys},
        )


def _listed(file: Opened, workspace: Workspace) -> Outcome:
    """Answer with a line for each section."""
    found = tuple(_sections(file))
    lines = [f"{each.section or '(no section)'}: {counted(each.keys, 'key')} (line {each.line})" for each in found]
    keys = keys_below(file.document.data)
    is_open = all(workspace.refusal_of("config", written_key(each)) is None for each in keys)
    wrong = problems(file.document.data) if is_open else []  # which tell of values
    notices = [Notice("settings_invalid", f"Wrong in it: {clauses(wrong)}")] if wrong else []
    return Outcome(
        status="answer",
        text="\n".join([f"{NAME}: {counted(len(found), 'section')}.", *lines]),
        etag=file.etag,
        warnings=tuple(notices),
        found=found,
        counts={"sections": len(found)},
    )


def _sections(file: Opened) -> Iterator[Section]:
    text, counts = file.document.text, dict[int, int]()
    statements = file.document.statements
    for each in statements:
        counts[each.section] = counts.get(each.section, 0) + (each.value is not None)
    line, position = 1, 0
    for number, keys in counts.items():
        first = statements[max(number, 0)]
        line, position = line + text.count("\n", position, first.span.start), first.span.start
        yield Section(section=written_key(first.path) if number >= 0 else "", keys=keys, line=line)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: dates, and numbers that are none, as texts."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
