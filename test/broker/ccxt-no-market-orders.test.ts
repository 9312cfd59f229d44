// What ccxt really sends for stops, at each of its exchanges: its own words for them would be orders at the market at two of them.
// Whatever is asked of Stops, nothing goes out but questions and what sets, moves or removes a stop.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { PROFILES } from '../../src/broker/ccxt/profiles.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { Answer, Asked, ExchangeName, Script } from './ccxt-script.ts';
import { type StopDesk, stopDesk } from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

/** How their paths end. */
const STOPS: Readonly<Record<ExchangeName, RegExp>> = {
  binance: /\/fapi\/v1\/algoOrder$/,
  bybit: /\/v5\/position\/trading-stop$/,
  okx: /\/api\/v5\/trade\/(?:order-algo|amend-algos|cancel-algos)$/,
  gate: /\/api\/v4\/futures\/usdt\/price_orders(?:\/\d+)?$/,
  bitget:
    /\/api\/(?:v2\/mix\/order\/(?:place-pos-tpsl|cancel-plan-order)|v3\/trade\/(?:place|modify|cancel)-strategy-order)$/,
};

/** What keeps a call from ending with its first question: a long position, with a stop that may be ours. */
const HELD: Readonly<Partial<Record<ExchangeName, unknown>>> = {
  bybit: {
    retCode: 0,
    result: { list: [{ symbol: 'BTCUSDT', side: 'Buy', size: '0.01', positionIdx: 0, stopLoss: '64000.5' }] },
  },
  gate: [
    {
      id: 7,
      status: 'open',
      order_type: 'close-long-position',
      create_time: Math.floor(Date.now() / 1000) + 600,
      initial: { contract: 'BTC_USDT', size: 0, text: 'api' },
      trigger: { strategy_type: 0, rule: 2, price: '64000.5' },
    },
  ],
  okx: { code: '0', data: [] },
  bitget: {
    code: '00000',
    data: {
      entrustedList: [
        {
          planType: 'pos_loss',
          symbol: 'BTCUSDT',
          orderId: '7',
          triggerPrice: '64000.5',
          planStatus: 'live',
          side: 'sell',
        },
      ],
    },
  },
};

/** The exchanges, and of Bitget both kinds of accounts. */
const VENUES: readonly (readonly [title: string, name: ExchangeName, script: Script])[] = [
  ...(Object.keys(PROFILES) as ExchangeName[]).map((name) => [name, name, {}] as const),
  ['bitget, unified', 'bitget', { isUnified: true }],
];

const REFUSED: Readonly<Record<ExchangeName, unknown>> = {
  binance: { code: -4045, msg: 'Reach max stop order limit.' },
  bybit: { retCode: 110061, retMsg: 'TP/SL set more than 20', result: {} },
  okx: { code: '1', data: [{ sCode: '51088', sMsg: 'You can only place 1 TP/SL order' }] },
  gate: { label: 'TOO_MANY_ORDERS', message: 'too many' },
  bitget: { code: '25594', msg: 'there is one' },
};

const CALLS: Readonly<Record<string, (desk: StopDesk) => Promise<unknown>>> = {
  'a long position’s stop': ({ stops, stop }) => stops.place(stop(), NO_HURRY),
  'a short position’s stop, by the mark price': ({ stops, stop }) =>
    stops.place(stop({ side: 'buy', price: decimal('70000.5'), triggerBy: 'mark' }), NO_HURRY),
  'a move': async ({ stops, sent, stop }) =>
    stops.move?.(sent({ brokerRef: '7' }), stop({ price: decimal('65000') }), NO_HURRY),
  'a removal': ({ stops, sent }) => stops.remove(sent({ brokerRef: '7' }), NO_HURRY),
  'a removal without an id': ({ stops, sent }) => stops.remove(sent(), NO_HURRY),
  'a look at what stands': ({ stops, stop }) => stops.standing(stop().instrument, NO_HURRY),
  'a look for one': ({ stops, sent }) => stops.find(sent({ brokerRef: '7' }), NO_HURRY),
};

for (const [venue, name, script] of VENUES)
  describe(`what goes out to ${venue} for stops`, () => {
    const held = HELD[name];
    const read: readonly Answer[] = held === undefined ? [] : [{ body: held }];
    const refused: Answer = { status: name === 'bybit' || name === 'okx' ? 200 : 400, body: REFUSED[name] };

    /** Not answered at all, refused, and answered and then refused: whatever is tried then. */
    async function sentFor(call: (desk: StopDesk) => Promise<unknown>): Promise<readonly Asked[]> {
      const sent: Asked[] = [];
      for (const answers of [[], [refused, refused], [...read, refused, refused]]) {
        const desk = await stopDesk(name, answers, script);
        await call(desk).catch((fault: unknown) =>
          assert.ok(fault instanceof BrokerUnavailable, String(fault)),
        );
        sent.push(...desk.asked.filter(({ method }) => method !== 'GET'));
      }
      return sent;
    }

    for (const [title, call] of Object.entries(CALLS))
      test(`${title} is no order at the market`, async () => {
        for (const { url, body } of await sentFor(call)) {
          assert.match(url.pathname, STOPS[name]);
          assert.doesNotMatch(body, /\b(?:type|orderType|ordType)"?[:=]"?market/i);
        }
      });

    test('and with each stop that is set, where it triggers', async () => {
      const sent = await sentFor(({ stops, stop }) => stops.place(stop(), NO_HURRY));
      assert.ok(sent.length > 0);
      for (const { body } of sent) assert.match(body, /64000\.5/);
    });
  });
