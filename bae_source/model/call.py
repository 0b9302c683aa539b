"""A request as the line that a person types for it, and that an answer can offer as the next call.

Invariants:
- the line, split as a shell does, is what the command line makes the same request of;
- parameters that have their default are left out.
"""

from __future__ import annotations

from typing import Any

from bae_source.model.request import Parameter, Request, command_of, parameters

_PLACED = ("target", "uris", "scope", "operation_id")
"""Parameters that stand without a flag though they may be left out, unless one with several values stands before."""

_SPELLED = {"as_name": "as", "imports": "import"}
"""Options that the command line calls otherwise than the parameter."""


def call_of(request: Request, **more: object) -> str:
    """Return the call of a request.

    Parameters:
        more: options that are no parameters of the request, such as `cursor`.
    """
    import shlex  # 5 ms, which only an answer that offers calls needs

    placed: list[str] = []
    flagged: list[str] = []
    several = False
    for parameter in parameters(type(request)):
        value = getattr(request, parameter.name)
        if parameter.required or (parameter.name in _PLACED and value and not several):
            several = isinstance(value, (tuple, list))
            placed += [str(each) for each in value] if several else [str(value)]
        elif value != parameter.default:
            flagged += _flagged(parameter, value)
    for name, value in more.items():
        flagged += [f"--{name}", str(value)] if value is not None else []
    if any(word.startswith("-") for word in placed):
        return shlex.join([*command_of(type(request)).split(), *flagged, "--", *placed])
    return shlex.join([*command_of(type(request)).split(), *placed, *flagged])


def _flagged(parameter: Parameter, value: Any) -> list[str]:
    flag = _SPELLED.get(parameter.name, parameter.name.replace("_", "-"))
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    if isinstance(value, (tuple, list)):
        return [word for each in value for word in (f"--{flag}", str(each))]
    word = str(value)
    return [f"--{flag}={word}"] if word.startswith("-") else [f"--{flag}", word]
