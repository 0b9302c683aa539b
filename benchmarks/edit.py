"""What an edit costs against what any engine must do: parse the file before and after.

Real files of about 5, 30 and 150 KB; in each, several functions are replaced by a changed form of themselves:

- *two parses*: `ast.parse` of the file's bytes, twice, and nothing else;
- *bae_source*: from bytes to a checked `ChangeSet`, with cold trees and all postconditions on;
- *libcst*: parse the module, replace the function by a transformer, give the code.

The three take turns, so that a slow moment of the machine meets all of them, and each repeat gives one ratio. What is
counted is the process's own CPU time, which no other program's turn on the processor gets into. The
cyclic garbage collector is off for all three (`--gc` leaves it on for all three).

    python -m benchmarks.edit

Prints a table and whether the targets are met: at most 2.0 times the two parses at 5 KB, 1.4 from 30 KB.
"""

from __future__ import annotations

import argparse
import ast
import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.address import Address, Segment
from bae_source.project.facts.kept import Trees
from bae_source.project.files.layout import Layout
from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from bae_source.refactoring.edit import Edit
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind, Outline
from bae_source.syntax.outline.tree import Tree
from benchmarks import corpus
from tests.memory import Memory

FILES_OF_A_SIZE = 3
FUNCTIONS_OF_A_FILE = 4
_NAME, _PATH = "m", "m.py"


class Size(Struct, frozen=True, kw_only=True):
    """Files of about so many kilobytes, how often each function is replaced, and the ratio to stay below."""

    kilobytes: int
    repeats: int
    limit: float


SIZES = (
    Size(kilobytes=5, repeats=60, limit=2.0),
    Size(kilobytes=30, repeats=25, limit=1.4),
    Size(kilobytes=150, repeats=8, limit=1.4),
)


class Job(Struct, frozen=True, kw_only=True):
    """One function of one file, and what replaces it."""

    content: bytes
    qualname: tuple[str, ...]
    new_source: str


class Sample(Struct, frozen=True, kw_only=True):
    """Seconds of one repeat: two parses, this engine, libcst."""

    parses: float
    engine: float
    libcst: float | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gc", action="store_true", help="leave the garbage collector on, for all three")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats")
    parser.add_argument("--no-libcst", action="store_true", help="leave libcst out")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    files = [path for root in _roots() for path in corpus.python_files(root)]
    print(f"{'file':<34}{'KB':>6}{'two parses':>12}{'bae_source':>12}{'min':>6}{'median':>8}{'max':>6}{'libcst':>10}")
    met = True
    if not options.gc:
        gc.disable()
    try:
        for size in SIZES:
            met = _size(size, files, quick=options.quick, with_libcst=not options.no_libcst) and met
    finally:
        gc.enable()
    return 0 if met else 1


def _roots() -> Iterator[Path]:
    yield corpus.standard_library()
    for _, root in corpus.packages():
        yield root


