// A trial at a broker's stub: the exchange on a real socket, the connector, and the recorder between them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { PATIENCE, type Patience, type Sent, trialIds } from '../../src/app/trial/desk.ts';
import { type Outcome, runTrial, type TrialAsked } from '../../src/app/trial/trial.ts';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import type { OpenBroker } from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import type { Wire } from '../../src/broker/registry.ts';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import type { OpenSocket } from '../../src/broker/stream.ts';
import type { Known } from '../../src/broker/transcript/fields.ts';
import { createRecorder } from '../../src/broker/transcript/recorder.ts';
import type { Fetch } from '../../src/broker/wire.ts';
import { BROKERS } from '../../src/domain/brokers.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { withTables } from '../data/backend.ts';
import { stubOf } from '../stubs/stubs.ts';

export type StubName = Exclude<keyof typeof BROKERS, 'paper'>;

/** A Tuesday, ten in the morning in Taipei. */
const TAIPEI = Date.parse('2026-11-17T10:00:00+08:00');

export const OPENERS: Readonly<
  Record<StubName, (wire: Wire, url: string, now?: () => number) => OpenBroker>
> = {
  binance: (wire, url) => openCcxt('binance', { ...wire, url }),
  bybit: (wire, url) => openCcxt('bybit', { ...wire, url }),
  okx: (wire, url) => openCcxt('okx', { ...wire, url }),
  gate: (wire, url) => openCcxt('gate', { ...wire, url }),
  bitget: (wire, url) => openCcxt('bitget', { ...wire, url }),
  alpaca: (wire, url) => openAlpaca({ ...wire, url }),
  shioaji: (wire, url) => openShioaji({ fetch: wire.fetch, url, clock: { now: () => TAIPEI } }),
};

export interface Stub {
  readonly broker: StubName;
  /** Of an account, where the broker has more than one kind. */
  readonly terms?: object;
}

export const STUBS: Readonly<Record<string, Stub>> = {
  binance: { broker: 'binance' },
  bybit: { broker: 'bybit' },
  okx: { broker: 'okx' },
  gate: { broker: 'gate' },
  'bitget, classic': { broker: 'bitget', terms: { account_type: 'classic' } },
  'bitget, unified': { broker: 'bitget', terms: { account_type: 'unified' } },
  alpaca: { broker: 'alpaca' },
  shioaji: { broker: 'shioaji' },
};

const SYMBOLS: Partial<Record<StubName, string>> = { alpaca: 'AAPL', shioaji: 'TAIFEX:TXF1!' };
const ENVIRONMENTS: Partial<Record<StubName, string>> = { alpaca: 'paper' };

/** Shorter than at a broker: what is planted is there at once, or not at all. */
const BRIEF: Patience = {
  ...PATIENCE,
  callMs: 60_000,
  lookMs: 20,
  orderMs: 1_500,
  lagMs: 3_000,
  // A stream that is there is waited for, however slow this machine is.
  streamMs: 20_000,
};
const SILENT: Partial<Patience> = { streamMs: 4_000 };

export interface Planted {
  /** What the exchange is told of the account. */
  readonly terms?: object;
  readonly faults?: readonly { readonly kind: string; readonly [more: string]: unknown }[];
  readonly aheadMs?: number;
  /** Between the connector and the exchange. */
  between?(fetch: Fetch): Fetch;
  /** The stream opens, and tells of no order. */
  readonly isSilent?: boolean;
  /** Once the buy was sent. */
  readonly interrupt?: 'after the buy';
}

export interface Tried {
  readonly outcome: Outcome;
  /** What is written. */
  readonly text: string;
  readonly sent: readonly Sent[];
  /** Of the exchange: nothing is held, nothing rests, no stop stands. */
  readonly left: readonly string[];
  readonly secrets: readonly string[];
  /** Each that proved who asked. */
  readonly signatures: readonly string[];
  readonly url: string;
}

