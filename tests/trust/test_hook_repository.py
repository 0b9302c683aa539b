"""The hook looks at the repository in which the project really lies, or says why it cannot; never at another one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from bae_source.errors import ResourceError
from bae_source.functions import close, dispatch
from bae_source.project.git import folder as git_folder
from bae_source.project.git import index as git_index
from tests.adapters.support import REPOSITORY, Called, call
from tests.checks.staging import ENVIRONMENT, check, git, staged, write

FINE, BROKEN = "x = 1\n", "x = = 1\n"
AT = " SYNTAX_INVALID "
BARE = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\tbare = true\n\trepositoryformatversion = 0\n",
    "objects/.keep": "",
    "refs/.keep": "",
}
IDENTITY = {f"GIT_{role}_{what}": "u@u" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
OWN = {**ENVIRONMENT, **IDENTITY, "PYTHONPATH": str(REPOSITORY), "PYTHON": sys.executable}
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def committed(root: Path, files: dict[str, str]) -> Path:
    """Make a repository of which everything is committed."""
    staged(root, files)
    git(root, "commit", "-qm", "first")
    return root


def stage(root: Path, path: str, text: str = BROKEN) -> None:
    write(root, {path: text})
    git(root, "add", "-f", "--", path)


def hook(*argv: str, **changes: str) -> Called:
    return call("hook", *argv, environment=ENVIRONMENT | changes)


def by_the_hook(root: Path) -> str:
    return hook("--root", str(root)).out.decode()


def by_the_command(root: Path) -> str:
    return call("check_staged", "--root", str(root), environment=ENVIRONMENT, door=through_service).out.decode()


def by_the_api(root: Path) -> str:
    return str(Source(root).check_staged())


def by_a_function(root: Path) -> str:
    try:
        return str(dispatch("check_staged", {}, root=root, read_only=True)["text"])
    finally:
        close(root)


DOORS = (by_the_hook, by_the_command, by_the_api, by_a_function)


def install(folder: Path) -> None:
    """Make the hook git's own pre-commit hook of the repository with this git folder."""
    (folder / "hooks").mkdir(exist_ok=True)
    script = folder / "hooks/pre-commit"
    script.write_text('#!/bin/sh\nexec "$PYTHON" -m bae_source hook\n')
    script.chmod(0o755)


def commit(folder: Path, *arguments: str, before: tuple[str, ...] = (), **changes: str) -> tuple[int, str]:
    """Commit, and return the status and what the hook said."""
    command = ("git", *before, "commit", "-qm", "second", *arguments)
    done = subprocess.run(command, cwd=folder, env=OWN | changes, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("root", ["vendor/tool", "vendor/tool/app", "vendor/tool/objects/deep"])
def test_a_folder_that_looks_like_a_bare_repository_is_none(
    tmp_path: Path, root: str, door: Callable[[Path], str]
) -> None:
    files = {f"vendor/tool/{path}": text for path, text in BARE.items()}
    top = committed(tmp_path / "upstream", {**files, f"{root}/pyproject.toml": "", f"{root}/core.py": FINE})
    git(tmp_path, "clone", "-q", str(top), "clone")
    clone = tmp_path / "clone"
    assert "bare" in git(clone / root, "config", "--list", "--local").decode()  # git itself takes it for one
    stage(clone, f"{root}/core.py")
    assert door(clone / root).startswith("core:1:" + AT)


def test_a_folder_that_looks_like_a_bare_repository_has_no_say_in_a_commit(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {**BARE, "app/core.py": FINE})
    install(root / ".git")
    write(root, {"app/core.py": BROKEN})
    status, output = commit(root, "-a")
    assert (status, output.startswith("app.core:1:" + AT)) == (1, True), output


def in_a_submodule(folder: Path) -> tuple[Path, Path]:
    committed(folder / "lib", {"core.py": FINE})
    top = committed(folder / "top", {"x.py": FINE})
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder / "lib"), "lib")
    git(top, "commit", "-qm", "with a submodule")
    return top / "lib", top / ".git/modules/lib"


