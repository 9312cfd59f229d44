// The rules of the check page: a message in lines, what is said of each, and the sentence on top.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recogniseForeign, renderMessage } from '../../src/domain/signals/foreign-messages.ts';
import { fieldsOf, isSecretField, linesOf } from '../../web/pages/check/lines.ts';
import {
  aboutField,
  type Checked,
  changesTo,
  lostElsewhere,
  remarksOn,
} from '../../web/pages/check/remarks.ts';
import { EXAMPLES, verdictOn } from '../../web/pages/check/words.ts';

const NOTHING: Checked = {
  checks: [],
  understood: null,
  ignored: [],
  plan: null,
  members: null,
  corrected: null,
  service: null,
  lost: [],
  examples: [],
};
const refused = (check: Checked['checks'][number]['check'], detail: string) =>
  ({ check, outcome: 'refused', detail }) as const;
const shown = (message: string) =>
  linesOf(message).map(({ before, key, between, value, after }) => before + key + between + value + after);

test('a JSON text is split into its top-level fields, as they were written', () => {
  assert.deepEqual(shown('{"a":1,"b": { "c": [1, "}"] }, "d":"x, \\"y\\"" }'), [
    '{ "a": 1,',
    '  "b": { "c": [1, "}"] },',
    '  "d": "x, \\"y\\"" }',
  ]);
  assert.deepEqual(shown('{\n  "a": {\n    "b": 1\n  }\n}'), ['{ "a": { "b": 1 } }']);
  assert.deepEqual(shown('{}'), ['{ }']);
});

test('placeholders without quotes are values like others', () => {
  assert.deepEqual(fieldsOf('{ "quantity": {{strategy.order.contracts}}, "id": "{{strategy.order.id}}" }'), [
    { name: 'quantity', value: '{{strategy.order.contracts}}' },
    { name: 'id', value: '"{{strategy.order.id}}"' },
  ]);
});

test('a text that is no JSON is split into its pairs, its pieces or its lines', () => {
  assert.deepEqual(shown('key=abc;command=PLACE;\nqty = 1'), ['key=abc;', 'command=PLACE;', 'qty = 1']);
  assert.deepEqual(
    linesOf('key=abc;command=PLACE;').map(({ name }) => name),
    ['key', 'command'],
  );
  assert.deepEqual(shown('60123,buy,EURUSD,risk=1'), ['60123,', 'buy,', 'EURUSD,', 'risk=1']);
  assert.deepEqual(shown('buy some\nbitcoin'), ['buy some', 'bitcoin']);
  for (const broken of [
    '{ "a": 1',
    '{ "a" 1 }',
    '{ a: 1 }',
    '{ "a": 1 } x',
    '{ "a": }',
    '{ "a": "x }',
    '[1]',
  ])
    assert.equal(fieldsOf(broken), null, broken);
  assert.deepEqual(linesOf('  '), []);
  assert.equal(linesOf('a\n'.repeat(5000)).length, 60);
});

test('every example is split without losing a word of it', () => {
  const letters = (text: string) => text.replaceAll(/\s+/g, '');
  for (const { message } of EXAMPLES) assert.equal(letters(shown(message).join('')), letters(message));
});

test('of a message of ours each line says what was understood, ignored or refused', () => {
  const message =
    '{"action":"buy","symbol":"BTCUSDT.P","quantity":"0.1","price":96371.5,"chart":"4h","secret":"x"}';
  const understood = { action: 'buy', symbol: 'BTCUSDT.P', quantity: 0.1, target: null };
  const remarks = remarksOn(linesOf(message), {
    ...NOTHING,
    understood,
    ignored: ['chart'],
    checks: [refused('secret', 'The secret is wrong.')],
  });
  assert.deepEqual(
    remarks.map(({ tone, words }) => [tone, words]),
    [
      ['ok', 'buy'],
      ['ok', 'BTCUSDT.P'],
      ['ok', '0.1, a number in quotes is fine'],
      ['ok', 'for slippage and one guard'],
      ['ignored', 'ignored'],
      ['no', 'The secret is wrong.'],
    ],
  );
});

