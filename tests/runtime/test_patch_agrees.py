"""A patched module and a fresh import of the new source do the same, for modules made at random."""

from __future__ import annotations

import gc
import itertools
import sys
from types import FunctionType, ModuleType

import pytest

from bae_source.reloading.in_process.in_process import execute
from bae_source.reloading.in_process.module_state import ProcessState
from bae_source.reloading.patch.comparison import compare
from bae_source.reloading.patch.patch import Patching
from tests.runtime.generated_modules import behaviour, shown, sources

NAME = "generated_module"


def fresh(source: str) -> ModuleType:
    module = ModuleType(NAME)
    module.__file__ = f"{NAME}.py"
    sys.modules[NAME] = module
    exec(compile(source, module.__file__, "exec", dont_inherit=True), vars(module))
    return module


def run(seed: int, versions: int, *, back: bool = False) -> None:
    """Patch a module from version to version, and compare it with a fresh one; with `back`, take each patch back."""
    try:
        texts = list(itertools.islice(sources(seed), versions))
        module = fresh(texts[0])
        for before, after in itertools.pairwise(texts):
            expected = behaviour(fresh(after))
            sys.modules[NAME] = module
            gc.collect()
            if back:
                _patch_and_restore(module, before, after)
            else:
                _patch(module, before, after, expected)
    finally:
        sys.modules.pop(NAME, None)


def _patch(module: ModuleType, before: str, after: str, expected: dict[str, object]) -> None:
    namespace = dict(vars(module))
    code = compile(after, f"{NAME}.py", "exec", dont_inherit=True)
    patching = Patching([module])
    patching.run(module, code, compile(before, f"{NAME}.py", "exec", dont_inherit=True))
    notices = patching.finish()
    message = " ".join(notice.message for notice in notices)
    context = f"{before}\n# ------ becomes\n{after}\n# ------\n{message}"
    gc.collect()
    found = behaviour(module)
    different = [
        (name, found.get(name), expected.get(name))
        for name in {**found, **expected}
        if found.get(name) != expected.get(name)
    ]
    assert not different, f"{context}\n{different}"
    assert compare(module, code).stale == (), context
    assert not any(notice.code == "exists_twice" for notice in notices), context
    for name, old in namespace.items():
        if isinstance(old, FunctionType | type) and name in expected and old.__module__ == NAME:
            kept = vars(module)[name] is old
            assert kept or name in message or type(old) is not type(vars(module)[name]) or _renamed(old, name), context
            if kept and old.__name__ == name:
                assert shown(old) == expected[name], context


def _patch_and_restore(module: ModuleType, before: str, after: str) -> None:
    expected = behaviour(module)
    known = dict(vars(module))
    state = ProcessState([module], [NAME])
    old, new = (compile(text, f"{NAME}.py", "exec", dont_inherit=True) for text in (before, after))
    patching = Patching([module])
    patching.run(module, new, old)
    patching.finish()
    patching.restore()
    state.restore()
    assert dict(vars(module)) == known
    assert behaviour(module) == expected, f"{before}\n# ------ and not\n{after}"
    execute(module, new, old)


def _renamed(old: object, name: str) -> bool:
    """Say whether the module called something by a second name."""
    return getattr(old, "__name__", name) != name


@pytest.mark.parametrize("seed", range(8))
def test_a_patched_module_does_what_a_fresh_one_does(seed: int) -> None:
    run(seed, 8)


@pytest.mark.parametrize("seed", range(100, 103))
def test_a_patch_that_is_taken_back_leaves_what_was(seed: int) -> None:
    run(seed, 8, back=True)
