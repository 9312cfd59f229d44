// A position whose stop the broker refuses: Today and Positions say so in red, for how long, and what can be done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, logIn, onStage, sideways } from './stage.ts';

interface Held {
  readonly items: readonly {
    readonly protection: null | { readonly id: string; readonly state: string };
  }[];
}

const DENIED = /the server responded with a status of 409/;

await onStage(
  'a position without its stop',
  async ({ stage, visitor, page, open }) => {
    const lab = await stage.makeAccount({ name: 'Lab', paper: { protection: 'refuse' } });
    await stage.call(`/trading/accounts/${lab.id}`, {
      method: 'PATCH',
      body: { unprotected: 'alert', paper: { price: { SOLUSDT: 142 } } },
    });
    await stage.signal(lab, { action: 'buy', symbol: 'SOLUSDT', quantity: 40, stop_loss: 139 });
    const protection = async () => {
      const { items } = await stage.call<Held>(`/trading/accounts/${lab.id}/positions`);
      return items[0]?.protection;
    };
    while ((await protection())?.state !== 'unprotected');
    await logIn(page, stage);
    const fits = async () => {
      const found = await barriers(page);
      await page.setViewportSize({ width: 360, height: 780 });
      const onPhone = [...(await sideways(page)), ...(await barriers(page))];
      await page.setViewportSize({ width: 1280, height: 900 });
      assert.deepEqual({ found, onPhone }, { found: [], onPhone: [] });
    };
    const thing = page.getByRole('list', { name: 'To do, the worst first' }).getByRole('listitem').first();

    await test('leads Today, counts its seconds, and can be tried again or closed', async () => {
      await open('/');
      await page.getByRole('heading', { level: 1, name: /^1 position has no stop/ }).waitFor();
      await thing.getByText(/None for \d+/).waitFor();
      await thing.getByRole('button', { name: 'Sell 40 SOLUSDT, be flat…' }).waitFor();
      await page
        .getByText(/without its stop/)
        .first()
        .waitFor();
      await page
        .getByRole('row', { name: /Lab/ })
        .getByRole('cell', { name: '1 without its stop' })
        .waitFor();
      await page.getByRole('cell', { name: /^none for/ }).waitFor();
      await fits();
    });

    await test('is red on Positions, and its drawer does not say that it stands', async () => {
      await open('/positions');
      await page.getByRole('heading', { level: 1, name: /1 without its stop/ }).waitFor();
      await page.getByText(/^none for \d+/).waitFor();
      await page.getByText('Nothing is closed by itself').waitFor();
      await fits();
      await page.getByRole('button', { name: 'Change what protects SOLUSDT' }).press('Enter');
      const drawer = page.getByRole('complementary', { name: /SOLUSDT/ });
      await drawer.getByText('is wanted at 139, and does not stand').waitFor();
      await fits();
      await page.keyboard.press('Escape');
    });

    await test('has a story in which a state is no close', async () => {
      await open(`/protections/${(await protection())?.id}`);
      await page.getByText('unprotected: wanted at 139, and it does not stand').waitFor();
      assert.equal(await page.getByText('closed at').count(), 0);
      await fits();
    });

    await test('one that was left is kept again at a press, and a refusal is said', async () => {
      const id = (await protection())?.id;
      // No restore is needed to see the button: the service refuses what was never left.
      await page.route(/\/trading\/overview/, async (route) => {
        const answer = await route.fetch();
        const overview = (await answer.json()) as { todo: object[] };
        const todo = overview.todo.map((one) => ({
          ...one,
          kind: 'protection_left',
          severity: 'act',
          protection_id: id,
        }));
        await route.fulfill({ response: answer, json: { ...overview, todo } });
      });
      await open('/');
      await page.getByRole('heading', { level: 1, name: '1 stop is watched by nobody' }).waitFor();
      await thing.getByRole('button', { name: 'Watch and keep it again' }).press('Enter');
      await thing.getByText('not_resumable').or(thing.getByRole('alert')).first().waitFor();
      await fits();
      await page.unroute(/\/trading\/overview/);
    });

    await test('is tried again at a press, and stands', async () => {
      await stage.call(`/trading/accounts/${lab.id}`, {
        method: 'PATCH',
        body: { paper: { protection: 'native' } },
      });
      await open('/');
      await thing.getByRole('button', { name: 'Try the stop again now' }).press('Enter');
      await page.getByRole('heading', { level: 1, name: /^All in order/ }).waitFor();
      await page.getByRole('link', { name: '1 of 1 stop stands' }).waitFor();
      assert.equal((await protection())?.state, 'standing');
      await page
        .getByRole('row', { name: /Lab/ })
        .getByRole('cell', { name: /^12\d\.\d\d USD$/ })
        .waitFor();
    });

    await test('nobody saw another error', () => assertClean(visitor.watched, stage.url, [DENIED]));
  },
  { env: { PROTECT_SECONDS: '1', PROTECTION_SWEEP_SECONDS: '30' } },
);
