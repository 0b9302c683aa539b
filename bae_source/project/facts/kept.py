"""The memory of a live engine from one request to the next, so that it does not read or parse a file again.

Invariants:
- an entry of a path is given out only for the stamp that it was read under, and kept only if that stamp will tell
  of every later change; what is kept for a digest belongs to those bytes for ever;
- everything is bounded, the most recently used stays, and nothing is lost when something goes;
- several threads may ask at once.
"""

from __future__ import annotations

from _thread import allocate_lock  # what threading's Lock is, without the 3 ms that threading takes to load
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from msgspec import Struct

from bae_source.errors import LookupFailed, RequestError
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import Files
from bae_source.project.files.snapshot import Snapshot
from bae_source.project.files.stamps import is_settled
from bae_source.syntax.text.source import Source, parsable
from bae_source.system.collecting import collector_off

if TYPE_CHECKING:
    from bae_source.project.facts.haystack import Haystack
    from bae_source.project.facts.occurrences import Occurrences
    from bae_source.project.files.census import Census
    from bae_source.project.files.port import Stamp
    from bae_source.project.files.programs import Programs
    from bae_source.project.files.walk import Walk
    from bae_source.state.cache import Cache, Seen
    from bae_source.syntax.outline.tree import Tree
    from bae_source.system.programs import Surroundings

V = TypeVar("V")

_TREES = 32
_FACT_BYTES = 12_000_000
"""As they are kept; in memory they take up to five times as much, uses about twice."""
_TIMINGS = 20_000
_LARGE = 60_000
"""Bytes of a file from which on parsing takes much longer than looking up its kept tree."""
_OUTLINE, _MOST_OUTLINES = "outline", 200
_WALK, _WORDS, _OF, _ALL = "walk", "words", "words of", "00" * 32
"""Names in the cache of the walk, of the words of files and of these files; no content has that digest."""
MOST_WAITING = 4_000_000
"""Bytes of the entries that wait to be saved."""
_WORTH = 400_000
"""Bytes of a cache from which on the project is so large that its walk is worth looking up."""


class Recent(Generic[V]):
    """Values by key, the most recently used kept.

    Parameters:
        room: how much may be kept, in the unit of the sizes that `put` gets.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken = 0
        self._values: OrderedDict[object, tuple[V, int]] = OrderedDict()
        self._lock = allocate_lock()

    def get(self, key: object) -> V | None:
        """Return the entry under a key."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: object, value: V, size: int = 1) -> None:
        """Keep a value; what is larger than a quarter of all room is not kept."""
        with self._lock:
            self.taken -= self._values.pop(key, (None, 0))[1]
            if 4 * size > self.room:
                return
            self._values[key] = (value, size)
            self.taken += size
            while self.taken > self.room:
                self.taken -= self._values.popitem(last=False)[1][1]


class Derived:
    """The facts worked out from all files of a census together; good as long as no file changed.

    Parameters:
        census: of which it holds.
        begun: when the request began that it was made for, in nanoseconds since the epoch; 0 where that is not known.
    """

    def __init__(self, census: Census, begun: int = 0) -> None:
        self.census = census
        self._begun = begun
        self._values: dict[object, object] = {}

    def get(self, key: object, make: Callable[[], V]) -> V:
        """Return the entry under a key, made now if there is none."""
        if key not in self._values:
            self._values[key] = make()
        return cast("V", self._values[key])

    @cached_property
    def lasts(self) -> bool:
        """Return whether the stamps show every change of the files since then, so that another request may have it."""
        census, begun = self.census, self._begun
        return bool(begun) and not census.closed and all(is_settled(each, begun) for each in census.stamps.values())

    def drop(self, key: object) -> None:
        """Forget the entry under a key."""
        self._values.pop(key, None)


class Timings:
    """The time that files took to parse, kept until it is asked for.

    Parameters:
        timer: nanoseconds from any beginning; None where no time is measured.
    """

    def __init__(self, timer: Callable[[], int] | None = None) -> None:
        self.timer = timer
        self._taken: list[tuple[int, int]] = []

    def begin(self) -> int:
        """Return the time to hand to `end`."""
        return self.timer() if self.timer else 0

    def end(self, size: int, begun: int) -> None:
        """Note that a file of so many bytes is parsed."""
        if self.timer:
            self.add(size, self.timer() - begun)

    def add(self, size: int, nanoseconds: int) -> None:
        """Note how long a file of so many bytes took."""
        if self.timer and len(self._taken) < _TIMINGS:
            self._taken.append((size, nanoseconds))

    def taken(self) -> list[tuple[int, int]]:
        """Return size and nanoseconds of every file parsed since this was asked last."""
        taken, self._taken = self._taken, []
        return taken


