"""The definitions and uses of files, each file read and parsed once per content, however often it is asked for.

    workspace.index.summary(path)             one file's definitions
    workspace.index.summaries(paths)          many, as they come
    workspace.index.uses(path)                the references in one file; `uses_of(paths)` for many
    workspace.index.mentioning({"send"})      the files whose text holds one of some words

A path's stamp leads to the digest of its bytes, and the digest to its facts: in memory, else in the cache of the
project, else worked out, on several processes where there is much to do.

Invariants:
- an answer always belongs to the bytes that the workspace has at that moment, planned text included;
- a file that cannot be read or parsed is an error in the answer, never left out in silence; who asks for `broken` files
  has those in which nothing but functions does not parse, and their words;
- of the files that are asked for, only those of a few windows are in memory at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec.structs import astuple

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.model.call import Call
from bae_source.project.facts.kinds import SUMMARY, USES, WORDING, FactKind
from bae_source.project.facts.mentions import Look, Mentioning, mentioning
from bae_source.project.files.port import Stamp
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off
from bae_source.system.hashing import sha256

if TYPE_CHECKING:
    from bae_source.project.facts.kept import FactSnapshot
    from bae_source.project.facts.pool import Batch, Pool
    from bae_source.state.cache import Seen
    from bae_source.syntax.names.uses import Uses
    from bae_source.syntax.outline.summary import Summary
    from bae_source.syntax.outline.wording import Wording

T = TypeVar("T")
E = TypeVar("E", bound=ResourceError)

WINDOW_FILES = 256
"""Files that are worked on together; the next ones are begun meanwhile."""
_WINDOW_BYTES = 4_000_000
_WINDOWS_AHEAD = 2
_CRASHED = SourceError(
    "not_lossless",
    "makes the parser crash or hang.",
    subject="The code",
    hints=["Split the file, or make its code less deep."],
)


class Index:
    """Facts about a workspace's files.

    Parameters:
        workspace: where the files are read.
    """

    def __init__(self, workspace: FactSnapshot) -> None:
        self.workspace = workspace
        self._pruned = False
        self._pool: Pool | None = None
        self._digests_given: dict[str, str] = {}
        self._early: dict[str, _Window[Uses]] = {}
        self._is_new = False
        """True where the cache is new, so that nothing can be looked up in it."""

    @contextmanager
    def expecting(self) -> Iterator[None]:
        """Expect that the uses of many files will be asked for: processes are started as soon as that seems likely."""
        from bae_source.project.facts.pool import Pool  # as below

        kept = self.workspace.kept
        self._is_new = kept.cache is None or not kept.cache.size
        with collector_off(), Pool(USES.name, process_is_ours=kept.process_is_ours) as self._pool:
            try:
                yield
            finally:
                self._pool, self._early, self._is_new = None, {}, False

    @property
    def expects_many(self) -> bool:
        """Return whether the uses of many files will be asked for."""
        return self._pool is not None

    def make_ready(self) -> None:
        """Start processes, if many files are expected to be asked for."""
        if self._pool is not None:
            self._pool.start()

    def has_given(self, path: str) -> bool:
        """Return whether facts of a file were given out."""
        return path in self._digests_given

    def check(self, path: str, content: bytes | None, stamp: Stamp | None) -> None:
        """Check that a file still has the bytes whose facts were given out.

        Parameters:
            stamp: which they were read under, if it will tell of every later change.

        Raises:
            Refused: `stale` if they are not.
        """
        given, seen = self._digests_given[path], self.workspace.kept.seen.get(path)
        if content is not None and stamp is not None and seen and (seen.stamp, seen.digest) == (_as_text(stamp), given):
            return
        if content is None or sha256(content) != given:
            raise Refused("stale", f"{self._name(path)} changed while the project was read.", hints=["Ask again."])

    def summary(self, path: str) -> Summary:
        """Return what a file defines.

        Raises:
            SourceError: it does not parse or cannot be decoded.
            Refused: `forbidden` if it may not be read.
        """
        return self._one(SUMMARY, path)

    def summaries(self, paths: Iterable[str]) -> Iterator[tuple[str, Summary | ResourceError]]:
        """Yield each file's summary, or why there is none, in the order of `paths`."""
        return self._each(SUMMARY, paths)

    def uses(self, path: str) -> Uses:
        """Return the references in a file; raise as `summary` does."""
        found = self._parsed(path, self._one(USES, path))
        if isinstance(found, ResourceError):
            raise found
        return found

    def uses_of(self, paths: Iterable[str], *, broken: bool = False) -> Iterator[tuple[str, Uses | ResourceError]]:
        """Yield what each file refers to, or why that is not known: files that were begun before, and then the others.

        Both come in the order of `paths`.

        Parameters:
            broken: whether to yield what is known of a file in which functions alone do not parse, instead of why.
        """
        found = self._each(USES, paths)
        return found if broken else ((path, self._parsed(path, uses)) for path, uses in found)

    def _parsed(self, path: str, found: Uses | ResourceError) -> Uses | ResourceError:
        """Return the facts of a file, or the error where not all of it parses."""
        if isinstance(found, ResourceError) or found.whole:
            return found
        from bae_source.syntax.outline.tree import parse  # seldom needed

        try:
            parse(Source(self.workspace.content(path) or b""))
        except SourceError as error:
            return named(error, self._name(path))
        return found

    def wordings(self, paths: Iterable[str]) -> Iterator[tuple[str, Wording | ResourceError]]:
        """Yield what each file says in docstrings and comments, or why that is not known, in the order of `paths`."""
        return self._each(WORDING, paths)

    def mentioning(self, words: Collection[str]) -> Mentioning:
        """Return the files whose text holds one of the words."""
        return mentioning(self.workspace, words)

    def naming(self, names: Collection[str], look: Look | None = None) -> Mentioning:
        """Return the files whose text holds one of the names, and not only as a part: no other can refer to them.

        Parameters:
            look: is shown each file that has to be read for this.
        """

        def begin(path: str) -> None:  # the processes have nothing else to do while others are still searched
            if self._pool is not None and self._pool.is_started and len(self._early) < WINDOW_FILES:
                self.begin(path)

        is_waiting = self._pool is not None and self._is_new
        return mentioning(self.workspace, names, alone=True, look=look, note=begin if is_waiting else None)

    def begin(self, path: str) -> None:
        """Have another process work out the uses of a file, where many are expected to be asked for."""
        if self._pool is not None and path not in self._early:
            self._recall([path])
            self._early[path] = self._begun(USES, (path,), self._pool)

    def _one(self, kind: FactKind[T], path: str) -> T:
        [(_, found)] = self._each(kind, [path])
        if isinstance(found, ResourceError):
            raise found
        return found

    def _each(self, kind: FactKind[T], paths: Iterable[str]) -> Iterator[tuple[str, T | ResourceError]]:
        from bae_source.project.facts.pool import Pool  # 5 ms, which reading one symbol need not pay

        asked = tuple(paths)
        self._recall(asked)
        waiting = self._pool if self._pool is not None and self._pool.name == kind.name else None
        ours = self.workspace.kept.process_is_ours
        with Pool(kind.name, process_is_ours=ours) if waiting is None else nullcontext(waiting) as pool:
            for window in self._in_turn(kind, asked, pool):
                yield from self._ended(window)

    def _in_turn(self, kind: FactKind[T], paths: Sequence[str], pool: Pool) -> Iterator[_Window[T]]:
        """Yield windows whose files are being worked on, and the next ones' as well."""
        ahead: deque[_Window[T]] = deque()
        if pool is self._pool and (early := {path: self._early.pop(path) for path in paths if path in self._early}):
            ahead.append(_joined(early.values()))  # type: ignore[arg-type]  # this pool's kind is that of the uses
            paths = [path for path in paths if path not in early]
        for part in self._windows(paths):
            with collector_off():
                ahead.append(self._begun(kind, part, pool))
            if len(ahead) > _WINDOWS_AHEAD:
                yield ahead.popleft()
        yield from ahead

    def _recall(self, paths: Sequence[str]) -> None:
        """Look up in the cache what was last seen of files that this process has not seen."""
        kept, stamps = self.workspace.kept, self.workspace.census.stamps
        if len(kept.seen) > 2 * len(stamps) + WINDOW_FILES:  # most of these files have gone since
            kept.seen = {path: seen for path, seen in kept.seen.items() if path in stamps}
        unknown = [path for path in paths if path not in kept.seen]
        if unknown and kept.cache is not None and not self._is_new:
            kept.seen.update(kept.cache.digests(unknown))

    def _windows(self, paths: Sequence[str]) -> Iterator[Sequence[str]]:
        stamps = self.workspace.census.stamps
        start = size = 0
        for number, path in enumerate(paths):
            stamp = stamps.get(path)
            size += stamp.size if stamp else 0
            if number + 1 - start == WINDOW_FILES or size > _WINDOW_BYTES:
                yield paths[start : number + 1]
                start, size = number + 1, 0
        if start < len(paths):
            yield paths[start:]

    def _begun(self, kind: FactKind[T], paths: Sequence[str], pool: Pool) -> _Window[T]:
        """Find the known facts of some files, and have the rest worked out."""
        window = _Window(kind, paths)
        for path in paths:
            if known := self._known(path):
                window.digests[path] = known
        self._look_up(window, window.digests.values())
        missing = {path for path in paths if window.digests.get(path) not in window.found}
        contents: dict[str, bytes] = {}
        for path in paths:
            if path in missing:
                self._read(window, path, contents)
        self._look_up(window, [window.digests[path] for path in contents])
        todo = {window.digests[path]: content for path, content in contents.items()}
        window.todo = [each for each in todo if each not in window.found]
        window.batches = pool.submit([todo[each] for each in window.todo]) if window.todo else []
        self._digests_given |= window.digests  # a later read of one of them fails if it changed
        return window

    def _known(self, path: str) -> str | None:
        """Return the digest of a file that is as it was when it was last read."""
        workspace = self.workspace
        stamp, seen = workspace.census.stamps.get(path), workspace.kept.seen.get(path)
        if stamp is None or seen is None or workspace.is_read(path) or seen.stamp != _as_text(stamp):
            return None
        return seen.digest

    def _look_up(self, window: _Window[T], digests: Iterable[str]) -> None:
        """Take over what memory or the cache has of some contents."""
        kept, kind = self.workspace.kept, window.kind
        absent = []
        for each in digests:
            found = kept.facts.get((kind.name, each))
            if found is None:
                absent.append(each)
            else:
                window.found[each] = found  # type: ignore[assignment]
        if absent and kept.cache is not None and not self._is_new:
            for each, blob in kept.cache.facts(kind.name, absent).items():
                self._take(window, each, blob)

    def _take(self, window: _Window[T], known: str, blob: bytes) -> None:
        try:
            value = window.kind.decode(blob)
        except ValueError:
            return  # not what we keep under that name; it is worked out again
        window.found[known] = value
        self.workspace.kept.facts.put((window.kind.name, known), value, len(blob))

    def _read(self, window: _Window[T], path: str, contents: dict[str, bytes]) -> None:
        """Read a file of which nothing is known, or note why it cannot be."""
        try:
            content, stamp = self.workspace.stamped(path)
        except ResourceError as error:
            window.errors[path] = error
            return
        contents[path] = content
        window.digests[path] = self.workspace.digest(path) or sha256(content)
        if stamp is not None:
            from bae_source.state.cache import Seen  # as above

            seen = Seen(_as_text(stamp), window.digests[path])
            if self.workspace.kept.seen.get(path) != seen:
                window.seen[path] = seen

    def _ended(self, window: _Window[T]) -> Iterator[tuple[str, T | ResourceError]]:
        """Yield the facts of a window's files, once they are there, and keep them."""
        results = [result for batch in window.batches for result in batch.results()]
        fresh: list[tuple[str, str, bytes]] = []
        with collector_off():
            for known, size, result in zip(window.todo, window.sizes(), results, strict=True):
                if result is None:
                    window.found[known] = _CRASHED
                    continue
                fresh.append((window.kind.name, known, result[0]))
                self.workspace.kept.timings.add(size, result[1])
                self._take(window, known, result[0])
        self._keep(window, fresh)
        for path in window.paths:
            error = window.errors.get(path)
            found = error if error is not None else window.found[window.digests[path]]
            yield path, named(found, self._name(path)) if isinstance(found, ResourceError) else found

    def _name(self, path: str) -> str:
        module = self.workspace.census.module(path)
        return module.name if module else path.rpartition(".")[0].replace("/", ".")

    def _keep(self, window: _Window[T], fresh: list[tuple[str, str, bytes]]) -> None:
        kept = self.workspace.kept
        kept.seen.update(window.seen)
        if kept.cache is None or not (fresh or window.seen):
            return
        present = None if self._pruned else self.workspace.census.stamps
        self._pruned = True
        kept.keep(files=window.seen, facts=fresh, present=present)


