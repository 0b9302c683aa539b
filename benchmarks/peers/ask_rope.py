"""Ask rope for the occurrences of the name at a place, in a process of its own.

    python ask_rope.py ROOT PATH LINE COLUMN

Prints one JSON array `[path, line, column]` a line. Runs in the peers' environment and imports nothing of ours. Rope's
folder of its own is switched off. Files that do not parse are passed over, or a single one would end it without an
answer. `--no-gc` switches the garbage collector off, which makes it about three times as fast.
"""

import gc
import json
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Ask, and print what is found."""
    if "--no-gc" in sys.argv:
        gc.disable()
    root = Path(sys.argv[1])
    project = import_module("rope.base.project").Project(str(root), ropefolder=None, ignore_syntax_errors=True)
    text = (root / sys.argv[2]).read_text(encoding="utf-8")
    lines = text.split("\n")
    offset = sum(len(line) + 1 for line in lines[: int(sys.argv[3]) - 1]) + int(sys.argv[4]) - 1
    find = import_module("rope.contrib.findit").find_occurrences
    for found in find(project, project.get_resource(sys.argv[2]), offset):
        start = found.offset
        column = start - found.resource.read().rfind("\n", 0, start)
        print(json.dumps([found.resource.path, found.lineno, column]))


if __name__ == "__main__":
    main()
