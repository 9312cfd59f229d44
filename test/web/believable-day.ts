// A trader's fortnight and the day after it, for pictures: played into the service through its public API, as strategies,
// strangers and the trader would. The service's clock is set back for it and moved on; today ends now.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { CompactEncrypt, importJWK } from 'jose';
import {
  type Broker,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
  type OpenBroker,
} from '../../src/broker/broker.ts';
import { findListing, quote } from '../../src/broker/paper/market.ts';
import { openPaper } from '../../src/broker/paper/paper.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { createChance } from '../../src/demo/chance.ts';
import { createStrategy } from '../../src/demo/strategy.ts';
import { decimal, toNumber } from '../../src/domain/decimal.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import type { Parts } from '../../src/main.ts';
import { steady } from '../../src/roles/foundation.ts';
import type { Account, Stage } from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PAST_DAYS = 14;
const SIGNALS_A_DAY = 6;
const HOLDS_MS = 16 * HOUR_MS;
const SEED = 7;

export interface Times {
  now(): number;
  moveTo(at: number): void;
}

/** Set back by the fortnight, and running. */
export function timesBefore(): Times {
  let behind = (PAST_DAYS + 1) * DAY_MS;
  return {
    now: () => Date.now() - behind,
    moveTo(at) {
      behind = Math.round(Date.now() - at);
    },
  };
}

/** An exchange whose accounts are real money to everybody but us: the paper broker's engine, under another's name. */
export interface Exchange {
  readonly open: OpenBroker;
  /** How it behaves from now on. */
  behave(settings: Partial<PaperSettings>): void;
  /** Nobody finds an order there, until it is back. */
  isAway: boolean;
  /** The credentials are not taken any more. */
  isClosed: boolean;
  /** Whose account the credentials are of, by the exchange's own word; null: it tells nobody. */
  owner: string | null;
  /** From now on, for everybody there. */
  setPrice(symbol: string, price: number): void;
  close(): Promise<void>;
}

export async function openExchange(dir: string, times: Times): Promise<Exchange> {
  const db = openSqlite({ file: join(dir, 'exchange.db') });
  await migrate(db, times.now());
  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const prices = new Map<string, number>();
  const openBook = openPaper({
    ledger: openPaperLedger(db),
    clock: times,
    wait,
    lastPrice(symbol) {
      const price = prices.get(symbol);
      return price === undefined ? undefined : decimal(price);
    },
  });
  let settings: Partial<PaperSettings> = { latency_ms: 60, starting_cash: 40_000 };
  const asPerpetual = <Item extends { readonly symbol: string }>(item: Item): Item => ({
    ...item,
    symbol: `${item.symbol}.P`,
  });
  const asSpot = <Item extends { readonly symbol: string }>(item: Item): Item => ({
    ...item,
    symbol: item.symbol.replace(/\.P$/, ''),
  });
  const inBook = <Sent extends { readonly instrument: Instrument }>(sent: Sent): Sent => ({
    ...sent,
    instrument: asSpot(sent.instrument),
  });
  const exchange: Exchange = {
    isAway: false,
    isClosed: false,
    owner: null,
    setPrice: (symbol, price) => void prices.set(symbol, price),
    behave(changed) {
      settings = { ...settings, ...changed };
    },
    // Each call asks a book that behaves as it is told by now.
    async open(account, signal) {
      const book = () => {
        if (exchange.isClosed) throw new CredentialsRejected('API key is invalid.');
        return openBook({ ...account, paper: settings }, signal);
      };
      const first = await book();
      const broker: Broker = {
        ...first,
        async verify(...asked) {
          const fitness = await first.verify(...asked);
          return exchange.owner === null ? fitness : { ...fitness, identity: exchange.owner };
        },
        async resolve(...asked) {
          const found = await first.resolve(...asked);
          return 'rejection' in found ? found : asPerpetual(found);
        },
        place: async (order, until) => (await book()).place(inBook(order), until),
        balance: async (...asked) => ({ ...(await first.balance(...asked)), currency: 'USDT' }),
        position: async (instrument, until) => (await book()).position(asSpot(instrument), until),
        positions: async (...asked) => (await (await book()).positions(...asked)).map(asPerpetual),
        async instruments({ query, ...search }, until) {
          const spot = asSpot({ symbol: query }).symbol;
          return (await first.instruments({ ...search, query: spot }, until)).map(asPerpetual);
        },
        quote: (instrument, until) => first.quote(asSpot(instrument), until),
        openOrders: async (...asked) => (await first.openOrders(...asked)).map(asPerpetual),
        cancel: (order, until) => first.cancel(asSpot(order), until),
        async find(...asked) {
          if (exchange.isAway) throw new BrokerUnavailable('The exchange does not answer.');
          return first.find(...asked);
        },
        stops: {
          place: async (stop, until) => (await book()).stops.place(inBook(stop), until),
          move: async (stop, to, until) => (await book()).stops.move(asSpot(stop), inBook(to), until),
          remove: (stop, until) => first.stops.remove(asSpot(stop), until),
          standing: async (instrument, until) => (await book()).stops.standing(asSpot(instrument), until),
          find: (stop, until) => first.stops.find(asSpot(stop), until),
        },
      };
      return broker;
    },
    close: () => db.close(),
  };
  return exchange;
}

