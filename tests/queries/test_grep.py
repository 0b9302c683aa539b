"""grep: what matches, how it is shown, where it looks, and what it says of what it could not look at."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from bae_source import LookupFailed, RequestError, Source, SourceError
from bae_source.project.naming import listed_symbols
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.summary import Summary
from benchmarks import corpus
from tests.adapters.support import run
from tests.queries.support import close, laid

CLIENT = '''"""Sending."""

import os


class Client:
    """A client with a timeout."""

    def send(self, timeout=5):
        # one timeout
        return os.wait(timeout)

    @property
    def limit(self):
        return 1

    @limit.setter
    def limit(self, timeout):
        pass


def close():
    pass
    # the timeout is over
'''
APP = {
    "app/__init__.py": "from app.net import Client\n",
    "app/net.py": CLIENT,
    "app/net.pyi": "class Client:\n    def send(self, timeout: int = ...) -> None: ...\n",
    "app/pages/index.html": "<p>timeout</p>\n<b>Timeout</b>\n",
    "tests/test_net.py": "def test_timeout():\n    pass\n",
    "notes.txt": "timeout\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, APP)


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real package, as it is released."""
    root = tmp_path_factory.mktemp("corpus") / "requests"
    shutil.copytree(corpus.fetch(next(each for each in corpus.RELEASES if each.name == "requests")), root)
    return root


def test_each_line_is_shown_with_its_module_and_number(app: Source) -> None:
    assert app.grep("timeout") == "\n".join(
        [
            ":notes.txt:1: timeout",
            'app.net:7: """A client with a timeout."""',
            "app.net:9: def send(self, timeout=5):",
            "app.net:10: # one timeout",
            "app.net:11: return os.wait(timeout)",
            "app.net:18: def limit(self, timeout):",
            "app.net:24: # the timeout is over",
            "app.net@stub:2: def send(self, timeout: int = ...) -> None: ...",
            "app:pages/index.html:1: <p>timeout</p>",
            "tests.test_net:1: def test_timeout():",
        ]
    )
    assert app.grep("timeout").complete


def test_the_line_format_is_that_of_the_contract(tmp_path: Path) -> None:
    source = laid(tmp_path, {"httpx/__init__.py": "", "httpx/_client.py": "\n" * 41 + "def send():\n    ...\n"})
    assert source.grep("send", "httpx") == "httpx._client:42: def send():"


def test_each_hit_names_the_symbol_that_it_stands_in(app: Source) -> None:
    found = app.grep("timeout", "app.net", data=False).outcome.found
    assert [(hit.line, hit.column, hit.address) for hit in found] == [
        (7, 24, "app.net.Client"),
        (9, 20, "app.net.Client.send"),
        (10, 15, "app.net.Client.send"),
        (11, 24, "app.net.Client.send"),
        (18, 21, "app.net.Client.limit@setter"),
        (24, 11, "app.net.close"),
        (2, 20, "app.net@stub.Client.send"),
    ]
    for hit in found:
        assert app.read(hit.address)


def test_the_symbol_is_shown_where_it_is_asked_for(app: Source) -> None:
    assert app.grep("wait", symbols=True) == "app.net:11: return os.wait(timeout)  (app.net.Client.send)"
    assert app.grep("import os", symbols=True) == "app.net:3: import os  (app.net)"


def test_a_hit_is_a_value_that_pickles_and_compares(app: Source) -> None:
    [hit] = app.grep("wait").outcome.found
    again = pickle.loads(pickle.dumps(hit))
    assert (again, hash(again), again.address) == (hit, hash(hit), "app.net.Client.send")
    assert repr(hit) == "Hit(app.net:11:19 '        return os.wait(timeout)')"


@pytest.mark.parametrize(
    ("scope", "lines"),
    [
        ("app", [7, 9, 10, 11, 18, 24, 2, 1]),
        ("app.net", [7, 9, 10, 11, 18, 24, 2]),
        ("app.net@stub", [2]),
        ("app.net.Client", [7, 9, 10, 11, 18]),
        ("app.Client.send", [9, 10, 11]),
        ("app.net.Client.send@body", [10, 11]),
        ("app.net.close", [24]),
        ("app:pages/index.html", [1]),
        ("app.pages:index.html", [1]),
        ("app:pages", [1]),
        ("tests", [1]),
        ("sym://python/type/app/net/Client#send", [9, 10, 11]),
    ],
)
def test_a_scope_limits_the_search_to_what_a_name_stands_for(app: Source, scope: str, lines: list[int]) -> None:
    assert [hit.line for hit in app.grep("timeout", scope).outcome.found] == lines


