// What a drawer begins with, where somebody opens it with something in mind.

import type { QuantityType } from './sizes.ts';

export interface TradeDraft {
  readonly accountId?: string;
  readonly symbol?: string;
  readonly action?: 'buy' | 'sell' | 'close';
  readonly quantity?: number;
  /** What it counts; absent: units. */
  readonly counts?: QuantityType;
  readonly orderType?: 'entry' | 'exit';
  readonly simulation?: boolean;
  /** What the entry waits for, and for how many seconds. */
  readonly limitPrice?: number;
  readonly stopPrice?: number;
  readonly timeInForce?: 'gtc' | 'day' | 'ioc' | 'fok';
  readonly expiresIn?: number;
  /** The `id` of an entry that rests: this one takes its place. */
  readonly name?: string;
  /** That one asked for a stop or a target, which nobody carries over. */
  readonly dropsProtection?: boolean;
}

/** Whose protection is set, moved or removed. */
export interface ProtectDraft {
  readonly accountId: string;
  readonly symbol: string;
  readonly simulation: boolean;
}
