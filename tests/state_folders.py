"""Where the state of a project lies, as this process's environment has it."""

from __future__ import annotations

import os
from pathlib import Path

from bae_source.history.record.adopting import adopt
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders


def state_folders(root: Path) -> StateFolders:
    return StateFolders(root, UserState(os.environ))


def adopted(root: Path) -> Path:
    """Return a project that was copied, with its state made this user's, as a person may have it made."""
    adopt(state_folders(root))
    return root
