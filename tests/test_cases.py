"""Every case of tests/cases, through the Python API; a sample through the command line, which must say the same.

Of the sample some go through a command line in a process of its own, the others through one in this process.

For each case that changes something, besides its exact diff: nothing outside the diff differs by a byte; the same edit
made again changes nothing; undoing gives every byte back. For each one that is refused: nothing at all has changed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from bae_source.adapters.python import api
from bae_source.engine.registry import REQUESTS
from bae_source.errors import ResourceError
from bae_source.model.context import Context, steering
from bae_source.model.outcome import failed, to_json
from bae_source.model.request import command_of, parameters
from tests.adapters.support import Called, call
from tests.cases.reader import Case, read

REPOSITORY = Path(__file__).parent.parent
CASES = sorted((Path(__file__).parent / "cases").glob("*/*.case"))
_HANDLE = re.compile(r"\b(op|draft)_[0-9a-f]+")
_HEADER = re.compile(
    r"(?:(?:new|deleted) file mode \d+\n)?"
    r"(?:similarity index \d+%\nrename from (?P<origin>.*)\nrename to (?P<target>.*)\n)?"
    r"(?:--- (?:a/(?P<old>.*)|/dev/null)\n\+\+\+ (?:b/(?P<new>.*)|/dev/null)\n)?"
)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n")
_SAMPLE, _FOR_REAL = 3, 12
"""One in so many goes through the command line as well, and another is undone, by a dry run; one in so many has a
process of its own for the command line, and is undone with git. All are with `--whole`."""


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_comes_out_as_written_through_the_api_and_the_command_line(
    path: Path, tmp_path: Path, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, number = read(path), CASES.index(path)
    for_real = whole or number % _FOR_REAL == 0
    is_compared, is_undone = (for_real or number % _SAMPLE == each for each in (0, 1))
    if not case.is_due:
        pytest.skip("for another Python")
    here, there = tmp_path / "here", tmp_path / "there"
    build(case, here)
    monkeypatch.setattr(api, "Context", partial(_in_words, api.Context))  # so that both may be compared as they are
    source = Source(here)
    outcome, status = _ask(source, case.request)
    _compare(case, outcome, status)
    roots = [here]
    if is_compared:
        build(case, there)
        printed, exit_status = _command_line(there, case.request, for_real=for_real)
        assert _masked(printed) == _masked(outcome)
        assert exit_status == status
        roots.append(there)
    for root in roots:
        if case.expected.diff is None:
            assert _without_ours(root) == _as_built(case, tmp_path / f"fresh_{root.name}")
        else:
            _check_bytes(case, root)
    if case.expected.diff is not None:
        _check_again(case, source, here)
    if case.expected.diff and is_undone:
        _check_undone(case, source, here, for_real=for_real)


def _in_words(context: type[Context], **given: Any) -> Context:
    """Make a context whose hints are command lines."""
    return context(**{**given, "calls": "words"})


def test_a_case_that_is_malformed_is_no_case(tmp_path: Path) -> None:
    path = tmp_path / "odd.case"
    for text in (
        "no section",
        "About.\n[file m.py]\n[request]\ndo: edit\ntarget: m.f\n",
        "About.\n[request]\nodd: 1\n",
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"^odd\.case: "):
            read(path)


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line about each request would be all that a refused or repeated one leaves."""
    monkeypatch.setenv("BAE_SOURCE_TELEMETRY", "off")


def build(case: Case, root: Path) -> None:
    """Lay out the project of a case."""
    root.mkdir()
    for name, file in case.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(file.mode)
        os.utime(path, ns=(10**18, 10**18))


