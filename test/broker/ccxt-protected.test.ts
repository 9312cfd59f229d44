// Stops through the connector at the stubs of OKX and Bitget, where a position has one stop of its own: beside what the user has
// set there himself.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { StopOrder, StopOutcome } from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import { accepted, NEVER } from './paper-desk.ts';
import { until } from './stub-desk.ts';
import { type StubAccount, stubHarness } from './stub-harness.ts';

const okx = stubHarness('okx', (url) => openCcxt('okx', { url }));
const bitget = stubHarness('bitget', (url) => openCcxt('bitget', { url }));

let ids = 0;
const newId = (prefix: string) => `${prefix}${String(++ids).padStart(22, '0')}` as ClientOrderId;

/** Long 0.05 at 50,000. */
async function long(stub: typeof okx, terms: object = {}) {
  await stub.control('POST', 'prices', { BTCUSDT: 50_000 });
  const account = await stub.account({ fills_after_ms: null, ...terms });
  const broker = await account.open();
  const instrument = await broker.resolve('BTCUSDT.P');
  assert.ok(!('rejection' in instrument));
  const order = { clientOrderId: newId('fe'), instrument, side: 'buy', reduceOnly: false } as const;
  accepted(await broker.place({ ...order, quantity: decimal('0.05'), sendBefore: NEVER }));
  const stop = (price: number, quantity = '0.05'): StopOrder => ({
    ...{ clientOrderId: newId('fs'), instrument, side: 'sell', triggerBy: 'last' },
    quantity: decimal(quantity),
    price: decimal(price),
  });
  const shown = async () =>
    (await broker.stops.standing(instrument)).map(({ price, quantity }) => [price, quantity]).sort();
  return { account, broker, instrument, stop, shown };
}

/** Under which ids it stands. */
function taken(outcome: StopOutcome) {
  assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
  const { clientOrderId, brokerRef } = outcome;
  return { clientOrderId, brokerRef };
}

for (const [name, stub, terms, symbol] of [
  ['OKX', okx, {}, 'BTC-USDT-SWAP'],
  ['a unified account at Bitget', bitget, { account_type: 'unified' }, 'BTCUSDT'],
] as const)
  describe(`${name}, which refuses a second stop of the position`, () => {
    it('takes ours of the quantity, beside the user’s own, and resizes it in its place', async () => {
      const { account, broker, stop, shown } = await long(stub, terms);
      await stub.control('POST', `stops/${account.id}`, { symbol, side: 'sell', price: '45000' });
      const ours = stop(49_000);
      const names = taken(await broker.stops.place(ours));
      assert.deepEqual(await shown(), [
        ['45000', null],
        ['49000', '0.05'],
      ]);
      const to = stop(49_500, '0.03');
      assert.deepEqual(taken(await broker.stops.move(ours, to, names)), names);
      assert.deepEqual(await shown(), [
        ['45000', null],
        ['49500', '0.03'],
      ]);
      await broker.stops.remove(to, names);
      assert.deepEqual(await shown(), [['45000', null]]);
    });

    it('moves the one of the position, which keeps its ids, closes all, and is gone then', async () => {
      const { broker, instrument, stop } = await long(stub, terms);
      const first = stop(48_000);
      const names = taken(await broker.stops.place(first));
      const to = stop(49_000);
      assert.deepEqual(taken(await broker.stops.move(first, to, names)), names);
      assert.deepEqual(await broker.stops.standing(instrument), [
        { ...names, side: 'sell', price: '49000', quantity: null },
      ]);
      await stub.control('POST', 'prices', { BTCUSDT: 48_900 });
      const found = await until(
        () => broker.stops.find(to, names),
        (state) => state?.order?.status === 'filled',
      );
      assert.deepEqual([found?.status, found?.order?.fillQuantity], ['triggered', '0.05']);
      assert.equal(await broker.position(instrument), '0');
      const late = await broker.stops.move(to, stop(48_000), names);
      assert.equal(late.outcome === 'rejected' && late.why, 'gone');
      await broker.stops.remove(to, names);
    });
  });

