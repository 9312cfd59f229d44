// /docs in a real browser, under the policy that every page of the service has.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type OpenApi, openApi } from '../../src/http/docs/openapi.ts';
import { docsPage } from '../../src/http/docs/page.ts';
import { BrowserMissing, startBrowser, watch } from '../servers/browser.ts';
import { openWorld } from '../world.ts';

const started = await startBrowser().catch((fault: unknown) => {
  if (fault instanceof BrowserMissing) return fault;
  throw fault;
});
if (started instanceof BrowserMissing) console.log(`skipped: ${started.message}`);

/** A document with what a page must not take for its own. */
const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&`;
function hostileDocument(): OpenApi {
  const answers = {
    200: {
      type: 'object',
      title: 'Thing',
      description: HOSTILE,
      properties: { [HOSTILE]: { type: 'string', enum: [HOSTILE] } },
    },
  };
  return openApi(
    [
      {
        method: 'POST',
        url: '/things/:id',
        access: 'user',
        body: {
          type: 'object',
          properties: { field: { type: 'string', description: HOSTILE, examples: [HOSTILE] } },
        },
        query: undefined,
        headers: undefined,
        doc: {
          id: 'x',
          tag: 'Public',
          summary: HOSTILE,
          description: HOSTILE,
          params: { id: HOSTILE },
          answers: answers as never,
        },
      },
    ],
    { version: HOSTILE, baseUrl: HOSTILE },
  );
}

test('whatever the document says is text on the page, and nothing else', () => {
  const page = docsPage(hostileDocument());
  assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
  assert.ok(!/<(?:script|img)/.test(page));
  // Tags and attributes of ours alone: every quote inside a text is escaped.
  assert.ok(!page.includes(`"'&`));
});

describe('the page under /docs', started instanceof BrowserMissing ? { skip: started.message } : {}, () => {
  const browser = started as Browser;

  async function openDocs(
    t: TestContext,
    { width = 1280, height = 900, scheme = 'light' as 'light' | 'dark' } = {},
  ) {
    const world = await openWorld(t);
    const origin = await world.server.listen({ host: '127.0.0.1', port: 0 });
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
    t.after(() => context.close());
    const page = await context.newPage();
    const seen = await watch(page);
    const response = await page.goto(`${origin}/docs`);
    return { world, origin, page, seen, response };
  }

  test('loads without an error, without breaking the policy, and from our own host alone', async (t) => {
    const { origin, page, seen, response } = await openDocs(t);
    assert.equal(response?.status(), 200);
    assert.match(response?.headers()['content-type'] ?? '', /^text\/html; charset=utf-8$/);
    const policy = response?.headers()['content-security-policy'] ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    await page.waitForLoadState('networkidle');
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.violations, []);
    assert.deepEqual(seen.requests, [`${origin}/docs`, `${origin}/docs/style.css`]);
    // The stylesheet is really applied.
    assert.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.masthead')).position`),
      'sticky',
    );
    assert.equal(await page.locator('script, style, [style], [onclick]').count(), 0);
  });

  test('a violation would be noticed', async (t) => {
    const { page, seen } = await openDocs(t);
    await page.evaluate(`document.body.setAttribute('style', 'color: red')`).catch(() => undefined);
    await page.evaluate(`new Promise((done) => {
      const image = new Image();
      image.onerror = done;
      image.src = 'https://elsewhere.example/x.png';
      document.body.append(image);
    })`);
    assert.match(seen.violations.join('\n'), /img-src.*elsewhere/);
  });

  test('has every call, with its address, and every link on it leads somewhere', async (t) => {
    const { world, origin, page } = await openDocs(t);
    const document = (await world.request<OpenApi>({ method: 'GET', url: '/openapi.json' })).body;
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, summary }]) => ({
        id: operationId,
        summary,
        address: `${method.toUpperCase()} ${path}`,
        isInIndex: true,
      })),
    );
    assert.ok(calls.length > 50);
    // In one look: there are more than a hundred of them.
    const shown = await page.evaluate(`${JSON.stringify(calls.map(({ id }) => id))}.map((id) => {
      const call = document.getElementById(id);
      const links = [...document.querySelectorAll('nav a[href="#' + id + '"]')];
      return {
        id,
        summary: call?.querySelector('h3')?.textContent,
        address: call?.querySelector('.address')?.textContent,
        isInIndex: links.length === 1 && links[0].checkVisibility({ visibilityProperty: true }) && links[0].getBoundingClientRect().width > 0,
      };
    })`);
    assert.deepEqual(shown, calls);
    const dangling = await page.evaluate(`[...document.querySelectorAll('a[href^="#"]')]
      .map((link) => link.getAttribute('href')).filter((href) => !document.querySelector(href))`);
    assert.deepEqual(dangling, []);
    const twice = await page.evaluate(`[...document.querySelectorAll('[id]')]
      .map(({ id }) => id).filter((id, index, ids) => ids.indexOf(id) !== index)`);
    assert.deepEqual(twice, []);
    await page.getByRole('link', { name: 'openapi.json' }).click();
    assert.equal(page.url(), `${origin}/openapi.json`);
  });

  test('shows what a call takes, answers and refuses, with what to do', async (t) => {
    const { page } = await openDocs(t);
    const call = page.locator('#placeOrder');
    const text = (await call.textContent()) ?? '';
    for (const part of [
      'Idempotency-Key',
      'trading_account_id',
      'required',
      'X-CSRF-Token',
      'OrderResult',
      '202',
    ])
      assert.ok(text.includes(part), part);
    const error = call.getByText('The account is halted.');
    assert.ok(!(await error.isVisible()));
    await call.locator('.errors summary').click();
    assert.ok(await error.isVisible());
    assert.match((await call.textContent()) ?? '', /Resume the account to trade again/);
  });

  test('is used by keyboard alone: past the index to the content, and into the errors', async (t) => {
    const { page } = await openDocs(t);
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to content' });
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
    assert.ok(((await skip.boundingBox())?.y ?? -1) >= 0, 'it shows while it has the focus');
    await page.keyboard.press('Enter');
    assert.ok(page.url().endsWith('#content'));
    // From there on, the next stop is in the content.
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(`document.querySelector('main').contains(document.activeElement)`));
    const errors = page.locator('#sendSignal .errors summary');
    await errors.focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('#sendSignal').getByText('The webhook secret is wrong.').isVisible());
  });

  for (const [width, scheme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [820, 'light'],
    [390, 'light'],
    [390, 'dark'],
    [320, 'light'],
  ] as const)
    test(`fits a window of ${width} pixels, ${scheme}, and can be read`, async (t) => {
      const { page } = await openDocs(t, { width, height: 844, scheme });
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      const unreadable = await page.evaluate(FAINT_TEXTS);
      assert.deepEqual(unreadable, []);
    });

  test('has its index behind a fold on a small screen', async (t) => {
    const { page } = await openDocs(t, { width: 390, height: 844 });
    const link = page.locator('nav a[href="#placeOrder"]');
    assert.ok(!(await link.isVisible()));
    await page.locator('nav summary').click();
    await link.click();
    assert.ok(page.url().endsWith('#placeOrder'));
    await page.getByRole('link', { name: 'All calls' }).click();
    assert.ok(await page.locator('nav summary').isVisible());
  });

  test('the browser ends with the tests', () => browser.close());
});

/** WCAG AA: 4.5:1 for every text, against the colour behind it. */
const FAINT_TEXTS = `(() => {
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const rgba = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!hasText || !element.checkVisibility()) continue;
    const [text, back] = [luminance(rgba(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
    if (ratio < 4.5) faint.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(2));
  }
  return [...faint];
})()`;