def picture(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: content, mode and time of modification."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        changed = status.st_mtime_ns if content is not None else None
        found[path.relative_to(root).as_posix()] = (stat.S_IMODE(status.st_mode), content, changed)
    return found


def _without_ours(root: Path) -> dict[str, tuple[object, ...]]:
    """The same without our own folder, where the lock is taken before a file turns out to be read-only."""
    return {name: facts for name, facts in picture(root).items() if name.partition("/")[0] != ".bae-source"}


def _as_built(case: Case, root: Path) -> dict[str, tuple[object, ...]]:
    build(case, root)
    return picture(root)


def _ask(source: Source, request: dict[str, Any], **more: Any) -> tuple[dict[str, Any], int]:
    """Ask through the API; return the outcome as `--json` would print it, and the exit status it comes to."""
    given = {key: value for key, value in request.items() if key not in ("do", "target")}
    if given.get("if_match") == "current":
        given["if_match"] = source.read(request["target"], full=request["do"] == "write").etag
    placed = [request["target"]] if "target" in request else []
    try:
        outcome = getattr(source, request["do"])(*placed, **given, reload="off", **more)
    except ResourceError as error:
        return json.loads(to_json(failed(error))), error.exit_code
    return json.loads(to_json(outcome)), outcome.exit_code


def _command_line(root: Path, request: dict[str, Any], *, for_real: bool) -> tuple[dict[str, Any], int]:
    """Ask through the command line, new source on standard input.

    Parameters:
        for_real: in a process of its own.
    """
    typed = request.get("new_source", request.get("source", "")).encode("utf-8", "surrogateescape")
    if for_real:
        words = [sys.executable, "-m", "bae_source", *_command(root, request)]
        done = subprocess.run(words, cwd=REPOSITORY, input=typed, capture_output=True, timeout=120)
        called = Called(done.returncode, done.stdout, done.stderr)
    else:
        called = call(*_command(root, request), door=through_service, stdin=typed, environment=os.environ)
    assert called.err == b"", called.err_text
    return called.json, called.status


def _command(root: Path, request: dict[str, Any]) -> list[str]:
    """Return the words that ask the command line for a request."""
    kind = REQUESTS.named(request["do"])
    assert kind is not None
    command = [*command_of(kind).split(), "--json", "--reload", "off", "--root", str(root)]
    placed: list[str] = []
    for each in (*parameters(kind), *steering(kind)):
        value = request.get(each.name)
        flag = f"--{(each.flag or each.name).replace('_', '-')}"
        if each.name in ("new_source", "source") and value is not None:
            command += ["--source", "-"]
        elif each.name == "if_match" and value == "current":
            etag = Source(root).read(request["target"], full=request["do"] == "write").etag
            command.append(f"{flag}={etag}")
        elif each.placed:
            placed += value if isinstance(value, list) else [] if value is None else [str(value)]
        elif isinstance(value, bool):
            command += [flag] if value else []
        elif isinstance(value, list):
            command += [f"{flag}{'-name' if each.name == 'export' else ''}={item}" for item in value]
        elif value is not None:
            command.append(f"{flag}={value}")
    return [*command, "--", *placed]


def _masked(outcome: dict[str, Any]) -> str:
    return _HANDLE.sub(r"\1_", json.dumps(outcome, sort_keys=True))


def _compare(case: Case, outcome: dict[str, Any], status: int) -> None:
    expected = case.expected
    if expected.diff is not None:
        assert outcome["errors"] == []
        assert outcome["diff"] == expected.diff
        assert (outcome["status"], status) == ("applied" if expected.diff else "unchanged", 0)
        assert (outcome["operation_id"] is not None) is bool(expected.diff)
        if expected.changed is not None:
            assert [changed["address"] for changed in outcome["changed"]] == list(expected.changed)
    else:
        assert outcome["status"] == "error", outcome["diff"]
        (error,) = outcome["errors"]
        assert (error["code"], status) == (expected.code, expected.exit), error["message"]
        for fragment in expected.messages:
            assert fragment in error["message"]
        for fragment in expected.hints:
            assert any(fragment in hint for hint in error["hints"]), error["hints"]
        assert error["candidates"] == list(expected.candidates)
        assert error["hints"] or error["candidates"], "an error says what to do next"
    assert [warning["code"] for warning in outcome["warnings"]] == list(expected.warnings)
    if expected.report is not None:
        assert reported(outcome) == list(expected.report)


def reported(outcome: dict[str, Any]) -> list[str]:
    """Return what a refactoring leaves, as a case has it."""
    report = outcome["report"]
    places = [(key.removesuffix("s"), each) for key in ("probable", "unsure", "mentions") for each in report[key]]
    unparsed = [f"unparsed {each.partition(': ')[0]}" for each in report["unparsed"]]
    assert report["complete"] is not bool(unparsed)
    return [*(f"{kind} {each['module']}:{each['line']}" for kind, each in places), *unparsed]


def _check_bytes(case: Case, root: Path) -> None:
    """The diff, applied by hand, gives the very bytes on the disk; no file that it does not name was touched."""
    diff = case.expected.diff or ""
    after = _patched({name: file.content for name, file in case.files.items()}, diff)
    origins = dict(re.findall(r"^rename from (.*)\nrename to (.*)$", diff, flags=re.MULTILINE))
    for name, file in case.files.items():
        path = root / origins.get(name, name)
        content = after.get(origins.get(name, name))
        if content is None:
            continue
        assert path.read_bytes() == content
        assert stat.S_IMODE(path.stat().st_mode) == file.mode
        assert (path.stat().st_mtime_ns == 10**18) is (content == file.content)
        newer = "syntax_unchecked" in case.expected.warnings
        assert path.suffix != ".py" or _parses(content) or newer or not _parses(file.content)
    present = {name for name in _without_ours(root) if (root / name).is_file()}
    assert present == set(after)
    assert {name: (root / name).read_bytes() for name in present} == after


def _check_again(case: Case, source: Source, root: Path) -> None:
    """A whole symbol or part that is edited twice is edited once."""
    if case.request["do"] != "edit" or "new_source" not in case.request:
        return
    before = picture(root)
    request = {key: value for key, value in case.request.items() if key != "if_match"}
    outcome, _ = _ask(source, request)
    assert (outcome["errors"], outcome["diff"], outcome["operation_id"]) == ([], "", None)
    assert picture(root) == before


def _check_undone(case: Case, source: Source, root: Path, *, for_real: bool) -> None:
    """Undoing gives back every byte."""
    diff = source.undo(dry_run=not for_real, reload="off").diff
    contents = {name: file.content for name, file in case.files.items()}
    assert _patched(_patched(contents, case.expected.diff or ""), diff) == contents
    if for_real:
        assert {name: (root / name).read_bytes() for name in _without_ours(root) if (root / name).is_file()} == contents


def _patched(contents: dict[str, bytes], diff: str) -> dict[str, bytes]:
    """Apply a unified diff the way git does: lines end at a line feed, and every line of it must fit."""
    result = dict(contents)
    for part in re.split(r"^diff --git .*\n", diff, flags=re.MULTILINE)[1:]:
        header = _HEADER.match(part)
        assert header, part
        old, new = header["origin"] or header["old"], header["target"] or header["new"]
        before = result.pop(old) if old else b""
        if new:
            result[new] = _patched_file(before, part[header.end() :])
    return _empty_files(result, diff)


def _empty_files(contents: dict[str, bytes], diff: str) -> dict[str, bytes]:
    """Return contents with the empty files that appear, and without those that go: these have no lines in a diff."""
    for name, kind in re.findall(
        r"^diff --git a/.* b/(.*)\n(new|deleted) file mode \d+\n(?=diff|\Z)", diff, re.MULTILINE
    ):
        if kind == "new":
            contents[name] = b""
        else:
            del contents[name]
    return contents


def _patched_file(content: bytes, hunks: str) -> bytes:
    old, new, position = re.findall(rb"[^\n]*\n|[^\n]+", content), [], 0
    pieces = _HUNK.split(hunks)[1:]
    for start, length, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        first = int(start) - (length != "0")
        removed, added = _sides(body)
        new += [*old[position:first], *added]
        position = first + len(removed)
        assert old[first:position] == removed
    return b"".join([*new, *old[position:]])


def _sides(hunk: str) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of a hunk before and after, with their line feeds."""
    removed: list[bytes] = []
    added: list[bytes] = []
    touched: list[list[bytes]] = []
    for line in hunk.encode("utf-8", "surrogateescape").removesuffix(b"\n").split(b"\n"):
        if line.startswith(b"\\"):
            for lines in touched:
                lines[-1] = lines[-1].removesuffix(b"\n")
            continue
        touched = {b" ": [removed, added], b"-": [removed], b"+": [added]}[line[:1]]
        for lines in touched:
            lines.append(line[1:] + b"\n")
    return removed, added


def _parses(content: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(content)
        except (SyntaxError, ValueError):
            return False
    return True
