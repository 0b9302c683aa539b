"""What holds for all tests."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that what tests start can be interrupted


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a folder for the user's own state, and one for temporary files of those without."""
    place = tempfile.mkdtemp(prefix="bae-source-tests-")
    os.environ["XDG_STATE_HOME"] = f"{place}/state"
    config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))
