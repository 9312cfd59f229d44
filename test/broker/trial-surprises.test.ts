// Twelve things that are otherwise than they are assumed to be, planted at every broker's stub: each is named, and the account is flat
// at the end. Where a broker has no such thing, the table says why.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownFields } from '../../src/broker/transcript/known.ts';
import { callOf } from '../../src/broker/unreadable.ts';
import type { Fetch } from '../../src/broker/wire.ts';
import type { Verdict } from '../../src/domain/trial/row.ts';
import { type Planted, STUBS, type Stub, type StubName, tryStub } from './trial-desk.ts';

interface PlantedSurprise {
  readonly plant: Planted | ((broker: StubName) => Planted);
  /** Any of its rows. */
  readonly steps: readonly string[];
  readonly words: RegExp;
  readonly verdict: Verdict | Partial<Record<StubName, Verdict>>;
  /** Where there is no such thing, and why. */
  readonly not?: Partial<Record<StubName, string>>;
}

/** What it says, changed on its way. */
const saying =
  (change: (text: string, call: string) => string): NonNullable<Planted['between']> =>
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const text = await response.text();
    const said = change(text, callOf(init.method ?? 'GET', url));
    return new Response(said || null, {
      status,
      headers: new Headers([...headers].filter(([name]) => name !== 'content-length')),
    });
  };

const NO_IDS = 'it takes no ids of ours';
const NOT_CLAMPED = 'it knows no reduce-only: exactly what is held is sold';
const ONE_SIDE = 'it has no hedged accounts';

/** Of the order that was bought, by the question that finds it. */
const LOOK_UPS: Readonly<Record<StubName, readonly (readonly [call: RegExp, field: string])[]>> = {
  binance: [[/GET \/fapi\/v1\/order$/, 'executedQty']],
  bybit: [[/GET \/v5\/order\/realtime/, 'cumExecQty']],
  okx: [[/GET \/api\/v5\/trade\/order$/, 'accFillSz']],
  gate: [[/GET \/api\/v4\/futures\/usdt\/orders\/…/, 'left']],
  bitget: [
    [/GET \/api\/v2\/mix\/order\/detail/, 'baseVolume'],
    [/GET \/api\/v3\/trade\/order-info/, 'cumExecQty'],
  ],
  alpaca: [[/GET \/v2\/orders/, 'filled_qty']],
  shioaji: [[/position_unit/, 'quantity']],
};

/** A tenth of the step that is taken, wherever a list of markets says it. */
const TENTH: readonly (readonly [RegExp, string])[] = [
  [
    /"(stepSize|minQty|qtyStep|minOrderQty|sizeMultiplier|minTradeNum|quantityMultiplier)":"0\.001"/g,
    '"$1":"0.0001"',
  ],
  [
    /"(stepSize|minQty|qtyStep|minOrderQty|sizeMultiplier|minTradeNum|quantityMultiplier)":"0\.0001"(?=,)/g,
    '"$1":"0.0001"',
  ],
  [/"(lotSz|minSz)":"([\d.]+)"/g, '"$1":"0.001"'],
  [/"quantityPrecision":3/g, '"quantityPrecision":4'],
];

