// Two processes on one PostgreSQL: what one of them ends has ended for the other, and what works once works once for
// both together.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { openFillpath } from '../../src/main.ts';
import { countingHasher, openVisitor, type ShownUser, setCookies, type Visitor } from '../http/visitor.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { PASSWORD, serverOf, settableClock } from '../world.ts';

const server = await startPostgres().catch((fault: unknown) => {
  if (fault instanceof PostgresMissing) return { missing: fault.message };
  throw fault;
});

async function openTwo(t: TestContext, url: string) {
  const clock = settableClock();
  const mails: Mail[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-two-'));
  const start = async (name: string) => {
    const config = readConfig({
      DATABASE_URL: url,
      DATA_DIR: join(folder, name),
      APP_KEY: Buffer.alloc(32, 7).toString('base64url'),
      JWT_SECRET: 'a secret for signing, of 32 characters and up',
      SEED_USER: 'false',
      WORKER_POOL_SIZE: '0',
    });
    const mailer = { send: async (mail: Mail) => void mails.push(mail) };
    const parts = { clock, mailer, hasher: countingHasher(), log: pino({ level: 'silent' }) };
    const fillpath = await openFillpath(config, parts);
    const visitor = () =>
      openVisitor(async ({ method, url: path, body, headers = {} }) => {
        const answer = await serverOf(fillpath).inject({
          method,
          url: path,
          headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
        const text = answer.body;
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: text === '' ? null : JSON.parse(text),
        };
      });
    return { fillpath, visitor };
  };
  const processes = [await start('one'), await start('two')] as const;
  const db = await openPostgres({ url });
  t.after(async () => {
    await db.close();
    for (const { fillpath } of processes) await fillpath.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const [one, two] = processes;
  const email = `${crypto.randomUUID()}@example.com`;
  const registered = await one.visitor().call<{ user: ShownUser }>('POST', '/auth/register', {
    email,
    password: PASSWORD,
    accept_terms: true,
  });
  assert.equal(registered.status, 201);
  const login = async (at: typeof one, password = PASSWORD) => {
    const visitor = at.visitor();
    const answer = await visitor.call('POST', '/auth/login', { email, password });
    return Object.assign(visitor, { answer });
  };
  /** The same browser, at the other process. */
  const carry = (from: Visitor, to: typeof one) => {
    const visitor = to.visitor();
    for (const [name, cookie] of from.cookies) visitor.cookies.set(name, cookie);
    return visitor;
  };
  return { clock, mails, db, one, two, email, user: registered.body.user, login, carry };
}

describe('two processes on one PostgreSQL', 'missing' in server ? { skip: server.missing } : {}, () => {
  const url = 'url' in server ? server.url : '';

  test('a session of the one is a session of the other, until either ends it', async (t) => {
    const { one, two, login, carry } = await openTwo(t, url);
    const visitor = await login(one);
    const there = carry(visitor, two);
    const session = await there.call<{ session: { id: string } }>('GET', '/auth/session');
    assert.equal(session.status, 200);
    const list = await there.call<{ items: { id: string }[] }>('GET', '/auth/sessions?limit=1');
    assert.equal(list.body.items[0]?.id, session.body.session.id);
    assert.equal((await there.call('GET', `/auth/sessions?cursor=${session.body.session.id}`)).status, 200);
    assert.equal((await there.call('POST', '/auth/logout')).status, 204);
    assert.equal((await visitor.call('GET', '/auth/session')).status, 401);

    const again = await login(two);
    const { body } = await again.call<{ session: { id: string } }>('GET', '/auth/session');
    const revoked = await (await login(one)).call('DELETE', `/auth/sessions/${body.session.id}`);
    assert.equal(revoked.status, 204);
    assert.equal((await again.call('GET', '/auth/session')).status, 401);
  });

  test('thirty guesses at one moment over both are ten tries, and a device has its own at both', async (t) => {
    const { one, two, login, carry, clock, email } = await openTwo(t, url);
    const device = await login(one);
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => login(index % 2 ? one : two, `guess ${index}`)),
    );
    const statuses = guesses.map(({ answer }) => answer.status);
    assert.equal(statuses.filter((status) => status === 401).length, 10, `${statuses}`);
    assert.equal((await login(two)).answer.status, 429);
    const again = carry(device, two);
    assert.equal((await again.call('POST', '/auth/login', { email, password: PASSWORD })).status, 200);
    clock.advance(15 * 60_000);
    assert.equal((await login(two)).answer.status, 200);
  });

  test('fifty refreshes at one moment over both leave one family', async (t) => {
    const { one, two, login, carry, db, clock, user } = await openTwo(t, url);
    const visitor = await login(one);
    const tabs = Array.from({ length: 50 }, (_, index) => carry(visitor, index % 2 ? one : two));
    const answers = await Promise.all(tabs.map((tab) => tab.call('POST', '/auth/silent-refresh')));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(answers.filter((answer) => setCookies(answer).length === 2).length, 1);
    const unused = await db.all(
      sql`select r.token_hash from refresh_tokens r join user_sessions s on s.id = r.session_id
          where s.user_id = ${user.id} and r.used_at is null`,
    );
    assert.equal(unused.length, 1);
    clock.advance(11_000);
    const tab = carry(visitor, two);
    assert.equal((await tab.call('POST', '/auth/silent-refresh')).status, 401);
    assert.equal((await visitor.call('GET', '/auth/session')).status, 401);
  });

  test('a code of the second factor works once for both, and so does a recovery code', async (t) => {
    const { one, two, login, clock } = await openTwo(t, url);
    const visitor = await login(one);
    const enrol = { password: PASSWORD };
    await visitor.call('POST', '/auth/totp/enrol', enrol);
    const enrolled = await visitor.call<{ secret: string }>('POST', '/auth/totp/enrol', enrol);
    const bits = [...enrolled.body.secret].map((letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    );
    const secret = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
    const code = () => totpCode(secret, stepAt(clock.now()));
    const confirmed = await visitor.call<{ recovery_codes: string[] }>('POST', '/auth/totp/confirm', {
      code: code(),
    });
    assert.equal(confirmed.status, 200);
    clock.advance(30_000);
    for (const proof of [code(), confirmed.body.recovery_codes[0] ?? '']) {
      const steps = [await login(one), await login(two)];
      const answers = await Promise.all(
        steps.map((step) => {
          const { login_token } = step.answer.body as { login_token: string };
          return step.call('POST', '/auth/login/totp', { login_token, code: proof });
        }),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
    }
    assert.equal((await visitor.call('POST', '/auth/totp/disable', enrol)).status, 204);
  });

  test('a link for a new password works once for both, and ends the sessions of both', async (t) => {
    const { one, two, login, mails, email } = await openTwo(t, url);
    const sessions = [await login(one), await login(two)];
    await one.visitor().call('POST', '/auth/forgot-password', { email });
    while (mails.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const token = /token=([\w-]+)/.exec(mails[0]?.text ?? '')?.[1];
    const answers = await Promise.all(
      [one, two].map((at) =>
        at
          .visitor()
          .call('POST', '/auth/reset-password', { token, password: 'another horse, another staple' }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 400]);
    for (const session of sessions) assert.equal((await session.call('GET', '/auth/session')).status, 401);
    assert.equal((await login(one)).answer.status, 401);
    assert.equal((await login(two, 'another horse, another staple')).answer.status, 200);
  });

  test('an address is registered once by both', async (t) => {
    const { one, two } = await openTwo(t, url);
    const body = { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD };
    const answers = await Promise.all(
      [one, two].map((at) => at.visitor().call('POST', '/auth/register', body)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  });

  test('the database is stopped', async () => {
    if ('stop' in server) await server.stop();
  });
});
