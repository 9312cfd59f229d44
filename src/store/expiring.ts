// Keys that end, without a timer.

/** Entries swept for each one added. More than one, or the sweep would never catch up with the growth. */
const SWEPT_PER_NEW_KEY = 2;

/** A map whose entries end. A few steps of an endless walk, taken with every new key, remove those that have. */
export class Expiring<Entry extends { readonly expiresAt: number }> {
  readonly #entries = new Map<string, Entry>();
  #walk = this.#entries.entries();

  get(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresAt > now ? entry : undefined;
  }

  set(key: string, entry: Entry, now: number): void {
    this.#entries.set(key, entry);
    for (let step = 0; step < SWEPT_PER_NEW_KEY; step++) {
      const next = this.#walk.next();
      if (next.done) this.#walk = this.#entries.entries();
      else if (next.value[1].expiresAt <= now) this.#entries.delete(next.value[0]);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
