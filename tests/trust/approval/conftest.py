"""Places that are copies of one project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trust.approval.support import Place, template

Laid = Callable[[str], Place]


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that all of them are copies of."""
    return template(tmp_path_factory.mktemp("pattern") / "project")


@pytest.fixture
def laid(tmp_path: Path, pattern: Path) -> Laid:
    """Lay out a project under a policy, with a home and something outside of both."""
    return lambda policy: Place(tmp_path, pattern, policy)
