// A page's bad days: nobody is there any more, though the connection looks well; the network goes and comes; an answer
// is not understood; the kill switch fails. Each has a state that was designed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, logIn, onStage } from './stage.ts';

const STREAM = '**/trading/orders/stream';
/** More than a page waits for a word of the stream. */
const SILENCE_MS = 41_000;
const NOT_LIVE = /^not live since \d\d:\d\d:\d\d$/;

/** What a browser says of what these tests do to it; the 400 is a midnight by a clock that was set forward, the
 * 404 the page that there is not. */
const EXPECTED = [/net::ERR_/, /the server responded with a status of (?:400|404|503)/, /TypeError/];

await onStage('bad days of a page', async ({ stage, visitor, page }) => {
  const account = await stage.makeAccount({ name: 'Lab' });
  await stage.signal(account, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1 });
  await logIn(page, stage);
  const live = () => page.getByText('live', { exact: true });

  test('a stream that is open and silent is noticed, and opened anew', async () => {
    await page.clock.install();
    await page.goto(`${stage.url}/positions`);
    await live().waitFor();
    // Whoever is asked now does not answer.
    await page.route(STREAM, () => {});
    await page.clock.fastForward(SILENCE_MS);
    await page.getByText(NOT_LIVE).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.clock.fastForward(SILENCE_MS);
    await live().waitFor();
  });

  test('a network that is gone is seen at once, and so is its return', async () => {
    await page.goto(`${stage.url}/positions`);
    await live().waitFor();
    await visitor.context.setOffline(true);
    await page.getByText(NOT_LIVE).waitFor();
    // What was open may be dead, and would say so only after its silence.
    const opened = page.waitForRequest(STREAM);
    await visitor.context.setOffline(false);
    await opened;
    await live().waitFor();
  });

  test('an order that filled while the stream was lost is shown as filled', async () => {
    const list = await stage.call<{ items: { order_id: string }[] }>('/trading/orders');
    const order = await stage.call<object>(`/trading/orders/${list.items[0]?.order_id}`);
    const executing = { status: 'executing' };
    await page.route('**/trading/orders?*', (route) =>
      route.fulfill({ json: { ...list, items: list.items.map((item) => ({ ...item, ...executing })) } }),
    );
    await page.route(STREAM, (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        // The browser is to wait with its own next try: the network's return is what opens the next stream.
        body: `retry: 600000\n\nevent: order\ndata: ${JSON.stringify({ ...order, ...executing })}\n\n`,
      }),
    );
    const heard = page.waitForResponse(STREAM);
    await page.goto(`${stage.url}/signals`);
    await heard;
    const row = page.getByRole('row').filter({ hasText: 'BTCUSDT' });
    await row.getByText('executing').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await visitor.context.setOffline(true);
    await visitor.context.setOffline(false);
    await live().waitFor();
    await row.getByText('filled').waitFor();
  });

  test('a page that does not understand an answer says so; the kill switch stays, and the page comes back', async () => {
    await page.route('**/trading/performance*', (route) => route.fulfill({ json: {} }));
    await page.goto(`${stage.url}/performance`);
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.locator('#halt').click();
    await page.getByRole('dialog').getByText('Every new entry is refused').waitFor();
    await page.keyboard.press('Escape');
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  test('a halt that fails says that nobody knows, and opened again it asks anew, and halts', async () => {
    await page.goto(`${stage.url}/positions`);
    await page.route('**/halt', (route) => route.fulfill({ status: 503, json: { title: 'Not now' } }));
    await page.locator('#halt').click();
    const dialog = page.getByRole('dialog');
    const halt = dialog.getByRole('button', { name: /^Halt\b/ });
    await halt.click();
    await dialog.getByText('Whether it is halted is not known.').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await page.locator('#halt').click();
    await halt.waitFor();
    assert.equal(await dialog.getByText('Whether it is halted is not known.').count(), 0);
    await halt.click();
    await dialog
      .getByText(/^Halted/)
      .first()
      .waitFor();
    const { halted } = await stage.call<{ halted: boolean }>(`/trading/accounts/${account.id}`);
    assert.equal(halted, true);
  });

  test('of two ticks, the second before the first is answered, none is lost', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route('**/settings/notifications/*', async (route) => {
      asked.resolve();
      await answered.promise;
      await route.continue();
    });
    await page.goto(`${stage.url}/notifications`);
    await page.getByLabel('Slack').check();
    await page.getByLabel('Name').fill('Desk');
    await page.getByLabel('Address').fill('https://hooks.slack.com/services/T0000/B0000/secret-part-of-it');
    await page.getByRole('button', { name: 'Add Slack' }).click();
    await page.getByRole('button', { name: /^What it is told of.*Desk$/ }).click();
    const desk = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Desk' }) });
    await desk.getByLabel('a fill', { exact: true }).click();
    await asked.promise;
    await desk.getByLabel('a webhook is silent').click();
    answered.resolve();
    await desk.getByText('Told of: everything but a webhook is silent.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('what a deleted account did stays, and says so', async () => {
    const { id, ...gone } = await stage.makeAccount({ name: 'Gone' });
    await stage.signal({ id, ...gone }, { action: 'dance' });
    await stage.call(`/trading/accounts/${id}`, { method: 'DELETE' });
    for (const path of ['/', '/signals']) {
      await page.goto(stage.url + path);
      await page.getByRole('row').filter({ hasText: 'deleted account' }).waitFor();
    }
  });

  for (const [path, asked] of [
    ['/security', 'auth/sessions'],
    ['/operation', 'deployment/workers'],
  ] as const)
    test(`${path}: what could not be read can be read again`, async () => {
      await page.route(`**/${asked}*`, (route) => route.fulfill({ status: 503, json: { title: 'Not now' } }));
      await page.goto(stage.url + path);
      const note = page.getByRole('alert').filter({ hasText: 'Not now.' });
      await note.waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await note.getByRole('button', { name: 'Try again' }).click();
      await note.waitFor({ state: 'detached' });
    });

  test('/operation: where everything failed it is said once, with nothing half-loaded below it', async () => {
    for (const asked of ['deployment/**', 'public/terms', 'health'])
      await page.route(`**/${asked}`, (route) => route.fulfill({ status: 503, json: { title: 'Not now' } }));
    await page.goto(`${stage.url}/operation`);
    await page.getByRole('heading', { name: 'Nothing answers' }).waitFor();
    const note = page.getByRole('alert');
    assert.equal(await note.count(), 1);
    assert.equal(await page.getByLabel('Loading').count(), 0);
    assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0);
    await page.unrouteAll({ behavior: 'wait' });
    await note.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    await note.waitFor({ state: 'detached' });
  });

  test('a page that there is not leaves the kill switch in reach', async () => {
    await page.goto(`${stage.url}/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.locator('#halt').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Signals' }).click();
    await page.waitForURL(`${stage.url}/signals`);
  });

  test('and nothing of it was an accident', () => assertClean(visitor.watched, stage.url, EXPECTED));
});
