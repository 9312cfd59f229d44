// Whether positions were protected, by the exchange's own ledger: no stop was missing for longer than it may be, none was one too
// many, none opened anything or gave way by itself, and what they closed is told once and stays closed.

import { decimal, sign } from '../src/domain/decimal.ts';
import type { Desk } from './desks.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { lastingIn, sweepIn, TAKEOVER_MS, THEN_MS, type TimeEvidence } from './judge-lasting.ts';
import { isWithin, tradesOf } from './judge-positions.ts';
import { judgeStoppedOut } from './judge-stopped-out.ts';
import { type Bare, type Lasting, type Lives, livesOf } from './protected-lives.ts';
import { type Finding, isProtective, type Records } from './records.ts';
import type { Signal } from './signals.ts';
import { toldCloses } from './told-closes.ts';

export interface ProtectionEvidence extends TimeEvidence {
  readonly desks: readonly Desk[];
  readonly signals: readonly Signal[];
  readonly records: Records;
  /** Whose stops reserve what they would close. */
  readonly reserving: ReadonlySet<string>;
}

/** Two stops of one position, while one takes the other's place. */
const DOUBLE_MS = 5_000;
/** Where an exit needs what a stop reserves, and dies: so long it is waited for. */
const SUSPENDED_MS = 15_000;

export function judgeProtection(evidence: ProtectionEvidence): Finding[] {
  const { ledger, records, times, reserving } = evidence;
  const lives = livesOf(evidence);
  const { protectMs, leaseMs } = times;
  const sweepMs = sweepIn(evidence);
  const takeoverMs = leaseMs + TAKEOVER_MS;
  const afterFill = protectMs + takeoverMs;
  const afterTaken = (each: Lasting) =>
    THEN_MS + Math.max(sweepMs(each), reserving.has(each.account) ? SUSPENDED_MS : 0);
  const since = (what: Bare['since']) => lives.bare.filter((each) => each.since === what);
  const lasting = lastingIn(evidence);
  return [
    lasting('a stop that is wanted stands soon after the fill', since('fill'), () => afterFill, 1),
    lasting('a stop that was taken away is put back, or the position closed', since('taken'), afterTaken),
    lasting('two stops of one position', lives.double, () => DOUBLE_MS),
    lasting('what protected a position goes with it', lives.left, (each) => sweepMs(each) + THEN_MS),
    judgeDropped(lives),
    judgeOpened(ledger),
    judgeTightened(lives),
    judgeTwice(ledger),
    judgeHistory(ledger, records),
    judgeStoppedOut(evidence),
  ];
}

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
function judgeHistory(ledger: ExchangeLedger, records: Records): Finding {
  const { closes, untold, made } = toldCloses(ledger, records);
  const problems = [...closes].flatMap(([order, own]) => {
    const { client_order_id: id, broker_ref, fill_quantity, fill_price, account } = order;
    const name = `what ${id} of ${account} (${broker_ref}) closed`;
    if (untold.has(order)) return [];
    if (own.length !== 1) return [`${name} is told ${own.length} times in the history`];
    const theirs = [decimal(fill_quantity), decimal(fill_price ?? '0')];
    const ours = [decimal(own[0]?.fill_quantity ?? '0'), decimal(own[0]?.fill_price ?? '0')];
    return `${ours}` === `${theirs}` ? [] : [`${name} is ${ours} with us and ${theirs} at the exchange`];
  });
  const invented = made.map(
    (leg) => `the history tells of ${leg.client_order_id} (${leg.broker_ref}), which closed nothing`,
  );
  return {
    invariant: `what a stop or a target closes is told once, as it was; ${untold.size} the exchange had forgotten`,
    kind: 'other',
    checked: closes.size,
    problems: [...problems, ...invented],
  };
}
