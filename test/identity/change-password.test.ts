// A new password for somebody who is logged in.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { countingHasher } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';

const NEW_PASSWORD = 'another horse, another staple';

async function openWithMails(t: Parameters<typeof openWorld>[0]) {
  const mails: Mail[] = [];
  const clock = settableClock();
  const world = await openWorld(t, {
    hasher: countingHasher(),
    clock,
    mailer: { send: async (mail) => void mails.push(mail) },
  });
  return { world, mails, clock };
}

const login = (world: World, email: string, password: string) =>
  world.request<Problem>({ method: 'POST', url: '/auth/login', body: { email, password } });

const audits = (world: World) =>
  world.db.all<{ success: number; metadata: string }>(
    sql`select * from audit_logs where action = 'change_password' order by id`,
  );

describe('changing the password', () => {
  test('needs the old one, sets the new one, and says so by mail', async (t) => {
    const { world, mails } = await openWithMails(t);
    const visitor = await world.login();
    const change = (current_password: string, password: string) =>
      visitor.call<Problem>('POST', '/auth/password', { current_password, password });
    const wrong = await change('not the password', NEW_PASSWORD);
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'password_wrong']);
    for (const weak of ['short', 'password', visitor.user.email, PASSWORD]) {
      const answer = await change(PASSWORD, weak);
      assert.deepEqual([answer.status, answer.body.code], [400, 'password_weak'], weak);
    }
    assert.equal((await login(world, visitor.user.email, PASSWORD)).status, 200);
    assert.equal(mails.length, 0);

    assert.equal((await change(PASSWORD, NEW_PASSWORD)).status, 204);
    assert.equal((await login(world, visitor.user.email, PASSWORD)).status, 401);
    assert.equal((await login(world, visitor.user.email, NEW_PASSWORD)).status, 200);
    assert.equal(mails.length, 1);
    assert.equal(mails[0]?.to, visitor.user.email);
    assert.match(mails[0]?.text ?? '', /was\s+changed\s+at\s.*\/forgot-password/s);
    const entries = await audits(world);
    assert.deepEqual(
      entries.map(({ success }) => Boolean(success)),
      [false, false, false, false, false, true],
    );
    assert.ok(!JSON.stringify(entries).includes(NEW_PASSWORD));
  });

  test('ends every other session at once, and neither this one nor an API key', async (t) => {
    const { world } = await openWithMails(t);
    const visitor = await world.login();
    const { email } = visitor.user;
    const other = world.visitor();
    await other.call('POST', '/auth/login', { email, password: PASSWORD });
    const made = await visitor.call<{ key: string }>('POST', '/settings/api-keys', { name: 'bot' });
    const body = { current_password: PASSWORD, password: NEW_PASSWORD };
    assert.equal((await visitor.call('POST', '/auth/password', body)).status, 204);
    assert.equal((await visitor.call('GET', '/auth/session')).status, 200);
    assert.equal((await other.call('GET', '/auth/session')).status, 401);
    assert.equal((await other.call('POST', '/auth/silent-refresh')).status, 401);
    const bearer = { authorization: `Bearer ${made.body.key}` };
    const byKey = await world.request({ method: 'GET', url: '/trading/accounts', headers: bearer });
    assert.equal(byKey.status, 200);
    // The device is known by the new password too: it tries apart from strangers.
    for (let guess = 0; guess < 12; guess++) await login(world, email, 'a stranger’s guess');
    assert.equal((await login(world, email, NEW_PASSWORD)).status, 429);
    assert.equal((await visitor.call('POST', '/auth/login', { email, password: NEW_PASSWORD })).status, 200);
  });

  test('needs a code where the second factor is on, each once, and guesses are counted', async (t) => {
    const { world, clock } = await openWithMails(t);
    const visitor = await world.login();
    const enrolled = await visitor.call<{ secret: string }>('POST', '/auth/totp/enrol', {
      password: PASSWORD,
    });
    const letters = [...enrolled.body.secret].map((letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    );
    const bytes = letters.join('').match(/.{8}/g) ?? [];
    const secret = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
    const code = () => totpCode(secret, stepAt(clock.now()));
    assert.equal((await visitor.call('POST', '/auth/totp/confirm', { code: code() })).status, 200);
    clock.advance(60_000);
    const change = (password: string, more: object) =>
      visitor.call<Problem>('POST', '/auth/password', { current_password: PASSWORD, password, ...more });
    const without = await change(NEW_PASSWORD, {});
    assert.deepEqual([without.status, without.body.code], [400, 'totp_code_wrong']);
    assert.match(without.body.detail, /no code was sent/);
    assert.equal((await change(NEW_PASSWORD, { code: code() })).status, 204);
    const again = { current_password: NEW_PASSWORD, password: `${NEW_PASSWORD}!` };
    const used = await visitor.call<Problem>('POST', '/auth/password', { ...again, code: code() });
    assert.deepEqual([used.status, used.body.code], [400, 'totp_code_wrong']);
    for (let guess = 0; guess < 9; guess++)
      await visitor.call('POST', '/auth/password', { ...again, code: '000000' });
    const locked = await visitor.call<Problem>('POST', '/auth/password', { ...again, code: '000000' });
    assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
  });

  test('of two at one moment, one succeeds', async (t) => {
    const { world } = await openWithMails(t);
    const visitor = await world.login();
    const answers = await Promise.all(
      ['first new horse', 'second new horse'].map((password) =>
        visitor.call('POST', '/auth/password', { current_password: PASSWORD, password }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 403]);
  });

  test('is not for an API key', async (t) => {
    const { world } = await openWithMails(t);
    const trader = await world.makeTrader();
    const answer = await world.as<Problem>(trader, 'POST', '/auth/password', {
      current_password: PASSWORD,
      password: NEW_PASSWORD,
    });
    assert.deepEqual([answer.status, answer.body.code], [403, 'session_required']);
  });
});
