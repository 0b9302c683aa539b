"""Every case of tests/cases/references, asked through the Python API, and a few through the real command line.

The labels were written from Python's own scoping rules, not from an engine's answers. What can be checked without an
engine is: every file compiles, and what the compiler itself takes for a name of the module's own scope is labelled.
"""

from __future__ import annotations

import dis
import inspect
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec
import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice, Outcome
from bae_source.syntax.names.newer import statements_of_newer
from tests.reference_cases import LABELLED, LISTING, Ask, Label, ReferenceCase, read

REPOSITORY = Path(__file__).parent.parent
CASES = sorted((Path(__file__).parent / "cases" / "references").glob("*/*.case"))
_ALSO_AS_A_COMMAND = CASES[::12]  # one in so many, since each takes a process

Place = tuple[str, int]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_what_is_found_is_what_the_lines_say(path: Path, tmp_path: Path) -> None:
    case = read(path)
    build(case, tmp_path)
    source = Source(tmp_path)
    for ask in case.asks:
        if ask.error is not None:
            with pytest.raises(ResourceError) as caught:
                getattr(source, ask.verb)(ask.target)
            assert caught.value.code == ask.error
            continue
        outcome = getattr(source, ask.verb)(ask.target).outcome
        assert (outcome.status, outcome.errors) == ("answer", ())
        check_found(ask, outcome.found)
        check_form(case, outcome.found)
        check_completeness(case, outcome)


