"""Warnings are kept from nobody else."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

from bae_source.system import silence
from bae_source.system.silence import unwarned


def test_two_threads_that_overlap_leave_the_filters_as_they_were() -> None:
    before = list(warnings.filters)
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with unwarned():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    try:
        with unwarned():
            thread.start()
            assert not inside.wait(0.1)
        leave.set()
        thread.join()
        assert warnings.filters == before
    finally:
        warnings.filters[:] = before


def test_what_is_raised_inside_leaves_them_as_well() -> None:
    before = list(warnings.filters)
    for _ in range(2):
        try:
            with unwarned():
                raise SyntaxError
        except SyntaxError:
            assert warnings.filters == before


def test_one_module_alone_changes_the_filters() -> None:
    package = Path(silence.__file__).parent.parent
    assert [path.stem for path in package.rglob("*.py") if "catch_warnings(" in path.read_text()] == ["silence"]
