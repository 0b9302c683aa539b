"""The main job, step by step, on a project made for it: every step goes through the one door and checks itself.

A step that does not do what it says ends the demonstration with an error; nothing is only claimed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from bae_source.adapters.cli.render import render, render_heading
from bae_source.adapters.cli.streams import Streams
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import ResourceError, TransactionError
from bae_source.model.outcome import Failure, Outcome, failed

_CART = '''\
"""The shopping cart."""

from shop.prices import price_of


class Cart:
    """Goods that a customer is about to buy."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def add(self, item: str) -> None:
        self.items.append(item)

    # cents, as everywhere
    def total(self) -> int:
        """Sum up the prices."""
        total = 0
        for item in self.items:
            total += price_of(item)   # odd   spacing survives
        return total
'''

_PRICES = '''\
"""Prices, in a file that came from Windows."""

PRICES = {"tea": 350, "cup": 1200}


def price_of(item: str) -> int:
    return PRICES[item]
'''

_REPORT = '''\
"""Reports for the owner of the shop."""

from shop.cart import Cart

TITLE = "Today's carts"


def report(cart: Cart) -> str:
    return f"{TITLE}: {cart.total() / 100:.2f}"
'''

FILES: Mapping[str, bytes] = {
    "README.md": b"# shop\n",
    "pyproject.toml": b'[project]\nname = "shop"\nversion = "1.0"\n',
    "shop/__init__.py": b'"""A shop."""\n\nfrom shop.cart import Cart\n\n__all__ = ["Cart"]\n',
    "shop/cart.py": _CART.encode(),
    "shop/prices.py": _PRICES.replace("\n", "\r\n").encode(),
    "shop/report.py": _REPORT.encode(),
}
_STAGED = ("README.md", b"# shop\n\nA change that its owner has staged.\n")
_UNSTAGED = ("shop/report.py", _REPORT.encode() + b"\n\n# A change that its owner has not staged.\n")
_UNTRACKED = ("notes.txt", b"A file that its owner has not added.\n")
_OURS = (".git", ".bae-source", "__pycache__")


class Project(Struct, frozen=True, kw_only=True):
    """The project on disk.

    Parameters:
        root: its folder.
        git: the git program; None where there is none, and then the project is in no repository.
    """

    root: Path
    git: str | None

    def digests(self) -> dict[str, str]:
        """Return the digest of every file of the user's, by project-relative path."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        relative = {path.relative_to(self.root): path for path in files}
        return {
            name.as_posix(): sha256(path.read_bytes()).hexdigest()
            for name, path in relative.items()
            if not set(name.parts) & set(_OURS)
        }

    def git_state(self) -> dict[str, str]:
        """Return git's view of the user's work: status, index, stash, and every commit and branch."""
        questions = {
            "git status": ("status", "--porcelain=v2", "--branch", "--untracked-files=all"),
            "the index": ("ls-files", "--stage"),
            "git diff --cached": ("diff", "--cached"),
            "git stash list": ("stash", "list"),
            "git log --all": ("log", "--all", "--format=%H %D %s"),
        }
        return {name: self._git(*arguments) for name, arguments in questions.items()} if self.git else {}

    def make_repository(self) -> None:
        """Commit everything, then leave a staged, an unstaged and an untracked change, as a person at work has."""
        self._git("-c", "init.defaultBranch=main", "init", "--quiet")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message=Open the shop")
        self._write(*_STAGED)
        self._git("add", _STAGED[0])
        self._write(*_UNSTAGED)
        self._write(*_UNTRACKED)

    def _write(self, name: str, content: bytes) -> None:
        (self.root / name).write_bytes(content)

    def _git(self, *arguments: str) -> str:
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _OWNER.items()}
        done = subprocess.run(
            [self.git or "git", "-c", "core.autocrlf=false", *arguments],
            cwd=self.root,
            env={"PATH": os.defpath, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **identity},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace")


_OWNER = {"NAME": "Shop Owner", "EMAIL": "owner@example.org"}


def make(root: Path, search_path: str) -> Project:
    """Make the project in the empty folder `root`; `search_path` says where git is looked for, as `PATH` does."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    project = Project(root=root, git=shutil.which("git", path=search_path))
    if project.git:
        project.make_repository()
    return project


_FAILED = 70
_PREFIX = "bae-source-demo-"

_PASTED = '''\
def total(self) -> int:
            """Sum up the prices, with the discount."""
            total = 0
            for item in self.items:
                total += price_of(item)
            return total - self.discount()

        def discount(self) -> int:
            return 100 if len(self.items) > 2 else 0
'''

_TOTAL_BEFORE = '''\
    def total(self) -> int:
        """Sum up the prices."""
        total = 0
        for item in self.items:
            total += price_of(item)   # odd   spacing survives
        return total
'''

_TOTAL_AFTER = '''\
    def total(self) -> int:
        """Sum up the prices, with the discount."""
        total = 0
        for item in self.items:
            total += price_of(item)
        return total - self.discount()

    def discount(self) -> int:
        return 100 if len(self.items) > 2 else 0
'''

_PRICE_OF = '''\
def price_of(item: str) -> int:
    """Return the price in cents; what has none is free."""
    return PRICES.get(item, 0)
