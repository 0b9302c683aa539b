"""Ask jedi to plan a rename of the name at a place, in a process of its own.

    python rename_by_jedi.py ROOT PATH LINE COLUMN NEW

Prints one JSON array `[path, planned text]` a line, and `[path, null, new path]` for a file that moves. Runs in the
peers' environment and imports nothing of ours. Nothing is written. A module is renamed at a place that imports it.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Plan the rename, and print what would change."""
    jedi = import_module("jedi")
    root = Path(sys.argv[1])
    project = jedi.Project(root, load_unsafe_extensions=False)
    script = jedi.Script(path=root / sys.argv[2], project=project)
    planned = script.rename(int(sys.argv[3]), int(sys.argv[4]) - 1, new_name=sys.argv[5])
    for path, changed in planned.get_changed_files().items():
        print(json.dumps([_inside(root, path), changed.get_new_code()]))
    for old, new in planned.get_renames():
        print(json.dumps([_inside(root, old), None, _inside(root, new)]))


def _inside(root: Path, path: "os.PathLike[str]") -> str:
    """Return a path from the root on; that of a file elsewhere, such as one of jedi's own stubs, as it is."""
    return str(Path(path).relative_to(root) if Path(path).is_relative_to(root) else path)


if __name__ == "__main__":
    main()
