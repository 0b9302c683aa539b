"""A project's own formatter and sorter of imports: which it is set up for, and its output for the text of a file.

    [tool.ruff.format], ruff.toml, [tool.black]                 the formatter
    [tool.ruff.lint] select with I, [tool.isort], .isort.cfg     the sorter
    .pre-commit-config.yaml                                      decides where several are set up
    [tool.bae-source] formatter, import-sorter                   decide over all of these

Invariants:
- text goes in by stdin and comes out by stdout; the path alone tells a tool which settings hold, and it writes no file;
- files that are as they lie there are first looked at all together, since most of many need no sorting;
- a tool is taken from beside the project's interpreter, else from the search path, by its name and by nothing else;
- a tool gets line ends as `\\n`, and so gives them back: those of the file are for the caller to put in.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from bae_source.errors import RequestError, TransactionError
from bae_source.project.files.port import Files
from bae_source.project.files.settings import content_of, own_settings, sections, settings_of, table, toml_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import NEWLINE, Source
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.programs import Surroundings, find_program

TIME_LIMIT = 60.0
"""Seconds that one call of a tool may take."""
_LONGEST = 300
"""Characters of the last line of a tool's errors that a message holds."""
_MOST_AT_ONCE = 400
"""Files that one run of a tool looks at."""
_CHECKING = {
    "ruff": ("check", "--select=I", "--no-cache", "--quiet", "--force-exclude", "--output-format=concise", "--"),
    "isort": ("--check-only", "--"),
}
_FAULT = re.compile(r"^(?:ERROR: (?=.* Imports are ))?(.+?)(?::\d+:\d+: I\d+ | Imports are )", re.MULTILINE)
"""Line of either of them that names a file whose imports it would sort."""
_PATH = "{path}"
_HOOK = re.compile(r"^[ \t]*(?:-[ \t]+)?id:[ \t]*[\"']?([\w-]+)", re.MULTILINE)
_SORTING = {"ALL", "I", "I0", "I00", "I001"}
"""Selectors of ruff that select its rule about the order of imports."""
_ISORT_FILES = ((".isort.cfg", "settings"), (".isort.cfg", "isort"), ("setup.cfg", "isort"), ("tox.ini", "isort"))


