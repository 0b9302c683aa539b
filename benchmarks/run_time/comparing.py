"""Compares what happened with the answers about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome
from bae_source.model.reference import Reference
from benchmarks.run_time.sites import Site, site

_Spot = tuple[str, int, int]


class Row(Struct, frozen=True, kw_only=True):
    """One thing that happened, and the word of one answer on it.

    Parameters:
        asked: the verb of the question.
        kind: how it came about; see `kind_of`.
        word: `sure`, `probable`, `unsure`; `unknown` for a call that is listed as of nobody knows what; `missing`, or
            `incomplete` where the answer says that it is; for one that is listed as surely of something else `other`,
            or `overridden`, `decorated` or `variable` where what was called stands behind that; `made` for a class
            without a statement, if the answer has the code that makes it.
        place: `module:line`.
        what: what was called, or is below.
        more: what the answer has there instead.
    """

    asked: str
    kind: str
    word: str
    place: str
    what: str
    more: str = ""


class Comparing:
    """Compares the record of one run with the answers about the project that ran.

    Parameters:
        root: the project's folder.
        record: what the recorder wrote.
    """

    def __init__(self, root: Path, record: Mapping[str, Any]) -> None:
        self.root = root
        self.source = Source(root)
        self.record = record
        self._answers: dict[tuple[str, str], Outcome | str] = {}
        self._modules: dict[str, str] = {}

    def calls(self) -> Iterator[Row]:
        """Yield a row for each call and each answer that should have it."""
        for call in self.record["calls"]:
            at = site(call["from"], tuple(call["place"][i] for i in (0, 1, 2, 3)), _name(call), steps=call["steps"])
            kind = kind_of(call, at)
            what = self._called(call, kind)
            module = self.module(call["from"])
            if not module or not what:
                yield Row(asked="", kind=kind, word="no address", place=f"{call['from']}:{at.line}", what=call["name"])
                continue
            if kind == "step":
                continue  # where it was made is not recorded
            yield self._asked("callers", kind, what, module, at)
            if at.name == what.rpartition(".")[2]:
                yield self._asked("references", kind, what, module, at)
            if kind not in ("property", "python", "built-in"):
                yield self._callee(kind, what, module, at)

    def _asked(self, verb: str, kind: str, what: str, module: str, at: Site) -> Row:
        answer = self.answer(verb, what)
        word, more = "missing", ""
        if isinstance(answer, str):
            word, more = "refused", answer
        elif found := _here(answer.found, module, at):
            word = found[0].certainty
        elif not answer.complete:
            word, more = "incomplete", "; ".join(each.code for each in answer.warnings)
        return Row(asked=verb, kind=kind, word=word, place=f"{module}:{at.line}", what=what, more=more)

    def _callee(self, kind: str, what: str, module: str, at: Site) -> Row:
        answer = self.answer("callees", module)
        word, more = "missing", ""
        if isinstance(answer, str):
            word, more = "refused", answer
        elif found := _here(answer.found, module, at):
            own = [each for each in found if _plain(each.address) == _plain(what)]
            sure = next((each.address for each in found if each.certainty == "sure"), "")
            word = own[0].certainty if own else self._instead(sure, what) if sure else "unknown"
            more = "" if own else ", ".join(each.address for each in found)
        elif not answer.complete:
            word, more = "incomplete", "; ".join(each.code for each in answer.warnings)
        return Row(asked="callees", kind=kind, word=word, place=f"{module}:{at.line}", what=what, more=more)

    def _instead(self, sure: str, what: str) -> str:
        """Say how far an answer that surely names one thing is right where another was called."""
        for verb in ("overrides", "subclasses"):
            below = self.answer(verb, sure)
            if isinstance(below, Outcome) and any(_plain(each.address) == _plain(what) for each in below.found):
                return "overridden"
        try:
            text = self.source.read(sure).lstrip()
        except ResourceError:
            return "other"
        if text.startswith("@"):
            return "decorated"
        return "other" if text.startswith(("def ", "async ", "class ")) else "variable"

    def classes(self) -> Iterator[Row]:
        """Yield a row for each class and each class above it, and for each method and each that it overrides."""
        methods = {tuple(each["class"]): each["methods"] for each in self.record["classes"]}
        for each in self.record["classes"]:
            for above in each["above"]:
                yield self._below("subclasses", each["class"], above, "")
                for name in each["methods"]:
                    if name in methods.get(tuple(above), {}) and methods[tuple(above)][name]:
                        yield self._below("overrides", each["class"], above, f".{name}")

    def _below(self, verb: str, of: list[str], above: list[str], member: str) -> Row:
        name, base = (f"{self.module(path) or module}.{qualname}" for path, module, qualname in (of, above))
        answer = self.answer(verb, f"{base}{member}")
        word, more = "missing", ""
        if isinstance(answer, str):
            word, more = "refused", answer
        else:
            own = [each for each in answer.found if _plain(each.address) == _plain(f"{name}{member}")]
            made = [each for each in answer.found if each.address.startswith(name.rpartition(".")[0])]
            missing = "incomplete" if not answer.complete else "made" if made and not self._is_stated(of) else "missing"
            word = own[0].certainty if own else missing
            more = "" if own else ", ".join(each.address for each in made[:3])
        return Row(asked=verb, kind="class", word=word, place=f"{name}{member}", what=f"{base}{member}", more=more)

    def _is_stated(self, of: list[str]) -> bool:
        """Say whether a class statement makes a class."""
        name = of[2].rpartition(".")[2]
        return f"class {name}" in Path(of[0]).read_text(encoding="utf-8")

    def _called(self, call: Mapping[str, Any], kind: str) -> str:
        if kind == "class":
            path, module, qualname = call["made"]
            return f"{self.module(path) or module}.{qualname}" if path else ""
        return self._address(call["to"], call["line"], call["name"])

    def _address(self, path: str, line: int, name: str) -> str:
        key = f"{self._relative(path)}:{line}"
        if key not in self._places:
            try:
                self._places[key] = self.source.where(key).outcome.found[0].address
            except ResourceError:
                self._places[key] = ""
        found = self._places[key]
        return found if name.rpartition(".")[2] in _plain(found).rpartition(".")[2] else ""

    @cached_property
    def _places(self) -> dict[str, str]:
        return {}

    def module(self, path: str) -> str:
        """Return the module that a file is; "" if it is none of the project."""
        if path not in self._modules:
            try:
                address = self.source.where(f"{self._relative(path)}:1").outcome.found[0].address
            except (ResourceError, ValueError):
                address = ""
            parts = self._relative(path).removesuffix(".py").removesuffix("/__init__").split("/") if address else []
            names = [".".join(parts[start:]) for start in range(len(parts))]
            self._modules[path] = next((each for each in names if f"{address}.".startswith(f"{each}.")), "")
        return self._modules[path]

    def _relative(self, path: str) -> str:
        return Path(path).relative_to(self.root).as_posix()

    def answer(self, verb: str, what: str) -> Outcome | str:
        """Return the answer of a question; the code of the error where there is none."""
        key = (verb, what)
        if key not in self._answers:
            try:
                self._answers[key] = getattr(self.source, verb)(what).outcome
            except ResourceError as error:
                self._answers[key] = str(error)
        return self._answers[key]


def kind_of(call: Mapping[str, Any], at: Site) -> str:
    """Return how a call came about.

    `named`: by the name of what is called; `class`: a class is called; `property`: an attribute is taken; `python`: by
    a special method that nobody names; `built-in`: a function that is no Python code calls it; `decorator`: it
    decorates; `renamed`: another name is called; `nameless`: what is called has no name; `step`: a generator or a
    coroutine that was made elsewhere goes on; `other`: anything else.
    """
    name = _name(call)
    if at.kind == "attribute":
        return "property" if not name.startswith("__") else "python"
    if at.kind in ("call", "decorator") and at.name == name:
        return "named"
    if name.startswith("__") and name.endswith("__") and not call["made"]:
        return "python"
    if call["made"]:
        return "class" if at.kind == "call" and not call["inside"] else "python"
    if call["steps"]:
        return "step"
    if call["inside"]:
        return "built-in"
    if at.kind == "decorator":
        return "decorator"
    if at.kind == "call":
        return "renamed" if at.name else "nameless"
    return "other"


def _name(call: Mapping[str, Any]) -> str:
    return str(call["name"]).rpartition(".")[2]


def _here(found: Iterable[Reference], module: str, at: Site) -> list[Reference]:
    """Return what an answer has at a place."""
    here = [each for each in found if each.module == module]
    exact = [each for each in here if (each.line, each.column) == (at.line, at.column)]
    if at.name:
        return exact
    return [each for each in here if (at.line, at.column) <= (each.line, each.column) <= at.end]


def _plain(address: str) -> str:
    return address.partition("@")[0].replace("<locals>.", "").partition("[")[0]
