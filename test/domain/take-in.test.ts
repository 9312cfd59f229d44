// In which order the wishes of orders become what is wanted: as they were sent, whenever their fills are known.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instrument, Position } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { beginsAnew, toTakeIn } from '../../src/domain/protection/adopt.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import type { Wish } from '../../src/domain/protection/wish.ts';
import { takenIn as takingIn } from '../../src/worker/lane/taken-in.ts';

const takenIn = async (...of: Parameters<typeof takingIn>): Promise<Protection> =>
  (await takingIn(...of)).protection;

const order = (id: string, sentAt: number, status: Order['status'] = 'filled'): Order =>
  ({
    ...{ id, status, submittedAt: timestamp(0), filledAt: timestamp(sentAt + 1_000) },
    legs: [{ leg: 'entry', side: 'buy', sentAt: timestamp(sentAt), fillQuantity: null, fillPrice: null }],
  }) as unknown as Order;

const filledAt = (price: number, each: Order): Order => ({
  ...each,
  legs: each.legs.map((leg) => ({ ...leg, fillQuantity: decimal(1), fillPrice: decimal(price) })),
});

const RULES = { giveUpMs: 30_000 };
const HELD = { symbol: 'BTCUSDT', quantity: decimal(2), averagePrice: decimal(100) } as Position;
const OPENING = order('opening', 1_000);
const ADD = order('add', 2_000);

const taken = (wantedBy: readonly string[], last: string | null, orders: readonly Order[]): string[] =>
  toTakeIn(
    {
      wantedBy: wantedBy as OrderId[],
      heard: [],
      adopted: last === null ? null : { order: last as OrderId, entry: decimal(1) },
    },
    orders,
  ).map(({ id }) => id);

describe('an order that found nothing held', () => {
  const flat = (each: Order): Order => ({ ...each, positionBefore: decimal(0) });
  it('begins anew where another position was closed before it', () => {
    assert.equal(beginsAnew(flat(order('next', 9_000)), OPENING), true);
    assert.equal(beginsAnew(flat(order('first', 9_000)), undefined), true);
  });
  it('adds to what was filled only after it had been sent: that stays protected', () => {
    assert.equal(beginsAnew(flat(order('beside', 1_500)), OPENING), false);
  });
});

describe('wishes are taken in', () => {
  it('as they were sent, whichever fill is known first', () => {
    assert.deepEqual(taken(['add', 'opening'], null, [ADD, OPENING]), ['opening', 'add']);
  });
  it('also of one that is known after what was sent after it', () => {
    assert.deepEqual(taken(['opening'], 'add', [OPENING, ADD]), ['opening']);
  });
  it('and what was sent after it alone', () => {
    assert.deepEqual(taken(['add'], 'opening', [ADD, OPENING]), ['add']);
  });
  it('and not of one that was sent before it, as long as its end is not known', () => {
    assert.deepEqual(taken(['opening'], 'add', [order('opening', 1_000, 'unknown'), ADD]), []);
  });
  it('of one whose end is not known, where nothing was taken in since', () => {
    const lost = order('opening', 1_000, 'unknown');
    assert.deepEqual(taken(['opening'], null, [lost]), ['opening']);
    assert.deepEqual(taken(['opening'], 'opening', [lost]), ['opening']);
  });
});

