import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { argon2id } from '../../src/app/identity/passwords.ts';
import { sql } from '../../src/data/engine/db.ts';
import { COMMON_PASSWORDS } from '../../src/domain/identity/common-passwords.ts';
import { isEmail, normalEmail } from '../../src/domain/identity/email.ts';
import { weakness } from '../../src/domain/identity/password.ts';
import type { Mail, Mailer } from '../../src/mail/mailer.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { countingHasher, type ShownUser } from '../http/visitor.ts';
import {
  type Answer,
  logbook,
  openWorld,
  PASSWORD,
  type Problem,
  settableClock,
  type World,
} from '../world.ts';

const MINUTE = 60_000;
const NEW_PASSWORD = 'another horse, another staple';

type Worlds = Parameters<typeof openWorld>;
const open = (t: Worlds[0], parts: Worlds[1] = {}) => openWorld(t, { hasher: countingHasher(), ...parts });

const post = <Body = Problem>(world: World, url: string, body: unknown) =>
  world.request<Body>({ method: 'POST', url, body });

const login = (world: World, email: string, password: string) =>
  post(world, '/auth/login', { email, password });

const token = (world: World, username: string, password: string) =>
  post<{ error: string; error_description: string }>(world, '/auth/token', {
    grant_type: 'password',
    username,
    password,
  });

/** An answer without what differs by nature. */
const comparable = ({ status, headers, body }: Answer<Problem>) => {
  const { date: _, ...others } = headers;
  return { status, headers: others, body: { ...body, request_id: body?.request_id && 'some' } };
};

const auditsOf = (world: World, action: string) =>
  world.db.all<{ user_id: string | null; success: number; error_message: string | null; metadata: string }>(
    sql`select * from audit_logs where action = ${action} order by id`,
  );

/** A mailer whose mails can be awaited. */
function letterbox() {
  const mails: Mail[] = [];
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail);
    },
  };
  return { mailer, mails };
}

const tokenIn = (mail: Mail | undefined): string =>
  /\/reset-password\?token=([\w-]{43})\s/.exec(mail?.text ?? '')?.[1] ?? '';

describe('a password', () => {
  test('is hashed by Argon2id with the defaults of its library', async () => {
    const hash = await argon2id.hash(PASSWORD);
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal(await argon2id.verify(hash, PASSWORD), true);
    assert.equal(await argon2id.verify(hash, `${PASSWORD} `), false);
    assert.equal(await argon2id.verify('no hash at all', PASSWORD), false);
  });

  const strength: Record<string, readonly [string, boolean]> = {
    'of 7 characters': ['xk3!pQz', false],
    'of 8 characters': ['xk3!pQzw', true],
    'of 8 characters, each of two halves': ['🐎🔋📎🧷🪢🦊🐢🐝', true],
    'of 7 such characters': ['🐎🔋📎🧷🪢🦊🐢', false],
    'of 256 characters': ['x'.repeat(256), true],
    'of 257 characters': ['x'.repeat(257), false],
    'that is common': ['password123', false],
    'that is common, in capitals': ['PassWord123', false],
    'that is the email address': ['someone@example.com', false],
    'that is the email address, in capitals': ['Someone@Example.com', false],
    'that only contains a common one': ['password123 and a horse', true],
  };
  for (const [what, [password, isStrong]] of Object.entries(strength))
    test(`${what} is ${isStrong ? 'accepted' : 'refused'}`, () => {
      assert.equal(weakness(password, 'someone@example.com') === null, isStrong);
    });

  test('is measured against a list of some hundred, all long enough to be tried and in lower case', () => {
    assert.ok(COMMON_PASSWORDS.size >= 200);
    for (const word of COMMON_PASSWORDS) assert.ok(word.length >= 8 && word === word.toLowerCase(), word);
  });
});

describe('an email address', () => {
  const good = [
    'a@example.com',
    "o'hara+tag@sub.example.co.uk",
    'first.last@xn--bcher-kva.example',
    '1@2.de',
  ];
  const bad = [
    '',
    'plain',
    '@example.com',
    'a@',
    'a@b',
    'a@@example.com',
    'a b@example.com',
    'a@exa mple.com',
    'a@-example.com',
    'a@example..com',
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a<b@example.com',
    'ä@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(10)}.com`,
  ];
  for (const email of good) test(`${email} is one`, () => assert.equal(isEmail(email), true));
  for (const email of bad)
    test(`${JSON.stringify(email).slice(0, 40)} is none`, () => assert.equal(isEmail(email), false));
  test('is known by its normal spelling', () =>
    assert.equal(normalEmail('  Some.One@Example.COM\n'), 'some.one@example.com'));
});

