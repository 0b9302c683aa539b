"""The codemod that is run: its class, found by module and name, and its settings, read by its own parser.

    app.mods:Rename         that class
    app.mods                the one codemod that the module defines

Runs in the project's interpreter, which may have no libcst: then ours is taken, if it is of the same Python.

Invariants:
- only the standard library and libcst, in the syntax of Python 3.9;
- settings are texts, and what they mean is said by the parser that the codemod itself describes (`add_args`).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import inspect
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

_SETTINGS_FILE = ".libcst.codemod.yaml"
_MARKER = "@gen" + "erated"
_OURS = ("libcst", "yaml", "_yaml")
_NEEDS_SERVER = "TypeInferenceProvider"
_WRITES = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.truncate": ((0, -1),),
}
"""By event, where its arguments have a path that is written, and the folder that it is seen from; -1 for none."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TO_LOAD = 10.0
"""Seconds that an import may take beyond those of a file."""
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Stopped(Exception):
    """The codemod cannot be run.

    Parameters:
        code: as our errors have it.
        text: a sentence without its full stop.
        names: names that may be meant, or settings that there are.
    """

    def __init__(self, code: str, text: str, names: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.names = list(names)


class Loaded:
    """A codemod that is ready to be run.

    Parameters:
        kind: its class.
        given: keyword arguments of its constructor.
        config: what LibCST's own settings say.
        managers: of the metadata of all files, by source root.
    """

    def __init__(self, kind: Any, given: dict[str, Any], config: dict[str, Any], managers: dict[str, Any]) -> None:
        self.kind = kind
        self.given = given
        self.config = config
        self.managers = managers
        self.name = kind.__qualname__
        self.file = getattr(sys.modules.get(kind.__module__), "__file__", None)


class Guard:
    """Keeps Python code from writing below a folder, and remembers what it wanted to write.

    Parameters:
        folder: absolute.
    """

    def __init__(self, folder: str) -> None:
        self._lead = folder.rstrip(os.sep) + os.sep
        self.wanted = ""

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Look at what is about to be done, as `sys.addaudithook` tells of it."""
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING:
                self._check(path)
        elif event in _WRITES:
            for place, folder in _WRITES[event]:
                self._check(args[place], args[folder] if folder >= 0 else -1)

    def _check(self, path: Any, folder: int = -1) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):
            return
        if folder >= 0:
            try:
                path = os.path.join(os.readlink("/proc/self/fd/%d" % folder), path)  # noqa: PTH115, PTH118, UP031
            except OSError:
                return  # not known here; that files of the project changed is seen in the end
        if not os.path.abspath(path).startswith(self._lead):  # noqa: PTH100
            return
        self.wanted = os.path.abspath(path)[len(self._lead) :]  # noqa: PTH100
        raise PermissionError(1, "a codemod may not write to the project, which is done when all is planned", path)


GUARD: Any = None
"""The guard of this process."""


def load(request: dict[str, Any]) -> Loaded:
    """Load what a request names.

    Raises:
        Stopped: it cannot be run.
    """
    global GUARD
    _place(request)
    GUARD = Guard(request["project"])
    sys.addaudithook(GUARD)
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + _TO_LOAD)  # it ends this process where it hangs
    module = _module(request["module"], request)
    if "libcst" not in sys.modules and not request["name"]:
        raise _without(module)
    import libcst
    import libcst.codemod

    config = _config(request["project"])
    kind = _class(module, request["name"], libcst.codemod.Codemod, libcst.codemod.CodemodCommand)
    given = _settings(kind, request["settings"])
    managers = _managers(kind, request, config)
    signal.setitimer(signal.ITIMER_REAL, 0)
    libcst.parse_module("")  # so that no copy has to begin with it
    return Loaded(kind, given, config, managers)


def _place(request: dict[str, Any]) -> None:
    """Have the project's modules found, as they are planned, and libcst."""
    roots = request["roots"]
    sys.path[:] = roots + [path for path in sys.path if path not in ("", *roots)]
    sys.argv[:] = ["codemod"]
    sys.dont_write_bytecode = True
    sys.path.insert(0, request["probe"])
    try:
        import probe  # type: ignore[import-not-found]  # lies in that folder
    finally:
        del sys.path[0]
    sys.modules.pop("probe")  # a module of the project may have this name
    probe.show(request["planned"], request["project"])
    if importlib.machinery.PathFinder.find_spec("libcst") is None:
        folder, tag = request["ours"]
        if tag != sys.implementation.cache_tag:
            raise Stopped("no_libcst", ".".join(map(str, sys.version_info[:2])))
        sys.meta_path.append(_Ours(folder))


class _Ours:
    """Finds our libcst and what it needs, and nothing else of what lies beside it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        """Find a module as the import system asks for it."""
        return importlib.machinery.PathFinder.find_spec(name, [self._folder]) if name in _OURS else None


def _module(name: str, request: dict[str, Any]) -> Any:
    """Import the codemod's module; one of those folders that LibCST's own settings name will do."""
    found = _imported(name)
    if found is None:
        folders = _config(request["project"], only_modules=True)["modules"]
        every = (_imported(folder + "." + name) for folder in folders)
        found = next((each for each in every if each is not None), None)
    if found is None:
        raise Stopped("symbol_not_found", f"There is no module {name} that the project's Python can import")
    return found


def _imported(name: str) -> Any:
    """Import a module; None where there is none of that name."""
    try:
        return importlib.import_module(name)
    except BaseException as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and (name + ".").startswith(missing + "."):
            return None
        raise _unloaded(name, error) from error


def _unloaded(name: str, error: BaseException) -> Stopped:
    return Stopped("not_imported", f"{name} does not import: {described(error, None)}")


def _without(module: Any) -> Stopped:
    return Stopped("symbol_not_found", f"{module.__name__} defines no codemod")


def _class(module: Any, name: str, codemod: type, command: type) -> Any:
    """Return the class of a module that is meant.

    Parameters:
        codemod: the base of all codemods.
        command: that of those that are made to be called; where there are some, others are their helpers.
    """

    def is_codemod(found: Any) -> bool:
        return isinstance(found, type) and issubclass(found, codemod) and not inspect.isabstract(found)

    every = {each: found for each, found in vars(module).items() if is_codemod(found)}
    own = {each: found for each, found in every.items() if found.__module__ == module.__name__}
    chosen = own or {each: found for each, found in every.items() if not found.__module__.startswith("libcst.codemod.")}
    chosen = {each: found for each, found in chosen.items() if issubclass(found, command)} or chosen
    names = [f"{module.__name__}:{each}" for each in chosen]
    if not name:
        if len(chosen) == 1:
            return next(iter(chosen.values()))
        if not chosen:
            raise _without(module)
        raise Stopped("ambiguous_symbol", f"{module.__name__} defines {len(chosen)} codemods", names)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise Stopped("symbol_not_found", f"{module.__name__} has no {name}", names)
    if isinstance(found, codemod):
        text = f"{module.__name__}:{name} is an instance of {type(found).__name__}, and a class is needed"
        raise Stopped("invalid_arguments", text, names)
    if not (isinstance(found, type) and issubclass(found, codemod)):
        raise Stopped("invalid_arguments", f"{module.__name__}:{name} is {_what(found)}, and no codemod", names)
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        text = f"{module.__name__}:{name} is no codemod that can run: it lacks {missing}"
        raise Stopped("invalid_arguments", text, names)
    return found


def _what(found: Any) -> str:
    for asks, what in ((inspect.isclass, "class"), (inspect.ismodule, "module"), (inspect.isroutine, "function")):
        if asks(found):
            return "a " + what
    article = "an" if type(found).__name__[:1].lower() in "aeiou" else "a"
    return article + " " + type(found).__name__


def _config(project: str, *, only_modules: bool = False) -> dict[str, Any]:
    """Return what LibCST's own settings say, from the nearest file upwards, as its own program reads them."""
    config: dict[str, Any] = {
        "generated_code_marker": _MARKER,
        "blacklist_patterns": [],
        "modules": ["libcst.codemod.commands"],
        "repo_root": None,
    }
    folder = project
    while not os.path.isfile(os.path.join(folder, _SETTINGS_FILE)):  # noqa: PTH113, PTH118
        if folder == os.path.dirname(folder):  # noqa: PTH120
            return config
        folder = os.path.dirname(folder)  # noqa: PTH120
    try:
        import yaml  # type: ignore[import-untyped]  # which libcst brings
    except ImportError as error:
        raise Stopped("invalid_arguments", f"{_SETTINGS_FILE} cannot be read without PyYAML") from error
    try:
        with open(os.path.join(folder, _SETTINGS_FILE), encoding="utf-8") as stream:  # noqa: PTH118, PTH123
            read = yaml.safe_load(stream.read())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise Stopped("invalid_arguments", f"{_SETTINGS_FILE} cannot be read: {_first_line(error)}") from error
    for name, usual in config.items():
        value = read.get(name) if isinstance(read, dict) else None
        if isinstance(usual, list):
            fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        else:
            fits = isinstance(value, str)
        if fits and value is not None:
            config[name] = value
    if config["repo_root"] is not None:
        config["repo_root"] = os.path.abspath(os.path.join(folder, config["repo_root"]))  # noqa: PTH100, PTH118
    if not only_modules:
        config["blacklist_patterns"] = [_pattern(each) for each in config["blacklist_patterns"]]
    return config


def _pattern(text: str) -> Any:
    try:
        return re.compile(text)
    except re.error as error:
        message = f"{_SETTINGS_FILE}: blacklist_patterns has {text!r}, which is no regular expression: {error}"
        raise Stopped("invalid_arguments", message) from error


class _Wrong(Exception):
    """Settings that a codemod's parser does not take."""


class _Parser(argparse.ArgumentParser):
    """The parser of a codemod's settings, which ends no process."""

    def error(self, message: str) -> Any:
        raise _Wrong(message)

    def exit(self, status: int = 0, message: str | None = None) -> Any:  # noqa: ARG002
        raise _Wrong(message or "it ends there")


def _settings(kind: Any, settings: list[list[str]]) -> dict[str, Any]:
    """Return the arguments of a codemod's constructor.

    Raises:
        Stopped: `invalid_arguments`, with the settings that there are.
    """
    parser = _Parser(prog=kind.__name__, add_help=False, allow_abbrev=False)
    try:
        if hasattr(kind, "add_args"):
            kind.add_args(parser)
        given = vars(parser.parse_args(list(_words(parser._actions, settings))))  # noqa: SLF001
        inspect.signature(kind).bind(context=None, **given)
    except (_Wrong, TypeError) as error:
        text = f"{kind.__name__} cannot be set up so: {_first_line(error)}"
        raise Stopped("wrong_settings", text, [_shown(each) for each in parser._actions]) from error  # noqa: SLF001
    except BaseException as error:
        text = f"{kind.__name__} fails as it is set up: {described(error, None)}"
        raise Stopped("not_imported", text) from error
    return dict(given)


def _words(actions: Sequence[Any], settings: list[list[str]]) -> Iterator[str]:
    """Yield a command line that gives settings to a parser; positional arguments come last."""
    values: dict[int, list[str]] = {}
    for key, value in settings:
        found = [number for number, each in enumerate(actions) if key in _keys(each)]
        named = [number for number in found if key in _options(actions[number])]
        if not found:
            raise _Wrong(f"{key} is no setting of it")
        if len(named or found) > 1:
            several = ", ".join(sorted(_options(actions[each])[0] for each in found))
            raise _Wrong(f"{key} is set by one of {several}")
        values.setdefault((named or found)[0], []).append(value)
    placed: list[str] = []
    for number, action in enumerate(actions):
        if number in values and not action.option_strings:
            placed += values[number]
        elif number in values:
            yield from _option(action, values[number])
    if placed:
        yield "--"
        yield from placed


def _option(action: Any, values: list[str]) -> Iterator[str]:
    option = max(action.option_strings, key=len) if action.nargs != 0 else action.option_strings[0]
    name = _options(action)[0]
    if action.nargs == 0:
        value = values[-1].lower()
        opposite = next((each for each in action.option_strings if each.startswith("--no-")), None)
        if value.isdigit() and type(action).__name__ == "_CountAction":
            yield from [option] * int(value)
        elif value in _TRUE:
            yield next((each for each in action.option_strings if each != opposite), option)
        elif value not in _FALSE:
            raise _Wrong(f"{name} is true or false, not {values[-1]!r}")
        elif opposite is not None:
            yield opposite
    elif action.nargs in (None, "?"):
        if len(values) > 1 and type(action).__name__ != "_AppendAction":
            raise _Wrong(f"{name} is given more than once")
        yield from (f"{option}={value}" for value in values)
    else:
        yield option
        yield from values


def _options(action: Any) -> list[str]:
    """Return the names of an option without its dashes, the longest first; that of a positional argument."""
    names = [each.lstrip("-") for each in action.option_strings] or [action.dest]
    return sorted(names, key=lambda each: -len(each))


def _keys(action: Any) -> set[str]:
    names = _options(action)
    return {action.dest, *names, *(each.replace("-", "_") for each in names)}


def _shown(action: Any) -> str:
    """Return a setting with what it takes."""
    if action.nargs == 0:
        takes = "true or false"
    elif action.choices:
        takes = "one of " + ", ".join(map(str, action.choices))
    else:
        takes = getattr(action.type, "__name__", "text") if action.type is not None else "text"
        takes += " several times" if action.nargs not in (None, "?") or type(action).__name__ == "_AppendAction" else ""
    needed = ", needed" if action.required else ""
    return f"{action.dest} ({takes}{needed})"


def _managers(kind: Any, request: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """Return what has the metadata of all files that is worked out of all of them together, by source root."""
    wanted = kind.get_inherited_dependencies()
    if _NEEDS_SERVER in {each.__name__ for each in _with_inner(wanted)}:
        text = f"{kind.__name__} needs {_NEEDS_SERVER}, which asks a server of Pyre, and none is started here"
        raise Stopped("invalid_arguments", text)
    from libcst.metadata import FullRepoManager

    class Manager(FullRepoManager):
        """LibCST's manager without its walk over all files for each file."""

        def get_cache_for_path(self, path: str) -> Any:
            return {provider: files[path] for provider, files in self.cache.items() if path in files}

    paths: dict[str, list[str]] = {}
    for path, root, _ in request["files"]:
        paths.setdefault(config["repo_root"] or root, []).append(path)
    managers = {}
    for root, inside in paths.items():
        managers[root] = Manager(root, inside, wanted)
        try:
            managers[root].resolve_cache()
        except Exception as error:
            text = f"The metadata that {kind.__name__} needs is not to be had: {described(error, None)}"
            raise Stopped("not_imported", text) from error
    return managers


def _with_inner(providers: Any) -> Iterator[Any]:
    """Yield providers of metadata, and those that they need themselves."""
    waiting, seen = list(providers), set()
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            yield each
            waiting += getattr(each, "METADATA_DEPENDENCIES", ())


def described(error: BaseException, file: str | None) -> str:
    """Return an exception with the line that it comes from: that of a file, where it passed through it."""
    steps = []
    step = error.__traceback__
    while step is not None:
        steps.append((step.tb_frame.f_code.co_filename, step.tb_lineno))
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        steps.append((error.filename, error.lineno or 1))
    theirs = [each for each in steps if not each[0].startswith(("<frozen", os.path.dirname(__file__)))]  # noqa: PTH120
    own = [each for each in theirs if each[0] == file] if file else theirs[-1:]
    place = (own or theirs)[-1:]
    at = f" ({place[0][0]}:{place[0][1]})" if place else ""
    message = _first_line(error)
    return f"{type(error).__name__}{': ' if message else ''}{message}{at}"


def _first_line(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything, and one of libcst's does
        text = str(getattr(error, "message", "(its message cannot be shown)"))
    return text.partition("\n")[0][:300]
