"""What a worker takes for its own."""

from __future__ import annotations

from importlib.metadata import packages_distributions

from bae_source.adapters.session.child.worker import OWN_MODULES
from bae_source.reloading.child.installed import own_requirements


def test_the_modules_of_everything_that_we_need_are_ours() -> None:
    needed = {each.name.lower() for each in own_requirements() or () if not each.extra}
    modules = {
        module
        for module, brought_by in packages_distributions().items()
        if needed & {name.lower() for name in brought_by} and module.isidentifier() and not module.startswith("_")
    }
    assert len(modules) >= len(needed) > 5
    assert modules <= OWN_MODULES
