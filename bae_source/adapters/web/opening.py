"""A browser on an address with a token in it, which every account would see among the arguments of its process.

So the browser is given a file that leads there, which its owner alone may read, and which is gone once the page is
there. It lies in the home folder: browsers that are shut into a sandbox read nothing under /tmp, or that is hidden.
"""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

_LEADS = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Review</title>
<a href="{address}">Review</a>
"""


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open an address in the user's browser; what leads there stays until the context ends.

    Raises:
        OSError: no file can be made; no browser was started.
    """
    with tempfile.NamedTemporaryFile("w", prefix="bae-source-review-", suffix=".html", dir=Path.home()) as file:
        file.write(_LEADS.format(address=escape(address)))
        file.flush()
        webbrowser.open(Path(file.name).as_uri())
        yield
