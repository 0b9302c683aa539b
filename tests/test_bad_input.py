"""Bad input, from source that does not parse to a disk that is full: each has its code, its exit status, a next step.

Nothing is changed, and nobody sees a traceback. What a case can say as text stands in tests/cases; here is what needs
a hostile name, an enormous file or a broken system.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError, TransactionError
from tests import generated
from tests.test_cases import picture
from tests.transaction.support import FaultyDisk

REPOSITORY = Path(__file__).parent.parent
MODULE = '''"""A module."""

import os


class C:
    """A class."""

    # why f
    def f(self):
        """Say one."""
        return 1

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        pass


LIMIT = 3
'''
FILES = {
    "m.py": MODULE.encode(),
    "broken.py": b"def f():\n    return 1\n\ndef g(:\n",
    "garbage.py": b"x = 1\ny = '\xff\xfe'\n",
    "pkg/__init__.py": b"",
    "pkg/inner.py": b"x = 1\n",
}
GOOD = "def f(self):\n    return 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, content in FILES.items():
        _write(root / name, content)
    return root


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _theirs(root: Path) -> dict[str, tuple[object, ...]]:
    """What belongs to the project: everything but our own folder."""
    return {name: facts for name, facts in picture(root).items() if name.partition("/")[0] != ".bae-source"}


def _refused(root: Path, kind: type[ResourceError], code: str, call: Callable[[Source], object]) -> ResourceError:
    """Make a call that must fail, and check all that holds of every failure."""
    before = _theirs(root)
    with pytest.raises(ResourceError) as caught:
        call(Source(root))
    error = caught.value
    assert (type(error), error.code) == (kind, code), error.message
    assert _theirs(root) == before
    assert error.hints or error.candidates, f"no next step: {error.message}"
    assert error.message.endswith((".", "?", "…"))
    assert str(root) not in " ".join((error.message, *error.hints, *error.candidates))
    assert pickle.loads(pickle.dumps(error)) == error
    return error


BAD_SOURCE = {
    "a syntax error": ("m.C.f", "def f(self):\n    x = 1\n    return x +* 1\n", (3, 15)),
    "behind leading imports": ("m.C.f", "import re\nimport sys\n\n\ndef f(self):\n    return 1 +* 2\n", (6, 15)),
    "too deep": ("m.C.f", "        def f(self):\n            return 1 +* 2\n", (2, 23)),
    "first line stripped": ("m.C.f", "def f(self):\n        x = 1\n        return 1 +* 2\n", (3, 19)),
    "with CRLF": ("m.C.f", "def f(self):\r\n    x = 1\r\n    return x +* 1\r\n", (3, 15)),
    "behind a comment": ("m.C.f", "# why\ndef f(self):\n    return 1 +* 2\n", (3, 15)),
    "in a body": ("m.C.f@body", "x = 1\nreturn x +* 1\n", (2, 11)),
    "in an indented body": ("m.C.f@body", "        x = 1\n        return x +* 1\n", (2, 19)),
    "in decorators": ("m.C.f@decorators", "@one\n@two(+* 1)\n", (2, 7)),
    "an open bracket": ("m.C.f", "def f(self):\n    x = [1,\n    return x\n", (2, 9)),
    "an open string": ("m.LIMIT", 'LIMIT = """\n', (1, 9)),
    "an indentation that fits nothing": (
        "m.C.f",
        "def f(self):\n    if self:\n        x = 1\n      y = 2\n",
        (4, None),
    ),
    "unexpected indentation": ("m.C.f", "def f(self):\n    x = 1\n      y = 2\n", (3, None)),
    "no suite": ("m.C.f", "def f(self):\n", (1, None)),
}


@pytest.mark.parametrize("name", BAD_SOURCE)
def test_source_that_does_not_parse_is_refused_with_its_own_line_and_column(root: Path, name: str) -> None:
    target, new_source, (line, column) = BAD_SOURCE[name]
    error = _refused(root, SourceError, "syntax_invalid", lambda source: source.edit(target, new_source, reload="off"))
    assert error.details["line"] == line
    assert column in (None, error.details["column"])
    assert f"line {line}, column {error.details['column']}" in error.message