class Trees:
    """Parsed files by the digest of their content, the most recently used kept.

    Parameters:
        timings: where to note how long parsing took.
    """

    def __init__(self, timings: Timings | None = None) -> None:
        self._trees: Recent[Tree] = Recent(_TREES)
        self._timings = timings or Timings()

    def get(self, content: bytes, known: str | None = None) -> Tree:
        """Return the tree of a file's content; raise SourceError where it has none.

        Parameters:
            known: the content's digest, if it is known already.
        """
        source = parsable(content, known)
        return self.known(source) or self.parsed(source)

    def known(self, source: Source) -> Tree | None:
        """Return the tree of a file, if it is kept."""
        return self._trees.get(source.digest)

    def parsed(self, source: Source) -> Tree:
        """Parse a file, and keep its tree; raise SourceError where it has none."""
        from bae_source.syntax.outline.tree import parse  # 5 ms with ast, which searching text need not pay

        begun = self._timings.begin()
        tree = parse(source)
        self._timings.end(len(source.content), begun)
        self.put(tree)
        return tree

    def put(self, tree: Tree) -> None:
        """Keep a tree."""
        self._trees.put(tree.source.digest, tree)


class Waiting(Struct):
    """The entries that wait to be kept between processes, as `Cache.keep` takes them, and about how many bytes."""

    files: dict[str, Seen] = {}
    facts: list[tuple[str, str, bytes]] = []
    present: Collection[str] | None = None
    newest: dict[str, int] = {}
    size: int = 0


