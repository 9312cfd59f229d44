// The connector contract about entries that wait for a price, and about how long an order with a price rests: its cases, for
// broker-protection.ts.

import assert from 'node:assert/strict';
import type { BrokerOrder } from '../../src/broker/broker.ts';
import { TIMES_IN_FORCE } from '../../src/domain/capabilities.ts';
import { compare, decimal, negate, ZERO } from '../../src/domain/decimal.ts';
import { acceptedState, becomes, type Desk } from './broker.ts';
import { type Rule, type Trading, until } from './protection-desk.ts';

const waiting = ({ broker }: Desk): string | undefined =>
  broker.capabilities.stopEntries ? undefined : 'no entry waits there for a price';

/** Taken, and found where the broker keeps such. */
async function placed(desk: Trading, order: BrokerOrder) {
  const { brokerRef, status } = acceptedState(await desk.broker.place(order));
  assert.equal(status, 'placed');
  const found = await desk.broker.find(order, { brokerRef });
  assert.deepEqual([found?.status, found?.fillQuantity], ['placed', ZERO]);
  return { order, brokerRef: brokerRef ?? found?.brokerRef ?? null };
}

const cancel = ({ broker }: Trading, { order, brokerRef }: Awaited<ReturnType<typeof placed>>) =>
  broker.cancel({
    ...{ clientOrderId: order.clientOrderId, brokerRef: brokerRef ?? '', symbol: order.instrument.symbol },
    ...{ side: order.side, quantity: order.quantity, fillQuantity: ZERO, reduceOnly: false },
    ...(order.trigger !== undefined && { isConditional: true }),
  });

const hasEnded = ({ status }: { status: string }): boolean => status === 'cancelled';

