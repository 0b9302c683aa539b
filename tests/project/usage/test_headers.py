"""Classes below a class are found by every kind of header."""

from __future__ import annotations

import pytest

from bae_source.project.naming.resolve import resolve
from bae_source.project.references.classes.lineage import headed, subclasses
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project
from bae_source.project.workspace import Workspace
from tests.memory import Memory

CORE = "import abc\nclass Base: ...\ndef made(base):\n    class Made(base): ...\n    return Made\n"
USED = "def used(value):\n    if isinstance(value, Base):\n        print(Base, Base.name)\n    print(Base().name)\n"
"""A function that names the class, and sets nothing with it."""
IN_FUNCTION = (
    "def inner():\n    def deeper(value):\n        class C(Base): ...\n        return value\n    return deeper\n"
)
ANNOTATED = "def kinds(values):\n    kind: type[Base] = values.pop()\n    class C(kind): ...\n    return C\n"


def of(content: str) -> Project:
    return Project(Workspace(Memory({"core.py": CORE.encode(), "user.py": content.encode()})))


def found_in(project: Project, target: str = "core.Base") -> list[str]:
    listed = subclasses(project, sought_of(project.names, resolve(project.workspace, target)))
    return [f"{each.address} {each.line} {each.certainty}" for each in listed.found]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("@str\n@core.made\nclass C(Base):\n    x = 1\n", ["core.made.Made 4 unsure", "user.C 12 sure"]),
        ("class C(Base): x = 1; y = 2\n", ["user.C 10 sure"]),
        ("if used:\n    class C(Base): ...\nelse:\n    C = None\n", ["user.C[0] 11 sure"]),
        ("try:\n    pass\nexcept OSError:\n    class C(Base): ...\n", ["user.C 13 sure"]),
        ("class Outer:\n\tclass C(Base): ...\n", ["user.Outer.C 11 sure"]),
        ("class C(\n    # Base is above\n    Base,\n): ...\n", ["user.C 10 sure"]),
        ("class \\\n  C \\\n  (Base): ...\n", ["user.C 10 sure"]),
        ("\fclass C(Base): ...\n", ["user.C 10 sure"]),
        (IN_FUNCTION, ["user.inner.deeper.C 12 sure"]),
        ("def inner(value):\n\tclass C(Base): ...\n\treturn C\n", ["user.inner.C 11 sure"]),
        ("def inner(value):\n    return type('C', (Base,), {})\n", ["user.inner 11 unsure"]),
        (
            "def inner(value):\n    kind = type(\n        'C',\n        (Base,),\n        {})\n",
            ["user.inner 13 unsure"],
        ),
        ("def given():\n    return core.made(\n        Base)\n", ["core.made.Made 4 unsure"]),
        (ANNOTATED, ["user.kinds.C 12 unsure"]),
        ("def text(value):\n    return '''\nclass C(Base): ...\n''' + value\n", []),
        ("def text(value):\n    # class C(Base): ...\n    return isinstance(value, Base)\n", []),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_header_is_found(code: str, found: list[str], end: str) -> None:
    content = f"import core\nfrom core import Base\n\n\n{USED}\n{code}".replace("\n", end)
    assert found_in(of(content)) == found


def test_the_classes_below_are_found_by_headers_alone() -> None:
    project = of(f"from core import Base\nclass A(Base): ...\nclass B(A): ...\n\n\n{USED}")
    sought = sought_of(project.names, resolve(project.workspace, "core.Base"))
    assert [project.address(each.of.path, each.mentioned.mention[5]) for each in headed(project, sought, 60).below] == [
        "user.A", "user.B",
    ]  # fmt: skip