def with_its_git_folder_elsewhere(folder: Path) -> tuple[Path, Path]:
    committed(folder / "origin", {"core.py": FINE})
    git(folder, "clone", "-q", "--separate-git-dir", "apart.git", "origin", "clone")
    return folder / "clone", folder / "apart.git"


def in_a_linked_worktree(folder: Path) -> tuple[Path, Path]:
    root = committed(folder / "repo", {"core.py": FINE})
    git(root, "worktree", "add", "-q", str(folder / "linked"))
    return folder / "linked", root / ".git"


def as_it_is(folder: Path) -> tuple[Path, Path]:
    root = committed(folder / "repo", {"core.py": FINE})
    return root, root / ".git"


FORMS = (as_it_is, in_a_submodule, with_its_git_folder_elsewhere, in_a_linked_worktree)


@pytest.mark.parametrize("form", FORMS)
def test_the_index_is_that_of_the_commit_wherever_git_keeps_it(
    tmp_path: Path, form: Callable[[Path], tuple[Path, Path]]
) -> None:
    root, folder = form(tmp_path)
    install(folder)
    write(root, {"core.py": BROKEN, "more.py": FINE})
    git(root, "add", "more.py")
    for how in (["-a"], ["core.py"]):
        status, output = commit(root, *how)
        assert (status, output.startswith("core:1:" + AT)) == (1, True), output
    assert commit(root)[0] == 0  # what is staged is in order
    git(root, "add", "core.py")
    assert [door(root).startswith("core:1:" + AT) for door in DOORS] == [True] * 4


def test_a_repository_that_only_the_environment_names_is_the_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "repo.git")
    git(tmp_path, "-C", "repo.git", "config", "core.bare", "false")
    install(tmp_path / "repo.git")
    write(tmp_path / "tree", {"core.py": BROKEN, "pyproject.toml": "", "app/pyproject.toml": "", "app/m.py": BROKEN})
    places = {"GIT_DIR": "../repo.git"}
    subprocess.run(["git", "add", "."], cwd=tmp_path / "tree", env=OWN | places, check=True)
    for before, changes in ((("--git-dir=../repo.git", "--work-tree=."), {}), ((), places)):
        status, output = commit(tmp_path / "tree", before=before, **changes)
        assert (status, output.splitlines()[0].startswith("app.m:1:" + AT)) == (1, True), output


def test_what_git_names_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE})
    monkeypatch.chdir(root)
    for places, expected in {
        ("GIT_DIR", "nowhere"): "Git names a repository that is not there.",
        ("GIT_INDEX_FILE", "nowhere"): "The index that git names is not there.",
        ("GIT_WORK_TREE", str(tmp_path / "elsewhere")): "The project does not lie in the repository that git names.",
    }.items():
        called = hook(**dict([places]))
        assert (called.status, called.out) == (2, b"")
        assert called.err_text.startswith(f"error[invalid_arguments]: {expected}")


def nested(tmp_path: Path) -> Path:
    """A repository with something broken that is staged, in another one that is in order."""
    top = committed(tmp_path / "top", {"core.py": FINE})
    stage(staged(top / "inner", {"core.py": FINE}), "core.py")
    return top


def test_a_repository_in_another_is_looked_at_by_itself(tmp_path: Path) -> None:
    top = nested(tmp_path)
    assert [door(top / "inner").startswith("core:1:" + AT) for door in DOORS] == [True] * 4


@pytest.mark.parametrize("linked", [False, True])
def test_the_index_of_one_repository_is_not_that_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    """As the hook of the outer repository would be that looks at a project with one of its own."""
    top = nested(tmp_path)
    monkeypatch.chdir(top)
    places = {"GIT_INDEX_FILE": ".git/index"} | ({"GIT_DIR": str(top / ".git")} if linked else {})
    called = hook("--root", "inner", **places)
    assert (called.status, called.out) == (2, b"")
    assert "another" in called.err_text


