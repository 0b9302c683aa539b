"""Whatever is asked, in whatever way, the answer is the same: five adapters, each by its public entrance.

Equal but for ids and times. The requests are made in one order on five copies of one project; after the last one, the
five are still equal to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bae_source.errors import ResourceError
from tests.adapters.agree.entrances import ADAPTERS, opened
from tests.adapters.agree.project import build
from tests.adapters.agree.requests import CHANGES, READS, REFUSED, REQUESTS, Asked

Json = dict[str, Any]
_OPERATION = re.compile(r"op_[0-9a-f]+")
_DIFFERING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z|\+00:00| UTC)?|[\d.]+ (?:ms|seconds?|s)\b"), "TIME"),
    (re.compile(r"\b([Pp]rocess) \d+\b"), r"\1 ID"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),  # of an entry of the ledger, which has ids and times
    (re.compile(r"\b[0-9a-f]{32}\b"), "STATE"),  # in the name of a file of it
    (re.compile(r"(?<=-)[0-9a-f]{12}\b"), "DIGEST"),  # of a page of text that has ids and times
    (re.compile(r"[\d,.]+ (?:bytes|MB)(?=\.|\))"), "SIZE"),  # of what was packed with ids and times
)


NOT_EVERYWHERE = {
    "unknown_operation",  # inside `apply` it is one of the problems of `invalid_arguments`; else there is no such tool
    "handle_expired",  # handles are MCP's and Python's: tests/adapters/mcp, tests/test_apply
    "resolution_failed",  # of parts that are not built yet
    "proposal_closed",
}


class Conversation:
    """What was asked of one adapter so far."""

    def __init__(self, entrance: Any) -> None:
        self.entrance = entrance
        self.operations: list[str] = []

    def answer(self, asked: Asked) -> Json:
        """Ask, and return the answer without what differs from one adapter to the other."""
        with asked.around(self.entrance.root):
            found: Json = self.entrance.ask(asked.verb, self._filled(asked.arguments))
        if found.get("operation_id"):
            self.operations.append(found["operation_id"])
        masked: Json = self._masked(found)
        return masked

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        match = re.fullmatch(r"\{op:(-?\d+)\}", value) if isinstance(value, str) else None
        return self.operations[int(match[1])] if match else value

    def _masked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: 0 if key == "seconds" else _words(self._masked(each)) if key in _CALLS else self._masked(each)
                for key, each in value.items()
            }
        if isinstance(value, list):
            return [self._masked(each) for each in value]
        if not isinstance(value, str):
            return value
        known = {operation: f"op_{number}" for number, operation in enumerate(self.operations)}
        text = _OPERATION.sub(lambda match: known.get(match[0], "op_new"), value)
        for pattern, instead in _DIFFERING:
            text = pattern.sub(instead, text)
        return text.replace(str(self.entrance.root), "ROOT").encode("utf-8", "backslashreplace").decode()


_CALLS = ("next_actions", "hints")
_OF_FORMS = {
    "True",
    "False",
    "target",
    "to",
    "new_name",
    "draft",
    "pattern",
    "scope",
    "operation",
    "id",
    "within",
    "ast",
    "uris",
    "no",
    "text",
    "replacement",
}


def _words(hints: list[str]) -> list[set[str]]:
    """Return the words of hints, whichever form their calls have: of the command line, of Python or of tools."""
    return [set(re.findall(r"\w+", each.replace("_", " "))) - _OF_FORMS for each in hints]


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Conversation]]:
    with opened(tmp_path_factory.mktemp("agree"), build) as entrances:
        yield {name: Conversation(entrance) for name, entrance in entrances.items()}


def code_of(answer: Json) -> str:
    """Return the status of an answer, or the code of its first error."""
    if "answers" in answer:
        return str(answer["answers"][0]["status"])
    errors = answer["errors"]
    return str(answer["status"] if not errors or "kind" in answer else errors[0]["code"])


def test_all_adapters_answer_every_request_alike(conversations: dict[str, Conversation]) -> None:
    differing: list[str] = []
    pool = ThreadPoolExecutor(len(conversations))  # each has a project of its own
    for number, asked in enumerate(REQUESTS):
        asking = {name: each for name, each in conversations.items() if name not in asked.skip}
        given = [asked] * len(asking)
        answers = dict(zip(asking, pool.map(Conversation.answer, asking.values(), given), strict=True))
        shown = f"{number}: {asked.verb}({str(asked.arguments)[:100]})"
        first = answers["python"]
        if code_of(first) != asked.comes:
            differing.append(f"{shown}: {code_of(first)} instead of {asked.comes}: {str(first)[:300]}")
        for name, answer in answers.items():
            if answer != first:
                key = next(key for key in (*first, *answer) if answer.get(key) != first.get(key))
                differing.append(
                    f"{shown}: {key} of {name}: {answer.get(key)!r:.300}, of python: {first.get(key)!r:.300}"
                )
    assert not differing, f"{len(differing)} differ\n" + "\n".join(differing[:40])
    trees = [_tree(each.entrance.root) for each in conversations.values()]
    assert all(tree == trees[0] for tree in trees)


def _tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def test_there_are_enough_requests_and_every_kind_of_them() -> None:
    whole = [asked for asked in REQUESTS if not asked.skip]
    assert len(whole) >= 150
    assert len(ADAPTERS) == 5
    assert len(READS) > 50
    assert len(REFUSED) > 50
    assert len(CHANGES) > 50
    every = {code for kind in ResourceError.__subclasses__() for code in kind.codes}
    assert every - {asked.comes for asked in REQUESTS} == NOT_EVERYWHERE
