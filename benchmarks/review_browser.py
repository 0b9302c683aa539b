"""A browser, projects whose agents propose changes, and the page on them, as `benchmarks.review_page` drives it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

SMOOTH = 20.0
"""Milliseconds that a frame takes, in the middle, while a list is scrolled by 240 pixels a frame."""
LATE = 50.0
"""Milliseconds that 19 of 20 frames may take, on a machine that has other work and no graphics card."""
_PATIENCE = 60_000.0
CORE = '''\
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
CONTRAST = """
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
    const isSeen = element.checkVisibility({ visibilityProperty: true });
    if (!own || !isSeen || element.closest('.unseen, .skip, [disabled]')) continue;
    const [a, b] = [light(read(getComputedStyle(element).color).slice(0, 3)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = `${element.className || element.tagName} ${element.textContent.slice(0, 20)}`;
    if (ratio < 4.5) found.push(`${name}: ${ratio.toFixed(2)}`);
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
            "src/app/core.py": CORE,
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
        answer = self.ours(
            root, "edit", name, "--source", "-", "--propose", reason, "--goal", "T-17", *words, given=source, who=who
        )
        found = re.search(r"code_mod_[0-9a-f]{8}", answer)
        if found is None:
            raise SystemExit(f"nothing was proposed: {answer}")
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
        page.on("console", lambda message: self._hears(message))
        page.on("pageerror", lambda error: self.check("no script fails", str(error), ""))
        page.goto(address)
        page.wait_for_selector("h1")
        return page

    def _hears(self, message: ConsoleMessage) -> None:
        """Count what the console has to say, but for answers that refuse, which the browser reports as well."""
        if message.type in ("error", "warning") and "status of 409" not in message.text:
            self.check("the console is quiet", f"{message.text} {message.location}", "")

    def picture(self, page: Page, name: str) -> None:
        """Keep a picture of a page, if that was asked for."""
        if self.pictures is not None:
            page.screenshot(path=self.pictures / f"{name}.png")


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


def scrolled(bench: Bench, page: Page, name: str) -> dict[str, float]:
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
