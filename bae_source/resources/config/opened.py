"""The pyproject.toml of a project, opened to be read or changed, and the plan of its change.

Invariants:
- `[tool.bae-source]` is never changed from here, however it is spelt: the engine's own settings are a person's;
- what was wrong in the file before refuses nothing, and what a change makes wrong is refused.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused
from bae_source.model.changeset import between, digest
from bae_source.model.outcome import ETAG, PREVIEW, Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, described
from bae_source.model.text import counted
from bae_source.project.files.settings import content_of, table
from bae_source.project.workspace import Workspace, etag_of
from bae_source.resources.config.document import NAME, Document, same
from bae_source.resources.config.key import Path, path_of, written_key
from bae_source.resources.config.meaning import Problem, new_problems, problems

_OURS = ("tool", "bae-source")
_ADDRESS = f":{NAME}"
_MOST_LISTED = 5


class Opened(Struct, frozen=True, kw_only=True):
    """A file of settings.

    Parameters:
        content: its bytes.
        document: its text.
    """

    content: bytes
    document: Document

    @property
    def etag(self) -> str:
        """The etag of the whole file, as reading it as a data file has it."""
        return digest(self.content)[:16]

    def etag_of(self, path: Path) -> str:
        """Return the etag of a key, or of nothing where there is none."""
        return etag_of(self.document.read(path).text) if self.document.has(path) else etag_of("")


def opened(workspace: Workspace, *, by_key: bool = False) -> Opened:
    """Open the project's pyproject.toml.

    Parameters:
        by_key: whether the caller looks at single keys, so that others may be in it which may not be read.

    Raises:
        LookupFailed: `symbol_not_found` if there is none.
        Refused: `outside_project` for what is no file inside the project; `forbidden` if it may not be read.
        SourceError: `syntax_invalid`.
    """
    content = content_of(workspace.files, NAME)  # which refuses what is too long before it is read as a whole
    if content is not None and not (by_key and _hides_keys(workspace)):
        content = workspace.content(NAME)
    if content is None and NAME in workspace.files.names(""):
        raise Refused(
            "outside_project",
            f"{NAME} is no file of the project: a link leads out of it, or something else has the name.",
            hints=["Put a file there by hand."],
        )
    if content is None:
        raise LookupFailed(
            "symbol_not_found",
            f"The project has no {NAME}.",
            hints=[f"Write {_ADDRESS} first."],
        )
    return Opened(content=content, document=Document(content.decode("utf-8", "surrogateescape")))


def _hides_keys(workspace: Workspace) -> bool:
    """Return whether the file may not be read as a whole, for a key in it alone."""
    try:
        workspace.check_readable(NAME)
    except Refused as error:
        return error.details.get("kind") == "config"
    return False


class Change(Request, frozen=True, kw_only=True):
    """A change of a key of the project's pyproject.toml."""

    family: ClassVar[str] = "config"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    idempotent: ClassVar[bool] = True

    key: Annotated[
        str,
        described(
            "The way to it, such as tool.ruff.line-length; items have numbers (tool.mypy.overrides[0].module), and "
            'parts with other signs quotes (tool."a.b").',
            min_length=1,
        ),
    ]
    if_match: Annotated[
        str | None, described("Etag of the key, a section around it, or the file; config read gives it.")
    ] = None

    def changed(self, document: Document, path: Path) -> tuple[str, str]:
        """Return the new text of the file, and a sentence on the change."""
        raise NotImplementedError

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no key, no value or name for it, or a value of another type.
            LookupFailed: `symbol_not_found` for what is not there; `ambiguous_symbol` for one of several items.
            Refused: `forbidden` for our own settings, `stale`, `name_collision`; `unsafe_change` for what would make
                the file wrong.
            SourceError: `syntax_invalid` if the file does not parse; `not_lossless`.
        """
        file, path = opened(workspace), path_of(self.key)
        _check_seen(file, path, self.if_match)
        if path[:2] == _OURS:
            raise _not_ours()
        text, summary = self.changed(file.document, path)
        later = Document(text)
        ours = [table(each.data, "tool").get(_OURS[1]) for each in (file.document, later)]
        if not same(*ours):
            raise _not_ours()
        return Plan(
            changes=between({NAME: file.content}, {NAME: text.encode()}),
            changed=(_ADDRESS,),
            seen=(file.etag_of(path),),
            modules=(),
            warnings=tuple(_judged(file.document, later)),
            summary=summary,
        )


def _check_seen(file: Opened, path: Path, if_match: str | None) -> None:
    if if_match is None or if_match == file.etag:
        return
    around = [path[:length] for length in range(len(path), 0, -1) if file.document.has(path[:length])]
    if if_match in map(file.etag_of, around):
        return
    nearest = around[0] if around else ()
    raise Refused(
        "stale",
        f"{written_key(nearest) or NAME} changed since it was read; nothing was changed.",
        hints=["Read it again and decide anew."],
        details={
            ETAG: file.etag_of(nearest) if nearest else file.etag,
            PREVIEW: file.document.read(nearest).text if nearest else "",
        },
    )


def _judged(before: Document, after: Document) -> Iterator[Notice]:
    """Yield the problems that were there before; refuse a change that adds one.

    Raises:
        Refused: `unsafe_change`.
    """
    new = new_problems(before.data, after.data)
    if wrong := [each for each in new if each.refuses]:
        raise Refused(
            "unsafe_change",
            f"With this change {clauses(wrong)}",
            unchanged=True,
            hints=["Give another value, or make the changes that belong together in another order."],
            details={"problems": [each.text for each in wrong]},
        )
    if new:
        yield Notice("settings_incomplete", f"{NAME}: {clauses(new)}")
    if old := [each for each in problems(after.data) if each not in new]:
        yield Notice("settings_invalid", f"Wrong before, and left as it is: {clauses(old)}")


def clauses(problems: list[Problem]) -> str:
    """Return problems in a sentence, the first ones by name."""
    more = len(problems) - _MOST_LISTED
    rest = f"; and {counted(more, 'more problem')}" if more > 0 else ""
    return f"{'; '.join(each.text for each in problems[:_MOST_LISTED])}{rest}."


def _not_ours() -> Refused:
    return Refused(
        "forbidden",
        "[tool.bae-source] has the settings of this engine, which are not changed from here",
        unchanged=True,
        hints=["A person edits them in the file."],
    )
