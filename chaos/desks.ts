// The users and their accounts: how each one's broker behaves, and what its owner works with.

import { type Db, sql } from '../src/data/engine/db.ts';
import type { User } from '../src/data/identity/users.ts';
import { decimal, ONE } from '../src/domain/decimal.ts';
import type { Member } from '../src/domain/groups.ts';
import type { PublicJwk } from '../src/domain/identity/sealed.ts';
import { type MadeGroup, makeGroup, makeTrader, type Trader } from '../test/orders/kill-harness.ts';
import type { Traits } from './exchange-traits.ts';
import type { Venue } from './venue.ts';

/** One account. Every user has two, and some have more. */
export interface Desk {
  readonly name: string;
  readonly trader: Trader;
  readonly traits: Traits;
  /** How its book behaves. */
  readonly paper: object;
  /** Every order is filled as it comes, or a moment later; otherwise it rests, or is refused. */
  readonly isFilling: boolean;
  /** Where its strategy stands, by symbol, which says so with every alert; null: its alerts say only what to do. */
  readonly strategy: Map<string, number> | null;
  /** Signals that come at nearly the same time. With one, the order of signals is that of trading. */
  readonly burst: number;
  /** Many of its entries ask for stops and targets. The others are as they would be if there were none of that. */
  readonly protects: boolean;
  /** Its entries wait for a price, and are replaced, cancelled, or left until their time is over. */
  readonly rests: boolean;
  /** It has no signals of its own: those of its group reach it. */
  readonly isMember: boolean;
}

/** Accounts of one user that one signal is for. */
export interface Team {
  readonly made: MadeGroup;
  readonly members: readonly { readonly desk: Desk; readonly member: Member }[];
}

const CASH = { starting_cash: 1e12 };
/** As at the end of a bar: several strategies of one user speak within a moment, about one symbol. */
const BURST = 5;

type Kind = readonly [name: string, settings: object, isFilling: boolean];

/** Most brokers are well; of some the answers are lost, some rest, cancel or refuse. */
const KINDS: readonly Kind[] = [
  ['well', { latency_ms: 5 }, true],
  ['well', { latency_ms: 0 }, true],
  ['well', { latency_ms: 25 }, true],
  ['deaf', { latency_ms: 2, lose_answer: true }, true],
  ['well', { latency_ms: 10 }, true],
  ['resting', { latency_ms: 1, fill: 'never' }, false],
  ['well', { latency_ms: 3 }, true],
  ['cancelling', { latency_ms: 1, fill: 'cancel' }, false],
  ['well', { latency_ms: 8 }, true],
  ['partial', { latency_ms: 1, fill: 'partial' }, false],
  ['well', { latency_ms: 1 }, true],
  ['refusing', { latency_ms: 1, reject: 'insufficient_margin' }, true],
];
/** Of accounts whose entries wait for a price: nothing can be said of when they are filled. */
const RESTING: readonly Kind[] = [
  ['patient', { latency_ms: 3 }, false],
  ['patient in parts', { latency_ms: 1, fill: 'partial' }, false],
  ['patient and deaf', { latency_ms: 2, lose_answer: true }, false],
  ['patient', { latency_ms: 15 }, false],
  ['patient for nothing', { latency_ms: 1, fill: 'never' }, false],
  ['patient, cancelled', { latency_ms: 1, fill: 'cancel' }, false],
];
/** Of the accounts of a group, in its order. */
const MEMBERS: readonly Kind[] = [
  ['member', { latency_ms: 4 }, false],
  ['deaf member', { latency_ms: 2, lose_answer: true }, false],
  ['refusing member', { latency_ms: 1, reject: 'insufficient_margin' }, false],
];
const FACTORS = [ONE, decimal(2), decimal('0.5')] as const;

/** Every other user lets entries rest, and every fourth has a group, of three accounts or of two. */
const restsAt = (n: number): boolean => n % 2 === 1;
const hasGroup = (n: number): boolean => n % 4 === 2;
const membersAt = (n: number): number => (n % 8 === 2 ? 3 : 2);

/**
 * Half of the users are at the distant exchange; their second accounts are without reduce-only there, and those of the others
 * with a careless broker.
 */