describe('an entry without a wish that found nothing held', () => {
  const asks = { stop: { unit: 'price', value: decimal(90) } } as const;
  const flat = { positionBefore: decimal(0) };
  const unfilled = { ...order('lost', 1_000, 'unknown'), ...flat, filledAt: null };
  const lost: Order = { ...unfilled, wish: { own: asks, fromFlat: asks } };
  const plain = filledAt(100, { ...order('plain', 2_000), ...flat });
  const before = {
    ...{ side: 'long', wantedBy: ['lost'], adopted: null, heard: [], stop: null, targets: [], trail: null },
    ...{ breakEven: null, timeStopAt: null, legs: [] },
  } as unknown as Protection;

  const takeIn = (protection: Protection, orders: readonly Order[], wantedBy = protection.wantedBy) =>
    takenIn(
      { orders: async (ids) => orders.filter(({ id }) => ids.includes(id)) },
      { positions: async () => [HELD] },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      { ...protection, wantedBy },
      RULES,
    );
  const both = ['lost', 'plain'] as OrderId[];

  it('leaves the stop of one before it, of which nobody knows whether it was filled since', async () => {
    const first = await takeIn(before, [lost]);
    assert.equal(first.stop?.price, '90');
    const then = await takeIn(first, [lost, plain], both);
    assert.equal(then.stop?.price, '90');
    assert.deepEqual(then.wantedBy, ['lost']);
    assert.deepEqual(await takeIn(then, [lost, plain]), then);
  });
  it('takes it away once that one is known never to have been filled', async () => {
    const then = await takeIn(await takeIn(before, [lost]), [lost, plain], both);
    const known = await takeIn(then, [{ ...lost, status: 'failed' }, plain]);
    assert.equal(known.stop, null);
    assert.deepEqual(known.wantedBy, []);
  });
  it('and leaves it for good where that one was filled after it had been sent', async () => {
    const then = await takeIn(await takeIn(before, [lost]), [lost, plain], both);
    const known = await takeIn(then, [
      filledAt(99, { ...lost, status: 'filled', filledAt: timestamp(9_000) }),
      plain,
    ]);
    assert.equal(known.stop?.price, '90');
    assert.deepEqual(known.wantedBy, []);
  });

  const all = {
    ...asks,
    targets: [{ at: { unit: 'price', value: decimal(105) }, percent: decimal(100) }],
    timeStop: { seconds: 3_600 },
  } as const;
  const more: Order = { ...lost, wish: { own: all, fromFlat: all } };
  const stops = { stop: { unit: 'price', value: decimal(80) } } as const;
  const next: Order = { ...plain, wish: { own: stops, fromFlat: stops } };
  for (const [name, opened, stop] of [
    ['none', plain, '90'],
    ['a stop', next, '80'],
  ] as const)
    it(`and asks for ${name} has no target and no end of that one, until it is known`, async () => {
      const then = await takeIn(await takeIn(before, [more]), [more, opened], both);
      assert.deepEqual([then.stop?.price, then.targets, then.timeStopAt], [stop, [], null]);
      assert.deepEqual(await takeIn(then, [more, opened]), then);
      const failed = await takeIn(then, [{ ...more, status: 'failed' }, opened]);
      const left = opened === next ? '80' : undefined;
      assert.deepEqual([failed.stop?.price, failed.targets, failed.wantedBy], [left, [], []]);
      const filled = filledAt(99, { ...more, status: 'filled', filledAt: timestamp(9_000) });
      const known = await takeIn(then, [filled, opened]);
      assert.deepEqual([known.stop?.price, known.targets[0]?.price, known.wantedBy], [stop, '105', []]);
      assert.notEqual(known.timeStopAt, null);
    });

  const late = filledAt(85, { ...order('late', 172_800_000), ...flat });
  const bothDays = ['lost', 'late'] as OrderId[];
  it('has nothing of one that nobody could settle, days later: what it found is believed by then', async () => {
    const first = { ...(await takeIn(before, [lost])), timeStopAt: timestamp(3_600_000) };
    const then = await takeIn(first, [lost, late], bothDays);
    assert.deepEqual([then.stop, then.timeStopAt, then.wantedBy], [null, null, ['lost']]);
    assert.deepEqual(await takeIn(then, [lost, late]), then, 'nor with the next look');
  });
  it('and has it where that one is filled after all, later still', async () => {
    const then = await takeIn(await takeIn(before, [lost]), [lost, late], bothDays);
    const filled = filledAt(84, { ...lost, status: 'filled', filledAt: timestamp(172_900_000) });
    assert.equal((await takeIn(then, [filled, late])).stop?.price, '90');
    const earlier = filledAt(99, { ...lost, status: 'filled', filledAt: timestamp(2_000) });
    assert.equal((await takeIn(then, [earlier, late])).stop, null, 'that was closed before');
  });
});

