"""A move of definitions as a plan's parts: what changes in each module, and the report on all of it.

Old names that go on to work in the module that definitions have left:

    LIMIT = 3           from app.net import LIMIT
    def send(): …       def __getattr__(name): …, which imports it from its new module, and warns that it has moved

Invariants:
- a module that has a `__getattr__`, or still uses the name itself, imports the name; a notice says that nothing warns.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, ResourceError, SourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.plan import added_imports
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.meanings import Meaning, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.local_imports import for_checkers, inside_functions
from bae_source.refactoring.moving.replaced import replaced_names
from bae_source.refactoring.moving.settings import renamed_settings
from bae_source.refactoring.moving.symbols import (
    Needs,
    Travelling,
    imports_relatively,
    is_taken,
    loads,
    needs_of,
    reference,
    statements,
    travelling,
)
from bae_source.refactoring.moving.users import Retargeting, Use, sought_of, uses_of
from bae_source.refactoring.planning.new_modules import NewModule
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.exports.all_names import put_in_all, take_out_of_all
from bae_source.syntax.exports.view import view_of
from bae_source.syntax.importing.adding import IMPORTS_ADDED
from bae_source.syntax.importing.doubled import with_joined
from bae_source.syntax.importing.removing import remove_imported
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.place import Position, insert
from bae_source.syntax.rewrite.remove import remove
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.revision import Revision

_Splice = tuple[Span, str]
_ENDS = "\r\n"
_FOR_CHECKERS = "TYPE_CHECKING"
_FUTURE = "__future__"
_TAKEN_AS = frozenset({u.READ, u.CALL, u.BASE, u.DECORATOR, u.ANNOTATION})


class Moved(Struct, frozen=True, kw_only=True):
    """The result of a move.

    Parameters:
        spliced: what changes in modules that are there.
        contents: the new module's text, by its path, with the packages that it needs.
        report: what changes and what stays.
        notices: what the caller should know.
    """

    spliced: tuple[Spliced, ...]
    contents: Mapping[str, bytes]
    report: Report
    notices: tuple[Notice, ...]


class Moving:
    """A move of definitions from one module to another.

    Parameters:
        project: known as a whole.
        resolved: the definitions.
        to: the module that they go to.
        new: the place of that module, if it is not there yet.
        names: the name of each there.
        shim: whether the old names go on to work in the old module.
        local_imports: whether what one module needs of the other is imported in functions, where that is possible.
    """

    def __init__(
        self,
        project: Project,
        resolved: Sequence[Resolved],
        to: ModuleFile,
        new: NewModule | None,
        names: Mapping[str, str],
        *,
        shim: bool = False,
        local_imports: bool = False,
    ) -> None:
        self.project = project
        self.workspace: Workspace = project.workspace
        self.origin = resolved[0].module
        self.tree = resolved[0].tree
        self.to = to
        self.new = new
        self.names = names
        self.moved = sorted((travelling(self.tree, each) for each in resolved), key=lambda each: each.span.start)
        self.needs: Needs = needs_of(project, self.origin, self.tree, self.moved)
        self.shim = shim
        self.local_imports = local_imports
        self._own_locally = self._own_inside() if local_imports else None
        self._stars: dict[str, list[str]] = {}
        """Imports that modules need which passed definitions on by a star, by their files."""
        self._needed = frozenset[str]()
        """Names of definitions that their old module goes on to use."""
        self._left: list[Reference] = []
        self._changed: dict[str, int] = {}
        self._notices: list[Notice] = []

    def moved_all(self) -> Moved:
        """Return the result of the move.

        Raises:
            Refused: `unsafe_change` for functions that assign names of their module; `name_collision`.
        """
        self._check_free()
        self._check_assigned()
        used = [(each, uses_of(self.project, self.origin, each)) for each in self.moved]
        self._stars = dict(self._passing_on())
        if not self.local_imports:  # which may leave the old module without the name
            self._needed = frozenset(name for name, each in self._at_home(used) if each.mention.kind in _TAKEN_AS)
        using = {path for _, use in used for path in use.files}
        paths = sorted(using | self._stars.keys() | {self.origin.path, self.to.path})
        spliced: list[Spliced] = []
        contents: dict[str, bytes] = {}
        for path in paths:
            mentions = [(each.name, mentioned) for each, use in used for mentioned in use.files.get(path, ())]
            if path == self.to.path and self.new is not None:
                contents = self._new_module()
                continue
            module = self.workspace.census.module(path)
            if module is None:
                continue
            try:
                tree = self.workspace.tree(module)
            except SourceError:
                continue
            splices = self._file(module, tree, mentions)
            if splices:
                splices = with_joined(tree.text, splices, newline=tree.source.newline)
                whole = Span(0, len(tree.text))
                spliced.append(Spliced(module=module, splices=tuple(splices), targets=(whole,)))
        contents |= self._settings()
        spliced += self._stubs()
        unreadable = dict(entry for _, use in used for entry in use.unreadable)
        left = self._left
        report = Report(
            changed=self._changed,
            unsure=tuple(each for each in left if each.certainty != "mention"),
            mentions=tuple(each for each in left if each.certainty == "mention"),
            unparsed=tuple((name_at(self.workspace.census, path), unreadable[path]) for path in sorted(unreadable)),
            complete=not unreadable,
        )
        return Moved(spliced=tuple(spliced), contents=contents, report=report, notices=tuple(self._notices))

    def _at_home(self, used: Sequence[tuple[Travelling, Use]]) -> Iterator[tuple[str, Mentioned]]:
        """Yield the bare mentions of moved definitions in the rest of their module, with the moved name."""
        offset = self.tree.source.lines.offset
        for moved, use in used:
            for each in use.files.get(self.origin.path, ()):
                start = offset(*each.mention[:2])
                if each.mention.receiver == u.PLAIN and not any(m.span.start <= start < m.span.end for m in self.moved):
                    yield moved.name, each

    def _stubs(self) -> Iterator[Spliced]:
        """Yield the changes that move declarations to the stub of the other module, if both modules have one."""
        found: list[Resolved] = []
        for each in self.moved:
            with suppress(LookupFailed, SourceError):
                found.append(resolve(self.workspace, f"{self.origin.name}@stub.{each.name}"))
        if not found:
            return
        origin = found[0].module
        try:
            stub = resolve(self.workspace, f"{self.to.name}@stub") if self.new is None else None
        except (LookupFailed, SourceError):
            stub = None
        if stub is None:
            names = listed(str(each.address) for each in found)
            message = f"{names} stays in the stub of {self.origin.name}: {self.to.name} has none."
            self._notices.append(Notice("stub_left", message))
            return
        pure = [replace(each, module=replace(each.module, name=self.origin.name)) for each in found]
        to = replace(self.to, path=stub.module.path)
        inner = Moving(self.project, pure, to, None, self.names)
        for module, splices in ((origin, inner._cut(inner.tree)), (stub.module, inner._into(to, stub.tree, (), ()))):
            whole = Span(0, len(self.workspace.tree(module).text))
            yield Spliced(module=module, splices=tuple(splices), targets=(whole,))
            self._changed[module.name] = len(found)

    def _settings(self) -> Mapping[str, bytes]:
        """Return the project's settings with the new names where they had the old ones."""
        names = {f"{self.origin.name}.{old}": f"{self.to.name}.{new}" for old, new in self.names.items()}
        found = renamed_settings(self.project, [sought_of(self.origin, each.name) for each in self.moved], names)
        self._changed |= {f":{path}": count for path, count in found.changed.items()}
        self._left += found.left
        return found.contents

    def _check_free(self) -> None:
        """Check that the other module has no such names, but for imports of moved ones, and uses no builtin of one."""
        if self.new is not None:
            return
        uses, names = self.project.uses(self.to.path), self.project.names
        moved = {each.symbol for each in self.moved}
        for old, new in self.names.items():
            others = [
                each
                for each in uses.scopes[0].names.get(new, ())
                if each[0] != u.IMPORTED or not names.imported(self.to.path, each[1]) <= moved
            ]
            plain = [each for each in uses.mentions.get(new, ()) if each[4] == u.PLAIN and each[3] in _TAKEN_AS]
            hidden = hasattr(builtins, new) and any(
                names.scope_of(self.to.path, each[2], new) is None for each in plain
            )
            if others or hidden:
                what = "is there already" if others else "would hide the builtin that is used there"
                raise Refused(
                    "name_collision",
                    f"{self.to.name}.{new} {what}; {self.origin.name}.{old} was not moved.",
                    hints=["Repeat it with as_name set to a name that is free there, or choose another module."],
                )

    def _check_assigned(self) -> None:
        if self.needs.assigned:
            names = ", ".join(self.needs.assigned)
            raise Refused(
                "unsafe_change",
                f"What is moved assigns {names} of {self.origin.name}, which it could not do from {self.to.name}",
                unchanged=True,
                hints=["Move these names along, or keep the function in its module."],
            )
        if self.needs.of_module:
            names = ", ".join(self.needs.of_module)
            self._notices.append(Notice("module_names", f"{names} means {self.to.name} in what is moved now."))
        read = {*self.needs.own, *(each.name for each in self.needs.imports)}
        self._notices += replaced_names(self.project, self.origin, read - {"*"})

    def _file(self, module: ModuleFile, tree: Tree, mentions: Sequence[tuple[str, Mentioned]]) -> Sequence[_Splice]:
        """Return the changes in one file."""
        is_origin, is_target = module.path == self.origin.path, module.path == self.to.path
        gone = [each.span for each in self.moved] if is_origin else []
        retargeting = Retargeting(self.project, tree, module, self.origin, self.to, self.names, self._needed)
        changed = retargeting.changed(mentions, gone)
        self._left += [self.project.shown(each, self.project.lines(module.path)) for each in changed.left]
        splices: list[_Splice] = list(changed.splices)
        wanted = list(dict.fromkeys((*changed.statements, *self._stars.get(module.path, ()))))
        places = changed.places + len(wanted) - len(changed.statements)
        if is_origin:
            splices += self._cut(tree)
            places += len(self.moved)
            if self.local_imports and wanted and self._own_locally is None:
                inside = inside_functions(tree.text, retargeting.needing, tree.source.newline)
                splices += inside or []
                wanted = wanted if inside is None else for_checkers(retargeting.noting.values())
            if wanted and imports_relatively(tree):
                shown = reference(self.to.name, module)
                wanted = [each.replace(f"from {self.to.name} import", f"from {shown} import", 1) for each in wanted]
        if places:
            self._changed[module.name] = places + (len(self.moved) if is_target else 0)
        if is_target:
            return self._into(module, tree, splices, wanted, self._place(tree, mentions))
        if is_origin and self.shim:
            return self._with_shim(module, tree, splices, wanted)
        return self._with_imports(module, tree, splices, wanted) if wanted else splices

    def _passing_on(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the files that hand moved names on by a star import, with the imports that replace it."""
        exported = self.tree.outline.exported
        names = [old for old in self.names if self.tree.outline.lets_out(old)]
        for path in self.workspace.index.naming([self.origin.name.rpartition(".")[2]]).paths if names else ():
            module = self.workspace.census.module(path)
            if module is None or path in (self.origin.path, self.to.path):
                continue
            levels = list(self._star_levels(path, self.origin.path))
            if not levels or (exported is not None and any(True for _ in self._star_levels(path, self.to.path))):
                continue
            taken = [old for old in names if module.package or is_taken(self.project, path, old)]
            shown = reference(self.to.name, module) if levels[0] else self.to.name
            pairs = ((old, self.names[old]) for old in taken)
            yield path, [f"from {shown} import {new}{f' as {old}' if new != old else ''}" for old, new in pairs]

    def _star_levels(self, path: str, origin: str) -> Iterator[int]:
        """Yield the numbers of dots of the star imports by which a file takes the names of another."""
        with suppress(ResourceError):
            for each in self.project.uses(path).imports:
                if each.attribute == "*" and origin in self.project.names.files(path, each.module, each.level):
                    yield each.level

    def _with_shim(
        self, module: ModuleFile, tree: Tree, splices: Sequence[_Splice], wanted: Sequence[str]
    ) -> Sequence[_Splice]:
        """Return the changes in the old module with the shim for the old names."""
        revision = Revision(tree.text)
        revision.apply(self._with_imports(module, tree, splices, wanted) if wanted else splices)
        now = self.workspace.kept.trees.get(tree.source.encode(revision.text))
        given = {each.name for each in now.outline.imports}
        missing = {old: new for old, new in self.names.items() if old not in given}
        defines = "__getattr__" in self.project.uses(module.path).scopes[0].names
        warning = {each.name for each in self.moved if not each.is_variable}
        warned = {old: new for old, new in missing.items() if not defines and old in warning}
        self._notices += silent(self.origin, sorted(warning - warned.keys()), defines=defines)
        imported = {old: new for old, new in missing.items() if old not in warned}
        if imported:
            revision.apply(self._with_imports(module, now, [], [reexport(self.to, imported)]))
            now = self.workspace.kept.trees.get(tree.source.encode(revision.text))
        if warned:
            source = warning_getattr(self.origin, self.to, warned)
            revision.apply(list(insert(now, (), Position.LAST, source).splices))
        return revision.splices()

    def _place(self, tree: Tree, mentions: Sequence[tuple[str, Mentioned]]) -> Position:
        """Return the place in the other module: the beginning if that uses a definition as it loads, else the end."""
        plain = (
            each.mention for _, each in mentions if each.mention.receiver == u.PLAIN and each.mention.kind in _TAKEN_AS
        )
        used = {tree.source.lines.offset(*each[:2]): "" for each in plain}
        return Position.LAST if inside_functions(tree.text, used, "") is not None else Position.FIRST

    def _into(
        self,
        module: ModuleFile,
        tree: Tree,
        splices: Sequence[_Splice],
        wanted: Sequence[str],
        place: Position = Position.LAST,
    ) -> Sequence[_Splice]:
        """Return the splices that put the definitions into an existing module, which no longer imports them."""
        revision = Revision(tree.text)
        revision.apply(splices)
        now = self.workspace.kept.trees.get(tree.source.encode(revision.text))
        inserted = insert(now, (), place, self._text())
        both = [*inserted.splices, *self._listed(now)]
        needed = [*wanted, *self._statements(now)]
        revision.apply(self._with_imports(module, now, both, needed) if needed else both)
        self._changed[module.name] = self._changed.get(module.name, len(self.moved))
        return revision.splices()

    def _with_imports(
        self, module: ModuleFile, tree: Tree, splices: Sequence[_Splice], wanted: Iterable[str]
    ) -> Sequence[_Splice]:
        added = added_imports(self.workspace, module, tree, splices, wanted)
        self._notices += [each for each in added.notices if each.code != IMPORTS_ADDED]
        return added.splices

    def _cut(self, tree: Tree) -> list[_Splice]:
        """Return the changes in the old module: the definitions go, and with them what they alone have used."""
        revision = Revision(tree.text)
        for each in reversed(self.moved):
            splices, _ = remove(tree, self.origin.name, each.group)
            revision.apply(splices)
        for each in self.moved if not self.shim else ():
            while taken := take_out_of_all(view_of(revision.text), each.name):
                revision.apply(taken)
        unused = self._unused(tree)
        lines = {each.name: self._line(tree, each.start) for each in tree.outline.imports if each.name in unused}
        comments = [f"{name} (#{line.partition('#')[2].strip()})" for name, line in lines.items() if "#" in line]
        if comments:
            message = f"Comments went with the imports that {self.origin.name} needs no more: {listed(comments)}."
            self._notices.append(Notice("comments_dropped", message))
        remove_imported(
            revision, lambda _, alias: (alias.asname or alias.name.partition(".")[0]) in unused, of_module=True
        )
        if tree.text.count(_FOR_CHECKERS) > 1 == revision.text.count(_FOR_CHECKERS) and not self.origin.package:
            remove_imported(revision, lambda _, alias: alias.name == _FOR_CHECKERS)
        return list(revision.splices())

    def _unused(self, tree: Tree) -> frozenset[str]:
        """Return the imported names that the old module needs no more, and that no other module takes from it."""
        if self.origin.package:
            return frozenset()  # what a package imports it exposes
        lines = {self._line(tree, each.start): each.name for each in tree.outline.imports}
        marked = {name for line, name in lines.items() if "noqa" in line or "# type:" in line}
        exported = set(tree.outline.exported or ())
        found = self.needs.unused - marked - exported
        return frozenset(name for name in found if not is_taken(self.project, self.origin.path, name))

    def _line(self, tree: Tree, offset: int) -> str:
        lines = tree.source.lines
        return lines.cut(lines.number(offset))

    def _text(self) -> str:
        """Return the source that goes to the new module."""
        found = ""
        for before, each in zip((None, *self.moved), self.moved, strict=False):
            gap = "\n" if before is not None and before.is_plain and each.is_plain else "\n\n\n"
            found += f"{gap if before is not None else ''}{self._piece(each).strip(_ENDS)}"
        return f"{found}\n"

    def _piece(self, moved: Travelling) -> str:
        """Return the text of one definition under its new name, with its own imports inside."""
        names = [*self.needs.moved_places, *((offset, each.name) for each in self.moved for offset in each.named)]
        text = self.tree.text
        splices = [
            (Span(offset, offset + len(name)), self.names[name])
            for offset, name in dict.fromkeys(names)
            if self.names[name] != name and text.startswith(name, offset)
        ]
        return splice(
            moved.text,
            [
                (Span(span.start - moved.span.start, span.end - moved.span.start), new)
                for span, new in (*splices, *(self._own_locally or ()))
                if moved.span.start <= span.start and span.end <= moved.span.end
            ],
        )

    def _own_inside(self) -> list[_Splice] | None:
        """Return splices that import names of the old module in moved functions; None if they are needed elsewhere."""
        needed = ((offset, name) for offset, name in self.needs.own_places if offset not in self.needs.noted)
        places = {offset: f"from {self.origin.name} import {name}" for offset, name in needed}
        return inside_functions(self.tree.text, places, self.tree.source.newline)

    def _statements(self, tree: Tree) -> list[str]:
        relative = imports_relatively(tree) or (not tree.outline.imports and imports_relatively(self.tree))
        with_own = self._own_locally is None
        needs = replace(
            self.needs, imports=tuple(e for e in self.needs.imports if not (self._is_there(e.name) and loads(tree, e)))
        )
        found = list(statements(needs, self.origin, self.to, relative=relative, with_own=with_own))
        futures = [each.attribute for each in self.tree.outline.imports if each.module == _FUTURE]
        wanted = [each for each in futures if self.new is not None or (each == "annotations" and self.needs.is_late)]
        own = [f"from {self.origin.name} import {n}" for at, n in self.needs.own_places if at in self.needs.noted]
        return [*(f"from {_FUTURE} import {each}" for each in wanted), *found, *([] if with_own else for_checkers(own))]

    def _is_there(self, name: str) -> bool:
        """Return whether a name that the old module imports means the same in the other one already."""
        here = self._meant(self.origin.path, name)
        return bool(here) and self.new is None and here == self._meant(self.to.path, name)

    def _meant(self, path: str, name: str) -> frozenset[Meaning]:
        """Return the meaning of a module's name, through one import of it."""
        bindings = self.project.uses(path).scopes[0].names.get(name, ())
        if any(each[0] != u.IMPORTED for each in bindings):
            return frozenset({Symbol(path, 0, name)})
        return frozenset().union(*(self.project.names.imported(path, each[1]) for each in bindings))

    def _listed(self, tree: Tree) -> list[_Splice]:
        """Return the splices that put the names into `__all__` of the new module, if the old one's has them."""
        revision = Revision(tree.text)
        exported = set(self.tree.outline.exported or ())
        for each in self.moved:
            if each.name in exported:
                splices, _ = put_in_all(view_of(revision.text), self.names[each.name])
                revision.apply(splices)
        return list(revision.splices())

    def _new_module(self) -> dict[str, bytes]:
        """Return the text of a module that is not there yet, and the packages on the way to it."""
        assert self.new is not None
        empty = self.workspace.kept.trees.get(b"")
        needed = self._statements(empty)
        imports = splice("", list(self._with_imports(self.to, empty, [], needed))) if needed else ""
        gap = "\n\n" if self.moved[0].is_plain else "\n\n\n"
        text = f"{imports.rstrip(_ENDS)}{gap}{self._text()}" if imports else self._text()
        self._changed[self.to.name] = len(self.moved)
        newline = self.tree.source.newline
        content = text.replace("\r\n", "\n").replace("\n", newline).encode()
        return {**dict.fromkeys(self.new.packages, b""), self.to.path: content}


def reexport(to: ModuleFile, names: Mapping[str, str]) -> str:
    """Return the statements that give names of another module in a module.

    Parameters:
        names: what they are called there by what they are called here.
    """
    return "".join(f"from {to.name} import {_as(old, new)}  # noqa: F401\n" for old, new in names.items())


def warning_getattr(module: ModuleFile, to: ModuleFile, names: Mapping[str, str]) -> str:
    """Return the source of a module's `__getattr__` that gives names of another module, with a warning."""
    moved = ", ".join(f'"{old}": "{new}"' for old, new in names.items())
    return f'''_MOVED = {{{moved}}}


def __getattr__(name: str) -> object:
    """Return what has moved to {to.name}."""
    if name not in _MOVED:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    import warnings

    import {to.name} as moved

    message = f"{module.name}.{{name}} has moved to {to.name}.{{_MOVED[name]}}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(moved, _MOVED[name])
'''


def silent(module: ModuleFile, names: Sequence[str], *, defines: bool) -> list[Notice]:
    """Return the notice that names are taken from a module without a warning, if there are any.

    Parameters:
        names: of functions and classes.
        defines: whether that is since the module has a `__getattr__`, and not since it uses them.
    """
    why = "has a `__getattr__` of its own" if defines else "goes on to use what it gives"
    message = f"Nothing warns of {listed(f'{module.name}.{name}' for name in names)}, since {module.name} {why}."
    return [Notice("shim_without_warning", message)] if names else []


def _as(old: str, new: str) -> str:
    return new if old == new else f"{new} as {old}"
