"""Files that Python or Jupyter runs though they are no modules: notebooks, and scripts without an ending.

    analysis.ipynb     a notebook: its cells of code
    bin/serve          #!/usr/bin/env python3
    site.wsgi          which a server runs
    LICENSE            nothing of the kind

They are not searched for references, so those that hold a requested name are listed, as `.pyw` files are.

Invariants:
- of a notebook only cells of code count: what is drawn in it, and its text, runs nothing;
- ignored files are left out, and so are files behind a link out of the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from bae_source.errors import Refused, ResourceError
from bae_source.project.files.census import NOTEBOOK, SERVED
from bae_source.project.files.ignored import is_ignored
from bae_source.project.files.stamps import is_settled

if TYPE_CHECKING:
    from bae_source.project.files.port import Stamp
    from bae_source.project.files.snapshot import Snapshot

_LARGEST = 100_000_000
_RUN_BY_PYTHON = re.compile(rb"#![^\n]*(?:python|pypy|\buv run\b)")
_ESCAPED = re.compile(rb"\\u(?!00[01])")
"""A letter outside ASCII as JSON may write it; colours of a terminal are none."""
_NOTEBOOK = Refused(
    "forbidden",
    "is a notebook, whose cells are not searched.",
    subject="The file",
    hints=["Put its code into a module."],
)
_SCRIPT = Refused(
    "forbidden",
    "is a script whose name does not end in .py, so it is not searched.",
    subject="The file",
    hints=["Let it end in .py."],
)


class Programs:
    """The notebooks and scripts of a project, as one snapshot of it has them.

    Parameters:
        snapshot: the snapshot.
        begun: when it was begun, in nanoseconds since the epoch; 0 where that is not known.
    """

    def __init__(self, snapshot: Snapshot, begun: int) -> None:
        self._snapshot = snapshot
        self._begun = begun
        self._cells: dict[str, bytes] = {}

    def speaking(self, may_matter: Callable[[bytes], bool]) -> Iterator[tuple[str, ResourceError]]:
        """Yield those that may matter, each with the reason why it is not searched.

        Parameters:
            may_matter: tells of bytes whether the file has to be named.
        """
        for path, content in self._contents.items():
            is_notebook = path.endswith(NOTEBOOK)
            try:
                matters = may_matter(content) or (is_notebook and _ESCAPED.search(content) is not None)
                if matters and is_notebook:
                    if path not in self._cells:
                        self._cells[path] = _cells(content)
                    matters = may_matter(self._cells[path])
            except ResourceError:
                matters = True  # its text is not known
            if matters and not is_ignored(self._snapshot.files, path):
                yield path, _NOTEBOOK if is_notebook else _SCRIPT

    @cached_property
    def mark(self) -> tuple[tuple[str, Stamp], ...] | None:
        """Return a value that is equal as long as no such file changes; None where a change might not show in it."""
        stamps = self._snapshot.files.stamps(self._snapshot.census.programs)
        if not all(is_settled(stamp, self._begun) for stamp in stamps.values()):
            return None
        return tuple(stamps.items())

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        """The content of each notebook, and of each script that Python runs, by path."""
        snapshot, found = self._snapshot, dict[str, bytes]()
        for path, stamp in snapshot.files.stamps(snapshot.census.programs).items():
            try:
                content = snapshot.glance(path) if stamp.size <= _LARGEST else None
            except ResourceError:
                content = None
            if content and (path.endswith((NOTEBOOK, SERVED)) or _RUN_BY_PYTHON.match(content)):
                found[path] = content
        return found


def _cells(content: bytes) -> bytes:
    """Return the code in the cells of a notebook; all of it where it cannot be read as one."""
    try:
        cells = json.loads(content)["cells"]
        sources = [each.get("source", "") for each in cells if each.get("cell_type") == "code"]
        texts = [each if isinstance(each, str) else "".join(each) for each in sources]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return content
    return "\n".join(texts).encode("utf-8", "replace")
