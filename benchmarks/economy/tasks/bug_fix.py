"""1: a bug fix in one method."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_PAIRS = {
    'key, value = field.strip().split("=", 1)': 'key, separator, value = field.strip().partition("=")',
    "header_dict[key]": "if separator and value:\n    header_dict[key]",
}

TASK = Task(
    number=1,
    title="bug fix in one method",
    statement=(
        "A Digest challenge with a field that has no '=' or no value makes httpx._auth.DigestAuth._parse_challenge "
        "raise ValueError or IndexError. It should ignore such fields, so that what is missing is a ProtocolError."
    ),
    package="httpx",
    spelled=('key, separator, value = field.strip().partition("=")', "if separator and value:"),
    tests=("tests/client/test_auth.py",),
    plain=(
        Shell("sed -n '/def _parse_challenge/,/^    def /p' httpx/_auth.py"),
        Shell(
            r"""sed -i 's/key, value = field.strip().split("=", 1)/key, separator, value = field.strip().partition("=")/
s/\( *\)header_dict\[key\] = .*/\1if separator and value:\n    &/' httpx/_auth.py && """
            "pytest -q tests/client/test_auth.py | tail -1; git diff -U0 | grep ^+"
        ),
    ),
    cli=(
        Shell("bae-source read DigestAuth._parse_challenge"),
        Shell(
            "bae-source edit DigestAuth._parse_challenge -q --verify tests"
            + "".join(f" --old '{old}' --new '{new}'" for old, new in _PAIRS.items())
        ),
    ),
    mcp=(
        Tool("read", {"target": "DigestAuth._parse_challenge"}),
        Tool(
            "edit",
            {
                "target": "DigestAuth._parse_challenge",
                "old": list(_PAIRS),
                "new": list(_PAIRS.values()),
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
