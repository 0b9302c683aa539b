"""Signs of life for a client that asked for them, while a call takes long.

Nobody knows how long a call will take, so there is no total: the progress is the seconds that have passed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

EVERY = 1.0
"""Seconds between two signs."""


@asynccontextmanager
async def progress(context: ServerRequestContext[Any, Any], tell: Callable[[], str]) -> AsyncIterator[None]:
    """Report progress while the block runs.

    Parameters:
        tell: says what is going on.
    """
    if not context.meta or context.meta.get("progress_token") is None:
        yield
        return
    async with anyio.create_task_group() as group:
        group.start_soon(_report, context, tell)
        yield
        group.cancel_scope.cancel()


async def _report(context: ServerRequestContext[Any, Any], tell: Callable[[], str]) -> None:
    begun = time.monotonic()
    while True:
        await asyncio.sleep(EVERY)
        await context.session.report_progress(round(time.monotonic() - begun, 1), message=tell())