describe('an entry that rests and is filled in part', () => {
  const flat = { positionBefore: decimal(0) };
  const points = (value: number) => ({ unit: 'points', value: decimal(value) }) as const;
  const asks = {
    stop: points(10),
    trail: { distance: points(10), activateAt: null },
    targets: [{ at: points(5), percent: decimal(50) }],
  } as const;
  const resting = filledAt(100, { ...order('resting', 1_000, 'executing'), ...flat });
  const rests: Order = {
    ...resting,
    legs: resting.legs.map((leg) => ({ ...leg, filledAt: timestamp(2_000) })),
    wish: { own: asks, fromFlat: asks },
  };
  const protect = {
    ...{ ...order('protect', 0), legs: [], filledAt: timestamp(5_000) },
    wish: { own: { timeStop: { seconds: 600 } }, fromFlat: {} },
  } as unknown as Order;
  const started = {
    ...{
      side: 'long',
      wantedBy: ['resting'],
      adopted: null,
      heard: [],
      stop: null,
      targets: [],
      trail: null,
    },
    ...{ breakEven: null, timeStopAt: null, legs: [] },
  } as unknown as Protection;
  const takeIn = (protection: Protection, orders: readonly Order[]) =>
    takenIn(
      { orders: async (ids) => orders.filter(({ id }) => ids.includes(id)) },
      { positions: async () => [HELD] },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      protection,
      RULES,
    );

  for (const [end, ended] of [
    ['is filled', filledAt(99, { ...rests, status: 'filled', filledAt: timestamp(9_000) })],
    ['lapses', { ...rests, status: 'failed' }],
  ] as const)
    it(`loosens nothing and places nothing again when it ${end}, after a protect about something else`, async () => {
      const first = await takeIn(started, [rests]);
      assert.deepEqual([first.stop?.price, first.trail?.best, first.targets[0]?.price], ['90', '100', '105']);
      const both = ['resting', 'protect'] as OrderId[];
      const then = await takeIn({ ...first, wantedBy: both }, [rests, protect]);
      assert.deepEqual([then.stop?.price, then.wantedBy], ['90', ['resting']]);
      assert.notEqual(then.timeStopAt, null);
      const moved: Protection = {
        ...then,
        stop: { price: decimal(120), kind: 'trailing_stop' },
        trail: then.trail && { ...then.trail, best: decimal(130) },
        targets: then.targets.map((each) => ({ ...each, isFilled: true })),
      };
      const known = await takeIn(moved, [ended as Order, protect]);
      assert.deepEqual(known, { ...moved, wantedBy: [], heard: [] });
    });

  it('loosens no stop that followed the price, where its fill is known after what was sent after it', async () => {
    const add = filledAt(110, { ...order('add', 3_000), positionBefore: decimal(1) });
    const follows = { trail: { distance: points(10), activateAt: null } };
    const adding: Order = { ...add, wish: { own: follows, fromFlat: follows } };
    const first = await takeIn({ ...started, wantedBy: ['add' as OrderId] }, [adding]);
    const moved: Protection = {
      ...first,
      ...{ wantedBy: ['resting' as OrderId], stop: { price: decimal(120), kind: 'trailing_stop' } },
      trail: first.trail && { ...first.trail, best: decimal(130) },
    };
    const stop = { stop: points(10) };
    const late = {
      ...rests,
      status: 'filled',
      filledAt: timestamp(9_000),
      wish: { own: stop, fromFlat: stop },
    };
    const known = await takeIn(moved, [late as Order, adding]);
    assert.deepEqual([known.stop?.price, known.trail?.best], ['120', '130']);
    assert.equal(known.adopted?.order, 'add');
  });
});

