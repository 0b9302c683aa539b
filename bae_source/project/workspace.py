"""One snapshot of a project to read and plan on: every file is read once, and an overlay shows planned ones.

A workspace never writes. What it has read stays as it was read, so that one request sees one state of the project, and
the transaction compares that state with the disk before it writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.span import Span
from bae_source.project.facts.kept import Derived, Kept, Trees
from bae_source.project.files.layout import Layout, layout_of
from bae_source.project.files.port import Files, Stamp, gone, read_or_none
from bae_source.project.files.settings import oldest_python
from bae_source.project.files.stamps import is_settled
from bae_source.syntax.text.source import Source, parsable
from bae_source.system.hashing import sha256

if TYPE_CHECKING:
    from bae_source.model.changeset import ChangeSet, Contents, FileChange
    from bae_source.project.facts.index import Index
    from bae_source.project.files.census import Census
    from bae_source.project.files.programs import Programs
    from bae_source.syntax.outline.tree import Tree

_LARGEST = 80_000_000
"""Bytes; a file of more cannot be parsed, whatever its encoding is."""


class Guard(Protocol):
    """The guard of files that a caller may not read."""

    @property
    def hides(self) -> bool:
        """Return whether there may be such a file."""

    def take_settings(self, folders: Sequence[str]) -> bool:
        """Look at folders that have settings; say whether more is kept from the caller than before."""

    def check(self, path: str) -> None:
        """Check that a file may be read; raise Refused if not."""

    def refusal_of(self, kind: Literal["config", "deps", "logs"], name: str) -> Refused | None:
        """Return why a setting, a distribution or a log may not be read; None where it may."""

    def keeps_back(self, text: str) -> bool:
        """Return whether a program's output mentions a place in a file that may not be read."""