describe('a classic account at Bitget, where each stop of the position takes the other’s place', () => {
  const CLASSIC = { account_type: 'classic' };

  it('leaves the user’s own target as it is, and its stop is ours from then on', async () => {
    const { account, broker, stop, shown } = await long(bitget, CLASSIC);
    const users = await usersOwn(account);
    await users.set({ stopSurplusTriggerPrice: '60000', stopLossTriggerPrice: '45000' });
    assert.deepEqual(await shown(), [['45000', null]]);
    for (const price of [48_000, 49_000]) {
      taken(await broker.stops.place(stop(price)));
      assert.deepEqual(await shown(), [[`${price}`, null]]);
      assert.deepEqual(await users.targets(), [['60000', 'mark_price']]);
    }
  });

  it('has its stop removed alone; what has taken its place is not', async () => {
    const { account, broker, stop, shown } = await long(bitget, CLASSIC);
    const [old, now] = [stop(48_000), stop(49_000)];
    const users = await usersOwn(account);
    await users.set({ stopSurplusTriggerPrice: '60000', stopSurplusTriggerType: 'fill_price' });
    const names = taken(await broker.stops.place(old));
    taken(await broker.stops.place(now));
    await broker.stops.remove(old, names);
    assert.deepEqual(await shown(), [['49000', null]]);
    await broker.stops.remove(now);
    assert.deepEqual(await shown(), []);
    assert.deepEqual(await users.targets(), [['60000', 'fill_price']]);
  });

  it('finds its stop though it kept the id of the one before, and what it became', async () => {
    const { broker, instrument, stop } = await long(bitget, CLASSIC);
    taken(await broker.stops.place(stop(48_000)));
    const ours = stop(49_000);
    const names = taken(await broker.stops.place(ours));
    assert.equal((await broker.stops.find(ours))?.status, 'standing');
    assert.equal((await broker.stops.find(ours, names))?.status, 'standing');
    await bitget.control('POST', 'prices', { BTCUSDT: 48_900 });
    for (const known of [{}, names]) {
      const found = await until(
        () => broker.stops.find(ours, known),
        (state) => state?.order?.status === 'filled',
      );
      assert.deepEqual([found?.status, found?.order?.fillQuantity], ['triggered', '0.05']);
    }
    assert.equal(await broker.position(instrument), '0');
  });
});

/** What the user does by himself, with the exchange's own calls. */
async function usersOwn({ credentials }: StubAccount) {
  const file = join(import.meta.dirname, '../../node_modules/ccxt/js/src/bitget.js');
  const { default: Bitget } = (await import(pathToFileURL(file).href)) as {
    default: new (settings: object) => UsersBitget;
  };
  const { api_key: apiKey, api_secret: secret, passphrase: password } = credentials;
  const ccxt = new Bitget({ apiKey, secret, password, enableRateLimit: false });
  ccxt.fetchImplementation = (address, init) => {
    const { pathname, search } = new URL(String(address));
    return fetch(`${bitget.url()}${pathname}${search}`, init);
  };
  return {
    set: (prices: object) =>
      ccxt.privateMixPostV2MixOrderPlacePosTpsl({
        ...{ marginCoin: 'USDT', productType: 'USDT-FUTURES', symbol: 'BTCUSDT', holdSide: 'buy' },
        ...prices,
      }),
    async targets() {
      const { data } = await ccxt.privateMixGetV2MixOrderOrdersPlanPending({
        productType: 'USDT-FUTURES',
        planType: 'profit_loss',
      });
      const rows = (data.entrustedList ?? []).filter(({ planType }) => planType === 'pos_profit');
      return rows.map(({ triggerPrice, triggerType }) => [triggerPrice, triggerType]);
    },
  };
}

interface UsersBitget {
  fetchImplementation: typeof fetch;
  privateMixPostV2MixOrderPlacePosTpsl(params: object): Promise<unknown>;
  privateMixGetV2MixOrderOrdersPlanPending(params: object): Promise<{
    readonly data: { readonly entrustedList: readonly Readonly<Record<string, string>>[] | null };
  }>;
}
