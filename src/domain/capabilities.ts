// What a broker can promise, and so what we can.

export interface Capabilities {
  /** A second order under a known client order id is refused for ever, after a fill too: sending again is safe. */
  readonly refusesDuplicateIds: boolean;
  /**
   * For how long after it was sent an order can be looked up by its client order id, in ms: so long "not found" can be
   * believed. 0: never; Infinity: for ever.
   */
  readonly findsByClientIdMs: number;
  readonly reduceOnly: boolean;
  readonly fractionalQuantities: boolean;
  /** An order is for now or not at all, because we ask for that: that its rest is taken back is no word of the broker's. */
  readonly takesBackRest?: boolean;
  /** What a stop at the broker closes: all that is held, or the quantity that it was given. */
  readonly stop: (typeof STOPS)[number];
  /** How a stop gets another price: the same call overwrites it, it is changed where it stands, or a new one takes its place. */
  readonly moves: (typeof MOVES)[number];
  /** What an order that rests would close is kept for it, and nothing else can close that. */
  readonly reserves: boolean;
  /** Stops are taken for whole quantities only. */
  readonly wholeStops?: boolean;
  /** Entries that wait for a price to be reached. */
  readonly stopEntries: boolean;
  /** Of orders that rest. */
  readonly timeInForce: readonly TimeInForce[];
}

export const STOPS = ['position', 'sized', 'none'] as const;
export const MOVES = ['set', 'amend', 'replace'] as const;
export const TIMES_IN_FORCE = ['gtc', 'day', 'ioc', 'fok'] as const;
export type TimeInForce = (typeof TIMES_IN_FORCE)[number];
