"""Ask jedi for the references of the name at a place, in a process of its own.

    python ask_jedi.py ROOT PATH LINE COLUMN

Prints one JSON array `[path, line, column]` a line. Runs in the peers' environment and imports nothing of ours.
"""

import json
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Ask, and print what is found inside the project."""
    jedi = import_module("jedi")
    root = Path(sys.argv[1])
    project = jedi.Project(root, load_unsafe_extensions=False)
    script = jedi.Script(path=root / sys.argv[2], project=project)
    for name in script.get_references(int(sys.argv[3]), int(sys.argv[4]) - 1, scope="project", include_builtins=False):
        if name.module_path and name.module_path.is_relative_to(root):
            print(json.dumps([name.module_path.relative_to(root).as_posix(), name.line, name.column + 1]))


if __name__ == "__main__":
    main()
