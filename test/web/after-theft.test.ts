// After a theft, on the page: everything ends with two presses, and what is left to do goes away as it is done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, logIn, onStage, sideways } from './stage.ts';

/** What the browser says of the answers to whoever is out. */
const EXPECTED = [/the server responded with a status of 401/];
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };

await onStage('after a theft', async ({ stage, visitor, page, open }) => {
  await logIn(page, stage);
  const csrf = async () =>
    (await (await page.request.get(`${stage.url}/auth/session`)).json()) as { csrf_token: string };
  const added = await page.request.post(`${stage.url}/settings/notifications`, {
    headers: { 'x-csrf-token': (await csrf()).csrf_token },
    data: { kind: 'webhook', name: 'Phone', events: ['fill'], url: 'https://example.com/hook' },
  });
  assert.equal(added.status(), 201);

  test('logging out everywhere says what ends, and ends it', async () => {
    await open('/security');
    assert.equal(await page.getByRole('heading', { name: 'After a theft' }).count(), 0);
    await page.getByRole('button', { name: 'Log out everywhere…' }).click();
    await page.getByRole('button', { name: 'End all of them, this session too' }).click();
    await page.waitForURL(/\/login/);
    const byKey = await fetch(`${stage.url}/trading/accounts`, {
      headers: { authorization: `Bearer ${stage.firstUser.apiKey}` },
    });
    assert.equal(byKey.status, 401);
  });

  test('the page lists what is left, and what may have been seen', async () => {
    await logIn(page, stage);
    await open('/security');
    await page.getByRole('heading', { name: 'After a theft' }).waitFor();
    await page.getByText('What may have been seen, and what was done').click();
    await page.getByText('notification destination added').waitFor();
    assert.deepEqual(await barriers(page), []);
    await page.setViewportSize(PHONE);
    assert.deepEqual(await sideways(page), []);
    await page.setViewportSize(DESKTOP);
  });

  test('one press each replaces a secret and an address, and says what to change on the platform', async () => {
    await page.getByRole('button', { name: /^Replace the webhook secret of/ }).click();
    await page
      .getByRole('status')
      .getByText('In every alert that sends to this account, put the new secret')
      .waitFor();
    await page.getByRole('button', { name: /^Replace the webhook address of/ }).click();
    await page.getByRole('status').getByText('put the new URL in place of the old one').waitFor();
    await page
      .getByRole('button', { name: /^Replace/ })
      .first()
      .waitFor({ state: 'detached' });
  });

  test('a destination is confirmed by one press, here or among the notifications', async () => {
    await open('/notifications');
    await page.getByText('Nothing is sent there until you confirm it').waitFor();
    assert.ok(await page.getByRole('button', { name: /^Send a test/ }).isDisabled());
    await open('/security');
    await page.getByRole('button', { name: 'Confirm Phone' }).click();
    await page.getByRole('heading', { name: 'After a theft' }).waitFor({ state: 'detached' });
    assertClean(visitor.watched, stage.url, EXPECTED);
  });
});
