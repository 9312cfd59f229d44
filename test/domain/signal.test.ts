import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readBody, readSignal, type Signal } from '../../src/domain/signals/signal.ts';
import { readTimestamp } from '../../src/domain/signals/time.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const good = {
  action: 'buy',
  symbol: 'BTCUSDT',
  quantity: 1,
  timestamp: '2026-11-15T10:00:00Z',
  secret: 's',
};
const read = (body: object | string, simulation = false) =>
  readSignal(readBody(bytes(typeof body === 'string' ? body : JSON.stringify(body))), { simulation });

function signal(body: object | string, simulation = false): Signal {
  const reading = read(body, simulation);
  assert.ok('signal' in reading, JSON.stringify(reading));
  return reading.signal;
}
const isRefused = (body: object | string, simulation = false) => 'problem' in read(body, simulation);

describe('Webhook action mapping', () => {
  const rows: [string, string | undefined, object][] = [
    ['buy', undefined, { operation: 'PLACE_ENTRY_ORDER', side: 'buy' }],
    ['sell', undefined, { operation: 'PLACE_ENTRY_ORDER', side: 'sell' }],
    ['buy', 'entry', { operation: 'PLACE_ENTRY_ORDER', side: 'buy' }],
    ['sell', 'entry', { operation: 'PLACE_ENTRY_ORDER', side: 'sell' }],
    ['buy', 'exit', { operation: 'PLACE_EXIT_ORDER', direction: 'short' }],
    ['sell', 'exit', { operation: 'PLACE_EXIT_ORDER', direction: 'long' }],
    ['close_long', undefined, { operation: 'CLOSE_POSITION', direction: 'long' }],
    ['close_short', undefined, { operation: 'CLOSE_POSITION', direction: 'short' }],
  ];
  for (const [action, order_type, intent] of rows)
    test(`${action} with order_type ${order_type ?? 'absent'} → ${Object.values(intent).join(', ')}`, () => {
      assert.deepEqual(signal({ ...good, action, order_type }).intent, intent);
    });
});

describe('Supported signals', () => {
  const rows: [string, object][] = [
    ['long_entry', { operation: 'PLACE_ENTRY_ORDER', side: 'buy' }],
    ['long_exit', { operation: 'PLACE_EXIT_ORDER', direction: 'long' }],
    ['short_entry', { operation: 'PLACE_ENTRY_ORDER', side: 'sell' }],
    ['short_exit', { operation: 'PLACE_EXIT_ORDER', direction: 'short' }],
  ];
  for (const [action, intent] of rows)
    test(`${action} → ${Object.values(intent).join(', ')}`, () => {
      assert.deepEqual(signal({ ...good, action }).intent, intent);
    });
  test('a signal that contradicts itself is refused', () => {
    assert.ok(isRefused({ ...good, action: 'long_entry', order_type: 'exit' }));
    assert.ok(isRefused({ ...good, action: 'long_exit', order_type: 'entry' }));
  });
});

describe('The forgiving reading of a body', () => {
  for (const [written, quantity] of [
    ['1', '1'],
    ['1.0', '1'],
    ['"1"', '1'],
    ['"0.50"', '0.5'],
    ['1e2', '100'],
    ['0.000000000000001', '0.000000000000001'],
    ['123456789012345', '123456789012345'],
  ])
    test(`quantity ${written} is ${quantity}`, () => {
      const body = JSON.stringify(good).replace('"quantity":1', `"quantity":${written}`);
      assert.equal(signal(body).quantity, quantity);
    });

  const noon = Date.UTC(2026, 10, 15, 10);
  for (const [written, expected] of [
    ['2026-11-15T10:00:00Z', noon],
    ['2026-11-15T10:00:00.123Z', noon + 123],
    ['2026-11-15T12:30:00+02:30', noon],
    ['2026-11-15T05:00:00-0500', noon],
    ['2026-11-15T10:00:00', noon],
    ['2026-11-15 10:00', noon],
    ['1794736800', noon],
    ['1794736800000', noon],
  ] as const)
    test(`timestamp "${written}" is read`, () => {
      assert.equal(readTimestamp(written), expected);
    });

  test('epoch numbers are timestamps too, in seconds and in milliseconds', () => {
    assert.equal(signal({ ...good, timestamp: 1794736800 }).timestamp, noon);
    assert.equal(signal({ ...good, timestamp: 1794736800000 }).timestamp, noon);
  });
  test('a byte order mark, extra fields and another case of the action are forgiven', () => {
    const body = `\ufeff${JSON.stringify({ ...good, action: 'BUY', strategy: { nested: [1, 2] } })}`;
    assert.equal(signal(body).action, 'buy');
  });
  test('in simulation neither timestamp nor secret is needed', () => {
    const { timestamp: _, secret: __, ...rest } = good;
    assert.ok(isRefused(rest));
    assert.equal(signal(rest, true).timestamp, null);
  });
});

