// The judgement, from sources that know nothing of each other: what the senders were told, what stands in PostgreSQL,
// and the exchange's own ledger and journal.

import { setTimeout as sleep } from 'node:timers/promises';
import { auditKeyOf, verifyAuditLog } from '../src/app/audit/chain.ts';
import type { Db } from '../src/data/engine/db.ts';
import { decimal } from '../src/domain/decimal.ts';
import { millis, type Timestamp } from '../src/domain/ids.ts';
import { hasEnded } from '../src/domain/orders/order.ts';
import { APP_KEY } from '../test/orders/kill-harness.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import {
  type ExitEvidence,
  judgeCredentials,
  judgeExits,
  judgeFlattens,
  refusedForGood,
} from './judge-exits.ts';
import { judgeGroups } from './judge-groups.ts';
import {
  judgeClosings,
  judgeNothingHeld,
  judgePlans,
  judgePositions,
  judgeStrategies,
} from './judge-positions.ts';
import { judgeProtection, type ProtectionEvidence } from './judge-protection.ts';
import { judgeResting, type RestingEvidence } from './judge-resting.ts';
import { judgeOverlaps, judgeSequence } from './judge-sequence.ts';
import {
  type Finding,
  firstDeliveries,
  isProtective,
  keyOf,
  type LegRow,
  type OrderRow,
  type Records,
} from './records.ts';
import { type Delivery, nameOfSignal, type Signal } from './signals.ts';
import type { TeamSignal } from './teams.ts';
import { isToComeAgain } from './traffic.ts';

export interface Evidence extends ExitEvidence, ProtectionEvidence, RestingEvidence {
  readonly teamSignals: readonly TeamSignal[];
  /** Legs that the exchange cannot tell us about any more, by client order id. */
  readonly forgotten: ReadonlySet<string>;
  /** Whose credentials counted as refused, before their users verified them again. */
  readonly refused: ReadonlySet<string>;
  /** As the API tells them, by account. */
  readonly positions: ReadonlyMap<string, readonly { symbol: string; quantity: number }[]>;
  /** The exchange's name for a symbol of ours. */
  listingOf(symbol: string): string;
  /** The exchange refuses what arrives later than it is told. */
  readonly refusesLate: boolean;
  readonly db: Db;
}

export async function judge(evidence: Evidence): Promise<Finding[]> {
  const { desks, signals, records, forgotten, ledger, positions, listingOf, refusesLate, db } = evidence;
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const legOf = new Map(records.legs.map((leg) => [leg.client_order_id, leg]));
  // What a kill switch closes may have any quantity.
  const sent = records.orders.filter(({ source }) => source === 'webhook');
  const rowsOf = Map.groupBy(sent, keyOf);
  const rowsFor = (signal: Signal) => rowsOf.get(signal.key) ?? [];
  return [
    judgeDoubles(signals, rowsFor),
    judgeExchangeDoubles(ledger, legOf),
    judgeLost(signals, rowsFor, excuses(evidence)),
    judgeStrangers(signals, records),
    judgeEnds(records, forgotten),
    judgeTold(signals, orderOf),
    judgeLegs(ledger, records, forgotten),
    refusesLate ? judgeDeadlines(ledger, legOf, orderOf) : judgeSendings(records, orderOf),
    judgeSequence(signals, rowsFor, ledger, records),
    judgeOverlaps(ledger, records, firstDeliveries(signals)),
    judgePlans(desks, signals, ledger, records),
    judgeNothingHeld(signals, ledger, orderOf),
    judgeClosings(desks, ledger),
    judgePositions({ ledger, records, forgotten, told: positions }),
    judgeStrategies(desks, signals, ledger, records, listingOf),
    judgeExits(evidence),
    judgeFlattens(evidence),
    judgeCredentials(desks, evidence.refused, ledger),
    ...judgeProtection(evidence),
    ...judgeResting(evidence),
    ...judgeGroups(evidence),
    judgeAuditEntries(records),
    await judgeChain(db),
  ];
}

const accepts = ({ answer }: Delivery): boolean => answer?.status === 200 || answer?.status === 202;

function judgeDoubles(signals: readonly Signal[], rowsFor: (signal: Signal) => readonly OrderRow[]): Finding {
  const problems = signals.flatMap((signal) => {
    const [rows, accepted] = [rowsFor(signal).length, signal.deliveries.filter(accepts).length];
    return rows > 1 || accepted > 1
      ? [`${nameOfSignal(signal)} has ${rows} orders and was accepted ${accepted} times`]
      : [];
  });
  return {
    invariant: 'a signal makes at most one order, however often it is delivered',
    kind: 'doubled',
    checked: signals.length,
    problems,
  };
}

