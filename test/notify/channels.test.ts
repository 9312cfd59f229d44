// The channels' own languages, against servers that answer as the real ones do.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Message } from '../../src/domain/told/notification.ts';
import type { Address } from '../../src/notify/channel.ts';
import { openChannels } from '../../src/notify/channels.ts';
import { answers, openReceiver } from './receiver.ts';

const NOW = Date.parse('2026-11-16T15:00:00Z');
const MESSAGE: Message = {
  id: '019a0000-0000-7000-8000-000000000001',
  event: 'fill',
  at: timestamp(NOW - 60_000),
  title: 'Fill',
  text: 'buy 1 BTCUSDT on <!channel> @everyone [free](https://evil.example) *bold* & <b>',
  link: 'https://fillpath.example/orders/1',
  data: { order_id: '1', status: 'filled' },
};

const channels = (telegramUrl = 'http://127.0.0.1:1') =>
  openChannels({
    allowed: ipList(['127.0.0.0/8']),
    telegramUrl,
    clock: { now: () => NOW },
    log: { warn: () => {} },
  });

describe('A webhook', () => {
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  const send = async (t: TestContext, answer = answers(204)) => {
    const receiver = await openReceiver(t, answer);
    const address: Address = { kind: 'webhook', url: `${receiver.url}/hook?k=v`, secret };
    return { attempt: await channels().send(address, MESSAGE), receiver };
  };

  test('is signed as Standard Webhooks says: whoever knows the secret can verify id, time and body', async (t) => {
    const { attempt, receiver } = await send(t);
    assert.deepEqual(attempt, { outcome: 'delivered' });
    const [got] = receiver.received;
    assert.ok(got);
    assert.equal(got.path, '/hook?k=v');
    assert.equal(got.headers['content-type'], 'application/json');
    assert.equal(got.headers['webhook-id'], MESSAGE.id);
    assert.equal(got.headers['webhook-timestamp'], String(NOW / 1000));
    const signed = `${MESSAGE.id}.${NOW / 1000}.${got.body}`;
    const mac = createHmac('sha256', Buffer.alloc(32, 5)).update(signed).digest('base64');
    assert.equal(got.headers['webhook-signature'], `v1,${mac}`);
    assert.deepEqual(JSON.parse(got.body), {
      type: 'fill',
      timestamp: MESSAGE.at,
      data: {
        title: 'Fill',
        text: MESSAGE.text,
        link: MESSAGE.link,
        order_id: '1',
        status: 'filled',
      },
    });
  });

  test("verifies the specification's own example", async () => {
    const { signatureOf } = await import('../../src/notify/webhook.ts');
    const signature = signatureOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
    });
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('that answers 410 wants no more; whatever else it answers is tried again, and a redirect is explained', async (t) => {
    assert.equal((await send(t, answers(410))).attempt.outcome, 'gone');
    for (const status of [301, 307, 400, 401, 404, 408, 429, 500, 503])
      assert.equal((await send(t, answers(status))).attempt.outcome, 'again', String(status));
    const { attempt } = await send(t, answers(302, '', { location: 'http://169.254.169.254/' }));
    assert.match('error' in attempt ? attempt.error : '', /redirects are not followed/);
    const busy = await send(t, answers(503, '', { 'retry-after': '120' }));
    assert.equal('retryAfterMs' in busy.attempt && busy.attempt.retryAfterMs, 120_000);
  });

  test('that finds the body wrong may mean this message alone', async (t) => {
    const isRefusal = async (status: number) => {
      const { attempt } = await send(t, answers(status));
      return attempt.outcome === 'again' && attempt.isRefusal === true;
    };
    for (const status of [400, 413, 422]) assert.equal(await isRefusal(status), true, String(status));
    for (const status of [401, 404, 429, 500]) assert.equal(await isRefusal(status), false, String(status));
  });

  test('nothing of what its server answers is shown', async (t) => {
    const { attempt } = await send(t, answers(500, 'AWS_SECRET=1'));
    assert.deepEqual(attempt, { outcome: 'again', error: 'It answered 500.' });
  });
});

describe('Telegram', () => {
  const address: Address = { kind: 'telegram', botToken: '123:secret-token', chatId: '-100' };
  const send = async (t: TestContext, answer = answers(200, { ok: true })) => {
    const receiver = await openReceiver(t, answer);
    return { attempt: await channels(receiver.url).send(address, MESSAGE), receiver };
  };

  test('gets plain text, without markup and previews', async (t) => {
    const { attempt, receiver } = await send(t);
    assert.deepEqual(attempt, { outcome: 'delivered' });
    assert.equal(receiver.received[0]?.path, '/bot123:secret-token/sendMessage');
    assert.deepEqual(JSON.parse(receiver.received[0]?.body ?? ''), {
      chat_id: '-100',
      text: `${MESSAGE.title}\n${MESSAGE.text}\n${MESSAGE.link}`,
      link_preview_options: { is_disabled: true },
    });
  });

  test('says in its answer how long to wait', async (t) => {
    const busy = {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 9',
      parameters: { retry_after: 9 },
    };
    const { attempt } = await send(t, answers(429, busy));
    assert.deepEqual(attempt, {
      outcome: 'again',
      error: 'Telegram answered 429: Too Many Requests: retry after 9.',
      retryAfterMs: 9_000,
    });
  });

  test('a revoked token, a bot that was blocked and a chat that is not there are gone for good', async (t) => {
    for (const [status, description] of [
      [401, 'Unauthorized'],
      [404, 'Not Found'],
      [403, 'Forbidden: bot was blocked by the user'],
      [400, 'Bad Request: chat not found'],
      [400, 'Bad Request: group chat was upgraded to a supergroup chat'],
    ] as const) {
      const { attempt } = await send(t, answers(status, { ok: false, description }));
      assert.equal(attempt.outcome, 'gone', description);
      assert.doesNotMatch(JSON.stringify(attempt), /secret-token/);
    }
    const { attempt } = await send(
      t,
      answers(400, { ok: false, description: 'Bad Request: message is too long' }),
    );
    assert.equal(attempt.outcome, 'unfit');
  });

  test('a message that is too long is cut, not broken', async (t) => {
    const receiver = await openReceiver(t, answers(200, {}));
    await channels(receiver.url).send(address, { ...MESSAGE, text: '😀'.repeat(4_000) });
    const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
    assert.ok(text.length <= 4096);
    assert.ok(text.isWellFormed());
  });
});

