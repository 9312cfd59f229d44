// Random lives of resting entries: fills, parts, replacements, cancels, expiry, exits, halts, lost answers, a broker that is away, deaths
// between any two calls or commits. Whatever comes, nothing rests at the exchange that we do not know of, what has ended for us has ended
// there, and in the end what our record says was filled is what was. `RUNS=200 node --test …` lives longer; `SEED=` lives another way.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LUCK, type Luck, type Ways } from './resting-exchange.ts';
import { type Death, type RestingLife, restingLife } from './resting-life.ts';

const WAYS: readonly Ways[] = [
  { reduceOnly: true, findsByClientIdMs: Number.POSITIVE_INFINITY },
  { reduceOnly: false, findsByClientIdMs: Number.POSITIVE_INFINITY },
];

type Event =
  | {
      readonly kind: 'entry';
      readonly isOther: boolean;
      readonly id: string | undefined;
      readonly prices: 'limit' | 'stop' | 'both';
      readonly quantity: number;
      readonly tif: string | undefined;
      readonly lasts: number | undefined;
    }
  | { readonly kind: 'cancel'; readonly id: string | undefined; readonly isAll: boolean }
  | { readonly kind: 'take back' | 'look'; readonly nth: number }
  | { readonly kind: 'market'; readonly isOther: boolean; readonly quantity: number }
  | { readonly kind: 'close' | 'repeat' | 'crash' | 'away' | 'back' | 'resume' }
  | { readonly kind: 'halt'; readonly flatten: boolean }
  | { readonly kind: 'happens'; readonly what: 'fill' | 'part' | 'end'; readonly nth: number }
  | { readonly kind: 'leap'; readonly ms: number };

interface Happening {
  readonly event: Event;
  readonly thenMs: number;
}

const someId = fc.constantFrom('A', 'B', undefined);
const nth = fc.nat({ max: 5 });
const someEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('entry' as const),
      isOther: fc.constantFrom(false, false, false, true),
      id: someId,
      prices: fc.constantFrom('limit' as const, 'limit' as const, 'stop' as const, 'both' as const),
      quantity: fc.integer({ min: 1, max: 4 }),
      tif: fc.constantFrom(undefined, undefined, 'gtc', 'ioc', 'fok'),
      lasts: fc.constantFrom(undefined, 10, 30, 120),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('cancel' as const), id: someId, isAll: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('take back' as const, 'look' as const), nth }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('market' as const),
      isOther: fc.boolean(),
      quantity: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Event>(
      ...(['close', 'close', 'repeat', 'crash', 'away', 'back', 'resume'] as const).map((kind) => ({ kind })),
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('halt' as const), flatten: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('happens' as const),
      what: fc.constantFrom('fill' as const, 'part' as const, 'part' as const, 'end' as const),
      nth,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('leap' as const), ms: fc.constantFrom(31_000, 600_000) }),
  },
);
const someHappening: fc.Arbitrary<Happening> = fc.record({
  event: someEvent,
  thenMs: fc.constantFrom(0, 3, 20, 400, 400, 2_000, 7_000),
});
const someLuck: fc.Arbitrary<readonly Luck[]> = fc.array(
  fc.oneof({ weight: 8, arbitrary: fc.constant<Luck>('well') }, fc.constantFrom(...LUCK)),
  { maxLength: 200, size: 'max' },
);
const someDeaths: fc.Arbitrary<readonly Death[]> = fc.array(
  fc.record({
    steps: fc.integer({ min: 1, max: 80 }),
    moment: fc.constantFrom('before' as const, 'after' as const),
  }),
  { maxLength: 2, size: 'max' },
);

/** Buying is at home here; the other side is what a reversal is. */
function entryOf({ isOther, id, prices, quantity, tif, lasts }: Event & { kind: 'entry' }) {
  const action = isOther ? 'sell' : 'buy';
  const [below, above] = isOther ? [110, 90] : [90, 110];
  return {
    ...{ action, quantity, id, time_in_force: prices === 'limit' ? tif : undefined, expires_in: lasts },
    ...(prices !== 'stop' && { limit_price: prices === 'limit' ? below : isOther ? above - 1 : above + 1 }),
    ...(prices !== 'limit' && { stop_price: above }),
  };
}

