// An open connection as the worker uses it. Every call has a limit of time, a gate before it and an AbortSignal in it; a
// fault inside a connector is never ours; and nothing of the credentials leaves it.

import {
  AccountUnfit,
  type Balance,
  type Broker,
  BrokerBusy,
  type BrokerOrder,
  type BrokerOrderState,
  BrokerUnavailable,
  type Capabilities,
  CredentialsRejected,
  type FillOutcome,
  type Fitness,
  type Instrument,
  type OpenOrder,
  type OrderHint,
  type OrderQuery,
  type PlaceOutcome,
  type Position,
  type Quote,
  type RecordFill,
  type SentOrder,
  type SentStop,
  type StandingStop,
  type StopOrder,
  type StopOutcome,
  type StopState,
  type Stops,
} from '../../broker/broker.ts';
import type { Candle, CandleSpan } from '../../domain/candles.ts';
import type { BrokerCall } from '../../domain/counters.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { Discretion } from './discretion.ts';
import { AFTER_MS, currentErrand } from './errand.ts';
import type { Gate } from './gate.ts';
import type { Rate } from './rates.ts';
import { admitReader, currentReader, ReadsLimited } from './reader.ts';
import { MarketSilent } from './rehearsing.ts';

export interface Line {
  readonly capabilities: Capabilities;
  /** The version of the credentials that it was opened with. */
  readonly credentialsVersion: number;
  /** Lines with the same word find the same instruments; without one they may differ. */
  readonly listing?: string;
  /** Until the broker takes calls again from who asks; before, every call ends with BrokerBusy and reaches nobody. */
  busyMs(): number;
  verify(symbols?: readonly string[]): Promise<Fitness>;
  resolve(symbol: string): Promise<Instrument | { readonly rejection: OrderError }>;
  position(instrument: Instrument): Promise<Decimal>;
  positions(): Promise<readonly Position[]>;
  instruments(search: Parameters<Broker['instruments']>[0]): Promise<readonly Instrument[]>;
  balance(): Promise<Balance>;
  quote(instrument: Instrument): Promise<Quote>;
  /** Missing: the broker has none. */
  candles?(instrument: Instrument, span: CandleSpan): Promise<readonly Candle[]>;
  place(order: BrokerOrder): Promise<PlaceOutcome>;
  /** Missing: the broker's book is its own. */
  fill?(order: BrokerOrder, record: RecordFill): Promise<FillOutcome>;
  find(order: OrderQuery, withinMs?: number): Promise<BrokerOrderState | null>;
  openOrders(): Promise<readonly OpenOrder[]>;
  /** Missing: the broker keeps none. */
  readonly stops?: LineStops;
  cancel(order: Parameters<Broker['cancel']>[0], withinMs?: number): Promise<void>;
  /** Until the signal aborts; without a limit of time. Throws where it ends sooner. Missing: the broker tells nothing. */
  watch?(tell: (hint: OrderHint | null) => void, signal: AbortSignal): Promise<void>;
  /** Not waited for: a connection that hangs delays nobody. */
  close(): void;
}

/** As of the port; what is refused is an outcome, as there. */
interface LineStops extends Pick<Stops, 'names'> {
  place(stop: StopOrder): Promise<StopOutcome>;
  move?(stop: SentStop, to: StopOrder): Promise<StopOutcome>;
  remove(stop: SentStop): Promise<void>;
  standing(instrument: Instrument): Promise<readonly StandingStop[]>;
  find(stop: SentStop): Promise<StopState | null>;
}

export interface LineOptions {
  readonly credentialsVersion: number;
  readonly discreet: Discretion;
  readonly gate: Gate;
  /** Of what no order asks: it heeds the other, and a refusal of the question alone closes nothing for orders. */
  readonly chartGate: Gate;
  /** What whoever only reads leaves to the others; without it nobody is asked for anything. */
  readonly rate?: Rate;
  readonly timeoutMs: number;
  /** Stands around every call that reaches the broker. */
  around?<Answer>(call: BrokerCall, make: () => Promise<Answer>): Promise<Answer>;
  /** Told of each answer that the broker gives only to whom it knows. */
  answered?(): void;
  /** What else was sent to this broker around the time of the order. */
  rivals?(order: OrderQuery): Promise<readonly SentOrder[]>;
}

/** Where a refusal for the rate names no delay. */
const SHORT_DELAY_S = 1;

