"""The page and its API as an ASGI application.

    GET  /                                   the page
    GET  /api/v1/tasks?state=waiting&limit=… the queue
    GET  /api/v1/tasks/{task_id}             one proposal whole
    POST /api/v1/tasks/{task_id}/approve     {"digest": …, "reason": …}
    POST /api/v1/tasks/{task_id}/reject      {"reason": …, "parts": […]}
    POST /api/v1/tasks/{task_id}/expire      {}
    POST /api/v1/tasks/{task_id}/renew       {}
    GET  /api/v1/symbols?name=…              what references know about a symbol
    GET  /api/v1/history, /api/v1/history/{operation_id}, /api/v1/ledger
    POST /api/v1/history/{operation_id}/undo {}
    GET  /api/v1/changes?since=VERSION&task=…    answers once anything has changed, or after some seconds

Invariant: what is refused, and why, is decided by the engine and `guard`; here is only the way there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.desk import Desk, Json
from bae_source.adapters.web.guard import Application, Guard

_MODULES = ("page", "api", "text", "marks", "queue", "change", "diff", "deciding", "records")
_PAGE = {
    "": ("index.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    **{f"{name}.js": (f"{name}.js", "text/javascript") for name in _MODULES},
}
_STATUS = {2: 400, 3: 404, 4: 409, 5: 409, 6: 409, 7: 409, 70: 500}
_CODES = {"stale": 409, "forbidden": 403, "proposal_closed": 409, "busy": 503}
_HELD_SECONDS = 25.0
_LOOK_SECONDS = 0.4
_MOST = 10_000
_MOST_LISTED = 100_000


def application(desk: Desk, secret: Secret, hosts: tuple[str, ...]) -> Application:
    """Return what answers on one address.

    Parameters:
        hosts: the names, with the port, by which the page is called.
    """
    routes = [Route(f"/{path}", partial(_page, *found)) for path, found in _PAGE.items()]
    api = "/api/v1"
    routes += [
        Route(f"{api}/project", _reading(lambda _: desk.project())),
        Route(f"{api}/tasks", _reading(lambda given: desk.tasks(given.get("state", "waiting"), _number(given.get("limit", "100000"))))),
        Route(f"{api}/tasks/{{task_id}}", _reading(lambda given: desk.task(given["task_id"]))),
        Route(f"{api}/symbols", _reading(lambda given: desk.symbol(given.get("name", "")))),
        Route(f"{api}/history", _reading(lambda given: desk.history(_number(given.get("limit", "100"))))),
        Route(f"{api}/history/{{operation_id}}", _reading(lambda given: desk.operation(given["operation_id"]))),
        Route(f"{api}/ledger", _reading(lambda given: desk.ledger(_number(given.get("limit", "200"))))),
        Route(f"{api}/changes", partial(_changes, desk)),
    ]
    tasks = f"{api}/tasks/{{task_id}}"
    decisions: Mapping[str, Callable[[Mapping[str, str], Json], Json]] = {
        f"{tasks}/approve": lambda at, given: desk.approve(
            at["task_id"], _text(given, "digest"), _text(given, "reason", usual="")
        ),
        f"{tasks}/reject": lambda at, given: desk.reject(at["task_id"], _text(given, "reason"), _parts(given)),
        f"{tasks}/expire": lambda at, _: desk.expire(at["task_id"]),
        f"{tasks}/renew": lambda at, _: desk.renew(at["task_id"]),
        f"{api}/history/{{operation_id}}/undo": lambda at, _: desk.undo(at["operation_id"]),
    }
    routes += [Route(path, _deciding(do), methods=["POST"]) for path, do in decisions.items()]
    return Guard(Starlette(routes=routes), secret, hosts)


async def _page(name: str, kind: str, _: Request) -> Response:
    content = (files("bae_source.adapters.web") / "page" / name).read_bytes()
    return Response(content, media_type=f"{kind}; charset=utf-8")


def _reading(do: Callable[[Mapping[str, str]], Json]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        given = {**request.query_params, **request.path_params}
        return await _answered(lambda: do(given))

    return answer


def _deciding(do: Callable[[Mapping[str, str], Json], Json]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            given = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError, ClientDisconnect):
            return _refused("The body is no JSON.")
        if not isinstance(given, dict):
            return _refused("The body has to be a JSON object.")
        return await _answered(lambda: do(request.path_params, given))

    return answer


async def _changes(desk: Desk, request: Request) -> Response:
    """Answer once something has changed since a version, or after some seconds."""
    since, task = (request.query_params.get(name, "") for name in ("since", "task"))
    loop = asyncio.get_running_loop()
    until = loop.time() + _HELD_SECONDS
    while True:
        version = await asyncio.to_thread(desk.version, task)
        if version != since or loop.time() >= until or await request.is_disconnected():
            return JSONResponse({"version": version})
        await asyncio.sleep(_LOOK_SECONDS)


class _Wrong(Exception):
    """What was sent is not what is needed; the message says what is."""


async def _answered(do: Callable[[], Json]) -> Response:
    try:
        found = await asyncio.to_thread(do)
    except _Wrong as error:
        return _refused(str(error))
    errors = found.get("errors") or []
    if not errors:
        return _json(found, 200)
    code = errors[0]["code"]
    return _json({**found, "error": errors[0]}, _CODES.get(code, 404 if code == "symbol_not_found" else 400))


def _json(found: Any, status: int) -> Response:
    content = json.dumps(found, separators=(",", ":")).encode()  # plain ASCII, also of what is no UTF-8
    return Response(content, status_code=status, media_type="application/json")


def _refused(message: str) -> Response:
    return _json({"error": {"code": "invalid_arguments", "message": message}}, 400)


def _text(given: Json, name: str, *, usual: str | None = None) -> str:
    value = given.get(name, usual)
    if not isinstance(value, str) or len(value) > _MOST:
        raise _Wrong(f"{name} has to be a text of at most {_MOST:,} characters.")
    return value


def _parts(given: Json) -> tuple[str, ...]:
    value = given.get("parts", [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _Wrong("parts has to be a list of addresses.")
    return tuple(value)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= _MOST_LISTED:
        raise _Wrong(f"limit has to be a number from 1 to {_MOST_LISTED:,}.")
    return int(text)
