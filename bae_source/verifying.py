"""What judges a change once it is written: made from the caller's wishes and the project's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bae_source.model.context import Context
from bae_source.project.layout import settings_of
from bae_source.project.workspace import Workspace
from bae_source.runtime.import_check import Setting
from bae_source.runtime.interpreter import find_interpreter
from bae_source.runtime.reload import Reload
from bae_source.transaction.verifier import Verifier


def verifier_of(root: Path, environment: Mapping[str, str], workspace: Workspace, context: Context) -> Verifier:
    """Return what judges a change of a project.

    Parameters:
        root: the project's folder, links followed.
        environment: the caller's environment variables.
        workspace: the project as it is before the change.
    """
    return Reload(context.reload, setting_of(root, environment, workspace))


def setting_of(root: Path, environment: Mapping[str, str], workspace: Workspace) -> Setting:
    """Return how the project's code is run."""
    own = settings_of(workspace.files).get("tool", {}).get("bae-source", {})
    python = own.get("python") if isinstance(own, dict) else None
    interpreter = find_interpreter(
        root, setting=python if isinstance(python, str) else None, virtual_env=environment.get("VIRTUAL_ENV")
    )
    return Setting(root=root, source_roots=workspace.layout.roots, interpreter=interpreter, environment=environment)
