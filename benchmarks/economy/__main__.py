"""Calls, characters and seconds of twelve everyday tasks: by our command line, by MCP, and by a plain shell.

    python -m benchmarks.economy                             everything; takes about ten minutes
    python -m benchmarks.economy --task 4 --task 9           some tasks
    python -m benchmarks.economy --way cli --way plain       some ways
    python -m benchmarks.economy --show 6                    one task, with all that is typed and answered

The tasks are done on httpx, marshmallow and starlette by scripts that were written beforehand (`tasks/`), each from a
fresh copy with an environment in which the project's tests, ruff and mypy run:

* *plain*: `grep`, `sed`, `perl`, `git`, `ruff`, `mypy` and heredocs, as an agent with a shell works. It is written to
  win: as few calls as possible, then as few characters. A tool that replaces text in a file is not used, since each of
  its calls would be one more, and old text costs more than an expression that finds it;
* *cli*: `bae-source` in the same shell, with `&&`, pipes, braces and heredocs; `sed` only from `read` to `edit`;
* *mcp*: the tools of our server as it offers them, through the client of the official SDK over pipes.

The rules, the same for all ways:

* commands chained in one call of the shell are one call; `tools/list` is none, and its size is printed;
* every way starts from the statement of the task, which names what it is about by module and name. Names of test files
  are known; code is not;
* every way sees code before it changes it, unless the statement says all that has to be known, as of a rename or a move
  whose places a tool that understands names finds; a way that finds places by their text looks at all of them first;
* every way checks the result: by the tests concerned, and where an expression decided what changes, by what git says
  of it. Of a run of tests the plain way reads the last line, of a diff no more than it needs; ours leaves out the diff
  of what it spelled itself (`-q`, `quiet`);
* written is counted without the new source text that all ways have to spell, read is all that is answered
  (`counting.py`);
* the trees at the end are equal, byte for byte, in all ways; files that git ignores aside. Where the order of
  definitions or blank lines could differ, the scripts were written to agree. The tests concerned pass at the end.

The goals: ours takes in sum at most 0.7 of the calls, 0.6 of the written and 0.8 of the read characters of the plain
way, and in no task more than 1.2 of any of them; both by the command line and by MCP.

Ends with 1 if a goal is missed, and with 2 if a step fails, trees differ, or tests do not pass.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from benchmarks.economy import places
from benchmarks.economy.counting import Call, Count, counted, not_new, not_read, not_spelled
from benchmarks.economy.model import WAYS, Task, Way
from benchmarks.economy.report import Result, missed, sums, table, transcript
from benchmarks.economy.tasks import TASKS
from benchmarks.economy.ways import Broken, carried_out, command, tools
from benchmarks.read.processes import Failed, run
from benchmarks.verify.projects import Project
from benchmarks.verify.runs import isolate

Fresh: TypeAlias = Callable[[Task, Path], Project]
MISSED, BROKEN = 1, 2


def main(words: Sequence[str] | None = None, *, tasks: Sequence[Task] = TASKS, fresh: Fresh = places.fresh) -> int:
    """Do the tasks, print the tables; return the exit status.

    Parameters:
        words: of the command line.
        tasks: of which it chooses.
        fresh: puts a copy for a task somewhere.
    """
    asked = _options(words, tasks)
    isolate()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="economy-") as name:
        folder = Path(name).resolve()
        ours = command(folder / "bin")
        try:
            for task in tasks:
                if not asked.task or task.number in asked.task:
                    results.append(done(task, asked.way, folder, ours, fresh=fresh, show=asked.show == task.number))
                    print(*table(results[-1]), sep="\n", flush=True)
            if "mcp" in asked.way:
                listed = asyncio.run(tools(fresh(tasks[0], folder / "tools"), ours))
                print(f"tools/list of the server: {len(listed):,} characters, once a session")
        except (Broken, Failed) as error:
            print(error, file=sys.stderr)
            return BROKEN
    print(*sums(results), sep="\n")
    goals = missed(results)
    print(
        *(goals or ["all goals are met" if set(asked.way) > {"plain"} else "no goals: they need plain and ours"]),
        sep="\n",
    )
    return MISSED if goals else 0


def done(
    task: Task,
    ways: Sequence[Way],
    folder: Path,
    ours: Path,
    *,
    fresh: Fresh = places.fresh,
    show: bool = False,
) -> Result:
    """Do a task in each way, and check what comes of it.

    Parameters:
        task: what is done.
        ways: in which ways.
        folder: where the copies are made.
        ours: the command `bae-source`.
        fresh: puts a copy for a task somewhere.
        show: print what is typed and answered.

    Raises:
        Broken: if a step fails, or the trees or the facts are not what they have to be.
        Failed: if tests do not pass.
    """
    if show:
        print(f"{task.number} {task.title} ({task.package})\n{task.statement}")
    counts: dict[Way, Count] = {}
    diffs: dict[str, tuple[Way, str]] = {}
    for way in ways:
        project = fresh(task, folder / f"{task.number}-{way}" / task.package)
        calls = carried_out(task.steps(way), project, ours)
        if show:
            print(*transcript(way, calls), sep="\n", flush=True)
        counts[way] = counted(task, calls)
        diffs.setdefault(places.tree(project.root), (way, places.diff(project.root)))
        _check(task, way, calls, diffs)
        if way == ways[0] and task.tests:
            run([str(project.python), "-m", "pytest", "-q", *task.tests], cwd=project.root)
        shutil.rmtree(project.root)
    return Result(task=task, counts=counts)


def _check(task: Task, way: Way, calls: Sequence[Call], diffs: Mapping[str, tuple[Way, str]]) -> None:
    """Compare what a way came to with what has to be.

    Parameters:
        diffs: by the tree at the end, the first way that came to it and its diff.

    Raises:
        Broken: if something differs.
    """
    (_, first), *others = diffs.values()
    for other, text in others:
        between = difflib.unified_diff(first.splitlines(), text.splitlines(), "the first way", other, lineterm="")
        raise Broken("\n".join((f"Task {task.number}: the trees differ, by their diffs:", *between)))
    for what, lines in (
        ("does not spell", not_spelled(task, way)),
        ("does not add", not_new(task, first)),
        ("has not read", not_read(task, calls)),
    ):
        if lines:
            raise Broken(f"Task {task.number}, {way}: it {what} {lines}.")


def _options(words: Sequence[str] | None, tasks: Sequence[Task]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.economy")
    numbers = [task.number for task in tasks]
    parser.add_argument("--task", type=int, action="append", choices=numbers, metavar="N", help="one task; repeatable")
    parser.add_argument("--way", action="append", choices=WAYS, help="one way; repeatable")
    parser.add_argument(
        "--show", type=int, choices=numbers, metavar="N", help="a task, with all that is typed and read"
    )
    asked = parser.parse_args(words)
    asked.way = [way for way in WAYS if not asked.way or way in asked.way]
    asked.task = [*(asked.task or []), *([asked.show] if asked.show else [])]
    return asked


if __name__ == "__main__":
    sys.exit(main())
