// What the connector makes of an exchange that it must not believe: its answers are made up here, one by one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BrokerBusy,
  type BrokerOrder,
  BrokerUnavailable,
  type OpenOrder,
  type StopOrder,
} from '../../src/broker/broker.ts';
import { describe as instrumentOf } from '../../src/broker/paper/market.ts';
import { openRemotePaper } from '../../src/broker/paper/remote.ts';
import { send, type Wire } from '../../src/broker/wire.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { listen } from './loopback.ts';
import { accountOf, listed, NEVER, NO_HURRY, newAccount, OPEN_HOURS } from './paper-desk.ts';
import { PATIENT_MS, type PatientBroker, patient } from './patient.ts';

/** Whatever is asked, it answers what it is told to. */
const answering = (
  answer: (init: RequestInit) => Response | ReturnType<Wire>,
  timeoutMs = PATIENT_MS,
): Promise<PatientBroker> =>
  openRemotePaper({
    url: 'http://exchange.invalid',
    fetch: async (url, init) => (url.endsWith('/connect') ? Response.json(CONNECTED) : answer(init)),
  })(accountOf(newAccount(), null), NO_HURRY).then((broker) => patient(broker, timeoutMs));

const CONNECTED = {
  capabilities: {
    refuses_duplicate_ids: true,
    finds_by_client_id_ms: null,
    reduce_only: true,
    fractional_quantities: true,
    stop: 'position',
    moves: 'amend',
    reserves: false,
    stop_entries: false,
    time_in_force: [],
  },
  limits: null,
};

const ORDER: BrokerOrder = {
  clientOrderId: 'asked' as ClientOrderId,
  instrument: instrumentOf(listed('BTCUSDT'), OPEN_HOURS),
  side: 'buy',
  quantity: decimal(1),
  reduceOnly: false,
  sendBefore: NEVER,
};

const OPEN: OpenOrder = {
  clientOrderId: ORDER.clientOrderId,
  brokerRef: 'r',
  symbol: 'BTCUSDT',
  side: 'buy',
  quantity: decimal(1),
  fillQuantity: decimal(0),
  reduceOnly: false,
};

const STOP: StopOrder = {
  clientOrderId: 'fs1' as ClientOrderId,
  instrument: ORDER.instrument,
  side: 'sell',
  quantity: decimal(1),
  price: decimal(90_000),
  triggerBy: 'last',
};

async function isUnknown(broker: PatientBroker, order = ORDER): Promise<void> {
  assert.equal((await broker.place(order)).outcome, 'unknown');
}

describe('what became of an order that was sent', () => {
  it('believes that nothing was sent only where no connection came about', async () => {
    const failing = (cause: object) => answering(() => Promise.reject(new TypeError('failed', { cause })));
    const system = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
    const refused = system('ECONNREFUSED', 'connect');
    const reset = system('ECONNRESET', 'read');
    const unsent = [refused, system('ENOTFOUND', 'getaddrinfo'), new AggregateError([refused, refused])];
    const perhaps = [
      reset,
      system('EHOSTUNREACH', 'write'),
      new AggregateError([refused, reset]),
      new AggregateError([]),
      Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }),
    ];
    for (const cause of unsent) await assert.rejects((await failing(cause)).place(ORDER), BrokerUnavailable);
    for (const cause of perhaps) await isUnknown(await failing(cause));
  });

  it('sends an order once, also where the answer asks for another try', async (t) => {
    let orders = 0;
    const url = await listen(t, (_request, response) => {
      orders++;
      response.writeHead(421).end();
    });
    await isUnknown(await answering((init) => send(url, init)));
    assert.equal(orders, 1);
  });

  it('waits no longer than its time, neither for an answer nor for the rest of it', async (t) => {
    const silent = await listen(t, () => {});
    const halting = await listen(t, (_request, response) => void response.writeHead(200).write('{'));
    for (const url of [silent, halting]) {
      const broker = await answering((init) => send(url, init), 30);
      await isUnknown(broker);
      await assert.rejects(broker.positions(), BrokerUnavailable);
    }
  });

  it('follows no answer elsewhere', async (t) => {
    const url = await listen(
      t,
      (_request, response) => void response.writeHead(307, { location: '/' }).end(),
    );
    await isUnknown(await answering((init) => send(url, init)));
  });

  it('reads no answer without end', async () => {
    let chunks = 0;
    const endless = new ReadableStream({
      pull(stream) {
        chunks++;
        stream.enqueue(new TextEncoder().encode(' '.repeat(65_536)));
      },
    });
    await isUnknown(await answering(() => new Response(endless)));
    assert.ok(chunks < 32, `${chunks} chunks`);
  });
});

