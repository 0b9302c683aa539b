"""Outlines of packages and projects, each kept whole until a file changes: in memory, and for the next process.

    listing = package_listing(workspace, "django.db", Style(depth=9))

An outline of a large project is tens of thousands of lines. To draw them anew takes ten times as long as to see that
nothing has changed, which the stamps of all files tell.

Invariants:
- a kept listing holds its question, and the stamps of its files; it answers nothing else;
- nothing is kept of planned text, of files that changed too shortly ago for a stamp to tell of the next change, of
  files that could not be read, or of folders that could not be listed;
- only the last outline is kept, so that what is kept is never larger than one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from bae_source.errors import SourceError
from bae_source.model.outcome import Notice, Outcome
from bae_source.project.interfaces.listing import Listing, Style, list_packages, listed, not_listed
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.project.files.data_listing import DataFile

_KIND = "listing"
MANY = 200
"""Files; an outline of fewer is drawn as fast as it is looked up."""
_LARGEST = 50_000_000
"""Characters."""
_Problem = tuple[str, str, str, str, tuple[str, ...]]
_Kept = tuple[bytes, str, str, int, tuple[_Problem, ...]]
"""The question with the stamps, text, etag, number of files without a name, and of each problem module, code, subject,
reason and hints."""


def project_overview(workspace: Workspace, style: Style) -> Outcome:
    """Outline the whole project."""
    listing = package_listing(workspace, "", style)
    return answer_of(listing if listing.text else _of_nothing(workspace, listing), None)


def package_listing(workspace: Workspace, name: str, style: Style, data: Sequence[DataFile] = ()) -> Listing:
    """List a package, or the project for an empty name; as `list_packages`, which see."""
    if workspace.overlay or len(workspace.census.stamps) < MANY:
        return list_packages(workspace, name, style, data)
    last: dict[object, Listing] = workspace.derived.get(_KIND, dict)
    asked = (name, style, tuple(data))
    found = last.get(asked)
    if found is None:
        last.clear()
        last[asked] = found = _recalled_or_new(workspace, name, style, data)
    return found


def answer_of(listing: Listing, address: str | None, *actions: str) -> Outcome:
    """Return a listing as an answer; it is complete only if everything could be read and listed."""
    warnings = [*listing.unseen]
    warnings += [Notice(error.code, f"{error.clause_about(module)}.") for module, error in listing.problems]
    if listing.unnamed:
        warnings.append(not_listed(listing.unnamed))
    return Outcome(
        status="answer",
        text=listing.text,
        etag=listing.etag,
        address=address,
        complete=not warnings,
        warnings=tuple(warnings),
        next_actions=actions,
    )


def _recalled_or_new(workspace: Workspace, name: str, style: Style, data: Sequence[DataFile]) -> Listing:
    kept = workspace.kept
    key = _key(workspace, name, style, data)
    if key is None:
        return list_packages(workspace, name, style, data)
    saved = kept.recall(_KIND)
    recalled = _recalled(saved, key) if saved is not None else None
    if recalled is not None:
        return recalled
    listing = list_packages(workspace, name, style, data)
    if workspace.settled and not listing.unseen:
        kept.store(_as_bytes(key, listing))
    return listing


def _key(workspace: Workspace, name: str, style: Style, data: Sequence[DataFile]) -> bytes | None:
    """Return a digest of the question and of all that its answer depends on; None where names are no text."""
    census = workspace.census
    layout = census.layout
    hidden = (census.closed, census.outside)
    whole = (name, style, data, layout.roots, layout.packages, hidden, sorted(census.stamps.items()))
    try:
        from hashlib import sha256  # 2.5 ms, for a whole project's lines alone

        return sha256(msgspec.msgpack.encode(whole)).digest()
    except UnicodeEncodeError:
        return None


def _recalled(saved: bytes, key: bytes) -> Listing | None:
    """Return the kept listing; None where it answers another question."""
    if key not in saved[: len(key) + 8]:
        return None
    try:
        kept, text, etag, unnamed, problems = msgspec.msgpack.decode(saved, type=_Kept)
    except msgspec.DecodeError:
        return None
    if kept != key:
        return None
    errors = tuple(
        (module, SourceError(code, reason, subject=subject, hints=hints))
        for module, code, subject, reason, hints in problems
    )
    return Listing(text=text, etag=etag, problems=errors, unnamed=unnamed)


def _as_bytes(key: bytes, listing: Listing) -> dict[str, bytes]:
    """Return the bytes to keep of a listing; none of a gigantic one, or one that may differ though no stamp does."""
    if len(listing.text) > _LARGEST:
        return {}
    problems: list[_Problem] = []
    for module, error in listing.problems:
        if not isinstance(error, SourceError):
            return {}
        problems.append((module, error.code, error.subject, error.reason, tuple(map(str, error.hints))))
    try:
        return {_KIND: msgspec.msgpack.encode((key, listing.text, listing.etag, listing.unnamed, problems))}
    except UnicodeEncodeError:
        return {}


def _of_nothing(workspace: Workspace, listing: Listing) -> Listing:
    """Return the counts of a project whose members are not listed, beside its empty listing."""
    from bae_source.project.files.packages import Packages  # as in `listing`

    packages, modules = Packages(workspace.census).counts("")
    if not packages and not modules:
        return listed(("(no Python modules)",), listing.problems, listing.unnamed, listing.unseen)
    counted = f"{packages} package{'' if packages == 1 else 's'}, {modules} module{'' if modules == 1 else 's'}"
    return listed((f"({counted})",), listing.problems, listing.unnamed, listing.unseen)
