// Decisions: each is put in words before it can be pressed, and carried out one after the other, while the page stays usable.

import { read, send, pathOf } from "./api.js";
import { counted, el, fill, lasting, line, listed, put } from "./text.js";

const ARMED_AFTER = 350; // milliseconds, so that a key that was pressed before cannot press the button
const STAYS = 15000;

let open = null;

/** Say whether a dialog is open. */
export function isAsking() {
  return open?.box.open === true; // which is false at once, and not only when `close` is heard
}

/** Close the dialog that is open, which decides nothing. */
export function closeDialog() {
  open?.box.close();
}

/** Take back the permission of the open dialog, since what it is about has become another thing. */
export function disarm(task, digest, why) {
  if (open && open.task === task && (open.digest !== digest || why)) open.disarm(why || "It was planned anew meanwhile, so this is not what you read.");
}

/**
 * Show a dialog.
 *
 * title, content: what is decided about, in words.
 * field: { label, needed, value } for a text of the person's; none for none.
 * button: the decision; none for a dialog that only says something.
 * decide: called with the text once it is pressed.
 */
export function ask({ title, content, field, button, kind = "", task = "", digest = "", decide }) {
  closeDialog();
  const back = document.activeElement;
  const heading = el("h2", { id: "dialog-title" }, title);
  const box = el("dialog", { "aria-labelledby": "dialog-title", class: "asks" });
  const problem = el("p", { class: "problem", role: "alert" });
  const text = field && el("textarea", { id: "dialog-text", rows: 3, maxlength: 2000, "aria-required": field.needed ? "true" : false });
  if (text) text.value = field.value ?? "";
  const press = button && el("button", { type: "submit", class: `decides ${kind}`, disabled: true }, button);
  const close = el("button", { type: "button", class: "plain", click: () => box.close() }, button ? "Cancel" : "Close");
  const form = el("form", { method: "dialog" }, heading, content);
  if (text) put(form, el("label", { for: "dialog-text" }, field.label), text);
  put(form, problem, el("p", { class: "buttons" }, press, close));
  let isArmed = false;
  let isOff = false;
  const settle = () => {
    if (press) press.disabled = !isArmed || isOff || Boolean(field?.needed && !text.value.trim());
  };
  text?.addEventListener("input", settle);
  text?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(press);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (press.disabled) return;
    const given = text ? text.value.trim() : "";
    box.close();
    decide(given);
  });
  form.addEventListener("keydown", (event) => event.repeat && event.key === "Enter" && event.preventDefault());
  box.addEventListener("close", () => {
    box.remove();
    if (open?.box === box) open = null;
    if (back?.isConnected) back.focus();
  });
  open = {
    box,
    task,
    digest,
    disarm: (why) => {
      isOff = true;
      fill(problem, why);
      settle();
    },
  };
  box.append(form);
  document.body.append(box);
  box.showModal();
  (field?.needed ? text : (press ?? close)).focus();
  setTimeout(() => {
    isArmed = true;
    settle();
    if (press && !field?.needed && !isOff && box.contains(document.activeElement) && document.activeElement !== text) press.focus();
  }, ARMED_AFTER);
  if (!press) close.focus();
  else if (press.disabled && !field?.needed) heading.tabIndex = -1, heading.focus();
  return open;
}

const queue = [];

/** Have a decision carried out after those before it; `done` is called with the answer, `failed` with the error. */
export function carryOut({ label, task = "", path, body, done, failed }) {
  const decision = { label, task, path, body, done, failed, since: 0 };
  queue.push(decision);
  if (queue.length === 1) carryOn();
  drawRunning();
}

/** Return the decision about a proposal that is being carried out, or waits for its turn. */
export function underWay(task) {
  return queue.find((each) => each.task === task);
}

