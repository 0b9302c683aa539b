"""2: a parameter through eleven call sites."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_TARGET = "starlette.datastructures.URLPath.make_absolute_url"
_SHORT = "URLPath.make_absolute_url"
_PARAMETER = "*, secure: bool | None"
_GIVEN = "secure=None"
_OLD = "[base_url.is_secure]"
_NEW = "[base_url.is_secure if secure is None else secure]"

TASK = Task(
    number=2,
    title="parameter through eleven call sites",
    statement=(
        f"{_TARGET} should take a required keyword `secure: bool | None`: it says that the URL is a secure one or not; "
        "None goes by base_url, as now. All callers, in the package and its tests, give None. Format as usual."
    ),
    package="starlette",
    spelled=(_PARAMETER, _GIVEN, _NEW),
    tests=("tests/test_routing.py", "tests/test_requests.py", "tests/test_datastructures.py"),
    plain=(
        Shell("git grep -nw make_absolute_url; sed -n '/def make_absolute_url/,/^class/p' starlette/datastructures.py"),
        Shell(
            rf"""perl -0pi -e 's/(make_absolute_url\([^()]*?)(\s*\))/$1, {_GIVEN}$2/g' """
            r"starlette/requests.py tests/test_routing.py && "
            rf"sed -i 's/\(base_url: str | URL\)) -> URL:/\1, {_PARAMETER}) -> URL:/;s/\[base_url.is_secure\]/{_NEW}/' "
            "starlette/datastructures.py && ruff format -q starlette tests && "
            "pytest -q tests/test_{routing,requests,datastructures}.py | tail -1; git diff --shortstat"
        ),
    ),
    cli=(
        Shell(f"bae-source read {_SHORT}"),
        Shell(
            f"""\
bae-source do -q --format --verify tests <<'E'
change_signature {_SHORT} '(self, base_url: str | URL, {_PARAMETER})' --value {_GIVEN}
edit {_SHORT} --old {_OLD} --new '{_NEW}'
E"""
        ),
    ),
    mcp=(
        Tool("read", {"target": _SHORT}),
        Tool(
            "apply",
            {
                "requests": [
                    {
                        "do": "change_signature",
                        "target": _SHORT,
                        "signature": f"(self, base_url: str | URL, {_PARAMETER})",
                        "value": [_GIVEN],
                    },
                    {"do": "edit", "target": _SHORT, "old": _OLD, "new": _NEW},
                ],
                "format": True,
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
