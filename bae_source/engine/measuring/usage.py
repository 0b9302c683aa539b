"""The notes of telemetry as a table: how often each request was made, how long it took, and what parsing takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bae_source.engine.measuring.telemetry import SUCCESSES, Line
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request

_TARGETS = (("5", "under 5 KB", 10), ("50", "5 to 50 KB", 50), ("200", "50 to 200 KB", 200), ("more", "larger", None))
"""Buckets of files, what they are called, and in how many milliseconds 95 of 100 of them shall be parsed."""


class Telemetry(Request, frozen=True, kw_only=True):
    """Show how many requests there were and how long they took, and parsing by file size against its targets.

    Nothing of this leaves the machine. `telemetry = false` in [tool.bae-source], or BAE_SOURCE_TELEMETRY=off in the
    environment, switches it off.
    """

    verb: ClassVar[str] = "telemetry"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "telemetry"
    when: ClassVar[str] = "Use it to see what is slow."
    examples: ClassVar[tuple[str, ...]] = (
        "telemetry",
        "read app.net.Client",
    )


def usage(lines: Iterable[Line]) -> Outcome:
    """Return the tables of requests and of parsing."""
    requests: dict[str, list[Line]] = {}
    parse: dict[str, dict[float, int]] = {}
    for line in lines:
        requests.setdefault(line.request, []).append(line)
        for bucket, times in line.parse.items():
            known = parse.setdefault(bucket, {})
            for time, count in times.items():
                known[_number(time)] = known.get(_number(time), 0) + count
    if not requests:
        return Outcome(status="answer", text="(no requests)")
    return Outcome(status="answer", text="\n".join([*_requests(requests), "", *_parsing(parse)]))


def percentile(times: Mapping[float, int], part: float) -> float:
    """Return the time that `part` of all counted ones do not exceed."""
    wanted = part * sum(times.values())
    seen = 0
    for time in sorted(times):
        seen += times[time]
        if seen >= wanted:
            return time
    return 0.0


def _requests(requests: Mapping[str, list[Line]]) -> list[str]:
    width = max(len("request"), *map(len, requests))
    rows = [f"{'request':<{width}}  {'count':>7}  {'failed':>7}  {'p50 ms':>9}  {'p95 ms':>9}"]
    for name, lines in sorted(requests.items()):
        failed = sum(line.code not in SUCCESSES for line in lines)
        times: dict[float, int] = {}
        for line in lines:
            times[line.ms] = times.get(line.ms, 0) + 1
        rows.append(f"{name:<{width}}  {len(lines):>7}  {failed:>7}  {_both(times)}")
    return rows


def _parsing(parse: Mapping[str, Mapping[float, int]]) -> list[str]:
    rows = [f"{'parsed files':<12}  {'count':>7}  {'p50 ms':>9}  {'p95 ms':>9}  target"]
    for bucket, name, target in _TARGETS:
        times = parse.get(bucket, {})
        if not times:
            rows.append(f"{name:<12}  {0:>7}  {'-':>9}  {'-':>9}  {f'{target} ms' if target else 'none'}")
            continue
        goal = "none" if target is None else f"{target} ms, {'met' if percentile(times, 0.95) <= target else 'missed'}"
        rows.append(f"{name:<12}  {sum(times.values()):>7}  {_both(times)}  {goal}")
    return rows


def _both(times: Mapping[float, int]) -> str:
    return f"{percentile(times, 0.5):>9.2f}  {percentile(times, 0.95):>9.2f}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
