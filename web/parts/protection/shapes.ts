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
  /** What it closes in all, as far as it is placed. */
  readonly quantity: number;
  /** What it has closed so far. */
  readonly filled: number;
}

export const isFilled = ({ quantity, filled }: Pick<Target, 'quantity' | 'filled'>): boolean =>
  filled > 0 && filled >= quantity;

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

export type ExitReason =
  | 'stop_loss'
  | 'trailing_stop'
  | 'break_even'
  | 'take_profit'
  | 'time_stop'
  | 'unprotected';

/** What protection has to do with an order. */
export interface Protected {
  readonly order_id?: string;
  /** Why protection made it; null: it did not. */
  readonly exit_reason?: ExitReason | null;
  /** The order that set what closed it. */
  readonly caused_by?: string | null;
  /** From its first fill until its stop was seen at the broker. */
  readonly unprotected_ms?: number | null;
  readonly protection?: (Omit<Protection, 'id'> & { readonly id: string | null }) | null;
}

/** Of a position. */
export interface Guarded {
  readonly symbol?: string;
  readonly protection?: Protection | null;
  /** Lost at the stop, from the average price, in the account's currency. */
  readonly risk?: number | null;
}
