"""The pyproject.toml of a project, opened to be read or changed, and the plan of a change of it.

Invariants:
- `[tool.bae-source]` is never changed from here, however it is spelt: the engine's own settings are a person's;
- what was wrong in the file before refuses nothing, and what a change makes wrong is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused
from bae_source.model.changeset import between, digest
from bae_source.model.outcome import ETAG, PREVIEW, Notice
from bae_source.model.plan import Plan
from bae_source.model.text import counted
from bae_source.project.files.settings import LARGEST, content_of, parsed_toml, table
from bae_source.project.workspace import Workspace, etag_of
from bae_source.resources.config.document import NAME, Document, same
from bae_source.resources.config.key import Path, path_of, written_key
from bae_source.resources.config.meaning import Problem, made_wrong, problems

_OURS = ("tool", "bae-source")
_ADDRESS = f":{NAME}"
_MOST_TOLD = 5


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


def opened(workspace: Workspace) -> Opened:
    """Open the project's pyproject.toml.

    Raises:
        LookupFailed: `symbol_not_found` if there is none.
        Refused: `outside_project` for what is no file inside the project.
        SourceError: `syntax_invalid`.
    """
    content = content_of(workspace.files, NAME)  # which refuses what is too long before it is read as a whole
    content = None if content is None else workspace.content(NAME)
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
    parsed_toml(content, NAME)
    return Opened(content=content, document=Document(content.decode()))


def planned(
    workspace: Workspace, key: str, if_match: str | None, change: Callable[[Document, Path], tuple[str, str]]
) -> Plan:
    """Plan a change of a key.

    Parameters:
        if_match: the etag of the key, of a table around it or of the file, as the caller has seen it.
        change: returns the new text of the file, and what is done in a sentence.

    Raises:
        Refused: `forbidden` for our own settings, `stale`, `unsafe_change` for what would make the file wrong.
        ResourceError: what `change` and `opened` raise.
    """
    file, path = opened(workspace), path_of(key)
    _check_seen(file, path, if_match)
    if path[:2] == _OURS:
        raise _not_ours()
    text, summary = change(file.document, path)
    after = text.encode()
    if len(after) > LARGEST:
        raise Refused(
            "unsafe_change",
            f"With this change {NAME} would have more than {LARGEST:,} bytes, and could not be read as settings",
            unchanged=True,
            hints=["Give a shorter value."],
        )
    later = Document(text)
    ours = [table(each.data, "tool").get(_OURS[1]) for each in (file.document, later)]
    if not same(*ours):
        raise _not_ours()
    return Plan(
        changes=between({NAME: file.content}, {NAME: after}),
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
    """Yield what is wrong, and was before; refuse what a change makes wrong.

    Raises:
        Refused: `unsafe_change`.
    """
    new = made_wrong(before.data, after.data)
    if wrong := [each for each in new if each.refuses]:
        raise Refused(
            "unsafe_change",
            f"With this change {_listed(wrong)}",
            unchanged=True,
            hints=["Give another value, or make the changes that belong together in another order."],
            details={"problems": [each.told for each in wrong]},
        )
    if new:
        yield Notice("settings_incomplete", f"{NAME}: {_listed(new)}")
    if old := [each for each in problems(after.data) if each not in new]:
        yield Notice("settings_invalid", f"Wrong before, and left as it is: {_listed(old)}")


def _listed(found: list[Problem]) -> str:
    more = len(found) - _MOST_TOLD
    rest = f"; and {counted(more, 'more problem')}" if more > 0 else ""
    return f"{'; '.join(each.told for each in found[:_MOST_TOLD])}{rest}."


def _not_ours() -> Refused:
    return Refused(
        "forbidden",
        "[tool.bae-source] has the settings of this engine, which are not changed from here",
        unchanged=True,
        hints=["A person edits them in the file."],
    )
