"""4: the rename of a method whose name stands in nine files."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_TARGET = "httpx._urls.URL.raw_path"
_NEW = "target"
_FIGURE, _NEW_FIGURE = "[    raw_path    ]", "[     target     ]"

TASK = Task(
    number=4,
    title="method rename over nine files",
    statement=(
        f"Rename the property {_TARGET} to target, in the docstring of URL too. The keyword raw_path of copy_with, the "
        "field of RawURL and the key of ASGI keep their name; the changelog is history."
    ),
    package="httpx",
    spelled=(_NEW, _NEW_FIGURE),
    tests=("tests/models", "tests/test_asgi.py", "tests/client/test_auth.py"),
    plain=(
        Shell("grep -rnw raw_path httpx tests README.md"),
        Shell(
            rf"grep -rlw raw_path httpx tests | xargs sed -i 's/\.raw_path\b/.{_NEW}/g;s/def raw_path/def {_NEW}/;"
            rf"s/\[    raw_path    \]/{_NEW_FIGURE}/' && "
            "pytest -q tests/models tests/test_asgi.py tests/client | tail -1; git diff --shortstat"
        ),
    ),
    cli=(
        Shell(f"bae-source rename URL.raw_path {_NEW} -q --verify tests"),
        Shell(
            f"bae-source edit URL -q --old '{_FIGURE}' --new '{_NEW_FIGURE}' "
            f"--old url.raw_path --new url.{_NEW} --every"
        ),
    ),
    mcp=(
        Tool("grep", {"pattern": "raw_path", "scope": "URL@docstring"}),
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "rename", "target": "URL.raw_path", "new_name": _NEW},
                    {
                        "do": "edit",
                        "target": "URL",
                        "old": [_FIGURE, "url.raw_path"],
                        "new": [_NEW_FIGURE, f"url.{_NEW}"],
                        "every": True,
                    },
                ],
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
