"""Add to hovers what a language server knows, after they have been answered without it.

Invariants:
- status, exit status and what was found statically stay as they are, whatever the server does;
- a place that the server names becomes a ref only if the project has a class or function by that name there;
- where the server did not answer, `refs` is empty, and the next actions say why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.address import Address, Segment
from bae_source.model.navigation import Navigated, Navigator, Target
from bae_source.model.selection import Ref, Selected, Selection, SelectionKind, selected, within_budget
from bae_source.model.selector import Selector
from bae_source.project.files.settings import own_settings
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.select import selector_for
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import find, has_parts
from bae_source.syntax.outline.skeleton import name_offset
from bae_source.syntax.outline.tree import Tree

_USUAL = "ty"
_PATIENCE = 2.0
_MOST_TEXT = 500
_FENCE = re.compile(r"^```.*$", re.MULTILINE)
_RULE = re.compile(r"^(?:-{3,}|\s*)$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_UNSAID = re.compile(r"\s|: \.\.\.$|-> Unknown$")


def navigated(
    workspace: Workspace,
    outcome: Selected,
    servers: Callable[[str], Navigator],
    *,
    wanted: str | None,
    seconds: float | None,
) -> Selected:
    """Return hovers with what a server adds to them.

    Parameters:
        servers: returns the server of a name.
        wanted: that name; None for what the project's settings say.
        seconds: how long the server may take for all of them; None for what the settings say.
    """
    if not any(outcome.questions):
        return outcome
    settings = _settings(workspace)
    own, limit = settings.get("language-server"), settings.get("language-server-seconds")
    name = wanted or (own if isinstance(own, str) else _USUAL)
    patience = seconds if seconds is not None else float(limit) if isinstance(limit, (int, float)) else _PATIENCE
    answers = servers(name).ask(outcome.questions, workspace.census.stamps, seconds=patience)
    merged = [
        selection if question is None else _merged(workspace, selection, answer, name)
        for selection, question, answer in zip(outcome.selections, outcome.questions, answers, strict=True)
    ]
    return _rebuilt(outcome, merged)


def _settings(workspace: Workspace) -> Mapping[str, object]:
    """Return our own settings of the project; what cannot be read of them keeps no hover from an answer."""
    try:
        return own_settings(workspace.files)
    except ResourceError:
        return {}


def _merged(workspace: Workspace, selection: Selection, answer: Navigated, name: str) -> Selection:
    if answer.problem is not None:
        why = f"No refs without a language server: {answer.problem}."
        return replace(selection, refs=(), next_actions=(*selection.next_actions, why))
    refs = dict.fromkeys(selection.refs)
    for target in answer.targets:
        selector = _selector_at(workspace, target)
        if selector is not None:
            refs.setdefault(Ref(uri=str(selector)))
    summary = _first_paragraph(answer.hover)
    data = selection.data
    if data is not None and summary and _bare(summary) != _bare(data.signature or ""):
        data = replace(data, content=f"{data.content}\n\n{name}: {summary}")
    return replace(selection, data=data, refs=tuple(refs))


def _rebuilt(outcome: Selected, selections: Sequence[Selection]) -> Selected:
    """Return the outcome with other selections; too much of the server's is left out rather than refused."""
    kind: SelectionKind = "hover"
    text = selected(tuple(selections), ())
    if within_budget(text, kind, ()) is not text:
        return outcome
    return replace(outcome, selections=tuple(selections), text=text.text, next_actions=text.next_actions)


def _selector_at(workspace: Workspace, target: Target) -> Selector | None:
    """Return the selector of the definition at a place; None where none is that has one."""
    module = workspace.census.module(target.path) if target.path in workspace.census.stamps else None
    if module is None:
        return None
    try:
        tree = workspace.tree_at(target.path)
    except ResourceError:
        return None
    if (target.line, target.units) == (1, 0):
        return selector_for(Resolved(address=Address(module=module.name), module=module, tree=tree, group=None))
    index = _definition_at(tree, target)
    if index is None:
        return None
    try:
        group = find(tree, module.name, tuple(map(Segment, tree.outline.qualname(index))))
    except ResourceError:
        return None
    address = Address(module=module.name, qualname=group.qualname)
    return selector_for(Resolved(address=address, module=module, tree=tree, group=group))


def _definition_at(tree: Tree, target: Target) -> int | None:
    """Return the class or function whose name stands at a place."""
    lines = tree.source.lines
    if not 1 <= target.line <= len(lines):
        return None
    before = lines.cut(target.line).encode("utf-16-le", "surrogatepass")[: target.units * 2]
    offset = lines.start(target.line) + len(before.decode("utf-16-le", "replace"))
    return next(
        (
            index
            for index, definition in enumerate(tree.outline.definitions)
            if definition.parent >= MODULE and has_parts(definition) and name_offset(tree, index) == offset
        ),
        None,
    )


def _first_paragraph(hover: str) -> str:
    """Return the first paragraph of a hover in one line, without marks; nothing where it is not fit to be shown."""
    plain = _FENCE.sub("", hover).strip()
    first = _SPACE.sub(" ", _RULE.split(plain)[0]).replace("( ", "(").replace(" )", ")").replace(",)", ")").strip()
    return "" if "file:" in first or "/" in first or len(first) > _MOST_TEXT else first


def _bare(text: str) -> str:
    return _UNSAID.sub("", text)
