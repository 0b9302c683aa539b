"""The review page, driven in headless chromium as a person would, against a project whose agents propose changes.

- *keys*: opened by the printed address; a change is approved by the keyboard, and undone;
- *parts*: one symbol of three is refused with a reason, and the rest approved under its new digest;
- *stale*: a file changes while its change is read; nothing can be pressed until it is planned anew;
- *tabs*: what is decided in one shows in the other, and who presses second is told;
- *alike*: changes of comments are listed, and approved by one decision, each by its own digest;
- *hostile*: source, reasons and names that look like markup, or reorder a line, are shown as they are;
- *busy*: while an approval runs tests, the page stays usable;
- *long*: a diff of 5,000 lines is all there, and can be used; *many*: 10,000 proposals, first paint and scrolling;
- *looks*: phone width, dark and light; nothing is wider than the screen, all text has the contrast that AA wants.

    python -m benchmarks.review_page [--only keys --only tabs …] [--pictures FOLDER] [--chromium PATH]

Needs chromium, and playwright. Each step prints what it saw; the exit status is 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

FIRST_PAINT = 1.0
"""Seconds from the address to the first rows of 10,000."""
SMOOTH = 20.0
"""Milliseconds that a frame takes, in the middle, while a list is scrolled by 240 pixels a frame."""
LATE = 50.0
"""Milliseconds that 19 of 20 frames may take, on a machine that has other work and no graphics card."""
MANY = 10_000
LONG = 5_000
_PATIENCE = 60_000.0
_CORE = '''\
"""Sending."""

LIMIT = 3
PAUSE = 1


def send(text, to):
    """Send a text."""
    for attempt in range(LIMIT):
        if _post(text, to):
            return True
    return False


def _post(text, to):
    return bool(text) and bool(to)


def greet(name):
    """Greet someone."""
    return send(f"Hello {name}", name)
'''
_SEND = '''\
def send(text, to, limit=LIMIT):
    """Send a text, and try again."""
    for attempt in range(limit):
        if _post(text, to):
            return True
        print(f"attempt {attempt} of {limit} failed")
    return False
'''
_HOSTILE = '''\
def page(name):
    """<img src=x onerror="document.title = 'owned'">"""
    kind = "user\u202e\u2066// admin\u2069\u2066"
    return f"<script>document.title = 'owned'</script><b>{name}</b>{kind}</code></div>"
'''
_SLOW = '''\
import time

from app.core import greet


def test_slowly():
    time.sleep(6)
    assert greet("ana")
'''
_LEAKS = "document.title.includes('owned') || document.querySelectorAll('#main script, #main img, #main b b').length > 0"
_FRAMES = """
async (name) => {
  const list = document.getElementById(name) ?? document.documentElement;
  const times = [];
  let before = performance.now();
  for (let frame = 0; frame < 240; frame += 1) {
    list.scrollTop += 240;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  const box = list.getBoundingClientRect();
  const empty = [0.1, 0.5, 0.9].filter((part) =>
    !document.elementFromPoint(box.x + 300, box.y + box.height * part)?.closest('.option')).length;
  times.sort((a, b) => a - b);
  return { median: times[120], late: times[228], worst: times[239], empty, at: list.scrollTop };
}
"""
_CONTRAST = """
() => {
  const part = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const read = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = read(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest('.unseen, .skip, [disabled]')) continue;
    const [a, b] = [light(read(getComputedStyle(element).color).slice(0, 3)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${element.className || element.tagName} ${ratio.toFixed(2)} ${element.textContent.slice(0, 20)}`);
  }
  return [...new Set(found)];
}
"""


class Bench:
    """A browser, projects below a folder, and what came out.

    Attributes:
        differ: how many things are not as they should be.
    """

    def __init__(self, folder: Path, browser: Browser, pictures: Path | None) -> None:
        self.differ = 0
        self.pictures = pictures
        self._folder = folder
        self._browser = browser
        home = folder / "home"
        home.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BAE_SOURCE", "XDG_"))}
        self.environment = {**kept, "HOME": str(home), "NO_COLOR": "1", "BAE_SOURCE_SERVE": "off"}

    def check(self, what: str, found: object, wanted: object = True) -> None:
        """Print whether something is as it should be."""
        holds = found == wanted
        self.differ += not holds
        print(f"  {'holds' if holds else 'DIFFERS'}  {what}{'' if holds else f': {found!r}, not {wanted!r}'}")

    def project(self, name: str, **files: str) -> Path:
        """Make a project, in which every change waits."""
        root = self._folder / name
        for path, text in {
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n\n[tool.bae-source.policy]\npreset = "review"\n',
            "src/app/__init__.py": "",
            "src/app/core.py": _CORE,
            **files,
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    def ours(self, root: Path, *words: str, given: str = "", who: str = "bot") -> str:
        """Run a command of ours, and return what it prints."""
        line = [sys.executable, "-m", "bae_source", *words]
        environment = {**self.environment, "BAE_SOURCE_WHO": who}
        run = subprocess.run(line, cwd=root, env=environment, input=given, capture_output=True, text=True, check=False)
        return run.stdout + run.stderr

    def proposes(self, root: Path, name: str, source: str, reason: str, *words: str, who: str = "bot") -> str:
        """Have an agent propose an edit, and return the proposal's name."""
        said = self.ours(
            root, "edit", name, "--source", "-", "--propose", reason, "--goal", "T-17", *words, given=source, who=who
        )
        found = re.search(r"code_mod_[0-9a-f]{8}", said)
        if found is None:
            raise SystemExit(f"nothing was proposed: {said}")
        return found[0]

    @contextmanager
    def page(self, root: Path, **options: Any) -> Iterator[tuple[Page, str, BrowserContext]]:
        """Open the page as a person does: by the address that `review` prints at a terminal."""
        with _served(root, self.environment) as address:
            context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
            context.set_default_timeout(_PATIENCE)
            try:
                yield self.tab(context, address), address, context
            finally:
                context.close()

    def tab(self, context: BrowserContext, address: str) -> Page:
        """Open one more tab; what its console has to say counts as wrong."""
        page = context.new_page()
        page.on("console", lambda said: self.check("the console is quiet", f"{said.text} {said.location}", "") if _matters(said) else None)
        page.on("pageerror", lambda error: self.check("no script fails", str(error), ""))
        page.goto(address)
        page.wait_for_selector("h1")
        return page

    def picture(self, page: Page, name: str) -> None:
        """Keep a picture of a page, if that was asked for."""
        if self.pictures is not None:
            page.screenshot(path=self.pictures / f"{name}.png")


def _matters(said: Any) -> bool:
    """Say whether a message counts: what the server answers with on purpose is logged by the browser as well."""
    return said.type in ("error", "warning") and "status of 409" not in said.text


@contextmanager
def _served(root: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run `review` at a terminal, and return the address that it prints."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "bae_source", "review", "--no-browser", "--who", "ana"]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, cwd=root, env=environment) as process:
        os.close(theirs)
        shown = ""
        until = time.monotonic() + 60
        while (found := re.search(r"http://\S+", shown)) is None or not shown.endswith("\n"):
            if not select.select([ours], [], [], max(0.0, until - time.monotonic()))[0]:
                raise SystemExit(f"no address was printed: {shown}")
            with suppress(OSError):
                shown += os.read(ours, 65_536).decode()
        try:
            yield found[0]
        finally:
            process.terminate()
            os.close(ours)


def _open(page: Page, task: str) -> None:
    page.evaluate(f"location.hash = '#/task/{task}'")
    page.wait_for_selector(".change-top h1")
    page.wait_for_function(f"() => document.querySelector('.digest') && location.hash.endsWith('{task}')")


def _approve(page: Page) -> None:
    """Approve what is shown, by the keyboard."""
    page.keyboard.press("a")
    page.wait_for_selector("dialog .approves:enabled")
    page.keyboard.press("Enter")


def _notice(page: Page, text: str) -> str:
    """Wait for a message, and return it."""
    place = page.locator(".notice", has_text=text).first
    place.wait_for()
    return place.locator("p").first.inner_text()


def keys(bench: Bench) -> None:
    """Approve and undo by the keyboard."""
    root = bench.project("keys")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few.")
    with bench.page(root) as (page, address, _):
        page.wait_for_selector(".option")
        bench.check("the token leaves the address bar", page.evaluate("location.href"), address.partition("#")[0] + "#/")
        page.keyboard.press("?")
        bench.check("the keys are told", page.locator("dialog .keys dt").count() >= 10)
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("o")
        page.wait_for_selector(".section .symbol")
        bench.check("a symbol heads it", page.locator(".section .symbol").all_inner_texts(), ["app.core.LIMIT"])
        page.keyboard.press("a")
        words = page.locator("dialog .words").inner_text()
        bench.check("the scope is in words", words, "Approves exactly this: 1 symbol in 1 file, nothing else, once.")
        page.keyboard.press("Escape")
        bench.check("Escape decides nothing", "LIMIT = 3" in (root / "src/app/core.py").read_text())
        _approve(page)
        print("  saw:", _notice(page, "Applied"))
        bench.check("it is made", "LIMIT = 5" in (root / "src/app/core.py").read_text())
        page.wait_for_selector(".empty:visible")
        page.keyboard.press("u")
        page.wait_for_selector("dialog .rejects:enabled")
        page.keyboard.press("Enter")
        print("  saw:", _notice(page, "Undid"))
        bench.check("it is undone", "LIMIT = 3" in (root / "src/app/core.py").read_text())
        page.click("nav a[data-view=ledger]")
        page.wait_for_selector(".banner.holds")
        bench.check("the chain holds", page.locator(".entry").count() >= 3)
        page.click("nav a[data-view=history]")
        page.wait_for_selector(".operation")
        bench.check("the history has both", page.locator(".operation").count(), 2)
        page.reload()
        page.wait_for_selector(".operation")
        bench.check("a reload keeps the tab's token", page.locator(".operation").count(), 2)


def without_token(bench: Bench) -> None:
    """Open the page without the token."""
    root = bench.project("outside")
    with bench.page(root) as (_, address, context):
        page = context.browser.new_context().new_page() if context.browser else context.new_page()
        page.goto(address.partition("#")[0])
        page.wait_for_selector(".outside h1")
        print("  saw:", page.locator("h1").inner_text())
        bench.check("nothing of the project is shown", root.name in page.locator("body").inner_text(), False)


def parts(bench: Bench) -> None:
    """Refuse one symbol of three."""
    root = bench.project("parts")
    requests = (
        '[{"do": "edit", "target": "app.core.LIMIT", "new_source": "LIMIT = 9\\n"},'
        ' {"do": "edit", "target": "app.core._post", "new_source": "def _post(text, to):\\n    return bool(text and to)\\n"},'
        ' {"do": "edit", "target": "app.core.greet", "new_source": "def greet(name):\\n    \\"\\"\\"Greet.\\"\\"\\"\\n    return send(f\\"Hi {name}\\", name)\\n"}]'
    )
    said = bench.ours(root, "apply", "-", "--propose", "three at once", given=requests)
    task = re.findall(r"code_mod_[0-9a-f]{8}", said)[0]
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, task)
        page.wait_for_selector(".section")
        bench.check("three symbols", page.locator(".section").count(), 3)
        before = page.locator(".change-top .digest").inner_text()
        for name in ("app.core._post", "app.core.greet"):
            page.get_by_label(f"Reviewed {name}").check()
        page.get_by_label("Take app.core.LIMIT").uncheck()
        bench.check("nothing can be approved with it", page.locator(".actions .approves").count(), 0)
        page.keyboard.press("r")
        page.wait_for_selector("dialog textarea")
        bench.check("a reason is needed", page.locator("dialog .rejects").is_disabled())
        page.keyboard.type("It stays at 3.")
        page.wait_for_selector("dialog .rejects:enabled")
        page.keyboard.press("Control+Enter")
        print("  saw:", _notice(page, "Took app.core.LIMIT out"))
        page.wait_for_function("() => document.querySelectorAll('.section').length === 2")
        bench.check("the rest has another digest", page.locator(".change-top .digest").inner_text() != before)
        bench.check("what was reviewed still is", page.locator(".tools [role=status]").inner_text(), "Reviewed 2 of 2 sections")
        bench.check("the refusal is shown", "It stays at 3." in page.locator(".taken").inner_text())
        _approve(page)
        _notice(page, "Applied")
        text = (root / "src/app/core.py").read_text()
        bench.check("two are made, and one is not", ["LIMIT = 3" in text, "text and to" in text, "Hi {name}" in text], [True] * 3)
        bench.check("the proposer is told why", "It stays at 3." in bench.ours(root, "wait", task, "--seconds", "1"))


def stale(bench: Bench) -> None:
    """Have a file change while its change is read."""
    root = bench.project("stale")
    task = bench.proposes(root, "app.core.send", _SEND, "Retry.")
    core = root / "src/app/core.py"
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, task)
        page.get_by_label("Reviewed app.core.send").check()
        page.keyboard.press("a")
        page.wait_for_selector("dialog .approves:enabled")
        core.write_text(core.read_text().replace("PAUSE = 1", "PAUSE = 2"))
        page.wait_for_selector("dialog .problem:not(:empty)")
        print("  saw:", page.locator("dialog .problem").inner_text())
        bench.check("the button is off", page.locator("dialog .approves").is_disabled())
        page.keyboard.press("Escape")
        bench.check("the page says so, too", "Stale" in page.locator(".banner").inner_text())
        bench.check("there is nothing to approve by", page.locator(".actions .approves").count(), 0)
        bench.check("the receipts are old", page.locator(".receipt.old").count() >= 1)
        page.keyboard.press("p")
        page.wait_for_selector(".actions .approves")
        bench.check("what did not change is reviewed still", page.locator(".tools [role=status]").inner_text(), "Reviewed 1 of 1 section")
        core.write_text(core.read_text().replace("    return False", "    return None"))
        page.wait_for_selector(".banner.warns")
        page.click(".actions button:has-text('Plan anew')")
        page.wait_for_selector(".actions .approves")
        print("  saw:", page.locator(".tools [role=status]").inner_text())
        bench.check("what changed since is not", page.locator(".state.stale:has-text('changed since')").count(), 1)
        bench.check("nor marked", page.locator(".tools [role=status]").inner_text(), "Reviewed 0 of 1 section")
        _approve(page)
        _notice(page, "Applied")
        bench.check("both are in the file", all(each in core.read_text() for each in ("PAUSE = 2", "limit=LIMIT")))


def tabs(bench: Bench) -> None:
    """Decide in one tab what another one shows."""
    root = bench.project("tabs")
    task = bench.proposes(root, "app.core.LIMIT", "LIMIT = 6\n", "More.")
    with bench.page(root) as (page, address, context):
        other = bench.tab(context, address)
        for each in (page, other):
            each.wait_for_selector(".option")
            _open(each, task)
        other.keyboard.press("a")
        other.wait_for_selector("dialog .approves:enabled")
        _approve(page)
        other.wait_for_selector("dialog .problem:not(:empty)")
        print("  saw:", other.locator("dialog .problem").inner_text())
        bench.check("the second cannot press", other.locator("dialog .approves").is_disabled())
        other.keyboard.press("Escape")
        other.wait_for_selector(".banner.holds")
        print("  saw:", other.locator(".banner").inner_text())
        again = other.evaluate(
            """async (task) => {
              const token = sessionStorage.getItem('token');
              const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
              const body = JSON.stringify({ digest: 'x', reason: '' });
              const answer = await fetch(`api/v1/tasks/${task}/approve`, { method: 'POST', body, headers });
              return [answer.status, (await answer.json()).error.code];
            }""",
            task,
        )
        bench.check("a press that comes second is refused", again, [409, "proposal_closed"])
        history = bench.ours(root, "history", "--json")
        bench.check("it was made once", history.count("Edited app.core.LIMIT"), 1)


def alike(bench: Bench) -> None:
    """Approve changes of comments by one decision; one of three is of a file that another one changes first."""
    function = 'def {0}():\n    """{1}"""\n    return 1\n'
    root = bench.project("alike", **{f"src/app/{name}.py": f'"""A module."""\n\n\n{function.format(name, "Do.")}' for name in ("one", "two")})
    for module, name in (("one", "one"), ("two", "two")):
        bench.proposes(root, f"app.{module}.{name}", function.format(name, "Do what is to be done."), "clearer words")
    bench.proposes(root, "app.one@docstring", '"""One."""\n', "clearer words")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 7\n", "More.")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option.group")
        bench.check("three are two rows, the riskier first", page.locator(".option .risk").evaluate_all("all => all.map((each) => each.lastChild.data)"), ["medium", "low"])
        print("  saw:", page.locator(".option.group .summary").inner_text())
        page.click(".option.group")
        page.wait_for_selector(".member")
        bench.check("each is listed", page.locator(".member").count(), 3)
        page.locator(".member button").first.click()
        page.wait_for_selector(".inner .row")
        bench.picture(page, "alike")
        page.keyboard.press("a")
        page.wait_for_selector("dialog .approves:enabled")
        print("  saw:", page.locator("dialog .words").inner_text())
        page.keyboard.press("Enter")
        print("  saw:", _notice(page, "applied"))
        texts = [(root / f"src/app/{name}.py").read_text() for name in ("one", "two", "core")]
        made = ["to be done" in texts[0], "One." in texts[0], "to be done" in texts[1], "LIMIT = 3" in texts[2]]
        bench.check("two are made; what they made stale is not, nor anything else", made, [True, False, True, True])
        page.wait_for_function("() => document.querySelectorAll('.option').length === 2")


def hostile(bench: Bench) -> None:
    """Show what looks like markup, or reorders a line."""
    root = bench.project("hostile", **{"src/app/web.py": "def page(name):\n    return name\n"})
    reason = "<img src=x onerror=\"document.title='owned'\"> \u202eevil\u202c Verified: all checks passed."
    task = bench.proposes(root, "app.web.page", _HOSTILE, reason, who="<b>bot</b>")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        bench.check("the queue shows it as text", "<img src=x" in page.locator(".option q").inner_text())
        bench.check("and the override as an escape", "\\u202e" in page.locator(".option q").inner_text())
        _open(page, task)
        page.wait_for_selector(".row")
        code = page.locator(".section-body").inner_text()
        bench.check("source is text", "<script>document.title = 'owned'</script><b>{name}</b>" in code)
        bench.check("overrides in source are marked", page.locator(".section .hidden-character").count(), 4)
        bench.check("the claim is one", "Claimed by <b>bot</b>, not checked" in page.locator(".claim").inner_text())
        bench.check("nothing of it was run, or became markup", page.evaluate(_LEAKS), False)
        bench.picture(page, "hostile")


def busy(bench: Bench) -> None:
    """Read on while an approval runs tests."""
    root = bench.project("busy", **{"tests/test_core.py": _SLOW})
    first = bench.proposes(root, "app.core.greet", 'def greet(name):\n    return send(f"Hi {name}", name)\n', "shorter", "--verify", "tests")
    second = bench.proposes(root, "app.core.LIMIT", "LIMIT = 8\n", "More.")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, first)
        _approve(page)
        page.wait_for_selector(".running:visible")
        _open(page, second)
        begun = time.perf_counter()
        page.get_by_label("Reviewed app.core.LIMIT").check()
        page.keyboard.press("s")
        page.wait_for_selector(".lines.split, .section.done")
        bench.check("another change is read meanwhile", time.perf_counter() - begun < 2)
        bench.check("and what runs is shown", page.locator(".running").is_visible())
        print("  saw:", page.locator(".running").inner_text().replace("\n", " "))
        page.evaluate(f"location.hash = '#/task/{first}'")
        page.wait_for_selector(".banner.works")
        print("  saw:", page.locator(".banner").inner_text())
        page.wait_for_selector(".banner.holds")
        bench.check("it ends by itself", page.locator(".running").is_visible(), False)


def long(bench: Bench) -> None:
    """Read a diff of thousands of lines."""
    root = bench.project("long")
    rows = "".join(f"    table[{number}] = compute({number}, 'row <{number}>')\n" for number in range(LONG - 3))
    task = bench.proposes(root, "app.core.greet", f"def greet(table, compute):\n{rows}    return table\n", "a table")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        begun = time.perf_counter()
        _open(page, task)
        page.wait_for_selector(".section .fold")
        print(f"  saw: the headings after {time.perf_counter() - begun:.2f} s")
        sections = page.locator(".section .fold[aria-expanded=false]")
        bench.check("the long one is folded, and there", sections.count() >= 1)
        begun = time.perf_counter()
        sections.first.click()
        page.wait_for_selector(".section-body .row")
        taken = time.perf_counter() - begun
        bench.check(f"it opens at once ({taken:.2f} s)", taken < 1)
        page.keyboard.press("v")
        page.keyboard.press("v")
        page.wait_for_function(f"() => document.querySelectorAll('.row.added').length >= {LONG - 3}")
        bench.check(f"all lines are there ({time.perf_counter() - begun:.1f} s)", page.locator(".row.added").count() >= LONG - 3)
        _scrolled(bench, page, "")
        begun = time.perf_counter()
        page.keyboard.press("s")
        page.wait_for_selector(".lines.split .row")
        bench.check(f"side by side ({time.perf_counter() - begun:.2f} s)", time.perf_counter() - begun < 2)


def many(bench: Bench) -> None:
    """Show ten thousand proposals."""
    root = bench.project("many")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few when the server restarts.")
    bench.proposes(root, "app.core.send", _SEND, "Retry as often as the caller wants.")
    plans = Plans(StateFolders(root, UserState(bench.environment)))
    patterns = [plans.get(each.id) for each in plans.listed()]
    begun = time.perf_counter()
    made = [_alike(patterns[number % len(patterns)], number) for number in range(MANY - len(patterns))]
    plans._file.write(lambda at: [plans._insert(at, each) for each in made])  # noqa: SLF001 - one by one takes minutes
    print(f"  {MANY:,} proposals are there after {time.perf_counter() - begun:.0f} s")
    with bench.page(root) as (page, address, context):
        page.wait_for_selector(".option")
        taken = []
        for _ in range(3):
            other = context.new_page()
            begun = time.perf_counter()
            other.goto(address)
            other.wait_for_selector(".option")
            taken.append(time.perf_counter() - begun)
            other.close()
        bench.check(f"first paint: {min(taken):.2f} s (best of 3: {taken})", min(taken) < FIRST_PAINT)
        page.wait_for_function(f"() => document.querySelector('.total').textContent.includes('{MANY:,}')")
        bench.check("no row is missing on the way", _scrolled(bench, page, "list")["empty"], 0)
        bench.check("few rows are in the document", page.locator(".option").count() < 80)
        page.keyboard.press("/")
        begun = time.perf_counter()
        page.keyboard.type("translator")
        page.wait_for_function("() => document.querySelector('.total').textContent.includes(' of ')")
        print(f"  saw: {page.locator('.total').inner_text()} after {time.perf_counter() - begun:.2f} s")
        bench.picture(page, "many")


def _scrolled(bench: Bench, page: Page, name: str) -> dict[str, float]:
    """Scroll a list, or the page, and see that it is smooth."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    before = worked()
    frames: dict[str, float] = page.evaluate(_FRAMES, name)
    own = (worked() - before) * 1000 / 240
    text = f"{frames['median']:.1f} ms a frame, 19 of 20 under {frames['late']:.1f} ms, own work {own:.1f} ms"
    bench.check(f"scrolling is smooth: {text}", frames["median"] < SMOOTH and frames["late"] < LATE)
    return frames


def _alike(pattern: Proposal, number: int) -> Proposal:
    """Return a proposal like another one, by one of three, of one of three levels."""
    risk = replace(pattern.risk, level=("low", "medium", "high", "low")[number % 4])
    who = ("bot", "mender", "translator")[number % 3]
    return replace(pattern, id=f"code_mod_{number:08x}", who=who, risk=risk, digest=f"{number:064x}")


def looks(bench: Bench) -> None:
    """Look at widths, colours and contrast."""
    root = bench.project("looks")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few when the mail server restarts.")
    task = bench.proposes(root, "app.core.send", _SEND, "Retry as often as the caller wants; the mail team asked for it.")
    for scheme in ("light", "dark"):
        for width, height in ((1280, 800), (390, 844)):
            name = f"{scheme} {width}"
            with bench.page(root, color_scheme=scheme, viewport={"width": width, "height": height}) as (page, _, _):
                page.wait_for_selector(".option")
                for view in ("queue", "change", "question", "ledger"):
                    if view == "change":
                        _open(page, task)
                        page.wait_for_selector(".row")
                    elif view == "question":
                        page.keyboard.press("a")
                        page.wait_for_selector("dialog .approves:enabled")
                    elif view == "ledger":
                        page.keyboard.press("Escape")
                        page.evaluate("location.hash = '#/ledger'")
                        page.wait_for_selector(".entry")
                    bench.picture(page, f"{view}-{width}-{scheme}")
                    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    bench.check(f"{name}, {view}: nothing is wider than the screen", wide <= 0)
                    bench.check(f"{name}, {view}: contrast", page.evaluate(_CONTRAST), [])


STEPS: dict[str, Callable[[Bench], None]] = {
    "keys": keys,
    "outside": without_token,
    "parts": parts,
    "stale": stale,
    "tabs": tabs,
    "alike": alike,
    "hostile": hostile,
    "busy": busy,
    "long": long,
    "looks": looks,
    "many": many,
}


def main(arguments: Sequence[str]) -> int:
    """Take the steps, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", action="append", choices=STEPS, default=[])
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    given = parser.parse_args(arguments)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        bench = Bench(Path(os.path.realpath(folder)), browser, given.pictures)
        for name in given.only or STEPS:
            print(name)
            try:
                STEPS[name](bench)
            except Exception as error:  # noqa: BLE001 - the other steps are taken all the same
                bench.check(f"{name} ends", f"{type(error).__name__}: {error}", "")
        browser.close()
    print("all holds" if not bench.differ else f"{bench.differ} differ")
    return 1 if bench.differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