def test_inserted_source_that_does_not_parse_is_refused_with_its_own_line_and_column(root: Path) -> None:
    text = "import re\n\n\ndef g(self):\n    return 1 +* 2\n"
    error = _refused(root, SourceError, "syntax_invalid", lambda source: source.insert("m.C.f", text, reload="off"))
    assert (error.details["line"], error.details["column"]) == (5, 15)


NOT_WHAT_WAS_ASKED = {
    "another name": ("m.C.f", "def g(self):\n    return 1\n", "binds g, not f"),
    "no name": ("m.C.f", "print(1)\n", "no name"),
    "nothing": ("m.C.f", "\n\n", "f"),
    "a comment": ("m.C.f", "# only this\n", "f"),
    "imports alone": ("m.C.f", "import os\n", "f"),
    "statements beside": ("m.C.f", f"{GOOD}print(1)\n", "statements"),
    "one name of two": ("m.C.size@getter", "@size.setter\ndef size(self, value):\n    pass\n", "setter"),
    "part of a group": ("m.C.size", "@property\ndef size(self):\n    return 2\n", "drop"),
    "two signatures": ("m.C.f@signature", "def f(self): pass\ndef f(self):", "signature"),
    "a signature with a body": ("m.C.f@signature", GOOD, "signature"),
    "a class for a function's signature": ("m.C.f@signature", "class f:", "signature"),
    "another name's signature": ("m.C.f@signature", "def g(self):", "of g"),
    "a statement behind decorators": ("m.C.f@decorators", "@property\ndef f(self): pass\nx = 1\n", "decorators"),
    "a statement for decorators": ("m.C.f@decorators", "x = 1\n", "decorators"),
    "a statement behind a docstring": ("m.C.f@docstring", '"""One."""\nprint(1)\n', "docstring"),
    "two docstrings": ("m.C.f@docstring", '"""One."""\n"""Two."""\n', "docstring"),
    "an expression for a docstring": ("m.C.f@docstring", '"""One.""" % 1\n', "docstring"),
    "bytes for a docstring": ("m.C.f@docstring", 'b"""One."""\n', "docstring"),
    "an empty body": ("m.C.f@body", "\n", "body"),
    "a module": ("m", "x = 1\n", "module"),
}


@pytest.mark.parametrize("name", NOT_WHAT_WAS_ASKED)
def test_source_that_is_something_else_is_refused(root: Path, name: str) -> None:
    target, new_source, fragment = NOT_WHAT_WAS_ASKED[name]
    error = _refused(root, Refused, "unsafe_change", lambda source: source.edit(target, new_source, reload="off"))
    assert fragment in error.message


def test_a_lone_surrogate_is_refused_with_its_place(root: Path) -> None:
    text = "def f(self):\n    return '\ud800'\n"
    error = _refused(root, RequestError, "invalid_arguments", lambda source: source.edit("m.C.f", text))
    assert "line 2, column 13" in error.message


