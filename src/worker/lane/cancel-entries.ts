// An order that takes back entries that rest, and trades nothing. It is an exit in every right: whoever wants nothing more to be
// opened is waited for as whoever wants to be out.

import { BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../broker/broker.ts';
import { isLate, moveTo, type Order, type OrderError, passed } from '../../domain/orders/order.ts';
import { late, refusedCredentials, stopped, unreachable } from '../../domain/orders/outcome.ts';
import { beforeRound } from '../../domain/orders/patience.ts';
import { EVERY_SYMBOL, endingFor, isMeantBy, openEntry, rests } from '../../domain/orders/resting.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { Execution, Task } from './execution.ts';
import { type TakenBack, takeBack } from './take-back.ts';

const AGAIN_MS = 1_000;

type Cancelling = Pick<
  Execution,
  'connections' | 'clock' | 'wait' | 'endEntry' | 'saveSeen' | 'save' | 'rules' | 'foundGone'
>;

export async function cancelEntries(
  deps: Cancelling,
  task: Pick<Task, 'order' | 'others' | 'now' | 'rest'>,
): Promise<Order> {
  const { clock } = deps;
  let order = passed(task.order, 'taken', clock.now());
  if (order.status === 'queued') order = moveTo(order, 'executing');
  let { others } = task;
  let rounds = 0;
  for (;;) {
    const meant = others.filter((other) => isMeant(order, other));
    if (meant.length === 0) return end(moveTo(order, 'done'));
    if (isLate(order, clock.now())) return end(late(order, stillThere(meant)));
    try {
      const target = { accountId: order.accountId, simulation: order.simulation };
      const taken = await deps.connections.use(
        target,
        (line) => takeBack(deps, line, meant, () => endingFor(order)),
        { mayTryRefused: true },
      );
      const left = taken.filter(({ isOver }) => !isOver);
      if (left.length === 0) return end(moveTo(order, 'done'));
      // Nobody is held up by what no look will ever tell.
      if (left.every((each) => each.isOutOfReach)) return end(stopped(order, 'failed', outOfReach(left)));
      await resting(AGAIN_MS, null);
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      if (fault instanceof CredentialsRejected)
        return end(stopped(order, 'failed', refusedCredentials(fault.message)));
      if (isLate(order, clock.now())) return end(stopped(order, 'failed', unreachable(fault.message)));
      await resting(fault instanceof BrokerBusy ? fault.retryAfterMs : beforeRound(++rounds), fault);
    }
    ({ others } = await task.now());
  }

  async function resting(ms: number, fault: BrokerUnavailable | null): Promise<void> {
    if (order.version === task.order.version) order = await deps.save(order);
    await task.rest(ms, fault);
  }

  function end(ended: Order): Promise<Order> {
    return deps.save(passed(ended, 'answered', clock.now()), { settled: true });
  }
}

/** What was to be filled at once, and rests by accident, is taken back too where no name is asked for. */
function isMeant(cancel: Order, other: Order): boolean {
  const { intent, symbol, brokerName } = cancel;
  if (intent.operation !== 'CANCEL_ENTRIES' || !openEntry(other)) return false;
  const isThere =
    symbol === EVERY_SYMBOL ||
    canonicalSymbol(brokerName, symbol) === canonicalSymbol(brokerName, other.symbol) ||
    canonicalSymbol(brokerName, symbol) ===
      canonicalSymbol(brokerName, openEntry(other)?.instrument ?? other.symbol);
  return isThere && (other.priced ? isMeantBy(intent, other) : intent.id === undefined && rests(other));
}

const outOfReach = (left: readonly TakenBack[]): OrderError => ({
  code: 'failed_at_broker',
  message:
    `Not known to have ended: ${left.map(({ order }) => order.id).join(', ')}. They were sent with other credentials, or the broker no ` +
    'longer tells: look there, and cancel what rests by hand.',
});

const stillThere = (orders: readonly Order[]): string =>
  `Not known to have ended: ${orders.map(({ id }) => id).join(', ')}. What rests is taken back as soon as the broker lets us.`;
