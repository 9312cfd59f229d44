// A session's bad days: it expires, it is revoked, it ends in another tab; the service goes away; the browser runs no
// scripts, or its clock is wrong. Each has a state that was designed, and none is an accident.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertClean,
  enter,
  goTo,
  logIn,
  onStage,
  planOrder,
  type Scene,
  type Stage,
  visit,
} from './stage.ts';

const HOUR_MS = 3_600_000;
/** The service's own. */
const clock = { ahead: 0, now: () => Date.now() + clock.ahead };

/** What a browser says of an answer that pages expect, and of a service that is away. */
const EXPECTED = [/the server responded with a status of 401/, /net::ERR_(?:CONNECTION|INCOMPLETE|EMPTY)/];

/** Somebody else who is logged in as the same user, and ends all sessions but the own. */
async function revokeOthers({ url, login }: Stage): Promise<void> {
  const entered = await login();
  const { csrf_token } = (await entered.json()) as { csrf_token: string };
  const headers = {
    cookie: entered.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
    'x-csrf-token': csrf_token,
  };
  const answer = await fetch(`${url}/auth/sessions`, { headers });
  const { items } = (await answer.json()) as { items: { id: string; current: boolean }[] };
  for (const { id } of items.filter(({ current }) => !current)) {
    const { ok } = await fetch(`${url}/auth/sessions/${id}`, { method: 'DELETE', headers });
    assert.ok(ok);
  }
}

await onStage('bad days of a session', badDays, { parts: { clock } });