def test_a_scope_that_means_nothing_is_an_error_with_candidates(app: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.grep("x", "app.nett")
    assert caught.value.candidates == ("app.net",)
    with pytest.raises(LookupFailed):
        app.grep("x", "app:pages/nope.html")
    with pytest.raises(RequestError):
        app.grep("x", "app/net.py")


def test_data_files_can_be_left_out(app: Source) -> None:
    assert "app:pages/index.html" not in app.grep("timeout", data=False)


def test_case_is_ignored_where_asked(app: Source) -> None:
    assert app.grep("TIMEOUT") == "(no matches)"
    assert app.grep("TIMEOUT", "app:pages/index.html", ignore_case=True).count("\n") == 1


def test_ignoring_case_finds_letters_outside_ascii_too(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "a = '\u212ain'\nb = 'STRASSE'\nc = 'ÄRGER'\n"})
    assert source.grep("kin", ignore_case=True) == "m:1: a = '\u212ain'"
    assert source.grep("ärger", ignore_case=True) == "m:3: c = 'ÄRGER'"


def test_whole_words_can_be_asked_for(app: Source) -> None:
    assert app.grep("timeout", "tests", word=True) == "(no matches)"
    assert app.grep("test_timeout|nothing", "tests", word=True) == "tests.test_net:1: def test_timeout():"
    assert app.grep("(?i)TEST_timeout", "tests", word=True).complete
    assert app.grep("(?x) test_timeout # why", "tests", word=True) == "tests.test_net:1: def test_timeout():"


def test_context_is_shown_as_it_stands_with_gaps_marked(app: Source) -> None:
    assert app.grep("return", "app.net.Client", context=1) == "\n".join(
        [
            "app.net:10-         # one timeout",
            "app.net:11:         return os.wait(timeout)",
            "app.net:12-",
            "--",
            "app.net:14-     def limit(self):",
            "app.net:15:         return 1",
            "app.net:16-",
        ]
    )
    assert app.grep("wait", context=1, symbols=True).splitlines()[1].endswith("(timeout)  (app.net.Client.send)")


def test_a_match_over_several_lines_is_shown_by_its_first(app: Source) -> None:
    found = app.grep(r"def limit.*?\n.*?return \d", multi_line=True)
    assert found == "app.net:14: def limit(self): (+1 line)"
    [hit] = found.outcome.found
    assert (hit.lines, hit.text) == (2, "    def limit(self):\n        return 1")
    assert app.grep(r"def limit.*\n.*return", multi_line=True, context=1).splitlines() == [
        "app.net:13-     @property",
        "app.net:14:     def limit(self):",
        "app.net:15:         return 1",
        "app.net:16-",
    ]


def test_a_match_stays_on_its_line_unless_asked(app: Source) -> None:
    assert app.grep(r"limit\(self\):\s+return") == "(no matches)"
    assert app.grep(r"limit\(self\):[^x]+return") == "(no matches)"
    assert app.grep(r"(?s)limit\(self\):.+return") == "(no matches)"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_line_ends_are_no_part_of_a_line(tmp_path: Path, newline: str) -> None:
    text = newline.join(["def f():", "    return 1", "", "x = 2", ""])
    source = laid(tmp_path, {"m.py": text.encode(), "pkg/__init__.py": "", "pkg/page.txt": text.encode()})
    assert source.grep("1$", "m") == "m:2: return 1"
    assert source.grep(r"^\s*return \d\Z", "m") == "m:2: return 1"
    assert source.grep("^$", "m") == "m:3: "
    assert source.grep("2$", "pkg") == "pkg:page.txt:4: x = 2"
    assert source.grep(r"1\n\nx", multi_line=True, data=False) == "m:2: return 1 (+2 lines)"
    assert [hit.address for hit in source.grep("return", "m").outcome.found] == ["m.f"]


def test_an_empty_match_counts_once_a_line_and_not_behind_the_last(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "a\n\nb\n", "empty.py": ""})
    assert [hit.line for hit in source.grep("x?").outcome.found] == [1, 2, 3]
    assert [hit.line for hit in source.grep("$").outcome.found] == [1, 2, 3]
    assert [hit.line for hit in source.grep("^", multi_line=True).outcome.found] == [1, 2, 3]


