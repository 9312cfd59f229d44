// The bot challenge in the pages: the only code of somebody else that they ever load. The providers are played in the
// browser: what would go to their hosts goes to us.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { assertClean, openBrowser, openStage, type Stage, visit } from './stage.ts';

const browser = await openBrowser();

/** Whose script it is, under which name it puts itself into the page, and where else it may go. */
const PROVIDERS = {
  turnstile: {
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    name: 'turnstile',
    hosts: /^https:\/\/challenges\.cloudflare\.com$/,
  },
  recaptcha: {
    script: 'https://www.google.com/recaptcha/api.js',
    name: 'grecaptcha',
    hosts: /^https:\/\/(?:www\.google\.com|www\.gstatic\.com|recaptcha\.google\.com)$/,
  },
  hcaptcha: {
    script: 'https://js.hcaptcha.com/1/api.js',
    name: 'hcaptcha',
    hosts: /^https:\/\/(?:[a-z0-9]+\.)?hcaptcha\.com$/,
  },
} as const;

/** A widget with one button, which is all of the challenge. */
const widget = (name: string) => `
  window.${name} = {
    render(place, { sitekey, callback }) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'I am a person, says ' + sitekey;
      button.onclick = () => callback('solved-' + Math.random());
      place.append(button);
      return 1;
    },
    remove() {},
  };
  window[new URL(document.currentScript.src).searchParams.get('onload')]();`;

/** What the policy lets in besides ourselves. */
async function hostsLetIn(stage: Stage): Promise<string[]> {
  const { headers } = await fetch(`${stage.url}/login`);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|\*/);
  return policy.match(/\b[a-z]+:\/\/[^\s;]+/g) ?? [];
}

/** Nothing is to be solved there. */
const UNCHALLENGED = ['/welcome', '/forgot-password'];

describe('the bot challenge', browser ? {} : { skip: 'there is no browser' }, async () => {
  if (!browser) return;
  const verifier = createServer((_, response) => response.end('{"success":true}')).listen(0, '127.0.0.1');
  await once(verifier, 'listening');
  after(async () => {
    await browser.close();
    verifier.close();
  });

  for (const [provider, { script, name, hosts }] of Object.entries(PROVIDERS))
    test(`of ${provider} is loaded where it is to be solved, and the policy opens for its hosts alone`, async (t) => {
      const stage = await openStage({
        env: {
          CAPTCHA_ENABLED: 'true',
          CAPTCHA_PROVIDER: provider,
          CAPTCHA_SECRET: 'a secret',
          CAPTCHA_SITE_KEY: 'site-1',
          CAPTCHA_VERIFY_URL: `http://127.0.0.1:${(verifier.address() as AddressInfo).port}/siteverify`,
        },
      });
      t.after(() => stage.close());
      const letIn = await hostsLetIn(stage);
      assert.ok(letIn.length > 0);
      for (const host of letIn) assert.match(host, hosts);

      const { page, watched, settled, close } = await visit(browser);
      t.after(close);
      await page.route(/^https:/, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: widget(name) }),
      );
      for (const path of UNCHALLENGED) {
        await page.goto(stage.url + path);
        await settled();
      }
      assertClean(watched, stage.url);

      for (const path of ['/register', '/login']) {
        await page.goto(stage.url + path);
        await page.getByRole('button', { name: 'I am a person, says site-1' }).waitFor();
      }
      await page.getByLabel('Email').fill(stage.firstUser.email);
      await page.getByLabel('Password').fill(stage.firstUser.password);
      const enter = page.getByRole('button', { name: 'Log in' });
      assert.ok(await enter.isDisabled());
      await page.getByRole('button', { name: 'I am a person' }).click();
      await enter.click();
      await page.waitForURL(`${stage.url}/`);
      await settled();
      const foreign = watched.requests.filter((request) => !request.startsWith(stage.url));
      assert.deepEqual(
        foreign.map((request) => request.replace(/\?.*/, '')),
        [script, script],
      );
      assertClean({ ...watched, requests: [] }, stage.url);
    });

  test('that is not configured is asked for nowhere, and the policy lets nobody in', async (t) => {
    const stage = await openStage();
    t.after(() => stage.close());
    assert.deepEqual(await hostsLetIn(stage), []);
    const { page, watched, settled, close } = await visit(browser);
    t.after(close);
    for (const path of ['/register', '/login']) {
      await page.goto(stage.url + path);
      await settled();
    }
    assertClean(watched, stage.url);
  });
});
