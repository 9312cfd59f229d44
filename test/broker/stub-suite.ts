// What every stub of an exchange must do, seen through ccxt: it is the broker's own client library that says so.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RefusalCode } from '../../chaos/exchange-dialect.ts';
import { BTC, type Ccxt, type CcxtOrder, refuses, stubDesk, until } from './stub-desk.ts';

type Refused = readonly [ccxtClass: string, words: RegExp];

export interface StubFacts {
  readonly broker: string;
  readonly ccxtId?: string;
  /** ccxt's, so that it asks for nothing that is known. */
  readonly settings?: object;
  /** Of the account. */
  readonly terms?: object;
  /** How much of a bitcoin is a contract. */
  readonly contractSize: number;
  /** In contracts. */
  readonly step: number;
  lookUp(ccxt: Ccxt, clientOrderId: string): Promise<CcxtOrder>;
  /** Whether placing is answered with ids only. */
  readonly onlyAcknowledges: boolean;
  readonly door: {
    readonly signature: Refused;
    readonly key: Refused;
    readonly time: Refused;
    readonly address: Refused;
    readonly permission: Refused;
  };
  readonly refusals: Readonly<Partial<Record<RefusalCode, Refused>>>;
  /** Of any call, where orders are counted apart. */
  readonly busy?: Refused;
  readonly notFound: Refused;
  /** Where the delay stands, when it is too much: ms from now, or null where the exchange does not say. */
  delayOf(headers: Readonly<Record<string, string>>): number | null;
}

