// The rules of the accounts page: the messages to paste, what is typed into its fields, and what is sealed in the browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import { mergeGuards } from '../../src/domain/guards/settings.ts';
import { sealingKey, sealProblem } from '../../src/domain/identity/sealed.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';
import { fillTemplate, templateWith } from '../../src/domain/signals/template.ts';
import {
  guardText,
  hasGuards,
  NUMBER_GUARDS,
  readGuard,
  suggestedGuards,
  suggestionInWords,
} from '../../web/pages/accounts/guards.ts';
import {
  daysInWords,
  hoursInWords,
  pauseInWords,
  readHours,
  readPause,
  withPause,
} from '../../web/pages/accounts/hours.ts';
import { sealCredentials } from '../../web/pages/accounts/seal.ts';
import {
  type Account,
  headingOf,
  inSeconds,
  inUnits,
  readSymbols,
  symbolsInWords,
} from '../../web/pages/accounts/words.ts';
import {
  ALERT_ACTIONS,
  alertMessage,
  MASKED,
  pieces,
  SECRET,
  strategyMessage,
  syncScript,
  withSecret,
} from '../../web/parts/settings/message.ts';
import { plain, readNumber, readOptional } from '../../web/parts/settings/numbers.ts';

const NOW = Date.parse('2026-11-12T14:51:07Z');
const read = (message: string) => readSignal(readBody(Buffer.from(message)), { simulation: false });
const signalOf = (message: string) => {
  const reading = read(message);
  assert.ok('signal' in reading, JSON.stringify(reading));
  return reading.signal;
};

test('the message for a strategy is the service’s own template, in another setting', () => {
  const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');
  assert.equal(inOneLine(strategyMessage()), inOneLine(templateWith(SECRET)));
});

test('the message for a plain alert is understood, whichever action is chosen', () => {
  for (const action of ALERT_ACTIONS) {
    const signal = signalOf(fillTemplate(alertMessage(action, '0.5'), NOW).text);
    assert.equal(signal.action, action);
    assert.equal(signal.quantity, action === 'close' ? '0' : '0.5');
    assert.equal(signal.price, '100');
    assert.equal(signal.timestamp, NOW);
  }
});

