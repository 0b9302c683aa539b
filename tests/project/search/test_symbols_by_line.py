"""Which symbol a line lies in: equal to asking every entry, whatever the file looks like, and never asking many."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bae_source.project.naming import listed_symbols
from bae_source.project.naming.listed_symbols import SymbolsByLine
from bae_source.syntax.outline.definitions import MODULE, after_comments
from bae_source.syntax.outline.summary import Entry, Summary, summarise
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source

ODD = {
    "comments": (
        "class A:\n    def f(self):\n        def g(): ...\n            # g\n        # f\n\n    # A\n  # A\n# none\n"
    ),
    "one line": "class A: x = 1; y = 2\n    # A\na = 1; b = (\n  2); c = 3\ndef f(): return 1\n # f\n",
    "strings": "def f():\n    x = '''\n# no comment\n'''; y = 1\n    # f\nz = '''\n # z\n'''\n",
    "inside": "X = [\n    (y := 2),\n    3,\n    # X\n]\n@d(\n    (n := 1),\n    2)\ndef f():\n    pass\n    # f\n",
    "line ends": "class A:\r\n    x = 1\r    # A\r\n\f\n    def f(self): ...\r        # f\r\n",
    "joined": "class A:\n    x = 1\n    \\\n  def f(self):\n        pass\n      # f\n    # A\n",
    "alternatives": "if a:\n    def f(): ...\n        # 0\n    # none\nelse:\n    def f(): ...\n",
    "empty": "\n# nothing\n",
}


def asked_one_by_one(summary: Summary, source: Source, line: int) -> str:
    """Return what a line lies in by asking all entries that begin no later."""
    found = MODULE
    for index, entry in enumerate(summary.entries):
        if entry.first > line:
            break
        if line <= entry.last or is_comment_of(entry, source, line):
            found = index
    parts: list[str] = []
    while found != MODULE:
        parts.insert(0, summary.entries[found].component or summary.entries[found].names[0])
        found = summary.entries[found].parent
    return ".".join(parts)


def is_comment_of(entry: Entry, source: Source, line: int) -> bool:
    lines = source.lines
    if entry.kind not in ("class", "function") or not lines.cut(line).strip().startswith("#"):
        return False
    indent = lines.indentation(entry.keyword).rpartition("\f")[2]
    return after_comments(source.text, lines.end(entry.last), indent) > lines.start(line)


def assert_equal_on_every_line(source: Source) -> None:
    summary = summarise(parse(source))
    symbols = SymbolsByLine(summary, source)
    for line in range(1, len(source.lines) + 1):
        assert symbols.at(line) == asked_one_by_one(summary, source, line), line


@pytest.mark.parametrize("code", ODD.values(), ids=ODD)
def test_an_odd_file_gives_the_same_on_every_line(code: str) -> None:
    assert_equal_on_every_line(Source(code.encode()))


def test_real_files_give_the_same_on_every_line() -> None:
    folder = Path(sysconfig.get_paths()["stdlib"])
    small = sorted(path for path in folder.glob("*.py") if 2_000 < path.stat().st_size < 30_000)
    for path in random.Random(20).sample(small, 20):
        assert_equal_on_every_line(Source(path.read_bytes()))


@pytest.mark.parametrize(
    "code",
    [
        "".join(f"def f{n}(x): return thing(x)\n" for n in range(1000)),
        "".join(f"class C{n}:\n    def f(self): ...\n    # end\n" for n in range(300)),
        "class C:\n" + "".join(f"    def f{n}(self): ...\n" for n in range(500)) + "    # end\n" * 500,
        "".join(f"x{n} = 1; " for n in range(500)) + "\n" + "# end\n" * 500,
    ],
    ids=["functions", "classes", "methods and comments", "one long line"],
)
def test_a_line_asks_few_entries_and_comments_are_read_once(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(code.encode())
    asked: list[int] = []
    read: list[int] = []

    class Counted(tuple[Entry, ...]):
        def __getitem__(self, index: Any) -> Any:
            asked.append(index)
            return super().__getitem__(index)

    summary = summarise(parse(source))
    symbols = SymbolsByLine(replace(summary, entries=Counted(summary.entries)), source)
    asked.clear()

    def counted_comments(text: str, position: int, indent: str) -> int:
        read.append(position)
        return after_comments(text, position, indent)

    monkeypatch.setattr(listed_symbols, "after_comments", counted_comments)
    found = [symbols.at(line) for line in range(1, len(source.lines) + 1)]
    named = sum(name.count(".") + 1 for name in found if name)  # each entry is read once more for its own name
    assert 0 < len(asked) - named <= 3 * len(source.lines)
    assert len(read) <= len(summary.entries)