export const partsOf = (times: Times, exchange: Exchange): Parts => ({
  clock: times,
  // Leases and limits go by a clock that is not set.
  ticking: steady,
  brokers: { bybit: exchange.open },
});

/** Up to now, when all is in order. */
export async function playFortnight(stage: Stage, times: Times, exchange: Exchange) {
  const chance = createChance(SEED);
  const chart = (symbol: string, at: number): number => {
    const listing = findListing(symbol);
    assert.ok(listing);
    return toNumber(quote(listing, 1, at).bid);
  };
  const main = await makeReal(stage, 'Bybit main');
  const swing = await makeReal(stage, 'Bybit swing');
  const futures = await stage.makeAccount({
    name: 'Index futures, rehearsed',
    paper: { starting_cash: 250_000, latency_ms: 35 },
    guards: { max_order_quantity: { 'ES1!': 3, '*': 10 }, max_price_deviation_percent: 2 },
  });
  const lab = await stage.makeAccount({ name: 'Lab', paper: { latency_ms: 15 } });

  const strategy = (account: Account, symbol: string, ticker: string, unit: number) => ({
    account,
    symbol,
    ...createStrategy({ name: 'Pullback', symbol, ticker, unit }, { chart, chance }),
  });
  const btc = strategy(main, 'BTCUSDT', 'BTCUSDT.P', 0.05);
  const eth = strategy(main, 'ETHUSDT', 'ETHUSDT.P', 1.2);
  const sol = strategy(swing, 'SOLUSDT', 'SOLUSDT.P', 25);
  const es = strategy(futures, 'ES1!', 'ES1!', 1);
  const players = [btc, eth, sol, es] as const;
  const send = (player: (typeof players)[number], alert: object) => stage.signal(player.account, alert);
  const trade = (player: (typeof players)[number], units: number) => {
    const alert = player.moveTo(units, times.now());
    // It stands there already.
    return send(player, alert['quantity'] === 0 ? player.sync(times.now()) : alert);
  };
  const plain = (account: Account, body: object, query = '') =>
    stage.signal(account, { timestamp: new Date(times.now()).toISOString(), ...body }, query);

  const now = Date.now();
  for (let day = PAST_DAYS; day >= 1; day--) {
    // Before today's first one.
    const from = now - day * DAY_MS - 10 * HOUR_MS;
    const moments = Array.from({ length: SIGNALS_A_DAY }, () => chance.between(0.02, 0.98)).toSorted();
    for (const moment of moments) {
      times.moveTo(from + moment * DAY_MS);
      const player = chance.pick(players);
      const ahead = chart(player.symbol, times.now() + HOLDS_MS) - chart(player.symbol, times.now());
      // It sees ahead more often than not: its curve goes up, with steps back.
      const side = Math.sign(ahead) * (chance.unit() < 0.7 ? 1 : -1);
      await trade(player, side * chance.pick([1, 2]));
    }
    if (day % 4 === 0) await plain(lab, { action: 'buy', symbol: 'DOGEUSDT', quantity: 5e7 });
  }

  // Today, from hours ago up to now.
  const at = (minutesAgo: number) => times.moveTo(Date.now() - minutesAgo * MINUTE_MS);
  // Somebody meddled in the morning, saw it, and aligned.
  at(540);
  await send(eth, eth.moveTo(3, times.now()));
  await order(stage, main, { action: 'buy', symbol: 'ETHUSDT.P', quantity: 0.3 });
  await send(eth, eth.sync(times.now()));
  at(526);
  await stage.call(`/trading/accounts/${main.id}/align`, { body: { symbol: 'ETHUSDT.P' } });

  const program = [
    ...[520, 398, 247, 131].map((minutesAgo, turn) => ({ player: btc, minutesAgo, turn })),
    ...[470, 340, 163].map((minutesAgo, turn) => ({ player: eth, minutesAgo, turn })),
    ...[430, 318, 214, 64].map((minutesAgo, turn) => ({ player: sol, minutesAgo, turn })),
    ...[505, 371, 285, 190, 97].map((minutesAgo, turn) => ({ player: es, minutesAgo, turn })),
  ].toSorted((a, b) => b.minutesAgo - a.minutesAgo);
  let standing = 1;
  for (const { player, minutesAgo, turn } of program) {
    at(minutesAgo);
    // With hindsight, but for some: a trader whose pictures are taken had a fair day.
    const next = program.find((other) => other.player === player && other.minutesAgo < minutesAgo);
    const rises =
      chart(player.symbol, Date.now() - (next?.minutesAgo ?? 7) * MINUTE_MS) >
      chart(player.symbol, times.now());
    const side = rises === (turn !== 2) ? 1 : -1;
    await trade(player, side * (1 + (turn % 2)));
    if (player === btc) standing = side;
  }
  at(58);
  await plain(main, { action: 'buy', symbol: 'BTCUSDT.P', quantity: 5, secret: 'letmein' });
  at(55);
  await plain(main, { action: 'buy', symbol: 'BTCUSDT.P', quantity: 5, secret: 'password1' });
  at(51);
  const seen = eth.sync(times.now());
  await send(eth, seen);
  await send(eth, seen);
  at(44);
  await plain(lab, { action: 'buy', symbol: 'BTCUSTD', quantity: 0.1 });
  await plain(lab, { action: 'buy', symbol: 'DOGEUSDT', quantity: 5e7 });
  at(38);
  await plain(futures, { action: 'buy', symbol: 'ES1!', quantity: 5 });
  at(33);
  await plain(main, { action: 'buy', symbol: 'SOLUSDT.P', quantity: 10 }, '?simulation=true');
  await plain(main, { action: 'sell', symbol: 'LINKUSDT.P', quantity: 40 }, '?simulation=true');
  at(30);
  await plain(lab, { action: 'buy', symbol: 'ETHUSDT', quantity: 1, price: '{{close}}' });
  at(6);
  // The other way round than it stood last.
  await send(btc, btc.moveTo(-standing, times.now()));
  const reversal = await newestSignal(stage, main);
  at(0);

  return {
    main,
    reversal,
    /** From here on not all is in order. */
    async playTrouble(): Promise<{ readonly refused: string; readonly unknownOrder: string }> {
      const micro = strategy(futures, 'MES1!', 'MES1!', 1);
      await send(micro, micro.moveTo(2, times.now()));
      await order(stage, futures, { action: 'sell', symbol: 'MES1!', quantity: 1, order_type: 'exit' });
      await send(micro, micro.sync(times.now()));
      await order(stage, swing, { action: 'buy', symbol: 'SOLUSDT.P', quantity: 5 });
      await send(sol, sol.sync(times.now()));
      await stage.call(`/trading/accounts/${lab.id}/halt`, { body: {} });
      await plain(lab, { action: 'buy', symbol: 'ETHUSDT', quantity: 1 });
      const refused = await newestSignal(stage, lab);
      exchange.behave({ lose_answer: true });
      exchange.isAway = true;
      await send(eth, eth.moveTo(0, times.now()));
      return { refused, unknownOrder: await newestOrder(stage, main) };
    },
  };
}