function judgeExchangeDoubles({ orders }: ExchangeLedger, legOf: ReadonlyMap<string, LegRow>): Finding {
  const problems = orders.flatMap(({ client_order_id: id, account, side, quantity, symbol }) => {
    // What stops became, and targets, are judged by what they have filled.
    if (id.endsWith('#stop') || (isProtective(id) && !id.includes('#'))) return [];
    if (id.includes('#'))
      return [`the exchange has ${side} ${quantity} ${symbol} once more: ${id} of ${account}`];
    return legOf.has(id) ? [] : [`the exchange has ${id}, which is no leg of ours`];
  });
  return {
    invariant: 'at most one exchange order per leg, and none without a leg',
    kind: 'doubled',
    checked: orders.length,
    problems,
  };
}

/**
 * Entries are refused while the account is halted, and once its credentials were refused for good. Where even the refusal could
 * not be written down, its sender was told something else, or nothing.
 */
function excuses({ flattens, ledger }: Evidence): (signal: Signal, delivery: Delivery) => boolean {
  const forGood = refusedForGood(ledger);
  return (signal, { sentAt, ms, answer }) => {
    const code = (answer?.body as { code?: string } | undefined)?.code;
    if (code === 'credentials_not_verified') return forGood.has(signal.accountId);
    const isUntold = (answer === null || isToComeAgain(answer)) && !getsOut(signal);
    if (code !== 'account_halted' && !isUntold) return false;
    const isOf = ({ desk }: (typeof flattens)[number]) => desk.trader.account.id === signal.accountId;
    return flattens.some((each) => isOf(each) && each.sentAt < sentAt + ms && each.resumedAt > sentAt);
  };
}

const getsOut = ({ action, body }: Signal): boolean =>
  /exit|close/.test(action) || body.includes('"order_type":"exit"');

function judgeLost(
  signals: readonly Signal[],
  rowsFor: (signal: Signal) => readonly OrderRow[],
  isExcused: (signal: Signal, delivery: Delivery) => boolean,
): Finding {
  const problems = signals.flatMap((signal) =>
    signal.deliveries.flatMap((delivery) => {
      const { answer } = delivery;
      if (!answer || isExcused(signal, delivery)) return [];
      const rows = rowsFor(signal);
      if (answer.status === 200 || answer.status === 202)
        return rows.some((row) => row.order_id === answer.body.order_id)
          ? []
          : [`${nameOfSignal(signal)} was accepted as ${answer.body.order_id}, which is nowhere`];
      if (answer.status === 409)
        // Of two copies at once one may be refused, and the other be called its replay.
        return rows.length > 0 || signal.deliveries.some((other) => isExcused(signal, other))
          ? []
          : [`${nameOfSignal(signal)} was called a replay and has no order`];
      return isToComeAgain(answer)
        ? []
        : [`${nameOfSignal(signal)} was answered ${answer.status} ${JSON.stringify(answer.body)}`];
    }),
  );
  return {
    invariant: 'what was accepted stands, and what was called a replay was accepted',
    kind: 'lost',
    checked: signals.length,
    problems,
  };
}

function judgeStrangers(signals: readonly Signal[], { orders }: Records): Finding {
  const sent = new Set(signals.map(({ key }) => key));
  const problems = orders
    // A report makes an order of its own where the account follows.
    .filter((row) => row.source === 'webhook' && row.action !== 'sync')
    .filter((row) => !sent.has(keyOf(row)))
    .map((row) => `order ${row.order_id} was never sent`);
  return { invariant: 'every order comes from a signal', kind: 'other', checked: orders.length, problems };
}

/** What the exchange has forgotten is not stuck where it is shown: `unknown`, and a dead letter. */
function judgeEnds({ orders, legs, openChecks }: Records, forgotten: ReadonlySet<string>): Finding {
  const checkOf = new Map(openChecks.map(({ order_id, state }) => [order_id, state]));
  const shown = new Set(
    legs
      .filter((leg) => forgotten.has(leg.client_order_id) && checkOf.get(leg.order_id) === 'dead_letter')
      .map((leg) => leg.order_id),
  );
  const problems = [
    ...orders
      .filter(({ order_id, status }) => !hasEnded(status) && !(status === 'unknown' && shown.has(order_id)))
      .map((row) => `order ${row.order_id} is ${row.status}`),
    ...openChecks
      .filter(({ order_id }) => !shown.has(order_id))
      .map(({ order_id, state }) => `the fill check of order ${order_id} is ${state}`),
  ];
  return {
    invariant: `every order reaches its end, by way of \`unknown\` where need be; ${shown.size} are dead letters that the exchange has forgotten`,
    kind: 'stuck',
    checked: orders.length,
    problems,
  };
}

/**
 * An answer that names an end names the one that stands. Only of a reversal that failed more may become known later:
 * its close is left at the exchange and followed.
 */
