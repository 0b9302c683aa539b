"""The program that runs in the project's interpreter: import or compile modules, and report the result of each.

    python -P -c "…; probe.main()" ANSWER < REQUEST

REQUEST is what `marshal` makes of a mapping, ANSWER the number of a descriptor that takes lines of JSON.

The request has files as planned, which are not written yet: imports, and whatever else reads files in Python, see
them over those of the disk. `_Planned` says how, and what does not.

Invariants:
- only the standard library, in the syntax of Python 3.7: the project's interpreter is not ours;
- of that library only what every Python has loaded: a module of the project may be called like any other;
- code of the project is never taken from a compiled file that may be of another text, and nothing is written;
- whatever an import raises, `SystemExit` too, is an answer; the process ends without waiting for threads.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import importlib.machinery
import importlib.util
import io
import marshal
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType
    from typing import Any

_MAX_FRAMES = 40
_MAX_TEXT = 4000
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_OURS = os.path.dirname(_HERE) + os.sep  # noqa: PTH120
"""The folder of all that loads modules, here or in the process that asks."""
_STANDARD = sys.path[:]
_READ: dict[str, list[int]] = {}
"""Stamps of the project's files that were imported: times of modification and change in nanoseconds, and size."""
_COMPILED_HEAD = 8
"""Bytes of a compiled file that say which Python made it, and how it is compared with its source."""


def describe(error: BaseException) -> dict[str, Any]:
    """Return an exception as data: its type, its message, and its frames from the outermost to the innermost."""
    frames: list[dict[str, Any]] = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not _ours(code.co_filename):
            frames.append(
                {
                    "file": code.co_filename,
                    "module": str(step.tb_frame.f_globals.get("__name__", "?")),
                    "line": step.tb_lineno,
                    "function": code.co_name,
                    "text": _line(code.co_filename, step.tb_lineno),
                }
            )
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip()
        frames.append({"file": error.filename, "module": "?", "line": error.lineno or 1, "function": "", "text": text})
    return {"type": type(error).__name__, "message": _message(error), "frames": frames[-_MAX_FRAMES:]}


def _ours(filename: str) -> bool:
    frozen = filename.startswith("<frozen importlib") or filename == importlib.__file__
    return frozen or filename.startswith(_OURS)


def _line(filename: str, number: int) -> str:
    import linecache  # only for what fails; it loads what many projects need not

    return linecache.getline(filename, number).strip()


