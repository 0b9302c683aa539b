"""One file changed by a codemod, and by which edits; what runs in the copies of the process that loaded it.

Invariants:
- a file is known to be begun before the codemod sees it, so whatever ends the process can be told of it;
- line ends of one kind stay of that kind, and so do BOM and encoding;
- where libcst does not give a file's text back as it was, nothing of what a codemod does to it is believed.
"""

from __future__ import annotations

import copy
import faulthandler
import gc
import hashlib
import io
import os
import re
import signal
import sys
import tempfile
import tokenize
from collections import Counter
from difflib import SequenceMatcher
from typing import Any

_MOST_PAIRS = 500_000
"""Pairs of equal lines up to which lines are compared one by one."""
_MOST_MEMORY = 4 << 30
"""Bytes that a copy may take beyond what the codemod takes when it is loaded."""
_LONGEST_PRINTED = 2_000
_MOST_WARNINGS = 20
_GARBAGE = (50_000, 20, 100)
_NEWLINE = re.compile(rb"\r\n|\n|\r")
_PLACE = re.compile(r'File "(.+?)", line (\d+)')

WORK: Any = None
"""The work of this process and its copies."""


class Work:
    """The data that copies of the process need to run a codemod.

    Parameters:
        loaded: the codemod.
        request: as it was read.
        states: for each file the process that began it, as four bytes.
        traces: a file that takes where a copy was when its time was up.
    """

    def __init__(self, loaded: Any, request: dict[str, Any], states: Any, traces: Any) -> None:
        from libcst.codemod import CodemodContext, SkipFile

        loading = sys.modules["_bae_source_loading"]
        self.loaded = loaded
        self.files = request["files"]
        self.seconds = request["seconds"]
        self.generated = request["generated"]
        self.states = states
        self.traces = traces
        self.printed: Any = None
        self.described, self.guard = loading.described, loading.GUARD
        self.context, self.skip = CodemodContext, SkipFile
        self.marker = loaded.config["generated_code_marker"].encode()
        self.first_tree = sys.modules["_bae_source_fast"].first_tree


def begin(answer: int) -> None:
    """Make a copy ready: what is printed goes to a file of its own, and its memory and time have ends."""
    os.close(answer)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    faulthandler.register(signal.SIGALRM, file=WORK.traces, all_threads=False, chain=True)
    WORK.printed = anonymous_file()
    for stream in (1, 2):
        os.dup2(WORK.printed.fileno(), stream)
    _limit_memory()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)


def _limit_memory() -> None:
    """Have this process end with MemoryError what takes too much beyond what it has already."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123
            present = int(stream.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = present + _MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(most, wanted), most))
    except (ImportError, OSError, ValueError):
        return  # there is no such limit here


def anonymous_file() -> Any:
    """Make a file that has no name."""
    return tempfile.TemporaryFile(buffering=0)


def place_in_trace(traces: Any) -> str:
    """Return where a copy was when its time was up, as a clause, and forget it."""
    traces.seek(0)
    found = _PLACE.findall(traces.read().decode("utf-8", "replace"))
    traces.seek(0)
    traces.truncate()
    own = [each for each in found if each[0] == WORK.loaded.file] or found
    return f" at {own[0][0]}:{own[0][1]}" if own else ""


def transform_all(indexes: list[int]) -> list[dict[str, Any]]:
    """Return the line of answer for each of some files."""
    return [_transform(index) for index in indexes]


def _transform(index: int) -> dict[str, Any]:
    path, root, _ = WORK.files[index]
    WORK.states[4 * index : 4 * index + 4] = os.getpid().to_bytes(4, "little")
    WORK.guard.wanted = ""
    line: dict[str, Any] = {"index": index}
    warnings: list[str] = []
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            old = stream.read()
        line.update(_skipped(path, old) or _changed(path, root, old, warnings))
    except OSError as error:
        line.update(kind="failed", text=WORK.described(error, WORK.loaded.file))
    if WORK.guard.wanted:
        line = {"index": index, "kind": "failed", "text": f"it writes to {WORK.guard.wanted} itself"}
    if warnings:
        line["warnings"] = [str(each)[:_LONGEST_PRINTED] for each in warnings[:_MOST_WARNINGS]]
    if printed := _printed():
        line["printed"] = printed
    WORK.states[4 * index : 4 * index + 4] = bytes(4)
    return line


def _skipped(path: str, old: bytes) -> dict[str, Any] | None:
    """Return why a file is not handed to the codemod; None where it is."""
    for pattern in WORK.loaded.config["blacklist_patterns"]:
        if pattern.fullmatch(path):
            return {"kind": "skipped", "text": f"blacklist_patterns has {pattern.pattern!r}"}
    if not WORK.generated and WORK.marker in old:
        return {"kind": "skipped", "text": "a program writes it"}
    return None


def _changed(path: str, root: str, old: bytes, warnings: list[str]) -> dict[str, Any]:
    """Run the codemod on one file."""
    import libcst

    loaded = WORK.loaded
    try:
        tree = libcst.parse_module(old)
    except Exception as error:  # noqa: BLE001 - of what cannot be decoded, too
        return {"kind": "unparsed", "text": WORK.described(error, "")}
    codemod = None
    signal.setitimer(signal.ITIMER_REAL, WORK.seconds)
    try:
        codemod = loaded.kind(context=_context(path, root), **_fresh(loaded.given))
        WORK.first_tree(tree)
        after = codemod.transform_module(tree)
        new = after.bytes
    except WORK.skip as error:
        return {"kind": "skipped", "text": str(error) or "it skips it"}
    except BaseException as error:  # noqa: BLE001 - it may end the process
        return {"kind": "failed", "text": WORK.described(error, loaded.file)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if codemod is not None:
            warnings += getattr(codemod.context, "warnings", ())
    return _compared(old, new, tree, after)


def _context(path: str, root: str) -> Any:
    """Return a codemod's context, as LibCST's own program makes it."""
    from libcst.helpers import calculate_module_and_package

    root = WORK.loaded.config["repo_root"] or root
    name = package = None
    try:
        found = calculate_module_and_package(root, path)
        name, package = found.name, found.package
    except ValueError:  # it lies elsewhere
        pass
    return WORK.context(
        scratch={},
        filename=path,
        full_module_name=name,
        full_package_name=package,
        metadata_manager=WORK.loaded.managers[root],
    )


def _fresh(given: dict[str, Any]) -> dict[str, Any]:
    """Return settings that no other file's codemod has had in its hands."""
    try:
        return copy.deepcopy(given)
    except (TypeError, copy.Error):  # such as an open file
        return given


