"""Write the names that the classes of Python and its standard library have: `python -m benchmarks.standard_names`.

A name is taken from the source of each module, wherever an indented statement binds it or `self.name` is assigned, and
from each class that a module has once it is imported, as those written in C have no source. The union over several
versions of Python is kept: names that are there already stay.
"""

from __future__ import annotations

import importlib
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

from bae_source.project.references.search import sole

TABLE = Path(sole.__file__).with_name("standard_names.txt")
_BINDS = re.compile(
    r"^[ \t]+(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|\bself\.(\w+)[ \t]*(?::[^=\n]+)?=[^=]"
    r"|^[ \t]+(\w+)[ \t]*(?::[^=\n]+)?=[^=]",
    re.MULTILINE,
)
_LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo"})
_NOT_IMPORTED = frozenset({"antigravity", "this", "__main__", "idlelib", "turtledemo"})


def names() -> set[str]:
    """Return the names that classes of this Python's own have, but for special ones."""
    found = {*_in_source(), *_in_classes()}
    return {each for each in found if not each.startswith("__") and each.isascii()}


def _in_source() -> Iterator[str]:
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if _LEFT_OUT.isdisjoint(path.relative_to(root).parts):
            for match in _BINDS.finditer(path.read_text("utf-8", "replace")):
                yield match[1] or match[2] or match[3]


def _in_classes() -> Iterator[str]:
    for module in sorted(sys.stdlib_module_names - _NOT_IMPORTED):
        try:
            members = vars(importlib.import_module(module))
        except Exception:  # noqa: BLE001 - of another system, or without what it needs
            continue
        for each in list(members.values()):
            if isinstance(each, type):
                yield from dir(each)


def main() -> None:
    """Write the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = set(TABLE.read_text().split()) if TABLE.exists() else set()
        TABLE.write_text("".join(f"{each}\n" for each in sorted(known | names())))
    print(f"{TABLE.name}: {len(TABLE.read_text().split()):,} names")


if __name__ == "__main__":
    main()
