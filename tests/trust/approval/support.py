"""A project under a policy, the doors that lead to it, and what is looked at once a case was tried there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.adapters.cli.cli import main, through_service
from bae_source.adapters.cli.streams import Sink, Streams
from bae_source.approval.ledger import Ledger
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal
from bae_source.engine.approving.deciding import Deciding, Person
from bae_source.engine.service import Service
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome, as_mapping, failed
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders, plans_name
from tests.trust.support import git, picture

REPOSITORY = Path(__file__).parents[3]
REVIEW = 'preset = "review"'
READ_ONLY = 'preset = "read-only"'
DENY = 'change.deny = ["app.secrets", ":docs/**", "config project.scripts", "deps evil"]'
"""Rules under which most changes are made at once."""
OPEN = ""
_OWN = r"id|\.gitignore|telemetry[^/]*|lock|facts-[^/]*|ledger(/.*)?|plans-[^/]*|journal[^/]*|staging(/.*)?|tests(/.*)?"
_OURS = re.compile(r"(\.git/|\.)bae-source(/|$)")
_KEPT = re.compile(rf"home/\.local(/state)?(/.*)?|(.*/)?(project/\.git/bae-source|\.bae-source)(/({_OWN}))?")
"""What a refusal may leave of ours: no operation, and nothing to recover."""
PYPROJECT = '[project]\nname = "app"\nversion = "1"\ndependencies = []\n'
FILES: Mapping[str, str] = {
    "app/__init__.py": "",
    "app/core.py": "LIMIT = 3\n\n\ndef send() -> int:\n    return 1\n\n\ndef take() -> int:\n    return LIMIT\n",
    "app/secrets.py": 'KEY = "k"\n\n\ndef unlock() -> str:\n    return KEY\n',
    "app/data/rates.csv": "a,1\n",
    "docs/guide.md": "# Guide\n",
    "notes.txt": "notes\n",
    "tests/test_core.py": "from app.core import send\n\n\ndef test_send() -> None:\n    assert send()\n",
    "conftest.py": "",
    ".github/workflows/ci.yml": "on: push\n",
}


class Answer(Struct, frozen=True, kw_only=True):
    """What a case came to.

    Parameters:
        code: of the error; the status of an outcome without one.
        data: all of it.
        status: the exit status, where there is one.
        shown: what is written for eyes.
    """

    code: str
    data: Mapping[str, Any]
    status: int | None = None
    shown: str = ""

    @property
    def task(self) -> str:
        """The proposal that came of it."""
        return str(self.data["task_id"])


class Place:
    """A project, a home and what lies outside of both.

    Parameters:
        folder: in which they are laid out.
        policy: rules of the project's table; "" for none.
    """

    def __init__(self, folder: Path, template: Path, policy: str) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.outside = folder / "outside"
        self.home = folder / "home"
        shutil.copytree(template, self.root, symlinks=True)
        self.outside.mkdir()
        (self.outside / "victim.py").write_text("VICTIM = 1\n")
        (self.home / ".config/bae-source").mkdir(parents=True)
        (self.home / ".config/bae-source").chmod(0o700)
        table = f"\n[tool.bae-source.policy]\n{policy}\n" if policy else ""
        (self.root / "pyproject.toml").write_text(PYPROJECT + table)
        self.environment = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONPATH": str(REPOSITORY),
            "USER": "agent",
            "NO_COLOR": "1",
            "BAE_SOURCE_SERVE": "off",
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
        }

    def users(self, rules: str) -> None:
        """Have the user's own settings hold a policy."""
        file = self.home / ".config/bae-source/settings.toml"
        file.write_text(rules)
        file.chmod(0o600)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file of the project, from outside of the engine."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def call(
        self,
        *words: str,
        given: str | bytes = b"",
        root: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Answer:
        """Call the command line in this process, as a program does that reads JSON."""
        out, err = BytesIO(), BytesIO()
        streams = Streams(
            stdin=BytesIO(given if isinstance(given, bytes) else given.encode()),
            stdin_terminal=False,
            stdout=Sink(raw=out),
            stderr=Sink(raw=err),
            environment={**self.environment, **(variables or {})},
        )
        at = words.index("--") if "--" in words else len(words)
        line = (*words[:at], "--root", str(root or self.root), "--json", *words[at:])
        status = main(line, streams=streams, door=through_service)
        return answered(json.loads(out.getvalue().splitlines()[-1]), status, err.getvalue().decode())

    def process(self, *words: str, given: str | bytes = b"", cwd: Path | None = None, **variables: str) -> Answer:
        """Call the command line as a process, in the project's folder."""
        line = [sys.executable, "-P", "-m", "bae_source", *words, "--json"]
        done = subprocess.run(
            line,
            input=given if isinstance(given, bytes) else given.encode(),
            capture_output=True,
            env={**self.environment, **variables},
            cwd=cwd or self.root,
            timeout=60,
            check=False,
        )
        return answered(json.loads(done.stdout.splitlines()[-1]), done.returncode, done.stderr.decode())

    def fresh_folders(self) -> StateFolders:
        """Where our state lies now."""
        return StateFolders(self.root, UserState(self.environment))

    @property
    def plans(self) -> Plans:
        """The proposals that there are."""
        return Plans(self.fresh_folders())

    @property
    def ledger(self) -> Ledger:
        """What was done and tried."""
        return Ledger(self.fresh_folders(), lambda: "")

    def events(self) -> list[str]:
        """Return what is in the ledger, the oldest first."""
        return [each.event for each in reversed([*self.ledger.newest()]) if not isinstance(each, str)]

    def service(self) -> Service:
        """Return an engine on the project."""
        return Service(self.root, environment=self.environment)

    def proposed(self, *words: str) -> Proposal:
        """Return a proposal of an edit of `app.core.send`, or of the given call."""
        line = words or ("edit", "app.core.send", "--old", "return 1", "--new", "return 2")
        answer = self.call(*line, "--propose", "why not", "--reload", "off")
        assert answer.code == "pending", answer
        return self.plans.get(answer.task)

    def approve(self, proposal: Proposal, digest: str = "", who: str = "ana") -> Answer:
        """Approve a proposal as the code behind a terminal does once the code was typed."""
        person = Person(name=who, is_named=True)
        return self._decided(lambda deciding: deciding.approve(proposal.id, digest or proposal.digest, person))

    def reject(self, proposal: Proposal) -> Answer:
        """Reject a proposal, likewise."""
        person = Person(name="ana", is_named=True)
        return self._decided(lambda deciding: deciding.reject(proposal.id, person, "not now"))

    def expire(self, proposal: Proposal) -> Answer:
        """Have a proposal expire, likewise."""
        return self._decided(lambda deciding: deciding.expire(proposal.id, Person(name="ana", is_named=True)))

    @property
    def queue(self) -> Path:
        """The file in which proposals are kept."""
        folders = self.fresh_folders()
        return folders.base / plans_name(folders.id or "")

    def _decided(self, do: Callable[[Deciding], Outcome]) -> Answer:
        try:
            found = do(self.service().deciding)
        except ResourceError as error:
            found = failed(error)
        return answered(as_mapping(found))

    def picture(self) -> dict[str, str]:
        """Return what lies there, but for what we keep of it."""
        return picture(self.folder, leaving=_is_state)

    def files(self) -> dict[str, str]:
        """Return what lies there, but for all that is ours."""
        return {name: look for name, look in self.picture().items() if not _OURS.search(name)}