export function openLine(
  broker: Broker,
  { credentialsVersion, discreet, gate, chartGate, rate, timeoutMs, rivals, ...options }: LineOptions,
): Line {
  const busyNow = (own: Gate = gate) => own.busyMs(() => AFTER_MS[currentErrand()]);
  const mustBeFree = (own?: Gate) => {
    const busyMs = busyNow(own);
    if (busyMs > 0) throw new BrokerBusy('the broker limits the rate of requests', busyMs);
  };
  /** The delay as the gate has understood it. */
  const shut = ({ message, retryAfterMs, scope }: BrokerBusy, own: Gate = gate) => {
    own.close(retryAfterMs, scope);
    return new BrokerBusy(discreet(message), own.busyMs(), scope);
  };
  const { around = (_call, make) => make(), answered } = options;
  const askMore = async () => {
    const reader = rate && currentReader();
    if (reader) await admitReader(reader, rate);
  };
  const ask = async <Answer>(
    question: (signal: AbortSignal) => Promise<Answer>,
    {
      withinMs,
      kind = 'ask',
      isFree,
      isPublic = false,
      own = gate,
    }: {
      readonly withinMs?: number | undefined;
      readonly kind?: BrokerCall;
      readonly isFree?: boolean;
      /** It is told to anybody, and says nothing about the credentials. */
      readonly isPublic?: boolean;
      readonly own?: Gate;
    } = {},
  ): Promise<Answer> => {
    mustBeFree(own);
    const reader = rate && currentReader();
    if (reader) await admitReader(reader, rate, { isFree });
    try {
      const answer = await around(kind, () => inTime(question, timeoutMs, withinMs));
      if (!isPublic) answered?.();
      return answer;
    } catch (fault) {
      if (fault instanceof BrokerBusy) throw shut(fault, own);
      // Of a simulated book, for which the market was to be asked.
      throw fault instanceof ReadsLimited ? fault : told(fault, discreet);
    }
  };
  /** What may open or close something: whoever was cut off cannot know that nothing had been sent by then. */
  const send = async <Sent extends { readonly outcome: string }>(
    sending: (signal: AbortSignal) => Promise<Sent>,
  ): Promise<Sent | { readonly outcome: 'unknown'; readonly reason: string }> => {
    mustBeFree();
    let handedOver: AbortSignal | undefined;
    try {
      const sent = await around('place', () =>
        inTime((signal) => {
          handedOver = signal;
          return sending(signal);
        }, timeoutMs),
      );
      const retryAfter = retryAfterOf(sent);
      if (retryAfter) throw new BrokerBusy(discreet(retryAfter.message), retryAfter.seconds * 1000);
      if (!isUnknown(sent)) answered?.();
      return isUnknown(sent) ? { outcome: 'unknown', reason: discreet(sent.reason) } : sent;
    } catch (fault) {
      if (fault instanceof BrokerBusy) throw shut(fault);
      if (fault instanceof BrokerUnavailable && !handedOver?.aborted) throw told(fault, discreet);
      return { outcome: 'unknown', reason: discreet(messageOf(fault)) };
    }
  };
  const said = (error: OrderError): OrderError => ({ ...error, message: discreet(error.message) });
  const seen = (state: BrokerOrderState): BrokerOrderState =>
    state.reason === null ? state : { ...state, reason: discreet(state.reason) };

  return {
    capabilities: broker.capabilities,
    credentialsVersion,
    ...(broker.listing !== undefined && { listing: broker.listing }),
    busyMs: () => busyNow(),
    async verify(symbols) {
      const { warnings, ...fitness } = await ask((signal) => broker.verify(signal, symbols));
      return { ...fitness, warnings: warnings.map(discreet) };
    },
    async resolve(symbol) {
      // From a list that the connector has, as a rule.
      const found = await ask((signal) => broker.resolve(symbol, signal), { isFree: true, isPublic: true });
      return 'rejection' in found ? { rejection: said(found.rejection) } : found;
    },
    position: (instrument) => ask((signal) => broker.position(instrument, signal)),
    positions: () => ask((signal) => broker.positions(signal)),
    instruments: (search) => ask((signal) => broker.instruments(search, signal), { isPublic: true }),
    balance: () => ask((signal) => broker.balance(signal)),
    quote: (instrument) => ask((signal) => broker.quote(instrument, signal), { isPublic: true }),
    ...(broker.candles && {
      candles: (instrument, span) =>
        ask(async (signal) => (await broker.candles?.(instrument, span, signal, askMore)) ?? [], {
          ...{ isPublic: true, own: chartGate },
        }),
    }),
    async place(order) {
      const placed = await send((signal) => broker.place(order, signal));
      if (placed.outcome === 'accepted') return { ...placed, state: seen(placed.state) };
      return placed.outcome === 'rejected' ? { ...placed, error: said(placed.error) } : placed;
    },
    ...(broker.fill && {
      fill: (order, record) =>
        send(
          async (signal): Promise<FillOutcome> =>
            (await broker.fill?.(order, record, signal)) ?? { outcome: 'apart' },
        ),
    }),
    async find(order, withinMs) {
      const isCompared = rivals !== undefined && broker.capabilities.findsByClientIdMs === 0;
      const query = isCompared ? { ...order, rivals: () => rivals(order) } : order;
      const state = await ask((signal) => broker.find(query, signal), { withinMs, kind: 'find' });
      return state && seen(state);
    },
    openOrders: () => ask((signal) => broker.openOrders(signal)),
    cancel: (order, withinMs) => ask((signal) => broker.cancel(order, signal), { withinMs }),
    ...(broker.stops && { stops: stopsOf(broker.stops, { ask, send, discreet, seen }) }),
    ...(broker.watch && {
      async watch(tell, signal) {
        mustBeFree();
        try {
          await broker.watch?.(tell, signal);
        } catch (fault) {
          throw fault instanceof BrokerBusy ? shut(fault) : told(fault, discreet);
        }
      },
    }),
    close() {
      // A connection that is broken may not close cleanly either; it is gone for us in any case.
      Promise.try(() => broker.close()).catch(() => {});
    },
  };
}

