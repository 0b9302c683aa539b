"""A project on the disk that changes are tried on, as a transaction would: judge, load, write, or go back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import ModuleFile, ReloadMode
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.import_check import Setting, check_imports
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.reloading.reload import Reload

FAILS_HERE = "import sys\nif 'pytest' in sys.modules: raise ZeroDivisionError\n"
"""Source that a child imports, and this process does not."""


class Trial:
    """A project, and changes to it that are taken back if they do not load."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        self.interpreter = Interpreter(path=sys.executable, origin="sys.executable")
        self.environment: dict[str, str] = dict(os.environ)
        self.time_limit = 20.0
        self.source_root = ""
        self.unchecked: set[str] = set()
        self.take_back: Callable[[], object] = lambda: None
        """Takes the last change back, as a transaction does that fails later."""

    @property
    def setting(self) -> Setting:
        """How its code is run."""
        return Setting(
            root=self.root,
            source_roots=(self.source_root,),
            interpreter=self.interpreter,
            environment=self.environment,
            time_limit=self.time_limit,
        )

    def check(self, new: Mapping[str, str | None], *others: str) -> tuple[Notice, ...]:
        """Check the imports of a change that nobody writes.

        Parameters:
            others: paths of modules to import that do not change.
        """
        planned = {path: None if text is None else text.encode() for path, text in new.items()}
        overlay = [self.module(path) for path in new if path.endswith((".py", ".pyi")) or path in self.unchecked]
        wanted = [*(each for each in overlay if planned[each.path] is not None), *map(self.module, others)]
        addresses = Addresses(self.root, [self.source_root], {})
        return check_imports(wanted, planned, self.setting, addresses, overlay=overlay).notices

    def write(self, path: str, content: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
        return file

    def module(self, path: str) -> ModuleFile:
        inner = path.removeprefix(self.source_root + "/") if self.source_root else path
        name = inner.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
        return ModuleFile(
            name=name,
            path=path,
            source_root=self.source_root,
            package=path.endswith("__init__.py"),
            import_checked=path not in self.unchecked,
        )

    def change(
        self, new: Mapping[str, str | None], mode: ReloadMode = "auto", *, cascade: bool = False
    ) -> tuple[Notice, ...]:
        """Have `new` judged, load it, and write it; on any failure the process and the files are as before."""
        before = {path: self._content(path) for path in new}
        after = {path: None if text is None else text.encode() for path, text in new.items()}
        modules = [self.module(path) for path in new]
        reload = Reload(mode, self.setting, modules, before, after, cascade=cascade)

        def take_back() -> None:
            self._put(before)
            reload.roll_back()

        self.take_back = take_back
        tried = reload.try_imports()
        try:
            loaded = reload.load()
            assert {path: self._content(path) for path in new} == before, "nothing is written yet"
            self._put(after)
            return (*tried, *loaded, *reload.written())
        except BaseException:
            self.take_back()
            raise

    def failure(
        self, new: Mapping[str, str | None], mode: ReloadMode = "auto", *, cascade: bool = False
    ) -> TransactionError:
        """Make a change that has to fail, and return its error."""
        try:
            self.change(new, mode, cascade=cascade)
        except TransactionError as error:
            for text in (error.message, *error.hints, str(error.details)):
                assert str(self.root) not in text, "no paths"
            return error
        raise AssertionError("it should have failed")

    def _content(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.exists() else None

    def _put(self, contents: Mapping[str, bytes | None]) -> None:
        for path, content in contents.items():
            if content is None:
                (self.root / path).unlink(missing_ok=True)
            else:
                self.write(path, content.decode())


def codes(found: Sequence[Notice | Check]) -> list[str]:
    return [each.code for each in found if isinstance(each, Notice)]
