// A broker's stub behind its connector, as the contract suite and the connectors' own tests use it: one exchange on a real
// socket for a test file, and fresh accounts in it.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import type { Dialect } from '../../chaos/exchange-dialect.ts';
import { GARBAGE_KINDS } from '../../chaos/exchange-faults.ts';
import type { Broker, BrokerAccount, OpenBroker } from '../../src/broker/broker.ts';
import { findListing } from '../../src/broker/paper/market.ts';
import { average, type Decimal, decimal } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { BrokerHarness } from '../contracts/broker.ts';
import { withTables } from '../data/backend.ts';
import { stubOf } from '../stubs/stubs.ts';
import { NO_HURRY } from './paper-desk.ts';
import { type PatientBroker, patient } from './patient.ts';

const FILLS = { filled: 'full', partially_filled: 'partial', cancelled: 'cancel', failed: 'fail' } as const;

export type StubAccount = Awaited<ReturnType<ReturnType<typeof stubHarness>['account']>>;

/** Call it at the top of a test file. `openAt`: the connector at the stub's address. */
export function stubHarness(broker: string, openAt: (url: string) => OpenBroker, environment = 'live') {
  let dir = '';
  let exchange: Awaited<ReturnType<typeof openExchange>>;
  let open: OpenBroker;
  let dialect: Dialect;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), `fillpath-${broker}-`));
    dialect = await stubOf(broker);
    exchange = await openExchange({ file: await withTables(join(dir, 'exchange.db')), dialect });
    open = openAt(exchange.url);
  });
  after(async () => {
    await exchange.close();
    await rm(dir, { recursive: true });
  });
  let accounts = 0;

  async function control<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(`${exchange.url}/control/${path}`, {
      method,
      body: body ? JSON.stringify(body) : null,
    });
    assert.equal(response.status, 200, `${method} ${path}: ${await response.clone().text()}`);
    return (await response.json()) as Body;
  }

  async function account(terms: object = {}) {
    const id = `${broker}-${++accounts}` as AccountId;
    const credentials = { api_key: `key-${id}`, api_secret: `secret-${id}`, passphrase: `pass-${id}` };
    let paper: object = { latency_ms: 0 };
    await control('POST', `accounts/${id}`, { paper, credentials, ...terms });
    const given: BrokerAccount = { id, environment, paper: null, credentials };
    return {
      id,
      credentials,
      connect: (more: Partial<BrokerAccount> = {}): Promise<Broker> => open({ ...given, ...more }, NO_HURRY),
      open: async (more: Partial<BrokerAccount> = {}): Promise<PatientBroker> =>
        patient(await open({ ...given, ...more }, NO_HURRY)),
      /** Of its book. */
      async set(change: object): Promise<void> {
        paper = { ...paper, ...change };
        await control('PATCH', `accounts/${id}`, { paper });
      },
      change: (more: object) => control('PATCH', `accounts/${id}`, more),
      breaks: (kind: string, more: object = {}) =>
        control('POST', 'faults', { kind, ttl_ms: 60_000, accounts: [id], ...more }),
      heal: () => control('DELETE', 'faults'),
      async ledger() {
        const { orders, positions, requests, stops } = await control<ExchangeLedger>('GET', 'ledger');
        const own = (row: { account: string }) => row.account === id;
        return {
          orders: orders.filter(own),
          positions: positions.filter(own),
          requests: requests.filter(own),
          stops: stops.filter(own),
        };
      },
    };
  }

  /** What every stub does by the engine's own means. `own.protection`: what is so of this broker's stops. */
  async function harness(
    own: Omit<BrokerHarness, 'open' | 'faults' | 'ledger' | 'end'>,
    terms: object = {},
  ): Promise<BrokerHarness> {
    // By the name on the wire, or by what the engine has behind ours.
    const behind = findListing(own.symbols.broker)?.symbol;
    const market =
      dialect.markets?.find(({ symbol }) => symbol === own.symbols.broker) ??
      dialect.markets?.find(({ of, isSuspended }) => of === behind && !isSuspended);
    const listing = market?.of ?? behind ?? own.symbols.broker;
    const onWire = (quantity: Decimal) => average(quantity, market?.contractSize ?? decimal(1));
    const { id, connect, set, breaks, heal, ledger } = await account(terms);
    const broken = (kind: string, more?: object) => async () => {
      await breaks(kind, more);
    };
    return {
      ...own,
      open: () => connect(),
      faults: {
        loseAnswer: () => set({ lose_answer: true }),
        reject: (code) => set({ reject: code }),
        rest: () => set({ fill: 'never' }),
        settle: (how) => set({ fill: FILLS[how] }),
        fillPartly: () => set({ fill: 'partial' }),
        hang: broken('hang'),
        disconnect: broken('reset'),
        limitRate: (ms) => broken('refuse', { retry_after_ms: ms })(),
        async talkNonsense() {
          await breaks('garbage', { taken: true });
          return GARBAGE_KINDS;
        },
        ...(own.stray && {
          holdStray: async () => void (await control('PATCH', `accounts/${id}`, { stray: own.stray })),
        }),
        cutStream: async () => void (await control('POST', `streams/${id}/cut`)),
        babble: async () => void (await control('POST', `streams/${id}/babble`)),
        heal: async () => {
          await heal();
        },
      },
      protection: {
        setPrice: async (price) => void (await control('POST', 'prices', { [listing]: Number(price) })),
        refuseStops: () => set({ protection: 'refuse' }),
        loseStopAnswers: () => set({ protection: 'lose_answer' }),
        vanishStops: () => set({ protection: 'vanish' }),
        removeStopsByHand: async () => void (await control('DELETE', `stops/${id}`)),
        async foreignStop({ quantity, ...stop }) {
          const symbol = market?.symbol ?? own.symbols.broker;
          const size = quantity && { quantity: onWire(quantity) };
          await control('POST', `stops/${id}`, { ...stop, ...size, symbol });
        },
        placedStops: async () =>
          (await ledger()).stops
            .filter(({ what }) => what === 'placed')
            .map(({ price, trigger_by }) => ({ price, triggerBy: trigger_by })),
        ...own.protection,
      },
      ledger: async () => (await ledger()).orders.map((row) => ({ clientOrderId: row.client_order_id })),
      end: async () => void (await control('POST', 'prices', { [listing]: null })),
    };
  }

  /** Ends when somebody listens to what happens to the account's orders. */
  async function listened(id: AccountId): Promise<void> {
    for (const start = Date.now(); ; ) {
      const { listening } = await control<{ listening: number }>('GET', `streams/${id}`);
      if (listening > 0) return;
      assert.ok(Date.now() - start < 10_000, 'nobody listens');
    }
  }

  return { control, account, harness, listened, url: () => exchange.url };
}
