"""Names that one family of classes alone has, so that an attribute of an unknown receiver is probably theirs.

    class Consumer:                      x.on_decode_error()    probable: no other class has the name, neither one of
        def on_decode_error(self): ...                          Python's own nor one of what these files import
    class Producer:                      x.close()              unsure: files have it, and sockets

A family is the classes above the one that is asked about which have the name, and all classes below these.

Invariants:
- what cannot be read, such as an imported package that is not installed, may have the name;
- only files that hold the name are read, and these have been read by the search that asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.types.values import NOT_KNOWN, STANDARD, Class, class_around, in_order
from bae_source.syntax.names import uses as u

_NAMES = Path(__file__).with_name("standard_names.txt")
"""The attributes of the classes of Python and its standard library, a name a line; `benchmarks.standard_names`."""
_READ = (".py", ".pyi", ".so", ".pyd")
_MOST_BYTES = 50_000_000
"""Most bytes read of one installed package; a larger one may have any name."""
_WORD = re.compile(rb"\w+")
_ELSEWHERE = (u.IMPORTED, u.GLOBAL, u.NONLOCAL)

Below = Callable[[Class], tuple[Class, ...] | None]


def is_sole(project: Project, sought: Sought, below: Below, paths: Iterable[str]) -> bool:
    """Return whether only the family of the target has its name.

    Parameters:
        below: finds every class below a class, or None where there are too many.
        paths: the files that hold the name.
    """
    name = sought.name
    if not sought.classes or name.startswith("__") or is_standard(sought.word):
        return False
    family = _family(project, sought, below)
    if family is None:
        return False
    used = {path: project.uses(path) for path in paths}
    bound = [(path, uses) for path, uses in used.items() if name in uses.bound]
    if bound and not _is_assigned(project, sought):
        return False  # what is given another function is hardly one of these
    if any(_binds_another(project, path, uses, name, family) for path, uses in bound):
        return False
    if any(_binds_other(uses, path, name, family) for path, uses in used.items()):
        return False
    packages = sorted({package for path, uses in used.items() for package in packages_outside(project, path, uses)})
    folders = project.workspace.kept.packages if packages else ()
    installed = [list(files_of(folders, package)) for package in packages]
    if not all(installed):  # what is not there cannot be read
        return False
    return not any(may_have(files, sought.word) for files in installed)


def _family(project: Project, sought: Sought, below: Below) -> Collection[Class] | None:
    orders = project.inference.orders
    found: set[Class] = set()
    for owner in sorted(sought.classes, key=in_order):
        having = [
            each for each in orders.of(owner).nodes if isinstance(each, Class) and _has(project, each, sought.name)
        ]
        for each in having:
            lower = below(each)
            if lower is None:
                return None
            found.update((each, *lower))
    return found


def _has(project: Project, owner: Class, name: str) -> bool:
    scope = project.uses(owner.path).scopes[owner.scope]
    return name in scope.names or name in scope.attributes


def _binds_other(uses: u.Uses, path: str, name: str, family: Collection[Class]) -> bool:
    """Return whether a file gives the name to something that is not of the family: its module, or another class."""
    for number, scope in enumerate(uses.scopes):
        if scope.kind == u.CLASS_SCOPE and Class(path, number) not in family:
            if name in scope.names or name in scope.attributes:
                return True
        elif scope.kind == u.MODULE_SCOPE and any(each[0] not in _ELSEWHERE for each in scope.names.get(name, ())):
            return True
    return False


def _is_assigned(project: Project, sought: Sought) -> bool:
    """Return whether the target is bound by assignments, and by no function."""
    for owner in sought.classes:
        scope = project.uses(owner.path).scopes[owner.scope]
        if any(each[0] in (u.FUNCTION, u.CLASS) for each in scope.names.get(sought.name, ())):
            return False
    return True


def _binds_another(project: Project, path: str, uses: u.Uses, name: str, family: Collection[Class]) -> bool:
    """Return whether a file binds an attribute of the name of something that is known, and not of the family."""
    for _, _, receiver, _ in uses.bound[name]:
        values = project.inference.values(path, receiver) if receiver > 0 else NOT_KNOWN
        if any(value is not None and class_around(value) not in family for value in values):
            return True
    return False


def packages_outside(project: Project, path: str, uses: u.Uses) -> Iterator[str]:
    """Yield the packages that a file imports from outside the project and the standard library."""
    for imported in uses.imports:
        package = imported.module.partition(".")[0]
        if not imported.level and package not in STANDARD and not project.names.files(path, package, 0):
            yield package


def is_standard(word: str) -> bool:
    """Return whether a class of Python or of its standard library has an attribute of that name."""
    return f"\n{word}\n".encode() in _standard()


@cache
def _standard() -> bytes:
    return b"\n" + _NAMES.read_bytes()


def may_have(files: Iterable[Path], word: str) -> bool:
    """Return whether the word stands in the files of an installed package, or they are too many to tell."""
    sought = re.compile(rb"(?<!\w)" + re.escape(word.encode()) + rb"(?!\w)")
    left = _MOST_BYTES
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:
            return True
        left -= len(content)
        if left < 0 or sought.search(content):
            return True
    return False


def words_in(files: Iterable[Path], words: Collection[str]) -> frozenset[str] | None:
    """Return those of some words that files hold; None where there are no files, or too many to tell."""
    found, left, is_there = set[bytes](), _MOST_BYTES, False
    sought = {word.encode() for word in words}
    for file in files:
        is_there = True
        try:
            content = file.read_bytes()
        except OSError:
            return None
        left -= len(content)
        if left < 0:
            return None
        found |= sought.intersection(_WORD.findall(content))
    return frozenset(word.decode() for word in found) if is_there else None


def files_of(folders: Iterable[str], package: str) -> Iterator[Path]:
    """Yield the files of an installed package that may define something."""
    for folder in map(Path, folders):
        for each in (*folder.glob(f"{package}.*"), *(folder / package).rglob("*")):
            if each.suffix in _READ and each.is_file():
                yield each
