"""The text of a module outside of its definitions: read, edited and deleted in place, with every check of a plan."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError

SCRIPT = '''\
#!/usr/bin/env python
"""Doc."""
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

LEVEL = 1  # how much
print(LEVEL)

# between


def f():
    return os.sep


# why
if __name__ == "__main__":
    print(f())
    # at the end
'''
IMPORTS = "import os\nimport sys\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import re\n"
MAIN = 'if __name__ == "__main__":\n    print(f())\n    # at the end\n'
NEWLINES = ["\n", "\r\n", "\r"]


def laid(root: Path, text: str = SCRIPT, newline: str = "\n") -> Source:
    (root / "app.py").write_bytes(text.replace("\n", newline).encode())
    return Source(root)


def text(root: Path, newline: str = "\n") -> str:
    """Return the module, of which every line ends in one way."""
    content = (root / "app.py").read_bytes().decode()
    if newline != "\n":
        assert "\n" not in content.replace(newline, "")
        assert newline == "\r\n" or "\n" not in content
    return content.replace(newline, "\n")


@pytest.mark.sampled
@pytest.mark.parametrize("newline", NEWLINES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import sys\n", ""),
        ("    import re", "    import re\n    import json"),
        ("if TYPE_CHECKING:\n    import re\n\n", ""),
        ("LEVEL = 1  # how much", "LEVEL = 2  # how much more"),
        ("print(LEVEL)", "print(LEVEL, 2)\nprint(3)"),
        ("# between", "# in the middle"),
        ("print(f())", "print(f(), 1)"),
        ("# why", "# why not"),
        ('"""Doc."""', '"""More.\n\nText.\n"""'),
    ],
)
def test_any_text_of_a_module_changes_in_place_and_comes_back(tmp_path: Path, newline: str, old: str, new: str) -> None:
    source = laid(tmp_path, newline=newline)
    outcome = source.edit("app", old=old, new=new.replace("\n", newline), reload="off")
    assert outcome.text == "Edited app."
    assert text(tmp_path, newline) == SCRIPT.replace(old, new)
    source.undo()
    assert text(tmp_path, newline) == SCRIPT


@pytest.mark.parametrize(
    ("part", "shown", "new"),
    [
        ("docstring", '"""Doc."""', '"""Other."""'),
        ("imports", IMPORTS, "import os\nimport json\n"),
        ("main", MAIN, 'if __name__ == "__main__":\n    raise SystemExit(f())\n'),
    ],
)
@pytest.mark.parametrize("newline", NEWLINES)
def test_a_part_is_read_edited_and_given_back(tmp_path: Path, newline: str, part: str, shown: str, new: str) -> None:
    source = laid(tmp_path, newline=newline)
    read = source.read(f"app@{part}")
    assert read.replace(newline, "\n") == shown
    assert source.edit(f"app@{part}", read, reload="off").diff == ""
    outcome = source.edit(f"app@{part}", new, if_match=read.etag, reload="off")
    assert outcome.changed[0].address == f"app@{part}"
    assert outcome.etag == source.read(f"app@{part}").etag
    assert text(tmp_path, newline) == SCRIPT.replace(shown, new)
    with pytest.raises(Refused, match="is not what it was") as caught:
        source.edit(f"app@{part}", shown, if_match=read.etag)
    assert caught.value.code == "stale"
    source.edit(f"app@{part}", read, reload="off")
    assert text(tmp_path, newline) == SCRIPT


def test_a_piece_of_text_is_looked_for_in_the_part_alone(tmp_path: Path) -> None:
    source = laid(tmp_path, SCRIPT.replace("# between", "# import sys"))
    source.edit("app@imports", old="import sys", new="import json", reload="off")
    assert "import json\n" in text(tmp_path)
    with pytest.raises(LookupFailed, match="old does not occur in app@main"):
        source.edit("app@main", old="import os", new="")


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ("docstring", SCRIPT.replace('"""Doc."""\n', "")),
        ("imports", SCRIPT.replace(f"{IMPORTS}\n", "")),
        ("main", SCRIPT.replace(f"\n\n# why\n{MAIN}", "\n\n# why\n")),
    ],
)
def test_a_part_is_deleted(tmp_path: Path, part: str, left: str) -> None:
    source = laid(tmp_path)
    assert source.delete(f"app@{part}", reload="off").text == f"Deleted app@{part}."
    assert text(tmp_path) == left
    with pytest.raises(LookupFailed, match=f"^app has no {'main block' if part == 'main' else part}") as caught:
        source.delete(f"app@{part}")
    assert caught.value.code == "symbol_not_found"


@pytest.mark.parametrize(
    ("part", "new", "whole"),
    [
        ("docstring", '"""D."""', '"""D."""\n\ndef f():\n    return 1\n'),
        ("imports", "import os", "import os\n\n\ndef f():\n    return 1\n"),
        ("main", 'if "__main__" == __name__: f()', 'def f():\n    return 1\n\n\nif "__main__" == __name__: f()\n'),
    ],
)
def test_a_part_that_is_missing_is_made(tmp_path: Path, part: str, new: str, whole: str) -> None:
    source = laid(tmp_path, "def f():\n    return 1\n")
    with pytest.raises(LookupFailed, match=f"editing app@{part}|has no") as caught:
        source.read(f"app@{part}")
    assert caught.value.hints == (f"Give it one by editing app@{part}.",)
    source.edit(f"app@{part}", new, reload="off")
    assert text(tmp_path) == whole


@pytest.mark.parametrize(
    ("part", "new"),
    [
        ("docstring", "Plain words"),
        ("docstring", '"""D."""\nx = 1'),
        ("docstring", '"""D."""  # why'),
        ("imports", "import os\n\n\ndef g():\n    pass\n"),
        ("imports", "x = 1"),
        ("main", "print(1)"),
        ("main", 'if __name__ == "__main__":\n    f()\nprint(1)'),
        ("main", 'if __name__ == "main":\n    f()\n'),
    ],
)
def test_what_is_not_just_the_part_is_refused(tmp_path: Path, part: str, new: str) -> None:
    source = laid(tmp_path)
    with pytest.raises(ResourceError) as caught:
        source.edit(f"app@{part}", new)
    assert caught.value.code in ("unsafe_change", "syntax_invalid")
    assert text(tmp_path) == SCRIPT


def test_what_comes_goes_and_changes_among_definitions_is_named(tmp_path: Path) -> None:
    source = laid(tmp_path)
    outcome = source.edit("app", old="return os.sep", new='return os.sep + "1"', reload="off")
    assert [each.address for each in outcome.changed] == ["app", "app.f"]
    assert outcome.changed[1].etag == source.read("app.f").etag
    outcome = source.edit(
        "app", old="LEVEL = 1", new="DEPTH = 1\n\n\ndef g():\n    pass\n\n\nLEVEL = DEPTH", reload="off"
    )
    assert [each.address for each in outcome.changed] == ["app", "app.LEVEL", "app.DEPTH", "app.g"]
    assert ("added", "Added: DEPTH, g.") in [(each.code, each.message) for each in outcome.warnings]
    outcome = source.edit("app", old="def g():\n    pass", new="def k():\n    pass", reload="off")
    messages = [(each.code, each.message) for each in outcome.warnings]
    assert messages == [("definitions_gone", "No longer defined: g."), ("added", "Added: k.")]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("# between", "def f():\n    return 2", "name_collision"),
        ("# between", "def os():\n    return 2", "name_collision"),
        ("# between", "class f:\n    pass", "name_collision"),
        ("# between", "x = '''", "syntax_invalid"),
        ("# between", "def g():", "unsafe_change"),
        ("# why", "else:", "syntax_invalid"),
        ("print(LEVEL)\n", "x = (", "syntax_invalid"),
        ("sys", "sys +", "syntax_invalid"),
    ],
)
def test_what_would_hurt_the_module_is_refused(tmp_path: Path, old: str, new: str, code: str) -> None:
    source = laid(tmp_path)
    with pytest.raises(ResourceError) as caught:
        source.edit("app", old=old if old != "sys" else "import sys", new=new if old != "sys" else "import sys +")
    assert caught.value.code in (code, "syntax_invalid")
    assert text(tmp_path) == SCRIPT


def test_a_definition_of_a_fallback_does_not_collide(tmp_path: Path) -> None:
    source = laid(tmp_path, "try:\n    from json import loads\nexcept ImportError:\n    pass\n")
    source.edit("app", old="    pass", new="    def loads(x):\n        return x", reload="off")
    assert "def loads" in text(tmp_path)


def test_imports_are_added_to_a_module_by_its_own_name(tmp_path: Path) -> None:
    source = laid(tmp_path)
    outcome = source.edit("app", imports=["import json"], reload="off")
    assert "import json\n" in text(tmp_path)
    assert [each.code for each in outcome.warnings] == ["imports_added"]
    assert source.edit("app", imports=["import json"], reload="off").diff == ""


def test_a_module_as_a_whole_has_its_next_calls(tmp_path: Path) -> None:
    source = laid(tmp_path)
    with pytest.raises(Refused, match="a part or a piece of text") as caught:
        source.edit("app", "x = 1")
    assert any('write("app", overwrite=True)' in hint for hint in caught.value.hints)
    with pytest.raises(RequestError, match="no symbol"):
        source.edit("app", comment="# x")
    for wrong in ("app@body", "app.f@imports", "app.f@main"):
        with pytest.raises(LookupFailed, match="is no part"):
            source.read(wrong)
        with pytest.raises(LookupFailed, match="is no part"):
            source.edit(wrong, "x = 1")


def test_two_main_blocks_are_ambiguous(tmp_path: Path) -> None:
    source = laid(tmp_path, SCRIPT + MAIN)
    with pytest.raises(LookupFailed, match="2 main blocks, on its lines 21, 24") as caught:
        source.read("app@main")
    assert caught.value.code == "ambiguous_symbol"


def test_a_main_block_in_a_string_is_none(tmp_path: Path) -> None:
    source = laid(tmp_path, f"TEXT = '''\n{MAIN}'''\n")
    with pytest.raises(LookupFailed, match="has no main block"):
        source.read("app@main")


@pytest.mark.parametrize("newline", NEWLINES)
def test_what_is_inserted_last_stands_before_the_main_block(tmp_path: Path, newline: str) -> None:
    source = laid(tmp_path, newline=newline)
    source.insert("app", "def g():\n    return 2\n", position="last", reload="off")
    assert text(tmp_path, newline) == SCRIPT.replace("# why\n", "def g():\n    return 2\n\n\n# why\n")


def test_what_is_inserted_last_stands_behind_definitions_that_follow_the_main_block(tmp_path: Path) -> None:
    source = laid(tmp_path, f"{MAIN}\n\ndef h():\n    pass\n")
    source.insert("app", "def g():\n    return 2\n", position="last", reload="off")
    assert text(tmp_path).endswith("def h():\n    pass\n\n\ndef g():\n    return 2\n")


PACKAGE = {
    "pkg/__init__.py": "from .core import f\nfrom other import g\n\n__all__ = ['f']\n",
    "pkg/core.py": "LIMIT = 3\n\n\ndef f():\n    return LIMIT\n",
    "pkg/user.py": "from pkg.core import f\nfrom pkg import core\nimport sys, os\n\n\ndef h():\n    return f()\n",
    "other.py": "def g():\n    return 1\n",
}


def package(root: Path) -> Source:
    for path, content in PACKAGE.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(content)
    return Source(root)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("delete", {}),
        ("edit", {"new_source": "def f():\n    return 2\n"}),
        ("edit", {"old": "LIMIT", "new": "4"}),
        ("insert", {"new_source": "x = 1"}),
    ],
)
@pytest.mark.parametrize(("target", "meant"), [("pkg.user.f", "pkg.core.f"), ("pkg.user.core.f", "pkg.core.f")])
def test_a_change_never_follows_an_import(
    tmp_path: Path, verb: str, arguments: dict[str, str], target: str, meant: str
) -> None:
    source = package(tmp_path)
    with pytest.raises(Refused) as caught:
        getattr(source, verb)(target, **arguments)
    assert caught.value.code == "unsafe_change"
    assert caught.value.candidates == (meant, target)
    assert f"{verb} {meant} means the definition itself." in caught.value.hints
    assert {path: (tmp_path / path).read_text() for path in PACKAGE} == PACKAGE
    assert source.history() == "(no operations)"


@pytest.mark.parametrize(("verb", "arguments"), [("delete", {}), ("move", {"to": "pkg.base"})])
def test_a_module_is_not_deleted_or_moved_by_the_name_of_an_import(
    tmp_path: Path, verb: str, arguments: dict[str, str]
) -> None:
    source = package(tmp_path)
    with pytest.raises(Refused) as caught:
        getattr(source, verb)("pkg.user.core", **arguments)
    assert caught.value.candidates == ("pkg.core", "pkg.user.core")
    assert (tmp_path / "pkg/core.py").read_text() == PACKAGE["pkg/core.py"]


def test_what_a_package_exposes_is_edited_and_named_canonically(tmp_path: Path) -> None:
    source = package(tmp_path)
    outcome = source.edit("pkg.f", old="LIMIT", new="LIMIT + 1", reload="off")
    assert [each.address for each in outcome.changed] == ["pkg.core.f"]
    assert source.insert("pkg.f", "x = 1", reload="off").changed[0].address == "pkg.core.x"
    for target, verb in (("pkg.f", source.delete), ("pkg.g", lambda name: source.edit(name, old="1", new="2"))):
        with pytest.raises(Refused) as caught:
            verb(target)
        assert target in caught.value.candidates


def test_a_name_imported_from_elsewhere_has_the_next_call(tmp_path: Path) -> None:
    source = package(tmp_path)
    (tmp_path / "pkg/user.py").write_text(PACKAGE["pkg/user.py"].replace("import sys, os", "import sys\nimport os"))
    with pytest.raises(LookupFailed) as caught:
        source.delete("pkg.user.sys")
    assert caught.value.hints == ('imports_remove("pkg.user", names=["sys"]) takes the import out.',)
    with pytest.raises(Refused) as refused:
        source.delete("pkg.user.f")
    assert refused.value.hints[1] == ('imports_remove("pkg.user", names=["f"]) takes the import out.')
    source.edit("pkg.user", old="import sys\n", new="", reload="off")
    assert "sys" not in (tmp_path / "pkg/user.py").read_text()


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("from os import path, sep", "from os import path"),
        ("from os import (\n    path,\n    sep,\n)", "from os import (\n    path,\n)"),
        ("if path:\n    from os import sep", "if path:\n    pass"),
    ],
)
def test_the_next_call_takes_the_name_out_however_it_is_imported(tmp_path: Path, statement: str, left: str) -> None:
    source = laid(tmp_path, textwrap.dedent(f"path = 1\n{statement}\n"))
    with pytest.raises(LookupFailed) as caught:
        source.delete("app.sep")
    assert caught.value.hints == ('imports_remove("app", names=["sep"]) takes the import out.',)
    source.imports_remove("app", names=["sep"], reload="off")
    assert (tmp_path / "app.py").read_text() == f"path = 1\n{left}\n"


ACROSS = """\
B = 0


