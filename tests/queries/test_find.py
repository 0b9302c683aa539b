"""find: code patterns over a project, what is shown, where it looks, and what it could not look at."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from pathlib import Path

import pytest

from bae_source import LookupFailed, RequestError, Source
from tests.adapters.support import run
from tests.generated import deep_unary
from tests.queries.support import laid

APP = {
    "app/__init__.py": "",
    "app/net.py": (
        "import requests\n\n\nclass Client:\n    def get(self, url):\n        # requests.get(url, timeout=1)\n"
        "        return requests.get(\n            url,\n            timeout=self.wait,  # why\n        )\n\n\n"
        "def ping():\n    requests.get('http://é', timeout=5, verify=False)\n    return requests.get('x', timeout=5)\n"
    ),
    "app/net.pyi": "def ping() -> None: ...\n",
    "app/text.txt": "requests.get(url, timeout=1)\n",
    "tool.py": "from app import net\n\nnet.requests.get(1, timeout=2)\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, APP)


def test_each_match_is_shown_with_what_stands_in_the_holes(app: Source) -> None:
    assert app.find("requests.get($URL, timeout=$T)") == "\n".join(
        [
            "app.net:7: requests.get( (+3 lines)",
            "    $URL: url",
            "    $T: self.wait",
            "app.net:15: requests.get('x', timeout=5)",
            "    $URL: 'x'",
            "    $T: 5",
        ]
    )
    assert app.find("requests.get($URL, timeout=$T)").complete


def test_values_tell_the_symbol_and_the_place(app: Source) -> None:
    found = app.find("requests.get($URL, $$$REST)").outcome.found
    assert [(match.address, match.line, match.column) for match in found] == [
        ("app.net.Client.get", 7, 16),
        ("app.net.ping", 14, 5),
        ("app.net.ping", 15, 12),
    ]
    assert found[1].holes == (("URL", "'http://é'"), ("REST", "timeout=5, verify=False"))


@pytest.mark.parametrize(
    ("scope", "lines"),
    [
        ("app", [7, 14, 15]),
        ("app.net", [7, 14, 15]),
        ("app.net.Client", [7]),
        ("app.net.ping", [14, 15]),
        ("tool", []),
        ("sym://python/type/net/ping", [14, 15]),
    ],
)
def test_a_scope_limits_the_search(app: Source, scope: str, lines: list[int]) -> None:
    assert [match.line for match in app.find("requests.get($$$)", scope).outcome.found] == lines


def test_stubs_are_searched_and_data_is_not(app: Source) -> None:
    assert app.find("def ping(): $$$B").splitlines()[0] == "app.net:13: def ping(): (+2 lines)"
    assert "app.net@stub:1: def ping() -> None: ..." in app.find("def ping(): $$$B")
    with pytest.raises(RequestError) as caught:
        app.find("f($X)", "app:text.txt")
    assert caught.value.hints == ("grep searches data files.",)


def test_a_parameter_and_the_name_that_it_binds_are_the_same_hole(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "f = lambda x: x+1\ng = lambda x: y+1\ndef h(x: int): return x\n"})
    assert source.find("lambda $X: $X+1") == "m:1: lambda x: x+1\n    $X: x"
    assert source.find("def $F($X): return $X") == "m:3: def h(x: int): return x\n    $F: h\n    $X: x: int"


def test_nothing_that_matches_is_an_answer(app: Source) -> None:
    found = app.find("nothing($X)")
    assert (found, found.complete, found.outcome.found) == ("(no matches)", True, ())


def test_a_pattern_that_does_not_parse_is_refused(app: Source) -> None:
    for pattern in ("", "f(", "$X", "except $E: pass"):
        with pytest.raises(RequestError) as caught:
            app.find(pattern)
        assert caught.value.code == "invalid_arguments"


def test_a_scope_that_is_not_there_is_an_error(app: Source) -> None:
    with pytest.raises(LookupFailed):
        app.find("f($X)", "app.nett")


@pytest.mark.parametrize("content", [b"def f(:\n    f(1)\n", b"f('\xff')\n", deep_unary(100_000) + b"\nf(1)\n"])
def test_a_file_that_cannot_be_compared_is_reported(tmp_path: Path, content: bytes) -> None:
    source = laid(tmp_path, {"pkg/__init__.py": "f(2)\n", "pkg/bad.py": content})
    found = source.find("f($X)")
    assert found.splitlines()[0] == "pkg:1: f(2)"
    assert not found.complete
    [notice] = found.outcome.warnings
    assert notice.message.startswith("pkg.bad was not searched: ")
    assert source.find("zebra($X)").complete == content.isascii()  # what nobody can decode may hold anything


def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"closed.py": "f(1)\n"})
    opened = os.open

    def refusing(path: str, *arguments: int, **options: int) -> int:
        if str(path).endswith("closed.py"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    found = source.find("f($X)")
    assert (found, found.complete) == ("(no matches)", False)
    assert [notice.code for notice in found.outcome.warnings] == ["forbidden"]


def test_line_ends_and_encodings_do_not_matter(tmp_path: Path) -> None:
    code = "# -*- coding: latin-1 -*-\r\nx = 'é'; f('é',\r\n  1)\r\n"
    source = laid(tmp_path, {"m.py": code.encode("latin-1")})
    assert source.find("f($A, $B)") == "m:2: f('é', (+1 line)\n    $A: 'é'\n    $B: 1"
    assert source.find("f($A, $B)").outcome.found[0].text == "f('é',\n  1)"


def test_names_are_compared_as_python_reads_them(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "ﬁnd(1)\n"})
    assert source.find("find($X)") == "m:1: ﬁnd(1)\n    $X: 1"


def test_a_project_without_python_holds_nothing(tmp_path: Path) -> None:
    assert laid(tmp_path, {"a.txt": "f(1)"}).find("f($X)") == "(no matches)"


def test_the_command_line_prints_the_same(app: Source) -> None:
    called = run("find", "requests.get($URL, timeout=5)", "app", folder=app.root)
    assert called.status == 0
    assert called.out == b"app.net:15: requests.get('x', timeout=5)\n    $URL: 'x'\n"
    wrong = run("find", "f(", folder=app.root)
    assert (wrong.status, wrong.out) == (2, b"")
    assert wrong.err_text.startswith("error[invalid_arguments]: The pattern does not parse as Python")


@pytest.mark.parametrize("pattern", ["\ud800", "f('\udcff', $X)"])
def test_a_pattern_that_is_no_text_is_refused(app: Source, pattern: str) -> None:
    with pytest.raises(RequestError) as caught:
        app.find(pattern)
    assert (caught.value.code, caught.value.message) == ("invalid_arguments", "The pattern holds what is no text.")
    called = run("find", os.fsdecode(b"\xff"), folder=app.root)
    assert called.status == 2
    assert b"error[invalid_arguments]: The pattern holds what is no text." in called.err


def test_the_warnings_of_the_host_are_as_before_when_several_threads_have_searched(tmp_path: Path) -> None:
    root = laid(tmp_path, {f"m{number}.py": "def f(x: 'int'): return g(x)\n" for number in range(20)}).root

    def ask() -> None:
        source = Source(root)
        for number in range(30):
            source.find("g($X)")
            source.grep(f"g{number}?.x")
            source.references("m1.f")

    before, interval = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert warnings.filters == before
    finally:
        sys.setswitchinterval(interval)
        warnings.filters[:] = before


_DECORATED = """
@pytest.mark.slow
@pytest.fixture(scope="module")
def one(): return 1

