"""A package exposes more of its modules, in the style that its `__init__` has.

    expose(tree, "pkg", "x", ["A"])     from .x import A      and "A" into __all__

What takes them out again is `exports_withdraw`.

Invariants:
- an `__init__` without `__all__` gets none, and one that loads lazily goes on to do so;
- a name that the package binds to something else is never bound anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.syntax.exports.all_names import put_in_all
from bae_source.syntax.exports.imports import Place, added, extended, own_froms, own_module
from bae_source.syntax.exports.lazy import exposing_spans, is_lazy, is_replaced, names_in, submodules, tables
from bae_source.syntax.exports.view import View, view_of
from bae_source.syntax.importing.flow import perhaps_unbound
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.items import by_kind, place_of, put_in
from bae_source.syntax.text.revision import Revision, Splices
from bae_source.syntax.text.source import dominant_newline


class Exposed(Struct, frozen=True, kw_only=True):
    """The changes that expose or withdraw names.

    Parameters:
        splices: on the text of the `__init__`; none where it is so already.
        names: those that were not exposed before, or are not any longer.
        notices: what the caller should know.
        targets: the places that say what is exposed, which are all that may change inside.
    """

    splices: Splices
    names: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    targets: tuple[Span, ...] = ()


def exposes_modules(tree: Tree, package: str, modules: Sequence[str]) -> bool:
    """Return whether a package exposes its modules as such, and none of their names."""
    view = view_of(tree.text)
    froms = own_froms(view, package)
    whole = [name for module, each in froms if not module for name, _ in each.names if name in modules]
    plain = [each for each in view.plain if each.module.startswith(f"{package}.")]
    return bool(whole or plain) and not any(module for module, _ in froms)


def expose(
    tree: Tree,
    package: str,
    module: str,
    names: Sequence[str],
    *,
    modules: Sequence[str] = (),
    exports_them: bool = False,
    behind: bool = False,
) -> Exposed:
    """Expose names of a module in its package, or the module itself.

    Parameters:
        tree: the package's `__init__`, or its stub.
        package: its dotted name.
        module: the module's name without the package's in front.
        names: what to expose of it; none for the module itself.
        modules: the names of all modules below the package, without its own in front.
        exports_them: whether the names are just what a static `__all__` of the module says.
        behind: whether a new import goes behind all others, whatever their order.

    Raises:
        Refused: `name_collision` if the package binds one of the names to something else.
        SourceError: the `__init__` is too new to be read.
    """
    revision = Revision(tree.text)
    wanted = tuple(names) or (module.rpartition(".")[2],)
    view = view_of(tree.text)
    replaced = is_replaced(view) and bool(tables(view, package, modules))  # so that an import alone exposes nothing
    guarded = set() if replaced else guarded_names(tree, package, module)
    perhaps = guarded & perhaps_unbound(tree.text, guarded)
    guarded -= perhaps
    for name in wanted:
        if name not in guarded:
            _check_free(tree, package, module, name, modules=modules if names else None)
    notices: list[Notice] = []
    missing = [name for name in wanted if name not in guarded]
    if missing:
        notices = _bind(
            revision, package, module, missing if names else (), modules=modules, star=exports_them, behind=behind
        )
    if (late := [name for name in missing if name in perhaps]) and revision.text != tree.text:
        notices.append(_conditional(package, module, late))
    shown = module if "." not in module else ""
    for name in wanted:
        splices, done = put_in_all(view_of(revision.text), name, module=shown if exports_them and shown else None)
        revision.apply(splices)
        if done == "computed":
            notices.append(_computed(package))
    splices = revision.splices()
    return Exposed(
        splices=splices,
        names=wanted if splices else (),
        notices=tuple(dict.fromkeys(notices)),
        targets=exposing_spans(view_of(tree.text), package, modules),
    )


def guarded_names(tree: Tree, package: str, module: str) -> set[str]:
    """Return the names by which a module, or what is in it, is imported inside a `try` or an `if`; left there."""
    above, _, last = module.rpartition(".")
    whole = f"{package}.{module}"
    found = set()
    for each in tree.outline.imports:
        if each.top or each.typing_only or each.attribute is None:
            continue
        named = (f"{package}.{each.module}" if each.module else package) if each.level == 1 else each.module
        if named == whole or (_joined(package, above) == named and each.attribute == last):
            found.add(each.name)
    return found


def _bind(
    revision: Revision,
    package: str,
    module: str,
    names: Sequence[str],
    *,
    modules: Sequence[str],
    star: bool,
    behind: bool,
) -> list[Notice]:
    """Make the package bind names of a module, or the module; return the notices about it."""
    view = view_of(revision.text)
    found = tables(view, package, modules)
    if found and (names or submodules(view)):
        for name in names or (module,):
            _bind_lazily(revision, package, module, name if names else None, modules)
        if names and own_froms(view, package, typing_only=True):
            _import_names(revision, package, module, names, typing_only=True, behind=False)
        return []
    if not names:
        _import_module(revision, package, module, behind=behind)
    elif star and _prefers_stars(view, package):
        _import_star(revision, package, module, behind=behind)
    else:
        _import_names(revision, package, module, names, typing_only=False, behind=behind)
    if is_replaced(view):
        how = "puts another object into sys.modules in its own place, which may not have what it imports"
        return [Notice("not_lazy", f"{package} {how}; the import is a plain one: try it.")]
    if is_lazy(view):
        how = "loads names on demand, in a way that could not be analysed"
        return [Notice("not_lazy", f"{package} {how}; the import is a plain one.")]
    return []


def _bind_lazily(revision: Revision, package: str, module: str, name: str | None, modules: Sequence[str]) -> None:
    """Put a name, or the module itself, into the table that it belongs into."""
    view = view_of(revision.text)
    newline = dominant_newline(view.text) or "\n"
    if name is None:
        listed = submodules(view)
        assert listed is not None
        if module not in listed.names:
            text = f"{listed.quote or view.quote}{module}{listed.quote or view.quote}"
            at = place_of([each or "" for each in listed.names], module)
            revision.apply(put_in(view.text, listed.items, text, at, newline))
        return
    found = tables(view, package, modules)
    if any(name in names_in(table, package, module) for table in found):
        return
    table = next((each for each in found if each.lists), found[0])
    if not table.lists:
        at = place_of(table.entries.keys, name)
        text = table.entry(package, module, name)
        revision.apply(put_in(view.text, table.entries, text, at, newline))
        return
    key = table.spelling.format(package=package, module=module, name="")
    quote = table.quote
    if key in table.entries.keys:
        listed = table.lists[table.entries.keys.index(key)]
        at = place_of([each or "" for each in listed.names], name)
        mark = listed.quote or quote
        revision.apply(put_in(view.text, listed.items, f"{mark}{name}{mark}", at, newline))
        return
    opening, closing = ("(", ",)") if table.lists[0].items.is_tuple else ("[", "]")
    text = f"{quote}{key}{quote}: {opening}{quote}{name}{quote}{closing}"
    revision.apply(put_in(view.text, table.entries, text, place_of(table.entries.keys, key), newline))


def _import_names(
    revision: Revision, package: str, module: str, names: Sequence[str], *, typing_only: bool, behind: bool
) -> None:
    """Import names of a module, in a statement that imports from it already if there is one."""
    view = view_of(revision.text)
    aliased = _prefers_aliases(view, package, typing_only=typing_only)
    rest: list[tuple[str, str | None]] = []
    for name in names:
        view = view_of(revision.text)
        here = [each for own, each in own_froms(view, package, typing_only=typing_only) if own == module]
        if any(name == (other or inner) for each in here for inner, other in each.names):
            continue
        target = next((each for each in reversed(here) if not each.star), None)
        pair = (name, name if aliased else None)
        splices = extended(view, target, pair) if target and not _prefers_single(view, package) else None
        if splices is None:
            rest.append(pair)
        else:
            revision.apply(splices)
    if not rest:
        return
    rest.sort(key=lambda pair: by_kind(pair[0]))  # type: ignore[arg-type,return-value]
    statements = [[each] for each in rest] if _prefers_single(view_of(revision.text), package) else [rest]
    for statement in statements:
        view = view_of(revision.text)
        absolute = _prefers_absolute(view, package)
        place = Place(module=module, names=tuple(statement), absolute=absolute, typing_only=typing_only)
        revision.apply(added(view, package, place, behind=behind))


def _import_star(revision: Revision, package: str, module: str, *, behind: bool) -> None:
    view = view_of(revision.text)
    if not any(own == module and each.star for own, each in own_froms(view, package)):
        place = Place(module=module, names=(("*", None),), absolute=_prefers_absolute(view, package))
        revision.apply(added(view, package, place, behind=behind))


def _import_module(revision: Revision, package: str, module: str, *, behind: bool) -> None:
    """Import a module itself, in the way in which others are."""
    view = view_of(revision.text)
    above, _, last = module.rpartition(".")
    whole = [each for own, each in own_froms(view, package) if own == above and not each.star]
    plain = [each for each in view.plain if each.module.startswith(f"{package}.")]
    if plain and not whole:
        if all(each.module != f"{package}.{module}" for each in plain):
            revision.apply(added(view, package, Place(module=module, names=(), absolute=True), behind=behind))
        return
    pair = (last, last if _prefers_aliases(view, package, typing_only=False) else None)
    if any(last in each for found in whole for each in found.names):
        return
    single = len(whole) > 1 and all(len(each.names) == 1 for each in whole)
    splices = extended(view, whole[-1], pair) if whole and not single else None
    if splices is None:
        place = Place(module=above, names=(pair,), absolute=_prefers_absolute(view, package))
        splices = added(view, package, place, behind=behind)
    revision.apply(splices)


def _check_free(tree: Tree, package: str, module: str, name: str, *, modules: Sequence[str] | None) -> None:
    """Refuse a name that the package binds to something else, or by which it has another module.

    Parameters:
        modules: the names of all modules below the package; None where the module itself is exposed.
    """
    above, _, last = module.rpartition(".")
    wanted = {(module, name)} | ({(above, last)} if modules is None else set())
    for found in view_of(tree.text).froms:
        if found.typing_only or found.star:
            continue
        own = own_module(found, package)
        for inner, other in found.names:
            if (other or inner) == name and (own, inner) not in wanted:
                raise _collision(package, name)
    outline = tree.outline
    if outline.named(MODULE, name) or any(
        each.name == name and each.attribute is None and each.module not in (name, f"{package}.{module}")
        for each in outline.imports
    ):
        raise _collision(package, name)
    first = module.partition(".")[0]
    others = {each.partition(".")[0] for each in modules or ()}
    if name not in others or _has(view_of(tree.text), package, module, name, modules or ()):
        return
    if name != first:
        raise _hidden(package, name)
    if tables(view_of(tree.text), package, modules or ()):
        raise _unsteady(package, name)


def _has(view: View, package: str, module: str, name: str, modules: Sequence[str]) -> bool:
    """Return whether a package has a name of a module already, or all that is public in it."""
    froms = (each for own, each in own_froms(view, package) if own == module)
    if any(each.star or name in (other or inner for inner, other in each.names) for each in froms):
        return True
    return any(name in names_in(table, package, module) for table in tables(view, package, modules))


def _collision(package: str, name: str) -> Refused:
    return Refused(
        "name_collision",
        f"{package} binds {name} to something else already",
        unchanged=True,
        hints=["Choose other names to export, or take the present one out first."],
        candidates=[f"{package}.{name}"],
    )


def _hidden(package: str, name: str) -> Refused:
    return Refused(
        "name_collision",
        f"{package}.{name} is a module, which imports from {package} would not get any more; nothing was changed.",
        hints=["Choose other names to export, or give one of the two another name first."],
        candidates=[f"{package}.{name}"],
    )


def _unsteady(package: str, name: str) -> Refused:
    return Refused(
        "name_collision",
        f"{package} loads names on demand, and importing {package}.{name} binds {name} to the module, so "
        f"{package}.{name} would be one thing before that and another behind it",
        unchanged=True,
        hints=["Choose other names to export, or give one of the two another name first."],
        candidates=[f"{package}.{name}"],
    )


def _conditional(package: str, module: str, names: Sequence[str]) -> Notice:
    shown = ", ".join(names)
    text = f"{package} imported {shown} of {package}.{module} on some ways only; it always does now."
    return Notice("conditional_import", text)


def _computed(package: str) -> Notice:
    return Notice("all_computed", f"__all__ of {package} is computed when the code runs; it was left alone.")


def _joined(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name


def _prefers_absolute(view: View, package: str) -> bool:
    froms = [each for _, each in own_froms(view, package)] or [
        each for _, each in own_froms(view, package, typing_only=True)
    ]
    absolute = sum(each.level == 0 for each in froms)
    return 2 * absolute > len(froms)


def _prefers_stars(view: View, package: str) -> bool:
    froms = [each for _, each in own_froms(view, package)]
    return 2 * sum(each.star for each in froms) > len(froms)


def _prefers_aliases(view: View, package: str, *, typing_only: bool) -> bool:
    names = [name for _, each in own_froms(view, package, typing_only=typing_only) for name in each.names]
    return 2 * sum(name == other for name, other in names) > len(names)


def _prefers_single(view: View, package: str) -> bool:
    """Return whether each imported name has a statement of its own, also where several come from one module."""
    froms = [(module, each) for module, each in own_froms(view, package) if module and not each.star]
    modules = [module for module, _ in froms]
    return len(set(modules)) < len(modules) and all(len(each.names) == 1 for _, each in froms)
