"""A planned change of the engine: judged and written as any other, by our own Python, and by the smoke check too."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from bae_source.engine.making import Making
from bae_source.engine.meta.loading import EngineReload
from bae_source.engine.meta.smoke import Smoke
from bae_source.model.context import Context
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.reloading.reload import Reload
from bae_source.verification.choosing import contents_of
from bae_source.verification.judge import Judge

IMPORT_SECONDS = 30.0
"""How long the import of what is planned may take."""


class EngineMaking(Making):
    """Judges one planned change of the engine, and writes it."""

    def _set_up(self, environment: Mapping[str, str]) -> Setting:
        return Setting(
            root=self._folders.root,
            source_roots=self._workspace.layout.roots,
            interpreter=Interpreter(path=sys.executable, origin="sys.executable"),
            environment=environment,
            time_limit=IMPORT_SECONDS,
        )

    def _reload(self, context: Context) -> Reload:
        before, after = contents_of(self._workspace, self._plan)
        return EngineReload(
            context.reload, self._setting, self._plan.modules, before, after, imports=True, users=self._plan.users
        )

    def _judges(self) -> tuple[Judge, ...]:
        return (Smoke(),)
