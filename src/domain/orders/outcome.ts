// What an answer to a leg that was sent means for the order, and the words for every way in which an order ends without
// having traded what it was to trade.

import type { Decimal } from '../decimal.ts';
import { timestamp } from '../ids.ts';
import { type BrokerOrderState, hasClosedAll, recordState } from './fill.ts';
import {
  hasTraded,
  keyOf,
  type Leg,
  type LegKey,
  legOf,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
  openLeg,
  withLeg,
} from './order.ts';
import { shortOfTarget } from './position.ts';
import { MOST_RESTING } from './resting.ts';

/** As the port has it. */
export type Outcome =
  | { readonly outcome: 'accepted'; readonly state: BrokerOrderState }
  | { readonly outcome: 'rejected'; readonly error: OrderError }
  | { readonly outcome: 'unknown'; readonly reason: string };

export function recordOutcome(order: Order, key: LegKey, outcome: Outcome, now: number): Order {
  switch (outcome.outcome) {
    case 'accepted':
      return recordState(order, key, outcome.state, now);
    case 'rejected': {
      const { error } = outcome;
      const isTooLate = error.code === 'expired';
      const isEntry = legOf(order, key)?.leg === 'entry';
      // In several months each close has its own last word.
      const isLastWord = !isEntry && !isDoubtful(error) && !isAlone(order);
      const status = isTooLate && !isEntry ? 'expired' : isLastWord ? 'failed' : 'rejected';
      const refused = withLeg(order, key, { status });
      // It was on its way for too long, and the broker says so: an exit is planned anew.
      if (isTooLate && isEntry) return late(refused);
      // A close: that there is nothing to close is decided on the position, and by others a reversal's is not its end.
      const isDecided = isMain(order, key) && (isEntry || (!isDoubtful(error) && isAlone(order)));
      return isDecided ? moveTo(refused, 'rejected', { error }) : { ...refused, exitError: error };
    }
    case 'unknown':
      return lost(order, key);
  }
}

/** Of a symbol that rolls, a close in another month goes on. */
const isAlone = ({ legs }: Order): boolean => new Set(legs.map(({ instrument }) => instrument)).size <= 1;

/** The broker says that there is nothing to close, or that the request came too late: neither is its last word on the position. */
export const isDoubtful = ({ code }: OrderError): boolean => code === 'no_position' || code === 'expired';

const isMain = (order: Order, key: LegKey): boolean => {
  const main = mainLeg(order);
  return main !== undefined && keyOf(main) === key;
};

/** Sent, and no answer. An exit, and a reversal's close, goes on being looked for; an entry is `unknown`. */
export function lost(order: Order, key: LegKey): Order {
  const unanswered = withLeg(order, key, { status: 'unknown' });
  return legOf(order, key)?.leg === 'entry' ? moveTo(unanswered, 'unknown') : unanswered;
}

/** So long after it was sent the broker does not have it: it never arrived, and is planned anew. */
export const neverReceived = (order: Order, key: LegKey): Order => withLeg(order, key, { status: 'expired' });

/** Nothing more is done about it. What was certainly not sent has ended; what may have been is unknown. */
export function givenUp(order: Order, error: OrderError): Order {
  const open = openLeg(order);
  const current = open?.status === 'sending' ? lost(order, keyOf(open)) : order;
  if (current.status !== 'executing') return current;
  if (open && mainLeg(order)?.leg === 'exit')
    return moveTo(current, open.status === 'sending' ? 'unknown' : (open.status as 'unknown'));
  // A reversal's close: it is at the broker, or may be.
  if (open) return stopped(current, 'failed', mayHaveClosed(error, open));
  return stopped(current, error.code === 'broker_rate_limited' ? 'rejected' : 'failed', error);
}

const mayHaveClosed = (error: OrderError, close: Leg): OrderError => ({
  ...error,
  message:
    `${error.message} The close of the reversal (${close.side} ${close.quantity}, client order id ${close.clientOrderId}) ` +
    'may have been made, or may yet be; the entry was not sent. Check the position and act by hand.',
});

/** Ends before its next leg is sent. A reversal that has closed already has failed, whatever stopped it. */
export const stopped = (order: Order, status: 'rejected' | 'failed' | 'expired', error: OrderError): Order =>
  moveTo(order, hasTraded(order) ? 'failed' : status, { error });

