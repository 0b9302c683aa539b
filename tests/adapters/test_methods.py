"""The methods of the Python API are the requests' declarations, and a call that does not fit is answered at once."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, Source
from bae_source.adapters.python import stub
from bae_source.adapters.toolbox import Toolbox
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Service
from bae_source.model.context import Context
from bae_source.model.request import Request, parameters
from tests.project.test_pool import open_files

STUB = Path(stub.__file__).with_name("verbs.pyi")


@pytest.fixture
def src(project: Path) -> Source:
    return Source(project)


def refusal(call: Any, *placed: Any, **named: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        call(*placed, **named)
    assert caught.value.code == "invalid_arguments"
    return caught.value


def test_the_types_are_what_the_declarations_give() -> None:
    assert STUB.read_text() == stub.drawn(), "python -m bae_source.adapters.python.stub draws them"


@pytest.mark.parametrize("kind", list(REQUESTS), ids=lambda kind: kind.verb)
def test_a_request_is_a_method_with_its_parameters_and_those_of_the_context(kind: type[Request]) -> None:
    method = getattr(Source, kind.verb)
    taken = set(inspect.signature(method).parameters) - {"self"}
    declared = {parameter.name for parameter in parameters(kind)}
    assert declared <= taken
    assert taken - declared <= {*Context.__struct_fields__}
    assert (inspect.getdoc(method) or "").startswith((inspect.cleandoc(kind.__doc__ or "")).partition("\n")[0])


def test_a_type_checker_knows_what_methods_take_and_return(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(
        "from bae_source import Source\n"
        "src = Source('.')\n"
        "reveal_type(src.read('app'))\n"
        "reveal_type(src.edit('app.f', 'def f(): ...', dry_run=True))\n"
        "reveal_type(src.symbols('sym://a', 'sym://b'))\n"
        "src.rename('app.f')\n"
        "reveal_type(src.deps.add('rich', group='dev', dry_run=True))\n"
        "reveal_type(src.deps_add('rich', group='dev', dry_run=True))\n"
        "src.tests_run(fialed=True)\n"
    )
    command = [sys.executable, "-m", "mypy", str(tmp_path / "use.py"), "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    notes = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert notes[0] == 'note: Revealed type is "bae_source.model.outcome.Text"'
    assert notes[1] == 'note: Revealed type is "bae_source.model.outcome.Outcome"'
    assert notes[2] == 'note: Revealed type is "list[dict[str, Any]]"'
    assert notes[3].startswith('error: Missing positional argument "new_name"')
    assert notes[4] == notes[5] == notes[1]
    assert notes[6].startswith('error: Unexpected keyword argument "fialed"')


def test_unknown_missing_and_mistyped_arguments_come_in_one_message(src: Source) -> None:
    message = refusal(src.edit, traget="app.client.Client", new=3, dry_run="yes").message
    for problem in (
        "traget is unknown, did you mean target?",
        "target is missing",
        "new: expected",
        "dry_run: expected",
    ):
        assert problem in message


def test_a_parameter_called_as_on_the_command_line_is_proposed(src: Source) -> None:
    message = refusal(src.extract, "app.client", code="1", **{"as": "ONE", "to": "app"}).message
    assert "as is unknown, did you mean as_name?" in message
    assert "to is unknown, did you mean to_module?" in message


def test_what_is_given_twice_or_once_too_often_is_reported(src: Source) -> None:
    assert "target is given twice" in refusal(src.read, "app.client", target="app").message
    assert "2 arguments are given by place, at most 1 can be" in refusal(src.read, "app", "client").message


def test_what_is_given_by_place_to_a_method_that_takes_any_number_is_never_too_much(src: Source) -> None:
    message = refusal(src.symbols, "sym://a", "sym://b", nope=1).message
    assert "nope is unknown" in message
    assert "by place" not in message


def test_the_signature_and_the_first_line_of_help_are_the_hint(src: Source) -> None:
    (hint,) = refusal(src.read, nope=1).hints
    assert hint.startswith("read(target=''")
    assert "Read the source of symbols" in hint


def test_a_transaction_answers_in_the_same_way(src: Source, project: Path) -> None:
    before = (project / "app/client.py").read_bytes()
    tx = src.transaction("why")
    assert "target is missing" in refusal(tx.delete).message
    tx.abandon()
    assert (project / "app/client.py").read_bytes() == before


def test_the_message_is_the_one_that_a_tool_gives(src: Source, project: Path) -> None:
    given: dict[str, Any] = {"target": 3, "full": "x", "budgte": 1}
    failure = Toolbox(Service(project)).call("read", given).errors[0]
    error = refusal(src.read, **given)
    assert (failure.message, failure.hints) == (error.message, error.hints)


def test_what_is_no_list_of_requests_is_refused_at_the_door(src: Source) -> None:
    for wrong in (3, [1, 2], "text", None):
        assert "requests" in refusal(src.apply, wrong).message


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")
def test_an_engine_has_no_file_open_once_nothing_uses_it(project: Path) -> None:
    def cache() -> list[str]:
        return [place for place in open_files().values() if place.startswith(str(project)) and "/facts-" in place]

    def use() -> None:
        source = Source(project).within(9_000)
        transaction = source.transaction()
        source.references("app.client.Client")
        assert cache()
        del source
        assert cache(), "the transaction uses it"
        transaction.abandon()

    Source(project).references("app.client.Client")
    gc.disable()
    try:
        use()
        assert cache() == []
        (project / "app/broken.py").write_text("from app.client import Client\nClient(\n")
        use()
        gc.collect()  # an error that the engine keeps has frames that use it
        assert cache() == []
    finally:
        gc.enable()
