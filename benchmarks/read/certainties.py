"""How sure answers are: the references to 100 random members of classes each of three projects, counted by certainty.

The members are drawn with a fixed seed from what `ast` finds in the package, so two versions are asked the same.
Whatever asks the engine is the Python API alone: a version without this file is measured by
`PYTHONPATH=. python -m benchmarks.read --only certainties` in an environment that has that version.
"""

from __future__ import annotations

import ast
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bae_source import Source
from bae_source.errors import ResourceError
from benchmarks import corpus

_MEMBERS, _SEED = 100, 29
_KOMBU = corpus.Release(
    name="kombu", version="5.4.2", sha256="eef572dd2fd9fc614b37580e3caeafdd5af46c1eff31e7fba89138cdb406f2cf"
)
_PACKAGES = {"kombu": "kombu", "rich": "rich", "flask": "src/flask"}
"""By the name of a release, the folder of its package."""


def certainties() -> bool:
    """Print how many places were found for each project, by certainty, and the share of unsure ones among them."""
    pinned = {each.name: each for each in (*corpus.RELEASES, _KOMBU)}
    print(f"{'':<10}{'sure':>8}{'probable':>10}{'unsure':>8}{'mentions':>10}{'unsure of all':>16}")
    for name, package in _PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / name
            shutil.copytree(corpus.fetch(pinned[name]), root, ignore=shutil.ignore_patterns(".bae-source"))
            found = counted(root, package)
        share = found["unsure"] / sum(found.values())
        counts = f"{found['sure']:>8}{found['probable']:>10}{found['unsure']:>8}{found['mention']:>10}"
        print(f"{name:<10}{counts}{share:>16.1%}", flush=True)
    return True


def counted(root: Path, package: str) -> Counter[str]:
    """Return how many references to random members of a package there are, by certainty.

    Parameters:
        root: a copy of the project.
        package: folder of the package below it.
    """
    every = list(dict.fromkeys(members(root / package)))
    source, found = Source(root), Counter[str]()
    for each in sorted(random.Random(_SEED).sample(every, min(_MEMBERS, len(every)))):
        try:
            outcome = source.references(each).outcome
        except ResourceError:
            continue  # defined twice
        found.update("mention" if place.certainty == "string" else place.certainty for place in outcome.found)
    return found


def members(package: Path) -> Iterator[str]:
    """Yield the methods and attributes that the suites of a package's classes bind, special methods left out."""
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        suite = ast.parse(path.read_text(encoding="utf-8")).body
        for owner in (each for each in suite if isinstance(each, ast.ClassDef)):
            for name in (name for node in owner.body for name in _bound(node)):
                if not (name.startswith("__") and name.endswith("__")):
                    yield f"{module}.{owner.name}.{name}"


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (each.id for each in targets if isinstance(each, ast.Name))
