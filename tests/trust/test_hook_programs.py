"""Whatever a repository's settings and files name, the hook starts none of it, nor has git start it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from tests.adapters.support import REPOSITORY, call
from tests.checks.staging import ENVIRONMENT, git, staged, write

IDENTITY = {f"GIT_{role}_{what}": "u@u" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
FILES = {
    "app/__init__.py": "from .core import f\n\n__all__ = ['f', 'gone']\n",
    "app/core.py": "def f(): ...\n",
    "app/other.py": "from app.core import g\nfrom app.made import h\n",
}
FOUND = [
    "app:3: EXPORT_NOT_FOUND __all__ of app names gone, which app does not have.",
    "app.core:1: UNREADABLE",
    "app.other:1: NAME_NOT_FOUND app.core has no g.",
    "app.other:2: MODULE_NOT_FOUND There is no app.made.",
]
"""What is found; the second only where the content of a file is missing, and the third only where it is not."""

MORE = (
    'alias.diff-index', 'alias.cat-file', 'alias.ls-files', 'pager.config', 'pager.grep', 'pager.diff-index',
    'filter.x.clean', 'filter.x.smudge', 'filter.x.process', 'diff.x.textconv', 'diff.x.command', 'merge.x.driver',
    'trailer.x.cmd', 'trailer.x.command', 'credential.https://x.helper', 'gpg.x509.program', 'gpg.openpgp.program',
    'browser.x.cmd', 'difftool.x.cmd', 'mergetool.x.cmd', 'man.x.cmd', 'guitool.x.cmd', 'tar.x.command',
    'remote.origin.vcs', 'remote.origin.uploadpack', 'remote.origin.receivepack', 'remote.origin.proxy',
    'submodule.x.update', 'hook.x.command', 'http.https://x.proxy', 'uploadpackfilter.x.allow', 'url.x.insteadOf',
)  # fmt: skip
"""Keys that `git help --config` names by their families alone, or that other versions of git know."""

KEPT = ("core.worktree", "core.repositoryformatversion", "extensions", "include", "includeif")
"""Settings that say how a repository is read, and where from; each has tests of its own."""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that is there once the program that `named` names has run; it holds what it was called with."""
    return tmp_path / "ran"


@pytest.fixture
def named(tmp_path: Path, ran: Path) -> Path:
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{ran}'\nexit 1\n")
    script.chmod(0o755)
    return script


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = staged(tmp_path / "repo", {"x.py": "", ".gitattributes": "* filter=x diff=x merge=x\n"})
    git(root, "commit", "-qm", "first")
    write(root, FILES)
    git(root, "add", ".")
    return root


def keys() -> list[str]:
    """All keys that git knows, with a name in place of what may be any."""
    settings = git(Path("/"), "help", "--config-for-completion").decode().split()
    known = [key for key in settings if re.fullmatch(r"[a-zA-Z.-]+[a-zA-Z]", key)]
    return [key for key in (*known, *MORE) if not key.lower().startswith(KEPT)]


def setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    inner, _, name = rest.rpartition(".")
    return f'[{section} "{inner}"]\n\t{name} = "{value}"\n' if inner else f'[{section}]\n\t{name} = "{value}"\n'


def every_setting(value: Path) -> str:
    return "".join(setting(key, str(value)) for key in keys())


def promising(program: Path) -> str:
    """Settings by which git gets what is missing through a program."""
    return f"""[core]
\trepositoryformatversion = 1
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ext::{program} %S
\tpromisor = true
\tpartialCloneFilter = blob:none
[protocol]
\tallow = always
[protocol "ext"]
\tallow = always
"""


def in_the_settings(root: Path, text: str) -> None:
    with (root / ".git/config").open("a") as file:
        file.write(text)


def in_a_file_that_they_include(root: Path, text: str) -> None:
    (root / "settings").write_text(text)
    in_the_settings(root, f'[include]\n\tpath = ../settings\n[includeIf "gitdir:**"]\n\tpath = {root}/settings\n')


