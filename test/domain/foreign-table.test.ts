// The table of docs/charting-platform.md, line by line: what the document says of other services' messages is what `check` makes of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { recogniseForeign } from '../../src/domain/signals/foreign-messages.ts';

/** An order of each service, of which a line of the table is a part. */
const AROUND: Readonly<Record<string, (part: string) => string>> = {
  TradersPost: json({ ticker: 'BTCUSDT', action: 'buy', quantity: 1 }),
  '3Commas': json({ bot_uuid: 'u', tv_instrument: 'BTCUSDT', action: 'enter_long' }),
  CrossTrade: (part) => {
    const order = part.startsWith('command=') ? '' : 'command=PLACE;action=BUY;qty=1;';
    const fields = new Map(
      `key=k;account=Sim;instrument=ES1!;${order}${part}`
        .split(';')
        .map((each) => each.split('=') as [string, string]),
    );
    return [...fields].map(([name, value]) => `${name}=${value};`).join('');
  },
  OpenAlgo: json({ apikey: 'k', symbol: 'IDEA', exchange: 'NSE', action: 'BUY', quantity: '1' }),
  Alpaca: json({ symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day' }),
  Pine: json({ action: 'buy', symbol: 'BTCUSDT', quantity: 1 }),
  PineConnector: (part) => `60123456789,buy,EURUSD,${part}`,
};

/** The document says it once, below the table. */
const OF_EVERY_ENTRY = /^"action": where the position is held already, TradersPost does nothing/;

function json(order: object) {
  return (part: string): string => JSON.stringify({ ...order, ...(JSON.parse(`{${part}}`) as object) });
}

interface Line {
  readonly service: string;
  readonly said: string;
  /** null: it is not turned. */
  readonly ours: Readonly<Record<string, unknown>> | null;
  readonly lost: readonly string[];
}

const codesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]*)`/g)].map(([, code = '']) => code);

function linesIn(document: string): Line[] {
  const [, table = ''] = /\| service \|.*\n\|---.*\n((?:\|.*\n)+)/.exec(document) ?? [];
  let service = '';
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [, named = '', said = '', ours = '', lost = ''] = line.split(/ ?\| ?/);
      service = named.trim() || service;
      const [turned] = codesIn(ours);
      return {
        service,
        said: codesIn(said)[0] ?? '',
        ours: turned === undefined ? null : (JSON.parse(`{${turned}}`) as Record<string, unknown>),
        // Behind the colon stands why.
        lost: codesIn(lost.split(':')[0] ?? ''),
      };
    });
}

describe('A line of the table of other services', () => {
  const lines = linesIn(readFileSync('docs/charting-platform.md', 'utf8'));

  test('there are sizes, prices, cancels and account lists of every service that has them', () => {
    const has = (service: string, part: RegExp) =>
      assert.ok(
        lines.some((line) => line.service === service && part.test(line.said)),
        `${service} ${part}`,
      );
    has('TradersPost', /quantityType/);
    has('TradersPost', /limitPrice/);
    has('TradersPost', /stopPrice/);
    has('TradersPost', /cancel/);
    has('3Commas', /quote/);
    has('3Commas', /position_percent/);
    has('CrossTrade', /limit_price/);
    has('CrossTrade', /account=.*,/);
    has('OpenAlgo', /pricetype/);
    has('Alpaca', /notional/);
    assert.deepEqual(
      [...new Set(lines.map(({ service }) => service))].toSorted(),
      Object.keys(AROUND).toSorted(),
    );
  });

  for (const { service, said, ours, lost } of lines)
    test(`${service}: ${said}`, () => {
      const text = (AROUND[service] ?? assert.fail(`what does ${service} write?`))(said);
      const found = recogniseForeign(text);
      assert.equal(found?.service, service, text);
      const names = (found?.lost ?? [])
        .filter((line) => !OF_EVERY_ENTRY.test(line))
        .map((line) => /^"([^"]+)"/.exec(line)?.[1] ?? line);
      assert.deepEqual([...new Set(names)].toSorted(), lost.toSorted(), JSON.stringify(found?.lost));
      if (ours === null) return assert.deepEqual(found?.fields, {});
      const fields = found?.fields ?? {};
      assert.deepEqual(
        Object.fromEntries(Object.keys(ours).map((name) => [name, fields[name]])),
        ours,
        JSON.stringify(fields),
      );
      // What is not in the line is not traded either.
      const asked = [
        'limit_price',
        'stop_price',
        'quantity_type',
        'stop_loss',
        'take_profit',
        'trailing_stop',
      ];
      for (const name of asked)
        assert.equal(name in fields, name in ours, `${name}: ${JSON.stringify(fields)}`);
    });
});
