"""Places as others write them, understood or refused; never moved to the nearest one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import RequestError, ResourceError
from bae_source.project.naming.places import Written, parse_place, spot_at
from tests.project.support import workspace


@pytest.mark.parametrize(
    ("text", "path", "line", "column", "names"),
    [
        ("app/core.py:12", "app/core.py", 12, None, ()),
        ("app/core.py:12:5", "app/core.py", 12, 5, ()),
        ("app/core.py:12:5: F401 `os` imported but unused", "app/core.py", 12, 5, ()),
        ("app/core.py:12: error: Missing return  [return]", "app/core.py", 12, None, ()),
        ("  --> app/core.py:12:5", "app/core.py", 12, 5, ()),
        ("./app/core.py:12", "./app/core.py", 12, None, ()),
        ("app\\core.py:12", "app/core.py", 12, None, ()),
        ("C:\\srv\\app\\core.py:12", "C:/srv/app/core.py", 12, None, ()),
        ('  File "/srv/app/core.py", line 12, in send', "/srv/app/core.py", 12, None, ()),
        ("File 'a b.py', line 3", "a b.py", 3, None, ()),
        ("> /srv/app/core.py(12)send()", "/srv/app/core.py", 12, None, ()),
        ("app/core.py(12)", "app/core.py", 12, None, ()),
        ("tests/test_a.py::TestA::test_b", "tests/test_a.py", None, None, ("TestA", "test_b")),
        ("tests/test_a.py::test_b[param-1::x]", "tests/test_a.py", None, None, ("test_b",)),
        ("FAILED tests/test_a.py::test_b - AssertionError: x:3", "tests/test_a.py", None, None, ("test_b",)),
        ("tests/test_a.py:3: in test_b", "tests/test_a.py", 3, None, ()),
        ("app.core:12", "app.core", 12, None, ()),
        ("app.core:12: def send()", "app.core", 12, None, ()),
        ("app/core.py", "app/core.py", None, None, ()),
        ("app:templates/a.html:3", "app:templates/a.html", 3, None, ()),
    ],
)
def test_a_place_is_understood_however_it_is_written(
    text: str, path: str, line: int | None, column: int | None, names: tuple[str, ...]
) -> None:
    assert parse_place(text) == Written(path=path, line=line, column=column, names=names)


@pytest.mark.parametrize(
    "text", [" ", "a.py:0", "a.py:3:0", "a\0.py:3", "a\nb.py:3", "x" * 5000, 'File "a.py", line 0', "\ud800.py:3"]
)
def test_what_is_no_place_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_place(text)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints


FILES = {"p/__init__.py": "", "p/a.py": "x = 1\ndef f():\n    return 1\n", "p/t.txt": "a\n"}


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('abp./\\:()[]"1290, lineF~-é\0'), max_size=30))
def test_any_text_is_answered_or_refused_with_a_next_step(text: str) -> None:
    try:
        spot = spot_at(workspace(FILES), parse_place(text))
    except ResourceError as error:
        assert error.hints or error.candidates  # noqa: PT017
        assert error.code in ("invalid_arguments", "outside_project", "symbol_not_found", "invalid_name")  # noqa: PT017
        return
    assert spot.address.startswith("p")