NO_TEXT: dict[str, tuple[type[ResourceError], str, Callable[[Source], object]]] = {
    "the message of several changes": (
        RequestError,
        "invalid_arguments",
        lambda source: source.apply([{"do": "delete", "target": "pkg.inner.x"}], message="\ud800", reload="off"),
    ),
    "an import": (
        RequestError,
        "invalid_arguments",
        lambda source: source.edit("m.C.f", GOOD, imports=["import \ud800"], reload="off"),
    ),
    "the new name of a data file": (
        Refused,
        "unsafe_change",
        lambda source: source.move("pkg:data.txt", "pkg:\udcff.txt", reload="off"),
    ),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(root: Path, name: str) -> None:
    _write(root / "pkg/data.txt", b"x")
    kind, code, call = NO_TEXT[name]
    _refused(root, kind, code, call)


def test_a_user_whose_name_is_no_utf8_can_change_and_undo(root: Path) -> None:
    environment = {**os.environ, "USER": "J\udcfcrgen"}
    assert _command(root, "delete", "pkg.inner.x", env=environment).returncode == 0
    assert b"J\\udcfcrgen" in _command(root, "history", env=environment).stdout
    assert _command(root, "undo", env=environment).returncode == 0
    assert (root / "pkg/inner.py").read_bytes() == FILES["pkg/inner.py"]


HOSTILE = {
    "white space": " ",
    "a dot": ".",
    "two dots": "..",
    "an empty component": "m..C",
    "a dot before": ".m",
    "a dot behind": "m.C.",
    "a path": "pkg/inner.py",
    "a file": "m.py",
    "a path that climbs": "../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "a path of Windows": "C:\\project\\m.py",
    "a home folder": "~root/m",
    "an address of the web": "file:///etc/passwd",
    "a data file that climbs": "pkg:../../etc/passwd",
    "a data file, absolute": "pkg:/etc/passwd",
    "NUL": "m.C\0.f",
    "a line feed": "m.C\n.f",
    "an escape sequence": "m.\x1b[2J",
    "a text that turns round": "m.\u202eC",
    "a lone surrogate": "m.\ud800",
    "a shell's command": "m.$(id)",
    "a list of commands": "m.C;rm -rf .",
    "an option": "--root=/",
    "a negative number": "m.C[-1]",
    "an enormous number": "m.C[99999999999999999999]",
    "an unknown part": "m.C@nonsense",
    "two parts": "m.C@body@docstring",
    "a name behind a part": "m.C@body.f",
    "a part alone": "@body",
    "a number alone": "[0]",
    "a call": "m.C.f()",
    "a comprehension": "m.C[f for f in ()]",
    "a very long name": "m." + "x" * 100_000,
    "very many components": ".".join(["m"] * 400),
    "a name in another alphabet": "м.C",
    "a name that is not there": "m.C.g",
    "a module that is not there": "nope.C",
    "a member of a value": "m.LIMIT.real",
    "a number that is not there": "m.C[7]",
    "a stub": "m@stub.C",
    "a builtin": "builtins.print",
    "the standard library": "os.path.join",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("verb", ["read", "edit", "insert", "delete"])
def test_a_hostile_name_is_refused_at_the_door(root: Path, name: str, verb: str) -> None:
    target = HOSTILE[name]
    before = picture(root)
    call = getattr(Source(root), verb)
    with pytest.raises((RequestError, LookupFailed)) as caught:
        call(target, *([GOOD] if verb in ("edit", "insert") else []))
    error = caught.value
    assert error.code in ("invalid_name", "invalid_arguments", "symbol_not_found")
    assert len(error.message) < 2_000
    assert "\x1b" not in error.message
    assert error.hints or error.candidates, f"no next step: {error.message}"
    assert picture(root) == before, "not even our own folder was made"


@pytest.mark.parametrize("verb", ["edit", "insert", "delete"])
def test_no_name_at_all_is_refused_by_what_changes(root: Path, verb: str) -> None:
    given = () if verb == "delete" else (GOOD,)
    _refused(root, RequestError, "invalid_arguments", lambda source: getattr(source, verb)("", *given))


@pytest.mark.parametrize("target", [None, 325035, ["m", 3], b"m.C", {"m": 1}, True], ids=repr)
def test_what_is_no_text_is_no_name(root: Path, target: Any) -> None:
    error = _refused(root, RequestError, "invalid_arguments", lambda source: source.read(target))
    assert "target" in error.message


def test_several_arguments_that_are_wrong_are_all_named(root: Path) -> None:
    def call(source: Source) -> object:
        return source.edit("m.C.f", new_source=1, old=2, imports=(3,))  # type: ignore[arg-type]

    error = _refused(root, RequestError, "invalid_arguments", call)
    assert all(name in error.message for name in ("new_source", "old", "imports"))


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as caught:
        Source(tmp_path / "nowhere")
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints


def test_a_missing_symbol_has_near_names_as_candidates_and_none_is_taken(root: Path) -> None:
    error = _refused(root, LookupFailed, "symbol_not_found", lambda source: source.edit("m.C.siz", GOOD))
    assert "m.C.size" in error.candidates


def test_an_ambiguous_symbol_has_candidates_that_can_be_used_as_they_stand(root: Path) -> None:
    _write(root / "two.py", b"if 1:\n    def f(): return 1\nelse:\n    def f(): return 2\n")
    error = _refused(root, LookupFailed, "ambiguous_symbol", lambda source: source.edit("two.f", "def f(): pass\n"))
    assert [Source(root).read(candidate, dedent=True) for candidate in error.candidates] == [
        "def f(): return 1\n",
        "def f(): return 2\n",
    ]


@pytest.mark.parametrize("verb", ["edit", "insert", "delete"])
def test_a_stale_etag_is_refused_and_the_error_has_the_new_one(root: Path, verb: str) -> None:
    source = Source(root)
    seen = source.read("m.C.f").etag
    source.edit("m.C.f", GOOD, reload="off")
    present = str(source.read("m.C.f").etag)
    given = () if verb == "delete" else ("def g(self): pass\n" if verb == "insert" else GOOD,)
    error = _refused(root, Refused, "stale", lambda source: getattr(source, verb)("m.C.f", *given, if_match=seen))
    assert any(present in hint for hint in error.hints)


@pytest.mark.parametrize(
    ("target", "code", "place"), [("broken.f", "syntax_invalid", "line 4"), ("garbage.x", "encoding_invalid", "line 2")]
)
def test_a_file_at_fault_is_named_and_the_others_can_be_edited(root: Path, target: str, code: str, place: str) -> None:
    module = target.partition(".")[0]
    for call in (lambda source: source.read(target), lambda source: source.edit(target, "x = 2\ndef f(): pass\n")):
        error = _refused(root, SourceError, code, call)
        assert module in error.message
        assert place in error.message
    assert Source(root).edit("m.LIMIT", "LIMIT = 4\n", reload="off").status == "applied"


MONSTERS = {
    "a chain of 20,000 terms": generated.long_chain(20_000),
    "20,000 unary signs": generated.deep_unary(20_000),
    "190 brackets": generated.deep_brackets(190),
    "3,000 branches": generated.deep_elif(3_000),
    "20,000 attributes": generated.attribute_chain(20_000),
    "20,000 calls": generated.call_chain(20_000),
    "5,000 conditional expressions": generated.nested_ternaries(5_000),
    "60 brackets in a pattern": generated.match_brackets(60),
    "98 nested functions": generated.deep_suites(98),
    "a line of a million characters": generated.long_line(1_000_000),
    "10,000 lines": generated.ten_thousand_lines(),
}


@pytest.mark.parametrize("name", MONSTERS)
def test_beside_a_monster_other_definitions_are_edited(root: Path, name: str) -> None:
    content = MONSTERS[name]
    _write(root / "monster.py", content)
    source = Source(root)
    target, old, new = "before", "return 1", "return 10"
    if name == "10,000 lines":
        target, old, new = "Class7.method", "return self.size + value", "return value + self.size"
    if name == "a line of a million characters":
        target, old, new = "last", "last = 2", "last = 3"
    text = source.read(f"monster.{target}")
    outcome = source.edit(f"monster.{target}", text.replace(old, new), if_match=text.etag, reload="off")
    assert outcome.status == "applied"
    after = (root / "monster.py").read_bytes()
    assert after.count(new.encode()) == content.count(new.encode()) + 1
    at = after.index(str(text).replace(old, new).encode())
    assert after[:at] == content[:at]
    tail = len(after) - at - len(text.replace(old, new).encode())
    assert after[len(after) - tail :] == content[len(content) - tail :]


CHAIN = "(\n        1\n" + "        + 1\n" * 19_999 + "    )"


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(CHAIN, id="a chain of 20,000 terms"),
        pytest.param("[" * 190 + "]" * 190, id="190 brackets"),
        pytest.param("-" * 20_000 + "1", id="20,000 unary signs"),
        pytest.param("1 if self else " * 5_000 + "0", id="5,000 conditional expressions"),
    ],
)
def test_a_monster_is_taken_as_new_source(root: Path, expression: str) -> None:
    new_source = f"def f(self):\n    return {expression}\n"
    outcome = Source(root).edit("m.C.f", new_source, reload="off")
    assert outcome.status == "applied"
    changed = (root / "m.py").read_bytes().decode()
    head, tail = MODULE.split('    def f(self):\n        """Say one."""\n        return 1\n')
    assert changed.startswith(head)
    assert changed.endswith(tail)
    assert Source(root).edit("m.C.f", new_source, reload="off").diff == ""


