// Random lives of a position at every kind of broker: what protects it comes to rest as it is wanted, a stop never loosens by
// itself, nothing is recorded twice, and nothing of ours is left when the position is gone.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BrokerOrderState, BrokerUnavailable } from '../../src/broker/broker.ts';
import { compare, type Decimal, decimal, downTo, ZERO } from '../../src/domain/decimal.ts';
import {
  type AccountId,
  type ClientOrderId,
  type OrderId,
  timestamp,
  type UserId,
} from '../../src/domain/ids.ts';
import { keptQuantities } from '../../src/domain/protection/ability.ts';
import { adopt, anew } from '../../src/domain/protection/adopt.ts';
import { parcels } from '../../src/domain/protection/parcels.ts';
import { isWatched, leftOf, type Protection } from '../../src/domain/protection/protection.ts';
import type { Keeping, ToKeep } from '../../src/worker/lane/keeping.ts';
import { keepProtection } from '../../src/worker/lane/protect.ts';
import { Crash, instrumentOf, LUCK, type Luck, modelExchange, type Ways } from './protect-model.ts';

const RULES = { protectMs: 10_000, sweepMs: 30_000, followMs: 2_000, lostMs: 2_000, giveUpMs: 30_000 };
/** Of one pass, whatever happens. */
const MOST_CALLS = 120;
/** After the last misfortune, while the exchange answers. */
const MOST_BARE_MS = 14_000;
/** What somebody takes away again and again is put back after an hour, and a price is followed every two seconds. */
const MOST_PASSES = 2_500;
/** Of what nobody tells us. */
const A_SWEEP_MS = 36_000;
const START = Date.parse('2026-07-15T19:00:00Z');

const WAYS: readonly Ways[] = (['position', 'sized'] as const).flatMap((stop) =>
  (['set', 'amend', 'replace'] as const).flatMap((moves) =>
    [true, false].flatMap((reserves): Ways[] =>
      namesOf(stop, moves, reserves).map(([names, renames]) => ({ stop, moves, reserves, names, renames })),
    ),
  ),
);

/** By which names stops are shown, and whether one that was moved has another. */
function namesOf(
  stop: Ways['stop'],
  moves: Ways['moves'],
  reserves: boolean,
): readonly (readonly [Ways['names'], boolean])[] {
  if (reserves) return [['ours', true]];
  if (moves === 'set' && stop === 'position')
    return [
      ['ours', false],
      ['ours', true],
      ['none', false],
    ];
  if (moves === 'replace' && stop === 'position')
    return [
      ['ours', false],
      ['theirs', false],
    ];
  return [['ours', false]];
}

const wanted = (more: Partial<Protection> = {}): Protection => ({
  id: '00000000-0000-7000-8000-00000000000a',
  version: 1,
  userId: 'u' as UserId,
  accountId: 'a' as AccountId,
  brokerName: 'paper',
  simulation: false,
  symbol: 'BTCUSDT',
  instrument: 'BTCUSDT',
  side: 'long',
  state: 'armed',
  reason: null,
  wantedBy: [],
  setBy: 'o' as OrderId,
  adopted: null,
  heard: [],
  stop: { price: decimal(90), kind: 'stop_loss' },
  targets: [],
  trail: null,
  breakEven: null,
  timeStopAt: null,
  revision: 1,
  legs: [],
  refused: null,
  restoredAt: [],
  targetsRestoredAt: [],
  expiredAt: [],
  movedAt: null,
  targetsAgainAt: null,
  suspendedAt: null,
  closesFor: null,
  closing: null,
  isResumed: false,
  credentialsVersion: null,
  unprotectedSince: timestamp(START),
  unprotectedMs: null,
  seenAt: null,
  dueAt: timestamp(START),
  ...more,
});

const target = (price: number, percent: number) => ({
  price: decimal(price),
  percent: decimal(percent),
  closed: ZERO,
  isFilled: false,
});

type Event =
  | {
      readonly kind: 'add' | 'exit' | 'price' | 'hand move' | 'protect' | 'die' | 'decide';
      readonly amount: number;
    }
  | { readonly kind: 'pass' | 'hand remove' | 'hand cancel' | 'fill part' | 'open anew' };

