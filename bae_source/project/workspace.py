"""One snapshot of a project to read and plan on: every file is read once, and an overlay shows what is planned.

A workspace never writes. What it has read stays as it was read, so that one request sees one state of the project, and
the transaction compares that state with the disk before it writes.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import cached_property

from bae_source.errors import ResourceError, SourceError
from bae_source.model.changeset import FileChange, file_change
from bae_source.model.plan import ModuleFile
from bae_source.model.span import Span
from bae_source.project.census import Census, census_of
from bae_source.project.files import Files, read_or_none
from bae_source.project.index import Index
from bae_source.project.layout import Layout, layout_of, oldest_python
from bae_source.syntax.source import Source
from bae_source.syntax.tree import Tree, parse

_KEPT_TREES = 32


class Trees:
    """Parsed files by the digest of their content, the most recently used kept."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, Tree] = OrderedDict()

    def get(self, content: bytes, known: str | None = None) -> Tree:
        """Return the tree of a file's content; raise SourceError where it has none.

        Parameters:
            known: the content's digest, if it is known already.
        """
        source = Source(content, known)
        tree = self._trees.get(source.digest)
        if tree is None:
            tree = self._trees[source.digest] = parse(source)
            if len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        else:
            self._trees.move_to_end(source.digest)
        return tree


class Workspace:
    """One snapshot of a project.

    Parameters:
        files: where its files are read.
        overlay: planned content by path, seen instead of what `files` has.
        trees: parsed files to share between workspaces.
        layout: the source roots, if they are known.
    """

    def __init__(
        self,
        files: Files,
        *,
        overlay: Mapping[str, bytes] | None = None,
        trees: Trees | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.files = files
        self.overlay = dict(overlay or {})
        self.trees = trees or Trees()
        self._layout = layout
        self._contents: dict[str, bytes | None] = {}

    @cached_property
    def layout(self) -> Layout:
        """The project's source roots."""
        return self._layout or layout_of(self.files)

    @cached_property
    def oldest_python(self) -> tuple[int, int] | None:
        """The oldest Python that the project says it runs on, if that is not newer than the one running here."""
        return oldest_python(self.files)

    @cached_property
    def census(self) -> Census:
        """Every Python file of the project."""
        return census_of(self.files, self.layout)

    @cached_property
    def index(self) -> Index:
        """What its files define."""
        return Index(self)

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes as this snapshot has them; None where there is no such file."""
        if path in self.overlay:
            return self.overlay[path]
        if path not in self._contents:
            self._contents[path] = read_or_none(self.files, path)
        return self._contents[path]

    def tree(self, module: ModuleFile) -> Tree:
        """Return a module's definitions.

        Raises:
            SourceError: its code does not parse or cannot be decoded; the message names the module.
        """
        content = self.content(module.path)
        assert content is not None, f"{module.name} was found and then was not there"
        try:
            return self.trees.get(content)
        except SourceError as error:
            raise _named(error, module.name) from None

    def tree_at(self, path: str) -> Tree:
        """Return the definitions of a file of the census.

        Raises:
            SourceError: its code does not parse or cannot be decoded, or it has gone meanwhile.
        """
        content = self.content(path)
        module = self.census.module(path)
        if content is None or module is None:
            raise SourceError("syntax_invalid", "The file has gone while the project was read.", hints=["Ask again."])
        try:
            return self.trees.get(content)
        except SourceError as error:
            raise _named(error, module.name) from None

    def change(self, module: ModuleFile, splices: Iterable[tuple[Span, str]]) -> FileChange:
        """Turn splices on a module's text into the change of its file."""
        tree = self.tree(module)
        source = tree.source
        return file_change(module.path, source.content, source.byte_edits(list(splices)), known=source.digest)

    def module_file(self, module: ModuleFile) -> ModuleFile:
        """Return what the transaction should know of a module: a script is only compiled, never imported."""
        content = self.content(module.path) or b""
        if content.startswith(b"#!") and "." not in module.name:
            return ModuleFile(
                name=module.name, path=module.path, source_root=module.source_root, package=False, import_checked=False
            )
        return module


def etag_of(text: str) -> str:
    """Return the etag of a symbol's text: it stays the same whatever changes around the symbol."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _named(error: SourceError, module: str) -> ResourceError:
    """Return the error of a file's own code with the name of the module."""
    message = error.message.replace("The code", module, 1).replace("The file", module, 1)
    hints = error.hints or (f"Mend {module} by other means first; other modules can be edited meanwhile.",)
    return SourceError(error.code, message, hints=hints, details={**error.details, "module": module})