describe('the only stop, where nobody knows whether an entry that asks for one was filled', () => {
  const stop = { stop: { unit: 'price', value: decimal(90) } } as const;
  const sent = { ...order('lost', 1_000, 'unknown'), positionBefore: decimal(0) };
  const lost = {
    ...{ ...sent, filledAt: null, wish: { own: stop, fromFlat: stop } },
    legs: sent.legs.map((leg) => ({
      ...leg,
      status: 'unknown',
      instrument: 'BTCUSDT',
      clientOrderId: 'fe1',
    })),
  } as unknown as Order;
  const isUndecided = async (orders: readonly Order[]) => {
    const protection = {
      ...{
        side: 'long',
        instrument: 'BTCUSDT',
        wantedBy: orders.map(({ id }) => id),
        adopted: null,
        heard: [],
      },
      ...{ stop: null, targets: [], trail: null, breakEven: null, timeStopAt: null, legs: [] },
    } as unknown as Protection;
    return takingIn(
      { orders: async () => orders },
      { positions: async () => [HELD] },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      protection,
      RULES,
    );
  };
  it('stays for that one', async () => {
    assert.equal((await isUndecided([lost])).isUndecided, true);
  });
  it('goes where its owner has said so since', async () => {
    const removed = {
      ...{ ...order('protect', 0), legs: [], filledAt: timestamp(5_000) },
      wish: { own: { stop: 'none' }, fromFlat: { stop: 'none' } },
    } as unknown as Order;
    const { protection, isUndecided: is } = await isUndecided([lost, removed]);
    assert.deepEqual([protection.stop, protection.wantedBy, is], [null, ['lost'], false]);
  });
});

describe('an entry that was never filled', () => {
  it('asks for nothing of what somebody else holds', async () => {
    const asks = { stop: { unit: 'price', value: decimal(90) } } as const;
    const never = {
      ...order('never', 1_000, 'rejected'),
      positionBefore: decimal(0),
      filledAt: null,
      wish: { own: asks, fromFlat: asks },
    };
    const taken = await takenIn(
      { orders: async () => [never] },
      {
        positions: async () => [
          { symbol: 'X', quantity: decimal(2), averagePrice: decimal(100) } as Position,
        ],
      },
      { symbol: 'X', tickSize: decimal(1) } as Instrument,
      {
        side: 'long',
        wantedBy: ['never'],
        adopted: null,
        heard: [],
        stop: null,
        legs: [],
      } as unknown as Protection,
      RULES,
    );
    assert.equal(taken.stop, null);
    assert.deepEqual(taken.wantedBy, []);
  });
});

