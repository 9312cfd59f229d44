// Who reads of a broker until it takes no more requests from this address, by anybody. Item 13.

import { createPublicKey } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CompactEncrypt } from 'jose';
import { openExchange } from '../../chaos/exchange.ts';
import { WEIGHT_A_MINUTE, weighedBinance } from '../stubs/binance-weighed.ts';
import { type Attack, EVERYWHERE, told } from './attacks.ts';
import type { Answer, Desk, Person, TradingAccount } from './desk.ts';

const READS = 500;
const WITHIN_MS = 6_000;
const READ_ACCOUNTS = 10;
/** So long the exchange takes nothing. */
const LAST_OF_MINUTE_MS = 12_000;
/** What is read in turn. */
const PATHS = ['balance', 'positions'];

/** An exchange that counts, for a product of `BROKER_URLS`; and the attack on who trades there. */
export async function openBrokerCapacity() {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-weighed-'));
  const weighed = weighedBinance();
  const exchange = await openExchange({ file: join(dir, 'exchange.db'), dialect: weighed.dialect });
  let keys = 0;

  async function newKeys() {
    const id = `key-${++keys}`;
    const credentials = { api_key: id, api_secret: `secret-${id}`, passphrase: '' };
    await fetch(`${exchange.url}/control/accounts/${id}`, {
      method: 'POST',
      body: JSON.stringify({ paper: { latency_ms: 0 }, credentials }),
    });
    return credentials;
  }

  async function open(desk: Desk, owner: Person): Promise<TradingAccount> {
    const account = await desk.account(owner, { broker: 'binance', paper: undefined });
    const { body: key } = await desk.must(200, desk.ask('/auth/public-key'));
    const { kty, crv, x, y, kid, alg } = key;
    const content = {
      user_id: owner.id,
      trading_account_id: account.id,
      credentials: await newKeys(),
    };
    const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg, enc: 'A256GCM', kid })
      .encrypt(createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }));
    const path = `/trading/accounts/${account.id}`;
    await desk.must(200, owner.ask('PUT', `${path}/credentials`, { sealed }));
    await desk.must(200, owner.ask('POST', `${path}/verify`));
    return account;
  }

  const usedUp: Attack = {
    item: 13,
    title: `one user reads balances and positions ${READS} times in ${WITHIN_MS / 1000} s; then a stranger reads, and exits`,
    before: 'the exchange’s weight for the address was used up, and the exit refused “for 55 seconds”',
    modes: EVERYWHERE,
    async run(desk) {
      const [victim, attacker] = [await desk.person('desk'), await desk.person('desk')];
      const theirs = await open(desk, victim);
      const signal = { symbol: 'BTCUSDT.P', quantity: 0.05 };
      await desk.must(200, desk.webhook(theirs, desk.signal(theirs, signal)));
      const own: TradingAccount[] = [];
      for (let index = 0; index < READ_ACCOUNTS; index++) own.push(await open(desk, attacker));
      await minuteWithRoom();
      const before = { ...weighed.seen, used: weighed.used() };

      const reading = Array.from({ length: READS }, async (_, index) => {
        await pause((index * WITHIN_MS) / READS);
        const account = own[index % own.length];
        return attacker.ask('GET', `/trading/accounts/${account?.id}/${PATHS[(index / own.length) & 1]}`);
      });
      const answers = await Promise.all(reading);
      const begun = performance.now();
      const exit = await desk.webhook(theirs, desk.signal(theirs, { ...signal, action: 'long_exit' }));
      const seconds = (performance.now() - begun) / 1000;
      const read = await victim.ask('GET', `/trading/accounts/${theirs.id}/balance`);
      const refused = weighed.seen.refused - before.refused;
      return {
        got:
          `the reader ${counted(answers)}; the exchange ${weighed.seen.requests - before.requests} requests, ` +
          `weight ${weighed.used()} of ${WEIGHT_A_MINUTE}, refused ${refused}; the stranger's exit ${told(exit)} ` +
          `in ${seconds.toFixed(1)} s, its balance ${told(read)}`,
        isClosed:
          exit.body.status === 'filled' &&
          read.status === 200 &&
          refused === 0 &&
          answers.every(
            ({ status, headers }) => status === 200 || (status === 429 && headers['retry-after']),
          ),
      };
    },
  };

  const gateClosed: Attack = {
    item: 13,
    title: 'another program at our address uses up the exchange’s weight; then a user exits',
    before: 'the exit was refused “for 55 seconds”, and the position kept',
    modes: EVERYWHERE,
    async run(desk) {
      const owner = await desk.person('desk');
      const account = await open(desk, owner);
      const signal = { symbol: 'BTCUSDT.P', quantity: 0.05 };
      await desk.must(200, desk.webhook(account, desk.signal(account, signal)));
      await pause(Math.max(0, 60_000 - (Date.now() % 60_000) - LAST_OF_MINUTE_MS));
      weighed.useUp(WEIGHT_A_MINUTE);
      const begun = performance.now();
      const exit = await desk.webhook(account, desk.signal(account, { ...signal, action: 'long_exit' }));
      let order = exit;
      while (!['filled', 'rejected', 'expired', 'failed'].includes(order.body.status)) {
        if (performance.now() - begun > 120_000) break;
        await pause(250);
        order = await desk.must(200, owner.ask('GET', `/trading/orders/${exit.body.order_id}`));
      }
      const seconds = (performance.now() - begun) / 1000;
      return {
        got: `the exit is ${told(exit)}, and ${order.body.status} after ${seconds.toFixed(1)} s`,
        isClosed: order.body.status === 'filled',
      };
    },
  };

  return {
    attacks: [usedUp, gateClosed],
    env: { BROKER_URLS: JSON.stringify({ binance: exchange.url }) },
    async stop() {
      await exchange.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** The exchange counts by the minute: what is done to it is done within one. */
async function minuteWithRoom(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 25_000) await pause(leftMs + 100);
}

/** "240 times 200, 260 times 429" */
function counted(answers: readonly Answer[]): string {
  const numbers = new Map<string, number>();
  for (const answer of answers) numbers.set(told(answer), (numbers.get(told(answer)) ?? 0) + 1);
  return [...numbers].map(([what, times]) => `${times} times ${what}`).join(', ');
}