async function carryOn() {
  while (queue.length) {
    const decision = queue[0];
    decision.since = Date.now();
    drawRunning();
    let answer;
    let error;
    try {
      answer = await send(decision.path, decision.body);
    } catch (found) {
      error = found;
    }
    queue.shift();
    drawRunning();
    if (error) {
      if (decision.failed) decision.failed(error);
      else notice(error.message, { hints: error.hints, isError: true, task: decision.task });
    } else decision.done?.(answer);
    dispatchEvent(new CustomEvent("decided", { detail: decision }));
  }
}

function drawRunning() {
  const strip = document.getElementById("running");
  strip.hidden = queue.length === 0;
  if (!queue.length) return;
  const [now, ...rest] = queue;
  const seconds = now.since ? (Date.now() - now.since) / 1000 : 0;
  const text = `${now.label}: its checks run. Read on; nothing here waits for it.`;
  const more = rest.length ? `${counted(rest.length, "decision")} after it.` : "";
  if (strip.dataset.of !== text + more) {
    strip.dataset.of = text + more;
    fill(strip, el("span", { class: "spinner", "aria-hidden": "true" }), el("span", { role: "status" }, text, more && ` ${more}`), el("span", { class: "since" }));
  }
  strip.querySelector(".since").textContent = seconds >= 1 ? lasting(seconds) : "";
}

setInterval(() => queue.length && drawRunning(), 1000);
addEventListener("beforeunload", (event) => queue.length && event.preventDefault());

/** Show a message; an error stays until it is dismissed. */
export function notice(text, { hints = [], isError = false, actions = [], task = "" } = {}) {
  const dismiss = el("button", { type: "button", class: "quiet", "aria-label": "Dismiss the message", click: () => note.remove() }, "×");
  const note = el(
    "div",
    { class: isError ? "notice error" : "notice", "data-task": task || null, role: isError ? "alert" : "status" },
    el("div", {}, el("p", {}, text), hints.map((hint) => el("p", { class: "hint" }, hint)), task && isError && el("p", {}, el("a", { href: `#/task/${encodeURIComponent(task)}` }, "Look at it"))),
    el("div", { class: "buttons" }, actions.map(([label, click]) => el("button", { type: "button", click: () => { note.remove(); click(); } }, label)), dismiss),
  );
  document.getElementById("notices").append(note);
  if (!isError) setTimeout(() => note.remove(), STAYS);
}

/** Dismiss the messages about a proposal. */
export function dismiss(task) {
  for (const each of document.querySelectorAll(`.notice[data-task="${CSS.escape(task)}"]`)) each.remove();
}

let last = "";

/** Return the operation that was made last from here. */
export function lastMade() {
  return last;
}

/** Say in words exactly what an approval of a proposal is of. */
export function scope(task) {
  const files = task.files.length;
  const what = task.symbols.length ? `${counted(task.symbols.length, "symbol")} in ${counted(files, "file")}` : counted(files, "file");
  return `Approves exactly this: ${what}, nothing else, once.`;
}

/** Ask about the approval of a proposal as it was read. */
export function askApprove(task, unreviewed, after) {
  const failed = task.checks.filter((each) => !["passed", "clean", "not_run"].includes(each.result));
  const gone = task.files.filter((each) => each.what === "deleted").map((each) => each.name);
  ask({
    title: `Approve: ${line(task.summary)}`,
    content: el(
      "div",
      { class: "scope" },
      el("p", { class: "words" }, scope(task)),
      el("ul", { class: "names" }, task.symbols.slice(0, 12).map((name) => el("li", {}, line(name))), task.symbols.length > 12 && el("li", {}, `and ${counted(task.symbols.length - 12, "more", "more")}`)),
      gone.length > 0 && el("p", { class: "warns" }, `Deletes ${listed(gone)}.`),
      failed.length > 0 && el("p", { class: "warns" }, `Not passed: ${listed(failed.map((each) => `${each.name} ${each.result}`))}.`),
      unreviewed > 0 && el("p", { class: "warns" }, `${counted(unreviewed, "section")} not marked as reviewed.`),
      el("p", { class: "aside" }, "Digest ", el("code", {}, task.digest.slice(0, 16)), " … If a file has changed by then, nothing is written. The checks run again first."),
    ),
    field: { label: "Note for the record (optional)", needed: false },
    button: "Approve exactly this",
    kind: "approves",
    task: task.task_id,
    digest: task.digest,
    decide: (reason) => {
      approve(task.task_id, task.digest, task.summary, reason, after);
    },
  });
}

