"""Changes of signatures with what goes around them: drafts, other changes in one, undo, and code that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, RequestError

CORE = """\
def send(data, mode="r"):
    return [data, mode]


def run(things):
    return send(*things)


if __name__ == "__main__":
    print(send(1), send(2, "w"), run((3, "a")))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "core"\nversion = "1"\n')
    (tmp_path / "core.py").write_text(CORE)
    return tmp_path


def printed(root: Path) -> str:
    return subprocess.run([sys.executable, "core.py"], cwd=root, capture_output=True, text=True, check=True).stdout


def printed_error(root: Path) -> str:
    return subprocess.run([sys.executable, "core.py"], cwd=root, capture_output=True, text=True, check=False).stderr


def test_a_refusal_is_a_draft_that_takes_single_places(root: Path) -> None:
    source = Source(root)
    with pytest.raises(Refused) as caught:
        source.change_signature("core.send", '(data, *, mode="r")')
    assert caught.value.code == "unsafe_change"
    assert (root / "core.py").read_text() == CORE
    outcome = source.commit(caught.value.details["draft"], unsure="leave")
    assert outcome.status == "applied"
    assert 'send(2, mode="w")' in (root / "core.py").read_text()
    assert [each["line"] for each in outcome.report["unsure"]] == [6]
    assert printed_error(root).endswith("were given\n"), "as the report says"
    source.undo()
    assert (root / "core.py").read_text() == CORE


def test_an_argument_with_effects_goes_where_it_is_included(root: Path) -> None:
    (root / "core.py").write_text("def f(a, b=None):\n    return a\n\n\nf(1, print('x'))\nf(2, input())\n")
    source = Source(root)
    with pytest.raises(Refused) as caught:
        source.change_signature("core.f", "(a)")
    source.commit(caught.value.details["draft"], unsure="leave", include=["core:5"])
    assert (root / "core.py").read_text().endswith("\n\nf(1)\nf(2, input())\n")


def test_an_edit_of_the_body_and_the_signature_are_one_change(root: Path) -> None:
    source = Source(root)
    before = printed(root)
    requests = [
        {"do": "edit", "target": "core.send", "old": "return [data, mode]", "new": 'return [data, "r"]'},
        {"do": "change_signature", "target": "core.send", "signature": "(data)", "unsure": "leave"},
    ]
    with pytest.raises(Refused, match="uses mode in line 2"):
        source.change_signature("core.send", "(data)", unsure="leave")
    source.apply(requests)
    assert "def send(data):" in (root / "core.py").read_text()
    assert "send(2)" in (root / "core.py").read_text()
    source.undo()
    assert printed(root) == before


def test_the_program_prints_the_same_with_its_parameters_in_another_order(root: Path) -> None:
    text = CORE.replace("send(*things)", "send(things[0], things[1])")
    (root / "core.py").write_text(text)
    before = printed(root)
    Source(root).change_signature("core.send", '(mode="r", data=None)')
    assert (root / "core.py").read_text() != text
    assert printed(root) == before


def test_a_transaction_sees_the_signature_that_it_changed(root: Path) -> None:
    source = Source(root)
    with source.transaction("two steps") as tx:
        tx.change_signature("core.send", '(data, mode="r", *, size=0)')
        assert "size=0" in tx.read("core.send")
        tx.change_signature("core.send", '(data, mode="r", *, size=0, deep=False)')
    assert 'def send(data, mode="r", *, size=0, deep=False):' in (root / "core.py").read_text()
    source.undo()
    assert (root / "core.py").read_text() == CORE


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"renamed": ["data"]}, "renamed has 'data'"),
        ({"renamed": ["data=data2"]}, "the new signature lacks"),
        ({"value": ["mode=1", "mode=2"]}, "value has 'mode=2'"),
        ({"thread": ["mode"]}, "which is no new parameter"),
        ({"up_to": ["core.run"]}, "up_to is given without thread"),
        ({"describe": ["what=It."]}, "describe has what"),
        ({"signature": "def send(data, mode"}, "is not valid"),
        ({"signature": "(data, mode=" + "[" * 3000 + "]" * 3000 + ")"}, "is not valid"),
        ({"signature": "x" * 10_000_000}, "more than"),
    ],
)
def test_a_wrong_call_is_named_and_nothing_changes(root: Path, given: dict[str, object], says: str) -> None:
    with pytest.raises(RequestError, match=says) as caught:
        Source(root).change_signature("core.send", **{"signature": '(data, *, mode="r")', **given})  # type: ignore[arg-type]
    assert caught.value.hints
    assert (root / "core.py").read_text() == CORE


def test_parameters_that_exchange_their_names_need_two_steps(root: Path) -> None:
    with pytest.raises(RequestError, match="exchanges names"):
        Source(root).change_signature("core.send", "(mode, data)", renamed=["data=mode", "mode=data"])
    assert (root / "core.py").read_text() == CORE


def test_a_name_that_stays_is_no_rename(root: Path) -> None:
    (root / "core.py").write_text("def f(a, b):\n    return a - b\n\n\nprint(f(2, b=3))\n")
    Source(root).change_signature("core.f", "(*, a, b)", renamed=["a=a"])
    assert (root / "core.py").read_text() == "def f(*, a, b):\n    return a - b\n\n\nprint(f(a=2, b=3))\n"
    with pytest.raises(RequestError, match="renamed has c, which is no parameter of"):
        Source(root).change_signature("core.f", "(a, b)", renamed=["c=c"])


def test_a_summary_is_one_line_whatever_annotations_say(root: Path) -> None:
    (root / "core.py").write_text('def f(a: """long\nand longer""" = 1):\n    return a\n')
    assert Source(root).change_signature("core.f", "(*, a=1)").text == (
        "Changed the signature of core.f to (*, a=1): 1 place in 1 definition."
    )


def test_names_are_handed_on_in_a_row(root: Path) -> None:
    (root / "core.py").write_text("def f(a, b):\n    return a - b\n\n\nprint(f(b=1, a=3))\n")
    Source(root).change_signature("core.f", "(b, c)", renamed=["a=b", "b=c"])
    assert (root / "core.py").read_text() == "def f(b, c):\n    return b - c\n\n\nprint(f(c=1, b=3))\n"


def test_what_is_returned_keeps_its_annotation_where_the_new_signature_has_none(tmp_path: Path) -> None:
    (tmp_path / "core.py").write_text("def send(data: int) -> str:\n    return str(data)\n")
    source = Source(tmp_path)
    source.change_signature("core.send", "(data: int, *, times: int = 1)", reload="off")
    assert (tmp_path / "core.py").read_text().startswith("def send(data: int, *, times: int = 1) -> str:\n")
    source.change_signature("core.send", "(data: int) -> bytes", reload="off")
    assert (tmp_path / "core.py").read_text().startswith("def send(data: int) -> bytes:\n")