'''


class StepFailed(Exception):
    """A step did not do what it says."""


class _Stage(Struct, frozen=True, kw_only=True):
    """The project and the folder in which the steps take place."""

    project: Project
    service: Service
    streams: Streams

    def run(self, verb: str, given: Mapping[str, Any]) -> Outcome:
        return self.service.run(request(verb, given), Context())

    def command(self, line: str, source: str | None = None) -> None:
        """Show the command that the step is, with what it is given on standard input."""
        here = f" --source - <<'END'\n{source}END" if source is not None else ""
        render_heading(f"$ {self.streams.program} {line}{here}\n", self.streams, style="command")

    def say(self, text: str) -> None:
        self.streams.stdout.write(f"{text}\n")

    def show(self, outcome: Outcome) -> None:
        render(outcome, self.streams, command=f"{self.streams.program} {{}}")

    def content(self, name: str) -> bytes:
        return (self.project.root / name).read_bytes()


def demo(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Make the project, take every step, and remove the project again unless it is to be kept (`keep`)."""
    spoken = structs.replace(streams, stderr=streams.stdout)  # one story, in the order in which it happens
    if given.get("keep"):
        return _run(Path(tempfile.mkdtemp(prefix=_PREFIX)), spoken, keep=True)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        return _run(Path(folder), spoken, keep=False)


def _run(folder: Path, streams: Streams, *, keep: bool) -> Outcome:
    project = make(folder, streams.environment.get("PATH", ""))
    service = Service(folder, environment=streams.environment)
    stage = _Stage(project=project, service=service, streams=streams)
    _introduce(stage)
    steps = (_read, _edit_pasted, _edit_windows_file, _edit_that_breaks)
    before, git_before = project.digests(), project.git_state()
    try:
        for number, step in enumerate(steps, 1):
            _heading(stage, number, step)
            step(stage)
        if project.git:
            _heading(stage, len(steps) + 1, _undo_all)
            _undo_all(stage)
            _expect(project.digests() == before, "undo did not bring every byte back")
            stage.say("Every byte of every file is as it was.")
            _compare_git(stage, git_before)
        else:
            stage.say("\nThere is no git on this machine: changes work as shown, but are not recorded; undo needs git.")
    except (StepFailed, ResourceError) as error:
        return _failure(error)
    kept = f"The project is kept in {folder}." if keep else "The project has been removed again; --keep keeps it."
    return Outcome(status="answer", text=f"\nEvery step did what it says. {kept}")


def _introduce(stage: _Stage) -> None:
    stage.say("A small project has been made in a temporary folder:\n")
    for name in FILES:
        stage.say(f"  {name}")
    if stage.project.git:
        stage.say("\nIts owner is at work in it, with git: one change is staged, one is not, one file is untracked.")


def _read(stage: _Stage) -> None:
    """Read a method by its name."""
    stage.command("read shop.cart.Cart.total")
    outcome = stage.run("read", {"target": "shop.cart.Cart.total"})
    stage.show(outcome)
    _expect(outcome.text == _TOTAL_BEFORE, "what was read is not what the file holds")


def _edit_pasted(stage: _Stage) -> None:
    """Replace it, pasted at the wrong indentation and with a second method behind it."""
    before = stage.content("shop/cart.py")
    stage.command("edit shop.cart.Cart.total", _PASTED)
    stage.show(stage.run("edit", {"target": "shop.cart.Cart.total", "new_source": _PASTED}))
    expected = before.replace(_TOTAL_BEFORE.encode(), _TOTAL_AFTER.encode())
    _expect(stage.content("shop/cart.py") == expected, "the file is not as expected")
    stage.say("The indentation is the class's, and every byte outside the method is as it was.")


def _edit_windows_file(stage: _Stage) -> None:
    """Edit a function in a file with Windows line ends."""
    stage.command("edit shop.prices.price_of", _PRICE_OF)
    stage.show(stage.run("edit", {"target": "shop.prices.price_of", "new_source": _PRICE_OF}))
    head, _, _ = FILES["shop/prices.py"].partition(b"def ")
    expected = head + _PRICE_OF.replace("\n", "\r\n").encode()
    _expect(stage.content("shop/prices.py") == expected, "the line ends are not those of the file")
    stage.say("Its line ends are CRLF still, in the new lines too.")


def _edit_that_breaks(stage: _Stage) -> None:
    """Try an edit after which the module cannot be imported."""
    before = stage.project.digests()
    stage.command("""edit shop.report.TITLE --code 'TITLE = title("today")'""")
    try:
        stage.run("edit", {"target": "shop.report.TITLE", "new_source": 'TITLE = title("today")\n'})
    except TransactionError as error:
        render(failed(error), stage.streams)
    else:
        raise StepFailed("an edit that breaks the import went through")
    _expect(stage.project.digests() == before, "the edit that failed has left a trace")
    stage.say("The change was taken back: every byte is as before this step.")


def _undo_all(stage: _Stage) -> None:
    """Undo everything."""
    for _ in range(2):
        stage.command("undo")
        stage.show(stage.run("undo", {}))


def _compare_git(stage: _Stage, before: Mapping[str, str]) -> None:
    after = stage.project.git_state()
    changed = [name for name, state in before.items() if after[name] != state]
    _expect(not changed, f"{', '.join(changed)}: not what it was")
    stage.say(f"So is what git knows: {', '.join(before)}.")


def _heading(stage: _Stage, number: int, step: Callable[[_Stage], None]) -> None:
    stage.say("")
    render_heading(f"{number}. {step.__doc__}\n", stage.streams, style="heading")


def _expect(is_true: bool, otherwise: str) -> None:
    if not is_true:
        raise StepFailed(otherwise)


def _failure(error: StepFailed | ResourceError) -> Outcome:
    if isinstance(error, ResourceError):
        return failed(error)
    message = f"The demonstration failed: {error}."
    hint = "Please report it: this is a bug of bae_source."
    return Outcome(
        status="error",
        text=message,
        complete=False,
        errors=(Failure(code="internal_error", message=message, hints=(hint,)),),
        exit_code=_FAILED,
    )
