"""What a module does while it is imported, in its order."""

from __future__ import annotations

import sys

import pytest

from bae_source.syntax.importing.on_import import OnImport, on_import
from bae_source.syntax.importing.steps import Step
from bae_source.syntax.text.source import Source


def test_imports_definitions_and_what_is_read_of_imports_come_in_their_order() -> None:
    code = """
import app.core
from . import late as l

@app.core.register
class C(l.Base):
    from .inner import X
    y = app.other

    def f(self, z=l.default):
        return app.never
"""
    assert _of(code).steps == (
        Step(binds=("app",), module="app.core"),
        Step(binds=("l",), module="", attribute="late", level=1),
        Step(reads=("app", "core", "register")),
        Step(reads=("l", "Base")),
        Step(module="inner", attribute="X", level=1),
        Step(reads=("app", "other")),
        Step(reads=("l", "default")),
        Step(binds=("C",)),
    )


@pytest.mark.parametrize(
    ("code", "coped"),
    [
        ("import a", [False]),
        ("if x:\n    import a\nelse:\n    import b", [True, True]),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b", [False]),
        ("if not typing.TYPE_CHECKING:\n    import a\nelse:\n    import b", [False]),
        ("if __name__ == '__main__':\n    import a", []),
        ("try:\n    import a\nexcept ImportError:\n    import b\nfinally:\n    import c", [True, True, False]),
        ("try:\n    import a\nexcept ImportError as e:\n    raise E from e", [False]),
        ("with suppress(ImportError):\n    import a\nwith lock:\n    import b", [True, False]),
        ("for x in y:\n    import a\nwhile x:\n    import b", [True, True]),
        ("match x:\n    case [a, *b]:\n        import c", [True]),
    ],
)
def test_what_may_not_happen_or_fail_without_harm_is_coped_with(code: str, coped: list[bool]) -> None:
    assert [step.coped for step in _of(code).steps if step.module is not None] == coped


@pytest.mark.parametrize("code", ["x and a.b", "a.b if x else y", "[a.b for c in d]", "lambda: a.b", "a.b = 1"])
def test_what_may_not_be_read_is_no_step(code: str) -> None:
    assert not [step for step in _of(f"import a\n{code}\n").steps if step.reads]


def test_annotations_are_read_where_python_runs_them() -> None:
    code = "import a\ndef f(x: a.B) -> a.C: ...\n"
    assert [step.reads for step in _of(code).steps if step.reads] == (
        [("a", "B"), ("a", "C")] if sys.version_info < (3, 14) else []
    )
    assert not [step for step in _of(f"from __future__ import annotations\n{code}").steps if step.reads]


def test_all_is_told_where_it_is_static() -> None:
    assert _of('__all__ = ["a"]\n__all__ += ["b"]\n').exported == ("a", "b")
    assert _of('__all__ = ["a"]\n__all__ += other\n').exported is None


def test_all_is_told_as_it_grows() -> None:
    steps = _of('__all__ = ["a"]\n__all__ += ["b"]\nif x:\n    __all__ += ["c"]\n').steps
    assert [step.exported for step in steps] == [("a",), ("a", "b"), None]


def test_attributes_that_are_set_are_told_of_what_is_imported() -> None:
    steps = _of("import a\na.b.c = other.d = 1\nvars(a)['e'] = 1\n").steps[1:]
    assert steps == (Step(reads=("a", "b")), Step(sets=("a", "b", "c")), Step(binds=("*",)), Step(sets=("a", "*")))


def test_a_long_chain_behind_a_call_is_walked_once() -> None:
    assert _of("import a\nx = a.f()" + ".b" * 900 + "\n").steps == (
        Step(binds=("a",), module="a"),
        Step(reads=("a", "f")),
        Step(binds=("x",)),
    )


def test_code_that_is_too_deep_is_told_by_its_definitions() -> None:
    deep = " + ".join(["1"] * 20_000)
    found = _of(f"import a\nif x:\n    import b\ny = {deep}\n")
    assert [(step.binds, step.coped) for step in found.steps] == [(("a",), False), (("b",), True), (("y",), False)]


def _of(code: str) -> OnImport:
    return on_import(Source(code.encode()))