describe('registering', () => {
  test('makes a user with the plan free, who can log in, and leaves an audit entry', async (t) => {
    const world = await openWorld(t);
    const answer = await post<{ user: ShownUser }>(world, '/auth/register', {
      email: ' New.User@Example.com ',
      password: PASSWORD,
    });
    assert.equal(answer.status, 201);
    const { id, ...user } = answer.body.user;
    assert.deepEqual(user, {
      email: 'new.user@example.com',
      is_admin: false,
      plan: 'free',
      plan_expires_at: null,
    });
    assert.equal(answer.headers['set-cookie'], undefined);
    const row = await world.db.get<Record<string, unknown>>(sql`select * from users where id = ${id}`);
    assert.match(String(row?.password_hash), /^\$argon2id\$/);
    assert.equal(row?.terms_version, null);
    assert.equal((await login(world, user.email, PASSWORD)).status, 200);
    const [entry, ...more] = await auditsOf(world, 'register');
    assert.deepEqual([entry?.user_id, entry?.success, more], [id, 1, []]);
  });

  test('accepts the current terms where the user says so', async (t) => {
    const world = await open(t);
    const { id } = await world.register();
    const row = await world.db.get<Record<string, unknown>>(sql`select * from users where id = ${id}`);
    assert.equal(row?.terms_version, '1');
    assert.ok(row?.terms_accepted_at);
  });

  test('an address once, however many try at one moment and however they spell it', async (t) => {
    const world = await open(t);
    const spellings = ['one@example.com', 'ONE@example.com', ' One@Example.Com'];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        post(world, '/auth/register', { email: spellings[index % 3], password: PASSWORD }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    const refused = answers.filter(({ status }) => status !== 201);
    assert.ok(refused.every(({ status, body }) => status === 409 && body.code === 'email_taken'));
    assert.equal((await world.db.all(sql`select id from users`)).length, 1);
    assert.equal((await auditsOf(world, 'register')).length, 30);
  });

  const refused: Record<string, readonly [Record<string, unknown>, string]> = {
    'a weak password': [{ password: 'short' }, 'password_weak'],
    'a common password': [{ password: 'Password123' }, 'password_weak'],
    'the address as password': [{ password: 'x@example.com' }, 'password_weak'],
    'a password that is too long': [{ password: 'x'.repeat(257) }, 'request_invalid'],
    'a password with NUL': [{ password: 'a horse\0 a staple' }, 'request_invalid'],
    'an address that is none': [{ email: 'x' }, 'request_invalid'],
    'an address with NUL': [{ email: 'x\0@example.com' }, 'request_invalid'],
    'an unknown field': [{ is_admin: true }, 'request_invalid'],
    'terms that are neither accepted nor not': [{ accept_terms: 'yes' }, 'request_invalid'],
  };
  for (const [what, [fields, code]] of Object.entries(refused))
    test(`${what} is a 400`, async (t) => {
      const world = await open(t);
      const body = { email: 'x@example.com', password: PASSWORD, ...fields };
      const answer = await post(world, '/auth/register', body);
      assert.deepEqual([answer.status, answer.body.code], [400, code]);
      assert.equal((await world.db.all(sql`select id from users`)).length, 0);
    });
});

describe('guessing', () => {
  test('an unknown user and a wrong password get the same answer for the same work: one verification', async (t) => {
    const hasher = countingHasher();
    const world = await openWorld(t, { hasher });
    const { email } = await world.register();
    for (const attempt of [login, token]) {
      const answers = [];
      for (const address of [email, 'nobody@example.com']) {
        hasher.verified = [];
        answers.push(comparable((await attempt(world, address, 'wrong password')) as Answer<Problem>));
        assert.equal(hasher.verified.length, 1);
      }
      assert.deepEqual(answers[0], answers[1]);
    }
  });

  test('the unknown user is verified against a hash of the same making as a real one', async (t) => {
    const verified: string[] = [];
    const hasher = {
      ...argon2id,
      verify: (hash: string, password: string) => {
        verified.push(hash);
        return argon2id.verify(hash, password);
      },
    };
    const world = await openWorld(t, { hasher });
    const { email } = await world.register();
    for (const address of [email, 'nobody@example.com']) await login(world, address, 'wrong password');
    const [real = '', decoy = ''] = verified.map((hash) => hash.split('$').slice(0, 4).join('$'));
    assert.equal(verified.length, 2);
    assert.equal(real, decoy);
    assert.match(real, /^\$argon2id\$/);
  });

  for (const known of [true, false])
    test(`${known ? 'a user' : 'an unknown address'} is locked after 10 failures over both endpoints, for 15 minutes`, async (t) => {
      const clock = settableClock();
      const hasher = countingHasher();
      const world = await openWorld(t, { clock, hasher });
      const email = known ? (await world.register()).email : 'nobody@example.com';
      for (let failure = 0; failure < 10; failure++) {
        const answer = await (failure % 2 ? login : token)(world, email.toUpperCase(), 'wrong password');
        assert.equal(answer.status, failure % 2 ? 401 : 400);
        clock.advance(MINUTE);
      }
      hasher.verified = [];
      const locked = await login(world, email, PASSWORD);
      assert.deepEqual([locked.status, locked.body.code], [429, 'login_locked']);
      // The first failure was 10 minutes ago.
      assert.equal(locked.headers['retry-after'], '300');
      const lockedToken = await token(world, email, PASSWORD);
      assert.deepEqual([lockedToken.status, lockedToken.headers['retry-after']], [429, '300']);
      assert.equal(lockedToken.body.error, 'temporarily_unavailable');
      assert.equal(hasher.verified.length, 0);

      clock.advance(5 * MINUTE);
      assert.equal((await login(world, email, PASSWORD)).status, known ? 200 : 401);
    });

  test('a hundred guesses at one moment get ten verifications', async (t) => {
    const hasher = countingHasher();
    const world = await openWorld(t, { hasher });
    const { email } = await world.register();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 ? login : token)(world, email, `guess ${index}`)),
    );
    assert.equal(hasher.verified.length, 10);
    // Locked out, or too many at once.
    assert.equal(answers.filter(({ status }) => status === 429 || status === 503).length, 90);
  });

  test('a success forgives the failures before it', async (t) => {
    const world = await open(t);
    const { email } = await world.register();
    for (let round = 0; round < 3; round++) {
      for (let failure = 0; failure < 9; failure++)
        assert.equal((await login(world, email, 'wrong password')).status, 401);
      assert.equal((await login(world, email, PASSWORD)).status, 200);
    }
  });

  test('every failure is in the audit log, under the user where there is one, without what was typed', async (t) => {
    const world = await open(t);
    const { email, id } = await world.register();
    await login(world, email, 'a wrong password');
    await login(world, 'nobody@example.com', 'a wrong password');
    const entries = await auditsOf(world, 'login');
    assert.deepEqual(
      entries.map(({ user_id, success }) => [user_id, success]),
      [
        [id, 0],
        [null, 0],
      ],
    );
    assert.doesNotMatch(JSON.stringify(entries), /a wrong password|nobody@/);
  });
});

