// Which sections of a proposal a person has reviewed, by the digest of each: what a new plan leaves as it was stays marked.

const DAYS = 30;

function key(task) {
  return `reviewed:${task}`;
}

function kept(task) {
  try {
    const found = JSON.parse(localStorage.getItem(key(task)) ?? "{}");
    return { digests: Array.isArray(found.digests) ? found.digests : [] };
  } catch {
    return { digests: [] };
  }
}

/** Return the digests that are marked. */
export function marked(task) {
  return new Set(kept(task).digests);
}

/** Mark a section, or take its mark away. */
export function mark(task, digest, isReviewed) {
  const digests = marked(task);
  if (isReviewed) digests.add(digest);
  else digests.delete(digest);
  try {
    localStorage.setItem(key(task), JSON.stringify({ at: Date.now(), digests: [...digests] }));
  } catch {
    // a full or closed store keeps no marks, and nothing is decided by them
  }
}

/** Let go of marks that are old. */
export function tidy() {
  for (const name of Object.keys(localStorage)) {
    if (!name.startsWith("reviewed:")) continue;
    try {
      if (Date.now() - JSON.parse(localStorage.getItem(name)).at < DAYS * 86400000) continue;
    } catch {
      // what is no mark goes, too
    }
    localStorage.removeItem(name);
  }
}
