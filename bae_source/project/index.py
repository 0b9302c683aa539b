"""What files define and refer to, each file read and parsed once per content, however often it is asked about.

    workspace.index.summary(path)             one file's definitions
    workspace.index.summaries(paths)          many, as they come
    workspace.index.mentioning({"send"})      the files whose text holds one of some words

Invariants:
- an answer always belongs to the bytes that the workspace has at that moment, planned text included;
- a file that cannot be read or parsed is an error in the answer, never left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bae_source.errors import ResourceError
from bae_source.syntax.summary import Summary, summarise

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace


class Index:
    """Summaries of a workspace's files.

    Parameters:
        workspace: where the files are read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def summary(self, path: str) -> Summary:
        """Return what a file defines.

        Raises:
            SourceError: it does not parse or cannot be decoded.
            Refused: `forbidden` if it may not be read.
        """
        return summarise(self.workspace.tree_at(path))

    def summaries(self, paths: Iterable[str]) -> Iterator[tuple[str, Summary | ResourceError]]:
        """Yield each file's summary, or why there is none, in the order of `paths`."""
        for path in paths:
            try:
                yield path, self.summary(path)
            except ResourceError as error:
                yield path, error
