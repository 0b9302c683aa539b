"""Import statements are the same, with the same offsets, whether lines alone are parsed or the whole file."""

from __future__ import annotations

import ast

import pytest

from bae_source.syntax.importing import statements as subject
from bae_source.syntax.importing.statements import import_statements
from bae_source.syntax.text.source import Lines


def shown(found: list[ast.Import | ast.ImportFrom]) -> list[str]:
    return sorted(ast.dump(each, include_attributes=True) for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "import a.b as c, d\n",
        "x = 1; from a import (\n    b,\n    c as d,\n)\n",
        "def f():\n\tfrom . import b  # why\n",
        "if x: import a\nelse: import b\n",
        "try:\n    import a\nexcept ImportError: a = None\n",
        "from a \\\n    import b\r\nimport c\r\n",
        '"""\nimport a\n"""\nimport b\n',
        's = """\n"""; import b\n',
        "é = 1; import b\n",
        "class A:\n    \f import b\n",
        "match x:\n    case 1:\n        import b\n",
    ],
)
def test_lines_alone_give_what_the_whole_gives(text: str) -> None:
    whole = import_statements(text, Lines(text), None)
    assert whole
    assert shown(import_statements(text, Lines(text), {each.lineno for each in whole})) == shown(whole)


def test_lines_alone_are_parsed_where_statements_begin_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    known = subject.parse_module

    def noted(text: str) -> ast.Module:
        seen.append(text)
        return known(text)

    monkeypatch.setattr(subject, "parse_module", noted)
    text = "import a\n\nx = [\n    1,\n]\n\n\ndef f():\n    from a import (\n        b,\n    )\n"
    assert len(import_statements(text, Lines(text), [1, 9])) == 2
    assert seen == ["import a\n", "from a import (\n        b,\n    )\n"]


def test_a_text_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        import_statements("import a\ndef\n", Lines("import a\ndef\n"), None)
