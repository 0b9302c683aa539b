"""The table of class headers: kept by the stamps of the files, so that it is never that of another content."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk, Folder
from bae_source.project.references.classes import bases as module
from bae_source.project.references.classes.bases import Bases
from bae_source.project.workspace import Workspace
from bae_source.state.cache import Cache
from bae_source.syntax.text.class_headers import named_in
from bae_source.syntax.text.source import Source
from tests.project.support import workspace
from tests.state_folders import state_folders

LATER = 10 * 10**9


class Counted(Disk):
    """A disk that counts the files that are read."""

    read_files = 0

    def glance(self, path: str, size: int) -> bytes:
        self.read_files += 1
        return super().glance(path, size)


def bases(root: Path, later: int = LATER) -> Bases:
    """What a new process has, with nothing but the cache."""
    cache = Cache(state_folders(root), key="test")
    kept = Kept(cache=lambda: cache, clock=lambda: time.time_ns() + later)
    return Bases(Workspace(Counted(root), kept=kept))


def read(asked: Bases) -> int:
    files = asked.workspace.files
    assert isinstance(files, Counted)
    return files.read_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("class Base: ...\n")
    (tmp_path / "b.py").write_text("from a import Base as B\nclass C(B, metaclass=M): ...\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    return tmp_path


def test_headers_and_aliases_are_found() -> None:
    found = Bases(workspace({
        "a.py": "from m import (Base\n  as B, other)\nclass C[T](B[int],\n  x.Mixin): ...\n",
        "b.py": "# é\nfrom m import Ｂase as Ñ, ﷺ as x\nclass D(Ｍixin): ...\n",
    }))  # fmt: skip
    assert found.names("Base") == ("Base", "B", "Ñ")
    assert found.mentioning(["Mixin"]).paths == ("a.py", "b.py")
    assert found.mentioning(["B", "nothing"]).paths == ("a.py",)


HEADERS = {
    "a comment that looks like the end": "class C(\n    A,  # see go():\n    B,  # :) :\n): ...\n",
    "parentheses inside": "class C(make(1, (2)), B): ...\n",
    "a bracket in a string": "class C(named('f(:', '):'), B): ...\n",
    "a default in a lambda": "class C(make(lambda x=(1): x), B): ...\n",
    "type parameters": "class C[T: (int, str), U = list[int]](A[T], B): ...\n",
    "joined lines": "class \\\n C \\\n (A, \\\n B) \\\n : ...\n",
    "behind an empty one": "class A(): ...\nclass C(B): ...\n",
    "behind one that never ends": "'class A(f('\nclass C(x, B): ...\n",
    "letters outside ascii": "class Größe(Maß, Ｂ): ...\n",
    "lone carriage returns": "class C(  # A):\r  B): ...\r",
    "nothing behind it": "class C(B",
    "an end in a string in brackets": 'class P(Generic[Literal["):"]], B): ...\n',
    "many ends in a string": "class Q(make(':-))):'), B): ...\n",
    "an end in a string of several lines": 'class R(make("""a\n): "b" """), B): ...\n',
    "an apostrophe in a comment": "class C(A,  # isn't it (\n  B): ...\n",
    "an end in a string that goes on in the next line": "class C(f('a):\\\r\n):'), B): ...\r\n",
    "a slice in type parameters": "class C[T: x[(1):2]](A[T], B): ...\n",
}


PROSE = """
'''
class x("
'''
class C(f(lambda x=('''a)'''): x), B):
    y = "):"
