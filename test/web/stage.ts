// The pages as people meet them: the whole service on the loopback, and a real Chromium before it. What happens besides the
// page under test comes through the public API, as from outside.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readConfig } from '../../src/config/config.ts';
import { openFillpath, type Parts } from '../../src/main.ts';
import { BrowserMissing, startBrowser, type Watch, watch } from '../servers/browser.ts';

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

/** The service with its first user, who is an admin and has a paper account. */
export async function openStage({
  env = {},
  parts = {},
}: {
  env?: Record<string, string>;
  parts?: Parts;
} = {}) {
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
  const fillpath = await openFillpath(config, parts);
  const url = await fillpath.listen();
  const { firstUser } = fillpath;
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

  /** A signal, as a charting platform sends it. */
  async function signal(account: Account, body: object, query = ''): Promise<number> {
    const response = await fetch(`${url}/webhook/${account.webhook_token}/order${query}`, {
      method: 'POST',
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
    fillpath,
    firstUser,
    call,
    signal,
    makeAccount: (body: object) => call<Account>('/trading/accounts', { body: { broker: 'paper', ...body } }),
    async close() {
      await fillpath.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly watched: Watch;
  close(): Promise<void>;
}

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}

/** Somebody with a browser of their own. */
export async function visit(
  browser: Browser,
  { width = 1280, height = 900, theme = 'light' }: Look = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  return { context, page, watched: await watch(page), close: () => context.close() };
}

export async function logIn(page: Page, { url, firstUser }: Stage, as = firstUser): Promise<void> {
  await page.goto(`${url}/login`);
  await page.getByLabel('Email').fill(as.email);
  await page.getByLabel('Password').fill(as.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${url}/`);
}

/** What keeps people out, by axe's own account; what is serious must not be there. */
export async function barriers(page: Page): Promise<string[]> {
  // The policy forbids scripts of others in the page: it comes through the debugger.
  await page.evaluate(axe.source);
  const violations = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, impact, help, nodes }) =>
      ({ impact, text: id + ': ' + help + ': ' + nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(' | ') })))`)) as {
    impact: string;
    text: string;
  }[];
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ text }) => text);
}

/** Nothing is wider than the window. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

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
