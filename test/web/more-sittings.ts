// Who sits for a picture besides: what opens over a page, a newcomer's first visit, the demo, names that strain a page.

import type { Page } from 'playwright-core';
import type { CrowdedDay } from './crowded-day.ts';
import type { Sitting } from './sittings.ts';
import { PASSWORD } from './stage.ts';

/** By the button that opens it, which says by its name what it is for. */
const press = (button: RegExp) => async (page: Page) => {
  await page.getByRole('main').getByRole('button', { name: button }).first().click();
};
const pressFor = (button: RegExp) => async (page: Page) => {
  await press(button)(page);
  await page.getByRole('dialog').waitFor();
};
const openSearch = (typed: string) => async (page: Page) => {
  await page.keyboard.press('/');
  await page.keyboard.type(typed);
  await page.getByRole('option').first().waitFor();
};
const openKeys = async (page: Page) => {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
};
const openTables = async (page: Page) => {
  for (const button of await page.getByRole('button', { name: /^Table/ }).all()) await button.click();
};
const openPrice = async (page: Page) => {
  await press(/^[A-Z]+USDT(?:\.P)?, /)(page);
  await page.locator('figcaption [role="status"]').getByText('candles').first().waitFor();
};
const enrol = (password: string) => async (page: Page) => {
  const section = page.getByRole('main');
  await section.getByPlaceholder('Your password').first().fill(password);
  await section.getByRole('button', { name: 'Set it up' }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
};
const makeKey = async (page: Page) => {
  await page.getByRole('textbox', { name: 'Name of the new key' }).fill('Evening report');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByText('Copy it now').waitFor();
};

/** On the stage of the fortnight, while something is wrong. */
export const overTrouble = (accountId: string, reversal: string, password: string): readonly Sitting[] => [
  { name: 'search', path: '/', pose: openSearch('bt'), isOver: true },
  { name: 'search-signals', path: '/signals?search=BTC' },
  { name: 'signals-refused', path: '/signals?status=refused' },
  { name: 'keys', path: '/check', pose: openKeys, isOver: true },
  { name: 'align', path: '/positions', pose: pressFor(/to align…$/), isOver: true },
  { name: 'resume', path: '/', pose: pressFor(/^Resume/), isOver: true },
  { name: 'rehearse', path: `/signals/${reversal}`, pose: pressFor(/^Rehearse in simulation/), isOver: true },
  { name: 'reset-book', path: '/positions', pose: pressFor(/^Reset this book/), isOver: true },
  { name: 'open-orders', path: '/positions', pose: press(/^Ask the brokers/) },
  { name: 'price', path: '/positions', pose: openPrice },
  { name: 'performance-tables', path: `/performance?account=${accountId}`, pose: openTables },
  { name: 'trades-all', path: '/trades?range=all' },
  { name: 'trades-week', path: '/trades?range=7' },
  { name: 'account-add', path: '/accounts?add=account' },
  { name: 'account-delete', path: `/accounts/${accountId}`, pose: pressFor(/^Delete/), isOver: true },
  {
    name: 'account-halt',
    path: `/accounts/${accountId}`,
    pose: pressFor(/^Halt this account/),
    isOver: true,
  },
  {
    name: 'account-secret',
    path: `/accounts/${accountId}`,
    pose: pressFor(/^Regenerate… the secret/),
    isOver: true,
  },
  { name: 'no-such-account', path: '/accounts/01900000-0000-7000-8000-000000000000' },
  { name: 'no-such-trade', path: '/trades/01900000-0000-7000-8000-000000000000' },
  { name: 'terms-publish', path: '/operation', pose: pressFor(/^Publish a new version/), isOver: true },
  { name: 'user-change', path: '/operation', pose: pressFor(/^Change /), isOver: true },
  { name: 'worker-stop', path: '/operation', pose: pressFor(/^Stop/), isOver: true },
  {
    name: 'addresses-allow',
    path: '/security',
    pose: pressFor(/^Add the charting platform’s/),
    isOver: true,
  },
  { name: 'second-factor', path: '/security', pose: enrol(password) },
  { name: 'api-key', path: '/security', pose: makeKey },
];

/** On the stage of what is protected. */
export const overProtected: readonly Sitting[] = [
  { name: 'resting-cancel', path: '/positions', pose: pressFor(/^Cancel/), isOver: true },
  { name: 'price-protected', path: '/positions', pose: openPrice },
];

/** Longer than any picture: their first window. */
export const DOCS: readonly Sitting[] = [
  { name: 'docs', path: '/docs', isOver: true },
  { name: 'docs-errors', path: '/docs/errors', isOver: true },
];

/** All of it plays: what a visitor of the demo sees. */
export const inDemo = (ids: {
  readonly account: string;
  readonly group: string;
  readonly story: string;
  readonly trade: string;
}): readonly Sitting[] => [
  { name: 'demo-today', path: '/' },
  { name: 'demo-signals', path: '/signals' },
  { name: 'demo-story', path: `/signals/${ids.story}` },
  { name: 'demo-positions', path: '/positions' },
  { name: 'demo-price', path: '/positions', pose: openPrice },
  { name: 'demo-trades', path: '/trades' },
  { name: 'demo-trade-story', path: `/trades/${ids.trade}` },
  { name: 'demo-performance', path: '/performance' },
  { name: 'demo-account', path: `/accounts/${ids.account}` },
  { name: 'demo-group', path: `/groups/${ids.group}` },
  { name: 'demo-check', path: '/check' },
  { name: 'demo-security', path: '/security' },
  { name: 'demo-notifications', path: '/notifications' },
  { name: 'demo-operation', path: '/operation' },
];

export const inCrowd = (ids: CrowdedDay): readonly Sitting[] => [
  { name: 'long-today', path: '/' },
  { name: 'long-signals', path: '/signals' },
  { name: 'long-story', path: `/signals/${ids.filled}` },
  { name: 'long-story-unknown', path: `/orders/${ids.unknown}` },
  { name: 'long-story-refused', path: `/signals/${ids.refused}` },
  { name: 'long-positions', path: '/positions' },
  { name: 'long-trades', path: '/trades' },
  { name: 'long-trade-story', path: `/trades/${ids.trade}` },
  { name: 'long-performance', path: '/performance' },
  { name: 'long-accounts', path: '/accounts' },
  { name: 'long-account', path: `/accounts/${ids.long}` },
  { name: 'long-group', path: `/groups/${ids.group}` },
  { name: 'long-group-story', path: `/signals/${ids.together}` },
  { name: 'long-security', path: '/security' },
  { name: 'long-operation', path: '/operation' },
  { name: 'long-halt', path: '/', pose: openHalt, isOver: true },
];

async function openHalt(page: Page): Promise<void> {
  await page.locator('#halt').click();
  await page.getByRole('dialog').getByRole('button').nth(1).waitFor();
}

export const NEWCOMER = { email: 'new@example.com', password: PASSWORD };

/** Before there is an account; then while the first signal is waited for, and after one that was refused. */
export const newcomers = {
  first: [
    { name: 'first-visit', path: '/' },
    { name: 'first-security', path: '/security' },
    { name: 'operation-refused', path: '/operation' },
  ],
  waiting: [
    { name: 'first-waiting', path: '/' },
    { name: 'first-platform', path: '/', pose: press(/^from the charting platform/) },
  ],
  refused: [{ name: 'first-refused', path: '/' }],
} satisfies Record<string, readonly Sitting[]>;