def _message(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything
        return "(its message cannot be shown)"
    path = getattr(error, "path", None)
    if isinstance(error, ImportError) and path:
        text = text.replace(" (%s)" % path, "")  # noqa: UP031
    return str(text)[:_MAX_TEXT]


def main() -> None:
    """Carry out the request, with a line of answer for each step."""
    answer = int(sys.argv[1])
    request = marshal.loads(_all_input())
    process, write = os.getpid(), os.write

    def say(**line: Any) -> None:
        if os.getpid() != process:
            os._exit(0)  # a fork that came back from an import: the answer is its parent's
        write(answer, (_json(line) + "\n").encode())

    _prepare(request, answer)
    say(ready=list(sys.version_info[:3]))
    for job in request["jobs"]:
        try:
            _do(job, request["files"])
        except BaseException as error:  # noqa: BLE001 - an import may call exit()
            path, sys.path[:] = sys.path[:], _STANDARD  # what describes it is not the project's
            say(key=job["key"], error=describe(error))
            sys.path[:] = path
        else:
            say(key=job["key"], error=None)
    say(finished=True, read=_READ)
    os._exit(0)  # threads that an import started must not hold us up


def _all_input() -> bytes:
    """Read the request, and leave nothing that an import could read."""
    found = b""
    while True:
        piece = os.read(0, 1 << 20)
        if not piece:
            break
        found += piece
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    return found


def _json(value: Any) -> str:
    """Return JSON; the module that makes it loads regular expressions."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join(_quoted(key) + ": " + _json(each) for key, each in value.items())  # noqa: UP031
    return "[%s]" % ", ".join(map(_json, value)) if isinstance(value, list) else str(value)  # noqa: UP031


def _quoted(text: str) -> str:
    """Return a string of JSON: where a character is not plain, all are written as their units in UTF-16."""
    if all(" " <= char <= "~" and char not in '"\\' for char in text):
        return '"' + text + '"'
    units = text.encode("utf-16-be", "surrogatepass")
    return '"%s"' % "".join("\\u%02x%02x" % (units[at], units[at + 1]) for at in range(0, len(units), 2))  # noqa: UP031


def _prepare(request: dict[str, Any], answer: int) -> None:
    sys.modules.pop("probe", None)  # a module of the project may have this name
    _STANDARD[:] = [path for path in sys.path if path not in ("", _HERE)]
    sys.path[:] = request["roots"] + [path for path in _STANDARD if path not in request["roots"]]
    sys.argv[:] = [""]
    sys.dont_write_bytecode = True
    os.environ["PYTHONPYCACHEPREFIX"] = os.devnull  # what an import may start itself compiles from source
    show(request["files"], request["project"])
    _keep_open(answer)


def _keep_open(descriptor: int) -> None:
    """Let an import close all descriptors, as a daemon does, but this one."""
    close, close_range = os.close, os.closerange
    os.set_inheritable(descriptor, False)

    class Closing:
        def one(self, fd: int) -> None:
            if fd == descriptor:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            close(fd)

        def all(self, low: int, high: int) -> None:
            close_range(low, min(high, descriptor))
            close_range(max(low, descriptor + 1), high)

    _replace("close", Closing().one)
    _replace("closerange", Closing().all)


def _replace(name: str, function: Any) -> None:
    """Replace a function of `os`, and of the module that has it from the system, which importlib uses.

    The new one has to be a method of an object: a class that takes it for an attribute does not bind it then, as it
    does not bind functions of C.
    """
    original = getattr(os, name)
    for supported in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        if original in supported:
            supported.add(function)
    for module in (os, sys.modules[os.name]):
        setattr(module, name, function)


def _do(job: dict[str, Any], files: Mapping[str, bytes | None]) -> None:
    if job["import"]:
        importlib.import_module(job["name"])
        return
    source = files.get(job["path"])
    if source is None:
        with open(job["path"], "rb") as stream:  # noqa: PTH123
            source = stream.read()
    compile(source, job["path"], "exec", dont_inherit=True)


def show(files: Mapping[str, bytes | None], project: str) -> None:
    """Have Python see a project as planned, and compile its files from source; for other programs of ours.

    Parameters:
        files: content by absolute path; None for what goes.
        project: the folder, absolute.
    """
    bypass_caches(project)
    if files:
        _Planned(files, project).install()


def bypass_caches(project: str) -> None:
    """Compile the project's files from source where a compiled file may be of another text."""
    loader = importlib.machinery.SourceFileLoader
    cached = loader.get_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if not path.startswith(project + os.sep) or "site-packages" in path:
            return cached(self, fullname)
        source = os.stat(path)  # noqa: PTH116
        _READ[path] = [source.st_mtime_ns, source.st_ctime_ns, source.st_size]
        return cached(self, fullname) if _is_surely_of(path) else self.source_to_code(self.get_data(path), path)

    loader.get_code = get_code  # type: ignore[method-assign]


def _is_surely_of(path: str) -> bool:
    """Return whether a compiled file that Python accepts for a source cannot be of an earlier text of it.

    Python compares size and time of modification, in whole seconds. A text that was compiled in the second it was
    written in may have been written once more in that second, at the same size:

        source written at 7.2, compiled at 7.5, source written at 7.9      not sure: both are of second 7
        source written at 7.9, compiled at 8.1                             sure

    The time of modification can be set back, that of the last change of any kind cannot.
    """
    try:
        source = os.stat(path)  # noqa: PTH116
        with io.FileIO(importlib.util.cache_from_source(path)) as compiled:
            is_later = int(os.fstat(compiled.fileno()).st_mtime) > int(max(source.st_mtime, source.st_ctime))
            flags = compiled.read(_COMPILED_HEAD)[4:]
    except (OSError, NotImplementedError):
        return False
    return is_later and flags == bytes(4)  # compared by time and size: what is compared by a hash may be unchecked


class _Planned:
    """The project's files as planned, over those of the disk.

        app/a.py          b"…"     changed: read by `open` and by the import system
        app/b.py          None     goes: not there, nor what lies compiled beside it, nor a folder that it leaves empty
        app/new/c.py      b"…"     new, with its folder

    For what is new or goes, functions of `os` that list folders and tell of files are replaced; the import system
    calls the same ones, so that packages, namespaces and modules come about as ever, by whatever name and path.
    Files are read as planned by `open` and loaders, hence by `linecache`, `inspect` and `importlib.resources`.

    Not seen: descriptors (`os.open`, a folder's), paths as bytes, programs that an import starts, extensions in C.

    Parameters:
        files: content by absolute path; None for what goes.
        project: the folder that stays, however empty.
    """

    def __init__(self, files: Mapping[str, bytes | None], project: str) -> None:
        self._real: dict[str, str] = {}
        self._project = project
        self._files = {self._key(path): content for path, content in files.items()}
        self._folders: dict[str, dict[str, int | None]] = {}
        """By folder and name the mode of what is new, and None for what goes."""
        for path, content in self._files.items():
            if content is not None:
                self._add(path)
        for path, content in self._files.items():
            if content is None:
                self._take(path)
        self._names = {path.rpartition("/")[2] for path in self._files}
        self._altered = {name for names in self._folders.values() for name in names}
        self._status, self._list, self._scan = os.stat, os.listdir, os.scandir
        self._open, self._read = io.open, importlib.machinery.SourceFileLoader.get_data

    def install(self) -> None:
        """Have Python see what is planned."""
        planned, loader = self, importlib.machinery.SourceFileLoader
        code = loader.get_code

        def get_data(self: Any, path: str) -> bytes:
            content = planned._content(path)
            return planned._read(self, path) if content is None else content

        def get_code(self: Any, fullname: str) -> CodeType | None:
            path = self.get_filename(fullname)
            content = planned._content(path)
            return code(self, fullname) if content is None else self.source_to_code(content, path)

        loader.get_data, loader.get_code = get_data, get_code  # type: ignore[method-assign]
        builtins.open = io.open = self.open
        if "tokenize" in sys.modules:
            vars(sys.modules["tokenize"])["_builtin_open"] = self.open
        for name, module in list(sys.modules.items()):  # what a `.pth` file or `sitecustomize` imported
            file = getattr(module, "__file__", None)
            if file and self._key(file) in self._files:
                del sys.modules[name]
        if self._folders:
            for name in ("stat", "lstat", "listdir", "scandir"):
                _replace(name, getattr(self, name))
            sys.path_importer_cache.clear()

    def open(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        """Open a file, to be read as planned."""
        if set(mode) <= set("rbt"):
            if self._altered_to(file) is None:
                raise _not_there(file)
            content = self._content(file)
            if content is not None:
                return _opened(content, mode, *args, **options)
        return self._open(file, mode, *args, **options)

    def stat(self, path: Any, **options: Any) -> Any:
        """Return the status of a file as planned."""
        mode: Any = self._altered_to(path) if options.get("dir_fd") is None else _AS_IT_IS
        if mode is None:
            raise _not_there(path)
        if mode is _AS_IT_IS:
            return self._status(path, **options)
        like = self._status(self._project)
        return os.stat_result((mode, 0, like.st_dev, 1, *like[4:6], len(self._content(path) or b""), *like[7:10]))

    def lstat(self, path: Any, **options: Any) -> Any:
        """Return the status of a file as planned, and of a link itself."""
        return self.stat(path, follow_symlinks=False, **options)

    def listdir(self, path: Any = None) -> Any:
        """List a folder as planned."""
        altered = self._altered_in(path)
        if not altered:
            return self._list(path)
        there = self._list(path) if self._is_on_disk(path) else []
        return [*(name for name in there if name not in altered), *_new(altered)]

    def scandir(self, path: Any = None) -> Any:
        """List a folder as planned, with what is known of its files."""
        altered = self._altered_in(path)
        if not altered:
            return self._scan(path)
        entries: list[Any] = []
        if self._is_on_disk(path):
            with self._scan(path) as there:
                entries += (each for each in there if each.name not in altered)
        return _Scan([*entries, *(_Entry(self, path or ".", name) for name in _new(altered))])

    def _is_on_disk(self, folder: Any) -> bool:
        try:
            self._status(folder or ".")
        except FileNotFoundError:
            return False
        return True

    def _content(self, path: Any) -> bytes | None:
        text = _text(path)
        if text is None or text.rpartition("/")[2] not in self._names:
            return None
        return self._files.get(self._key(text))

    def _altered_to(self, path: Any) -> Any:
        """Return the mode of what is new, None for what goes, `_AS_IT_IS` for all else."""
        text = (_text(path) or "").rstrip("/")
        if text.rpartition("/")[2] not in self._altered:
            return _AS_IT_IS
        folder, _, name = self._key(text).rpartition("/")
        return self._folders.get(folder, {}).get(name, _AS_IT_IS)

    def _altered_in(self, folder: Any) -> Mapping[str, int | None]:
        text = "." if folder is None else _text(folder)
        return {} if text is None else self._folders.get(self._key(os.path.join(text, "")).rstrip("/"), {})  # noqa: PTH118

    def _key(self, path: str) -> str:
        """Return a path of which the folder has no links."""
        folder, slash, name = path.rpartition("/")
        folder = folder or slash
        if not folder.startswith("/"):
            return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], name)  # noqa: PTH118

    def _add(self, path: str) -> None:
        """Note a new file, with the folders around it."""
        mode = stat.S_IFREG | 0o644
        while not os.path.lexists(path):
            folder, _, name = path.rpartition("/")
            self._folders.setdefault(folder, {})[name] = mode
            path, mode = folder, stat.S_IFDIR | 0o755

    def _take(self, path: str) -> None:
        """Note a file that goes, with a folder that keeps nothing but compiled files."""
        folder, _, name = path.rpartition("/")
        self._folders.setdefault(folder, {}).update({name: None, name + "c": None})
        while folder.startswith(self._project + "/") and self._is_empty(folder):
            folder, _, name = folder.rpartition("/")
            self._folders.setdefault(folder, {})[name] = None

    def _is_empty(self, folder: str) -> bool:
        altered, cache = self._folders.get(folder, {}), folder + "/__pycache__"
        try:
            left = [name for name in os.listdir(folder) if name not in altered]  # noqa: PTH208
            if left == ["__pycache__"] and not os.path.islink(cache):  # noqa: PTH114
                left = [name for name in os.listdir(cache) if not name.endswith(".pyc")]  # noqa: PTH208
        except OSError:
            return False
        return not left and not any(_new(altered))