test('of what protects the position each line says what it is for', () => {
  const lines = linesOf(
    '{"stop_loss": "2%", "take_profit": "4%", "trailing_stop": "1%", "break_even": "tp1", "time_stop": 3600}',
  );
  const remarks = remarksOn(lines, { ...NOTHING, understood: { action: 'buy' } });
  assert.deepEqual(
    remarks.map(({ tone, words }) => [tone, words !== '']),
    lines.map(() => ['ok', true]),
  );
});

test('the field that the payload is refused for is the line that says so', () => {
  const message = '{"action":"buy","stopLoss":1,"takeProfit":2,"secret":"x"}';
  const remarks = remarksOn(linesOf(message), {
    ...NOTHING,
    checks: [refused('payload', '"stopLoss" is not understood here. Leave the field out.')],
    corrected: '{ "action": "buy", "timestamp": "{{timenow}}", "secret": "<your webhook secret>" }',
  });
  assert.deepEqual(
    remarks.map(({ tone, strong, words }) => [tone, strong, words]),
    [
      ['none', undefined, ''],
      ['no', 'refused', 'Leave the field out.'],
      ['no', undefined, 'left out of the message that works'],
      ['none', undefined, ''],
    ],
  );
});

/** As the service answers it, by its own reader of other services' messages. */
function foreign(message: string): Checked {
  const reading = recogniseForeign(message);
  assert.ok(reading);
  const corrected = renderMessage(reading.fields);
  return {
    ...NOTHING,
    service: reading.service,
    lost: [...reading.lost],
    corrected,
    understood: corrected === null ? null : {},
  };
}

test('of another service’s message each line says under which name to send it, or that it is lost', () => {
  const message = EXAMPLES.find(({ title }) => title === 'TradersPost')?.message ?? '';
  const checked = foreign(message);
  const lines = linesOf(message);
  const said = Object.fromEntries(
    remarksOn(lines, checked).map((remark, place) => [lines[place]?.name, remark]),
  );
  assert.deepEqual(said.ticker, { tone: 'no', words: 'send it as', code: 'symbol' });
  assert.deepEqual(said.sentiment, { tone: 'no', words: 'send it as', code: 'market_position' });
  assert.deepEqual(said.time, { tone: 'no', words: 'send it as', code: 'timestamp' });
  assert.deepEqual(said.quantity, { tone: 'ok', words: '0.1, a number in quotes is fine' });
  assert.deepEqual(said.stopLoss, { tone: 'no', words: 'send it as', code: 'stop_loss' });
  assert.deepEqual(said.extras, { tone: 'ignored', words: 'left out' });

  const { changed, left } = changesTo(lines, checked.corrected ?? '');
  assert.deepEqual([...changed].sort(), ['market_position', 'secret', 'stop_loss', 'symbol', 'timestamp']);
  assert.deepEqual(lostElsewhere(lines, { ...checked, lost: [...checked.lost, '"inner": it is lost.'] }), [
    '"inner": it is lost.',
  ]);
  assert.match(verdictOn(checked).rest, /the same in our format, with 2 differences$/);
  assert.deepEqual(left, ['ticker', 'sentiment', 'time', 'stopLoss', 'extras']);
});

test('what stands within a field of another service’s message is found again', () => {
  const message = EXAMPLES.find(({ title }) => title === '3Commas')?.message ?? '';
  const lines = linesOf(message);
  const remarks = remarksOn(lines, foreign(message));
  const said = (name: string) => remarks[lines.findIndex((line) => line.name === name)];
  assert.deepEqual(said('order'), { tone: 'no', words: 'send it as', code: 'quantity' });
  assert.deepEqual(said('action'), { tone: 'no', words: 'becomes', code: 'long_entry' });
  assert.deepEqual(said('timestamp'), { tone: 'ok', words: 'filled in by the platform' });
  assert.deepEqual(said('secret'), { tone: 'no', words: 'your webhook secret takes its place' });
  assert.deepEqual(said('bot_uuid'), { tone: 'ignored', words: 'left out' });
});