export function stubSuite(title: string, facts: StubFacts) {
  const { broker, ccxtId, settings = {}, terms = {}, contractSize, step } = facts;
  const desk = stubDesk(broker, ccxtId);
  const open = (more: object = {}) => desk.open({ ...terms, ...more }, settings);
  const amount = step * 10;
  const base = String(Number((amount * contractSize).toFixed(10)));

  const send = (ccxt: Ccxt, side: string, params: object = {}, symbol = BTC, contracts = amount) =>
    ccxt.createOrder(symbol, 'market', side, contracts, undefined, params);
  const ended = (ccxt: Ccxt, id: string) =>
    until(
      () => facts.lookUp(ccxt, id),
      ({ status }) => status !== 'open',
    );

  describe(title, () => {
    it('lists markets that ccxt reads as they are', async () => {
      const { ccxt } = await open();
      const markets = await ccxt.loadMarkets();
      const btc = markets[BTC];
      assert.deepEqual(
        [btc?.contractSize, btc?.precision.amount, btc?.precision.price],
        [contractSize, step, 0.1],
      );
      assert.equal(btc?.active, true);
      assert.equal(markets['LUNA/USDT:USDT']?.active, false);
      const all = Object.keys(markets);
      assert.ok(all.filter((symbol) => symbol.endsWith('/USDT:USDT')).length >= 10);
      assert.ok(all.includes('BTC/USDT'), 'a spot market of the same name');
      assert.ok(all.includes('BTC/USD:BTC'), 'an inverse one');
    });

    it('places, finds, shows and closes', async () => {
      const { ccxt, ledger } = await open();
      const order = await send(ccxt, 'buy', { clientOrderId: 'one' });
      if (facts.onlyAcknowledges) assert.equal(order.filled ?? undefined, undefined);
      const filled = await ended(ccxt, 'one');
      assert.deepEqual([filled.id, filled.status, filled.filled], [order.id, 'closed', amount]);
      assert.ok(Number(filled.average) > 0);
      assert.ok((await ccxt.fetchMyTrades(BTC)).some((trade) => trade.order === order.id));
      const [position] = await ccxt.fetchPositions([BTC]);
      assert.deepEqual([position?.symbol, position?.side, position?.contracts], [BTC, 'long', amount]);
      await send(ccxt, 'sell', { reduceOnly: true, clientOrderId: 'out' }, BTC, amount * 5);
      await ended(ccxt, 'out');
      const { orders, positions } = await ledger();
      assert.deepEqual(
        orders.map((row) => [row.symbol, row.side, row.fill_quantity]),
        [
          ['BTCUSDT', 'buy', base],
          ['BTCUSDT', 'sell', base],
        ],
      );
      assert.deepEqual([orders[0]?.broker_ref, positions], [order.id, []]);
    });

    it('tells the balance, the time and the price', async () => {
      const { ccxt } = await open();
      assert.equal((await ccxt.fetchBalance()).USDT?.total, 100_000);
      assert.ok(Math.abs((await ccxt.fetchTime()) - Date.now()) < 5_000);
      const { bid, ask } = await ccxt.fetchTicker(BTC);
      assert.ok(bid > 0 && ask > bid);
    });

    it('lets nobody in with a wrong signature, key, time, address or permission', async () => {
      const { keys } = await open();
      const { door } = facts;
      const other = async (change: object) =>
        (await desk.client({ ...keys, ...settings, ...change })).fetchPositions([BTC]);
      await other({});
      await assert.rejects(other({ secret: 'no' }), refuses(...door.signature));
      await assert.rejects(other({ apiKey: 'no' }), refuses(...door.key));
      for (const ms of [-70_000, 70_000])
        await assert.rejects(
          other({
            nonce: () => Date.now() + ms,
            milliseconds: () => Date.now() + ms,
            seconds: () => Math.floor((Date.now() + ms) / 1000),
          }),
          refuses(...door.time),
        );
      const elsewhere = await open({ addresses: ['203.0.113.7'] });
      await assert.rejects(elsewhere.ccxt.fetchPositions([BTC]), refuses(...door.address));
      const reader = await open({ permissions: ['read'] });
      await reader.ccxt.fetchPositions([BTC]);
      await assert.rejects(send(reader.ccxt, 'buy'), refuses(...door.permission));
      assert.deepEqual((await reader.ledger()).requests, []);
    });

    const make: Partial<Record<RefusalCode, (ccxt: Ccxt) => Promise<unknown>>> = {
      insufficient_margin: (ccxt) => send(ccxt, 'buy', {}, BTC, Math.round(100 / contractSize)),
      market_closed: (ccxt) =>
        send(
          ccxt,
          'buy',
          {},
          'LUNA/USDT:USDT',
          Number(ccxt.markets['LUNA/USDT:USDT']?.precision.amount) * 100,
        ),
      below_minimum: (ccxt) =>
        send(ccxt, 'buy', {}, 'DOGE/USDT:USDT', Number(ccxt.markets['DOGE/USDT:USDT']?.precision.amount)),
      no_position: (ccxt) => send(ccxt, 'sell', { reduceOnly: true }),
    };
    for (const [code, refused] of Object.entries(facts.refusals))
      it(`refuses for ${code} in its own words`, async () => {
        const isHedged = code === 'position_mode_mismatch';
        const { ccxt, change, ledger } = await open(isHedged ? { position_mode: 'hedged' } : {});
        await ccxt.loadMarkets();
        if (!make[code as RefusalCode] && !isHedged) await change({ paper: { latency_ms: 0, reject: code } });
        const sent = make[code as RefusalCode]?.(ccxt) ?? send(ccxt, 'buy');
        await assert.rejects(sent, refuses(...refused));
        assert.deepEqual(
          (await ledger()).requests.map(({ outcome }) => outcome),
          ['rejected'],
        );
      });

    it('has an order that rests, ends it when asked, and finds no other', async () => {
      const { ccxt } = await open({ paper: { latency_ms: 0, fill: 'never' } });
      const order = await send(ccxt, 'buy', { clientOrderId: 'rests' });
      assert.deepEqual(
        (await ccxt.fetchOpenOrders(BTC)).map(({ id }) => id),
        [order.id],
      );
      await ccxt.cancelOrder(order.id, BTC);
      assert.equal((await ended(ccxt, 'rests')).status, 'canceled');
      assert.deepEqual(await ccxt.fetchOpenOrders(BTC), []);
      await assert.rejects(facts.lookUp(ccxt, 'none'), refuses(...facts.notFound));
    });

    it('tells of positions as they were a while ago, and refuses a right key, as it is told to', async () => {
      const { ccxt, breaks } = await open();
      await send(ccxt, 'buy', { clientOrderId: 'held' });
      await ended(ccxt, 'held');
      const held = async () => (await ccxt.fetchPositions([BTC])).filter(({ contracts }) => contracts > 0);
      assert.equal((await held()).length, 1);
      await breaks('lag', { ms: 60_000 });
      assert.deepEqual(await held(), []);
      await desk.heal();
      await breaks('deny', { times: 1 });
      await assert.rejects(held(), refuses(...facts.door.key));
      assert.equal((await held()).length, 1);
    });

    it('loses answers, says that it is too much, and talks nonsense, as it is told to', async () => {
      const { ccxt, breaks, ledger } = await open();
      await ccxt.fetchPositions([BTC]);
      await breaks('lose', { calls: 'orders' });
      await assert.rejects(send(ccxt, 'buy', { clientOrderId: 'lost' }));
      assert.equal((await ended(ccxt, 'lost')).filled, amount);
      assert.equal((await ledger()).orders.length, 1);
      await desk.heal();
      await breaks('refuse', { retry_after_ms: 3_000 });
      await assert.rejects(
        ccxt.fetchPositions([BTC]),
        refuses(...((facts.busy ?? facts.refusals.broker_rate_limited) as Refused)),
      );
      const delay = facts.delayOf(ccxt.last_response_headers);
      assert.ok(delay === null || (delay > 1_000 && delay <= 3_000), String(delay));
      await desk.heal();
      await breaks('garbage', { garbage: 'page', taken: true });
      const trap = await ccxt.fetchPositions([BTC]).catch(() => 'noticed');
      assert.ok(trap === 'noticed' || trap.length === 0, 'a page reads as flat');
      await desk.heal();
    });
  });
  return { desk, open, send, ended };
}
