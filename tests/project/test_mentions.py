"""The candidates of a search: no file that could refer to a word is missed, whatever it is encoded in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bae_source.errors import Refused, SourceError
from bae_source.project.facts import mentions
from bae_source.project.facts.kept import Kept
from bae_source.project.facts.mentions import Words
from bae_source.project.files.port import Disk
from bae_source.project.workspace import Workspace
from tests.memory import Memory
from tests.project.support import workspace

HOLDS = {
    "plain": b"send(1)\n",
    "part of a longer word": b"resend(1)\n",
    "in a string": b"getattr(x, 'send')\n",
    "full width": "\uff53end(1)\n".encode(),
    "mathematical letters": "\U0001d460\U0001d452\U0001d45b\U0001d451(1)\n".encode(),
    "long s": "\u017fend(1)\n".encode(),
    "with a byte order mark": b"\xef\xbb\xbfsend(1)\n",
    "beside what cannot be decoded": b"send('\xff\xfe')\n",
    "latin-1": b"# -*- coding: latin-1 -*-\n\xe9 = send\n",
    "full width in another encoding": "# coding: gb18030\n\uff53end(1)\n".encode("gb18030"),
}
LACKS = {
    "nothing": b"",
    "other words": b"receive(1)\n",
    "another case": b"Send(1)\n",
    "accented": "s\u00e9nd('caf\u00e9', 'x\u00b2')\n".encode(),
    "cut by a line": b"se\\\nnd(1)\n",
}


@pytest.mark.parametrize("case", HOLDS)
def test_a_file_that_python_reads_the_word_in_is_found(case: str) -> None:
    assert Words(["other_word", "send"]).occur_in(HOLDS[case])


@pytest.mark.parametrize("case", LACKS)
def test_a_file_without_the_word_is_not(case: str) -> None:
    assert not Words(["other_word", "send"]).occur_in(LACKS[case])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-7"])
@pytest.mark.parametrize("written", ["gr\u00f6\u00dfe", "gro\u0308\u00dfe"])
def test_a_word_outside_ascii_is_found_in_every_spelling_and_encoding(encoding: str, written: str) -> None:
    if encoding in ("latin-1", "cp1252"):
        written = "gr\u00f6\u00dfe"
    content = f"# -*- coding: {encoding} -*-\n{written} = 1\n".encode(encoding)
    assert Words(["gr\u00f6\u00dfe"]).occur_in(content)
    assert Words(["gro\u0308\u00dfe"]).occur_in(content)
    assert not Words(["gr\u00f6\u00dfer"]).occur_in(content)


def test_a_file_that_cannot_be_decoded_may_hold_anything() -> None:
    for content in (b"x = '\xff'\n", b"# coding: no-such-codec\nx = 1\n", b"# coding: utf-7\n+AHMAZQBuAGQ-(1)\n"):
        with pytest.raises(SourceError) as caught:
            Words(["send"]).occur_in(content)
        assert caught.value.code in ("encoding_invalid", "not_lossless")


def test_paths_are_sorted_and_what_was_not_read_is_named() -> None:
    found = workspace({"z.py": "send", "a.py": "send", "m.py": "x", "bad.py": b"'\xff'", "d.txt": "send"})
    mentioning = found.index.mentioning({"send"})
    assert mentioning.paths == ("a.py", "z.py")
    assert [(path, error.code) for path, error in mentioning.unreadable] == [("bad.py", "encoding_invalid")]


def test_a_file_of_gigantic_size_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("send")
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(3_000_000_000)
    mentioning = Workspace(Disk(tmp_path)).index.mentioning({"send"})
    assert mentioning.paths == ("a.py",)
    assert [(path, error.code) for path, error in mentioning.unreadable] == [("huge.py", "not_lossless")]


def test_planned_text_is_what_counts() -> None:
    files = Memory({"a.py": b"send", "b.py": b"x"})
    assert Workspace(files, overlay={"a.py": b"x", "b.py": b"send"}).index.mentioning({"send"}).paths == ("b.py",)


def test_a_file_without_leave_and_one_that_vanishes_are_named(tmp_path: Path) -> None:
    for name in ("a.py", "gone.py", "shut.py"):
        (tmp_path / name).write_text("send")

    class Guarded(Disk):
        def glance(self, path: str, size: int) -> bytes:
            if path == "shut.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().glance(path, size)

    found = Workspace(Guarded(tmp_path))
    assert len(found.census.paths) == 3
    (tmp_path / "gone.py").unlink()
    mentioning = found.index.mentioning({"send"})
    assert mentioning.paths == ("a.py",)
    assert [(path, error.code) for path, error in mentioning.unreadable] == [
        ("gone.py", "stale"), ("shut.py", "forbidden"),
    ]  # fmt: skip


ALONE = {
    "a call": b"send(1)\n",
    "an attribute": b"x.send\n",
    "a component of a string": b"patch('app.core.send')\n",
    "beside a letter outside ascii": "\u00e9send\n".encode(),
    "behind an escape": b"getattr(x, 'pkg\\u002esend')\n",
    "behind an octal escape": b"'pkg\\056send'\n",
    "before an escape": b"'send\\x2ewhat'\n",
    "behind a longer one": b"resend; sender; send\n",
    "full width": "\uff53end(1)\n".encode(),
}
IN_LONGER_ONES = [b"resend(1)\n", b"sender\n", b"send_\n", b"_send\n", b"send1\n", b"re_send = sending\n"]


@pytest.mark.parametrize("case", ALONE)
def test_a_name_is_found_where_it_stands_alone(case: str) -> None:
    assert Words(["other_word", "send"], alone=True).occur_in(ALONE[case])


@pytest.mark.parametrize("content", IN_LONGER_ONES)
def test_a_name_is_not_found_in_a_longer_one(content: bytes) -> None:
    assert not Words(["send"], alone=True).occur_in(content)
    assert Words(["send"]).occur_in(content)


def test_a_private_name_is_found_in_what_it_is_mangled_to() -> None:
    assert Words(["__go"], alone=True).occur_in(b"x._C__go()\n")


@pytest.mark.parametrize("times", [1, 3])
def test_names_and_pieces_of_text_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    for name, text in {"a": "send", "b": "resend; sender", "c": "x", "d": "resend(send)"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    for many in (1, 1_000):
        monkeypatch.setattr(mentions, "MANY", many)
        kept = Kept(clock=lambda: time.time_ns() + 10**10)
        for _ in range(times):
            for names, found in (("send", ("a.py", "d.py")), ("x", ("c.py",))):
                assert Workspace(Disk(tmp_path), kept=kept).index.naming({names}).paths == found
            assert Workspace(Disk(tmp_path), kept=kept).index.mentioning({"send"}).paths == ("a.py", "b.py", "d.py")
