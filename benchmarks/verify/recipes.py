"""The four projects that are measured, their pinned releases, and the changes that are made to them."""

from __future__ import annotations

from benchmarks.corpus import RELEASES, Release
from benchmarks.verify.projects import Change, Recipe

_NETWORK = "needs an address on the network"
_ROOT = "root reads a folder without permissions"
_PINNED = {each.name: each for each in RELEASES}

RECIPES = (
    Recipe(
        release=_PINNED["attrs"],
        code=("src/attr", "src/attrs"),
        rare=Change(
            target="attr.filters.exclude",
            old="cls, names, attrs = _split_what(what)",
            new="split = _split_what(what)\n    cls, names, attrs = split",
        ),
        central=Change(
            target="attr._make._ClassBuilder.build_class",
            old="if self._slots is True:",
            new="slotted = self._slots is True\n        if slotted:",
        ),
        third=Change(
            target="attr.converters.to_bool",
            old='f"Cannot convert value to bool: {val!r}"',
            new='"Cannot convert value to bool: " + repr(val)',
        ),
        deselected={
            "tests/test_converters.py::TestPipe::test_wrapped_annotation": "fails on early releases of Python 3.11",
        },
    ),
    Recipe(
        release=Release(
            name="marshmallow",
            version="4.4.0",
            sha256="9e6ffa8511012ca89732324c1c253efd7b4d35632dcbdf80aa793fe01804af3e",
        ),
        code=("src/marshmallow",),
        rare=Change(
            target="marshmallow.validate.ContainsOnly.__call__",
            old="for val in value:\n            if val not in self.choices:",
            new="allowed = self.choices\n        for val in value:\n            if val not in allowed:",
        ),
        central=Change(
            target="marshmallow.schema.Schema._do_load",
            old="errors: dict[str, list[str]] = {}",
            new="errors: dict[str, list[str]] = dict()",
        ),
        third=Change(
            target="marshmallow.utils.from_timestamp_ms",
            old="return from_timestamp(value / 1000)",
            new="seconds = value / 1000\n    return from_timestamp(seconds)",
        ),
    ),
    Recipe(
        release=Release(
            name="starlette",
            version="1.10.0",
            sha256="b8399098d4c1e3522734f7235dc79b1fc967f96cf139c81e0fa30479e0685f9b",
        ),
        code=("starlette",),
        rare=Change(
            target="starlette.background.BackgroundTasks.add_task",
            old="self.tasks.append(task)",
            new="tasks = self.tasks\n        tasks.append(task)",
        ),
        central=Change(
            target="starlette.applications.Starlette.__call__",
            old="if self.middleware_stack is None:",
            new="missing = self.middleware_stack is None\n        if missing:",
        ),
        third=Change(
            target="starlette.convertors.FloatConvertor.to_string",
            old="assert value >= 0.0,",
            new="assert not value < 0.0,",
        ),
        deselected={
            "tests/test_staticfiles.py::test_staticfiles_with_invalid_dir_permissions_returns_401": _ROOT,
        },
    ),
    Recipe(
        release=_PINNED["httpx"],
        code=("httpx",),
        rare=Change(
            target="httpx._models.Response.iter_lines",
            old="decoder = LineDecoder()",
            new="kind = LineDecoder\n        decoder = kind()",
        ),
        central=Change(
            target="httpx._client.BaseClient.build_request",
            old="extensions = {} if extensions is None else extensions",
            new="extensions = extensions if extensions is not None else {}",
        ),
        third=Change(
            target="httpx._utils.primitive_value_to_str",
            old="return str(value)",
            new='return f"{value}"',
        ),
        deselected={
            "tests/client/test_proxies.py::test_async_proxy_close": _NETWORK,
            "tests/client/test_proxies.py::test_sync_proxy_close": _NETWORK,
        },
    ),
)
