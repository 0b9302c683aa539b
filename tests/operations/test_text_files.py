"""Every text file below the project's root, by one address, in the same requests, transactions and undo as code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from tests.adapters.support import run

FILES = {
    "README.md": "# Readme\r\n\r\nneedle\r\n",
    "CHANGES.rst": "Changes\n",
    "LICENSE": "Free.\n",
    "Makefile": "all:\n\ttrue\n",
    ".gitignore": "*.secret\nout/\n",
    ".github/workflows/ci.yml": "name: ci\n",
    "docs/guide.md": "guide\n",
    "docs/deep/more.txt": "more\n",
    "key.secret": "needle\n",
    "out/made.txt": "needle\n",
    "pkg/__init__.py": "",
    "pkg/core.py": "def f():\n    return 1\n",
    "pkg/page.html": "page\n",
    "ns/notes.txt": "notes\n",
    "ns/inner/__init__.py": "",
    "tools/run.py": "def go():\n    return 1\n",
    "pyproject.toml": "[project]\nname = 'a'\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content.encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return Source(tmp_path)


def present(root: Path) -> dict[str, str]:
    return {path: (root / path).read_bytes().decode() for path in FILES if (root / path).exists()}


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        (":README.md", ":README.md"),
        (":LICENSE", ":LICENSE"),
        (":.gitignore", ":.gitignore"),
        (":.github/workflows/ci.yml", ":.github/workflows/ci.yml"),
        (":docs/guide.md", ":docs/guide.md"),
        ("docs:guide.md", ":docs/guide.md"),
        ("docs.deep:more.txt", ":docs/deep/more.txt"),
        (":pkg/page.html", "pkg:page.html"),
        ("pkg:page.html", "pkg:page.html"),
        (":ns/notes.txt", "ns:notes.txt"),
        ("ns:notes.txt", "ns:notes.txt"),
    ],
)
def test_each_file_has_one_address_and_every_spelling_is_answered_with_it(
    source: Source, tmp_path: Path, asked: str, address: str
) -> None:
    read = source.read(asked)
    assert read.address == address
    outcome = source.edit(asked, old=read[:2], new="XY", if_match=read.etag, reload="off")
    assert [each.address for each in outcome.changed] == [address]
    assert outcome.text == f"Edited {address}."
    assert source.read(address) == f"XY{read[2:]}"
    source.undo()
    assert present(tmp_path) == FILES


@pytest.mark.parametrize("asked", [":key.secret", ":out/made.txt", ":.git/HEAD", ":.git/config", ":nope.md"])
def test_what_is_no_part_of_the_project_stays_out(source: Source, tmp_path: Path, asked: str) -> None:
    calls = (
        lambda: source.read(asked),
        lambda: source.edit(asked, old="e", new="x"),
        lambda: source.delete(asked),
        lambda: source.move(asked, ":else.md"),
    )
    for call in calls:
        with pytest.raises(LookupFailed) as caught:
            call()
        assert caught.value.code == "symbol_not_found"
        assert ("no part of the project" in caught.value.message) is (asked != ":nope.md")
    assert present(tmp_path) == FILES


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (":new.secret", "unsafe_change"),
        (":out/x.txt", "unsafe_change"),
        (":.git/hooks/pre-commit", "forbidden"),
        (":.bae-source/x", "forbidden"),
        (":../x.md", "invalid_name"),
        (":docs//x.md", "invalid_name"),
        (":/etc/x", "invalid_name"),
        (":new.py", "invalid_name"),
        (":README.md", "name_collision"),
        (":readme.md", "name_collision"),
        (":docs", "name_collision"),
        (":LICENSE/x", "name_collision"),
    ],
)
def test_what_may_not_be_written_is_refused(source: Source, tmp_path: Path, target: str, code: str) -> None:
    with pytest.raises(ResourceError) as caught:
        source.write(target, "x\n")
    assert caught.value.code == code
    assert present(tmp_path) == FILES
    assert not (tmp_path / ".git/hooks/pre-commit").exists()


def test_a_link_that_leads_out_is_not_followed(source: Source, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text("outside\n")
    (tmp_path / "linked.md").symlink_to(outside)
    (tmp_path / "up").symlink_to(tmp_path.parent)
    for asked in (":linked.md", f":up/{outside.name}"):
        with pytest.raises(LookupFailed):
            source.read(asked)
        with pytest.raises(ResourceError):
            source.write(asked, "x", overwrite=True)
    assert source.grep("outside") == "(no matches)"
    assert outside.read_text() == "outside\n"


def test_the_whole_life_of_a_file_is_undone(source: Source, tmp_path: Path) -> None:
    source.write(":docs/new/page.md", "one\n")
    source.move(":docs/new/page.md", ":docs/page.md")
    source.move(":docs/page.md", "pkg:page.md")
    assert source.read("pkg:page.md") == "one\n"
    source.delete("pkg:page.md")
    source.delete(":docs", recursive=True)
    assert not (tmp_path / "docs/guide.md").exists()
    for _ in range(5):
        source.undo()
    assert present(tmp_path) == FILES
    assert not (tmp_path / "docs/new").exists()
    assert not (tmp_path / "pkg/page.md").exists()


def test_code_and_text_change_in_one_transaction_and_one_undo(source: Source, tmp_path: Path) -> None:
    outcome = source.apply(
        [
            {"do": "edit", "target": "pkg.core.f", "old": "1", "new": "2"},
            {"do": "edit", "target": ":README.md", "old": "needle", "new": "two\nlines"},
            {"do": "write", "target": ":docs/new.md", "source": "new\n"},
            {"do": "delete", "target": ":LICENSE"},
            {"do": "move", "target": ":CHANGES.rst", "to": ":docs/changes.rst"},
        ],
        reload="off",
    )
    assert "\r\ntwo" in (tmp_path / "README.md").read_bytes().decode()
    assert {each.address for each in outcome.changed} >= {"pkg.core.f", ":README.md", ":docs/new.md"}
    source.undo()
    assert present(tmp_path) == FILES
    with source.transaction("both") as tx:
        tx.edit(":docs/guide.md", old="guide", new="guide 2")
        tx.edit("pkg.core.f", old="1", new="3")
        assert tx.read(":docs/guide.md") == "guide 2\n"
    assert (tmp_path / "docs/guide.md").read_text() == "guide 2\n"
    source.undo()
    assert present(tmp_path) == FILES


def test_a_change_of_one_that_was_read_before_is_stale(source: Source, tmp_path: Path) -> None:
    etag = source.read(":README.md").etag
    (tmp_path / "README.md").write_text("other needle\n")
    with pytest.raises(Refused) as caught:
        source.edit(":README.md", old="needle", new="x", if_match=etag)
    assert caught.value.code == "stale"


def test_grep_looks_into_every_text_file(source: Source) -> None:
    assert source.grep("needle").splitlines() == [":README.md:3: needle"]
    assert source.grep("needle", ":docs") == "(no matches)"
    assert source.grep("guide|more", ":docs").splitlines() == [":docs/deep/more.txt:1: more", ":docs/guide.md:1: guide"]
    assert source.grep("ci", ":.github/workflows/ci.yml").splitlines() == [":.github/workflows/ci.yml:1: name: ci"]
    assert source.grep("needle", data=False) == "(no matches)"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (":*.md", [":README.md"]),
        (":*", [":.gitignore", ":CHANGES.rst", ":LICENSE", ":Makefile", ":README.md", ":pyproject.toml"]),
        (":docs/*", [":docs/guide.md"]),
        (":docs/**", [":docs/deep/more.txt", ":docs/guide.md"]),
        (":**/*.txt", [":docs/deep/more.txt", "ns:notes.txt"]),
        (":pkg/*", ["pkg:page.html"]),
        ("*:*", ["ns:notes.txt", "pkg:page.html"]),
        (":[A-L]*", [":CHANGES.rst", ":LICENSE"]),
        (":?EADME.md", [":README.md"]),
        (":**/*.secret", []),
    ],
)
def test_glob_lists_files_by_a_pattern_with_a_colon(source: Source, pattern: str, found: list[str]) -> None:
    assert source.glob(pattern).splitlines() == (found or ["(no matches)"])


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("README.md", ":README.md"),
        ("./README.md", ":README.md"),
        ("docs/guide.md", ":docs/guide.md"),
        ("docs.guide.md", ":docs/guide.md"),
        (".github/workflows/ci.yml", ":.github/workflows/ci.yml"),
        (".gitignore", ":.gitignore"),
        ("CHANGES.rst", ":CHANGES.rst"),
        ("LICENSE", ":LICENSE"),
        ("Makefile", ":Makefile"),
        ("pyproject.toml", ":pyproject.toml"),
        ("NEWS.rst", ":NEWS.rst"),
        ("package.json", ":package.json"),
        ("Dockerfile", ":Dockerfile"),
    ],
)
def test_a_path_given_as_a_name_is_refused_with_the_address_that_it_means(
    source: Source, tmp_path: Path, given: str, meant: str
) -> None:
    before = sorted(path for path in tmp_path.rglob("*") if ".git" not in path.parts)
    calls = {
        "write": lambda: source.write(given, '"""Text."""'),
        "move": lambda: source.move("pkg.core", given),
    }
    if given not in ("Dockerfile",):  # a plain word that names nothing
        calls |= {
            "read": lambda: source.read(given),
            "edit": lambda: source.edit(given, old="a", new="b"),
            "insert": lambda: source.insert(given, "x = 1"),
            "delete": lambda: source.delete(given),
            "grep": lambda: source.grep("x", given),
            "outline": lambda: source.outline(given),
            "references": lambda: source.references(given),
        }
    for verb, call in calls.items():
        with pytest.raises(RequestError) as caught:
            call()
        assert (verb, caught.value.code, caught.value.candidates) == (verb, "invalid_name", (meant,))
    assert sorted(path for path in tmp_path.rglob("*") if ".git" not in path.parts) == before


def test_what_could_be_a_module_of_a_package_that_is_there_is_one(source: Source, tmp_path: Path) -> None:
    assert source.write("pkg.json", "x = 1\n", reload="off").changed[0].address == "pkg.json"
    (tmp_path / "pkg.toml").write_text("x = 1\n")
    with pytest.raises(RequestError) as caught:
        source.write("pkg.toml", "x = 1\n")
    assert caught.value.candidates == (":pkg.toml",)


def test_a_folder_without_python_leads_to_its_files(source: Source) -> None:
    for call in (source.read, source.outline, lambda name: source.grep("x", name), source.delete):
        with pytest.raises(LookupFailed) as caught:
            call("docs")
        assert caught.value.candidates == (":docs",)
    assert source.read(":docs").splitlines() == [":docs/deep (1 data file)", ":docs/guide.md (6 bytes)"]


def test_a_python_file_outside_of_the_source_roots_is_a_module_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.bae-source]\nsource-roots = ['src']\n")
    for path in ("src/app/__init__.py", "tools/run.py"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("def go():\n    return 1\n")
    source = Source(tmp_path)
    assert source.read("tools.run.go") == source.read("app.go")
    with pytest.raises(LookupFailed) as caught:
        source.read(":tools/run.py")
    assert caught.value.candidates == ("tools.run",)


def test_the_command_line_reads_and_writes_them(source: Source, tmp_path: Path) -> None:
    assert run("read", ":docs/guide.md", folder=tmp_path).out == b"guide\n"
    done = run("write", ":notes.txt", "--code", "x\n", "--json", folder=tmp_path)
    assert json.loads(done.out)["changed"][0]["address"] == ":notes.txt"
    failed = run("write", "README.md", "--code", "x", folder=tmp_path)
    assert (failed.status, b":README.md" in failed.err) == (2, True)
    assert not (tmp_path / "README").exists()
