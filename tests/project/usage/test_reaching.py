"""What classes below a receiver's lead to, which is worked out once for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.project.references.classes.class_order import ClassOrders


def references(root: Path, text: str, target: str) -> list[str]:
    """Return the references, each with its line, where it stands, and why it is not sure."""
    (root / "m.py").write_text(text)
    found = Source(root).references(target).outcome.found
    return [f"{each.line}: {each.text} [{each.address}] {each.why}".rstrip() for each in found]


def test_a_class_below_the_receivers_comes_to_it_first(tmp_path: Path) -> None:
    text = (
        "class A:\n    def m(self): ...\n"
        "class B:\n    def m(self): ...\n"
        "class D(B): ...\n"
        "def use(x: B, y: D): return x.m(), y.m()\n"
    )
    assert references(tmp_path, text, "m.A.m") == []
    [line] = references(tmp_path, text + "class C(A, B): ...\n", "m.A.m")
    assert line.startswith("6: def use(x: B, y: D): return x.m(), y.m()")
    assert line.endswith("the receiver may be of a class below it, where m is that of A")


def test_what_super_leads_to_is_reported_by_the_order_of_the_class_below(tmp_path: Path) -> None:
    text = (
        "class Base:\n    def m(self): ...\n"
        "class A(Base):\n    def m(self): ...\n"
        "class B(Base):\n    def m(self): super().m()\n"
    )
    assert references(tmp_path, text, "m.A.m") == []
    assert references(tmp_path, text + "class C(A, B): ...\n", "m.A.m") == []
    [line] = references(tmp_path, text + "class C(B, A): ...\n", "m.A.m")
    assert "the receiver may be of a class below it, where m is that of A" in line


@pytest.mark.parametrize("body", ["    def z(self): self.m()\n", "    def z(self): super().m()\n"])
def test_each_of_many_classes_one_below_the_other_is_asked_once(
    tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    members = ClassOrders.members

    def counted(*given: object, **more: object) -> object:
        asked.append(str(given[2]))
        return members(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ClassOrders, "members", counted)
    count = 150
    classes = (f"class C{each}(C{each - 1}):\n    def m(self): ...\n{body}" for each in range(1, count))
    text = f"class C0:\n    def m(self): ...\n{body}{''.join(classes)}"
    found = references(tmp_path, text, "m.C0.m")
    assert found
    assert found == [line for line in found if "C0.z" in line or "C1.z" in line]
    assert asked.count("m") < 6 * count
