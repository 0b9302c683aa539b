"""The requests that every adapter gets, in this order; each project goes the same way.

A text in braces stands for something that differs: `{op:-1}` for the id of the last operation, `{etag:NAME}` for an
etag that a read of the name gave.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Around = Callable[[Path], AbstractContextManager[None]]
UNTYPED = frozenset({"command line"})
"""What no words can say: values of another type, unknown names."""


@dataclass(frozen=True)
class Asked:
    """One request.

    Parameters:
        comes: the status, or the code of the error.
        skip: adapters that cannot put it.
        around: what is so while it is answered.
    """

    verb: str
    arguments: dict[str, Any]
    comes: str
    skip: frozenset[str] = frozenset()
    around: Around = field(default=lambda _: nullcontext())


def _a(verb: str, comes: str = "answer", *, around: Around | None = None, **arguments: Any) -> Asked:
    return Asked(verb, arguments, comes, around=around or (lambda _: nullcontext()))


def _wrong(verb: str, **arguments: Any) -> Asked:
    """Return a request whose arguments only a program can get wrong so."""
    return Asked(verb, arguments, "invalid_arguments", skip=UNTYPED)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the project's lock, as another process does that changes it."""
    path = root / ".git" / "bae-source" / "lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _state_is_a_file(root: Path) -> Iterator[None]:
    """Put a file where our own state lies, so that nothing of it can be written."""
    state, aside = root / ".git" / "bae-source", root.parent / "aside"
    state.rename(aside)
    state.write_text("in the way\n")
    yield
    state.unlink()
    aside.rename(state)


def _failing(first: int) -> Around:
    """Have the disk fail from one `fsync` on."""

    @contextmanager
    def fail(root: Path) -> Iterator[None]:
        place = root.parent / "fault"
        place.write_text(str(first))
        yield
        place.unlink()

    return fail


def _changed_outside(name: str, content: bytes) -> Around:
    @contextmanager
    def change(root: Path) -> Iterator[None]:
        path = root / name
        before = path.read_bytes()
        path.write_bytes(before + content)
        yield
        path.write_bytes(before)

    return change