z = 1
"""
LONG = 60_000
SLOW = {
    "headers in a file without a carriage return": "class A(f(1)): ...\n",
    "headers in one line": "class A(f(1)) ",
    "headers that never end": "class A(f(\n",
    "headers inside each other": "class A(\n",
    "strings that never end": "class A('\n",
}


def test_a_base_is_found_behind_what_looks_like_a_header_that_ends_in_the_true_one() -> None:
    assert Bases(workspace({"a.py": PROSE})).mentioning(["B"]).paths == ("a.py",)


@pytest.mark.parametrize("case", SLOW)
def test_headers_are_found_in_time_that_grows_with_the_text(case: str) -> None:
    def seconds(times: int) -> float:
        begun = time.process_time()
        named_in(SLOW[case].encode() * times + b"):" * times, None)
        return time.process_time() - begun

    assert seconds(LONG) < 6 * seconds(LONG // 2) + 0.2


@pytest.mark.parametrize("case", HEADERS)
def test_a_base_is_found_however_the_header_is_written(case: str) -> None:
    found = Bases(workspace({"a.py": HEADERS[case].encode(), "b.py": "class B(X): ...\nBB = B_ = 1\n"}))
    assert found.mentioning(["B"]).paths == ("a.py",)


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_name_is_no_part_of_a_longer_one(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(module, "FEW", few)
    found = Bases(workspace({
        "a.py": "class C(Base): ...\n",
        "b.py": "class C(Bases, _Base, Base1, aBase, xBase_): ...\n",
        "c.py": "class C(Bases, Base): ...\nclass D(Base): ...\n",
        "d.py": "x = 1\n",
        "e.py": "class C(x.Base[int]): ...\n",
    }))  # fmt: skip
    assert found.mentioning(["Base"]).paths == ("a.py", "c.py", "e.py")
    assert found.mentioning(["Bases", "aBase"]).paths == ("b.py", "c.py")
    assert found.mentioning(["int", "nothing", "x"]).paths == ("e.py",)


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_base_of_letters_with_marks_is_found(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(module, "FEW", few)
    found = Bases(workspace({"a.py": "class Leaf(हिन्दी, other): ...\n"}))
    assert found.mentioning(["हिन्दी"]).paths == ("a.py",)


ALIASES = {
    "one of several": "from m import A, B as C, D\n",
    "a dotted module": "import a . B as C\n",
    "in parentheses": "from m import (  # (A)\n  A,  # the first :)\n  B  # as it is\n  as  # what\n  C,\n)\n",
    "joined lines": "from m \\\n import A, \\\n B \\\n as\\\n C\n",
    "behind a name that looks like it": "import importlib, important; from m import B as C\n",
    "in parentheses behind such a module": "from .importers import (\n  A,\n  B as C,\n)\n",
    "in parentheses behind another import": "import os; from m import (\n  B as C)\n",
    "inside a function": "def f():\n\tfrom m import B\tas\tC\n",
    "lone carriage returns": "import a\rfrom m import B as C\r",
    "a comment right behind the word": "from m import (B as# it is\n  C)\n",
    "letters outside ascii": "from m import Ｂ as C  # é\n",
    "behind a sign in a string": "import os; S = '#'; from m import B as C\n",
    "behind two in strings": "import os; S = '#'; T = '##'; from m import B as C\n",
}


@pytest.mark.parametrize("case", ALIASES)
def test_an_alias_is_found_however_the_import_is_written(case: str) -> None:
    assert Bases(workspace({"a.py": ALIASES[case].encode()})).names("B") == ("B", "C")


def test_what_is_no_import_gives_no_alias() -> None:
    assert Bases(workspace({"a.py": "with B as C: ...\nmatch x:\n  case B as C: ...\n"})).names("B") == ("B",)


def test_another_encoding_is_read_as_python_reads_it() -> None:
    content = "# coding: latin-1\nfrom m import Größe as B\nclass C(Maß): ...\n".encode("latin-1")
    found = Bases(workspace({"a.py": content}))
    assert found.names("Größe") == ("Größe", "B")
    assert found.mentioning(["Maß"]).paths == ("a.py",)


def test_every_base_and_every_alias_that_the_parser_sees_is_found() -> None:
    home = Path(os.__file__).parent
    files = {path.name: path.read_bytes() for folder in STANDARD for path in (home / folder).glob("*.py")}
    found = Bases(workspace(files))
    trees = {name: ast.parse(content) for name, content in files.items()}
    bases = {(name, base) for name, tree in trees.items() for base in _bases(tree)}
    aliases = {pair for tree in trees.values() for pair in _aliases(tree)}
    assert len(bases) > 100
    assert len(aliases) > 10
    assert [(name, base) for name, base in sorted(bases) if name not in found.mentioning([base]).paths] == []
    assert [pair for pair in sorted(aliases) if pair[1] not in found.names(pair[0])] == []


STANDARD = ("asyncio", "ctypes", "email", "importlib", "json", "unittest")


def _bases(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for inner in (inner for base in node.bases for inner in ast.walk(base)):
                if isinstance(inner, (ast.Name, ast.Attribute)):
                    yield inner.id if isinstance(inner, ast.Name) else inner.attr


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((each.name.rpartition(".")[2], each.asname) for each in node.names if each.asname)


def test_another_process_reads_nothing_and_says_the_same(root: Path) -> None:
    first, second = bases(root), bases(root)
    for asked, count in ((first, 3), (second, 0)):
        assert asked.names("Base") == ("Base", "B")
        assert asked.mentioning(["M"]).paths == ("b.py",)
        assert read(asked) == count


def test_a_file_that_changed_is_read_again_and_no_other(root: Path) -> None:
    assert bases(root).mentioning(["M"]).paths == ("b.py",)
    (root / "b.py").write_text("from a import Base as B\nclass C(B, metaclass=N): ...\n")
    (root / "c.py").unlink()
    asked = bases(root)
    assert asked.mentioning(["M"]).paths == ()
    assert asked.mentioning(["N"]).paths == ("b.py",)
    assert read(asked) == 1
    assert read(bases(root)) == 0


def test_bytes_that_a_request_has_are_what_counts_in_it(root: Path) -> None:
    asked = bases(root)
    assert asked.workspace.content("b.py") is not None
    (root / "b.py").write_text("class C(N): ...\n")
    assert bases(root).mentioning(["N"]).paths == ("b.py",), "what another process keeps meanwhile"
    assert asked.mentioning(["N"]).paths == ()
    assert asked.mentioning(["M"]).paths == ("b.py",)
    assert bases(root).mentioning(["N"]).paths == ("b.py",)


def test_what_is_kept_is_used_whole_though_a_request_has_read_some_files(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        asked = bases(root)
        assert asked.workspace.content("b.py")
        assert asked.workspace.index.uses("b.py").owners == ("", "C")
        assert asked.names("Base") == ("Base", "B")
        monkeypatch.setattr(module, "contents_of", None)
    monkeypatch.undo()
    with_other_bytes = bases(root)
    (root / "b.py").write_text("from a import Base as D\n")
    assert with_other_bytes.workspace.content("b.py")
    assert with_other_bytes.names("Base") == ("Base", "D")


@pytest.mark.parametrize("many", [0, 500])
def test_what_another_search_reads_is_not_read_again(root: Path, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bae_source.project.facts.mentions.MANY", many)
    asked = bases(root)
    assert asked.are_unknown
    assert asked.workspace.index.naming(["Base"], asked.note).paths == ("a.py", "b.py")
    assert read(asked) == 3
    assert asked.names("Base") == ("Base", "B")
    assert asked.mentioning(["M"]).paths == ("b.py",)
    assert read(asked) == 3
    assert not asked.are_unknown
    assert not bases(root).are_unknown, "it is kept"


def test_what_a_search_and_headers_are_looked_for_in_is_decoded_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "b.py").write_text("from a import Größe as B\nclass C(B): ...\n")
    decoded: list[bytes] = []
    decode = Source.__init__

    def noted(source: Source, content: bytes, *rest: Any, **more: Any) -> None:
        decoded.append(content)
        decode(source, content, *rest, **more)

    monkeypatch.setattr(Source, "__init__", noted)
    asked = bases(root)
    assert asked.workspace.index.naming(["Base"], asked.note).paths == ("a.py",)
    assert asked.names("Größe") == ("Größe", "B")
    assert decoded == [(root / "b.py").read_bytes()]


def test_what_another_search_read_and_changed_since_is_read_again(root: Path) -> None:
    asked = bases(root)
    asked.workspace.index.naming(["Base"], asked.note)
    (root / "b.py").write_text("class C(N): ...\n")
    assert asked.workspace.content("b.py") == b"class C(N): ...\n", "what the request sees from now on"
    assert asked.mentioning(["N"]).paths == ("b.py",)
    assert asked.mentioning(["M"]).paths == ()


def test_another_search_that_cannot_read_a_file_hides_nothing(root: Path) -> None:
    (root / "d.py").write_bytes(b"# coding: unheard-of\nimport x\n")
    asked = bases(root)
    asked.workspace.index.naming(["Base"], asked.note)
    assert [path for path, _ in asked.mentioning(["M"]).unreadable] == ["d.py"]


def test_what_is_kept_is_used_whole_again_once_a_change_was_noted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bases(root).names("Base") == ("Base", "B")
    (root / "a.py").write_text("class Base: ...\nx = 1\n")
    assert bases(root).names("Base") == ("Base", "B")
    monkeypatch.setattr(module, "contents_of", None)
    assert bases(root).names("Base") == ("Base", "B")


class Closed(Disk):
    """A disk of which one folder may not be listed."""

    def folder(self, path: str) -> Folder:
        found = super().folder(path)
        return replace(found, folders=(), files=(), readable=False) if path == "locked" else found


def test_a_folder_that_may_not_be_listed_may_hold_more(root: Path) -> None:
    (root / "locked").mkdir()
    (root / "locked" / "d.py").write_text("class D(Base): ...\n")
    for _ in range(2):
        kept = Kept(clock=lambda: time.time_ns() + LATER)
        found = Bases(Workspace(Closed(root), kept=kept)).mentioning(["B"])
        assert found.paths == ("b.py",)
        assert [path for path, _ in found.unreadable] == ["locked"]


def test_a_file_that_was_written_just_now_is_read_each_time(root: Path) -> None:
    for _ in range(2):
        asked = bases(root, later=0)
        assert asked.mentioning(["M"]).paths == ("b.py",)
        assert read(asked) == 3


def test_a_file_that_cannot_be_read_is_named_each_time(root: Path) -> None:
    (root / "d.py").write_bytes(b"# coding: unheard-of\nimport x\n")
    for _ in range(2):
        assert [path for path, _ in bases(root).mentioning(["M"]).unreadable] == ["d.py"]


@pytest.mark.parametrize(
    "saved",
    [
        b"\xc1",
        b"\x93\xa1\xff\x90\xa0",
        msgspec.msgpack.encode(1),
        msgspec.msgpack.encode(([], "", "")),
        msgspec.msgpack.encode(((1, 2, 3), "\0M\0", "\0\0")),
        ("", "\0\0"),
        ("\0M\0", "a b\0"),
        ("\0M\0\0", "\0\0\0"),
    ],
)
def test_what_cannot_be_understood_is_made_anew(root: Path, saved: bytes | tuple[str, str]) -> None:
    workspace = bases(root).workspace
    if isinstance(saved, tuple):  # of these very files, but not of as many
        saved = msgspec.msgpack.encode((workspace.census.mark, *saved))
    workspace.kept.store({"bases": saved})
    asked = bases(root)
    assert asked.mentioning(["M"]).paths == ("b.py",)
    assert read(asked) == 3


@pytest.mark.parametrize("files", [b"\xc1", msgspec.msgpack.encode(("a.py\0b.py\0c.py", []))])
def test_of_headers_whose_files_are_not_known_to_be_theirs_nothing_is_known(root: Path, files: bytes) -> None:
    asked = bases(root)
    assert asked.mentioning(["M"]).paths == ("b.py",)
    (root / "a.py").write_text("class X(M): ...\n")
    asked.workspace.kept.store({"bases of": files})
    again = bases(root)
    assert again.mentioning(["M"]).paths == ("a.py", "b.py")
    assert read(again) == 3