# about C
C = 3


# speaks of f
@dec
def f():
    return 1


class K:
    x = 1

    # about m
    def m(self):
        return 1
"""


@pytest.mark.parametrize("newline", NEWLINES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# about C\nC", "# on C\nC"),
        ("# speaks of f\n@dec\ndef f():", "# new\ndef f(a):"),
        ("\n@dec\ndef f():", "\ndef f(a):"),
        ("C = 3\n\n\n# speaks of f\n@dec\ndef f():", "C = 4\n\n\ndef f():"),
        ("\n\n\nclass K:\n    x = 1", "\n\n\n# on K\nclass K(Base):\n    x = 2"),
        ("    return 1\n\n\nclass K:\n    x = 1", "    return 2\n\n\nclass K(Base):\n    x = 2"),
        ("\n\nclass K:\n    x = 1\n\n    # about m\n    def m(self):", "\n\nclass K:\n    def m(self, a):"),
        ("# speaks of f\n@dec\ndef f():", "def e():\n    return 2\n\n\n# speaks of f\n@dec\ndef f():"),
    ],
)
def test_text_from_above_a_statement_into_it_is_replaced(tmp_path: Path, old: str, new: str, newline: str) -> None:
    source = laid(tmp_path, ACROSS, newline)
    source.edit("app", old=old, new=new, reload="off")
    assert text(tmp_path, newline) == ACROSS.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n@dec\ndef f():\n    return 1\n", "\ndef f():\n    return 1\n\nif f:\n"),
        ("# about C\nC = 3", "# about C\nC = (3,"),
        ("\n@dec\ndef f():\n    return 1\n\n\nclass K:", "\ndef f():\n    return 1\n\n    class K:"),
    ],
)
def test_text_that_draws_in_what_stands_behind_is_refused(tmp_path: Path, old: str, new: str) -> None:
    source = laid(tmp_path, ACROSS)
    with pytest.raises(ResourceError) as caught:
        source.edit("app", old=old, new=new, reload="off")
    assert caught.value.code in ("unsafe_change", "syntax_invalid")
    assert text(tmp_path) == ACROSS
