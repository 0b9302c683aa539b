"""A planned change of the engine: put by, judged by our own Python and the smoke check, and written as any other.

Invariants:
- no change is written that was not judged, but for an undo, which leads to what was there before;
- before anything is written, the old text lies where a program that needs no engine finds it (`putting_by`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from msgspec.structs import replace

from bae_source.engine.making import Making, Operated, Written
from bae_source.engine.meta.loading import EngineReload
from bae_source.engine.meta.putting_by import put_by
from bae_source.engine.meta.smoke import Smoke
from bae_source.model.context import Context
from bae_source.model.outcome import Notice
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.reloading.reload import Reload
from bae_source.transaction.commit.transaction import Transactions
from bae_source.verification.choosing import contents_of
from bae_source.verification.judge import Judge

IMPORT_SECONDS = 30.0
"""The time limit of the import of what is planned."""


class EngineMaking(Making):
    """Judges one planned change of the engine, and writes it.

    Parameters:
        stays: whether this process goes on afterwards, and so has to take the change.
        given: the parameters of `Making`.
    """

    def __init__(self, *placed: Any, stays: bool, **given: Any) -> None:
        super().__init__(*placed, **given)
        self._stays = stays

    def make(self, transactions: Transactions, operated: Operated) -> Written:
        """Put the old text by, judge the change, and write it.

        Raises:
            Refused, TransactionError: as `Making.make` has them; what was put by goes again then.
        """
        if not (operated.kind == "undo" and self._context.reload == "off"):
            self._context = replace(self._context, reload="patch" if self._stays else "child", cascade=False)
        old = put_by(self._folders, *contents_of(self._workspace, self._plan))
        with ExitStack() as failed:
            failed.callback(old.drop_if_unchanged)
            written = super().make(transactions, operated)
            failed.pop_all()
        return replace(written, results=(*written.results, Notice("way_back", old.way_back)))

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
