import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sql } from '../../src/data/engine/db.ts';
import { confirmSecondFactor, enrolSecondFactor } from '../../src/data/identity/second-factors.ts';
import {
  base32,
  matchingStep,
  plainRecoveryCode,
  recoveryCode,
  stepAt,
  totpCode,
} from '../../src/domain/identity/totp.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { countingHasher, type LoggedIn, type ShownUser, setCookies, type Visitor } from '../http/visitor.ts';
import { type Answer, openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';

const STEP = 30_000;

type Worlds = Parameters<typeof openWorld>;

interface CodeAsked {
  readonly totp_required: true;
  readonly login_token: string;
  readonly expires_in: number;
}

function bytesOf(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** Somebody with an authenticator app, on a clock that the test moves. */
async function openWithTotp(t: Worlds[0], parts: Worlds[1] = {}) {
  const clock = settableClock();
  const world = await openWorld(t, { hasher: countingHasher(), clock, ...parts });
  const visitor = await world.login();
  const enrolled = await visitor.call<{ secret: string; otpauth_uri: string }>('POST', '/auth/totp/enrol', {
    password: PASSWORD,
  });
  assert.equal(enrolled.status, 200);
  const secret = bytesOf(enrolled.body.secret);
  const code = (steps = 0) => totpCode(secret, stepAt(clock.now()) + steps);
  /** Certainly so, and not only almost. */
  const wrongCode = () => {
    const near = [-1, 0, 1].map(code);
    return ['000000', '000001', '000002', '000003'].find((guess) => !near.includes(guess)) ?? '';
  };
  const confirmed = await visitor.call<{ recovery_codes: string[] }>('POST', '/auth/totp/confirm', {
    code: code(),
  });
  assert.equal(confirmed.status, 200);
  // The code that confirmed it is used up.
  clock.advance(STEP);
  const { email } = visitor.user;
  return {
    ...{ world, clock, visitor, email, user: visitor.user, secret, code, wrongCode },
    uri: enrolled.body.otpauth_uri,
    recoveryCodes: confirmed.body.recovery_codes,
  };
}

const firstStep = (world: World, email: string, password = PASSWORD) =>
  world.request<CodeAsked & Problem>({ method: 'POST', url: '/auth/login', body: { email, password } });

const secondStep = (visitor: Visitor, login_token: string, code: string) =>
  visitor.call<LoggedIn & Problem>('POST', '/auth/login/totp', { login_token, code });

/** Both steps, by a browser of its own. */
async function enter(world: World, email: string, code: string): Promise<Answer<LoggedIn & Problem>> {
  const { body } = await firstStep(world, email);
  return secondStep(world.visitor(), body.login_token, code);
}

const auditsOf = ({ db }: World, { id }: ShownUser, ...actions: string[]) =>
  db
    .all<{ action: string; success: number; metadata: string }>(
      sql`select * from audit_logs where user_id = ${id} order by id`,
    )
    .then((rows) => rows.filter(({ action }) => actions.includes(action)));

describe('time-based codes', () => {
  // RFC 6238, appendix B, SHA-1; the last six of its eight digits.
  const secret = Buffer.from('12345678901234567890');
  const vectors: readonly (readonly [number, string])[] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [time, digits] of vectors)
    test(`at ${time} s it is ${digits.slice(2)}, as the RFC says`, () => {
      assert.equal(totpCode(secret, stepAt(time * 1000)), digits.slice(2));
    });

  test('match their own step and its neighbours, and no other', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 20, maxLength: 20 }),
        fc.integer({ min: 0, max: 4_102_444_800_000 }),
        fc.integer({ min: -4, max: 4 }),
        (key, now, offset) => {
          const step = stepAt(now) + offset;
          fc.pre(step >= 0 && stepAt(now) > 0);
          const codes = [-1, 0, 1].map((near) => totpCode(key, stepAt(now) + near));
          const code = totpCode(key, step);
          const found = matchingStep(key, code, now);
          assert.equal(found !== null, codes.includes(code));
          if (Math.abs(offset) <= 1) assert.equal(totpCode(key, found ?? -1), code);
        },
      ),
    );
  });

  // RFC 4648, section 10.
  for (const [plain, encoded] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const)
    test(`"${plain}" is "${encoded}" in base 32`, () => assert.equal(base32(Buffer.from(plain)), encoded));

  test('a recovery code is read however it is typed', () => {
    const code = recoveryCode(Buffer.from('abcdefghij'));
    assert.match(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    for (const typed of [
      code,
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')}\n`,
    ])
      assert.equal(plainRecoveryCode(typed), code.replaceAll('-', ''));
  });
});

