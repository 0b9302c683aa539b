"""The object that git would make of a file of the working tree, whose bytes may differ from what is staged.

    core.autocrlf true      app.py with CRLF, staged with LF: no change
    *.py text               likewise
    *.py -text              only equal bytes are
    *.py filter=x           nobody can tell without running a program

Invariants:
- settings and attributes are read as data, and handed to a git that has no filter, so no program is run;
- nothing is written: git names the object, and does not keep it.
"""

from __future__ import annotations

import os

from bae_source.project.git.folder import GitFolder

_CHANGE_MORE = ("filter", "ident", "working-tree-encoding")
"""Attributes by which git changes more than line ends."""
_OFF = ("unspecified", "unset")


def changed_by(git: GitFolder, path: str) -> str | None:
    """Return the attribute by which git changes more of a file than its line ends; "" for none, None if unknown."""
    given = os.fsencode(f"./{path}") + b"\0"
    done = git.run("check-attr", "-z", "--stdin", *_CHANGE_MORE, given=given, settings=git.attributes_of_the_user)
    fields = os.fsdecode(done.stdout).split("\0")[:-1]
    if done.returncode or len(fields) != 3 * len(_CHANGE_MORE):
        return None
    return next((name for name, value in zip(fields[1::3], fields[2::3], strict=True) if value not in _OFF), "")


def object_of(git: GitFolder, path: str, content: bytes) -> str | None:
    """Return the name of the object that git would make of a file's bytes; None where it cannot say."""
    settings = [*git.attributes_of_the_user, *git.line_ends]
    done = git.run("hash-object", "--stdin", f"--path=./{path}", given=content, settings=settings)
    return None if done.returncode else done.stdout.decode().strip()
