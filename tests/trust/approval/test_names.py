"""Names that lead out of the project, into git's folder or our state, or to what a policy keeps, however spelt."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import DENY, OPEN, REVIEW, Answer, Case, Place, check, of

TRAVERSAL = (
    "../x",
    "a/../../x",
    "..",
    "/etc/x",
    "",
    "/",
    "x/",
    "./x",
    "a//b",
    "a\\..\\..\\x",
    "C:/x",
    "x:y",
    "a" * 300,
)
CONTROL = ("a\nb", "a\0b", "\x1b[31mx", "a\rb", "\x07", "a\x7fb")
GIT = (
    ".git", ".git/hooks/pre-commit", ".git./x", ".git /x", ".g\u200bit/x", ".gi\u00adt/x", "git~1/x", ".\uff47it/x",
    ".g\u200dit./x", ".G\u2060IT /config", "sub/.git/config", "sub/.GIT/config", ".git\\x", ".git::$INDEX_ALLOCATION/x",
    "a/../.git/x", ".GIT/config",
)  # fmt: skip
STATE = (
    ".bae-source/x",
    ".BAE-SOURCE/x",
    ".bae-source./ledger/x",
    ".bae-so\u200burce/x",
    "BAE-SO~1/x",
    "app/.bae-source/id",
)
OUT = ("invalid_name", "forbidden", "outside_project", "name_collision", "unsafe_change")


def writing(name: str, root: Callable[[Place], Path] | None = None) -> Callable[[Place], Answer]:
    """Return the writing of a data file."""

    def write(place: Place) -> Answer:
        where = place.root if root is None else root(place)
        return place.call("write", f":{name}", "--source", "-", given="x\n", root=where)

    return write


def editing(target: str, old: str, new: str, root: Callable[[Place], Path] | None = None) -> Callable[[Place], Answer]:
    """Return the replacing of a piece of text."""

    def edit(place: Place) -> Answer:
        where = place.root if root is None else root(place)
        return place.call("edit", target, "--old", old, "--new", new, "--reload", "off", root=where)

    return edit


def linked(name: str, to: str) -> Callable[[Place], object]:
    """Return the making of a link in the project."""
    return lambda place: (place.root / name).symlink_to(to)


def hard(name: str, to: str) -> Callable[[Place], object]:
    """Return the making of a hard link in the project."""
    return lambda place: os.link(place.root / to, place.root / name)


def with_git_at(name: str, head: str) -> Callable[[Place], object]:
    """Return the moving of git's folder, to which a file or a link leads."""

    def move(place: Place) -> None:
        (place.root / ".git").rename(place.root / name)
        if head:
            (place.root / ".git").write_text(head)
        else:
            (place.root / ".git").symlink_to(name)

    return move


