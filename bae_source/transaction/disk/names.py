"""The name of a file in messages: that of its module, never its path.

Invariant: a file that is no module is called as a data file of the package around it, `pkg.templates:site.css`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bae_source.model.plan import ModuleFile

Speak = Callable[[str], str]


def speaker(modules: Iterable[ModuleFile]) -> Speak:
    """Return the function that turns a project-relative path into the name to use in messages."""
    names = {module.path: module.name for module in modules}
    return lambda path: names.get(path) or plain_name(path)


def speaker_of(names: Mapping[str, str]) -> Speak:
    """Return such a function for names that are known already, by path."""
    return lambda path: names.get(path) or plain_name(path)


def plain_name(path: str) -> str:
    """Return the name of a file of which only the path is known."""
    folder, _, name = path.rpartition("/")
    if name.endswith((".py", ".pyi")):
        parts = [*folder.split("/"), name.rpartition(".")[0]] if folder else [name.rpartition(".")[0]]
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
    return f"{folder.replace('/', '.')}:{name}" if folder else name
