"""11: unused imports out."""

from __future__ import annotations

from benchmarks.economy.model import Given, Shell, Task, Tool

TASK = Task(
    number=11,
    title="unused imports out",
    statement="A rework left imports that nothing uses in several modules. Take them out, in the tests too.",
    package="marshmallow",
    given=(
        Given(
            "src/marshmallow/validate.py", "import re\nimport typing\n", "import functools\nimport re\nimport typing\n"
        ),
        Given(
            "src/marshmallow/utils.py",
            "from collections.abc import Mapping, Sequence\n",
            "from collections.abc import Iterable, Mapping, Sequence\nfrom copy import deepcopy\n",
        ),
        Given(
            "src/marshmallow/class_registry.py",
            "if typing.TYPE_CHECKING:\n    from marshmallow import Schema\n",
            "if typing.TYPE_CHECKING:\n    from marshmallow import Schema\n    from marshmallow.fields import Field\n",
        ),
        Given(
            "src/marshmallow/error_store.py",
            "from marshmallow.exceptions import SCHEMA\n",
            "from marshmallow.exceptions import SCHEMA, ValidationError\n",
        ),
        Given(
            "tests/test_utils.py", "import datetime as dt\nfrom copy", "import datetime as dt\nimport uuid\nfrom copy"
        ),
        Given(
            "tests/test_error_store.py",
            "from marshmallow.error_store import ErrorStore",
            "from marshmallow import fields\nfrom marshmallow.error_store import ErrorStore",
        ),
    ),
    tests=("tests/test_utils.py", "tests/test_error_store.py", "tests/test_validate.py", "tests/test_registry.py"),
    plain=(Shell("ruff check --select F401 --fix -q . && pytest -q tests | tail -1; git diff -U0 | grep ^-"),),
    cli=(Shell("bae-source imports organise -q --verify tests"),),
    mcp=(Tool("change", {"verb": "imports_organise", "arguments": {"verify": ["tests"], "quiet": True}}),),
)
