"""A codemod run on files of a project by a child, in copies of which it works, and what each file came to.

    run_codemod(workspace, Codemod(module="app.mods", …), modules)      Ran(lines={"app/core.py": Line("changed", …)})

The child is the project's own interpreter (`syntax.codemods.program`). It reads the files itself, as they lie on the
disk or, in a transaction, as they are planned, and answers with edits; so what does not change is read once, there.

Invariants:
- nothing of the codemod is imported or run in this process, and no child outlives it (`system.child`);
- a file that its caller may not read is handed to no codemod;
- a codemod that changes files of the project by itself is refused, and so is what it planned.
"""

from __future__ import annotations

import marshal
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, TransactionError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.system.child import ANSWER, CannotStart, Finished, run, scrubbed
from bae_source.system.programs import Surroundings

_PACKAGE = Path(__file__).parent.parent.parent
_PROGRAM = _PACKAGE / "syntax/codemods"
_PROBE = _PACKAGE / "reloading/child"
_START = (
    f"import sys; sys.path[:1] = [{str(_PROGRAM)!r}]; import program; "
    "del sys.path[0], sys.modules['program']; program.main()"
)
"""Code that the child runs: its own modules hide none of the project's, however they are called."""
_READ_BY_ALL = 2
"""The form of `marshal` that any Python reads."""
_TO_BEGIN = 120.0
_AT_ONCE = 0.5
"""Of each file's seconds that all together may take, since several are done at once; at least one file's is left."""
_MOST_PRINTED = 600
_WHERE = re.compile(r"([^\s()'\"]+\.pyi?):(\d+)")
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/|.*/lib/python3\.\d+/")


class Codemod(Struct, frozen=True, kw_only=True):
    """The codemod that is wanted.

    Parameters:
        module: its module, dotted.
        name: its class in there; "" for the only one.
        settings: keys and values, as they were given.
        seconds: how long one file may take.
        generated: whether files that a program writes are changed, too.
    """

    module: str
    name: str
    settings: tuple[tuple[str, str], ...] = ()
    seconds: float
    generated: bool = False

    def __str__(self) -> str:
        return f"{self.module}:{self.name}" if self.name else self.module


class Line(Struct, frozen=True):
    """A line of the child about one file, or about the codemod.

    Parameters:
        kind: of a file `changed`, `same`, `skipped`, `unparsed` or `failed`; else `begun`, `stopped` or `ended`.
        index: which file.
        text: a clause: why it was skipped, how it failed; the name of the codemod that was begun.
        code: of what stopped it.
        names: those that may be meant.
        digest: of the bytes that the codemod saw.
        edits: offset, length of what goes, and what takes its place, each byte as a character.
        warnings: what the codemod says of the file.
        printed: the beginning of what it printed.
    """

    kind: str
    index: int = -1
    text: str = ""
    code: str = ""
    names: tuple[str, ...] = ()
    digest: str = ""
    edits: tuple[tuple[int, int, str], ...] = ()
    warnings: tuple[str, ...] = ()
    printed: str = ""


class Ran(Struct, frozen=True, kw_only=True):
    """Result of a codemod.

    Parameters:
        name: its class.
        lines: what each file came to, by path; texts in it name modules instead of paths.
        notices: what the caller should know of how it was run.
    """

    name: str
    lines: Mapping[str, Line]
    notices: tuple[Notice, ...] = ()


def run_codemod(workspace: Workspace, codemod: Codemod, modules: Sequence[ModuleFile]) -> Ran:
    """Run a codemod on modules, and return what each came to.

    Raises:
        RequestError: `invalid_arguments` for what is no codemod, for settings that it does not take, or where it needs
            what is not to be had.
        LookupFailed: there is no such module or class, or several.
        TransactionError: `verify_failed` or `timed_out`: it does not import, or ended all that ran it.
        Refused: `forbidden` if its module may not be read; `unsafe_change` if it changed files of the project itself.
    """
    around = workspace.kept.surroundings
    if around is None:
        raise RequestError("invalid_arguments", "A codemod needs a project on the disk.", hints=["Take another root."])
    for path in workspace.census.find(codemod.module):
        workspace.check_readable(path)
    around.permit([module.path for module in modules])
    before = _state_of(workspace)
    try:
        ran = _Running(workspace, codemod, modules, around).ran()
    except ResourceError:
        _check_left_alone(workspace, codemod, before)
        raise
    _check_left_alone(workspace, codemod, before)
    return ran


