// One signal to several accounts is told once, with what became of it at each of them. A destination that is for some accounts hears
// of those, and of no other: each may be somebody else's.

import { toNumberOrNull } from '../decimal.ts';
import type { AccountId, GroupId, Timestamp, UserId } from '../ids.ts';
import { isUnderWay, mainLeg, type Order } from '../orders/order.ts';
import { type Entry, entryEvent } from './events.ts';
import { type Event, type EventKind, type Filter, oneLine, type Several } from './notification.ts';

/** The gravest first. Everything else is told of each order alone. */
const TOGETHER: readonly EventKind[] = ['order_unknown', 'order_failed', 'guard_refused', 'fill'];
export const isToldTogether = ({ kind }: Event): boolean => TOGETHER.includes(kind);

interface Refusal {
  readonly code: string;
  /** For a person. */
  readonly detail: string;
}

/** What became of a signal at a member of its group. */
export interface MemberTold {
  readonly accountId: AccountId;
  /** As its owner calls it. */
  readonly account: string;
  /** null: it has none. */
  readonly order: Order | null;
  /** What is told of its order by now. */
  readonly events: readonly Event[];
  /** Why it has no order; null: it has one. */
  readonly refusal: Refusal | null;
}

export interface GroupTold {
  readonly userId: UserId;
  readonly at: Timestamp;
  readonly signalId: string;
  readonly groupId: GroupId;
  /** null: it is deleted. */
  readonly name: string | null;
  readonly members: readonly MemberTold[];
}

export const groupEvent = (told: GroupTold): Several => ({
  userId: told.userId,
  as: (filter) => asOne({ ...told, members: told.members.filter(isFor(filter)) }, filter),
});

const isFor =
  ({ accountIds }: Pick<Filter, 'accountIds'>) =>
  ({ accountId }: { readonly accountId: AccountId | null }): boolean =>
    accountIds === null || accountId === null || accountIds.includes(accountId);

/** null: it is of no kind that is wanted. */
function asOne({ members, name, ...told }: GroupTold, { events: wanted }: Filter): Event | null {
  const kinds = new Set(members.flatMap(kindsOf));
  const kind = TOGETHER.find((each) => kinds.has(each) && wanted.includes(each));
  if (kind === undefined) return null;
  const [only, ...others] = members;
  // The only one that concerns a destination is told as every order is.
  const own = others.length === 0 ? only?.events.find((event) => event.kind === kind) : undefined;
  if (only && own) return { ...own, text: only.events.map(({ text }) => text).join(' ') };
  const first = members.find(({ order }) => order)?.order;
  const title = `Signal to ${name === null ? 'a group' : oneLine(name, 60)}: ${counts(members)}`;
  return {
    ...(members.some(({ events }) => events.some(({ mustBeNamed }) => mustBeNamed)) && { mustBeNamed: true }),
    kind,
    at: told.at,
    userId: told.userId,
    accountId: null,
    title: first?.simulation ? `${title} (simulated)` : title,
    // What is too long for a chat is cut at its end.
    text: [...ofRefusals(members), ...ofOrders(members), ...ofOthers(members)].join(' '),
    path: `/signals/${told.signalId}`,
    data: {
      signal_id: told.signalId,
      group_id: told.groupId,
      action: first?.action ?? null,
      simulation: first?.simulation ?? false,
      members: members.map(memberData),
    },
  };
}

/** A member that was left out while others traded is told as a failed order is; but for one that its owner has halted. */
const kindsOf = ({ events, refusal }: MemberTold): readonly EventKind[] =>
  refusal && refusal.code !== 'account_halted' ? ['order_failed'] : events.map(({ kind }) => kind);

/** "2 filled, 1 rejected, 1 refused" */
function counts(members: readonly MemberTold[]): string {
  const words = members.map(({ order, refusal }) => (refusal ? 'refused' : wordOf(order)));
  const each = Map.groupBy(words, (word) => word);
  return [...each].map(([word, { length }]) => `${length} ${word}`).join(', ');
}

const wordOf = (order: Order | null): string =>
  order === null || isUnderWay(order.status) ? 'under way' : order.status.replace('_', ' ');

const MOST_OF_A_REASON = 200;

/** "A, B and C refused it: why." What several say is said once. */
function ofRefusals(members: readonly MemberTold[]): string[] {
  const refused = members.flatMap(({ account, refusal }) => (refusal ? [{ account, ...refusal }] : []));
  const bySaying = Map.groupBy(refused, ({ detail }) => oneLine(detail, MOST_OF_A_REASON));
  return [...bySaying].map(([why, who]) => `${listed(who.map(({ account }) => account))} refused it: ${why}`);
}

/** As each is told, the gravest first. */
function ofOrders(members: readonly MemberTold[]): string[] {
  const gravity = ({ kind }: Event) => TOGETHER.indexOf(kind);
  const events = members.flatMap((member) => member.events).toSorted((a, b) => gravity(a) - gravity(b));
  return events.map(({ text }) => oneLine(text, 2 * MOST_OF_A_REASON));
}

/** Those of whose orders nothing is to be told, or not yet. */
function ofOthers(members: readonly MemberTold[]): string[] {
  const others = members.filter(({ events, refusal }) => events.length === 0 && !refusal);
  const byWord = Map.groupBy(others, ({ order }) => wordOf(order));
  return [...byWord].map(([word, who]) => `${capital(word)}: ${listed(who.map(({ account }) => account))}.`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "A, B and C" */
function listed(names: readonly string[]): string {
  const [last = '', ...others] = names.map((name) => oneLine(name, 60)).toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

function memberData({ accountId, order, refusal }: MemberTold): Readonly<Record<string, unknown>> {
  const main = order && mainLeg(order);
  return {
    trading_account_id: accountId,
    order_id: order?.id ?? null,
    status: order?.status ?? null,
    fill_price: toNumberOrNull(main?.fillPrice ?? null),
    fill_quantity: toNumberOrNull(main?.fillQuantity ?? null),
    code: refusal?.code ?? order?.error?.code ?? null,
  };
}

// What the audit log says of each member by an entry of its own

interface Named {
  readonly entry: Entry;
  readonly account: string | null;
}

/** An alert that a group never got is missing at each of its members: those of one moment are one. */
export const gapEvent = (missed: readonly [Named, ...Named[]]): Several => ({
  userId: missed[0].entry.userId,
  as(filter) {
    const [first, ...others] = missed.filter(({ entry }) => isFor(filter)(entry));
    const event = first && entryEvent(first.entry, first.account);
    if (!event || !filter.events.includes(event.kind)) return null;
    if (others.length === 0) return event;
    const all = [first, ...others];
    const symbols = [...new Set(all.map(({ entry }) => String(entry.metadata.symbol ?? '')))];
    return {
      ...event,
      accountId: null,
      text: `The strategy's last alert in ${listed(symbols)} on ${listed(all.map(({ account }) => account ?? 'an account'))} does not begin where the one before it ended: one in between never arrived. Look whether the positions are the strategy's.`,
      data: {
        ...event.data,
        trading_account_ids: all.map(({ entry }) => entry.accountId),
      },
    };
  },
});
