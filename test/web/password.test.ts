// The password, changed on the page by whoever knows the old one.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  assertClean,
  barriers,
  logIn,
  openBrowser,
  openStage,
  type Stage,
  type Visit,
  visit,
} from './stage.ts';

const browser = await openBrowser();
const NEW_PASSWORD = 'another horse, another staple';
/** What the browser says of the answer to a wrong password. */
const EXPECTED = [/the server responded with a status of 403/];

describe('changing the password', browser ? {} : { skip: 'there is no browser' }, () => {
  let stage: Stage;
  let visitor: Visit;
  let page: Page;
  before(async () => {
    if (!browser) return;
    stage = await openStage();
    visitor = await visit(browser);
    page = visitor.page;
    await logIn(page, stage);
  });
  after(async () => {
    await browser?.close();
    await stage?.close();
  });

  test('asks for the old one, and says beside the form when that is wrong', async () => {
    await page.goto(`${stage.url}/security`);
    await visitor.settled();
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
    const { email } = stage.firstUser;
    const login = await fetch(`${stage.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: NEW_PASSWORD }),
    });
    assert.equal(login.status, 200);
    assertClean(visitor.watched, stage.url, EXPECTED);
  });
});
