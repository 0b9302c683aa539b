"""The questions of `test_closed`, asked about the project that is the argument; the answers are printed as a pickle."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from bae_source import Source
from bae_source.errors import ResourceError

SELECTOR = "sym://python/mod/pk/closed"
QUESTIONS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "outline": ("outline", (), {}),
    "outline of a package": ("outline", ("pk",), {}),
    "its own line": ("outline", ("pk",), {"depth": 0}),
    "nothing listed": ("outline", (), {"depth": 0}),
    "outline of another": ("outline", ("other",), {}),
    "outline of a module": ("outline", ("pk.core",), {}),
    "read": ("read", (), {}),
    "read a package": ("read", ("pk",), {}),
    "read a folder": ("read", ("pk:art",), {}),
    "outline of a folder": ("outline", ("pk:art",), {}),
    "closed package": ("read", ("pk.sub",), {}),
    "outline of the closed": ("outline", ("pk.sub",), {}),
    "inside the closed": ("read", ("pk.sub.B",), {}),
    "closed at the top": ("read", ("top",), {}),
    "closed data": ("read", ("pk:sub",), {}),
    "data in the closed": ("read", ("pk:sub/page.html",), {}),
    "place in the closed": ("where", ("pk/sub/__init__.py:1",), {}),
    "closed file": ("read", ("pk.closed",), {}),
    "closed file in full": ("read", ("pk.closed",), {"full": True}),
    "closed data file": ("read", ("pk:closed.txt",), {}),
    "place in the closed file": ("where", ("pk/closed.py:1",), {}),
    "skeleton": ("symbols", (SELECTOR,), {}),
    "snippet": ("snippet", (SELECTOR,), {}),
    "hover": ("hover", (SELECTOR,), {}),
    "skeleton in the closed": ("symbols", ("sym://python/type/pk/sub/B",), {}),
    "snippet in the closed": ("snippet", ("sym://python/type/pk/sub/B",), {"exact": True}),
    "hover of the closed": ("hover", ("sym://python/mod/top",), {}),
    "path that may end there": ("symbols", ("sym://python/mod/old",), {}),
    "exact path that cannot be there": ("symbols", ("sym://python/mod/pk/gone",), {"exact": True}),
    "read by selector": ("read", (SELECTOR,), {}),
    "glob": ("glob", ("pk.*",), {}),
    "references": ("references", ("pk.core.f",), {}),
    "callers": ("callers", ("pk.core.f",), {}),
    "subclasses": ("subclasses", ("pk.core.A",), {}),
    "importers": ("importers_of", ("pk.core",), {}),
    "deletion": ("delete", ("pk.core",), {"dry_run": True}),
    "deletion of the closed": ("delete", ("pk",), {"recursive": True, "dry_run": True}),
    "references again": ("references", ("pk.core.f",), {}),
}
"""Verb, arguments and options of what is asked."""


def asked(source: Source) -> dict[str, Any]:
    """Ask everything; return the outcomes, of `ast` the JSON, and the errors."""
    found: dict[str, Any] = {}
    for name, (verb, arguments, options) in QUESTIONS.items():
        try:
            answer = getattr(source, verb)(*arguments, **options)
            found[name] = dict(answer) if isinstance(answer, dict) else getattr(answer, "outcome", answer)
        except ResourceError as error:
            found[name] = error
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(asked(Source(Path(sys.argv[1])))))
