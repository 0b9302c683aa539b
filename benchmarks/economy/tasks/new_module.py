"""3: a new module with an export and tests."""

from __future__ import annotations

from benchmarks.economy.model import Shell, Task, Tool

_MODULE = '''\
"""Names in other styles, for ``data_key`` of fields."""

from __future__ import annotations


def camelcase(name: str) -> str:
    """Return ``name`` in camel case.

    :param name: A name in snake case, such as ``first_name``.
    """
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)
'''
_TESTS = """\
import pytest

from marshmallow import camelcase


@pytest.mark.parametrize(
    ("name", "expected"),
    [("name", "name"), ("first_name", "firstName"), ("a_b_c", "aBC")],
)
def test_camelcase(name, expected):
    assert camelcase(name) == expected
"""

TASK = Task(
    number=3,
    title="new module with export and tests",
    statement=(
        "Write a module marshmallow.case with a function camelcase, export it from marshmallow, in __all__ too, and "
        "test it in tests/test_case.py."
    ),
    package="marshmallow",
    spelled=(_MODULE, _TESTS),
    tests=("tests/test_case.py",),
    plain=(
        Shell("cat src/marshmallow/__init__.py"),
        Shell(
            f"""\
cat > src/marshmallow/case.py <<'E'
{_MODULE}E
cat > tests/test_case.py <<'E'
{_TESTS}E
sed -i '1i from marshmallow.case import camelcase
s/^    "fields",/    "camelcase",\\n&/' src/marshmallow/__init__.py && \\
pytest -q tests/test_case.py | tail -1; git diff -U0 | grep ^+"""
        ),
    ),
    cli=(
        Shell(
            f"""\
bae-source do -q --verify tests <<'E'
write marshmallow.case --export --source - <<F
{_MODULE}F
write tests.test_case --source - <<F
{_TESTS}F
E"""
        ),
    ),
    mcp=(
        Tool(
            "apply",
            {
                "requests": [
                    {"do": "write", "target": "marshmallow.case", "export": True, "source": _MODULE},
                    {"do": "write", "target": "tests.test_case", "source": _TESTS},
                ],
                "verify": ["tests"],
                "quiet": True,
            },
        ),
    ),
)
