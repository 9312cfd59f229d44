// Whether positions were protected, by the exchange's own ledger: no stop was missing for longer than it may be, none was one too
// many, none opened anything or gave way by itself, and what they closed is told once and stays closed.
//
// The clock of what may last stands still while the exchange gives an account no answer, and while no host has what it needs: those
// spans are the runner's own record. A host that dies costs a takeover more, and nothing else is an excuse.

import { decimal, sign } from '../src/domain/decimal.ts';
import { hasEnded } from '../src/domain/orders/order.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { refusedForGood } from './judge-exits.ts';
import { isWithin, tradesOf } from './judge-positions.ts';
import { judgeStoppedOut } from './judge-stopped-out.ts';
import { type Bare, type Lasting, type Lives, livesOf } from './protected-lives.ts';
import { type Finding, isProtective, type OrderRow, type Records } from './records.ts';
import type { Outage } from './scene.ts';
import type { Desk, Signal } from './traffic.ts';

export interface ProtectionEvidence {
  readonly desks: readonly Desk[];
  readonly signals: readonly Signal[];
  readonly ledger: ExchangeLedger;
  readonly records: Records;
  readonly outages: readonly Outage[];
  /** When a worker host died, or stood still. */
  readonly deaths: readonly number[];
  readonly times: { readonly leaseMs: number; readonly protectMs: number; readonly sweepMs: number };
  /** Whose stops reserve what they would close. */
  readonly reserving: ReadonlySet<string>;
  /** When credentials that were refused for good were verified again. */
  readonly verifiedAt: number;
  /** When the ledger was read. */
  readonly until: number;
}

/** Two stops of one position, while one takes the other's place. */
const DOUBLE_MS = 5_000;
/** After a sweep, or a lease: until all of it is done. */
const THEN_MS = 5_000;
const TAKEOVER_MS = 2_000;
/** Where an exit needs what a stop reserves, and dies: so long it is waited for. */
const SUSPENDED_MS = 15_000;