@pytest.mark.parametrize("brackets", [250, 5_000, 100_000])
def test_source_that_no_python_could_read_is_refused_without_a_crash(root: Path, brackets: int) -> None:
    text = f"def f(self):\n    return {'[' * brackets}{']' * brackets}\n"
    error = _refused(root, SourceError, "syntax_invalid", lambda source: source.edit("m.C.f", text))
    assert error.details["line"] == 2


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_is_read_only_is_not_written_by_root_either(root: Path, which: str) -> None:
    path = root / "pkg/inner.py" if which == "file" else root / "pkg"
    path.chmod(0o444 if which == "file" else 0o555)
    error = _refused(root, Refused, "forbidden", lambda source: source.edit("pkg.inner.x", "x = 2\n", reload="off"))
    assert "pkg.inner" in error.message
    assert "read-only" in error.message
    path.chmod(0o644 if which == "file" else 0o755)
    assert Source(root).edit("pkg.inner.x", "x = 2\n", reload="off").status == "applied"


@pytest.mark.parametrize("which", ["file", "folder"])
@pytest.mark.parametrize("verb", ["rename", "move", "delete"])
def test_a_refactoring_changes_nothing_where_one_of_its_files_is_read_only(root: Path, which: str, verb: str) -> None:
    (root / "uses.py").write_text("from pkg.inner import x\n\n__all__ = ['x']\n")
    path = root / "pkg/inner.py" if which == "file" else root / "pkg"
    path.chmod(0o444 if which == "file" else 0o555)
    calls = {
        "rename": lambda source: source.rename("pkg.inner.x", "y", reload="off"),
        "move": lambda source: source.move("pkg.inner.x", "m", reload="off"),
        "delete": lambda source: source.delete("pkg.inner.x", force=True, with_imports=True, reload="off"),
    }
    error = _refused(root, Refused, "forbidden", calls[verb])
    assert "read-only" in error.message
    path.chmod(0o644 if which == "file" else 0o755)
    assert calls[verb](Source(root)).status == "applied"


