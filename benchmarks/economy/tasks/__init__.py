"""The twelve tasks, in their order."""

from __future__ import annotations

from benchmarks.economy.tasks import (
    base_class,
    bug_fix,
    class_annotations,
    method_rename,
    move,
    new_module,
    parameter,
    removal,
    setting,
    split,
    unused_imports,
    users,
)

TASKS = (
    bug_fix.TASK,
    parameter.TASK,
    new_module.TASK,
    method_rename.TASK,
    move.TASK,
    split.TASK,
    removal.TASK,
    class_annotations.TASK,
    base_class.TASK,
    setting.TASK,
    unused_imports.TASK,
    users.TASK,
)
