// What strangers do is told in full only so often: of one address, and of all of them together, until the count is taken.
// Of the rest it is known how much there was, of which kind, and who was loudest. Memory is bounded whatever comes.

export interface Bounds {
  /** Told in full, of one address and in all. */
  readonly ofAddress: number;
  readonly inAll: number;
  /** Addresses that are told apart. */
  readonly addresses: number;
}

/** What was counted and not told. */
export interface Untold {
  readonly count: number;
  /** Each kind of it, the most frequent first. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Of how many addresses; where they are more than are told apart, that many. */
  readonly addresses: number;
  /** Those with the most of it. */
  readonly loudest: readonly { readonly ip: string; readonly count: number }[];
}

const LOUDEST = 5;

export class StrangerCount {
  readonly #bounds: Bounds;
  #told = 0;
  #untold = 0;
  #kinds = new Map<string, number>();
  #seen = new Map<string, number>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** True: this one is told in full. */
  count(ip: string, kind: string): boolean {
    const seen = this.#seen.get(ip) ?? 0;
    if (seen > 0 || this.#seen.size < this.#bounds.addresses) this.#seen.set(ip, seen + 1);
    if (seen < this.#bounds.ofAddress && this.#told < this.#bounds.inAll) {
      this.#told++;
      return true;
    }
    this.#untold++;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    return false;
  }

  /** What was not told since the last time; null: nothing. The count begins anew. */
  take(): Untold | null {
    const [count, kinds, seen] = [this.#untold, this.#kinds, this.#seen];
    this.#told = 0;
    this.#untold = 0;
    this.#kinds = new Map();
    this.#seen = new Map();
    if (count === 0) return null;
    const byCount = [...seen].sort(([, a], [, b]) => b - a);
    return {
      count,
      kinds: Object.fromEntries([...kinds].sort(([, a], [, b]) => b - a)),
      addresses: seen.size,
      loudest: byCount.slice(0, LOUDEST).map(([ip, times]) => ({ ip, count: times })),
    };
  }
}