def test_encodings_are_read_as_python_reads_them(tmp_path: Path) -> None:
    files = {
        "latin.py": "# -*- coding: latin-1 -*-\nname = 'é'; x = 1\n".encode("latin-1"),
        "bom.py": b"\xef\xbb\xbfname = '\xc3\xa9'; x = 1\n",
        "jis.py": "# coding: shift_jis\nname = '表'\n".encode("shift_jis"),
    }
    source = laid(tmp_path, files)
    assert source.grep("é").splitlines() == ["bom:1: name = 'é'; x = 1", "latin:2: name = 'é'; x = 1"]
    assert [(hit.module, hit.column) for hit in source.grep("x = ").outcome.found] == [("bom", 13), ("latin", 13)]
    assert source.grep("表") == "jis:2: name = '表'"


def test_a_long_line_is_cut_and_reported_but_whole_as_a_value(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": f"x = '{'a' * 5000}'\n"})
    found = source.grep("x")
    assert found.endswith("… (+4,006 characters)")
    assert len(found.outcome.found[0].text) == 5006


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", "empty"),
        ("(", "missing ), unterminated subpattern at position 0"),
        ("a**", "multiple repeat at position 2"),
        ("[z-a]", "bad character range"),
        ("a\nb", "line end"),
        ("x" * 10_001, "longer than"),
        ("(" * 5000 + ")" * 5000, "nested too deeply"),
        (r"\p{L}", "bad escape"),
    ],
    ids=["empty", "bracket", "repeat", "range", "newline", "long", "deep", "escape"],
)
def test_a_pattern_that_is_none_is_refused_and_says_where(app: Source, pattern: str, expected: str) -> None:
    with pytest.raises(RequestError) as caught:
        app.grep(pattern)
    assert caught.value.code == "invalid_arguments"
    assert expected in caught.value.message
    assert caught.value.hints


@pytest.mark.parametrize("options", [{"context": -1}, {"time_limit": 0.0}, {"context": 1000}])
def test_options_out_of_range_are_refused(app: Source, options: dict[str, int]) -> None:
    with pytest.raises(RequestError):
        app.grep("x", **options)  # type: ignore[arg-type]


