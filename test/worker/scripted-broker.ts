// A broker at our port whose every answer a test may script, and whose ledger a test reads. Unscripted it is a good
// broker: it fills at once, nets positions, clamps what is reduce-only, and knows every order by its client id.

import type { TestContext } from 'node:test';
import type {
  Balance,
  Broker,
  BrokerAccount,
  BrokerOrder,
  BrokerOrderState,
  Brokers,
  Capabilities,
  Fitness,
  Instrument,
  OpenOrder,
  OrderHint,
  OrderQuery,
  PlaceOutcome,
  Position,
  Quote,
} from '../../src/broker/broker.ts';
import { TRADABLE } from '../../src/broker/broker.ts';
import type { Candle, CandleSpan } from '../../src/domain/candles.ts';
import { add, type Decimal, decimal, negate, sign, smaller, ZERO } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import type { OrderError } from '../../src/domain/orders/order.ts';
import type { Parts } from '../../src/main.ts';
import { openWorld } from '../world.ts';

/** What reached the broker, whatever was answered. */
export interface LedgerOrder extends Omit<BrokerOrder, 'instrument'> {
  readonly account: AccountId;
  readonly symbol: string;
  state: BrokerOrderState;
}

interface Answers {
  open: { asked: BrokerAccount; answer: null };
  verify: { asked: null; answer: Fitness };
  resolve: { asked: string; answer: Instrument | { readonly rejection: OrderError } };
  position: { asked: Instrument; answer: Decimal };
  positions: { asked: null; answer: readonly Position[] };
  instruments: { asked: Parameters<Broker['instruments']>[0]; answer: readonly Instrument[] };
  balance: { asked: null; answer: Balance };
  quote: { asked: Instrument; answer: Quote };
  candles: { asked: CandleSpan; answer: readonly Candle[] };
  place: { asked: BrokerOrder; answer: PlaceOutcome };
  find: { asked: OrderQuery; answer: BrokerOrderState | null };
  openOrders: { asked: null; answer: readonly OpenOrder[] };
  cancel: { asked: Parameters<Broker['cancel']>[0]; answer: null };
  close: { asked: null; answer: null };
}
type Call = keyof Answers;

/** `goodAnswer` does and answers what a good broker would. A script may call it, or not. */
type Script<C extends Call> = (
  goodAnswer: () => Promise<Answers[C]['answer']>,
  asked: Answers[C]['asked'],
  signal: AbortSignal,
) => Promise<Answers[C]['answer']>;

export interface Held {
  /** The call has come so far. */
  readonly reached: Promise<void>;
  release(): void;
}

export type ScriptedBroker = ReturnType<typeof scriptedBroker>;

/** Of a broker that keeps nothing for a position. */
export const NO_STOPS = {
  stop: 'none',
  moves: 'replace',
  reserves: false,
  stopEntries: false,
  timeInForce: [],
} as const satisfies Partial<Capabilities>;

const ABLE: Capabilities = {
  refusesDuplicateIds: true,
  findsByClientIdMs: Number.POSITIVE_INFINITY,
  reduceOnly: true,
  fractionalQuantities: true,
  ...NO_STOPS,
};

const PRICE = decimal(100);
/** Of a call that nobody ends. */
const { signal: ENDLESS } = new AbortController();