/** Have one digest approved. */
export function approve(task, digest, summary, reason, after) {
  carryOut({
    label: `Approving ${task}`,
    task,
    path: `${pathOf(task)}/approve`,
    body: { digest, reason },
    done: (answer) => {
      if (answer.operation_id) last = answer.operation_id;
      notice(`Applied: ${line(answer.text)}`, { actions: answer.operation_id ? [["Undo", () => askUndo(answer.operation_id, summary)]] : [] });
    },
  });
  after?.();
}

/** Ask about a rejection of all of a proposal, or of some of its symbols. */
export function askReject(task, parts, after) {
  const content = parts.length
    ? el("div", {}, el("p", { class: "words" }, `Takes ${counted(parts.length, "symbol")} out. The rest is planned and checked anew, and waits under another digest.`), el("ul", { class: "names" }, parts.map((name) => el("li", {}, line(name)))))
    : el("p", { class: "words" }, "Rejects all of it. Nothing is written.");
  ask({
    title: parts.length ? `Refuse ${listed(parts)}` : `Reject: ${line(task.summary)}`,
    content,
    field: { label: `Reason, which ${line(task.who)} is given`, needed: true },
    button: parts.length ? "Refuse these" : "Reject all of it",
    kind: "rejects",
    task: task.task_id,
    digest: task.digest,
    decide: (reason) => {
      carryOut({
        label: parts.length ? `Planning ${task.task_id} without ${listed(parts)}` : `Rejecting ${task.task_id}`,
        task: task.task_id,
        path: `${pathOf(task.task_id)}/reject`,
        body: { reason, parts },
        done: (answer) => notice(answer.text),
      });
      after?.();
    },
  });
}

/** Ask whether to let a proposal expire. */
export function askExpire(task, after) {
  ask({
    title: `Let it expire: ${line(task.summary)}`,
    content: el("p", { class: "words" }, "Closes it without a judgement. Nothing is written; it can be proposed again."),
    button: "Let it expire",
    kind: "rejects",
    task: task.task_id,
    digest: task.digest,
    decide: () => {
      carryOut({ label: `Closing ${task.task_id}`, task: task.task_id, path: `${pathOf(task.task_id)}/expire`, body: {}, done: (answer) => notice(answer.text) });
      after?.();
    },
  });
}

/** Have a proposal planned anew. */
export function renew(task) {
  carryOut({ label: `Planning ${task.task_id} anew`, task: task.task_id, path: `${pathOf(task.task_id)}/renew`, body: {}, done: (answer) => notice(answer.text) });
}

/** Ask whether to take an operation back. */
export async function askUndo(operation, summary = "") {
  let what = summary;
  if (!what) {
    try {
      const found = await read(`history/${encodeURIComponent(operation)}`);
      what = found.operations[0]?.summary ?? "";
    } catch (error) {
      notice(error.message, { hints: error.hints, isError: true });
      return;
    }
  }
  ask({
    title: `Undo ${operation}`,
    content: el("div", {}, el("p", { class: "words" }, `Takes back exactly this operation, once: ${line(what)}`), el("p", { class: "aside" }, "What changed since in the same place is not overwritten: it is refused then.")),
    button: "Take it back",
    kind: "rejects",
    decide: () => carryOut({ label: `Undoing ${operation}`, path: `history/${encodeURIComponent(operation)}/undo`, body: {}, done: (answer) => {
      if (last === operation) last = "";
      notice(answer.text);
    } }),
  });
}
