"""Definitions moved for real: the code runs afterwards, the old names warn, and a repeated or undone move is exact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.trees import laid, picture, refused

CORE = {
    "app/__init__.py": "",
    "app/core.py": "LIMIT = 3\n\n\ndef send():\n    return LIMIT\n\n\nclass Mail:\n    size = LIMIT\n\n\nX = 1\n",
    "app/net.py": "Y = 1\n",
    "web.py": "from app.core import Mail, send\nimport app.core\n\nprint(send(), app.core.send(), Mail.size)\n",
}


def ran(root: Path, code: str, *options: str) -> tuple[str, str]:
    """Run code in a project; return what it prints, and the last line of what it complains of."""
    done = subprocess.run([sys.executable, *options, "-c", code], cwd=root, capture_output=True, text=True)
    return done.stdout.strip(), (done.stderr.strip().splitlines() or [""])[-1]


@pytest.mark.parametrize("to", ["app.net", "app.deep.mail", "mails"])
def test_users_run_as_before_and_undo_gives_every_byte_back(tmp_path: Path, to: str) -> None:
    source = laid(tmp_path, CORE)
    before, printed = picture(tmp_path), ran(tmp_path, "import web", "-B")
    source.move(["app.core.send", "app.core.Mail"], to)
    assert ran(tmp_path, "import web", "-B") == printed == ("3 3 3", "")
    source.undo(reload="off")
    assert picture(tmp_path) == before


def test_an_old_name_works_and_warns(tmp_path: Path) -> None:
    source = laid(tmp_path, {**CORE, "web.py": ""})
    source.move(["app.core.send", "app.core.Mail"], "app.net", shim=True)
    warning = "DeprecationWarning: app.core.send has moved to app.net.send"
    assert ran(tmp_path, "from app.core import send; print(send())", "-B", "-Wignore") == ("3", "")
    assert ran(tmp_path, "import app.core; print(app.core.Mail.size)", "-B", "-Wignore") == ("3", "")
    assert ran(tmp_path, "from app.core import send", "-B", "-Werror") == ("", warning)
    _, missing = ran(tmp_path, "import app.core; app.core.nothing", "-B", "-Werror")
    assert missing == "AttributeError: module 'app.core' has no attribute 'nothing'"


def test_an_old_name_of_a_variable_works(tmp_path: Path) -> None:
    source = laid(tmp_path, {**CORE, "web.py": "", "app/core.py": "LIMIT = 3\nX = 1\n"})
    source.move("app.core.LIMIT", "app.net", shim=True, as_name="MOST")
    code = "from app.core import LIMIT; from app.net import MOST; print(LIMIT, MOST)"
    assert ran(tmp_path, code, "-B", "-Werror") == ("3 3", "")


def test_a_circle_is_refused_and_solved_in_functions(tmp_path: Path) -> None:
    core = "LIMIT = 3\n\n\ndef send():\n    return LIMIT\n\n\ndef run():\n    return send()\n"
    source = laid(tmp_path, {**CORE, "app/core.py": core, "web.py": ""})
    error = refused(source, lambda: source.move("app.core.send", "app.net"), "unsafe_change")
    assert "app.core -> app.net -> app.core" in error.message
    source.move("app.core.send", "app.net", local_imports=True)
    for code in ("import app.core; print(app.core.run())", "import app.net; print(app.net.send())"):
        assert ran(tmp_path, code, "-B") == ("3", "")


def test_several_moves_of_one_transaction_are_judged_as_one(tmp_path: Path) -> None:
    source = laid(tmp_path, CORE)
    with source.transaction() as tx:
        tx.move("app.core.LIMIT", "app.base")
        tx.move("app.core.send", "app.net")
        tx.move("app.net.Y", "app.base")
    assert ran(tmp_path, "import web", "-B") == ("3 3 3", "")
    assert (tmp_path / "app/base.py").read_text() == "LIMIT = 3\nY = 1\n"


def test_users_of_a_merged_module_run_as_before(tmp_path: Path) -> None:
    source = laid(tmp_path, CORE)
    before, printed = picture(tmp_path), ran(tmp_path, "import web", "-B")
    source.move("app.core", "app.net", merge=True)
    assert not (tmp_path / "app" / "core.py").exists()
    assert ran(tmp_path, "import web", "-B") == printed == ("3 3 3", "")
    source.undo(reload="off")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("to", ["app.core", "app.net", "mails"])
def test_calls_of_a_method_run_as_before_where_it_is_a_function(tmp_path: Path, to: str) -> None:
    mail = "class Mail:\n    size = 2\n\n    def grow(self, by=1):\n        return self.size + by\n"
    web = "from app.core import Mail\n\nmail = Mail()\nprint(mail.grow(), Mail().grow(by=2), Mail.grow(mail, 3))\n"
    source = laid(tmp_path, {**CORE, "app/core.py": mail, "web.py": web})
    before, printed = picture(tmp_path), ran(tmp_path, "import web", "-B")
    source.move("app.core.Mail.grow", to)
    assert ran(tmp_path, "import web", "-B") == printed == ("3 4 5", "")
    source.undo(reload="off")
    assert picture(tmp_path) == before


def test_definitions_of_several_modules_move_in_one_change(tmp_path: Path) -> None:
    source = laid(tmp_path, {**CORE, "app/base.py": "class Base:\n    pass\n\n\nZ = 1\n"})
    before, printed = picture(tmp_path), ran(tmp_path, "import web", "-B")
    source.move(["app.core.send", "app.base.Base", "app.core.LIMIT"], "app.net")
    assert ran(tmp_path, "import web; from app.net import Base, LIMIT, send", "-B") == printed
    source.undo(reload="off")
    assert picture(tmp_path) == before
