// Who knows nothing, or a webhook's URL, or a user's email address. Items 2 and 11.

import { once } from 'node:events';
import { connect } from 'node:net';
import { type Attack, EVERYWHERE, told, WITHOUT_SERVERS } from './attacks.ts';
import type { Desk } from './desk.ts';
import { observe } from './figures.ts';
import { openDatabase } from './inside.ts';

export const rubbish: Attack = {
  item: 2,
  title: 'who knows only the URL sends 70 rubbish requests; then the owner trades, closes and flattens',
  before: "the owner's close, dashboard and flatten are 429",
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const stranger = desk.newAddress();
    const refusals = await Promise.all(
      Array.from({ length: 70 }, () => desk.webhook(account, { action: 'rubbish' }, { from: stranger })),
    );
    const limited = refusals.filter(({ status }) => status === 429).length;
    const own = [
      await desk.webhook(account, desk.signal(account)),
      await owner.ask('POST', '/trading/order', {
        trading_account_id: account.id,
        action: 'buy',
        symbol: 'BTCUSDT',
        quantity: 0.01,
      }),
      await desk.webhook(account, desk.signal(account, { action: 'close_long' })),
      await owner.ask('POST', `/trading/accounts/${account.id}/halt`, { flatten: true }),
    ];
    return {
      got: `${limited} of 70 refused for their rate; the owner: ${own.map(told).join(', ')}`,
      isClosed:
        limited === 10 && own.every(({ status }) => status === 200) && own[3]?.body.flatten_error === null,
    };
  },
};

export const rehearsals: Attack = {
  item: 2,
  title: 'who knows only the URL sends ?simulation=1 until the day is used up',
  before: "the owner's real daily limit is used up",
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('small');
    const account = await desk.account(owner);
    const body = { action: 'buy', symbol: 'BTCUSDT', quantity: 0.01 };
    const stranger = { from: desk.newAddress(), query: '?simulation=1' };
    const simulated: string[] = [];
    for (let index = 0; index < 4; index++) simulated.push(told(await desk.webhook(account, body, stranger)));
    const real = await desk.webhook(account, desk.signal(account));
    return {
      got: `with 3 orders a day: the stranger ${simulated.join(', ')}; the owner's real order ${told(real)}`,
      isClosed: simulated[3] === '429 daily_limit_reached' && real.body.status === 'filled',
    };
  },
};

/** Cheap, and counted all the same. */
const nonsense = { grant_type: 'nonsense' };

export const tokenLimit: Attack = {
  item: 11,
  title: 'one address asks /auth/token 101 times',
  before: '/auth/token is outside the auth limit',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const from = desk.newAddress();
    let last = '';
    for (let index = 0; index < 101; index++)
      last = told(await desk.ask('/auth/token', { body: nonsense, from }));
    return { got: `the 101st is ${last}`, isClosed: last === '429 edge_rate_limited' };
  },
};

export const ipv6Site: Attack = {
  item: 11,
  title: 'one IPv6 /48 tries to get in from 401 of its networks',
  before: 'each /64 has a limit of its own: 65,536 times as much',
  modes: ['production'],
  async run(desk) {
    const answers: string[] = [];
    for (let index = 0; index < 401; index++)
      answers.push(
        told(await desk.ask('/auth/token', { body: nonsense, from: `2001:db8:7:${index.toString(16)}::1` })),
      );
    const other = told(await desk.ask('/auth/token', { body: nonsense, from: '2001:db8:8::1' }));
    return {
      got: `the 400th is ${answers[399]}, the 401st ${answers[400]}, another /48 ${other}`,
      isClosed: answers[400] === '429 edge_rate_limited' && !`${answers[399]}${other}`.includes('429'),
    };
  },
};

export const passwordFlood: Attack = {
  item: 11,
  title: '80 passwords are to be checked at once',
  before: 'a login is delayed by 7 s, and trading with it',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const calm = await observe(desk, 'before', account, 1_000);
    const tries = Array.from({ length: 80 }, (_, index) =>
      desk.ask('/auth/login', {
        body: { email: `nobody${index}@example.com`, password: 'a guess, a guess' },
        from: desk.newAddress(),
      }),
    );
    const during = await observe(desk, 'during', account, 500);
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    const busy = statuses.filter((status) => status === 503).length;
    return {
      got: `${busy} are told to come back (503), ${80 - busy} checked; webhook p50 ${during.p50.toFixed(0)} ms (${calm.p50.toFixed(0)} before)`,
      isClosed: busy > 0 && during.failed === 0 && during.p50 < Math.max(500, calm.p50 * 10),
    };
  },
};

/** The first line of the answer, and its content type. */
async function answerTo(desk: Desk, text: string): Promise<string> {
  const socket = connect(desk.product.port, '127.0.0.1').setEncoding('latin1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => {}).write(text);
  await once(socket, 'close');
  return `${answer.slice(9, 12)} ${/content-type: ([^\r;]+)/i.exec(answer)?.[1] ?? 'without a type'}`;
}

export const oddities: Attack = {
  item: 11,
  title: 'a request without Host, and one with Expect: nonsense',
  before: 'answers that are no problem documents',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const answers = [
      await answerTo(desk, 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n'),
      await answerTo(
        desk,
        'GET /health/live HTTP/1.1\r\nhost: x\r\nexpect: nonsense\r\nconnection: close\r\n\r\n',
      ),
    ];
    return {
      got: answers.join(', '),
      isClosed: answers.join() === '400 application/problem+json,417 application/problem+json',
    };
  },
};

export const diary: Attack = {
  item: 11,
  title: 'a stranger sends 1,000 requests, each as long as it may be, to be written down',
  before: '820 MB a day and address: 1.4 MB for 1,000 requests',
  modes: EVERYWHERE,
  async run(desk) {
    const database = await openDatabase(desk.product);
    const size = async () => {
      const [row] = await database.rows(
        'select sum(length(coalesce(user_agent, $$)) + length(coalesce(request_path, $$)) + length(cast(metadata as text)) + 200) as size, count(*) as count from audit_logs'.replaceAll(
          '$$',
          "''",
        ),
      );
      return { bytes: Number(row?.size ?? 0), entries: Number(row?.count ?? 0) };
    };
    const [audited, logged] = [await size(), desk.product.output().length];
    const from = desk.newAddress();
    const headers = { 'user-agent': 'x'.repeat(4_000) };
    for (let index = 0; index < 1_000; index += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, each) =>
          desk.webhook({ webhook_token: `${index + each}${'x'.repeat(1_000)}` }, {}, { from, headers }),
        ),
      );
    const [after, log] = [await size(), desk.product.output().length - logged];
    await database.close();
    const bytes = after.bytes - audited.bytes + log;
    return {
      got: `${Math.round(bytes / 1000)} KB: ${after.entries - audited.entries} audit entries and ${log} bytes of the log`,
      isClosed: bytes < 100_000,
    };
  },
};
