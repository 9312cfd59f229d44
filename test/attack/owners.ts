// Who has a key, and what stands between an owner and his position. Items 3, 6 and 7.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../edge/kept.ts';
import { type Attack, EVERYWHERE, told, WITHOUT_SERVERS } from './attacks.ts';

export const stolenKey: Attack = {
  item: 3,
  title: 'an API key adds its address to the list, shows and regenerates a webhook secret and token',
  before: "it undoes its own limits, and the thief's access outlives the key",
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const thief = desk.byKey(await desk.apiKey(owner), desk.newAddress());
    const url = `/trading/accounts/${account.id}`;
    const answers = [
      await thief('POST', '/settings/allowed-ips', { ip_address: '0.0.0.0/0' }),
      await thief('GET', `${url}/webhook-secret`),
      await thief('POST', `${url}/webhook-secret`),
      await thief('POST', `${url}/webhook-token`),
      await thief('POST', '/settings/api-keys', { name: 'another' }),
      await thief('GET', '/auth/sessions'),
    ];
    const shown = JSON.stringify([await thief('GET', url), await thief('GET', '/trading/accounts')]);
    return {
      got: `${answers.map(told).join(', ')}; the secret is ${shown.includes(account.webhook_secret) ? '' : 'not '}shown`,
      isClosed:
        answers.every((answer) => told(answer) === '403 session_required') &&
        !shown.includes(account.webhook_secret),
    };
  },
};

export const keyAfterReset: Attack = {
  item: 3,
  title: 'a thief has made an API key; its owner sets a new password by mail',
  before: 'the key goes on working',
  // The outbox is where the product runs: in all of them here.
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const owner = await desk.person();
    const thief = desk.byKey(await desk.apiKey(owner), desk.newAddress());
    await desk.must(
      202,
      desk.ask('/auth/forgot-password', { body: { email: owner.email }, from: owner.from }),
    );
    const outbox = join(desk.product.dataDir, 'outbox');
    const mail = await eventually(
      () => {
        try {
          const mails = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
          return mails.find((text) => text.includes(owner.email) && text.includes('token=')) ?? null;
        } catch {
          return null;
        }
      },
      () => 'no mail',
    );
    const token = /token=([\w-]+)/.exec(mail)?.[1];
    const body = { token, password: 'another horse, another staple' };
    await desk.must(204, desk.ask('/auth/reset-password', { body, from: owner.from }));
    const answer = told(await thief('GET', '/trading/accounts'));
    const says = /every API key/.test(mail.replaceAll(/\s+/g, ' '));
    return {
      got: `the key: ${answer}; the mail says ${says ? 'so' : 'nothing of it'}`,
      isClosed: answer === '401 unauthenticated' && says,
    };
  },
};

export const usedUpSignal: Attack = {
  item: 6,
  title: 'the same body is sent to ?simulation=true first, and then in earnest',
  before: 'the real trade is 409',
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const signal = desk.signal(account);
    const rehearsal = await desk.webhook(account, signal, { query: '?simulation=true' });
    const real = await desk.webhook(account, signal);
    const again = await desk.webhook(account, signal);
    return {
      got: `rehearsal ${told(rehearsal)}, in earnest ${told(real)}, once more ${told(again)}`,
      isClosed: real.body.status === 'filled' && again.status === 409,
    };
  },
};

export const lapsed: Attack = {
  item: 7,
  title: 'a plan lapses, and new terms are published, while a position is held',
  before: 'the close is refused too',
  modes: EVERYWHERE,
  async run(desk) {
    const answers: string[] = [];
    const position = async () => {
      const owner = await desk.person('desk');
      const account = await desk.account(owner);
      await desk.webhook(account, desk.signal(account));
      return { owner, account };
    };
    const [first, second, never] = [await position(), await position(), await desk.person()];
    await desk.must(200, desk.admin('PATCH', `/deployment/users/${first.owner.id}`, { plan: 'free' }));
    const terms = { version: `terms-${Date.now()}`, text: 'Other terms.' };
    await desk.must(200, desk.admin('PUT', '/deployment/terms', terms));
    for (const { account } of [first, second]) {
      answers.push(told(await desk.webhook(account, desk.signal(account))));
      answers.push(told(await desk.webhook(account, desk.signal(account, { action: 'close_long' }))));
    }
    const account = await desk.account(never);
    answers.push(told(await desk.webhook(account, desk.signal(account, { action: 'close_long' }))));
    return {
      got: `lapsed: entry ${answers[0]}, close ${answers[1]}; new terms: entry ${answers[2]}, close ${answers[3]}; who never had the right: ${answers[4]}`,
      isClosed:
        answers.join() ===
        '403 plan_simulation_only,200 filled,403 terms_not_accepted,200 filled,403 plan_simulation_only',
    };
  },
};

export const deletedPosition: Attack = {
  item: 7,
  title: 'an account that holds something is deleted',
  before: 'it goes, and the position stays with nobody looking',
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    await desk.webhook(account, desk.signal(account));
    const url = `/trading/accounts/${account.id}`;
    const refused = told(await owner.ask('DELETE', url));
    const meant = told(await owner.ask('DELETE', `${url}?keep_positions=true`));
    return {
      got: `${refused}; as it was meant: ${meant}`,
      isClosed: `${refused} ${meant}` === '409 positions_open 204',
    };
  },
};

export const guesses: Attack = {
  item: 11,
  title: 'ten wrong guesses lock a victim out, who comes from a device that it has used before',
  before: 'locked out for as long as one likes',
  modes: EVERYWHERE,
  async run(desk) {
    const victim = await desk.person();
    const body = { email: victim.email, password: victim.password };
    const entered = await desk.must(200, desk.ask('/auth/login', { body, from: victim.from }));
    const cookies = [entered.headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]);
    const wrong = { ...body, password: 'a wrong guess, another' };
    let guess = '';
    for (let index = 0; index < 11; index++)
      guess = told(await desk.ask('/auth/login', { body: wrong, from: desk.newAddress() }));
    const headers = { cookie: cookies.filter((cookie) => !cookie?.startsWith('access_token')).join('; ') };
    const own = told(await desk.ask('/auth/login', { body, headers, from: victim.from }));
    return {
      got: `the stranger ${guess}, the victim ${own}`,
      isClosed: guess === '429 login_locked' && own === '200',
    };
  },
};
