"""Reading: packages and modules as their interface, source where it is asked for, stubs, and data files."""

from __future__ import annotations

import hashlib
import traceback
from pathlib import Path

import pytest

from bae_source import LookupFailed, RequestError, Source, SourceError
from bae_source.errors import Refused
from bae_source.project.files.port import Disk
from tests.adapters.support import run
from tests.queries.support import laid

CODE = (
    '"""Mail."""\n\n\nclass Mail:\n    def send(self):\n        """Send."""\n        return 1\n\n\ndef _quiet(): ...\n'
)
FILES: dict[str, str | bytes] = {
    "app/__init__.py": '"""An app."""\nfrom app.mail import Mail\n',
    "app/mail.py": CODE,
    "app/mail.pyi": "class Mail:\n    def send(self) -> int: ...\n",
    "app/templates/css/site.css": "body { color: red }\r\n",
    "app/templates/page.html": "<p>ÿ</p>\n",
    "app/logo.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "app/old.txt": "größe\n".encode("latin-1"),
    "app/nul.txt": b"text\0text",
    "app/wide.txt": "text".encode("utf-16"),
    "app/empty.txt": b"",
    "app/sub/__init__.py": "",
    "app/sub/table.csv": "a,b\n",
    "docs/logo.svg": "<svg/>",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


def test_without_a_name_the_project_is_listed(app: Source) -> None:
    assert app.read() == app.read("") == app.outline() == "app — An app. (1 subpackage, 1 module)\n"


def test_a_package_reads_as_its_listing_and_in_full_as_its_own_code(app: Source) -> None:
    assert app.read("app") == app.outline("app")
    assert app.read("app", full=True) == FILES["app/__init__.py"]
    assert app.read("app.__init__") == app.outline("app")


def test_a_module_reads_as_its_interface_and_in_full_as_its_source(app: Source) -> None:
    text = app.read("app.mail")
    assert text == "app.mail — Mail. (1 class, 0 functions)\n    class Mail  has send\n    (1 private name)\n"
    assert text.address == "app.mail"
    assert 'read("app.mail", full=True)' in text.outcome.next_actions
    assert "def _quiet()" in app.read("app.mail", private=True)
    assert app.read("app.mail", full=True) == CODE
    assert app.read("app.mail@docstring") == '"""Mail."""'


def test_every_answer_has_an_etag(app: Source) -> None:
    for target, options in (
        ("", {}),
        ("app", {}),
        ("app.mail", {}),
        ("app.mail", {"full": True}),
        ("app.mail.Mail.send", {}),
        ("app:templates", {}),
        ("app:templates/page.html", {}),
        ("app:logo.png", {}),
    ):
        assert len(app.read(target, **options).etag or "") == 16, target


def test_numbers_stand_in_front_and_leave_the_etag_alone(app: Source) -> None:
    plain, numbered = app.read("app.mail.Mail.send"), app.read("app.mail.Mail.send", numbers=True)
    assert numbered == '   5      def send(self):\n   6          """Send."""\n   7          return 1\n'
    assert numbered.etag == plain.etag
    assert app.read("app.mail.Mail.send", numbers=True, dedent=True).startswith("   5  def send(self):\n")
    assert app.read("app.mail.Mail.send@body", numbers=True) == "   7          return 1\n"
    app.edit("app.mail.Mail.send", "def send(self):\n    return 2\n", if_match=numbered.etag, reload="off")
    assert app.read("app.mail", full=True, numbers=True).splitlines()[5] == "   6          return 2"


@pytest.mark.parametrize("text", ["a = 1\r\nb = 2\rc = '\x0c\u2028'\n", "a = 1", "", "\n\n"])
def test_numbered_lines_keep_their_line_ends_and_end_where_python_says(tmp_path: Path, text: str) -> None:
    source = laid(tmp_path, {"m.py": text})
    lines = source.read("m", full=True, numbers=True)
    assert "".join(line[6:] for line in lines.splitlines(keepends=True) if line) == text or "\r" in text
    assert lines.count("  ") >= text.count("\n")
    assert source.read("m", full=True, numbers=True).etag == source.read("m", full=True).etag


def test_a_wide_number_moves_no_column(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "x = 1\n" * 10_001})
    lines = source.read("m", full=True, numbers=True).splitlines()
    assert (lines[0], lines[-1]) == ("    1  x = 1", "10001  x = 1")