export function judgeProtection(evidence: ProtectionEvidence): Finding[] {
  const { ledger, records, times, reserving } = evidence;
  const lives = livesOf(evidence);
  const clock = clockOf(evidence);
  const { sweepMs, protectMs, leaseMs } = times;
  const takeoverMs = leaseMs + TAKEOVER_MS;
  const afterFill = protectMs + takeoverMs;
  const afterTaken = ({ account }: Lasting) =>
    THEN_MS + (reserving.has(account) ? Math.max(sweepMs, SUSPENDED_MS) : sweepMs);
  const since = (what: Bare['since']) => lives.bare.filter((each) => each.since === what);
  const lasting = (
    invariant: string,
    all: readonly Lasting[],
    bound: (each: Lasting) => number,
    // The bound has one takeover in it.
    allowed = 0,
  ): Finding => {
    const judged = all.map((each) => {
      const extra = Math.max(0, clock.deaths(each) - allowed) * takeoverMs;
      return { each, ms: clock.counted(each), most: bound(each) + extra };
    });
    const longest = judged.reduce((most, { ms }) => Math.max(most, ms), 0);
    const least = Math.min(...all.map(bound), bound({ account: '' } as Lasting));
    return {
      invariant: `${invariant}: ${seconds(longest)} at most, ${seconds(least)} allowed`,
      kind: 'other',
      checked: all.length,
      problems: judged
        .filter(({ ms, most }) => ms > most)
        .map(({ each, ms, most }) => tellLasting(each, ms, most)),
    };
  };
  return [
    lasting('a stop that is wanted stands soon after the fill', since('fill'), () => afterFill, 1),
    lasting('a stop that was taken away is put back, or the position closed', since('taken'), afterTaken),
    lasting('two stops of one position', lives.double, () => DOUBLE_MS),
    lasting('what protected a position goes with it', lives.left, () => sweepMs + THEN_MS),
    judgeDropped(lives),
    judgeOpened(ledger),
    judgeTightened(lives),
    judgeTwice(ledger),
    judgeHistory(ledger, records),
    judgeStoppedOut(evidence),
  ];
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const tellLasting = ({ account, symbol, side, from, to, what }: Lasting, ms: number, most: number): string =>
  `${account} ${symbol} ${side} for ${seconds(ms)} of ${seconds(to - from)}, and ${seconds(most)} are allowed, from ${new Date(from).toISOString()}: ${what}`;

/** How much of a time counts, and how many hosts died in it. */
function clockOf({ outages, deaths, ledger, verifiedAt }: ProtectionEvidence) {
  const refused = [...refusedForGood(ledger)].map(([account, from]) => ({
    ...{ from, to: verifiedAt, accounts: [account] },
  }));
  const all = [...outages, ...refused].toSorted((a, b) => a.from - b.from);
  return {
    counted({ account, from, to }: Pick<Lasting, 'account' | 'from' | 'to'>): number {
      let [at, sum] = [from, 0];
      for (const outage of all) {
        if (outage.accounts && !outage.accounts.includes(account)) continue;
        if (outage.to <= at || outage.from >= to) continue;
        sum += Math.max(0, outage.from - at);
        at = Math.max(at, outage.to);
      }
      return sum + Math.max(0, to - at);
    },
    deaths: ({ from, to }: Pick<Lasting, 'from' | 'to'>): number =>
      deaths.filter((at) => at <= to && at >= from - DEATH_FELT_MS).length,
  };
}

/** A host that died just before is not followed by another at once. */
const DEATH_FELT_MS = 3_000;

function judgeDropped({ dropped, placed }: Lives): Finding {
  return {
    invariant: 'a stop of ours leaves when another stands, or nothing is held',
    kind: 'other',
    checked: placed,
    problems: dropped,
  };
}

function judgeOpened({ fills }: ExchangeLedger): Finding {
  const trades = tradesOf(fills).filter(({ id }) => isProtective(id));
  return {
    invariant: 'no protective order opens or turns a position',
    kind: 'other',
    checked: trades.length,
    problems: trades
      .filter(({ before, after }) => sign(before) === 0 || !isWithin(before, after))
      .map(
        ({ id, account, symbol, before, after }) =>
          `${id} of ${account} took ${before} ${symbol} to ${after}`,
      ),
  };
}

function judgeTightened({ loosened, placed }: Lives): Finding {
  return {
    invariant: 'a stop only gets nearer to the market, unless somebody said otherwise',
    kind: 'other',
    checked: placed,
    problems: loosened,
  };
}

/** In doubt a stop is sent again, under another id; a target never is. */
function judgeTwice({ stops, orders }: ExchangeLedger): Finding {
  const placed = stops.filter(({ what }) => what === 'placed');
  const targets = orders.filter(({ client_order_id: id }) => isProtective(id) && !id.endsWith('#stop'));
  const isCopy = ({ client_order_id: id }: { client_order_id: string }) => /#\d+$/.test(id);
  return {
    invariant: 'nothing that protects is sent twice under one id',
    kind: 'doubled',
    checked: placed.length + targets.length,
    problems: [...placed, ...targets]
      .filter(isCopy)
      .map(({ client_order_id: id, account }) => `the exchange has ${id} of ${account}`),
  };
}

/** What stops and targets have closed, by the exchange's references. */
function judgeHistory({ orders, stops, not_found }: ExchangeLedger, records: Records): Finding {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const told = records.legs.filter(
    ({ order_id, client_order_id: id }) => orderOf.get(order_id)?.source === 'protection' && isProtective(id),
  );
  const toldBy = Map.groupBy(told, ({ broker_ref }) => broker_ref ?? '');
  // Some brokers know what a stop became by the stop's own reference.
  const fired = Map.groupBy(stops, ({ account, order_id }) => `${account} ${order_id}`);
  const refsOf = ({ account, client_order_id: id, broker_ref }: ExchangeLedger['orders'][number]) => {
    const own = (fired.get(`${account} ${id}`) ?? []).map((stop) => stop.broker_ref);
    return [...new Set([broker_ref, ...own])];
  };
  const closed = orders.filter(
    ({ client_order_id: id, fill_quantity, status }) =>
      isProtective(id) && hasEnded(status as OrderRow['status']) && sign(decimal(fill_quantity)) > 0,
  );
  // And one that was moved may have another name there: then it is known by what it closed.
  const sameOf = (order: ExchangeLedger['orders'][number]) =>
    told.filter(
      (leg) =>
        !byRef.has(leg.broker_ref ?? '') &&
        orderOf.get(leg.order_id)?.trading_account_id === order.account &&
        orderOf.get(leg.order_id)?.symbol === order.symbol &&
        leg.fill_quantity !== null &&
        decimal(leg.fill_quantity) === decimal(order.fill_quantity) &&
        leg.fill_price === order.fill_price,
    );
  const byRef = new Set(closed.flatMap(refsOf));
  // Each row is one order's: two that closed the same at one price have two.
  const taken = new Set<Records['legs'][number]>();
  const rows = new Map(
    closed.map((order) => {
      const own = refsOf(order).flatMap((ref) => toldBy.get(ref) ?? []);
      const same = own.length > 0 ? [] : sameOf(order).filter((leg) => !taken.has(leg));
      const its = own.length > 0 ? own : same.slice(0, 1);
      for (const leg of its) taken.add(leg);
      return [order, its];
    }),
  );
  const rowsOf = (order: ExchangeLedger['orders'][number]) => rows.get(order) ?? [];
  const forgotten = new Set(not_found.filter((each) => each.forgotten).map((each) => each.client_order_id));
  const missing = closed.flatMap((order) => {
    const { client_order_id: id, broker_ref, fill_quantity, fill_price, account } = order;
    const own = rowsOf(order);
    const name = `what ${id} of ${account} (${broker_ref}) closed`;
    if (own.length === 0 && forgotten.has(id)) return [];
    if (own.length !== 1) return [`${name} is told ${own.length} times in the history`];
    const theirs = [decimal(fill_quantity), decimal(fill_price ?? '0')];
    const ours = [decimal(own[0]?.fill_quantity ?? '0'), decimal(own[0]?.fill_price ?? '0')];
    return `${ours}` === `${theirs}` ? [] : [`${name} is ${ours} with us and ${theirs} at the exchange`];
  });
  const known = new Set(closed.flatMap(rowsOf));
  const made = told
    .filter((leg) => !known.has(leg))
    .map((leg) => `the history tells of ${leg.client_order_id} (${leg.broker_ref}), which closed nothing`);
  return {
    invariant: 'what a stop or a target closes is told once, as it was',
    kind: 'other',
    checked: closed.length,
    problems: [...missing, ...made],
  };
}
