"""Every definition of real packages, read and given back, replaced and put back: not one byte may be lost.

For every definition `t` of every file:

1. `edit(t, read(t))`, as it stands and dedented, plans no change;
2. `t` is replaced by a changed form (a statement added, at column 0, with suites indented by 2 spaces): only its span
   differs and the file parses; then by the old source: every byte is back.

The second half goes through the whole of replacing: the two sources always differ, so that no comparison of the given
source with the present one can answer for it.

    python -m benchmarks.lossless --all              every definition of the corpus; takes hours
    python -m benchmarks.lossless --all --part 1/4   the first quarter of it
    python -m benchmarks.lossless --sample 300       a seeded sample of so many files

Prints `definitions: N, wrong: 0, refused: K`, and the reason of each refusal, counted.
"""

from __future__ import annotations

import argparse
import ast
import gc
import io
import multiprocessing
import random
import re
import sys
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.address import Segment
from bae_source.project.facts.kept import Trees
from bae_source.project.files.layout import Layout
from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from bae_source.refactoring.edit import Edit
from bae_source.syntax.outline.definitions import Definition, Kind
from bae_source.syntax.outline.locate import Group, find, group_span
from bae_source.syntax.outline.tree import Tree, parse_text
from bae_source.syntax.text.source import Lines
from benchmarks import corpus
from tests.memory import Memory

MODULE = "m"
PATH = "m.py"

_UNTOKENIZABLE = re.compile(r"\r(?!\n)|^[ \t\f]*\\\r?$", re.MULTILINE)
"""Lone carriage returns, and lines of a lone backslash: `tokenize` gives their statements other rows."""


class Verdict(Struct):
    """What checking came to.

    Parameters:
        definitions: how many were checked.
        wrong: what went wrong, as `file: address: why`.
        refused: why definitions were refused, counted.
        unreadable: files whose own code was refused, with the reason.
    """

    definitions: int = 0
    wrong: list[str] = []
    refused: Counter[str] = Counter()
    unreadable: list[str] = []

    def add(self, other: Verdict) -> None:
        """Add another verdict to this one."""
        self.definitions += other.definitions
        self.wrong += other.wrong
        self.refused += other.refused
        self.unreadable += other.unreadable


def check_file(path: Path, *, only: int | None = None, seed: int = 0) -> Verdict:
    """Check every definition of a file, or a seeded choice of `only` so many."""
    return check_content(path.read_bytes(), str(path), only=only, seed=seed)


def check_content(content: bytes, name: str, *, only: int | None = None, seed: int = 0) -> Verdict:
    """Check every definition of a file's content; `name` is for the report."""
    verdict = Verdict(wrong=[], refused=Counter(), unreadable=[])
    trees = Trees()
    try:
        tree = trees.get(content)
    except ResourceError as error:
        verdict.unreadable.append(f"{name}: {error.code}: {error.message}")
        return verdict
    groups = list(_groups(tree))
    if only is not None and len(groups) > only:
        groups = random.Random(f"{seed}:{name}").sample(groups, only)
    for group in groups:
        verdict.definitions += 1
        address = ".".join([MODULE, *map(str, group.qualname)])
        try:
            problem = _check(content, tree, group, address, trees)
        except ResourceError as error:
            verdict.refused[f"{error.code}: {_shape(error.message)}"] += 1
            continue
        if problem:
            verdict.wrong.append(f"{name}: {address}: {problem}")
    return verdict


def _groups(tree: Tree) -> Iterator[Group]:
    """Yield every group of definitions of a file, addressed the way a caller would."""
    seen: set[tuple[int, ...]] = set()
    outline = tree.outline
    for index, definition in enumerate(outline.definitions):
        qualname: tuple[Segment, ...] = ()
        up = index
        while up != -1:
            named = outline.named(outline.definitions[up].parent, outline.definitions[up].names[0])
            choice = Segment(outline.definitions[up].names[0], index=named.index(up) if len(named) > 1 else None)
            qualname = (choice, *qualname)
            up = outline.definitions[up].parent
        for last in (qualname[-1], Segment(definition.names[0])):
            try:
                group = find(tree, MODULE, (*qualname[:-1], last))
            except ResourceError:
                continue
            if group.members not in seen:
                seen.add(group.members)
                yield Group(members=group.members, qualname=(*qualname[:-1], last))


def _check(content: bytes, tree: Tree, group: Group, address: str, trees: Trees) -> str | None:
    """Return what is wrong with one definition; None if nothing is."""
    here = _workspace(content, trees)
    stands = Read(target=address).answer(here).text
    dedented = Read(target=address, dedent=True).answer(here).text
    for form, text in (("as it stands", stands), ("dedented", dedented)):
        if Edit(target=address, new_source=text).plan(here).changes:
            return f"given {form} it plans a change"
    changed = changed_form(tree, group, dedented)
    plan = Edit(target=address, new_source=changed).plan(here)
    if not plan.changes:
        return "the changed form plans no change"
    between = plan.changes.files[0].apply(content)
    span = group_span(tree.outline, group.members)
    head, tail = (
        tree.source.encode(tree.text[: span.start]),
        len(content) - len(tree.source.encode(tree.text[: span.end])),
    )
    if between[: len(head)] != content[: len(head)] or (tail and between[-tail:] != content[-tail:]):
        return "more than its span differs"
    if not _parses(between) and _parses(content):
        return "the changed file does not parse"
    back = Edit(target=address, new_source=stands).plan(_workspace(between, trees))
    if not back.changes:
        return "putting the old source back plans no change"
    if back.changes.files[0].apply(between) != content:
        return "putting the old source back does not give every byte back"
    return None


