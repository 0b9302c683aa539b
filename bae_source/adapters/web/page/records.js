// What was done: the history, whose operations can be taken back, and the ledger with the state of its chain.

import { read } from "./api.js";
import { askUndo } from "./deciding.js";
import { age, counted, el, fill, line, listed } from "./text.js";

const PAGE = 200;

/** Return the view of the history. */
export function historyView(main) {
  let limit = PAGE;
  let operations = [];
  const list = el("ol", { class: "operations" });
  const more = el("button", { type: "button", class: "plain", hidden: true, click: () => { limit += 800; view.refresh(); } }, "Show more");
  const title = el("h1", { tabindex: "-1" }, "History");
  fill(main, el("div", { class: "page" }, title, el("p", { class: "aside" }, "What was done to the project, the newest first. One undo takes an operation back."), list, more));

  function item(each) {
    const undo = !each.undone_by && each.kind !== "undo" && el("button", { type: "button", class: "plain", click: () => askUndo(each.id, each.summary) }, "Undo");
    return el(
      "li",
      { tabindex: "-1", class: each.undone_by ? "operation over" : "operation", "data-id": each.id },
      el("div", { class: "what" }, el("span", { class: "summary" }, line(each.summary)), el("span", { class: "why" }, el("b", {}, line(each.who)), each.why && el("q", {}, line(each.why)), each.symbols.length > 0 && el("span", { class: "names" }, listed(each.symbols, 4)))),
      el("code", { class: "digest" }, each.id),
      el("span", { class: "age" }, age(each.at)),
      each.undone_by ? el("span", { class: "state" }, `undone by ${line(each.undone_by)}`) : undo,
    );
  }

  const view = {
    name: "history",
    move: (step) => {
      const items = [...list.children];
      const now = items.indexOf(document.activeElement?.closest(".operation"));
      items[Math.min(Math.max(0, now + step), items.length - 1)]?.focus();
    },
    undo: () => {
      const chosen = document.activeElement?.closest(".operation")?.dataset.id;
      const found = operations.find((each) => (chosen ? each.id === chosen : each.kind !== "undo" && !each.undone_by)) ?? null;
      if (found && !found.undone_by && found.kind !== "undo") askUndo(found.id, found.summary);
      return true;
    },
    refresh: async () => {
      const found = await read(`history?limit=${limit}`);
      operations = found.operations;
      const chosen = document.activeElement?.closest(".operation")?.dataset.id;
      fill(list, operations.length ? operations.map(item) : el("li", { class: "empty" }, "Nothing was done yet."));
      more.hidden = operations.length < limit;
      if (chosen) list.querySelector(`[data-id="${CSS.escape(chosen)}"]`)?.focus();
    },
    focus: () => title.focus(),
    close: () => {},
  };
  view.ready = view.refresh();
  return view;
}

/** Return the view of the ledger. */
export function ledgerView(main) {
  let limit = PAGE;
  const title = el("h1", { tabindex: "-1" }, "Ledger");
  const state = el("p", { class: "banner", role: "status" });
  const list = el("div", { class: "entries", role: "table", "aria-label": "Entries, the newest first" });
  const more = el("button", { type: "button", class: "plain", hidden: true, click: () => { limit += 800; view.refresh(); } }, "Show more");
  fill(main, el("div", { class: "page" }, title, el("p", { class: "aside" }, "What was done and tried, each entry with the hash of the one before it."), state, list, more));

  function entry(each) {
    const { meta } = each;
    const about = meta.task_id || meta.operation_id || "";
    return el(
      "div",
      { class: "entry", role: "row" },
      el("span", { role: "cell", class: "age" }, el("time", { datetime: each.ts }, line(each.ts.replace("T", " ").replace("+00:00", "Z")))),
      el("span", { role: "cell", class: "event" }, line(each.event.replaceAll("_", " "))),
      el("span", { role: "cell" }, el("b", {}, line(String(meta.by || meta.who || ""))), meta.file_path && el("span", { class: "names" }, line(String(meta.file_path))), (meta.why || meta.reason) && el("q", {}, line(String(meta.why || meta.reason)))),
      el("span", { role: "cell" }, String(about).startsWith("code_mod_") ? el("a", { href: `#/task/${encodeURIComponent(about)}` }, line(about)) : line(String(about))),
      el("code", { role: "cell", class: "digest", title: `hash ${each.hash}\nprev ${each.prev}` }, each.hash.slice(0, 8)),
    );
  }

  const view = {
    name: "ledger",
    refresh: async () => {
      const found = await read(`ledger?limit=${limit}`);
      state.className = found.holds ? "banner holds" : "banner broken";
      fill(state, line(found.state));
      fill(list, found.entries.length ? found.entries.toReversed().map(entry) : el("p", { class: "empty" }, "There is no entry."));
      more.hidden = found.entries.length < limit;
      document.getElementById("status").textContent = `${counted(found.entries.length, "entry", "entries")}.`;
    },
    focus: () => title.focus(),
    close: () => {},
  };
  view.ready = view.refresh();
  return view;
}