function life(ways: Ways, first: Protection, luck: readonly Luck[]) {
  let now = START;
  const coming = [...luck];
  const draw = (): Luck => coming.shift() ?? 'well';
  const exchange = modelExchange(ways, draw, () => now);
  let saved = first;
  let whileSaving = (_saved: Protection): void => {};
  let due = now;
  let last = first;
  let hasFailed = false;
  /** What a person or a signal wants may loosen it. */
  let isAsked = false;
  /** Nobody knows whether an entry that asks for a stop was filled. */
  let isUndecided = false;
  /** What our own fills come to, where they are not counted rightly. */
  let counted: Decimal | null = null;
  /** What a close of ours rests for. */
  let reserved: Decimal = ZERO;
  let isOpen = true;
  const recorded = new Map<string, Decimal>();
  const refs: string[] = [];
  const closes: string[] = [];
  /** To whom counts what is held. */
  const told: string[] = [];

  const commit = (protection: Protection): Protection => {
    const misfortune = draw();
    if (misfortune === 'crash before') throw new Crash();
    assert.equal(protection.version, saved.version);
    const [before, after] = [saved.stop, protection.stop];
    if (before && after && !isAsked)
      assert.ok(compare(after.price, before.price) >= 0, `the stop loosens: ${before.price} ${after.price}`);
    saved = { ...protection, version: protection.version + 1 };
    if (misfortune === 'crash after') throw new Crash();
    whileSaving(saved);
    return saved;
  };

  const deps: Keeping = {
    clock: { now: () => now },
    wait: async (ms) => {
      now += ms;
    },
    rules: RULES,
    quote: async () => ({ bid: exchange.price(), ask: exchange.price() }),
    saves: {
      save: async (protection) => commit(protection),
      async record(protection, { leg, fills, left }) {
        // However late the position is shown: whether all of it is closed decides who stays out.
        assert.equal(left, exchange.held(), 'what is left is told wrongly');
        const after = commitWith(protection, () => {
          for (const { reason, order } of fills) {
            const name =
              leg.limit !== null && reason !== 'take_profit'
                ? `${leg.clientOrderId} stop`
                : leg.clientOrderId;
            assert.ok(!recorded.has(name), 'a fill is recorded twice');
            recorded.set(name, order.fillQuantity);
            if (order.brokerRef !== null) refs.push(order.brokerRef);
          }
        });
        return after;
      },
      async close(protection, reason) {
        return commitWith({ ...protection, closing: { order: 'c' as OrderId, at: timestamp(now) } }, () =>
          closes.push(reason),
        );
      },
    },
  };

  function commitWith(protection: Protection, besides: () => void): Protection {
    const misfortune = draw();
    if (misfortune === 'crash before') throw new Crash();
    besides();
    saved = { ...protection, version: protection.version + 1 };
    if (misfortune === 'crash after') throw new Crash();
    return saved;
  }

  const task = (isTold: boolean): ToKeep => ({
    protection: last.version === saved.version ? last : saved,
    instrument: { ...instrumentOf(ways), open: isOpen },
    // By our own fills: what a broker shows late is not believed.
    trades: {
      expected: () => counted ?? exchange.held(),
      closed: (legs) => told.push(...legs.map(({ fillQuantity }) => `closed ${fillQuantity}`)),
      explained: () => told.push('explained'),
      standing: () => ({ quantity: counted ?? exchange.held(), counted: undefined }),
    },
    others: [],
    triggerBy: 'last',
    recorded: async () => refs,
    unprotected: 'close',
    isUnsettled: isUndecided,
    isUndecided,
    isTold,
    isAsked: false,
    closing: { closing: null, reserved },
  });

  /** The order that was accepted for it is made, whoever lives. */
  function makeCloses(): void {
    if (!saved.closing || !isWatched(saved) || exchange.held() === ZERO) return;
    if (ways.reserves) exchange.free();
    exchange.trade(decimal(-Number(exchange.held())));
  }

  async function pass(isTold = true): Promise<void> {
    const before = exchange.calls();
    try {
      const kept = await keepProtection(deps, exchange.line, task(isTold || hasFailed));
      // What was seen and is not worth saving is remembered.
      if (kept.protection.version === saved.version) last = kept.protection;
      due = kept.untilMs;
      hasFailed = false;
    } catch (fault) {
      if (!(fault instanceof Crash || fault instanceof BrokerUnavailable)) throw fault;
      // Whoever drives it comes again soon.
      now += 2_000;
      due = now;
      hasFailed = true;
    }
    assert.ok(exchange.calls() - before < MOST_CALLS, 'a pass asks for ever');
    if (closes.length > 0) makeCloses();
    isAsked = false;
  }

  return {
    exchange,
    recorded,
    closes,
    told,
    saved: () => saved,
    due: () => due,
    pass,
    later(ms: number) {
      now += ms;
    },
    /** As the unit of an order does it. */
    want(change: Partial<Protection>) {
      isAsked = true;
      saved = { ...saved, ...change, version: saved.version + 1 };
    },
    undecided(is: boolean) {
      isUndecided = is;
    },
    isUndecided: () => isUndecided,
    rests(quantity: Decimal) {
      reserved = quantity;
    },
    counts(quantity: Decimal) {
      counted = quantity;
    },
    opens(is: boolean) {
      isOpen = is;
    },
    /** The database takes its time. */
    whileSaving(happens: typeof whileSaving) {
      whileSaving = happens;
    },
    async until(isOver: () => boolean, mostMs: number) {
      const start = now;
      for (let passes = 0; !isOver(); passes++) {
        const isGivenUp = saved.restoredAt.length > 3;
        const isBare =
          saved.stop !== null && isWatched(saved) && exchange.held() !== ZERO && !exchange.isCovered();
        assert.ok(
          !isBare || isGivenUp || now - start < mostMs,
          `bare for too long: ${JSON.stringify(saved)}`,
        );
        assert.ok(passes < MOST_PASSES, `it does not come to rest: ${JSON.stringify(saved)}`);
        now = Math.max(now + 1, Math.min(due, now + RULES.sweepMs));
        await pass(false);
      }
    },
  };
}

