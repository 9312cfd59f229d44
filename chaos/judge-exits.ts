// How every exit ended: by a fill that the exchange has, by the exchange's own refusal, because nothing was held that it
// could take, or at its deadline. By nothing else. The exchange's journal of what was held from when on decides.

import {
  absolute,
  add,
  compare,
  type Decimal,
  decimal,
  negate,
  sign,
  subtract,
  ZERO,
} from '../src/domain/decimal.ts';
import { millis } from '../src/domain/ids.ts';
import { hasEnded, type OrderError, type OrderIntent } from '../src/domain/orders/order.ts';
import type { Desk } from './desks.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import type { Flatten } from './flattens.ts';
import {
  type Finding,
  isCancel,
  isProtect,
  isProtective,
  keyOf,
  type LegRow,
  type OrderRow,
  type Records,
} from './records.ts';
import type { Signal } from './signals.ts';

/** What happened so shortly before a look may be in it or not. */
const MOMENT_MS = 100;
/** What is given up so shortly before its deadline is given up at it. */
const EARLY_MS = 3_000;
/** Credentials that are refused so often within so long are refused for good. */
const PRESENTED = 3;
const PRESENTED_WITHIN_MS = 12_000;

export interface ExitEvidence {
  readonly desks: readonly Desk[];
  readonly signals: readonly Signal[];
  readonly flattens: readonly Flatten[];
  readonly records: Records;
  readonly ledger: ExchangeLedger;
  /** When somebody's clock was wrong: a deadline may have come at any time. */
  readonly jumps: readonly { readonly from: number; readonly to: number }[];
}

/** What an order with this intent is to take away from a position. */
function excessOf(intent: OrderIntent, held: Decimal): Decimal {
  if (intent.target) {
    const { position } = intent.target;
    if (sign(held) !== sign(position)) return absolute(held);
    const excess = subtract(absolute(held), absolute(position));
    return sign(excess) > 0 ? excess : ZERO;
  }
  const direction = 'direction' in intent ? intent.direction : null;
  if (direction === null) return absolute(held);
  const thatWay = direction === 'long' ? held : negate(held);
  return sign(thatWay) > 0 ? thatWay : ZERO;
}

/** What an account held, from the exchange's own journal. */
export function holdings({ held, looks }: Pick<ExchangeLedger, 'held' | 'looks'>) {
  const changes = Map.groupBy(held, ({ account }) => account);
  const looksOf = Map.groupBy(looks, ({ account }) => account);
  const of = (account: string) => changes.get(account) ?? [];
  return {
    /** All that it held in that time, one after the other. */
    during(account: string, symbol: string, from: number, to: number): Decimal[] {
      const then = of(account).findLast(({ at }) => at <= from);
      const since = of(account).filter(({ at }) => at > from && at <= to);
      return [then, ...since].map((change) => decimal(change?.quantities[symbol] ?? '0'));
    },
    symbols: (account: string) => new Set(of(account).flatMap(({ quantities }) => Object.keys(quantities))),
    /** The last time that somebody was told of its positions. */
    seenAt: (account: string, before: number) =>
      looksOf.get(account)?.findLast(({ at }) => at <= before)?.at ?? before,
  };
}

/** Since when each account's credentials were refused for good, if they ever were: by three refusals, each soon after the last, or with nothing told in between. */
export function refusedForGood({
  denials,
  looks,
}: Pick<ExchangeLedger, 'denials' | 'looks'>): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  for (const [account, own] of Map.groupBy(denials, (denial) => denial.account)) {
    let inARow = 0;
    const last = own.find(({ at }, index) => {
      const before = own[index - 1]?.at ?? Number.NEGATIVE_INFINITY;
      const isTold = looks.some((look) => look.account === account && look.at > before && look.at < at);
      inARow = at - before <= PRESENTED_WITHIN_MS || (index > 0 && !isTold) ? inARow + 1 : 1;
      return inARow >= PRESENTED;
    });
    if (last) since.set(account, last.at);
  }
  return since;
}

