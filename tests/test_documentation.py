"""What is public is documented, and what is documented is there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import bae_source
from bae_source.errors import ResourceError

HOUSE = Path(__file__).resolve().parent.parent
README = (HOUSE / "README.md").read_text()


@pytest.mark.parametrize("name", [name for name in bae_source.__all__ if name != "__version__"])
def test_a_public_name_is_there_and_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(bae_source, name))


def test_the_error_tree_is_drawn_with_its_exit_statuses() -> None:
    from bae_source import errors

    for kind in ResourceError.__subclasses__():
        assert re.search(rf"{kind.__name__}\s+exit {kind.exit_code}\b", errors.__doc__ or "")
        assert f"{kind.exit_code} " in README


def test_each_promise_of_security_names_tests_that_are_there() -> None:
    promises = (HOUSE / "SECURITY.md").read_text().partition("## Promises")[2]
    for promise in promises.split("\n* ")[1:]:
        named = re.findall(r"`([\w/]*test_\w+\.py)?(?:::(test_\w+))?`", promise)
        assert any(file or test for file, test in named), promise
    file = ""
    for found, test in re.findall(r"`([\w/]*test_\w+\.py)?(?:::(test_\w+))?`", promises):
        file = found or file
        text = (HOUSE / ("" if file.startswith("tests/") else "tests/trust") / file).read_text()
        assert f"\ndef {test}(" in text or not test, f"{file}::{test}"


def test_architecture_fits_on_its_pages() -> None:
    text = (HOUSE / "ARCHITECTURE.md").read_text()
    assert len(text.splitlines()) <= 150
    for module in re.findall(r"`((?:model|syntax|project|operations|queries|transaction|runtime|adapters)/\w+)`", text):
        assert list(HOUSE.glob(f"bae_source/{module}*")), module
