"""The definitions of the project that a definition points to, as far as names and static imports tell.

    def send(self, message: Message) -> net.Reply:      sym://python/type/app/models/Message, sym://python/type/net/Reply
        return self.pool.take(LIMIT)                    self.pool.take stays open; LIMIT is defined in app/limits

Invariants:
- only what resolves to one definition is pointed to; what does not is left open, never guessed;
- a constant has no selector of its own, so the module that it is defined in stands for it.
"""

from __future__ import annotations

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.address import Address
from bae_source.model.selector import Selector
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.naming.select import selector_for
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import has_parts
from bae_source.syntax.outline.outward import Outward, outward_names


class Pointers(Struct, frozen=True, kw_only=True):
    """The definitions that a definition points to.

    Parameters:
        selectors: of the definitions, in the order of their first use.
        open: offsets of names that a language server may know more about.
    """

    selectors: tuple[Selector, ...] = ()
    open: tuple[int, ...] = ()


def pointers(workspace: Workspace, resolved: Resolved, *, header_only: bool, until: int | None = None) -> Pointers:
    """Return what a class or function points to; a module points nowhere by itself.

    Parameters:
        header_only: only by its decorators, parameters, annotations and bases.
        until: offset behind which nothing is looked at; None for the end.
    """
    if resolved.group is None:
        return Pointers()
    selectors: dict[Selector, None] = {}
    still_open: dict[int, None] = {}
    seen: dict[tuple[tuple[str, ...], bool], tuple[Selector | None, bool]] = {}
    definitions = resolved.tree.outline.definitions
    for index in resolved.group.members:
        if not has_parts(definitions[index]):
            continue
        for name in outward_names(resolved.tree, index, header_only=header_only):
            if until is not None and name.offset >= until:
                break
            known = (name.chain, name.free)
            if known not in seen:
                seen[known] = _look_up(workspace, resolved, name)
            selector, whole = seen[known]
            if selector is not None and not _is_inside(resolved, selector):
                selectors.setdefault(selector)
            if not whole:
                still_open.setdefault(name.offset)
    return Pointers(selectors=tuple(selectors), open=tuple(still_open))


def _look_up(workspace: Workspace, resolved: Resolved, name: Outward) -> tuple[Selector | None, bool]:
    """Return what the longest part of a chain that can be resolved means, and whether there is no more to know."""
    if not name.free:
        return None, len(name.chain) == 1
    outline = resolved.tree.outline
    known = bool(outline.named(MODULE, name.chain[0]))
    if not known and not any(binding.name in (name.chain[0], "*") for binding in outline.imports):
        return None, True  # a builtin
    for length in range(len(name.chain), 0, -1):
        try:
            target = resolve(workspace, ".".join((f"{resolved.module.name}@module", *name.chain[:length])))
        except ResourceError as error:
            if error.code != "symbol_not_found":
                return None, False
            continue
        selector = selector_for(target)
        if selector is not None:
            return selector, length == len(name.chain) or target.group is None
        if length == 1:
            return _home(resolved, target), len(name.chain) == 1
    return None, not known


def _home(resolved: Resolved, target: Resolved) -> Selector | None:
    """Return the module of a constant; None for a constant of the module itself."""
    if target.module.path == resolved.module.path:
        return None
    address = Address(module=target.module.name)
    return selector_for(Resolved(address=address, module=target.module, tree=target.tree, group=None))


def _is_inside(resolved: Resolved, selector: Selector) -> bool:
    """Return whether a selector names the definition itself, or something in it."""
    own = selector_for(resolved)
    if own is None or own.path != selector.path:
        return False
    return selector.names[: len(own.names)] == own.names
