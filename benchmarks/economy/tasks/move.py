"""5: the move of a function and its constant to another module."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_FUNCTION, _CONSTANT = "_obfuscate_sensitive_headers", "SENSITIVE_HEADERS"

TASK = Task(
    number=5,
    title="move of a function and its constant",
    statement=f"Move httpx._models.{_FUNCTION} and httpx._models.{_CONSTANT}, which it alone uses, to httpx._utils.",
    package="httpx",
    tests=("tests/models/test_headers.py", "tests/test_utils.py"),
    plain=(
        Shell(
            "git grep -nwE '_obfuscate_sensitive_headers|SENSITIVE_HEADERS'; sed -n '/^def _obfuscate/,/^class/p\n"
            "/^from ._utils/p' httpx/_models.py; sed -n '1,/^def/p' httpx/_utils.py"
        ),
        Shell(
            """\
cd httpx && sed -n '/^SENSITIVE_H/s/^/\\n\\n/p;/^def _obfuscate/,/yield k, v/{s/^def/\\n\\n&/;p}' \
_models.py >> _utils.py && sed -i '/^SENSITIVE_H/,+1d
/^def _obfuscate/,/^class/{/^class/!d}
s/^from ._utils import /&_obfuscate_sensitive_headers, /' _models.py && ruff check -q --fix . && cd .. && \
pytest -q tests/models tests/test_utils.py | tail -1; git diff --shortstat"""
        ),
    ),
    cli=(Shell(f"bae-source move {_CONSTANT} {_FUNCTION} httpx._utils -q --verify tests"),),
    mcp=(Tool("move", {"target": [_CONSTANT, _FUNCTION], "to": "httpx._utils", "verify": ["tests"], "quiet": True}),),
)