def _state_of(workspace: Workspace) -> dict[str, object]:
    """Return the stamps of the Python files that lie on the disk, by path; None for one that no walk has met."""
    census, files = workspace.census, workspace.files
    paths = tuple(path for path in (*census.paths, *census.stubs) if path not in workspace.overlay)
    folders = dict.fromkeys(("", *(path.rpartition("/")[0] for path in paths)))
    beside = (f"{folder}/{name}".lstrip("/") for folder in folders for name in files.names(folder))
    python = {path: None for path in beside if path.endswith((".py", ".pyi")) and path not in workspace.overlay}
    return {**python, **files.stamps(paths)}


def _check_left_alone(workspace: Workspace, codemod: Codemod, before: dict[str, object]) -> None:
    """See that no file changed while a codemod ran.

    Raises:
        Refused: `unsafe_change`, which says that the bytes are there.
    """
    after = _state_of(workspace)
    none = object()
    if changed := [path for path in {**before, **after} if before.get(path, none) != after.get(path, none)]:
        names = listed(name_at(workspace.census, path) for path in changed)
        raise Refused(
            "unsafe_change",
            f"{names} changed on the disk while {codemod} ran, by the codemod or by another program; these bytes are "
            "no part of any transaction, no undo takes them back, and of what the codemod planned nothing was written.",
            hints=["Have the codemod return what it changes instead of writing it, and look at the files first."],
        )