/** A refusal for the rate that came as one of the order. */
function retryAfterOf(sent: object): { readonly message: string; readonly seconds: number } | null {
  if (!('error' in sent)) return null;
  const { code, message, retry_after: seconds = SHORT_DELAY_S } = sent.error as OrderError;
  return code === 'broker_rate_limited' ? { message, seconds } : null;
}

const isUnknown = (sent: {
  readonly outcome: string;
}): sent is { readonly outcome: string; readonly reason: string } => sent.outcome === 'unknown';

interface Ways {
  ask<Answer>(question: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  send(sending: (signal: AbortSignal) => Promise<StopOutcome>): Promise<StopOutcome>;
  readonly discreet: Discretion;
  seen(state: BrokerOrderState): BrokerOrderState;
}

function stopsOf(stops: Stops, { ask, send, discreet, seen }: Ways): LineStops {
  const told = (outcome: StopOutcome): StopOutcome =>
    outcome.outcome === 'rejected' ? { ...outcome, words: discreet(outcome.words) } : outcome;
  const { move, names } = stops;
  return {
    ...(names && { names }),
    place: async (stop) => told(await send((signal) => stops.place(stop, signal))),
    ...(move && { move: async (stop, to) => told(await send((signal) => move(stop, to, signal))) }),
    remove: (stop) => ask((signal) => stops.remove(stop, signal)),
    standing: (instrument) => ask((signal) => stops.standing(instrument, signal)),
    async find(stop) {
      const state = await ask((signal) => stops.find(stop, signal));
      if (state === null) return null;
      const reason = state.reason === null ? null : discreet(state.reason);
      return { ...state, reason, order: state.order && seen(state.order) };
    },
  };
}

/** After the connector's own time, so that its word counts where it has one. */
const GRACE_MS = 1_000;

/** Aborts the call when its time is over, and does not wait for what a connector that hangs makes of it. */
export async function inTime<Answer>(
  call: (signal: AbortSignal) => Promise<Answer>,
  timeoutMs: number,
  withinMs: number = Number.POSITIVE_INFINITY,
): Promise<Answer> {
  const over = new AbortController();
  const late = Promise.withResolvers<never>();
  const budgetMs = Math.max(1, Math.min(timeoutMs, withinMs));
  let timer = setTimeout(() => {
    over.abort();
    // Even where there is no time left, what it makes of that is heard first.
    const graceMs = withinMs < timeoutMs ? 0 : GRACE_MS;
    timer = setTimeout(() => late.reject(new Error('the broker did not answer in time')), graceMs);
  }, budgetMs);
  try {
    // Promise.try, because a connector may throw before it returns a promise.
    return await Promise.race([Promise.try(call, over.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Made anew, because the connector's own carries its text in its stack and its cause too. */
export function told(fault: unknown, discreet: Discretion): BrokerUnavailable {
  const text = discreet(messageOf(fault));
  if (fault instanceof BrokerBusy) return new BrokerBusy(text, fault.retryAfterMs, fault.scope);
  if (fault instanceof MarketSilent) return new MarketSilent(text);
  if (fault instanceof AccountUnfit) return new AccountUnfit(text);
  return fault instanceof CredentialsRejected ? new CredentialsRejected(text) : new BrokerUnavailable(text);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
