"""The two directions of one call: what `callees` lists of one definition, `callers` of the other lists, as sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from tests.queries.support import laid
from tests.reference_cases import read

CASES = Path(__file__).parent.parent / "cases" / "references"
ASKED = sorted((CASES / "verbs").glob("*.case")) + [
    CASES / "attributes" / f"{name}.case"
    for name in (
        "accessors", "closure_variable", "metaclass_and_its_classes", "mixin", "plain_receivers",
        "returned_by_a_method_above", "set_by_a_class_decorator", "set_while_a_class_is_made", "stored_over_a_method",
        "subscripted_class", "type_variable_in_a_call", "two_assignments",
    )
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("path", ASKED, ids=lambda path: path.stem)
def test_callers_has_what_callees_has(path: Path, tmp_path: Path) -> None:
    case = read(path)
    source = laid(tmp_path, case.files)
    differing = []
    for module in case.modules.values():
        try:
            called = source.callees(module).outcome.found
        except LookupFailed:
            continue
        for each in called:
            calls = _calls_of(source, each.address)
            here = {call.certainty for call in calls or () if (call.module, call.line) == (each.module, each.line)}
            if calls is not None and each.certainty not in here:
                differing.append((each.address, each.module, each.line, each.certainty, here))
    assert differing == []


def _calls_of(source: Source, address: str) -> list[object] | None:
    """Return the calls of something in the project, but for variables, whose name is called and not what they hold."""
    try:
        kind = source.read(address)
        is_there = kind.address == address and ("def " in kind or "class " in kind)
        return list(source.callers(address).outcome.found) if is_there else None
    except (LookupFailed, RequestError):
        return None  # outside the project, or nothing that has a name