KEY = ("app.secrets.KEY", '"k"', '"x"')
LINKS = [
    Case(name="a link to a file outside", before=linked("docs/o.txt", "../../outside/victim.py"),
         do=editing(":docs/o.txt", "VICTIM", "x"), code="symbol_not_found", policy=OPEN),
    Case(name="a link to a module outside", before=linked("app/o.py", "../../outside/victim.py"),
         do=editing("app.o.VICTIM", "1", "2"), code="symbol_not_found", policy=OPEN),
    Case(name="a link to a folder outside", before=linked("o", "../outside"), do=writing("o/new.txt"),
         code="name_collision", policy=OPEN),
    Case(name="what lies behind a link to a folder outside", before=linked("o", "../outside"),
         do=lambda place: place.call("delete", ":o/victim.py"), code="symbol_not_found", policy=OPEN),
    Case(name="a hard link with a file outside", policy=OPEN,
         before=lambda place: os.link(place.outside / "victim.py", place.root / "app/v.py"),
         do=editing("app.v.VICTIM", "1", "2"), code="unsafe_change"),
    Case(name="a link that leads to itself", before=linked("app/loop.py", "loop.py"),
         do=editing("app.loop.X", "1", "2"), code="symbol_not_found", policy=OPEN),
    Case(name="a link to what may not be changed", before=linked("app/alias.py", "secrets.py"),
         do=editing("app.alias.KEY", '"k"', '"x"'), policy=DENY),
    Case(name="a hard link to what may not be changed", before=hard("app/alias.py", "app/secrets.py"),
         do=editing("app.alias.KEY", '"k"', '"x"'), policy=DENY),
    Case(name="a link to the folder of what may not be changed", before=linked("other", "app"),
         do=editing("other.secrets.KEY", '"k"', '"x"'), policy=DENY),
    Case(name="a text file that is a link to it", before=linked("s.txt", "docs/guide.md"),
         do=editing(":s.txt", "Guide", "x"), policy=DENY),
    Case(name="a link to git's settings", before=linked("docs/c.txt", "../.git/config"),
         do=editing(":docs/c.txt", "bare", "x"), policy=OPEN),
    Case(name="a link to git's folder", before=linked("g", ".git"), do=writing("g/hooks/x"), policy=OPEN,
         code="unsafe_change"),
    Case(name="a hard link to git's settings", before=hard("docs/c.txt", ".git/config"), policy=OPEN,
         do=editing(":docs/c.txt", "bare", "x"), code="unsafe_change"),
    Case(name="git's folder by the name that a file gives it", before=with_git_at("real", "gitdir: real\n"),
         do=editing(":real/config", "bare", "x"), policy=OPEN),
    Case(name="git's folder by the name that a link gives it", before=with_git_at("real", ""),
         do=editing(":real/config", "bare", "x"), policy=OPEN),
    Case(name="a pipe", before=lambda place: os.mkfifo(place.root / "pipe"), policy=OPEN,
         do=lambda place: place.call("write", ":pipe", "--overwrite", "--source", "-", given="x"),
         code="name_collision"),
    Case(name="text in a pipe", before=lambda place: os.mkfifo(place.root / "pipe"), policy=OPEN,
         do=editing(":pipe", "a", "b"), code="symbol_not_found"),
    Case(name="a file below a pipe", before=lambda place: os.mkfifo(place.root / "pipe"), policy=OPEN,
         do=writing("pipe/x"), code="name_collision"),
    Case(name="a link to a device", before=linked("zero.txt", "/dev/zero"), policy=OPEN,
         do=editing(":zero.txt", "a", "b"), code="symbol_not_found"),
    Case(name="a module that is a pipe", before=lambda place: os.mkfifo(place.root / "app/pipe.py"), policy=OPEN,
         do=editing("app.pipe.X", "1", "2"), code="symbol_not_found"),
    Case(name="moved out", do=lambda place: place.call("move", ":notes.txt", ":../outside/n.txt"),
         code="invalid_name", policy=OPEN),
    Case(name="moved into git's folder", do=lambda place: place.call("move", ":notes.txt", ":.git/hooks/x"),
         policy=OPEN),
    Case(name="a module moved out", do=lambda place: place.call("move", "app.core", "..core"), code="invalid_name",
         policy=OPEN),
    Case(name="a capital letter of a name that is taken", do=writing("APP/x.txt"), code="name_collision", policy=OPEN),
    Case(name="what may not be changed, in letters of another form", do=editing("app.\uff53ecrets.KEY", '"k"', '"x"'),
         policy=DENY, code=("forbidden", "symbol_not_found")),
]  # fmt: skip
ROOTS = [
    Case(name="the folder below", do=editing("secrets.KEY", '"k"', '"x"', lambda place: place.root / "app"),
         policy=DENY),
    Case(name="the folder above", do=editing("app.secrets.KEY", '"k"', '"x"', lambda place: place.folder),
         policy=DENY),
    Case(name="a link to the project", before=lambda place: (place.folder / "l").symlink_to(place.root),
         do=editing(*KEY, lambda place: place.folder / "l"), policy=DENY),
    Case(name="a link to the folder below", before=lambda place: (place.folder / "l").symlink_to(place.root / "app"),
         do=editing("secrets.KEY", '"k"', '"x"', lambda place: place.folder / "l"), policy=DENY),
    Case(name="a folder elsewhere with a link into the project", policy=DENY, code="symbol_not_found",
         before=lambda place: (place.outside / "s.py").symlink_to(place.root / "app/secrets.py"),
         do=editing("s.KEY", '"k"', '"x"', lambda place: place.outside)),
    Case(name="a folder elsewhere with a hard link into the project", policy=DENY, code="unsafe_change",
         before=lambda place: os.link(place.root / "app/secrets.py", place.outside / "s.py"),
         do=editing("s.KEY", '"k"', '"x"', lambda place: place.outside)),
    Case(name="no folder", do=lambda place: place.call("read", "app", root=place.root / "notes.txt"),
         code="invalid_arguments"),
    Case(name="BAE_SOURCE_ROOT below", policy=DENY,
         do=lambda place: place.process("edit", "secrets.KEY", "--old", "k", "--new", "x",
                                        BAE_SOURCE_ROOT=str(place.root / "app"))),
    Case(name="BAE_SOURCE_ROOT in git's folder", policy=OPEN,
         do=lambda place: place.process("write", ":x", "--code", "x", BAE_SOURCE_ROOT=str(place.root / ".git"))),
    Case(name="git's folder", do=writing("hooks/pre-commit", lambda place: place.root / ".git"), policy=OPEN),
    Case(name="a folder in git's folder", do=writing("exclude2", lambda place: place.root / ".git/info"), policy=OPEN),
    Case(name="git's settings there", do=editing(":config", "bare", "x", lambda place: place.root / ".git"),
         policy=OPEN),
    Case(name="git's folder elsewhere", before=lambda place: (place.root / ".git").rename(place.outside / "real"),
         do=editing(":config", "bare", "x", lambda place: place.outside / "real"), policy=OPEN),
    Case(name="a link to git's folder", before=lambda place: (place.folder / "l").symlink_to(place.root / ".git"),
         do=editing(":config", "bare", "x", lambda place: place.folder / "l"), policy=OPEN),
]  # fmt: skip


@pytest.mark.parametrize("name", TRAVERSAL + CONTROL)
def test_a_name_that_leads_out_is_none(name: str, laid: Laid) -> None:
    check(Case(name=name, do=writing(name), code=OUT, policy=OPEN), laid(OPEN))


@pytest.mark.parametrize("name", GIT + STATE)
def test_no_spelling_leads_into_gits_folder_or_our_state(name: str, laid: Laid) -> None:
    check(Case(name=name, do=writing(name), code=OUT, policy=OPEN), laid(OPEN))


@pytest.mark.parametrize(**of(LINKS))
def test_no_link_leads_there(case: Case, laid: Laid) -> None:
    check(case, laid(case.policy))


@pytest.mark.parametrize(**of(ROOTS))
def test_no_root_leads_there(case: Case, laid: Laid) -> None:
    check(case, laid(case.policy))


@pytest.mark.parametrize("name", ["$(touch x)", "-x", "--root", "~/x", "a;b", "`id`", "x\u202ey", "%s"])
def test_a_name_is_a_name_and_nothing_else(name: str, laid: Laid) -> None:
    """What a shell, an option or a format would make of it is none of its meaning; such a file waits as any other."""
    place = laid(REVIEW)
    check(Case(name=name, do=writing(name), code="pending"), place)
    [waits] = place.plans.listed()
    assert place.plans.get(waits.id).base == {name: None}