def test_a_repository_whose_working_tree_is_elsewhere_is_refused(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE})
    (tmp_path / "elsewhere").mkdir()
    stage(root, "core.py")
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(ResourceError, match="has its working tree elsewhere"):
        check(root)
    git(root, "config", "core.worktree", str(root))
    assert check(root).text.startswith("core:1:" + AT)


def test_a_git_file_that_leads_nowhere_is_reported_and_the_repository_around_is_not_taken(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE, "inner/core.py": FINE})
    (root / "inner/.git").write_text("gitdir: ../nowhere\n")
    with pytest.raises(ResourceError, match="leads to no repository"):
        check(root / "inner")


def test_a_git_folder_that_is_none_is_passed_over_as_git_does(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE, "inner/core.py": FINE})
    (root / "inner/.git").mkdir()
    stage(root, "inner/core.py")
    assert git(root / "inner", "rev-parse", "--show-toplevel").decode().strip() == str(root)
    assert check(root / "inner").text.startswith("core:1:" + AT)


@pytest.mark.parametrize("missing", ["objects", "refs"])
def test_a_part_of_a_repository_does_not_make_way_for_the_one_around(tmp_path: Path, missing: str) -> None:
    root = nested(tmp_path)
    shutil.rmtree(root / "inner/.git" / missing)
    with pytest.raises(ResourceError, match="it is no repository"):
        check(root / "inner")


def test_the_search_ends_where_git_ends_it(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {"inner/core.py": BROKEN})
    assert check(root / "inner", "core.py").text.startswith("core:1:" + AT)
    with pytest.raises(ResourceError, match="There is no git repository here"):
        check(root / "inner", environment={**ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(root)})