export function entryRules(rule: Rule): void {
  for (const timeInForce of ['ioc', 'fok'] as const)
    rule(
      `an order with a limit that is to be filled at once (${timeInForce}) is, or ends and rests nowhere`,
      {
        hooks: ['setPrice'],
        stops: false,
        unless: ({ broker }) =>
          broker.capabilities.timeInForce.includes(timeInForce) ? undefined : `it has no ${timeInForce}`,
      },
      async (desk) => {
        const away = desk.order('buy', 1, { limit: desk.at(-5), timeInForce });
        const { brokerRef } = acceptedState(await desk.broker.place(away));
        const ended = await becomes(desk.broker, { order: away, brokerRef }, hasEnded);
        assert.equal(ended.fillQuantity, ZERO);
        assert.deepEqual(await desk.broker.openOrders(), []);
        const order = desk.order('buy', 1, { limit: desk.at(5), timeInForce });
        const taken = acceptedState(await desk.broker.place(order));
        await becomes(desk.broker, { ...taken, order }, ({ status }) => status === 'filled');
        assert.equal(await desk.position(), desk.harness.quantity);
      },
    );

  for (const [side, sign] of [
    ['buy', 1],
    ['sell', -1],
  ] as const)
    rule(
      `an entry to ${side} waits for its price, and is filled at the market when it is there`,
      { hooks: ['setPrice'], stops: false, unless: waiting },
      async (desk) => {
        const entry = await placed(desk, desk.order(side, 1, { trigger: desk.at(sign * 5) }));
        await desk.setPrice(sign * 4);
        assert.equal((await desk.broker.find(entry.order, entry))?.status, 'placed');
        assert.equal(await desk.position(), ZERO);
        await desk.setPrice(sign * 6);
        const filled = await becomes(desk.broker, entry, ({ status }) => status === 'filled');
        assert.ok(filled.fillPrice && compare(filled.fillPrice, desk.at(sign * 5)) === sign);
        assert.equal(filled.brokerRef, entry.brokerRef);
        const { quantity } = desk.harness;
        assert.equal(await desk.position(), side === 'buy' ? quantity : negate(quantity));
      },
    );

  rule(
    'an entry that waits is cancelled, and opens nothing afterwards',
    { hooks: ['setPrice'], stops: false, unless: waiting },
    async (desk) => {
      const entry = await placed(desk, desk.order('buy', 1, { trigger: desk.at(5) }));
      for (let times = 0; times < 2; times++) await cancel(desk, entry);
      const ended = await becomes(desk.broker, entry, hasEnded);
      assert.equal(ended.fillQuantity, ZERO);
      await desk.setPrice(6);
      assert.equal(await desk.position(), ZERO);
      assert.equal((await desk.broker.find(entry.order, entry))?.status, 'cancelled');
    },
  );

  rule(
    'with both prices it rests at its limit once its price was there, and is cancelled there',
    { hooks: ['setPrice'], stops: false, unless: waiting },
    async (desk) => {
      const entry = await placed(desk, desk.order('buy', 1, { trigger: desk.at(5), limit: desk.at(3) }));
      await desk.setPrice(6);
      assert.equal((await becomes(desk.broker, entry, () => true)).status, 'placed');
      assert.equal(await desk.position(), ZERO);
      await cancel(desk, entry);
      await becomes(desk.broker, entry, hasEnded);
      await desk.setPrice(2);
      assert.equal(await desk.position(), ZERO);
    },
  );

  rule(
    'an entry whose price was passed is refused as that, and opens nothing',
    { hooks: ['setPrice'], stops: false, unless: waiting },
    async (desk) => {
      const outcome = await desk.broker.place(desk.order('buy', 1, { trigger: desk.at(-5) }));
      assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
      assert.equal(outcome.error.code, 'invalid_price');
      assert.equal(await desk.position(), ZERO);
    },
  );

  rule(
    'an entry that waits is found by our id where its answer was lost',
    { hooks: ['setPrice'], faults: ['loseAnswer'], stops: false, unless: waiting },
    async (desk) => {
      await desk.harness.faults.loseAnswer?.();
      const { broker } = await desk.reopen();
      const order = desk.order('buy', 1, { trigger: desk.at(5) });
      assert.equal((await broker.place(order)).outcome, 'unknown');
      const found = await broker.find(order);
      assert.deepEqual([found?.status, found?.fillQuantity], ['placed', decimal(0)]);
    },
  );

  for (const kind of ['limit', 'stop'] as const) lifeRules(rule, kind);
  refusedRules(rule);
}

/** Below the price where it is a limit, above it where it waits: five percent away, and one more is beyond it. */
const WAYS = {
  limit: { asks: (desk: Trading) => ({ limit: desk.at(-5) }), beyond: -6 },
  stop: { asks: (desk: Trading) => ({ trigger: desk.at(5) }), beyond: 6 },
} as const;

