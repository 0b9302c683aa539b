"""Settings of real projects, read, changed and changed back: not one byte may be lost.

For every pyproject.toml:

1. every key is read, and its text stands in the file;
2. in every table, inline ones and those that only others imply among them, a new key is set and removed again, and so
   is a key of a new table in it;
3. a dependency is added to every array, those of requirements among them, and removed again;
4. every key is renamed and named back.

The same is done with other line ends, a byte order mark, and no end of the last line.

    python -m benchmarks.config                      the pinned releases of the corpus, which pip fetches
    python -m benchmarks.config sdists/ ~/projects   besides what lies there: folders, and source distributions in them

Archives are only read: nothing in them is unpacked or run. Prints for each kind of change how often every byte came
back, how often the answer was `not_lossless`, and how often other bytes came back, which has to be never.
"""

from __future__ import annotations

import argparse
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bae_source.errors import ResourceError, SourceError
from bae_source.model.text import counted
from bae_source.resources.config.document import NAME, Document, same
from bae_source.resources.config.key import Path as Key
from bae_source.resources.config.key import written_key, written_name
from benchmarks import corpus

_NEW = "new-key-of-ours"
_DEPENDENCY = "new-package-of-ours>=1.0"
_LARGEST = 2_000_000
_MOST_SHOWN = 20


class Tally:
    """Counts of what changes came to.

    Attributes:
        counts: by kind of change and what it came to.
        wrong: where other bytes came back, or another error than `not_lossless`.
    """

    def __init__(self) -> None:
        self.files = 0
        self.unreadable = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def note(self, kind: str, name: str, do: Callable[[], bool]) -> None:
        """Count one change.

        Parameters:
            do: makes it and takes it back, and says whether every byte is as it was.
        """
        try:
            came = "same" if do() else "other"
        except ResourceError as error:
            came = error.code
        self.counts[kind, came] += 1
        if came not in ("same", "not_lossless"):
            self.wrong.append(f"{name}: {kind}: {came}")


def check(text: str, name: str, tally: Tally) -> None:
    """Check the text of one file."""
    try:
        document = Document(text)
    except SourceError:
        tally.unreadable += 1
        return
    tally.files += 1
    for key, value in _keys(document.data):
        at = f"{name}: {written_key(key) or '(top)'}"
        if key:
            tally.note("read", at, partial(_is_read, document, key))
        if isinstance(value, dict):
            for new in ((*key, _NEW), (*key, _NEW, "inner")):
                tally.note("set", at, partial(_set_and_removed, document, new, (*key, _NEW)))
        if isinstance(value, list):
            tally.note("add", at, partial(_added_and_removed, document, key, value))
        if key and isinstance(key[-1], str):
            tally.note("rename", at, partial(_renamed_and_back, document, key))


def _keys(value: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    yield key, value
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _keys(each, (*key, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _keys(each, (*key, number))


def _is_read(document: Document, key: Key) -> bool:
    """Say whether every line that is read stands in the file; a table may lie there in pieces."""
    found, text = document.read(key).text, document.text
    return found in text or all(piece in text for line in found.splitlines() for piece in line.split(", "))


def _set_and_removed(document: Document, new: Key, top: Key) -> bool:
    changed = document.set(new, True)
    return changed != document.text and Document(changed).remove(top) == document.text


def _added_and_removed(document: Document, key: Key, value: list[Any]) -> bool:
    item: Any = _DEPENDENCY
    try:
        changed = document.add(key, item)
    except ResourceError as error:
        if error.code != "invalid_arguments":  # an array of tables takes tables alone
            raise
        changed = document.add(key, {"name": item})
    return Document(changed).remove_item(key, len(value)) == document.text


def _renamed_and_back(document: Document, key: Key) -> bool:
    """Rename a key and name it back; its quotes are those that it needs, which the file may have more of."""
    changed = Document(document.rename(key, _NEW))
    back = changed.rename((*key[:-1], _NEW), written_name(str(key[-1])))
    return same(Document(back).data, document.data) and len(back.splitlines()) == len(document.text.splitlines())


def texts_in(place: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each pyproject.toml in a folder, and in source distributions there."""
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.is_file() and (path.name == NAME or path.name.endswith((".tar.gz", ".zip"))):
                yield from texts_in(path)
        return
    contents = _archived(place) if place.suffix in (".gz", ".zip") else [(str(place), place.read_bytes())]
    for name, content in contents:
        try:
            yield name, content.decode()
        except UnicodeDecodeError:
            yield name, "not UTF-8"  # which does not parse either


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pyproject.toml at the top of a source distribution; nothing is unpacked."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                for each in packed.infolist():
                    if _is_at_top(each.filename) and each.file_size <= _LARGEST:
                        yield f"{path.name}/{each.filename}", packed.read(each)
            return
        with tarfile.open(path) as opened:
            for member in opened:
                if member.isfile() and _is_at_top(member.name) and member.size <= _LARGEST:
                    stream = opened.extractfile(member)
                    yield f"{path.name}/{member.name}", stream.read() if stream else b""
    except (tarfile.TarError, zipfile.BadZipFile, EOFError):
        return


def _is_at_top(name: str) -> bool:
    return name.count("/") == 1 and name.endswith(f"/{NAME}")


def variants(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text as it is, and with other line ends, a byte order mark, and no end of the last line."""
    plain = text.replace("\r\n", "\n")
    lines = plain.split("\n")
    yield "", text
    yield " (CRLF)", plain.replace("\n", "\r\n")
    ends = ["\r\n" if number % 3 else "\n" for number in range(len(lines) - 1)]
    yield " (mixed)", "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
    yield " (BOM, no last line end)", f"\ufeff{plain.rstrip()}"


def main() -> int:
    """Run the check and print what came of it; 1 if other bytes came back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="*", type=Path, help="folders and source distributions")
    parser.add_argument("--own", action="store_true", help="these alone, without the pinned releases")
    asked = parser.parse_args()
    places = [*([] if asked.own else [root for _, root in corpus.packages()]), *asked.places]
    tally, seen = Tally(), set[str]()
    for place in places:
        for name, text in texts_in(place):
            if text not in seen:
                seen.add(text)
                for kind, variant in variants(text):
                    check(variant, f"{name}{kind}", tally)
    report(tally, len(seen))
    return 1 if tally.wrong else 0


def report(tally: Tally, distinct: int) -> None:
    """Print the counts."""
    for line in tally.wrong[:_MOST_SHOWN]:
        print("wrong:", line)
    texts = f"{counted(tally.files, 'text')} in all, {tally.unreadable:,} not read"
    print(f"{counted(distinct, 'distinct file')}, with other line ends and marks {texts}")
    print(f"{'change':<10}{'same bytes':>12}{'not_lossless':>14}{'wrong':>8}")
    for kind in ("read", "set", "add", "rename"):
        came = {what: count for (other, what), count in tally.counts.items() if other == kind}
        same, refused = came.pop("same", 0), came.pop("not_lossless", 0)
        print(f"{kind:<10}{same:>12,}{refused:>14,}{sum(came.values()):>8,}")


if __name__ == "__main__":
    raise SystemExit(main())
