"""The importers of what changed, among the project's modules that this process has loaded.

A module imports another if a statement at its top level does, and bound its name (one under `TYPE_CHECKING` never
ran), if one in the body of a class does, or if it holds that module, or a function or class of it.

Invariants:
- only modules whose file lies in one of the project's source roots count; never `__main__`, scripts and tests, which
  are not made to be run twice;
- nothing of the project is called; a source that cannot be read or compiled says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from bae_source.reloading.in_process.load_order import imports, imports_in_classes, mentioned
from bae_source.reloading.in_process.present import is_loaded, names_of, present
from bae_source.system.graphs import inverted, reached

_NEVER = re.compile(r"__main__|setup|conftest|test_.*|.*_test|tests?")


def loaded_modules(folders: Iterable[Path]) -> dict[str, ModuleType]:
    """Return the loaded modules below some folders, by name.

    Parameters:
        folders: the source roots, absolute.
    """
    roots = [folder.resolve() for folder in folders]
    found = {}
    for name, module in present():
        file = names_of(module).get("__file__")
        if not isinstance(file, str) or not file.endswith(".py") or names_of(module).get("__name__") != name:
            continue
        if any(_NEVER.fullmatch(part) for part in name.split(".")):
            continue
        path = Path(file).resolve()
        if "site-packages" not in path.parts and any(path.is_relative_to(root) for root in roots):
            found[name] = module
    return found


def importers(changed: Iterable[str], loaded: Mapping[str, ModuleType]) -> tuple[str, ...]:
    """Return the modules among `loaded` that import one of `changed`, or one that does, in the order of loading."""
    first = set(changed)
    users = inverted({name: set(needed(module, loaded)) for name, module in loaded.items()})
    found = reached(first, lambda name: users.get(name, ()))
    return tuple(name for name in loaded if name in found and name not in first)


def needed(module: ModuleType, loaded: Mapping[str, ModuleType]) -> Iterator[str]:
    """Yield the names of modules that `module` imported at its top level or holds something of."""
    code = source_code(module)
    for statement in imports(code, package_of(module)) if code is not None else ():
        if "*" in statement.bound or any(name in vars(module) for name in statement.bound):
            yield from mentioned([statement])
    if code is not None:
        yield from mentioned(list(imports_in_classes(code, package_of(module))))
    for name, value in list(vars(module).items()):
        if is_loaded(value):
            name_there = names_of(value).get("__name__")
            if (
                isinstance(name_there, str) and name_there in loaded and name_there != f"{module.__name__}.{name}"
            ):  # what Python binds in every package
                yield name_there
        elif isinstance(value, FunctionType | type) and value.__module__ != module.__name__:
            yield value.__module__


def source_code(module: ModuleType) -> CodeType | None:
    """Return the compiled source of a module as it lies on the disk, None if there is none that compiles."""
    try:
        file = Path(vars(module)["__file__"])
        return compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        return None


def package_of(module: ModuleType) -> str:
    """Return the package that the module's relative imports start from."""
    return module.__name__ if "__path__" in vars(module) else module.__name__.rpartition(".")[0]