class Workspace:
    """One snapshot of a project.

    Parameters:
        files: where its files are read.
        overlay: planned content by path, seen instead of what `files` has; None for a file that will be gone.
        kept: what to share between workspaces of the same project.
        trees: parsed files to share with workspaces of other projects.
        layout: the source roots, if they are known.
        guard: tells what the caller may not read, where `files` keeps something from him.
    """

    def __init__(
        self,
        files: Files,
        *,
        overlay: Contents | None = None,
        kept: Kept | None = None,
        trees: Trees | None = None,
        layout: Layout | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.files: Files = _planned(files, overlay) if overlay else files
        self.overlay: Contents = dict(overlay or {})
        self._disk = files
        self.guard = guard
        self.kept = kept or Kept(trees=trees)
        self._begun = self.clock()
        self.lets_broken_in = False  # whether definitions are searched for in files that do not parse
        self.lets_broken_through = False  # whether a change may leave such a file broken, for a later one to mend
        self.lets_used_go = False  # whether what is still used may go, for a later change to mend its users
        self._layout = layout
        self._contents: dict[str, bytes | None] = {}
        self._trees: dict[str, Tree] = {}
        self._sources: dict[str, Source] = {}
        self._before: Workspace | None = None

    @cached_property
    def layout(self) -> Layout:
        """The project's source roots."""
        return self._layout or layout_of(self.files)

    @cached_property
    def oldest_python(self) -> tuple[int, int] | None:
        """The oldest Python that the project says it runs on, if that is not newer than the one running here."""
        return oldest_python(self.files)

    def oldest_python_below(self, version: tuple[int, int]) -> tuple[int, int] | None:
        """Return the oldest Python below a version that the project may run on; None if it says there is none."""
        return oldest_python(self.files, below=version)

    @cached_property
    def census(self) -> Census:
        """Every Python file of the project."""
        census = self._census()
        if census.settings and self.guard is not None and self.guard.take_settings(census.settings):
            return self._census()  # settings in its folders keep something from the caller
        return census

    def _census(self) -> Census:
        from bae_source.project.files.walk import census_after, census_of  # which reading one symbol does without

        if self.overlay:
            if self._before is None:
                return census_of(self.files, self.layout)
            return census_after(self._before.census, self.files, self.layout, self.overlay)
        return self.kept.census(self.files, self.layout, self._begun, self.index.make_ready)

    @cached_property
    def settled(self) -> bool:
        """Return whether the stamps of all files would show every change since this snapshot was begun."""
        census = self.census
        stamps = census.stamps.values()
        return not self.overlay and not census.closed and all(is_settled(stamp, self._begun) for stamp in stamps)

    @cached_property
    def derived(self) -> Derived:
        """Return the facts worked out from all files together, shared with later requests until a file changes."""
        return Derived(self.census) if self.overlay else self.kept.derived(self.census, self._begun)

    @cached_property
    def programs(self) -> Programs:
        """The notebooks and scripts that are no modules."""
        from bae_source.project.files.programs import Programs  # which only a search for names needs

        return Programs(self, self._begun)

    @cached_property
    def index(self) -> Index:
        """Return the definitions and uses of its files."""
        from bae_source.project.facts.index import Index  # 1 ms, which reading one symbol need not pay

        return Index(self)

    def clock(self) -> int:
        """Return nanoseconds since the epoch, as the file system counts them."""
        return self.kept.clock()

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes as this snapshot has them; None where there is no such file."""
        if path in self.overlay:
            return self.overlay[path]
        if path not in self._contents:
            if "index" in vars(self) and self.index.has_given(path):  # a walk has found it
                content, stamp = self._stamped(path)
                self.index.check(path, content, stamp)
            else:
                content = read_or_none(self.files, path)
            self._contents[path] = content
        return self._contents[path]

    def own_content(self, path: str) -> bytes | None:
        """Return what `content` does, also of a file that the caller may not read: for what no answer shows."""
        if self.guard is None or path in self.overlay:
            return self.content(path)
        try:
            return b"".join(self.files.pieces(path))
        except FileNotFoundError:
            return None

    def after(self, changes: ChangeSet) -> Workspace:
        """Return the snapshot as it will be after some changes, which were planned on this one."""
        contents = {
            file.path: None if file.after is None else file.apply(self.content(file.path) or b"")
            for file in changes.files
        }
        later = Workspace(self._disk, overlay={**self.overlay, **contents}, kept=self.kept, guard=self.guard)
        later._before = self._before or self
        later._contents = self._contents  # one snapshot, and what is planned on top of it
        return later

    def is_read(self, path: str) -> bool:
        """Return whether this snapshot has a file's bytes already, planned ones included."""
        return path in self.overlay or path in self._contents

    @property
    def read_paths(self) -> Collection[str]:
        """The files whose bytes this snapshot has already, planned ones left out."""
        return self._contents.keys()

    def glance(self, path: str) -> bytes | None:
        """Return what `content` returns, but do not keep it: for a look into many files, few of which will matter.

        Raises:
            Refused: `forbidden` if it may not be read.
        """
        if path in self.overlay or path in self._contents:
            return self.content(path)
        return self._stamped(path)[0]

    @property
    def hides(self) -> bool:
        """Return whether there may be hidden files; settings in folders count once there is a census."""
        return self.guard is not None and bool(self.census) and self.guard.hides

    def check_readable(self, path: str) -> None:
        """Check that the caller may read a file.

        Raises:
            Refused: `forbidden` if not.
        """
        if self.guard is not None and path not in self.overlay:
            self.guard.check(path)

    def refusal_of(self, kind: Literal["config", "deps", "logs"], name: str) -> Refused | None:
        """Return why the caller may not read a setting, a distribution or a log; None where he may."""
        return None if self.guard is None else self.guard.refusal_of(kind, name)

    def keeps_back(self, text: str) -> bool:
        """Return whether a program's output mentions a place in a file that the caller may not read."""
        return self.guard is not None and self.guard.keeps_back(text)

    def check_size(self, path: str) -> None:
        """Check that a file is not too large to be read whole.

        Raises:
            SourceError: `not_lossless` if it is.
        """
        stamp = self.census.stamps.get(path)
        if stamp and stamp.size > _LARGEST and not self.is_read(path):
            raise SourceError(
                "not_lossless",
                f"has {stamp.size:,} bytes, more than {_LARGEST:,}.",
                subject="The file",
                hints=["Split the file by hand."],
            )

    def stamped(self, path: str) -> tuple[bytes, Stamp | None]:
        """Return the bytes of a file to be parsed, and its stamp if that will tell of every later change.

        Raises:
            SourceError: it is too large.
            Refused: `forbidden` if it may not be read, `stale` if it has gone meanwhile.
        """
        self.check_size(path)
        content, stamp = (self.content(path), self.stamp_of(path)) if self.is_read(path) else self._stamped(path)
        if content is None:
            raise gone()
        return content, stamp

    def stamp_of(self, path: str) -> Stamp | None:
        """Return the stamp of a file that was read, if it is known to be of these bytes and to tell of every change."""
        stamp = self.census.stamps.get(path)
        if path in self.overlay or stamp is None or not is_settled(stamp, self._begun):
            return None
        try:
            return stamp if self.files.glance(path, stamp.size) == self.content(path) else None
        except (FileNotFoundError, ResourceError):
            return None

    def _stamped(self, path: str) -> tuple[bytes | None, Stamp | None]:
        """Read a file, and return its stamp if that will tell of every later change."""
        try:
            content, stamp = self.files.read_stamped(path)
        except FileNotFoundError:
            return None, None
        return content, stamp if is_settled(stamp, self._begun) else None

    def tree(self, module: ModuleFile) -> Tree:
        """Return a module's definitions.

        Raises:
            SourceError: its code does not parse or cannot be decoded; the message names the module.
            Refused: `forbidden` if it may not be read.
        """
        return self._tree(module.path, module.name)

    def tree_at(self, path: str) -> Tree:
        """Return the definitions of a file of the census.

        Raises:
            SourceError: its code does not parse or cannot be decoded.
            Refused: `stale` if it has gone meanwhile.
        """
        module = self.census.module(path)
        if module is None:
            raise gone()
        return self._tree(path, module.name)

    def source(self, module: ModuleFile) -> Source:
        """Return a module's text, for what needs none of its definitions.

        Raises:
            SourceError: it cannot be decoded; the message names the module.
            Refused: `forbidden` if it may not be read, `stale` if it has gone meanwhile.
        """
        path = module.path
        if path in self._trees:
            return self._trees[path].source
        if path not in self._sources:
            try:
                self._sources[path] = parsable(self._present(path))
            except (SourceError, Refused) as error:
                raise _named(error, module.name) from None
        return self._sources[path]

    def _present(self, path: str) -> bytes:
        content = self.content(path)
        if content is None:
            raise gone()
        return content

    def digest(self, path: str) -> str | None:
        """Return the digest of a file's bytes, if its definitions were asked for, which needs it."""
        tree = self._trees.get(path)
        return tree.source.digest if tree else None

    def _tree(self, path: str, name: str) -> Tree:
        if path not in self._trees:
            try:
                keeping = "index" in vars(self) and self.index.expects_many
                self._trees[path] = self.kept.tree(self._present(path), keeping=keeping)
            except (SourceError, Refused) as error:
                tree = self._broken(path) if error.code == "syntax_invalid" else None
                if tree is None:
                    raise _named(error, name) from None
                self._trees[path] = tree
        return self._trees[path]

    def _broken(self, path: str) -> Tree | None:
        """Return the definitions recognised in a file that does not parse, where such files are wanted."""
        content = self.content(path) if self.lets_broken_in else None
        if content is None:
            return None
        from bae_source.syntax.outline.broken import broken_tree  # seldom needed

        return broken_tree(content)

    def tree_after(self, content: bytes, known: str | None = None) -> Tree:
        """Return the definitions of a file as a planned change leaves it.

        Raises:
            SourceError: as `tree`; a file that did not parse and still does not is let through where that is allowed.
        """
        try:
            return self.kept.trees.get(content, known)
        except SourceError as error:
            if error.code != "syntax_invalid" or not (self.lets_broken_in and self.lets_broken_through):
                raise
            from bae_source.syntax.outline.broken import broken_tree  # seldom needed

            return broken_tree(content)

    def change(self, module: ModuleFile, splices: Iterable[tuple[Span, str]]) -> FileChange:
        """Turn splices on a module's text into the change of its file."""
        from bae_source.model.changeset import file_change  # which reading does without
        from bae_source.syntax.text.byte_edits import byte_edits

        source = self.source(module)
        return file_change(module.path, source.content, byte_edits(source, list(splices)), known=source.digest)

    def module_file(self, module: ModuleFile) -> ModuleFile:
        """Return what the transaction should know of a module: a script is only compiled, never imported."""
        content = self.content(module.path) or b""
        if content.startswith(b"#!") and "." not in module.name:
            return ModuleFile(
                name=module.name, path=module.path, source_root=module.source_root, package=False, import_checked=False
            )
        return module


def _planned(files: Files, overlay: Contents) -> Files:
    from bae_source.project.files.overlay import Planned  # for a change alone

    return Planned(files, overlay)


def _named(error: SourceError | Refused, name: str) -> SourceError | Refused:
    from bae_source.project.facts.index import named  # of a file that cannot be read

    return named(error, name)


def etag_of(text: str) -> str:
    """Return the etag of a symbol's text: it stays the same whatever changes around the symbol."""
    return sha256(text.encode("utf-8", "surrogatepass"))[:16]
