// What the owner of an account has of the service meanwhile: how long webhooks take, how many fail, and how much memory
// the process has.

import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../../bench/client.ts';
import type { Desk, TradingAccount } from './desk.ts';

export interface Figures {
  readonly when: string;
  readonly signals: number;
  readonly p50: number;
  readonly p99: number;
  /** Without an answer, or with another than that the order was filled. */
  readonly failed: number;
  /** The most, in MB. */
  readonly memory: number;
  /** Of the processor, that the thread that trades had meanwhile. */
  readonly processorMs: number;
}

const PAUSE_MS = 20;
const LEAST = 8;
const LONGEST_MS = 20_000;

/** Of one signal that was answered. */
export interface Sample {
  readonly ms: number;
  /** Of these, the thread that trades worked, and waited for a processor; in the rest it waited for something else. */
  readonly hadMs: number;
  readonly awaitedMs: number;
  /** Not with that the order was filled. */
  readonly isOther: boolean;
}

const SIGNALS_OF_ONE_ADDRESS = 500;

/** Signals in and out in turns, each over a connection of its own as a charting platform sends them. */
export function sender(desk: Desk, account: TradingAccount): () => Promise<Sample> {
  let from = desk.newAddress();
  let sent = 0;
  return async () => {
    // A platform has several, and one that sends thousands of signals in minutes is refused by the edge.
    if (sent % SIGNALS_OF_ONE_ADDRESS === 0) from = desk.newAddress();
    const order = sent++ % 2 === 0 ? { action: 'buy' } : { action: 'sell', order_type: 'exit' };
    const signal = desk.signal(account, order);
    const before = desk.product.processor();
    const begun = performance.now();
    const answer = await desk.webhook(account, signal, { from, fresh: true, timeoutMs: LONGEST_MS });
    const ms = performance.now() - begun;
    const after = desk.product.processor();
    return {
      ms,
      hadMs: after.hadMs - before.hadMs,
      awaitedMs: after.awaitedMs - before.awaitedMs,
      isOther: answer.body.status !== 'filled',
    };
  };
}

/** Sends signals for as long and until there are some. */
export async function observe(
  desk: Desk,
  when: string,
  account: TradingAccount,
  forMs: number,
): Promise<Figures> {
  const send = sender(desk, account);
  const times: number[] = [];
  let failed = 0;
  let memory = desk.product.memory();
  const watching = setInterval(() => {
    memory = Math.max(memory, desk.product.memory());
  }, 100);
  const begun = performance.now();
  const { hadMs } = desk.product.processor();
  const elapsed = () => performance.now() - begun;
  const isEnough = () => elapsed() > LONGEST_MS || (elapsed() > forMs && times.length + failed >= LEAST);
  while (!isEnough()) {
    try {
      const { ms, isOther } = await send();
      times.push(ms);
      if (isOther) failed++;
    } catch {
      failed++;
    }
    await pause(PAUSE_MS);
  }
  clearInterval(watching);
  return {
    when,
    signals: times.length,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    failed,
    memory,
    processorMs: desk.product.processor().hadMs - hadMs,
  };
}

const COLUMNS = ['', 'signals', 'p50 ms', 'p99 ms', 'failed', 'memory MB', 'processor ms a signal'];

export const figuresTable = (figures: readonly Figures[]): string =>
  table(
    COLUMNS,
    figures.map(({ when, signals, p50, p99, failed, memory, processorMs }) => [
      when,
      `${signals}`,
      signals === 0 ? 'none' : p50.toFixed(1),
      signals === 0 ? 'none' : p99.toFixed(1),
      `${failed}`,
      `${memory}`,
      signals === 0 ? 'none' : (processorMs / signals).toFixed(1),
    ]),
  );

/** As Markdown has it. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