const order = (stage: Stage, account: Account, body: object) =>
  stage.call('/trading/order', { body: { trading_account_id: account.id, ...body } });

async function newestOrder(stage: Stage, account: Account): Promise<string> {
  const { items } = await stage.call<{ items: { order_id: string }[] }>(
    `/trading/orders?limit=1&trading_account_id=${account.id}`,
  );
  return items[0]?.order_id ?? '';
}

async function newestSignal(stage: Stage, account: Account): Promise<string> {
  const { items } = await stage.call<{ items: { id: string }[] }>(
    `/trading/signals?limit=1&trading_account_id=${account.id}`,
  );
  return items[0]?.id ?? '';
}

/** With credentials that were sealed as the page seals them, and verified. */
export async function makeReal(stage: Stage, name: string, broker = 'bybit'): Promise<Account> {
  const account = await stage.call<Account>('/trading/accounts', { body: { name, broker } });
  const key = await stage.call<{ alg: string; kid: string }>('/auth/public-key');
  const { items } = await stage.call<{ items: { id: string; email: string }[] }>('/deployment/users');
  const user = items.find(({ email }) => email === stage.firstUser.email);
  const credentials = { api_key: 'a-key', api_secret: 'a-secret' };
  const content = { user_id: user?.id, trading_account_id: account.id, credentials };
  const sealed = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: key.alg, enc: 'A256GCM', kid: key.kid })
    .encrypt(await importJWK(key, key.alg));
  await stage.call(`/trading/accounts/${account.id}/credentials`, { method: 'PUT', body: { sealed } });
  await stage.call(`/trading/accounts/${account.id}/verify`, { method: 'POST' });
  return account;
}
