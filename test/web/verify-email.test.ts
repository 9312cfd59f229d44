// An address that has to be confirmed: registering, what is said until then, and the link.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mail } from '../../src/mail/mailer.ts';
import { assertClean, barriers, onStage, PASSWORD } from './stage.ts';

const mails: Mail[] = [];
const mailer = {
  async send(mail: Mail) {
    mails.push(mail);
  },
};
const pathIn = (mail: Mail | undefined): string =>
  /(\/verify-email\?token=[\w-]{43})\s/.exec(mail?.text ?? '')?.[1] ?? '';

await onStage(
  'an address that has to be confirmed',
  ({ stage, visitor, page, open }) => {
    test('registering says that a link is mailed, and one is in', async () => {
      await open('/register');
      await page.getByText('A link is mailed there, to confirm that it is yours.').waitFor();
      await page.getByLabel('Email').fill('ann@example.com');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Register' }).click();
      await page.getByText('Confirm your address.').waitFor();
      assert.deepEqual(await barriers(page), []);
    });

    test('until then every page says so, and another link can be sent', async () => {
      await open('/security');
      await page.getByText('Follow the link that was mailed to').waitFor();
      await page.getByRole('button', { name: 'Send it again' }).click();
      await page.getByText('Another one is on its way.').waitFor();
    });

    test('the link confirms it by a press, and the pages say no more of it', async () => {
      assert.notEqual(pathIn(mails.at(-1)), '');
      await open(pathIn(mails.at(-1)));
      assert.equal(new URL(page.url()).search, '');
      assert.deepEqual(await barriers(page), []);
      await page.getByRole('button', { name: 'The address is mine' }).click();
      await page.getByText('Your address is confirmed').waitFor();
      await page.getByRole('link', { name: 'Go on to Today' }).click();
      await page.getByRole('link', { name: 'Positions' }).first().waitFor();
      assert.equal(await page.getByText('Confirm your address.').count(), 0);
      assertClean(visitor.watched, stage.url);
    });
  },
  { env: { VERIFY_EMAIL: 'true' }, parts: { mailer } },
);
