"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from tests import another_user as users
from tests import sampling
from tests.adapters.meta.support import Installed
from tests.compiled import compile_all
from tests.durable import make_nothing_durable

gc.disable()  # until all tests are collected: nothing of what is made meanwhile goes

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that what tests start can be interrupted

examples.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a machine may be busy
examples.load_profile("tests")

_folders: Counter[str] = Counter()
"""How many folders tests have had, by what begins their names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="try all cases, also where tests take a sample of them")


_MEMORY = 6 << 30
_folder_without_plugins: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests folders for the user's own state and settings, and have this process make nothing durable.

    What it writes need not outlive a power cut, and waiting for the disk took a third of the time. What has to be
    synced, and when, is told by disks that note every call (`benchmarks/crash/power.py`, `tests/transaction`);
    processes that tests start sync as ever.
    """
    make_nothing_durable()
    _write_to_memory()
    if not hasattr(config, "workerinput"):
        sampling.choose_day(config)
    place = tempfile.mkdtemp(prefix="bae-source-tests-")
    os.environ["XDG_STATE_HOME"] = f"{place}/state"
    os.environ["XDG_CONFIG_HOME"] = f"{place}/config"
    os.environ["BAE_SOURCE_SERVE"] = "off"  # but for what tests it
    config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _without_plugins(Path(place, "without_plugins"))
        return
    gc.enable()  # others collect the tests, and run them
    if config.args_source is config.ArgsSource.TESTPATHS:
        compile_all()


def _write_to_memory() -> None:
    """Have temporary folders in memory, if there is much of it: removing them from a disk takes a tenth of the time."""
    memory = Path("/dev/shm")
    if "TMPDIR" not in os.environ and memory.is_dir() and shutil.disk_usage(memory).free > _MEMORY:
        os.environ["TMPDIR"], tempfile.tempdir = str(memory), None


def _without_plugins(folder: Path) -> None:
    """Have a pytest that a test starts load no plugin that is installed, which takes longer than all else it does."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import os\nos.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\n")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    _folder_without_plugins[:] = [str(folder)]


def pytest_report_header() -> str | None:
    """Describe the share that is run of the tests that take long."""
    return sampling.described()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that become another user, which use the fixture; leave out those that another day has."""
    for item in items:
        if "another_user" in getattr(item, "fixturenames", ()):
            item.add_marker("another_user")
    without = sampling.left_out(items)
    if without:
        gone = set(without)
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in gone]


def pytest_collection_finish() -> None:
    """Have the collector of garbage pass over all these tests, which stay to the end."""
    gc.collect()
    gc.freeze()
    gc.collect()  # it begins with the old ones once there are a quarter more than at the last time: of none, now
    gc.enable()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own; pytest looks for a number among all folders there are, which are thousands."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}_{_folders[name]}"
    _folders[name] += 1
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session")
def whole(pytestconfig: pytest.Config) -> bool:
    """All cases are tried, also where tests take a sample of them."""
    return bool(pytestconfig.getoption("whole"))


@pytest.fixture
def without_plugins() -> str:
    """The folder by which a pytest loads no plugin: the search path of a project that has nothing else on it."""
    return _folder_without_plugins[0]  # PYTHONPATH may be gone where a test has taken it out


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
