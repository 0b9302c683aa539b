"""The definitions whose signatures change together: a function, what overrides it or is overridden, and declarations.

Invariants:
- a constructor stands alone, but for its stub: a class below may take what it likes;
- overloads and stubs of a function go along with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import Refused
from bae_source.model.plan import ModuleFile
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.keywords import MAKING
from bae_source.project.references.classes.family import Family, family_of
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.stubs import with_stub
from bae_source.project.references.types.values import in_order
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.signatures.signature import Header, header_at

_NEW = "__new__"
_DEFINES = (u.FUNCTION, u.DECLARED, u.IMPORTED, u.GLOBAL, u.NONLOCAL)


class Member(Struct, frozen=True, kw_only=True):
    """One definition.

    Parameters:
        module: the module that it stands in.
        tree: of that.
        number: of the definition in the tree's outline.
        symbol: the name that it is bound to.
        scope: its own.
        address: its dotted name.
        header: its header.
        flags: those of its scope.
        in_class: whether it is a method.
    """

    module: ModuleFile
    tree: Tree
    number: int
    symbol: Symbol
    scope: int
    address: str
    header: Header
    flags: frozenset[str]
    in_class: bool

    @property
    def place(self) -> tuple[str, int]:
        """Its file and its scope."""
        return self.symbol.path, self.scope

    @property
    def bound(self) -> int:
        """Number of its first parameters that Python gives where it is taken from an instance."""
        return int(self.in_class and not self.flags & {u.Flag.STATIC} and self.symbol.name != _NEW)

    @property
    def is_of_class(self) -> bool:
        """True where Python passes the first one to a method taken from a class, too."""
        return u.Flag.CLASS in self.flags or self.symbol.name in ("__init_subclass__", "__class_getitem__")


def family_of_function(project: Project, resolved: Resolved) -> Family:
    """Return the family whose signatures change together."""
    if resolved.address.qualname[-1].name not in MAKING:
        return family_of(project, resolved)
    sought = structs.replace(with_stub(project, sought_of(project.names, resolved)), one_of_several=False)
    own = (each for each in sought.meanings if isinstance(each, Symbol))
    return Family(sought=sought, symbols=tuple(sorted(own, key=in_order)), classes=tuple(sought.classes))


def header_of(resolved: Resolved) -> Header:
    """Return the header of a function; of several definitions with one name that of the last.

    Raises:
        Refused: `unsafe_change` if it cannot be read.
    """
    assert resolved.group is not None
    definition = resolved.tree.outline.definitions[resolved.group.members[-1]]
    header = header_at(resolved.tree.text, definition.keyword)
    if header is None:
        raise Refused(
            "unsafe_change",
            f"The header of {resolved.address} cannot be read by the Python that runs here",
            unchanged=True,
            hints=["Run bae_source with the project's own Python, or edit it."],
        )
    return header


def addresses_of_family(project: Project, resolved: Resolved) -> frozenset[str]:
    """Return the addresses of the definitions whose signatures change together."""
    found = members_of_family(project, family_of_function(project, resolved).symbols)
    return frozenset(each.address for each in found if isinstance(each, Member))


def members_of_family(project: Project, symbols: Sequence[Symbol]) -> Iterator[Member | tuple[Symbol, u.Binding]]:
    """Yield the definitions of a family, and what else its names are bound to.

    Raises:
        ResourceError: a file cannot be read.
    """
    for symbol in symbols:
        uses = project.uses(symbol.path)
        around = uses.scopes[symbol.scope]
        for binding in (*around.names.get(symbol.name, ()), *around.attributes.get(symbol.name, ())):
            member = _member(project, symbol, binding) if binding.how == u.FUNCTION else None
            if member is not None:
                yield member
            elif binding.how not in _DEFINES[1:]:
                yield symbol, binding


def member_at(project: Project, path: str, scope: int) -> Member | None:
    """Return the definition that has a scope."""
    scopes = project.uses(path).scopes
    around = scopes[scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    for name, bindings in scopes[around].names.items():
        if any(how == u.FUNCTION and number == scope for how, number, *_ in bindings):
            found = members_of_family(project, [Symbol(path, around, name)])
            return next((each for each in found if isinstance(each, Member) and each.scope == scope), None)
    return None


def _member(project: Project, symbol: Symbol, binding: u.Binding) -> Member | None:
    uses, tree = project.uses(symbol.path), project.workspace.tree_at(symbol.path)
    module = project.workspace.census.module(symbol.path)
    lines, scope = tree.source.lines, uses.scopes[binding.first]
    for number, each in enumerate(tree.outline.definitions):
        if each.body is not None and lines.number(each.keyword) == binding.line:
            header = header_at(tree.text, each.keyword)
            if header is None or module is None:
                return None
            return Member(
                module=module,
                tree=tree,
                number=number,
                symbol=symbol,
                scope=binding.first,
                address=project.address(symbol.path, scope.owner),
                header=header,
                flags=frozenset(scope.flags),
                in_class=uses.scopes[symbol.scope].kind == u.CLASS_SCOPE,
            )
    return None