test('what the script for each bar’s close sends is understood as a sync', () => {
  // As the script would put it together for a short position of 2.
  const [, text = ''] = /alert\((.*), alert\.freq/s.exec(syncScript()) ?? [];
  const said: Readonly<Record<string, string>> = {
    'syminfo.ticker': 'BTCUSDT.P',
    side: 'short',
    'str.tostring(math.abs(strategy.position_size))': '2',
    'str.tostring(timenow)': String(NOW),
  };
  const message = text
    .split(/\s\+\s+/)
    .map((part) => (part.startsWith("'") ? part.slice(1, -1) : (said[part] ?? `?${part}`)))
    .join('');
  const signal = signalOf(message);
  assert.equal(signal.action, 'sync');
  assert.deepEqual(signal.after, { side: 'short', size: '2' });
  assert.equal(signal.timestamp, NOW);
});

test('a message is shown with its placeholders apart and its secret masked, and copied with the secret', () => {
  const shown = pieces(strategyMessage());
  assert.equal(shown.map(({ text }) => text).join(''), withSecret(strategyMessage(), MASKED));
  assert.deepEqual(
    shown
      .filter(({ isPlaceholder }) => isPlaceholder)
      .map(({ text }) => text)
      .slice(0, 3),
    ['{{strategy.order.action}}', '{{ticker}}', '{{strategy.order.contracts}}'],
  );
  assert.ok(withSecret(syncScript(), 's3cret').includes('"secret": "s3cret"'));
});

test('a number is taken as it is typed, and a comma is never guessed at', () => {
  const bounds = { least: 0, most: 1e12, above: true };
  assert.deepEqual(readNumber(' 0.5 ', bounds), { value: 0.5 });
  assert.deepEqual(readNumber('123456789.123456', bounds), { value: 123456789.123456 });
  for (const wrong of [
    '1,000',
    '1,5',
    '0',
    '-1',
    '1e3',
    '.5',
    'ten',
    '',
    '1234567890.1234567',
    '2000000000000',
  ])
    assert.ok('problem' in readNumber(wrong, bounds), wrong);
  assert.ok('problem' in readNumber('1.5', { least: 1, most: 10, whole: true }));
  assert.deepEqual(readOptional('  ', bounds), { value: null });
  assert.equal(plain(0.0000001), '0.0000001');
  assert.equal(plain(1_000_000), '1000000');
});

test('a guard is typed as one number or as one for each symbol, and comes back as it was typed', () => {
  const quantity = { bounds: { least: 0, most: 1e12, above: true }, perSymbol: true } as const;
  assert.deepEqual(readGuard(quantity, ''), { value: null });
  assert.deepEqual(readGuard(quantity, '50'), { value: 50 });
  assert.deepEqual(readGuard(quantity, 'BTCUSDT.P 0.5, * 10'), { value: { 'BTCUSDT.P': 0.5, '*': 10 } });
  assert.deepEqual(readGuard(quantity, 'ES1!: 2'), { value: { 'ES1!': 2 } });
  assert.equal(guardText({ 'BTCUSDT.P': 0.5, '*': 10 }), 'BTCUSDT.P 0.5, * 10');
  for (const wrong of ['1,000', 'BTC', 'BTC 1, BTC 2', 'BTC 0', 'BTC ETH 1', 'BTC 1,'])
    assert.ok('problem' in readGuard(quantity, wrong), wrong);
  assert.ok('problem' in readGuard({ bounds: quantity.bounds }, 'BTC 1'));
});

test('the suggested guards are taken by the service, with a day’s loss where the equity is known', () => {
  for (const equity of [null, 10, 24_318.66]) {
    const merged = mergeGuards({}, suggestedGuards(equity));
    assert.ok('guards' in merged, JSON.stringify(merged));
  }
  assert.equal(suggestedGuards(24_318.66).max_daily_loss, 490);
  assert.equal(suggestedGuards(null).max_daily_loss, undefined);
  assert.match(
    suggestionInWords(suggestedGuards(100_000), 'USD'),
    /and a day’s loss of at most 2,000 USD, about 2 %/,
  );
  assert.match(suggestionInWords(suggestedGuards(null), null), /symbol and the broker’s price within 1 %/);
});

test('each guard’s bounds are those of the service', () => {
  for (const { name, bounds } of NUMBER_GUARDS) {
    const { least, most, above = false, whole = false } = bounds;
    const takes = (value: number) => 'guards' in mergeGuards({}, { [name]: value });
    assert.equal(takes(least), !above, `${name} ${least}`);
    assert.ok(takes(most), `${name} ${most}`);
    assert.ok(!takes(most + 1), `${name} ${most + 1}`);
    assert.equal(takes(1.5), !whole, `${name} 1.5`);
  }
});

test('hours and pauses are said in words and read as the service takes them', () => {
  assert.equal(daysInWords(['mon', 'tue', 'wed', 'thu', 'fri']), 'Mon to Fri');
  assert.equal(daysInWords(['sun', 'mon', 'wed']), 'Mon, Wed, Sun');
  assert.equal(daysInWords(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), 'every day');
  const window = { days: ['mon', 'fri'] as ('mon' | 'fri')[], from: '09:30', to: '16:00' };
  const hours = readHours('America/New_York', [window]);
  assert.ok('value' in hours);
  assert.equal(hoursInWords(hours.value), 'Mon, Fri 09:30 to 16:00, America/New York');
  assert.ok('guards' in mergeGuards({}, { trading_hours: hours.value }));
  for (const wrong of [
    { ...window, days: [] },
    { ...window, to: '09:30' },
    { ...window, from: '9:30' },
  ])
    assert.ok('problem' in readHours('Europe/Berlin', [wrong]));
  assert.ok('problem' in readHours('Europe/Berlin', []));

  const pause = readPause({ from: '2026-11-13T14:25Z', to: '2026-11-13T14:45Z', label: ' prices ' }, NOW);
  assert.ok('value' in pause);
  assert.match(pauseInWords(pause.value), /^prices, Fri 13 Nov \d\d:25 to \d\d:45$/);
  const later = { from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z', label: '' };
  const over = { from: '2026-11-10T10:00:00.000Z', to: '2026-11-10T11:00:00.000Z', label: 'over' };
  const all = withPause([over, later], pause.value, NOW);
  assert.deepEqual(all, [pause.value, later]);
  assert.ok('guards' in mergeGuards({}, { pauses: all }));
  assert.ok('problem' in readPause({ from: later.to, to: later.from, label: '' }, NOW));
  assert.ok('problem' in readPause(over, NOW));
  assert.ok('problem' in readPause({ from: '', to: '', label: '' }, NOW));
});

test('credentials are sealed as the service demands, and only the worker’s key opens them', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  const key = sealingKey((await exportJWK(publicKey)) as never);
  const credentials = { api_key: 'k', api_secret: 's' };
  const sealed = await sealCredentials(key, { userId: 'u', accountId: 'a', credentials });
  assert.equal(sealProblem(sealed, key), null);
  const { plaintext } = await compactDecrypt(sealed, privateKey);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(plaintext)), {
    user_id: 'u',
    trading_account_id: 'a',
    credentials,
  });
});

test('an account’s heading says whether it takes entries, and if not, why', () => {
  const account = { name: 'Main', broker_credentials_verified: true, has_credentials: true, halted: false };
  const heading = (change: Partial<Account>) => {
    const { matters, rest } = headingOf({ ...account, ...change } as Account);
    return `${matters} ${rest}`.trim();
  };
  assert.equal(heading({}), 'Main is connected and takes entries');
  assert.equal(heading({ halted: true }), 'Main is halted: entries are refused, exits still pass');
  assert.match(heading({ broker_credentials_verified: false }), /not verified: it trades in simulation only/);
  assert.match(
    heading({ broker_credentials_verified: false, has_credentials: false }),
    /waits for its credentials/,
  );
  assert.equal(
    heading({ broker_credentials_verified: false, credentials_refused: true }),
    'Main is refused by its broker: entries are refused, exits and closes are still tried',
  );
});

test('symbols are read from whatever is pasted, and long lists are counted', () => {
  assert.deepEqual(readSymbols(' BTCUSDT.P, ETHUSDT.P;BTCUSDT.P\nES1! '), ['BTCUSDT.P', 'ETHUSDT.P', 'ES1!']);
  assert.equal(symbolsInWords([]), 'every symbol that the broker has');
  assert.match(symbolsInWords(Array.from({ length: 15 }, (_, n) => `S${n}`)), /S11 and 3 more$/);
});

test('a duration is shown in the largest unit that says it exactly', () => {
  assert.deepEqual(inUnits(93_600), { amount: 26, unit: 'h' });
  assert.deepEqual(inUnits(5_400), { amount: 90, unit: 'min' });
  assert.deepEqual(inUnits(61), { amount: 61, unit: 's' });
  assert.equal(inSeconds(1.5, 'h'), 5_400);
});

test('an account without a guard is known as such', () => {
  const none = Object.fromEntries(
    [...NUMBER_GUARDS.map(({ name }) => name), 'trading_hours', 'pauses'].map((name) => [name, null]),
  );
  assert.equal(hasGuards(none as never), false);
  assert.equal(hasGuards({ ...none, cooldown_seconds: 5 } as never), true);
});