function judgeTold(signals: readonly Signal[], orderOf: ReadonlyMap<string, OrderRow>): Finding {
  let checked = 0;
  const problems = signals.flatMap((signal) =>
    signal.deliveries.filter(accepts).flatMap(({ answer }) => {
      const row = orderOf.get(answer?.body.order_id ?? '');
      if (!answer || !row || !hasEnded(answer.body.status)) return [];
      checked++;
      const told = answer.body;
      const refs = JSON.parse(row.broker_refs) as string[];
      const filled = row.fill_quantity === null ? null : Number(row.fill_quantity);
      const areSame =
        told.status === 'failed'
          ? told.broker_refs.every((ref) => refs.includes(ref))
          : `${told.broker_refs}` === `${refs}`;
      if (told.status === row.status && areSame && told.fill_quantity === filled) return [];
      const [was, is] = [
        [told.status, told.broker_refs, told.fill_quantity],
        [row.status, refs, filled],
      ];
      return [
        `${nameOfSignal(signal)} was answered ${JSON.stringify(was)} and stands as ${JSON.stringify(is)}`,
      ];
    }),
  );
  return { invariant: 'an end that was told is the end that stands', kind: 'other', checked, problems };
}

/** What a leg can be that the exchange has never taken. */
const UNTRADED = new Set(['planned', 'rejected', 'expired']);

function judgeLegs({ orders }: ExchangeLedger, { legs }: Records, forgotten: ReadonlySet<string>): Finding {
  const atExchange = new Map(orders.map((order) => [order.client_order_id, order]));
  const own = legs.filter(({ client_order_id: id }) => !isProtective(id));
  const problems = own.flatMap((leg) => {
    if (leg.status === 'unknown' && forgotten.has(leg.client_order_id)) return [];
    const there = atExchange.get(leg.client_order_id);
    const name = `${leg.leg} leg ${leg.client_order_id} of order ${leg.order_id}`;
    if (!there)
      return UNTRADED.has(leg.status) ? [] : [`${name} is ${leg.status} with us and not at the exchange`];
    const ours = [leg.status, leg.side, decimal(leg.fill_quantity ?? '0'), leg.broker_ref];
    const theirs = [there.status, there.side, decimal(there.fill_quantity), there.broker_ref];
    return `${ours}` === `${theirs}` ? [] : [`${name} is ${ours} with us and ${theirs} at the exchange`];
  });
  return {
    invariant: 'every leg is with us what it is at the exchange',
    kind: 'other',
    checked: own.length,
    problems,
  };
}

function judgeDeadlines(
  { requests }: ExchangeLedger,
  legOf: ReadonlyMap<string, LegRow>,
  orderOf: ReadonlyMap<string, OrderRow>,
): Finding {
  const taken = requests.filter(({ outcome }) => outcome === 'accepted');
  const problems = taken.flatMap((request) => {
    const order = orderOf.get(legOf.get(request.client_order_id)?.order_id ?? '');
    if (!order || isProtective(request.client_order_id)) return [];
    const late = request.arrived_at - millis(order.deadline_at);
    return late > 0 ? [`${request.client_order_id} was taken ${late} ms after its deadline`] : [];
  });
  return {
    invariant: 'nothing is traded after its deadline',
    kind: 'other',
    checked: taken.length,
    problems,
  };
}

/** Where nobody can refuse what is late, what is on its way at the deadline arrives after it. */
function judgeSendings({ legs }: Records, orderOf: ReadonlyMap<string, OrderRow>): Finding {
  const sent = legs.filter(({ sent_at, client_order_id: id }) => sent_at !== null && !isProtective(id));
  const problems = sent.flatMap(({ sent_at, order_id, client_order_id }) => {
    const late = millis(sent_at as Timestamp) - millis(orderOf.get(order_id)?.deadline_at as Timestamp);
    return late > 0 ? [`${client_order_id} was sent ${late} ms after its deadline`] : [];
  });
  return { invariant: 'nothing is sent after its deadline', kind: 'other', checked: sent.length, problems };
}

function judgeAuditEntries({ orders, audited }: Records): Finding {
  const entries = Map.groupBy(audited, (entry) => entry.resource_id);
  const sent = orders.filter(({ source }) => source === 'webhook');
  const problems = sent.flatMap(({ order_id }) => {
    const count = entries.get(order_id)?.length ?? 0;
    return count === 1 ? [] : [`order ${order_id} has ${count} audit entries`];
  });
  return {
    invariant: 'every order has its one audit entry',
    kind: 'other',
    checked: sent.length,
    problems,
  };
}

const SEALED_WITHIN_S = 15;

async function judgeChain(db: Db): Promise<Finding> {
  const auditKey = auditKeyOf(Buffer.from(APP_KEY, 'base64url'));
  const verify = () => verifyAuditLog({ db, auditKey }, []);
  let verified = await verify();
  // What was written a moment ago is sealed a moment later.
  for (let again = 0; again < SEALED_WITHIN_S && verified.unsealed > 0; again++) {
    await sleep(1_000);
    verified = await verify();
  }
  const { problems, head, unsealed } = verified;
  const loose = unsealed > 0 ? [`${unsealed} entries are not sealed`] : [];
  return {
    invariant: 'the audit chain is whole',
    kind: 'other',
    checked: head.entries,
    problems: [...problems, ...loose],
  };
}
