// The password, changed on the page by whoever knows the old one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, logIn, onStage } from './stage.ts';

const NEW_PASSWORD = 'another horse, another staple';
/** What the browser says of the answer to a wrong password. */
const EXPECTED = [/the server responded with a status of 403/];

await onStage('changing the password', async ({ stage, visitor, page, open }) => {
  await logIn(page, stage);

  test('asks for the old one, and says beside the form when that is wrong', async () => {
    await open('/security');
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set it and end other sessions' }).click();
    await page.getByRole('alert').getByText('The password is wrong.').waitFor();
    assert.deepEqual(await barriers(page), []);
  });

  test('sets it, keeps this session, and the new one logs in', async () => {
    await page.getByLabel('Current password').fill(stage.firstUser.password);
    await page.getByRole('button', { name: 'Set it and end other sessions' }).click();
    await page.getByText('Your password is changed. Every other session has ended').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Change it' }).waitFor();
    const { status } = await stage.login({ password: NEW_PASSWORD });
    assert.equal(status, 200);
    assertClean(visitor.watched, stage.url, EXPECTED);
  });
});
