"""A language server to ask for hover and definition: optional, read-only, and never in the way.

    server = LanguageServer("ty", root=root, environment=environment)
    server.ask([question], stamps, seconds=2.0)        starts it the first time, and keeps it warm

Invariants:
- `ask` never raises and never takes longer than it may: a server that is absent, hangs, dies, floods us or answers
  garbage comes to a `problem`;
- only programs that are known by name are started, from beside the running Python or from `PATH`, and never from inside
  the project: what a project says chooses among them, and cannot bring its own;
- one that starts programs itself is started for a person only: a project could name or bring what it starts;
- one that has failed several times in a row is left alone.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bae_source.language_server.session import Died, Late, Session
from bae_source.language_server.wire import Garbage
from bae_source.model.navigation import Navigated, Question

OFF = "off"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "ty": ("ty", "server"),
    "basedpyright": ("basedpyright-langserver", "--stdio"),
    "pyrefly": ("pyrefly", "lsp"),
}
CHOSEN_BY_PEOPLE = frozenset({"basedpyright", "pyrefly"})
"""Those that run an interpreter to ask it where packages lie: one that the project brings, or that its files name."""
VARIABLE = "BAE_SOURCE_LANGUAGE_SERVER"
"""The environment variable by which a person chooses one."""

_STARTS = "starts programs that a project can bring, so only a person chooses it:"
_LONGEST = 3_600.0
_MOST_FAILURES = 3
_SET = {"NO_COLOR": "1", "TERM": "dumb", "TY_UV": "0"}
"""Variables of a server: ty is not to ask uv, which runs interpreters."""
_KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "VIRTUAL_ENV", "XDG_CACHE_HOME")


class LanguageServer:
    """A language server of a project, started when it is first asked.

    Parameters:
        name: one of `COMMANDS`, or `off`; any other is a problem of each answer.
        root: the project's folder, links followed.
        environment: the caller's environment variables; few of them go through.
        command: how it is started, if not as `name` is.
        by_person: whether a person chose it, and not a project or a model.
    """

    def __init__(
        self,
        name: str,
        *,
        root: Path,
        environment: Mapping[str, str],
        command: Sequence[str] | None = None,
        by_person: bool = True,
    ) -> None:
        self.name = name
        self.by_person = by_person
        self._root = root
        self._search = [folder for folder in environment.get("PATH", "").split(os.pathsep) if self._trusted(folder)]
        self._environment = {key: environment[key] for key in _KEPT if key in environment}
        self._environment |= {"PATH": os.pathsep.join(self._search), **_SET}
        self._command = tuple(command) if command is not None else None
        self._session: Session | None = None
        self._failures = 0
        self._lock = threading.Lock()

    def ask(
        self, questions: Sequence[Question | None], stamps: Mapping[str, object], *, seconds: float
    ) -> list[Navigated]:
        """Answer each question, in at most `seconds`; None is answered with nothing.

        Parameters:
            stamps: a value for each of the project's files that changes when the file does.
        """
        seconds = max(0.0, min(seconds, _LONGEST))
        deadline = time.monotonic() + seconds
        asked = [question for question in questions if question is not None]
        late = f"{self.name} did not answer within {seconds:g} s"
        if not self._lock.acquire(timeout=seconds):
            return _alike(Navigated(problem=late), questions)
        try:
            answers = iter(self._answers(asked, stamps, deadline) if asked else ())
        except Late:
            self._failed()
            return _alike(Navigated(problem=late), questions)
        except Died:
            self._failed(useless=True)
            return _alike(Navigated(problem=f"{self.name} ended before it answered"), questions)
        except Garbage:
            self._failed(useless=True)
            return _alike(Navigated(problem=f"{self.name} answered what cannot be understood"), questions)
        finally:
            self._lock.release()
        given = [next(answers) if question is not None else Navigated() for question in questions]
        return [answer or Navigated(problem=late) for answer in given]

    def close(self) -> None:
        """End the server; the next question starts it again."""
        with self._lock:
            self._end()

    def _answers(
        self, questions: Sequence[Question], stamps: Mapping[str, object], deadline: float
    ) -> list[Navigated | None]:
        if self._session is None:
            problem = self._obstacle()
            if problem is not None:
                return [Navigated(problem=problem) for _ in questions]
            command = self._command or self._found() or ()
            self._session = Session(command, root=self._root, environment=self._environment, stamps=stamps)
        answers = self._session.answer(questions, stamps, deadline)
        if all(answers):
            self._failures = 0
        else:
            self._failed()
        return [
            Navigated(problem=f"{self.name} {answer.problem}") if answer and answer.problem else answer
            for answer in answers
        ]

    def _obstacle(self) -> str | None:
        """Return the reason why the server cannot be started; None where it can."""
        if self.name == OFF:
            return "the language server is switched off"
        if self.name not in COMMANDS:
            return f"there is no language server {self.name!r}; known are {', '.join(COMMANDS)} and {OFF}"
        if self.name in CHOSEN_BY_PEOPLE and not self.by_person:
            return f"{self.name} {_STARTS} {VARIABLE}={self.name}, or --language-server on the command line"
        if self._failures >= _MOST_FAILURES:
            return f"{self.name} has failed {self._failures} times in a row, and is left alone"
        if self._command is None and self._found() is None:
            return f"{self.name} is not installed; pip install 'bae-source[lsp]' brings a language server"
        return None

    def _found(self) -> tuple[str, ...] | None:
        """Return the command with the program's own path; None where it is not installed."""
        program, *arguments = COMMANDS[self.name]
        folders = os.pathsep.join([str(Path(sys.executable).parent), *self._search])
        path = shutil.which(program, path=folders)
        return (path, *arguments) if path else None

    def _trusted(self, folder: str) -> bool:
        """Return whether programs of a folder may be started: it is named absolutely, and lies outside the project."""
        return Path(folder).is_absolute() and not Path(os.path.realpath(folder)).is_relative_to(self._root)

    def _failed(self, *, useless: bool = False) -> None:
        """Count a failure; end a server that is of no use any more, or has failed too often."""
        self._failures += 1
        if useless or self._failures >= _MOST_FAILURES:
            self._end()

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


class LanguageServers:
    """The one server of a project that is kept warm.

    Parameters:
        root: the project's folder, links followed.
        environment: the caller's environment variables.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root = root
        self._environment = environment
        self._warm: LanguageServer | None = None

    def named(self, name: str, *, by_person: bool = False) -> LanguageServer:
        """Return the server of that name: the same as before, or another one while the one before is ended."""
        if self._warm is None or (self._warm.name, self._warm.by_person) != (name, by_person):
            self.close()
            self._warm = LanguageServer(name, root=self._root, environment=self._environment, by_person=by_person)
        return self._warm

    def choice(self, named: str | None, *, by_model: bool) -> tuple[str | None, Callable[[str], LanguageServer]]:
        """Return the wanted server's name, None for none, and a function from names to servers.

        Parameters:
            named: by the call.
            by_model: whether a model made the call.
        """
        by_environment = self._environment.get(VARIABLE) or None
        name = named or by_environment
        by_person = name is not None and (name == by_environment or not by_model)
        return name, partial(self.named, by_person=by_person)

    def close(self) -> None:
        """End the server that is warm; the next question starts it again."""
        if self._warm is not None:
            self._warm.close()


def _alike(answer: Navigated, questions: Sequence[Question | None]) -> list[Navigated]:
    return [answer if question is not None else Navigated() for question in questions]
