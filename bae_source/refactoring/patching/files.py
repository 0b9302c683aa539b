"""The files of a patch, one after the other: each as the sections before leave it.

What git writes into one diff mentions the files as they were before all of it where it renames or copies them, so two
files may exchange their names. Of a text with several commits each begins with what the one before left.

Invariant: a section that does not fit leaves everything as it is, and the ones behind it are looked at all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha1, sha256
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, ResourceError, SourceError
from bae_source.model.changeset import Edit, between, file_change
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.project.files.data_listing import data_files
from bae_source.project.files.port import FileKind
from bae_source.project.files.second_names import is_link
from bae_source.project.workspace import etag_of
from bae_source.refactoring.patching.places import Named, called, named
from bae_source.refactoring.patching.report import Failed, failed, notices
from bae_source.refactoring.planning.data_changes import check_free
from bae_source.syntax.patches.editing import edits, joined
from bae_source.syntax.patches.fitting import Applied, Fit, Fitted, Misfit, fitted
from bae_source.syntax.patches.view import View, exact
from bae_source.syntax.text.source import codec_of

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace
    from bae_source.syntax.patches.patch import Section

_SHORTEST = 7


class Patched(Struct, kw_only=True):
    """The outcome of a patch.

    Parameters:
        contents: what files hold afterwards, by path; None for those that go.
        edits: of files that one section alone changes, the edits that lead there.
        origins: where files came from that have another name afterwards.
        executable: files that are to be programs, or no longer.
        counts: how many hunks change a file, by path.
        seen: etags of what the hunks replace.
        applied: hunks and files that are as they should be already.
        missing: the errors of files that are to go and are not there.
    """

    contents: dict[str, bytes | None] = {}
    edits: dict[str, list[Edit]] = {}
    origins: dict[str, str] = {}
    executable: dict[str, bool] = {}
    counts: dict[str, int] = {}
    seen: list[str] = []
    notices: list[Notice] = []
    applied: list[str] = []
    missing: list[ResourceError] = []
    failed: list[Failed] = []
    errors: list[ResourceError] = []


class Patching:
    """Goes through the sections of a patch.

    Parameters:
        workspace: the project as it is before.
        sections: of the patch.
    """

    def __init__(self, workspace: Workspace, sections: Sequence[Section]) -> None:
        self._workspace = workspace
        self._sections = sections
        self._begun = Patched()
        """The outcome of the series before."""
        self._leaving: set[str] = set()
        """Paths that files of the series have before it, and leave."""
        self._arriving: set[str] = set()
        """Paths that files of the series have after it, and not before."""
        self.result = Patched()

    def run(self) -> Patched:
        """Return the result of the patch, with all its errors."""
        found: list[Named] = []
        for each in named(self._workspace, self._sections):
            if isinstance(each, ResourceError):
                self.result.errors.append(each)
            else:
                found.append(each)
        for _, series in groupby(found, lambda each: each.section.series):
            self._begin(same := list(series))
            for each in same:
                try:
                    self._do(each)
                except ResourceError as error:
                    self.result.errors.append(error)
        return self.result

    def _begin(self, series: Sequence[Named]) -> None:
        result = self.result
        self._begun = Patched(
            contents=dict(result.contents), origins=dict(result.origins), executable=dict(result.executable)
        )
        self._leaving = {each.old for each in series if each.old and each.section.action in ("rename", "delete")}
        self._arriving = {
            each.new for each in series if each.new and each.section.action in ("create", "rename", "copy")
        }

    def _do(self, each: Named) -> None:
        """Carry out one section.

        Raises:
            ResourceError: it cannot be done, or does not fit.
        """
        action = each.section.action
        if action == "create":
            self._create(each)
        elif action == "delete":
            self._delete(each)
        elif action == "change":
            self._change(each)
        else:
            self._move(each)

    def _create(self, each: Named) -> None:
        path = each.new or ""
        content = joined(line for hunk in each.section.hunks for line in hunk.new)
        if self._now(path) == content:
            self._is_applied(path)
            return
        self._check_new(path)
        self._put(path, content, each)

    def _delete(self, each: Named) -> None:
        path = each.old or ""
        content = self._now(path)
        if content is None:
            self.result.missing.append(self._not_there(path))
            return
        self._check_no_link(path)
        if each.section.hunks and content != joined(line for hunk in each.section.hunks for line in hunk.old):
            view, fits = self._fits(path, content, each.section)
            wrong = [fit for fit in fits if not isinstance(fit, Fit)]
            rest = Misfit(each.section.hunks[0], "the file is to go, and holds other lines than the patch takes away")
            self._fail(path, view, wrong or [rest])
            return
        self._put(path, None, each)

    def _change(self, each: Named) -> None:
        path = each.new or each.old or ""
        content = self._now(path)
        if content is None:
            raise self._not_there(path)
        after = self._fitted(path, content, each.section)
        if after is not None:
            self._put(path, after[0], each, via=after[1])

    def _move(self, each: Named) -> None:
        """Rename or copy a file, as it was before the series, or else as a section of the series made it.

        rename a -> b, rename b -> a    in one series: `b` gets the old `a`, then `a` the old `b`; neither goes
        rename a -> b, rename b -> c    in two: the second begins with what the first left, and `b` goes
        """
        old, new = each.old or "", each.new or ""
        if old == new:
            self._change(each)
            return
        was_there = self._content(self._begun, old) is not None
        source = self._begun if was_there else self.result
        before, there = self._content(source, old), self._now(new)
        if before is None and there is not None:
            self._is_moved(each, new, there)
            return
        if before is None:
            raise self._not_there(old)
        if each.section.action == "copy" and there is not None and new not in self._leaving:
            self._is_copied(each, new, there, before)
            return
        self._check_new(new)
        after = self._fitted(old, before, each.section)
        if after is None:
            return
        origin, runs = source.origins.get(old, old), source.executable.get(old)
        if each.section.action == "rename":
            self._check_no_link(old)
            if not (was_there and old in self._arriving):
                self._go(old)
        self.result.origins[new] = origin
        self._put(new, after[0], each, runs=runs)

    def _is_moved(self, each: Named, new: str, there: bytes) -> None:
        """Note that a file has its new name already, if its hunks are applied there as well."""
        _, fits = self._fits(new, there, each.section)
        if not all(isinstance(fit, Applied) for fit in fits):
            raise self._not_there(each.old or "")
        self._is_applied(new)

    def _is_copied(self, each: Named, new: str, there: bytes, before: bytes) -> None:
        """Note that a file is copied already, with its hunks.

        Raises:
            Refused: `name_collision` if it is another.
        """
        _, fits = self._fits(new, there, each.section)
        if not (all(isinstance(fit, Applied) for fit in fits) if fits else there == before):
            self._check_new(new)
        self._is_applied(new)

    def _fitted(self, path: str, content: bytes, section: Section) -> tuple[bytes, list[Edit]] | None:
        """Return a file's content with the hunks of a section, and the edits; None where one does not fit."""
        address = self._called(path)
        if codec_of(content) is None:
            raise Refused(
                "unsafe_change",
                f"{address} is no text, so no patch of lines fits it",
                unchanged=True,
                hints=["Take it out of the patch, and change it by other means."],
            )
        view, fits = self._fits(path, content, section)
        result = self.result
        result.notices += notices(address, [fit for fit in fits if not isinstance(fit, Misfit)])
        result.applied += [f"hunk {fit.hunk.number} of {address}" for fit in fits if isinstance(fit, Applied)]
        if misfits := [fit for fit in fits if isinstance(fit, Misfit)]:
            self._fail(path, view, misfits)
            return None
        placed = [fit for fit in fits if isinstance(fit, Fit)]
        try:
            changes = edits(view, placed)
        except UnicodeEncodeError as error:
            raise SourceError(
                "encoding_invalid",
                f"{address} is {view.codec}, which has no {error.object[error.start]!r}.",
                hints=["Write the character in another way, or convert the file to UTF-8 first."],
            ) from None
        result.seen += [etag_of("\n".join(view.lines[fit.start : fit.stop])) for fit in placed]
        change = file_change(path, content, changes)
        return change.apply(content), list(change.edits)

    def _fits(self, path: str, content: bytes, section: Section) -> tuple[View, list[Fitted]]:
        """Return the file's lines, and where the hunks of a section fit into them."""
        view = View(content, section.hunks, python=path.endswith((".py", ".pyi")))
        before, after = (_holds(content, blob) for blob in section.blobs or ("", ""))
        is_applied = all(view.places([line.text for line in hunk.new], exact) for hunk in section.hunks if hunk.new)
        if after and not before and section.hunks and is_applied:
            return view, [Applied(hunk, max(0, hunk.start or 0)) for hunk in section.hunks]
        known = before if section.blobs and not after else None  # hunks that were edited since belong to neither
        return view, list(fitted(view, section.hunks, known=known))

    def _fail(self, path: str, view: View, misfits: Sequence[Misfit | Applied]) -> None:
        is_present = path not in self.result.contents
        address = self._called(path)
        for each in misfits:
            misfit = each if isinstance(each, Misfit) else Misfit(each.hunk, "its lines are gone already")
            self.result.failed.append(
                failed(
                    self._workspace, path, address, view, misfit, before=len(self.result.failed), is_present=is_present
                )
            )

    def _put(
        self, path: str, content: bytes | None, each: Named, *, via: list[Edit] | None = None, runs: bool | None = None
    ) -> None:
        """Note the new content of a file.

        Parameters:
            via: the edits that lead there.
            runs: whether it is a program, where the section does not name its mode.
        """
        result, section = self.result, each.section
        is_first = path not in result.contents
        result.edits.pop(path, None)
        if is_first and via is not None:
            result.edits[path] = via
        result.counts[path] = result.counts.get(path, 0) + max(1, len(section.hunks))
        if content is None:
            self._go(path)
            return
        result.contents[path] = content
        runs = runs if section.executable is None else section.executable
        if runs is not None:
            result.executable[path] = runs

    def _go(self, path: str) -> None:
        """Note that a file is not there from now on."""
        result = self.result
        result.contents[path] = None
        result.origins.pop(path, None)
        result.executable.pop(path, None)

    def _now(self, path: str) -> bytes | None:
        return self._content(self.result, path)

    def _content(self, outcome: Patched, path: str) -> bytes | None:
        return outcome.contents[path] if path in outcome.contents else self._workspace.content(path)

    def _is_applied(self, path: str) -> None:
        self.result.applied.append(self._called(path))

    def _check_new(self, path: str) -> None:
        """Refuse a new file where something is, unless that leaves with the patch.

        Raises:
            Refused: `name_collision` or `unsafe_change`.
        """
        address = self._called(path)
        if path in self.result.contents:
            if self.result.contents[path] is None or path in self._leaving:
                return
        elif path in self._leaving:
            return
        elif self._workspace.files.kind(path) is not FileKind.FILE:
            check_free(self._without_gone(), path, address)
            return
        raise Refused(
            "name_collision",
            f"{address} is to be new, and is there already with other text",
            unchanged=True,
            hints=["Give a patch that changes it, or delete it first."],
            candidates=[address],
        )

    def _without_gone(self) -> Workspace:
        """Return the project without the files that the patch has taken away, or takes away in this series."""
        gone = {path for path, content in self.result.contents.items() if content is None}
        gone |= {path for path in self._leaving - self._arriving if self._content(self._begun, path) is not None}
        before = {path: self._workspace.content(path) for path in gone}
        return self._workspace.after(between(before, dict.fromkeys(gone))) if gone else self._workspace

    def _check_no_link(self, path: str) -> None:
        if self._workspace.files.kind(path) is FileKind.FILE and is_link(self._workspace.files, path):
            raise Refused(
                "unsafe_change",
                f"{self._called(path)} is a link, and could not be brought back by undo",
                unchanged=True,
                hints=["Remove or rename it by hand first."],
            )

    def _not_there(self, path: str) -> LookupFailed:
        """Return the error of a file that is not there, with those that are called nearly so."""
        return LookupFailed(
            "symbol_not_found",
            f"{path}, which the patch names, is not there",
            unchanged=True,
            hints=["Names of files are taken from the project's root, or from the top of its repository."],
            candidates=[each for each in dict.fromkeys(self._close(path)) if each != self._called(path)][:5],
        )

    def _close(self, path: str) -> Iterator[str]:
        census = self._workspace.census
        known = [*census.paths, *census.stubs, *(each.path for each in data_files(self._workspace))]
        last = path.rpartition("/")[2]
        same = [each for each in known if each.rpartition("/")[2] == last]
        for each in (*same[:5], *closest(path, known, n=5, cutoff=0.7)):
            yield self._called(each)

    def _called(self, path: str) -> str:
        return called(self._workspace, path)


def _holds(content: bytes, blob: str) -> bool:
    """Return whether git's name for a content is this one, by SHA-1 or SHA-256, with its line ends or plain ones.

    Parameters:
        blob: the beginning of its name.
    """
    if len(blob) < _SHORTEST:
        return False
    for each in dict.fromkeys((content, content.replace(b"\r\n", b"\n"))):
        named_so = b"blob %d\0%b" % (len(each), each)
        digests = (sha1(named_so, usedforsecurity=False).hexdigest(), sha256(named_so).hexdigest())
        if any(digest.startswith(blob) for digest in digests):
            return True
    return False
