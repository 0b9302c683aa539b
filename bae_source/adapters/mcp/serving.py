"""A server from its start to its end: the protocol in a thread of its own, the engine in this one.

Invariants:
- when the client goes, or a signal ends this process, what was begun is taken back, and the process ends;
- nothing waits for ever for the thread that speaks the protocol: it is a daemon.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from mcp.server.lowlevel import Server
from msgspec import Struct

from bae_source.adapters.mcp.door import Door
from bae_source.adapters.mcp.engine import SIGNAL, Engine
from bae_source.adapters.mcp.http import web_server
from bae_source.adapters.mcp.loopback import Listening, sentence_on
from bae_source.adapters.mcp.server import Answers
from bae_source.adapters.mcp.stdio import Wire, connected
from bae_source.adapters.offer import Offer
from bae_source.engine.meta.service import Meta
from bae_source.engine.service import Service

PATIENCE = 3.0
"""Seconds for which clients of HTTP are given time to hear the end of it."""


class Wanted(Struct, frozen=True, kw_only=True):
    """The kind of server that is to be started.

    Parameters:
        who: the name for the history; None for each client's own.
        budget: bytes of an answer where a call says nothing.
        listening: where clients of HTTP come in; None for standard input and output.
    """

    root: Path
    offer: Offer
    who: str | None = None
    budget: int
    listening: Listening | None = None


def serve(wanted: Wanted, environment: dict[str, str], say: Callable[[str], None]) -> None:
    """Serve until the client has gone.

    Parameters:
        environment: the caller's environment variables.
        say: shows a person a message.

    Raises:
        KeyboardInterrupt: a signal ends this process.
    """
    if environment.get("BAE_SOURCE_TRACEBACK") != "1":
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # messages go into answers
    own = partial(_of_engine, environment) if wanted.offer.meta else None
    door = Door(
        lambda: Service(wanted.root, environment=environment), wanted.offer, budget=wanted.budget, of_engine=own
    )
    engine = Engine(interrupted=door.close)
    answers = Answers(engine, door, wanted.offer, who=wanted.who, budget=wanted.budget)
    speak, leave = (_over_pipes(), None) if wanted.listening is None else _over_http(wanted.listening, say)
    thread = _Protocol(engine, lambda: speak(answers.server()))
    try:
        thread.start()
        engine.run()
    finally:
        door.close()
        if leave is not None:  # a client with a pipe sees its end
            leave()
            thread.join(PATIENCE)
    if thread.failure is not None:
        raise thread.failure


def _of_engine(environment: dict[str, str]) -> Service:
    """Return the engine on its own source."""
    return Meta(environment=environment, stays=True)


Speak = Callable[["Server[Any]"], Awaitable[None]]


def _over_pipes() -> Speak:
    wire = Wire.taken()

    async def speak(server: Server[Any]) -> None:
        async with connected(wire) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    return speak


def _over_http(listening: Listening, say: Callable[[str], None]) -> tuple[Speak, Callable[[], None]]:
    served: list[Any] = []

    async def speak(server: Server[Any]) -> None:
        served.append(web_server(server, listening))
        say(f"{sentence_on(listening)}; Ctrl-C ends it.")
        await served[0].serve(sockets=[listening.socket])

    def leave() -> None:
        for each in served:
            each.should_exit = True

    return speak, leave


class _Protocol(threading.Thread):
    """The thread that speaks the protocol; signals are none of its business."""

    def __init__(self, engine: Engine, speak: Callable[[], Awaitable[None]]) -> None:
        super().__init__(daemon=True, name="protocol")
        self.failure: BaseException | None = None
        self._engine = engine
        self._speak = speak

    def start(self) -> None:
        """Start, with the signals that mean this process left to the main thread."""
        ours = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, SIGNAL}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ours)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def run(self) -> None:
        """Speak until the client hangs up."""
        try:
            asyncio.run(self._spoken())
        except BaseException as error:  # noqa: BLE001  # raised again where the process ends
            self.failure = error
        finally:
            self._engine.stop()

    async def _spoken(self) -> None:
        await self._speak()