describe('a forgotten password', () => {
  test('is set anew by the mailed link, once, and every session and API key ends', async (t) => {
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, {
      hasher: countingHasher(),
      mailer,
      env: { BASE_URL: 'https://fillpath.example' },
    });
    const visitor = await world.login();
    const { email, id } = visitor.user;
    const { body: key } = await visitor.call<{ key: string }>('POST', '/settings/api-keys', { name: 'bot' });
    const byKey = async () =>
      (
        await world.request({
          method: 'GET',
          url: '/trading/accounts',
          headers: { authorization: `Bearer ${key.key}` },
        })
      ).status;
    assert.equal(await byKey(), 200);
    const stranger = await world.makeTrader();
    const asked = await post(world, '/auth/forgot-password', { email: ` ${email.toUpperCase()}` });
    assert.deepEqual([asked.status, asked.body], [202, null]);
    await world.eventually(
      async () => mails.length,
      (count) => count === 1,
    );
    assert.equal(mails[0]?.to, email);
    assert.match(mails[0]?.text ?? '', /https:\/\/fillpath\.example\/reset-password\?token=/);
    const link = tokenIn(mails[0]);
    assert.ok(mails[0]?.html.includes(link));
    for (const words of [mails[0]?.text, mails[0]?.html])
      assert.match(words?.replace(/\s+/g, ' ') ?? '', /ends every session and revokes every API key/);

    const reset = (password: string, secret = link) =>
      post(world, '/auth/reset-password', { token: secret, password });
    const weak = await reset('password123');
    assert.deepEqual([weak.status, weak.body.code], [400, 'password_weak']);
    const same = await reset(email);
    assert.deepEqual([same.status, same.body.code], [400, 'password_weak']);
    const done = await reset(NEW_PASSWORD);
    assert.deepEqual([done.status, done.body], [204, null]);
    const again = await reset(NEW_PASSWORD);
    assert.deepEqual([again.status, again.body.code], [400, 'reset_token_invalid']);

    assert.equal((await visitor.call('GET', '/auth/session')).status, 401);
    assert.equal((await visitor.call('POST', '/auth/silent-refresh')).status, 401);
    assert.equal(await byKey(), 401, 'whoever knew the password may have made that key');
    assert.equal((await world.as(stranger, 'GET', '/trading/accounts')).status, 200, 'nobody else’s');
    assert.equal((await login(world, email, PASSWORD)).status, 401);
    assert.equal((await login(world, email, NEW_PASSWORD)).status, 200);
    const entries = await auditsOf(world, 'reset_password');
    assert.deepEqual(
      entries.map((entry) => [entry.user_id, entry.success]),
      [
        [id, 0],
        [id, 0],
        [id, 1],
        [null, 0],
      ],
    );
    assert.deepEqual(
      (await auditsOf(world, 'forgot_password')).map(({ user_id, success }) => [user_id, success]),
      [[id, 1]],
    );
    const stored = await world.db.get<{ token_hash: string }>(sql`select * from password_resets`);
    assert.match(stored?.token_hash ?? '', /^[0-9a-f]{64}$/);
  });

  test('with one link by fifty at one moment is set once', async (t) => {
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, { hasher: countingHasher(), mailer });
    const { email } = await world.register();
    await post(world, '/auth/forgot-password', { email });
    await world.eventually(
      async () => mails.length,
      (count) => count === 1,
    );
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        post(world, '/auth/reset-password', {
          token: tokenIn(mails[0]),
          password: `${NEW_PASSWORD} ${index}`,
        }),
      ),
    );
    const won = answers.findIndex(({ status }) => status === 204);
    assert.equal(answers.filter(({ status }) => status === 204).length, 1);
    assert.equal((await login(world, email, `${NEW_PASSWORD} ${won}`)).status, 200);
  });

  test('a link works for 30 minutes, and no longer once another was used', async (t) => {
    const clock = settableClock();
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, { hasher: countingHasher(), mailer, clock });
    const { email } = await world.register();
    const ask = async () => {
      const before = mails.length;
      await post(world, '/auth/forgot-password', { email });
      await world.eventually(
        async () => mails.length,
        (count) => count > before,
      );
      return tokenIn(mails.at(-1));
    };
    const reset = async (secret: string) =>
      (await post(world, '/auth/reset-password', { token: secret, password: NEW_PASSWORD })).status;
    const [first, second] = [await ask(), await ask()];
    clock.advance(30 * MINUTE - 1);
    assert.equal(await reset(second), 204);
    assert.equal(await reset(first), 400);
    const idle = await ask();
    const setActive = (isActive: boolean) =>
      world.db.commit([sql`update users set is_active = ${isActive} where email = ${email}`]);
    await setActive(false);
    assert.equal(await reset(idle), 400, 'nor for a deactivated user');
    await setActive(true);
    const late = await ask();
    clock.advance(30 * MINUTE);
    assert.equal(await reset(late), 400);
    assert.equal(await reset('nonsense'), 400);
  });

  test('ends the lock that failed passwords made', async (t) => {
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, { hasher: countingHasher(), mailer });
    const { email } = await world.register();
    for (let failure = 0; failure < 11; failure++) await login(world, email, 'wrong password');
    assert.equal((await login(world, email, PASSWORD)).status, 429);
    await post(world, '/auth/forgot-password', { email });
    await world.eventually(
      async () => mails.length,
      (count) => count === 1,
    );
    await post(world, '/auth/reset-password', { token: tokenIn(mails[0]), password: NEW_PASSWORD });
    assert.equal((await login(world, email, NEW_PASSWORD)).status, 200);
  });

  test('lets its user in where somebody goes on guessing, and gives nobody else another try', async (t) => {
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, { hasher: countingHasher(), mailer });
    const { email } = await world.register();
    const guess = async () => {
      for (let failure = 0; failure < 11; failure++) await login(world, email, 'wrong password');
    };
    await guess();
    await post(world, '/auth/forgot-password', { email });
    await world.eventually(
      async () => mails.length,
      (count) => count === 1,
    );
    const owner = world.visitor();
    const body = { token: tokenIn(mails[0]), password: NEW_PASSWORD };
    assert.equal((await owner.call('POST', '/auth/reset-password', body)).status, 204);
    await guess();
    assert.equal((await login(world, email, NEW_PASSWORD)).status, 429, 'a stranger waits');
    const entered = await owner.call('POST', '/auth/login', { email, password: NEW_PASSWORD });
    assert.equal(entered.status, 200, JSON.stringify(entered.body));
  });

  test('an unknown and a deactivated user get the same answer and no mail; four requests three mails', async (t) => {
    const { mailer, mails } = letterbox();
    const world = await openWorld(t, { hasher: countingHasher(), mailer });
    const [known, gone] = [await world.register(), await world.register()];
    await world.db.commit([sql`update users set is_active = ${false} where id = ${gone.id}`]);
    const emails = ['nobody@example.com', gone.email, known.email, known.email, known.email, known.email];
    const answers = [];
    for (const email of emails)
      answers.push(comparable(await post(world, '/auth/forgot-password', { email })));
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    const entries = await world.eventually(
      () => auditsOf(world, 'forgot_password'),
      (rows) => rows.length === emails.length,
    );
    assert.equal(entries.filter(({ success }) => success === 1).length, 3);
    await world.eventually(
      async () => mails.map(({ to }) => to),
      (to) => to.length === 3 && to.every((address) => address === known.email),
    );
  });

  test('a malformed body is a 400', async (t) => {
    const world = await open(t);
    for (const body of [{}, { email: 1 }, { email: 'nobody' }, { email: 'a@example.com', extra: 1 }])
      assert.equal((await post(world, '/auth/forgot-password', body)).status, 400);
    for (const body of [
      {},
      { token: 'x' },
      { token: 1, password: PASSWORD },
      { token: 'x\0', password: PASSWORD },
    ])
      assert.equal((await post(world, '/auth/reset-password', body)).status, 400);
  });

  test('the answer does not wait for the mail, a stop does, and a mail that fails changes nothing', async (t) => {
    const { log, line } = logbook();
    const sending = Promise.withResolvers<void>();
    const world = await openWorld(t, {
      hasher: countingHasher(),
      log,
      mailer: { send: () => sending.promise },
    });
    const { email } = await world.register();
    assert.equal((await post(world, '/auth/forgot-password', { email })).status, 202);
    let stopped = false;
    await world.eventually(
      () => auditsOf(world, 'forgot_password'),
      (rows) => rows.length === 1,
    );
    const stop = world.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(stopped, false);
    sending.reject(new Error('the mail server is away'));
    await line('the mail with the link for a new password could not be sent');
    await stop;
  });

  test('mails are counted by the database: whatever the store says, nobody is sent a fourth', async (t) => {
    const { mailer, mails } = letterbox();
    const store = openMemoryStore({ clock: { now: () => Date.now() } });
    const world = await openWorld(t, { hasher: countingHasher(), mailer, store });
    const { email } = await world.register();
    store.countInWindow = () => Promise.reject(new StoreUnavailable('gone'));
    for (let n = 0; n < 4; n++)
      assert.equal((await post(world, '/auth/forgot-password', { email })).status, 202);
    await world.eventually(
      () => auditsOf(world, 'forgot_password'),
      (rows) => rows.length === 4,
    );
    await world.eventually(
      async () => mails.length,
      (count) => count === 3,
    );
  });
});

describe('the outbox', () => {
  test('holds each mail as one .eml file that only its owner reads, with the link as it is', async (t) => {
    const world = await open(t, { env: { MAIL_FROM: 'Fillpath <alerts@fillpath.example>' } });
    const { email } = await world.register();
    await post(world, '/auth/forgot-password', { email });
    const folder = join(world.dir, 'outbox');
    const files = await world.eventually(
      async () => {
        try {
          return readdirSync(folder).filter((name) => name.endsWith('.eml'));
        } catch {
          return [];
        }
      },
      (names) => names.length === 1,
    );
    const file = join(folder, files[0] ?? '');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^From: Fillpath <alerts@fillpath\.example>\r$/m);
    assert.match(text, new RegExp(`^To: ${email}\\r$`, 'm'));
    assert.match(text, /^Subject: Choose a new password\r$/m);
    assert.match(text, /^http:\/\/localhost:8080\/reset-password\?token=[\w-]{43}\r$/m);
  });
});