def _size(size: Size, files: Sequence[Path], *, quick: bool, with_libcst: bool) -> bool:
    """Measure the files of one size; return whether their median ratio stays below the limit."""
    every: list[Sample] = []
    for path, jobs in chosen(files, size.kilobytes * 1000):
        repeats = max(2, size.repeats // (10 if quick else 1))
        samples = [sample for job in jobs for sample in measure(job, repeats, with_libcst=with_libcst)]
        _row(path.name, path.stat().st_size, samples)
        every += samples
    median = statistics.median(sample.engine / sample.parses for sample in every)
    verdict = "met" if median <= size.limit else "MISSED"
    _row(f"  all of {size.kilobytes} KB: {size.limit} {verdict}", size.kilobytes * 1000, every)
    return median <= size.limit


def _row(name: str, size: int, samples: Sequence[Sample]) -> None:
    ratios = [sample.engine / sample.parses for sample in samples]
    others = [sample.libcst / sample.parses for sample in samples if sample.libcst is not None]
    parses = statistics.median(sample.parses for sample in samples) * 1000
    engine = statistics.median(sample.engine for sample in samples) * 1000
    libcst = f"{statistics.median(others):>10.1f}" if others else f"{'-':>10}"
    print(
        f"{name:<34}{size / 1000:>6.0f}{parses:>9.2f} ms{engine:>9.2f} ms"
        f"{min(ratios):>6.2f}{statistics.median(ratios):>8.2f}{max(ratios):>6.2f}{libcst}",
        flush=True,
    )


def chosen(files: Sequence[Path], size: int) -> Iterator[tuple[Path, list[Job]]]:
    """Yield the files nearest to a size in which enough functions can be replaced, with a job for each of those."""
    found = 0
    for path in sorted(files, key=lambda path: (abs(path.stat().st_size - size), str(path))):
        jobs = _jobs(path.read_bytes())
        if len(jobs) == FUNCTIONS_OF_A_FILE:
            yield path, jobs
            found += 1
        if found == FILES_OF_A_SIZE:
            return


def _jobs(content: bytes) -> list[Job]:
    """Return jobs for functions spread over a file: a statement is added at the end of each."""
    try:
        ast.parse(content)
        tree = Trees().get(content)
    except (SyntaxError, ValueError, ResourceError):
        return []
    names = [_qualname(tree.outline, index) for index, d in enumerate(tree.outline.definitions) if _fits(tree, d)]
    names = [name for name in names if name]
    step = max(1, len(names) // FUNCTIONS_OF_A_FILE)
    return [_job(content, name) for name in names[step // 2 :: step][:FUNCTIONS_OF_A_FILE]]


def _fits(tree: Tree, definition: Definition) -> bool:
    lines = definition.span.cut(tree.text).splitlines()
    return definition.kind is Kind.FUNCTION and len(lines) >= 4 and not lines[-1].lstrip().startswith("#")


def _qualname(outline: Outline, index: int) -> tuple[str, ...]:
    """Return the path of names to a definition; empty where a name on it stands for several."""
    up = index
    while up != MODULE:
        definition = outline.definitions[up]
        if len(outline.named(definition.parent, definition.names[0])) > 1:
            return ()
        up = definition.parent
    return outline.qualname(index)


def _job(content: bytes, qualname: tuple[str, ...]) -> Job:
    address = str(Address(module=_NAME, qualname=tuple(map(Segment, qualname))))
    text = Read(target=address, dedent=True).answer(_workspace(content)).text
    ended = text if text.endswith("\n") else f"{text}\n"
    return Job(content=content, qualname=qualname, new_source=f"{ended}    _added = 1\n")


def _workspace(content: bytes) -> Workspace:
    files = Memory({_PATH: content})
    return Workspace(files, trees=Trees(), layout=Layout(files, [""]))


def measure(job: Job, repeats: int, *, with_libcst: bool = True) -> Iterator[Sample]:
    """Yield the CPU seconds of each repeat; libcst, being slow, takes part in every fourth."""
    address = ".".join([_NAME, *job.qualname])
    _engine(job, address)
    for number in range(repeats):
        gc.collect()
        parses = _seconds(lambda: (ast.parse(job.content), ast.parse(job.content)))
        engine = _seconds(lambda: _engine(job, address))
        libcst = _seconds(lambda: _by_libcst(job)) if with_libcst and number % 4 == 0 else None
        yield Sample(parses=parses, engine=engine, libcst=libcst)


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def _engine(job: Job, address: str) -> None:
    plan = Edit(target=address, new_source=job.new_source).plan(_workspace(job.content))
    assert plan.changes


def _by_libcst(job: Job) -> None:
    import libcst as cst  # not needed with --no-libcst, and slow to load

    class Replacing(cst.CSTTransformer):
        """Replaces the function at a qualified name."""

        def __init__(self) -> None:
            super().__init__()
            self.path: list[str] = []
            self.replaced = False

        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, (cst.ClassDef, cst.FunctionDef)):
                self.path.append(node.name.value)
            return True

        def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
            if not isinstance(original_node, (cst.ClassDef, cst.FunctionDef)):
                return updated_node
            here = tuple(self.path) == job.qualname
            self.path.pop()
            self.replaced = self.replaced or here
            return cst.ensure_type(cst.parse_statement(job.new_source), cst.FunctionDef) if here else updated_node

    replacing = Replacing()
    code = cst.parse_module(job.content).visit(replacing).bytes
    assert replacing.replaced
    assert code != job.content


if __name__ == "__main__":
    sys.exit(main())
