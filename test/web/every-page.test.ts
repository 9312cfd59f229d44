// Every page, as it is with everything on it that can happen, and as it is with nothing: nobody is kept out of it, in either
// theme; it fits a phone; and what came from outside is text.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { FOR_ALL, PLACES } from '../../web/parts/places.ts';
import {
  type Account,
  assertClean,
  barriers,
  logIn,
  onStage,
  planOrder,
  register,
  type Stage,
  sideways,
  type Visit,
  visit,
} from './stage.ts';

const WEB = join(import.meta.dirname, '../../web');
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** As long as a name may be, and of no Latin letters. */
const LONG_NAME =
  'Стратегия на разворот тренда с усреднением позиции и трейлинг-стопом для самых терпеливых трейдеров!';
const FIFTEEN_DIGITS = 1234567.89012345;
const SYMBOL = '<img/src=x/onerror=alert(1)>';
const COMMENT = '<script>alert(2)</script><img src=x onerror=alert(3)>';
const AGENT = '<script>alert(4)</script><img src=x onerror=alert(5)>';

/** One of each: what was filled, reversed, refused, rejected, lost, reported; what differs; who is halted. Their ids. */
async function fillStage(stage: Stage) {
  const make = (name: string, paper: object = {}) => stage.makeAccount({ name, paper });
  const send = (account: Account, body: object, query = '') =>
    stage.signal(account, body, query, { 'user-agent': AGENT });
  const lab = await make('Lab');
  await send(lab, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.3, price: 60_000, comment: COMMENT });
  await send(lab, { action: 'sell', symbol: 'BTCUSDT', quantity: 0.5, ...stance('short', 0.2, 'long', 0.3) });
  await send(lab, { action: 'buy', symbol: 'ETHUSDT', quantity: 1, ...stance('long', 1, 'flat', 0) });
  await send(lab, { action: 'sync', symbol: 'ETHUSDT', market_position: 'long', market_position_size: 2 });
  await send(lab, { action: 'buy', symbol: 'SOLUSDT', quantity: 40 }, '?simulation=true');
  await send(lab, { action: 'buy', symbol: SYMBOL, quantity: 1, secret: 'guessed', comment: COMMENT });
  await send(lab, { action: 'dance', symbol: SYMBOL });
  await send(lab, { action: 'buy', symbol: SYMBOL, quantity: 1 });
  const rich = await make(LONG_NAME, { starting_cash: 1e12 });
  await send(rich, { action: 'buy', symbol: 'XRPUSDT', quantity: 876_543_210.5 });
  await send(rich, { action: 'buy', symbol: 'XRPUSDT', quantity: FIFTEEN_DIGITS });
  const order = { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1 };
  const rejected = await make('Rejected', { reject: 'market_closed' });
  const lost = await make('Lost', { lose_answer: true });
  const waiting = await make('Waiting', { fill: 'never' });
  for (const account of [rejected, lost, waiting]) await send(account, order);
  const halted = await make(COMMENT);
  await stage.call(`/trading/accounts/${halted.id}/halt`, { body: {} });
  await send(halted, order);
  // A session of theirs, whose browser calls itself what it likes.
  const { status } = await stage.login({}, { 'user-agent': AGENT });
  assert.equal(status, 200);

  type Signal = Record<'id' | 'symbol' | 'action' | 'code' | 'order_id' | 'trading_account_id', string>;
  const { items } = await stage.call<{ items: Signal[] }>('/trading/signals');
  const find = (wanted: Partial<Signal>): Signal =>
    items.find((signal) => Object.entries(wanted).every(([key, value]) => signal[key as 'id'] === value)) ??
    assert.fail(JSON.stringify(wanted));
  const orderOn = (account: Account) => find({ trading_account_id: account.id }).order_id;
  return {
    halted: halted.id,
    reversal: find({ action: 'sell', symbol: 'BTCUSDT' }).id,
    refusal: find({ code: 'webhook_credential_attack' }).id,
    rejected: orderOn(rejected),
    lost: orderOn(lost),
    waiting: orderOn(waiting),
  };
}

const stance = (side: string, size: number, before: string, sizeBefore: number) => ({
  market_position: side,
  market_position_size: size,
  prev_market_position: before,
  prev_market_position_size: sizeBefore,
});

interface Place {
  readonly path: string;
  /** What is opened over the page. */
  open?(page: Page): Promise<unknown>;
  /** The browser itself says so in its console. */
  readonly isMissing?: boolean;
}

const OPEN_HALT = async (page: Page) => {
  await page.locator('#halt').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Close \d+ positions/ })
    .waitFor();
};

/** By the button that opens it, which says by its name what it is for. */
const press =
  (button: RegExp) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('main').getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').waitFor();
  };
const OPEN_KEYS = async (page: Page) => {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
};

