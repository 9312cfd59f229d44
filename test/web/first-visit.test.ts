// A newcomer's first signal, on the plan that newcomers have: what the page tells them to send is taken, and only what was
// executed counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, onStage, register, sideways } from './stage.ts';

const EMAIL = 'new@example.com';

/** A webhook as the command for a terminal names it; the shell puts the time in. */
function hookOf(command: string) {
  const filled = command.replace("'$(date -u +%FT%TZ)'", new Date().toISOString());
  const [, url = '', body = '{}'] = /'(http[^']+)'[^']*-d '([^']+)'$/.exec(filled) ?? [];
  return { url, message: JSON.parse(body) as object };
}

await onStage('a first visit on the free plan', async ({ stage, visitor, page, open }) => {
  const answer = page.getByRole('heading', { level: 1 });
  const step = (state: 'done' | 'to do') =>
    page.getByRole('heading', { level: 3 }).filter({ hasText: `The first signal, ${state}` });
  const command = async () => hookOf(await page.getByRole('main').locator('pre').innerText());
  const post = async (url: string, message: object) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(message) });
    await response.text();
    return response.status;
  };
  const setPlan = async (plan: string) => {
    const { items } = await stage.call<{ items: { id: string; email: string }[] }>('/deployment/users');
    const { id = '' } = items.find(({ email }) => email === EMAIL) ?? {};
    await stage.call(`/deployment/users/${id}`, { method: 'PATCH', body: { plan } });
  };

  test('the command is for the simulated book, and says so', async () => {
    await page.goto(`${stage.url}/register`);
    await register(page, stage, EMAIL);
    await page.getByRole('button', { name: 'Open a paper account' }).first().click();
    const { url } = await command();
    assert.match(url, /\/webhook\/[^/]+\/order\?simulation=true$/);
    await page.getByRole('main').getByText('simulated', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'from the charting platform' }).click();
    await page.getByText(/\/order\?simulation=true$/).waitFor();
    for (const width of [390, 768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await sideways(page), [], `the address at ${width}`);
    }
    await page.getByRole('button', { name: 'from a terminal' }).click();
    assert.deepEqual(await barriers(page), []);
  });

  test('a signal that is refused is shown as refused, ticks nothing, and the wait goes on', async () => {
    const { url, message } = await command();
    assert.equal(await post(url.replace('?simulation=true', ''), message), 403);
    const waiting = page.getByText('Waiting for your first signal…');
    await page.getByText(/plan/i).and(page.locator('[aria-live] p')).first().waitFor();
    await page.getByRole('main').getByText('refused', { exact: true }).waitFor();
    await waiting.waitFor();
    await step('to do').waitFor();
    assert.equal(await answer.innerText(), 'Send your first signal');
    await open('/');
    assert.equal(await answer.innerText(), 'Send your first signal', 'on the next visit, too');
    await page.getByRole('main').getByText('refused', { exact: true }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    assert.deepEqual(await sideways(page), []);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('a plan that is bought changes the command at once, and back', async () => {
    const shown = page.getByRole('main').locator('pre').filter({ hasText: 'simulation=true' });
    await setPlan('pro');
    await shown.waitFor({ state: 'detached' });
    assert.match((await command()).url, /\/order$/);
    await setPlan('free');
    await shown.waitFor();
  });

  test('the command as it is shown is executed, and ticks the box', async () => {
    const { url, message } = await command();
    assert.equal(await post(url, message), 200);
    await answer.filter({ hasText: 'Your first signal is here' }).waitFor();
    await step('done').waitFor();
    await page.getByText('Opened long').waitFor();
    assert.equal(await page.getByText('Waiting for your first signal…').count(), 0);
    await open('/');
    assert.notEqual(await answer.innerText(), 'Send your first signal', 'it was the first visit');
    assertClean(visitor.watched, stage.url);
  });
});
