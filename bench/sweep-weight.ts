// What one quiet sweep of a protected position asks a broker for, by its connector's own count, at its stub.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openExchange } from '../chaos/exchange.ts';
import { venueOf } from '../chaos/venue.ts';
import { openBrokers } from '../src/broker/registry.ts';
import { BROKERS, type BrokerName } from '../src/domain/brokers.ts';
import type { AccountId } from '../src/domain/ids.ts';
import { stubOf } from '../test/stubs/stubs.ts';
import { PAPER } from './checkout.ts';

export interface SweepWeight {
  readonly calls: number;
  readonly weight: number;
  /** Of a price, for who follows it. */
  readonly quote: number;
}

export async function sweepWeight(broker: BrokerName): Promise<SweepWeight> {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-bench-'));
  const exchange = await openExchange({ file: join(dir, 'exchange.db'), dialect: await stubOf(broker) });
  try {
    const venue = await venueOf(broker);
    const id = 'bench' as AccountId;
    const terms = venue.terms(id, 0) as { readonly credentials: Record<string, string> };
    await fetch(`${exchange.url}/control/accounts/${id}`, {
      method: 'POST',
      body: JSON.stringify({ paper: PAPER, ...terms }),
    });
    let calls = 0;
    let weight = 0;
    const meter = {
      sent(spent = 1) {
        calls++;
        weight += spent;
      },
      told() {},
    };
    const unused = () => Promise.reject(new Error('no paper account trades here'));
    const brokers = openBrokers({
      ledger: { read: unused, find: unused, findStop: unused, write: unused },
      clock: { now: Date.now },
      wait: unused,
      urls: { [broker]: exchange.url },
    });
    const signal = AbortSignal.timeout(30_000);
    const account = { id, environment: BROKERS[broker].environments[0], paper: null, ...terms, meter };
    const opened = await brokers[broker](account, signal);
    const instrument = await opened.resolve(venue.symbols[0] ?? '', signal);
    if ('rejection' in instrument) throw new Error(instrument.rejection.message);
    const counted = async (ask: () => Promise<unknown>) => {
      calls = 0;
      weight = 0;
      await ask();
      return { calls, weight };
    };
    // What was asked for once is known from then on.
    const look = async () => {
      await opened.position(instrument, signal);
      await opened.stops?.standing(instrument, signal);
    };
    await look();
    const sweep = await counted(look);
    const quote = await counted(() => opened.quote(instrument, signal));
    await opened.close();
    return { ...sweep, quote: quote.weight };
  } finally {
    await exchange.close();
    await rm(dir, { recursive: true });
  }
}
