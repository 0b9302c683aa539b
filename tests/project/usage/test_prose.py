"""Mentions in comments, strings and text files, by names that are written as code is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.support import laid

CORE = "class Client:\n    def send(self): ...\n    def send_all(self): ...\n\n\ndef make(): ...\n"


def spoken(folder: Path, target: str, files: dict[str, str]) -> list[tuple[str, int, str]]:
    source = laid(folder, {"app/__init__.py": "", "app/core.py": CORE, **files})
    assert not [
        each for each in source.references(target).outcome.found if each.kind in ("comment", "docstring", "text")
    ]
    answer = source.references(target, mentions=True, certainty="mention")
    assert answer.outcome.counts["mentions"] == len(answer.outcome.found)
    return [(each.module, each.line, each.kind) for each in answer.outcome.found]


@pytest.mark.parametrize(
    ("target", "prose", "speaks"),
    [
        ("app.core.Client.send", "see `send`", True),
        ("app.core.Client.send", "call send() first", True),
        ("app.core.Client.send", "see Client.send there", True),
        ("app.core.Client.send", "as client.send does", True),
        ("app.core.Client.send", "app.core.Client.send", True),
        ("app.core.Client.send", "send it again", False),
        ("app.core.Client.send", "socket.send is another", False),
        ("app.core.Client.send", "`resend`", False),
        ("app.core.Client.send_all", "send_all of it", True),
        ("app.core.Client", "the Client of it", True),
        ("app.core.Client", "Client code", False),
        ("app.core.make", "make a cup", False),
        ("app.core.make", "core.make", True),
        ("app.core.make", "self.make", False),
    ],
)
@pytest.mark.parametrize("place", ["comment", "docstring", "string", "text"])
def test_prose_that_speaks_of_a_symbol_is_a_mention(
    tmp_path: Path, place: str, target: str, prose: str, speaks: bool
) -> None:
    code = {
        "comment": f"# {prose}\n",
        "string": f'x = [\n    "it is"\n    "{prose}."\n]\n',
        "docstring": f'def f():\n    """\n    {prose}\n    """\n',
    }
    path = "README.md" if place == "text" else "app/web.py"
    module, line = {"text": (":README.md", 1), "comment": ("app.web", 1)}.get(place, ("app.web", 3))
    found = spoken(tmp_path, target, {path: code.get(place, f"{prose}\n")})
    assert found == ([(module, line, place)] if speaks else [])


def test_a_string_that_is_a_name_is_listed_once_and_code_not_at_all(tmp_path: Path) -> None:
    web = 'def f(x):\n    """send_all"""\n    x.send_all(), getattr(x, "send_all")\n    send_all = "calls `send_all`"\n'
    assert spoken(tmp_path, "app.core.Client.send_all", {"app/web.py": web}) == [
        ("app.web", 2, "string"),
        ("app.web", 3, "string"),
        ("app.web", 4, "string"),
    ]


@pytest.mark.parametrize(
    ("code", "speaks"),
    [
        ('x = "see other.send_all()"', False),
        ('x = f"{other.send_all()}"', False),
        ('x = f"{{}} {other.send_all():>{other.send_all()}} }}"', False),
        ('x = f"{other:>{width}} {{send_all}}"', True),
        ('x = rf"{other!r} of send_all"', True),
        ('x = b"send_all()"', True),
        ('x: "send_all | None" = None', False),
        ('x = cast("list[send_all]", x)', False),
    ],
)
def test_a_string_speaks_of_a_symbol_where_it_holds_no_code(tmp_path: Path, code: str, speaks: bool) -> None:
    web = f"from typing import cast\n\nfrom other import send_all\n\n{code}\n"
    found = spoken(tmp_path, "app.core.Client.send_all", {"app/web.py": web})
    assert found == ([("app.web", 5, "string")] if speaks else [])