test('each example of another service is recognised as that service’s', () => {
  for (const { title, message } of EXAMPLES.slice(2))
    assert.equal(recogniseForeign(message)?.service, title, title);
});

test('a sentence about a field says which, and what', () => {
  assert.deepEqual(aboutField('"qty": how much is not said.'), {
    name: 'qty',
    words: 'how much is not said.',
  });
  assert.deepEqual(aboutField('"action" is missing: one of buy.'), {
    name: 'action',
    words: 'is missing: one of buy.',
  });
  assert.equal(aboutField('The body must be a JSON object.'), null);
});

test('the sentence on top says what would become of the message, and why', () => {
  const verdict = (checked: Partial<Checked>) => {
    const { matters, rest } = verdictOn({ ...NOTHING, ...checked });
    return `${matters} ${rest}`;
  };
  assert.equal(
    verdict({ checks: [refused('payload', 'The body must be a JSON object. Send one.')] }),
    'This message would be refused: the body must be a JSON object',
  );
  assert.equal(
    verdict({ checks: [refused('payload', '"sl" is not understood here. Leave the field out.')] }),
    'This message would be refused: sl is not understood here',
  );
  const leg = { leg: 'entry', side: 'buy', quantity: 1 } as const;
  const plan = { legs: [leg], text: '', protection: [], sizing: null, rests: null, guards: [], error: null };
  assert.equal(verdict({ understood: {}, plan }), 'This message would trade: one order at market');
  assert.match(
    verdict({ understood: {}, plan: { ...plan, legs: [leg, leg] } }),
    /2 orders, one after the other/,
  );
  assert.match(verdict({ understood: {}, plan: { ...plan, legs: [] } }), /nothing to trade/);
  assert.match(verdict({ understood: { action: 'sync' } }), /reports where the strategy stands/);
  const protecting = { understood: { action: 'protect' }, plan: { ...plan, legs: [] } };
  assert.match(verdict(protecting), /trades nothing, and changes what protects the position$/);
  assert.match(verdict({ service: '3Commas' }), /written for 3Commas: it cannot be translated/);
  const stop = {
    service: 'TradersPost',
    understood: {},
    lost: ['"stopLoss": it is not certain what it means.', '"extras": is not read here.'],
    corrected: '{ "action": "buy" }',
  };
  assert.equal(
    verdict(stop),
    'This message was written for TradersPost, and its stop would be lost: the one below says the same in our format, with 2 differences',
  );
  assert.match(
    verdict({ ...stop, corrected: '{ "stop_loss": "2%" }' }),
    /^This message was written for TradersPost:/,
  );
  const secret = refused('secret', 'Put your webhook secret into the message that works.');
  assert.match(
    verdict({ service: '3Commas', understood: {}, checks: [secret] }),
    /the one below says the same in our format$/,
  );
  assert.match(
    verdict({
      service: '3Commas',
      understood: {},
      checks: [refused('symbol', 'The symbol X is not allowed.'), secret],
    }),
    /refused: the symbol X is not allowed$/,
  );
});

test('what opens doors is known by its name, in whichever service', () => {
  for (const name of ['secret', 'key', 'apikey', 'api_key', 'passphrase', 'email_token'])
    assert.ok(isSecretField(name), name);
  assert.ok(!isSecretField('symbol'));
  assert.ok(!isSecretField(null));
});

test('what the platform will fill in is shown with the example that stands for it', () => {
  const lines = linesOf(
    '{"quantity": {{strategy.order.contracts}}, "market_position": "{{strategy.market_position}}"}',
  );
  const checked: Checked = {
    ...NOTHING,
    understood: { action: 'buy', quantity: 1, market_position: 'long' },
    examples: [
      { field: 'quantity', placeholder: '{{strategy.order.contracts}}', value: '1' },
      { field: 'market_position', placeholder: '{{strategy.market_position}}', value: 'long' },
    ],
  };
  assert.deepEqual(
    remarksOn(lines, checked).map(({ words }) => words),
    ['filled in by the platform; read here as 1', 'filled in by the platform; read here as long'],
  );
});
