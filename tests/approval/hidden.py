"""A project in which nothing that holds a certain word may be read, and how to ask for it at each door."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import ResourceError
from bae_source.model.outcome import as_mapping
from bae_source.model.request import Request, parameters

CANARY = "CANARYWORD"
PART = "ANARYWOR"
"""A part of it, so that an answer which repeats what was asked does not hold the whole."""
POLICY = """
[tool.bae-source.policy.read]
deny = ["app.secrets", "app.part.KEY", ":.env", "app:data.csv", "tests.test_hidden",
        "config tool.vault", "logs app.log", "deps msgspec"]
"""
SETTINGS = f"""[project]
name = "app"
version = "1"
dependencies = ["msgspec>=0.1", "pytest"]

[tool.vault]
token = "{CANARY}"

[tool.bae-source]
logs = "var/log"
"""
CORE = """import msgspec
from app import part
from app.secrets import f


def send():
    return f(part.g())
"""
SECRETS = f'''"""The {CANARY}."""

KEY = "{CANARY}"


def f(x={CANARY!r}):
    """{CANARY}"""
    return x


class {CANARY}:
    pass
'''
FILES = {
    "app/__init__.py": "",
    "app/core.py": CORE,
    "app/secrets.py": SECRETS,
    "app/part.py": f'KEY = "{CANARY}"\n\n\ndef g():\n    """{CANARY}"""\n    return 1\n',
    "app/sub.py": "from app.secrets import f\n\n\nclass Base:\n    def run(self):\n        return f()\n",
    "app/data.csv": f"{CANARY}\n",
    ".env": f"{CANARY}=1\n",
    "var/log/app.log": f"{CANARY}\n",
    "tests/test_core.py": "from app.core import send\n\n\ndef test_send():\n    assert send() == 2\n",
    "tests/test_hidden.py": f"def test_hidden():\n    assert '{CANARY}' == 1\n",
}
NAMES = (
    "app.secrets", "app.secrets.f", "app.secrets.KEY", "app.part", "app.part.g", "app", "app.core.send",
    "tests.test_hidden", "tests.test_hidden.test_hidden", ":.env", "app:data.csv", ":pyproject.toml",
    ":var/log/app.log", "app/secrets.py:3", ".env:1", "app/core.py:7:12", "pyproject.toml:7", "app.log", "tool",
    "tool.vault", "tool.vault.token", "msgspec", "test.secrets", "sym://python/module/app/secrets",
    "sym://python/type/app/secrets/f", "sym://python/type/app/core/send", PART, f".*{PART}.*", "return $x", "app.**",
    "**", ":**", "**:*", "*.env", "secrets", "f", "all", "last",
)  # fmt: skip


def laid(root: Path) -> Path:
    """Lay out the project, with files so old that their stamps tell of each change."""
    for name, text in {**FILES, "pyproject.toml": SETTINGS}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    old = time.time() - 100
    for path in root.rglob("*"):
        os.utime(path, (old, old))
    return root


def forbid(root: Path, policy: str = POLICY, settings: str = SETTINGS) -> None:
    (root / "pyproject.toml").write_text(settings + policy)


def _name(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def values_for(annotation: Any, operations: tuple[str, ...]) -> Iterator[Any]:
    """Yield what a parameter may be given, by its type."""
    args = get_args(annotation)
    if annotation is str:
        yield from (*NAMES, *operations)
    elif annotation is bool:
        yield True
    elif get_origin(annotation) is tuple and args and args[0] is str:
        yield from ((name,) for name in (*NAMES, *operations))
    else:
        for each in args:
            yield from values_for(each, operations)


PATCH = """--- a/.env
+++ b/.env
@@ -1 +1 @@
-x
+y
--- a/app/secrets.py
+++ b/app/secrets.py
@@ -3 +3 @@
-KEY = 1
+KEY = 2
"""
USUAL: Mapping[str, Any] = {
    "new_name": "other", "new_source": "def f():\n    pass\n", "source": "x = 1\n", "replacement": "x",
    "to": "app.other",
    "statements": ("import os",), "signature": "f(y)", "key": "tool.x", "names": ("f",), "text": PART, "value": "1",
    "patch": PATCH,
}  # fmt: skip
"""What else is said in a call, where it is required or goes with the rest."""
_FEW = ("msgspec", "pytest", "app", "app.secrets")
"""What requests are asked that read the whole environment each time."""


def asked(kind: type[Request], operations: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield arguments for a request: each parameter with each value, the required ones with one that goes."""
    hints = get_type_hints(kind)
    given = {each.name: list(dict.fromkeys(values_for(hints[each.name], operations))) for each in parameters(kind)}
    if kind.family == "deps":
        given = {
            name: [each for each in values if each is True or _name(each) in _FEW] for name, values in given.items()
        }
    given = {name: [*values, USUAL[name]] if name in USUAL else values for name, values in given.items()}
    required = [each.name for each in parameters(kind) if each.required]
    several = {name for name in required if given[name] and isinstance(given[name][0], tuple)}
    usual = {name: USUAL.get(name, ("app.core.send",) if name in several else "app.core.send") for name in required}
    if not required:
        yield {}
    for name, values in given.items():
        for value in values:
            yield {**usual, name: value}


def answer(service: Service, verb: str, arguments: Mapping[str, Any], context: Context | None = None) -> str:
    """Return all that a request comes to as text, and its code where it fails."""
    try:
        outcome = service.run(request(verb, arguments), context)
    except ResourceError as error:
        return json.dumps([error.code, error.message, error.hints, error.candidates, error.details], default=str)
    return json.dumps(as_mapping(outcome), default=str) + outcome.text + outcome.diff