def _compared(old: bytes, new: bytes, tree: Any, after: Any) -> dict[str, Any]:
    """Return what a codemod did to a file."""
    if new == old:
        return {"kind": "same"}
    same = tree.bytes
    if same != old:
        if new == same:
            return {"kind": "same"}
        return {"kind": "failed", "text": "libcst does not give the file's text back as it is, so it was left"}
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(new).readline)[0]
        is_so = new.decode(encoding) == after.code
    except (SyntaxError, UnicodeError, LookupError) as error:
        return {"kind": "failed", "text": f"its output cannot be decoded: {type(error).__name__}: {error}"}
    if not is_so:
        return {"kind": "failed", "text": f"its output is {after.encoding}, and says that it is {encoding}"}
    kinds = set(_NEWLINE.findall(old))
    if len(kinds) == 1:
        new = _NEWLINE.sub(kinds.pop(), new)
    edits = [[start, end - start, new.decode("latin-1")] for start, end, new in edits_between(old, new)]
    return {"kind": "changed", "digest": hashlib.sha256(old).hexdigest(), "edits": edits} if edits else {"kind": "same"}


def edits_between(old: bytes, new: bytes) -> list[tuple[int, int, bytes]]:
    """Return the edits that lead from some bytes to others: which span of the old ones becomes what.

    Whole lines are compared, and of those that differ what begins and ends alike is left out.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    ours, theirs = before[head : len(before) - tail], after[head : len(after) - tail]
    counts = Counter(theirs)
    pairs = sum(counts[each] for each in ours)
    if pairs > _MOST_PAIRS:
        codes: Any = [("replace", 0, len(ours), 0, len(theirs))]
    else:
        codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    starts = [sum(map(len, before[:head]))]
    for each in ours:
        starts.append(starts[-1] + len(each))
    edits = []
    for tag, first, last, begin, end in codes:
        if tag == "equal":
            continue
        if last - first == end - begin:  # each line has its own in the place of it
            pairs_of_lines = [(starts[at], ours[at], theirs[at - first + begin]) for at in range(first, last)]
        else:
            pairs_of_lines = [(starts[first], b"".join(ours[first:last]), b"".join(theirs[begin:end]))]
        edits += [_trimmed(*each) for each in pairs_of_lines if each[1] != each[2]]
    return edits


def _trimmed(start: int, old: bytes, new: bytes) -> tuple[int, int, bytes]:
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    return start + head, start + len(old) - tail, new[head : len(new) - tail]


def _alike(first: Any, second: Any) -> int:
    """Return the number of equal parts that two sequences begin with."""
    count = 0
    for one, other in zip(first, second):  # noqa: B905 - which Python 3.9 does not know
        if one != other:
            break
        count += 1
    return count


def _printed() -> str:
    """Return the beginning of what was printed since the last file, and forget it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # the codemod closed it
    file = WORK.printed
    if not os.fstat(file.fileno()).st_size:
        return ""
    file.seek(0)
    text = file.read(_LONGEST_PRINTED).decode("utf-8", "replace")
    file.seek(0)
    file.truncate()
    return str(text)