describe('Discord and Slack', () => {
  const send = async (t: TestContext, kind: 'discord' | 'slack', answer = answers(204)) => {
    const receiver = await openReceiver(t, answer);
    const attempt = await channels().send({ kind, url: `${receiver.url}/a/secret-token` }, MESSAGE);
    return { attempt, body: JSON.parse(receiver.received[0]?.body ?? '') as Record<string, unknown> };
  };

  test('Discord calls nobody, whatever stands in a name, and lays nothing out', async (t) => {
    const { attempt, body } = await send(t, 'discord');
    assert.deepEqual(attempt, { outcome: 'delivered' });
    assert.deepEqual(body.allowed_mentions, { parse: [] });
    const content = String(body.content);
    assert.doesNotMatch(content, /(?<!\\)[*_~`|<>[\]@]/);
    assert.ok(content.endsWith(`\n${MESSAGE.link}`));
  });

  test('Slack gets its three characters escaped', async (t) => {
    const { attempt, body } = await send(t, 'slack', answers(200, 'ok'));
    assert.deepEqual(attempt, { outcome: 'delivered' });
    assert.match(String(body.text), /on &lt;!channel&gt; @everyone .* &amp; &lt;b&gt;/);
    assert.equal(body.mrkdwn, false);
  });

  test('a webhook that was deleted is gone; who is busy is waited for', async (t) => {
    const deleted = await send(t, 'discord', answers(404, { message: 'Unknown Webhook', code: 10015 }));
    assert.deepEqual(deleted.attempt, { outcome: 'gone', error: 'Discord answered 404: Unknown Webhook.' });
    const busy = await send(
      t,
      'discord',
      answers(429, { message: 'You are being rate limited.', retry_after: 0.55 }),
    );
    assert.equal('retryAfterMs' in busy.attempt && busy.attempt.retryAfterMs, 550);
    for (const [status, word] of [
      [404, 'no_service'],
      [410, 'channel_is_archived'],
      [403, 'invalid_token'],
    ] as const)
      assert.deepEqual((await send(t, 'slack', answers(status, word))).attempt, {
        outcome: 'gone',
        error: `Slack answered ${status}: ${word}.`,
      });
    const slow = await send(t, 'slack', answers(429, '', { 'retry-after': '30' }));
    assert.equal('retryAfterMs' in slow.attempt && slow.attempt.retryAfterMs, 30_000);
  });
});

test('a chat is told of when it was, where that is more than a minute ago', async (t) => {
  const at = timestamp(NOW - 60_001);
  const said = async (kind: 'telegram' | 'discord' | 'slack', message: Message) => {
    const receiver = await openReceiver(t, answers(200, {}));
    const address: Address =
      kind === 'telegram'
        ? { kind, botToken: '123:secret-token', chatId: '-100' }
        : { kind, url: `${receiver.url}/a/secret-token` };
    await channels(receiver.url).send(address, message);
    return receiver.received[0]?.body ?? '';
  };
  for (const kind of ['telegram', 'discord', 'slack'] as const) {
    assert.match(
      (await said(kind, { ...MESSAGE, at })).replaceAll('\\', ''),
      /At 2026-11-16 14:58 UTC: buy 1/,
      kind,
    );
    assert.doesNotMatch(await said(kind, MESSAGE), /UTC/, kind);
  }
});

describe("A Bot API server of the operator's own", () => {
  const TOKEN = `123456789:${'A'.repeat(35)}`;
  const telegram: Address = { kind: 'telegram', botToken: TOKEN, chatId: '42' };
  const guarded = (telegramUrl: string, timeoutMs?: number) =>
    openChannels({
      allowed: ipList([]),
      telegramUrl,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      clock: { now: () => NOW },
      log: { warn: () => {} },
    });

  test('may stand in a network that is closed to users, under an address or a name', async (t) => {
    const receiver = await openReceiver(t, answers(200, { ok: true }));
    for (const host of ['127.0.0.1', 'localhost'])
      assert.deepEqual(await guarded(`http://${host}:${receiver.port}`).send(telegram, MESSAGE), {
        outcome: 'delivered',
      });
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const webhook: Address = { kind: 'webhook', url: `${receiver.url}/hook`, secret };
    assert.equal((await guarded(receiver.url).send(webhook, MESSAGE)).outcome, 'again');
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      [`/bot${TOKEN}/sendMessage`, `/bot${TOKEN}/sendMessage`],
    );
  });

  test('sends us nowhere else, and has as little time as everybody', async (t) => {
    const elsewhere = await openReceiver(t);
    const receiver = await openReceiver(t, answers(302, '', { location: elsewhere.url }));
    assert.deepEqual(await guarded(receiver.url).send(telegram, MESSAGE), {
      outcome: 'again',
      error: 'Telegram answered 302.',
    });
    assert.equal(elsewhere.received.length, 0);
    receiver.answer(() => {});
    assert.deepEqual(await guarded(receiver.url, 200).send(telegram, MESSAGE), {
      outcome: 'again',
      error: 'It did not answer in time.',
    });
  });
});
