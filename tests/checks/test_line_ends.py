"""`hook --fix` where git changes line ends: a file that differs by them alone is mended, and keeps its line ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.adapters.cli.cli import through_service
from tests.adapters.support import Called, call
from tests.checks.staging import ENVIRONMENT, git, write

LF = '__all__ = ["send", "gone"]\n\n\ndef send():\n    return 1\n'
CRLF = LF.replace("\n", "\r\n")
FOUND = "app:1: EXPORT_NOT_FOUND __all__ of app names gone, which app does not have."


def repository(tmp_path: Path, attributes: str = "", text: str = CRLF, **settings: str) -> Path:
    root = tmp_path / "repo"
    write(root, {"pyproject.toml": '[project]\nname = "x"\nversion = "0"\n', "app.py": text})
    git(root, "init", "-q", ".")
    for name, value in settings.items():
        git(root, "config", name.replace("_", "."), value)
    if attributes:
        write(root, {".gitattributes": attributes})
    git(root, "add", "-A")
    return root


def fix(root: Path, **environment: str) -> Called:
    return call("hook", "--fix", "--root", str(root), environment=ENVIRONMENT | environment, door=through_service)


def status(root: Path) -> str:
    return git(root, "status", "--short", "app.py").decode()


SAME: dict[str, tuple[str, dict[str, str]]] = {
    "autocrlf": ("", {"core_autocrlf": "true"}),
    "autocrlf for input": ("", {"core_autocrlf": "input"}),
    "text": ("*.py text\n", {}),
    "text if it is some": ("* text=auto\n", {}),
    "an eol": ("*.py text eol=crlf\n", {"core_eol": "lf"}),
    "none, in spite of the setting": ("*.py -text\n", {"core_autocrlf": "true"}),
    "none": ("", {}),
    "another attribute": ("*.py diff=python\n", {"core_autocrlf": "true"}),
    "a filter of other files": ("*.bin filter=lfs\n", {"core_autocrlf": "true"}),
    "a filter that is taken off": ("*.py filter=lfs\napp.py !filter -ident\n", {"core_autocrlf": "true"}),
}


@pytest.mark.parametrize(("attributes", "settings"), SAME.values(), ids=SAME)
def test_what_git_takes_for_the_same_is_mended_and_keeps_its_line_ends(
    tmp_path: Path, attributes: str, settings: dict[str, str]
) -> None:
    root = repository(tmp_path, attributes, **settings)
    index = git(root, "ls-files", "-s")
    assert status(root) == "A  app.py\n"
    called = fix(root)
    assert (called.status, called.out.decode().splitlines()[0]) == (1, f"{FOUND}  (mended)")
    assert (root / "app.py").read_bytes() == CRLF.replace(', "gone"', "").encode()
    assert git(root, "ls-files", "-s") == index
    git(root, "add", "-A")
    assert status(root) == "A  app.py\n"
    staged = git(root, "show", ":app.py")
    assert (b"\r" in staged) == (attributes in ("*.py -text\n",) or not (attributes or settings))
    assert fix(root).status == 0


def test_a_file_in_the_working_tree_with_other_line_ends_than_git_would_make_is_mended(tmp_path: Path) -> None:
    root = repository(tmp_path, "*.py text\n", LF)
    (root / "app.py").write_bytes(CRLF.encode())
    assert fix(root).status == 1
    assert (root / "app.py").read_bytes() == CRLF.replace(', "gone"', "").encode()


def test_line_ends_that_were_staged_as_they_are_stay_the_same(tmp_path: Path) -> None:
    root = repository(tmp_path)
    git(root, "config", "core.autocrlf", "true")
    assert status(root) == "A  app.py\n"
    assert fix(root).out.decode().startswith(f"{FOUND}  (mended)")


def test_another_version_is_not_mended(tmp_path: Path) -> None:
    root = repository(tmp_path, "*.py text\n", LF)
    text = CRLF + "# mine\r\n"
    (root / "app.py").write_bytes(text.encode())
    called = fix(root)
    assert called.out.decode() == f"{FOUND} The working tree has another version of the module, so it is not mended.\n"
    assert (root / "app.py").read_bytes() == text.encode()


@pytest.mark.parametrize("attribute", ["", "-text", "filter=touch", "ident", "working-tree-encoding=UTF-8"])
def test_other_line_ends_are_no_other_version_and_nothing_of_git_is_run_to_see_that(
    tmp_path: Path, attribute: str
) -> None:
    root = repository(tmp_path, text=LF)
    trace = tmp_path / "ran"
    git(root, "config", "filter.touch.clean", f"touch {trace}; cat")
    git(root, "config", "filter.touch.process", f"touch {trace}; cat")
    write(root, {".gitattributes": f"*.py {attribute}\n", "app.py": CRLF})
    assert fix(root).out.decode().startswith(f"{FOUND}  (mended)")
    assert (root / "app.py").read_bytes() == CRLF.replace(', "gone"', "").encode()
    assert not trace.exists()
