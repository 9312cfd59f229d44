// What one somebody could do to everybody: a page by a name of its own, a stranger with many accounts' names, with an
// address that is not theirs, with a webhook's URL; a user who keeps everybody's passwords waiting. Items 21 to 28.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, EVERYWHERE, told } from './attacks.ts';
import { type Desk, PASSWORD } from './desk.ts';

const REBOUND = { host: 'rebind.attacker.example:8080' };

const hosts: Attack = {
  item: 21,
  title:
    'a page whose name leads to an administrator’s loopback makes itself the first admin and reads /metrics',
  before: '201 or 409, and all metrics: any Host was served',
  modes: EVERYWHERE,
  async run(desk) {
    const admin = { email: 'mallory@example.com', password: 'a horse, a staple, a thief' };
    const from = desk.product.mode === 'production' ? '127.0.0.1' : desk.newAddress();
    const answers = [
      told(await desk.ask('/setup/admin', { body: admin, headers: REBOUND, from })),
      told(await desk.ask('/metrics', { headers: REBOUND, from })),
      told(await desk.ask('/deployment/users', { headers: REBOUND, from })),
    ];
    const own = (await desk.ask('/metrics', { headers: { host: 'localhost' }, from })).status;
    return {
      got: `${answers.join(', ')}; under localhost ${own}`,
      isClosed: answers.every((answer) => answer === '421 wrong_host') && own === 200,
    };
  },
};

const sprayed: Attack = {
  item: 22,
  title:
    'one address tries a password on sixty accounts through /auth/token, which asks for no bot challenge',
  before: 'sixty passwords were checked, and the alarm counted none',
  modes: EVERYWHERE,
  async run(desk) {
    const [from, owner] = [desk.newAddress(), await desk.person()];
    const statuses: number[] = [];
    for (let n = 0; n < 60; n++) {
      const body = { grant_type: 'password', username: `victim-${n}@example.com`, password: 'Winter2026!' };
      statuses.push((await desk.ask('/auth/token', { body, from })).status);
    }
    const tried = statuses.filter((status) => status === 400).length;
    const body = { grant_type: 'password', username: owner.email, password: PASSWORD };
    const neighbour = (await desk.ask('/auth/token', { body, from: owner.from })).status;
    const headers = { host: 'localhost' };
    const counted = /denials_total\{code="invalid_credentials"\} (\d+)/.exec(
      (await desk.ask('/metrics', { from: '127.0.0.1', headers })).text,
    )?.[1];
    return {
      got: `${tried} tried, then ${statuses.at(-1)}; another address ${neighbour}; the alarm counted ${counted}`,
      isClosed: tried === 10 && statuses.at(-1) === 429 && neighbour === 200 && Number(counted) >= 10,
    };
  },
};

const twoCookies: Attack = {
  item: 28,
  title: 'a neighbour of our domain puts a cookie of its own before ours',
  before: 'the first of the two was taken, whose ever it was',
  modes: EVERYWHERE,
  async run(desk) {
    const person = await desk.person();
    const body = { email: person.email, password: PASSWORD };
    const entered = await desk.must(200, desk.ask('/auth/login', { body, from: person.from }));
    const own = [entered.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0]);
    const cookie = ['access_token=of-somebody-else', ...own].join('; ');
    const answer = await desk.ask('/auth/session', { headers: { cookie }, from: person.from });
    return { got: told(answer), isClosed: told(answer) === '400 request_invalid' };
  },
};