function happen(lived: ReturnType<typeof life>, event: Event, ways: Ways): void {
  const { exchange, want, saved, later } = lived;
  later(200);
  switch (event.kind) {
    case 'add':
      if (exchange.held() !== ZERO) exchange.trade(decimal(event.amount));
      return;
    case 'exit': {
      if (exchange.held() === ZERO) return;
      if (ways.reserves) exchange.free();
      // Parts are traded where stops are kept of whole quantities alone.
      exchange.trade(decimal(-(ways.reserves ? event.amount : Math.ceil(event.amount))));
      return;
    }
    case 'price':
      exchange.priced(decimal(event.amount));
      return;
    case 'hand remove':
      exchange.byHand.remove();
      return;
    case 'hand move':
      // Without an id of ours, and elsewhere than it was set, nobody knows whose it is.
      if (ways.names === 'theirs') return;
      exchange.byHand.move(decimal(event.amount));
      return;
    case 'hand cancel':
      exchange.byHand.cancelTarget();
      return;
    case 'fill part':
      exchange.byHand.fillPart();
      return;
    case 'die':
      exchange.byHand.triggerAndDie(decimal(event.amount % 3));
      return;
    case 'protect':
      if (isWatched(saved()))
        want({ stop: { price: decimal(event.amount), kind: 'stop_loss' }, restoredAt: [] });
      return;
    // An entry without a wish is said to have opened it, and of another one, which asks for a stop, nobody knows the end.
    case 'open anew':
      if (isWatched(saved()) && !lived.isUndecided()) {
        want(anew(saved()));
        lived.undecided(true);
      }
      return;
    case 'decide':
      decide(lived, event.amount);
      return;
    case 'pass':
      return;
  }
}

/** It was filled: what it asks for is wanted. */
function decide({ isUndecided, undecided, want, saved }: ReturnType<typeof life>, price: number): void {
  if (!isUndecided()) return;
  undecided(false);
  if (isWatched(saved())) want({ stop: { price: decimal(price), kind: 'stop_loss' } });
}

/** As it is wanted, or gone. */
function isAtRest({ exchange, saved }: ReturnType<typeof life>): boolean {
  const protection = saved();
  if (exchange.held() === ZERO)
    return (
      protection.state === 'ended' && exchange.standing().length === 0 && exchange.resting().length === 0
    );
  const { reserves } = exchange.line.capabilities;
  const isTooLittle = reserves && protection.stop !== null && compare(exchange.held(), decimal(1)) < 0;
  if (protection.state !== 'standing' && !isTooLittle) return false;
  const layout = parcels(protection, reserves ? downTo(exchange.held(), decimal(1)) : exchange.held(), {
    ...keptQuantities(instrumentOf({ reserves }), { wholeStops: reserves }),
    reserves,
  });
  const legs = protection.legs.map((leg) => ({
    level: leg.level,
    left: leftOf(leg),
    limit: leg.limit,
    stop: leg.stop,
  }));
  return (
    protection.legs.length === layout.length &&
    layout.every(({ level, quantity, limit, stop }) =>
      legs.some(
        (leg) =>
          leg.level === level &&
          leg.limit === limit &&
          leg.stop === stop &&
          (leg.left === quantity || (level === 0 && exchange.line.capabilities.stop === 'position')),
      ),
    ) &&
    exchange.standing().length === layout.filter(({ stop }) => stop !== null).length &&
    exchange.resting().length === layout.filter(({ limit }) => limit !== null).length
  );
}

/** Done by somebody else, or by the exchange itself: it is seen with the next sweep. */
const isUnheard = ({ kind }: Event): boolean =>
  ['hand remove', 'hand move', 'hand cancel', 'die', 'price', 'fill part'].includes(kind);

const someEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Event>({ kind: 'pass' }) },
  fc.record({
    kind: fc.constantFrom('add' as const, 'exit' as const),
    amount: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({ kind: fc.constant('exit' as const), amount: fc.constantFrom(0.5, 1.5, 2.25) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('price' as const), amount: fc.integer({ min: 80, max: 130 }) }),
  },
  fc.record({ kind: fc.constant('hand move' as const), amount: fc.integer({ min: 70, max: 99 }) }),
  fc.record({ kind: fc.constant('protect' as const), amount: fc.integer({ min: 70, max: 99 }) }),
  fc.record({ kind: fc.constant('die' as const), amount: fc.integer({ min: 0, max: 6 }) }),
  fc.constant<Event>({ kind: 'hand remove' }),
  fc.constant<Event>({ kind: 'hand cancel' }),
  fc.constant<Event>({ kind: 'fill part' }),
  fc.constant<Event>({ kind: 'open anew' }),
  fc.record({ kind: fc.constant('decide' as const), amount: fc.integer({ min: 70, max: 99 }) }),
);

