"""The uses of one file's code, as values: its scopes, what binds names in them, and every mention of a name.

    from app import client as c          scope 0 (module) binds `c`: import of `client` from `app`
    class A(c.Base):                     mention `Base`, receiver the expression `c`, kind base
        def f(self, x: "c.Item"):        scope of f binds `self` (instance of A) and `x` (annotated)
            self.go = c.Go()             mention `go` (write); A's attributes: `go`, assigned a call of `c.Go`
            return x.send(go=1)          mention `send`, receiver `x`, kind call; mention `go`, kind keyword

Invariants:
- uses depend on the file's bytes alone (and on the parser's version), so they can be kept by their digest;
- nothing is decided here that needs another file: expressions are kept as small trees, to be evaluated later;
- private names in a class stand here as Python mangles them: `__m` in `class C` is `_C__m`;
- a name that `global` or `nonlocal` lets a function bind is bound in the scope that they mean;
- no mention is lost: code that could not be analysed is listed with the kind `MENTION`;
- lines are 1-based, columns 0-based and in UTF-8 bytes, as `ast` has them.

The scoping rules are those of the language reference, "Naming and binding".
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

READ: Final = 0
CALL: Final = 1
WRITE: Final = 2
DELETE: Final = 3
IMPORT: Final = 4
BASE: Final = 5
DECORATOR: Final = 6
ANNOTATION: Final = 7
KEYWORD: Final = 8
EXPORT: Final = 9
STRING: Final = 10
MENTION: Final = 11
REQUEST: Final = 12
NAMELESS: Final = ""
"""Name under which a call of another expression's value is noted, as `table[0]()`; that expression is its receiver."""
KINDS: Final = ("read", "call", "write", "delete", "import", "base", "decorator", "annotation", "keyword", "export",
                "string", "mention", "request")  # fmt: skip
"""Kinds of mentions, as they are shown."""

PLAIN: Final = -1
"""The receiver of a mention that stands alone; of an attribute it is the number of an expression."""
OPAQUE: Final = 0
"""The expression about which nothing is known."""

# How a name is bound; what the two numbers behind it mean.
FUNCTION: Final = 0  # scope, return annotation
CLASS: Final = 1  # scope, what its decorators give
IMPORTED: Final = 2  # number in `imports`, -
ASSIGNED: Final = 3  # value, -
ANNOTATED: Final = 4  # annotation, value
PARAMETER: Final = 5  # annotation, default
INSTANCE: Final = 6  # scope of the class: `self`
OWN_CLASS: Final = 7  # scope of the class: `cls`
CAUGHT: Final = 8  # expression behind `except`; what its suite asks for is bound as `name@line` as well
OTHER: Final = 9  # what a loop binds, else `OPAQUE`; 1 where it is added to, as by `x += y`
GLOBAL: Final = 10  # -, -
NONLOCAL: Final = 11  # -, -
SET: Final = 12  # value, receiver: an attribute of something else than `self`; `PLAIN` in code that does not parse
DECLARED: Final = 13  # annotation, -: annotated in a class, and not bound when code runs


class Binding(NamedTuple):
    """A binding of a name.

    Parameters:
        how: one of the constants above, which say what the two numbers mean.
    """

    how: int
    first: int
    second: int
    line: int


class Mention(NamedTuple):
    """A mention of a name.

    Parameters:
        kind: one of `KINDS`, by its number.
        receiver: an expression or `PLAIN`; of an import the number in `imports`, of a keyword the call.
        owner: number of the definition in `Uses.owners`.
    """

    line: int
    column: int
    scope: int
    kind: int
    receiver: int
    owner: int


# Forms of expressions.
NAME: Final = 0  # name, scope, and `ABOVE` or `PERHAPS` where a class's suite reads what it may not have bound
ATTRIBUTE: Final = 1  # expression, name
CALLED: Final = 2  # expression, arguments up to the first `*`; then the name of each keyword, and its argument
LITERAL: Final = 3  # built-in type; of a display elements that are names or hold some, `OPAQUE` for others
AWAITED: Final = 4  # expression
SUBSCRIPT: Final = 5  # expression, expression in the brackets
ANY_OF: Final = 6  # expressions: `a if c else b`, `a or b`, `A | B`
SEVERAL: Final = 7  # expressions: a tuple
SUPER: Final = 8  # scope of the function that calls super(), its first argument or `OPAQUE`
NEW: Final = 9  # called expression, first argument: `object.__new__(C)`
TYPED: Final = 10  # called expression, type that it is given: `cast(C, x)`, `TypeVar("T", bound=C)`, `NewType("N", C)`
TYPE_OF: Final = 11  # called expression, the only argument: `type(x)`
ITEM: Final = 12  # expression: what a loop over it binds
PART: Final = 14  # expression that is unpacked, and the place of a target
NARROWED: Final = 15  # expression, types, 1 where a test shows it to be an instance of one of them, 0 of none
OPERATED: Final = 16  # expression before a binary operator, the method that the operator calls
PATCHED: Final = 13  # expression: that whose attributes the keywords of a call replace, as those of `patch.multiple` do

Expression = tuple[int | str, ...]

ABOVE: Final = -1
"""A class's suite reads a name that it binds further down: the outer one, if there is one."""
PERHAPS: Final = -2
"""A class's suite reads a name that it may not have bound: on one branch alone, or up to a `del`."""
FOR_TYPES: Final = -3
"""A class's name is bound first under `if TYPE_CHECKING`."""
ONE_WAY: Final = -4
"""A class's name may be missing at the end of its suite: bound on one branch alone, or deleted."""

