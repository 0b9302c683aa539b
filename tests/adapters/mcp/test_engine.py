"""Jobs of the main thread: their order, their errors, and what interrupts them."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from bae_source.adapters.mcp.engine import SIGNAL, Engine


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


def test_an_interruption_of_the_process_itself_ends_the_engine_and_a_later_signal_does_no_harm() -> None:
    engine = Engine()

    def interrupted() -> None:
        raise KeyboardInterrupt

    async def speak() -> None:
        await engine.done(interrupted)

    with pytest.raises(KeyboardInterrupt):
        run(engine, speak)
    os.kill(os.getpid(), SIGNAL)
