// The pages as people meet them: the whole service on the loopback, and a real Chromium before it. What happens besides the
// page under test comes through the public API, as from outside.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import axe from 'axe-core';
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core';
import { readConfig } from '../../src/config/config.ts';
import { openFillpath, type Parts } from '../../src/main.ts';
import { watchAnswers } from '../http/documented.ts';
import { BrowserMissing, startBrowser, type Watch, watch } from '../servers/browser.ts';
import { freePort } from '../servers/free-port.ts';
import { QUICK_HASHER, serverOf } from '../world.ts';

export const PASSWORD = 'a horse, a staple, a battery';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly webhook_token: string;
  readonly webhook_secret: string;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Null where there is no browser and none may be installed: the reason is printed. */
export async function openBrowser(): Promise<Browser | null> {
  try {
    return await startBrowser();
  } catch (fault) {
    if (!(fault instanceof BrowserMissing)) throw fault;
    console.log(`skipped: ${fault.message}`);
    return null;
  }
}

interface Setting {
  readonly env?: Record<string, string>;
  readonly parts?: Parts;
}

export interface Scene {
  readonly stage: Stage;
  readonly browser: Browser;
  readonly visitor: Visit;
  readonly page: Page;
  /** The visitor's page is there, with all that comes by itself. */
  open(path: string): Promise<void>;
}

/** Tests of one service, and of one visitor to it, who is not logged in yet. Skipped where there is no browser. */
export async function onStage(
  name: string,
  tests: (scene: Scene) => void | Promise<void>,
  setting: Setting = {},
): Promise<void> {
  const browser = await openBrowser();
  describe(name, browser ? {} : { skip: 'there is no browser' }, async () => {
    if (!browser) return;
    let stage: Stage | undefined;
    after(async () => {
      await browser.close();
      await stage?.close();
    });
    stage = await openStage(setting);
    const { url } = stage;
    const visitor = await visit(browser);
    const { page, settled } = visitor;
    const open = async (path: string) => {
      await page.goto(url + path);
      await settled();
    };
    await tests({ stage, browser, visitor, page, open });
  });
}

/**
 * The service with its first user, who is an admin and has a paper account. As in every other test, passwords cost little, and what
 * is looked at is read as the thread would read it, where nothing else is asked for.
 */
