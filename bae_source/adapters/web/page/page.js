// The page: its views, its keys, and what goes on elsewhere meanwhile.

import { enter, live, read, watch } from "./api.js";
import { changeView, diffInto } from "./change.js";
import { ask, askUndo, closeDialog, isAsking, lastMade, notice } from "./deciding.js";
import { tidy } from "./marks.js";
import { groupView, queueView } from "./queue.js";
import { historyView, ledgerView } from "./records.js";
import { el, fill, line } from "./text.js";

const main = document.getElementById("main");
const remembered = {};
let view = null;
let isFirst = true;

const KEYS = [
  ["j k", "next, previous: proposal, section, operation"],
  ["o Enter", "open what is chosen; fold or unfold a section"],
  ["a", "approve: opens the question, which Enter answers"],
  ["r", "reject with a reason, or refuse the symbols that are unticked"],
  ["x", "take or refuse the symbol of this section"],
  ["v", "mark this section as reviewed, or not"],
  ["s", "side by side, or inline"],
  ["p", "plan anew, where files have changed"],
  ["u", "undo: what is chosen or applied here, or else the last one"],
  ["[ ]", "previous, next proposal"],
  ["/", "filter the queue"],
  ["Escape", "close without deciding; back to the queue"],
  ["?", "these keys"],
];

function route() {
  const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const given = rest.map((each) => {
    try {
      return decodeURIComponent(each);
    } catch {
      return each;
    }
  });
  closeDialog();
  view?.close();
  main.className = name;
  watch(name === "task" ? given[0] ?? "" : "");
  if (name === "task" && given[0]) view = changeView(main, given[0], () => go("#/"));
  else if (name === "group" && given.length === 2) view = groupView(main, given[0], given[1], { drawDiff: diffInto, leave: () => go("#/") });
  else if (name === "history") view = historyView(main);
  else if (name === "ledger") view = ledgerView(main);
  else view = queueView(main, remembered);
  const shown = { task: "queue", group: "queue", history: "history", ledger: "ledger" }[name] ?? "queue";
  for (const each of document.querySelectorAll("nav a")) {
    if (each.dataset.view === shown) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (!isFirst || view.name === "queue") view.focus?.();
  isFirst = false;
  view.ready?.catch((error) => troubled(error));
}

function troubled(error) {
  if (error.status === 401) return;
  fill(main, el("div", { class: "page" }, el("h1", { tabindex: "-1" }, "This cannot be shown"), el("p", {}, error.message), (error.hints ?? []).map((hint) => el("p", { class: "aside" }, hint)), el("p", {}, el("a", { href: "#/" }, "‹ Queue"))));
}

function go(hash) {
  if (location.hash === hash) route();
  else location.hash = hash;
}

let isRefreshing = false;
let isDue = false;

/** Read anew what is shown; what changes while that is done is read after it. */
async function refresh() {
  isDue = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isDue) {
    isDue = false;
    const current = view;
    try {
      await current?.refresh?.();
      if (current?.name !== "queue") await recount();
    } catch (error) {
      if (error.status && error.status !== 401 && view === current) notice(error.message, { hints: error.hints, isError: true });
    }
  }
  isRefreshing = false;
}

async function recount() {
  const found = await read("tasks?state=waiting&limit=1");
  counts(found.counts);
}

function counts(found) {
  const waiting = ["awaiting_approval", "approved", "stale", "failed"].reduce((sum, state) => sum + (found[state] ?? 0), 0);
  const place = document.getElementById("waiting");
  const before = place.textContent;
  place.textContent = waiting ? waiting.toLocaleString("en") : "";
  document.title = `${waiting ? `(${waiting.toLocaleString("en")}) ` : ""}Review ${remembered.project ?? ""}`.trim();
  if (before && before !== place.textContent) document.getElementById("status").textContent = `${waiting} wait.`;
}

function keys(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isAsking()) return;
  const { target } = event;
  const isTyping = target.matches?.("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (isTyping && target.id === "filter") {
      target.value = "";
      target.dispatchEvent(new Event("input"));
      view.focus();
    } else if (location.hash !== "#/" && location.hash !== "") go("#/");
    return;
  }
  if (isTyping) {
    if (event.key === "Enter" && target.id === "filter") view.focus();
    return;
  }
  if (event.repeat && !["j", "k"].includes(event.key)) return;
  const does = {
    j: () => view.move?.(1),
    k: () => view.move?.(-1),
    o: () => view.open?.(),
    a: () => view.approve?.(),
    r: () => view.reject?.(),
    x: () => view.take?.(),
    v: () => view.review?.(),
    s: () => view.split?.(),
    p: () => view.renew?.(),
    "[": () => view.beside?.(-1),
    "]": () => view.beside?.(1),
    "/": () => view.find?.(),
    "?": help,
    u: () => view.undo?.() || (lastMade() ? askUndo(lastMade()) : notice("Nothing was applied from here yet; History has all operations.")),
  };
  if (event.key === "Enter" && !target.matches("a, button, summary, input")) does.Enter = does.o;
  if (!does[event.key]) return;
  event.preventDefault();
  does[event.key]();
}

function help() {
  ask({
    title: "Keys",
    content: el("dl", { class: "keys" }, KEYS.map(([key, text]) => [el("dt", {}, key.split(" ").map((each) => el("kbd", {}, each))), el("dd", {}, text)])),
  });
}

const THEMES = ["light", "dark"];

function theme(chosen) {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const now = THEMES.includes(chosen) ? chosen : system;
  if (THEMES.includes(chosen)) document.documentElement.dataset.theme = chosen;
  const other = now === "dark" ? "light" : "dark";
  const button = document.getElementById("theme");
  button.textContent = other === "dark" ? "Dark" : "Light";
  button.setAttribute("aria-label", `Switch to ${other} colours`);
  button.onclick = () => {
    localStorage.setItem("theme", other);
    theme(other);
  };
}

function withoutToken() {
  view?.close();
  closeDialog();
  view = null;
  document.body.classList.add("outside");
  fill(main, el("div", { class: "page outside" }, el("h1", { tabindex: "-1" }, "Open the address that was printed"), el("p", {}, "This page needs the token that stands in it. ", el("code", {}, "bae-source review"), " prints the whole address, and opens it; each start makes another token."), el("p", { class: "aside" }, "The token is kept in this tab alone, and leaves the address bar at once.")));
}

async function start() {
  theme(localStorage.getItem("theme"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(localStorage.getItem("theme")));
  addEventListener("no-token", withoutToken);
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  if (!enter()) {
    addEventListener("hashchange", () => enter() && location.reload());
    withoutToken();
    return;
  }
  tidy();
  addEventListener("hashchange", () => (location.hash.startsWith("#/") || location.hash === "" ? route() : enter() && location.reload()));
  addEventListener("keydown", keys);
  addEventListener("decided", refresh);
  addEventListener("counted", (event) => counts(event.detail));
  document.getElementById("help").addEventListener("click", help);
  route();
  const lost = document.getElementById("lost");
  live(refresh, (isThere) => {
    if (lost.hidden && !isThere) lost.textContent = "The program behind this page does not answer. What was decided stands; start bae-source review again, and open the address that it prints.";
    if (!lost.hidden && isThere) refresh();
    lost.hidden = isThere;
  });
  try {
    const found = await read("project");
    remembered.project = line(found.project);
    document.getElementById("project").textContent = remembered.project;
    document.getElementById("person").textContent = `as ${line(found.who)}`;
    if (view?.name !== "queue") await recount();
  } catch (error) {
    troubled(error);
  }
}

start();
