// Positions that are protected, and some that are not, for pictures: played through the public API on exchanges that refuse
// stops, lose them, or take no credentials any more. The clock is the real one: how long a stop is missing is counted.

import { setTimeout as pause } from 'node:timers/promises';
import type { Parts } from '../../src/main.ts';
import { type Exchange, makeReal, openExchange, type Times } from './believable-day.ts';
import type { Account, Stage } from './stage.ts';

/** Nothing here takes longer, unless it never comes. */
const LONGEST_MS = 30_000;
const NOW: Times = { now: Date.now, moveTo() {} };

export interface Exchanges {
  readonly bybit: Exchange;
  readonly okx: Exchange;
  readonly gate: Exchange;
  readonly bitget: Exchange;
}

/** Each of them in a folder of its own. */
export async function openExchanges(dirOf: (name: string) => string): Promise<Exchanges> {
  const open = (name: string) => openExchange(dirOf(name), NOW);
  return {
    bybit: await open('bybit'),
    okx: await open('okx'),
    gate: await open('gate'),
    bitget: await open('bitget'),
  };
}

export const protectedParts = ({ bybit, okx, gate, bitget }: Exchanges): Parts => ({
  brokers: { bybit: bybit.open, okx: okx.open, gate: gate.open, bitget: bitget.open },
});

interface Shown {
  readonly symbol: string;
  readonly protection: null | {
    readonly id: string;
    readonly state: string;
    readonly stop_loss: number | null;
    readonly take_profit: readonly { readonly filled: number }[];
    readonly break_even: unknown;
    readonly reason: string | null;
  };
}

export interface ProtectedDay {
  readonly lab: string;
  /** The order that was protected, the protection that was put back, the one that is missing, the close that a stop made. */
  readonly entry: string;
  readonly restored: string;
  readonly bare: string;
  /** Not watched. */
  readonly left: string;
  readonly stopped: string;
  /** An entry that waits for its price, the trade that a stop ended, a group and its signal, which one member refused. */
  readonly resting: string;
  readonly trade: string;
  readonly group: string;
  readonly together: string;
}

const opened = (action: 'buy' | 'sell', symbol: string, quantity: number) => ({
  action,
  symbol,
  quantity,
  market_position: action === 'buy' ? 'long' : 'short',
  market_position_size: quantity,
  prev_market_position: 'flat',
  prev_market_position_size: 0,
});