class _Running:
    """One run.

    Parameters:
        around: where it runs.
    """

    def __init__(
        self, workspace: Workspace, codemod: Codemod, modules: Sequence[ModuleFile], around: Surroundings
    ) -> None:
        self._workspace = workspace
        self._codemod = codemod
        self._modules = modules
        self._around = around
        self._partial = b""
        self._lines: dict[int, Line] = {}
        self._begun = self._stopped = self._ended = Line("")

    def ran(self) -> Ran:
        """Run it, by our own Python where the project's has no libcst and cannot take ours."""
        finished = self._run(self._around.python)
        notices = []
        if self._stopped.code == "no_libcst" and self._around.python != sys.executable:
            version = self._stopped.text
            self._stopped = Line("")
            finished = self._run(sys.executable)
            text = (
                f"The project's Python {version} has no libcst, so the codemod ran in bae_source's own, "
                "without the packages that are installed for the project."
            )
            notices.append(Notice("other_python", text))
        self._check(finished)
        notices += self._printed(finished)
        lines = {self._modules[index].path: self._shown(line) for index, line in self._lines.items()}
        return Ran(name=self._begun.text, lines=lines, notices=tuple(notices))

    def _run(self, python: str) -> Finished:
        seconds = self._codemod.seconds
        try:
            return run(
                [python, "-c", _START, ANSWER],
                folder=self._around.root,
                environment=scrubbed(self._around.environment),
                time_limit=_TO_BEGIN + seconds * (2 + _AT_ONCE * len(self._modules)),
                given=marshal.dumps(self._request(), _READ_BY_ALL),
                answered=self._take,
            )
        except CannotStart as error:
            raise TransactionError(
                "verify_failed",
                f"The project's Python ({python}) cannot be started: {error}",
                unchanged=True,
                hints=["[tool.bae-source] python names another one."],
            ) from None

    def _request(self) -> dict[str, Any]:
        root, codemod, workspace = str(self._around.root), self._codemod, self._workspace
        spec = find_spec("libcst")
        assert spec is not None
        assert spec.origin is not None
        return {
            "roots": [f"{root}/{folder}".rstrip("/") for folder in dict.fromkeys((*workspace.layout.roots, ""))],
            "project": root,
            "probe": str(_PROBE),
            "planned": {f"{root}/{path}": content for path, content in workspace.overlay.items()},
            "ours": [str(Path(spec.origin).parent.parent), sys.implementation.cache_tag],
            "module": codemod.module,
            "name": codemod.name,
            "settings": [list(each) for each in codemod.settings],
            "seconds": codemod.seconds,
            "generated": codemod.generated,
            "processes": _processors(),
            "files": [
                [f"{root}/{each.path}", f"{root}/{each.source_root}".rstrip("/"), self._size(each.path)]
                for each in self._modules
            ],
        }

    def _size(self, path: str) -> int:
        planned = self._workspace.overlay.get(path)
        stamp = self._workspace.census.stamps.get(path)
        return len(planned) if planned is not None else (stamp.size if stamp is not None else 0)

    def _take(self, piece: bytes) -> None:
        """Take a piece of the answer."""
        *whole, self._partial = (self._partial + piece).split(b"\n")
        for text in whole:
            self._line(msgspec.json.decode(text, type=Line))

    def _line(self, line: Line) -> None:
        if line.kind == "begun":
            self._begun = line
        elif line.kind == "stopped":
            self._stopped = line
        elif line.kind == "ended":
            self._ended = line
        else:
            self._lines[line.index] = line
            self._around.progress(len(self._lines), len(self._modules), self._modules[line.index].name)

    def _check(self, finished: Finished) -> None:
        """See that it ran to its end."""
        stopped = self._stopped
        if stopped.kind:
            raise self._error(stopped)
        if self._ended.kind:
            return
        if self._begun.kind:
            what, why = f"The processes that ran {self._codemod} did not come to their end", f"status {finished.status}"
        else:
            what, why = f"{self._codemod.module} ended the process that imported it", f"status {finished.status}"
        late = finished.timed_out or finished.status == -signal.SIGALRM
        if late and not self._begun.kind:
            what, why = f"Importing {self._codemod.module} took too long", "it was stopped"
        last = finished.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        more = f": {self._names(last)}" if last and not late else ""
        raise TransactionError(
            "timed_out" if late else "verify_failed",
            f"{what} ({why}{more})",
            unchanged=True,
            hints=["Mend the codemod, or give it more time (time_limit)."],
        )

    def _error(self, stopped: Line) -> ResourceError:
        """Return the error for a codemod that was not run."""
        text = self._names(stopped.text)
        if stopped.code in ("symbol_not_found", "ambiguous_symbol"):
            module, _, name = self._codemod.module.rpartition(".")
            likely = f"{module}:{name}" if module and not self._codemod.name else "app.mods:Rename"
            hints = ["Name one of them."] if stopped.names else [f"Give a module, and a class in it: {likely}."]
            return LookupFailed(stopped.code, f"{text}; nothing was run.", candidates=stopped.names, hints=hints)
        if stopped.code == "not_imported":
            return TransactionError("verify_failed", text, unchanged=True, hints=["Mend the codemod's module first."])
        if stopped.code == "no_libcst":
            return RequestError("invalid_arguments", "There is no libcst here.", hints=["Install libcst."])
        wrong = partial(RequestError, "invalid_arguments", f"{text}; nothing was run.")
        if stopped.code == "wrong_settings":
            return wrong(hints=[f"It takes {listed(stopped.names, 20)}." if stopped.names else "It takes no settings."])
        return wrong(hints=["Name one of them."] if stopped.names else [], candidates=stopped.names)

    def _printed(self, finished: Finished) -> list[Notice]:
        """Return what was printed when the codemod was imported."""
        text = (finished.output + finished.errors).decode("utf-8", "replace").strip()
        if not text:
            return []
        return [Notice("printed", f"{self._codemod.module} printed as it was imported: {self._cut(text)}")]

    def _shown(self, line: Line) -> Line:
        """Return a line with texts that may be shown."""
        return msgspec.structs.replace(
            line,
            text=self._names(line.text),
            warnings=tuple(map(self._cut, line.warnings)),
            printed=self._cut(line.printed),
        )

    def _cut(self, text: str) -> str:
        short = " ".join(self._names(text.strip()).split())
        return short if len(short) <= _MOST_PRINTED else f"{short[:_MOST_PRINTED]}…"

    def _names(self, text: str) -> str:
        """Return a text with modules for the files of the project that it names, if its caller may read of them."""
        if not text:
            return text
        named = _WHERE.sub(lambda match: f"{self._name(match[1])}:{match[2]}", text)
        named = named.replace(f"{self._around.root}/", "")
        if self._workspace.keeps_back(text) or self._workspace.keeps_back(named):
            return "(left out, since it speaks of what may not be read)"
        return named

    def _name(self, path: str) -> str:
        inside = path.removeprefix(f"{self._around.root}/")
        module = self._workspace.layout.module_at(inside) if not inside.startswith("/") else None
        if module is not None:
            return module.name
        return _INSTALLED.sub("", path).removesuffix(".py").replace("/", ".") if _INSTALLED.match(path) else path


def _processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)
