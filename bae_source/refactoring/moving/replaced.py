"""Names of a module that tests replace in it: code that goes to another module reads those of that one.

    patch("app.web.fetch", stub)                code of app.web gets `stub` for `fetch` while this runs
    monkeypatch.setattr(web, "fetch", stub)     likewise, as with `patch.object` and `patch.multiple`
    web.fetch = stub                            likewise

Invariants:
- a place counts if it names the module, or is of a name that surely is it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.project.files.layout import import_name
from bae_source.project.references.meaning.meanings import InModule
from bae_source.project.references.meaning.project import Project
from bae_source.syntax.names import uses as u

_REPLACING = re.compile(r"\b(?:patch\.object|setattr|delattr)\(\s*([\w.]+)\s*,")
_CHANGING = (u.WRITE, u.DELETE, u.KEYWORD)
_MOST_SHOWN = 3


def replaced_names(project: Project, module: ModuleFile, names: Collection[str]) -> Iterator[Notice]:
    """Yield the names of a module that other code replaces in it, of those that code reads which goes elsewhere."""
    paths = list(_paths(project, module, names)) if names else []
    for name in sorted(names):
        if found := [place for path in paths for place in _places(project, path, module, name)]:
            text = (
                f"{listed(found, _MOST_SHOWN)} may replace {name} in {module.name}, which the code does not read there"
                " any more."
            )
            yield Notice("replaced_elsewhere", text)


def _paths(project: Project, module: ModuleFile, names: Collection[str]) -> Iterator[str]:
    """Yield the files that may replace a name: few do, so that no others are parsed."""
    index, word = project.workspace.index, import_name(module).rpartition(".")[2]
    setting = re.compile(rf"\bpatch|setattr|delattr|\.(?:{'|'.join(map(re.escape, names))})\b[^=\n]*=(?!=)".encode())
    for path in sorted({*index.naming([word]).paths}.intersection(index.naming(names).paths) - {module.path}):
        with suppress(ResourceError):
            if setting.search(project.workspace.content(path) or b""):
                yield path


def _places(project: Project, path: str, module: ModuleFile, name: str) -> Iterator[str]:
    try:
        lines = sorted({*_lines(project, path, module, name)})
    except ResourceError:
        return
    found = project.workspace.census.module(path)
    yield from (f"{found.name if found is not None else path}:{line}" for line in lines)


def _lines(project: Project, path: str, module: ModuleFile, name: str) -> Iterator[int]:
    """Yield the lines of a file that replace a name of a module."""
    uses, lines, home = project.uses(path), project.lines(path), import_name(module)
    for text in uses.strings.get(name, ()):
        owner = _REPLACING.search(lines.cut(text.line)) if text.text == name else None
        if text.text == f"{home}.{name}" or (owner is not None and _is_module(project, path, owner[1], module)):
            yield text.line
    for mention in (u.Mention(*each) for each in uses.mentions.get(name, ())):
        receiver = mention.receiver if mention.kind in _CHANGING else 0
        if mention.kind == u.KEYWORD and receiver > 0:
            form = uses.expressions[receiver]
            receiver = int(form[1]) if form[:1] == (u.PATCHED,) else 0
        if receiver > 0 and InModule(module.path) in project.inference.values(path, receiver):
            yield mention.line


def _is_module(project: Project, path: str, owner: str, module: ModuleFile) -> bool:
    """Return whether a name, or attributes of one, may be a module where a file has it."""
    known = () if "." in owner else project.names.named(path, 0, owner)
    return InModule(module.path) in known or owner.rpartition(".")[2] == import_name(module).rpartition(".")[2]
