"""10: a renamed setting, in code, pyproject.toml and docs."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_OLD, _NEW = "[http2]", "[h2]"

TASK = Task(
    number=10,
    title="renamed setting in code, pyproject, docs",
    statement=(
        "Rename the extra http2 of httpx (optional-dependencies in pyproject.toml) to h2, also where messages in the "
        "code and the README tell how to install it. The changelog is history, PKG-INFO is built."
    ),
    package="httpx",
    spelled=(_NEW,),
    plain=(
        Shell("git grep -nE '\\[http2\\]|^http2 =' -- . ':!CHANGELOG.md' ':!PKG-INFO'"),
        Shell(
            f"sed -i 's/\\[http2\\]/{_NEW}/;s/^http2 =/h2 =/' httpx/_client.py README.md pyproject.toml && "
            "git diff -U0 | grep '^[-+]' && pytest -q tests/client/test_client.py | tail -1"
        ),
    ),
    cli=(
        Shell("bae-source grep '\\[http2\\]|^http2 ='"),
        Shell(
            f"bae-source edit httpx._client :README.md --old '{_OLD}' --new '{_NEW}' --every -q && "
            "bae-source edit :pyproject.toml --old 'http2 =' --new 'h2 =' -q --verify tests"
        ),
    ),
    mcp=(
        Tool("grep", {"pattern": r"\[http2\]|^http2 ="}),
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "edit", "target": ["httpx._client", ":README.md"], "old": _OLD, "new": _NEW, "every": True},
                    {"do": "edit", "target": ":pyproject.toml", "old": "http2 =", "new": "h2 ="},
                ],
                "quiet": True,
            },
        ),
    ),
)
