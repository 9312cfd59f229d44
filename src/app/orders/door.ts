// Where a webhook's token leads: to one account, or to the members of a group. What is asked there once, by whoever knocks: the
// address, the certificate, the payload, and levels 2 and 3.

import type { Db } from '../../data/engine/db.ts';
import type { User } from '../../data/identity/users.ts';
import { findByGroupToken, findByWebhookToken, type GroupTarget } from '../../data/orders/targets.ts';
import { multiply } from '../../domain/decimal.ts';
import { deny } from '../../domain/denial.ts';
import { type Group, isGroupToken, NO_SYMBOLS } from '../../domain/groups.ts';
import { isEntry } from '../../domain/orders/entitlement.ts';
import type { BodyReading, Proof, Signal } from '../../domain/signals/signal.ts';
import { isGenuine } from '../../domain/signals/webhook.ts';
import type { RequestContext } from '../audit/audit.ts';
import { isAllowedIp, type RequestCount } from '../identity/access.ts';
import {
  type Addressee,
  isSecretOf,
  type JudgeDeps,
  type Lock,
  malformed,
  type Refused,
  readFor,
  unproven,
} from './judge-message.ts';

export interface Door {
  readonly user: User;
  /** Of the user's, addresses and CIDR blocks; empty: from anywhere. */
  readonly allowedIps: readonly string[];
  /** Of the account or the group, as its owner calls it. */
  readonly name: string;
  readonly lock: Lock;
  /** null: an account's own. */
  readonly group: Group | null;
  /** Of a group those that are enabled. */
  readonly members: readonly Addressee[];
}

/** Level 1, in one read; null: it leads nowhere. */
export async function findDoor(db: Db, token: string, day: string): Promise<Door | null> {
  if (isGroupToken(token)) {
    const found = await findByGroupToken(db, token, day);
    return found && groupDoor(found);
  }
  const target = await findByWebhookToken(db, token, { day });
  if (!target) return null;
  const { user, account, allowedIps } = target;
  const members = [{ target, factor: account.quantityMultiplier, symbols: NO_SYMBOLS }];
  return { user, allowedIps, name: account.name, lock: account, group: null, members };
}

export const groupDoor = ({ user, allowedIps, group, members }: GroupTarget): Door => ({
  ...{ user, allowedIps, name: group.name, lock: group, group },
  members: members.flatMap(({ member: { enabled, factor, symbols }, target }) =>
    enabled ? [{ target, factor: multiply(factor, target.account.quantityMultiplier), symbols }] : [],
  ),
});

/** A signal as one of its accounts takes it, or why that does not. */
export interface Addressed {
  readonly to: Addressee;
  /** null: it could not understand it. */
  readonly signal: Signal | null;
  /** null: its own checks say nothing against it. */
  readonly refused: Refused | null;
}

export interface Let {
  /** As it was sent. */
  readonly signal: Signal;
  readonly simulation: boolean;
  readonly members: readonly Addressed[];
}

export interface Knock {
  /** The query as received: `?simulation=`. */
  readonly simulation: unknown;
  /** What is wrong with the query besides: a parameter that nobody knows may be meant as a rehearsal. Null: nothing. */
  readonly queryProblem: string | null;
  readonly arrivedAt: number;
  /** The edge says that the sender showed the charting platform's client certificate. */
  readonly hasPlatformCertificate: boolean;
  readonly context: Pick<RequestContext, 'ip'>;
}

/** A stranger learns nothing of what comes later. */
export function checkAtDoor(
  deps: JudgeDeps,
  knock: Knock,
  reading: BodyReading,
  { allowedIps, lock, group, members }: Door,
): Let | (Refused & { readonly signal?: Signal }) {
  const { simulation: flag, queryProblem, arrivedAt: now, context } = knock;
  if (!isAllowedIp(allowedIps, context.ip))
    return {
      check: 'ip',
      denial: deny('webhook_ip_blocked', {
        detail: `${context.ip} is not on the user’s list of allowed IPs.`,
      }),
      metadata: { attack_type: 'ip_not_allowed' },
    };
  const own = group ? undefined : members[0];
  const uncertified = own && withoutCertificate(own, knock);
  if (uncertified) return uncertified;
  if (queryProblem !== null) return malformed(queryProblem);
  const simulation = readFlag(flag);
  if (simulation === null) return malformed('?simulation= takes true, 1, yes, false, 0 or no.');
  const read = members.map((to) => ({
    to,
    ...readFor({ ...to, account: to.target.account }, reading, simulation),
  }));
  const said = read.find(({ signal }) => signal !== null)?.signal ?? null;
  const signal = said && (group ? { ...said, symbol: said.asReceived.symbol } : said);
  // A group's member speaks for itself later; what none of them understands is refused here.
  const unread = group && said ? [] : (read[0]?.refusals ?? []);
  const [refused] = [...unread, ...unproven(deps, lock, reading, { simulation, now })];
  if (refused) return signal ? { ...refused, signal } : refused;
  if (!signal) return group ? NOBODY : malformed('The message could not be understood.');
  if (!group) return { signal, simulation, members: read.map(({ to }) => ({ to, signal, refused: null })) };
  const disabled = !group.enabled && signal.action !== 'sync' && isEntry(signal.intent) ? DISABLED : null;
  return {
    signal,
    simulation,
    members: read.map(({ to, signal: understood, refusals: [refusal = null] }) => ({
      to,
      signal: understood,
      refused: disabled ?? withoutCertificate(to, knock) ?? refusal,
    })),
  };
}

const DISABLED: Refused = { check: 'halt', denial: deny('group_disabled'), metadata: {} };
const NOBODY: Refused = {
  check: 'halt',
  denial: deny('group_disabled', {
    detail: 'No member of the group is enabled: there is no account to trade on.',
    advice: 'Enable a member, or add accounts to the group.',
  }),
  metadata: {},
};

const withoutCertificate = (
  { target }: Addressee,
  { hasPlatformCertificate }: Pick<Knock, 'hasPlatformCertificate'>,
): Refused | null =>
  target.account.requirePlatformCertificate && !hasPlatformCertificate
    ? { check: 'certificate', denial: deny('platform_certificate_missing'), metadata: {} }
    : null;

/** Decided from the body alone, before anything else of it is judged. */
export function senderAt(deps: JudgeDeps, lock: Lock, proof: Proof, now: number): RequestCount {
  const isSecret = (digest: Uint8Array) => isSecretOf(deps, lock, digest);
  return isGenuine(proof, now, { maxRequestAge: lock.maxRequestAge, isSecret }) ? 'own' : 'other';
}

/** Absent is real trading; anything that is not plainly yes or no is never guessed. */
export function readFlag(value: unknown): boolean | null {
  if (value === undefined) return false;
  if (typeof value !== 'string') return null;
  if (/^(?:true|1|yes)$/i.test(value)) return true;
  if (/^(?:false|0|no)$/i.test(value)) return false;
  return null;
}