def test_a_broken_module_is_read_in_full_and_says_so(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def (\nx = 1\n"})
    text = source.read("m", full=True)
    assert text == "def (\nx = 1\n"
    assert [notice.code for notice in text.outcome.warnings] == ["syntax_invalid"]
    assert source.read("m", full=True, numbers=True).startswith("   1  def (\n")
    with pytest.raises(SourceError):
        source.read("m")
    assert source.read("m.x") == "x = 1\n", "the bracket ends with its line"


def test_a_stub_is_read_and_edited_like_any_module(app: Source) -> None:
    assert app.read("app.mail@stub").splitlines()[1:] == ["    class Mail  has send"]
    assert app.read("app.mail@stub", full=True) == FILES["app/mail.pyi"]
    text = app.read("app.mail@stub.Mail.send", dedent=True)
    assert text == "def send(self) -> int: ...\n"
    assert text.address == "app.mail@stub.Mail.send"
    done = app.edit("app.mail@stub.Mail.send", "def send(self) -> str: ...\n", if_match=text.etag)
    assert [changed.address for changed in done.changed] == ["app.mail@stub.Mail.send"]
    assert app.read("app.mail@stub.Mail.send", dedent=True) == "def send(self) -> str: ...\n"
    assert app.read("app.mail", full=True) == CODE
    added = app.insert("app.mail@stub", "def late() -> None: ...\n", position="last")
    assert [changed.address for changed in added.changed] == ["app.mail@stub.late"]
    assert app.delete("app.mail@stub.late").changed[0].etag is None
    app.undo()
    assert app.read("app.mail@stub.late") == "def late() -> None: ...\n"


def test_a_stub_that_would_not_parse_is_refused(app: Source) -> None:
    with pytest.raises(SourceError):
        app.edit("app.mail@stub.Mail.send", "def send(:\n")
    assert app.read("app.mail@stub", full=True) == FILES["app/mail.pyi"]


def test_a_text_file_of_a_package_is_read_as_it_stands(app: Source) -> None:
    text = app.read("app:templates/page.html")
    assert text == "<p>ÿ</p>\n"
    assert text.address == "app:templates/page.html"
    assert text.etag == hashlib.sha256("<p>ÿ</p>\n".encode()).hexdigest()[:16]
    assert app.read("app:templates/css/site.css") == "body { color: red }\r\n"
    assert app.read("app:templates/page.html", numbers=True) == "   1  <p>ÿ</p>\n"
    assert app.read("app:empty.txt") == ""


def test_a_data_file_has_one_canonical_address(app: Source) -> None:
    assert app.read("app.templates:css/site.css").address == "app:templates/css/site.css"
    assert app.read("app.templates.css:site.css").address == "app:templates/css/site.css"
    assert app.read("app.sub:table.csv").address == app.read("app:sub/table.csv").address == "app.sub:table.csv"


def test_a_folder_of_data_files_is_listed(app: Source) -> None:
    text = app.read("app:templates")
    assert text == "app:templates/css (1 data file)\napp:templates/page.html (10 bytes)\n"
    assert text.address == "app:templates"
    assert app.read("app.templates:css") == "app:templates/css/site.css (21 bytes)\n"
    assert app.outline("app:templates") == text


@pytest.mark.parametrize(
    ("name", "kind"), [("logo.png", "PNG image"), ("old.txt", "binary"), ("nul.txt", "binary"), ("wide.txt", "UTF-16")]
)
def test_what_is_no_utf8_text_is_described_and_not_dumped(app: Source, name: str, kind: str) -> None:
    content = FILES[f"app/{name}"]
    assert isinstance(content, bytes)
    text = app.read(f"app:{name}")
    assert text.startswith(f"app:{name} — {kind}")
    assert f"{len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}" in text
    assert not text.complete
    assert [(notice.code, notice.message) for notice in text.outcome.warnings] == [
        ("not_shown", f"app:{name} is described, and not shown: it is no text in UTF-8.")
    ]
    assert app.read(f"app:{name}", full=True) == text


def test_a_large_text_is_described_and_shown_when_asked_for_in_full(tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/large.txt": "0123456789" * 150_000})
    text = source.read("p:large.txt")
    assert len(text) < 300
    assert "1,500,000 bytes" in text
    assert not text.complete
    assert text.startswith("p:large.txt — file, 1,500,000 bytes, sha256 ")
    assert [notice.message for notice in text.outcome.warnings] == [
        "p:large.txt is described, and not shown: it has 1,500,000 bytes, and more than 1,000,000 are shown only if "
        "the full text is asked for."
    ]
    assert text.outcome.next_actions == ('read("p:large.txt", full=True)',)
    assert len(source.read("p:large.txt", full=True)) == 1_500_000
    assert source.read("p:large.txt", full=True).etag == text.etag


@pytest.mark.parametrize("full", [False, True])
def test_a_text_that_is_too_large_in_full_too_says_so(tmp_path: Path, full: bool) -> None:
    source = laid(tmp_path, {"p/__init__.py": ""})
    with (tmp_path / "p" / "huge.txt").open("wb") as file:
        file.truncate(20_000_001)
    outcome = source.read("p:huge.txt", full=full).outcome
    assert outcome.warnings[0].message == (
        "p:huge.txt is described, and not shown: it has 20,000,001 bytes, and more than 20,000,000 are never shown."
    )
    assert (outcome.complete, outcome.next_actions) == (False, ())


def test_a_gigantic_file_is_described_in_little_memory(tmp_path: Path) -> None:
    import resource

    laid(tmp_path, {"p/__init__.py": ""})
    with (tmp_path / "p" / "huge.bin").open("wb") as file:
        file.truncate(300_000_000)
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (250_000_000,) * 2);"
        "from bae_source import Source; print(Source(sys.argv[1]).read('p:huge.bin', full=True))"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "300,000,000 bytes" in done.stdout
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != 250_000_000


@pytest.mark.parametrize("name", ["app:../secret", "app:/etc/passwd", "app:a/../../b", "app:a//b", "app:.", "app:"])
def test_a_data_file_that_leads_elsewhere_is_refused_at_the_door(app: Source, name: str) -> None:
    with pytest.raises(RequestError) as caught:
        app.read(name)
    assert caught.value.code == "invalid_name"


def test_links_that_leave_the_project_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    source = laid(tmp_path / "root", {"p/__init__.py": ""})
    (tmp_path / "root/p/link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "root/p/folder").symlink_to(tmp_path)
    (tmp_path / "root/p/loop").symlink_to(tmp_path / "root/p/loop")
    for name in ("p:link.txt", "p:folder/secret.txt", "p:loop", "p:loop/x"):
        with pytest.raises(LookupFailed):
            source.read(name)


@pytest.mark.parametrize(
    ("name", "candidate"),
    [
        ("app:templates/pag.html", "app:templates/page.html"),
        ("app:page.html", "app:templates/page.html"),
        ("ap:templates/page.html", "app:templates/page.html"),
        ("app:mail.py", "app.mail"),
        ("app:mail.pyi", "app.mail@stub"),
        ("app.mail:logo.png", "app:logo.png"),
    ],
)
def test_a_near_miss_has_candidates_that_can_be_read(app: Source, name: str, candidate: str) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.read(name)
    assert candidate in caught.value.candidates
    for each in caught.value.candidates:
        app.read(each)


@pytest.mark.parametrize("name", ["docs:nothing.svg", ":nothing.svg", "app:nothing", "nope:x.css"])
def test_what_is_no_data_file_of_a_package_is_not_found(app: Source, name: str) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.read(name)
    assert caught.value.code == "symbol_not_found"
    assert caught.value.hints


def test_an_ignored_file_is_no_data_file(tmp_path: Path) -> None:
    source = laid(tmp_path, {".gitignore": "*.log\ncache/\n", "p/__init__.py": "", "p/a.log": "", "p/cache/b": ""})
    for name in ("p:a.log", "p:cache/b", "p:cache"):
        with pytest.raises(LookupFailed):
            source.read(name)
    assert source.outline("p") == "p (0 subpackages, 0 modules)\n"


def test_a_file_in_several_source_roots_is_ambiguous(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[tool.bae-source]\nsource-roots = ['a', 'b']\n"}
    files |= {f"{root}/p/{name}": "x = 1\n" for root in "ab" for name in (f"m{root}.py", "t.txt")}
    with pytest.raises(LookupFailed) as caught:
        laid(tmp_path, files).read("p:t.txt")
    assert caught.value.code == "ambiguous_symbol"


def test_inserting_into_a_data_file_says_that_it_holds_no_code(app: Source) -> None:
    with pytest.raises(LookupFailed, match="data file, which holds no code") as caught:
        app.insert("app:templates/page.html", "x = 1\n")
    assert any('read("app:templates/page.html")' in hint for hint in caught.value.hints)


def test_a_data_file_that_vanishes_or_may_not_be_read_is_reported(app: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanished(self: Disk, path: str):  # type: ignore[no-untyped-def]
        raise FileNotFoundError(path)

    monkeypatch.setattr(Disk, "pieces", vanished)
    with pytest.raises(Refused, match=r"app:logo\.png has gone"):
        app.read("app:logo.png")


def test_a_module_that_vanishes_while_it_is_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/a.py": "x = 1\n", "p/b.py": "y = 1\n"})
    real = Disk.read

    def vanishing(self: Disk, path: str) -> bytes:
        if path == "p/a.py":
            raise FileNotFoundError(path)
        return real(self, path)

    monkeypatch.setattr(Disk, "read", vanishing)
    with pytest.raises(Refused) as caught:
        source.read("p.a.x")
    assert (caught.value.code, caught.value.message) == ("stale", "p.a has gone while the project was read.")
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "resolve" in frames, "however often it was raised anew with more fields"


def test_the_command_line_reads_as_the_api_does(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    assert run("read", folder=tmp_path).out.decode() == source.read()
    assert run("read", "app.mail", folder=tmp_path).out.decode() == source.read("app.mail")
    assert run("read", "app.mail", "--full", "--numbers", folder=tmp_path).out.decode() == source.read(
        "app.mail", full=True, numbers=True
    )
    assert run("read", "app:templates/css/site.css", folder=tmp_path).out == b"body { color: red }\r\n"
    called = run("read", "app:logo.png", folder=tmp_path)
    assert called.out.startswith(b"app:logo.png \xe2\x80\x94 PNG image")
    assert "incomplete" in called.err_text
    assert run("read", "app:../x", folder=tmp_path).status == 2
    assert run("read", "app:nothing", folder=tmp_path).status == 3


def test_a_name_that_nothing_defines_is_read_as_the_list_of_what_binds_it(tmp_path: Path) -> None:
    code = (
        "with open('x') as f:\n    pass\nfor f, g in []:\n    pass\ndel f\ndef load():\n    global f\n    f = 1\n"
        "class A:\n    for size in []: pass\n"
    )
    source = laid(tmp_path, {"m.py": code, "n.py": "from m import f\n"})
    lines = "m:1: with open('x') as f:\nm:3: for f, g in []:\nm:8: f = 1\n"
    assert source.read("m.f") == source.read("n.f") == lines
    assert source.read("m.A.size") == "m:10: for size in []: pass\n"
    assert source.read("m.f").address == "m.f"
    for change in (lambda: source.edit("m.f", old="x", new="y"), lambda: source.delete("m.f")):
        with pytest.raises(LookupFailed) as caught:
            change()
        assert caught.value.message == "No definition binds m.f: it is bound in m:1, m:3, m:8."
    for name in ("m.load.f", "m.A.f", "m.open", "m.f[0]", "m@stub.f", "m.f@signature"):
        with pytest.raises(LookupFailed):
            source.read(name)
