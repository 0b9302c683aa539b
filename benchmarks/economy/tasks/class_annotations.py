"""8: annotations on a class, with the types verified."""

from __future__ import annotations

from benchmarks.economy.model import Given, Shell, Task, Tool

_CLASS = "OrderedSet"
_IMPORTS = ("import typing", "from collections.abc import Iterable, Iterator, MutableSet")
_PAIRS = (
    ("iterable=None):", "iterable: Iterable[typing.Any] | None = None) -> None:"),
    ("self.end = end = []", "self.end: list[typing.Any] = []\n        end = self.end"),
    ("self.map = {}", "self.map: dict[typing.Any, list[typing.Any]] = {}"),
    ("self |= iterable", "self |= iterable  # type: ignore[arg-type]"),
    ("__len__(self):", "__len__(self) -> int:"),
    ("__contains__(self, key):", "__contains__(self, key: object) -> bool:"),
    ("add(self, key):", "add(self, key: typing.Any) -> None:"),
    ("discard(self, key):", "discard(self, key: typing.Any) -> None:"),
    ("__iter__(self):", "__iter__(self) -> Iterator[typing.Any]:"),
    ("__reversed__(self):", "__reversed__(self) -> Iterator[typing.Any]:"),
    ("last=True):", "last: bool = True) -> typing.Any:"),
    ("__repr__(self):", "__repr__(self) -> str:"),
    ("__eq__(self, other):", "__eq__(self, other: object) -> bool:"),
    ("set(self) == set(other)", "isinstance(other, Iterable) and set(self) == set(other)"),
)
_SPELLED = (
    "Iterable, Iterator",
    "iterable: Iterable[typing.Any] | None = None) -> None:",
    "self.end: list[typing.Any] = []",
    "end = self.end",
    ": dict[typing.Any, list[typing.Any]]",
    "# type: ignore[arg-type]",
    "-> int",
    ": object) -> bool",
    ": typing.Any) -> None",
    "-> Iterator[typing.Any]",
    ": bool = True) -> typing.Any",
    "-> str",
    "isinstance(other, Iterable) and",
)

_SED = """\
s/iterable=None):/iterable: Iterable[typing.Any] | None = None) -> None:/
s/self.end = end = \\[\\]/self.end: list[typing.Any] = []\\n        end = self.end/
s/self.map =/self.map: dict[typing.Any, list[typing.Any]] =/
s/self |= iterable/&  # type: ignore[arg-type]/
s/__len__(self)/& -> int/
s/\\(__contains__(self, key\\|__eq__(self, other\\))/\\1: object) -> bool/
s/\\(add\\|discard\\)(self, key)/\\1(self, key: typing.Any) -> None/
s/\\(__iter__\\|__reversed__\\)(self)/& -> Iterator[typing.Any]/
s/last=True)/last: bool = True) -> typing.Any/
s/__repr__(self)/& -> str/
s/set(self) == set(other)/isinstance(other, Iterable) and &/"""
"""The script of `sed` in both lines of commands: to the file, or to the class as `read` gives it."""

TASK = Task(
    number=8,
    title="annotations on a class, types verified",
    statement=(
        f"Annotate marshmallow.orderedset.{_CLASS}, all parameters, returns and attributes, so that mypy is content."
    ),
    package="marshmallow",
    given=(Given("pyproject.toml", '"src", "tests", "examples"]', '"src", "tests"]'),),  # the release has no examples
    spelled=_SPELLED,
    tests=("tests/test_schema.py",),
    plain=(
        Shell("sed -n '/^from/,/^if/p' src/marshmallow/orderedset.py"),
        Shell(
            f"""\
sed -i 's/^from collections.abc import/\\nimport typing\\n& Iterable, Iterator,/
{_SED}' src/marshmallow/orderedset.py && \
mypy; pytest -q tests/test_schema.py | tail -1; git diff --shortstat"""
        ),
    ),
    cli=(
        Shell(f"bae-source read {_CLASS}"),
        Shell(
            f"bae-source read {_CLASS} | sed '{_SED}' | bae-source edit {_CLASS} --source - -q --verify types "
            "--verify tests" + "".join(f" --import '{each}'" for each in _IMPORTS)
        ),
    ),
    mcp=(
        Tool("read", {"target": _CLASS}),
        Tool(
            "edit",
            {
                "target": _CLASS,
                "imports": list(_IMPORTS),
                "old": [old for old, _ in _PAIRS],
                "new": [new for _, new in _PAIRS],
                "verify": ["types", "tests"],
                "quiet": True,
            },
        ),
    ),
)
