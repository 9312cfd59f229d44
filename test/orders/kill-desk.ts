// One life of the real program after the other, on the same data, beside an exchange that knows each of them by its name. Not in
// kill-harness.ts, which the exchange's own programs use.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { exchangeDesk } from '../broker/exchange-desk.ts';
import { makeTrader, type Program, startProgram, type Trader, webhookPath } from './kill-harness.ts';

const PATIENCE_MS = 90_000;
/** Of a trap: what was on its way when the process died arrives after all, when the next one lives. */
export const LATE = { hold_ms: 4_000 };

/** Until the tests of this file are over. */
export async function killDesk(env: Record<string, string>) {
  const exchange = await exchangeDesk();
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-kill-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  let life: { readonly name: string; readonly program: Program } | null = null;
  let lives = 0;

  after(async () => {
    await life?.program.kill();
    await db.close();
    await exchange.end();
    rmSync(dir, { recursive: true, force: true });
  });

  const begin = (name: string) => ({
    name,
    program: startProgram(dir, {
      BROKER_URLS: JSON.stringify({ paper: `${exchange.url}/${name}` }),
      RESPONSE_WAIT_SECONDS: '2',
      ...env,
    }),
  });

  return {
    ...{ exchange, db },
    /** Somebody whose account is at the exchange, where the price is 65,000 at first. `terms`: the exchange's manners with it. */
    async traderThere(terms: object = {}): Promise<Trader> {
      await exchange.control('POST', 'prices', { BTCUSDT: 65_000 });
      const trader = await makeTrader(db, { latency_ms: 0 });
      const { id } = trader.account;
      await exchange.control('POST', `accounts/${id}`, { paper: { latency_ms: 0 }, ...terms });
      return trader;
    },
    /** The program, in its next life where it was killed; the exchange knows each life by its name. */
    async live(): Promise<{ address: string; name: string }> {
      life ??= begin(`life${++lives}`);
      return { address: await life.program.ready, name: life.name };
    },
    async killed(): Promise<void> {
      await life?.program.kill();
      life = null;
    },
  };
}

export async function eventually<Seen>(
  read: () => Promise<Seen>,
  isSo: (seen: Seen) => boolean,
): Promise<Seen> {
  for (const begun = Date.now(); ; await sleep(50)) {
    const seen = await read();
    if (isSo(seen)) return seen;
    assert.ok(Date.now() - begun < PATIENCE_MS, `it never came to that: ${JSON.stringify(seen)}`);
  }
}

/** The answer's status; 0: who is killed does not answer. */
export function send(address: string, trader: Trader, fields: object): Promise<number> {
  const signal = {
    ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 1, timestamp: timestamp(Date.now()) },
    ...{ secret: trader.secret, ...fields },
  };
  return fetch(address + webhookPath(trader), { method: 'POST', body: JSON.stringify(signal) }).then(
    ({ status }) => status,
    () => 0,
  );
}
