// What became of a day, told once.

import type { Timestamp, UserId } from '../ids.ts';
import { type Event, oneLine } from './notification.ts';

export interface Summary {
  /** Of all accounts and modes, as are what became of them. */
  readonly signals: number;
  readonly refused: number;
  readonly executed: number;
  readonly rejected: number;
  readonly orders: number;
  readonly simulated: number;
  /** Realised, by account; null: not known. */
  readonly profits: readonly {
    readonly account: string;
    readonly currency: string | null;
    readonly realised: number | null;
  }[];
}

export function summaryEvent(userId: UserId, at: Timestamp, summary: Summary): Event {
  const { signals, refused, executed, rejected, orders, simulated, profits } = summary;
  const earned = profits.map(
    ({ account, currency, realised }) =>
      `${oneLine(account)}: ${realised === null ? 'profit not counted' : `${realised} ${currency ?? ''}`.trim()}.`,
  );
  return {
    kind: 'daily_summary',
    at,
    userId,
    accountId: null,
    title: 'The last 24 hours',
    text: [
      `Signals: ${signals} (${executed} executed, ${rejected} rejected, ${refused} refused). Orders: ${orders} real, ${simulated} simulated.`,
      ...(earned.length > 0 ? ['Realised:', ...earned] : []),
    ].join(' '),
    path: '/',
    data: { signals, executed, rejected, refused, orders, simulated },
  };
}