@pytest.fixture(scope="module")
def two(): return 2

@pytest.fixture(scope="module")
@pytest.mark.slow
@lru_cache
async def three(): return 3

@pytest.mark.fast
def four(): return 4

@registered
@pytest.fixture(scope="module")
class Five: x = 5
"""


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("@pytest.fixture($$$A)\ndef $F($$$P): $$$B", [4, 7]),
        ("@pytest.mark.slow\n@pytest.fixture($$$A)\ndef $F($$$P): $$$B", [4]),
        ("@pytest.fixture($$$A)\n@pytest.mark.slow\nasync def $F($$$P): $$$B", [12]),
        ("@pytest.fixture($$$A)\n@pytest.mark.slow\ndef $F($$$P): $$$B", []),
        ("@pytest.fixture($$$A)\nclass $C: $$$B", [19]),
        ("@pytest.mark.$M\ndef $F($$$P): $$$B", [4, 15]),
        ("@$$$D\ndef $F($$$P): $$$B", [4, 7, 15]),
        ("@other\ndef $F($$$P): $$$B", []),
    ],
)
def test_decorators_that_a_pattern_writes_may_have_others_around_them(
    tmp_path: Path, pattern: str, lines: list[int]
) -> None:
    source = laid(tmp_path, {"m.py": _DECORATED})
    assert [each.line for each in source.find(pattern).outcome.found] == lines