const someLuck = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.constant<Luck>('well') }, fc.constantFrom(...LUCK)),
  { maxLength: 80 },
);

const someWish: fc.Arbitrary<Partial<Protection>> = fc.record({
  targets: fc.constantFrom(
    [],
    [target(110, 100)],
    [target(105, 50), target(120, 50)],
    [target(104, 10), target(108, 20), target(112, 30)],
  ),
  trail: fc.constantFrom(null, {
    distance: decimal(8),
    activateAt: null,
    from: decimal(100),
    best: decimal(100),
  }),
  breakEven: fc.constantFrom(
    null,
    { at: 'tp1' as const, to: decimal(100) },
    { at: decimal(106), to: decimal(101) },
  ),
});

const nameOf = (ways: Ways) =>
  `${ways.stop}, ${ways.moves}${ways.reserves ? ', reserving' : ''}${ways.names === 'ours' ? '' : `, ids: ${ways.names}`}${ways.renames ? ', renaming' : ''}`;

describe('what protects a position, through random lives of it', () => {
  for (const ways of WAYS)
    it(`comes to rest as it is wanted: ${nameOf(ways)}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          someWish,
          fc.array(someEvent, { maxLength: 14 }),
          someLuck,
          fc.integer({ min: 2, max: 20 }),
          async (wish, events, luck, quantity) => {
            const lived = life(ways, wanted(wish), luck);
            lived.exchange.trade(decimal(quantity));
            await lived.pass();
            for (const event of events) {
              happen(lived, event, ways);
              await lived.pass(!isUnheard(event));
            }
            decide(lived, 80);
            // Who takes it away again and again is let have his way; after an hour it is put back.
            await lived.until(() => isAtRest(lived), events.some(isUnheard) ? A_SWEEP_MS : MOST_BARE_MS);
            await lived.pass();
            assert.deepEqual(lived.exchange.breaches, []);
            const ledger = new Map(
              [...lived.exchange.fills].map(([id, { quantity: filled }]) => [id, filled]),
            );
            // What rests is written down when it has ended.
            for (const { clientOrderId, filled } of lived.saved().legs)
              if (filled !== ZERO) lived.recorded.set(clientOrderId, filled);
            const sums = [lived.recorded, ledger].map((fills) =>
              [...fills.values()].reduce((sum, filled) => sum + Number(filled), 0),
            );
            assert.equal(sums[0], sums[1], 'what is recorded is what was filled');
            if (ways.names === 'ours' && ways.moves !== 'set') assert.deepEqual(lived.recorded, ledger);
          },
        ),
        { numRuns: Number(process.env.RUNS ?? 150) },
      );
    });
});

describe('where stops are of whole quantities, and an exit leaves a part of one', () => {
  const ways = WAYS.find(({ reserves }) => reserves) as Ways;
  const after = async (exit: string) => {
    const lived = life(ways, wanted(), []);
    lived.exchange.trade(decimal(3));
    await lived.pass();
    lived.exchange.free();
    lived.exchange.trade(decimal(`-${exit}`));
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      await lived.pass();
      lived.later(A_SWEEP_MS);
    }
    return lived;
  };

  it('has the stop for what is whole, says what has none, and sells nothing for that', async () => {
    const lived = await after('1.5');
    const { state, reason, legs } = lived.saved();
    assert.deepEqual([state, legs.map(({ quantity }) => quantity)], ['standing', [decimal(1)]]);
    assert.match(reason ?? '', /^0\.5 of 1\.5 is without a stop/);
    assert.deepEqual([lived.closes, lived.exchange.held()], [[], decimal('1.5')]);
    lived.exchange.trade(decimal('0.5'));
    await lived.pass();
    assert.equal(lived.saved().reason, null);
  });

  it('of less than one nothing stands, which is told; it is closed where the stop would have closed it', async () => {
    const lived = await after('2.5');
    const { state, reason, legs } = lived.saved();
    assert.deepEqual([state, legs, lived.closes], ['unprotected', [], []]);
    assert.match(reason ?? '', /^0\.5 of 0\.5 is without a stop/);
    lived.exchange.priced(decimal(85));
    await lived.pass();
    assert.deepEqual([lived.closes, lived.exchange.held()], [['stop_loss'], ZERO]);
  });

  it('while the market is closed nothing of that is sold, whatever is bid: it is with the opening', async () => {
    const lived = await after('2.5');
    lived.exchange.priced(decimal(85));
    lived.opens(false);
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      await lived.pass();
      lived.later(A_SWEEP_MS);
    }
    assert.deepEqual([lived.saved().state, lived.closes], ['unprotected', []]);
    lived.opens(true);
    await lived.pass();
    assert.deepEqual([lived.closes, lived.exchange.held()], [['stop_loss'], ZERO]);
  });

  it('says that of what has none, also where a stop of more was refused before', async () => {
    const lived = await after('2.5');
    const at = timestamp(START);
    const refused = { times: 2, firstAt: at, lastAt: at, words: 'Not today.' };
    lived.want({ reason: 'Not today.', refused });
    await lived.pass();
    assert.match(lived.saved().reason ?? '', /^0\.5 of 0\.5 is without a stop/);
  });
});

describe('a broker that has one stop of the position', () => {
  it('may show it for once under a name that nobody gave it: ours stays what it is', async () => {
    const ways: Ways = { stop: 'position', moves: 'set', reserves: false, names: 'ours', renames: false };
    const lived = life(ways, wanted(), []);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    const before = lived.saved().legs.map(({ clientOrderId, brokerRef }) => ({ clientOrderId, brokerRef }));
    const port = lived.exchange.line.stops as Mutable<NonNullable<typeof lived.exchange.line.stops>>;
    const { standing } = port;
    port.standing = async (instrument) =>
      (await standing(instrument)).map((stop) => ({
        ...stop,
        clientOrderId: `${stop.clientOrderId}x` as ClientOrderId,
        brokerRef: `${stop.brokerRef}x`,
      }));
    await lived.pass();
    await lived.pass();
    port.standing = standing;
    assert.equal(before.length, 1);
    assert.deepEqual(
      lived.saved().legs.map(({ clientOrderId, brokerRef }) => ({ clientOrderId, brokerRef })),
      before,
    );
    lived.exchange.priced(decimal(85));
    await lived.pass();
    assert.deepEqual(
      [...lived.recorded].map(([id, filled]) => [id, filled]),
      [[before[0]?.clientOrderId, decimal(5)]],
    );
  });
});

describe('a position that is gone', () => {
  it('takes its targets along, also where our fills come to something on the other side', async () => {
    const lived = life(WAYS[0] as Ways, wanted({ targets: [target(110, 50), target(120, 50)] }), []);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    lived.exchange.trade(decimal(-5));
    lived.counts(decimal(-1));
    await lived.pass();
    assert.deepEqual([lived.saved().state, lived.exchange.resting()], ['ended', []]);
  });
});

describe('a position that is to be closed, and whose close was refused', () => {
  const openLife = () => {
    const lived = life(WAYS[0] as Ways, wanted({ closesFor: 'stop_loss' }), []);
    lived.exchange.trade(decimal(5));
    return lived;
  };
  const by = { order: 'protect' as OrderId, entry: decimal(100), tick: decimal(1), filledAt: START };

  it('is closed as soon as that is possible', async () => {
    const { pass, closes } = openLife();
    await pass();
    assert.deepEqual(closes, ['stop_loss']);
  });
  it('is held on where its owner has set another stop since, until that one is passed', async () => {
    const { exchange, pass, closes, want, saved } = openLife();
    want(adopt(saved(), { stop: { unit: 'price', value: decimal(70) } }, by));
    await pass();
    assert.deepEqual(
      [closes, exchange.standing().map(({ price }) => price), exchange.held()],
      [[], ['70'], decimal(5)],
    );
    exchange.priced(decimal(69));
    await pass();
    assert.deepEqual([exchange.held(), saved().state], [ZERO, 'ended']);
  });
  it('is held on where its owner wants no stop any more', async () => {
    const { exchange, pass, closes, want, saved } = openLife();
    want(adopt(saved(), { stop: 'none' }, by));
    await pass();
    assert.deepEqual([closes, exchange.held()], [[], decimal(5)]);
  });
});

describe('a wish that waits until its position is shown', () => {
  const waits = { stop: null, unpriced: ['protect' as OrderId] };
  const openLife = (more: Partial<Protection> = {}) => {
    const lived = life(WAYS[0] as Ways, wanted({ ...waits, ...more }), []);
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    const { position } = line;
    return {
      ...lived,
      shows: (quantity: Decimal | null) => {
        line.position = quantity === null ? position : async () => quantity;
      },
    };
  };

  it('keeps its protection while our own fills say that something is held, and is looked at again soon', async () => {
    const { exchange, pass, saved, shows, due } = openLife();
    exchange.trade(decimal(5));
    shows(ZERO);
    await pass();
    assert.deepEqual([saved().state, saved().unpriced, due()], ['armed', ['protect'], START + 1_000]);
    shows(null);
    await pass();
    assert.deepEqual([isWatched(saved()), saved().unpriced, due()], [true, ['protect'], START + 1_000]);
  });
  it('keeps it for a moment where our fills know nothing of it: it was held when it was asked for', async () => {
    const { pass, saved, shows, counts, later, due } = openLife({ heldAt: timestamp(START) });
    counts(ZERO);
    shows(ZERO);
    await pass();
    assert.deepEqual([saved().state, due()], ['armed', START + 1_000]);
    later(5_000);
    await pass();
    assert.equal(saved().state, 'ended');
  });
  it('ends seconds after the position', async () => {
    const { exchange, pass, saved, later } = openLife();
    exchange.trade(decimal(5));
    await pass();
    exchange.trade(decimal(-5));
    await pass();
    assert.notEqual(saved().state, 'ended');
    later(5_000);
    await pass();
    assert.equal(saved().state, 'ended');
  });
  it('and where another side is held instead', async () => {
    const { pass, saved, shows, counts } = openLife();
    counts(decimal(-3));
    shows(decimal(-3));
    await pass();
    assert.equal(saved().state, 'ended');
  });
});

describe('a position that is shown late', () => {
  it('does not lose its stop while an entry is under way that may have brought it', async () => {
    const lived = life(WAYS[0] as Ways, wanted(), []);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    line.position = async () => ZERO;
    // Nobody has heard of its fill.
    lived.counts(ZERO);
    lived.undecided(true);
    await lived.pass();
    assert.equal(lived.exchange.standing().length, 1);
    lived.later(10_000);
    await lived.pass();
    assert.equal(lived.exchange.standing().length, 0, 'by then it is gone');
  });

  it('does not lose it either where our own fills said that nothing is held while it was shown', async () => {
    const lived = life(WAYS[0] as Ways, wanted(), []);
    // A close before it is known, and the entry's own fill is not: its answer was lost.
    lived.counts(ZERO);
    lived.undecided(true);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    assert.equal(lived.exchange.standing().length, 1);
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    line.position = async () => ZERO;
    lived.later(3_000);
    await lived.pass();
    assert.equal(lived.exchange.standing().length, 1);
    lived.later(5_000);
    await lived.pass();
    assert.equal(lived.exchange.standing().length, 0, 'by then it is gone');
  });

  for (const ways of WAYS.filter(({ stop, reserves }) => stop === 'sized' && !reserves))
    it(`loses nothing of its stop: ${nameOf(ways)}`, async () => {
      const lived = life(ways, wanted(), []);
      lived.exchange.trade(decimal(5));
      await lived.pass();
      lived.exchange.trade(decimal(3));
      await lived.pass();
      const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
      const { position } = line;
      line.position = async () => decimal(5);
      await lived.pass();
      assert.deepEqual(
        lived.exchange.standing().map(({ quantity }) => quantity),
        [decimal(8)],
      );
      line.position = position;
      await lived.pass();
      assert.deepEqual(lived.exchange.breaches, []);
    });

  for (const ways of WAYS.filter(({ reserves }) => reserves))
    it(`has a stop of what our own fills leave, where more cannot be kept for it: ${nameOf(ways)}`, async () => {
      const lived = life(ways, wanted(), []);
      lived.exchange.trade(decimal(5));
      const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
      const { position } = line;
      line.position = async () => decimal(8);
      await lived.pass();
      const standing = () => lived.exchange.standing().map(({ quantity }) => quantity);
      assert.deepEqual(standing(), [decimal(5)]);
      line.position = position;
      lived.exchange.trade(decimal(3));
      await lived.pass();
      assert.deepEqual(standing(), [decimal(8)]);
      assert.deepEqual(lived.exchange.breaches, []);
    });
});

describe('a position that grows while its stop is made smaller', () => {
  const slowly = {
    'when the new one was taken': ({ legs }: Protection) =>
      legs.length === 2 && legs.every(({ brokerRef, isLeaving }) => brokerRef !== null && !isLeaving),
    'before the old one leaves': ({ legs }: Protection) => legs.some(({ isLeaving }) => isLeaving),
  };
  for (const [when, isThen] of Object.entries(slowly))
    it(`keeps the larger one until one of all that is held stands: ${when}`, async () => {
      const { lived, standing } = await lessened('replace');
      const { exchange } = lived;
      let hasGrown = false;
      lived.whileSaving((saved) => {
        if (hasGrown || !isThen(saved)) return;
        hasGrown = true;
        lived.later(2_000);
        exchange.trade(decimal(3));
      });
      const { stops } = exchange.line as { stops: NonNullable<typeof exchange.line.stops> };
      const { remove } = stops;
      stops.remove = async (stop) => {
        assert.equal(exchange.held(), decimal(7));
        await remove(stop);
        assert.ok(exchange.isCovered(), `${stop.quantity} left, and something is bare`);
      };
      await lived.pass();
      assert.deepEqual(standing(), [decimal(7)]);
    });

  const slow = {
    'the broker was slow': { asked: 2_000, saved: 0 },
    'it was saved': { asked: 0, saved: 2_000 },
  };
  for (const [when, ms] of Object.entries(slow))
    it(`has it amended by what is held then, and not by what was held before ${when}`, async () => {
      const { lived, standing } = await lessened('amend');
      const { exchange } = lived;
      const grows = (takes: number) => {
        lived.later(takes);
        if (takes > 0 && exchange.held() === decimal(4)) exchange.trade(decimal(3));
      };
      const { stops } = exchange.line as { stops: NonNullable<typeof exchange.line.stops> };
      const { standing: shown, move } = stops;
      stops.standing = async (instrument) => {
        const answer = await shown(instrument);
        grows(ms.asked);
        return answer;
      };
      lived.whileSaving(() => grows(ms.saved));
      const moved: Decimal[] = [];
      stops.move = async (from, to) => {
        moved.push(to.quantity);
        return (await move?.(from, to)) ?? assert.fail('it amends');
      };
      await lived.pass();
      assert.deepEqual([moved, standing()], [[decimal(7)], [decimal(7)]]);
    });

  async function lessened(moves: Ways['moves']) {
    const lived = life(
      { stop: 'sized', moves, reserves: false, names: 'ours', renames: false },
      wanted(),
      [],
    );
    lived.exchange.trade(decimal(5));
    await lived.pass();
    lived.exchange.trade(decimal(-1));
    return { lived, standing: () => lived.exchange.standing().map(({ quantity }) => quantity) };
  }
});

describe('a position that shrinks bit by bit while its stop is replaced', () => {
  it('has two stops at most, however slow everybody is', async () => {
    const ways = { stop: 'sized', moves: 'replace', reserves: false, names: 'ours', renames: false } as const;
    const lived = life(ways, wanted(), []);
    const { exchange } = lived;
    exchange.trade(decimal(30));
    await lived.pass();
    let most = 0;
    lived.whileSaving(() => {
      lived.later(600);
      if (compare(exchange.held(), decimal(9)) > 0) exchange.trade(decimal(-1));
      most = Math.max(most, exchange.standing().length);
    });
    exchange.trade(decimal(-1));
    for (let passes = 0; passes < 3; passes++) await lived.pass();
    assert.equal(most, 2);
    assert.deepEqual(
      exchange.standing().map(({ quantity }) => quantity),
      [exchange.held()],
    );
  });
});

describe('a position that shrinks once more while two stops stand', () => {
  it('has the larger one taken away before a third one comes', async () => {
    const ways = { stop: 'sized', moves: 'replace', reserves: false, names: 'ours', renames: false } as const;
    const lived = life(ways, wanted(), []);
    const { exchange } = lived;
    const { stops } = exchange.line as { stops: NonNullable<typeof exchange.line.stops> };
    const amounts = () => exchange.standing().map(({ quantity }) => quantity);
    exchange.trade(decimal(30));
    await lived.pass();
    exchange.trade(decimal(-10));
    const { place, standing } = stops;
    // The broker is away right after it took the smaller one: the old one stands beside it.
    const away = () => Promise.reject(new BrokerUnavailable('away'));
    stops.place = (...asked) => {
      stops.standing = away;
      return place(...asked);
    };
    await lived.pass();
    assert.deepEqual(amounts(), [decimal(30), decimal(20)]);
    Object.assign(stops, { place, standing });
    exchange.trade(decimal(-10));
    let most = 0;
    lived.whileSaving(() => {
      most = Math.max(most, exchange.standing().length);
    });
    await lived.pass();
    assert.deepEqual([most, amounts()], [2, [decimal(10)]]);
  });
});

describe('a position of which a close of ours takes a part, and rests', () => {
  for (const ways of WAYS.filter(({ stop }) => stop === 'sized'))
    it(`has a stop of what the broker does not keep for that: ${nameOf(ways)}`, async () => {
      const lived = life(ways, wanted(), []);
      lived.exchange.trade(decimal(5));
      lived.rests(decimal(2));
      await lived.pass();
      assert.deepEqual(
        lived.exchange.standing().map(({ quantity }) => quantity),
        [decimal(ways.reserves ? 3 : 5)],
      );
      lived.rests(ZERO);
      await lived.pass();
      assert.deepEqual(
        lived.exchange.standing().map(({ quantity }) => quantity),
        [decimal(5)],
      );
    });
});

describe('a position that a close of ours takes whole', () => {
  for (const ways of WAYS.filter(({ reserves }) => reserves)) {
    const closed = async (wish: Partial<Protection>, more: (lived: ReturnType<typeof life>) => void) => {
      const lived = life(ways, wanted(wish), []);
      const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
      const { position } = line;
      line.position = async () => decimal(5);
      more(lived);
      await lived.pass();
      return { lived, line, position };
    };
    const sent = ({ exchange }: ReturnType<typeof life>) => [...exchange.standing(), ...exchange.resting()];
    const target = { ...{ price: decimal(120), percent: decimal(100) }, closed: ZERO, isFilled: false };

    it(`gets nothing that could open the other side, while it rests and while what is held is shown late: ${nameOf(ways)}`, async () => {
      for (const wish of [{}, { stop: null, targets: [target] }]) {
        const { lived } = await closed(wish, ({ exchange, rests }) => {
          exchange.trade(decimal(5));
          rests(decimal(5));
        });
        assert.deepEqual(sent(lived), []);
        lived.counts(ZERO);
        lived.rests(ZERO);
        lived.later(100);
        await lived.pass();
        assert.deepEqual(sent(lived), [], 'our fills say that nothing is left');
      }
    });

    it(`has its stop tried, and that alone, where nothing is heard of that close for long: ${nameOf(ways)}`, async () => {
      const { lived } = await closed({ targets: [target] }, ({ exchange, rests }) => {
        exchange.trade(decimal(5));
        rests(decimal(5));
      });
      lived.later(RULES.protectMs - 1);
      await lived.pass(false);
      assert.deepEqual([sent(lived), lived.saved().state], [[], 'armed']);
      lived.later(1);
      await lived.pass(false);
      assert.deepEqual(
        [lived.exchange.resting(), lived.exchange.standing().map(({ quantity }) => quantity)],
        [[], [decimal(5)]],
      );
    });

    it(`is protected again where that close ends and has taken nothing: ${nameOf(ways)}`, async () => {
      const { lived } = await closed({}, ({ exchange, rests }) => {
        exchange.trade(decimal(5));
        rests(decimal(5));
      });
      lived.rests(ZERO);
      lived.later(5_000);
      await lived.pass(false);
      assert.deepEqual(
        lived.exchange.standing().map(({ quantity }) => quantity),
        [decimal(5)],
      );
    });
  }
});

describe('a trailing stop', () => {
  it('is looked at again where more was bought, and for a moment nothing is shown', async () => {
    const trail = { distance: decimal(8), activateAt: null, from: decimal(100), best: decimal(100) };
    const ways = { stop: 'sized', moves: 'set', reserves: false, names: 'ours', renames: false } as const;
    const lived = life(ways, wanted({ trail }), ['well', 'show the position late']);
    lived.exchange.trade(decimal(2));
    await lived.pass();
    lived.exchange.trade(decimal(1));
    lived.later(200);
    await lived.pass();
    await lived.until(() => isAtRest(lived), 3_000);
    assert.deepEqual(
      lived.saved().legs.map(({ quantity }) => quantity),
      [decimal(3)],
    );
  });
});

describe('what a stop has closed', () => {
  it('is all that was held, though the position is still shown: whoever was stopped out stays out', async () => {
    const lived = life(WAYS[0] as Ways, wanted(), []);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    lived.exchange.priced(decimal(85));
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    line.position = async () => decimal(5);
    await lived.pass();
    assert.deepEqual([...lived.recorded.values()], [decimal(5)]);
  });
});

describe('a target that rests, filled in part', () => {
  it('is told before what else is missing counts as traded by somebody else', async () => {
    const ways = WAYS.find(({ reserves }) => !reserves) as Ways;
    const lived = life(ways, wanted({ targets: [target(120, 100)] }), []);
    lived.exchange.trade(decimal(8));
    await lived.pass();
    lived.exchange.byHand.fillPart();
    lived.told.length = 0;
    await lived.pass();
    assert.deepEqual(lived.told, ['closed 1', 'explained']);
  });
});

describe('a stop whose order rests in the market, filled in part', () => {
  it('counts for what it has closed: where that was all, the targets leave, though the order never ends', async () => {
    const lived = life(
      WAYS.find(({ reserves }) => !reserves) as Ways,
      wanted({ targets: [target(120, 50)] }),
      [],
    );
    lived.exchange.trade(decimal(5));
    await lived.pass();
    assert.equal(lived.exchange.resting().length, 1);
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    assert.ok(line.stops);
    const order: BrokerOrderState = {
      ...{ brokerRef: 'o1', status: 'partially_filled', fillQuantity: decimal(5), fillPrice: decimal(89) },
      ...{ fee: null, reason: null },
    };
    line.stops = {
      ...line.stops,
      standing: async () => [],
      find: async () => ({ brokerRef: 's1', status: 'triggered', order, reason: null }),
    };
    line.position = async () => ZERO;
    // Nobody has told of it yet.
    lived.counts(decimal(5));
    await lived.pass();
    assert.deepEqual(lived.exchange.resting(), []);
  });

  it('is waited for once, and then looked at like the rest: the account has other positions', async () => {
    const lived = life(WAYS[0] as Ways, wanted(), []);
    lived.exchange.trade(decimal(5));
    await lived.pass();
    const line = lived.exchange.line as Mutable<typeof lived.exchange.line>;
    assert.ok(line.stops);
    const order: BrokerOrderState = {
      ...{ brokerRef: 'o1', status: 'partially_filled', fillQuantity: decimal(3), fillPrice: decimal(89) },
      ...{ fee: null, reason: null },
    };
    line.stops = {
      ...line.stops,
      standing: async () => [],
      find: async () => ({ brokerRef: 's1', status: 'triggered', order, reason: null }),
    };
    const looks = async () => {
      const before = lived.exchange.calls();
      await lived.pass();
      return lived.exchange.calls() - before;
    };
    assert.ok((await looks()) > 3);
    lived.later(1_000);
    assert.equal(await looks(), 1);
  });
});

type Mutable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };
