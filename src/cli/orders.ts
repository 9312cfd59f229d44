// A user's orders over the API: listed, followed live, and settled by hand.

import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderSummary } from '../domain/orders/result.ts';
import {
  type Api,
  type ClientOptions,
  everyOne,
  KEY_OPTION,
  openApi,
  Refused,
  URL_OPTION,
  unlessRefused,
} from './client.ts';
import { type AddCommands, examples, JSON_OPTION, type WithJson } from './desk.ts';
import { eventsIn } from './event-stream.ts';
import type { Column, Output, Tone } from './output.ts';
import { visible } from './output.ts';
import { settle } from './settle.ts';

interface ListOptions extends ClientOptions, WithJson {
  readonly account?: string;
  readonly status?: string;
  readonly symbol?: string;
  readonly limit: string;
}

interface TailOptions extends ClientOptions, WithJson {
  readonly account?: string;
  readonly count?: string;
}

export const orders: AddCommands = (noun, desk) => {
  const { output, does } = desk;

  noun
    .command('list')
    .description("list a user's orders, newest first")
    .option('--account <account>', 'only this account’s, by name or id')
    .option('--status <status>', 'such as filled, unknown or rejected')
    .option('--symbol <symbol>')
    .option('--limit <number>', 'how many at most, up to 200', '20')
    .option(...URL_OPTION)
    .option(...KEY_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('orders list --status unknown'))
    .action(
      does(async (options: ListOptions) =>
        unlessRefused(output, async () => {
          const api = openApi(desk, options);
          const { account, status, symbol, limit } = options;
          const query = new URLSearchParams({
            limit,
            ...(account ? { trading_account_id: await accountId(api, account) } : {}),
            ...(status ? { status } : {}),
            ...(symbol ? { symbol } : {}),
          });
          const answer = await api.get(`/trading/orders?${query}`);
          const { items } = (await answer.json()) as { items: OrderSummary[] };
          if (options.json) output.json(items);
          else
            output.table(
              items,
              COLUMNS,
              account || status || symbol
                ? 'There are no such orders.'
                : 'There are no orders yet. `npx fillpath signal send` sends a test signal.',
            );
          return 0;
        }),
      ),
    );

  noun
    .command('tail')
    .description("follow a user's orders as they change, a line for each change, until it is stopped")
    .option('--account <account>', 'only this account’s, by name or id')
    .option('--count <number>', 'stop after this many changes')
    .option(...URL_OPTION)
    .option(...KEY_OPTION)
    .option('--json', 'print JSON Lines: each order as it is now')
    .addHelpText('after', examples('orders tail', 'orders tail --account Futures --json | jq .status'))
    .action(
      does(async (options: TailOptions) =>
        unlessRefused(output, async () => {
          const most = options.count === undefined ? Number.POSITIVE_INFINITY : Number(options.count);
          if (!(most >= 1)) {
            output.complain('--count takes a number from 1 up.');
            return 2;
          }
          const api = openApi(desk, options);
          const only = options.account ? await accountId(api, options.account) : null;
          const isNews = newsOnly();
          let told = 0;
          for await (const order of changes(api, output)) {
            if (only !== null && order.trading_account_id !== only) continue;
            const line = options.json ? JSON.stringify(order) : lineOf(order, output);
            if (!isNews(order.order_id, line)) continue;
            output.print(line);
            if (++told >= most) break;
          }
          return 0;
        }),
      ),
    );

  settle(noun, desk);
};

/** Orders that are told of at once are fewer by far. */
const MOST_REMEMBERED = 1_000;

/** An order changes in more than its line shows, such as when its fill is verified: the same line again is no news. */
export function newsOnly(): (id: string, line: string) => boolean {
  const last = new Map<string, string>();
  return (id, line) => {
    if (last.get(id) === line) return false;
    // The longest unchanged goes first.
    last.delete(id);
    last.set(id, line);
    const [oldest] = last.keys();
    if (oldest !== undefined && last.size > MOST_REMEMBERED) last.delete(oldest);
    return true;
  };
}

/** Of the user whose key it is. */
async function accountId(api: Api, name: string): Promise<string> {
  for await (const account of everyOne<{ id: string; name: string }>(api, '/trading/accounts'))
    if (account.id === name || account.name === name) return account.id;
  throw new Refused(404, `This key's user has no account ${visible(name)}.`);
}

/** A comment comes every 15 s. */
const SILENT_MS = 45_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Goes on where it was cut off, for as long as the service takes the key. */
async function* changes(api: Api, { complain }: Output): AsyncGenerator<OrderSummary> {
  let last: string | null = null;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const silent = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(new Error('nothing was heard')), SILENT_MS);
    };
    try {
      heard();
      const answer = await api.get('/trading/orders/stream', {
        signal: silent.signal,
        headers: { accept: 'text/event-stream', ...(last === null ? {} : { 'last-event-id': last }) },
      });
      if (last !== null) complain('connected again');
      for await (const event of eventsIn(answer.body ?? [], heard)) {
        pause = FIRST_PAUSE_MS;
        last = event.id ?? last;
        if (event.name === 'order') yield JSON.parse(event.data) as OrderSummary;
        if (event.name === 'reset') complain('something may have been missed: see `fillpath orders list`');
      }
    } catch (fault) {
      // The key is not taken, or not any more; everything else passes.
      if (fault instanceof Refused && fault.status < 500 && fault.status !== 429) throw fault;
      complain(`${(fault as Error).message}; trying again`);
    } finally {
      clearTimeout(timer);
      silent.abort();
    }
    await sleep(pause);
  }
}

const TONES: Readonly<Record<string, Tone>> = {
  filled: 'good',
  done: 'good',
  rejected: 'bad',
  failed: 'bad',
  expired: 'bad',
  unknown: 'warn',
};

const toneOf = ({ status }: OrderSummary): Tone | undefined => TONES[status];

/** A close has none of its own: then what was filled, if anything was. */
const quantityOf = ({ quantity, fill_quantity }: OrderSummary): number | null =>
  quantity || fill_quantity || null;

const COLUMNS: readonly Column<OrderSummary>[] = [
  { title: 'SUBMITTED', value: (order) => order.submitted_at },
  { title: 'STATUS', value: (order) => order.status, tone: toneOf },
  { title: 'ACTION', value: (order) => order.action },
  { title: 'QUANTITY', value: quantityOf, align: 'right' },
  { title: 'SYMBOL', value: (order) => order.symbol },
  { title: 'PRICE', value: (order) => order.fill_price, align: 'right' },
  { title: 'MODE', value: (order) => (order.simulation ? 'simulated' : order.broker_name) },
  { title: 'ORDER', value: (order) => order.order_id },
  { title: 'WHY', value: (order) => order.error?.message ?? '' },
];

/** `2026-11-15T21:40:03.120Z filled buy 1 BTCUSDT at 67000.5 (simulated) 019a8c5e-…`. */
export function lineOf(order: OrderSummary, { paint }: Pick<Output, 'paint'>): string {
  const tone = toneOf(order);
  const price = order.fill_price === null ? '' : ` at ${order.fill_price}`;
  const why = order.error ? `: ${visible(order.error.message)}` : '';
  const what = [order.action, quantityOf(order), visible(order.symbol)]
    .filter((part) => part !== null)
    .join(' ');
  const mode = order.simulation ? 'simulated' : order.broker_name;
  const status = tone ? paint(tone, order.status) : order.status;
  return `${order.submitted_at} ${status} ${what}${price} (${mode}) ${order.order_id}${why}`;
}
