"""A package exposes less of its modules: the inverse of `exports`.

    withdraw(tree, "pkg", "x", ["A"])   from .x import A and "A" in __all__ go, every byte as before they came

Invariants:
- names that the `__init__` itself uses stay imported, with a notice;
- so it does what it imports inside a `try` or an `if`.
"""

from __future__ import annotations

import symtable
from collections.abc import Callable, Sequence

from bae_source.errors import Refused
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.syntax.exports.all_names import take_out_of_all, take_out_summand
from bae_source.syntax.exports.expose import Exposed, guarded_names
from bae_source.syntax.exports.imports import Place, dropped, own_froms, own_module, removed
from bae_source.syntax.exports.lazy import exposing_spans, names_in, submodules, tables
from bae_source.syntax.exports.view import View, view_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.items import take_out
from bae_source.syntax.text.revision import Revision, Splices


def withdraw(
    tree: Tree,
    package: str,
    module: str,
    names: Sequence[str],
    *,
    modules: Sequence[str] = (),
    exports_them: bool = False,
) -> Exposed:
    """Withdraw names of a module from its package, or the module with all that is exposed of it.

    Parameters: as `expose` has them.

    Raises:
        Refused: `unsafe_change` if all of it is imported inside a `try` or an `if`, which is left as it is.
    """
    revision = Revision(tree.text)
    notices: list[Notice] = []
    wanted = tuple(names) or exposed_of(tree, package, module, modules=modules)
    used = _used(tree.text, wanted)
    unbound = frozenset(wanted) - used | ({"*"} if exports_them or not names else set())
    gone = []
    for name in (*wanted, "*"):
        before = revision.text
        _until_same(revision, lambda view, name=name: take_out_of_all(view, name))  # type: ignore[misc]
        if name in unbound:
            _until_same(revision, lambda view, name=name: _unbind(view, package, module, name, unbound, modules))  # type: ignore[misc]
        if revision.text != before:
            gone.append(name)
    if "*" in unbound:
        last = module.rpartition(".")[2]
        _until_same(revision, lambda view: take_out_summand(view, last))
    elif any(own == module and each.star for own, each in own_froms(view_of(revision.text), package)):
        notices.append(Notice("star_kept", f"{package} still imports * from {package}.{module}."))
    if used:
        text = f"{package} uses {', '.join(sorted(used))} itself, so it still imports that."
        notices.append(Notice("import_kept", text))
    if kept := guarded_names(tree, package, module).intersection(wanted):
        text = f"{package} imports {', '.join(sorted(kept))} of {package}.{module} inside of a try or an if"
        if revision.text == tree.text:
            raise _left(text, package)
        notices.append(Notice("import_kept", f"{text}, which was left as it is."))
    if lost := sorted(view_of(revision.text).nested_names & unbound - kept):
        text = f"{package} still names {', '.join(lost)} in an __all__ inside of another statement, which was left."
        notices.append(Notice("still_exported", text))
    changed = tuple(name for name in wanted if name in gone or (name in unbound and revision.text != tree.text))
    targets = exposing_spans(view_of(tree.text), package, modules)
    return Exposed(splices=revision.splices(), names=changed, notices=tuple(notices), targets=targets)


def exposed_of(tree: Tree, package: str, module: str, *, modules: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names by which a package exposes a module, or its members."""
    view = view_of(tree.text)
    found: dict[str, None] = {}
    for own, each in own_froms(view, package):
        if own == module and not each.star:
            found |= dict.fromkeys(other or name for name, other in each.names)
        found |= dict.fromkeys(other or name for name, other in each.names if _joined(own, name) == module)
    if any(each.module == f"{package}.{module}" for each in view.plain):
        found[module.rpartition(".")[2]] = None
    for table in tables(view, package, modules):
        found |= dict.fromkeys(names_in(table, package, module))
    return tuple(found | dict.fromkeys(sorted(guarded_names(tree, package, module))))


def _left(text: str, package: str) -> Refused:
    return Refused(
        "unsafe_change",
        f"{text}, which is left as it is",
        unchanged=True,
        hints=[
            Call("read", target=package, full=True, then="shows it."),
            Call("write", target=package, overwrite=True, then="puts another text there."),
        ],
    )


def _unbind(
    view: View, package: str, module: str, name: str, unbound: frozenset[str], modules: Sequence[str]
) -> Splices:
    """Return the splices that take one binding of a name out; none where there is none.

    Parameters:
        unbound: all names that are taken out; a statement that imports no others goes as a whole.
    """
    above, _, last = module.rpartition(".")
    for each in view.froms:
        own = own_module(each, package)
        if own != module and not (own == above and (name, last) in ((o or n, n) for n, o in each.names)):
            continue
        bound = [other or inner for inner, other in each.names]
        if name not in bound:
            continue
        if unbound.issuperset(bound):
            place = Place(module=own, names=each.names, absolute=each.level == 0, typing_only=each.typing_only)
            return removed(view, package, place, each.span)
        return dropped(view, each, bound.index(name)) or []
    for plain in view.plain:
        if name == last and plain.module == f"{package}.{module}":
            return removed(view, package, Place(module=module, names=(), absolute=True), plain.span)
    return _out_of_tables(view, package, module, name, modules)


def _out_of_tables(view: View, package: str, module: str, name: str, modules: Sequence[str]) -> Splices:
    for table in tables(view, package, modules):
        if name not in names_in(table, package, module):
            continue
        if not table.lists:
            return take_out(view.text, table.entries, table.entries.keys.index(name))
        key = table.spelling.format(package=package, module=module, name="")
        number = table.entries.keys.index(key)
        listed = table.lists[number]
        if len(listed.names) == 1:
            return take_out(view.text, table.entries, number)
        return take_out(view.text, listed.items, listed.names.index(name))
    listed_modules = submodules(view)
    if listed_modules and name == module and module in listed_modules.names:
        return take_out(view.text, listed_modules.items, listed_modules.names.index(module))
    return []


def _until_same(revision: Revision, step: Callable[[View], Splices]) -> None:
    """Take a step again and again, until it changes nothing."""
    while splices := step(view_of(revision.text)):
        before = revision.text
        revision.apply(splices)
        if revision.text == before:
            return


def _used(text: str, names: Sequence[str]) -> frozenset[str]:
    """Return those of some names that an `__init__` itself does something with, in whatever scope."""
    try:
        tables = [symtable.symtable(text, "__init__", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    found = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for name in names:
            if name in table.get_identifiers():
                symbol = table.lookup(name)
                if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
                    found.add(name)
    return frozenset(found)


def _joined(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name