describe('a protect whose position is shown late when its wish is to be taken in', () => {
  const protect = (wish: Wish): Order =>
    ({
      ...{ ...order('protect', 0, 'done'), legs: [], filledAt: timestamp(5_000) },
      wish: { own: wish, fromFlat: {} },
    }) as unknown as Order;
  const far: Wish = { stop: { unit: 'percent', value: decimal(10) } };
  const named: Wish = { stop: { unit: 'price', value: decimal(90) } };
  const first = {
    ...{
      side: 'long',
      wantedBy: ['protect'],
      adopted: null,
      heard: [],
      stop: null,
      targets: [],
      trail: null,
    },
    ...{ breakEven: null, timeStopAt: null, legs: [], heldAt: null },
  } as unknown as Protection;
  const takeIn = (protection: Protection, orders: readonly Order[], held: readonly Position[]) =>
    takenIn(
      { orders: async (ids) => orders.filter(({ id }) => ids.includes(id)) },
      { positions: async () => held },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      protection,
      RULES,
    );

  for (const [is, shown] of [
    ['nothing', []],
    ['another side', [{ ...HELD, quantity: decimal(-1) }]],
    ['no average', [{ ...HELD, averagePrice: decimal(0) }]],
  ] as const)
    it(`waits where ${is} is shown, and is taken in once the position is`, async () => {
      const waiting = await takeIn(first, [protect(far)], shown);
      assert.deepEqual([waiting.stop, waiting.unpriced, waiting.wantedBy], [null, ['protect'], []]);
      assert.equal(waiting.heldAt, timestamp(5_000), 'it was held when the protect was judged');
      assert.deepEqual(await takeIn(waiting, [protect(far)], shown), waiting);
      const then = await takeIn(waiting, [protect(far)], [HELD]);
      assert.deepEqual([then.stop?.price, then.unpriced], ['90', []]);
    });
  it('needs no average where it names prices alone', async () => {
    const then = await takeIn(first, [protect(named)], [{ ...HELD, averagePrice: decimal(0) }]);
    assert.deepEqual([then.stop?.price, then.unpriced], ['90', []]);
  });
  it('leaves what was asked for after it as it is', async () => {
    const points = { unit: 'points', value: decimal(5) } as const;
    const asks: Wish = { targets: [{ at: points, percent: decimal(100) }] };
    const add = {
      ...filledAt(101, order('add', 9_000)),
      ...{ positionBefore: decimal(1), wish: { own: asks, fromFlat: asks } },
    };
    const both = { ...first, wantedBy: ['protect', 'add'] as OrderId[] };
    const waiting = await takeIn(both, [protect(far), add], []);
    assert.deepEqual([waiting.targets[0]?.price, waiting.unpriced], ['106', ['protect']]);
    const asked = { ...far, targets: 'none' } as const;
    const then = await takeIn(waiting, [protect(asked), add], [HELD]);
    assert.deepEqual([then.stop?.price, then.targets[0]?.price, then.unpriced], ['90', '106', []]);
    assert.equal(then.adopted?.order, 'add');
  });
  it('is of a position that was closed since, where another one was opened', async () => {
    const next = filledAt(100, { ...order('next', 9_000), positionBefore: decimal(0) });
    const waiting = await takeIn(first, [protect(far)], []);
    const then = await takeIn({ ...waiting, wantedBy: [next.id] }, [protect(far), next], []);
    assert.deepEqual([then.stop, then.unpriced, then.wantedBy], [null, [], []]);
  });
});

describe('an entry that adds to what has a stop', () => {
  const asking = (price: number) => ({ stop: { unit: 'price', value: decimal(price) } }) as const;
  const wish = (price: number) => ({ own: asking(price), fromFlat: asking(price) });
  const opening: Order = {
    ...filledAt(100, OPENING),
    positionBefore: decimal(0),
    wish: wish(95),
  };
  const add: Order = {
    ...order('add', 2_000, 'placed'),
    ...{ filledAt: null, positionBefore: decimal(1), wish: wish(90) },
  };
  const before = {
    ...{ side: 'long', wantedBy: ['opening'], adopted: null, heard: [], stop: null, targets: [] },
    ...{ trail: null, breakEven: null, timeStopAt: null, legs: [] },
  } as unknown as Protection;
  const takeIn = (protection: Protection, orders: readonly Order[], wantedBy: readonly string[]) =>
    takenIn(
      { orders: async (ids) => orders.filter(({ id }) => ids.includes(id)) },
      { positions: async () => [HELD] },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      { ...protection, wantedBy: wantedBy as OrderId[] },
      RULES,
    );

  it('leaves that one until something of it is filled, and then has its own', async () => {
    const first = await takeIn(before, [opening], ['opening']);
    assert.equal(first.stop?.price, '95');
    const waiting = await takeIn(first, [opening, add], ['add']);
    assert.equal(waiting.stop?.price, '95');
    assert.deepEqual(waiting.wantedBy, ['add']);
    const filled = await takeIn(waiting, [opening, filledAt(101, add)], waiting.wantedBy);
    assert.equal(filled.stop?.price, '90');
  });
});