describe('A body that is refused', () => {
  const quantities = [
    'NaN',
    'null',
    '""',
    '1e999',
    '-1',
    '0',
    '-0',
    '"0.0"',
    '1e-999',
    'true',
    '[]',
    '{}',
    'Infinity',
    '"1,5"',
    '"0x10"',
    '1234567890123456',
    '0.1234567890123456',
    '"٣"',
  ];
  for (const quantity of quantities)
    test(`quantity ${quantity}`, () => {
      assert.ok(isRefused(JSON.stringify(good).replace('"quantity":1', `"quantity":${quantity}`)));
    });
  for (const field of ['action', 'symbol', 'quantity', 'timestamp', 'secret'])
    test(`${field} missing, null or of a wrong type`, () => {
      assert.ok(isRefused({ ...good, [field]: undefined }));
      assert.ok(isRefused({ ...good, [field]: null }));
      assert.ok(isRefused({ ...good, [field]: { $gt: '' } }));
      assert.ok(isRefused({ ...good, [field]: [good[field as keyof typeof good]] }));
    });
  for (const timestamp of [
    '',
    'now',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-15T25:00:00Z',
    '2026-11-15',
    '12',
    '2026-11-15T10:00:00+99:00',
    '{{timenow}}',
    '9'.repeat(30),
  ])
    test(`timestamp "${timestamp}"`, () => {
      assert.ok(isRefused({ ...good, timestamp }));
    });
  const bodies: [string, string][] = [
    ['an empty body', ''],
    ['white space', ' \n'],
    ['no JSON', 'buy BTCUSDT'],
    ['an array', '[1]'],
    ['a bare number', '1'],
    ['a truncated object', '{"action":"buy"'],
    [
      'a key given twice',
      '{"action":"buy","action":"sell","symbol":"A","quantity":1,"timestamp":1794736800,"secret":"s"}',
    ],
    [
      'a key given twice in another spelling',
      '{"action":"buy","\\u0061ction":"sell","symbol":"A","quantity":1,"timestamp":1794736800,"secret":"s"}',
    ],
    ['deep nesting', `{"x":${'['.repeat(8000)}${']'.repeat(8000)}}`],
    [
      'fields on the prototype',
      '{"__proto__":{"action":"buy","symbol":"A","quantity":1,"timestamp":1794736800,"secret":"s"}}',
    ],
    ['a symbol with a NUL', JSON.stringify({ ...good, symbol: 'A\0B' })],
    [
      'a symbol with a lone surrogate',
      '{"action":"buy","symbol":"\\ud800","quantity":1,"timestamp":1794736800,"secret":"s"}',
    ],
    ['an empty symbol', JSON.stringify({ ...good, symbol: '' })],
    ['an unknown action', JSON.stringify({ ...good, action: 'hold' })],
    ['an unknown order_type', JSON.stringify({ ...good, order_type: 'market' })],
  ];
  for (const [name, body] of bodies)
    test(name, () => {
      assert.ok(isRefused(body));
    });
  test('bytes that are not UTF-8', () => {
    const utf16 = Buffer.from(JSON.stringify(good), 'utf16le');
    const latin1 = Buffer.from(JSON.stringify({ ...good, symbol: 'é' }), 'latin1');
    for (const body of [utf16, latin1, new Uint8Array([0xff, 0xfe]), new Uint8Array([0x1f, 0x8b, 8, 0])])
      assert.ok('problem' in readSignal(readBody(body), { simulation: false }));
  });
});

