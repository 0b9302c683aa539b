"""Random modules: functions, classes and values of many kinds, with what they do made visible by `behaviour`."""

from __future__ import annotations

import enum
import inspect
import random
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

HEAD = (
    "import abc, enum, functools\nfrom dataclasses import dataclass, field\nfrom typing import NamedTuple, Protocol\n"
    "def wrapped(fn):\n    @functools.wraps(fn)\n    def w(*a, **k): return ('w', fn(*a, **k))\n    return w\n"
    "def hidden(n):\n    def deco(fn):\n        def h(*a, **k): return (n, fn(*a, **k))\n"
    "        return h\n    return deco\n"
)
NAMES = "abcdefg"
MEMBERS = "mnopq"
SLOTS = ("'s',", "'s',", "'s', 't'")


class Writer:
    """Writes one module; `chance` decides everything."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.known: list[str] = []
        self.classes: list[str] = []

    def module(self) -> str:
        names = self.chance.sample(NAMES, self.chance.randint(2, len(NAMES)))
        parts = [self.item(name) for name in names]
        if self.chance.random() < 0.2:
            parts.append(self.function(self.chance.choice(names)))  # defined again
        return HEAD + "".join(parts)

    def item(self, name: str) -> str:
        kind = self.chance.choice(
            ["function"] * 4 + ["decorated"] * 2 + ["class_"] * 4 + ["special"] * 2 + ["value"] * 2
        )
        text: str = getattr(self, kind)(name)
        self.known.append(name)
        return text

    def number(self) -> int:
        return self.chance.randint(0, 3)

    def arguments(self) -> str:
        parts = [f"x={self.number()}"] if self.chance.random() < 0.5 else []
        parts += [f"*, k={self.number()}"] if self.chance.random() < 0.3 else []
        return ", ".join(parts)

    def body(self, arguments: str, indent: str) -> str:
        used = ", ".join(name for name in ("x", "k") if f"{name}=" in arguments)
        seen = self.chance.choice(self.known) if self.known and self.chance.random() < 0.3 else ""
        shown = f", type({seen}).__name__" if seen else ""
        if self.chance.random() < 0.25:
            free = "u" if self.chance.random() < 0.5 else str(self.number())
            return (
                f"{indent}u = {self.number()}\n{indent}def inner(i={self.number()}): return i, {free}\n"
                f"{indent}return ({used}{',' if used else ''} inner(){shown})\n"
            )
        return f"{indent}return ({self.number()}, {used}{shown})\n".replace(", )", ",)").replace(", ,", ",")

    def function(self, name: str, indent: str = "", first: str = "") -> str:
        arguments = self.arguments()
        kind = self.chance.choice(["def"] * 5 + ["async def"] + ["gen"] + (["lambda"] if not indent else []))
        if kind == "lambda":
            return f"{name} = lambda x={self.number()}: (x, {self.number()})\n"
        given = ", ".join(part for part in (first, arguments) if part)
        inner = f"{indent}    "
        text = f"{inner}yield {self.number()}\n" if kind == "gen" else self.body(arguments, inner)
        doc = f"{inner}'doc {self.number()}'\n" if self.chance.random() < 0.3 else ""
        return f"{indent}{'async def' if kind == 'async def' else 'def'} {name}({given}):\n{doc}{text}"

    def decorated(self, name: str) -> str:
        decorator = self.chance.choice(
            ["wrapped", "hidden(1)", "hidden(2)", "functools.cache", "functools.lru_cache(4)"]
        )
        text = self.function(name)
        return text if "lambda" in text.splitlines()[0] else f"@{decorator}\n{text}"

    def value(self, name: str) -> str:
        kind = self.chance.randint(0, 4)
        if kind == 0 and self.classes:
            return f"{name} = {self.chance.choice(self.classes)}()\n"
        if kind == 1 and self.known:
            return f"{name} = [{self.chance.choice(self.known)}, {self.number()}]\n"
        if kind == 2 and self.known:
            return f"{name} = {self.chance.choice(self.known)}\n"
        return f"{name} = {self.number()}\n"

    def special(self, name: str) -> str:
        method = self.function("m", "    ", "self")
        kind = self.chance.randint(0, 4)
        if kind == 0:
            return f"class {name}(enum.Enum):\n    A = 1\n    B = {self.number() // 2 + 2}\n{method}"
        if kind == 1:
            return f"class {name}(NamedTuple):\n    x: int = {self.number()}\n{self.field('y')}{method}"
        if kind == 2:
            self.classes.append(name)
            return f"class {name}:\n    __slots__ = ({self.chance.choice(SLOTS)})\n{method}"
        self.classes.append(name)
        extra = self.chance.choice(["", "(order=True)", "(frozen=True)"])
        return f"@dataclass{extra}\nclass {name}:\n    x: int = {self.number()}\n{self.field('y')}{method}"

    def field(self, name: str) -> str:
        return f"    {name}: int = {self.number()}\n" if self.chance.random() < 0.4 else ""

    def class_(self, name: str) -> str:
        bases = [self.chance.choice(self.classes)] if self.classes and self.chance.random() < 0.3 else []
        bases = bases or self.chance.choice([[], [], [], ["abc.ABC"], ["Protocol"]])
        lines = [f"class {name}({', '.join(bases)}):\n"]
        lines += [self.member(member) for member in self.chance.sample(MEMBERS, self.chance.randint(1, 4))]
        if bases != ["Protocol"]:
            self.classes.append(name)
        return "".join(lines) + (f"{name}.later = {self.number()}\n" if self.chance.random() < 0.2 else "")

    def member(self, name: str) -> str:
        kind = self.chance.randint(0, 7)
        if kind == 0:
            return f"    {name} = {self.number()}\n"
        if kind == 1:
            return f"    @property\n    def {name}(self): return {self.number()}\n" + (
                f"    @{name}.setter\n    def {name}(self, v): self.__dict__['v'] = {self.number()}\n"
                if self.chance.random() < 0.5
                else ""
            )
        if kind == 2:
            return f"    @classmethod\n    def {name}(cls): return cls.__name__, {self.number()}\n"
        if kind == 3:
            return f"    @staticmethod\n    def {name}(): return {self.number()}\n"
        if kind == 4:
            return f"    def {name}(self): return __class__.__name__, super().__repr__ is not None, {self.number()}\n"
        if kind == 5:
            return f"    @functools.cached_property\n    def {name}(self): return {self.number()}\n"
        if kind == 6:
            return f"    class {name}:\n        def deep(self): return {self.number()}\n        z = {self.number()}\n"
        return self.function(name, "    ", "self")


def sources(seed: int) -> Iterator[str]:
    """Yield versions of one module without end; each is a small change of the one before, or another altogether."""
    chance = random.Random(seed)
    while True:
        state = chance.getrandbits(32)
        text = Writer(random.Random(state)).module()
        yield text
        for _ in range(3):
            digits = [index for index, char in enumerate(text) if char in "0123" and index > len(HEAD)]
            for index in chance.sample(digits, min(len(digits), 3)):
                text = text[:index] + str(chance.randint(0, 3)) + text[index + 1 :]
            yield text


def behaviour(module: ModuleType) -> dict[str, object]:
    """Return what everything in a module does, in a form that two copies of a module agree on."""
    return {name: shown(value) for name, value in sorted(vars(module).items()) if len(name) == 1}


def shown(value: Any, depth: int = 0) -> object:
    """Return what a value does."""
    if depth > 4:
        return "deep"
    if isinstance(value, type):
        return _class(value, depth)
    if isinstance(value, list | tuple):
        return [shown(part, depth + 1) for part in value]
    if isinstance(value, dict):
        return {str(key): shown(part, depth + 1) for key, part in value.items()}
    if inspect.isgenerator(value):
        return ["generated", *(shown(part, depth + 1) for part in value)]
    if inspect.iscoroutine(value):
        return ["awaited", _awaited(value)]
    if callable(value) and not isinstance(value, enum.Enum):
        return _function(value, depth)
    return (type(value).__qualname__, repr(value) if "0x" not in repr(value) else "")


def _function(value: Any, depth: int) -> object:
    about = (value.__doc__, str(inspect.signature(value)), sorted(getattr(value, "__dict__", {})))
    if isinstance(value, FunctionType) and value.__name__ in ("wrapped", "hidden"):
        return about
    if hasattr(value, "cache_clear"):
        value.cache_clear()  # a generator or coroutine that it keeps can be used once
    try:
        return (about, shown(value(), depth + 1))
    except TypeError as error:
        return (about, str(error))


def _awaited(value: Any) -> object:
    try:
        value.send(None)
    except StopIteration as stopped:
        return shown(stopped.value)
    return None


def _class(value: Any, depth: int) -> object:
    skipped = {"__dict__", "__weakref__", "_abc_impl", "__firstlineno__", "__static_attributes__"}
    about = {
        "mro": [cls.__qualname__ for cls in value.__mro__],
        "names": sorted(set(vars(value)) - skipped),
        "doc": value.__doc__,
    }
    try:
        made = next(iter(value)) if issubclass(value, enum.Enum) else value()
    except TypeError as error:
        return (about, str(error))
    return (about, repr(made) if "0x" not in repr(made) else "", members(made, depth))


def members(made: Any, depth: int = 0) -> dict[str, object]:
    """Return what an instance's own and inherited members do."""
    names = sorted({name for cls in type(made).__mro__[:-1] for name in vars(cls) if not name.startswith("_")})
    return {
        name: shown(getattr(made, name, "none"), depth + 1)
        for name in names
        if (name in (*MEMBERS, "x", "y", "later", "deep", "z") and not isinstance(made, enum.Enum)) or name == "m"
    }
