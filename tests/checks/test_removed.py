"""What a commit takes away, followed to the modules that import it and are not part of the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.checks.staging import check, findings, git, staged, write

CLIENT = "def send():\n    return 1\n\n\ndef get():\n    return 2\n"
FILES: Mapping[str, str | bytes] = {
    "app/__init__.py": "",
    "app/client.py": CLIENT,
    "app/net/__init__.py": "LIMIT = 1\n",
    "app/net/base.py": "x = 1\n",
    "lib.py": "x = 1\n",
    "app/data.txt": "x\n",
}


def committed(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Return a repository in which all files are committed, and nothing is staged."""
    staged(root, {**FILES, **files})
    git(root, "commit", "-qm", "all")
    return root


def test_an_importer_of_a_module_that_goes_is_found(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "x"\nversion = "0"\n',
        "app/__init__.py": "from .client import send\n",
    }
    root = committed(tmp_path, files)
    git(root, "rm", "-q", "app/client.py")
    assert findings(root) == ["app:1: MODULE_NOT_FOUND There is no .client."]
    assert findings(root, "app/data.txt") == findings(root, "app/client.py") == findings(root)


Staging = Callable[[Path], object]


def renamed(root: Path) -> None:
    write(root, {"app/client.py": CLIENT.replace("send", "post")})
    git(root, "add", ".")


def into_a_package(root: Path) -> None:
    git(root, "rm", "-q", "app/client.py")
    write(root, {"app/client/__init__.py": "def get():\n    return 2\n"})
    git(root, "add", ".")


GONE: dict[str, tuple[Staging, str, list[str]]] = {
    "a name of a module": (renamed, "from app.client import send, get", ["NAME_NOT_FOUND app.client has no send."]),
    "a name, by dots": (renamed, "from ..client import send", ["NAME_NOT_FOUND ..client has no send."]),
    "a module that moves": (
        lambda root: git(root, "mv", "app/client.py", "app/post.py"),
        "from app.client import send",
        ["MODULE_NOT_FOUND There is no app.client."],
    ),
    "a module, by its package": (
        lambda root: git(root, "rm", "-q", "app/client.py"),
        "from app import client",
        ["NAME_NOT_FOUND app has no client."],
    ),
    "a module, by dots": (
        lambda root: git(root, "rm", "-q", "app/client.py"),
        "from .. import client",
        ["NAME_NOT_FOUND .. has no client."],
    ),
    "a module that becomes a package": (
        into_a_package,
        "from app.client import send, get",
        ["NAME_NOT_FOUND app.client has no send."],
    ),
    "a module that only the working tree has": (
        lambda root: git(root, "rm", "-q", "--cached", "app/client.py"),
        "import app.client",
        ["MODULE_NOT_FOUND There is no app.client; it is in the working tree, and not staged."],
    ),
    "a package": (
        lambda root: git(root, "rm", "-rq", "app/net"),
        "from app.net.base import x",
        ["MODULE_NOT_FOUND There is no app.net.base."],
    ),
    "a package's own file": (
        lambda root: git(root, "rm", "-q", "app/net/__init__.py"),
        "from app.net import LIMIT, base",
        ["NAME_NOT_FOUND app.net has no LIMIT."],
    ),
    "a module at the top": (
        lambda root: git(root, "rm", "-q", "lib.py"),
        "import lib",
        ["MODULE_NOT_FOUND There is no lib."],
    ),
    "several lines": (
        renamed,
        "from app.client import (\n    get,\n    send,\n)",
        ["NAME_NOT_FOUND app.client has no send."],
    ),
}


@pytest.mark.parametrize(("change", "statement", "found"), GONE.values(), ids=GONE)
def test_whatever_goes_is_followed_to_importers_that_are_not_staged(
    tmp_path: Path, change: Staging, statement: str, found: list[str]
) -> None:
    root = committed(tmp_path, {"app/sub/__init__.py": "", "app/sub/user.py": f"import os\n{statement}\n"})
    assert findings(root) == []
    change(root)
    assert findings(root) == [f"app.sub.user:2: {each}" for each in found]


def test_an_importer_by_a_single_dot_of_a_package_whose_own_file_goes_is_found(tmp_path: Path) -> None:
    root = committed(tmp_path, {"app/net/base.py": "from . import LIMIT\n"})
    git(root, "rm", "-q", "app/net/__init__.py")
    assert findings(root) == ["app.net.base:1: NAME_NOT_FOUND . has no LIMIT."]