/** Its time has run out before this leg was sent. `why`: what was in the way, in words. */
export const late = (order: Order, why = ''): Order =>
  stopped(order, 'expired', {
    code: 'expired',
    message:
      `The order was not sent: it could not be executed before its deadline, ${order.deadlineAt}. ${why}`.trim(),
  });

/** The account was halted after the entry was accepted and before this leg was sent. */
export const heldBack = (order: Order): Order =>
  stopped(order, 'rejected', {
    code: 'account_halted',
    message: 'The entry was not sent: the account was halted, or its user deactivated, before.',
  });

export const unreachable = (why: string): OrderError => ({
  code: 'broker_unavailable',
  message: `The broker cannot be reached: ${why.replace(/[.\s]+$/, '')}.`,
});

/** The account cannot be traded as it is, in the connector's words. */
export const unfit = (why: string): OrderError => ({ code: 'failed_at_broker', message: why });

export const refusedCredentials = (why: string): OrderError => ({
  code: 'credentials_rejected',
  message: `The broker refuses the credentials, and nothing was sent: ${why.replace(/[.\s]+$/, '')}.`,
});

/** Whole seconds, and never sooner than the broker said. */
export function rateLimited(retryAfterMs: number, order: Order): OrderError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const what = hasTraded(order)
    ? 'the entry was not taken, though the close was filled'
    : 'the order was not taken';
  return {
    code: 'broker_rate_limited',
    message: `The broker limits the rate of requests: ${what}. Send it again in ${seconds} seconds.`,
    retry_after: seconds,
  };
}

export const wholeOnly = (order: Order): OrderError => ({
  code: 'invalid_quantity',
  message: `The broker trades whole quantities only, and ${order.quantity} is not one. Send a whole number.`,
});

export const wholeStopsOnly = (order: Order, quantity: Decimal): OrderError => ({
  code: 'invalid_quantity',
  message:
    `${quantity} ${order.symbol} were not opened: the broker keeps stops for whole quantities only, and a stop is asked for, or filled in by ` +
    'the account. Let the strategy stand at a whole number, or send "stop_loss": "none".',
});

export const superseded = (order: Order): OrderError => ({
  code: 'superseded',
  message: `Nothing was traded: the strategy had said something later about ${order.symbol} before this alert arrived.`,
});

export const stoppedOut = (order: Order): OrderError => ({
  code: 'stopped_out',
  message: `Nothing was opened: the position in ${order.symbol} was closed by its protection, and the strategy has not been flat since.`,
});

/** What its protection closed stays closed; what it closed itself before is told. */
export const staysOut = (order: Order, now: number): Order =>
  hasTraded(order) ? made(order, now, stoppedOut(order)) : stopped(order, 'rejected', stoppedOut(order));

/** All that it was to take is taken, as far as anything is held. */
export const made = (order: Order, now: number, error = shortOfTarget(order)): Order =>
  moveTo(order, 'filled', {
    error,
    filledAt: order.legs.findLast(({ filledAt }) => filledAt !== null)?.filledAt ?? timestamp(now),
  });

/** An exit's alert, of an account that follows. */
export const tooOldToOpen = (order: Order, withinMs: number): OrderError => ({
  code: 'expired',
  message:
    `Nothing was opened in ${order.symbol}: by then the alert was older than ${withinMs / 1000} s, as long as an entry is taken. ` +
    'What was too much is closed; what is missing the next alert or sync opens.',
});

/** An entry that rests in the symbol did not end in time: what is held when it has is not known. */
export const notTakenBack = (
  order: Order,
  {
    orderId,
    leg,
    isOutOfReach,
  }: { readonly orderId: string; readonly leg: Leg; readonly isOutOfReach?: boolean },
): OrderError => ({
  code: 'out_of_sync',
  message: isOutOfReach
    ? `Nothing was sent to ${order.symbol}: order ${orderId} (${leg.side} ${leg.quantity}) may rest there, and the broker no longer tells. ` +
      'Check there, cancel it by hand if it rests, and record on its own page what became of it; then send the order again.'
    : `Nothing was sent to ${order.symbol}: order ${orderId} (${leg.side} ${leg.quantity}) still rests there, and the broker has not confirmed ` +
      'that it is cancelled. Send the order again once it has ended; after ten minutes you can record on its own page what became of it.',
});

export const tooManyResting = (order: Order): OrderError => ({
  code: 'too_many_resting',
  message: `Nothing was sent: ${MOST_RESTING} entries rest in ${order.symbol} already.`,
});

