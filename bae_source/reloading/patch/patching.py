"""Patch the modules of one change, and say what could not be patched.

Invariants:
- all functions of these modules that are alive are found before the first module runs;
- `restore` puts every function, class and closure back that was touched.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType

from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.reloading.patch.comparison import own_objects
from bae_source.reloading.patch.patch import Patch, living_functions
from bae_source.reloading.patch.pouring import Pouring


class Patching:
    """One change that is patched into this process.

    Parameters:
        modules: those that will be patched.
    """

    def __init__(self, modules: Sequence[ModuleType]) -> None:
        gc.collect()  # functions that only wait to be collected are nobody's
        self._functions = living_functions(modules)
        self._frozen = _frozen(modules)
        for module in self._frozen:
            found = self._functions[id(vars(module))]
            known = {id(function) for function in found}
            found += [each for each in own_objects(module) if isinstance(each, FunctionType) and id(each) not in known]
        self._pouring = Pouring(vars(module) for module in modules)
        self._left: list[tuple[str, dict[str, str]]] = []

    def run(self, module: ModuleType, code: CodeType, old: CodeType | None) -> None:
        """Patch one module; raise whatever its code raises.

        Parameters:
            code: the module's new code.
            old: the code of its source before, None if that does not compile.
        """
        patch = Patch(module, code, old, self._pouring, self._functions[id(vars(module))])
        patch.run()
        self._left.append((module.__name__, patch.left()))

    def finish(self) -> tuple[Notice, ...]:
        """Say what does not run the new code, or exists twice."""
        self._functions.clear()
        notices = [
            Notice("not_patched", f"{module}: {listed([f'{name} ({reason})' for name, reason in left.items()], 10)}.")
            for module, left in self._left
            if left
        ]
        return (*notices, *self._aside(), *self._twice())

    def restore(self) -> None:
        """Put everything back; may be called twice."""
        self._pouring.restore()

    def _aside(self) -> tuple[Notice, ...]:
        """Name the modules whose functions cannot all be found."""
        names = [module.__name__ for module in self._frozen]
        if not names:
            return ()
        why = "gc.freeze set the objects aside, so functions that no name leads to keep the old code"
        text = f"{listed(names, 10)}: {why}."
        return (Notice("not_patched", text),)

    def _twice(self) -> tuple[Notice, ...]:
        """Name the classes whose second edition, which was poured into the first one, somebody keeps."""
        editions = [
            (f"{new.__module__}.{new.__qualname__}", weakref.ref(new))
            for new in self._pouring.finished()
            if isinstance(new, type)
        ]
        if editions:
            gc.collect()
        kept = [name for name, edition in editions if edition() is not None]
        if not kept:
            return ()
        text = f"{listed(kept, 10)}: a decorator, metaclass or base that ran anew keeps a second class of the name."
        return (Notice("exists_twice", text),)


def _frozen(modules: Sequence[ModuleType]) -> list[ModuleType]:
    """Return the modules whose objects `gc.freeze` may have set aside, where nobody finds who refers to them."""
    if not gc.get_freeze_count():
        return []
    wanted = {id(vars(module)) for module in modules}
    seen = {id(value) for value in gc.get_objects() if id(value) in wanted}
    return [module for module in modules if id(vars(module)) not in seen]