READS = [
    _a("read"),
    _a("read", target="app"),
    _a("read", target="app.client"),
    _a("read", target="app.client", full=True),
    _a("read", target="app.client", private=True, numbers=True),
    _a("read", target="app.Client"),
    _a("read", target="app.client.Client"),
    _a("read", target="app.client.Client.send"),
    _a("read", target="app.client.Client.send", dedent=True),
    _a("read", target="app.client.Client.send", numbers=True),
    _a("read", target="app.client.Client.send@body"),
    _a("read", target="app.client.Client.send@signature"),
    _a("read", target="app.client.Base.send@docstring"),
    _a("read", target="app.client.Client.name"),
    _a("read", target="app.client.Client.name@setter"),
    _a("read", target="app.client.Client.timeout"),
    _a("read", target="app.twice.f[1]"),
    _a("read", target="app.greek.χαῖρε"),
    _a("read", target="app.latin", full=True),
    _a("read", target="app.windows", full=True),
    _a("read", target="app.windows.greet"),
    _a("read", target="app.broken", full=True),
    _a("read", target="app.broken.f"),
    _a("read", target="app:templates/page.html"),
    _a("read", target="app:templates"),
    _a("read", target="app:binary.bin"),
    _a("read", target="sym://python/type/client/Client#send"),
    _a("read", target=["app.client.Client.send", "app.twice.f[1]", "app.client"]),
    _a("read", target=["app.client.Client.send", "app.client.nope", "app/client.py"]),
    _a("read", target=["app.client.nope", "app.client.neither"], comes="symbol_not_found"),
    _a("read", target="app.client.Client.*"),
    _a("read", target="app/client.py:8"),
    _a("read", target="app/client.py:1-5", numbers=True),
    Asked("read", {"target": "app.client.Client.send", "around": True}, "answer"),
    _a("grep", pattern=["send", "Client"], scope="app.client", count=True),
    _a("grep", pattern="send\\|nothing", ignore_case=True, word=True, after=1),
    _a("grep", pattern="send(", fixed=True, only_matching=True),
    _a("grep", pattern="e", scope="app.client", invert=True),
    _a("grep", pattern="send", modules=True),
    _a("grep", pattern="send(", comes="invalid_arguments"),
    _a("read", target="app.long", full=True, budget=2000, comes="budget_exceeded"),
    _a("read", target="app.long", full=True, budget=2000, cursor="0"),
    _a("read", target="app.greek", full=True, budget=100, cursor="0"),
    _a("read", target="app.client.Client", budget=100_000),
    _a("outline"),
    _a("outline", target="app", depth=2),
    _a("outline", target="app.client", depth=0),
    _a("outline", target="app.client.Client", private=True, numbers=True),
    _a("outline", target="app.long", budget=500, comes="budget_exceeded"),
    _a("where", place="app/client.py:24"),
    _a("where", place='File "app/client.py", line 10, in send'),
    _a("glob", pattern="app.*"),
    _a("glob", pattern="**.send"),
    _a("glob", pattern="**.Client", kind="class"),
    _a("glob", pattern="**.χ*"),
    _a("glob", pattern="nothing.**"),
    _a("glob", pattern="app.long.*", budget=700, cursor="0"),
    _a("grep", pattern="timeout"),
    _a("grep", pattern="SEND", scope="app.client", ignore_case=True, context=1),
    _a("grep", pattern="[Gg]rüße"),
    _a("grep", pattern="hello", ignore_case=True, data=False),
    _a("glob", pattern="app.**", attributes=True),
    _a("outline", target="app.client", depth=2, attributes=True),
    _a("grep", pattern="return", symbols=True, word=True),
    _a("grep", pattern=r"def send.*\n.*Send", multi_line=True),
    _a("grep", pattern="-x"),
    _a("grep", pattern="return", budget=1000, comes="budget_exceeded"),
    _a("find", pattern="Client().send($X)"),
    _a("find", pattern="return $X", scope="app.use"),
    _a("search", words=["send", "text"]),
    _a("search", words=["welt"], scope="app", limit=3),
    _a("references", target="app.client.Client.send"),
    _a("references", target="app.client.encoded"),
    _a("callers", target="app.client.encoded"),
    _a("callees", target="app.use.go"),
    _a("imports_of", target="app.use"),
    _a("importers_of", target="app.client"),
    _a("subclasses", target="app.client.Base"),
    _a("overrides", target="app.client.Base.send"),
    _a("unused"),
    _a("unused", scope="app.client", certainty="sure", kind="function"),
    _a("exports_check"),
    _a("exports_check", target="app"),
    _a("symbols", comes="ok", uris=["sym://python/mod/client"]),
    _a("symbols", comes="ok", uris=["sym://python/type/app/client/Client"]),
    _a("snippet", comes="ok", uris=["sym://python/type/client/Client#send"]),
    _a("snippet", comes="ok", uris=["sym://python/type/client/Client", "sym://python/type/use/go"]),
    _a("hover", comes="ok", uris=["sym://python/type/client/encoded"], language_server="off"),
    _a("snippet", comes="ok", uris=["sym://python/mod/long"], exact=False),
    _a("history"),
    _a("history", target="app.client", diff=True),
    _a("history", limit=1, who="somebody", since="1d"),
]

