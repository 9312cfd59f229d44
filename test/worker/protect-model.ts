// An exchange that keeps stops and targets, in as many ways as there are, with misfortunes; and the life of a position there.

import type { StopOutcome, StopState } from '../../src/broker/broker.ts';
import { BrokerBusy, BrokerUnavailable, type Instrument } from '../../src/broker/broker.ts';
import type { Capabilities } from '../../src/domain/capabilities.ts';
import {
  add,
  compare,
  type Decimal,
  decimal,
  downTo,
  isWhole,
  smaller,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import { type ClientOrderId, millis, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import type { BrokerOrderState } from '../../src/domain/orders/fill.ts';
import type { Line } from '../../src/worker/line/line.ts';

export class Crash extends Error {}

const INSTRUMENT: Instrument = {
  symbol: 'BTCUSDT',
  description: 'a model',
  contractSize: decimal(1),
  quantityStep: decimal(1),
  minQuantity: decimal(2),
  tickSize: decimal(1),
  open: true,
  nextOpen: null,
};

/** Where the broker reserves, it trades fractions, and keeps stops and targets of whole ones alone. */
export const instrumentOf = ({ reserves }: Pick<Ways, 'reserves'>): Instrument =>
  reserves ? { ...INSTRUMENT, quantityStep: decimal('0.001') } : INSTRUMENT;

export interface Ways {
  readonly stop: 'position' | 'sized';
  readonly moves: 'set' | 'amend' | 'replace';
  readonly reserves: boolean;
  /** By whose ids it shows stops. */
  readonly names: 'ours' | 'theirs' | 'none';
  /** Moved, a stop is another one. */
  readonly renames: boolean;
}

export const LUCK = [
  'well',
  'crash before',
  'crash after',
  'lose the request',
  'lose the answer',
  'unavailable',
  'busy',
  'refuse',
  'show it late',
  'arrive late',
  'cancel late',
  'tell of it late',
  'show the position late',
] as const;
export type Luck = (typeof LUCK)[number];

interface ModelStop {
  id: ClientOrderId | null;
  readonly ref: string;
  price: Decimal;
  /** null: all that is held. */
  quantity: Decimal | null;
  status: StopState['status'];
  order: BrokerOrderState | null;
  /** The target that it stands beside. */
  readonly beside: ModelTarget | null;
  /** Questions until it is shown. */
  hiddenFor: number;
  triggeredAt?: Timestamp;
  /** Where it is known by no target. */
  readonly placedAt?: number;
  /** Questions until what became of it is told. */
  untoldFor: number;
  /** Questions until it leaves, once that was asked for; null: it was not. */
  leavesIn: number | null;
}

interface ModelTarget {
  readonly id: ClientOrderId;
  readonly ref: string;
  readonly limit: Decimal;
  readonly quantity: Decimal;
  state: BrokerOrderState;
}

/** By so much what the exchange says of times may differ from ours. */
const CLOCKS_APART_MS = 5_000;

/** Of a long position: a short one is its mirror, and the decision's own affair. */
export function modelExchange(ways: Ways, draw: () => Luck, now: () => number) {
  let held: Decimal = ZERO;
  let price: Decimal = decimal(100);
  let names = 0;
  let calls = 0;
  /** What is on its way: each arrives with one of the next questions. */
  const late: { perform(): void; questions: number }[] = [];
  /** What the position still shows. */
  /** Before the last trade. */
  let former = ZERO as Decimal;
  let stale: { readonly held: Decimal; questions: number } | null = null;
  let tellsLate = 0;
  const stops: ModelStop[] = [];
  const targets: ModelTarget[] = [];
  /** What was closed by protective orders, as the exchange has it. */
  const fills = new Map<string, { quantity: Decimal; price: Decimal }>();
  const breaches: string[] = [];
  const capabilities = {
    ...{ stop: ways.stop, moves: ways.moves, reserves: ways.reserves, reduceOnly: !ways.reserves },
    wholeStops: ways.reserves,
    ...{
      refusesDuplicateIds: true,
      findsByClientIdMs: Number.POSITIVE_INFINITY,
      fractionalQuantities: false,
    },
    ...{ stopEntries: true, timeInForce: ['gtc'] },
  } satisfies Capabilities;

  const standing = () => stops.filter(({ status }) => status === 'standing');
  const resting = () => targets.filter(({ state }) => isOpen(state));
  const isOpen = ({ status }: BrokerOrderState) => status === 'placed' || status === 'partially_filled';
  const reserved = () =>
    [
      ...resting().map(({ quantity, state }) => subtract(quantity, state.fillQuantity)),
      ...standing().flatMap(({ quantity, beside }) => (beside || quantity === null ? [] : [quantity])),
    ].reduce<Decimal>(add, ZERO);

  function take(id: string, asked: Decimal, at: Decimal, before: BrokerOrderState | null): BrokerOrderState {
    const quantity = smaller(asked, held);
    held = subtract(held, quantity);
    const total = add(before?.fillQuantity ?? ZERO, quantity);
    if (total !== ZERO) fills.set(id, { quantity: total, price: at });
    return {
      brokerRef: `order-${++names}`,
      status: compare(quantity, asked) === 0 ? 'filled' : 'cancelled',
      fillQuantity: total,
      fillPrice: total === ZERO ? null : at,
      fee: null,
      reason: null,
    };
  }

  /** What the price, and the position, do to what stands. */
  function settle(): void {
    for (const target of resting())
      if (compare(price, target.limit) >= 0 && held !== ZERO) {
        const left = subtract(target.quantity, target.state.fillQuantity);
        const ref = target.ref;
        target.state = { ...take(target.id, left, target.limit, target.state), brokerRef: ref };
        end(stops.find(({ beside, status }) => beside === target && status === 'standing'));
      }
    for (const stop of standing()) if (compare(price, stop.price) <= 0 && held !== ZERO) trigger(stop);
    if (held !== ZERO) return;
    // What only reduces ends with the position; but for what stands by itself at some exchanges.
    if (ways.stop === 'position') for (const stop of standing()) end(stop);
  }

  function trigger(stop: ModelStop, part: Decimal | null = null): void {
    const asked = stop.quantity ?? held;
    stop.status = 'triggered';
    stop.untoldFor = tellsLate;
    stop.triggeredAt = timestamp(now());
    tellsLate = 0;
    const name = stop.beside ? `${stop.beside.id} stop` : (stop.id ?? stop.ref);
    const order = take(name, part ?? asked, stop.price, null);
    stop.order = part === null ? order : { ...order, status: 'cancelled' };
    if (stop.beside && isOpen(stop.beside.state))
      stop.beside.state = { ...stop.beside.state, status: 'cancelled' };
  }

  const end = (stop: ModelStop | undefined) => {
    if (stop) stop.status = 'ended';
  };

  /** Time passes at the exchange with every call. */
  function turn(): void {
    calls++;
    for (const coming of late.splice(0))
      if (--coming.questions > 0) late.push(coming);
      else coming.perform();
    for (const stop of standing()) if (stop.leavesIn !== null && --stop.leavesIn <= 0) end(stop);
    if (stale && --stale.questions <= 0) stale = null;
    settle();
  }

  async function question<Answer>(answer: () => Answer): Promise<Answer> {
    turn();
    const luck = draw();
    if (luck === 'tell of it late') tellsLate = 6;
    if (luck === 'show the position late') stale = { held: former, questions: 5 };
    switch (luck) {
      case 'crash before':
      case 'crash after':
        throw new Crash();
      case 'busy':
        throw new BrokerBusy('busy', 500);
      case 'unavailable':
      case 'lose the request':
      case 'lose the answer':
        throw new BrokerUnavailable('away');
      default:
        return answer();
    }
  }

  type Unknown = { readonly outcome: 'unknown'; readonly reason: string };
  const UNKNOWN: Unknown = { outcome: 'unknown', reason: 'no answer' };

  async function sending<Outcome>(
    perform: (hiddenFor: number) => Outcome,
    refusal: Outcome,
  ): Promise<Outcome | Unknown> {
    turn();
    const luck = draw();
    if (luck === 'crash before') throw new Crash();
    if (luck === 'arrive late') {
      late.push({ perform: () => void perform(0), questions: 4 });
      return UNKNOWN;
    }
    if (luck === 'unavailable') throw new BrokerUnavailable('away');
    if (luck === 'busy') throw new BrokerBusy('busy', 500);
    if (luck === 'lose the request') return UNKNOWN;
    if (luck === 'refuse') return refusal;
    const outcome = perform(luck === 'show it late' ? 2 : 0);
    settle();
    if (luck === 'crash after') throw new Crash();
    return luck === 'lose the answer' ? UNKNOWN : outcome;
  }

  const refusal: StopOutcome = { outcome: 'rejected', why: 'refused', words: 'Not today.' };

  function mustBeWhole({ quantity }: { readonly quantity: Decimal }): void {
    if (ways.reserves && !isWhole(quantity)) breaches.push(`${quantity} was sent, which is no whole number`);
  }

  function put(
    stop: { clientOrderId: ClientOrderId; quantity: Decimal; price: Decimal },
    hiddenFor: number,
  ): StopOutcome {
    mustBeWhole(stop);
    if (held === ZERO) return { outcome: 'rejected', why: 'no_position', words: 'Nothing is held.' };
    if (compare(price, stop.price) <= 0)
      return { outcome: 'rejected', why: 'passed', words: 'It would trigger at once.' };
    const quantity = ways.stop === 'position' && !ways.reserves ? null : stop.quantity;
    if (ways.reserves && compare(add(reserved(), stop.quantity), held) > 0)
      return { outcome: 'rejected', why: 'refused', words: 'Insufficient quantity.' };
    const [there] = ways.moves === 'set' && !ways.reserves ? standing() : [];
    if (there) {
      // It is overwritten, and keeps its name or has the new one.
      if (ways.names === 'ours' && ways.renames) there.id = stop.clientOrderId;
      Object.assign(there, { price: stop.price, quantity, leavesIn: null });
      return { outcome: 'accepted', clientOrderId: stop.clientOrderId, brokerRef: refOf(there) };
    }
    const ref = `stop-${++names}`;
    const id = ways.names === 'ours' ? stop.clientOrderId : null;
    const made: ModelStop = {
      ...{ id, ref, price: stop.price, quantity, status: 'standing', order: null, beside: null, hiddenFor },
      ...{ untoldFor: 0, leavesIn: null, placedAt: now() },
    };
    stops.push(made);
    return { outcome: 'accepted', clientOrderId: stop.clientOrderId, brokerRef: refOf(made) };
  }

  const refOf = ({ ref }: ModelStop): string | null => (ways.names === 'none' ? null : ref);
  const idOf = ({ id, beside }: ModelStop) => beside?.id ?? id;
  const named = (id: ClientOrderId) => stops.find((stop) => idOf(stop) === id);

  const line: Pick<Line, 'capabilities' | 'position' | 'place' | 'find' | 'cancel' | 'openOrders' | 'stops'> =
    {
      capabilities,
      position: () => question(() => stale?.held ?? held),
      openOrders: () =>
        question(() =>
          resting().map(({ id, ref, quantity, state }) => ({
            ...{ clientOrderId: id, brokerRef: ref, symbol: INSTRUMENT.symbol, side: 'sell', quantity },
            ...{ fillQuantity: state.fillQuantity, reduceOnly: true },
          })),
        ),
      place: async ({ clientOrderId, quantity, limit = ZERO, stop }) => {
        const rejected = (message: string) =>
          ({ outcome: 'rejected', error: { code: 'invalid_quantity', message } }) as const;
        return sending<Awaited<ReturnType<Line['place']>>>((hiddenFor) => {
          mustBeWhole({ quantity });
          if (held === ZERO) return rejected('Nothing is held.');
          if (ways.reserves && compare(add(reserved(), quantity), held) > 0) return rejected('Insufficient.');
          if (targets.some(({ id }) => id === clientOrderId)) breaches.push('a target was placed twice');
          const ref = `target-${++names}`;
          const state: BrokerOrderState = {
            ...{
              brokerRef: ref,
              status: 'placed',
              fillQuantity: ZERO,
              fillPrice: null,
              fee: null,
              reason: null,
            },
          };
          const target: ModelTarget = { id: clientOrderId, ref, limit, quantity, state };
          targets.push(target);
          if (stop !== undefined)
            stops.push({
              ...{
                id: clientOrderId,
                ref: `${ref}-stop`,
                price: stop,
                quantity,
                status: 'standing',
                order: null,
              },
              ...{ beside: target, hiddenFor, untoldFor: 0, leavesIn: null },
            });
          settle();
          return { outcome: 'accepted', state: target.state };
        }, rejected('Not today.'));
      },
      find: ({ clientOrderId, brokerRef }) =>
        question(() => {
          const target = targets.find(({ id }) => id === clientOrderId);
          if (target && brokerRef !== null && target.ref !== brokerRef)
            breaches.push(`${clientOrderId} was asked for by the name of another order`);
          return target?.state ?? null;
        }),
      cancel: ({ brokerRef }) =>
        question(() => {
          const target = resting().find(({ ref }) => ref === brokerRef);
          if (!target) return;
          target.state = { ...target.state, status: 'cancelled' };
          end(standing().find(({ beside }) => beside === target));
        }),
      stops: {
        place: (stop) => sending((hiddenFor) => put(stop, hiddenFor), refusal),
        ...(ways.moves === 'amend' && {
          move: (from, to) =>
            sending<StopOutcome>(() => {
              const stop = named(from.clientOrderId);
              if (stop?.status !== 'standing')
                return { outcome: 'rejected', why: 'gone', words: 'It is gone.' };
              if (compare(price, to.price) <= 0)
                return { outcome: 'rejected', why: 'passed', words: 'It would trigger at once.' };
              stop.price = to.price;
              if (stop.quantity !== null && !stop.beside) stop.quantity = to.quantity;
              if (ways.renames && !stop.beside) stop.id = to.clientOrderId;
              return {
                outcome: 'accepted',
                clientOrderId: idOf(stop) ?? from.clientOrderId,
                brokerRef: stop.ref,
              };
            }, refusal),
        }),
        remove: ({ clientOrderId, brokerRef, price: at }) =>
          question(() => {
            const stop = standing().find((each) => isMeant(each, clientOrderId, brokerRef, at));
            // Where nothing is reserved what remains closes all that is held, or it did not before.
            const others = standing().filter((each) => each !== stop);
            if (stop && !ways.reserves && held !== ZERO && closesAll(standing()) && !closesAll(others))
              breaches.push(`the stop at ${stop.price} was taken away while ${held} was held`);
            if (stop) stop.leavesIn = cancelsLate() ? 3 : 0;
            if (stop?.leavesIn === 0) end(stop);
          }),
        standing: () =>
          question(() =>
            standing()
              .filter((stop) => stop.hiddenFor-- <= 0)
              .map((stop) => ({
                clientOrderId: idOf(stop),
                brokerRef: refOf(stop),
                side: 'sell' as const,
                price: stop.price,
                quantity: stop.quantity,
              })),
          ),
        find: ({ clientOrderId, brokerRef, price: at, sentAt, replacedAt, recorded = [] }) =>
          question((): StopState | null => {
            const stop =
              ways.names === 'none'
                ? // One that stands at this price, whoever set it; else the last one that triggered, whatever its price was by then.
                  (standing().find((each) => !replacedAt && each.hiddenFor <= 0 && each.price === at) ??
                  triggeredSince(sentAt, replacedAt ?? null, recorded))
                : ways.names === 'theirs' && brokerRef === null
                  ? // The first of its shape since it was sent: those after it are another's.
                    stops.find((each) => each.price === at && (each.placedAt ?? 0) >= millis(sentAt))
                  : stops.findLast((each) => isMeant(each, clientOrderId, brokerRef, at));
            if (!stop || (stop.status === 'standing' && stop.hiddenFor > 0)) return null;
            if (stop.status !== 'standing' && stop.untoldFor-- > 0) return null;
            return {
              ...{ brokerRef: refOf(stop), status: stop.status, order: stop.order, reason: null },
            };
          }),
      },
    };
  if (ways.names !== 'ours' && line.stops) Object.assign(line.stops, { names: ways.names });

  /** Of those that triggered in its time and are not written down: the first that closed something, else the last. */
  function triggeredSince(
    sentAt: Timestamp,
    replacedAt: Timestamp | null,
    recorded: readonly string[],
  ): ModelStop | undefined {
    const all = stops.filter(
      ({ status, triggeredAt = sentAt, order }) =>
        status === 'triggered' &&
        !recorded.includes(order?.brokerRef ?? '') &&
        millis(triggeredAt) >= millis(sentAt) - CLOCKS_APART_MS &&
        (!replacedAt || millis(triggeredAt) <= millis(replacedAt) + CLOCKS_APART_MS),
    );
    return all.find(({ order }) => order !== null && order.fillQuantity !== ZERO) ?? all.at(-1);
  }

  function isMeant(stop: ModelStop, id: ClientOrderId, ref: string | null, at: Decimal): boolean {
    if (ways.names === 'ours') return idOf(stop) === id;
    return ways.names === 'theirs' && ref !== null ? stop.ref === ref : stop.price === at;
  }

  function closesAll(all: readonly ModelStop[]): boolean {
    if (all.some(({ quantity }) => quantity === null)) return true;
    const sum = all.reduce<Decimal>((total, { quantity }) => add(total, quantity ?? ZERO), ZERO);
    return compare(sum, ways.reserves ? downTo(held, decimal(1)) : held) >= 0;
  }

  function cancelsLate(): boolean {
    return draw() === 'cancel late';
  }

  return {
    line: line as Line,
    breaches,
    fills,
    held: () => held,
    price: () => price,
    calls: () => calls,
    /** Something closes all that is held when it triggers. */
    isCovered: () => closesAll(standing()),
    standing,
    resting,
    /** An entry's fill, or somebody else's trade. */
    trade(change: Decimal) {
      former = held;
      held = add(held, change);
      if (compare(held, ZERO) < 0) held = ZERO;
      // What was reserved was freed first.
      settle();
    },
    /** What an exit at a broker that reserves does before it closes. */
    free() {
      for (const stop of standing()) end(stop);
      for (const target of resting()) target.state = { ...target.state, status: 'cancelled' };
    },
    priced(to: Decimal) {
      price = to;
      settle();
    },
    byHand: {
      /** Of two that belong together none stays. */
      remove() {
        const [stop] = standing();
        end(stop);
        if (stop?.beside) stop.beside.state = { ...stop.beside.state, status: 'cancelled' };
      },
      move(to: Decimal) {
        const [stop] = standing();
        if (stop && compare(to, price) < 0) stop.price = to;
      },
      cancelTarget() {
        const [target] = resting();
        if (!target) return;
        target.state = { ...target.state, status: 'cancelled' };
        end(standing().find(({ beside }) => beside === target));
      },
      /** A target is filled in part, and rests. */
      fillPart() {
        const [target] = resting();
        if (!target || held === ZERO) return;
        if (compare(subtract(target.quantity, target.state.fillQuantity), decimal(2)) < 0) return;
        held = subtract(held, decimal(1));
        const fillQuantity = add(target.state.fillQuantity, decimal(1));
        fills.set(target.id, { quantity: fillQuantity, price: target.limit });
        target.state = { ...target.state, status: 'partially_filled', fillQuantity, fillPrice: target.limit };
        settle();
      },
      /** The stop triggers, and its order dies when it has filled this much. */
      triggerAndDie(part: Decimal) {
        const [stop] = standing();
        if (stop && compare(part, held) <= 0) trigger(stop, part);
      },
    },
  };
}
