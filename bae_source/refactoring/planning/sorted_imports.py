"""Imports in the order that the project's own sorter gives them, as splices: lines that it leaves keep their bytes.

import re␍                import os␍
import os␍       ruff     import re␍
X = 1                     X = 1            a line whose end is another one stays so
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from bae_source.model.plan import ModuleFile
from bae_source.model.span import Span
from bae_source.project.style_tools import StyleTool, StyleTools
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import NEWLINE, Source

_FEWEST = 2
"""Words `import` in a text that may be out of order."""


def sorting(workspace: Workspace, modules: Iterable[ModuleFile]) -> dict[str, Splices]:
    """Return what sorts the imports of some modules, by path.

    Raises:
        RequestError: `invalid_arguments` where the project has no sorter, or several.
        TransactionError: `verify_failed` or `timed_out` where it fails.
    """
    tools, found = StyleTools(workspace), dict[str, Splices]()
    several = [(module, tools.sorter(module.path)) for module in modules]
    waiting = [each for each in several if workspace.source(each[0]).text.count("import") >= _FEWEST]
    lying: dict[str, tuple[StyleTool, list[str]]] = {}
    for module, tool in waiting:
        if tool.lies_there(module.path, workspace.source(module).content):
            lying.setdefault(tool.name, (tool, []))[1].append(module.path)
    in_order = {path for tool, paths in lying.values() for path in {*paths} - tool.at_fault(paths)}
    for module, tool in waiting:
        source = workspace.source(module)
        if module.path not in in_order and (splices := _changed(source, tool.output(module.path, source))):
            found[module.path] = splices
    return found


def _changed(source: Source, wanted: str) -> Splices:
    """Return the splices on a text that make other lines of it, which end in line feeds."""
    text = source.text
    ends = [match.end() for match in NEWLINE.finditer(text)]
    starts = [0, *ends]
    before = [NEWLINE.sub("\n", text[start:end]) for start, end in zip(starts, [*ends, len(text)], strict=True)]
    after = wanted.split("\n")
    after = [*(f"{line}\n" for line in after[:-1]), after[-1]]
    found: Splices = []
    for tag, first, last, begin, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            span = Span(starts[first], starts[last] if last < len(starts) else len(text))
            found.append((span, "".join(after[begin:end]).replace("\n", source.newline)))
    return found
