"""One conversation with a language server: greet it, show it a file, ask for hover and definition.

Invariants:
- only hover and definition are requested; a wish of the server to change anything is refused;
- a file is shown as it was read, for the time of the questions only;
- an answer that comes after its time limit is passed over.

Source of the messages: Language Server Protocol 3.17.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bae_source.language_server.wire import Decoder, Garbage, Message, encode
from bae_source.model.navigation import Navigated, Question, Target
from bae_source.model.span import Place
from bae_source.system.child import CannotStart, Child
from bae_source.system.frames import Channel, wait

_NEW, _CHANGED, _DELETED = 1, 2, 3
_NO_SUCH_METHOD = -32601
_MAX_UNSENT = 64_000_000
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"hover": {"contentFormat": ["plaintext", "markdown"]}, "definition": {"linkSupport": False}},
    "workspace": {
        "applyEdit": False,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}


class Died(Exception):
    """The server has ended, or cannot be started."""


class Late(Exception):
    """The deadline has passed."""


class Session:
    """A server that has been started, greeted or not; what it says on stderr is not kept.

    Parameters:
        root: the project's folder, links followed.
        stamps: a value for each of the project's files that changes when the file does.

    Raises:
        Died: it cannot be started.
    """

    def __init__(
        self, command: Sequence[str], *, root: Path, environment: Mapping[str, str], stamps: Mapping[str, object]
    ) -> None:
        self.root = root
        self._stamps = dict(stamps)
        self._answers: dict[int, Message | None] = {}
        self._last = 0
        self._greeted = False
        try:
            pipe = subprocess.PIPE
            self._child = Child(
                command, folder=root, environment=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        except CannotStart as error:
            raise Died from error
        out, into, _ = self._child.streams
        assert out is not None
        assert into is not None
        self._channel: Channel[Message] = Channel(out.fileno(), into.fileno(), Decoder().feed)
        self._greeting = self._ask("initialize", self._introduction())

    def close(self) -> None:
        """End the server."""
        with suppress(CannotStart):  # which was no more than its end
            self._child.end()

    def answer(
        self, questions: Sequence[Question], stamps: Mapping[str, object], deadline: float
    ) -> list[Navigated | None]:
        """Answer each question; None for those that were not answered by the deadline.

        Raises:
            Died, Garbage: the server is of no use any more.
            Late: it was not even greeted by the deadline.
        """
        self._greet(deadline)
        self._tell_changes(stamps)
        documents = {question.path: question.text for question in questions}
        for path, text in documents.items():
            document = {"uri": self._uri(path), "languageId": "python", "version": 1, "text": text}
            self._tell("textDocument/didOpen", {"textDocument": document})
        asked = [self._put(question) for question in questions]
        wanted = {each for hover, definitions in asked for each in (hover, *definitions) if each is not None}
        with suppress(Late):  # what has been answered is taken
            self._exchange(wanted, deadline)
        for path in documents:
            self._tell("textDocument/didClose", {"textDocument": {"uri": self._uri(path)}})
        answers, self._answers = self._answers, {}
        return [self._navigated(hover, definitions, answers) for hover, definitions in asked]

    def _greet(self, deadline: float) -> None:
        if self._greeted:
            return
        self._exchange({self._greeting}, deadline)
        if "result" not in (self._answers.pop(self._greeting) or {}):
            raise Garbage("no greeting")
        self._tell("initialized", {})
        self._greeted = True

    def _exchange(self, wanted: Collection[int], deadline: float) -> None:
        """Exchange messages with the server until all answers are there."""
        while any(self._answers[number] is None for number in wanted):
            if (left := deadline - time.monotonic()) <= 0:
                raise Late
            wait(left, [self._channel])
            try:
                for message in self._channel.exchange():
                    self._receive(message)
            except EOFError:
                raise Died from None

    def _introduction(self) -> dict[str, Any]:
        uri = self.root.as_uri()
        return {
            "processId": os.getpid(),
            "clientInfo": {"name": "bae_source"},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self.root.name or "project"}],
            "capabilities": _CAPABILITIES,
        }

    def _tell_changes(self, stamps: Mapping[str, object]) -> None:
        """Send the server the files that have changed since the last question: it does not look by itself."""
        old, self._stamps = self._stamps, dict(stamps)
        if old == self._stamps:
            return
        kinds = {path: _NEW for path in stamps if path not in old}
        kinds |= {path: _DELETED for path in old if path not in stamps}
        kinds |= {path: _CHANGED for path in old if path in stamps and stamps[path] != old[path]}
        changes = [{"uri": self._uri(path), "type": kind} for path, kind in kinds.items()]
        self._tell("workspace/didChangeWatchedFiles", {"changes": changes})

    def _put(self, question: Question) -> tuple[int | None, list[int]]:
        """Ask about a file that is open; return the numbers of the questions about the name and about the others."""
        uri = self._uri(question.path)
        lines = question.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

        def ask(method: str, place: Place) -> int:
            before = lines[place.line - 1][: place.column - 1]
            position = {"line": place.line - 1, "character": len(before.encode("utf-16-le", "surrogatepass")) // 2}
            return self._ask(method, {"textDocument": {"uri": uri}, "position": position})

        hover = ask("textDocument/hover", question.name) if question.name else None
        return hover, [ask("textDocument/definition", place) for place in question.names]

    def _ask(self, method: str, parameters: dict[str, Any]) -> int:
        self._last += 1
        self._answers[self._last] = None
        self._post({"id": self._last, "method": method, "params": parameters})
        return self._last

    def _tell(self, method: str, parameters: dict[str, Any]) -> None:
        self._post({"method": method, "params": parameters})

    def _post(self, message: Message) -> None:
        if len(self._channel.sending) > _MAX_UNSENT:
            raise Garbage("more questions than can be answered")
        self._channel.send(encode(message))

    def _receive(self, message: Message) -> None:
        number = message.get("id")
        if "method" in message:
            if number is not None:
                self._post({"id": number, **_reply(message)})
        elif isinstance(number, int) and number in self._answers:
            self._answers[number] = message

    def _navigated(
        self, hover: int | None, definitions: list[int], answers: Mapping[int, Message | None]
    ) -> Navigated | None:
        given = [answers.get(number) for number in ([] if hover is None else [hover]) + definitions]
        if not all(given):
            return None
        if any(message and "error" in message for message in given):
            return Navigated(problem="refused the question")
        text = _text((answers[hover] or {}).get("result")) if hover is not None else ""
        targets = [target for number in definitions for target in self._targets((answers[number] or {}).get("result"))]
        return Navigated(hover=text, targets=tuple(dict.fromkeys(targets)))

    def _targets(self, result: Any) -> list[Target]:
        """Return the places of a definition that lie inside the project."""
        found = []
        for each in result if isinstance(result, list) else [result] if result is not None else []:
            try:
                uri, start = each["uri"], each["range"]["start"]
                line, units = start["line"], start["character"]
            except (TypeError, KeyError):
                raise Garbage("a definition without a place") from None
            if not (isinstance(uri, str) and isinstance(line, int) and isinstance(units, int)):
                raise Garbage("a definition at no place")
            path = self._path(uri)
            if path is not None:
                found.append(Target(path=path, line=line + 1, units=units))
        return found

    def _uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def _path(self, uri: str) -> str | None:
        """Return the project-relative path that a URI means; None for what lies elsewhere."""
        try:
            parts = urlsplit(uri)
            full = Path(unquote(parts.path))
            return full.relative_to(self.root).as_posix() if parts.scheme == "file" else None
        except ValueError:
            return None


def _reply(message: Message) -> Message:
    """Return the answer to what a server asks of us: nothing is set, nothing is changed, everything is fine."""
    method, parameters = message["method"], message.get("params")
    if method == "workspace/applyEdit":
        return {"result": {"applied": False, "failureReason": "This client only reads."}}
    if method == "workspace/configuration":
        items = parameters.get("items") if isinstance(parameters, dict) else None
        return {"result": [None] * (len(items) if isinstance(items, list) else 0)}
    if method in ("client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"):
        return {"result": None}
    return {"error": {"code": _NO_SUCH_METHOD, "message": "This client only reads."}}


def _text(result: Any) -> str:
    """Return the text of a hover: plain, marked down, or pieces of both."""
    if result is None:
        return ""
    contents = result.get("contents") if isinstance(result, dict) else None
    pieces = contents if isinstance(contents, list) else [contents]
    texts = [piece.get("value") if isinstance(piece, dict) else piece for piece in pieces]
    if not all(isinstance(text, str) for text in texts):
        raise Garbage("a hover without text")
    return "\n\n".join(text for text in texts if isinstance(text, str))
