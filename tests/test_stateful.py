"""Any sequence of changes, undos, redos and changes from outside leaves on the disk what a simple model says."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bae_source import Source
from bae_source.errors import HistoryError, ResourceError
from bae_source.model.outcome import Outcome

Files = dict[str, bytes | None]
START = {
    "a.py": b"def f():\n    return 0\n\n\ndef g():\n    return 0\n",
    "b.py": b"def f():\r\n    return 0\r\n\r\n\r\ndef g():\r\n    return 0\r\n",
}
MODULES = ("a", "b", "c")
WHO = ("me", "you")


@dataclass(eq=False)
class Change:
    """One change: what it did to which files, and whether it is in effect."""

    id: str
    who: str
    before: Files
    after: Files
    undone_by: str | None = None


@dataclass
class Model:
    """What should be on the disk, and what can be undone and redone."""

    files: Files = field(default_factory=lambda: dict(START))
    changes: list[Change] = field(default_factory=list)
    undoable: dict[str, list[Change]] = field(default_factory=lambda: {who: [] for who in WHO})
    redoable: dict[str, list[Change]] = field(default_factory=lambda: {who: [] for who in WHO})
    been: set[str] = field(default_factory=set)
    """Changes that were undone once: what merging left beside them goes back exactly, and nothing is said of it."""

    def changed(self, outcome: Outcome, who: str, now: Files) -> None:
        """A change was made."""
        paths = [path for path in self.files.keys() | now.keys() if self.files.get(path) != now.get(path)]
        assert outcome.operation_id is not None
        change = Change(outcome.operation_id, who, self._of(self.files, paths), self._of(now, paths))
        self.changes.append(change)
        self.undoable[who].append(change)
        self.redoable[who].clear()
        self.files = now

    def travelled(self, changes: list[Change], who: str, *, back: bool) -> None:
        """Changes were undone or made again."""
        for change in changes:
            self.files = self.files | (change.before if back else change.after)
            for stacks in (self.undoable, self.redoable):
                for other in WHO:
                    stacks[other] = [each for each in stacks[other] if each is not change]
            (self.redoable if back else self.undoable)[who].append(change)
            change.undone_by = who if back else None
            self.been.add(change.id)

    def applies(self, changes: list[Change], *, back: bool) -> bool:
        """Say whether each of the changes finds the files as it must."""
        files = self.files
        for change in changes:
            left, aim = (change.after, change.before) if back else (change.before, change.after)
            if any(files.get(path) != content for path, content in left.items()):
                return False
            files = files | aim
        return files != self.files

    @staticmethod
    def _of(files: Mapping[str, bytes | None], paths: list[str]) -> Files:
        return {path: files.get(path) for path in paths}


class Sequences(RuleBasedStateMachine):
    """Two callers and somebody outside, all at work on one project."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        for path, content in START.items():
            (self.root / path).write_bytes(content)
        self.sources = {who: Source(self.root, who=who) for who in WHO}
        self.model = Model()

    def teardown(self) -> None:
        if hasattr(self, "root"):
            shutil.rmtree(self.root)

    @invariant()
    def the_disk_is_what_the_model_says(self) -> None:
        if hasattr(self, "root"):
            assert self.disk() == {path: content for path, content in self.model.files.items() if content is not None}

    @rule(
        who=st.sampled_from(WHO), module=st.sampled_from(MODULES), name=st.sampled_from("fg"), number=st.integers(0, 9)
    )
    def edit(self, who: str, module: str, name: str, number: int) -> None:
        text = self.model.files.get(f"{module}.py") or b""
        wanted = re.sub(rb"(def %b\(\):\r?\n    return )\d" % name.encode(), rb"\g<1>%d" % number, text, count=1)
        old = re.search(rb"def %b\(\):\r?\n    (return \d)" % name.encode(), text)
        new_source = f"def {name}():\n    return {number}\n"
        self.change(
            who, lambda source: source.edit(f"{module}.{name}", new_source, reload="off"), possible=old is not None
        )
        if old is not None:
            assert self.model.files[f"{module}.py"] == wanted

    @rule(who=st.sampled_from(WHO), module=st.sampled_from(MODULES))
    def insert(self, who: str, module: str) -> None:
        text = self.model.files.get(f"{module}.py")
        source = f"def h{len(self.model.changes)}():\n    return 1\n"
        possible = text is not None
        self.change(who, lambda each: each.insert(module, source, position="last", reload="off"), possible=possible)
        if text is not None:
            assert (self.model.files[f"{module}.py"] or b"").startswith(text)

    @rule(who=st.sampled_from(WHO), module=st.sampled_from(MODULES), name=st.sampled_from("fg"))
    def delete(self, who: str, module: str, name: str) -> None:
        possible = b"def %b()" % name.encode() in (self.model.files.get(f"{module}.py") or b"")
        self.change(who, lambda source: source.delete(f"{module}.{name}", reload="off"), possible=possible)

    @rule(who=st.sampled_from(WHO), old=st.sampled_from(MODULES), new=st.sampled_from(MODULES))
    def move(self, who: str, old: str, new: str) -> None:
        text = self.model.files.get(f"{old}.py")
        possible = text is not None and (old == new or self.model.files.get(f"{new}.py") is None)
        if text is None and self.model.files.get(f"{new}.py") is not None:
            assert self.sources[who].move(old, new, reload="off").status == "unchanged", "it was made before"
            return
        self.change(who, lambda source: source.move(old, new, reload="off"), possible=possible)
        if possible and old != new:
            assert (self.model.files.get(f"{old}.py"), self.model.files[f"{new}.py"]) == (None, text)

    @rule(who=st.sampled_from(WHO), module=st.sampled_from(MODULES))
    def write(self, who: str, module: str) -> None:
        text = START["a.py"].decode()
        possible = self.model.files.get(f"{module}.py") is None
        self.change(who, lambda source: source.write(module, text, reload="off"), possible=possible)

    @rule(who=st.sampled_from(WHO), number=st.integers(0, 9))
    def both_at_once(self, who: str, number: int) -> None:
        requests = [
            {"do": "edit", "target": f"{each}.f", "new_source": f"def f():\n    return {number}\n"} for each in "ab"
        ]
        possible = all(b"def f()" in (self.model.files.get(f"{each}.py") or b"") for each in "ab")
        self.change(who, lambda source: source.apply(requests, reload="off"), possible=possible)

    @rule(module=st.sampled_from(MODULES), number=st.integers(0, 99))
    def outside(self, module: str, number: int) -> None:
        path = f"{module}.py"
        text = self.model.files.get(path)
        if number < 10 and text is not None:
            (self.root / path).unlink()
            self.model.files = self.model.files | {path: None}
        else:
            content = (text or START["a.py"]) + b"# %d\n" % number
            (self.root / path).write_bytes(content)
            self.model.files = self.model.files | {path: content}

    @rule(who=st.sampled_from(WHO), count=st.sampled_from([1, 1, 1, 2, 3]), back=st.booleans())
    def travel(self, who: str, count: int, back: bool) -> None:  # drawn
        stack = (self.model.undoable if back else self.model.redoable)[who]
        chosen = stack[: -count - 1 : -1]
        verb = Source.undo if back else Source.redo
        code = None if self.model.applies(chosen, back=back) else "undo_conflict"
        if len(chosen) < count:
            code = "nothing_to_undo"
        self.go(lambda source: verb(source, count=count, reload="off"), who, chosen, code, back=back)

    @precondition(lambda self: hasattr(self, "model") and self.model.changes)
    @rule(who=st.sampled_from(WHO), number=st.integers(0, 99), back=st.booleans())
    def travel_to_one(self, who: str, number: int, back: bool) -> None:  # drawn
        change = self.model.changes[number % len(self.model.changes)]
        verb = Source.undo if back else Source.redo
        code = None if self.model.applies([change], back=back) else "undo_conflict"
        if (change.undone_by is not None) is back:
            code = "nothing_to_undo"
        self.go(lambda source: verb(source, change.id, reload="off"), who, [change], code, back=back)

    @rule()
    def look_back(self) -> None:
        listed = self.sources["me"].history(limit=1_000).outcome.found
        marks = {
            operation.entry.id: operation.undone_by is not None
            for operation in listed
            if operation.entry.kind == "change"
        }
        assert marks == {change.id: change.undone_by is not None for change in self.model.changes}

    def change(self, who: str, do: Callable[[Source], Outcome], *, possible: bool) -> None:
        """Make a change; what it did is read from the disk."""
        if not possible:
            with pytest.raises(ResourceError):
                do(self.sources[who])
            return
        outcome = do(self.sources[who])
        if outcome.operation_id is not None:
            self.model.changed(outcome, who, dict(self.disk()))

    def go(
        self, do: Callable[[Source], Outcome], who: str, changes: list[Change], code: str | None, *, back: bool
    ) -> None:
        """Undo or redo, and compare with what must become of it."""
        if code is None:
            do(self.sources[who])
            self.model.travelled(changes, who, back=back)
            return
        if code == "undo_conflict" and self.taken_by_symbols(do, who, changes, back=back):
            return
        with pytest.raises(HistoryError) as caught:
            do(self.sources[who])
        cancelled = "cancel each other out" in caught.value.message
        assert caught.value.code == ("nothing_to_undo" if cancelled else code)

    def taken_by_symbols(self, do: Callable[[Source], Outcome], who: str, changes: list[Change], *, back: bool) -> bool:
        """Say whether changes went though files differ; then each word is there as often as all of them want."""
        try:
            outcome = do(self.sources[who])
        except HistoryError:
            return False
        codes = [notice.code for notice in outcome.warnings]
        others = [change for change in changes if change.id not in self.model.been]
        assert "others_kept" in codes or not others or self.model.applies(others, back=back)
        now = dict(self.disk())
        touched = {path for change in changes for path in change.before}
        for path in self.model.files.keys() | now.keys():
            was, found = Counter((self.model.files.get(path) or b"").split()), Counter((now.get(path) or b"").split())
            for change in changes if path in touched else ():
                left, aim = (change.after, change.before) if back else (change.before, change.after)
                was.subtract((left.get(path) or b"").split())
                was.update((aim.get(path) or b"").split())
            assert found == +was
        self.model.travelled(changes, who, back=back)
        self.model.files = now
        return True

    def disk(self) -> Files:
        return dict(self._read())

    def _read(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.root.glob("*.py")):
            yield path.name, path.read_bytes()


TestSequences = Sequences.TestCase
TestSequences.settings = settings(
    max_examples=20, stateful_step_count=16, deadline=None, suppress_health_check=list(HealthCheck)
)
