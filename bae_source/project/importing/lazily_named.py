"""The packages that name a module in the tables by which they find names only at first use.

_LAZY = {"A": ".old"}                                     pkg:1, for pkg.old
attach(__name__, submodules=["old"], submod_attrs={…})    likewise
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.project.files.packages import modules_below
from bae_source.project.workspace import Workspace
from bae_source.syntax.exports.lazy import submodules, tables
from bae_source.syntax.exports.view import View, view_of


def in_tables(workspace: Workspace, name: str) -> Iterator[str]:
    """Yield the places, as `pkg:12`, where packages around a module name it, or a member of it, in such tables."""
    parts = name.split(".")
    word = parts[-1].encode()
    for length in range(1, len(parts)):
        package, below = ".".join(parts[:length]), ".".join(parts[length:])
        items = workspace.layout.prefixes(tuple(parts[:length]))
        files = [item.file for item in items if item.length == length and item.file is not None and item.file.package]
        if len(files) != 1 or word not in (workspace.glance(files[0].path) or b""):
            continue
        try:
            view = view_of(workspace.tree(files[0]).text)
        except ResourceError:
            continue  # it is reported already as not searched
        modules = list(dict.fromkeys((*modules_below(workspace, files[0]), below)))
        meant = [each for each in modules if f"{each}.".startswith(f"{below}.")]
        for line in sorted(set(_lines(view, package, modules, meant))):
            yield f"{package}:{line}"


def _lines(view: View, package: str, modules: list[str], meant: list[str]) -> Iterator[int]:
    for table in tables(view, package, modules):
        entries = table.entries
        for key, span, value in zip(entries.keys, entries.spans, table.values, strict=True):
            spelled = (table.spelling.format(package=package, module=each, name=key) for each in meant)
            if value[0] in spelled:
                yield view.lines.number(span.start)
    listed = submodules(view)
    for name, span in zip(listed.names, listed.items.spans, strict=True) if listed else ():
        if name in meant:
            yield view.lines.number(span.start)
