// The way to the engine: the token, requests, and what has changed.
//
// The token comes in the address's fragment, which no request bears; it leaves the address bar at once, and stays in
// memory and in this tab's sessionStorage.

const KEY = "token";
let token = "";

/** Take the token, and say whether there is one. */
export function enter() {
  const given = location.hash.slice(1);
  if (given && !given.startsWith("/")) {
    history.replaceState(null, "", `${location.pathname}#/`);
    sessionStorage.setItem(KEY, given);
  }
  token = sessionStorage.getItem(KEY) ?? "";
  return token !== "";
}

/** An answer that is an error: what is wrong, and what to do next. */
export class Failed extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hints = error.hints ?? [];
  }
}

async function asked(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`api/v1/${path}`, {
      ...options,
      headers: { Authorization: `Bearer ${token}`, ...options.headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed(0, { code: "gone", message: "The program behind this page does not answer; it has ended, or is busy." });
  }
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  if (answer.status === 401) {
    sessionStorage.removeItem(KEY);
    dispatchEvent(new Event("no-token"));
  }
  throw new Failed(answer.status, found.error ?? { code: "bug", message: `It answered with ${answer.status}.` });
}

/** Return what a path has. */
export function read(path, options) {
  return asked(path, options);
}

/** Send a decision. */
export function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  return asked(path, { method: "POST", body: JSON.stringify(body), headers });
}

/** Return the path of a proposal. */
export function pathOf(task) {
  return `tasks/${encodeURIComponent(task)}`;
}

let holding = new AbortController();
let watched = "";

/** Have what changes files of one proposal count as a change, too; none where it is "". */
export function watch(task) {
  if (task === watched) return;
  watched = task;
  holding.abort();
}

/** Call a function whenever something has changed, for as long as the page is seen; another one says whether it is there. */
export async function live(changed, reached) {
  let version = "";
  let task = "";
  document.addEventListener("visibilitychange", () => document.hidden && holding.abort());
  for (;;) {
    if (document.hidden) await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
    holding = new AbortController();
    try {
      const about = watched;
      const since = about === task ? version : "";
      const query = new URLSearchParams({ since, task: about });
      const found = await read(`changes?${query}`, { signal: holding.signal });
      reached(true);
      const first = since === "" && (about !== task || version === "");
      if (found.version !== version && !first) changed();
      [version, task] = [found.version, about];
    } catch (error) {
      if (error.name === "AbortError") continue;
      if (error.status === 401) return;
      reached(false);
      version = "-";
      await new Promise((go) => setTimeout(go, 2000));
    }
  }
}
