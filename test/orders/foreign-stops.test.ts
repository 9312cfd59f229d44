// A message with a stop that was written for another service: `check` turns it into ours, what it turns works, and the webhook
// itself takes none of them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { openWorld, type Problem } from '../world.ts';

interface Checked {
  readonly service: string | null;
  readonly corrected: string | null;
  readonly lost: readonly string[];
  readonly plan: { readonly protection: readonly { leg: string; price: number }[] | null } | null;
}

interface Row {
  readonly service: string;
  readonly message: string;
  /** Held before, by an order of its own. */
  readonly held?: number;
  /** What it becomes, beside the symbol, the time and the secret; null: nothing. */
  readonly ours: Readonly<Record<string, unknown>> | null;
  /** The names of the fields that get lost. */
  readonly lost: readonly string[];
  /** Where the stop would be, from a market of 60,000. */
  readonly stop: number | null;
  /** What the webhook says of the message as it stands. */
  readonly refused: RegExp;
}

const OPENALGO = {
  ...{ apikey: 'k', strategy: 's', exchange: 'X', symbol: 'BTCUSDT', action: 'SELL', quantity: '1' },
  ...{ product: 'MIS', pricetype: 'SL-M', price: '0', trigger_price: '58800' },
};
const BOT = {
  ...{ secret: 'x', bot_uuid: 'u', tv_exchange: 'BINANCE', tv_instrument: 'BTCUSDT', action: 'enter_long' },
  order: { amount: '1', currency_type: 'base' },
  stop_loss: { enabled: true, order_type: 'market', trigger_price_percent: 2 },
  take_profit: { enabled: true, steps: [{ order_type: 'limit', price_percent: 3, volume_percent: 100 }] },
};

const ROWS: readonly Row[] = [
  {
    service: 'TradersPost',
    message: JSON.stringify({
      ...{ ticker: 'BTCUSDT', action: 'buy', quantity: 1 },
      ...{ stopLoss: { type: 'stop', percent: 2 }, takeProfit: { limitPrice: 62_000 } },
    }),
    ours: { action: 'buy', quantity: 1, stop_loss: '2%', take_profit: 62_000 },
    lost: ['action'],
    stop: 58_800,
    refused: /"stopLoss" is not understood here\. Send "stop_loss": /,
  },
  {
    service: '3Commas',
    message: JSON.stringify(BOT),
    ours: { action: 'long_entry', quantity: 1, stop_loss: '2%', take_profit: '3%' },
    lost: [],
    stop: 58_800,
    refused: /"action" must be one of /,
  },
  {
    service: 'CrossTrade',
    message:
      'key=k;command=PLACE;account=sim101;instrument=BTCUSDT;action=BUY;qty=1;order_type=MARKET;tif=DAY;' +
      'take_profit=3%;stop_loss=-2%;',
    ours: { action: 'buy', quantity: 1, stop_loss: '2%', take_profit: '3%' },
    lost: [],
    stop: 58_800,
    refused: /not valid JSON/,
  },
  {
    service: 'PineConnector',
    message: '60123456789,buy,BTCUSDT,risk=1,sl=50,tp=100',
    ours: null,
    lost: ['risk', 'sl', 'tp'],
    stop: null,
    refused: /not valid JSON/,
  },
  {
    service: 'OpenAlgo',
    message: JSON.stringify(OPENALGO),
    held: 1,
    ours: { action: 'protect', stop_loss: 58_800 },
    lost: ['pricetype'],
    stop: 58_800,
    refused: /"pricetype" is not understood here\. /,
  },
];

describe('A message with a stop that was written for another service', () => {
  for (const { service, message, held, ours, lost, stop, refused } of ROWS)
    test(service, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
      if (held !== undefined) await world.send(trader, { quantity: held });
      const path = `/trading/accounts/${trader.account.id}/check`;
      const { body: checked } = await world.as<Checked>(trader, 'POST', path, { message });
      assert.equal(checked.service, service);
      const names = checked.lost.map((line) => /^"([^"]+)": \S/.exec(line)?.[1] ?? line);
      assert.deepEqual(names.toSorted(), lost.toSorted());

      const asItStands = await world.webhook<Problem>(trader, message);
      assert.equal(asItStands.body.code, 'webhook_payload_invalid');
      assert.match(asItStands.body.detail, refused);

      if (ours === null) {
        assert.equal(checked.plan, null);
        assert.match(checked.lost.join('\n'), /"sl": .* Send "stop_loss"/);
        return;
      }
      const { symbol, timestamp, secret, ...fields } = JSON.parse(checked.corrected ?? '');
      assert.deepEqual([symbol, timestamp, secret], ['BTCUSDT', '{{timenow}}', '<your webhook secret>']);
      assert.deepEqual(fields, ours);
      const planned = checked.plan?.protection?.find(({ leg }) => leg === 'stop');
      // A distance counts from a price that is a spread away.
      const isThere = (price: number | null | undefined) =>
        Math.abs((price ?? Number.NaN) - (stop ?? 0)) < 60;
      assert.ok(isThere(planned?.price), JSON.stringify(checked.plan));

      // As the platform would send it.
      const body = { ...ours, symbol, timestamp: new Date().toISOString(), secret: trader.secret };
      const { body: order } = await world.webhook(trader, body);
      const { items } = (await world.as<{ items: ShownProtection[] }>(trader, 'GET', '/trading/protections'))
        .body;
      assert.ok(['filled', 'done'].includes(order.status), JSON.stringify(order));
      assert.equal(items.length, 1);
      assert.ok(isThere(items[0]?.stop_loss), JSON.stringify(items));
    });
});