async function badDays({ stage, browser, visitor, page }: Scene): Promise<void> {
  const signal = async () => {
    const account = await stage.makeAccount({ name: 'Lab' });
    assert.equal(await stage.signal(account, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1 }), 200);
  };
  await signal();
  await logIn(page, stage);

  test('a browser without scripts is told what works without them', async () => {
    const unscripted = await visit(browser, { scripts: false });
    for (const path of ['/', '/positions']) {
      await unscripted.page.goto(stage.url + path);
      await unscripted.page
        .getByRole('heading', { name: 'Fillpath needs JavaScript for its pages' })
        .waitFor();
      assert.match(
        await unscripted.page.locator('main').innerText(),
        /Your webhooks, guards and orders work without it\./,
      );
    }
    await unscripted.close();
  });

  for (const [words, ms] of [
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ] as const)
    test(`with a browser’s clock an hour ${words}, ages are right`, async () => {
      const other = await visitor.context.newPage();
      await other.addInitScript(`{
        const Real = Date;
        globalThis.Date = class extends Real {
          constructor(...given) {
            super(...(given.length === 0 ? [Real.now() + ${ms}] : given));
          }
          static now() {
            return Real.now() + ${ms};
          }
        };
      }`);
      await other.goto(`${stage.url}/signals`);
      const arrived = other.getByRole('row').filter({ hasText: 'BTCUSDT' }).locator('time').first();
      await arrived.waitFor();
      assert.match((await arrived.getAttribute('title')) ?? '', / UTC, (?:\d+ s|\d min) ago$/);
      await other.close();
    });

  test('a service that is away: what is shown stays, and says how old it is; then it goes on by itself', async () => {
    await page.goto(`${stage.url}/signals`);
    const rows = page.getByRole('row').filter({ hasText: 'BTCUSDT' });
    await rows.first().waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await stage.stop();
    await page.getByText(/^not live since \d\d:\d\d:\d\d$/).waitFor();
    assert.equal(await rows.count(), 1);
    await stage.start();
    await page.getByText('live', { exact: true }).waitFor();
    await signal();
    await page.getByRole('button', { name: /1 new/ }).or(rows.nth(1)).first().waitFor();
  });

  test('a session that expires in two tabs at once is refreshed, and nobody notices', async () => {
    const other = await visitor.context.newPage();
    const answers: number[] = [];
    visitor.context.on('response', (response) => {
      if (response.url().endsWith('/auth/silent-refresh')) answers.push(response.status());
    });
    await other.goto(`${stage.url}/positions`);
    await other.getByRole('heading', { level: 1 }).waitFor();
    for (const [name, path] of [
      ['Accounts', '/accounts'],
      ['Performance', '/performance'],
    ] as const) {
      clock.ahead += HOUR_MS;
      await Promise.all(
        [page, other].map(async (tab) => {
          await goTo(tab, name);
          await tab.waitForURL(stage.url + path);
          await tab.getByLabel('Loading').first().waitFor({ state: 'detached' });
          // The plan is asked for with a request that could change something: it needs the CSRF token.
          const drawer = await planOrder(tab);
          await tab.keyboard.press('Escape');
          await drawer.waitFor({ state: 'detached' });
          assert.equal(new URL(tab.url()).pathname, path);
        }),
      );
    }
    assert.ok(answers.length >= 2, String(answers));
    assert.deepEqual([...new Set(answers)], [200]);
    await other.close();
  });

  test('a session that is revoked elsewhere ends at the login, and goes on where it was', async () => {
    const path = '/signals?outcome=refused';
    await page.goto(stage.url + path);
    await page.getByText('live', { exact: true }).waitFor();
    await revokeOthers(stage);
    await page.waitForURL(`${stage.url}/login?next=${encodeURIComponent(path)}`);
    await page.getByText('You were going to Signals').waitFor();
    await enter(page, stage.firstUser);
    await page.waitForURL(stage.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  test('who logs out in one tab is out in all, and who logs in is in again in all', async () => {
    const other = await visitor.context.newPage();
    await other.goto(`${stage.url}/positions`);
    await other.getByRole('heading', { level: 1 }).waitFor();
    await page.goto(`${stage.url}/security`);
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL(/\/login/);
    // Where this one was is nobody's business: another may log in next.
    await other.waitForURL(`${stage.url}/login`);
    // It hears of the login once it is there.
    await other.getByLabel('Email').waitFor();
    await enter(page, stage.firstUser);
    await page.waitForURL(`${stage.url}/`);
    await other.waitForURL(`${stage.url}/`);
    await other.close();
  });

  test('who finds the session over before it hears that somebody logged out does not remember where it was', async () => {
    const teller = await visitor.context.newPage();
    await teller.goto(`${stage.url}/terms`);
    const tell = (said: string, session: string | null) =>
      teller.evaluate((word) => new BroadcastChannel('fillpath.session').postMessage(word), {
        said,
        session,
      });
    await page.goto(`${stage.url}/positions`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await tell('over', await teller.evaluate(() => localStorage.getItem('fillpath.logged-in')));
    await page.waitForURL(`${stage.url}/login?next=${encodeURIComponent('/positions')}`);
    // The one that logged out finds its session ended by the first word.
    await tell('out', null);
    await page.waitForURL(`${stage.url}/login`);
    await enter(page, stage.firstUser);
    await page.waitForURL(`${stage.url}/`);
    await teller.close();
  });

  test('who hears of a login before the browser’s storage tells of it is in all the same', async () => {
    const other = await visitor.context.newPage();
    await other.goto(`${stage.url}/login`);
    await other.getByLabel('Email').waitFor();
    await other.evaluate(() => {
      const session = localStorage.getItem('fillpath.logged-in');
      localStorage.removeItem('fillpath.logged-in');
      new BroadcastChannel('fillpath.session').postMessage({ said: 'in', session });
    });
    // It stands on every page inside, and on no other.
    await other.locator('#halt').waitFor();
    assert.equal(new URL(other.url()).pathname, '/');
    await other.close();
  });

  test('what another tab tells late of the session before does not end this one; of this one it does', async () => {
    const other = await visitor.context.newPage();
    await other.goto(`${stage.url}/terms`);
    const tell = (session: string | null) =>
      other.evaluate((of) => {
        new BroadcastChannel('fillpath.session').postMessage({ said: 'over', session: of });
      }, session);
    const present = await other.evaluate(() => localStorage.getItem('fillpath.logged-in'));
    assert.ok(present);
    for (const earlier of ['1', null]) await tell(earlier);
    // Words arrive in their order: had one of those been followed, this one would find it at the login, on its way to Today.
    await page.goto(`${stage.url}/security`);
    await tell('1');
    await goTo(page, 'Accounts');
    await page.waitForURL(`${stage.url}/accounts`);
    await tell(present);
    await page.waitForURL(`${stage.url}/login?next=${encodeURIComponent('/accounts')}`);
    await enter(page, stage.firstUser);
    await page.waitForURL(`${stage.url}/accounts`);
    await other.close();
  });

  test('and nothing of it was an accident', () => assertClean(visitor.watched, stage.url, EXPECTED));
}
