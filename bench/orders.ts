// What the benches share: the loads, and signals that trade.

import { readFileSync } from 'node:fs';
import { timestamp } from '../src/domain/ids.ts';
import { type Trader, webhookPath } from '../test/orders/kill-harness.ts';
import type { Load } from './client.ts';

export const LOADS = [
  { connections: 1, requests: 2_000, warmUp: 400, mostMs: 5_000 },
  { connections: 16, requests: 4_000, warmUp: 400, mostMs: 5_000 },
  { connections: 64, requests: 5_000, warmUp: 400, mostMs: 5_000 },
];
export const FILLED = /^HTTP\/1\.1 200 [\s\S]*"status":"filled"/;

/** An entry and its exit in turn, so that a book stays small: one leg each. */
export function signalsOf(traders: readonly Trader[]): Load['next'] {
  let made = 0;
  const turns = traders.map(() => 0);
  return (connection) => {
    const index = connection % traders.length;
    const trader = traders[index] as Trader;
    const turn = turns[index] ?? 0;
    turns[index] = turn + 1;
    const order = turn % 2 === 0 ? { action: 'buy' } : { action: 'sell', order_type: 'exit' };
    // The time makes a signal unique; two of one millisecond differ by what stands behind it.
    const time = timestamp(Date.now()).replace('Z', `${String(made++ % 1e6).padStart(6, '0')}Z`);
    const body = { ...order, symbol: 'BTCUSDT', quantity: 0.01, timestamp: time, secret: trader.secret };
    return { path: webhookPath(trader), body: JSON.stringify(body) };
  };
}

export const ms = (value: number): string => `${value.toFixed(2).padStart(7)} ms`;

/** Of the process itself, as Linux counts it; not known elsewhere. */
export function cpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // User and system time, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
