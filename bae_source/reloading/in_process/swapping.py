"""Installed packages that this process has imported, imported anew from the release that took their place.

    alpha 1.0 is loaded      alpha 2.0 lies on the disk      import alpha: 2.0; holders of objects of 1.0 are named

Invariants:
- only modules whose file lies in the folders of packages are forgotten, and only those of the names that changed;
- where the new release cannot be imported, the old modules stand in their places again, and the outcome says so;
- nothing is patched: objects of the old release that others hold stay what they are.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from types import FunctionType, ModuleType

from bae_source.reloading.child.probe import describe
from bae_source.reloading.in_process.holding import Holders, Replaced
from bae_source.reloading.in_process.holding import holders as holders_of
from bae_source.reloading.in_process.present import names_of, present
from bae_source.system.own_path import OURS


class Swap:
    """Modules of changed packages, before and after.

    Parameters:
        tops: names that what changed gives, such as `rich` or `google.cloud.storage`.
        folders: of packages, absolute and without links.

    Attributes:
        anew: the modules that were imported again.
        gone: those that the new release lacks, which were forgotten.
        failed: why the new release is not imported here, as a clause; "" where it is.
    """

    def __init__(self, tops: Collection[str], folders: Sequence[str]) -> None:
        self._tops = frozenset(tops)
        self._old = {name: module for name, module in present() if _is_below(name, tops) and _lies_in(module, folders)}
        self.anew: tuple[str, ...] = ()
        self.gone: tuple[str, ...] = ()
        self.failed = ""

    def make(self) -> None:
        """Have this process use what is installed now; where that cannot be imported, it keeps the old modules."""
        importlib.invalidate_caches()
        ours = sorted(name for name in self._old if name.partition(".")[0] in OURS)
        if ours:
            self.failed = f"bae_source itself runs on {ours[0]} here"
            return
        for name in self._old:
            del sys.modules[name]
        with ExitStack() as ended:
            ended.push(self._keep_old)
            for name in sorted(self._old, key=lambda name: name.count(".")):
                self._import(name)
        if self.failed:
            return
        self.anew = tuple(name for name in self._old if name in sys.modules)
        self.gone = tuple(name for name in self._old if name not in sys.modules)

    def take_back(self) -> None:
        """Have this process use the old modules again."""
        for name in [name for name in list(sys.modules) if self._old and _is_below(name, self._tops)]:
            del sys.modules[name]
        sys.modules.update(self._old)
        importlib.invalidate_caches()

    def holders(self) -> Holders:
        """Return the modules that hold objects of the old release."""
        return holders_of(_replaced(self._old), ())

    def _keep_old(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        """Take back the old modules where code of the new release raised something, be it SystemExit."""
        if error is None:
            return False
        self.take_back()
        self.failed = "{type}: {message}".format_map(describe(error))
        return not isinstance(error, KeyboardInterrupt)

    def _import(self, name: str) -> None:
        """Import a module anew, unless the new release lacks it."""
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not _is_below(error.name, self._tops):
                raise


def _replaced(old: dict[str, ModuleType]) -> Replaced:
    """Return the modules that were forgotten, with the functions and classes that they define."""
    found = Replaced()
    for module in old.values():
        found.objects[id(module)] = module
        for value in names_of(module).values():
            if isinstance(value, FunctionType | type) and value.__module__ in old:
                found.objects[id(value)] = value
    return found


def _is_below(name: str, tops: Collection[str]) -> bool:
    return any(name == top or name.startswith(f"{top}.") for top in tops)


def _lies_in(module: ModuleType, folders: Sequence[str]) -> bool:
    names = names_of(module)
    files = [names.get("__file__")]
    with suppress(TypeError):
        files += list(names.get("__path__") or ())
    places = [place for file in files if isinstance(file, str) for place in (file, os.path.realpath(file))]
    return any(place.startswith(folder + os.sep) for place in places for folder in folders)