def changed_form(tree: Tree, group: Group, dedented: str) -> str:
    """Return another source for a symbol: a statement added, at column 0, suites indented by 2 spaces.

    Suites keep their indentation where this Python cannot tokenize the code, its syntax being newer.
    """
    definition = tree.outline.definitions[group.members[-1]]
    if definition.body is None and any(tree.outline.definitions[index].body is not None for index in group.members):
        inner, _ = parse_text(dedented)
        last = [one for one in inner.definitions if one.parent == -1][-1]
        return f"{dedented[: last.span.start]}{' = '.join([*definition.names, 'None'])}\n"
    names = [name for index in group.members for name in tree.outline.definitions[index].names]
    if definition.kind is Kind.TYPE_ALIAS:
        return f"type {names[0]} = (\n  None\n)\n"
    if definition.kind is Kind.ASSIGNMENT:
        value = "None or None" if definition.inline else "(\n  None\n)"
        each = [tree.outline.definitions[index].names for index in group.members]
        return ("; " if definition.inline else "\n").join(" = ".join([*found, value]) for found in each) + "\n"
    text = dedented.lstrip("\f")
    return _with_statement(_in_twos(text) or text, tree, definition)


def _in_twos(text: str) -> str | None:
    """Indent every suite by 2 spaces, the way `tokenize` sees the levels; None where this Python cannot tokenize it."""
    if _UNTOKENIZABLE.search(text):
        return None
    lines = _lines(text)
    fresh: dict[int, int] = {}
    level, begins = 0, True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.INDENT:
                level += 1
            elif token.type == tokenize.DEDENT:
                level -= 1
            elif token.type == tokenize.NEWLINE:
                begins = True
            elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER) and begins:
                fresh[token.start[0]], begins = level, False
    except (tokenize.TokenError, SyntaxError):
        return None
    for row, depth in fresh.items():
        lines[row - 1] = "  " * depth + lines[row - 1].lstrip(" \t\f")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    return io.StringIO(text, newline="").readlines()


def _with_statement(text: str, tree: Tree, definition: Definition) -> str:
    """Add a statement at the end of the symbol's suite."""
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    suite = tree.outline.suites[definition.body or 0]
    assert suite is not None
    header = tree.text[tree.source.lines.start(tree.source.lines.number(suite.start)) : suite.start]
    if header.strip(" \t\f\\"):  # the suite stands on its header's line
        return _inline_added(text)
    ended = text if text.endswith(("\n", "\r")) else text + newline
    inner, _ = parse_text(text)
    last = [one for one in inner.definitions if one.parent == -1][-1]
    first = inner.suites[last.body or 0]
    assert first is not None
    line = Lines(text)
    unit = line.indentation(line.number(first.start))
    return f"{ended}{unit}_added_ = 1{newline}"


def _inline_added(text: str) -> str:
    """Put a statement in front of a suite that stands on its header's line."""
    outline, _ = parse_text(text)
    last = [definition for definition in outline.definitions if definition.parent == -1][-1]
    suite = outline.suites[last.body or 0]
    assert suite is not None
    return f"{text[: suite.start]}_added_ = 1; {text[suite.start :]}"


def _parses(content: bytes) -> bool:
    """Say whether CPython parses a file's bytes; the engine's own word is not taken for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _workspace(content: bytes, trees: Trees) -> Workspace:
    files = Memory({PATH: content})
    return Workspace(files, trees=trees, layout=Layout(files, [""]))


def _shape(message: str) -> str:
    """Return a message without the names in it, so that refusals of one kind count as one."""
    return " ".join("…" if word.startswith(MODULE + ".") else word for word in message.split())


def _check_quietly(job: tuple[Path, int | None, int]) -> Verdict:
    path, only, seed = job
    gc.disable()
    try:
        return check_file(path, only=only, seed=seed)
    finally:
        gc.enable()


def main() -> int:
    """Run the check and print what came of it; 1 if a definition was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every file of the corpus")
    parser.add_argument("--sample", type=int, default=100, help="so many files, seeded")
    parser.add_argument("--only", type=int, help="at most so many definitions a file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1", help="which part of the files, such as 2/4")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    arguments = parser.parse_args()
    roots = [corpus.standard_library(), *(root for _, root in corpus.packages())]
    files = [path for root in roots for path in corpus.python_files(root)]
    if not arguments.all:
        files = random.Random(arguments.seed).sample(files, min(arguments.sample, len(files)))
    files.sort(key=lambda path: -path.stat().st_size)
    part, parts = map(int, arguments.part.split("/"))
    files = files[part - 1 :: parts]
    total = Verdict(wrong=[], refused=Counter(), unreadable=[])
    jobs = [(path, arguments.only, arguments.seed) for path in files]
    with multiprocessing.Pool(arguments.jobs) as pool:
        for number, verdict in enumerate(pool.imap_unordered(_check_quietly, jobs, chunksize=4), 1):
            total.add(verdict)
            if sys.stderr.isatty() or number % 500 == 0:
                print(f"{number}/{len(jobs)} files, wrong: {len(total.wrong)}", file=sys.stderr)
    report(total, len(files))
    return 1 if total.wrong else 0


def report(verdict: Verdict, files: int) -> None:
    """Print a verdict."""
    for line in verdict.wrong[:50]:
        print("wrong:", line)
    for reason, count in verdict.refused.most_common():
        print(f"refused {count}: {reason}")
    for line in sorted(verdict.unreadable):
        print("not read:", line)
    print(f"files: {files}, not read: {len(verdict.unreadable)}")
    print(f"definitions: {verdict.definitions}, wrong: {len(verdict.wrong)}, refused: {sum(verdict.refused.values())}")


if __name__ == "__main__":
    raise SystemExit(main())