test('any bytes at all are a signal or a problem, never an exception', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map(bytes),
    fc
      .record({
        action: fc.anything(),
        symbol: fc.anything(),
        quantity: fc.anything(),
        timestamp: fc.anything(),
        secret: fc.anything(),
        order_type: fc.anything(),
      })
      .map((body) =>
        bytes(JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? String(value) : value))),
      ),
  );
  fc.assert(
    fc.property(anything, fc.boolean(), (body, simulation) => {
      const reading = readSignal(readBody(body), { simulation });
      assert.ok('signal' in reading !== 'problem' in reading);
    }),
    { numRuns: 2000 },
  );
});

describe('a placeholder that the platform did not fill in', () => {
  const problemIn = (text: string): string => {
    const reading = readBody(Buffer.from(text));
    return 'problem' in reading ? reading.problem : 'it was read';
  };

  test('is named with its place where it makes the body no JSON', () => {
    const text = '{"action": "buy",\n "quantity": {{strategy.order.contracts}}}';
    assert.match(
      problemIn(text),
      /^"quantity" is \{\{strategy\.order\.contracts\}\} at line 2, column 14: .*has no strategy\.\* values/,
    );
  });

  test('is named where it stands alone, and is the whole body', () => {
    assert.match(
      problemIn('{{strategy.order.alert_message}}'),
      /at line 1, column 1 there is \{\{strategy\.order\.alert_message\}\}/,
    );
  });

  // What plots a value has its name in quotes, and they end the text around it.
  for (const value of [
    '{{plot("qty")}}',
    '{{plot("a b")}}',
    '{{plot("")}}',
    '{{plot(",")}}',
    '{{ plot("x:y") }}',
  ])
    for (const [written, column] of [
      [value, 31],
      [`"${value}"`, 32],
      [`"about ${value} of it"`, 38],
      [`"{{strategy.order.id}} ${value}"`, 54],
    ] as const)
      test(`is named where its quotes make the body no JSON: ${written}`, () => {
        const problem = problemIn(`{"action": "buy", "quantity": ${written}, "secret": "x"}`);
        assert.ok(problem.startsWith(`"quantity" is ${value} at line 1, column ${column}: `), problem);
      });

  test('is named where its quotes are escaped, and where it has none', () => {
    for (const value of ['{{plot("qty")}}', '{{plot_0}}', 'about {{plot_0}} of it']) {
      const text = JSON.stringify({ action: 'buy', symbol: 'X', quantity: value });
      const reading = readSignal(readBody(Buffer.from(text)), { simulation: true });
      assert.ok('problem' in reading && reading.problem.startsWith(`"quantity" is ${value}: `), text);
    }
  });

  test('is named alone, with quotes of its own', () => {
    assert.match(problemIn('{{plot("qty")}}'), /at line 1, column 1 there is \{\{plot\("qty"\)\}\}/);
  });

  test('is looked for in a time that grows with the body, whatever is in it', () => {
    const parts = [
      ...[
        '"a":',
        '"a":"',
        '"a":"{{',
        '"a":"{{x("',
        '"a":{{x("',
        '{{',
        '{{x("',
        '"',
        '""',
        '(',
        '"a" ',
        '")}}',
        '{{x(""',
      ],
      ...['"a":"{{x', ' ', '"a"', '"a":"x {{'],
    ];
    const most = 16 * 1024;
    for (const part of parts)
      for (const end of ['', '"', ' '.repeat(most / 2)]) {
        const text = `${part.repeat(Math.floor((most - end.length) / part.length))}${end}`;
        const begun = process.cpuUsage();
        problemIn(text);
        const { user } = process.cpuUsage(begun);
        // Linear takes some milliseconds at most; quadratic, seconds.
        assert.ok(user < 500_000, `${user / 1000} ms for ${part}`);
      }
  });

  test('is not blamed for another mistake', () => {
    assert.match(
      problemIn('{"action": "buy", "price": {{"b": 1}}}'),
      /^The body is not valid JSON: at line 1/,
    );
    assert.match(
      problemIn('{"action": "{{strategy.order.action}}", "quantity": 1,}'),
      /^The body is not valid JSON: at line 1, column 55 there must be a name in double quotes\.$/,
    );
  });
});
