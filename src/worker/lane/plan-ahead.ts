// What an order would do, were it sent now: the worker's own decision on the broker's own answers, up to the moment in
// which something would be sent. Nothing is.

import { BrokerUnavailable, type Instrument } from '../../broker/broker.ts';
import type { Guards } from '../../domain/guards/guards.ts';
import { type Facts, nextStep, type Rules, UNWATCHED } from '../../domain/orders/next-step.ts';
import type { GuardVerdict, Order, OrderError } from '../../domain/orders/order.ts';
import { plannedPosition } from '../../domain/orders/position.ts';
import type { Connections } from '../line/connections.ts';
import type { Line } from '../line/line.ts';
import type { GuardedEntry } from './guarding.ts';
import type { Trades } from './trades.ts';
import { stopwatch } from './watches.ts';

interface PlanDeps {
  readonly connections: Connections;
  readonly clock: { now(): number };
  readonly rules: Rules;
  /** Of the account and mode: the position may lag behind a fill of a moment ago. */
  readonly trades: Pick<Trades, 'expected'>;
  wait(ms: number): Promise<void>;
  judge(entry: GuardedEntry): Promise<readonly GuardVerdict[]>;
}

/** The order as it would be sent, or as it would end. */
export async function planAhead(deps: PlanDeps, draft: Order, guards: Guards | null): Promise<Order> {
  // Not the draft as it is: its version is no connection's.
  const { accountId, simulation } = draft;
  return deps.connections.use({ accountId, simulation }, (line) => decide(deps, draft, guards, line));
}

async function decide(
  { clock, rules, trades, wait, judge }: PlanDeps,
  draft: Order,
  guards: Guards | null,
  line: Line,
): Promise<Order> {
  let instrument: Instrument | { readonly rejection: OrderError } | null = null;
  let position: Facts['position'] = null;
  const positionWatch = stopwatch();
  for (;;) {
    const symbol = instrument && ('rejection' in instrument ? instrument : instrument.symbol);
    const facts: Facts = {
      now: clock.now(),
      able: line.capabilities,
      instrument: symbol,
      isSameLogin: true,
      others: [],
      othersWatch: UNWATCHED,
      position,
      positionWatch: positionWatch.read(),
      expected: typeof symbol === 'string' ? trades.expected(symbol) : null,
      // They are asked for in any case, also where a close comes first.
      guards: 'none',
      busyMs: line.busyMs(),
      refusals: 0,
      watch: UNWATCHED,
      isMissing: false,
    };
    const step = nextStep(draft, facts, rules);
    switch (step.do) {
      case 'resolve the symbol':
        instrument = await line.resolve(draft.symbol);
        break;
      case 'read the position':
        if (instrument === null || 'rejection' in instrument) throw new Error('there is no instrument');
        if (step.afterMs > 0) await wait(step.afterMs);
        positionWatch.pass(step.afterMs);
        position = { quantity: await line.position(instrument), readAt: clock.now() };
        positionWatch.looked();
        break;
      case 'send': {
        const { order } = step;
        const opens = order.legs.some(({ leg }) => leg === 'entry');
        if (!guards || !opens || instrument === null || 'rejection' in instrument) return order;
        const entry = { order, positionAfter: plannedPosition(order), guards, line, instrument };
        return { ...order, guards: await judge(entry) };
      }
      case 'end':
        return step.order;
      default:
        throw new BrokerUnavailable('the broker limits the rate of requests');
    }
  }
}
