"""Generated projects of many small modules, to see what a file costs and what the whole needs of memory.

A project's modules lie in packages of a hundred. Each imports from two others, defines a class and functions, and uses
them, so that there is something to outline, to resolve and to look up. Nine of ten classes inherit from the tenth. The
text depends on the number of the module alone, so every file costs the same, however many there are.
"""

from __future__ import annotations

from pathlib import Path

PER_PACKAGE = 100

_MODULE = '''"""Module number {number} of a generated project."""

from __future__ import annotations

from {near} import Worker as Near
from {far} import run as run_far

LIMIT_{number} = {number}


class Worker({base}):
    """Does the work of module {number}."""

    limit: int = LIMIT_{number}

    def __init__(self, name: str, size: int = {number}) -> None:
        self.name = name
        self.size = size
        self.done = 0

    def work_{number}(self, amount: int) -> int:
        """Return what is left of an amount."""
        if amount > self.limit:
            return run_far(self, amount - self.limit)
        self.done += amount
        return amount - self.done

    @property
    def left(self) -> int:
        return self.limit - self.done


def run(worker: Worker, amount: int) -> int:
    """Let a worker work."""
    total = 0
    for step in range(amount):
        total += worker.work_{number}(step)
    return total


def make(name: str) -> Worker:
    """Make a worker."""
    return Worker(name, size=LIMIT_{number})
'''


def grow(folder: Path, files: int) -> Path:
    """Write a project of so many files into a new folder, and return it."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "generated"\nversion = "1"\n', encoding="utf-8")
    for number in range(files):
        package = folder / f"package_{number // PER_PACKAGE}"
        if number % PER_PACKAGE == 0:
            package.mkdir()
        name = "__init__" if number % PER_PACKAGE == 0 else f"module_{number}"
        near, far = _name(number - number % 10), _name((number * 7 + 3) % files)
        base = "Near" if number % 10 else "object"
        text = _MODULE.format(number=number, near=near, far=far, base=base)
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def _name(number: int) -> str:
    package = f"package_{number // PER_PACKAGE}"
    return package if number % PER_PACKAGE == 0 else f"{package}.module_{number}"