REFUSED = [
    _a("read", "symbol_not_found", target="app.nope"),
    _a("read", "symbol_not_found", target="app.client.Clint"),
    _a("read", "symbol_not_found", target="nope.at.all"),
    _a("read", "symbol_not_found", target="app:templates/none.html"),
    _a("read", "symbol_not_found", target="app.greek.χαίρω"),
    _a("read", "ambiguous_symbol", target="app.twice.f"),
    _a("read", "invalid_name", target="app/client.py"),
    _a("read", "invalid_name", target="app..client"),
    _a("read", "invalid_name", target="../etc/passwd"),
    _a("read", "invalid_name", target="app:../../etc/passwd"),
    _a("read", "invalid_name", target="a" * 5000),
    _a("read", "invalid_name", target="app.client@nonsense"),
    _a("read", "invalid_selector_syntax", target="sym://python/mod/a.py"),
    _a("read", "language_not_supported", target="sym://js/mod/x"),
    _a("read", "symbol_not_found", target="app.linked"),
    _a("where", "outside_project", place="/etc/passwd:1"),
    _a("read", "encoding_invalid", target="app.garbage.x"),
    _a("references", "syntax_invalid", target="app.broken.f"),
    _a("read", "invalid_arguments", target="app", cursor="nonsense"),
    _a("read", "invalid_arguments", target="app", budget=3),
    _a("read", "stale", target="app.long", full=True, budget=2000, cursor="10-2000-000000000000"),
    _a("where", "symbol_not_found", place="app/none.py:1"),
    _a("where", "symbol_not_found", place="nonsense"),
    _a("grep", "invalid_arguments", pattern="("),
    _a("grep", "invalid_arguments", pattern="x", context=1000),
    _a("grep", "symbol_not_found", pattern="x", scope="app.nope"),
    _a("find", "invalid_arguments", pattern="return ("),
    _a("search", "invalid_arguments", words=["x"], limit=0),
    _a("outline", "invalid_arguments", target="app", depth=-1),
    _a("history", "invalid_arguments", since="yesterday"),
    _a("references", "symbol_not_found", target="app.client.Client.nope"),
    _a("subclasses", "symbol_not_found", target="app.client.Nope"),
    _a("symbols", "error", uris=["sym://python/mod/nope"]),
    _a("symbols", "error", uris=["nonsense"]),
    _a("symbols", "error", uris=["sym://js/mod/x"]),
    _a("snippet", "error", uris=["sym://python/type/twice/f"]),
    _a("hover", "error", uris=["sym://python/mod/broken"], language_server="off"),
    _a("undo", "nothing_to_undo"),
    _a("redo", "nothing_to_undo"),
    _a("undo", "nothing_to_undo", operation_id="op_doesnotexist"),
    _wrong("read", target=325035),
    _wrong("read", traget="app"),
    _wrong("read", target="app", full="yes", numbres=True),
    _wrong("read", target=None),
    _wrong("read", target=[3]),
    _wrong("edit"),
    _wrong("edit", target="app.client.Client", new_source=3, old=4, imports="import os", nope=1),
    _wrong("edit", target="app.client.Client", dry_run="yes"),
    _wrong("edit", target="app.client.Client", reload="sometimes"),
    _wrong("insert", target="app.client"),
    _wrong("insert", target="app.client", new_source="x = 1\n", position="beside"),
    _wrong("glob", pattern="x", kind="thing"),
    _wrong("grep", pattern=1.5),
    _wrong("search", words="one text"),
    _wrong("delete", target="app.client", recursive=1),
    _wrong("apply", requests=[]),
    _wrong("apply", requests=[1, 2]),
    _wrong("history", limit="many"),
    _wrong("prune", keep=-1),
    _a("ledger_show", "invalid_arguments", since="yesterday"),
    Asked("symbols", {"uris": [3]}, "error", skip=UNTYPED),
    Asked("read", {"target": "app\0client"}, "invalid_name", skip=UNTYPED),
]

DEEP: Any = "deep"
for _ in range(40):
    DEEP = [DEEP]
SEND = "def send(self, text: str) -> str:\n    return json.dumps(text)\n"

