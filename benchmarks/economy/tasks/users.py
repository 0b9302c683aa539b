"""12: who uses a symbol, and why."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_TARGET = "starlette._utils.is_async_callable"

TASK = Task(
    number=12,
    title="who uses a symbol and why",
    statement=(
        f"Which functions and classes of starlette call {_TARGET}, and what do they do with the answer? The names of "
        "those at the top of their modules and the lines around each call have to be seen; the tests do not matter."
    ),
    package="starlette",
    facts=(
        "wrap_app_handling_exceptions",
        "if is_async_callable(handler):",
        "response = await handler(conn, exc)",
        "elif is_async_callable(func):",
        "requires",
        "self.is_async = is_async_callable(func)",
        "BackgroundTask",
        "is_async = is_async_callable(handler)",
        "if is_async:",
        "HTTPEndpoint",
        "if is_async_callable(self.handler):",
        "response = await self.handler(request, exc)",
        "ServerErrorMiddleware",
        "func if is_async_callable(func) else functools.partial(run_in_threadpool, func)",
        "request_response",
        "return is_async_callable(app)",
        "_is_asgi3",
    ),
    plain=(Shell("git grep -npC2 'is_async_callable(' starlette"),),
    cli=(Shell("bae-source grep -FpC2 'is_async_callable(' starlette"),),
    mcp=(
        Tool(
            "grep",
            {"pattern": "is_async_callable(", "fixed": True, "scope": "starlette", "context": 2, "symbols": True},
        ),
    ),
)