describe('whatever an exchange may answer', () => {
  const state = {
    broker_ref: 'r',
    status: 'filled',
    fill_quantity: '1',
    fill_price: '2.5',
    fee: '0.1',
    reason: null,
  };
  const rejection = { code: 'no_position', message: 'There is nothing to close.' };
  const hours = { timezone: 'UTC', session: 'never', next_open: timestamp(0) };
  type Good = { status: number; body: Record<string, unknown> };
  const good = (status: number, more: object): Good => ({
    status,
    body: { client_order_id: ORDER.clientOrderId, ...more },
  });
  const GOOD = [
    good(200, { state }),
    good(200, { state: { ...state, status: 'placed', fill_quantity: '0', fill_price: null } }),
    good(200, { state: { ...state, status: 'cancelled', reason: 'why' } }),
    good(422, { rejection }),
    good(422, { rejection: { ...rejection, code: 'broker_rate_limited', retry_after: 2 } }),
    good(422, { rejection: { ...rejection, code: 'market_closed', market_hours: hours } }),
  ];
  const anyGood = fc.constantFrom(...GOOD);
  const anyStatus = fc.constantFrom(200, 201, 202, 400, 404, 409, 422, 429, 500, 503);

  async function isNotBelieved(status: number, body: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const broker = await answering(() => new Response(body, { status }));
    await isUnknown(broker);
    await assert.rejects(broker.find(ORDER), BrokerUnavailable);
    await assert.rejects(broker.resolve('BTCUSDT'), BrokerUnavailable);
    for (const ask of [
      () => broker.positions(),
      () => broker.position(ORDER.instrument),
      () => broker.instruments(''),
      () => broker.balance(),
      () => broker.quote(ORDER.instrument),
      () => broker.openOrders(),
      () => broker.cancel(OPEN),
      () => broker.verify(),
    ])
      await assert.rejects(ask(), BrokerUnavailable);
    await isNotBelievedOfStops(broker);
  }

  async function isNotBelievedOfStops({ stops }: PatientBroker): Promise<void> {
    assert.equal((await stops.place(STOP)).outcome, 'unknown');
    assert.equal(
      (await stops.move(STOP, { ...STOP, clientOrderId: 'fs2' as ClientOrderId })).outcome,
      'unknown',
    );
    for (const ask of [
      () => stops.remove(STOP),
      () => stops.standing(STOP.instrument),
      () => stops.find(STOP),
    ])
      await assert.rejects(ask(), BrokerUnavailable);
  }

  it('is believed where it is well-formed', async () => {
    for (const { status, body } of GOOD) {
      const broker = await answering(() => Response.json(body, { status }));
      assert.equal((await broker.place(ORDER)).outcome, status === 200 ? 'accepted' : 'rejected');
    }
    const none = good(404, {});
    const broker = await answering(() => Response.json(none.body, none));
    assert.equal(await broker.find(ORDER), null);
    await isUnknown(broker);
  });

  it('is not believed at random', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    );
    return fc.assert(fc.asyncProperty(anyStatus, bodies, isNotBelieved));
  });

  it('is not believed with another status, or about another order', () =>
    fc.assert(
      fc.asyncProperty(anyGood, anyStatus, fc.string(), async ({ status, body }, other, id) => {
        fc.pre(id !== ORDER.clientOrderId);
        if (other !== status) await isNotBelieved(other, JSON.stringify(body));
        await isNotBelieved(status, JSON.stringify({ ...body, client_order_id: id }));
      }),
    ));

  it('is not believed where it broke off', () =>
    fc.assert(
      fc.asyncProperty(anyGood, fc.double({ min: 0, max: 0.999, noNaN: true }), ({ status, body }, part) => {
        const text = JSON.stringify(body);
        return isNotBelieved(status, text.slice(0, text.length * part));
      }),
    ));

  /** Each object in it with one field gone, one too many, or one of a type that it never has. */
  function* spoilt(value: object, stranger: unknown): Generator<object> {
    yield { ...value, stranger };
    for (const [key, part] of Object.entries(value)) {
      const { [key]: _gone, ...rest } = value as Record<string, unknown>;
      yield rest;
      yield { ...value, [key]: stranger };
      if (typeof part === 'object' && part !== null)
        for (const inner of spoilt(part, stranger)) yield { ...value, [key]: inner };
    }
  }

  it('is not believed with a field that is missing, wrong or too many', () =>
    fc.assert(
      fc.asyncProperty(
        anyGood,
        fc.oneof(fc.boolean(), fc.array(fc.string()), fc.constant({}), fc.integer({ max: 0 })),
        async ({ status, body }, stranger) => {
          for (const bad of spoilt(body, stranger)) await isNotBelieved(status, JSON.stringify(bad));
        },
      ),
      { numRuns: 30 },
    ));

  it('is not believed where it contradicts itself', async () => {
    const wrong = [
      { fill_quantity: '0' },
      { fill_quantity: '-1' },
      { fill_price: null },
      { fill_quantity: '1.0' },
      { fill_quantity: '0.1234567890123456' },
      { status: 'placed' },
      { status: 'queued' },
      { broker_ref: '' },
    ];
    for (const part of wrong)
      await isNotBelieved(200, JSON.stringify(good(200, { state: { ...state, ...part } }).body));
    for (const part of [
      { code: 'market_closed' },
      { code: 'broker_rate_limited' },
      { code: 'account_halted' },
    ])
      await isNotBelieved(422, JSON.stringify(good(422, { rejection: { ...rejection, ...part } }).body));
    await isNotBelieved(200, JSON.stringify(GOOD[0]?.body).replace('}}', ',"status":"filled"}}'));
  });

  it('about a stop is believed where it is well-formed, and not where anything in it is wrong', async () => {
    const stop = {
      client_order_id: 'fs1',
      broker_ref: 'r',
      symbol: 'BTCUSDT',
      side: 'sell',
      quantity: null,
      price: '90000',
      status: 'standing',
      order: null,
      reason: null,
    };
    const answers: readonly Good[] = [
      { status: 200, body: stop },
      { status: 200, body: { ...stop, status: 'triggered', order: state } },
      { status: 422, body: { client_order_id: 'fs1', why: 'passed', words: 'The price is beyond it.' } },
    ];
    const outcomes: string[] = [];
    for (const { status, body } of answers) {
      const broker = await answering(() => Response.json(body, { status }));
      outcomes.push((await broker.stops.place(STOP)).outcome);
      if (status === 200) assert.equal((await broker.stops.find(STOP))?.status, body['status']);
      for (const stranger of [true, [], {}, -1])
        for (const bad of spoilt(body, stranger))
          await isNotBelievedOfStops(await answering(() => Response.json(bad, { status })));
    }
    assert.deepEqual(outcomes, ['accepted', 'accepted', 'rejected']);
    for (const wrong of [
      { status: 'triggered' },
      { order: state },
      { client_order_id: 'fs9' },
      { price: '0' },
    ])
      await isNotBelievedOfStops(await answering(() => Response.json({ ...stop, ...wrong })));
    const items = (more: object) =>
      answering(() => Response.json({ symbol: 'BTCUSDT', items: [{ ...stop, ...more }] }));
    assert.equal((await (await items({})).stops.standing(STOP.instrument)).length, 1);
    for (const ended of [{ status: 'cancelled' }, { status: 'triggered', order: state }])
      await assert.rejects((await items(ended)).stops.standing(STOP.instrument), BrokerUnavailable);
  });

  it('is a limit of its rate only with a delay', async () => {
    const limited = (after: string) =>
      answering(() => new Response('slow down', { status: 429, headers: { 'retry-after': after } }));
    await assert.rejects((await limited('7')).place(ORDER), (fault) => {
      assert.ok(fault instanceof BrokerBusy);
      assert.equal(fault.retryAfterMs, 7000);
      return true;
    });
    for (const after of ['', '0', '-1', 'soon', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT'])
      await isUnknown(await limited(after));
  });

  it('to a question is a limit of its rate with its delay, or a second', async () => {
    for (const [after, exactly, retryAfterMs] of [
      ['7', '', 7000],
      ['7', '6250', 6250],
      ['7', '-1', 7000],
      ['soon', '', 1000],
    ] as const) {
      const headers = { 'retry-after': after, 'retry-after-ms': exactly };
      const broker = await answering(() => new Response('slow down', { status: 429, headers }));
      await assert.rejects(broker.positions(), (fault) => {
        assert.ok(fault instanceof BrokerBusy);
        assert.equal(fault.retryAfterMs, retryAfterMs);
        return true;
      });
    }
  });
});
