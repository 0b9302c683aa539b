"""Names of a module that tests replace in it: code that goes to another module reads those of that one.

patch("app.web.fetch", stub)            code of app.web gets `stub` for `fetch` while this runs
monkeypatch.setattr(web, "fetch", stub)     likewise
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.files.layout import import_name
from bae_source.project.references.meaning.project import Project

_MOST_SHOWN = 3


def replaced_names(project: Project, path: str, names: Iterable[str]) -> Iterator[Notice]:
    """Yield the names of a module that strings replace in it, of those that code reads which goes elsewhere."""
    module = project.workspace.census.module(path)
    for name in sorted(names) if module is not None else ():
        assert module is not None
        if found := list(_places(project, import_name(module), name)):
            text = (
                f"{listed(found, _MOST_SHOWN)} may replace {name} in {module.name}, which the code does not read there"
                " any more."
            )
            yield Notice("replaced_elsewhere", text)


def _places(project: Project, module: str, name: str) -> Iterator[str]:
    owner = re.escape(module.rpartition(".")[2])
    replacing = re.compile(rf"\b(?:patch\.object|setattr|delattr)\(\s*(?:[\w.]+\.)?{owner}\s*,")
    for path in project.workspace.index.naming([name]).paths:
        try:
            texts = project.uses(path).strings.get(name, ())
            lines = project.lines(path)
        except ResourceError:
            continue
        for each in texts:
            is_bare = each.text == name and replacing.search(lines.cut(each.line)) is not None
            if is_bare or each.text == f"{module}.{name}":
                found = project.workspace.census.module(path)
                yield f"{found.name if found is not None else path}:{each.line}"
