"""Several processes change the same files through the API at the same time, and nothing is lost.

Each writer has a function of its own in every file, which it sets to a running number, and every file has a counter
that all of them count up by reading it and editing it with `if_match`. In the end each function must hold the last
number that its writer was told had been applied, and each counter as many as were applied to it; and the history must
have every operation once. A refusal (`stale`, `busy`) is a good answer; any other error is not.

    python -m benchmarks.concurrency [--writers 8] [--edits 200] [--files 10]

Prints how the edits ended and how many a second there were; 1 if anything was lost or ended badly.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bae_source import ResourceError, Source
from bae_source.history.record.history import History
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

GOOD = frozenset({"applied", "stale", "busy"})
_SHARE = 0.5


def main() -> int:
    """Run the writers, compare, and print."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="concurrency-", dir=asked.folder) as folder:
        root = Path(folder)
        lay_out(root, asked.writers, asked.files)
        begun = time.perf_counter()
        reports = run(root, asked.writers, asked.edits, asked.files)
        seconds = time.perf_counter() - begun
        problems = lost(root, reports, asked.files)
    ends = Counter(end for writer in reports for _, _, end in writer)
    print(f"{asked.writers} writers, {asked.edits} edits each, {asked.files} files, {seconds:.1f} s")
    print(f"ended:      {', '.join(f'{number} {end}' for end, number in sorted(ends.items()))}")
    print(f"throughput: {ends['applied'] / seconds:.1f} applied a second, {sum(ends.values()) / seconds:.1f} answered")
    bad = [end for end in ends if end not in GOOD]
    print(f"lost:       {len(problems)}; bad ends: {', '.join(bad) or 'none'}")
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems or bad else 0


Told = list[tuple[str, int, str]]
"""What a writer was told of each of its edits: the symbol, the number it wrote, and how it ended."""


def lay_out(root: Path, writers: int, files: int) -> None:
    """Make the project."""
    (root / "pkg").mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "pkg"\nversion = "1"\n')
    (root / "pkg/__init__.py").write_text("")
    names = ["counter", *(f"own{writer}" for writer in range(writers))]
    for number in range(files):
        text = "\n\n".join(f"def {name}():\n    return 0\n" for name in names)
        (root / f"pkg/m{number}.py").write_text(text)


def run(root: Path, writers: int, edits: int, files: int) -> list[Told]:
    """Start the writers, wait for them, and return what each was told."""
    command = [sys.executable, "-m", "benchmarks.concurrency", "--writer"]
    children = [
        subprocess.Popen([*command, str(number), str(root), str(edits), str(files)], stdout=subprocess.PIPE, text=True)
        for number in range(writers)
    ]
    reports: list[Told] = [[] for _ in children]
    for number, child in enumerate(children):
        output, _ = child.communicate()
        reports[number] = [tuple(each) for each in json.loads(output)] if output else [("", 0, "died")]
    return reports


def write(number: int, root: Path, edits: int, files: int) -> Told:
    """Be one writer."""
    source, chance, reports = Source(root, who=f"writer {number}"), random.Random(number), []
    for turn in range(1, edits + 1):
        module = f"pkg.m{chance.randrange(files)}"
        symbol = f"{module}.counter" if chance.random() < _SHARE else f"{module}.own{number}"
        value = turn
        try:
            if symbol.endswith("counter"):
                text = source.read(symbol)
                value = int(text.split()[-1]) + 1
                source.edit(symbol, _function(symbol, value), if_match=text.etag, reload="off")
            else:
                source.edit(symbol, _function(symbol, value), reload="off")
            reports.append((symbol, value, "applied"))
        except ResourceError as error:
            reports.append((symbol, value, error.code))
    return reports


def lost(root: Path, reports: list[Told], files: int) -> list[str]:
    """Compare the files and the history with what the writers were told."""
    applied = [(symbol, value) for writer in reports for symbol, value, end in writer if end == "applied"]
    expected: dict[str, int] = {}
    for symbol, value in applied:
        expected[symbol] = expected.get(symbol, 0) + 1 if symbol.endswith("counter") else value
    source, problems = Source(root), []
    for number in range(files):
        text = source.read(f"pkg.m{number}", full=True)
        names = [line[4:-3] for line in text.splitlines() if line.startswith("def ")]
        values = [int(line.split()[-1]) for line in text.splitlines() if line.startswith("    return ")]
        for name, value in zip(names, values, strict=True):
            symbol = f"pkg.m{number}.{name}"
            if value != expected.get(symbol, 0):
                problems.append(f"{symbol} is {value} and should be {expected.get(symbol, 0)}")
    folders = StateFolders(root, UserState(os.environ))
    history = History(
        folders.history, project=folders.project, search_path=os.environ["PATH"], state_id=lambda: folders.id
    )
    recorded = len(history.entries())
    if recorded != len(applied):
        problems.append(f"{len(applied)} operations were applied and {recorded} recorded")
    return problems


def _function(symbol: str, value: int) -> str:
    return f"def {symbol.rpartition('.')[2]}():\n    return {value}\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--edits", type=int, default=200, help="of each writer")
    parser.add_argument("--files", type=int, default=10, help="that all of them share")
    parser.add_argument("--folder", default=None, help="where the project is made; the usual place if left out")
    return parser.parse_args()


if __name__ == "__main__":
    os.environ["BAE_SOURCE_TELEMETRY"] = "off"
    if sys.argv[1:2] == ["--writer"]:
        _, _, writer, place, edits, files = sys.argv
        print(json.dumps(write(int(writer), Path(place), int(edits), int(files))))
        sys.exit()
    sys.exit(main())
