"""What a Python before 3.12 says of f-strings is known to newer ones; the parser of the older one judges the same."""

from __future__ import annotations

import ast
import sys

import pytest

from bae_source.syntax.outline.tree import too_new_for

OLDER = [
    'x = f"{a}{b!r:>{c}}"',
    "x = f\"{d['key']}\"",
    "x = f'''{d['key']} {d[\"key\"]} {f\"{a}\"}'''",
    'x = f"{{ {a} }} {{}}"',
    "x = f\"{'{'}{'#'}{ {1: 2}[1] }\"",
    'x = f"{a:#x}\\n{b}"',
    "x = f'{a}\\\n{b}'",
    "x = f'{a}\\\r\n{b}'",
    'x = f"\\N{EN DASH}{a}"',
    'x = f"""{\na\n}"""',
    'x = rf"\\d{a}\\{b}"',
    '# f"{d["key"]}"\nx = \'f"{a\'\n',
    'x = f"{a}" f\'{b}\' "{\\n#"',
    'x = f"{lambda_}"if"{"else""',
    "x = f\"\"\"{f'''{f'{a}'}'''}\"\"\"",
]
NEWER = [
    'x = f"{d["key"]}"',
    "x = f'{d['key']}'",
    'x = F"{a:{"b"}}"',
    'x = f"{a}{f"{b}"}"',
    "x = f\"{f'{'a'}'}\"",
    "x = rf\"{'\\n'.join(a)}\"",
    "x = f\"{f'{a}\\n'}\"",
    'x = f"""{a  # of it\n}"""',
    'x = f"{\na}"',
    "x = f\"{['''a\nb''']}\"",
    'x = f"""{"""a"""}"""',
    'x = f"{a}" f"{b["}"]}"',
    "x = f'a\\\n{d['key']}'",
    "x = f'a\\\r\n{d['key']}'",
]


@pytest.mark.parametrize("text", OLDER)
def test_what_older_pythons_read_is_not_too_new(text: str) -> None:
    ast.parse(text)
    assert too_new_for(text, (3, 11)) is None


@pytest.mark.parametrize("text", NEWER)
def test_what_only_newer_pythons_read_is_too_new_for_older_ones(text: str) -> None:
    for version in ((3, 8), (3, 11)):
        error = too_new_for(text, version)
        assert error is not None
        assert error.code == "syntax_invalid"
    if sys.version_info >= (3, 12):
        assert too_new_for(text, (3, 12)) is None


@pytest.mark.filterwarnings("error")
def test_an_invalid_escape_in_a_literal_is_looked_over_in_silence() -> None:
    assert too_new_for("x = f\"\\d{'{'}\"", (3, 11)) is None
    assert too_new_for('x = f"\\d{d["key"]}"', (3, 11)) is not None


def test_the_error_says_where_the_first_one_is() -> None:
    error = too_new_for('ä = 1\nx = f"é{a}"\ny = f"é{d["key"]}"\n', (3, 11))
    assert error is not None
    assert error.details["line"] == 3
