"""Set keys of pyproject.toml, and add items to its arrays."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.errors import LookupFailed
from bae_source.model.request import described
from bae_source.resources.config.document import NAME, Document, same
from bae_source.resources.config.given import PLAIN, Value, Writing, value_for
from bae_source.resources.config.key import Path, written_key
from bae_source.resources.config.meaning import STANDARD

_SHOWN = 100


class ConfigSet(Writing, frozen=True, kw_only=True):
    """Set a key of pyproject.toml; every other byte of the file stays as it is.

    A missing key is made, and so are missing tables; only at the file's top none is made whose name stands further in:
    `version` alone is refused, with project.version as a candidate. Types are kept: an integer over a string is
    refused, unless it may be retyped. A change is refused after which a value in [project], [build-system] or
    [dependency-groups] is not what the standards say; of a key that they require and that is missing, and of one that
    they do not know, there is a warning. The engine's own settings, [tool.bae-source], are never changed from here.
    """

    verb: ClassVar[str] = "config_set"
    when: ClassVar[str] = "Use it for one setting of the project or a tool, in place of editing the file as text."
    examples: ClassVar[tuple[str, ...]] = (
        "config set tool.ruff.line-length 100",
        "config set project.version '\"1.2.0\"'",
        'config set tool.ruff.lint.select \'["E", "F"]\' --dry-run',
        "config set tool.ruff.target-version py312 --retype",
    )

    def changed(self, document: Document, path: Path) -> tuple[str, str]:
        """Return the new text of the file, and a sentence on the change."""
        _check_place(document, path)
        value = value_for(document, path, self)
        key, is_there = written_key(path), document.has(path)
        if is_there and same(document.value(path), value.value):
            return document.text, f"{key} is that already."
        text = document.set(path, value)
        return text, f"{'Set' if is_there else 'Added'} {key} = {_short(value.text)}."


class ConfigAdd(Writing, frozen=True, kw_only=True):
    """Add an item to an array of pyproject.toml, in the layout that the array has.

    A missing array is made. An item that is there already is not added again. To an array of tables a table is added.
    """

    verb: ClassVar[str] = "config_add"
    when: ClassVar[str] = "Use it for one more rule, path or classifier, in place of setting the whole array."
    examples: ClassVar[tuple[str, ...]] = (
        "config add tool.ruff.lint.select E",
        "config add project.dependencies 'httpx>=0.27'",
        "config add tool.mypy.overrides '{ module = \"app.*\" }'",
    )

    value: Annotated[Value | None, described(f"The item. {PLAIN}", placed=True)] = None

    def changed(self, document: Document, path: Path) -> tuple[str, str]:
        """Return the new text of the file, and a sentence on the change."""
        _check_place(document, path)
        value = value_for(document, path, self, is_item=True)
        key = written_key(path)
        present = document.value(path) if document.has(path) else []
        if isinstance(present, list) and any(same(each, value.value) for each in present):
            return document.text, f"{key} has {_short(value.text)} already."
        return document.add(path, value), f"Added {_short(value.text)} to {key}."


def _check_place(document: Document, path: Path) -> None:
    """Refuse a new key at the file's top whose name stands further in: version, where there is project.version.

    Raises:
        LookupFailed: `symbol_not_found`, with the ways that may be meant.
    """
    if document.has(path[:1]) or path[0] in STANDARD:
        return
    found = document.ending(path[:1])
    if len(path) > 1:
        found = [each for each in found if isinstance(document.value(each), (dict, list))]
    if not found:
        return
    raise LookupFailed(
        "symbol_not_found",
        f"{NAME} has no {written_key(path[:1])} at its top, where tools and standards read none; nothing was changed.",
        hints=["Give the whole way to it."],
        candidates=[written_key((*each, *path[1:])) for each in found],
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"
