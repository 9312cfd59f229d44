// Stops at an exchange whose answers are written down beforehand: what goes out, and what each answer is to us.

import assert from 'node:assert/strict';
import {
  type Broker,
  BrokerBusy,
  BrokerUnavailable,
  type SentStop,
  type StopOrder,
  type StopOutcome,
  type Stops,
} from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { type Answer, type Asked, type ExchangeName, type Script, scriptedExchange } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';

export const STOP_ID = 'fs0000000000000000000001' as ClientOrderId;

export interface StopDesk {
  readonly broker: Broker;
  readonly stops: Stops;
  readonly asked: readonly Asked[];
  /** Of a long position of 0.01, unless it says otherwise. */
  stop(more?: Partial<StopOrder>): StopOrder;
  sent(more?: Partial<SentStop>): SentStop;
}

export async function stopDesk(
  name: ExchangeName,
  answers: readonly Answer[] = [],
  script: Script = {},
): Promise<StopDesk> {
  const { broker, asked } = await scriptedExchange(name, answers, script);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  const { stops } = broker;
  assert.ok(stops, `${name} keeps no stops`);
  const wanted = {
    clientOrderId: STOP_ID,
    side: 'sell',
    quantity: decimal('0.01'),
    price: decimal('64000.5'),
  } as const;
  return {
    broker,
    stops,
    asked,
    stop: (more = {}) => ({ ...wanted, instrument, triggerBy: 'last', ...more }),
    sent: (more = {}) => ({
      ...wanted,
      symbol: instrument.symbol,
      brokerRef: null,
      sentAt: timestamp(Date.now()),
      ...more,
    }),
  };
}

/** What was asked for, as one reads it: its path, and what stands in its address or its body. */
export function told({ method, url, body }: Asked): { readonly route: string; readonly fields: unknown } {
  const search = Object.fromEntries(url.searchParams);
  const fields = /^[[{]/.test(body)
    ? JSON.parse(body)
    : { ...search, ...Object.fromEntries(new URLSearchParams(body)) };
  for (const name of SIGNING) delete fields[name];
  return { route: `${method} ${url.pathname}`, fields };
}

const SIGNING = ['timestamp', 'recvWindow', 'signature'];

type Rejected = Extract<StopOutcome, { outcome: 'rejected' }>['why'];
export type Expected = 'accepted' | 'unknown' | 'busy' | 'unavailable' | Rejected;

/** What became of placing one. */
export async function placedAs(outcome: Promise<StopOutcome>): Promise<Expected> {
  try {
    const told = await outcome;
    return told.outcome === 'rejected' ? told.why : told.outcome;
  } catch (fault) {
    if (fault instanceof BrokerBusy) return 'busy';
    if (fault instanceof BrokerUnavailable) return 'unavailable';
    throw fault;
  }
}

/** Not an answer to anything. */
export const NONSENSE: readonly Answer[] = [
  { text: '<html><body>It works!</body></html>' },
  { text: '' },
  { body: {} },
  { body: [] },
  { body: null },
  { status: 404, text: '<html></html>' },
];