export const nothingHeld = (order: Order): OrderError => ({
  code: 'no_position',
  message: `There is no position in ${order.symbol} for ${order.action} to close.`,
});

/** A close that the broker ended, and of which nothing more is known. */
export const endedByBroker = ({ status, side, quantity }: Leg): OrderError => ({
  code: status === 'cancelled' ? 'cancelled_by_broker' : 'failed_at_broker',
  message: `The close (${side} ${quantity}) was ${status} at the broker, and something is still held.`,
});

/** The broker refuses a close as if there were nothing to close, and shows a position all the same. */
export const stillHeld = (order: Order, position: Decimal): OrderError => ({
  code: 'failed_at_broker',
  message:
    `The broker says that there is nothing to close in ${order.symbol}, and shows a position of ${position} there. Other orders at the ` +
    'broker may hold it back: look at them, and close the position there or send the order again.',
});

/** By others, between the look at it and the close of a reversal. */
export const turned = (order: Order, position: Decimal): OrderError => ({
  code: 'no_position',
  message:
    `Nothing was traded: ${order.symbol} stood at ${order.positionBefore} when the reversal was planned, and at ${position} when its ` +
    'close was refused. Something else trades on the account. Look at the position, and send the order again if you still want it.',
});

export const nothingToTake = (
  order: Order,
  { orderId, leg }: { readonly orderId: string; readonly leg: Leg },
): OrderError => ({
  code: 'no_position',
  message:
    `There is nothing in ${order.symbol} for ${order.action} to close: order ${orderId} (${leg.side} ${leg.quantity}) ` +
    'is still open at the broker. Look at it, and send the order again when it has ended.',
});

/** Of a plan: what it waits for may take until its deadline. */
export const wouldWait = (order: Order): OrderError => ({
  code: 'broker_unavailable',
  message:
    `Nothing would be sent to ${order.symbol} at this moment: the broker’s position does not agree yet with what was filled, or another ` +
    'order of yours there has not ended. The order would wait for that, until its deadline at the latest.',
});

export const heldBackByOthers = (
  order: Order,
  { orderId, leg }: { readonly orderId: string; readonly leg: Leg },
): OrderError => ({
  code: 'expired',
  message:
    `Until its deadline, ${order.deadlineAt}, ${order.action} in ${order.symbol} waited for order ${orderId} (${leg.leg} of ${leg.quantity}, ` +
    `${leg.status}), which has not ended. ${hasClosedAll(order) ? 'What was held before it is closed; w' : 'W'}hat it opens stays open: look at it, ` +
    'and close it when it has ended.',
});

export const stillPending = (
  order: Order,
  { orderId, leg }: { readonly orderId: string; readonly leg: Leg },
): OrderError => ({
  code: 'out_of_sync',
  message:
    `Nothing was traded in ${order.symbol}: order ${orderId} (${leg.side} ${leg.quantity}) is still open at the broker, or may be. ` +
    'Until it has ended, the position is not known; the next alert or sync settles it.',
});

export const undecided = (
  order: Order,
  { orderId, leg }: { readonly orderId: string; readonly leg: Leg },
): OrderError => ({
  code: order.intent.operation === 'PLACE_ENTRY_ORDER' ? 'reversal_timeout' : 'no_position',
  message:
    `Nothing was sent: it is not known yet whether the close of order ${orderId} (${leg.side} ${leg.quantity}) was made, ` +
    'and this broker would execute a second one too. Check that order before you send this one again.',
});

export const otherLogin = (order: Order): OrderError => ({
  code: 'broker_unavailable',
  message:
    `The entry was not sent: the broker credentials of the account were changed after the close of ${order.symbol} ` +
    'had been sent with the old ones. Check both positions and act by hand.',
});

export function closeUnfilled(order: Order, close: Leg, waitedMs: number): OrderError {
  const filled = close.fillQuantity ?? '0';
  const whereabouts =
    close.status === 'unknown' ? 'not known to have reached the broker' : 'still open at the broker';
  return {
    code: 'reversal_timeout',
    message:
      `The reversal was aborted: the close (${close.side} ${close.quantity} ${order.symbol}, ` +
      `client order id ${close.clientOrderId}) was filled for ${filled} of ${close.quantity} within ${waitedMs / 1000} s. ` +
      `It is ${whereabouts} and the entry was not sent. Check the position and act by hand.`,
  };
}