class StyleTool(Struct, frozen=True, kw_only=True):
    """One program, ready to be run on text.

    Parameters:
        name: `ruff`, `black` or `isort`.
        words: the command, in which `_PATH` stands for the path of the file.
        surroundings: where it runs.
    """

    name: str
    words: tuple[str, ...]
    surroundings: Surroundings

    def output(self, path: str, source: Source) -> str:
        """Return the text that it makes of a file's, with line ends as `\\n`; the same where its settings exclude it.

        Parameters:
            path: of the file, project-relative; it need not be there.

        Raises:
            TransactionError: `verify_failed` or `timed_out`; nothing has been written.
        """
        text = NEWLINE.sub("\n", source.text)
        encoding = source.encoding if self.name == "black" else "utf-8"  # black alone goes by a cookie
        given = text.encode(encoding)
        try:
            finished = self._run(self._command(path), limit=8 * len(given) + 64_000, given=given)
        except CannotStart as error:
            raise self._failed(f"cannot be started: {error}") from None
        if finished.timed_out:
            raise TransactionError(
                "timed_out", f"{self.name} took longer than {TIME_LIMIT:g} seconds and was stopped", unchanged=True
            )
        if finished.status:
            raise self._failed(f"ended with status {finished.status}{self._last_line(finished)}")
        try:
            found = finished.output.decode(encoding)
        except UnicodeDecodeError:
            raise self._failed(f"printed text that is not {encoding}") from None
        return NEWLINE.sub("\n", found) if found.strip() else text  # black prints nothing where it excludes a file

    def at_fault(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those of some files, as they lie in the project, whose imports it would sort; all if it does not say.

        Parameters:
            paths: project-relative.
        """
        found: set[str] = set()
        root = self.surroundings.root
        for start in range(0, len(paths), _MOST_AT_ONCE):
            some = paths[start : start + _MOST_AT_ONCE]
            try:
                finished = self._run([self.words[0], *_CHECKING[self.name], *some], limit=2_000 * len(some))
            except CannotStart:
                return frozenset(paths)
            if finished.timed_out or finished.status not in (0, 1):
                return frozenset(paths)
            printed = (finished.output + b"\n" + finished.errors).decode("utf-8", "replace")
            named = (root / each for each in _FAULT.findall(printed))
            found.update(each.relative_to(root).as_posix() for each in named if each.is_relative_to(root))
        return frozenset(found)

    def lies_there(self, path: str, content: bytes) -> bool:
        """Return whether a file lies in the project as it is to be looked at."""
        try:
            return (self.surroundings.root / path).read_bytes() == content
        except OSError:
            return False

    def _run(self, command: Sequence[str], *, limit: int, given: bytes | None = None) -> Finished:
        around = self.surroundings
        environment = scrubbed(around.environment) | {"PYTHONUTF8": "1"}
        return run(
            command, folder=around.root, environment=environment, time_limit=TIME_LIMIT, limit=limit, given=given
        )

    def _command(self, path: str) -> list[str]:
        is_new = self.name == "isort" and not (self.surroundings.root / path).is_file()  # which it passes over
        return [word.replace(_PATH, path) for word in self.words if not (is_new and _PATH in word)]

    def _last_line(self, finished: Finished) -> str:
        lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
        shown = lines[-1].strip().replace(f"{self.surroundings.root}/", "")[:_LONGEST] if lines else ""
        return shown and f": {shown}"

    def _failed(self, what: str) -> TransactionError:
        hints = ["Leave the option out, or mend the program's settings first."]
        return TransactionError("verify_failed", f"{self.name} {what}", unchanged=True, hints=hints)


class _Task(Struct, frozen=True, kw_only=True):
    """A kind of tool.

    Parameters:
        noun: how it is called in messages.
        setting: the name of our own setting that chooses one.
        words: the arguments of each that is known, by name.
        hooks: which of them a hook of pre-commit runs, by the hook's id.
        configured: returns those that the settings of a folder are for, and whether for this task in particular.
    """

    noun: str
    setting: str
    words: Mapping[str, tuple[str, ...]]
    hooks: Mapping[str, str]
    configured: Callable[[Files, str], dict[str, bool]]


class StyleTools:
    """The formatters and sorters of one project.

    Parameters:
        workspace: the project, whose settings are read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._files = workspace.files
        self._surroundings = workspace.kept.surroundings
        self._chosen: dict[tuple[str, str], StyleTool] = {}

    def formatter(self, path: str) -> StyleTool:
        """Return what formats a file.

        Raises:
            RequestError: `invalid_arguments` where the project is set up for none, for several, or it is not installed.
        """
        return self._tool(_FORMATTING, posixpath.dirname(path))

    def sorter(self, path: str) -> StyleTool:
        """Return what sorts the imports of a file.

        Raises:
            RequestError: as `formatter`.
        """
        return self._tool(_IMPORT_SORTING, posixpath.dirname(path))

    def _tool(self, task: _Task, folder: str) -> StyleTool:
        key = (task.setting, folder)
        if key not in self._chosen:
            self._chosen[key] = self._ready(task, self._name(task, folder))
        return self._chosen[key]

    def _name(self, task: _Task, folder: str) -> str:
        own = own_settings(self._files, only=task.setting).get(task.setting)
        if own is not None:
            return _known(task, own)
        found = self._configured(task, folder)
        hooked = {task.hooks[each] for each in _hooks(self._files) if each in task.hooks}
        apart = [name for name, in_particular in found.items() if in_particular]
        for choice in (list(hooked), list(found), apart):
            if len(choice) == 1:
                return choice[0]
        if found:
            raise _unclear(task, f"The project is set up for {' and '.join(n for n in task.words if n in found)}")
        raise _unclear(task, f"The project is set up for no {task.noun} that is known")

    def _configured(self, task: _Task, folder: str) -> dict[str, bool]:
        """Return what the settings of the nearest folder upwards are for that has any for the task."""
        while True:
            found = task.configured(self._files, folder)
            if found or not folder:
                return found
            folder = posixpath.dirname(folder)

    def _ready(self, task: _Task, name: str) -> StyleTool:
        around = self._surroundings
        path = find_program(name, around.python, around.environment.get("PATH", os.defpath)) if around else None
        if around is None or path is None:
            raise RequestError(
                "invalid_arguments",
                f"{name}, for which the project is set up, is neither beside its Python nor on the search path; "
                "nothing was written.",
                hints=[f"Install {name} there.", f"[tool.bae-source] {task.setting} names another one."],
            )
        return StyleTool(name=name, words=(path, *task.words[name]), surroundings=around)


def _known(task: _Task, name: object) -> str:
    if isinstance(name, str) and name in task.words:
        return name
    raise RequestError(
        "invalid_arguments",
        f"[tool.bae-source] {task.setting} is {name!r}, which is no {task.noun} that is known.",
        hints=[f"There are {' and '.join(task.words)}."],
    )


def _unclear(task: _Task, what: str) -> RequestError:
    hint = f"[tool.bae-source] {task.setting} names one: {' or '.join(task.words)}."
    return RequestError("invalid_arguments", f"{what}; nothing was written.", hints=[hint])


def _formatting(files: Files, folder: str) -> dict[str, bool]:
    settings = table(settings_of(files, folder, only=[("ruff",), ("black",)]), "tool")
    found: dict[str, bool] = {"black": True} if "black" in settings else {}
    if "ruff" in settings:
        found["ruff"] = "format" in table(settings, "ruff")
    for name in ("ruff.toml", ".ruff.toml"):
        path = posixpath.join(folder, name)
        if files.kind(path) is not None:
            found["ruff"] = "format" in toml_of(files, path)
    return found


def _import_sorting(files: Files, folder: str) -> dict[str, bool]:
    settings = table(settings_of(files, folder, only=[("ruff",), ("isort",)]), "tool")
    own = [toml_of(files, posixpath.join(folder, name)) for name in ("ruff.toml", ".ruff.toml")]
    found = {"ruff": True} if any(map(_sorts, (table(settings, "ruff"), *own))) else {}
    named = (sections(files, posixpath.join(folder, name)).get(title) for name, title in _ISORT_FILES)
    return found | ({"isort": True} if "isort" in settings or any(named) else {})


def _sorts(settings: Mapping[str, object]) -> bool:
    """Return whether settings of ruff select its rule about the order of imports."""
    lint = table(settings, "lint")
    chosen = [each.get(key) for each in (settings, lint) for key in ("select", "extend-select")]
    return any(word in _SORTING for each in chosen if isinstance(each, list) for word in each if isinstance(word, str))


def _hooks(files: Files) -> list[str]:
    """Return the hooks that pre-commit is to run, by their ids."""
    content = content_of(files, ".pre-commit-config.yaml") or b""
    return _HOOK.findall(content.decode("utf-8", "replace"))


_FORMATTING = _Task(
    noun="formatter",
    setting="formatter",
    words={
        "ruff": ("format", "--no-cache", "--quiet", "--force-exclude", f"--stdin-filename={_PATH}", "-"),
        "black": ("--quiet", f"--stdin-filename={_PATH}", "-"),
    },
    hooks={"ruff-format": "ruff", "black": "black", "black-jupyter": "black"},
    configured=_formatting,
)
_IMPORT_SORTING = _Task(
    noun="sorter of imports",
    setting="import-sorter",
    words={
        "ruff": (
            *("check", "--select=I", "--fix-only", "--no-cache", "--quiet", "--force-exclude"),
            *(f"--stdin-filename={_PATH}", "-"),
        ),
        "isort": ("--quiet", f"--filename={_PATH}", "-"),
    },
    hooks={"isort": "isort"},
    configured=_import_sorting,
)