describe('the second factor', () => {
  test('is enrolled with the password and confirmed with a code; only then login asks for it', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { hasher: countingHasher(), clock });
    const visitor = await world.login();
    const { email } = visitor.user;
    const enrol = (password: string) =>
      visitor.call<{ secret: string; otpauth_uri: string } & Problem>('POST', '/auth/totp/enrol', {
        password,
      });
    const wrong = await enrol('wrong password');
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'password_wrong']);
    const confirm = (code: string) =>
      visitor.call<{ recovery_codes: string[] } & Problem>('POST', '/auth/totp/confirm', { code });
    assert.equal((await confirm('123456')).body.code, 'totp_not_enrolled');

    const first = await enrol(PASSWORD);
    const second = await enrol(PASSWORD);
    assert.deepEqual(Object.keys(second.body).sort(), ['otpauth_uri', 'secret']);
    assert.match(second.body.secret, /^[A-Z2-7]{32}$/);
    const uri = new URL(second.body.otpauth_uri);
    assert.equal(uri.protocol, 'otpauth:');
    assert.equal(decodeURIComponent(uri.pathname), `/Fillpath:${email}`);
    assert.deepEqual(Object.fromEntries(uri.searchParams), {
      secret: second.body.secret,
      issuer: 'Fillpath',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    const stored = await world.db.get<{ totp_secret: string }>(sql`select * from second_factors`);
    assert.ok(!stored?.totp_secret.includes(second.body.secret));
    assert.equal((await firstStep(world, email)).body.totp_required, undefined);

    const step = stepAt(clock.now());
    const stale = await confirm(totpCode(bytesOf(first.body.secret), step));
    assert.deepEqual([stale.status, stale.body.code], [400, 'totp_code_wrong']);
    const confirmed = await confirm(totpCode(bytesOf(second.body.secret), step));
    assert.equal(confirmed.status, 200);
    assert.equal(new Set(confirmed.body.recovery_codes).size, 10);
    const session = await visitor.call<{ totp_enabled: boolean }>('GET', '/auth/session');
    assert.equal(session.body.totp_enabled, true);

    const asked = await firstStep(world, email);
    assert.equal(asked.status, 200);
    assert.deepEqual(setCookies(asked), []);
    const { login_token, ...rest } = asked.body;
    assert.deepEqual(rest as object, { totp_required: true, expires_in: 300 });
    assert.ok(login_token);
    for (const answer of [await enrol(PASSWORD), await confirm('123456')])
      assert.deepEqual([answer.status, answer.body.code], [409, 'totp_already_enabled']);
    const entries = await auditsOf(world, visitor.user, 'totp_enrol', 'totp_confirm');
    assert.deepEqual(
      entries.map(({ success }) => success),
      [0, 0, 1, 1, 0, 1, 0, 0],
    );
  });

  test('completes a login with the code that the app shows', async (t) => {
    const { world, email, user, code } = await openWithTotp(t);
    const { body } = await firstStep(world, email);
    const visitor = world.visitor();
    const answer = await secondStep(visitor, body.login_token, ` ${code().slice(0, 3)} ${code().slice(3)} `);
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body).sort(), ['csrf_token', 'expires_in', 'user']);
    assert.equal((await visitor.call('GET', '/auth/session')).status, 200);
    const entries = await auditsOf(world, user, 'login', 'login_password');
    assert.deepEqual(
      entries
        .slice(1)
        .map(({ action, success, metadata }) => [action, success, JSON.parse(metadata).second_factor]),
      [
        ['login_password', 1, undefined],
        ['login', 1, 'totp'],
      ],
    );
  });

  for (const [steps, works] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const)
    test(`a code ${steps} steps away ${works ? 'works' : 'does not work'}`, async (t) => {
      const { world, clock, email, code } = await openWithTotp(t);
      clock.advance(10 * STEP);
      assert.equal((await enter(world, email, code(steps))).status, works ? 200 : 401);
    });

  test('a code works once, and none that is older than a used one', async (t) => {
    const { world, clock, email, code } = await openWithTotp(t);
    clock.advance(10 * STEP);
    const [older, newer] = [code(-1), code()];
    assert.equal((await enter(world, email, newer)).status, 200);
    for (const used of [newer, older]) {
      const answer = await enter(world, email, used);
      assert.deepEqual([answer.status, answer.body.code, setCookies(answer)], [401, 'login_code_wrong', []]);
    }
    clock.advance(STEP);
    assert.equal((await enter(world, email, code())).status, 200);
  });

  test('of five logins at one moment with one code, one succeeds', async (t) => {
    const { world, email, user, code } = await openWithTotp(t);
    const tokens = [];
    for (let attempt = 0; attempt < 5; attempt++)
      tokens.push((await firstStep(world, email)).body.login_token);
    const answers = await Promise.all(tokens.map((token) => secondStep(world.visitor(), token, code())));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
    const sessions = await world.db.all(sql`select id from user_sessions where user_id = ${user.id}`);
    assert.equal(sessions.length, 2);
  });

  test('each recovery code stands in for a code once, and is stored as its hash', async (t) => {
    const { world, email, user, recoveryCodes } = await openWithTotp(t);
    const rows = await world.db.all<{ code_hash: string }>(sql`select * from recovery_codes`);
    assert.equal(rows.length, 10);
    assert.ok(rows.every(({ code_hash }) => /^[0-9a-f]{64}$/.test(code_hash)));
    for (const recovery of recoveryCodes) {
      assert.equal((await enter(world, email, recovery.toLowerCase())).status, 200);
      assert.equal((await enter(world, email, recovery)).status, 401);
    }
    const entries = await auditsOf(world, user, 'login');
    assert.equal(entries.filter(({ metadata }) => metadata.includes('"recovery_code"')).length, 10);
  });

  test("another user's recovery code does not help", async (t) => {
    const { world, email, recoveryCodes } = await openWithTotp(t);
    const other = await world.login();
    const enrolled = await other.call<{ secret: string }>('POST', '/auth/totp/enrol', { password: PASSWORD });
    const code = totpCode(bytesOf(enrolled.body.secret), stepAt(world.clock.now()));
    const confirmed = await other.call<{ recovery_codes: string[] }>('POST', '/auth/totp/confirm', { code });
    assert.equal((await enter(world, email, confirmed.body.recovery_codes[0] ?? '')).status, 401);
    assert.equal((await enter(world, email, recoveryCodes[0] ?? '')).status, 200);
  });

  test('failed codes count for the lock, and a right password in between does not forgive them', async (t) => {
    const { world, clock, email, code, wrongCode } = await openWithTotp(t);
    const statuses = [];
    for (let attempt = 0; attempt < 5; attempt++)
      statuses.push((await enter(world, email, wrongCode())).status);
    // Five passwords and five codes.
    assert.deepEqual(new Set(statuses), new Set([401]));
    const locked = await firstStep(world, email);
    assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
    clock.advance(15 * 60_000);
    const { body } = await firstStep(world, email);
    const guesses = await Promise.all(
      Array.from({ length: 20 }, () => secondStep(world.visitor(), body.login_token, wrongCode())),
    );
    assert.equal(guesses.filter(({ status }) => status === 401).length, 9);
    const right = await secondStep(world.visitor(), body.login_token, code());
    assert.deepEqual([right.status, right.body.code], [429, 'login_locked']);
    assert.ok(right.headers['retry-after']);
  });

  test('one new password after the other by mail buys a device no more tries at the code', async (t) => {
    const mails: Mail[] = [];
    const mailer = { send: async (mail: Mail) => void mails.push(mail) };
    const { world, email, wrongCode } = await openWithTotp(t, { mailer });
    /** Logs in with the new password where it was set, and guesses until nothing is checked any more. */
    const guesses = async (password: string) => {
      const before = mails.length;
      await world.request({ method: 'POST', url: '/auth/forgot-password', body: { email } });
      await world.eventually(
        async () => mails.length,
        (count) => count > before,
      );
      const thief = world.visitor();
      const token = /token=([\w-]+)/.exec(mails.at(-1)?.text ?? '')?.[1];
      const set = await thief.call('POST', '/auth/reset-password', { token, password });
      assert.equal(set.status, 204);
      const { body } = await thief.call<CodeAsked>('POST', '/auth/login', { email, password });
      for (let tries = 0; ; tries++)
        if (!body.login_token || (await secondStep(thief, body.login_token, wrongCode())).status === 429)
          return tries;
    };
    // The password was one of ten.
    assert.equal(await guesses('correct horse battery 1'), 9);
    assert.equal(await guesses('correct horse battery 2'), 0);
  });

  test('the login token is nothing but that: it expires, opens nothing and dies with the password', async (t) => {
    const { world, clock, email, user, code } = await openWithTotp(t);
    const { login_token } = (await firstStep(world, email)).body;
    const headers = { authorization: `Bearer ${login_token}` };
    assert.equal((await world.request({ method: 'GET', url: '/auth/session', headers })).status, 401);
    const dead = async (token: string) => {
      const answer = await secondStep(world.visitor(), token, code());
      assert.deepEqual([answer.status, answer.body.code], [401, 'login_token_invalid']);
    };
    await dead('nonsense');
    await dead((await world.login()).cookie('access_token') ?? '');
    clock.advance(5 * 60_000);
    await dead(login_token);

    const fresh = (await firstStep(world, email)).body.login_token;
    await world.db.commit([sql`update users set password_hash = 'another' where id = ${user.id}`]);
    await dead(fresh);
  });

  test('a user deactivated between the steps does not get in', async (t) => {
    const { world, email, user, code } = await openWithTotp(t);
    const { login_token } = (await firstStep(world, email)).body;
    await world.db.commit([sql`update users set is_active = ${false} where id = ${user.id}`]);
    const answer = await secondStep(world.visitor(), login_token, code());
    assert.deepEqual([answer.status, answer.body.code], [403, 'user_deactivated']);
  });

  test('is disabled with the password, codes and all', async (t) => {
    const { world, visitor, email } = await openWithTotp(t);
    const disable = (password: string) => visitor.call<Problem>('POST', '/auth/totp/disable', { password });
    const wrong = await disable('wrong password');
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'password_wrong']);
    assert.equal((await disable(PASSWORD)).status, 204);
    const again = await disable(PASSWORD);
    assert.deepEqual([again.status, again.body.code], [409, 'totp_not_enrolled']);
    assert.equal((await world.db.all(sql`select code_hash from recovery_codes`)).length, 0);
    assert.ok((await firstStep(world, email)).headers['set-cookie']);
  });

  test('passwords guessed by a stolen session count for the lock as well', async (t) => {
    const hasher = countingHasher();
    const { visitor } = await openWithTotp(t, { hasher });
    hasher.verified = [];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        visitor.call<Problem>('POST', '/auth/totp/disable', { password: `guess ${index}` }),
      ),
    );
    // Two of the session's ten went into enrolling, right as they were.
    assert.equal(hasher.verified.length, 8);
    // Locked out, or too many at once.
    assert.equal(answers.filter(({ status }) => status === 429 || status === 503).length, 22);
  });

  test('codes guessed at the confirmation count for the lock as well', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { hasher: countingHasher(), clock });
    const visitor = await world.login();
    const enrolled = await visitor.call<{ secret: string }>('POST', '/auth/totp/enrol', {
      password: PASSWORD,
    });
    const right = totpCode(bytesOf(enrolled.body.secret), stepAt(clock.now()));
    const confirm = (code: string) => visitor.call<Problem>('POST', '/auth/totp/confirm', { code });
    // The first of the session's ten was the password.
    for (let guess = 0; guess < 9; guess++)
      assert.equal((await confirm(`guess ${guess}`)).body.code, 'totp_code_wrong');
    const locked = await confirm(right);
    assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
  });

  test('a confirmation is of the secret that was enrolled last, even where that changes under way', async (t) => {
    const world = await openWorld(t, { hasher: countingHasher() });
    const visitor = await world.login();
    await visitor.call('POST', '/auth/totp/enrol', { password: PASSWORD });
    const user = visitor.user.id as UserId;
    const now = timestamp(world.clock.now());
    assert.equal(await world.db.commit([confirmSecondFactor(user, 'an earlier one', 1, now)]), 'enrolled');
    const stored = await world.db.get<{ totp_secret: string }>(sql`select * from second_factors`);
    assert.equal(await world.db.commit([confirmSecondFactor(user, stored?.totp_secret ?? '', 1, now)]), null);
    assert.equal(await world.db.commit([enrolSecondFactor(user, 'a later one', now)]), 'unconfirmed');
  });

  test('counts its tries in the database: a store that says nothing, or forgot, changes nothing', async (t) => {
    const store = openMemoryStore({ clock: { now: Date.now } });
    const { world, clock, email, code, wrongCode } = await openWithTotp(t, { store });
    const { login_token } = (await firstStep(world, email)).body;
    store.countInWindow = () => Promise.reject(new StoreUnavailable('gone'));
    for (let guess = 0; guess < 9; guess++)
      assert.equal((await secondStep(world.visitor(), login_token, wrongCode())).status, 401);
    const locked = await secondStep(world.visitor(), login_token, code());
    assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
    clock.advance(15 * 60_000);
    const again = (await firstStep(world, email)).body.login_token;
    assert.equal((await secondStep(world.visitor(), again, code())).status, 200);
  });

  test('on the token endpoint the code is a parameter', async (t) => {
    const { world, email: username, code, wrongCode, recoveryCodes } = await openWithTotp(t);
    const call = (totp_code?: string, password = PASSWORD) =>
      world.request<{ error: string; error_description: string; access_token: string }>({
        method: 'POST',
        url: '/auth/token',
        body: { grant_type: 'password', username, password, ...(totp_code ? { totp_code } : {}) },
      });
    const missing = await call();
    assert.deepEqual(
      [missing.status, missing.body.error, missing.body.error_description],
      [400, 'invalid_grant', 'totp_required'],
    );
    const wrong = await call(wrongCode());
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'invalid_grant']);
    const unproven = await call(code(), 'wrong password');
    assert.notEqual(unproven.body.error_description, 'totp_required');
    assert.ok((await call(code())).body.access_token);
    assert.equal((await call(code())).status, 400);
    assert.ok((await call(recoveryCodes[0])).body.access_token);
  });

  for (const [what, body] of Object.entries({
    'no code': {},
    'a code that is a number': { code: 123456 },
    'a code with NUL': { code: '123456\0' },
    'a code that is too long': { code: '1'.repeat(65) },
    'an unknown field': { code: '123456', extra: 1 },
  }))
    test(`${what} is a 400`, async (t) => {
      const { world, visitor } = await openWithTotp(t);
      assert.equal((await visitor.call('POST', '/auth/totp/confirm', body)).status, 400);
      const step = { login_token: 'x', ...body };
      assert.equal((await world.visitor().call('POST', '/auth/login/totp', step)).status, 400);
    });
});
