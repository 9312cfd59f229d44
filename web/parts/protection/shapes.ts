// What protects a position, as the API says it.

export type ProtectionState =
  | 'armed'
  | 'standing'
  | 'suspended'
  | 'unprotected'
  | 'unwatched'
  | 'left'
  | 'ended';

export interface Target {
  readonly price: number;
  /** Of the position. */
  readonly percent: number;
  readonly quantity: number | null;
  readonly filled: boolean;
}

export interface Protection {
  readonly id: string;
  readonly state: ProtectionState;
  readonly stop_loss: number | null;
  readonly take_profit: readonly Target[];
  readonly trailing_stop: { readonly distance: number; readonly activate_at: number | null } | null;
  readonly break_even: { readonly at: number | 'tp1'; readonly to: number } | null;
  readonly time_stop_at: string | null;
  readonly stop_quantity: number | null;
  readonly seen_at: string | null;
  readonly unprotected_since: string | null;
  readonly reason: string | null;
}

/** Of a position. */
export interface Guarded {
  readonly symbol?: string;
  readonly protection?: Protection | null;
  /** Lost at the stop, from the average price, in the account's currency. */
  readonly risk?: number | null;
}