def named(error: E, module: str) -> E:
    """Return the error of a file, of its code, or of a folder, with the name of the module."""
    hints = error.hints or (
        Call("read", target=module, full=True, then=f"shows it; edit {module} with old and new can mend it."),
    )
    subject = (module or error.subject) if error.subject else ""
    return error.altered(subject=subject, hints=hints, details={**error.details, "module": module})


def _as_text(stamp: Stamp) -> str:
    return " ".join(map(str, astuple(stamp)))


class _Window(Generic[T]):
    """Some files that are looked up, read and parsed together.

    Attributes:
        digests: of the files' bytes, by path.
        found: facts by digest.
        errors: why files could not be read, by path.
        seen: what is to be remembered of the paths that were read.
        todo: digests of contents whose facts are being worked out.
        batches: where that is done, in the same order.
    """

    def __init__(self, kind: FactKind[T], paths: Sequence[str]) -> None:
        self.kind = kind
        self.paths = paths
        self.digests: dict[str, str] = {}
        self.found: dict[str | None, T | SourceError] = {}
        self.errors: dict[str, ResourceError] = {}
        self.seen: dict[str, Seen] = {}
        self.todo: list[str] = []
        self.batches: list[Batch] = []

    def sizes(self) -> list[int]:
        """Return how many bytes each of the contents had that were worked out."""
        return [size for batch in self.batches for size in batch.sizes]


def _joined(windows: Collection[_Window[Uses]]) -> _Window[Uses]:
    """Return several windows as one."""
    one = _Window(USES, [path for window in windows for path in window.paths])
    for window in windows:
        one.digests |= window.digests
        one.found |= window.found
        one.errors |= window.errors
        one.seen |= window.seen
        one.todo += window.todo
        one.batches += window.batches
    return one
