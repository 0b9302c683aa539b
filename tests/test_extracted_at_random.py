"""Programs that a seed makes, with pieces that it draws: each does the same once a piece is a function of its own."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable

import pytest

from bae_source.errors import ResourceError
from bae_source.model.span import Span
from bae_source.refactoring.extracting.functions import call_of, definition_of, extracted, replacement
from bae_source.refactoring.extracting.home import spot_before
from bae_source.refactoring.extracting.selecting import piece_of, read_code, suites
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import Source

NAMES = "abcd"
PIECES = 5
BEGINNING = """
from contextlib import suppress

TICKS = [0]


class Stopped(BaseException): ...


def t(x):
    print("t", x)
    return x


def tick(x):
    TICKS[0] += 1
    if TICKS[0] > 12:
        raise Stopped
    return x


"""


class Program:
    """Makes the text of one program."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.makers: list[Callable[[str, int, bool], list[str]]] = [
            *[self.assigned] * 7, *[self.printed] * 2, *[self.tested] * 2, *[self.looped] * 2, *[self.tried] * 3,
            self.whiled, self.suppressed, self.returned, self.jumped, self.defined, self.matched, self.deleted,
        ]  # fmt: skip

    @property
    def name(self) -> str:
        return self.source.choice(NAMES)

    def text(self) -> str:
        body = [line for _ in range(self.source.randint(2, 5)) for line in self.statement("    ", 0, False)]
        bound = [f"    {name} = {self.source.randrange(4)}" for name in "cd" if self.source.random() < 0.7]
        return "\n".join(
            [f"{BEGINNING}def f(a, b):", "    fs = []", "    g = fs.copy", *bound, *body, "    return a, b", ""]
        )

    def value(self, depth: int = 0) -> str:
        deeper = [
            lambda: f"({self.value(depth + 1)} + {self.value(depth + 1)})",
            lambda: f"({self.value(depth + 1)} // {self.value(depth + 1)})",
            lambda: f"t({self.value(depth + 1)})",
            lambda: f"({self.value(depth + 1)} and {self.value(depth + 1)})",
            lambda: f"({self.name} := {self.value(depth + 1)})",
            lambda: f"sum([({self.name} := q) for q in range({self.source.randrange(3)})])",
        ]
        plain = [lambda: self.name, lambda: self.name, lambda: str(self.source.randrange(4))]
        return self.source.choice([*plain * 2, *(deeper if depth < 2 else [])])()

    def suite(self, indent: str, depth: int, loop: bool) -> list[str]:
        count = self.source.randint(1, 3 if depth < 2 else 2)
        return [line for _ in range(count) for line in self.statement(f"{indent}    ", depth + 1, loop)]

    def statement(self, indent: str, depth: int, loop: bool) -> list[str]:
        maker = self.source.choice(self.makers if depth < 3 else self.makers[:9])
        return maker(indent, depth, loop)

    def assigned(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}{self.name} {self.source.choice(['=', '=', '+='])} {self.value()}"]

    def printed(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}print({self.name}, {self.value()})"]

    def tested(self, indent: str, depth: int, loop: bool) -> list[str]:
        otherwise = [f"{indent}else:", *self.suite(indent, depth, loop)] if self.source.random() < 0.4 else []
        return [f"{indent}if {self.value()}:", *self.suite(indent, depth, loop), *otherwise]

    def looped(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}for {self.name} in range({self.source.randrange(4)}):", *self.suite(indent, depth, True)]

    def whiled(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}while tick({self.value()}):", *self.suite(indent, depth, True)]

    def tried(self, indent: str, depth: int, loop: bool) -> list[str]:
        caught = self.source.choice(["except ZeroDivisionError", "except Exception as e", "finally"])
        last = self.suite(indent, depth, loop and caught != "finally")
        return [f"{indent}try:", *self.suite(indent, depth, loop), f"{indent}{caught}:", *last]

    def suppressed(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}with suppress(ZeroDivisionError):", *self.suite(indent, depth, loop)]

    def returned(self, indent: str, depth: int, loop: bool) -> list[str]:
        last = f"return {self.value()}" if self.source.random() < 0.4 else f"fs.append(lambda: {self.value()})"
        return [f"{indent}{last}"]

    def jumped(self, indent: str, depth: int, loop: bool) -> list[str]:
        jump = self.source.choice(["break", "continue"]) if loop else "t(g())"
        return [f"{indent}if {self.value()}:", f"{indent}    {jump}"]

    def defined(self, indent: str, depth: int, loop: bool) -> list[str]:
        name = self.name
        bound = [f"{indent}    nonlocal {name}", f"{indent}    {name} = {self.value()}"]
        return [f"{indent}def g():", *self.source.choice([bound, [f"{indent}    return {name}"]])]

    def matched(self, indent: str, depth: int, loop: bool) -> list[str]:
        inner = f"{indent}    "
        first, second = self.suite(inner, depth, loop), self.suite(inner, depth, loop)
        return [f"{indent}match {self.value()}:", f"{inner}case 1:", *first, f"{inner}case {self.name}:", *second]

    def deleted(self, indent: str, depth: int, loop: bool) -> list[str]:
        return [f"{indent}del {self.name}"]


@pytest.mark.parametrize("seed", range(120))
def test_a_program_does_the_same_with_a_piece_of_it_in_a_function(seed: int) -> None:
    source = random.Random(seed)
    text = Program(source).text()
    try:
        before = shown(text)
    except SyntaxError:
        return  # such as a nonlocal name that nothing binds
    for after in with_pieces_extracted(text, source):
        assert shown(after) == before, after


def with_pieces_extracted(text: str, source: random.Random) -> list[str]:
    """Return the program with one piece or another in a function of its own; not those that are refused or unsure."""
    code, tree = read_code("m", Source(text.encode())), parse(Source(text.encode()))
    found = []
    every = list(suites(code.tree.body[-1]))
    for _ in range(PIECES):
        suite = source.choice(every)
        first = source.randrange(len(suite))
        try:
            piece = piece_of(code, suite[first : first + source.randint(1, 4)])
            function = extracted(piece, None)
        except ResourceError:
            continue
        if function.doubts or function.fails_earlier:
            continue
        spot = spot_before(piece, tree)
        definition = spot.text(definition_of(function, "new", indent="", unit="    "), "\n")
        given, results = ([each.name for each in some] for some in (function.taken, function.given))
        call = replacement(piece, call_of(function, "new", given, results))
        found.append(splice(text, [(Span(spot.offset, spot.offset), definition), (piece.span, call)]))
    return found


def shown(text: str) -> str:
    """Return what a program prints, returns and raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = compile(text, "m", "exec")
    lines: list[str] = []
    for given in ((0, 1), (2, 0), (1, 3)):
        names: dict[str, object] = {"print": lambda *each: lines.append(repr(each)), "__name__": "m"}
        exec(compiled, names)
        try:
            lines.append(repr(names["f"](*given)))  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001  (it is what is compared)
            lines.append(type(error).__name__)
    return re.sub(r"<(?:function|built-in).*? at 0x\w+>", "<function>", "\n".join(lines))


def test_most_pieces_can_be_extracted() -> None:
    made = 0
    for seed in range(40):
        source = random.Random(seed)
        made += len(with_pieces_extracted(Program(source).text(), source))
    assert made >= 80