class Kept:
    """All that is kept of one project.

    Parameters:
        cache: what is kept between processes; None for nothing.
        clock: nanoseconds since the epoch; without it nothing is kept by path.
        timer: nanoseconds from any beginning; without it nothing is timed.
        trees: parsed files, if they shall be shared more widely.
        process_is_ours: whether only our own code has run in this process, so that copies of it may do work.
        process_stays: whether many requests are to come, so that what they read is worth its memory.
        packages: tells in which folders the packages are installed that the project imports.
        surroundings: tells where the project's own programs run; None where none can.
    """

    def __init__(
        self,
        *,
        cache: Callable[[], Cache] | None = None,
        clock: Callable[[], int] | None = None,
        timer: Callable[[], int] | None = None,
        trees: Trees | None = None,
        process_is_ours: bool = False,
        process_stays: bool = False,
        packages: Callable[[], tuple[str, ...]] = tuple,
        surroundings: Callable[[], Surroundings | None] = lambda: None,
    ) -> None:
        self.process_is_ours = process_is_ours
        self.process_stays = process_stays
        self._packages = packages
        self._surroundings = surroundings
        self.clock = clock or (lambda: 0)
        self.timings = Timings(timer)
        self.trees = trees or Trees(self.timings)
        self.facts: Recent[object] = Recent(_FACT_BYTES)
        self.seen: dict[str, Seen] = {}
        self._haystacks: dict[str, Haystack] = {}
        self._occurrences: Occurrences | None = None
        self._derived: Derived | None = None
        self._walk: Walk | None = None
        self._make_cache = cache
        self._cache: Cache | None = None
        self._waiting, self._together = Waiting(), 0
        self._lock = allocate_lock()

    @property
    def packages(self) -> tuple[str, ...]:
        """The folders in which the packages are installed that the project imports."""
        return self._packages()

    @property
    def surroundings(self) -> Surroundings | None:
        """The folder and the environment that the project's own programs run in; None where none can."""
        return self._surroundings()

    @property
    def cache(self) -> Cache | None:
        """Return the cache between processes, opened at first use."""
        with self._lock:
            if self._cache is None and self._make_cache is not None:
                self._cache = self._make_cache()
            return self._cache

    def close(self) -> None:
        """Let go of the cache's file, which is opened again when something is asked."""
        with self._lock:
            self._waiting = Waiting()
            if self._cache is not None:
                self._cache.close()

    def begin_anew(self) -> None:
        """Forget what depends on more than files and their stamps: on the place of our state, on installed packages."""
        with self._lock:
            self._cache = self._derived = None

    def beside(self) -> Kept:
        """Return the store for other files of the same project: facts by content are shared, those by path are not."""
        cache = self._make_cache and self._shared_cache
        other = Kept(cache=cache, clock=self.clock, trees=self.trees, process_is_ours=self.process_is_ours)
        other.timings, other.facts = self.timings, self.facts
        return other

    def _shared_cache(self) -> Cache:
        assert self.cache is not None
        return self.cache

    def haystack(self, name: str, is_plain: Callable[[bytes], bool]) -> Haystack:
        """Return the contents of some files in few pieces.

        Parameters:
            name: tells these files from others.
            is_plain: as `Haystack` takes it.
        """
        if name not in self._haystacks:
            from bae_source.project.facts.haystack import Haystack  # which reading one symbol does without

            self._haystacks[name] = Haystack(is_plain, at_once=self.process_stays)
        return self._haystacks[name]

    def occurrences(self, census: Census) -> Occurrences:
        """Return the known words of files, looked up in the cache on first use."""
        if self._occurrences is None:
            from bae_source.project.facts.occurrences import Occurrences, load  # which reading one symbol does without

            saved = self.recall(_WORDS)
            self._occurrences = load(saved, census, lambda: self.recall(_OF)) if saved else Occurrences()
        return self._occurrences

    def remember(self, known: Occurrences) -> None:
        """Keep the known words of files."""
        from bae_source.project.facts.occurrences import save  # as above

        self._occurrences = known
        saved = save(known)
        if saved is not None:
            self.store(dict(zip((_WORDS, _OF), saved, strict=True)))

    def tree(self, content: bytes, *, keeping: bool = False) -> Tree:
        """Return the tree of a file's content; of a large file from what an earlier process kept of it.

        Parameters:
            keeping: whether small ones are worth it as well, since the cache will be opened anyway.

        Raises:
            SourceError: it does not parse or cannot be decoded.
        """
        source, cache = parsable(content), self.cache if keeping or len(content) >= _LARGE else None
        tree = self.trees.known(source)
        if tree is not None or cache is None:
            return tree or self.trees.parsed(source)
        from bae_source.syntax.outline.tree import recalled, saved  # which mostly is not needed

        kept = cache.facts(_OUTLINE, [source.digest]).get(source.digest)
        tree = recalled(source, kept) if kept else None
        if tree is not None:
            self.trees.put(tree)
            return tree
        tree = self.trees.parsed(source)
        self.keep(facts=[(_OUTLINE, source.digest, saved(tree))], newest={_OUTLINE: _MOST_OUTLINES})
        return tree

    def recall(self, kind: str) -> bytes | None:
        """Return the stored value about the project as a whole, by this process or another."""
        return self.cache.facts(kind, [_ALL]).get(_ALL) if self.cache is not None else None

    def store(self, saved: Mapping[str, bytes]) -> None:
        """Keep something about the project as a whole, by kind, which has to say itself what of it is still true."""
        if saved:
            self.keep(facts=[(kind, _ALL, content) for kind, content in saved.items()])

    def keep(
        self,
        *,
        files: Mapping[str, Seen] | None = None,
        facts: Sequence[tuple[str, str, bytes]] = (),
        present: Collection[str] | None = None,
        newest: Mapping[str, int] | None = None,
    ) -> None:
        """Keep something between processes, as `Cache.keep` does; within `together`, when that ends.

        Waiting entries are not looked up: their writer has them.
        """
        if self.cache is None:
            return
        with self._lock:
            waiting = self._waiting
            waiting.files.update(files or {})
            waiting.facts += facts
            waiting.present = waiting.present if present is None else present
            waiting.newest.update(newest or {})
            waiting.size += sum(len(content) for _, _, content in facts)
            if self._together and waiting.size <= MOST_WAITING:
                return
        self._write()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write the entries kept meanwhile in one go, as each write takes a millisecond; many are written in parts.

        A call that is wrong, or names nothing, leaves nothing on the disk.
        """
        with self._lock:
            self._together += 1
        try:
            yield
        except (LookupFailed, RequestError):
            with self._lock:
                self._waiting = Waiting()
            raise
        finally:
            with self._lock:
                self._together -= 1
            self._write()

    def _write(self) -> None:
        """Write what waits to be kept."""
        with self._lock:
            waiting, self._waiting = self._waiting, Waiting()
        if (waiting.files or waiting.facts) and self.cache is not None:
            self.cache.keep(files=waiting.files, facts=waiting.facts, present=waiting.present, newest=waiting.newest)

    def derived(self, census: Census, now: int) -> Derived:
        """Return what was worked out from the files of this very census, or a place for it.

        Parameters:
            now: when the request began; what depends on files that changed shortly before is not kept.
        """
        known = self._derived
        if known is None or known.census is not census or not known.lasts:
            self._derived = known = Derived(census, now)
        return known

    def census(self, files: Files, layout: Layout, now: int, on_many: Callable[[], None] | None = None) -> Census:
        """Return the census of the project, made from what the last walk met, in this process or another.

        Parameters:
            on_many: called when many Python files are met in folders of which nothing is known.
        """
        from bae_source.project.files.walk import Walk  # as above

        with self._lock:
            first, self._walk = self._walk is None, self._walk or Walk(files)
        cache = self.cache
        if first and cache is not None and cache.size > _WORTH and (saved := self.recall(_WALK)):
            with collector_off():
                self._walk.recall(saved)
        with collector_off():
            census = self._walk.census(layout, now, on_many, files)
        if cache is not None and (memory := self._walk.memory()) is not None:
            self.store({_WALK: memory})
        return census


class FactSnapshot(Snapshot, Protocol):
    """A snapshot as what works out facts needs it."""

    kept: Kept

    @property
    def derived(self) -> Derived:
        """Values worked out from all files together."""

    @property
    def programs(self) -> Programs:
        """The notebooks and scripts that are no modules."""

    def check_readable(self, path: str) -> None:
        """Check that the caller may read a file; raise Refused if not."""

    def stamped(self, path: str) -> tuple[bytes, Stamp | None]:
        """Return the bytes of a file to be parsed, and its stamp if that will tell of every later change."""

    def digest(self, path: str) -> str | None:
        """Return the digest of a file's bytes, if it is known."""
