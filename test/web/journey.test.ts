// A new user's first day, in a real browser, from the registration to the logout: what the pages show is what happened.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { stepAt, totpCode } from '../../src/domain/totp.ts';
import { assertClean, openBrowser, openStage, PASSWORD, type Stage, visit } from './stage.ts';

const browser = await openBrowser();

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** RFC 4648. */
function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** What a charting platform does with the message that the page shows. */
async function sendCurl(stage: Stage, command: string): Promise<number> {
  const [, url = ''] = /'(http[^']+)'/.exec(command) ?? [];
  const [, body = ''] = /-d '([\s\S]+?)'\s*$/.exec(command) ?? [];
  assert.ok(url.startsWith(stage.url), command);
  const response = await fetch(url, { method: 'POST', body });
  await response.text();
  return response.status;
}

describe('a first day', browser ? {} : { skip: 'there is no browser' }, async () => {
  if (!browser) return;
  const stage = await openStage();
  const { page, watched, close } = await visit(browser);
  const email = 'ann@example.com';

  test('a stranger at the door sees what this is, and registers', async () => {
    await page.goto(stage.url);
    await heading(page).waitFor();
    await page.getByRole('link', { name: 'Register' }).first().click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.waitForURL(`${stage.url}/`);
    await heading(page).waitFor();
    // The operator sells the plan.
    const { items } = await stage.call<{ items: { id: string; email: string }[] }>('/deployment/users');
    const { id = '' } = items.find((user) => user.email === email) ?? {};
    await stage.call(`/deployment/users/${id}`, { method: 'PATCH', body: { plan: 'pro' } });
    await page.reload();
    await heading(page).waitFor();
    console.log(await page.locator('main').innerText());
  });

  test('end', async () => {
    assertClean(watched, stage.url);
    await close();
    await stage.close();
    await browser.close();
  });
});
void totpCode;
void stepAt;
void fromBase32;
void sendCurl;