export async function openDesks(
  db: Db,
  users: number,
  { venue, key }: { venue: Venue; key: PublicJwk },
): Promise<{ readonly desks: readonly Desk[]; readonly teams: readonly Team[] }> {
  const desks: Desk[] = [];
  const teams: Team[] = [];
  /** Of those that protect. */
  let nth = 0;

  async function openDesk(
    name: string,
    [, settings, isFilling]: Kind,
    as: Pick<Desk, 'traits' | 'protects'> & Partial<Desk> & { readonly protection?: string | undefined },
    of?: User,
  ): Promise<Desk> {
    const { protection, protects, ...more } = as;
    const traits = protects ? protectedTraits(as.traits, venue, nth++) : as.traits;
    const paper = { ...CASH, ...settings, ...(protection && { protection }) };
    const elsewhere = { brokerName: venue.broker, seal: (owner: Owner) => venue.seal(owner, key) };
    const desk: Desk = {
      ...{ name, paper, isFilling, strategy: null, burst: 1, rests: false, isMember: false },
      ...more,
      ...{ traits, protects },
      trader: await (venue.isPaper ? makeTrader(db, paper, of) : makeTrader(db, null, of, elsewhere)),
    };
    desks.push(desk);
    return desk;
  }

  for (let n = 0; n < users; n++) {
    const isDistant = Math.floor(n / KINDS.length) % 2 === n % 2;
    const { near, far, second: different } = venue;
    const [first, second] = isDistant
      ? [far, { ...far, ...different.far }]
      : [near, { ...near, ...different.near }];
    const open = (which: 'a' | 'b', plain: Traits, of?: User): Promise<Desk> => {
      const kind = KINDS[(which === 'a' ? n : n + 5) % KINDS.length] as Kind;
      const isWell = kind[0] === 'well';
      const protects = venue.stops !== null && (Math.floor(n / 2) + (which === 'a' ? 0 : 1)) % 2 === 0;
      const how = {
        traits: plain,
        protects,
        protection: protects ? PROTECTIONS[kind[0] === 'deaf' ? 'deaf' : n % 8] : undefined,
        // One at a time: a strategy's alerts come in the order of its trades.
        strategy: isWell && which === 'a' && n % 3 !== 0 ? new Map<string, number>() : null,
        burst: isWell && n % 3 === (which === 'a' ? 0 : 1) ? BURST : 1,
      };
      return openDesk(`${kind[0]} ${n + 1}${which}`, kind, how, of);
    };
    const one = await open('a', first);
    const { user } = one.trader;
    if (one.strategy)
      await db.commit([
        sql`update trading_accounts set out_of_sync = 'follow' where id = ${one.trader.account.id}`,
      ]);
    await open('b', second, user);
    if (restsAt(n) && venue.letsRest) {
      const at = Math.floor(n / 2);
      const kind = RESTING[at % RESTING.length] as Kind;
      const protects = venue.stops !== null && at % 3 !== 2;
      await openDesk(`${kind[0]} ${n + 1}c`, kind, { traits: first, protects, rests: true }, user);
    }
    if (!hasGroup(n)) continue;
    const members: Desk[] = [];
    for (const kind of MEMBERS.slice(0, membersAt(n))) {
      const traits = members.length % 2 === 0 ? first : second;
      const how = { traits, protects: false, isMember: true };
      members.push(await openDesk(`${kind[0]} ${n + 1}${'def'[members.length]}`, kind, how, user));
    }
    teams.push(await openTeam(db, members, venue));
  }
  return { desks, teams };
}

type Owner = Parameters<Venue['seal']>[0];

/** The second one has another name for the first symbol: it trades the second one then. */
async function openTeam(db: Db, desks: readonly Desk[], { symbols }: Venue): Promise<Team> {
  const [from = '', to = ''] = symbols;
  const made = await makeGroup(
    db,
    desks.map(({ trader }) => trader),
    (index) => ({ factor: FACTORS[index] ?? ONE, symbols: index === 1 ? { [from]: to } : {} }),
  );
  const members = desks.map((desk, index) => ({ desk, member: made.group.members[index] as Member }));
  return { made, members };
}

/** What some exchanges do with stops, beside the losing of answers: this one takes none. */
const PROTECTIONS: Readonly<Record<string | number, string>> = { deaf: 'lose_answer', 7: 'refuse' };

/**
 * At the paper exchange every kind of stop is kept by somebody. What nobody may reduce by mistake has to be reserved: such an
 * account's targets would open the other side.
 */
function protectedTraits(traits: Traits, { stops }: Venue, nth: number): Traits {
  if (!stops) return traits;
  const kinds = traits.reduceOnly ? stops.kinds : stops.reserving;
  return { ...traits, ...kinds[nth % kinds.length] };
}
