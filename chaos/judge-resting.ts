// Whether entries that rest were kept by the exchange's own ledger as their owner wanted: one of a name, all on one side, none in the way of
// anything else, none after its cancel, its time, an exit or a halt; and each told as it ended.

import { millis } from '../src/domain/ids.ts';
import { hasEnded, type OrderError, type OrderIntent } from '../src/domain/orders/order.ts';
import { mayRest, type Priced } from '../src/domain/orders/priced.ts';
import { EVERY_SYMBOL } from '../src/domain/orders/resting.ts';
import type { Flatten } from './flattens.ts';
import { lastingIn, THEN_MS, type TimeEvidence } from './judge-lasting.ts';
import type { Lasting } from './protected-lives.ts';
import {
  type Finding,
  firstDeliveries,
  isCancel,
  isProtective,
  type OrderRow,
  type Records,
} from './records.ts';
import type { Signal } from './signals.ts';

export interface RestingEvidence extends TimeEvidence {
  readonly signals: readonly Signal[];
  readonly flattens: readonly Flatten[];
  readonly records: Records;
  /** Legs that the exchange cannot tell us about any more, by client order id. */
  readonly forgotten: ReadonlySet<string>;
  /** When somebody's clock was wrong: its times came early, or late. */
  readonly jumps: readonly { readonly from: number; readonly to: number }[];
}

/** One entry with a price, from its acceptance by the exchange to its end there. */
interface Life {
  readonly row: OrderRow & { readonly priced: Priced };
  readonly id: string;
  readonly account: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly from: number;
  /** When the ledger was read, where it has not ended. */
  readonly to: number;
  readonly status: string;
  readonly filled: number;
  /** Why it ended there, in the exchange's words. */
  readonly reason: string | null;
}

/** By one clock and by another. */
const MOMENT_MS = 100;
const MOST_RESTING = 10;
/** The exchange's word for an end that somebody asked for. */
const AS_ASKED = 'cancelled as asked';
const ENDED_BY_US = ['replaced', 'cancelled_on_request', 'lapsed', 'guard_refused'];

export function judgeResting(evidence: RestingEvidence): Finding[] {
  const { times, jumps, outages } = evidence;
  const lives = livesOf(evidence);
  const asIf = { ...evidence, outages: [...outages, ...jumps.map((span) => ({ ...span, accounts: null }))] };
  const lasting = lastingIn(asIf);
  const bound = () => times.sweepMs + THEN_MS;
  return [
    judgeKnown(evidence),
    judgeNames(lives),
    judgeWay(lives, evidence),
    judgeCancels(lives, evidence),
    lasting('an entry that rests ends when its time is over', lapses(lives), bound),
    lasting('nothing rests after an exit, a close or a kill switch', afterExits(lives, evidence), bound),
    judgeTold(lives, evidence),
  ];
}

/** How many there were, and what became of them. */
export function tellResting(evidence: Pick<RestingEvidence, 'ledger' | 'records' | 'until'>): string {
  const lives = livesOf(evidence);
  const rested = lives.filter(({ row }) => mayRest(row.priced));
  const count = (isIt: (life: Life) => boolean) => rested.filter(isIt).length;
  const codes = (code: string) => count(({ row }) => codeOf(row) === code);
  return (
    `${rested.length} taken (${count(({ row }) => row.priced.stop !== null)} with a trigger), ` +
    `${count(({ status }) => status === 'filled')} filled, ` +
    `${count(({ status, filled }) => status !== 'filled' && filled > 0)} in part; ${codes('replaced')} replaced, ` +
    `${codes('cancelled_on_request')} cancelled, ${codes('lapsed')} lapsed, ` +
    `${codes('cancelled_by_broker')} ended there; ${lives.length - rested.length} that were to be filled at once; ` +
    `${evidence.records.orders.filter(isCancel).length} cancels`
  );
}

const codeOf = ({ error }: OrderRow): string | null =>
  error === null ? null : (JSON.parse(error) as OrderError).code;

