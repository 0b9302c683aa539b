"""What does not come from the engine: outcomes and errors that code makes, frames that it forges, a sudden close."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from bae_source import Session
from tests.adapters.session.conftest import built, gone

_FOREIGN = "from bae_source import Outcome, Source\nfrom bae_source.errors import LookupFailed\n"


@pytest.mark.parametrize(
    "code",
    [
        "Source('.').read('long', full=True)",
        "Outcome(status='answer', text='x' * 5_000_000)",
        "Outcome(status='answer', text='x', diff='y' * 5_000_000, next_actions=('z' * 5_000_000,))",
        "Outcome(status='answer', address='x' * 5_000_000, etag='y' * 5_000_000, operation_id='z' * 5_000_000)",
        "raise LookupFailed('symbol_not_found', 'm' * 3_000_000, hints=['h' * 3_000_000], candidates=['c'] * 300_000)",
        "'\U0001f600' * 8_000",
        "raise ValueError('\U0001f600' * 8_000)",
    ],
)
def test_results_of_a_block_keep_to_the_budget_whatever_code_made_them(tmp_path: Path, code: str) -> None:
    (built(tmp_path) / "long.py").write_text("x = 1\n" * 20_000)
    with Session(tmp_path, budget=4_000) as session:
        ran = session.run(_FOREIGN + code)
    assert not ran.lost
    assert not ran.outcome.complete or ran.outcome.warnings[-1].code == "shortened"
    assert len(ran.text.encode()) <= 8_000
    assert len(json.dumps(ran.answer, ensure_ascii=False).encode()) <= 12_000


def test_a_call_with_a_budget_of_its_own_is_shown_whole_now_and_as_the_value_of_a_later_block(tmp_path: Path) -> None:
    (built(tmp_path) / "long.py").write_text("x = 1\n" * 20_000)
    with Session(tmp_path) as session:
        assert len(session.run("it = source.read('long', full=True, budget=1_000_000)\nit").outcome.text) == 120_000
        assert len(session.run("it").outcome.text) == 120_000


@pytest.mark.sampled
@pytest.mark.parametrize(
    "message",
    [
        {"type": "done", "outcome": "no JSON", "steps": ["home"], "trail": ["home"]},
        {"type": "done", "outcome": "[]", "steps": ["home"], "trail": ["home"]},
        {"type": "done", "outcome": '{"status": "answer", "text": 5}', "steps": ["home"], "trail": ["home"]},
        {"type": "done", "outcome": '{"status": "answer"}', "answer": "5", "steps": ["home"], "trail": ["home"]},
        {"type": "done", "outcome": '{"status": "answer"}', "steps": ["nowhere"], "trail": ["nowhere"]},
        {"type": "done", "outcome": '{"status": "answer"}', "steps": ["source"], "trail": ["source"]},
        {"type": "ready", "process": 1},
        {"type": "completed", "words": [], "length": 0},
        {"type": "nothing"},
    ],
)
def test_a_worker_whose_code_speaks_for_it_is_ended_and_the_host_goes_on(
    root: Path, message: dict[str, object]
) -> None:
    frame = json.dumps({**message, "number": 1}).encode()
    code = (
        f"import os, stat\nframe = {len(frame).to_bytes(4, 'big') + frame!r}\n"
        "for number in range(3, 200):\n"
        "    try:\n        if stat.S_ISFIFO(os.fstat(number).st_mode): os.write(number, frame)\n"
        "    except OSError: pass\n"
    )
    with Session(root) as session:
        ran = session.run(code)
        assert ran.lost
        assert ran.outcome.errors[0].message == "The namespace is lost: it sent bytes that are no message."
        assert session.run("1 + 1").outcome.text == "2"
        assert "back" in session.namespace


def test_a_session_that_another_thread_closes_ends_its_block_and_its_worker(root: Path, tmp_path: Path) -> None:
    begun, found = tmp_path / "begun", []
    code = (
        f"import os\nwith open({str(begun)!r} + '.new', 'w') as told: told.write(str(os.getpid()))\n"
        f"os.rename({str(begun)!r} + '.new', {str(begun)!r})\nwhile True: pass"
    )
    session = Session(root)
    running = threading.Thread(target=lambda: found.append(session.run(code)))
    running.start()
    while running.is_alive() and not begun.exists():
        running.join(0.01)
    session.close()
    running.join()
    assert found[0].lost
    assert found[0].outcome.errors[0].message == "The namespace is lost: the session was closed."
    assert gone(int(begun.read_text()))
    assert session.run("1").outcome.errors[0].message == "The session is closed."
