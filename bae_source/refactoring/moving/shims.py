"""Old names that go on to work in the module that definitions have left.

    LIMIT = 3           from app.net import LIMIT  # noqa: F401
    def send(): …       def __getattr__(name): …, which imports it from its new module, and warns that it has moved

Invariants:
- a module that has a `__getattr__`, or still uses the name itself, imports the name: nobody is warned, which is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed


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


def silent(module: ModuleFile, names: Sequence[str], *, defines: bool) -> list[Notice]:
    """Return the notice that names are taken from a module without a warning, if there are any.

    Parameters:
        names: of functions and classes.
        defines: whether that is since the module has a `__getattr__`, and not since it uses them.
    """
    why = "has a `__getattr__` of its own" if defines else "goes on to use what it gives"
    message = f"Nothing warns of {listed(f'{module.name}.{name}' for name in names)}, since {module.name} {why}."
    return [Notice("shim_without_warning", message)] if names else []


def _as(old: str, new: str) -> str:
    return new if old == new else f"{new} as {old}"
