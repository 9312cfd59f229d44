// An exact sliding window over one caller's calls.

export interface WindowCount {
  readonly allowed: boolean;
  /** Milliseconds until the next call would be allowed; 0 where this one is. */
  readonly retryAfterMs: number;
}

/** The times of the allowed calls of the last window, in a ring that never has more than `limit` places. */
export class CallLog {
  expiresAt: number;
  #times: number[] = [];
  #oldest = 0;
  #count = 0;

  constructor(expiresAt: number) {
    this.expiresAt = expiresAt;
  }

  count(now: number, limit: number, windowMs: number): WindowCount {
    while (this.#count > 0 && this.#at(0) <= now - windowMs) {
      this.#oldest = (this.#oldest + 1) % this.#times.length;
      this.#count--;
    }
    if (this.#count >= limit) {
      // Until so many have left that one place is free. (With a limit of 0 there never is one.)
      const retryAfterMs = limit > 0 ? this.#at(this.#count - limit) + windowMs - now : windowMs;
      return { allowed: false, retryAfterMs };
    }
    if (this.#count === this.#times.length) this.#grow(limit);
    this.#times[(this.#oldest + this.#count) % this.#times.length] = now;
    this.#count++;
    this.expiresAt = now + windowMs;
    return { allowed: true, retryAfterMs: 0 };
  }

  /** How much it holds in memory, in calls. */
  get places(): number {
    return this.#times.length;
  }

  #at(index: number): number {
    return this.#times[(this.#oldest + index) % this.#times.length] ?? 0;
  }

  /** Doubled each time, so that the copying is paid for by the calls in between. */
  #grow(limit: number): void {
    const places = Math.min(limit, Math.max(4, this.#count * 2));
    const times = new Array<number>(places).fill(0);
    for (let index = 0; index < this.#count; index++) times[index] = this.#at(index);
    this.#times = times;
    this.#oldest = 0;
  }
}
