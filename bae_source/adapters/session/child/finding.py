"""The search for modules in a worker: Python's, then the project's and its packages, then what is beside ours.

    import json             Python's, whatever lies at the project's root
    import app.core         the project's, from its source roots
    import numpy            that of the project's environment
    import libcst           ours, also where the project's environment has another one

Invariants:
- to open a session imports nothing of the project: folders are put on the search path;
- what the worker itself runs with is found where it was before the project was there, also if it is imported late;
- while a request reads, all that it imports is found there, and what is not is not looked for in the project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from threading import get_ident
from types import ModuleType
from typing import Any

import msgspec

from bae_source.engine.search_path import SearchPath
from bae_source.engine.service import Service
from bae_source.system.own_path import OURS


class Finder(PathFinder):
    """Python's finder, which for what is ours, and for what we import ourselves, looks where modules were before.

    Optional modules are why it has to know who imports: Python's own `copy` asks for `org`, gitdb for `gitdb_speedups`,
    and a project may have modules of these names.

    Attributes:
        own_path: the search path as it was before.
    """

    def __init__(self) -> None:
        self.own_path = list(sys.path)
        self._thread = 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have this thread import nothing of the project; one thread at a time may ask for it."""
        before, self._thread = self._thread, get_ident()
        try:
            yield
        finally:
            self._thread = before

    def find_spec(  # type: ignore[override]  # Python's is a class, and this one an object
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module; None where there is none."""
        is_alone = self._thread == get_ident()
        if path is None and (is_alone or name in OURS):
            found = PathFinder.find_spec(name, self.own_path, target)
            if is_alone or found is not None:
                return found
        return PathFinder.find_spec(name, path, target)


def find_modules_of(service: Service) -> tuple[SearchPath, Finder]:
    """Have modules of a project found in this process as well; return where, and what finds them."""
    found = service.search_path(OURS | sys.stdlib_module_names)
    finder = Finder()
    sys.meta_path[sys.meta_path.index(PathFinder)] = finder
    at = sys.path.index(str(Path(str(msgspec.__file__)).parent.parent))  # behind Python's
    first = dict.fromkeys([*found.roots, *found.packages])
    sys.path[at:] = [*first, *(each for each in sys.path[at:] if each not in first)]
    return found, finder