export async function openStage({ env = {}, parts = {} }: Setting = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-stage-'));
  const config = readConfig({
    DATA_DIR: dir,
    // By its number: the service tells people its own address.
    PORT: String(await freePort()),
    LOG_LEVEL: 'silent',
    ADMIN_IPS: '127.0.0.1,::1',
    RATE_LIMIT_REQUESTS: '1000',
    ...env,
  });
  // Whatever the pages get to see is held against /openapi.json, as in every other test.
  const undescribed: (readonly string[])[] = [];
  const open = async () => {
    const opened = await openFillpath(config, { hasher: QUICK_HASHER, readsHere: true, ...parts });
    undescribed.push(watchAnswers(serverOf(opened)));
    return opened;
  };
  let fillpath = await open();
  const url = await fillpath.listen();
  const firstUser = await fillpath.makeFirstUser();
  assert.ok(firstUser);

  async function call<Body>(path: string, init: { method?: string; body?: unknown; key?: string } = {}) {
    const { method = init.body === undefined ? 'GET' : 'POST', key = firstUser?.apiKey } = init;
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(init.body ? { 'content-type': 'application/json' } : {}),
      },
      ...(init.body ? { body: JSON.stringify(init.body) } : {}),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : null) as Body;
  }

  /** As a program logs in, and as the first user where nothing else is said. */
  const login = (given: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email: firstUser.email, password: firstUser.password, ...given }),
    });

  /** A signal, as a charting platform sends it. */
  async function signal(
    account: Account,
    body: object,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<number> {
    const response = await fetch(`${url}/webhook/${account.webhook_token}/order${query}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        timestamp: new Date().toISOString(),
        secret: account.webhook_secret,
        ...body,
      }),
    });
    await response.text();
    return response.status;
  }

  return {
    url,
    firstUser,
    call,
    login,
    signal,
    makeAccount: (body: object) => call<Account>('/trading/accounts', { body: { broker: 'paper', ...body } }),
    /** Away, and back at the same address with all that it knew. */
    stop: () => fillpath.stop(),
    async start() {
      fillpath = await open();
      await fillpath.listen();
    },
    async close() {
      await fillpath.stop();
      rmSync(dir, { recursive: true, force: true });
      assert.deepEqual(
        undescribed.flat(),
        [],
        'answers that the documentation of their routes does not describe',
      );
    },
  };
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly watched: Watch;
  /** All is there that comes by itself: the page waits for no answer, and draws nothing as loading. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly scripts?: boolean;
}

/** Somebody with a browser of their own. */
export async function visit(
  browser: Browser,
  { width = 1280, height = 900, theme = 'light', scripts = true }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    javaScriptEnabled: scripts,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const watched = await watch(page);
  return { context, page, watched, settled: settling(page), close: () => context.close() };
}

function settling(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on('request', (request) => {
    // A stream has no end.
    if (request.resourceType() !== 'eventsource') underWay.add(request);
  });
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  const isQuiet = async () => {
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.getByLabel('Loading').first().waitFor({ state: 'detached' });
    // What an answer leads to is asked for before the next frame but one.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    return underWay.size === 0;
  };
  return async () => {
    while (!(await isQuiet()) || !(await isQuiet()));
  };
}

export async function logIn(page: Page, { url, firstUser }: Stage): Promise<void> {
  await page.goto(`${url}/login`);
  await enter(page, firstUser);
  await page.waitForURL(`${url}/`);
}

/** On the page of the login, wherever it leads. */
export async function enter(page: Page, as: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(as.email);
  await page.getByLabel('Password').fill(as.password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** On the page of the registration. */
export async function register(page: Page, { url }: Stage, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel(/I accept the terms/).check();
  await page.getByRole('button', { name: 'Register' }).click();
  await page.waitForURL(`${url}/`);
}

/** As quickly one after the other as a hand does it: the second waits for no answer of the page to the first. */
export async function chord(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
}

/** By the navigation: as a word, or under More, whatever the window's width. */
export async function goTo(page: Page, name: string): Promise<void> {
  const navigation = page.getByRole('navigation').filter({ visible: true });
  const link = navigation.getByRole('link', { name }).filter({ visible: true });
  if ((await link.count()) === 0) await navigation.getByRole('button', { name: /more pages$/i }).click();
  await link.click();
}

/** The drawer, with an order in it whose plan is there. */
export async function planOrder(page: Page): Promise<Locator> {
  await page.keyboard.press('t');
  const drawer = page.getByRole('complementary', { name: 'Trade' });
  await drawer.getByRole('combobox', { name: 'Symbol' }).fill('BTCUSDT');
  await drawer.getByLabel('Quantity').fill('0.1');
  await drawer.getByRole('button', { name: /^Buy 0\.1 BTCUSDT/ }).waitFor();
  return drawer;
}

/** The rules of axe that look at colours. */
const ABOUT_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * What keeps people out, by axe's own account; what is serious must not be there. `about`: a theme changes nothing but colours, as
 * every-page.test.ts holds; so whoever has looked at a page in one theme looks at its colours in the other.
 */
export async function barriers(page: Page, about: 'all' | 'colours' = 'all'): Promise<string[]> {
  const rules = about === 'colours' ? { runOnly: { type: 'rule', values: ABOUT_COLOURS } } : {};
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
  // The policy forbids scripts of others in the page: it comes through the debugger.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const violations = (await page.evaluate(`axe.run(document, ${options})
    .then(({ violations }) => violations.map(({ id, impact, help, nodes }) =>
      ({ impact, text: id + ': ' + help + ': ' + nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(' | ') })))`)) as {
    impact: string;
    text: string;
  }[];
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ text }) => text);
}

/** What is wider than its window (the page, or what lies over it), and what sticks out of it. */
export const sideways = (page: Page): Promise<string[]> =>
  page.evaluate(`[document.documentElement, ...document.querySelectorAll('dialog[open], aside')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map((wide) => [wide, ...wide.querySelectorAll('*')]
      .filter((element) => element === wide ||
        element.getBoundingClientRect().right > wide.getBoundingClientRect().right)
      .map(({ tagName, className }) => tagName + '.' + className).slice(0, 8).join(' > '))`);

export const scrollsSideways = async (page: Page): Promise<boolean> => (await sideways(page)).length > 0;

/** A page that is left breaks off its stream. */
const ABORTED = /net::ERR_ABORTED$/;

/** Nobody may see any of it, on any page: errors, what the policy refused, another host. */
export function assertClean(
  { errors, violations, requests }: Watch,
  url: string,
  allowed: readonly RegExp[] = [],
): void {
  assert.deepEqual(violations, []);
  assert.deepEqual(
    requests.filter((request) => !request.startsWith(url)),
    [],
  );
  assert.deepEqual(
    errors.filter((error) => !ABORTED.test(error) && !allowed.some((pattern) => pattern.test(error))),
    [],
  );
}
