"""Code that is newer than some Pythons that run here: its statements are the same on each of them."""

from __future__ import annotations

import pytest

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.fields import converted
from bae_source.syntax.names.newer import statements_of_newer
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.text.source import Source


@pytest.mark.parametrize(
    "text",
    [
        'x = t"{a["b"]!r:>{w}} of {c}"\n',
        'x = t"""{a\n}\n{b}"""\n',
        'x = t"{a=}{b = !r}{{{c}}}\\{d}\\N{BULLET}"\n',
        'x = t"{a!=b}{c==d}{(e:=f)}{g:=5}"\n',
        't"{a}" "b" t"c"\n"d"\n',
        'x = (t"{a}"\n  f"{b}" # c\n  r"d")\n',
        'x = t"{f\'{a["b"]}\'}"\n',
        't"{"\n',
    ],
)
def test_what_is_converted_keeps_its_length_and_lines(text: str) -> None:
    found = converted(text)
    assert [len(line) for line in found.split("\n")] == [len(line) for line in text.split("\n")]
    for start, char in enumerate(found):
        assert char in (text[start], " ", "(", ")", ",")


def names(text: str) -> dict[str, list[tuple[int, int, int]]]:
    found = uses_of(Source(text.encode()))
    assert found.whole
    return {name: [each[:3] for each in mentions] for name, mentions in found.mentions.items() if name}


def test_a_template_names_what_an_f_string_names() -> None:
    for fields in ("{a['b']} {c:>{d}}", "{a!r} {b=}", "{a}{{}}{b.c()}", "{a:{b}{c}}"):
        assert names(f't"{fields}"\n') == names(f'f"{fields}"\n')


def test_type_parameters_have_a_scope_of_their_own() -> None:
    text = (
        "type A[T: (int, B) = C, *Ts = *D, **P] = dict[T, A]\n"
        "class E[T](F[T]):\n    type G = T\n    async def h[\n        U: 'A',\n    ](self, u: U) -> T: ...\n"
    )
    found = uses_of(Source(text.encode()))
    assert found.whole
    assert [scope.kind for scope in found.scopes] == ["module", "type", "type", "class", "type", "function"]
    assert [sorted(scope.names) for scope in found.scopes] == [
        ["A", "E"],
        ["P", "T", "Ts"],
        ["T"],
        ["G", "h"],
        ["U"],
        ["self", "u"],
    ]
    assert [(m[:3]) for m in found.mentions["T"]] == [(1, 46, 1), (2, 13, 2), (3, 13, 3), (6, 21, 4)]
    assert [(m[:3], m[3]) for m in found.mentions["D"]] == [((1, 31, 1), u.ANNOTATION)]


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n", "def f[T(x): ...\n", "type = = 1\n", "class A[1]: )\n"])
def test_what_is_not_newer_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError):
        statements_of_newer(text)