@is_root
@pytest.mark.parametrize("part", ["", ".git"])
def test_a_repository_of_another_user_is_refused_until_the_user_trusts_it(tmp_path: Path, part: str) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE})
    stage(root, "core.py")
    git(root, "config", "safe.directory", "*")  # what the repository itself says counts for nothing
    os.chown(root / part, 1234, 1234)
    home = {**ENVIRONMENT, "HOME": str(tmp_path)}
    called = call("hook", "--root", str(root), environment=home)
    assert (called.status, called.out) == (5, b"")
    assert called.err_text.startswith("error[forbidden]: The repository belongs to another user")
    refused = subprocess.run(["git", "status"], cwd=root, env=home, capture_output=True, text=True)
    assert "dubious ownership" in refused.stderr
    for trusted in ("*", str(root), f"{tmp_path}/*"):
        (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = /elsewhere\n\tdirectory = {trusted}\n")
        assert check(root, environment=home).text.startswith("core:1:" + AT)
    for other in ("", str(tmp_path), f"{root}/*", "repo", "*x"):
        (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {root}\n\tdirectory =\n\tdirectory = {other}\n")
        with pytest.raises(ResourceError, match="belongs to another user"):
            check(root, environment=home)
    assert check(root, environment={**home, "SUDO_UID": "1234"}).text.startswith("core:1:" + AT)


def test_the_search_path_leads_to_no_git_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "repo", {"app/core.py": FINE, "app/pyproject.toml": ""})
    write(root, {".venv/bin/git": f"#!/bin/sh\ntouch '{tmp_path}/ran'\n"})
    (root / ".venv/bin/git").chmod(0o755)
    stage(root, "app/core.py")
    (tmp_path / "link").symlink_to(root / ".venv")
    monkeypatch.chdir(root / ".venv/bin")
    for first in (f"{root}/.venv/bin", f"{tmp_path}/link/bin", ".", "", "../.venv/bin"):
        called = hook("--root", str(root / "app"), PATH=f"{first}:{ENVIRONMENT['PATH']}")
        assert called.out.startswith(b"core:1:" + AT.encode()), called.err_text
    assert not (tmp_path / "ran").exists()


def edited(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        index = root / ".git/index"
        index.write_bytes(change(index.read_bytes()))

    return do


def replaced(make: Callable[[Path], object], name: str = "index") -> Callable[[Path], None]:
    def do(root: Path) -> None:
        path = root / ".git" / name
        path.unlink(missing_ok=True)
        make(path)

    return do


def bind(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the whole path may be too long for a socket
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def split_without_its_base(root: Path) -> None:
    git(root, "update-index", "--split-index")
    for path in (root / ".git").glob("sharedindex.*"):
        path.unlink()


def of_an_unknown_extension(root: Path) -> None:
    with (root / ".git/config").open("a") as file:
        file.write("[extensions]\n\tsomethingNew = true\n[core]\n\trepositoryformatversion = 1\n")


def without_the_last_commit(root: Path) -> None:
    oid = git(root, "rev-parse", "HEAD").decode().strip()
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()


NOT_READ = {
    "nonsense": edited(lambda _: b"nonsense"),
    "empty": edited(lambda _: b""),
    "cut short": edited(lambda index: index[:-30]),
    "another checksum": edited(lambda index: index[:-1] + bytes([index[-1] ^ 1])),
    "an entry that was changed": edited(lambda index: index[:80] + b"~" + index[81:]),
    "another version": edited(lambda index: index[:7] + b"\x09" + index[8:]),
    "a folder": replaced(Path.mkdir),
    "a FIFO": replaced(os.mkfifo),
    "a device": replaced(lambda path: path.symlink_to("/dev/zero")),
    "a link to another": replaced(lambda path: path.symlink_to("../../other/.git/index")),
    "a socket": replaced(bind),
    "split": split_without_its_base,
    "a format of the future": of_an_unknown_extension,
    "settings without end": replaced(lambda path: path.symlink_to("/dev/zero"), "config"),
    "settings that wait": replaced(os.mkfifo, "config"),
    "no last commit": without_the_last_commit,
    "a last commit that waits": replaced(os.mkfifo, "HEAD"),
    "a last commit that is none": replaced(lambda path: path.write_text("ref: refs/../../x\n"), "HEAD"),
    "a branch that waits": replaced(os.mkfifo, "refs/heads/main"),
    "a reftable": replaced(Path.mkdir, "reftable"),
}


@pytest.mark.parametrize("do", NOT_READ.values(), ids=NOT_READ)
def test_an_index_that_cannot_be_read_is_an_error(tmp_path: Path, do: Callable[[Path], None]) -> None:
    committed(tmp_path / "other", {"x.py": FINE})
    root = committed(tmp_path / "repo", {"app/core.py": FINE, "lib/x.py": FINE})
    stage(root, "app/core.py")
    do(root)
    called = hook("--root", str(root))
    assert (called.status, called.out) == (2, b"")
    assert called.err_text.startswith("error[invalid_arguments]: ")
    assert "\n  -> " in called.err_text


@pytest.mark.parametrize("how", ["exit 1", "exit 128", "kill -9 $$", "printf ':000000 100644 0'; exit 3"])
@pytest.mark.parametrize("command", ["diff-index", "cat-file"])
def test_git_that_fails_is_no_empty_index(tmp_path: Path, command: str, how: str) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/git"
    fake.write_text(f'#!/bin/sh\ncase "$*" in *{command}*) {how};; esac\nexec {shutil.which("git")} "$@"\n')
    fake.chmod(0o755)
    root = committed(tmp_path / "repo", {"core.py": FINE})
    stage(root, "core.py")
    called = hook("--root", str(root), PATH=f"{tmp_path}/bin:{ENVIRONMENT['PATH']}")
    assert called.status == (2 if command == "diff-index" else 1)
    assert b"no findings" not in called.out


@pytest.mark.parametrize("waiting", ["the object", "another object", "alternates", "a pack"])
def test_git_that_does_not_answer_is_an_error_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: str
) -> None:
    root = committed(tmp_path / "repo", {"a.py": FINE, "b.py": "from a import y\n", "pyproject.toml": ""})
    oid = git(root, "rev-parse", ":a.py").decode().strip()
    if waiting == "a pack":
        git(root, "gc", "-q")
        [pack] = (root / ".git/objects/pack").glob("*.idx")
        replaced(os.mkfifo, f"objects/pack/{pack.name}")(root)
    else:
        replaced(os.mkfifo, "objects/info/alternates" if waiting == "alternates" else f"objects/{oid[:2]}/{oid[2:]}")(
            root
        )
    for module in (git_index, git_folder):
        monkeypatch.setattr(module, "SECONDS", 0.3)
    monkeypatch.chdir(root)
    called = hook("b.py" if waiting == "another object" else "a.py", "b.py")
    if waiting == "another object":
        assert (called.status, "Not to be read, so imports from there are not known: a.py." in called.err_text) == (
            0,
            True,
        )
        return
    assert (called.status, called.out) == (2, b"")
    assert "Git did not answer" in called.err_text


def test_an_index_without_a_checksum_is_read(tmp_path: Path) -> None:
    """As newer versions of git write it where `index.skipHash` says so."""
    root = staged(tmp_path / "repo", {"core.py": BROKEN})
    edited(lambda index: index[:-20] + bytes(20))(root)
    assert check(root).text.startswith("core:1:" + AT)


def test_a_list_of_what_is_ignored_that_waits_is_not_waited_for(tmp_path: Path) -> None:
    files = {"app/__init__.py": "", "app/core.py": "from app.made import x\nfrom app.core import y\n"}
    root = staged(tmp_path, files)
    assert "app.core:1: MODULE_NOT_FOUND" in check(root).text
    os.mkfifo(root / "app/.gitignore")
    assert "MODULE_NOT_FOUND" not in check(root).text  # it may be ignored, and so be made by something


def test_what_the_user_ignores_everywhere_is_ignored(tmp_path: Path) -> None:
    root = staged(tmp_path / "repo", {"app/__init__.py": "", "app/core.py": "from app.made import x\n"})
    assert "MODULE_NOT_FOUND" in check(root).text
    write(tmp_path, {".gitconfig": "[core]\n\texcludesFile = ~/everywhere\n", "everywhere": "made.py\n"})
    assert check(root, environment={**ENVIRONMENT, "HOME": str(tmp_path)}).text == "(no findings in 2 modules)"
    (root / ".git/info/exclude").write_text("made.py\n")
    assert check(root).text == "(no findings in 2 modules)"


def test_what_is_in_conflict_is_a_finding_though_it_is_no_module(tmp_path: Path) -> None:
    root = staged(tmp_path, {"bin/tool": "#!/usr/bin/env python3\n", "x.py": FINE})
    oid = git(root, "rev-parse", ":bin/tool").decode().strip()
    entries = "".join(f"100644 {oid} {stage}\tbin/tool\n" for stage in (1, 2, 3))
    git(root, "update-index", "--force-remove", "bin/tool")
    git(root, "update-index", "--index-info", given=entries.encode())
    outcome = check(root)
    assert (outcome.exit_code, outcome.text) == (1, "bin/tool:1: UNMERGED bin/tool is in conflict; merge it.")


def test_where_nothing_was_looked_at_nothing_is_reported_of_findings(tmp_path: Path) -> None:
    root = committed(tmp_path / "repo", {"core.py": FINE})
    write(root, {"new.py": BROKEN})
    outcome = check(root, "new.py")
    assert (outcome.text, outcome.complete) == ("(nothing was looked at)", False)
    called = hook("--root", str(root), str(tmp_path / "elsewhere.py"))
    assert called.out == b"(nothing was looked at: none of the files lies in the project)\n"


def test_without_room_for_a_temporary_folder_it_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "repo", {"core.py": BROKEN})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(ResourceError, match="takes a temporary folder"):
        check(root, "core.py")
