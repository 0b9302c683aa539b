"""How long `grep` and `find` take in a fresh process and by a server (`bae-source serve`), against `git grep`.

Whole processes, one after the other in every round, each round with another word; the median of the ratios is what
counts, as the machine may be busy with other things. The third figure of a parse: `find` may take what `grep` takes and
one parse of the files that hold the word.

    python -m benchmarks.warm [--root FOLDER] [--rounds 15]       a repository; django's at best
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks import corpus

_WORDS = (
    "smart_split", "urlconf", "mark_safe", "get_queryset", "lazystr", "slugify", "force_str", "cached_property",
    "quote_name", "as_sql", "resolve_url", "select_related", "get_absolute_url", "default_storage", "iri_to_uri",
)  # fmt: skip
_FRESH, _WARM = 3.0, 1.5


def main() -> int:
    """Measure and print; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, help="A git repository; a release of django if left out.")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bs-") as folder:
        root = given.root or _repository(Path(folder))
        Path(folder, "run").mkdir(mode=0o700)
        warm = {**os.environ, "BAE_SOURCE_SERVE": "on", "CI": "", "XDG_RUNTIME_DIR": f"{folder}/run"}
        server = subprocess.Popen([*_OURS, "serve"], env=warm, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert server.stderr is not None
        server.stderr.readline()
        try:
            return _measured(root.resolve(), warm, given.rounds)
        finally:
            server.terminate()
            server.wait()


_OURS = [sys.executable, "-m", "bae_source"]


def _measured(root: Path, warm: Mapping[str, str], rounds: int) -> int:
    for around in (warm, warm, os.environ, os.environ):  # caches, of the system and of ours
        _seconds([*_OURS, "grep", "import"], root, around)
    ratios: dict[str, list[float]] = {}
    for number in range(rounds):
        word = _WORDS[number % len(_WORDS)]
        git = _seconds(["git", "grep", "-n", word], root, os.environ)
        grep = _seconds([*_OURS, "grep", word], root, warm)
        find = _seconds([*_OURS, "find", f"{word}($$$A)"], root, warm)
        fresh = _seconds([*_OURS, "grep", word], root, os.environ)
        found = {"grep, warm / git grep": grep / git, "grep, fresh / git grep": fresh / git}
        found["find, warm / (grep, warm + parse)"] = find / (grep + _parsing(root, word))
        for name, ratio in found.items():
            ratios.setdefault(name, []).append(ratio)
    for name, each in ratios.items():
        print(f"{name:<36} min {min(each):.2f}, median {statistics.median(each):.2f}, max {max(each):.2f}")
    status = subprocess.run([*_OURS, "serve", "--status"], env=warm, capture_output=True, text=True, check=True).stdout
    print(status.strip())
    limits = zip(ratios.values(), (_WARM, _FRESH, 1.0), strict=True)
    return 0 if all(statistics.median(each) <= limit for each, limit in limits) else 1


def _parsing(root: Path, word: str) -> float:
    """Return how long Python's parser takes for the files that hold a word."""
    files = [path for path in root.rglob("*.py") if word.encode() in path.read_bytes()]
    texts = [path.read_bytes() for path in files]
    start = time.perf_counter()
    for text in texts:
        ast.parse(text)
    return time.perf_counter() - start


def _repository(folder: Path) -> Path:
    """Make a repository of a release."""
    [release] = [each for each in corpus.RELEASES if each.name == "django"]
    root = folder / "project"
    shutil.copytree(corpus.fetch(release), root)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def _seconds(command: list[str], root: Path, environment: Mapping[str, str]) -> float:
    kept = {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, cwd=root, env=kept, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main())