def test_a_full_disk_at_any_write_changes_nothing_or_comes_too_late_to_matter(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, failed = (root / "m.py").read_bytes(), 0
    for number in range(1, 50):
        disk = FaultyDisk(number, errno.ENOSPC, only=frozenset({"write", "write_at"}), forever=True)
        monkeypatch.setattr("bae_source.transaction.commit.transaction.RealDisk", lambda disk=disk: disk)
        if _fails_on_a_full_disk(root):
            failed += 1
        else:
            assert Source(root).read("m.C.f", dedent=True) == GOOD
            (root / "m.py").write_bytes(before)
        if not disk.fired:
            break
    assert failed > 2, "it was full at several calls"
    assert not disk.fired


def _fails_on_a_full_disk(root: Path) -> bool:
    before = _theirs(root)
    error = _error_of(lambda: Source(root).edit("m.C.f", GOOD, reload="off"))
    if error is None:
        return False
    assert (type(error), error.code) in ((TransactionError, "write_failed"), (Refused, "forbidden"))
    assert "full" in error.message
    assert "nothing was changed" in error.message
    assert error.hints
    assert _theirs(root) == before
    return True


def _error_of(call: Callable[[], object]) -> ResourceError | None:
    try:
        call()
    except ResourceError as error:
        return error
    return None


def test_a_limit_of_the_file_size_is_met_by_the_journal_first_and_changes_nothing(root: Path) -> None:
    _write(root / "large.py", MODULE.encode() + b"# filled\n" * 20_000)
    before = _theirs(root)
    done = _command(
        root,
        *("edit", "large.C.f", "--code", GOOD, "--reload", "off", "--json"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
    )
    (error,) = json.loads(done.stdout)["errors"]
    assert (error["code"], done.returncode) == ("forbidden", 5)
    assert "nothing was changed" in error["message"]
    assert error["hints"]
    assert _theirs(root) == before
    done = _command(root, "edit", "large.C.f", "--code", GOOD, "--reload", "off", "--json")
    assert done.returncode == 0, "nothing of the failed attempt is in the way"


def test_without_git_edits_work_and_the_history_says_so(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    source = Source(root)
    outcome = source.edit("m.C.f", GOOD, reload="off")
    assert outcome.status == "applied"
    assert [warning.code for warning in outcome.warnings] == ["docstring_dropped", "history_unavailable"]
    assert outcome.next_actions == ()
    assert source.read("m.C.f", dedent=True) == GOOD
    for call in (source.history, source.undo, source.redo):
        with pytest.raises(ResourceError) as caught:
            call()
        assert caught.value.exit_code == 7
        assert "git" in " ".join((caught.value.message, *caught.value.hints))
        assert caught.value.hints


def _command(root: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bae_source", *arguments, "--root", str(root)],
        cwd=REPOSITORY,
        capture_output=True,
        timeout=300,
        **{"stdin": subprocess.DEVNULL, **more},
    )


COMMANDS: Mapping[str, tuple[list[str], str, int]] = {
    "unparsable": (["edit", "m.C.f", "--code", "def f(self:\n"], "syntax_invalid", 4),
    "another name": (["edit", "m.C.f", "--code", "def g(self): pass\n"], "unsafe_change", 5),
    "a missing symbol": (["edit", "m.C.nope", "--code", GOOD], "symbol_not_found", 3),
    "a stale etag": (["edit", "m.C.f", "--code", GOOD, "--if-match", "0" * 16], "stale", 5),
    "a broken file": (["read", "broken.f"], "syntax_invalid", 4),
    "an undecodable file": (["edit", "garbage.x", "--code", "x = 2\n"], "encoding_invalid", 4),
    "a path": (["read", "pkg/inner.py"], "invalid_name", 2),
    "a climbing path": (["delete", "../../etc/passwd"], "invalid_name", 2),
    "a shell's command": (["read", "m.$(id)"], "invalid_name", 2),
    "bytes that are no UTF-8": (["read", os.fsdecode(b"m.\xff")], "invalid_name", 2),
    "an unknown verb": (["frobnicate", "m"], "unknown_operation", 2),
    "an unknown option": (["read", "m", "--frobnicate"], "invalid_arguments", 2),
    "no target": (["delete"], "invalid_arguments", 2),
    "old without new": (["edit", "m.C.f", "--old", "1"], "invalid_arguments", 2),
    "a source that is not there": (["edit", "m.C.f", "--source", "nowhere.py"], "invalid_arguments", 2),
    "nothing to undo": (["undo"], "nothing_to_undo", 7),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_fails_says_why_and_what_next(root: Path, name: str) -> None:
    arguments, code, status = COMMANDS[name]
    before = _theirs(root)
    as_json = _command(root, *arguments, "--json")
    outcome = json.loads(as_json.stdout)
    (error,) = outcome["errors"]
    assert (error["code"], as_json.returncode, outcome["status"]) == (code, status, "error"), error["message"]
    assert error["hints"] or error["candidates"]
    assert as_json.stdout.count(b"\n") == 1
    assert as_json.stderr == b""
    plain = _command(root, *arguments)
    assert plain.returncode == status
    assert plain.stdout == b""
    assert plain.stderr.startswith(f"error[{code}]: ".encode())
    assert b"Traceback" not in plain.stderr
    assert b"  -> " in plain.stderr or b"candidates:" in plain.stderr
    assert _theirs(root) == before


def test_source_on_standard_input_that_is_no_utf8_is_refused(root: Path) -> None:
    before = _theirs(root)
    done = _command(root, "edit", "m.C.f", "--source", "-", "--json", stdin=None, input=b"def f(self):\n    '\xff'\n")
    (error,) = json.loads(done.stdout)["errors"]
    assert (error["code"], done.returncode) == ("invalid_arguments", 2)
    assert "line 2" in error["message"]
    assert _theirs(root) == before


def test_a_process_survives_a_monster_that_kills_a_parser(root: Path) -> None:
    for name, content in (("chain", MONSTERS["a chain of 20,000 terms"]), ("unary", MONSTERS["20,000 unary signs"])):
        _write(root / f"{name}.py", content)
        done = _command(
            root, "edit", f"{name}.after", "--old", "return 2", "--new", "return 20", "--reload", "off", "--json"
        )
        assert done.returncode == 0, done.stdout
        assert (root / f"{name}.py").read_bytes() == content.replace(b"return 2", b"return 20")
    monster = f"def f(self):\n    return {CHAIN}\n".encode()
    done = _command(root, "edit", "m.C.f", "--source", "-", "--reload", "off", "--json", stdin=None, input=monster)
    assert done.returncode == 0, done.stdout
