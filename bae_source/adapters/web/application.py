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
import re
from collections.abc import Callable, Mapping, Sequence
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
_STATUS = {
    "stale": 409,
    "forbidden": 403,
    "proposal_closed": 409,
    "busy": 503,
    "symbol_not_found": 404,
    "nothing_to_undo": 404,
    "internal_error": 500,
}
_KEPT_SECONDS = 25.0
_LOOK_SECONDS = 0.4
_MOST = 10_000
_MOST_LISTED = 100_000
_NUMBER = re.compile(r"[0-9]{1,9}")
_WHOLE = re.compile(r"code_mod_[0-9a-f]{8}|op_[0-9a-f]{12}")
"""Names of proposals and of operations; to decide, a beginning does not do."""
_HALF = re.compile("[\ud800-\udfff]")
_Decision = Callable[[str, Json], Json]


def application(
    desk: Desk, secret: Secret, hosts: tuple[str, ...], admitted: Callable[[Any], None] = lambda _: None
) -> Application:
    """Return the application of one address.

    Parameters:
        hosts: the names, with the port, by which the page is called.
        admitted: called with the state of a connection that has shown the token.
    """
    routes = [Route(f"/{path}", partial(_page, *found)) for path, found in _PAGE.items()]
    api = "/api/v1"
    routes += [
        Route(f"{api}/project", _reading(lambda _: desk.project())),
        Route(
            f"{api}/tasks",
            _reading(lambda given: desk.tasks(given.get("state", "waiting"), _number(given.get("limit", "100000")))),
        ),
        Route(f"{api}/tasks/{{task_id}}", _reading(lambda given: desk.task(given["task_id"]))),
        Route(f"{api}/symbols", _reading(lambda given: desk.symbol(given.get("name", "")))),
        Route(f"{api}/history", _reading(lambda given: desk.history(_number(given.get("limit", "100"))))),
        Route(f"{api}/history/{{operation_id}}", _reading(lambda given: desk.operation(given["operation_id"]))),
        Route(f"{api}/ledger", _reading(lambda given: desk.ledger(_number(given.get("limit", "200"))))),
        Route(f"{api}/changes", partial(_changes, desk)),
    ]
    tasks = f"{api}/tasks/{{task_id}}"
    decisions: Mapping[str, tuple[set[str], _Decision]] = {
        f"{tasks}/approve": (
            {"digest", "reason"},
            lambda task, given: desk.approve(task, _text(given, "digest"), _text(given, "reason", usual="")),
        ),
        f"{tasks}/reject": (
            {"reason", "parts"},
            lambda task, given: desk.reject(task, _text(given, "reason"), _parts(given)),
        ),
        f"{tasks}/expire": (set(), lambda task, _: desk.expire(task)),
        f"{tasks}/renew": (set(), lambda task, _: desk.renew(task)),
        f"{api}/history/{{operation_id}}/undo": (set(), lambda operation, _: desk.undo(operation)),
    }
    turn = asyncio.Lock()
    routes += [Route(path, _deciding(*each, turn), methods=["POST"]) for path, each in decisions.items()]
    answering = Starlette(routes=routes)
    answering.router.redirect_slashes = False
    return Guard(answering, secret, hosts, admitted)


async def _page(name: str, kind: str, _: Request) -> Response:
    content = (files("bae_source.adapters.web") / "page" / name).read_bytes()
    return Response(content, media_type=f"{kind}; charset=utf-8")


def _reading(do: Callable[[Mapping[str, str]], Json]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        given = {**request.query_params, **request.path_params}
        return await _answered(lambda: do(given))

    return answer


def _deciding(fields: set[str], do: _Decision, turn: asyncio.Lock) -> Callable[[Request], Any]:
    """Return the route that carries out decisions.

    Parameters:
        fields: what a body may have; one that has more means something else than would be done.
        turn: for one decision at a time; those behind it keep no thread, so that reading goes on.
    """

    async def answer(request: Request) -> Response:
        try:
            given = json.loads((await request.body()).decode() or "{}", object_pairs_hook=_fields)
        except (ValueError, RecursionError, ClientDisconnect):
            return _refused("The body is no JSON, or has a field twice.")
        if not isinstance(given, dict) or given.keys() - fields:
            return _refused(f"The body has to be a JSON object with no more than: {', '.join(sorted(fields)) or '{}'}.")
        [name] = request.path_params.values()
        if not _WHOLE.fullmatch(name):
            return _refused("A decision is about one thing by its whole name.", 404)
        async with turn:
            return await _answered(lambda: do(name, given))

    return answer


def _fields(pairs: Sequence[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field stands twice")
    return found


async def _changes(desk: Desk, request: Request) -> Response:
    """Answer once something has changed since a version, or after some seconds."""
    since, task = (request.query_params.get(name, "") for name in ("since", "task"))
    loop = asyncio.get_running_loop()
    until = loop.time() + _KEPT_SECONDS
    while True:
        version = await asyncio.to_thread(desk.version, task)
        if version != since or loop.time() >= until or await request.is_disconnected():
            return JSONResponse({"version": version})
        await asyncio.sleep(_LOOK_SECONDS)


class _Wrong(Exception):
    """The refusal of a body that is not what is needed; the message says what is."""


async def _answered(do: Callable[[], Json]) -> Response:
    try:
        found = await asyncio.to_thread(do)
    except _Wrong as error:
        return _refused(str(error))
    errors = found.get("errors") or []
    if not errors:
        return _json(found, 200)
    return _json({**found, "error": errors[0]}, _STATUS.get(errors[0]["code"], 400))


def _json(found: Any, status: int) -> Response:
    content = json.dumps(found, separators=(",", ":")).encode()  # plain ASCII, also of what is no UTF-8
    return Response(content, status_code=status, media_type="application/json")


def _refused(message: str, status: int = 400) -> Response:
    return _json({"error": {"code": "invalid_arguments", "message": message}}, status)


def _text(given: Json, name: str, *, usual: str | None = None) -> str:
    value = given.get(name, usual)
    if not isinstance(value, str) or len(value) > _MOST:
        raise _Wrong(f"{name} has to be a text of at most {_MOST:,} characters.")
    if _HALF.search(value):
        raise _Wrong(f"{name} has half a character, which no text has.")
    return value


def _parts(given: Json) -> tuple[str, ...]:
    value = given.get("parts", [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _Wrong("parts has to be a list of addresses.")
    return tuple(value)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or not 0 < int(text) <= _MOST_LISTED:
        raise _Wrong(f"limit has to be a number from 1 to {_MOST_LISTED:,}.")
    return int(text)