export async function tryStub(
  stub: Stub,
  known: Known,
  planted: Planted = {},
  patience: Partial<Patience> = {},
): Promise<Tried> {
  const { broker } = stub;
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-trial-'));
  const exchange = await openExchange({
    file: await withTables(join(dir, 'exchange.db')),
    dialect: await stubOf(broker),
  });
  const control = async <Body>(method: string, path: string, body?: object): Promise<Body> =>
    (await (
      await fetch(`${exchange.url}/control/${path}`, { method, body: body ? JSON.stringify(body) : null })
    ).json()) as Body;
  const id = `${broker}-trial-account` as AccountId;
  const credentials = {
    api_key: `key-of-${id}-7f3a`,
    api_secret: `secret-of-${id}-91bc`,
    passphrase: `phrase-of-${id}`,
  };
  const signatures: string[] = [];
  let text = '';
  let sent: readonly Sent[] = [];
  const stopping = new AbortController();
  try {
    await control('POST', `accounts/${id}`, {
      paper: { latency_ms: 0 },
      credentials,
      ...stub.terms,
      ...planted.terms,
    });
    for (const fault of planted.faults ?? [])
      await control('POST', 'faults', { ttl_ms: 600_000, accounts: [id], ...fault });
    if (planted.aheadMs !== undefined) await control('POST', 'clock', { ahead_ms: planted.aheadMs });
    const watched: Fetch = (url, init) => {
      signatures.push(...proofsIn(url, new Headers(init.headers)));
      return globalThis.fetch(url, init);
    };
    const recorder = createRecorder({
      head: {
        ...{ fillpath: 'test', broker, environment: ENVIRONMENTS[broker] ?? 'live' },
        ...{ symbol: SYMBOLS[broker] ?? 'BTCUSDT.P', began: new Date(TAIPEI).toISOString() },
      },
      secrets: Object.values(credentials),
      known,
      append: (line) => {
        text += line;
      },
      fetch: planted.between?.(watched) ?? watched,
      ...(planted.isSilent && { openSocket: silent }),
    });
    const open = recorder.opening(OPENERS[broker](recorder.wire, exchange.url));
    const opened = await open(
      { id, environment: ENVIRONMENTS[broker] ?? 'live', paper: null, credentials },
      AbortSignal.timeout(60_000),
    ).catch((fault: Error) => fault);
    if (opened instanceof Error) {
      const outcome: Outcome = {
        rows: [{ step: 'key', assumed: 'it is taken', seen: opened.message, verdict: 'surprise' }],
        ...{ ended: 'surprised', why: opened.message, home: null, equity: null },
      };
      return {
        outcome,
        text,
        sent,
        left: [],
        secrets: Object.values(credentials),
        signatures,
        url: exchange.url,
      };
    }
    const asked: TrialAsked = {
      symbol: SYMBOLS[broker] ?? 'BTCUSDT.P',
      currency: BROKERS[broker].currency,
      atMost: decimal('100000000'),
      quantity: null,
      wireAheadMs: recorder.aheadMs,
      idOf: trialIds(`${id} ${Math.random()}`),
      agree: async () => true,
      feesIn: recorder.feesIn,
      news: () => ({
        added: recorder
          .differences()
          .flatMap(({ what, call, field }) => (what === 'new' ? [`${call} ${field}`] : [])),
        missing: recorder
          .differences()
          .flatMap(({ what, call, field }) => (what === 'missing' ? [`${call} ${field}`] : [])),
      }),
    };
    const outcome = await runTrial(
      {
        broker: opened,
        clock: { now: Date.now },
        wait: (ms) => sleep(ms),
        interrupted: stopping.signal,
        journal: {
          keep(all) {
            sent = all;
            if (planted.interrupt && all.some(({ side, filled }) => side === 'buy' && filled !== '0'))
              stopping.abort();
          },
        },
        patience: { ...BRIEF, ...(planted.isSilent && SILENT), ...patience },
        tell: (row) => recorder.write({ row }),
      },
      asked,
    );
    recorder.write({ end: { ended: outcome.ended } });
    await opened.close();
    await control('DELETE', 'faults');
    const { positions, orders, stops } = await control<ExchangeLedger>('GET', 'ledger');
    const left = [
      ...positions.filter(({ quantity }) => quantity !== '0').map(({ quantity }) => `${quantity} held`),
      ...orders
        .filter(({ status }) => ['placed', 'partially_filled'].includes(status))
        .map(() => 'an order rests'),
      ...(stops.length > 0 ? standing(stops) : []),
    ];
    return { outcome, text, sent, left, secrets: Object.values(credentials), signatures, url: exchange.url };
  } finally {
    await exchange.close();
    await rm(dir, { recursive: true });
  }
}

/** What names an order of a trial is not passed on. */
const silent: OpenSocket = (url, options) => {
  const socket = new WebSocket(url, options);
  const on = socket.on.bind(socket) as (event: string, listener: (...args: unknown[]) => void) => WebSocket;
  return Object.assign(socket, {
    on: (event: string, listener: (...args: unknown[]) => void) =>
      on(
        event,
        event === 'message' ? (data) => /\bb[0-9a-z]{23}\b/.test(String(data)) || listener(data) : listener,
      ),
  });
};

const standing = (stops: ExchangeLedger['stops']): string[] => {
  const over = new Set(
    stops.filter(({ what }) => what !== 'placed' && what !== 'moved').map(({ broker_ref }) => broker_ref),
  );
  return [...new Set(stops.map(({ broker_ref }) => broker_ref))]
    .filter((ref) => !over.has(ref))
    .map(() => 'a stop stands');
};

function proofsIn(url: string, headers: Headers): string[] {
  const inHeaders = [...headers]
    .filter(([name]) => /sign|key|passphrase|authorization|secret/i.test(name))
    .map(([, value]) => value);
  const inQuery = /[?&]signature=([^&]+)/.exec(url)?.[1];
  return [...inHeaders, ...(inQuery ? [inQuery] : [])].filter((proof) => proof.length > 8);
}
