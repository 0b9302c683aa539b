"""Remove keys, sections and items of pyproject.toml, and give keys and sections other names."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.errors import LookupFailed
from bae_source.model.request import Effect, described
from bae_source.resources.config.document import Document
from bae_source.resources.config.given import PLAIN, Value, Valued, equal_to
from bae_source.resources.config.key import Path, path_of, written_key
from bae_source.resources.config.opened import Change


class ConfigRemove(Valued, frozen=True, kw_only=True):
    """Remove a key of pyproject.toml, a section with all that is in it, or an item of an array.

    A section whose last key goes stays, with its header: some tools are switched on by that. A key that the standards
    require goes with a warning (project.name).
    """

    verb: ClassVar[str] = "config_remove"
    effect: ClassVar[Effect] = Effect.DESTROYS
    when: ClassVar[str] = "Use it to take a setting, a section or one item back."
    examples: ClassVar[tuple[str, ...]] = (
        "config remove tool.ruff.line-length",
        "config remove tool.black",
        "config remove project.classifiers 'Typing :: Typed'",
        "config remove 'tool.mypy.overrides[1]'",
    )

    value: Annotated[
        Value | None, described(f"The item of the array that is to go; the whole key if left out. {PLAIN}", placed=True)
    ] = None

    def changed(self, document: Document, path: Path) -> tuple[str, str]:
        """Return the new text of the file, and a sentence on the change."""
        if not self.has_value:
            return document.remove(path), f"Removed {written_key(path)}."
        found, key = equal_to(document, path, self), written_key(path)
        if not found:
            raise LookupFailed(
                "symbol_not_found",
                f"{key} has no such item.",
                hints=["Its items are counted from 0; KEY[0] without a value removes the first."],
                candidates=[written_key((*path, number)) for number in range(min(len(document.value(path)), 10))],
            )
        if len(found) > 1:
            raise LookupFailed(
                "ambiguous_symbol",
                f"{key} has that item {len(found)} times.",
                hints=["Name one of the candidates, without a value."],
                candidates=[written_key((*path, number)) for number in found[:10]],
            )
        return document.remove_item(path, found[0]), f"Removed an item of {key}."


class ConfigRename(Change, frozen=True, kw_only=True):
    """Give a key or a section of pyproject.toml another name; it stays where it is, with its value and comments."""

    verb: ClassVar[str] = "config_rename"
    when: ClassVar[str] = "Use it when a tool calls a setting otherwise now."
    examples: ClassVar[tuple[str, ...]] = (
        "config rename tool.ruff.select extend-select",
        "config rename project.optional-dependencies.dev test",
    )

    new_name: Annotated[str, described("Its new name: one part, in quotes if it has other signs.", min_length=1)]

    def changed(self, document: Document, path: Path) -> tuple[str, str]:
        """Return the new text of the file, and a sentence on the change."""
        text = document.rename(path, self.new_name)
        if text == document.text:
            return text, f"{written_key(path)} has this name already."
        return text, f"Renamed {written_key(path)} to {written_key((*path[:-1], *path_of(self.new_name)))}."