CHANGES = [
    _a("edit", "planned", target="app.client.Client.send", new_source=SEND, dry_run=True),
    _a("edit", "stale", target="app.client.Client.send", new_source=SEND, if_match="0123456789abcdef"),
    _a("edit", "applied", target="app.client.Client.send", new_source=SEND, reload="child", why="simpler"),
    _a("edit", "unchanged", target="app.client.Client.send", new_source=SEND, reload="off"),
    _a("history"),
    _a("history", target="{op:-1}", diff=True),
    _a("undo", "applied", reload="off"),
    _a("redo", "applied", reload="off"),
    _a("undo", "applied", operation_id="{op:0}", reload="off"),
    _a("extract", "planned", target="app.use.go", code='encoded("y")', as_name="last", dry_run=True),
    _a("extract", "invalid_arguments", target="app.use.go", lines="2-3", as_name="last"),
    _a("extract", "name_collision", target="app.use.go", code='encoded("y")', as_name="go"),
    _a("rewrite", "planned", pattern="return $X", replacement="return ($X)", scope="app.use", dry_run=True),
    _a("rewrite", "unchanged", pattern="nothing_of_that_name($X)", replacement="other($X)", where=["$X is app.client"]),
    _a("rewrite", "invalid_arguments", pattern="f($X)", replacement="g($Y)"),
    _a("replace", "planned", text="Hello", replacement="Good day", scope="app", dry_run=True),
    _a("replace", "unchanged", text="nothing of that kind", replacement="x"),
    _a("replace", "unsafe_change", text="Hello", replacement="x", expect=99),
    _a("edit", "invalid_arguments", target="app.client.Client.send"),
    _a("edit", "invalid_arguments", target="app.client.Client.send", old="x"),
    _a("edit", "syntax_invalid", target="app.client.Client.send", new_source="def send(:\n"),
    _a("edit", "unsafe_change", target="app.client.Client.send", new_source="def other(self): ...\n"),
    _a("edit", "unsafe_change", target="app.client", new_source="x = 1\n"),
    _a("edit", "symbol_not_found", target="app.client.Client.sned", new_source=SEND),
    _a("edit", "ambiguous_symbol", target="app.twice.f", new_source="def f(): ...\n"),
    _a("edit", "not_lossless", target="app.lossy.X", new_source="X = 2\n"),
    _a("edit", "encoding_invalid", target="app.garbage.x", new_source="x = 2\n"),
    _a("edit", "encoding_invalid", target="app.latin.NAME", new_source='NAME = "🌍"\n', reload="off"),
    _a("edit", "applied", target="app.latin.NAME", old="café", new="Café", reload="off"),
    _a("edit", "applied", target="app.windows.greet", old='"hi"', new='"hello"', reload="off"),
    _a(
        "edit",
        "applied",
        target="app.greek.χαῖρε",
        new_source='def χαῖρε(κόσμε="🌍🌍"):\n  return κόσμε\n',
        reload="off",
    ),
    _a(
        "edit",
        "applied",
        target="app.client.Client.timeout",
        new_source="timeout = 10",
        imports=["import os"],
        reload="off",
    ),
    _a("edit", "applied", target="app.client.encoded", comment="# Upper case.\n", reload="off"),
    _a("edit", "applied", target="app:templates/page.html", old="Hello", new="Grüße", reload="off"),
    _a(
        "edit",
        "reload_failed",
        target="app.use.go",
        new_source="def go():\n    return 1\n",
        imports=["import nowhere_at_all"],
        reload="child",
    ),
    _a(
        "edit",
        "unsafe_change",
        target="app.cycle_a.A",
        new_source="A = 1\n",
        imports=["import app.cycle_b"],
        verify=["cycles"],
        reload="off",
    ),
    _a("edit", "verify_failed", target="app.cycle_a.A", new_source="A = 2\n", verify=["command false"], reload="off"),
    _a("edit", "timed_out", target="app.cycle_a.A", new_source="A = 2\n", verify=["command sleep 60"], reload="off"),
    _a("edit", "invalid_arguments", target="app.cycle_a.A", new_source="A = 2\n", verify=["nonsense"]),
    _a("edit", "applied", target="app.cycle_a.A", new_source="A = 2\n", verify=["command true"], reload="off"),
    _a(
        "edit",
        "applied",
        target="app.long.f7",
        new_source="def f7():\n" + "    x = 1\n" * 900,
        reload="off",
        budget=1000,
    ),
    _a(
        "edit",
        "applied",
        target="app.long.f8",
        new_source="def f8():\n" + "    y = 'ß'\n" * 20_000,
        reload="off",
        budget=1000,
    ),
    _a("undo", "applied", reload="off", budget=1000),
    _a(
        "insert",
        "applied",
        target="app.client",
        new_source="def more():\n    return 1\n",
        position="last",
        reload="off",
    ),
    _a(
        "insert",
        "applied",
        target="app.client.Client",
        new_source="def extra(self): ...\n",
        position="first",
        reload="off",
    ),
    _a("insert", "name_collision", target="app.client", new_source="def encoded(): ...\n", position="last"),
    _a("insert", "symbol_not_found", target="app.client.Nope", new_source="x = 1\n"),
    _a("delete", "applied", target="app.client.unused", reload="off"),
    _a("delete", "symbol_not_found", target="app.client.unused"),
    _a("delete", "planned", target="app.twice", dry_run=True),
    _a("write", "applied", target="app.fresh", source='"""Fresh."""\n\nVALUE = "ö"\n', reload="child"),
    _a("write", "name_collision", target="app.fresh", source="x = 1\n"),
    _a("write", "applied", target="app.fresh", source="x = 1\n", overwrite=True, reload="off"),
    _a("write", "applied", target="app.sub.deep", source="def public(): ...\n", export=True, reload="off"),
    _a("write", "syntax_invalid", target="app.bad", source="def (\n"),
    _a("write", "invalid_name", target="app/bad.py", source="x = 1\n"),
    _a("write", "invalid_arguments", target="app.huge", source="#" * 8_100_000),
    _a("write", "applied", target="app:notes.txt", source="Grüße\n" * 20_000, reload="off", budget=500),
    _a("move", "applied", target="app.fresh", to="app.stale", reload="off"),
    _a("move", "symbol_not_found", target="app.fresh", to="app.other"),
    _a("move", "name_collision", target="app.stale", to="app.client"),
    _a("exports_add", "applied", target="app.client", names=["encoded"], reload="off"),
    _a("exports_add", "symbol_not_found", target="app.client", names=["nope"]),
    _a("exports_remove", "applied", target="app.client", names=["encoded"], reload="off"),
    _a(
        "apply",
        "applied",
        message="two at once",
        reload="off",
        requests=[
            {"do": "edit", "target": "app.use.go", "old": '"x"', "new": '"z"'},
            {"do": "insert", "target": "app.use", "new_source": "LAST = 1\n", "position": "last"},
        ],
    ),
    _a(
        "apply",
        "symbol_not_found",
        requests=[
            {"do": "edit", "target": "app.use.go", "old": '"z"', "new": '"w"'},
            {"do": "delete", "target": "app.use.nope"},
        ],
    ),
    _a(
        "apply",
        "invalid_arguments",
        requests=[{"do": "rename", "target": "x"}, {"target": "y"}, {"do": "edit", "traget": 3}],
    ),
    _a("apply", "invalid_arguments", requests=[{"do": "edit", "target": DEEP}]),
    _a("undo", "undo_conflict", operation_id="{op:-1}", around=_changed_outside("app/use.py", b"LAST += 1\n")),
    _a(
        "edit",
        "forbidden",
        target="app.cycle_a.A",
        new_source="A = 3\n",
        reload="off",
        around=_state_is_a_file,
    ),
    _a("edit", "write_failed", target="app.cycle_a.A", new_source="A = 3\n", reload="off", around=_failing(2)),
    _a("edit", "rollback_failed", target="app.cycle_a.A", new_source="A = 3\n", reload="off", around=_failing(3)),
    _a("read", target="app.cycle_a.A"),
    _a("edit", "busy", target="app.cycle_a.A", new_source="A = 3\n", reload="off", around=_locked),
    _a("edit", "applied", target="app.cycle_a.A", new_source="A = 3\n", reload="off"),
    _a("undo", "planned", dry_run=True, reload="off"),
    _a("undo", "applied", count=2, reload="off"),
    _a("history", limit=5),
    _a("history", limit=50, budget=600, cursor="0"),
    _a("prune", "planned", keep=1, dry_run=True),
    _a("prune", "applied", keep=1),
    _a("undo", "nothing_to_undo", operation_id="{op:0}"),
    _a("ledger_show", limit=500),
    _a("ledger_show", event="change_refused", who="agree", since="1d", limit=2),
    _a("ledger_show", task="{op:-1}", budget=600, cursor="0"),
    _a("ledger_head"),
    _a("ledger_verify"),
    _a("ledger_verify", head="0123456789abcdef" * 4),
    _a("telemetry"),
    _a("read", target="app.client", full=True),
    _a("forget", "applied"),
]

REQUESTS = [*READS, *REFUSED, *CHANGES]