const inside = (ids: Awaited<ReturnType<typeof fillStage>>): Readonly<Record<string, Place>> => ({
  ...Object.fromEntries(PLACES.map(({ name, to }) => [name, { path: to }])),
  'Signals, searched': { path: '/signals?search=BTC' },
  'the story of a reversal': { path: `/signals/${ids.reversal}` },
  'the story of a refusal': { path: `/signals/${ids.refusal}` },
  'the story of an order that waits': { path: `/orders/${ids.waiting}` },
  'the story of an order whose answer was lost': { path: `/orders/${ids.lost}` },
  'the story of an order that was rejected': { path: `/orders/${ids.rejected}` },
  'a story that there is not': { path: `/signals/${crypto.randomUUID()}`, isMissing: true },
  'a trade that there is not': { path: `/trades/${crypto.randomUUID()}`, isMissing: true },
  'an account': { path: `/accounts/${ids.halted}` },
  'the trade drawer': { path: '/positions', open: planOrder },
  'the halt dialog': { path: '/positions', open: OPEN_HALT },
  'the dialog of an Align': { path: '/positions', open: press(/to align…$/) },
  'the dialog of a Resume': { path: '/', open: press(/^Resume/) },
  'the dialog of a rehearsal': { path: `/signals/${ids.reversal}`, open: press(/^Rehearse in simulation/) },
  'the dialog of new terms': { path: '/operation', open: press(/^Publish a new version/) },
  'the dialog of a user': { path: '/operation', open: press(/^Change /) },
  'the list of keys': { path: '/check', open: OPEN_KEYS },
  'a page that there is not': { path: '/nowhere', isMissing: true },
});
const OUTSIDE: Readonly<Record<string, Place>> = {
  'what strangers see': { path: '/welcome' },
  login: { path: '/login?next=%2Fpositions' },
  registration: { path: '/register' },
  'a forgotten password': { path: '/forgot-password' },
  'a new password': { path: '/reset-password?token=none' },
  'an address to confirm': { path: '/verify-email?token=none' },
  terms: { path: '/terms' },
};
const MISSING = /the server responded with a status of 404/;

test('a theme changes colours, and nothing else', () => {
  const themes = /prefers-color-scheme|data-theme|light-dark\(/;
  const styles = globSync('**/*.css', { cwd: WEB, exclude: ['dist/**'] });
  const text = (path: string) => readFileSync(join(WEB, path), 'utf8');
  assert.deepEqual(
    styles.filter((path) => themes.test(text(path).replaceAll(/\/\*.*?\*\//gs, ''))),
    ['theme/tokens.css'],
  );
  const blocks = [...text('theme/tokens.css').matchAll(/\[data-theme="(?:dark|light)"\]\)? \{([^}]*)\}/g)];
  assert.equal(blocks.length, 2);
  for (const [, block = ''] of blocks)
    for (const line of block.trim().split('\n'))
      assert.match(
        line,
        /^\s*(?:color-scheme: dark|--[\w-]+: (?:#[0-9a-f]{3,8}|rgb\([^)]*\))|--shadow: (?:[\d\s]|px|,|rgb\([^)]*\))+);$/,
      );
});

await onStage('every page', async ({ stage, browser, visitor: trader, page, open }) => {
  const ids = await fillStage(stage);
  await logIn(page, stage);
  const stranger = await visit(browser);

  async function inspect({ page, settled, watched }: Visit, { path, open, isMissing }: Place): Promise<void> {
    for (const seen of Object.values(watched)) seen.length = 0;
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(stage.url + path);
    await settled();
    await open?.(page);
    await settled();
    const inLight = await barriers(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    const inDark = await barriers(page, 'colours');
    await page.setViewportSize(PHONE);
    const onPhone = [...(await sideways(page)), ...(await barriers(page))];
    assert.deepEqual({ inLight, inDark, onPhone }, { inLight: [], inDark: [], onPhone: [] });
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    assertClean(watched, stage.url, isMissing ? [MISSING] : []);
  }

  for (const [name, place] of Object.entries(inside(ids))) test(name, () => inspect(trader, place));
  for (const [name, place] of Object.entries(OUTSIDE)) test(name, () => inspect(stranger, place));

  test('what came from outside is text', async () => {
    await page.setViewportSize(DESKTOP);
    for (const [path, text] of [
      ['/signals', SYMBOL],
      [`/signals/${ids.refusal}`, COMMENT],
      ['/accounts', COMMENT],
      ['/security', AGENT],
    ] as const) {
      await open(path);
      await page.getByText(text).filter({ visible: true }).first().waitFor();
    }
  });

  test('somebody comes who has nothing yet', async () => {
    await stranger.page.goto(`${stage.url}/register`);
    await register(stranger.page, stage, 'new@example.com');
  });
  for (const { to: path } of FOR_ALL) test(`${path} with nothing on it`, () => inspect(stranger, { path }));
});
