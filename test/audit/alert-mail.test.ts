// Mails over a real SMTP exchange on loopback: what an alert says, how often it comes, and that a mail server can do
// what it likes: no request waits for it, none fails, and neither does a stop.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { claimAlert } from '../../src/data/audit/alerts.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openSmtp } from '../../src/mail/smtp.ts';
import { countingHasher } from '../http/visitor.ts';
import { closedPort, type Received, readMail, startBadServer, startMailServer } from '../servers/mail.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { stopwatch } from '../stopwatch.ts';
import { logbook, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const FROM = 'Fillpath <alerts@fillpath.example>';
const IP = '203.0.113.66';
const MINUTE = 60_000;

async function open(t: TestContext, port: number | null, env: Record<string, string> = {}) {
  const clock = settableClock();
  const book = logbook();
  const smtp =
    port === null ? {} : { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: FROM, VERIFY_EMAIL: 'false' };
  const world = await openWorld(t, {
    clock,
    hasher: countingHasher(),
    log: book.log,
    env: { ...smtp, ...env },
  });
  return { world, clock, ...book };
}

/** A signal with a wrong secret. */
async function attack(world: World, trader: Trader, headers: Record<string, string> = {}): Promise<void> {
  const body = world.signal(trader, { secret: 'guessed' });
  const { status } = await world.webhook<Problem>(trader, body, { headers, remoteAddress: IP });
  assert.equal(status, 401);
}

async function forgotPassword(world: World, email: string): Promise<void> {
  const { status } = await world.request({ method: 'POST', url: '/auth/forgot-password', body: { email } });
  assert.equal(status, 202);
}

const facts = ({ text }: Received): Record<string, string> =>
  Object.fromEntries(
    text
      .replace(/\r\n/g, '\n')
      .split('\n\n')[1]
      ?.split(/\n(?=[A-Z][\w ()]+: )/)
      .map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^.*?: /, '').replaceAll('\n', ' ')]) ??
      [],
  );

