// Whether a group's signal became one order at most with each of its members, for all that took it or for none, and of what quantity.

import { compare, decimal, multiply } from '../src/domain/decimal.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { type Finding, keyOf, type OrderRow, type Records } from './records.ts';
import type { TeamSignal } from './teams.ts';

interface GroupEvidence {
  readonly teamSignals: readonly TeamSignal[];
  readonly ledger: ExchangeLedger;
  readonly records: Records;
}

export function judgeGroups(evidence: GroupEvidence): Finding[] {
  const rowsOf = Map.groupBy(
    evidence.records.orders.filter(({ group_id }) => group_id !== null),
    keyOf,
  );
  return [judgeOnce(evidence, rowsOf), judgeTogether(evidence, rowsOf), judgeQuantities(evidence, rowsOf)];
}

type RowsOf = ReadonlyMap<string, readonly OrderRow[]>;

const nameOf = ({ action, quantity, team }: TeamSignal): string =>
  `${action} ${quantity} of the group ${team.made.group.id}`;

const isTaken = (status: number | undefined): boolean => status === 200 || status === 202;

/** However often it comes. */
function judgeOnce({ teamSignals }: GroupEvidence, rowsOf: RowsOf): Finding {
  const problems = teamSignals.flatMap((signal) => {
    const taken = signal.deliveries.filter(({ answer }) => isTaken(answer?.status)).length;
    const most = Math.max(...signal.parts.map(({ key }) => rowsOf.get(key)?.length ?? 0));
    return taken > 1 || most > 1
      ? [`${nameOf(signal)} was accepted ${taken} times, and has ${most} orders with one member`]
      : [];
  });
  return {
    invariant: "a group's signal is at most one order with each member",
    kind: 'doubled',
    checked: teamSignals.length,
    problems,
  };
}

/** Whoever has no order was refused, and it is written down why; and the answers say the same. */
function judgeTogether({ teamSignals, records }: GroupEvidence, rowsOf: RowsOf): Finding {
  const endsOf = Map.groupBy(records.memberEnds, ({ signal_id }) => signal_id);
  const signalOf = new Map(
    records.memberEnds.flatMap((end) => (end.order_id ? [[end.order_id, end.signal_id]] : [])),
  );
  const problems = teamSignals.flatMap((signal) => {
    const orders = signal.parts.flatMap(({ key }) => rowsOf.get(key)?.[0] ?? []);
    const [first] = orders;
    const told = signal.deliveries.filter(({ answer }) => isTaken(answer?.status) || answer?.status === 409);
    if (!first) {
      const isTold = told.some(({ answer }) => isTaken(answer?.status));
      return isTold ? [`${nameOf(signal)} was accepted, and nobody has an order`] : [];
    }
    const ends = endsOf.get(signalOf.get(first.order_id) ?? '') ?? [];
    const missing = signal.parts.flatMap(({ accountId, key }) => {
      const row = rowsOf.get(key)?.[0];
      const end = ends.find(({ trading_account_id: account }) => account === accountId);
      if (row ? end?.order_id === row.order_id : end?.code) return [];
      return [
        `${nameOf(signal)} became ${row?.order_id ?? 'nothing'} with ${accountId}, and it is written down as ${JSON.stringify(end ?? null)}`,
      ];
    });
    const wrong = told.flatMap(({ answer }) => {
      const body = answer?.body;
      const named = isTaken(answer?.status)
        ? (body?.members ?? []).flatMap(({ order }) => order?.order_id ?? [])
        : (body?.orders ?? []).flatMap(({ order_id }) => order_id ?? []);
      // A repeat is one, whether or not what it became can be read.
      if (answer?.status === 409 && named.length === 0) return [];
      const ids = orders.map(({ order_id }) => order_id);
      return ids.toSorted().join() === named.toSorted().join()
        ? []
        : [`${nameOf(signal)} was answered ${answer?.status} with the orders ${named}, and they are ${ids}`];
    });
    return [...missing, ...wrong];
  });
  return {
    invariant: "a group's signal is committed for all members that take it, and told so",
    kind: 'lost',
    checked: teamSignals.length,
    problems,
  };
}

/** Each of its own factor, never more. */
function judgeQuantities({ teamSignals, ledger, records }: GroupEvidence, rowsOf: RowsOf): Finding {
  const sent = new Map(ledger.orders.map((order) => [order.client_order_id, order]));
  const legsOf = Map.groupBy(
    records.legs.filter(({ leg }) => leg === 'entry'),
    ({ order_id }) => order_id,
  );
  let checked = 0;
  const problems = teamSignals.flatMap((signal) =>
    signal.parts.flatMap(({ key, symbol, accountId }) => {
      const { member } = signal.team.members.find((each) => each.member.accountId === accountId) ?? {};
      const exact = multiply(signal.quantity, member?.factor ?? decimal(1));
      return (rowsOf.get(key) ?? []).flatMap((row) =>
        (legsOf.get(row.order_id) ?? []).flatMap(({ client_order_id: id }) => {
          const order = sent.get(id);
          if (!order) return [];
          checked++;
          const isRight = compare(decimal(order.quantity), exact) === 0 && order.symbol === symbol;
          return isRight
            ? []
            : [
                `${nameOf(signal)} became ${order.quantity} ${order.symbol} with ${accountId}, and is ${exact} ${symbol}`,
              ];
        }),
      );
    }),
  );
  return {
    invariant: "a member's entry is the signal's quantity times its factor, in its own symbol",
    kind: 'other',
    checked,
    problems,
  };
}

/** How many there were, and what became of them. */
export function tellGroups({ teamSignals, records }: Pick<GroupEvidence, 'teamSignals' | 'records'>): string {
  const deliveries = teamSignals.flatMap((signal) => signal.deliveries);
  const count = (isIt: (status: number | undefined) => boolean) =>
    deliveries.filter(({ answer }) => isIt(answer?.status)).length;
  const refused = records.memberEnds.filter(({ code }) => code !== null).length;
  const orders = records.orders.filter(({ group_id }) => group_id !== null).length;
  return (
    `${teamSignals.length} signals in ${deliveries.length} deliveries (${count(isTaken)} accepted, ` +
    `${count((status) => status === 409)} repeats), ${orders} orders with members, ${refused} refused`
  );
}
