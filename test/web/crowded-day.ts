// What strains a page, for pictures: names as long as they may be, of no Latin letters or nowhere to break, numbers of fifteen
// digits, and what came from outside and is no word of ours.

import type { Account, Stage } from './stage.ts';

/** As long as a name may be, and nowhere to break it. */
const UNBROKEN = 'W'.repeat(100);
const FOREIGN =
  'Стратегия на разворот тренда с усреднением позиции и трейлинг-стопом для самых терпеливых трейдеров!';
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>';

export interface CrowdedDay {
  readonly long: string;
  readonly group: string;
  readonly together: string;
  readonly filled: string;
  readonly unknown: string;
  readonly rejected: string;
  readonly refused: string;
  readonly trade: string;
}

const stance = (side: string, size: number, before: string, sizeBefore: number) => ({
  market_position: side,
  market_position_size: size,
  prev_market_position: before,
  prev_market_position_size: sizeBefore,
});

export async function playCrowded(stage: Stage): Promise<CrowdedDay> {
  const make = (name: string, paper: object = {}) => stage.makeAccount({ name, paper });
  const send = (account: Account, body: object, query = '') =>
    stage.signal(account, { comment: HOSTILE, ...body }, query, { 'user-agent': HOSTILE });
  const long = await make(UNBROKEN, { starting_cash: 1e12 });
  const foreign = await make(FOREIGN, { starting_cash: 1e12 });
  const lost = await make('Lost', { lose_answer: true });
  const closed = await make(HOSTILE, { reject: 'market_closed' });
  const id = UNBROKEN.slice(36);

  await send(long, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.3, price: 60_000, id });
  await send(long, {
    action: 'sell',
    symbol: 'BTCUSDT',
    quantity: 0.5,
    id,
    ...stance('short', 0.2, 'long', 0.3),
  });
  await send(long, {
    action: 'buy',
    symbol: 'SOLUSDT',
    quantity: 3,
    ...stance('long', 3, 'flat', 0),
    stop_loss: '2%',
    take_profit: '3%',
  });
  await send(long, { action: 'sync', symbol: 'SOLUSDT', market_position: 'long', market_position_size: 5 });
  await send(long, { action: 'buy', symbol: 'ETHUSDT', quantity: 1, limit_price: 10, id });
  await send(foreign, { action: 'buy', symbol: 'XRPUSDT', quantity: 876_543_210.5 });
  await send(foreign, { action: 'buy', symbol: 'XRPUSDT', quantity: 1_234_567.89012345 });
  await send(foreign, { action: 'sell', symbol: 'XRPUSDT', quantity: 432_123_456.7 });
  await send(foreign, { action: 'buy', symbol: 'DOGEUSDT', quantity: 40 }, '?simulation=true');
  await send(closed, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1 });
  await send(closed, { action: 'buy', symbol: HOSTILE.slice(0, 40), quantity: 1, secret: 'guessed' });
  await send(long, { action: 'dance', symbol: HOSTILE.slice(0, 40) });
  await send(lost, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1 });
  const group = await stage.call<Account>('/trading/groups', {
    body: {
      name: UNBROKEN,
      members: [
        { trading_account_id: long.id, symbols: { SOLUSDT: 'AVAXUSDT' } },
        { trading_account_id: foreign.id, factor: 0.125 },
        { trading_account_id: closed.id },
      ],
    },
  });
  await send(group, { action: 'buy', symbol: 'SOLUSDT', quantity: 1234.5678, stop_loss: '3%' });

  type Signal = Record<'id' | 'order_id' | 'trading_account_id' | 'code' | 'action', string>;
  const { items } = await stage.call<{ items: Signal[] }>('/trading/signals?limit=100');
  const find = (wanted: Partial<Signal>) =>
    items.find((signal) => Object.entries(wanted).every(([key, value]) => signal[key as 'id'] === value));
  const { items: ofGroup } = await stage.call<{ items: { id: string }[] }>(
    `/trading/signals?group_id=${group.id}`,
  );
  const { items: trades } = await stage.call<{ items: { id: string }[] }>('/trading/trades');
  return {
    long: long.id,
    group: group.id,
    together: ofGroup[0]?.id ?? '',
    filled: find({ trading_account_id: long.id, action: 'sell' })?.id ?? '',
    unknown: find({ trading_account_id: lost.id })?.order_id ?? '',
    rejected: find({ trading_account_id: closed.id, action: 'buy', code: '' })?.order_id ?? '',
    refused: find({ code: 'webhook_credential_attack' })?.id ?? '',
    trade: trades[0]?.id ?? '',
  };
}
