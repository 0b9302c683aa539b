"""Ask rope to plan a rename of the name at a place, or of a module, in a process of its own.

    python rename_by_rope.py ROOT PATH LINE COLUMN NEW [--module] [--source FOLDER] [--no-gc]

Prints one JSON array `[path, planned text]` a line, and `[path, null, new path]` for a file that moves. Runs in the
peers' environment and imports nothing of ours. Nothing is written. `--module` renames the file at PATH itself, and
`--source` is the folder that stands on `sys.path`, where that is not the root. Files that do not parse are passed over,
or a single one would end it without an answer.
"""

import gc
import json
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Plan the rename, and print what would change."""
    if "--no-gc" in sys.argv:
        gc.disable()
    root = Path(sys.argv[1])
    given = {"source_folders": [sys.argv[sys.argv.index("--source") + 1]]} if "--source" in sys.argv else {}
    project = import_module("rope.base.project").Project(str(root), ropefolder=None, ignore_syntax_errors=True, **given)
    resource = project.get_resource(sys.argv[2])
    offset = None
    if "--module" not in sys.argv:
        lines = resource.read().split("\n")
        offset = sum(len(line) + 1 for line in lines[: int(sys.argv[3]) - 1]) + int(sys.argv[4]) - 1
    renaming = import_module("rope.refactor.rename").Rename(project, resource, offset)
    for change in renaming.get_changes(sys.argv[5]).changes:
        if hasattr(change, "new_contents"):
            print(json.dumps([change.resource.path, change.new_contents]))
        else:
            print(json.dumps([change.resource.path, None, change.new_resource.path]))


if __name__ == "__main__":
    main()
