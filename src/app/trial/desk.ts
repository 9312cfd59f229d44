// What the steps of a trial work with: the broker, asked in time; what was sent, written down before it leaves; and the rows that are told.

import { createHash } from 'node:crypto';
import {
  type Broker,
  BrokerBusy,
  type BrokerOrder,
  type BrokerOrderState,
  BrokerUnavailable,
  type Instrument,
  type PlaceOutcome,
  type SentOrder,
} from '../../broker/broker.ts';
import { type Decimal, decimal, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../domain/ids.ts';
import { Surprise, type TrialRow } from '../../domain/trial/row.ts';

/** What the trial has sent, as it is written down: whoever comes after a crash finds it by this. */
export interface Sent extends SentOrder {
  readonly kind: 'order' | 'stop';
  /** Of a stop. */
  readonly price: Decimal | null;
  /** `unsure`: it may be there. */
  readonly fate: 'unsure' | 'open' | 'ended' | 'refused';
  /** As far as the broker has told. */
  readonly filled: Decimal;
}

/** On the disk when `keep` returns. */
export interface Journal {
  keep(sent: readonly Sent[]): void;
}

export interface TrialDeps {
  readonly broker: Broker;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  /** Somebody wants it to end: what is open is closed, and nothing else is begun. */
  readonly interrupted: AbortSignal;
  readonly journal: Journal;
  readonly patience: Patience;
  tell(row: TrialRow): void;
}

/** In ms. */
export interface Patience {
  readonly callMs: number;
  /** Between looks. */
  readonly lookMs: number;
  /** For an order to be found, filled, cancelled. */
  readonly orderMs: number;
  /** So long a position may lag behind a fill, as the service is set. */
  readonly lagMs: number;
  readonly streamMs: number;
}

export const PATIENCE: Patience = {
  callMs: 10_000,
  lookMs: 250,
  orderMs: 10_000,
  lagMs: 30_000,
  streamMs: 10_000,
};

/** What is seen within it is not worth a word. */
export const AT_ONCE_MS = 2_000;

export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export type Desk = ReturnType<typeof openDesk>;

const LONGEST_LOOK_MS = 2_000;

export function openDesk(deps: TrialDeps, before: readonly Sent[] = []) {
  const { broker, clock, wait, interrupted, journal, patience } = deps;
  const sent = new Map(before.map((each) => [each.clientOrderId, each]));
  const rows: TrialRow[] = [];
  let isClosing = false;

  const note = (order: Sent): Sent => {
    sent.set(order.clientOrderId, order);
    journal.keep([...sent.values()]);
    return order;
  };

  function goOn(): void {
    if (interrupted.aborted && !isClosing) throw new Interrupted('It was interrupted.');
  }

  const ask = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    call(AbortSignal.timeout(patience.callMs));

  function tell(row: TrialRow): void {
    rows.push(row);
    deps.tell(row);
  }

  /** Asks again until it is so. null: it was not, for so long. A broker that cannot be asked is asked again, and at last that is thrown. */
  async function until<T>(
    look: (signal: AbortSignal) => Promise<T>,
    isSo: (value: T) => boolean,
    withinMs: number,
  ): Promise<{ readonly value: T; readonly ms: number } | null> {
    const began = clock.now();
    let pause = patience.lookMs;
    let fault: unknown = null;
    do {
      goOn();
      try {
        const value = await ask(look);
        fault = null;
        if (isSo(value)) return { value, ms: clock.now() - began };
      } catch (unavailable) {
        if (!(unavailable instanceof BrokerUnavailable)) throw unavailable;
        fault = unavailable;
        if (unavailable instanceof BrokerBusy) await wait(Math.min(unavailable.retryAfterMs, withinMs));
      }
      await wait(pause);
      pause = Math.min(pause * 1.5, LONGEST_LOOK_MS);
    } while (clock.now() - began < withinMs);
    if (fault) throw fault;
    return null;
  }

  const stateOf = (order: Sent, signal: AbortSignal): Promise<BrokerOrderState | null> => {
    const { kind: _kind, fate: _fate, filled: _filled, price: _price, ...query } = order;
    const others = [...sent.values()].filter((each) => each.clientOrderId !== order.clientOrderId);
    return broker.find(
      { ...query, rivals: async () => others.filter(({ kind }) => kind === 'order') },
      signal,
    );
  };

  return {
    broker,
    patience,
    rows,
    tell,
    ask,
    until,
    goOn,
    now: clock.now,
    wait,
    /** From here on nothing interrupts. */
    beginClosing: () => {
      isClosing = true;
    },
    sent: () => [...sent.values()],
    note,
    stateOf,

    /** What has become of it, as far as the broker tells. */
    async look(order: Sent): Promise<Sent> {
      const state = await ask((signal) => stateOf(order, signal));
      return state ? note(seenAs(sent.get(order.clientOrderId) ?? order, state)) : order;
    },

    /** Written down, then sent. `as`: under another id than one of its own. */
    async place(order: BrokerOrder): Promise<{ readonly outcome: PlaceOutcome; readonly sent: Sent }> {
      goOn();
      const { clientOrderId, instrument, side, quantity } = order;
      const known = sent.get(clientOrderId);
      const entry: Sent = known ?? {
        ...{ kind: 'order', clientOrderId, brokerRef: null, symbol: instrument.symbol, side, quantity },
        ...{ price: null, fate: 'unsure', filled: ZERO, sentAt: timestamp(clock.now()) },
      };
      if (!known) note(entry);
      const outcome = await ask((signal) => broker.place(order, signal)).catch((fault: unknown) => {
        // Certainly not sent.
        if (fault instanceof BrokerUnavailable && !known) note({ ...entry, fate: 'refused' });
        throw fault;
      });
      // A second one under a known id is another order: whoever sends it sees to it.
      if (known) return { outcome, sent: known };
      if (outcome.outcome === 'accepted') return { outcome, sent: note(seenAs(entry, outcome.state)) };
      return { outcome, sent: outcome.outcome === 'rejected' ? note({ ...entry, fate: 'refused' }) : entry };
    },

    /** A row of what is assumed and what was seen. Whatever throws but a surprise of ours is one of the broker's. */
    async step(
      { step, assumed }: Pick<TrialRow, 'step' | 'assumed'>,
      work: () => Promise<string | { readonly noted: string }>,
    ): Promise<void> {
      goOn();
      try {
        const seen = await work();
        if (typeof seen === 'string') tell({ step, assumed, seen, verdict: 'as_assumed' });
        else tell({ step, assumed, seen: seen.noted, verdict: 'noted' });
      } catch (fault) {
        if (!(fault instanceof Surprise || fault instanceof BrokerUnavailable)) throw fault;
        tell({ step, assumed, seen: fault.message, verdict: 'surprise' });
        throw fault instanceof Surprise ? fault : new Surprise(fault.message);
      }
    },

    /** Not tried, and why. */
    skip: (step: string, assumed: string, why: string) =>
      tell({ step, assumed, seen: why, verdict: 'not_tried' }),
  };
}

const ENDED: readonly BrokerOrderState['status'][] = ['filled', 'cancelled', 'failed'];

const seenAs = (order: Sent, { brokerRef, status, fillQuantity }: BrokerOrderState): Sent => ({
  ...order,
  brokerRef: brokerRef ?? order.brokerRef,
  fate: ENDED.includes(status) ? 'ended' : 'open',
  filled: fillQuantity,
});

/** Of a trial's own: the service takes none of them for one of its orders. 24 characters that suit every broker we know. */
export function trialIds(trial: string): (what: string) => ClientOrderId {
  return (what) => {
    const digest = createHash('sha256').update(`${trial}:${what}`).digest('hex');
    return `b${BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-23)}` as ClientOrderId;
  };
}

/** What every order of a trial has. */
export const orderOf = (
  instrument: Instrument,
  order: Pick<BrokerOrder, 'clientOrderId' | 'side' | 'quantity' | 'reduceOnly'> & Partial<BrokerOrder>,
  now: number,
): BrokerOrder => ({ instrument, sendBefore: timestamp(now + SEND_WITHIN_MS), ...order });

const SEND_WITHIN_MS = 10_000;

export const TWO = decimal(2);
