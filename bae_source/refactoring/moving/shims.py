"""Old names that go on to work in the module that definitions have left.

    LIMIT = 3           from app.net import LIMIT  # noqa: F401
    def send(): …       def __getattr__(name): …, which imports it from its new module, and warns that it has moved

Invariants:
- a module that has a `__getattr__`, or still uses the name itself, imports the name, and nobody is warned.
"""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.model.plan import ModuleFile


def reexport(to: ModuleFile, names: Mapping[str, str]) -> str:
    """Return the statements that give names of another module in a module.

    Parameters:
        names: what they are called there by what they are called here.
    """
    return "".join(f"from {to.name} import {_as(old, new)}  # noqa: F401\n" for old, new in names.items())


def warning_getattr(module: ModuleFile, to: ModuleFile, names: Mapping[str, str]) -> str:
    """Return the source of a module's `__getattr__` that gives names of another module, with a warning."""
    moved = ", ".join(f'"{old}": "{new}"' for old, new in names.items())
    return f'''_MOVED = {{{moved}}}


def __getattr__(name: str) -> object:
    """Return what has moved to {to.name}."""
    if name not in _MOVED:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    import warnings

    import {to.name} as moved

    message = f"{module.name}.{{name}} has moved to {to.name}.{{_MOVED[name]}}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(moved, _MOVED[name])
'''


def _as(old: str, new: str) -> str:
    return new if old == new else f"{new} as {old}"
