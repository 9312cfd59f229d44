// The tab's own storage, and where a browser forbids it, the page's memory: a reload forgets that, a second press does not.

import type { Keep } from './intent.ts';

const memory = new Map<string, string>();

function attempt<T>(does: () => T, instead: T): T {
  try {
    return does();
  } catch {
    return instead;
  }
}

export const tabKeep: Keep = {
  getItem: (name) => memory.get(name) ?? attempt(() => sessionStorage.getItem(name), null),
  setItem(name, text) {
    memory.set(name, text);
    attempt(() => sessionStorage.setItem(name, text), undefined);
  },
  removeItem(name) {
    memory.delete(name);
    attempt(() => sessionStorage.removeItem(name), undefined);
  },
};