function lifeRules(rule: Rule, kind: keyof typeof WAYS): void {
  const { asks, beyond } = WAYS[kind];
  const unless = (desk: Desk) => (kind === 'stop' ? waiting(desk) : undefined);
  const needs = { hooks: ['setPrice'], stops: false, unless } as const;

  rule(
    `an entry with its ${kind} that is cancelled at the broker is found so, and nothing of it is filled`,
    { ...needs, faults: ['settle'] },
    async (desk) => {
      const entry = await placed(desk, desk.order('buy', 1, asks(desk)));
      await desk.harness.faults.settle?.('cancelled');
      const { broker } = await desk.reopen();
      const ended = await becomes(broker, entry, hasEnded);
      assert.deepEqual([ended.fillQuantity, ended.fillPrice], [ZERO, null]);
      assert.equal(await desk.position(), ZERO);
    },
  );

  rule(
    `an entry with its ${kind} that is filled in part, and then cancelled, keeps its part and opens no more`,
    { ...needs, faults: ['fillPartly'] },
    async (desk) => {
      await desk.harness.faults.fillPartly?.();
      const now = { ...desk, ...(await desk.reopen()) };
      const entry = await placed(now, now.order('buy', 4, asks(desk)));
      await desk.setPrice(beyond);
      const partly = await becomes(now.broker, entry, ({ status }) => status === 'partially_filled');
      assert.ok(
        compare(partly.fillQuantity, ZERO) > 0 && compare(partly.fillQuantity, entry.order.quantity) < 0,
      );
      assert.equal(await now.position(), partly.fillQuantity);
      await cancel(now, entry);
      const ended = await becomes(now.broker, entry, hasEnded);
      assert.deepEqual(
        [ended.fillQuantity, await now.position()],
        [partly.fillQuantity, partly.fillQuantity],
      );
      assert.ok(ended.fillPrice !== null);
    },
  );

  rule(
    `an entry with its ${kind} that was filled before the cancel came stays filled`,
    needs,
    async (desk) => {
      const entry = await placed(desk, desk.order('buy', 1, asks(desk)));
      await desk.setPrice(beyond);
      await until(desk.position, (held) => held === desk.harness.quantity);
      await cancel(desk, entry);
      const filled = await becomes(desk.broker, entry, ({ status }) => status === 'filled');
      assert.deepEqual(
        [filled.fillQuantity, await desk.position()],
        [desk.harness.quantity, desk.harness.quantity],
      );
    },
  );

  rule(
    `an entry with its ${kind} is there once under its id, however often it is sent`,
    {
      ...needs,
      unless: (desk) =>
        desk.broker.capabilities.refusesDuplicateIds ? unless(desk) : 'the broker takes an id twice',
    },
    async (desk) => {
      const entry = await placed(desk, desk.order('buy', 1, asks(desk)));
      const again = acceptedState(await desk.broker.place(entry.order));
      assert.equal(again.brokerRef ?? entry.brokerRef, entry.brokerRef);
      await desk.setPrice(beyond);
      await becomes(desk.broker, entry, ({ status }) => status === 'filled');
      assert.equal(await desk.position(), desk.harness.quantity);
    },
  );

  rule(
    `an entry with its ${kind} is refused by the broker’s own word for it, and rests nowhere`,
    { ...needs, faults: ['reject'] },
    async (desk, t) => {
      if (desk.harness.never?.insufficient_margin) return t.skip(desk.harness.never.insufficient_margin);
      await desk.harness.faults.reject?.('insufficient_margin');
      const { broker } = await desk.reopen();
      const order = desk.order('buy', 1, asks(desk));
      const outcome = await broker.place(order);
      assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
      assert.equal(outcome.error.code, 'insufficient_margin');
      assert.equal(await broker.find(order), null);
    },
  );
}

/** What a connector says that its broker cannot do is refused by it, and not sent as something else. */
function refusedRules(rule: Rule): void {
  rule(
    'an entry that waits for its price, where none does, is refused and nothing is sent',
    {
      stops: false,
      evenAtMarketOnly: true,
      unless: ({ broker }) => (broker.capabilities.stopEntries ? 'they wait there' : undefined),
    },
    async (desk) => isNotSent(desk, desk.order('buy', 1, { trigger: desk.at(5) })),
  );

  for (const timeInForce of TIMES_IN_FORCE)
    rule(
      `an entry with a limit and ${timeInForce}, where there is no such thing, is refused and nothing is sent`,
      {
        stops: false,
        evenAtMarketOnly: true,
        unless: ({ broker }) =>
          broker.capabilities.timeInForce.includes(timeInForce) ? `it has ${timeInForce}` : undefined,
      },
      async (desk) => isNotSent(desk, desk.order('buy', 1, { limit: desk.at(-5), timeInForce })),
    );
}

async function isNotSent({ broker, harness, position }: Trading, order: BrokerOrder): Promise<void> {
  const outcome = await broker.place(order);
  assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
  assert.deepEqual(await harness.ledger(), []);
  assert.equal(await position(), ZERO);
}
