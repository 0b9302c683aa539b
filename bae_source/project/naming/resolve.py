"""From a dotted name to the one thing that it means.

The longest prefix that is a module is the module; the rest is looked up in it. What a module imports by a static
statement is followed to where it is defined, link by link; nothing is executed, and nothing is guessed: two things of
one name are an error that lists both. What a stub imports is searched for in stubs first, as type checkers do.

    pkg.Client           pkg/__init__.py: from ._client import Client      ->  pkg._client.Client
    pkg.models.User      pkg/__init__.py: from . import _models as models  ->  pkg._models.User
    pkg.run              pkg/run.py, and pkg/__init__.py: def run()        ->  ambiguous: pkg.run@module, pkg@module.run
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.model.address import (
    Address,
    DottedName,
    Marker,
    Part,
    Segment,
    file_given,
    is_plainly_no_python,
    parse_name,
    path_given,
)
from bae_source.model.call import Call
from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import STUB, Found, import_name
from bae_source.project.files.port import FileKind
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, ImportBinding, Kind
from bae_source.syntax.outline.locate import Group, find
from bae_source.syntax.outline.tree import Tree

if TYPE_CHECKING:
    from bae_source.syntax.names.uses import Imported

_MAX_LINKS = 50
_MOST_ABOVE = 50
"""Classes above one that are read for a member that it lacks."""
IsBound = Callable[[ModuleFile, tuple[Segment, ...]], bool]
"""Says whether a module binds a name that has a qualname in it."""


class Resolved(Struct, frozen=True, kw_only=True):
    """The meaning of a name.

    Parameters:
        address: canonical.
        module: the module that it lies in.
        tree: that module's definitions.
        group: the definitions; None for the module itself.
        through: the module whose import the name follows first; None where it follows none.
    """

    address: Address
    module: ModuleFile
    tree: Tree
    group: Group | None
    through: ModuleFile | None = None


def resolve(workspace: Workspace, text: str) -> Resolved:
    """Return what a dotted name means.

    Raises:
        RequestError: `invalid_name`.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with candidates.
        SourceError: the module's own code does not parse or cannot be decoded.
    """
    name = parse_name(text)
    if name.resource is not None:
        raise LookupFailed(
            "symbol_not_found",
            f"{text} names a data file, which holds no code.",
            hints=[Call("read", target=text, then="shows it; edit, write, delete and move take data files.")],
        )
    stubs = name.marked is not None and name.marked[1] is Marker.STUB
    resolver = _Resolver(workspace, text, stubs=stubs, advising=True)
    try:
        found = resolver.resolve(name)
    except LookupFailed as error:
        raise _meant_by(workspace, text, error) from None
    if not resolver.trail and name.marked is None and "__init__" not in text:
        return _addressed(found, found.address.module, None, name.part)
    return replace(_canonical(workspace, found, name.part), through=resolver.through)


def resolve_with(workspace: Workspace, text: str, is_bound: IsBound) -> Resolved:
    """Return the meaning of a dotted name without a definition; the group of a name bound otherwise has no members.

    Parameters:
        is_bound: says whether a module binds a name that has a qualname in it.

    Raises:
        RequestError, LookupFailed, SourceError: as `resolve`.
    """
    name = parse_name(text)
    return _Resolver(workspace, text, stubs=False, is_bound=is_bound).resolve(name)


def canonical(workspace: Workspace, module: ModuleFile, group: Group | None = None) -> Address:
    """Return the plainest name that means a module, or definitions in it, and nothing else."""
    qualname = group.qualname if group else ()
    tree = workspace.tree(module)
    found = Resolved(address=Address(module=module.name, qualname=qualname), module=module, tree=tree, group=group)
    return _canonical(workspace, found, None).address


def namespace(workspace: Workspace, text: str) -> Found | None:
    """Return the package without `__init__` (PEP 420) that a name means; None where it means none, or something else.

    Raises:
        RequestError: `invalid_name`.
    """
    name = parse_name(text)
    parts = tuple(segment.name for segment in name.segments)
    if name.resource is not None or name.part or name.marked or not all(segment.plain for segment in name.segments):
        return None
    whole = [item for item in workspace.layout.prefixes(parts) if item.length == len(parts)]
    if not whole or any(item.file for item in whole):
        return None
    return next((item for item in whole if _holds_modules(workspace, item)), None)


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


def absolute_name(module: ModuleFile, binding: ImportBinding | Imported) -> tuple[Segment, ...] | None:
    """Return the absolute name of the module that an import names; None where the dots lead out of the top package."""
    named = tuple(Segment(part) for part in binding.module.split(".") if part)
    if not binding.level:
        return named
    if not named and not binding.module and binding.level > len(import_name(module).split(".")):
        return None
    own = import_name(module).split(".")
    package = own if module.package else own[:-1]
    kept = len(package) - (binding.level - 1)
    return (*(Segment(part) for part in package[:kept]), *named) if kept > 0 else None


def _holds_modules(workspace: Workspace, found: Found) -> bool:
    """Return whether there is Python in a folder or below it."""
    return any(path.startswith(f"{found.folder}/") for path in workspace.census.stamps)


def _addressed(found: Resolved, module: str, marker: Marker | None, part: Part | None) -> Resolved:
    address = Address(module=module, qualname=found.address.qualname, part=part, marker=marker)
    return Resolved(address=address, module=found.module, tree=found.tree, group=found.group)


def _canonical(workspace: Workspace, found: Resolved, part: Part | None) -> Resolved:
    """Return what was found under the plainest name that means it, and only it."""
    spellings: list[tuple[str, Marker | None]] = [(found.module.name, None), (found.module.name, Marker.MODULE)]
    if found.module.package:
        spellings.append((f"{found.module.name}.__init__", None))
    for module, marker in spellings:
        candidate = _addressed(found, module, marker, None)
        text = str(candidate.address)
        try:
            again = _Resolver(workspace, text, stubs=STUB in text).resolve(parse_name(text))
        except ResourceError:
            continue
        if again.module.path == found.module.path and again.address.qualname == found.address.qualname:
            return _addressed(found, module, marker, part)
    return _addressed(found, found.module.name, None, part)


class _Resolver:
    """The resolution of one name, with the links that it went, so that a circle of imports ends.

    Parameters:
        advising: whether a caller gave the name, so that a failure lists candidates.
        is_bound: says which names have a meaning though nothing defines them.
    """

    def __init__(
        self,
        workspace: Workspace,
        asked: str,
        *,
        stubs: bool,
        advising: bool = False,
        is_bound: IsBound = lambda *_: False,
    ) -> None:
        self.workspace = workspace
        self.asked = asked
        self.stubs = stubs
        self.advising = advising
        self.is_bound = is_bound
        self.trail: dict[tuple[str, tuple[Segment, ...]], ModuleFile] = {}
        self.through: ModuleFile | None = None

    def resolve(self, name: DottedName) -> Resolved:
        parts = tuple(segment.name for segment in name.segments)
        plain = next((n for n, segment in enumerate(name.segments) if not segment.plain), len(parts))
        if name.marked:
            look = self.workspace.layout.stubs if self.stubs else self.workspace.layout.prefixes
            found = [item for item in look(parts[:plain]) if item.length == name.marked[0]]
            if self.stubs and not found:
                raise self._no_stub(name, name.marked[0])
            return self._asked(self._single(found), name.segments)
        found = self.workspace.layout.prefixes(parts[:plain])
        files = [item for item in found if item.file is not None]
        if not files:
            raise self._no_module(parts, found)
        longest = self._single([item for item in files if item.length == files[0].length])
        folders = [item for item in found if item.file is None and item.length > longest.length]
        whole = [item for item in folders if item.length == len(parts)]
        if any(_holds_modules(self.workspace, item) for item in whole):
            raise self._no_module(parts, folders)
        inside = self._asked(longest, name.segments)
        for outer in files:
            if outer.length < longest.length:
                self._check_attribute(outer, longest, name.segments, inside)
        return inside

    def _asked(self, found: Found, segments: Sequence[Segment]) -> Resolved:
        inside = self._in_module(found, segments, follow=True)
        self.through = next(iter(self.trail.values()), None)
        return inside

    def _single(self, found: list[Found]) -> Found:
        if not found or found[0].file is None:
            raise LookupFailed(
                "symbol_not_found", f"There is no module that {self.asked} could name.", hints=["Leave the marker out."]
            )
        if len({item.file.path for item in found if item.file}) > 1:
            from bae_source.project.naming.not_found import several_files  # only once a name has failed, as below

            raise several_files(found)
        return found[0]

    def _in_module(self, found: Found, segments: Sequence[Segment], *, follow: bool) -> Resolved:
        """Look up what follows the module's name in it."""
        assert found.file is not None
        return self._lookup(found.file, tuple(segments[found.length :]), follow=follow)

    def _lookup(self, module: ModuleFile, rest: tuple[Segment, ...], *, follow: bool) -> Resolved:
        tree = self.workspace.tree(module)
        if not rest:
            return Resolved(address=Address(module=module.name), module=module, tree=tree, group=None)
        if self.is_bound(module, rest):
            address = Address(module=module.name, qualname=rest)
            return Resolved(address=address, module=module, tree=tree, group=Group(members=(), qualname=rest))
        if not tree.outline.named(MODULE, rest[0].name) and follow:
            imported = self._imported(module, tree, rest)
            if imported is not None:
                return imported
        try:
            group = find(tree, module.name, rest)
        except LookupFailed as error:
            from bae_source.project.naming import not_found

            if error.code != "symbol_not_found":
                raise
            if self.advising and (above := self._inherited(module, tree, rest)):
                raise not_found.in_class(error, rest[-1].name, above) from None
            if self.stubs or not module.package or tree.outline.named(MODULE, rest[0].name):
                raise
            exposed = self._exposed(module, tree, rest[0].name) if self.advising else []
            raise not_found.in_package(self.workspace, error, module, rest, exposed) from None
        return Resolved(
            address=Address(module=module.name, qualname=group.qualname), module=module, tree=tree, group=group
        )

    def _inherited(self, module: ModuleFile, tree: Tree, rest: tuple[Segment, ...]) -> list[str]:
        """Return what classes above a class define under a name which that class does not define itself.

        They are candidates for a person or an agent, not a decision: Python's own order of bases may choose another.
        """
        for length in range(len(rest) - 1, 0, -1):
            try:
                group = find(tree, module.name, rest[:length])
            except LookupFailed:
                continue
            address = Address(module=module.name, qualname=group.qualname)
            owner = Resolved(address=address, module=module, tree=tree, group=group)
            found = self._members_above(owner, rest[length:])
            return [str(_canonical(self.workspace, each, None).address) for each in found]
        return []

    def _members_above(self, owner: Resolved, rest: tuple[Segment, ...]) -> list[Resolved]:
        """Return the members of the classes above one, the nearest first; those of like names if there are none."""
        from bae_source.project.naming.not_found import close

        above = list(self._above(owner))
        found = [member for base in above if (member := _member(base, rest))]
        if found or len(rest) > 1:
            return found
        names: dict[str, Resolved] = {}
        for base in above:
            for index in base.group.members if base.group else ():
                names = {**dict.fromkeys(base.tree.outline.names_in(index), base), **names}
        near = close(rest[0].name, sorted(names), n=3, cutoff=0.7)
        return [member for name in near if (member := _member(names[name], (Segment(name),)))]

    def _above(self, owner: Resolved) -> Iterator[Resolved]:
        """Yield the classes of the project above a class that headers name, each once, depth first from the left."""
        seen: set[str] = set()
        waiting = list(self._bases(owner))
        while waiting and len(seen) < _MOST_ABOVE:
            base = waiting.pop(0)
            if base.group is not None and str(base.address) not in seen:
                seen.add(str(base.address))
                yield base
                waiting[:0] = self._bases(base)

    def _bases(self, owner: Resolved) -> Iterator[Resolved]:
        from bae_source.syntax.outline.outward import named_bases  # only once a name has failed

        definitions = owner.tree.outline.definitions
        members = [
            each for each in (owner.group.members if owner.group else ()) if definitions[each].kind is Kind.CLASS
        ]
        for name in (name for index in members for name in named_bases(owner.tree, index)):
            for outer in _around(owner):
                with suppress(ResourceError):
                    yield self._other(".".join((owner.module.name, *map(str, outer), name)))
                    break

    def _other(self, text: str) -> Resolved:
        """Resolve a name that followed from the caller's."""
        return _Resolver(self.workspace, text, stubs=False).resolve(parse_name(text))

    def _exposed(self, module: ModuleFile, tree: Tree, name: str) -> list[str]:
        """Return names like one that a package takes from elsewhere, as far as they lead to something."""
        from bae_source.project.naming.not_found import close

        offered = {binding.name for binding in tree.outline.imports} | set(tree.outline.exported or ())
        names = [f"{module.name}.{each}" for each in close(name, sorted(offered - {"*"}), n=3, cutoff=0.7)]
        return [each for each in names if self._leads(each)]

    def _leads(self, name: str) -> bool:
        try:
            self._other(name)
        except ResourceError:
            return False
        return True

    def _imported(self, module: ModuleFile, tree: Tree, rest: tuple[Segment, ...]) -> Resolved | None:
        """Follow the imports that bind the first name of `rest`; None where none does."""
        step = (module.name, rest)
        if step in self.trail or len(self.trail) > _MAX_LINKS:
            raise LookupFailed(
                "symbol_not_found",
                f"{self.asked} leads through imports in a circle at {module.name}.",
                hints=["Name it where it is defined."],
            )
        self.trail[step] = module
        found: dict[str, Resolved] = {}
        outside: list[str] = []
        for binding in tree.outline.imports:
            if binding.name == rest[0].name:
                result = self._follow(module, binding, rest)
                if result is None:
                    outside.append("." * binding.level + binding.module)
            elif binding.name == "*":
                result = self._from_star(module, binding, rest)
            else:
                continue
            if result is not None:
                found[f"{result.module.path}:{result.address}"] = result
        if len(found) == 1 and not outside:
            return next(iter(found.values()))
        if found or outside:
            from bae_source.project.naming.not_found import imported_from

            names = sorted(str(_canonical(self.workspace, item, None).address) for item in found.values())
            raise imported_from(module, rest[0].name, names, outside)
        return None

    def _follow(self, module: ModuleFile, binding: ImportBinding, rest: tuple[Segment, ...]) -> Resolved | None:
        """Resolve the name that one import binds, with the rest behind it; None where that is outside the project."""
        base = absolute_name(module, binding)
        if base is None:
            return None
        if binding.attribute is not None:
            return self._absolute((*base, Segment(binding.attribute), *rest[1:]))
        if binding.name == binding.module.partition(".")[0] and binding.name != binding.module:
            base = base[:1]  # `import a.b` binds a
        return self._absolute((*base, *rest[1:]))

    def _from_star(self, module: ModuleFile, binding: ImportBinding, rest: tuple[Segment, ...]) -> Resolved | None:
        base = absolute_name(module, binding)
        source = self._module_named(base) if base else None
        if source is None:
            return None
        assert base is not None
        outline, name = self.workspace.tree(source).outline, rest[0].name
        if not outline.exports_known or (name not in outline.exported if outline.exported else name.startswith("_")):
            return None
        try:
            return self._absolute((*base, *rest)) if outline.exported else self._lookup(source, rest, follow=True)
        except LookupFailed as error:
            if error.code == "symbol_not_found" and not outline.named(MODULE, name):
                return None
            raise

    def _module_named(self, segments: tuple[Segment, ...]) -> ModuleFile | None:
        found = self._prefixes(tuple(segment.name for segment in segments))
        return next((item.file for item in found if item.file and item.length == len(segments)), None)

    def _absolute(self, segments: tuple[Segment, ...]) -> Resolved | None:
        """Resolve an absolute chain of names, the way an import statement means it."""
        parts = tuple(segment.name for segment in segments)
        found = [item for item in self._prefixes(parts) if item.file is not None]
        if not found:
            return None
        outer = next((item for item in found if item.length < len(parts)), None)
        if outer is not None and outer.length == len(parts) - 1 and found[0].length == len(parts):
            # `from pkg import name`: an attribute of the package comes before a submodule.
            assert outer.file is not None
            if self._defines(outer.file, parts[-1]):
                return self._in_module(outer, segments, follow=True)
        return self._in_module(found[0], segments, follow=True)

    def _prefixes(self, parts: tuple[str, ...]) -> list[Found]:
        """Return the modules that a prefix of `parts` names; where a stub imports, stubs for what they describe."""
        found, stubs = self.workspace.layout.prefixes(parts), self.workspace.layout.stubs(parts) if self.stubs else []
        described = {item.length for item in stubs}
        both = [*stubs, *(item for item in found if item.length not in described)]
        return sorted(both, key=lambda item: -item.length) if stubs else found

    def _defines(self, module: ModuleFile, name: str) -> bool:
        try:
            return bool(self.workspace.tree(module).outline.named(MODULE, name))
        except SourceError:
            return False

    def _check_attribute(self, outer: Found, inner: Found, segments: Sequence[Segment], inside: Resolved) -> None:
        """Refuse a name that is a submodule and, as something else, an attribute of its package."""
        assert outer.file is not None
        assert inner.file is not None
        name = segments[outer.length].name
        try:
            tree = self.workspace.tree(outer.file)
        except (SourceError, Refused) as error:
            if error.code == "stale":
                raise
            return  # a package that cannot be read or parsed does not keep its modules from being reached
        if not tree.outline.named(MODULE, name) and all(item.name != name for item in tree.outline.imports):
            return
        try:
            other = self._lookup(outer.file, tuple(segments[outer.length :]), follow=True)
        except (LookupFailed, Refused) as error:
            if error.code in ("symbol_not_found", "forbidden"):
                return
            raise
        if other.module.path == inside.module.path and other.address == inside.address:
            return
        raise LookupFailed(
            "ambiguous_symbol",
            f"{self.asked} is a submodule, and an attribute of {outer.name} as well.",
            hints=["Name one of the candidates; @module says where the module's name ends."],
            candidates=[
                str(_addressed(inside, inner.name, Marker.MODULE, None).address)
                if inside.module.path == inner.file.path
                else str(_canonical(self.workspace, inside, None).address),
                str(_addressed(other, outer.name, Marker.MODULE, None).address)
                if other.module.path == outer.file.path
                else str(_canonical(self.workspace, other, None).address),
            ],
        )

    def _no_module(self, parts: tuple[str, ...], found: Sequence[Found]) -> LookupFailed:
        from bae_source.project.naming.not_found import no_module

        return no_module(self.workspace, parts, found)

    def _no_stub(self, name: DottedName, length: int) -> LookupFailed:
        from bae_source.project.naming.not_found import no_stub

        plain = str(DottedName(segments=name.segments, part=name.part))
        code = [str(self._other(plain).address)] if self._leads(plain) else []
        return no_stub(self.workspace, ".".join(item.name for item in name.segments[:length]), code)


def _member(base: Resolved, rest: tuple[Segment, ...]) -> Resolved | None:
    try:
        group = find(base.tree, base.module.name, (*base.address.qualname, *rest))
    except LookupFailed:
        return None
    return replace(base, address=replace(base.address, qualname=group.qualname), group=group)


def _around(owner: Resolved) -> Iterator[tuple[Segment, ...]]:
    """Yield what a class's header sees names in: what the class stands in, functions around that, the module."""
    outer, definitions = owner.address.qualname[:-1], owner.tree.outline.definitions
    index = definitions[owner.group.members[0]].parent if owner.group else MODULE
    for length in range(len(outer), 0, -1):
        if length == len(outer) or definitions[index].kind is Kind.FUNCTION:
            yield outer[:length]
        index = definitions[index].parent
    yield ()


def _meant_by(workspace: Workspace, text: str, error: LookupFailed) -> ResourceError:
    """Return the error for a name that failed: that it is a path, if it is one, else the given error."""
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