def test_an_expression_without_end_is_stopped_and_what_was_found_stands(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.py": "x = 'aab'\n", "b.py": f"b = '{'a' * 64}!'\n", "c.py": "x = 'ab'\n"})
    begun = time.monotonic()
    found = source.grep("(a+)+b", time_limit=1.0)
    assert time.monotonic() - begun < 20
    assert found == "a:1: x = 'aab'"
    assert not found.complete
    [notice] = found.outcome.warnings
    assert notice.code == "timed_out"
    assert notice.message.startswith("The search was stopped after 1 s in b; that and what comes behind it (1 files)")


def test_the_process_that_was_stopped_is_gone(tmp_path: Path) -> None:
    source = laid(tmp_path, {"b.py": f"b = '{'a' * 64}!'\n"})
    before = _children()
    assert not source.grep("(a+)+b", time_limit=0.5).complete
    assert _children() <= before


def _children() -> set[str]:
    """The processes that this one has started and that are still there."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = (line.split(None, 2) for line in listed.splitlines())
    return {pid for parent, pid, name in rows if int(parent) == os.getpid() and name != "ps"}


def test_real_code_against_catastrophic_expressions_ends_in_time(requests: Path) -> None:
    source = Source(requests)
    for pattern in (r"(a+)+$", r"(\w+\s?)+=", r"^(.*?,){25}P", r"(x+x+)+y"):
        begun = time.monotonic()
        found = source.grep(pattern, time_limit=2.0)
        assert time.monotonic() - begun < 30
        assert found.complete or [notice.code for notice in found.outcome.warnings] == ["timed_out"]


@pytest.mark.parametrize(
    "pattern",
    [r"def \w+", r"\bself\b", r"raise|return", r"[^\W\d]+Error", r"^from", r":$", r"\bdef (send|close)\(", "get.*None"],
)
def test_the_hits_are_those_of_a_search_line_by_line(pattern: str, requests: Path) -> None:
    expression = re.compile(pattern)
    expected = {
        (f"requests.{path.stem}".removesuffix(".__init__"), number)
        for path in (requests / "src" / "requests").glob("*.py")
        for number, line in enumerate(path.read_text().split("\n")[:-1], 1)
        if expression.search(line)
    }
    found = Source(requests).grep(pattern, "requests").outcome.found
    assert expected
    assert {(hit.module, hit.line) for hit in found} == expected
    assert len(found) == len(expected)


def test_what_cannot_be_decoded_is_reported_and_the_answer_is_not_complete(tmp_path: Path) -> None:
    source = laid(tmp_path, {"good.py": "needle = 1\n", "bad.py": b"needle = '\xff'\n", "other.py": b"x = '\xff'\n"})
    found = source.grep("needle")
    assert found == "good:1: needle = 1"
    assert not found.complete
    [notice] = found.outcome.warnings
    assert notice.code == "encoding_invalid"
    assert notice.message.startswith("bad was not searched: ")


def test_code_that_does_not_parse_is_searched_all_the_same(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "", "pkg/bad.py": "def f(:\n    needle\n"})
    for scope in (None, "pkg", "pkg.bad"):
        assert source.grep("needle", scope, symbols=True) == "pkg.bad:2: needle  (pkg.bad)"
        assert source.grep("needle", scope).complete
    with pytest.raises(SourceError):
        source.grep("needle", "pkg.bad.f")


def test_binary_data_is_searched_and_named_without_a_line_where_it_matches(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "pkg/__init__.py": "",
        "pkg/a.bin": b"\0a\nneedle",
        "pkg/b.bin": b"\0other",
        "pkg/odd.txt": b"\xffneedle\n",
    }
    source = laid(tmp_path, files)
    for options in ({}, {"context": 2, "symbols": True}, {"word": True}):
        found = source.grep("needle", **options)
        assert found.startswith("pkg:odd.txt:1: \udcffneedle")
        assert len(found.splitlines()) == len(found.outcome.found) == 1
        assert found.complete
        assert [(each.code, each.message) for each in found.outcome.warnings] == [
            ("binary_matches", "No text, and holds a match: pkg:a.bin.")
        ]
    for pattern in ("nothing", "n.{9}e", "needle$other"):
        found = source.grep(pattern)
        assert (found, found.complete, found.outcome.warnings) == ("(no matches)", True, ())


@pytest.mark.parametrize(
    ("pattern", "content"),
    [
        ("^needle$", b"\0\r\nneedle\n"),
        ("(needle)+x", b"\0needleneedlex"),
        ("na.ve", "\0naïve".encode()),
        ("naïve", "\0naïve".encode()),
        ("naïve", "\0naïve".encode("latin-1")),
        (r"na\xefve", "\0naïve".encode("latin-1")),
        (r"PNG\r?", b"\x89PNG\r\n\x1a\n\0"),
    ],
)
def test_what_only_a_binary_file_holds_is_not_reported_as_nowhere(tmp_path: Path, pattern: str, content: bytes) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "", "pkg/sub/logo.png": content})
    for scope in (None, "pkg", "pkg:sub/logo.png"):
        found = source.grep(pattern, scope)
        assert (found, found.outcome.found, found.complete) == ("(no matches in text)", (), True)
        [notice] = found.outcome.warnings
        assert (notice.code, notice.message) == ("binary_matches", "No text, and holds a match: pkg:sub/logo.png.")


def test_binary_data_is_searched_within_the_time_that_there_is(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "", "pkg/a.bin": b"\0b" + b"a" * 5000, "pkg/b.bin": b"\0ab"})
    found = source.grep("(a+)+b", time_limit=0.5)
    assert not found.complete
    assert [each.code for each in found.outcome.warnings] == ["timed_out"]


def test_gigantic_data_is_skipped_and_reported_without_being_read(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": ""})
    with (tmp_path / "pkg" / "huge.csv").open("wb") as file:
        file.truncate(50_000_000_000)
    found = source.grep("needle")
    assert (found, found.complete) == ("(no matches)", False)
    assert [notice.code for notice in found.outcome.warnings] == ["too_large"]
    assert "pkg:huge.csv" in found.outcome.warnings[0].message


def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"good.py": "needle = 1\n", "closed.py": "needle = 2\n"})
    opened = os.open

    def refusing(path: str, *arguments: int, **options: int) -> int:
        if str(path).endswith("closed.py"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    found = source.grep("needle")
    assert (found, found.complete) == ("good:1: needle = 1", False)
    assert [notice.code for notice in found.outcome.warnings] == ["forbidden"]
    assert found.outcome.warnings[0].message.startswith("closed was not searched")


def test_a_folder_that_may_not_be_listed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "needle\n", "other/__init__.py": "needle = 1\n"}
    source = laid(tmp_path, files)
    close(monkeypatch, "sub")
    found = source.grep("needle")
    assert (found, found.complete) == ("other:1: needle = 1", False)
    assert "pkg.sub may not be listed" in found.outcome.warnings[0].message
    assert source.grep("needle", "other").complete
    assert not source.grep("needle", "pkg").complete


def test_a_file_whose_name_no_address_can_spell_is_searched_too(tmp_path: Path) -> None:
    source = laid(tmp_path, {"odd!name.py": "needle = 1\n", "pkg/__init__.py": "", "pkg/a:b.txt": "needle\n"})
    assert source.grep("needle").splitlines() == ["odd!name:1: needle = 1", "pkg:a:b.txt:1: needle"]
    assert source.grep("needle").outcome.next_actions == ("outline()",)
    assert source.grep("needle").complete
    assert [each.code for each in source.glob("**.needle").outcome.warnings] == ["unnamed_files"]
    assert not source.glob("**.needle").complete
    assert source.glob("pkg.**").complete
    assert source.search("needle").outcome.found
    assert source.find("needle = $X")


def test_what_to_do_next_is_a_closer_look(app: Source) -> None:
    assert app.grep("wait").outcome.next_actions == ('symbols("sym://python/mod/app/net")',)
    assert app.grep("timeout", "app:pages").outcome.next_actions == ('read("app:pages/index.html")',)
    assert app.grep("timeout", "app.net@stub").outcome.next_actions == ('read("app.net@stub")',)
    assert app.grep("no such text").outcome.next_actions == ()


def test_a_loop_of_links_is_walked_once(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "", "pkg/m.py": "needle = 1\n"})
    (tmp_path / "pkg" / "again").symlink_to(tmp_path / "pkg", target_is_directory=True)
    (tmp_path / "pkg" / "itself.py").symlink_to("itself.py")
    assert source.grep("needle") == "pkg.m:1: needle = 1"


def test_what_git_ignores_is_no_part_of_the_search(tmp_path: Path) -> None:
    files = {".gitignore": "made.py\n*.log\n", "pkg/__init__.py": "", "pkg/made.py": "needle\n", "pkg/a.log": "needle"}
    assert laid(tmp_path, files).grep("needle") == "(no matches)"


def test_a_project_without_python_has_its_text_files(tmp_path: Path) -> None:
    found = laid(tmp_path, {"readme.txt": "needle\n"}).grep("needle")
    assert (found, found.complete) == (":readme.txt:1: needle", True)


def test_a_file_that_changes_meanwhile_keeps_the_symbols_of_what_was_searched(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def f():\n    needle\n"})
    found = source.grep("needle").outcome.found
    (tmp_path / "m.py").write_text("\n\ndef g():\n    other\n")
    assert [hit.address for hit in found] == ["m.f"]
    assert source.grep("needle") == "(no matches)"


def test_a_file_is_looked_up_once_for_all_of_its_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"m.py": "".join(f"def f{n}(x): return needle(x)\n" for n in range(50))})
    asked: list[str] = []
    summary_for = listed_symbols.summary_for

    def counted(workspace: Workspace, path: str, content: bytes) -> Summary:
        asked.append(path)
        return summary_for(workspace, path, content)

    monkeypatch.setattr(listed_symbols, "summary_for", counted)
    found = source.grep("needle", symbols=True)
    assert found.splitlines()[49] == "m:50: def f49(x): return needle(x)  (m.f49)"
    assert asked == ["m.py"]


def test_planned_and_later_changes_are_seen_at_once(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def f():\n    return 1\n"})
    assert source.grep("needle") == "(no matches)"
    source.edit("m.f", "def f():\n    return 'needle'\n", reload="off")
    assert source.grep("needle") == "m:2: return 'needle'"


def test_the_command_line_prints_the_same_and_ends_with_0(app: Source) -> None:
    called = run("grep", "wait", "app", folder=app.root)
    assert (called.status, called.out, called.err) == (0, b"app.net:11: return os.wait(timeout)\n", b"")
    none = run("grep", "nothing at all", folder=app.root)
    assert (none.status, none.out, none.err) == (0, b"(no matches)\n", b"")
    wrong = run("grep", "(", folder=app.root)
    assert (wrong.status, wrong.out) == (2, b"")
    assert wrong.err_text.startswith("error[invalid_arguments]: The pattern is no regular expression")


def test_an_incomplete_answer_says_so_on_the_command_line(tmp_path: Path) -> None:
    laid(tmp_path, {"bad.py": b"needle = '\xff'\n"})
    called = run("grep", "needle", folder=tmp_path)
    assert (called.status, called.out) == (0, b"(no matches)\n")
    assert b"incomplete: This is not all there is: the warnings below say why." in called.err
    assert b"warning[encoding_invalid]: bad was not searched" in called.err
    assert run("grep", "needle", "--json", folder=tmp_path).json["complete"] is False


def test_nothing_of_the_project_is_imported(tmp_path: Path) -> None:
    laid(tmp_path, {"pkg/__init__.py": "raise SystemExit('imported')\n"})
    called = run("grep", "(rais)+e", folder=tmp_path)
    assert (called.status, called.out) == (0, b"pkg:1: raise SystemExit('imported')\n")