export async function playProtected(
  stage: Stage,
  { bybit, okx, gate, bitget }: Exchanges,
): Promise<ProtectedDay> {
  const prices = {
    BTCUSDT: 65_500,
    ETHUSDT: 3_168.44,
    SOLUSDT: 142.8,
    LINKUSDT: 14.2,
    DOGEUSDT: 0.1502,
    XRPUSDT: 2.31,
  };
  for (const exchange of [bybit, okx, gate])
    for (const [symbol, price] of Object.entries(prices)) exchange.setPrice(symbol, price);
  const main = await makeReal(stage, 'Bybit main');
  const swing = await makeReal(stage, 'OKX swing', 'okx');
  const former = await makeReal(stage, 'Gate trend', 'gate');
  const calm = { BTCUSDT: 65_500, SOLUSDT: 142.8, LINKUSDT: 14.2 };
  const lab = await stage.makeAccount({
    name: 'Paper lab',
    paper: { price: { ...calm, BNBUSDT: 684.1, ETHUSDT: 3_168 }, starting_cash: 250_000 },
    protection_defaults: { '*': { stop_loss: '2%', take_profit: '4%' }, BNBUSDT: { stop_loss: '5%' } },
  });
  await stage.call(`/trading/accounts/${main.id}`, { method: 'PATCH', body: { unprotected: 'alert' } });

  const read = async (account: Account, symbol: string): Promise<Shown | undefined> => {
    const { items } = await stage.call<{ items: Shown[] }>(`/trading/accounts/${account.id}/positions`);
    return items.find((position) => position.symbol === symbol);
  };
  const until = async (
    account: Account,
    symbol: string,
    isThere: (protection: NonNullable<Shown['protection']>) => boolean,
  ): Promise<string> => {
    const end = Date.now() + LONGEST_MS;
    while (Date.now() < end) {
      const protection = (await read(account, symbol))?.protection;
      if (protection && isThere(protection)) return protection.id;
      if (protection)
        await stage.call(`/trading/protections/${protection.id}/look`, { method: 'POST' }).catch(() => {});
      await pause(250);
    }
    throw new Error(
      `${symbol} does not come to what is to be pictured: ${JSON.stringify(await read(account, symbol))}`,
    );
  };
  const stands = (account: Account, symbol: string) =>
    until(account, symbol, ({ state }) => state === 'standing');

  await stage.signal(lab, {
    ...opened('buy', 'BNBUSDT', 20),
    stop_loss: '3%',
    take_profit: [
      { at: 694, percent: 50 },
      { at: 711, percent: 50 },
    ],
    break_even: 'tp1',
  });
  await stage.signal(lab, { ...opened('buy', 'ETHUSDT', 4), stop_loss: '1%', take_profit: '3%' });
  await stands(lab, 'ETHUSDT');
  await stands(lab, 'BNBUSDT');
  // The first target is reached, and a stop is hit.
  await stage.call(`/trading/accounts/${lab.id}`, {
    method: 'PATCH',
    body: { paper: { price: { ...calm, BNBUSDT: 695.2, ETHUSDT: 3_100 } } },
  });
  await until(lab, 'BNBUSDT', ({ take_profit }) => (take_profit[0]?.filled ?? 0) > 0);
  await until(lab, 'BNBUSDT', ({ state, break_even }) => state === 'standing' && break_even === null);
  while (await read(lab, 'ETHUSDT').then((held) => held?.protection)) await pause(250);

  await stage.signal(main, {
    ...opened('buy', 'BTCUSDT.P', 0.4),
    stop_loss: 64_000,
    take_profit: [
      { at: 67_000, percent: 50 },
      { at: 69_000, percent: 50 },
    ],
    break_even: 'tp1',
  });
  await stage.signal(main, { ...opened('buy', 'ETHUSDT.P', 1.5), trailing_stop: '40p' });
  await stands(main, 'BTCUSDT.P');
  await stands(main, 'ETHUSDT.P');
  bybit.setPrice('BTCUSDT', 66_120.5);
  bybit.setPrice('ETHUSDT', 3_184.9);
  await until(main, 'ETHUSDT.P', ({ stop_loss }) => (stop_loss ?? 0) > 3_140);

  await stage.signal(swing, { ...opened('sell', 'LINKUSDT.P', 300), stop_loss: 14.6, take_profit: 13.4 });
  await stage.signal(swing, { ...opened('buy', 'DOGEUSDT.P', 10_000), stop_loss: '4%', time_stop: 36_000 });
  await stage.signal(swing, opened('buy', 'XRPUSDT.P', 500));
  await stands(swing, 'DOGEUSDT.P');
  const restored = await stands(swing, 'LINKUSDT.P');
  const history = async () =>
    (await stage.call<{ history: { what: string }[] }>(`/trading/protections/${restored}`)).history;
  // For one look at a time: what is taken away again and again is not put back any more.
  while (!(await history()).some(({ what }) => what === 'restored')) {
    okx.behave({ protection: 'vanish' });
    await stage.call(`/trading/protections/${restored}/look`, { method: 'POST' });
    await pause(250);
    okx.behave({ protection: 'native' });
    await pause(1_000);
  }
  await stands(swing, 'LINKUSDT.P');
  await stands(swing, 'DOGEUSDT.P');
  okx.setPrice('LINKUSDT', 14.05);
  okx.setPrice('DOGEUSDT', 0.1519);

  await stage.signal(former, { ...opened('buy', 'SOLUSDT.P', 12), stop_loss: 138 });
  const unwatched = await stands(former, 'SOLUSDT.P');
  gate.isClosed = true;
  await stage.call(`/trading/protections/${unwatched}/look`, { method: 'POST' });
  await stage.call(`/trading/accounts/${former.id}/verify`, { method: 'POST' }).catch(() => {});

  bitget.owner = 'the first';
  const moved = await makeReal(stage, 'Bitget small', 'bitget');
  await stage.signal(moved, {
    ...{ ...opened('buy', 'ADAUSDT.P', 2_000), stop_loss: '4%', take_profit: '6%' },
  });
  const left = await stands(moved, 'ADAUSDT.P');
  bitget.owner = 'another';
  await stage.call(`/trading/accounts/${moved.id}/verify`, { method: 'POST' });

  bybit.behave({ protection: 'refuse' });
  await stage.signal(main, { ...opened('buy', 'SOLUSDT.P', 40), stop_loss: 139.9, take_profit: 147 });
  const bare = await until(main, 'SOLUSDT.P', ({ state }) => state === 'unprotected');
  bybit.setPrice('SOLUSDT', 142.63);

  await restSome(stage, lab, main);
  const group = await signalTogether(stage, lab);

  type Order = Record<'order_id' | 'symbol' | 'source', string>;
  type Named = { items: { id: string }[] };
  const { items } = await stage.call<{ items: Order[] }>('/trading/orders');
  const { items: trades } = await stage.call<Named>('/trading/trades');
  const { items: signals } = await stage.call<Named>(`/trading/signals?group_id=${group}`);
  const orderOf = (symbol: string, source: string) =>
    items.find((order) => order.symbol === symbol && order.source === source)?.order_id ?? '';
  return {
    lab: lab.id,
    entry: orderOf('BTCUSDT.P', 'webhook'),
    restored,
    bare,
    left,
    stopped: orderOf('ETHUSDT', 'protection'),
    resting: orderOf('BTCUSDT', 'webhook'),
    trade: trades[0]?.id ?? '',
    group,
    together: signals[0]?.id ?? '',
  };
}

/** Entries that wait: by a limit with what will protect it, by a stop, and one whose id is its strategy's. */
async function restSome(stage: Stage, lab: Account, main: Account): Promise<void> {
  await stage.signal(lab, {
    ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 0.2, id: 'dip', limit_price: 64_200.5 },
    ...{ stop_loss: '2%', take_profit: '4%', expires_in: 14_400 },
  });
  await stage.signal(lab, { action: 'sell', symbol: 'LINKUSDT', quantity: 150, limit_price: 15.5 });
  await stage.signal(main, { action: 'buy', symbol: 'XRPUSDT.P', quantity: 1_000, stop_price: 2.4 });
}

/** One signal for three accounts: whole, by half under a name of its own, and refused by the one that is halted. */
async function signalTogether(stage: Stage, lab: Account): Promise<string> {
  const half = await stage.makeAccount({ name: 'Half size' });
  const small = await stage.makeAccount({ name: 'Paper small' });
  const group = await stage.call<Account>('/trading/groups', {
    body: {
      name: 'Momentum',
      members: [
        { trading_account_id: lab.id },
        { trading_account_id: half.id, factor: 0.5, symbols: { SOLUSDT: 'AVAXUSDT' } },
        { trading_account_id: small.id },
      ],
    },
  });
  await stage.call(`/trading/accounts/${small.id}/halt`, { body: {} });
  await stage.signal(group, { action: 'buy', symbol: 'SOLUSDT', quantity: 40, stop_loss: '3%' });
  return group.id;
}