async function happen(lived: RestingLife, event: Event): Promise<void> {
  const { world, trader, exchange, asks, signal } = lived;
  const account = `/trading/accounts/${trader.account.id}`;
  const some = async (index: number) => {
    const ids = (await lived.legs()).filter(({ priced }) => priced !== null).map(({ order_id: id }) => id);
    return ids[ids.length - 1 - (index % Math.max(1, ids.length))];
  };
  switch (event.kind) {
    case 'entry':
      return signal(entryOf(event));
    case 'cancel':
      return signal({
        ...{
          action: 'cancel',
          quantity: undefined,
          symbol: event.isAll ? '*' : 'BTCUSDT',
          cancel_id: event.id,
        },
      });
    case 'market':
      return signal({ action: event.isOther ? 'sell' : 'buy', quantity: event.quantity });
    case 'close':
      return signal({ action: 'close', quantity: undefined });
    case 'repeat':
      return lived.repeat();
    case 'take back':
    case 'look': {
      const id = await some(event.nth);
      const what = event.kind === 'look' ? 'look' : 'cancel';
      if (id) asks(() => world.as(trader, 'POST', `/trading/orders/${id}/${what}`));
      return;
    }
    case 'halt':
      return asks(() => world.as(trader, 'POST', `${account}/halt`, { flatten: event.flatten }));
    case 'resume':
      return asks(() => world.as(trader, 'POST', `${account}/resume`));
    case 'crash':
      return lived.crash();
    case 'away':
    case 'back':
      return exchange.away(event.kind === 'away');
    case 'happens':
      return exchange.happens(event.what, event.nth);
    case 'leap':
      return lived.leaps(event.ms);
  }
}
/** Whatever rests at the end is ended in one of the ways there are. */
const ENDS = ['cancel', 'close', 'halt', 'flatten', 'expiry'] as const;

async function endWith(lived: RestingLife, end: (typeof ENDS)[number]): Promise<void> {
  const { world, trader, asks, signal } = lived;
  const account = `/trading/accounts/${trader.account.id}`;
  if (end === 'cancel') signal({ action: 'cancel', symbol: '*', quantity: undefined });
  if (end === 'close') signal({ action: 'close', quantity: undefined });
  if (end === 'halt' || end === 'flatten')
    asks(() => world.as(trader, 'POST', `${account}/halt`, { flatten: end === 'flatten' }));
  if (end === 'expiry') await lived.leaps(25 * 3_600_000);
  await lived.isOver();
  if (end === 'close' || end === 'flatten') assert.equal(lived.exchange.held(), '0');
}

describe('a random life of resting entries', () => {
  for (const ways of WAYS)
    test(`ends with nothing at the exchange that we do not know of${ways.reduceOnly ? '' : ', where a close is not clamped'}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(someHappening, { minLength: 3, maxLength: 16, size: 'max' }),
          someLuck,
          someDeaths,
          fc.constantFrom(...ENDS),
          async (happenings, luck, deaths, end) => {
            const closers: (() => unknown)[] = [];
            try {
              const lived = await restingLife(
                { after: (close) => void closers.push(close as () => unknown) },
                { ways, luck, deaths },
              );
              for (const { event, thenMs } of happenings) {
                await happen(lived, event);
                await lived.passes(thenMs);
              }
              await lived.comesToRest();
              await endWith(lived, end);
              await lived.end();
            } finally {
              for (const close of closers.reverse()) await close();
            }
          },
        ),
        {
          numRuns: Number(process.env.RUNS ?? 10),
          seed: Number(process.env.SEED ?? 25),
          ...(process.env.REPLAY && { path: process.env.REPLAY }),
          endOnFailure: process.env.SHRINK === undefined,
        },
      );
    });
});
