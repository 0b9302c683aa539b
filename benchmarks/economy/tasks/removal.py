"""7: the removal of a deprecated feature."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_NAME = "run_until_first_complete"
_TARGETS = (_NAME, f"test_{_NAME}")
_FILTER = rf".*{_NAME}.*\n"

TASK = Task(
    number=7,
    title="removal of a deprecated feature",
    statement=(
        f"Remove the deprecated starlette.concurrency.{_NAME}: with its test, its filter of warnings in "
        "pyproject.toml, and the imports that only they needed. The release notes are history."
    ),
    package="starlette",
    tests=("tests/test_concurrency.py",),
    plain=(
        Shell(f"git grep -n {_NAME}; head -40 starlette/concurrency.py tests/test_concurrency.py"),
        Shell(
            f"""\
sed -i '/^async def {_NAME}/,/^async def run_in/{{/^async def run_in/!d}}' starlette/concurrency.py && \
sed -i '15,/^def test_acc/{{/^def test_acc/!d}};s/, {_NAME}$//' tests/test_concurrency.py && \
sed -i /{_NAME}/d pyproject.toml && ruff check -q --fix && pytest -q tests/test_concurrency.py | tail -1; \
git diff --shortstat"""
        ),
    ),
    cli=(
        Shell(
            f"""\
bae-source do -q --tidy --verify tests <<'E'
delete {" ".join(_TARGETS)} --with-imports
replace --regex '{_FILTER}' '' :pyproject.toml
E"""
        ),
    ),
    mcp=(
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "delete", "target": list(_TARGETS), "with_imports": True},
                    {
                        "do": "replace",
                        "text": _FILTER,
                        "replacement": "",
                        "scope": ":pyproject.toml",
                        "regex": True,
                    },
                ],
                "tidy": True,
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
