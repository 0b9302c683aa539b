"""Calls, subclasses and overrides that happen while a project's tests run, compared with the answers about them.

    python -m benchmarks.run_time ROOT --package NAME [--python PATH] [--path src] [-- TESTS AND OPTIONS OF PYTEST]

`--python` is an interpreter that has pytest and what the project needs; the project itself is found by `--path`, so
that the code that runs is the code that is read. Prints how many of what happened each answer has how surely, and what
it has not. Ends with 1 if a complete answer lacks a call by name, a class or an override, or surely has something else;
what it lacks because only a value leads there (`renamed`, `nameless`, `built-in`) is listed to be judged by a person.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.run_time.comparing import Comparing, Row

_NAMED = ("named", "class", "property", "decorator")
_BAD = ("missing", "other", "refused")


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, compare and print; 1 if an answer is wrong."""
    options = _options(arguments)
    root = options.root.resolve()
    with tempfile.TemporaryDirectory() as folder:
        record = options.record or Path(folder) / "record.json"
        if not record.is_file():
            _run(root, record, options)
        comparing = Comparing(root, json.loads(record.read_text(encoding="utf-8")))
    rows = list(dict.fromkeys([*comparing.calls(), *comparing.classes()]))
    counted = Counter((each.asked, each.kind, each.word) for each in rows)
    for (asked, kind, word), count in sorted(counted.items()):
        print(f"{asked:<12}{kind:<12}{word:<12}{count:>7,}")
    wrong = [each for each in rows if each.word in _BAD]
    for each in sorted(wrong, key=_order):
        print(f"{each.asked:<12}{each.kind:<12}{each.word:<12}{each.what}  at {each.place}  {each.more}".rstrip())
    return 1 if any(each.kind in _NAMED for each in wrong) else 0


def _order(row: Row) -> tuple[str, str, str, str, str]:
    return row.asked, row.kind, row.word, row.what, row.place


def _run(root: Path, record: Path, options: argparse.Namespace) -> None:
    paths = [str(root / each) for each in options.path]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, str(root), str(Path(__file__).resolve().parent)]),
        "RECORDED_ROOT": str(root),
        "RECORDED_PACKAGES": ",".join(options.package),
        "RECORDED_TO": str(record.resolve()),
    }
    command = [options.python, "-m", "pytest", "-q", "-p", "recording", "-p", "no:cacheprovider", *options.tests]
    done = subprocess.run(command, cwd=root, env=environment, stdin=subprocess.DEVNULL, check=False)
    print(f"pytest ended with {done.returncode}", flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run_time", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("root", type=Path, help="the project's folder")
    parser.add_argument("--package", action="append", default=[], help="whose modules are all imported in the end")
    parser.add_argument("--python", default=sys.executable, help="runs the tests (default: the one that runs this)")
    parser.add_argument("--path", action="append", default=[], help="below the root, what Python imports from")
    parser.add_argument("--record", type=Path, help="keep the record here, or read it if it is there")
    parser.add_argument("tests", nargs="*", help="what pytest gets")
    return parser.parse_intermixed_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
