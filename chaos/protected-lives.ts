// The life of what protects a position, as the exchange's ledger tells it: of every account and symbol, what was held, who asked
// for a stop, which stops of ours stood, and which targets. It knows nothing of what must hold: judge-protection.ts says that.

import { absolute, add, compare, type Decimal, decimal, sign, smaller, ZERO } from '../src/domain/decimal.ts';
import { millis } from '../src/domain/ids.ts';
import { hasEnded } from '../src/domain/orders/order.ts';
import type { Direction } from '../src/domain/side.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { BY_HAND } from './exchange-hands.ts';
import { isProtect, isProtective, type OrderRow, type Records } from './records.ts';

type StopEvent = ExchangeLedger['stops'][number];

/** Something that lasted, while a position was held on that side or after. */
export interface Lasting {
  readonly account: string;
  readonly symbol: string;
  readonly side: Direction;
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

export interface Bare extends Lasting {
  /** It began with a fill, or with a word about the stop; or with a stop that went away. */
  readonly since: 'fill' | 'taken';
}

export interface Lives {
  /** A stop was wanted, and nothing of ours closed all that was held. */
  readonly bare: readonly Bare[];
  /** Two stops of ours for one position. */
  readonly double: readonly Lasting[];
  /** A leg of ours where nothing was held on its side. */
  readonly left: readonly Lasting[];
  /** We took the last stop of a position away ourselves. */
  readonly dropped: readonly string[];
  /** A stop of ours got further from the market, and nobody had said so. */
  readonly loosened: readonly string[];
  /** How many stops were placed or moved by us. */
  readonly placed: number;
  /** How many times somebody wanted a stop. */
  readonly wanted: number;
}

export interface LivesEvidence {
  readonly ledger: ExchangeLedger;
  readonly records: Records;
  /** Where one stop beside another is no surplus, and what stands has to leave before an exit. */
  readonly reserving: ReadonlySet<string>;
  /** When the ledger was read. */
  readonly until: number;
}

/** Who asked for a stop, or for none, and when it counts. */
interface Word {
  readonly at: number;
  /** null: of whichever side is held. */
  readonly side: Direction | null;
  readonly wants: boolean;
  /** By the order that said so, its end may change the price once more. */
  readonly endedAt: number;
}

interface Standing {
  readonly id: string;
  readonly price: Decimal;
  readonly quantity: Decimal | null;
  /** By us; one that somebody else has moved is nobody's. */
  readonly isOurs: boolean;
  readonly at: number;
}

type Happening =
  | { readonly at: number; readonly rank: 0; readonly held: Decimal }
  | { readonly at: number; readonly rank: 1; readonly word: Word }
  | { readonly at: number; readonly rank: 2; readonly stop: StopEvent }
  /** The order of a stop that was triggered has ended. */
  | { readonly at: number; readonly rank: 3; readonly closed: string }
  | { readonly at: number; readonly rank: 4; readonly target: string; readonly side: 'buy' | 'sell' }
  | {
      readonly at: number;
      readonly rank: 6;
      readonly close: string;
      readonly side: string;
      readonly quantity: Decimal;
    }
  | { readonly at: number; readonly rank: 5; readonly ended: string };

const SIDES = ['long', 'short'] as const;

export function livesOf(evidence: LivesEvidence): Lives {
  const { ledger, until, reserving } = evidence;
  const words = wordsOf(evidence);
  const lives: Life[] = [];
  const heldBy = Map.groupBy(ledger.held, ({ account }) => account);
  for (const [place, stops] of Map.groupBy(ledger.stops, placeOf)) {
    const [account = '', symbol = ''] = place.split(' ');
    const happenings: Happening[] = [
      ...heldIn(heldBy.get(account) ?? [], symbol),
      ...(words.get(place) ?? []).map((word) => ({ at: word.at, rank: 1 as const, word })),
      ...stops.map((stop) => ({ at: stop.noted_at, rank: 2 as const, stop })),
      ...closesOf(stops, ledger),
      ...ownCloses(ledger, account, symbol),
      ...targetsOf(ledger, account, symbol),
    ];
    lives.push(lifeOf({ account, symbol, until, reserves: reserving.has(account) }, happenings));
    words.delete(place);
  }
  // Somebody wanted a stop where none ever was.
  for (const [place, own] of words) {
    const [account = '', symbol = ''] = place.split(' ');
    const happenings: Happening[] = [
      ...heldIn(heldBy.get(account) ?? [], symbol),
      ...own.map((word) => ({ at: word.at, rank: 1 as const, word })),
      ...ownCloses(ledger, account, symbol),
      ...targetsOf(ledger, account, symbol),
    ];
    lives.push(lifeOf({ account, symbol, until, reserves: reserving.has(account) }, happenings));
  }
  return {
    bare: lives.flatMap(({ bare }) => bare),
    double: lives.flatMap(({ double }) => double),
    left: lives.flatMap(({ left }) => left),
    dropped: lives.flatMap(({ dropped }) => dropped),
    loosened: lives.flatMap(({ loosened }) => loosened),
    placed: lives.reduce((sum, { placed }) => sum + placed, 0),
    wanted: lives.reduce((sum, { wanted }) => sum + wanted, 0),
  };
}

const placeOf = ({ account, symbol }: { account: string; symbol: string }): string => `${account} ${symbol}`;

function heldIn(rows: ExchangeLedger['held'], symbol: string): Happening[] {
  let last = ZERO;
  return rows.flatMap(({ at, quantities }) => {
    const held = decimal(quantities[symbol] ?? '0');
    if (held === last) return [];
    last = held;
    return [{ at, rank: 0 as const, held }];
  });
}

/** What a stop became closes the position while it is under way, as the stop did. */
function closesOf(stops: readonly StopEvent[], { orders }: ExchangeLedger): Happening[] {
  const triggered = stops.filter(({ what, order_id }) => what === 'triggered' && order_id !== null);
  return triggered.flatMap(({ account, order_id, noted_at, client_order_id }) => {
    const order = orders.find((each) => each.account === account && each.client_order_id === order_id);
    if (!order || !hasEnded(order.status as OrderRow['status'])) return [];
    const at = Math.max(noted_at, millis(order.updated_at));
    return [{ at, rank: 3 as const, closed: client_order_id }];
  });
}

/** A close of ours that the exchange has taken closes the position while it is under way: no stop does more. */
function ownCloses({ orders }: ExchangeLedger, account: string, symbol: string): Happening[] {
  const own = orders.filter(
    (order) => order.account === account && order.symbol === symbol && order.client_order_id.startsWith('fx'),
  );
  return own.flatMap(
    ({ client_order_id: id, side, quantity, accepted_at, updated_at, status }): Happening[] => {
      const at = millis(accepted_at);
      const begun = { at, rank: 6 as const, close: id, side, quantity: decimal(quantity) };
      return hasEnded(status as OrderRow['status'])
        ? [begun, { at: Math.max(millis(updated_at), at), rank: 3, closed: id }]
        : [begun];
    },
  );
}

function targetsOf({ orders }: ExchangeLedger, account: string, symbol: string): Happening[] {
  const own = orders.filter(
    (order) =>
      order.account === account &&
      order.symbol === symbol &&
      isProtective(order.client_order_id) &&
      !order.client_order_id.endsWith('#stop'),
  );
  return own.flatMap((order): Happening[] => {
    const { client_order_id: id, side, accepted_at, updated_at, status } = order;
    const begun = { at: millis(accepted_at), rank: 4 as const, target: id, side };
    return hasEnded(status as OrderRow['status'])
      ? [begun, { at: Math.max(millis(updated_at), begun.at), rank: 5, ended: id }]
      : [begun];
  });
}

/** Every fill of an order that asks for a stop, and every `protect` that was taken. By account and symbol. */
function wordsOf({ ledger, records }: LivesEvidence): Map<string, Word[]> {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const entries = records.legs.filter(({ leg }) => leg === 'entry');
  const entryOf = new Map(
    entries.map((leg) => [leg.client_order_id, { row: orderOf.get(leg.order_id), sentAt: leg.sent_at }]),
  );
  const words = new Map<string, Word[]>();
  const say = (place: string, word: Word) => words.set(place, [...(words.get(place) ?? []), word]);
  for (const row of records.orders) {
    const said = stopIn(row);
    if (!isProtect(row) || row.status !== 'done' || row.ended_at === null || said === null) continue;
    const place = placeOf({ account: row.trading_account_id, symbol: row.symbol });
    say(place, { at: row.ended_at, side: null, wants: said === 'wanted', endedAt: row.ended_at });
  }
  const protects = new Map([...words].map(([place, said]) => [place, said.map(({ at }) => at)]));
  /**
   * What an entry asks for is heard with its first fill, and where it adds to what is held, when it is sent: who says otherwise since then
   * means the rest of it, too.
   */
  const isOverruled = (place: string, heard: number, now: number) =>
    (protects.get(place) ?? []).some((at) => at > heard && at <= now);
  const filled = new Map<string, { readonly quantity: string; readonly first: number }>();
  for (const { at, account, symbol, side, client_order_id, fill_quantity: quantity } of ledger.fills) {
    const { row, sentAt = null } = entryOf.get(client_order_id.replace(/#\d+$/, '')) ?? {};
    const known = filled.get(client_order_id);
    if (!row || stopIn(row) !== 'wanted' || known?.quantity === quantity) continue;
    const { first } = known ?? { first: at };
    filled.set(client_order_id, { quantity, first });
    const place = placeOf({ account, symbol });
    const endedAt = row.ended_at ?? Number.POSITIVE_INFINITY;
    const isAdding = sign(decimal(row.position_before ?? '0')) === (side === 'buy' ? 1 : -1);
    if (!isOverruled(place, isAdding && sentAt !== null ? millis(sentAt) : first, at))
      say(place, { at, side: side === 'buy' ? 'long' : 'short', wants: true, endedAt });
  }
  return words;
}

/** What an order says of the stop; null: nothing. */
function stopIn({ wish }: OrderRow): 'wanted' | 'none' | null {
  const { own = {} } = JSON.parse(wish ?? '{}') as { own?: { stop_loss?: unknown; trailing_stop?: unknown } };
  const said = [own.stop_loss, own.trailing_stop].filter((part) => part !== undefined);
  if (said.length === 0) return null;
  return said.every((part) => part === 'none') ? 'none' : 'wanted';
}

/** What was added a moment ago may not be in the quantity of a stop that takes another's place; how long that may be so is judged apart. */
const KNOWN_MS = 1_000;

/** What an entry asks for is taken in once its order has ended. */
const TAKEN_IN_MS = 100;

interface Place {
  readonly account: string;
  readonly symbol: string;
  readonly reserves: boolean;
  readonly until: number;
}

type Life = Omit<Lives, 'bare' | 'double' | 'left'> & {
  readonly bare: Bare[];
  readonly double: Lasting[];
  readonly left: Lasting[];
};

function lifeOf(place: Place, happenings: readonly Happening[]): Life {
  const { account, symbol, until, reserves } = place;
  const life: Life & { dropped: string[]; loosened: string[]; placed: number; wanted: number } = {
    ...{ bare: [], double: [], left: [], dropped: [], loosened: [], placed: 0, wanted: 0 },
  };
  const standing = new Map<string, Standing & { readonly side: Direction }>();
  const closing = new Map<string, Standing & { readonly side: Direction }>();
  const targets = new Map<string, Direction>();
  const words: Word[] = [];
  const sides = {
    long: { held: ZERO, wanted: false, since: 0, last: null as Standing | null },
    short: { held: ZERO, wanted: false, since: 0, last: null as Standing | null },
  };
  const past: Record<Direction, { at: number; held: Decimal }[]> = { long: [], short: [] };
  /** Stops of ours that somebody took or moved, and when. */
  const taken: (Standing & { readonly side: Direction })[] = [];
  const open = new Map<string, { from: number; since: Bare['since']; what: string }>();

  const ours = (side: Direction) =>
    [...standing.values()].filter((stop) => stop.side === side && stop.isOurs);
  /** The least that was held on the side in the moments before: nobody can have known of more. */
  function heldFor(side: Direction, at: number): Decimal {
    const all = past[side].filter(
      ({ held }, index) =>
        sign(held) > 0 && (past[side][index + 1]?.at ?? Number.POSITIVE_INFINITY) > at - KNOWN_MS,
    );
    return all.reduce((least, { held }) => smaller(least, held), sides[side].held);
  }

  /** How much of what is held would be closed, by these too. */
  function covered(side: Direction, besides: readonly Standing[] = []): Decimal {
    const { held } = sides[side];
    const all = [...ours(side), ...[...closing.values()].filter((stop) => stop.side === side), ...besides];
    const sum = all.reduce<Decimal>((total, { quantity }) => add(total, quantity ?? held), ZERO);
    return smaller(sum, held);
  }
  const isCovered = (side: Direction): boolean => compare(covered(side), sides[side].held) >= 0;

  function lasts(name: 'bare' | 'double' | 'left', side: Direction, isSo: boolean, at: number, now: string) {
    const key = `${name} ${side}`;
    const begun = open.get(key);
    if (isSo && !begun) open.set(key, { from: at, since: now as Bare['since'], what: describe(side) });
    if (isSo || !begun) return;
    open.delete(key);
    const { from, since, what } = begun;
    life[name].push({ account, symbol, side, from, to: at, what, since });
  }
  const describe = (side: Direction) =>
    `${sides[side].held} held, ${ours(side).map(({ id, quantity, price }) => `${id} ${quantity ?? 'all'} at ${price}`)}`;

  function compareAll(at: number, since: Bare['since']): void {
    for (const side of SIDES) {
      const { held, wanted } = sides[side];
      const isHeld = sign(held) > 0;
      lasts('bare', side, isHeld && wanted && !isCovered(side), at, since);
      lasts('double', side, isHeld && !reserves && ours(side).length > 1, at, since);
      const legs = ours(side).length + [...targets.values()].filter((of) => of === side).length;
      lasts('left', side, !isHeld && legs > 0, at, since);
    }
  }

  function heldNow(at: number, quantity: Decimal): void {
    for (const side of SIDES) {
      const isSide = sign(quantity) === (side === 'long' ? 1 : -1);
      const held = isSide ? absolute(quantity) : ZERO;
      const before = sides[side].held;
      past[side].push({ at, held });
      if (sign(held) === 0) sides[side] = { held, wanted: false, since: at, last: null };
      else sides[side] = { ...sides[side], held, since: sign(before) === 0 ? at : sides[side].since };
    }
  }

  function heard(word: Word): void {
    words.push(word);
    if (word.wants) life.wanted++;
    for (const side of SIDES)
      if ((word.side ?? side) === side && sign(sides[side].held) > 0)
        sides[side] = { ...sides[side], wanted: word.wants };
  }

  function happened(event: StopEvent): void {
    const { noted_at: at, client_order_id: id, what, asker } = event;
    const side: Direction = event.side === 'sell' ? 'long' : 'short';
    const isOurs = asker !== BY_HAND;
    const stop = {
      ...{ id, side, isOurs, at, price: decimal(event.price) },
      quantity: event.quantity === null ? null : decimal(event.quantity),
    };
    const before = standing.get(id);
    if (before?.isOurs && !isOurs) taken.push({ ...before, at });
    if (what === 'placed' || what === 'moved') {
      standing.set(id, stop);
      if (isOurs) placedByUs(side, stop);
      return;
    }
    standing.delete(id);
    if (what === 'triggered') closing.set(id, { ...stop, quantity: null });
    const isOwn = what === 'cancelled' && isOurs && asker !== null && event.reason === 'cancelled as asked';
    if (!isOwn || reserves || !before?.isOurs || before.at < sides[side].since) return;
    const { wanted, held } = sides[side];
    // What it would have closed, another one closes.
    const least = smaller(before.quantity ?? held, heldFor(side, at));
    // Nobody can have known of what somebody took a moment before.
    const justTaken = taken.filter((stop) => stop.side === side && stop.at > at - KNOWN_MS);
    if (wanted && sign(held) > 0 && compare(covered(side, justTaken), least) < 0)
      life.dropped.push(
        `${asker} took ${id} of ${account} away while ${held} ${symbol} was held, and nothing else of ours stood`,
      );
  }

  function placedByUs(side: Direction, stop: Standing): void {
    life.placed++;
    const { last } = sides[side];
    const looser = last !== null && compare(stop.price, last.price) === (side === 'long' ? -1 : 1);
    const isSaid =
      last !== null &&
      words.some(
        (word) =>
          (word.side ?? side) === side &&
          word.at <= stop.at &&
          (word.at >= last.at || word.endedAt + TAKEN_IN_MS >= last.at),
      );
    if (looser && !isSaid)
      life.loosened.push(
        `the stop of ${account} in ${symbol} went from ${last.price} to ${stop.price}, and nobody had said so: ${stop.id}`,
      );
    sides[side] = { ...sides[side], last: stop };
  }

  const inTurn = happenings.toSorted((a, b) => a.at - b.at || a.rank - b.rank);
  for (const happening of inTurn) {
    if (happening.rank === 0) heldNow(happening.at, happening.held);
    else if (happening.rank === 1) heard(happening.word);
    else if (happening.rank === 2) happened(happening.stop);
    else if (happening.rank === 3) closing.delete(happening.closed);
    else if (happening.rank === 4)
      targets.set(happening.target, happening.side === 'sell' ? 'long' : 'short');
    else if (happening.rank === 6) {
      const side = happening.side === 'sell' ? 'long' : 'short';
      const { close: id, quantity, at } = happening;
      closing.set(id, { id, side, quantity, at, isOurs: true, price: ZERO });
    } else targets.delete(happening.ended);
    compareAll(happening.at, happening.rank <= 1 ? 'fill' : 'taken');
  }
  for (const side of SIDES)
    for (const name of ['bare', 'double', 'left'] as const) lasts(name, side, false, until, '');
  return life;
}
