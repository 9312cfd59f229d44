// What the tests of the exchange share: one of it on a real socket, its control, and clients that may leave.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import type { Broker } from '../../src/broker/broker.ts';
import { openRemotePaper } from '../../src/broker/paper/remote.ts';
import { send } from '../../src/broker/wire.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { withTables } from '../data/backend.ts';
import { accountOf, NO_HURRY } from './paper-desk.ts';
import { PATIENT_MS, type PatientBroker, patient } from './patient.ts';

interface OrderRow {
  readonly account: string;
  readonly client_order_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly reduce_only: boolean;
  readonly status: string;
  readonly fill_quantity: string;
}

interface RequestRow {
  readonly seq: number;
  readonly arrived_at: number;
  readonly account: string;
  readonly client_order_id: string;
  readonly asker: string | null;
  readonly outcome: string;
  readonly code: string | null;
}

export interface Ledger {
  readonly orders: readonly OrderRow[];
  readonly positions: readonly {
    readonly account: string;
    readonly symbol: string;
    readonly quantity: string;
  }[];
  readonly requests: readonly RequestRow[];
}

interface Victim {
  readonly id: number;
  readonly caught: boolean;
  readonly account: string | null;
  readonly client_order_id: string | null;
}

export type ExchangeDesk = Awaited<ReturnType<typeof exchangeDesk>>;

export async function exchangeDesk() {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-exchange-'));
  const exchange = await openExchange({ file: await withTables(join(dir, 'exchange.db')) });
  const { url } = exchange;
  const quick = (paper: Partial<PaperSettings>) => ({ latency_ms: 0, ...paper });

  const connect = (id: AccountId, paper: Partial<PaperSettings> = {}, path = ''): Promise<Broker> =>
    openRemotePaper({ url: url + path })(accountOf(id, quick(paper)), NO_HURRY);

  async function control<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${url}/control/${path}`, {
      method,
      body: body ? JSON.stringify(body) : null,
    });
    assert.equal(response.status, 200, `${method} ${path}`);
    return (await response.json()) as Answer;
  }

  async function ledgerOf(account: AccountId): Promise<Ledger> {
    const { orders, positions, requests } = await control<Ledger>('GET', 'ledger');
    const own = (row: { account: string }) => row.account === account;
    return {
      orders: orders.filter(own),
      positions: positions.filter(own),
      requests: requests.filter(own),
    };
  }

  return {
    dir,
    url,
    control,
    ledgerOf,

    connect,
    open: async (...account: Parameters<typeof connect>) => patient(await connect(...account)),

    /** A connection whose process may be gone in the middle of a call. */
    async openMortal(id: AccountId, path: string): Promise<{ broker: PatientBroker; die(): void }> {
      const death = new AbortController();
      const broker = await openRemotePaper({
        url: url + path,
        fetch: (address, init) => send(address, { ...init, signal: death.signal }),
      })(accountOf(id, quick({})), NO_HURRY);
      return { broker: patient(broker), die: () => death.abort() };
    },

    /** When what it holds changed last. */
    async lastChange(id: AccountId): Promise<number> {
      const { held } = await control<ExchangeLedger>('GET', 'ledger');
      return held.findLast(({ account }) => account === id)?.at ?? 0;
    },

    /** "accepted", "not_taken" …: what became of each request, in turn. */
    outcomes: async (account: AccountId): Promise<string[]> =>
      (await ledgerOf(account)).requests.map(({ outcome }) => outcome),

    breaks: (account: AccountId, kind: string, more: object = {}) =>
      control('POST', 'faults', { kind, ttl_ms: 60_000, accounts: [account], ...more }),
    heal: () => control('DELETE', 'faults'),

    /** Set when this returns. */
    async setTrap(asker: string, at: string, more: object = {}) {
      const body = JSON.stringify({ asker, at, ...more });
      const response = await fetch(`${url}/control/traps`, { method: 'POST', body });
      let id = 0;
      return {
        async caught() {
          const victim = (await response.json()) as Victim;
          assert.ok(victim.caught, 'nobody fell into it');
          id = victim.id;
          return { account: victim.account, client_order_id: victim.client_order_id };
        },
        /** Whether anything was held. */
        release: async () => (await control<{ released: boolean }>('POST', `traps/${id}/release`)).released,
      };
    },

    async end(): Promise<void> {
      await exchange.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** For what happens at the exchange, and nobody is told of. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const start = Date.now();
  while (!(await isSo())) assert.ok(Date.now() - start < PATIENT_MS, 'it does not happen');
}
