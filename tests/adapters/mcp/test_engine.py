"""Jobs of the main thread: their order, their errors, and what interrupts them."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CallToolRequestParams

from bae_source.adapters.mcp.door import Door
from bae_source.adapters.mcp.engine import SIGNAL, Engine
from bae_source.adapters.mcp.offer import offered
from bae_source.adapters.mcp.server import Answers
from bae_source.engine.service import Service
from tests.adapters.mcp.support import LEGACY, make_project, until
from tests.plan_files import drafts_of


def run(engine: Engine, speak: Callable[[], Awaitable[Any]]) -> Any:
    """Run an engine here, and those who give it jobs in another thread, until these have no more."""
    answers: list[Any] = []

    def protocol() -> None:
        try:
            answers.append(asyncio.run(_awaited(speak)))
        except BaseException as error:  # noqa: BLE001  # raised again below
            answers.append(error)
        finally:
            engine.stop()

    thread = threading.Thread(target=protocol, daemon=True)
    thread.start()
    engine.run()
    thread.join()
    if isinstance(answers[0], BaseException):
        raise answers[0]
    return answers[0]


async def _awaited(speak: Callable[[], Awaitable[Any]]) -> Any:
    return await speak()


def test_jobs_are_done_in_the_main_thread_in_their_order() -> None:
    engine, seen = Engine(), list[tuple[int, bool]]()

    def do(number: int) -> int:
        seen.append((number, threading.current_thread() is threading.main_thread()))
        return number

    async def speak() -> list[int]:
        return list(await asyncio.gather(*(engine.done(partial(do, n)) for n in range(20))))

    assert run(engine, speak) == list(range(20))
    assert seen == [(number, True) for number in range(20)]


def test_what_a_job_raises_reaches_who_waits_for_it_and_the_next_is_done() -> None:
    engine = Engine()

    async def speak() -> str:
        with pytest.raises(ZeroDivisionError):
            await engine.done(lambda: 1 // 0)
        return await engine.done(lambda: "on")

    assert run(engine, speak) == "on"


def test_only_the_job_that_is_cancelled_is_interrupted() -> None:
    engine, begun, ended = Engine(), threading.Event(), list[str]()

    def slow() -> None:
        begun.set()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            note("interrupted")
            raise

    def note(text: str) -> None:
        ended.append(text)

    async def speak() -> str:
        first = asyncio.ensure_future(engine.done(slow))
        second = asyncio.ensure_future(engine.done(lambda: note("second is done")))
        third = asyncio.ensure_future(engine.done(lambda: "third"))
        await asyncio.to_thread(begun.wait)
        second.cancel()
        first.cancel()
        return await third

    assert run(engine, speak) == "third"
    assert ended == ["interrupted"]


def test_a_job_that_missed_the_signal_is_interrupted_by_another_one() -> None:
    engine, begun, ended = Engine(), threading.Event(), list[str]()

    def deaf() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {SIGNAL})
        begun.set()
        signal.sigwait({SIGNAL})  # as if it had come right before the next system call
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {SIGNAL})
        time.sleep(20)
        ended.append("by itself")

    async def speak() -> str:
        job = asyncio.ensure_future(engine.done(deaf))
        await asyncio.to_thread(begun.wait)
        job.cancel()
        return await engine.done(lambda: "on")

    assert run(engine, speak) == "on"
    assert ended == []


def test_a_signal_that_comes_late_interrupts_nothing() -> None:
    """The job was cancelled while it waited, and skipped; then the signal of it arrives."""
    engine, go = Engine(), threading.Event()

    async def speak() -> str:
        first = asyncio.ensure_future(engine.done(go.wait))
        second = asyncio.ensure_future(engine.done(lambda: pytest.fail("what was cancelled is done")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        go.set()
        await first
        os.kill(os.getpid(), SIGNAL)
        await asyncio.sleep(0.05)
        return await engine.done(lambda: "on")

    assert run(engine, speak) == "on"


def test_cancelling_at_any_moment_ends_neither_the_engine_nor_another_job() -> None:
    engine = Engine()

    def some() -> int:
        return sum(range(2_000))

    async def speak() -> int:
        for number in range(100):
            job = asyncio.ensure_future(engine.done(some))
            await asyncio.sleep(0 if number % 3 else number / 1e6)
            job.cancel()
            assert await engine.done(some) == 1_999_000
        return await engine.done(some)

    assert run(engine, speak) == 1_999_000


def _swallowed() -> str:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    except KeyboardInterrupt:
        return "all the same"
    return "not told"


def _taken_back() -> None:
    try:
        time.sleep(60)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def _taken_back_undisturbed() -> None:
    try:
        time.sleep(60)
    finally:
        _swallowed()


@pytest.mark.parametrize("do", [_swallowed, _taken_back, _taken_back_undisturbed])
def test_the_process_ends_on_an_order_whatever_a_job_makes_of_it(do: Callable[[], object]) -> None:
    engine, begun = Engine(lambda: pytest.fail("the engine goes on")), threading.Event()

    def interrupted(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    def job() -> object:
        begun.set()
        return do()

    async def speak() -> None:
        slow = asyncio.ensure_future(engine.done(job))
        await asyncio.to_thread(begun.wait)
        slow.cancel()
        await asyncio.wait([slow])
        await engine.done(lambda: pytest.fail("another job is done"))

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(engine, speak)
        assert signal.getsignal(signal.SIGTERM) is interrupted
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_callback_runs_after_an_interruption_and_only_then() -> None:
    seen, begun = list[str](), threading.Event()
    engine = Engine(lambda: seen.append("interrupted"))

    def slow() -> None:
        begun.set()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            return  # it is an interruption all the same

    async def speak() -> None:
        assert await engine.done(lambda: len(seen)) == 0
        job = asyncio.ensure_future(engine.done(slow))
        await asyncio.to_thread(begun.wait)
        job.cancel()
        assert await engine.done(lambda: len(seen)) == 1

    run(engine, speak)
    assert seen == ["interrupted"]


def test_what_a_job_holds_is_let_go_of_when_it_is_cancelled_before_it_begins() -> None:
    class Large:
        pass

    engine, go = Engine(), threading.Event()

    async def speak() -> bool:
        large = Large()
        kept = weakref.ref(large)
        first = asyncio.ensure_future(engine.done(go.wait))
        second = asyncio.ensure_future(engine.done(partial(id, large)))
        del large
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        del second
        gc.collect()
        is_there = kept() is not None
        go.set()
        await first
        return is_there

    assert run(engine, speak) is False


def test_a_transaction_whose_begin_was_cancelled_when_it_was_done_does_not_stay_open(tmp_path: Path) -> None:
    offer = offered()
    root = make_project(tmp_path / "project")
    door = Door(lambda: Service(root, environment=dict(os.environ)), offer, budget=8_000)
    engine = Engine(door.close)
    answers = Answers(engine, door, offer, budget=8_000)
    asked: Any = SimpleNamespace(meta=None, request=None, protocol_version=LEGACY, session=SimpleNamespace())
    asked.session.client_params = None
    begin = CallToolRequestParams(name="transaction_begin", arguments={})

    def open_ones() -> list[str]:
        return drafts_of(root)

    async def speak() -> int:
        call = asyncio.ensure_future(answers.call_tool(asked, begin))
        await asyncio.sleep(0)
        until(open_ones, "no transaction is begun")  # and the loop stands still
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        return await engine.done(lambda: len(open_ones()))

    assert run(engine, speak) == 0


def test_an_interruption_of_the_process_itself_ends_the_engine_and_a_later_signal_does_no_harm() -> None:
    engine = Engine()

    def interrupted() -> None:
        raise KeyboardInterrupt

    async def speak() -> None:
        await engine.done(interrupted)

    with pytest.raises(KeyboardInterrupt):
        run(engine, speak)
    os.kill(os.getpid(), SIGNAL)
