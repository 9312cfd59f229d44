// Alpaca's stub by itself, asked as its documents say: what it takes, what it refuses in which words, and what it reserves.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');

interface Row {
  readonly id: string;
  readonly client_order_id: string;
  readonly status: string;
  readonly type: string;
  readonly qty: string;
  readonly stop_price: string | null;
  readonly limit_price: string | null;
  readonly filled_qty: string;
  readonly filled_avg_price: string | null;
  readonly replaces: string | null;
  readonly replaced_by: string | null;
  readonly legs: readonly Row[] | null;
}

let ids = 0;

/** An account that holds some shares of AAPL, at a price that stays where it is set. */
async function desk(held = '6') {
  const account = await stub.account();
  const { api_key, api_secret } = account.credentials;
  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${stub.url()}/v2/${path}`, {
      method,
      headers: { 'apca-api-key-id': api_key, 'apca-api-secret-key': api_secret },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  }
  const priced = (price: number) => stub.control('POST', 'prices', { SOLUSDT: price });
  await priced(100);
  const row = async (path: string): Promise<Row> => (await ask('GET', `orders/${path}`)).body as Row;
  const terms = (more: object) => ({ symbol: 'AAPL', client_order_id: `stub${++ids}`, ...more });
  const market = (side: string, qty: string) =>
    ask('POST', 'orders', terms({ side, qty, type: 'market', time_in_force: 'day' }));
  const stop = (qty: string, price: string, more: object = {}) =>
    ask(
      'POST',
      'orders',
      terms({ side: 'sell', qty, type: 'stop', time_in_force: 'gtc', stop_price: price, ...more }),
    );
  const pair = (qty: string, far: string, near: string, more: object = {}) =>
    ask(
      'POST',
      'orders',
      terms({
        ...{ side: 'sell', qty, type: 'limit', time_in_force: 'gtc', order_class: 'oco' },
        take_profit: { limit_price: far },
        stop_loss: { stop_price: near },
        ...more,
      }),
    );
  if (held !== '0') assert.equal((await market('buy', held)).status, 200);
  const free = async () => (await ask('GET', 'positions')).body[0]?.qty_available as string | undefined;
  const open = async (more = ''): Promise<readonly Row[]> =>
    (await ask('GET', `orders?status=open&symbols=AAPL${more}`)).body as Row[];
  return { account, ask, priced, row, market, stop, pair, free, open };
}

const isRefused = (
  { status, body }: { status: number; body: { code?: number; message?: string } },
  expected: readonly [number, number, RegExp],
): void => {
  assert.deepEqual([status, body.code], [expected[0], expected[1]], JSON.stringify(body));
  assert.match(body.message ?? '', expected[2]);
};

const RESERVED = /^insufficient qty available for order \(requested: \d+, available: \d+\)$/;

describe('a stop at the stub of Alpaca', () => {
  it('is an order of its own, pending at first and then new, and reserves its shares', async () => {
    const { stop, row, free, open, market } = await desk();
    const placed = await stop('4', '90');
    assert.deepEqual([placed.status, placed.body.status, placed.body.type], [200, 'pending_new', 'stop']);
    const { status, stop_price, qty, filled_qty } = await row(placed.body.id);
    assert.deepEqual([status, stop_price, qty, filled_qty], ['new', '90', '4', '0']);
    assert.equal(await free(), '2');
    assert.deepEqual(
      (await open()).map(({ id }) => id),
      [placed.body.id],
    );
    for (const more of [await stop('3', '91'), await market('sell', '3')])
      isRefused(more, [403, 40310000, RESERVED]);
    assert.equal((await market('sell', '2')).status, 200);
  });

  it('says what is free and what is not where it is refused', async () => {
    const { stop } = await desk();
    const first = await stop('6', '90');
    const { body } = await stop('1', '91');
    assert.deepEqual(
      [body.available, body.existing_qty, body.held_for_orders, body.related_orders, body.symbol],
      ['0', '6', '6', [first.body.id], 'AAPL'],
    );
  });

  it('is refused for what it is', async () => {
    const { stop, pair } = await desk();
    for (const [answer, expected] of [
      [await stop('1.5', '90'), [422, 42210000, /^fractional orders must be DAY orders$/]],
      [await stop('1', '100.5'), [422, 42210000, /^stop price must be less than current price$/]],
      [await stop('1', '90.005'), [422, 42210000, /sub-penny/]],
      [await stop('1', '90', { limit_price: '89' }), [422, 40010001, /must not have limit_price/]],
      [await stop('1', '90', { reduce_only: true }), [422, 40010001, /knows no reduce_only/]],
      [await stop('1', 'low'), [422, 40010001, /require stop_price/]],
      [await pair('1.5', '110', '90'), [422, 42210000, /^fractional orders must be simple orders$/]],
      [await pair('1', '110', '100.5'), [422, 42210000, /^stop price must be less than current price$/]],
      [await pair('1', '90', '95'), [422, 42210000, /take_profit/]],
      [
        await pair('1', '110', '90', { take_profit: {} }),
        [422, 40010001, /require take_profit.limit_price$/],
      ],
      [await pair('1', '110', '90', { stop_loss: {} }), [422, 40010001, /require stop_loss.stop_price$/]],
      [await pair('1', '110', '90', { type: 'market' }), [422, 40010001, /./]],
    ] as const)
      isRefused(answer, expected);
    const flat = await desk('0');
    isRefused(await flat.pair('1', '110', '90'), [422, 42210000, /exit orders/]);
  });

  it('under an id that was ever used is refused', async () => {
    const { stop, ask } = await desk();
    const { body } = await stop('1', '90', { client_order_id: 'once' });
    isRefused(await stop('1', '91', { client_order_id: 'once' }), [422, 40010001, /must be unique/]);
    const moved = await ask('PATCH', `orders/${body.id}`, { stop_price: '91', client_order_id: 'twice' });
    assert.equal(moved.status, 200);
    for (const id of ['once', 'twice'])
      isRefused(await stop('1', '92', { client_order_id: id }), [422, 40010001, /must be unique/]);
  });

  it('that is hit is filled under its own id, and no other order is told of', async () => {
    const { stop, priced, row, open, free, ask } = await desk();
    const { body } = await stop('6', '90');
    await priced(89);
    const { status, filled_qty, filled_avg_price, client_order_id } = await row(body.id);
    assert.deepEqual([status, filled_qty], ['filled', '6']);
    assert.ok(Number(filled_avg_price) <= 90);
    assert.deepEqual(await open(), []);
    assert.equal(await free(), undefined);
    const named = await ask('GET', `orders:by_client_order_id?client_order_id=${client_order_id}`);
    assert.deepEqual([named.body.id, named.body.status], [body.id, 'filled']);
  });
});

describe('a stop that is replaced at the stub of Alpaca', () => {
  it('is another order from then on, and the old one says by which', async () => {
    const { stop, ask, row, open, free } = await desk();
    const { body: first } = await stop('4', '90');
    const { body: second } = await ask('PATCH', `orders/${first.id}`, {
      stop_price: '95',
      qty: '5',
      client_order_id: `moved${++ids}`,
    });
    assert.notEqual(second.id, first.id);
    assert.deepEqual([second.replaces, second.stop_price, second.qty], [first.id, '95', '5']);
    const before = await row(first.id);
    assert.deepEqual([before.status, before.replaced_by, before.stop_price], ['replaced', second.id, '90']);
    assert.equal((await row(second.id)).status, 'new');
    assert.deepEqual(
      (await open()).map(({ id }) => id),
      [second.id],
    );
    assert.equal(await free(), '1');
    isRefused(await ask('PATCH', `orders/${first.id}`, { stop_price: '96' }), [
      422,
      42210000,
      /^order already replaced$/,
    ]);
    isRefused(await ask('DELETE', `orders/${first.id}`), [422, 42210000, /already in "replaced" state/]);
    assert.equal((await ask('DELETE', `orders/${second.id}`)).status, 204);
    assert.equal(await free(), '6');
  });

  it('is refused where nothing changes, where it is not yet routed, and where the shares are not there', async () => {
    const { stop, ask, account } = await desk();
    const { body } = await stop('4', '90');
    const replace = (more: object) => ask('PATCH', `orders/${body.id}`, more);
    for (const [answer, expected] of [
      [await replace({ stop_price: '90' }), [422, 42210000, /^order parameters are not changed$/]],
      [await replace({ stop_price: '101' }), [422, 42210000, /^stop price must be less than current price$/]],
      [await replace({ stop_price: '95', qty: '7' }), [403, 40310000, RESERVED]],
      [await replace({ stop_price: '95', qty: '3.5' }), [422, 40010001, /^qty must be integer$/]],
      [await replace({ limit_price: '95' }), [422, 40010001, /must not have limit_price/]],
      [await ask('PATCH', 'orders/none', { stop_price: '95' }), [404, 40410000, /not found/]],
    ] as const)
      isRefused(answer, expected);
    await account.set({ reject: 'market_closed' });
    isRefused(await replace({ stop_price: '95' }), [
      422,
      42210000,
      /^cannot replace order in accepted status$/,
    ]);
  });
});

describe('a target with a stop beside it at the stub of Alpaca', () => {
  it('is one order that reserves its shares once, and shows its leg to who asks for it so', async () => {
    const { pair, stop, ask, free, open, row } = await desk();
    const { body } = await pair('2', '110', '90');
    assert.deepEqual(
      [body.type, body.order_class, body.limit_price, body.legs],
      ['limit', 'oco', '110', null],
    );
    assert.equal(await free(), '4');
    // The rest is another stop's.
    assert.equal((await stop('4', '90')).status, 200);
    isRefused(await stop('1', '90'), [403, 40310000, RESERVED]);
    const [leg] = (await row(`${body.id}?nested=true`)).legs ?? [];
    assert.deepEqual([leg?.type, leg?.status, leg?.stop_price, leg?.qty], ['stop', 'held', '90', '2']);
    assert.match(leg?.client_order_id ?? '', /^[\da-f-]{36}$/);
    const named = await ask('GET', `orders:by_client_order_id?client_order_id=${body.client_order_id}`);
    assert.deepEqual([named.body.id, named.body.legs], [body.id, null]);
    const plain = await open();
    assert.deepEqual(plain.map(({ type, legs }) => [type, legs]).toSorted(), [
      ['limit', null],
      ['stop', null],
    ]);
    const nested = await open('&nested=true');
    assert.deepEqual(
      nested.flatMap(({ legs }) => legs ?? []).map(({ id }) => id),
      [leg?.id],
    );
  });

  it('has a stop of which the price is replaced, and not the quantity, also where it is of all that is held', async () => {
    const { pair, ask, row } = await desk('2');
    const { body } = await pair('2', '110', '90');
    const [leg] = (await row(`${body.id}?nested=true`)).legs ?? [];
    isRefused(await ask('PATCH', `orders/${leg?.id}`, { stop_price: '95', qty: '1' }), [
      422,
      42210000,
      /^qty cannot be changed for advanced orders$/,
    ]);
    isRefused(await ask('PATCH', `orders/${body.id}`, { stop_price: '95' }), [
      422,
      40010001,
      /^limit orders must not have stop_price$/,
    ]);
    const moved = await ask('PATCH', `orders/${leg?.id}`, { stop_price: '95' });
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    const [shown, ...others] = (await row(`${body.id}?nested=true`)).legs ?? [];
    assert.deepEqual(
      [shown?.id, shown?.status, shown?.replaced_by, others],
      [leg?.id, 'replaced', moved.body.id, []],
    );
    const now = await row(moved.body.id);
    assert.deepEqual([now.status, now.stop_price], ['held', '95']);
  });

  it('ends its stop when it is filled or cancelled, and is replaced by it when that is hit', async () => {
    for (const [happens, target, leg] of [
      ['filled', 'filled', 'canceled'],
      ['cancelled', 'canceled', 'canceled'],
      ['leg cancelled', 'canceled', 'canceled'],
      ['hit', 'replaced', 'filled'],
    ] as const) {
      const { pair, ask, row, priced, open } = await desk('2');
      const { body } = await pair('2', '110', '90');
      const [beside] = (await row(`${body.id}?nested=true`)).legs ?? [];
      if (happens === 'filled') await priced(111);
      if (happens === 'hit') await priced(89);
      if (happens === 'cancelled') assert.equal((await ask('DELETE', `orders/${body.id}`)).status, 204);
      if (happens === 'leg cancelled')
        assert.equal((await ask('DELETE', `orders/${beside?.id}`)).status, 204);
      const after = await row(`${body.id}?nested=true`);
      assert.deepEqual([after.status, after.legs?.[0]?.status], [target, leg], happens);
      assert.deepEqual(await open(), []);
    }
  });
});