export function judgeExits(evidence: ExitEvidence): Finding {
  const { desks, records, ledger, flattens, jumps } = evidence;
  const book = holdings(ledger);
  const startOf = beginnings(evidence);
  const forGood = refusedForGood(ledger);
  const legsOf = Map.groupBy(records.legs, (leg) => leg.order_id);
  const atExchange = Map.groupBy(ledger.orders, ({ client_order_id: id }) => id.replace(/#\d+$/, ''));
  const refusedIds = new Set(
    ledger.requests
      .filter(({ outcome, code }) => outcome === 'rejected' && code !== 'broker_rate_limited')
      .map((request) => request.client_order_id),
  );
  const filling = new Set<string>(
    desks.filter(({ isFilling }) => isFilling).map(({ trader }) => trader.account.id),
  );

  function isAtDeadline(row: OrderRow, endedAt: number): boolean {
    const start = startOf(row);
    const allowedMs = millis(row.deadline_at) - millis(row.submitted_at);
    if (endedAt - start > allowedMs - EARLY_MS) return true;
    return row.status === 'expired' && jumps.some(({ from, to }) => from < endedAt && to > start);
  }

  const wasHalted = (account: string, from: number, to: number) =>
    flattens.some(
      ({ desk, sentAt, resumedAt }) => desk.trader.account.id === account && sentAt < to && resumedAt > from,
    );

  /** When those had ended that the exchange had by then: its journal of positions may note that a moment later. */
  const closesUnderWay = (account: string, symbol: string, by: number): number[] =>
    ledger.orders
      .filter(
        (order) =>
          order.account === account &&
          order.symbol === symbol &&
          order.client_order_id.startsWith('fx') &&
          millis(order.accepted_at) <= by,
      )
      .map(({ updated_at }) => millis(updated_at) + MOMENT_MS);

  /** It says which entries it could not end: of each of them nobody can tell any more whether it is there. */
  function isOfUnknown({ error }: OrderRow): boolean {
    const { code, message }: Partial<OrderError> = error === null ? {} : JSON.parse(error);
    const named = message?.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
    const isUnknown = (id: string) => legsOf.get(id)?.some(({ status }) => status === 'unknown') ?? false;
    return code === 'failed_at_broker' && named.length > 0 && named.every(isUnknown);
  }

  /** What is wrong with how it ended; null: nothing, or it is no exit. */
  function problemOf(row: OrderRow, legs: readonly LegRow[], endedAt: number): string | null {
    const { trading_account_id: account, symbol, status } = row;
    const intent = JSON.parse(row.intent) as OrderIntent;
    const code = row.error === null ? null : (JSON.parse(row.error) as OrderError).code;
    const left = (from: number, to: number) =>
      book.during(account, symbol, from, to).map((held) => excessOf(intent, held));
    const leastLeft = (from: number, to = endedAt) =>
      left(from, to).reduce((a, b) => (compare(a, b) <= 0 ? a : b));
    const isEntry = intent.operation === 'PLACE_ENTRY_ORDER' && !intent.target;
    const exits = isEntry || intent.target ? legs.filter(({ leg }) => leg === 'exit') : legs;
    const seenAt = Math.min(book.seenAt(account, endedAt) - MOMENT_MS, endedAt);
    if (isEntry && exits.length === 0) return null;

    const taken = exits.flatMap((leg) => atExchange.get(leg.client_order_id) ?? []);
    const isRefused = exits.some((leg) => refusedIds.has(leg.client_order_id));
    if (status === 'done' || code === 'no_position') {
      const still = isRefused || isEntry ? ZERO : leastLeft(seenAt);
      return sign(still) === 0 ? null : `says that nothing is left to take, and ${still} was`;
    }
    if (status === 'filled') {
      // It was at the exchange at its deadline, and says that nobody has looked for the rest.
      if (`${code}` === 'expired' && isAtDeadline(row, endedAt)) return null;
      const all = legs.flatMap((leg) => atExchange.get(leg.client_order_id) ?? []);
      const filled = all.reduce<Decimal>((sum, order) => add(sum, decimal(order.fill_quantity)), ZERO);
      if (sign(filled) === 0) return 'is filled, and the exchange has filled nothing';
      const isAsked = intent.operation === 'PLACE_EXIT_ORDER' && !intent.target;
      const isAllTaken = isAsked && compare(filled, decimal(row.quantity)) >= 0;
      if (isEntry || isAllTaken || !filling.has(account)) return null;
      const filledAt = Math.max(...all.map(({ updated_at }) => millis(updated_at)));
      // What another close of ours had taken on by then is its to close.
      const still = leastLeft(filledAt, Math.max(endedAt, ...closesUnderWay(account, symbol, endedAt)));
      return sign(still) === 0 ? null : `is filled with ${filled}, and left ${still}`;
    }
    if (taken.length > 0 || isRefused) return null;
    // When it was sent there was nothing to close on its way to the target: what came since is a later order's.
    const planned = row.position_before === null ? null : excessOf(intent, decimal(row.position_before));
    if (intent.target && planned === ZERO && legs.some(({ leg }) => leg === 'entry')) return null;
    // What it had to close was closed before its entry was sent.
    if (isEntry && legs.some(({ leg, client_order_id: id }) => leg === 'entry' && atExchange.has(id)))
      return null;
    // A reversal whose close is not filled in time is aborted, whatever became of the close.
    if (intent.operation === 'PLACE_ENTRY_ORDER' && `${code}` === 'reversal_timeout') return null;
    // It would stand where the market is already.
    if (isProtect(row) && code === 'invalid_protection') return null;
    if (intent.target && (code === 'superseded' || sign(leastLeft(seenAt)) === 0)) return null;
    if (isEntry && code !== null && HOLDS_BACK_ENTRIES.has(code)) return null;
    // What opens is refused while the account is halted, and what it would have closed first is the kill switch's.
    const opens = intent.operation === 'PLACE_ENTRY_ORDER';
    if (opens && code === 'account_halted' && wasHalted(account, startOf(row), endedAt)) return null;
    // With a stop that the market has passed nothing is sent, not even what it would have closed first.
    if (opens && code === 'invalid_protection') return null;
    const refusedAt = forGood.get(account) ?? endedAt;
    if (`${code}` === 'credentials_rejected' && refusedAt < endedAt) return null;
    // Its answer was lost, and then it could not even be asked for: it was unknown until it was found never to have arrived.
    const wasInDoubt = exits.some(({ sent_at }) => sent_at !== null && millis(sent_at) < refusedAt);
    if (status === 'expired' && wasInDoubt && refusedAt < endedAt) return null;
    if (isAtDeadline(row, endedAt)) return null;
    const seconds = ((endedAt - startOf(row)) / 1000).toFixed(1);
    return `was given up after ${seconds} s: ${status} ${code}`;
  }

  const problems: string[] = [];
  let checked = 0;
  for (const row of records.orders) {
    if (!hasEnded(row.status) || row.ended_at === null) continue;
    const legs = legsOf.get(row.order_id) ?? [];
    // What a stop or a target of ours has closed, the exchange has.
    if (legs.some(({ client_order_id: id }) => isProtective(id))) continue;
    if ((isProtect(row) || isCancel(row)) && row.status === 'done') continue;
    if (isCancel(row) && isOfUnknown(row)) continue;
    const { operation, target } = JSON.parse(row.intent) as OrderIntent;
    if (operation !== 'PLACE_ENTRY_ORDER' || target || legs.some(({ leg }) => leg === 'exit')) checked++;
    const problem = problemOf(row, legs, row.ended_at);
    if (problem)
      problems.push(
        `order ${row.order_id} (${row.source} ${row.action} ${row.quantity} ${row.symbol}) ${problem}`,
      );
  }
  return {
    invariant: "an exit ends by a fill, the exchange's refusal, flatness or its deadline",
    kind: 'other',
    checked,
    problems,
  };
}

/** What keeps an entry from being sent, and its close with it. */
const HOLDS_BACK_ENTRIES: ReadonlySet<string> = new Set([
  'guard_refused',
  'superseded',
  'out_of_sync',
  'stopped_out',
  'invalid_protection',
  'invalid_price',
]);

/** When an order's time began, by the runner's clock. */
function beginnings({ signals, flattens }: ExitEvidence): (row: OrderRow) => number {
  const accepted = new Map<string, number>();
  const first = new Map<string, number>();
  for (const { key, deliveries } of signals)
    for (const { answer, sentAt } of deliveries) {
      first.set(key, Math.min(sentAt, first.get(key) ?? sentAt));
      if (answer?.status === 200 || answer?.status === 202) accepted.set(answer.body.order_id, sentAt);
    }
  return (row) => {
    const { order_id, source, trading_account_id, submitted_at, ended_at } = row;
    if (source === 'webhook') return accepted.get(order_id) ?? first.get(keyOf(row)) ?? 0;
    // Of our own accord.
    if (source === 'protection') return millis(submitted_at);
    // It may be pulled again while its closes go on.
    const before = Math.min(ended_at ?? 0, millis(submitted_at) + MOMENT_MS);
    const pulled = flattens.findLast(
      ({ desk, sentAt }) => desk.trader.account.id === trading_account_id && sentAt <= before,
    );
    return pulled?.sentAt ?? 0;
  };
}

export function judgeFlattens({ flattens, ledger }: Pick<ExitEvidence, 'flattens' | 'ledger'>): Finding {
  const book = holdings(ledger);
  const said = flattens.filter(({ answer }) => answer !== null && answer.flatten_error === null);
  const problems = said.flatMap(({ desk, answeredAt }) => {
    const { id } = desk.trader.account;
    const from = book.seenAt(id, answeredAt) - MOMENT_MS;
    return [...book.symbols(id)]
      .map((symbol) => [symbol, book.during(id, symbol, from, answeredAt)] as const)
      .filter(([, held]) => held.every((quantity) => sign(quantity) !== 0))
      .map(
        ([symbol, held]) => `${desk.name} was told that nothing is left, and ${held.at(-1)} ${symbol} was`,
      );
  });
  return {
    invariant: `a kill switch that says that nothing is left has left nothing (${flattens.length} were pulled)`,
    kind: 'other',
    checked: said.length,
    problems,
  };
}

/** `refused`: whose credentials counted as refused in the end. */
export function judgeCredentials(
  desks: readonly Desk[],
  refused: ReadonlySet<string>,
  ledger: ExchangeLedger,
): Finding {
  const { denials } = ledger;
  const forGood = refusedForGood(ledger);
  const problems = desks
    .filter(({ trader: { account } }) => refused.has(account.id) && !forGood.has(account.id))
    .map(({ name, trader: { account } }) => {
      const times = denials.filter((denial) => denial.account === account.id).length;
      return `the credentials of ${name} count as refused; the exchange refused them ${times} times, and not ${PRESENTED} in a row`;
    });
  return {
    invariant: 'credentials that are refused once or twice are presented again',
    kind: 'other',
    checked: new Set(denials.map(({ account }) => account)).size,
    problems,
  };
}