HARMLESS: dict[str, tuple[Staging, str]] = {
    "an import that may fail": (
        lambda root: git(root, "rm", "-q", "app/client.py"),
        "try:\n    from app.client import send\nexcept ImportError:\n    send = None",
    ),
    "a data file": (lambda root: git(root, "rm", "-q", "app/data.txt"), "from app import client"),
    "a package's own file, for its modules": (
        lambda root: git(root, "rm", "-q", "app/net/__init__.py"),
        "from app.net import base\nimport app.net.base",
    ),
    "a name that nobody imports": (renamed, "from app.client import get\nsend = 1"),
    "what was missing before": (renamed, "from app.client import never\nfrom app.nothing import x"),
    "a module that becomes a package with all of it": (
        lambda root: (git(root, "mv", "app/client.py", "app/c.py"), (root / "app/client").mkdir(),
                      git(root, "mv", "app/c.py", "app/client/__init__.py")),
        "from app.client import send",
    ),
    "only the working tree": (lambda root: (root / "app/client.py").unlink(), "from app.client import send"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "statement"), HARMLESS.values(), ids=HARMLESS)
def test_what_breaks_no_import_is_no_finding(tmp_path: Path, change: Staging, statement: str) -> None:
    root = committed(tmp_path, {"app/user.py": f"{statement}\n"})
    change(root)
    assert findings(root) == []


def test_importers_that_the_commit_mends_or_takes_away_are_no_finding(tmp_path: Path) -> None:
    root = committed(tmp_path, {"app/user.py": "from .client import send\n", "app/other.py": "from . import client\n"})
    git(root, "rm", "-q", "app/client.py", "app/other.py")
    write(root, {"app/user.py": "send = None\n"})
    git(root, "add", "app/user.py")
    assert findings(root) == []
    write(root, {"app/user.py": "from .client import send\n"})
    assert findings(root) == []


def test_what_another_distribution_may_have_is_named_as_not_looked_at(tmp_path: Path) -> None:
    root = committed(tmp_path, {"requirements.txt": "lib>=1\n", "app/user.py": "import lib\n"})
    git(root, "rm", "-q", "lib.py")
    outcome = check(root)
    assert (outcome.found, outcome.complete, outcome.exit_code) == ((), False, 0)
    assert "app.user:1 (another distribution may have it)" in outcome.warnings[0].message


def test_a_package_that_names_what_goes_in_its_all_is_looked_at(tmp_path: Path) -> None:
    root = committed(tmp_path, {"app/__init__.py": "__all__ = ['client']\n"})
    git(root, "rm", "-q", "app/client.py")
    assert findings(root) == ["app:1: EXPORT_NOT_FOUND __all__ of app names client, which app does not have."]


def test_names_that_are_staged_are_compared_though_their_importers_are_many(tmp_path: Path) -> None:
    many = {f"app/u{number}.py": "from app.client import send\n" for number in range(30)}
    root = committed(tmp_path, many)
    renamed(root)
    assert len(findings(root)) == 30
    assert findings(root, "app/u1.py") == ["app.u1:1: NAME_NOT_FOUND app.client has no send."]


@pytest.mark.parametrize("more", ["", "def __getattr__(name): ...\n", "globals().update(f())\n"])
@pytest.mark.parametrize(
    ("path", "statement", "found"),
    [
        ("app/__init__.py", "from . import client", "app:1: NAME_NOT_FOUND . has no client."),
        ("app/__init__.py", "from . import client as c", "app:1: NAME_NOT_FOUND . has no client."),
        ("app/__init__.py", "from app import client", "app:1: NAME_NOT_FOUND app has no client."),
        ("user.py", "from app import client as c", "user:1: NAME_NOT_FOUND app has no client."),
        ("app/user.py", "from . import client as c", "app.user:1: NAME_NOT_FOUND . has no client."),
    ],
)
def test_a_module_that_goes_is_missed_in_packages_that_may_make_names(
    tmp_path: Path, path: str, statement: str, found: str, more: str
) -> None:
    files = {"app/__init__.py": more, "pyproject.toml": "[dependency-groups]\nclient = []\n"}
    root = committed(tmp_path, {**files, path: f"{statement}\n{more}"})
    git(root, "rm", "-q", "app/client.py")
    assert findings(root) == [found]


def test_an_import_of_a_package_from_itself_does_not_replace_the_module_that_goes(tmp_path: Path) -> None:
    root = committed(
        tmp_path, {"app/__init__.py": "from . import client, net\n", "user.py": "from app import client\n"}
    )
    git(root, "rm", "-q", "app/client.py")
    assert findings(root) == ["app:1: NAME_NOT_FOUND . has no client.", "user:1: NAME_NOT_FOUND app has no client."]


@pytest.mark.parametrize(
    "text",
    [
        "def __getattr__(name):\n    if name == 'client': ...\n",
        "client = None\n",
        "from .net import base as client\n",
        "try:\n    from . import client\nexcept ImportError:\n    client = None\n",
    ],
)
def test_a_package_that_binds_or_speaks_of_what_was_a_module_may_have_it(tmp_path: Path, text: str) -> None:
    root = committed(tmp_path, {"app/__init__.py": text, "user.py": "from app import client\n"})
    git(root, "rm", "-q", "app/client.py")
    assert findings(root) == []
