// Who sits for a picture: each page in a state that is worth looking at, and how it is brought there.

import type { Page } from 'playwright-core';
import type { ProtectedDay } from './protected-day.ts';

export interface Sitting {
  readonly name: string;
  readonly path: string;
  readonly state?: 'loading' | 'error';
  /** Brings it there: a drawer is opened, a message pasted. */
  pose?(page: Page): Promise<unknown>;
  /** The window alone, for what lies over the page. */
  readonly isOver?: boolean;
}

/** A message of another service, as people bring them. */
const FOREIGN = `{
  "ticker": "BTCUSDT.P",
  "action": "buy",
  "quantity": 0.05,
  "takeProfit": { "percent": 2 },
  "interval": "15"
}`;

const openTrade = async (page: Page) => {
  await page.keyboard.press('t');
  const drawer = page.getByRole('complementary', { name: /Trade/ });
  await drawer.getByRole('combobox', { name: 'Symbol' }).fill('BTCUSDT.P');
  await drawer
    .getByRole('option', { name: /BTCUSDT/ })
    .first()
    .click();
  await drawer.getByLabel('buy').check();
  await drawer.getByLabel('Quantity').fill('0.1');
  // It buys, or closes first what is short.
  await drawer.getByRole('button', { name: /buy .*BTCUSDT/i }).waitFor();
};
const openHalt = async (page: Page) => {
  await page.locator('#halt').click();
  await page.getByRole('dialog').getByRole('button').nth(1).waitFor();
};
/** The story of an order that nobody looks for any more, as it is hours later. */
const openSettle = async (page: Page) => {
  await page.route(/\/trading\/orders\/[0-9a-f-]{36}$/, async (route) => {
    const answer = await route.fetch();
    const order = (await answer.json()) as object;
    const verification = { state: 'dead_letter', attempts: 4, next_at: null };
    await route.fulfill({ response: answer, json: { ...order, verification } });
  });
  await page.reload();
  await page.getByRole('button', { name: /^I know what became of it/ }).click();
  await page.getByLabel('It was filled, or a part of it').check();
};
const pasteMessage = async (page: Page) => {
  await page.getByRole('textbox').last().fill(FOREIGN);
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Check/ })
    .click();
  await page.getByRole('button', { name: 'Paste another' }).waitFor();
};