const SURPRISES: Readonly<Record<string, PlantedSurprise>> = {
  'positions lag by 10 s': {
    plant: { faults: [{ kind: 'lag', ms: 10_000 }] },
    steps: ['position follows'],
    words: /not within 3\.0 s/,
    verdict: 'surprise',
  },
  'an id is forgotten at once': {
    plant: {
      between: saying((text, call) =>
        call.startsWith('GET ') ? text.replace(/\bb[0-9a-z]{23}\b/g, 'another') : text,
      ),
    },
    steps: ['limit listed', 'same id again', 'cancel', 'found by id'],
    words: /not found any more|not within|another order|does not show|[Nn]o |not as agreed/,
    verdict: 'surprise',
    not: { shioaji: NO_IDS },
  },
  'reduce-only is ignored': {
    plant: { terms: { reduce_only: false } },
    steps: ['close'],
    words: /reduce-only was ignored/,
    verdict: 'surprise',
    not: { alpaca: NOT_CLAMPED, shioaji: NOT_CLAMPED },
  },
  'the account is hedged': {
    plant: { terms: { position_mode: 'hedged' } },
    steps: ['key'],
    words: /one-way/,
    verdict: 'surprise',
    not: { alpaca: ONE_SIDE, shioaji: ONE_SIDE },
  },
  'the step is another one than is listed': {
    plant: { between: saying((text) => TENTH.reduce((said, [from, to]) => said.replace(from, to), text)) },
    steps: ['limit', 'buy'],
    words: /refused \(invalid_quantity\)/,
    verdict: 'surprise',
    not: {
      gate: 'whole contracts are its step, whatever it lists',
      alpaca: 'whole shares are traded',
      shioaji: 'whole contracts are traded',
    },
  },
  'our clock is 30 s off': {
    plant: (broker) =>
      broker === 'shioaji'
        ? {
            between: (fetch) => async (url, init) => {
              const response = await fetch(url, init);
              const headers = new Headers(response.headers);
              headers.set('date', new Date(Date.now() + 30_000).toUTCString());
              return new Response(await response.text(), { status: response.status, headers });
            },
          }
        : { aheadMs: 30_000 },
    steps: ['clock'],
    words: /ours is (29|30)\.\d s behind/,
    verdict: 'surprise',
  },
  'the key may only read': {
    plant: { terms: { permissions: ['read'] } },
    steps: ['key', 'limit', 'buy'],
    words: /./,
    verdict: 'surprise',
  },
  'the fee is in another currency': {
    plant: {
      between: saying((text) =>
        text.replace(/"(feeCcy|feeCoin|feeCurrency|commissionAsset)":"USDT"/g, '"$1":"BNB"'),
      ),
    },
    steps: ['fee'],
    words: /charged in BNB/,
    verdict: 'noted',
    not: {
      binance: 'its orders do not tell of fees',
      bybit: 'its orders do not tell of the currency',
      gate: 'its orders do not tell of the currency',
      alpaca: 'it has none',
      shioaji: 'it does not tell of fees',
    },
  },
  'a second order is taken under the same id': {
    plant: { terms: { refuses_duplicates: false } },
    steps: ['same id again'],
    words: /taken, as a second order/,
    verdict: { alpaca: 'surprise' },
    not: { shioaji: NO_IDS },
  },
  'the stream is silent': {
    plant: { isSilent: true },
    steps: ['stream tells'],
    words: /did not tell of the order/,
    verdict: 'surprise',
    not: { shioaji: 'it has no stream' },
  },
  'a reply has a new field': {
    plant: { between: saying((text) => text.replace(/^\[?\{(?=")/, (begin) => `${begin}"brand_new":1,`)) },
    steps: ['fields'],
    words: /new: .*brand_new/,
    verdict: 'noted',
  },
  'a reply lacks a field': {
    plant: (broker) => ({
      between: saying((text, call) =>
        LOOK_UPS[broker].reduce(
          (said, [of, field]) => (of.test(call) ? said.replaceAll(`"${field}":`, '"another":') : said),
          text,
        ),
      ),
    }),
    steps: ['fields'],
    words: /missing: /,
    verdict: 'noted',
  },
};

/** With STUBS_TRIED=binance,bybit only those. */
const only = process.env.STUBS_TRIED?.split(',');

for (const [name, stub] of Object.entries<Stub>(STUBS)) {
  const { broker } = stub;
  if (only && !only.includes(broker)) continue;
  // Each has an exchange of its own, and mostly waits.
  describe(`surprises at ${name}`, { concurrency: 4 }, () => {
    for (const [what, { plant, steps, words, verdict, not }] of Object.entries(SURPRISES)) {
      if (not?.[broker] !== undefined) continue;
      // A classic account's orders tell of the fee, and not of its currency.
      if (name === 'bitget, classic' && what.startsWith('the fee')) continue;
      test(`${what}: it is named, and the account is flat at the end`, async () => {
        const planted = typeof plant === 'function' ? plant(broker) : plant;
        const { outcome, left } = await tryStub(stub, knownFields(broker), planted);
        const said = JSON.stringify(outcome, null, 1);
        const wanted = typeof verdict === 'string' ? verdict : (verdict[broker] ?? 'noted');
        const row = outcome.rows.find(({ step, verdict: is }) => steps.includes(step) && is === wanted);
        assert.match(row?.seen ?? 'no such row', words, said);
        if (wanted === 'surprise') assert.equal(outcome.ended, 'surprised', said);
        assert.deepEqual(left, [], said);
        assert.notEqual(outcome.home?.isFlat, false, said);
      });
    }
  });
}

test('one that is interrupted after the buy sells what it bought', async () => {
  const { outcome, left } = await tryStub({ broker: 'binance' }, knownFields('binance'), {
    interrupt: 'after the buy',
  });
  assert.equal(outcome.ended, 'interrupted', JSON.stringify(outcome));
  assert.match(outcome.home?.words ?? '', /0\.001 BTCUSDT\.P was sold at the market/);
  assert.deepEqual(left, []);
});