/** What lies in the outbox for an address, oldest first. */
function mailsTo({ product }: Desk, address: string): string[] {
  const folder = join(product.dataDir, 'outbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => new RegExp(`^To: <?${address.replaceAll('.', '\\.')}>?\\s*$`, 'm').test(mail));
}

const subjectsOf = (mails: readonly string[]): string =>
  [...new Set(mails.map((mail) => /^Subject: (.*?)\s*$/m.exec(mail)?.[1] ?? '?'))].join(', ');

/** Mails are sent after the answer. */
const AFTERWARDS_MS = 1_500;

const floodedMailbox: Attack = {
  item: 23,
  title: 'somebody registers a stranger’s address and has mails written to it',
  before: '40 mails in 14 s',
  modes: EVERYWHERE,
  async run(desk) {
    const [from, email] = [desk.newAddress(), `${randomUUID()}@example.com`];
    const register = () => desk.ask('/auth/register', { body: { email, password: PASSWORD }, from });
    await desk.must(201, register());
    const session = await desk.enter(email, PASSWORD, from);
    let [current_password, password] = [PASSWORD, 'another horse, another staple'];
    for (let n = 0; n < 10; n++) {
      await desk.ask('/auth/forgot-password', { body: { email }, from });
      await session('POST', '/auth/verify-email/resend', {});
      await register();
      if ((await session('POST', '/auth/password', { current_password, password })).status === 204)
        [current_password, password] = [password, current_password];
    }
    await sleep(AFTERWARDS_MS);
    const mails = mailsTo(desk, email);
    return {
      got: `${mails.length} mails: ${subjectsOf(mails)}`,
      isClosed: mails.length <= 5 && mails.every((mail) => mail.includes('Confirm your address')),
    };
  },
};

const takenAddress: Attack = {
  item: 24,
  title: 'somebody registers a stranger’s address, with a second factor on it, before its owner does',
  before: 'the owner could neither register nor get in, whatever they were mailed',
  modes: EVERYWHERE,
  async run(desk) {
    const [from, email] = [desk.newAddress(), `${randomUUID()}@example.com`];
    const own = 'the real owner of it all';
    await desk.must(201, desk.ask('/auth/register', { body: { email, password: PASSWORD }, from }));
    const thief = await desk.enter(email, PASSWORD, from);
    const factor = told(await thief('POST', '/auth/totp/enrol', { password: PASSWORD }));
    const owner = desk.newAddress();
    const second = await desk.ask('/auth/register', { body: { email, password: own }, from: owner });
    await sleep(AFTERWARDS_MS);
    const token = /verify-email\?token=([\w-]+)/.exec(mailsTo(desk, email).at(-1) ?? '')?.[1] ?? 'none';
    const followed = (await desk.ask('/auth/verify-email', { body: { token }, from: owner })).status;
    const login = (await desk.ask('/auth/login', { body: { email, password: own }, from: owner })).status;
    const left = (await thief('GET', '/auth/session')).status;
    return {
      got: `second factor ${factor}; the owner registers ${second.status}, follows the link ${followed}, logs in ${login}; the other one ${left}`,
      isClosed: factor === '403 email_not_verified' && login === 200 && left === 401,
    };
  },
};

const messagesByUrl: Attack = {
  item: 25,
  title: 'whoever knows the URL has messages with a text of their own sent to its owner',
  before: '18 notifications, each with the stranger’s symbol in it',
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const destination = {
      ...{ kind: 'webhook', name: 'Mine', url: 'https://127.0.0.1/hook' },
      events: ['order_failed', 'order_unknown', 'fill', 'gap', 'drift', 'attack'],
    };
    const made = await desk.must(201, owner.ask('POST', '/settings/notifications', destination));
    const from = desk.newAddress();
    for (let n = 0; n < 18; n++) {
      const symbol = `CALL-555-${n}-NOW`;
      await desk.webhook(
        account,
        { action: 'buy', symbol, quantity: 1 },
        { query: '?simulation=true', from },
      );
      await desk.webhook(account, desk.signal(account, { secret: 'wrong', symbol }), { from });
    }
    // Found once they are sealed.
    await sleep(8_000);
    const path = `/settings/notifications/${made.body.id}/deliveries?limit=200`;
    const { text, body } = await desk.must(200, owner.ask('GET', path));
    const sent = (body.items as unknown[]).length;
    return {
      got: `${sent} notifications, ${text.includes('CALL-555') ? 'with' : 'without'} the stranger’s text`,
      isClosed: sent <= 2 && !text.includes('CALL-555'),
    };
  },
};

const keptRefusals: Attack = {
  item: 26,
  title: 'a user sends 16 KiB signals beyond the own limit',
  before: 'each 429 was stored with its body: 9.6 GB a day',
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const comment = 'x'.repeat(15_000);
    let refused = 0;
    for (let n = 0; n < 160; n++) {
      const { status } = await desk.webhook(account, desk.signal(account, { comment }), { from: owner.from });
      if (status === 429) refused++;
    }
    const { body } = await desk.must(200, owner.ask('GET', '/trading/signals?code=rate_limited&limit=200'));
    const kept = (body.items as unknown[]).length;
    // The first ten of each of two minutes at the most.
    return { got: `${kept} of ${refused} refusals stored`, isClosed: refused > 50 && kept <= 20 };
  },
};

const starvedLogins: Attack = {
  item: 27,
  title: 'three users turn a second factor on and off again and again, each time with their password',
  before: 'everybody’s login got 503',
  modes: EVERYWHERE,
  async run(desk) {
    const users = await Promise.all([desk.person(), desk.person(), desk.person()]);
    const victim = await desk.person();
    let isOver = false;
    let asked = 0;
    const loops = users.flatMap((user) =>
      Array.from({ length: 12 }, async () => {
        for (; !isOver; asked++)
          await user.ask('POST', asked % 2 ? '/auth/totp/enrol' : '/auth/totp/disable', {
            password: PASSWORD,
          });
      }),
    );
    const statuses: number[] = [];
    let slowest = 0;
    for (let n = 0; n < 8; n++) {
      const begun = performance.now();
      const body = { email: victim.email, password: PASSWORD };
      statuses.push((await desk.ask('/auth/login', { body, from: victim.from })).status);
      slowest = Math.max(slowest, performance.now() - begun);
    }
    isOver = true;
    await Promise.all(loops);
    return {
      got: `${asked} requests of theirs; logins ${[...new Set(statuses)].join(', ')}, the slowest ${Math.round(slowest)} ms`,
      isClosed: statuses.every((status) => status === 200),
    };
  },
};

/** In this order. */
export const ofPrincipals: readonly Attack[] = [
  ...[hosts, sprayed, messagesByUrl, keptRefusals, starvedLogins, twoCookies],
];

/** Where addresses have to be confirmed, which they are wherever mails are sent. */
export const ofAddresses: readonly Attack[] = [floodedMailbox, takenAddress];
export const CONFIRMING = { VERIFY_EMAIL: 'true' };
