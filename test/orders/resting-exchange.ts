// An exchange at our port where entries rest, with everything that can go wrong between us and it: what it does at each call is drawn. Its
// ledger is the judge.

import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Broker,
  BrokerAccount,
  BrokerOrder,
  BrokerOrderState,
  CancelQuery,
  Capabilities,
  Instrument,
  OrderQuery,
  PlaceOutcome,
  Position,
} from '../../src/broker/broker.ts';
import { BrokerBusy, BrokerUnavailable, TRADABLE } from '../../src/broker/broker.ts';
import {
  add,
  compare,
  type Decimal,
  decimal,
  negate,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import { millis } from '../../src/domain/ids.ts';
import type { Life, VirtualTime } from '../virtual-time.ts';
import { NO_STOPS } from '../worker/scripted-broker.ts';

export const LUCK = [
  'well',
  'crash before',
  'crash after',
  'lose the request',
  'lose the answer',
  'arrive late',
  'hang',
  'unavailable',
  'busy',
  'refuse',
  'show it late',
  'name it late',
  'tell of it late',
  'fill before',
  'fill a part before',
  'fill after',
  'fill a part after',
] as const;
export type Luck = (typeof LUCK)[number];

export interface LedgerEntry extends Omit<BrokerOrder, 'instrument'> {
  state: BrokerOrderState;
  readonly ref: string;
  /** Until then it is not found. */
  readonly shownAt: number;
  /** How it was before it changed last. */
  before: { readonly state: BrokerOrderState; readonly until: number } | null;
}

export interface Ways {
  /** Whether it clamps a close to what is held. */
  readonly reduceOnly: boolean;
  /** So long it finds an order by our id. */
  readonly findsByClientIdMs: number;
}

const PRICE = decimal(100);
/** Longer than that nothing is on its way, and nothing is hidden. */
const LATE_MS = 4_000;

const isOpen = ({ state }: LedgerEntry): boolean =>
  state.status === 'placed' || state.status === 'partially_filled';
const isPriced = ({ limit, trigger }: LedgerEntry): boolean => limit !== undefined || trigger !== undefined;

export type RestingExchange = ReturnType<typeof restingExchange>;

export function restingExchange(
  time: VirtualTime,
  ways: Ways,
  { draw, step }: { draw(): Luck; step(life: Life | undefined, moment: 'before' | 'after'): void },
) {
  const ledger: LedgerEntry[] = [];
  const breaches: string[] = [];
  let isAway = false;
  const now = () => time.as(undefined, () => time.clock.now());

  const capabilities: Capabilities = {
    ...{ refusesDuplicateIds: true, fractionalQuantities: false, ...ways },
    ...{ ...NO_STOPS, stopEntries: true, timeInForce: ['gtc', 'day', 'ioc', 'fok'] },
  };

  const held = (): Decimal =>
    ledger.reduce<Decimal>(
      (sum, { side, state }) => add(sum, side === 'buy' ? state.fillQuantity : negate(state.fillQuantity)),
      ZERO,
    );
  const resting = () => ledger.filter((order) => isOpen(order) && isPriced(order));

  function change(order: LedgerEntry, status: BrokerOrderState['status'], filled?: Decimal): void {
    if (!isOpen(order)) throw new Error('what has ended changes');
    order.before = { state: order.state, until: now() + LATE_MS / 2 };
    const fillQuantity = filled ?? order.state.fillQuantity;
    const fillPrice = fillQuantity === ZERO ? null : (order.limit ?? order.trigger ?? PRICE);
    order.state = { ...order.state, status, fillQuantity, fillPrice };
  }

  function fill(order: LedgerEntry | undefined, isAll: boolean): void {
    if (!order || !isOpen(order)) return;
    const left = subtract(order.quantity, order.state.fillQuantity);
    if (isAll || compare(left, decimal(1)) <= 0) change(order, 'filled', order.quantity);
    else change(order, 'partially_filled', add(order.state.fillQuantity, decimal(1)));
  }

  /** What the market does around a call, where it concerns this order or any. */
  function market(luck: Luck, moment: 'before' | 'after', of?: LedgerEntry): void {
    if (luck === `fill ${moment}`) fill(of ?? resting()[0], true);
    if (luck === `fill a part ${moment}`) fill(of ?? resting()[0], false);
  }

  const mustLive = () => {
    if (time.current()?.isDead) throw new BrokerUnavailable('the process is dead');
  };

  function die(moment: 'before' | 'after'): never {
    const life = time.current();
    if (life) life.isDead = true;
    step(life, moment);
    throw new BrokerUnavailable('the process is dead');
  }

  const later = (does: () => void) =>
    time.as(undefined, () => {
      setTimeout(does, LATE_MS - 500);
    });

  /** It goes there and back, which takes a moment. */
  const travel = (signal: AbortSignal) =>
    sleep(5, undefined, { signal }).catch(() => {
      throw new BrokerUnavailable('it took too long');
    });
  const hang = (signal: AbortSignal) =>
    sleep(120_000, undefined, { signal }).catch(() => {
      // As it was meant.
    });

  function faults(luck: Luck): void {
    if (isAway || luck === 'unavailable') throw new BrokerUnavailable('away');
    if (luck === 'busy') throw new BrokerBusy('busy', 500);
  }

  async function question<Answer>(
    signal: AbortSignal,
    answer: (luck: Luck) => Answer,
    of?: () => LedgerEntry | undefined,
  ) {
    mustLive();
    step(time.current(), 'before');
    mustLive();
    await travel(signal);
    mustLive();
    const luck = draw();
    if (luck === 'crash before') die('before');
    faults(luck);
    if (luck === 'hang') await hang(signal);
    if (luck === 'lose the request' || luck === 'hang') throw new BrokerUnavailable('no answer');
    market(luck, 'before', of?.());
    const answered = answer(luck);
    market(luck, 'after', of?.());
    if (luck === 'crash after') die('after');
    if (luck === 'lose the answer') throw new BrokerUnavailable('no answer');
    step(time.current(), 'after');
    mustLive();
    return answered;
  }

  const UNKNOWN = { outcome: 'unknown', reason: 'no answer' } as const;

  async function place(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    mustLive();
    step(time.current(), 'before');
    mustLive();
    const luck = draw();
    if (luck === 'crash before') die('before');
    faults(luck);
    await sleep(5);
    mustLive();
    if (luck === 'lose the request') return UNKNOWN;
    if (luck === 'arrive late') {
      later(() => void arrive(order, luck));
      return UNKNOWN;
    }
    if (luck === 'refuse')
      return { outcome: 'rejected', error: { code: 'failed_at_broker', message: 'Not today.' } };
    const outcome = arrive(order, luck);
    if (luck === 'crash after') die('after');
    step(time.current(), 'after');
    mustLive();
    if (luck === 'hang') await hang(signal);
    return luck === 'lose the answer' || luck === 'hang' ? UNKNOWN : outcome;
  }

  function arrive({ instrument: _, ...order }: BrokerOrder, luck: Luck): PlaceOutcome {
    const refused = (message: string): PlaceOutcome => ({
      outcome: 'rejected',
      error: { code: 'no_position', message },
    });
    if (ledger.some(({ clientOrderId }) => clientOrderId === order.clientOrderId)) {
      breaches.push(`${order.clientOrderId} was sent twice`);
      return refused('It is here already.');
    }
    if (now() > millis(order.sendBefore)) return refused('It is too late.');
    const against = order.side === 'sell' ? held() : negate(held());
    const reducible = sign(against) > 0 ? against : ZERO;
    if (order.reduceOnly && !ways.reduceOnly && compare(order.quantity, reducible) > 0)
      breaches.push(`a close of ${order.quantity} opened the other side`);
    const quantity =
      order.reduceOnly && ways.reduceOnly ? smaller(order.quantity, reducible) : order.quantity;
    if (quantity === ZERO) return refused('There is nothing to close.');
    const ref = `ref-${ledger.length + 1}`;
    const brokerRef = luck === 'name it late' ? null : ref;
    const entry: LedgerEntry = {
      ...{ ...order, quantity, ref, shownAt: luck === 'show it late' ? now() + LATE_MS : 0, before: null },
      state: { brokerRef, status: 'placed', fillQuantity: ZERO, fillPrice: null, fee: null, reason: null },
    };
    ledger.push(entry);
    const told = () => ({ outcome: 'accepted', state: entry.state }) as const;
    if (!isPriced(entry)) change(entry, 'filled', quantity);
    else if (order.timeInForce === 'ioc' || order.timeInForce === 'fok') {
      if (luck.startsWith('fill')) fill(entry, order.timeInForce === 'fok' || luck.startsWith('fill before'));
      if (isOpen(entry)) change(entry, 'cancelled');
    } else market(luck, 'before', entry);
    const outcome = told();
    if (isOpen(entry)) market(luck, 'after', entry);
    entry.before = null;
    if (brokerRef === null) entry.state = { ...entry.state, brokerRef: ref };
    return outcome;
  }

  /** What waits for a price is kept in another place, by whatever name it is asked for. */
  const isThere = (order: LedgerEntry, { isConditional = false }: Pick<OrderQuery, 'isConditional'>) =>
    (order.trigger !== undefined) === isConditional;

  const sought = (query: OrderQuery | CancelQuery) =>
    ledger.find(
      (order) =>
        isThere(order, query) &&
        (query.brokerRef !== null
          ? order.ref === query.brokerRef
          : order.clientOrderId === query.clientOrderId),
    );

  function find(query: OrderQuery, luck: Luck): BrokerOrderState | null {
    const order = sought(query);
    if (!order || now() < order.shownAt) return null;
    const isOld = now() - millis(query.sentAt) > ways.findsByClientIdMs;
    if (query.brokerRef === null && isOld) return null;
    if (luck === 'tell of it late' && order.before && now() < order.before.until)
      return { ...order.before.state, brokerRef: order.ref };
    return order.state;
  }

  function cancel(query: CancelQuery, luck: Luck): void {
    const end = () => {
      const order = sought(query);
      if (order && isOpen(order)) change(order, 'cancelled');
    };
    if (luck === 'arrive late') later(end);
    else end();
  }

  const positions = (): Position[] =>
    held() === ZERO
      ? []
      : [
          {
            ...{
              symbol: 'BTCUSDT',
              quantity: held(),
              averagePrice: PRICE,
              lastPrice: PRICE,
              openProfit: ZERO,
            },
            ...TRADABLE,
          },
        ];

  async function open(_: BrokerAccount, signal: AbortSignal): Promise<Broker> {
    await question(signal, () => null);
    return {
      ...{ capabilities, limits: 'model' },
      verify: (signal) => question(signal, () => ({ warnings: [] })),
      resolve: (symbol, signal) => question(signal, () => instrumentOf(symbol)),
      position: (_, signal) => question(signal, held),
      positions: (signal) => question(signal, positions),
      instruments: async () => [],
      balance: (signal) =>
        question(signal, () => ({
          ...{ currency: 'USD', equity: decimal(1e6), cash: decimal(1e6), available: decimal(1e6) },
        })),
      quote: (_, signal) => question(signal, () => ({ bid: PRICE, ask: PRICE })),
      place,
      find: (query, signal) =>
        question(
          signal,
          (luck) => find(query, luck),
          () => sought(query),
        ),
      openOrders: (signal) =>
        question(signal, () =>
          ledger
            .filter((order) => isOpen(order) && order.trigger === undefined)
            .map(({ clientOrderId, ref, side, quantity, reduceOnly, state }) => ({
              ...{ clientOrderId, brokerRef: ref, symbol: 'BTCUSDT', side, quantity, reduceOnly },
              fillQuantity: state.fillQuantity,
            })),
        ),
      cancel: (query, signal) =>
        question(
          signal,
          (luck) => cancel(query, luck),
          () => sought(query),
        ),
      async close() {},
    };
  }

  return {
    ...{ ledger, breaches, held, resting, open },
    away: (is: boolean) => {
      isAway = is;
    },
    /** By the market, or by the exchange itself, between our calls. */
    happens(what: 'fill' | 'part' | 'end', nth: number): void {
      const order = resting()[nth % Math.max(1, resting().length)];
      if (!order) return;
      if (what === 'end') change(order, 'cancelled');
      else fill(order, what === 'fill');
    },
  };
}

const instrumentOf = (symbol: string): Instrument => ({
  ...{ symbol, description: symbol, contractSize: decimal(1), quantityStep: decimal(1) },
  ...{ minQuantity: decimal(1), tickSize: decimal(1), open: true, nextOpen: null },
});
