"""The modules of dependencies in this process, resolved by name: a registry of svcs, from which old ones are let go.

module_of("rich")      imported when it is first asked for, and the same from then on
let_go()               a release changed: the next call gets the module that is there then
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from bae_source.errors import RequestError

if TYPE_CHECKING:
    from svcs import Container


def module_of(name: str) -> ModuleType:
    """Return a module by the name of its import.

    Raises:
        RequestError: `invalid_arguments`, if svcs is not installed, or the module cannot be imported here.
    """
    container = _container()
    if name not in container.registry:  # type: ignore[operator]  # any hashable key will do
        container.registry.register_factory(name, lambda: importlib.import_module(name))  # type: ignore[arg-type]
    try:
        found: ModuleType = container.get(name)  # type: ignore[call-overload]
    except ImportError as error:
        raise RequestError(
            "invalid_arguments",
            f"{name} cannot be imported in this process: {error}.",
            hints=["Run it with the project's environment, or in a session."],
        ) from None
    return found


def let_go() -> None:
    """Have modules be resolved anew from now on."""
    if _container.cache_info().currsize:
        _container().close()


@cache
def _container() -> Container:
    try:
        from svcs import Container, Registry
    except ImportError:
        raise RequestError(
            "invalid_arguments",
            "Modules are resolved by svcs, which is not installed.",
            hints=["pip install 'bae-source[deps]'"],
        ) from None
    return Container(Registry())
