// What one somebody could do to everybody: a page by a name of its own, a stranger with many accounts' names, with an
// address that is not theirs, with a webhook's URL; a user who keeps everybody's passwords waiting. Items 21 to 28.

import { type Attack, EVERYWHERE, told } from './attacks.ts';
import { PASSWORD } from './desk.ts';

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

/** In this order. */
export const ofPrincipals: readonly Attack[] = [hosts, sprayed, twoCookies];
