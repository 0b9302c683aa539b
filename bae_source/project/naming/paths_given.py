"""Paths given where a dotted name belongs: the file that is meant, there or of a kind that is plainly no Python.

read README.md             README.md is there:          refused, :README.md
write CHANGES.rst          there is no package CHANGES: refused, :CHANGES.rst
write app.json             app is a package:            the module json of it, unless app.json is a file
"""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.address import file_given, is_plainly_no_python, parse_name, path_given
from bae_source.project.files.port import FileKind
from bae_source.project.workspace import Workspace


def meant_by(workspace: Workspace, text: str, error: LookupFailed) -> ResourceError:
    """Return what to say of a name that failed: that it is a path, if it is one, else the error."""
    if error.code != "symbol_not_found":
        return error
    if text.endswith((".py", ".pyi")):
        return path_given(text, text)
    if address := _file(workspace, text):
        return file_given(text, address)
    first = text.partition(".")[0]
    if is_plainly_no_python(text) and "@" not in text and not workspace.layout.prefixes((first,)):
        return file_given(text, f":{text}")
    return error


def check_no_path(workspace: Workspace, parts: Sequence[str]) -> None:
    """Refuse the name of a new module that is rather the name of a file.

    Raises:
        RequestError: `invalid_name`, with the address that is meant.
    """
    text = ".".join(parts)
    if address := _file(workspace, text):
        raise file_given(text, address)
    outer = tuple(parts[:-1])
    inside = bool(outer) and any(item.length == len(outer) and item.folder for item in workspace.layout.prefixes(outer))
    if is_plainly_no_python(text) and not inside:
        raise file_given(text, f":{text}")


def _file(workspace: Workspace, text: str) -> str | None:
    """Return the address of a file that a text is the path of, with slashes or with dots in their place."""
    if any(sign in text for sign in "@[:"):
        return None
    stem, dot, ending = text.rpartition(".")
    for path in dict.fromkeys((text, f"{stem.replace('.', '/')}{dot}{ending}")):
        if workspace.files.kind(path) is not FileKind.FILE:
            continue
        from bae_source.project.data_files import find_data  # only once a name has failed

        try:
            return str(find_data(workspace, parse_name(f":{path}")))
        except (LookupFailed, RequestError):
            continue
    return None
