"""Ask rope to plan a move of the definition at a place to another module, in a process of its own.

    python move_by_rope.py ROOT PATH LINE COLUMN DESTINATION [--source FOLDER] [--no-gc]

Prints one JSON array `[path, planned text]` a line. Runs in the peers' environment and imports nothing of ours. Nothing
is written, but that a DESTINATION which is not there is made empty: rope moves into present files alone. `--source` is
the folder that stands on `sys.path`, where that is not the root.
"""

import gc
import json
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Plan the move, and print what would change."""
    if "--no-gc" in sys.argv:
        gc.disable()
    root = Path(sys.argv[1])
    (root / sys.argv[5]).touch()
    given = {"source_folders": [sys.argv[sys.argv.index("--source") + 1]]} if "--source" in sys.argv else {}
    project = import_module("rope.base.project").Project(str(root), ropefolder=None, ignore_syntax_errors=True, **given)
    resource = project.get_resource(sys.argv[2])
    lines = resource.read().split("\n")
    offset = sum(len(line) + 1 for line in lines[: int(sys.argv[3]) - 1]) + int(sys.argv[4]) - 1
    moving = import_module("rope.refactor.move").create_move(project, resource, offset)
    for change in moving.get_changes(project.get_resource(sys.argv[5])).changes:
        print(json.dumps([change.resource.path, change.new_contents]))


if __name__ == "__main__":
    main()