function livesOf({ ledger, records, until }: Pick<RestingEvidence, 'ledger' | 'records' | 'until'>): Life[] {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const rowOf = new Map(
    records.legs
      .filter(({ leg }) => leg === 'entry')
      .map((leg) => [leg.client_order_id, orderOf.get(leg.order_id)]),
  );
  return ledger.orders.flatMap((order) => {
    const row = rowOf.get(order.client_order_id.replace(/#\d+$/, ''));
    if (!row?.priced) return [];
    const { account, symbol, side, status, reason, client_order_id: id } = order;
    const isOver = hasEnded(status as OrderRow['status']);
    return [
      {
        ...{ id, account, symbol, side, status, reason },
        row: { ...row, priced: row.priced },
        from: millis(order.accepted_at),
        to: isOver ? millis(order.updated_at) : until,
        filled: Number(order.fill_quantity),
      },
    ];
  });
}

const nameOf = ({ id, row, side, symbol }: Life): string =>
  `${id} (${side} ${row.quantity} ${symbol}, order ${row.order_id})`;

/** What has not ended there has not ended with us. */
function judgeKnown({ ledger, records }: RestingEvidence): Finding {
  const legOf = new Map(records.legs.map((leg) => [leg.client_order_id, leg]));
  const open = ledger.orders.filter(
    ({ status, client_order_id: id }) => !hasEnded(status as OrderRow['status']) && !/^f[sp]/.test(id),
  );
  return {
    invariant: 'nothing rests at the exchange that we do not know of',
    kind: 'other',
    checked: ledger.orders.length,
    problems: open.flatMap(({ client_order_id: id, account, status }) => {
      const leg = legOf.get(id);
      const isKnown = leg && (leg.status === 'placed' || leg.status === 'partially_filled');
      return isKnown
        ? []
        : [`${id} of ${account} is ${status} there, and ${leg?.status ?? 'nothing'} with us`];
    }),
  };
}

/** One of a name, all on one side, and not too many. */
function judgeNames(lives: readonly Life[]): Finding {
  const problems: string[] = [];
  for (const own of Map.groupBy(lives, ({ account, symbol }) => `${account} ${symbol}`).values())
    for (const life of own) {
      const beside = own.filter((other) => other !== life && other.from <= life.from && other.to > life.from);
      const earlier = beside.filter((other) => other.from < life.from || other.id < life.id);
      for (const other of earlier) {
        const isSame = (other.row.priced.id ?? null) === (life.row.priced.id ?? null);
        if (isSame || other.side !== life.side)
          problems.push(
            `${nameOf(life)} of ${life.account} was taken ${other.to - life.from} ms before the end of ${nameOf(other)}, ` +
              (isSame ? `under the same name ${life.row.priced.id}` : 'on the other side'),
          );
      }
      if (earlier.length >= MOST_RESTING)
        problems.push(`${nameOf(life)} rests beside ${earlier.length} others`);
    }
  return {
    invariant: 'of a name one entry rests, and all of a symbol on one side',
    kind: 'other',
    checked: lives.length,
    problems,
  };
}

/** Whatever else opens in the symbol is sent when what rests there has ended. */
function judgeWay(lives: readonly Life[], { ledger, records }: RestingEvidence): Finding {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const atMarket = new Map(
    records.legs
      .filter(({ leg, order_id }) => leg === 'entry' && orderOf.get(order_id)?.priced === null)
      .map((leg) => [leg.client_order_id, leg]),
  );
  const livesAt = Map.groupBy(lives, ({ account, symbol }) => `${account} ${symbol}`);
  const entries = ledger.orders.filter(({ client_order_id: id }) => atMarket.has(id));
  return {
    invariant: 'an entry at the market is sent when what rests in its symbol has ended',
    kind: 'other',
    checked: entries.length,
    problems: entries.flatMap(({ account, symbol, client_order_id: id, accepted_at }) => {
      const at = millis(accepted_at);
      const open = (livesAt.get(`${account} ${symbol}`) ?? []).filter(({ from, to }) => from < at && to > at);
      return open.map((life) => `${id} of ${account} was taken while ${nameOf(life)} rested`);
    }),
  };
}

/** What was taken back has ended by then, and is not filled afterwards. */
function judgeCancels(lives: readonly Life[], { records, signals }: RestingEvidence): Finding {
  const firstSent = firstDeliveries(signals);
  const done = records.orders.filter((row) => isCancel(row) && row.status === 'done');
  const problems = done.flatMap((row) => {
    const { id } = JSON.parse(row.intent) as { id?: string };
    const meant = lives.filter(
      ({ account, symbol, from, row: entry }) =>
        account === row.trading_account_id &&
        (row.symbol === EVERY_SYMBOL || row.symbol === symbol) &&
        (id === undefined || entry.priced.id === id) &&
        from < firstSent(row),
    );
    return meant
      .filter(({ to }) => to > (row.ended_at ?? 0) + MOMENT_MS)
      .map(
        (life) =>
          `${nameOf(life)} was ${life.status} ${life.to - (row.ended_at ?? 0)} ms after cancel ${row.order_id}`,
      );
  });
  return {
    invariant: 'what a cancel took back has ended when the cancel is done',
    kind: 'other',
    checked: done.length,
    problems,
  };
}

const lastingOf = (life: Life, from: number, what: string): Lasting => ({
  ...{ account: life.account, symbol: life.symbol, side: life.side === 'buy' ? 'long' : 'short' },
  ...{ from, to: life.to, what: `${what}: ${nameOf(life)}` },
});

const lapses = (lives: readonly Life[]): Lasting[] =>
  lives
    .filter(({ row, to }) => to > millis(row.priced.expiresAt))
    .map((life) =>
      lastingOf(life, Math.max(life.from, millis(life.row.priced.expiresAt)), 'its time was over'),
    );

/** From when an exit is accepted: it may wait for long for what is in doubt, but not with taking back what rests. */
function afterExits(lives: readonly Life[], { records, flattens }: RestingEvidence): Lasting[] {
  // What a stop or a target of ours closed is nobody's word on what rests.
  const ofLegs = new Set(
    records.legs.filter(({ client_order_id: id }) => isProtective(id)).map(({ order_id }) => order_id),
  );
  const exits = records.orders.flatMap((row) => {
    if (ofLegs.has(row.order_id)) return [];
    const { operation } = JSON.parse(row.intent) as OrderIntent;
    const isOut = operation === 'PLACE_EXIT_ORDER' || operation === 'CLOSE_POSITION';
    const isMade = row.status === 'filled' || row.status === 'done' || codeOf(row) === 'no_position';
    if (!isOut || !isMade) return [];
    const at = millis(row.submitted_at);
    return [{ account: row.trading_account_id as string, symbol: row.symbol, begun: at, at }];
  });
  const halts = flattens
    .filter(({ answer }) => answer !== null)
    .map(({ desk, sentAt, answeredAt }) => ({
      ...{ account: desk.trader.account.id as string, symbol: null, begun: sentAt, at: answeredAt },
    }));
  return lives.flatMap((life) => {
    const first = [...exits, ...halts]
      .filter(
        ({ account, symbol, begun, at }) =>
          account === life.account &&
          (symbol === null || symbol === life.symbol) &&
          life.from < begun &&
          life.to > at,
      )
      .toSorted((a, b) => a.at - b.at)[0];
    return first
      ? [
          lastingOf(
            life,
            first.at,
            first.symbol === null ? 'the kill switch was pulled' : 'an exit was accepted',
          ),
        ]
      : [];
  });
}

/** Who took it back stands in its order; and for how long it was to rest. */
function judgeTold(
  lives: readonly Life[],
  { records: { orders }, forgotten, jumps }: Pick<RestingEvidence, 'records' | 'forgotten' | 'jumps'>,
): Finding {
  // Of what the exchange has forgotten nobody can tell how it ended.
  const isUntold = ({ id, row }: Life) => row.status === 'unknown' && forgotten.has(id);
  const ours = lives.filter(
    (life) => life.status === 'cancelled' && life.reason === AS_ASKED && !isUntold(life),
  );
  const problems = ours.flatMap((life) => {
    const { row, to } = life;
    const code = codeOf(row);
    const name = `${nameOf(life)}, which was taken back,`;
    if (row.status !== 'cancelled' || !ENDED_BY_US.includes(code ?? ''))
      return [`${name} is ${row.status} ${code} with us`];
    const early = millis(row.priced.expiresAt) - to;
    const isJumped = jumps.some((span) => span.from < to && span.to > life.from);
    if (code === 'lapsed' && early > MOMENT_MS && !isJumped)
      return [`${name} lapsed ${early} ms before its time`];
    const isThere = (other: OrderRow) =>
      other.order_id !== row.order_id &&
      other.trading_account_id === row.trading_account_id &&
      (other.symbol === row.symbol || other.symbol === EVERY_SYMBOL);
    const hasReplacement = () =>
      orders.some(
        (other) =>
          isThere(other) && (JSON.parse(other.intent) as OrderIntent).operation === 'PLACE_ENTRY_ORDER',
      );
    return code === 'replaced' && !hasReplacement() ? [`${name} is replaced by nothing`] : [];
  });
  return {
    invariant: 'an entry that we took back is told as cancelled, and why',
    kind: 'other',
    checked: ours.length,
    problems,
  };
}
