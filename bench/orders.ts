// What the benches share: signals that trade.

import { timestamp } from '../src/domain/ids.ts';
import { type Trader, webhookPath } from '../test/orders/kill-harness.ts';
import type { Load } from './client.ts';

export const FILLED = /^HTTP\/1\.1 200 [\s\S]*"status":"filled"/;

export const ENTRY = { action: 'buy' };
export const EXIT = { action: 'sell', order_type: 'exit' };
let made = 0;

/** The time makes a signal unique; two of one millisecond differ by what stands behind it. */
function signal(order: object, secret: string): string {
  const time = timestamp(Date.now()).replace('Z', `${String(made++ % 1e6).padStart(6, '0')}Z`);
  return JSON.stringify({ symbol: 'BTCUSDT', quantity: 0.01, ...order, timestamp: time, secret });
}

export const signalOf = (trader: Trader, order: object) => ({
  path: webhookPath(trader),
  body: signal(order, trader.secret),
});

/** What a floor is sent: as long as what the service is sent, and of nobody. */
export const nobodysSignals: Load['next'] = () => ({ path: '/', body: signal(ENTRY, 'x'.repeat(43)) });

/** Each an entry, whatever became of the one before. */
export const entriesOf =
  (traders: readonly Trader[]): Load['next'] =>
  (connection) => {
    const trader = traders[connection % traders.length] as Trader;
    return { path: webhookPath(trader), body: signal(ENTRY, trader.secret) };
  };

/** An entry and its exit in turn, so that a book stays small: one leg each. */
export function signalsOf(traders: readonly Trader[]): Load['next'] {
  const turns = traders.map(() => 0);
  return (connection) => {
    const index = connection % traders.length;
    const trader = traders[index] as Trader;
    const turn = turns[index] ?? 0;
    turns[index] = turn + 1;
    return { path: webhookPath(trader), body: signal(turn % 2 === 0 ? ENTRY : EXIT, trader.secret) };
  };
}

export const ms = (value: number): string => `${value.toFixed(2).padStart(7)} ms`;