_AS_IT_IS = object()


def _text(path: Any) -> str | None:
    """Return a path as text; None for a descriptor, and for bytes."""
    found = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    return found if isinstance(found, str) else None


def _new(altered: Mapping[str, int | None]) -> Iterator[str]:
    return (name for name, mode in altered.items() if mode is not None)


def _not_there(path: Any) -> OSError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))


def _opened(
    content: bytes, mode: str, _: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None, **__: Any
) -> Any:
    stream = io.BytesIO(content)
    return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline)


class _Scan:
    """The entries of a folder, which are known already, as `os.scandir` returns them."""

    def __init__(self, entries: list[Any]) -> None:
        self._left = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._left

    def __next__(self) -> Any:
        return next(self._left)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Have nothing left."""
        self._left = iter(())


class _Entry:
    """A file or folder that is new, as `os.scandir` tells of it."""

    def __init__(self, planned: _Planned, folder: Any, name: str) -> None:
        self.name = name
        self.path = os.path.join(folder, name)  # noqa: PTH118
        self._planned = planned

    def __fspath__(self) -> str:
        return self.path

    def stat(self, **_: Any) -> Any:
        """Return its status."""
        return self._planned.stat(self.path)

    def inode(self) -> int:
        """Return its number, which it has not got yet."""
        return 0

    def is_file(self, **_: Any) -> bool:
        """Return whether it is a file."""
        return stat.S_ISREG(self.stat().st_mode)

    def is_dir(self, **_: Any) -> bool:
        """Return whether it is a folder."""
        return stat.S_ISDIR(self.stat().st_mode)

    def is_symlink(self) -> bool:
        """Return whether it is a link."""
        return False
