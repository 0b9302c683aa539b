"""Which import statements may fail without harm, and which are for types alone."""

from __future__ import annotations

import pytest

from bae_source.syntax.importing.guards import guarded_imports, typing_imports


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import a\n", set()),
        (
            "try:\n    import a\nexcept ImportError:\n    import b\nelse:\n    import c\nfinally:\n    import d\n",
            {2, 4, 6},
        ),
        ("try:\n    import a\nfinally:\n    import b\n", set()),
        ("try:\n    def f():\n        import a\nexcept* E:\n    pass\n", {3}),
        ("with suppress(ImportError):\n    import a\n", {2}),
        ("with self.assertRaises(ImportError):\n    import a\n", {2}),
        ("async def f():\n    async with pytest.raises(E) as e:\n        import a\n", {3}),
        ("with open(f) as g:\n    import a\n", set()),
        ("if 0:\n    import a\nwhile False:\n    import b\n", {2, 4}),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b\n", set()),
        ("class A:\n    for i in x:\n        import a\n", set()),
        ("match x:\n    case 1:\n        import a\n", set()),
        ("try:\n    match x:\n        case 1:\n            import a\nexcept E:\n    pass\n", {4}),
    ],
)
def test_what_stands_around_an_import_guards_it(text: str, lines: set[int]) -> None:
    assert guarded_imports(text) == lines


def test_all_of_what_is_too_deep_or_new_for_the_parser_is_guarded() -> None:
    assert guarded_imports("import a\nx = " + "-" * 30_000 + "1\nimport b\n") >= {1, 2, 3}
    assert guarded_imports("import a\nx = = 1\n") >= {1, 2}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b\n", {2}),
        ("if not t.TYPE_CHECKING:\n    import a\nelse:\n    import b\n", {4}),
        ("if TYPE_CHECKING and x:\n    try:\n        import a\n    finally:\n        import b\n", {3, 5}),
        ("if TYPE_CHECKING or x:\n    import a\n", set()),
        ("if False:\n    import a\nif __name__ == '__main__':\n    import b\n", set()),
        ("def f():\n    if TYPE_CHECKING:\n        from a import (\n            b,\n        )\n", {3}),
        ("match x:\n    case 1:\n        if TYPE_CHECKING:\n            import a\n", {4}),
        ("import a\nx = = 1\n", set()),
    ],
)
def test_what_type_checkers_alone_read_is_for_types(text: str, lines: set[int]) -> None:
    assert typing_imports(text) == lines
