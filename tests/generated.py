"""Sources too long or too deep to be kept as files, made the same way every time.

Each function returns the bytes of one valid module with a definition before and one behind the monster, so that a test
can ask whether its neighbours are still reachable. How far CPython itself can parse one is said where it matters.
"""

from __future__ import annotations

_BEFORE = "def before():\n    return 1\n\n\n"
_AFTER = "\n\ndef after():\n    return 2\n"


def long_chain(terms: int) -> bytes:
    """`1 + 1 + …` inside a function; `ast.parse` of 3.11 takes about 2,900 terms, then raises RecursionError."""
    return _module("def chain():\n    return (\n        1\n" + "        + 1\n" * (terms - 1) + "    )\n")


def deep_brackets(depth: int) -> bytes:
    """`[[[…]]]`; CPython's tokenizer stops at 200 nested brackets, libcst crashes at some 1,300."""
    return _module(f"nested = {'[' * depth}{']' * depth}\n")


def deep_unary(count: int) -> bytes:
    """`----…1`: nesting without brackets."""
    return _module(f"negative = {'-' * count}1\n")


def deep_elif(count: int) -> bytes:
    """One `if` with many `elif`, each nested in the one before as the tree has it, flat as the text has it."""
    branches = "".join(f"    elif value == {n}:\n        found = {n}\n" for n in range(1, count + 1))
    return _module(f"def choose(value):\n    if value == 0:\n        found = 0\n{branches}    return found\n")


def attribute_chain(count: int) -> bytes:
    """`root.a.a.a…`, left-nested."""
    return _module("def walk(root):\n    return (\n        root\n" + "        .a\n" * count + "    )\n")


def call_chain(count: int) -> bytes:
    """`root.add(1).add(1)…`, as query builders are written."""
    return _module("def build(root):\n    return (\n        root\n" + "        .add(1)\n" * count + "    )\n")


def nested_ternaries(count: int) -> bytes:
    """`1 if x else 1 if x else …`: libcst takes gigabytes on 5,000."""
    return _module("def pick(x):\n    return " + "1 if x else " * count + "0\n")


def match_brackets(depth: int) -> bytes:
    """`case [[[…a…]]]`: libcst doubles its time with each bracket."""
    return _module(f"match x:\n    case {'[' * depth}a{']' * depth}:\n        pass\n")


def deep_suites(depth: int) -> bytes:
    """Function in function in function; CPython stops at 100 levels of indentation (`too many levels`)."""
    lines = [f"{' ' * level}def level_{level}():\n" for level in range(depth)]
    return _module("".join(lines) + " " * depth + "return 0\n")


def long_line(characters: int) -> bytes:
    """One assignment on one very long line, with two others behind it."""
    return _module(f"text = '{'x' * characters}'; other = 1; last = 2\n")


def ten_thousand_lines() -> bytes:
    """10,000 lines: classes with methods, functions and constants by turns, in realistic proportions."""
    lines: list[str] = ['"""Ten thousand lines."""', ""]
    number = 0
    while len(lines) < 10_000 - len(_block(number)):
        lines += _block(number)
        number += 1
    lines += [f"FILL_{n} = {n}" for n in range(10_000 - len(lines))]
    return ("\n".join(lines) + "\n").encode()


def _module(monster: str) -> bytes:
    return (_BEFORE + monster + _AFTER).encode()


def _block(number: int) -> list[str]:
    return [
        f"CONSTANT_{number} = {number}",
        "",
        "",
        f"class Class{number}:",
        f'    """Class number {number}.',
        "",
        "    It has two methods.",
        '    """',
        "",
        f"    size = {number}",
        "",
        "    def method(self, value):",
        "        # grow",
        "        if value > self.size:",
        f'            return f"{{value}} is more than {number}"',
        "        return self.size + value",
        "",
        "    @property",
        "    def double(self):",
        "        return self.size * 2",
        "",
        "",
        f"def function_{number}(first, second=CONSTANT_{number}, *rest):",
        f'    """Add up, beginning at {number}."""',
        "    total = first + second",
        "    for item in rest:",
        "        total += item",
        f"    return total + Class{number}().method(total)",
        "",
        "",
    ]
