"""Imports are added where a person would put them, where they are missing, and never into an `if` or a `try`."""

from __future__ import annotations

import pytest

from bae_source.errors import RequestError
from bae_source.queries.read import Read
from bae_source.refactoring.edit import Edit
from tests.project.support import after, workspace

F = "def f():\n    return 1\n"


def _with(text: str, *imports: str) -> str:
    space = workspace({"m.py": text})
    same = Read(target="m.f").answer(space).text
    result = after(space, Edit(target="m.f", new_source=same, imports=imports).plan(space)).get("m.py", text.encode())
    compile(result, "m", "exec")
    again = workspace({"m.py": result})
    assert not Edit(target="m.f", new_source=same, imports=imports).plan(again).changes
    return result.decode()


@pytest.mark.parametrize(
    "docstring", ['(\n"""D."""\n)\n', '("""D."""\n)\n', '"""D."""\n', '"a" \\\n"b"\n', '("a"\n "b")\n']
)
def test_an_import_goes_behind_a_docstring_however_it_is_written(docstring: str) -> None:
    assert _with(docstring + F, "import os") == f"{docstring}\nimport os\n\n\n{F}"


def test_an_import_goes_behind_a_licence_that_follows_a_shebang() -> None:
    head = "#!/bin/x\n\n# Copyright\n# Licence\n\n"
    assert _with(head + F, "import os") == f"{head}import os\n\n\n{F}"


@pytest.mark.parametrize(
    "statement",
    [
        "if 1: import os",
        "try:\n    import os\nexcept E:\n    pass",
        "with a: import os",
        "def f():\n    import os",
        "for x in y: import os",
    ],
)
def test_an_import_inside_another_statement_is_no_import_statement(statement: str) -> None:
    with pytest.raises(RequestError):
        _with(f"import os\n{F}", statement)
    with pytest.raises(RequestError):
        _with(F, statement)
