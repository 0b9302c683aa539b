"""Text replaced everywhere: what cases cannot show, such as time, links, large files and changes made together."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, SourceError, TransactionError
from bae_source.model.outcome import Outcome
from tests.queries.support import laid

FILES = {"app/__init__.py": "", "app/m.py": "def send(): ...\n\n\nsend()\n", "a.md": "send it\n"}


@pytest.mark.parametrize("text", [r"(s+)+$", r"(s|ss)+$"])
def test_an_expression_without_end_is_stopped_and_changes_nothing(tmp_path: Path, text: str) -> None:
    content = "s" * 5000 + "!"
    source = laid(tmp_path, {"a.md": content, "b.md": "sx1"})
    began = time.monotonic()
    with pytest.raises(TransactionError) as caught:
        source.replace(text, "y", regex=True, time_limit=0.5)
    assert time.monotonic() - began < 5
    assert caught.value.code == "timed_out"
    assert "in :a.md after 0.5 s; nothing was written" in caught.value.message
    assert (tmp_path / "a.md").read_text() == content


def test_an_expression_that_repeats_has_its_groups_from_the_process_that_can_be_stopped(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.md": "one=1\ntwo=22\r\n", "b.py": "x = 'three=333'\n"})
    outcome = source.replace(r"(\w+)=(\d+)", r"\2:\g<1>", regex=True)
    assert outcome.text.startswith(r"Replaced '(\\w+)=(\\d+)' in 3 places of 2 files: :a.md 2, b 1.")
    assert (tmp_path / "a.md").read_bytes() == b"1:one\n22:two\r\n"
    assert (tmp_path / "b.py").read_text() == "x = '333:three'\n"


def test_links_that_lead_out_of_the_project_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("send it\n")
    (outside / "n.py").write_text("send()\n")
    root = tmp_path / "project"
    source = laid(root, FILES)
    (root / "docs").symlink_to(outside)
    (root / "b.md").symlink_to(outside / "a.md")
    (root / "n.py").symlink_to(outside / "n.py")
    source.replace("send", "post", reload="off")
    assert (root / "a.md").read_text() == "post it\n"
    assert (outside / "a.md").read_text() == "send it\n"
    assert (outside / "n.py").read_text() == "send()\n"


def test_a_file_that_is_too_large_is_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.md": "one\n", "b.md": "one\n" * 3_000_000})
    outcome = source.replace("one", "two", reload="off")
    assert [each.code for each in outcome.warnings] == ["not_searched"]
    assert outcome.report is not None
    assert outcome.report["unparsed"] == [
        "b.md: The file has 12,000,000 bytes, more than 10,000,000."
    ] or outcome.report["unparsed"] == [":b.md: The file has 12,000,000 bytes, more than 10,000,000."]
    assert (tmp_path / "b.md").read_bytes()[:4] == b"one\n"


def test_it_is_one_of_several_changes_that_are_made_together(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    outcome = source.apply(
        [
            {"do": "rename", "target": "app.m.send", "new_name": "post"},
            {"do": "replace", "text": "send", "replacement": "post", "expect": 1},
            {"do": "rewrite", "pattern": "post()", "replacement": "post(1)"},
        ],
        reload="off",
    )
    assert outcome.status == "applied"
    assert (tmp_path / "app/m.py").read_text() == "def post(): ...\n\n\npost(1)\n"
    assert (tmp_path / "a.md").read_text() == "post it\n"
    source.undo()
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def test_what_one_of_several_changes_refuses_none_makes(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    with pytest.raises(LookupFailed):
        source.apply(
            [
                {"do": "replace", "text": "send", "replacement": "post"},
                {"do": "replace", "text": "post", "replacement": "put", "scope": "app.gone"},
            ]
        )
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def test_a_replacement_that_breaks_an_import_is_taken_back(tmp_path: Path) -> None:
    files = {**FILES, "app/n.py": "from app.m import send\n"}
    source = laid(tmp_path, files)
    with pytest.raises(TransactionError) as caught:
        source.replace("def send", "def post", "app.m", reload="child")
    assert caught.value.code == "reload_failed"
    assert {name: (tmp_path / name).read_text() for name in files} == files


def test_a_word_that_python_reads_in_a_way_of_its_own_is_no_other_word(tmp_path: Path) -> None:
    lines = (
        "from __future__ import annotations",
        "match = 1",
        "x = f'{match}' rb'a'",
        "def g(one, two): global three; return one",
    )
    code = "\n".join(lines).replace(" rb'a'", "") + "\ny = rb'a'\n"
    source = laid(tmp_path, {"m.py": code})
    for old, new in (("annotations", "other"), ("one", "two"), ("one", "three"), ("rb", "z"), ("match", "None")):
        with pytest.raises(SourceError) as caught:
            source.replace(old, new, word=True, reload="off")
        assert caught.value.code == "syntax_invalid"
    assert (tmp_path / "m.py").read_text() == code
    source.replace("one", "four", word=True, reload="off")
    assert (tmp_path / "m.py").read_text() == code.replace("one", "four")


def linked(root: Path) -> Source:
    """Return a project whose text and module have second names by links."""
    source = laid(
        root,
        {
            "docs/a.txt": "Acme Corp makes lib.r.go\n",
            "docs/other.txt": "Acme Corp\n",
            "lib/__init__.py": "",
            "lib/r.py": "# Acme Corp\nimport os\n\n\ndef go(x): return os.name\n",
            "lib/use.py": "from lib.r import go\n\nprint(go(1))\n",
        },
    )
    (root / "docs/b.txt").symlink_to("a.txt")
    (root / "docs/link.py").symlink_to("../lib/r.py")
    (root / "lib/used.py").symlink_to("use.py")
    return source


@pytest.mark.parametrize(
    ("change", "places", "written"),
    [
        (
            lambda source: source.replace("Acme Corp", "Acme Ltd", expect=3),
            3,
            ["docs/a.txt", "docs/other.txt", "lib/r.py"],
        ),
        (lambda source: source.replace("Acme", "ACME", ":docs/b.txt"), 1, ["docs/a.txt"]),
        (lambda source: source.rewrite("go($X)", "go(x=$X)"), 1, ["lib/use.py"]),
        (lambda source: source.rename("lib.r.go", "run", text="exact"), None, ["docs/a.txt", "lib/r.py", "lib/use.py"]),
    ],
    ids=["replace", "replace behind a link", "rewrite", "rename"],
)
def test_a_file_with_a_second_name_is_written_once(
    change: Callable[[Source], Outcome], places: int | None, written: list[str] | None, tmp_path: Path
) -> None:
    source = linked(tmp_path)
    links = {path: path.readlink() for path in tmp_path.rglob("*") if path.is_symlink()}
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*") if not path.is_symlink()}
    outcome = change(source)
    assert outcome.status == "applied"
    assert {path: path.readlink() for path in links} == links
    if places is not None:
        assert outcome.report is not None
        assert sum(each["places"] for each in outcome.report["changed"]) == places
    if written is not None:
        changed = [path for path, content in before.items() if path.read_bytes() != content]
        assert sorted(str(path.relative_to(tmp_path)) for path in changed) == written
    source.undo()
    assert {path: path.read_bytes() for path in before} == before