def template(folder: Path) -> Path:
    """Lay out the project that all places are copies of."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    git(folder, "init", "-q")
    shutil.rmtree(folder / ".git/hooks", ignore_errors=True)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder


def answered(data: Mapping[str, Any], status: int | None = None, shown: str = "") -> Answer:
    """Return what an outcome as JSON says."""
    errors = data.get("errors") or ()
    code = errors[0]["code"] if errors else data.get("status", "")
    return Answer(code=code, data=data, status=status, shown=shown)


class Case(Struct, frozen=True, kw_only=True):
    """One attempt.

    Parameters:
        name: what is tried.
        do: tries it.
        code: how it is refused; `pending` for what waits for a person, several where systems differ.
        policy: rules of the project.
        before: what was laid out for it.
    """

    name: str
    do: Callable[[Place], Answer]
    code: str | tuple[str, ...] = "forbidden"
    policy: str = REVIEW
    before: Callable[[Place], object] = lambda _: None


def check(case: Case, place: Place) -> None:
    """Try a case, and see that it is refused as it should be and that nothing has changed."""
    case.before(place)
    before = place.picture()
    answer = case.do(place)
    assert answer.code in ((case.code,) if isinstance(case.code, str) else case.code), answer
    assert place.picture() == before
    verdict = place.ledger.verify()
    assert verdict.fault is None
    assert not {"change_begun", "change_applied", "code_modification_approved"} & {*place.events()}


def of(cases: Iterable[Case]) -> dict[str, Any]:
    """Return cases as parameters of a test."""
    found = list(cases)
    assert len({case.name for case in found}) == len(found)
    return {"argnames": "case", "argvalues": found, "ids": [case.name for case in found]}


def _is_state(name: str) -> bool:
    return "__pycache__" in name or _KEPT.fullmatch(name) is not None
