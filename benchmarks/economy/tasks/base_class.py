"""9: a new base class for six classes."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_BASE = '''\
class ASGIMiddleware:
    """Base class of the middleware that wraps one ASGI application."""

    app: _ASGIApp

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.app!r})"
'''
_IMPORT = "from starlette.middleware import ASGIMiddleware"
_CLASSES = {
    "authentication": "Authentication",
    "cors": "CORS",
    "gzip": "GZip",
    "httpsredirect": "HTTPSRedirect",
    "sessions": "Session",
    "trustedhost": "TrustedHost",
}
_FILES = ",".join(_CLASSES)
_NAMES = ",".join(_CLASSES.values())

TASK = Task(
    number=9,
    title="new base class for six classes",
    statement=(
        "Give starlette.middleware a class ASGIMiddleware, with a repr that shows the app, and have six classes below "
        "inherit from it: the Authentication-, CORS-, GZip-, HTTPSRedirect-, Session- and TrustedHostMiddleware."
    ),
    package="starlette",
    spelled=(_BASE, _IMPORT, "(ASGIMiddleware)"),
    tests=("tests/middleware", "tests/test_authentication.py"),
    plain=(
        Shell("cd starlette/middleware && grep -n '^class .*Middleware\\|_ASGIApp' *.py"),
        Shell(
            f"""\
cd starlette/middleware && cat >> __init__.py <<'E' && \
sed -i 's/^class \\w*Middleware\\b/&(ASGIMiddleware)/;0,/^from starl/s//{_IMPORT}\\n&/' {{{_FILES}}}.py && \
ruff check -q --fix . && cd ../.. && \
pytest -q tests/middleware tests/test_authentication.py | tail -1; git diff --shortstat


{_BASE}E"""
        ),
    ),
    cli=(
        Shell("bae-source grep '^class .*Middleware|_ASGIApp' starlette.middleware"),
        Shell(
            f"""\
bae-source insert starlette.middleware --position last -q --source - <<'E' && bae-source edit \
{{{_NAMES}}}Middleware --old Middleware: --new 'Middleware(ASGIMiddleware):' --import \
'{_IMPORT}' -q --verify tests
{_BASE}E"""
        ),
    ),
    mcp=(
        Tool("grep", {"pattern": "^class .*Middleware|_ASGIApp", "scope": "starlette.middleware"}),
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "insert", "target": "starlette.middleware", "position": "last", "new_source": _BASE},
                    {
                        "do": "edit",
                        "target": [f"{name}Middleware" for name in _CLASSES.values()],
                        "old": "Middleware:",
                        "new": "Middleware(ASGIMiddleware):",
                        "imports": [_IMPORT],
                    },
                ],
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