@pytest.mark.sampled
@pytest.mark.parametrize("path", _ALSO_AS_A_COMMAND, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_the_command_line_says_the_same(path: Path, tmp_path: Path) -> None:
    case = read(path)
    build(case, tmp_path)
    for ask in case.asks:
        command = [sys.executable, "-m", "bae_source", ask.verb, "--json", "--root", str(tmp_path)]
        done = subprocess.run([*command, "--", ask.target], cwd=REPOSITORY, capture_output=True, timeout=120)
        printed = json.loads(done.stdout)
        assert done.stderr == b""
        if ask.error is not None:
            assert printed["errors"][0]["code"] == ask.error
            continue
        answer = getattr(Source(tmp_path), ask.verb)(ask.target)
        assert (printed["text"], printed["complete"], done.returncode) == (str(answer), answer.complete, 0)
        assert str(tmp_path) not in printed["text"]


def build(case: ReferenceCase, root: Path) -> None:
    """Lay out the project of a case."""
    for name, text in case.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def check_found(ask: Ask, found: Sequence[Any]) -> None:
    """Compare what was found with the labels, line by line, or with the listing."""
    if ask.verb not in LABELLED:
        assert listing_differs(ask, found) == []
        return
    if ask.verb == "references":
        places = [(item.module, item.line, item.column) for item in found]
        assert places == sorted(places), "references come in the order of modules, lines and columns"
    if ask.verb != "importers_of":
        assert len({(item.module, item.line, item.column, item.kind) for item in found}) == len(found)
    assert list(differences(ask, found)) == []


def differences(ask: Ask, found: Sequence[Any]) -> Iterator[str]:
    """Say for each line where label and answer differ what each of them has."""
    by_line: dict[Place, list[Any]] = {}
    for item in sorted(found, key=lambda item: (item.module, item.line, item.column)):
        by_line.setdefault((item.module, item.line), []).append(item)
    for place in sorted({*by_line, *ask.labels}):
        labels, items = ask.labels.get(place, ()), by_line.get(place, [])
        if any(label.open for label in labels):
            continue
        if ask.verb == "importers_of":  # a statement may count once for the module and once for each name
            items = list({(item.certainty, item.kind): item for item in items}.values())
        if not _fit(labels, items):
            wanted = ", ".join(map(str, labels)) or "nothing"
            got = ", ".join(f"{x.certainty} {x.kind} @{x.column} in {x.address}" for x in items) or "nothing"
            yield f"{ask.verb} {ask.target}: {place[0]}:{place[1]}: labelled {wanted}; found {got}"


def _fit(labels: Sequence[Label], items: Sequence[Any]) -> bool:
    return len(labels) == len(items) and all(
        label.fits(item.certainty, item.kind, item.column, item.address)
        for label, item in zip(labels, items, strict=True)
    )


def listing_differs(ask: Ask, found: Sequence[Any]) -> list[str]:
    """Say what a listing has too many and too few of."""
    left = list(found)
    differing = []
    for listed in ask.listing:
        fitting = (
            item
            for item in left
            if item.address == listed.address
            and item.certainty in listed.certainties
            and listed.line in (None, item.line)
        )
        item = next(fitting, None)
        if item is None:
            differing.append(f"{ask.verb} {ask.target}: not found: {listed.address} line {listed.line}")
        else:
            left.remove(item)
    return [
        *differing,
        *(f"{ask.verb} {ask.target}: not labelled: {x.address} {x.certainty} line {x.line}" for x in left),
    ]


def check_form(case: ReferenceCase, found: Sequence[Any]) -> None:
    """Every place exists; whatever is not sure says why; no answer speaks of paths."""
    lines = {module: case.files[path].split("\n") for path, module in case.modules.items()}
    for item in found:
        assert item.certainty in ("sure", "probable", "unsure", "mention")
        assert item.why or item.certainty == "sure"
        assert "/" not in f"{item.module}{item.address}"
        assert 1 <= item.line <= len(lines[item.module])
        assert 1 <= item.column <= len(lines[item.module][item.line - 1])


def check_completeness(case: ReferenceCase, outcome: Any) -> None:
    """What could not be read is named, and only then the answer is not complete."""
    if case.complete is not None:
        assert outcome.complete is case.complete
    for module in case.unreadable:
        assert any(module in warning.message for warning in outcome.warnings), outcome.warnings


def test_there_are_cases_of_every_question() -> None:
    verbs = {ask.verb for path in CASES for ask in read(path).asks}
    assert verbs == {*LABELLED, *LISTING}


@pytest.mark.parametrize(
    "odd",
    [
        "--- file: m.py\nf()  # sure call\n--- ask: references m.f",
        "--- file: m.py\nf()  #~sure call\n--- ask: references m.f",
        "--- file: m.py\nf()  # ~ sure call\n--- ask: references m.f",
        "--- file: m.py\nf()  # string\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ certain call\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure cal\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ call\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure call,sure read\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure string\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure mention\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure call @x\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure call  #~ sure call\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ a: sure call\n--- ask: references m.f",
        "--- file: m.py\nf()  #~ sure call\n--- ask a: references m.f",
        "--- file: m.py\nf()  #~ sure call\n--- ask: references m.f\n--- ask: references m.g",
        "--- file: m.py\nf()  #~ a: sure call\n--- ask a: references m.f\n--- ask a: references m.g",
        "--- file: m.py\nf()  #~ sure call\n--- ask: callees m.f",
        "--- file: m.py\nf()\n--- ask: reference m.f",
        "--- file: m.py\nf()\n--- ask: references",
        "--- file: m.py\nf()\n--- ask: references m.f\nm.f sure",
        "--- file: m.py\nf()\n--- ask: callees m.f\nm.f",
        "--- file: m.py\nf()\n--- ask: callees m.f\nm.f certain",
        "--- file: m.py\nf()\n--- ask: callees m.f\nerror: symbol_not_found\nm.f sure",
        "--- file: m.py\nf()\n--- question: references m.f",
        "--- file: m.py\nf()\n---ask: references m.f",
        "--- file: m.py\nf()\n--- ask old before 3.1: references m.f\n--- ask: references m.f\n---- file: n.py",
        "--- file: m.py\nf()\n--- ask before 3.2: references m.f",
        "--- file: m.py\nf()\n--- file: m.py\n--- ask: references m.f",
        "--- file: m.py\nf()\n--- file: m/__init__.py\n--- ask: references m.f",
        "--- file: m.py\nf()\n--- ask: references m.f\n--- incomplete: n",
        "--- file: m.py\nf()\n--- ask: references m.f\n--- incomplete old before 3.12: m",
        "--- file: m.py\nf()\n--- ask: references m.f\n--- incomplete on 3.12: m",
        "--- file: m.py\nf()\n--- ask: references m.f\n--- complete: yes",
        "--- file: m.py\nf()\n--- ask: references m.f\n--- complete: open\n--- incomplete: m",
        "--- file: m.py\nf()",
        "--- ask: references m.f",
    ],
)
def test_a_case_that_is_malformed_is_no_case(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "odd.case"
    path.write_text(f"About.\n\n{odd}\n")
    with pytest.raises(ValueError, match=r"^odd\.case: "):
        read(path)


def test_a_case_says_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "odd.case"
    path.write_text("--- file: m.py\nf()\n--- ask: references m.f\n")
    with pytest.raises(ValueError, match="a sentence"):
        read(path)


def test_markers_are_taken_off_and_lines_stay_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "good.case"
    path.write_text(
        "About.\n\n--- file: src/m.py as m\n# plain\nf(g)  #~ a: sure call @1 in m, b: unsure read\n\n"
        'x = "⟪e9⟫"\n\n--- ask a: references m.f\n'
        "--- ask b before 3.12: callers m.g\n--- ask c from 3.12: callers m.g\n"
        "--- incomplete before 3.12: m\n"
    )
    case = read(path, (3, 11))
    assert case.files == {"src/m.py": '# plain\nf(g)\n\nx = "\udce9"\n'}
    assert (case.complete, case.unreadable) == (False, ("m",))
    first, second = case.asks
    assert first.labels == {("m", 2): (Label(certainties=("sure",), kinds=("call",), tag="a", column=1, address="m"),)}
    assert second.labels == {("m", 2): (Label(certainties=("unsure",), kinds=("read",), tag="b"),)}
    newer = read(path, (3, 12))
    assert ([ask.tag for ask in newer.asks], newer.complete, newer.unreadable) == (["a", "c"], True, ())


@dataclass(frozen=True)
class _Hit:
    line: int
    certainty: str
    kind: str
    column: int = 1
    module: str = "m"
    address: str = "m"


_CALL = _Hit(2, "sure", "call")


@pytest.mark.parametrize(
    ("label", "found", "differs"),
    [
        ("sure call", [_CALL], False),
        ("sure call @1 in m", [_CALL], False),
        ("sure|unsure call", [_CALL], False),
        ("open", [], False),
        ("open", [_CALL], False),
        ("sure call", [], True),
        ("sure call", [_CALL, _Hit(1, "sure", "call")], True),
        ("sure call", [_CALL, _Hit(2, "sure", "read", 4)], True),
        ("sure call, sure read", [_CALL, _Hit(2, "sure", "read", 4)], False),
        ("sure read, sure call", [_CALL, _Hit(2, "sure", "read", 4)], True),
        ("sure call", [_Hit(2, "unsure", "call")], True),
        ("sure call", [_Hit(2, "sure", "read")], True),
        ("sure call", [_Hit(2, "sure", "call", module="n")], True),
        ("sure call @2", [_CALL], True),
        ("sure call in m.g", [_CALL], True),
        ("string", [_Hit(2, "mention", "string")], False),
        ("string", [_CALL], True),
    ],
)
def test_an_answer_that_is_not_as_labelled_differs(
    tmp_path: Path, label: str, found: list[_Hit], differs: bool
) -> None:
    path = tmp_path / "good.case"
    path.write_text(f"About.\n\n--- file: m.py\n\nf()  #~ {label}\n--- ask: references m.f\n")
    (ask,) = read(path).asks
    assert bool(list(differences(ask, found))) is differs


@pytest.mark.parametrize(
    ("listed", "found", "differs"),
    [
        ("m sure line 2", [_CALL], False),
        ("m sure|unsure", [_CALL], False),
        ("m sure\nm sure", [_CALL, _CALL], False),
        ("m sure\nm sure", [_CALL], True),
        ("m sure", [_CALL, _CALL], True),
        ("m unsure", [_CALL], True),
        ("m sure line 3", [_CALL], True),
        ("m.g sure", [_CALL], True),
        ("", [_CALL], True),
        ("", [], False),
    ],
)
def test_a_listing_with_too_many_or_too_few_differs(
    tmp_path: Path, listed: str, found: list[_Hit], differs: bool
) -> None:
    path = tmp_path / "good.case"
    path.write_text(f"About.\n\n--- file: m.py\nf()\n--- ask: callees m.f\n{listed}\n")
    (ask,) = read(path).asks
    assert bool(listing_differs(ask, found)) is differs


def test_an_answer_that_hides_what_it_could_not_read_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "good.case"
    path.write_text("About.\n\n--- file: m.py\n(\n--- ask: references m.f\n--- incomplete: m\n")
    named = Outcome(status="answer", complete=False, warnings=(Notice("unreadable", "m does not parse."),))
    check_completeness(read(path), named)
    for outcome in (msgspec.structs.replace(named, complete=True), msgspec.structs.replace(named, warnings=())):
        with pytest.raises(AssertionError):
            check_completeness(read(path), outcome)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_exactly_the_files_that_are_reported_as_unreadable_cannot_be_read(path: Path) -> None:
    case = read(path)
    mentioning = {
        place[0]
        for ask in case.asks
        for place, labels in ask.labels.items()
        if any("mention" in label.kinds for label in labels)
    }
    outside = {module for name, module in case.modules.items() if name.startswith(".venv/")}
    broken = {module for name, module in case.modules.items() if name.endswith(".py") and not _is_read(case, name)}
    assert broken - outside == {*case.unreadable} | mentioning


def _is_read(case: ReferenceCase, name: str) -> bool:
    """Say whether a file compiles, or is no more than newer than the running Python."""
    if _compiles(case, name):
        return True
    try:
        return bool(statements_of_newer(case.files[name]))
    except SyntaxError:
        return False


def _compiles(case: ReferenceCase, name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(case.files[name].encode("utf-8", "surrogateescape"), name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _of_names(case: ReferenceCase) -> Iterator[tuple[Ask, str, str]]:
    """Yield the questions about names of a module, with the module and its text."""
    for ask in case.asks:
        module = ask.target.rpartition(".")[0]
        for name, known in case.modules.items():
            if ask.verb == "references" and ask.error is None and known == module and _compiles(case, name):
                yield ask, module, case.files[name]


@pytest.mark.parametrize(
    "path",
    [path for path in CASES if any(_of_names(read(path)))],
    ids=lambda path: f"{path.parent.name}.{path.stem}",
)
def test_labels_agree_with_the_compiler_on_names_of_the_module(path: Path) -> None:
    for ask, module, text in _of_names(read(path)):
        name = ask.target.rpartition(".")[2]
        code = compile(text.encode("utf-8", "surrogateescape"), module, "exec", dont_inherit=True)
        read_on = {line for found, line in _global_reads(code) if found == name}
        labelled = {line: labels for (place, line), labels in ask.labels.items() if place == module}
        assert read_on <= labelled.keys()
        for line, labels in labelled.items():
            plain = [x for x in labels if x.certainties == ("sure",) and set(x.kinds) <= {"call", "read", "base"}]
            assert not plain or line in read_on, f"{module}:{line} is no name of the module"


def _global_reads(code: CodeType, *, module: bool = True) -> Iterator[tuple[str, int | None]]:
    """Yield the names that compiled code reads from its module, and their lines."""
    function, bound = bool(code.co_flags & inspect.CO_OPTIMIZED), set[str]()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME" and not module:
            bound.add(step.argval)
        by_scope = step.opname == "LOAD_NAME" and not function and step.argval not in bound
        if (by_scope or step.opname == "LOAD_GLOBAL") and step.positions is not None:
            yield step.argval, step.positions.lineno
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_reads(constant, module=False)