MODULE_SCOPE: Final = "module"
CLASS_SCOPE: Final = "class"
FUNCTION_SCOPE: Final = "function"
INNER_SCOPE: Final = "inner"  # lambda, comprehension
TYPE_SCOPE: Final = "type"  # of type parameters: sees the names of a class around it


class Flag(StrEnum):
    """A property of a scope that decides what using it gives."""

    ASYNC = "async"
    GENERATOR = "generator"
    PROPERTY = "property"
    """An instance gives what the function returns."""
    SETTER = "setter"
    DELETER = "deleter"
    STATIC = "static"
    CLASS = "class"
    WRAPPED = "wrapped"
    """A decorator gives something unknown."""
    DECORATED = "decorated"
    """A call gives what the function does, but it may have attributes of its own."""
    ENTERED = "entered"
    """`with` binds what the function yields."""
    REPLACED = "replaced"
    """The module puts something else in its own place, so its attributes may be those of that."""


class Partly(Struct, frozen=True, array_like=True):
    """A name that the suite of a class binds, but not for all code.

    Parameters:
        how: `FOR_TYPES`, `ONE_WAY`, or, for what reads it between two places of the suite, `ABOVE` or `PERHAPS`.
        first: the first line from which on it is read so.
        last, column: the last place where it is read so.
    """

    name: str
    how: int
    first: int = 0
    last: int = 0
    column: int = 0


class Scope(Struct, frozen=True, array_like=True):
    """One scope.

    Parameters:
        kind: module, class, function, inner (lambda, comprehension), or type (type parameters).
        parent: number of the enclosing scope; -1 for the module's.
        owner: number of the definition in `Uses.owners`.
        names: what binds each name in it.
        bases: expressions, of a class.
        attributes: what binds attributes of `self` or `cls` in the methods of a class.
        flags: what decides what using it gives.
        returns: expressions that a function returns, or yields.
        metaclass: expression, of a class whose header names one.
        partly: of a class, the names that its suite does not bind for all code.
    """

    kind: str
    parent: int
    owner: int
    names: dict[str, list[Binding]]
    bases: tuple[int, ...]
    attributes: dict[str, list[Binding]]
    flags: list[Flag]
    returns: list[int]
    metaclass: int = OPAQUE
    partly: list[Partly] = []


class Imported(Struct, frozen=True, array_like=True):
    """The target of one name of an import statement.

    Parameters:
        module: without leading dots.
        level: how many leading dots.
        attribute: what is taken from it; "" for the module itself, `*` for a star import.
        line: where it stands.
        name: what it binds; "" for a component of a dotted name that binds nothing.
        begins: whether it is only the beginning of what the statement names: `a` in `import a.b`, `a` in
            `from a import f`.
    """

    module: str
    level: int
    attribute: str
    line: int
    name: str
    begins: bool


class Text(Struct, frozen=True, array_like=True):
    """A string that could be the name of something: an identifier, or several with dots or a colon between them.

    Parameters:
        imports: whether it stands in a string that holds code, and is what that imports.
    """

    line: int
    column: int
    owner: int
    text: str
    imports: bool = False


class Uses(Struct, frozen=True, array_like=True):
    """The uses of one file.

    Parameters:
        scopes: the first one is the module's; an outer one comes before its inner ones.
        imports: of all scopes, in source order.
        stars: numbers of the star imports.
        expressions: as receivers and bindings refer to them; the first one is `OPAQUE`.
        mentions: by name.
        strings: by each component of the name that they could be.
        owners: qualname of each definition, "" for the module; which-of-several only where it must be said.
        exported: the names in a static `__all__`; None where there is none, or it cannot be read off.
        exports_known: whether `exported` says it all.
        listed: the names in an `__all__` that is made of those of other modules, and the expressions that stand for
            these; None for any other.
        whole: whether all of it was analysed; what was not is listed as mentions.
        bound: what binds attributes of anything but `self` and `cls`, by their names.
    """

    scopes: Sequence[Scope]
    imports: tuple[Imported, ...]
    stars: tuple[int, ...]
    expressions: Sequence[Expression]
    mentions: Mapping[str, list[Mention]]
    strings: Mapping[str, list[Text]]
    owners: Sequence[str]
    exported: tuple[str, ...] | None
    exports_known: bool
    whole: bool = True
    bound: Mapping[str, list[Binding]] = {}
    listed: tuple[tuple[str, ...], tuple[int, ...]] | None = None


def how_read(scope: Scope, name: str, line: int, column: int) -> int:
    """Return how the suite of a class reads a name at a place: `ABOVE`, `PERHAPS`, or 0 for the one that it binds."""
    read = {
        each.how
        for each in scope.partly
        if each.name == name and each.last and line >= each.first and (line, column) <= (each.last, each.column)
    }
    return PERHAPS if PERHAPS in read else ABOVE if ABOVE in read else 0


def is_partly(scope: Scope, name: str, how: int) -> bool:
    """Return whether a class has a name so alone: `FOR_TYPES` or `ONE_WAY`."""
    return any(each.name == name and each.how == how for each in scope.partly)


def plain_name(form: Expression) -> str:
    """Return the name that an expression is, as code has it: what a part of a function binds has a line behind it."""
    return str(form[1]).partition("@")[0]


def mangled(name: str, owner: str) -> str:
    """Return a name used in the class `owner` as Python stores it: a private one gets the class's name in front."""
    if not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    bare = owner.lstrip("_")
    return f"_{bare}{name}" if bare else name


def written(name: str, owner: str) -> str:
    """Return a name of the class `owner` as its code writes it, from how Python stores it."""
    bare = owner.partition("[")[0].lstrip("_")
    short = name[len(bare) + 1 :]
    return short if bare and mangled(short, owner.partition("[")[0]) == name and short != name else name
