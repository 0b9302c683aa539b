"""GitPython, whose import takes 80 ms, and git as it starts it: in an environment of our own.

Invariant: no inherited `GIT_DIR`, no configuration of the user, no hook, filter, signing or fsmonitor has a say;
nothing is fetched whatever is missing, and no git is started but the one that the search path leads to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "commit.gpgSign=false",
    "core.fsync=all", "core.fsyncMethod=fsync", "core.logAllRefUpdates=false", "gc.auto=0",
    "fastimport.unpackLimit=1", "pack.threads=1", "protocol.allow=never", "safe.bareRepository=explicit",
)  # fmt: skip
"""Settings of git that every command gets."""
_ENVIRONMENT = (
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1",
    "GIT_ALLOW_PROTOCOL=none", "GIT_DEFAULT_REF_FORMAT=files", "LC_ALL=C",
)  # fmt: skip


@contextmanager
def _without_variables(**instead: str) -> Iterator[None]:
    """Take git's variables out of this process, of which GitPython reads some whatever it is given."""
    found = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("GIT_")}
    os.environ.update(instead)
    try:
        yield
    finally:
        for name in instead:
            del os.environ[name]
        os.environ.update(found)


_IS_OURS = "git" not in sys.modules
with _without_variables(GIT_PYTHON_REFRESH="quiet", GIT_PYTHON_GIT_EXECUTABLE=os.devnull):
    import git  # at once it would start whatever git `PATH` leads to
if _IS_OURS:
    git.Git.GIT_PYTHON_GIT_EXECUTABLE = os.environ.get("GIT_PYTHON_GIT_EXECUTABLE", "git")  # as others here expect


class Git(git.Git):
    """GitPython's way to start git; it always adds the inherited environment, which `env -i` takes away again.

    Attributes:
        program: says where git is, having seen that it may start.
        inside: what the environment holds besides.
    """

    program: Callable[[], str]
    inside: tuple[str, ...]

    def execute(self, command: Any, *given: Any, **options: Any) -> Any:
        """Start our git on a subcommand, instead of the program that GitPython names."""
        settings = (word for setting in SETTINGS for word in ("-c", setting))
        words = ["/usr/bin/env", "-i", *_ENVIRONMENT, *self.inside, self.program(), *settings, *command[1:]]
        return super().execute(words, *given, start_new_session=True, **options)


class _Repo(git.Repo):
    GitCommandWrapperType = Git


def git_on(folder: Path, search_path: str, program: Callable[[], str]) -> Git:
    """Return git for a repository that need not exist; its folder does.

    Parameters:
        search_path: what git itself finds programs by.
        program: says where git is, or raises.
    """
    return _configured(Git(folder), folder, search_path, program)


@contextmanager
def opened(folder: Path, search_path: str, program: Callable[[], str]) -> Iterator[git.Repo]:
    """Open a repository, and close it again, lest a git goes on waiting to be asked for objects."""
    program()
    with _without_variables():
        repository = _Repo(folder, expand_vars=False)
    with repository:
        assert isinstance(repository.git, Git)
        _configured(repository.git, folder, search_path, program)
        yield repository


def _configured(git: Git, folder: Path, search_path: str, program: Callable[[], str]) -> Git:
    git.program = program
    git.inside = (f"PATH={search_path}", f"GIT_DIR={folder}")
    return git