export const OUTSIDE: readonly Sitting[] = [
  { name: 'landing', path: '/welcome' },
  { name: 'login', path: '/login' },
  {
    name: 'login-refused',
    path: '/login',
    async pose(page) {
      await page.getByLabel('Email').fill('ann@example.com');
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'register', path: '/register' },
  { name: 'forgot-password', path: '/forgot-password' },
  { name: 'reset-password', path: '/reset-password?token=0123456789abcdef' },
  { name: 'verify-email', path: '/verify-email?token=0123456789abcdef' },
  { name: 'terms', path: '/terms' },
  { name: 'no-such-page', path: '/nowhere' },
];

export const inOrder = (accountId: string, signalId: string): readonly Sitting[] => [
  { name: 'today', path: '/' },
  { name: 'signals', path: '/signals' },
  { name: 'story', path: `/signals/${signalId}` },
  { name: 'positions', path: '/positions' },
  { name: 'trades', path: '/trades' },
  { name: 'performance', path: accountId ? `/performance?account=${accountId}` : '/performance' },
  { name: 'accounts', path: '/accounts' },
  { name: 'account', path: `/accounts/${accountId}` },
  { name: 'check', path: '/check' },
  { name: 'security', path: '/security' },
  { name: 'notifications', path: '/notifications' },
  { name: 'operation', path: '/operation' },
];

export const inTrouble = ({
  refused,
  unknownOrder,
}: {
  refused: string;
  unknownOrder: string;
}): readonly Sitting[] => [
  { name: 'today-trouble', path: '/' },
  { name: 'signals-trouble', path: '/signals' },
  { name: 'story-unknown', path: `/orders/${unknownOrder}` },
  { name: 'story-settle', path: `/orders/${unknownOrder}`, pose: openSettle, isOver: true },
  { name: 'story-refused', path: `/signals/${refused}` },
  { name: 'positions-trouble', path: '/positions' },
  { name: 'performance-currencies', path: '/performance' },
  { name: 'check-message', path: '/check', pose: pasteMessage },
  { name: 'trade', path: '/', pose: openTrade, isOver: true },
  { name: 'halt', path: '/', pose: openHalt, isOver: true },
  { name: 'no-such-story', path: '/signals/01900000-0000-7000-8000-000000000000' },
];

const drawerOf = (page: Page, symbol: string) => page.getByRole('complementary', { name: RegExp(symbol) });
const openDrawer = async (page: Page, symbol: string) => {
  await page
    .getByRole('button', { name: RegExp(`what protects ${symbol}`) })
    .first()
    .click();
  const drawer = drawerOf(page, symbol);
  await drawer.getByRole('textbox', { name: 'Stop', exact: true }).waitFor();
  return drawer;
};
const stopOf = async (page: Page, symbol: string, stop: string) => {
  const drawer = await openDrawer(page, symbol);
  await drawer.getByRole('textbox', { name: 'Stop', exact: true }).fill(stop);
};
const openRemove = async (page: Page) => {
  const drawer = await openDrawer(page, 'BTCUSDT');
  await drawer.getByRole('button', { name: /^Remove the stop/ }).click();
  await page.getByRole('dialog').waitFor();
};
const tradeProtected = async (page: Page) => {
  await page.keyboard.press('t');
  const drawer = drawerOf(page, 'Trade');
  await drawer.getByLabel('Account').selectOption({ label: 'Paper lab, paper, no real money' });
  await drawer.getByRole('combobox', { name: 'Symbol' }).fill('BTCUSDT');
  await page.keyboard.press('Escape');
  await drawer.getByLabel('Quantity').fill('0.1');
  await drawer.getByText('Stop, target and more').click();
  await drawer.getByRole('textbox', { name: 'Stop', exact: true }).fill('3');
  await drawer.getByText('Protected from its first fill').waitFor();
};

const tradeLimit = async (page: Page) => {
  await page.keyboard.press('t');
  const drawer = drawerOf(page, 'Trade');
  const fill = (name: string, text: string) => drawer.getByRole('textbox', { name, exact: true }).fill(text);
  await drawer.getByLabel('Account').selectOption({ label: 'Paper lab, paper, no real money' });
  await drawer.getByRole('combobox', { name: 'Symbol' }).fill('ETHUSDT');
  await page.keyboard.press('Escape');
  await fill('Quantity', '1.5');
  await drawer.getByRole('radio', { name: 'limit', exact: true }).check();
  await fill('Limit price', '3080');
  await fill('Expires in', '4');
  await drawer.getByRole('combobox', { name: 'Expires in, counted in' }).selectOption('hours');
  await drawer.getByRole('button', { name: /^Buy 1.5 ETHUSDT at 3,080/ }).waitFor();
};
const moveResting = async (page: Page) => {
  await page.getByRole('button', { name: /^Move/ }).first().click();
  await drawerOf(page, 'Trade')
    .getByText(/Takes back first/)
    .waitFor();
};
/** The menu of the width it was opened at; a phone has a sheet of its own. */
const openMore = (page: Page) => page.getByRole('button', { name: /^More/ }).click();

export const protectedOnes = ({
  lab,
  entry,
  restored,
  bare,
  left,
  stopped,
  resting,
  trade,
  group,
  together,
}: ProtectedDay): readonly Sitting[] => [
  { name: 'positions-protected', path: '/positions' },
  {
    name: 'protect-move',
    path: '/positions',
    pose: (page) => stopOf(page, 'BTCUSDT', '65200'),
    isOver: true,
  },
  {
    name: 'protect-looser',
    path: '/positions',
    pose: (page) => stopOf(page, 'BTCUSDT', '63000'),
    isOver: true,
  },
  { name: 'protect-trail', path: '/positions', pose: (page) => openDrawer(page, 'ETHUSDT'), isOver: true },
  {
    name: 'protect-set',
    path: '/positions',
    pose: (page) => stopOf(page, 'XRPUSDT', '2.2'),
    isOver: true,
  },
  { name: 'protect-remove', path: '/positions', pose: openRemove, isOver: true },
  { name: 'today-unprotected', path: '/' },
  { name: 'story-protected', path: `/orders/${entry}` },
  { name: 'story-stopped', path: `/orders/${stopped}` },
  { name: 'protection-restored', path: `/protections/${restored}` },
  { name: 'protection-unprotected', path: `/protections/${bare}` },
  { name: 'protection-left', path: `/protections/${left}` },
  { name: 'protect-left', path: '/positions', pose: (page) => openDrawer(page, 'ADAUSDT'), isOver: true },
  { name: 'masthead-more', path: '/', pose: openMore, isOver: true },
  { name: 'trade-limit', path: '/', pose: tradeLimit, isOver: true },
  { name: 'trade-move', path: '/positions', pose: moveResting, isOver: true },
  { name: 'story-resting', path: `/orders/${resting}` },
  { name: 'trade-story', path: `/trades/${trade}` },
  { name: 'groups', path: `/groups/${group}` },
  { name: 'group-make', path: '/groups?add=group' },
  { name: 'group-story', path: `/signals/${together}` },
  { name: 'group-signals', path: '/signals' },
  { name: 'trade-protected', path: '/', pose: tradeProtected, isOver: true },
  { name: 'account-protection', path: `/accounts/${lab}` },
];