/** Made before the world that uses it: what it holds is released before that world is stopped. */
export function scriptedBroker(t: TestContext, capabilities: Partial<Capabilities> = {}) {
  const able = { ...ABLE, ...capabilities };
  const ledger: LedgerOrder[] = [];
  const given = new Map<string, Decimal>();
  const calls: {
    readonly call: Call;
    readonly account: AccountId;
    readonly connection: number;
    readonly asked: Answers[Call]['asked'];
  }[] = [];
  const scripts: { call: Call; script: Script<Call>; times: number }[] = [];
  const underWay = new Map<AccountId, number>();
  const held = new Set<() => void>();
  const ears = new Map<AccountId, (hint: OrderHint | null) => void>();
  let connections = 0;
  t.after(() => {
    for (const release of held) release();
  });

  const broker = {
    ledger,
    calls,
    /** Whether an order that is accepted from now on is filled at once, or rests until it is settled. */
    fills: 'at once' as 'at once' | 'later',
    /** Whether it tells of orders by itself; a function is what becomes of each stream. */
    tells: false as boolean | (() => Promise<void>),
    /** Whether what can be traded there is said to be the same for all. */
    listing: undefined as string | undefined,
    /** Whether it can be asked what was traded before. */
    hasCandles: false,
    /** Who listens, by account. */
    ears,
    streams: 0,
    /** The most calls that were under way at once: of one account, and of all. */
    mostOfOneAccount: 0,
    mostOfAll: 0,
    brokers: { paper: open } satisfies Partial<Brokers>,

    count: (call: Call): number => calls.filter((each) => each.call === call).length,
    /** "buy 2", "sell 1" …: what reached the broker, in that order. */
    trades: (account?: AccountId): string[] =>
      ledger
        .filter((order) => account === undefined || order.account === account)
        .map(({ side, quantity }) => `${side} ${quantity}`),

    /** As if it had been traded by hand. */
    give(account: AccountId, quantity: string | number, symbol = 'BTCUSDT'): void {
      given.set(`${account} ${symbol}`, decimal(quantity));
    },
    position: (account: AccountId, symbol = 'BTCUSDT'): Decimal =>
      ledger
        .filter((order) => order.account === account && order.symbol === symbol)
        .reduce(
          (sum, { side, state }) =>
            add(sum, side === 'buy' ? state.fillQuantity : negate(state.fillQuantity)),
          given.get(`${account} ${symbol}`) ?? ZERO,
        ),

    /** What the broker decides about an order that rests. */
    settle(order: LedgerOrder | undefined, status: BrokerOrderState['status'], filled?: string): void {
      if (!order) throw new Error('no such order reached the broker');
      const fillQuantity = status === 'filled' ? order.quantity : decimal(filled ?? 0);
      const fillPrice = sign(fillQuantity) === 0 ? null : PRICE;
      order.state = { ...order.state, status, fillQuantity, fillPrice, reason: `scripted ${status}` };
    },

    /** Answers the next calls of this kind, as many as `times`, after those that were scripted before. */
    script<C extends Call>(call: C, script: Script<C>, times = Number.POSITIVE_INFINITY): void {
      scripts.push({ call, script: script as unknown as Script<Call>, times });
    },
    /** From now on it is a good broker again. */
    forgetScripts(): void {
      scripts.length = 0;
    },
    /** The next call of this kind stands still, before anything is done about it or before its answer is given. */
    hold(call: Call, moment: 'before' | 'after' = 'before'): Held {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held.add(released.resolve);
      const standStill = () => {
        reached.resolve();
        return released.promise;
      };
      broker.script(
        call,
        async (goodAnswer) => {
          if (moment === 'before') await standStill();
          const answer = await goodAnswer();
          if (moment === 'after') await standStill();
          return answer;
        },
        1,
      );
      return { reached: reached.promise, release: released.resolve };
    },
  };

  async function answer<C extends Call>(
    { call, account, connection }: { call: C; account: AccountId; connection: number },
    asked: Answers[C]['asked'],
    goodAnswer: () => Answers[C]['answer'],
    signal = ENDLESS,
  ): Promise<Answers[C]['answer']> {
    calls.push({ call, account, connection, asked });
    underWay.set(account, (underWay.get(account) ?? 0) + 1);
    broker.mostOfOneAccount = Math.max(broker.mostOfOneAccount, underWay.get(account) ?? 0);
    broker.mostOfAll = Math.max(
      broker.mostOfAll,
      underWay.values().reduce((sum, each) => sum + each, 0),
    );
    try {
      const index = scripts.findIndex((each) => each.call === call);
      const scripted = scripts[index];
      if (!scripted) return goodAnswer();
      if (--scripted.times === 0) scripts.splice(index, 1);
      return await (scripted.script as unknown as Script<C>)(async () => goodAnswer(), asked, signal);
    } finally {
      underWay.set(account, (underWay.get(account) ?? 0) - 1);
    }
  }

  async function open(account: BrokerAccount, signal: AbortSignal): Promise<Broker> {
    const { id } = account;
    const connection = ++connections;
    const on = <C extends Call>(call: C) => ({ call, account: id, connection });
    await answer(on('open'), account, () => null, signal);
    return {
      capabilities: able,
      limits: `scripted:${id}`,
      ...(broker.listing !== undefined && { listing: broker.listing }),
      verify: (signal) => answer(on('verify'), null, () => ({ warnings: [] }), signal),
      resolve: (symbol, signal) => answer(on('resolve'), symbol, () => instrumentOf(symbol), signal),
      position: (instrument, signal) =>
        answer(on('position'), instrument, () => broker.position(id, instrument.symbol), signal),
      positions: (signal) => answer(on('positions'), null, () => positions(id), signal),
      instruments: (search, signal) => answer(on('instruments'), search, () => [], signal),
      balance: (signal) => answer(on('balance'), null, () => BALANCE, signal),
      quote: (instrument, signal) =>
        answer(on('quote'), instrument, () => ({ bid: PRICE, ask: PRICE }), signal),
      ...(broker.hasCandles && {
        candles: (_instrument, span, signal) => answer(on('candles'), span, () => [], signal),
      }),
      place: (order, signal) => answer(on('place'), order, () => place(id, order), signal),
      find: (query, signal) =>
        answer(on('find'), query, () => known(id, query.clientOrderId)?.state ?? null, signal),
      openOrders: (signal) =>
        answer(on('openOrders'), null, () => ledger.filter(rests(id)).map(openOrder), signal),
      async cancel(order, signal) {
        await answer(on('cancel'), order, () => cancel(id, order.brokerRef), signal);
      },
      ...(broker.tells && { watch: (tell, signal) => listenTo(id, tell, signal) }),
      async close() {
        await answer(on('close'), null, () => null);
      },
    };
  }

  async function listenTo(
    account: AccountId,
    tell: (hint: OrderHint | null) => void,
    signal: AbortSignal,
  ): Promise<void> {
    broker.streams++;
    if (typeof broker.tells === 'function') return broker.tells();
    ears.set(account, tell);
    tell(null);
    const over = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => over.resolve());
    await over.promise;
    ears.delete(account);
  }

  const known = (account: AccountId, clientOrderId: ClientOrderId) =>
    ledger.find((order) => order.account === account && order.clientOrderId === clientOrderId);

  const rests =
    (account: AccountId) =>
    (order: LedgerOrder): boolean =>
      order.account === account && ['placed', 'partially_filled'].includes(order.state.status);

  function cancel(account: AccountId, brokerRef: string): null {
    const order = ledger.filter(rests(account)).find(({ state }) => state.brokerRef === brokerRef);
    if (order) broker.settle(order, 'cancelled', order.state.fillQuantity);
    return null;
  }

  function positions(account: AccountId): Position[] {
    const traded = ledger.filter((order) => order.account === account).map(({ symbol }) => symbol);
    const owned = [...given.keys()].map((key) => key.split(' ')).filter(([owner]) => owner === account);
    return [...new Set([...traded, ...owned.map(([, symbol = '']) => symbol)])]
      .toSorted()
      .map((symbol) => ({ symbol, quantity: broker.position(account, symbol) }))
      .filter(({ quantity }) => sign(quantity) !== 0)
      .map((held) => ({ ...held, averagePrice: PRICE, lastPrice: PRICE, openProfit: ZERO, ...TRADABLE }));
  }

  function place(account: AccountId, { instrument, ...order }: BrokerOrder): PlaceOutcome {
    const earlier = able.refusesDuplicateIds ? known(account, order.clientOrderId) : undefined;
    if (earlier) return { outcome: 'accepted', state: earlier.state };
    const { symbol } = instrument;
    const held = broker.position(account, symbol);
    const against = order.side === 'sell' ? held : negate(held);
    const reducible = sign(against) > 0 ? against : ZERO;
    const quantity = order.reduceOnly ? smaller(order.quantity, reducible) : order.quantity;
    if (sign(quantity) === 0)
      return { outcome: 'rejected', error: { code: 'no_position', message: 'There is nothing to close.' } };
    const brokerRef = `scripted-${ledger.length + 1}`;
    const accepted: LedgerOrder = {
      ...order,
      account,
      symbol,
      quantity,
      state: { brokerRef, status: 'placed', fillQuantity: ZERO, fillPrice: null, fee: null, reason: null },
    };
    ledger.push(accepted);
    if (broker.fills === 'at once') broker.settle(accepted, 'filled');
    return { outcome: 'accepted', state: accepted.state };
  }

  return broker;
}

/** A world of a scripted broker with one trader; waits pass at once, and are counted. */
export async function scriptedWorld(t: TestContext, options: Parts & { env?: Record<string, string> } = {}) {
  const broker = scriptedBroker(t);
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const world = await openWorld(t, { brokers: broker.brokers, wait, ...options });
  const trader = await world.makeTrader();
  return { broker, waits, world, trader };
}

const BALANCE: Balance = {
  currency: 'USD',
  equity: decimal(1000),
  cash: decimal(1000),
  available: decimal(1000),
};

const openOrder = ({ clientOrderId, symbol, side, quantity, reduceOnly, state }: LedgerOrder): OpenOrder => ({
  clientOrderId,
  brokerRef: state.brokerRef ?? '',
  symbol,
  side,
  quantity,
  fillQuantity: state.fillQuantity,
  reduceOnly,
});

const instrumentOf = (symbol: string): Instrument => ({
  symbol,
  description: symbol,
  contractSize: decimal(1),
  quantityStep: decimal(1),
  minQuantity: decimal(1),
  tickSize: decimal(1),
  open: true,
  nextOpen: null,
});
