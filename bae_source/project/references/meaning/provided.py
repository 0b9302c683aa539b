"""The question whether a module provides a name, or a package a module: yes, no, or it cannot be known.

    app/client.py:  def send(): …           `send`: yes;  `go`: no
    app/lazy.py:    def __getattr__(n): …   `send`: not known
    app/stub.pyi:   class Proto: …          `Proto` of app/stub.py: not known, type checkers find it
    app/all.py:     from elsewhere import * `send`: not known
    app/            no __init__.py          the module `app.more`: not known, another distribution may have it

Invariants:
- the answer is "no" only where no code that is seen could give the name when it runs;
- no code is run.

What an import statement looks for, and where, is that of the language reference, "The import system".
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from bae_source.errors import ResourceError
from bae_source.project.files.census import Census
from bae_source.project.references.meaning.let_out import lists_more
from bae_source.project.references.meaning.meaning import Names
from bae_source.syntax.names import uses as u

Verdict = bool | None
"""True, False, or None where it is not known."""

_ALWAYS = frozenset(
    {"__name__", "__doc__", "__file__", "__path__", "__spec__", "__loader__", "__package__", "__dict__", "__builtins__",
     "__annotations__", "__cached__", "__class__"}
)  # fmt: skip
MAKES_NAMES = frozenset({"globals", "f_globals", "exec", "modules", "initpkg"})
"""Names in code that gives a module further names, which do not stand in it."""

_MAKES_NAMES_OUTSIDE = ("vars", "locals")
"""The same, where it is mentioned outside functions and classes."""

_MAKES_MODULES = frozenset({"modules", "__path__", "meta_path", "path_hooks", "declare_namespace", "initpkg"})
_BUILT_FROM = (".pyi", ".pyx", ".pxd", ".so", ".pyd", ".pyc", ".c", ".cc", ".cpp", ".rs", ".proto", ".in", ".j2",
               ".tmpl", ".template")  # fmt: skip
"""Endings of files beside which a module may be made that is not there yet."""

_COMPILED = (".so", ".pyd", ".pyx")
_UNANALYSED = frozenset({"import", "def", "class", "return"})
"""Keywords, which are mentioned only in code that was listed word by word."""


class Provided:
    """The names that modules provide.

    Parameters:
        census: the files of the project.
        uses: gives a file's uses; raises ResourceError where it has none.
        others: the names of what a folder holds.
    """

    def __init__(self, census: Census, uses: Callable[[str], u.Uses], others: Callable[[str], Collection[str]]) -> None:
        self.census = census
        self.uses = uses
        self.names = Names(census, uses)
        self.others = others

    def name(
        self, path: str, name: str, seen: frozenset[str] = frozenset(), *, makers: Collection[str] = MAKES_NAMES
    ) -> Verdict:
        """Return whether `from module import name` finds something.

        Parameters:
            path: the module's file.
            seen: files that star imports have led through.
            makers: what may give the module names that do not stand in it, where its code mentions that; nothing for a
                name that was a module's own.
        """
        folder, _, file = path.rpartition("/")
        if file == "__init__.py" and (inner := self._below(folder, name, makers)) is not False:
            return inner
        try:
            uses = self.uses(path)
        except ResourceError:
            return None
        if self._binds(path, uses, name) or name in _ALWAYS:
            return True
        if (
            self._is_compiled(folder, file)
            or (makers and "__getattr__" in uses.scopes[0].names)
            or _mentions(uses, _UNANALYSED.union(makers))
            or (makers and any(each[2] == 0 for word in _MAKES_NAMES_OUTSIDE for each in uses.mentions.get(word, ())))
        ):
            return None
        verdict = self._by_star(path, uses, name, seen | {path})
        return None if verdict is False and makers and self._is_in_stub(path, name) else verdict

    def module(self, path: str, module: str, level: int) -> Verdict:
        """Return whether an import of a module finds it.

        Parameters:
            path: the file that imports.
            module: what it imports, without leading dots.
            level: how many dots there are.
        """
        if not level:
            return self._absolute(module)
        folder = path.rpartition("/")[0]
        for _ in range(level - 1):
            if not folder:
                return None  # it leads out of what is known
            folder = folder.rpartition("/")[0]
        if not self._is_package(folder):
            return None
        return self._descend(folder, module.split(".")) if module else True

    def _binds(self, path: str, uses: u.Uses, name: str) -> bool:
        """Return whether a module's own code binds a name; `from . import b` in a package needs a `b` that is there."""
        for binding in uses.scopes[0].names.get(name, ()):
            imported = uses.imports[binding.first] if binding.how == u.IMPORTED else None
            if imported is None or imported.attribute != name:
                return True
            if path not in self.names.files(path, imported.module, imported.level):
                return True
        return False

    def _absolute(self, module: str) -> Verdict:
        """Decide an absolute import, which is possible only where its first component is a package of the project."""
        first, *rest = module.split(".")
        packages = [path for path in self.census.find(first) if path.endswith("/__init__.py")]
        if not packages or not rest:
            return True if self.census.find(module) else None
        return _either([self._descend(path.rpartition("/")[0], rest) for path in packages])

    def _descend(self, folder: str, parts: list[str]) -> Verdict:
        """Decide whether a package has a module, through packages that are all there."""
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            found = self._below(folder, part)
            if found is False:
                return None if self._makes_modules(f"{folder}/__init__.py") else False
            inner = f"{folder}/{part}"
            if last or not self._is_package(inner):
                if last or f"{inner}.py" not in self.census.stamps:
                    return found if last else None
                return None if self._makes_modules(f"{inner}.py") else False
            folder = inner
        return True

    def _below(self, folder: str, name: str, makers: Collection[str] = MAKES_NAMES) -> Verdict:
        """Return whether a module or a package lies directly in a folder."""
        if self.census.beside(folder, name) or f"{folder}/{name}" in self.census.folders:
            return True
        endings = _BUILT_FROM if makers else _BUILT_FROM[1:]  # the stub of a module that goes may stay
        others = (each for each in self.others(folder) if each.endswith(endings) or "." not in each)
        return None if any(each.partition(".")[0] == name for each in others) else False

    def _is_compiled(self, folder: str, file: str) -> bool:
        """Return whether something stands beside a module that Python would take instead of it."""
        stem = file.removesuffix(".py")
        return any(each.endswith(_COMPILED) and each.partition(".")[0] == stem for each in self.others(folder))

    def _is_in_stub(self, path: str, name: str) -> bool:
        """Return whether the stub beside a module may have a name, for types alone, that the module has not."""
        stub = f"{path}i"
        return stub in self.census.stamps and self.name(stub, name) is not False

    def _is_package(self, folder: str) -> bool:
        return (f"{folder}/__init__.py" if folder else "__init__.py") in self.census.stamps

    def _makes_modules(self, path: str) -> bool:
        try:
            return _mentions(self.uses(path), _MAKES_MODULES | _UNANALYSED)
        except ResourceError:
            return True

    def _by_star(self, path: str, uses: u.Uses, name: str, seen: frozenset[str]) -> Verdict:
        """Return whether a star import of a module brings a name."""
        verdicts: list[Verdict] = [False]
        for number in uses.stars:
            imported = uses.imports[number]
            files = self.names.files(path, imported.module, imported.level)
            if not files:
                return None  # it lies outside the project
            verdicts += [self._let_out(file, name, seen) for file in files if file not in seen]
        return _either(verdicts)

    def _let_out(self, path: str, name: str, seen: frozenset[str]) -> Verdict:
        try:
            uses = self.uses(path)
        except ResourceError:
            return None
        if not uses.exports_known:
            return None
        if uses.exported is not None:
            return name in uses.exported or (None if lists_more(uses) else False)
        return False if name.startswith("_") else self.name(path, name, seen)


def _either(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict of several ways, of which one is enough."""
    return True if True in verdicts else None if None in verdicts else False


def _mentions(uses: u.Uses, words: frozenset[str]) -> bool:
    return any(word in uses.mentions for word in words)
