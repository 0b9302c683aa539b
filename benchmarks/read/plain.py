"""What any engine must do at least, as processes of their own: read and parse every file, or look at every file.

    python plain.py parse ROOT      read every .py file and ast.parse it
    python plain.py walk ROOT       os.walk, and stat of every file

Imports nothing but what it needs; each tree is dropped before the next file is read.
"""

import os
import sys


def main() -> None:
    """Do one of the two, and print how many files there were."""
    what, root = sys.argv[1:]
    print(parse(root) if what == "parse" else walk(root))


def parse(root: str) -> int:
    """Read and parse every Python file; return how many there are."""
    import ast  # not needed to walk
    import warnings

    warnings.simplefilter("ignore")
    count = 0
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith(".py"):
                count += 1
                with open(os.path.join(folder, name), "rb") as stream:  # noqa: PTH118, PTH123
                    content = stream.read()
                try:
                    ast.parse(content)
                except (SyntaxError, ValueError):
                    continue
    return count


def walk(root: str) -> int:
    """Look at every file; return how many there are."""
    count = 0
    for folder, _, files in os.walk(root):
        for name in files:
            os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118
            count += 1
    return count


if __name__ == "__main__":
    main()
