"""The demonstration: it does what it says, checks itself, cleans up, and works without git."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bae_source.adapters.cli import demo as demonstration
from tests.adapters.support import call, run


def steps(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:1].isdigit()]


def test_every_step_is_shown_with_its_command_and_its_diff(tmp_path: Path) -> None:
    called = run("demo", folder=tmp_path, TMPDIR=str(tmp_path))
    text = called.out.decode()
    assert called.status == 0, called.err_text
    assert len(steps(text)) == 5
    assert "$ python -m bae_source read shop.cart.Cart.total\n" in text
    assert "$ python -m bae_source edit shop.cart.Cart.total --source - <<'END'\n" in text
    assert "error[reload_failed]" in text
    assert text.count("\ndiff --git ") == 4
    assert "Every byte of every file is as it was." in text
    assert "So is what git knows: git status" in text
    assert "Every step did what it says." in text
    assert not called.err


def test_it_leaves_nothing_behind(tmp_path: Path) -> None:
    run("demo", folder=tmp_path, TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_it_keeps_the_project_on_request(tmp_path: Path) -> None:
    called = run("demo", "--keep", folder=tmp_path, TMPDIR=str(tmp_path))
    [kept] = tmp_path.iterdir()
    assert f"The project is kept in {kept}." in called.out.decode()
    assert (kept / "shop" / "cart.py").is_file()


def test_with_json_standard_output_is_the_outcome_alone(tmp_path: Path) -> None:
    called = run("demo", "--json", folder=tmp_path, TMPDIR=str(tmp_path))
    assert called.json["status"] == "answer"
    assert len(steps(called.err_text)) == 5


def test_without_git_it_says_so_and_works(tmp_path: Path) -> None:
    called = run("demo", folder=tmp_path, TMPDIR=str(tmp_path), PATH=str(tmp_path))
    text = called.out.decode()
    assert called.status == 0, text + called.err_text
    assert len(steps(text)) == 4
    assert "There is no git on this machine" in text
    assert list(tmp_path.iterdir()) == []


def test_a_step_that_does_not_do_what_it_says_fails_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cart = demonstration.FILES["shop/cart.py"]
    twice = cart + b"\n\nclass Basket(Cart):\n" + cart[cart.index(b"    def total") :]  # where one method is edited
    monkeypatch.setitem(demonstration.FILES, "shop/cart.py", twice)
    called = call("demo", environment={"PATH": "/usr/bin:/bin"})
    assert called.status == 70
    assert "The demonstration failed: the file is not as expected." in called.err_text
    assert list(tmp_path.iterdir()) == []
