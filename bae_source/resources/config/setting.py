"""Set keys of pyproject.toml, and add items to its arrays."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, described
from bae_source.project.workspace import Workspace
from bae_source.resources.config.document import Document, same
from bae_source.resources.config.given import PLAIN, Given, Retype, Toml, Value, value_for
from bae_source.resources.config.key import Path, written_key
from bae_source.resources.config.opened import planned

Key = Annotated[
    str,
    described(
        "The way to it, such as tool.ruff.line-length; items have numbers (tool.mypy.overrides[0].module), and parts "
        'with other signs quotes (tool."a.b").',
        min_length=1,
    ),
]
IfMatch = Annotated[str | None, described("Etag of the key, a section around it, or the file; config read gives it.")]
_SHOWN = 100


class ConfigSet(Request, frozen=True, kw_only=True):
    """Set a key of pyproject.toml; every other byte of the file stays as it is.

    A missing key is made, and so are missing tables. Types are kept: an integer over a string is refused, unless it
    may be retyped. A change is refused after which a value in [project], [build-system] or [dependency-groups] is not
    what the standards say; of a key that they require and that is missing, and of one that they do not know, a warning
    tells. The engine's own settings, [tool.bae-source], are never changed from here.
    """

    verb: ClassVar[str] = "config_set"
    family: ClassVar[str] = "config"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for one setting of the project or a tool, in place of editing the file as text."
    examples: ClassVar[tuple[str, ...]] = (
        "config set tool.ruff.line-length 100",
        "config set project.version '\"1.2.0\"'",
        'config set tool.ruff.lint.select \'["E", "F"]\' --dry-run',
        "config set tool.ruff.target-version py312 --retype",
    )
    idempotent: ClassVar[bool] = True

    key: Key
    value: Annotated[Value | None, described(f"The value. {PLAIN}", placed=True)] = None
    toml: Toml = None
    retype: Retype = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no key or no value, or of another type.
            LookupFailed: `symbol_not_found` for an item that is not there, or if there is no file.
            Refused: `forbidden`, `stale`, `unsafe_change`.
            SourceError: `syntax_invalid` if the file does not parse; `not_lossless`.
        """
        return planned(workspace, self.key, self.if_match, self._set)

    def _set(self, document: Document, path: Path) -> tuple[str, str]:
        value = value_for(document, path, _given(self), retype=self.retype)
        key, is_there = written_key(path), document.has(path)
        if is_there and same(document.value(path), value.value):
            return document.text, f"{key} is that already."
        text = document.set(path, value)
        return text, f"{'Set' if is_there else 'Added'} {key} = {_short(value.text)}."


class ConfigAdd(Request, frozen=True, kw_only=True):
    """Add an item to an array of pyproject.toml, in the layout that the array has.

    A missing array is made. An item that is there already is not added again. To an array of tables a table is added.
    """

    verb: ClassVar[str] = "config_add"
    family: ClassVar[str] = "config"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for one more rule, path or classifier, in place of setting the whole array."
    examples: ClassVar[tuple[str, ...]] = (
        "config add tool.ruff.lint.select E",
        "config add project.dependencies 'httpx>=0.27'",
        "config add tool.mypy.overrides '{ module = \"app.*\" }'",
    )
    idempotent: ClassVar[bool] = True

    key: Key
    value: Annotated[Value | None, described(f"The item. {PLAIN}", placed=True)] = None
    toml: Toml = None
    retype: Retype = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            ResourceError: as `ConfigSet.plan`.
        """
        return planned(workspace, self.key, self.if_match, self._add)

    def _add(self, document: Document, path: Path) -> tuple[str, str]:
        value = value_for(document, path, _given(self), is_item=True, retype=self.retype)
        key = written_key(path)
        present = document.value(path) if document.has(path) else []
        if isinstance(present, list) and any(same(each, value.value) for each in present):
            return document.text, f"{key} has {_short(value.text)} already."
        return document.add(path, value), f"Added {_short(value.text)} to {key}."


def _given(asked: ConfigSet | ConfigAdd) -> Given:
    return Given(kind=type(asked), value=asked.value, toml=asked.toml)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"