describe('an alert mail', () => {
  // biome-ignore format: a table, one attack a line
  const ATTACKS: readonly (readonly [type: string, status: number, fields: Record<string, unknown>, description: RegExp])[] = [
    ['webhook_credential_attack', 401, { secret: 'guessed' }, /wrong webhook secret/],
    ['webhook_timestamp_expired', 401, { timestamp: '2020-01-01T00:00:00Z' }, /older, or further ahead/],
    ['webhook_replay_attack', 409, {}, /received before was sent again/],
    ['webhook_ip_blocked', 403, {}, /not on your list of allowed IPs/],
  ];

  for (const [type, status, fields, description] of ATTACKS)
    test(`tells of ${type}: what, from where, when and at which account, as text and as HTML`, async (t) => {
      const { port, received } = await startMailServer(t);
      const { world, clock } = await open(t, port);
      const trader = await world.makeTrader({}, { name: 'Futures <& "options">' });
      if (type === 'webhook_replay_attack') await world.webhook(trader, world.signal(trader));
      if (type === 'webhook_ip_blocked') await world.allowIps(trader, '198.51.100.1');
      const body = world.signal(trader, fields);
      assert.equal((await world.webhook<Problem>(trader, body, { remoteAddress: IP })).status, status);

      const [mail] = await received(1);
      assert.ok(mail);
      assert.deepEqual([mail.from, mail.to], ['alerts@fillpath.example', [trader.user.email]]);
      assert.deepEqual(mail.headers.get('from'), [FROM]);
      assert.deepEqual(mail.headers.get('to'), [trader.user.email]);
      assert.deepEqual(mail.headers.get('subject'), [`Security alert: ${type}`]);
      assert.match(mail.headers.get('content-type')?.[0] ?? '', /^multipart\/alternative;/);
      const { Description, ...told } = facts(mail);
      assert.deepEqual(told, {
        'Attack type': type,
        'Source IP': IP,
        'Time (UTC)': timestamp(clock.now()),
        Account: 'Futures <& "options">',
      });
      assert.match(Description ?? '', description);
      for (const cell of [type, IP, timestamp(clock.now()), 'Futures &lt;&amp; &quot;options&quot;&gt;'])
        assert.ok(mail.html.includes(`<td>${cell}</td>`), `${cell} in ${mail.html}`);
      assert.match(mail.html, description);
      assert.ok(!mail.raw.includes(trader.secret) && !mail.raw.includes(trader.account.webhookToken));
    });

  test('names the account of a trading request, where it is the user’s own', async (t) => {
    const { port, received } = await startMailServer(t);
    const { world } = await open(t, port);
    const stranger = await world.makeTrader({}, { name: 'Not yours' });
    for (const own of [true, false]) {
      const trader = await world.makeTrader({}, { name: 'Mine' });
      await world.allowIps(trader, '198.51.100.1');
      const trading_account_id = (own ? trader : stranger).account.id;
      const body = { trading_account_id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
      assert.equal((await world.as(trader, 'POST', '/trading/order', body)).status, 403);
      const mail = (await received(own ? 1 : 2)).at(-1);
      assert.equal(mail && facts(mail).Account, own ? 'Mine' : 'none named');
    }
  });

  const HOSTILE = [
    'x\r\nBcc: evil@example.net\r\n\r\nHello',
    'x\nSubject: Win',
    'x\r.\r\nMAIL FROM:<evil@example.net>',
    '\r\n.\r\n',
    'ünïcødé 帳戶 \u{1f680}\u2028Bcc: evil@example.net\u2029\u0085x',
    '=?utf-8?B?DQpCY2M6IGV2aWxAZXhhbXBsZS5uZXQ=?=',
    '</td></table><script>alert(1)</script>',
    `${'long '.repeat(300)}`,
    '\u202egnp.exe',
  ];
  for (const name of HOSTILE)
    test(`is laid out by nobody’s name or browser: ${JSON.stringify(name).slice(0, 40)}`, async (t) => {
      const { port, received } = await startMailServer(t);
      const { world } = await open(t, port);
      const [plain, hostile] = [await world.makeTrader(), await world.makeTrader({}, { name })];
      await attack(world, plain);
      await received(1);
      await attack(world, hostile, { 'user-agent': 'evil\tBcc: evil@example.net' });
      const [first, second] = await received(2);
      assert.ok(first && second);
      const headersOf = (mail: Received) =>
        [...mail.headers].filter(([header]) => !/^(date|message-id|content-type)$/.test(header));
      const expected = headersOf(first).map(([header, values]) => [
        header,
        header === 'to' ? [hostile.user.email] : values,
      ]);
      assert.deepEqual(headersOf(second), expected);
      assert.deepEqual(second.to, [hostile.user.email]);
      assert.deepEqual(Object.keys(facts(second)), Object.keys(facts(first)));
      assert.equal(facts(second).Account, name.replace(/\s+/g, ' ').trimEnd());
      assert.ok(!second.html.includes('<script>'));
      assert.ok(!second.raw.includes('evil\tBcc'));
    });

  test('goes to one address, even where the address could be read as two', async (t) => {
    const { port, mails } = await startMailServer(t);
    const { world } = await open(t, port);
    await attack(world, await world.makeTrader({ email: 'a@example.com, b@example.com' }));
    await world.stop();
    assert.ok(!mails.some(({ to }) => to.includes('b@example.com')), JSON.stringify(mails[0]?.to));
  });
});

describe('alert mails', () => {
  test('come at most once per user in 30 minutes, however many attacks, also after a restart', async (t) => {
    const { port, mails } = await startMailServer(t);
    const { world, clock } = await open(t, port, { RATE_LIMIT_REQUESTS: '1000' });
    const trader = await world.makeTrader();
    const other = await world.makeTrader();
    const second = await world.addAccount(trader, { name: 'Second' });
    // A stop waits for the mails under way, so that what has not come by then does not come.
    const mailsAfter = async (...attacks: Promise<void>[]) => {
      const before = mails.length;
      await Promise.all(attacks);
      await world.restart();
      return mails.slice(before).map(({ to }) => to[0]);
    };
    const many = () => Array.from({ length: 20 }, () => attack(world, trader));
    assert.deepEqual(await mailsAfter(...many()), [trader.user.email]);
    assert.deepEqual(await mailsAfter(attack(world, trader), attack(world, second)), []);
    assert.deepEqual(await mailsAfter(attack(world, other)), [other.user.email]);
    clock.advance(30 * MINUTE - 1);
    assert.deepEqual(await mailsAfter(...many(), attack(world, second)), []);
    clock.advance(1);
    assert.deepEqual(await mailsAfter(...many(), attack(world, second)), [trader.user.email]);
    clock.advance(30 * MINUTE);
    assert.deepEqual((await mailsAfter(attack(world, second), attack(world, other))).toSorted(), [
      ...[trader.user.email, other.user.email].toSorted(),
    ]);
  });

  test('follow ALERT_INTERVAL_MINUTES, and say so', async (t) => {
    const { port, received, mails } = await startMailServer(t);
    const { world, clock } = await open(t, port, { ALERT_INTERVAL_MINUTES: '5' });
    const trader = await world.makeTrader();
    await attack(world, trader);
    assert.match(
      (await received(1))[0]?.text.replace(/\s+/g, ' ') ?? '',
      /one such mail is sent in 5 minutes/,
    );
    clock.advance(5 * MINUTE);
    await attack(world, trader);
    await received(2);
    await world.stop();
    assert.equal(mails.length, 2);
  });

  test('of all processes together are one: fifty claims over two connections to PostgreSQL', async (t) => {
    const server = await startPostgres().catch((fault) => {
      if (fault instanceof PostgresMissing) return t.skip(fault.message);
      throw fault;
    });
    if (!server) return;
    const dbs: Db[] = [await openPostgres(server), await openPostgres(server)];
    t.after(async () => {
      for (const db of dbs) await db.close();
      await server.stop();
    });
    await migrate(dbs[0] as Db, 0);
    const id = '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10' as Trader['user']['id'];
    await dbs[0]?.commit([
      sql`insert into users (id, email, password_hash, is_admin, is_active, plan, created_at)
          values (${id}, 'a@example.com', '', ${false}, ${true}, 'free', ${timestamp(0)})`,
    ]);
    for (const at of [0, 30 * MINUTE]) {
      const claims = Array.from({ length: 50 }, (_, index) =>
        dbs[index % 2]?.commit([claimAlert(id, timestamp(at), timestamp(at - 30 * MINUTE))]),
      );
      const won = (await Promise.all(claims)).filter((guard) => guard === null);
      assert.equal(won.length, 1);
    }
  });
});

describe('a mail server', () => {
  const greet = (socket: Socket) => void socket.write('220 hello\r\n');
  /** Says yes to everything but the command that begins with `word`. */
  const answering = (word: string, answer: (socket: Socket) => void) => (socket: Socket) => {
    greet(socket);
    socket.on('data', (chunk) => {
      if (chunk.toString().startsWith(word)) answer(socket);
      else if (chunk.toString().startsWith('EHLO')) socket.write('250-x\r\n250 AUTH PLAIN\r\n');
      else socket.write('250 yes\r\n');
    });
  };
  // biome-ignore format: a table, one server a line
  const BAD_SERVERS: readonly (readonly [name: string, talk: ((socket: Socket) => void) | null, hangs: boolean])[] = [
    ['that is dead', null, false],
    ['that never greets', () => {}, true],
    ['that greets and never answers', greet, true],
    ['that refuses at once', (socket) => socket.end('554 go away\r\n'), false],
    ['that hangs up at once', (socket) => socket.destroy(), false],
    ['that refuses the password', answering('AUTH', (socket) => socket.write('535 wrong\r\n')), false],
    ['that refuses the recipient', answering('RCPT', (socket) => socket.write('550 nobody here\r\n')), false],
    ['that hangs up in the middle', answering('RCPT', (socket) => socket.destroy()), false],
    ['that falls silent in the middle', answering('RCPT', () => {}), true],
    ['that talks nonsense', (socket) => socket.write('\0\xff HTTP/1.1 200 OK\r\n\r\n'), false],
  ];

  for (const [name, talk, hangs] of BAD_SERVERS)
    test(`${name} delays no request and fails none`, async (t) => {
      const server = talk && (await startBadServer(t, talk));
      const { world, line, lines } = await open(t, null, {
        VERIFY_EMAIL: 'false',
        SMTP_URL: `smtp://user:hunter2@127.0.0.1:${server?.port ?? (await closedPort())}`,
      });
      const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
      const { email } = await world.register();
      await attack(world, trader);
      await attack(world, other);
      await forgotPassword(world, email);
      if (hangs) {
        const socket = await server?.connected();
        // While it hangs, everything else goes on.
        assert.equal((await world.send(trader)).status, 200);
        await attack(world, trader);
        assert.equal(socket?.closed, false);
      } else {
        await line('a task after the answer failed');
        await line('the mail with the link for a new password could not be sent');
      }
      const passed = stopwatch();
      await world.stop();
      assert.ok(passed() < 6000, 'a stop is not held up');
      assert.ok(!JSON.stringify(lines).includes('hunter2'));
      // What became of the reset mail is in the audit log, sealed.
      const failed = await world.db.get(
        sql`select s.position from audit_logs a join audit_seals s on s.entry_id = a.id
            where a.error_message = 'The mail could not be sent.'`,
      );
      assert.ok(failed);
    });

  test('gets a reset mail the same way, and its link works', async (t) => {
    const { port, received } = await startMailServer(t);
    const { world } = await open(t, port, { BASE_URL: 'https://fillpath.example' });
    const { email } = await world.register();
    await forgotPassword(world, email);
    const [mail] = await received(1);
    assert.deepEqual(mail?.to, [email]);
    assert.deepEqual(mail?.headers.get('subject'), ['Choose a new password']);
    const link = /https:\/\/fillpath\.example\/reset-password\?token=([\w-]{43})/;
    const token = link.exec(mail?.text ?? '')?.[1];
    assert.equal(link.exec(mail?.html ?? '')?.[1], token);
    const body = { token, password: 'another horse, another staple' };
    assert.equal((await world.request({ method: 'POST', url: '/auth/reset-password', body })).status, 204);
  });
});

test('without SMTP_URL each mail is one .eml file in the outbox', async (t) => {
  const { world } = await open(t, null, { MAIL_FROM: FROM });
  const trader = await world.makeTrader({}, { name: 'Futures' });
  const { email } = await world.register();
  await attack(world, trader);
  await forgotPassword(world, email);
  await world.stop();
  const files = readdirSync(join(world.dir, 'outbox'));
  assert.equal(files.length, 2);
  assert.ok(files.every((file) => /^[0-9a-f-]{36}\.eml$/.test(file)));
  const mails = files.map((file) => readMail(readFileSync(join(world.dir, 'outbox', file), 'utf8')));
  const alert = mails.find(({ headers }) => headers.get('to')?.[0] === trader.user.email);
  assert.deepEqual(alert?.headers.get('subject'), ['Security alert: webhook_credential_attack']);
  assert.match(alert?.text ?? '', /^Account: Futures\r$/m);
  assert.match(alert?.html ?? '', /<td>Futures<\/td>/);
  assert.ok(mails.some(({ headers }) => headers.get('to')?.[0] === email));
});

describe('the SMTP client', () => {
  const MAIL = { to: 'ada@example.com', subject: 'Hello', text: 'text', html: '<p>html</p>' };

  for (const scheme of ['smtp', 'smtps'])
    test(`logs in and encrypts, by ${scheme}`, async (t) => {
      const { port, mails } = await startMailServer(t, {
        secure: scheme === 'smtps',
        hideSTARTTLS: false,
        authOptional: false,
        onAuth: ({ username, password }, _session, callback) =>
          username === 'user' && password === 'p@ss'
            ? callback(null, { user: 1 })
            : callback(new Error('no')),
      });
      const url = (password: string) =>
        `${scheme}://user:${password}@127.0.0.1:${port}/?tls.rejectUnauthorized=false`;
      const smtp = openSmtp({ url: url('p%40ss'), from: FROM });
      await smtp.send(MAIL);
      assert.deepEqual(
        mails.map(({ secure, to }) => [secure, to]),
        [[true, [MAIL.to]]],
      );
      await assert.rejects(openSmtp({ url: url('wrong'), from: FROM }).send(MAIL));
      // A certificate that nobody vouches for is not believed, unless the operator says so.
      await assert.rejects(
        openSmtp({ url: url('p%40ss').replace(/\?.*$/, ''), from: FROM }).send(MAIL),
        /certificate/,
      );
    });

  test('gives up on silence, and on a server that only trickles', async (t) => {
    const silent = await startBadServer(t, () => {});
    const trickling = await startBadServer(t, (socket) => {
      const timer = setInterval(() => socket.write('220-a moment\r\n'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    for (const { port } of [silent, trickling])
      await assert.rejects(
        openSmtp({ url: `smtp://127.0.0.1:${port}`, from: FROM, patienceMs: 200, longestMs: 400 }).send(MAIL),
      );
  });

  test('opens five connections at most, and sends what waits afterwards', async (t) => {
    const server = await startMailServer(t);
    const smtp = openSmtp({ url: `smtp://127.0.0.1:${server.port}`, from: FROM });
    await Promise.all(Array.from({ length: 30 }, () => smtp.send(MAIL)));
    assert.equal(server.mails.length, 30);
    assert.ok(server.mostConnections() <= 6, `${server.mostConnections()} connections`);
  });

  test('cuts off at its closing what is under way and what waits', async (t) => {
    const { port, connected, sockets } = await startBadServer(t, () => {});
    const smtp = openSmtp({ url: `smtp://127.0.0.1:${port}`, from: FROM });
    const sends = Array.from({ length: 12 }, () => smtp.send(MAIL));
    const socket = await connected();
    smtp.close();
    for (const outcome of await Promise.allSettled(sends)) assert.equal(outcome.status, 'rejected');
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    await assert.rejects(smtp.send(MAIL), /closed/);
    assert.ok(sockets.size < 6);
  });
});
