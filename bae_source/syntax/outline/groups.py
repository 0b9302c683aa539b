"""Groups of definitions that share a name: the others that one of them needs, and those that a new source leaves out.

    @overload
    def f(a: int) -> int: ...
    def f(a): return a              <- overloads need an implementation, a setter its getter,
    f = staticmethod(f)             <- and this one what stands above it

Invariant: a change need not add what its file lacks already, or what a stub and a protocol may lack.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

from bae_source.errors import Refused
from bae_source.model.address import Address, Part, Segment
from bae_source.model.text import listed
from bae_source.syntax.outline.definitions import MODULE, Outline
from bae_source.syntax.outline.locate import Group, effective_roles, part_span, segments_of
from bae_source.syntax.outline.tree import Tree, parse_module

_STUB = "@stub"


def missing_part(roles: Iterable[str | None]) -> str | None:
    """Return the role that definitions of one name lack, by their own roles; None where they lack none."""
    found = set(roles)
    if found == {"overload"}:
        return "implementation"
    return "getter" if found & {"setter", "deleter"} and not found & {"getter", None} else None


def check_left(tree: Tree, module: str, group: Group, given: Sequence[str | None]) -> None:
    """Refuse to leave the definitions of a name without what they need.

    Parameters:
        module: the module's name.
        given: roles of what takes the place of the group; none where it goes.

    Raises:
        Refused: `unsafe_change`.
    """
    outline, name = tree.outline, group.qualname[-1].name
    everyone = outline.named(outline.definitions[group.members[0]].parent, name)
    others = [index for index in everyone if index not in group.members]
    _check_parts(tree, module, group, [*_roles(outline, others), *given])
    if not given and (user := _user(tree, name, group, others)) is not None:
        segment = segments_of(outline, everyone, name)[user]
        raise Refused(
            "unsafe_change",
            f"{_address(module, group, segment)} uses the {name} above it, which would be gone.",
            hints=[f"Delete {name} as a whole, or {_address(module, group, segment)} first."],
        )


def check_altered(tree: Tree, module: str, group: Group, after: Outline, members: Sequence[int]) -> None:
    """Refuse a changed text that leaves the definitions of a name without what they need.

    Parameters:
        module: the module's name.
        members: what the group is afterwards.

    Raises:
        Refused: `unsafe_change`.
    """
    everyone = after.named(after.definitions[members[0]].parent, group.qualname[-1].name)
    _check_parts(tree, module, group, _roles(after, everyone))


def _check_parts(tree: Tree, module: str, group: Group, roles: Sequence[str | None]) -> None:
    """Refuse a change after which a name lacks a definition that it does not lack yet."""
    outline, name, lacks = tree.outline, group.qualname[-1].name, missing_part(roles)
    parent = outline.definitions[group.members[0]].parent
    if lacks is None or missing_part(_roles(outline, outline.named(parent, name))) is not None:
        return
    if lacks == "implementation" and (module.endswith(_STUB) or _is_protocol(tree, parent)):
        return
    kinds = list(dict.fromkeys(role for role in roles if role))
    if lacks == "getter":
        raise Refused(
            "unsafe_change",
            f"The {' and '.join(kinds)} of {name} hangs on its getter.",
            hints=[f"Delete {name} as a whole, or its {kinds[0]} first, or give the getter too."],
        )
    raise Refused(
        "unsafe_change",
        f"{name} would be left without its implementation, which its overloads need.",
        hints=[f"Give the implementation too, or delete or replace {name} as a whole."],
    )


def check_whole(tree: Tree, module: str, group: Group, given: Outline, targets: Sequence[int]) -> None:
    """Refuse a source that lacks members of the group that it replaces.

    Parameters:
        module: the module's name.
        targets: the definitions of the source that replace the group.

    Raises:
        Refused: `unsafe_change`, naming them.
    """
    outline, members, name = tree.outline, group.members, group.qualname[-1].name
    if len(members) == 1:
        return
    present, brought = _kinds(outline, members), _kinds(given, targets)
    if "implementation" in present:
        brought = ["implementation" if kind == "function" else kind for kind in brought]
    if "getter" in present:
        brought = ["getter" if kind == "function" and "getter" not in brought else kind for kind in brought]
    lost = Counter(present) - Counter(brought)
    if not lost:
        return
    everyone = outline.named(outline.definitions[members[0]].parent, name)
    segments = segments_of(outline, everyone, name)
    addresses = {index: _address(module, group, segments[index]) for index in members}
    dropped = [
        _of_several([addresses[index] for index, each in zip(members, present, strict=True) if each == kind], count)
        for kind, count in lost.items()
    ]
    raise Refused(
        "unsafe_change",
        f"{name} is {len(members)} definitions: {listed(addresses.values())}; "
        f"the given source would drop {listed(dropped)}.",
        hints=["Give all of them, address the one that is meant, or delete first what is to go."],
        candidates=tuple(addresses.values()),
    )


def _of_several(alike: Sequence[str], count: int) -> str:
    return listed(alike) if count == len(alike) else f"{count} of {listed(alike)}"


def _roles(outline: Outline, indices: Iterable[int]) -> list[str | None]:
    return [outline.definitions[index].role for index in indices]


def _kinds(outline: Outline, indices: Sequence[int]) -> list[str]:
    """Return the role of each of some definitions in its group, else its kind."""
    roles = ["implementation" if role == "impl" else role for role in effective_roles(outline, indices)]
    return [role or outline.definitions[index].kind.value for role, index in zip(roles, indices, strict=True)]


def _user(tree: Tree, name: str, group: Group, others: Sequence[int]) -> int | None:
    """Return a definition of the name that uses the one above it, if that is what goes; None where there is none."""
    outline = tree.outline
    for index in others:
        definition = outline.definitions[index]
        is_first = index == others[0] and index > group.members[0]
        if (
            is_first
            and definition.suite == outline.definitions[group.members[0]].suite
            and uses_itself(tree, index, name)
        ):
            return index
    return None


def uses_itself(tree: Tree, index: int, name: str) -> bool:
    """Return whether a definition reads the name that it binds while it runs: in its value, or in a decorator."""
    definition = tree.outline.definitions[index]
    if definition.body is not None:
        return any(each.partition(".")[0] == name for each in definition.decorators)
    try:
        parsed = parse_module(tree.text[definition.keyword : definition.end])
    except (SyntaxError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(parsed))
    augmented = any(isinstance(node, ast.AugAssign) for node in nodes)
    return augmented or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in nodes
    )


def _is_protocol(tree: Tree, parent: int) -> bool:
    if parent == MODULE or tree.outline.definitions[parent].body is None:
        return False
    span = part_span(tree, parent, Part.SIGNATURE)
    return span is not None and "Protocol" in span.cut(tree.text)


def _address(module: str, group: Group, segment: Segment) -> str:
    return str(Address(module=module, qualname=(*group.qualname[:-1], segment)))