def in_those_of_the_worktree(root: Path, text: str) -> None:
    in_the_settings(root, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n")
    (root / ".git/config.worktree").write_text(text)


def in_a_common_folder(root: Path, text: str) -> None:
    shutil.copytree(root / ".git", root / "common")
    for name in ("config", "objects", "refs"):
        path = root / ".git" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (root / ".git/commondir").write_text("../common\n")
    with (root / "common/config").open("a") as file:
        file.write(text)


def of_the_user(root: Path, text: str) -> None:
    (root.parent / ".gitconfig").write_text(text)


PLACES = (in_the_settings, in_a_file_that_they_include, in_those_of_the_worktree, in_a_common_folder, of_the_user)


def hooks(root: Path, program: Path) -> None:
    """Put the program in the place of every hook, wherever git may look for one."""
    names = ("post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman",
             "pre-auto-gc", "post-rewrite", "update", "proc-receive", "p4-pre-submit")  # fmt: skip
    for folder in (root / ".git/hooks", root / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(program, folder / name)


def lose(root: Path, path: str) -> None:
    """Take the content of a staged file out of the repository."""
    oid = git(root, "rev-parse", f":{path}").decode().strip()
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()


def by_the_hook(root: Path, environment: Mapping[str, str]) -> str:
    return call("hook", "--root", str(root), environment=environment).out.decode()


def by_the_command(root: Path, environment: Mapping[str, str]) -> str:
    return call("check_staged", "--root", str(root), environment=environment, door=through_service).out.decode()


def by_a_process(root: Path, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", "bae_source", "hook"]
    around = {**environment, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, cwd=root, env=around, capture_output=True, text=True, timeout=120).stdout


def by_the_api(root: Path, environment: Mapping[str, str]) -> str:
    return str(Source(root).check_staged())


def is_right(answer: str, *, lost: bool) -> bool:
    expected = [line for line in FOUND if line not in (FOUND[2] if lost else FOUND[1],)]
    lines = answer.splitlines()
    return len(lines) == len(expected) and all(map(str.startswith, lines, expected))


@pytest.mark.sampled
@pytest.mark.parametrize("lost", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("place", PLACES)
def test_no_setting_starts_a_program(
    root: Path, named: Path, ran: Path, place: Callable[[Path, str], None], lost: bool
) -> None:
    hooks(root, named)
    if lost:
        lose(root, "app/core.py")
    place(root, every_setting(named) + promising(named))
    environment = {**ENVIRONMENT, "HOME": str(root.parent)}
    for door in (by_the_hook, by_the_command, by_a_process, by_the_api):
        assert is_right(door(root, environment), lost=lost), door(root, environment)
    assert not ran.exists(), ran.read_text()


def test_all_keys_are_tried() -> None:
    """What is known to start programs is among what git says it knows, or among what is added to it."""
    known = set(map(str.lower, keys()))
    for key in ("core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.pager", "core.editor", "diff.external",
                "core.gitProxy", "core.askPass", "credential.helper", "gpg.program", "gpg.ssh.defaultKeyCommand",
                "core.alternateRefsCommand", "uploadpack.packObjectsHook", "sequence.editor", "web.browser",
                "interactive.diffFilter", "imap.tunnel"):  # fmt: skip
        assert key.lower() in known
    assert len(known) > 500


def test_no_variable_of_git_starts_a_program_or_writes(root: Path, named: Path, ran: Path, tmp_path: Path) -> None:
    programs = ("EXTERNAL_DIFF", "PAGER", "EDITOR", "SEQUENCE_EDITOR", "SSH", "SSH_COMMAND", "ASKPASS", "PROXY_COMMAND")
    settings = ("core.fsmonitor", "core.hooksPath", "core.pager", "diff.external", "alias.diff-index")
    environment = {
        **ENVIRONMENT,
        **{f"GIT_{name}": str(named) for name in programs},
        **{f"GIT_TRACE{name}": str(ran) for name in ("", "2", "2_EVENT", "_SETUP", "_PACKET", "_PERFORMANCE")},
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{number}": str(named) for number in range(len(settings))},
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{named}'",
        "GIT_EXEC_PATH": str(tmp_path / "programs"),
        "GIT_TEMPLATE_DIR": str(root),
        "GIT_NO_LAZY_FETCH": "0",
        "GIT_ALLOW_PROTOCOL": "ext:file",
    }
    for name in ("git", "git-diff-index", "git-cat-file", "git-remote-ext"):
        write(tmp_path / "programs", {name: named.read_bytes()})
        (tmp_path / "programs" / name).chmod(0o755)
    lose(root, "app/core.py")
    in_the_settings(root, promising(named))
    assert is_right(by_the_hook(root, environment), lost=True)
    assert not ran.exists(), ran.read_text()


PROGRAMS_OF_GIT = {
    "a file monitor": ("core.fsmonitor", "status"),
    "a hook": ("core.hooksPath", "update-index --force-write-index"),
    "a filter": ("filter.x.clean", "add x.py"),
    "a textconv": ("diff.x.textconv", "diff --cached"),
    "another diff": ("diff.external", "diff --cached"),
    "an alias": ("alias.mine", "mine"),
}


@pytest.mark.parametrize(("key", "command"), PROGRAMS_OF_GIT.values(), ids=PROGRAMS_OF_GIT)
def test_git_itself_would_have_started_it(root: Path, named: Path, ran: Path, key: str, command: str) -> None:
    hooks(root, named)
    value = root / "hooks" if key == "core.hooksPath" else named
    in_the_settings(root, setting(key, f"!{value}" if key.startswith("alias") else str(value)))
    write(root, {"x.py": "x = 1\n"})
    subprocess.run(["git", *command.split()], cwd=root, env=ENVIRONMENT | IDENTITY, check=False, capture_output=True)
    assert ran.exists()


def test_git_itself_would_have_fetched_what_is_missing(root: Path, named: Path, ran: Path) -> None:
    lose(root, "app/core.py")
    in_the_settings(root, promising(named))
    command = ["git", "-c", "protocol.allow=never", "cat-file", "-p", ":app/core.py"]
    subprocess.run(command, cwd=root, env=ENVIRONMENT, check=False, capture_output=True)
    assert ran.exists()


def test_git_starts_on_nothing_but_a_folder_of_ours_which_goes_again(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$GIT_DIR|$*" >> \'{log}\'\nexec {shutil.which("git")} "$@"\n')
    fake.chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{fake.parent}:{ENVIRONMENT['PATH']}"}
    assert is_right(by_the_hook(root, environment), lost=False)
    calls = [line.split("|")[0] for line in log.read_text().splitlines()]
    assert len(calls) > 3
    assert len(set(calls)) == 1
    assert Path(calls[0]).name.startswith("bae-source-scratch-")
    assert not Path(calls[0]).exists()


def test_mending_runs_nothing_of_the_project(
    root: Path, ran: Path, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"open({str(ran)!r}, 'a').write(__file__)\n"
    write(root, {"app/__init__.py": FILES["app/__init__.py"] + mark, "conftest.py": mark, "sitecustomize.py": mark})
    write(root, {".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11\n"})
    for name in ("python", "python3", "git"):
        write(root, {f".venv/bin/{name}": named.read_bytes()})
        (root / ".venv/bin" / name).chmod(0o755)
    git(root, "add", "app")
    hooks(root, named)
    in_the_settings(root, every_setting(named))
    monkeypatch.chdir(root)
    environment = {**ENVIRONMENT, "PATH": f"{root}/.venv/bin:{ENVIRONMENT['PATH']}"}
    called = call("hook", "--fix", "app/__init__.py", environment=environment)
    assert called.status == 1
    assert "(mended)" in called.out.decode(), called.err_text
    assert "gone" not in (root / "app/__init__.py").read_text()
    assert not ran.exists(), ran.read_text()
