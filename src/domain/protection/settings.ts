// What an account settles about protection, for all of its positions.

/** Where the broker refuses a stop: the position is closed, or its owner is told, and it is tried again. */
export const UNPROTECTED = ['close', 'alert'] as const;
export type Unprotected = (typeof UNPROTECTED)[number];

/** Which price a stop watches: of the last trade, as the chart shows it, or the one that the exchange computes. */
export const TRIGGERS = ['last', 'mark'] as const;
export type TriggerBy = (typeof TRIGGERS)[number];
