// Which of a user's signals are asked for. A group's signal is one, and yet each of its members has an outcome of its own: it fits where
// one of them does.

import type { AccountId, GroupId, Timestamp, UserId } from '../../domain/ids.ts';
import { SIGNAL_ENDS, type SignalEnd, statusesOf } from '../../domain/money/day.ts';
import type { OrderStatus } from '../../domain/orders/order.ts';
import type { SignalOutcome } from '../../domain/signals/webhook-checks.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';
import { anyOf, spelledLike } from './spellings.ts';

export interface SignalFilter {
  readonly accountId?: AccountId;
  readonly groupId?: GroupId;
  /** Of one that became an order, also what became of that. */
  readonly outcome?: SignalOutcome | SignalEnd;
  readonly orderStatus?: OrderStatus;
  readonly realMoney?: boolean;
  readonly code?: string;
  /** As it was sent. */
  readonly symbol?: string;
  /** A symbol, in whichever spelling it was sent. */
  readonly instrument?: string;
  readonly from?: Timestamp;
  readonly to?: Timestamp;
}

const isEnd = (outcome: SignalOutcome | SignalEnd | undefined): outcome is SignalEnd =>
  SIGNAL_ENDS.some((end) => end === outcome);

/** Where signals are looked for, each place by its index, and what tells whether one fits. */
interface Search {
  readonly sources: readonly (readonly Statement[])[];
  readonly fits: readonly Statement[];
}

export async function searchFor(
  db: Reads,
  user: UserId,
  filter: SignalFilter,
  realAccounts: ReadonlySet<AccountId>,
): Promise<Search> {
  const { accountId, groupId, outcome, code, symbol, instrument, orderStatus, realMoney, from, to } = filter;
  const isMember = await wasMember(db, accountId);
  const said = outcome === undefined || isEnd(outcome) ? undefined : outcome;
  // Of a group's signal each member has its own.
  const ofMember = [outcome, code, orderStatus, realMoney].some((each) => each !== undefined);
  const isGrouped = isMember || (ofMember && (groupId !== undefined || (await hadGroups(db, user))));
  // What tells most leads: a code more than a symbol, a symbol more than an outcome.
  const byGroup = groupId === undefined ? [] : [sql`group_id = ${groupId}`];
  const byCode = code === undefined ? [] : [sql`code = ${code}`];
  const spelled = instrument === undefined ? [] : await spelledLike(db, user, instrument, 'signals');
  const anySpelling = spelled.length === 0 ? [] : [anyOf(spelled)];
  const bySymbol = [...(symbol === undefined ? [] : [sql`symbol = ${symbol}`]), ...anySpelling];
  const byOutcome = said === undefined ? [] : [sql`outcome = ${said}`];
  const byAccount = accountId === undefined ? [] : [sql`trading_account_id = ${accountId}`];
  const own = [sql`user_id = ${user}`];
  const times = [
    ...(from === undefined ? [] : [sql`arrived_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`arrived_at <= ${to}`]),
  ];
  const tells = [...byGroup, ...byCode, ...bySymbol, ...byOutcome, ...(isMember ? [] : byAccount)];
  const [leading, ...others] = tells;
  /** Each spelling of a symbol by the index. */
  const ledBy = (led: Statement | undefined): (readonly Statement[])[] =>
    led === undefined ? [[]] : led === anySpelling[0] ? spelled.map((each) => [each]) : [[led]];
  const byOrder = orderFits(filter, sql`signals.order_id`);
  if (!isGrouped)
    return {
      sources: ledBy(leading).map((led) => [...own, ...led, ...times]),
      fits: [...others, ...byOrder, ...moneyFits(filter, realAccounts)],
    };
  const asOne = [...byCode, ...byOutcome, ...byAccount, ...byOrder];
  const fits = [
    ...bySymbol,
    ...(asOne.length === 0 ? [] : [atAny(filter, asOne)]),
    ...moneyFits(filter, realAccounts),
  ];
  // Neither a group's code nor its outcome is that of all its members: they are looked for beside the others.
  const isOfAll = leading === undefined || leading === byGroup[0] || leading === bySymbol[0];
  const sources = isOfAll
    ? ledBy(leading).map((led) => [...own, ...led, ...times])
    : [
        [...own, leading, sql`group_id is null`, ...times],
        [...own, sql`group_id is not null`, ...times],
      ];
  return { sources, fits };
}

/** Of a group's signal one of its members; where it came to none of them, and of an account's own, the signal itself. */
function atAny(filter: SignalFilter, asOne: readonly Statement[]): Statement {
  const { accountId, outcome, code } = filter;
  const itself = join(asOne, ' and ');
  const member = join(
    [
      sql`m.signal_id = signals.id`,
      ...(accountId === undefined ? [] : [sql`m.trading_account_id = ${accountId}`]),
      ...(code === undefined ? [] : [sql`m.code = ${code}`]),
      ...(outcome === undefined || isEnd(outcome)
        ? []
        : outcome === 'refused'
          ? [sql`m.code is not null`]
          : [sql`m.code is null and signals.outcome = ${outcome}`]),
      ...orderFits(filter, sql`m.order_id`),
    ],
    ' and ',
  );
  return join(
    [
      sql`(case when group_id is null then `,
      itself,
      sql` when exists (select 1 from signal_members m where `,
      member,
      sql`) then true when exists (select 1 from signal_members m where m.signal_id = signals.id) then false else `,
      itself,
      sql` end)`,
    ],
    '',
  );
}

/** Whether signals ever came to a group of the user's: few have one. */
async function hadGroups(db: Reads, user: UserId): Promise<boolean> {
  const row = await db.get(
    sql`select 1 as found from signals where user_id = ${user} and group_id is not null limit 1`,
  );
  return row !== undefined && row !== null;
}

/** Whether signals of a group ever came to the account: few accounts are in one. */
async function wasMember(db: Reads, account: AccountId | undefined): Promise<boolean> {
  if (account === undefined) return false;
  const row = await db.get(
    sql`select 1 as found from signal_members where trading_account_id = ${account} limit 1`,
  );
  return row !== undefined && row !== null;
}

/** `order`: whose it is that became of it. */
const orderFits = ({ outcome, orderStatus }: SignalFilter, order: Statement): Statement[] =>
  [...(isEnd(outcome) ? [statusesOf(outcome)] : []), ...(orderStatus ? [[orderStatus]] : [])].map(
    (statuses) =>
      join(
        [
          sql`exists (select 1 from order_history o where o.order_id = `,
          order,
          sql` and o.status in (`,
          among(statuses),
          sql`))`,
        ],
        '',
      ),
  );

/** Of a group's signal: whether any of its members trades real money. */
function moneyFits({ realMoney }: SignalFilter, accounts: ReadonlySet<AccountId>): Statement[] {
  if (realMoney === undefined || accounts.size === 0) return [];
  const isReal = join(
    [
      sql`(simulation = ${false} and (trading_account_id in (`,
      among(accounts),
      sql`) or (group_id is not null and exists (select 1 from signal_members r where r.signal_id = signals.id
            and r.trading_account_id in (`,
      among(accounts),
      sql`)))))`,
    ],
    '',
  );
  return [realMoney ? isReal : join([sql`not `, isReal], '')];
}

export const among = (values: Iterable<string>): Statement =>
  join(
    [...values].map((value) => sql`${value}`),
    ', ',
  );
