// An account that demands the charting platform's client certificate. The edge looks at it (test/edge), and says so in a header
// that it alone can set.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import type { CheckVerdict } from '../../src/domain/signals/webhook-checks.ts';
import { openWorld, type Trader } from '../world.ts';

const EDGE = '10.0.0.1';
const ENV = { TRUSTED_PROXIES: `${EDGE}/32`, EDGE_CHECKS_CERTIFICATES: 'true' };
const SHOWN = { 'x-charting-client-cert': 'verified', 'x-forwarded-for': '198.51.100.9' };

async function desk(t: TestContext, env: Record<string, string> = ENV) {
  const world = await openWorld(t, { env });
  const trader = await world.makeTrader();
  const change = (to: boolean, whose: Trader = trader) =>
    world.request<{ require_platform_certificate: boolean; detail?: string; code?: string }>({
      method: 'PATCH',
      url: `/trading/accounts/${whose.account.id}`,
      body: { require_platform_certificate: to },
      headers: { authorization: `Bearer ${whose.apiKey}` },
    });
  const send = async (headers: Record<string, string | string[]>, remoteAddress = EDGE, fields = {}) => {
    const { status, body } = await world.send(trader, fields, {
      headers: headers as Record<string, string>,
      remoteAddress,
    });
    return status === 200 ? '200' : `${status} ${(body as { code?: string }).code}`;
  };
  return { world, trader, change, send };
}

const MISSING = '403 platform_certificate_missing';

test('it is taken from who shows the certificate to the edge, and from nobody else', async (t) => {
  const { world, trader, change, send } = await desk(t);
  assert.equal(await send({}), '200');
  const { status, body } = await change(true);
  assert.deepEqual([status, body.require_platform_certificate], [200, true]);
  assert.equal(await send(SHOWN), '200');
  for (const said of ['none', 'Verified', 'verified, verified', ''])
    assert.equal(await send({ ...SHOWN, 'x-charting-client-cert': said }), MISSING, said);
  assert.equal(await send({}), MISSING);
  // Who is no proxy of ours may say what he likes.
  assert.equal(await send(SHOWN, '198.51.100.9'), MISSING);
  assert.equal(await send({ 'x-charting-client-cert': 'verified' }, '127.0.0.1'), MISSING);
  assert.equal((await world.orders(trader)).length, 2);
  await change(false);
  assert.equal(await send({}), '200');
});

test('it is looked at after the address and before the message: a stranger learns nothing of the secret', async (t) => {
  const { world, trader, change, send } = await desk(t);
  await change(true);
  assert.equal(await send({}, EDGE, { secret: 'wrong', quantity: 0 }), MISSING);
  assert.equal(await send(SHOWN, EDGE, { secret: 'wrong' }), '401 webhook_credential_attack');
  await world.allowIps(trader, '192.0.2.1');
  assert.equal(await send({}), '403 webhook_ip_blocked');
});

test('a refusal is in the audit log and among the signals, and is no attack', async (t) => {
  const { world, trader, change, send } = await desk(t);
  await change(true);
  await send({});
  const entry = (await world.audits(trader)).at(-1);
  assert.deepEqual([entry?.action, entry?.success], ['webhook_order', 0]);
  const as = { headers: { authorization: `Bearer ${trader.apiKey}` } };
  const { body: signals } = await world.request<{ items: { id: string; code: string }[] }>({
    method: 'GET',
    url: '/trading/signals',
    ...as,
  });
  assert.deepEqual(
    signals.items.map(({ code }) => code),
    ['platform_certificate_missing'],
  );
  const { body: signal } = await world.request<{ checks: CheckVerdict[] }>({
    method: 'GET',
    url: `/trading/signals/${signals.items[0]?.id}`,
    ...as,
  });
  assert.equal(signal.checks.find(({ outcome }) => outcome === 'refused')?.check, 'certificate');
  const { body: attacks } = await world.request<{ items: unknown[] }>({
    method: 'GET',
    url: '/settings/security-attacks',
    ...as,
  });
  assert.deepEqual(attacks.items, []);
});

test('a check beforehand says that it was not asked', async (t) => {
  const { world, trader, change } = await desk(t);
  await change(true);
  const { body } = await world.request<{ checks: CheckVerdict[] }>({
    method: 'POST',
    url: `/trading/accounts/${trader.account.id}/check`,
    body: { message: JSON.stringify(world.signal(trader)) },
    headers: { authorization: `Bearer ${trader.apiKey}` },
  });
  assert.deepEqual(
    body.checks.find(({ check }) => check === 'certificate'),
    {
      check: 'certificate',
      outcome: 'passed',
      detail: 'Not asked here: it depends on who sends the message.',
    },
  );
});

test('where nothing in front checks certificates it cannot be demanded, and nobody is believed', async (t) => {
  const { world, trader, change, send } = await desk(t, { TRUSTED_PROXIES: `${EDGE}/32` });
  const { status, body } = await change(true);
  assert.deepEqual([status, body.code], [400, 'request_invalid']);
  assert.match(body.detail ?? '', /every alert would be refused\. Ask the operator/);
  assert.equal(await send({}), '200');
  assert.equal((await change(false)).status, 200);
  // Demanded while it was there: what was asked for stays asked for.
  const other = await world.makeTrader({}, { requirePlatformCertificate: true });
  assert.equal((await world.send(other, {}, { headers: SHOWN, remoteAddress: EDGE })).status, 403);
  assert.equal((await change(false, other)).status, 200);
  assert.equal((await world.orders(trader)).length, 1);
});

test('the setting makes no sense without a proxy that is believed', () => {
  assert.throws(
    () => readConfig({ EDGE_CHECKS_CERTIFICATES: 'true' }),
    /TRUSTED_PROXIES is needed with EDGE_CHECKS_CERTIFICATES/,
  );
});
