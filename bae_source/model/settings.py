"""Settings, declared once: a project's in `[tool.bae-source]` of its pyproject.toml, a user's in a file of their own.

    problems({"telemetri": False})      [Problem(name="telemetri", …, line="telemetry = false")]

Invariants:
- the declarations are all there is: the reference and the doctor are made of them;
- nothing is read here, and a wrong setting is a value, never an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta, Struct

from bae_source.model.closest import closest

TABLE = "[tool.bae-source]"
USERS = "your settings.toml"
"""The user's own file of settings, in messages; the reference says where it lies."""


def _hint(text: str, example: object, **constraints: Any) -> Meta:
    return Meta(description=text, examples=[example], **constraints)


Preset = Literal["open", "review", "read-only"]
Level = Literal["low", "medium", "high"]


class ChangeRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of names, by what becomes of a change of them; where several fit, the strictest counts."""

    allow: tuple[str, ...] = ()
    approve: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class ReadRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of names that may be read, and that may not, which counts for more."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class CallerPolicy(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A policy for some callers, beside that for all of them."""

    preset: Preset = "open"
    change: ChangeRules = ChangeRules()
    read: ReadRules = ReadRules()
    approve_risk: Level | None = None


class PolicyTable(CallerPolicy, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A policy: what may be read and changed at once, what waits for a person, and what is refused."""

    callers: dict[str, CallerPolicy] = {}


class Settings(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The settings, all optional; their names have hyphens for underscores."""

    source_roots: Annotated[
        tuple[str, ...],
        _hint("Folders that stand on `sys.path`; else worked out from the build backend and the tree.", ["src"]),
    ] = ()
    python: Annotated[
        str | None,
        _hint("The project's interpreter; else `VIRTUAL_ENV`, `.venv`, or the one that runs us.", ".venv/bin/python"),
    ] = None
    language_server: Annotated[
        Literal["ty", "basedpyright", "pyrefly", "off"],
        _hint(
            "Which language server a hover asks beside us. `basedpyright` and `pyrefly` start programs that a project "
            "can bring, and are started only where a person chooses them: by `BAE_SOURCE_LANGUAGE_SERVER` in the "
            "environment, or `--language-server`.",
            "ty",
        ),
    ] = "ty"
    language_server_seconds: Annotated[float, _hint("How long it may take for one request.", 2, ge=0)] = 2
    telemetry: Annotated[
        bool, _hint("Whether a line about each request is kept in `.bae-source/`; none ever leaves the machine.", False)
    ] = True
    types: Annotated[
        Literal["mypy", "ty", "basedpyright", "pyright", "pyrefly"] | None,
        _hint("The type checker of `verify types`; else the one that the project has settings of.", "mypy"),
    ] = None
    formatter: Annotated[
        Literal["ruff", "black"] | None,
        _hint("The formatter of `format`; else the one that the project has settings of.", "ruff"),
    ] = None
    import_sorter: Annotated[
        Literal["ruff", "isort"] | None,
        _hint("The sorter of imports; else the one that the project has settings of.", "ruff"),
    ] = None
    verify_seconds: Annotated[float, _hint("How long tests, types and commands may take.", 300, gt=0)] = 300
    history_megabytes: Annotated[
        float, _hint("Megabytes that the history may take on the disk; at least half of it is kept.", 200, gt=0)
    ] = 200
    history_operations: Annotated[
        int, _hint("How many operations the history may hold; at least half of them are kept.", 10_000, gt=0)
    ] = 10_000
    logs: Annotated[
        str | None,
        _hint("The folder in the project whose files are its logs, for `logs list` and `logs read`.", "var/log"),
    ] = None
    policy: Annotated[
        PolicyTable,
        _hint(
            "What may be read and changed, what waits for a person, and what is refused: see `docs/approval.md`. "
            "No request changes it.",
            {"preset": "review", "change": {"allow": [":docs/**"], "deny": ["app.secrets"]}},
        ),
    ] = PolicyTable()
    proposal_days: Annotated[
        float, _hint("After how many days a change that waits for a person expires.", 14, gt=0, le=3650)
    ] = 14


class UserSettings(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The settings that are the user's own, and that no project can make; all are optional."""

    logs: Annotated[
        tuple[str, ...],
        _hint("Folders anywhere whose files are logs, too, in every project; each an absolute path.", ["/var/log/app"]),
    ] = ()
    policy: Annotated[
        PolicyTable,
        _hint(
            "What may be read and changed, what waits for a person, and what is refused: see `docs/approval.md`. "
            "Of this one and a project's, the stricter counts.",
            {"preset": "review", "change": {"allow": [":docs/**"], "deny": ["app.secrets"]}},
        ),
    ] = PolicyTable()
    notify: Annotated[
        tuple[str, ...],
        _hint(
            "A program with its arguments that is run when a change begins to wait for a person, with facts on it as "
            "JSON on its standard input.",
            ["notify-send", "A change waits for you"],
        ),
    ] = ()


_KEYS = {
    "change": ChangeRules.__struct_fields__,
    "read": ReadRules.__struct_fields__,
    "policy": PolicyTable.__struct_encode_fields__,
}
_OF_POLICY = CallerPolicy.__struct_encode_fields__


class Setting(Struct, frozen=True, kw_only=True):
    """One setting.

    Parameters:
        name: as it is written in the table.
        default: what holds where it is not set; None for what its help says.
        help: what it means.
        example: a value of the right kind.
    """

    name: str
    annotation: Any
    default: Any
    help: str
    example: Any

    @property
    def line(self) -> str:
        """The setting as a line of the table, with its example."""
        return f"{self.name} = {_toml(self.example)}"


class Problem(Struct, frozen=True, kw_only=True):
    """A setting that is wrong.

    Parameters:
        name: as it stands in the table.
        message: what is wrong, as a sentence.
        line: the line that is probably meant, or one of the right kind; empty where there is none.
    """

    name: str
    message: str
    line: str = ""


def settings(kind: type[Struct] = Settings) -> tuple[Setting, ...]:
    """Return every setting that there is.

    Parameters:
        kind: whose they are: `Settings` or `UserSettings`.
    """
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in msgspec.structs.fields(kind):
        [meta] = [each for each in hints[field.name].__metadata__ if isinstance(each, Meta) and each.description]
        found.append(
            Setting(
                name=field.encode_name,
                annotation=hints[field.name],
                default=field.default if field.default not in (None, ()) else None,
                help=meta.description or "",
                example=(meta.examples or [None])[0],
            )
        )
    return tuple(found)


def problems(table: object, kind: type[Struct] = Settings) -> tuple[Problem, ...]:
    """Return the problems of `[tool.bae-source]`, or of the user's own file.

    Parameters:
        table: as TOML was read.
        kind: as `settings` takes it.
    """
    title = TABLE if kind is Settings else USERS
    if not isinstance(table, Mapping):
        return (Problem(name=title, message=f"{title} is no table.", line=title),)
    known = {setting.name: setting for setting in settings(kind)}
    return tuple(problem for name, value in table.items() for problem in _wrong(title, str(name), value, known))


def _wrong(title: str, name: str, value: object, known: Mapping[str, Setting]) -> Iterator[Problem]:
    setting = known.get(name)
    if setting is None:
        yield _unknown(title, name, value, known)
        return
    try:
        msgspec.convert(value, setting.annotation, strict=True)
    except msgspec.ValidationError as error:
        yield _ill_formed(title, name, str(error), setting)


def _ill_formed(title: str, name: str, reason: str, setting: Setting) -> Problem:
    """Return the problem with a value, named by where it stands.

    Object contains unknown field `alow` - at `$.change`       there is no policy.change.alow
    Expected `array`, got `str` - at `$.read.deny`             policy.read.deny is wrong: expected `array`, got `str`
    """
    reason, _, place = reason.partition(" - at `$")
    where = f"{name}{place.removesuffix('`').replace('[...]', '.*')}"
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", reason, re.DOTALL):
        known = _KEYS.get(where.rpartition(".")[2], _OF_POLICY)
        message = f"{title} has no {where}.{unknown[1]}; there are {', '.join(known)} in {where}."
        return Problem(name=f"{where}.{unknown[1]}", message=message, line=setting.line)
    reason = f"{reason[:1].lower()}{reason[1:]}"
    return Problem(name=where, message=f"{title} {where} is wrong: {reason}.", line=setting.line)


def _unknown(title: str, name: str, value: object, known: Mapping[str, Setting]) -> Problem:
    message = f"{title} has no setting {name!r}"
    close = closest(name.replace("_", "-"), known, n=1)
    if not close:
        return Problem(name=name, message=f"{message}; there are {', '.join(known)}.")
    return Problem(name=name, message=f"{message}, did you mean {close[0]}?", line=f"{close[0]} = {_toml(value)}")


def _toml(value: object) -> str:
    """Write a value as TOML does; what JSON writes alike, for the few kinds that settings have."""
    return json.dumps(value, default=str)
