"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from bae_source.history.record import started
from tests import another_user as users
from tests.adapters.meta.support import Installed

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that what tests start can be interrupted

examples.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a machine may be busy
examples.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests folders for the user's own state and settings, and have this process make nothing durable.

    What it writes need not outlive a power cut, and waiting for the disk took a third of the time. What has to be
    synced, and when, is told by disks that note every call (`benchmarks/crash/power.py`, `tests/transaction`);
    processes that tests start sync as ever.
    """
    os.fsync = os.fdatasync = lambda file: None
    settings = list(started.SETTINGS)
    settings[settings.index("core.fsync=all")] = "core.fsync=none"
    started.SETTINGS = tuple(settings)
    place = tempfile.mkdtemp(prefix="bae-source-tests-")
    os.environ["XDG_STATE_HOME"] = f"{place}/state"
    os.environ["XDG_CONFIG_HOME"] = f"{place}/config"
    os.environ["BAE_SOURCE_SERVE"] = "off"  # but for what tests it
    config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that become another user, which are those that use the fixture."""
    for item in items:
        if "another_user" in getattr(item, "fixturenames", ()):
            item.add_marker("another_user")


def pytest_collection_finish() -> None:
    """Have the collector of garbage pass over all these tests, which stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def another_user() -> Iterator[users.AnotherUser]:
    with users.open_folder() as place:
        yield users.another_user(place)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter and list."""
    with users.open_folder() as place:
        yield place


@pytest.fixture(scope="session")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("meta"))


@pytest.fixture
def installed(_installed: Installed) -> Iterator[Installed]:
    """An installed engine that tests share; each leaves it as it was."""
    before = _installed.files()
    yield _installed
    assert not _installed.changed_since(before)


@pytest.fixture(scope="session")
def without_plugins(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for `PYTHONPATH`, by which a pytest loads no plugin that is installed: most runs take less than that."""
    folder = tmp_path_factory.mktemp("without_plugins")
    (folder / "sitecustomize.py").write_text("import os\nos.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\n")
    return str(folder)
