"""The functions that a seed draws from a package, each with another signature that makes sense for it.

    def f(a, b=1)      add at the end         def f(a, b=1, added=None)
                       add by keyword         def f(a, b=1, *, added=None)
                       add without default    def f(added, a, b=1)                  --value added=None
                       rename                 def f(a_renamed, b=1)                 --renamed a=a_renamed
                       by keyword             def f(a, *, b=1)
    def g(a, b)        reorder                def g(b, a)
                       remove                 def g(a)                              where no body reads b

Invariants:
- nothing is drawn whose calls are not those of the function itself: properties, overloads, what is bound twice, special
  methods but for constructors;
- what goes is read nowhere in the function, nor in one of the same name in the package;
- the same seed draws the same changes.
"""

from __future__ import annotations

import ast
import copy
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from benchmarks.semantic.drawing import Change, Named, new_name
from benchmarks.semantic.subjects import Subject

SIGNATURES = (
    "signature add at the end",
    "signature add by keyword",
    "signature remove",
    "signature reorder",
    "signature rename",
    "signature by keyword",
    "signature add without default",
)
_ADDED = "added"
_PLAIN = {"staticmethod", "classmethod"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Drawn:
    """One function of a package.

    Parameters:
        names: of its parameters that no function with its name in the package reads.
    """

    def __init__(self, named: Named, node: _Function, *, in_class: bool, unread: Collection[str]) -> None:
        self.named = named
        self.node = node
        self.unread = unread
        decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
        self.first = int(in_class and "staticmethod" not in decorators)
        """The number of its first parameter that calls give."""

    @property
    def given(self) -> ast.arguments:
        """A copy of its parameters, to be changed."""
        return copy.deepcopy(self.node.args)

    def change(
        self, kind: str, arguments: ast.arguments, *, renamed: tuple[str, ...] = (), value: tuple[str, ...] = ()
    ) -> Change:
        """Return the change to other parameters."""
        returns = f" -> {ast.unparse(self.node.returns)}" if self.node.returns else ""
        return Change(
            named=self.named,
            of_signature=kind,
            signature=f"({ast.unparse(arguments)}){returns}",
            renamed=renamed,
            value=value,
        )


def signatures(root: Path, subject: Subject, count: int, seed: int, used: Collection[str]) -> list[Change]:
    """Return so many changes of signatures, of all kinds in turn, each of another function.

    Parameters:
        root: the folder of the package's distribution.
        used: words that are left out.
    """
    source = random.Random(f"signatures {seed}")
    functions = [each for each in _functions(root, subject) if each.named.name not in used]
    source.shuffle(functions)
    found: list[Change] = []
    taken: set[str] = set()
    for number in range(count * len(SIGNATURES)):
        kind = SIGNATURES[number % len(SIGNATURES)]
        free = (each for each in functions if each.named.target not in taken)
        change = next((made for each in free if (made := _MAKING[kind](kind, each, source)) is not None), None)
        if change is not None and len(found) < count:
            taken.add(change.named.target)
            found.append(change)
    return found


def _functions(root: Path, subject: Subject) -> Iterator[_Drawn]:
    """Yield the functions of modules and classes that can be drawn."""
    trees = {path: ast.parse(path.read_bytes()) for path in sorted((root / subject.package).rglob("*.py"))}
    read: dict[str, set[str]] = {}
    for node in (each for tree in trees.values() for each in ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            read.setdefault(node.name, set()).update(_read(node))
    for path, tree in trees.items():
        module = ".".join(path.relative_to(root / subject.source).with_suffix("").parts).removesuffix(".__init__")
        lines = path.read_text(encoding="utf-8").split("\n")
        for owner, node, in_class in _defined(tree.body, module, in_class=False):
            start = lines[node.lineno - 1].index(node.name, node.col_offset + len("def"))
            named = Named(
                kind="method" if in_class else "function",
                target=f"{owner}.{node.name}",
                path=path.relative_to(root).as_posix(),
                line=node.lineno,
                column=start + 1,
            )
            names = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            yield _Drawn(named, node, in_class=in_class, unread=names - read[node.name])


def _read(function: _Function) -> Iterator[str]:
    """Yield the names that the body of a function reads; all of them where it may read any."""
    for node in (each for statement in function.body for each in ast.walk(statement)):
        if isinstance(node, ast.Name):
            yield node.id
            if node.id in ("locals", "vars", "eval", "exec", "super"):
                yield from (each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg))


def _defined(body: list[ast.stmt], owner: str, *, in_class: bool) -> Iterator[tuple[str, _Function, bool]]:
    """Yield the functions of a suite and of its classes with their owners, and whether these are classes."""
    times = Counter(each.name for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _defined(each.body, f"{owner}.{each.name}", in_class=True)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and times[each.name] == 1:
            is_special = each.name.startswith("__") and each.name != "__init__"
            decorators = {each.id if isinstance(each, ast.Name) else "" for each in each.decorator_list}
            if not is_special and decorators <= _PLAIN:
                yield owner, each, in_class


def _at_the_end(kind: str, drawn: _Drawn, _: random.Random) -> Change | None:
    given = drawn.given
    if given.vararg is not None:
        return None  # which takes what is given behind
    given.args.append(ast.arg(_ADDED))
    given.defaults.append(ast.Constant(None))
    return drawn.change(kind, given)


def _by_keyword(kind: str, drawn: _Drawn, _: random.Random) -> Change | None:
    given = drawn.given
    if given.kwarg is not None:
        return None  # which takes it already
    given.kwonlyargs.append(ast.arg(_ADDED))
    given.kw_defaults.append(ast.Constant(None))
    return drawn.change(kind, given)


def _without_default(kind: str, drawn: _Drawn, source: random.Random) -> Change | None:
    given = drawn.given
    required = len(given.args) - len(given.defaults)
    if required < drawn.first or given.posonlyargs:
        return None
    given.args.insert(source.randint(drawn.first, required), ast.arg(_ADDED))
    return drawn.change(kind, given, value=(f"{_ADDED}=None",))


def _removed(kind: str, drawn: _Drawn, source: random.Random) -> Change | None:
    given = drawn.given
    numbers = [n for n, each in enumerate(given.args) if n >= drawn.first and each.arg in drawn.unread]
    named = [n for n, each in enumerate(given.kwonlyargs) if each.arg in drawn.unread]
    if numbers:
        number = source.choice(numbers)
        behind = number - (len(given.args) - len(given.defaults))
        if behind >= 0:
            del given.defaults[behind]
        del given.args[number]
    elif named:
        number = source.choice(named)
        del given.kwonlyargs[number], given.kw_defaults[number]
    else:
        return None
    return drawn.change(kind, given)


def _reordered(kind: str, drawn: _Drawn, source: random.Random) -> Change | None:
    given = drawn.given
    required = len(given.args) - len(given.defaults)
    runs = [
        (start, end)
        for start, end in ((drawn.first, required), (max(drawn.first, required), len(given.args)))
        if end - start > 1
    ]
    if not runs or given.posonlyargs:
        return None
    start, end = source.choice(runs)
    one, other = sorted(source.sample(range(start, end), 2))
    given.args[one], given.args[other] = given.args[other], given.args[one]
    if start >= required:
        one, other = one - required, other - required
        given.defaults[one], given.defaults[other] = given.defaults[other], given.defaults[one]
    return drawn.change(kind, given)


def _renamed(kind: str, drawn: _Drawn, source: random.Random) -> Change | None:
    given = drawn.given
    own = [*given.posonlyargs, *given.args][drawn.first :] + given.kwonlyargs
    if not own:
        return None
    chosen = source.choice(own)
    old, chosen.arg = chosen.arg, new_name(chosen.arg)
    return drawn.change(kind, given, renamed=(f"{old}={chosen.arg}",))


def _keyword_only(kind: str, drawn: _Drawn, source: random.Random) -> Change | None:
    given = drawn.given
    if given.vararg is not None or len(given.args) - drawn.first < 2:
        return None  # what decorates is called without keywords
    number = source.randint(max(drawn.first + 1, len(given.args) - 2), len(given.args) - 1)
    required = len(given.args) - len(given.defaults)
    defaults: list[ast.expr | None] = [None] * required + list(given.defaults)
    given.kwonlyargs[:0], given.kw_defaults[:0] = given.args[number:], defaults[number:]
    given.args, given.defaults = given.args[:number], [each for each in defaults[:number] if each is not None]
    return drawn.change(kind, given)


_MAKING: dict[str, Callable[[str, _Drawn, random.Random], Change | None]] = dict(
    zip(
        SIGNATURES,
        (_at_the_end, _by_keyword, _removed, _reordered, _renamed, _keyword_only, _without_default),
        strict=True,
    )
)
