// Trading accounts, as their owner makes, changes and deletes them. Another user's account does not exist here: 404.

import { accountStands } from '../../data/accounts/account-stands.ts';
import {
  type Account,
  changeAccount,
  changePaper,
  findAccount,
  insertAccount,
  listAccounts,
} from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { roomFor } from '../../data/identity/room.ts';
import type { User } from '../../data/identity/users.ts';
import {
  type BrokerName,
  environmentOf,
  type MarginMode,
  NEEDS_CREDENTIALS,
  takesMarginMode,
} from '../../domain/brokers.ts';
import { type Decimal, toNumber } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { mergeGuards, showGuards } from '../../domain/guards/settings.ts';
import { type AccountId, isUuid, type SessionId, timestamp, type UserId } from '../../domain/ids.ts';
import {
  hasSamePrices,
  mergePaperSettings,
  type PaperSettings,
  readPaperSettings,
  storedPaperSettings,
} from '../../domain/paper-settings.ts';
import type { TriggerBy, Unprotected } from '../../domain/protection/settings.ts';
import type { OutOfSync } from '../../domain/signals/strategy.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import { MOST_CHARACTERS, onePage, type Page, type PageRequest, pageOf } from '../pages.ts';
import { randomToken, type SecretBox } from '../secret-box.ts';
import {
  MOST_SYMBOLS,
  nobodyChecks,
  noEnvironment,
  noMarginMode,
  notPaper,
  tooManySymbols,
  unreadableSetting,
} from './account-refusals.ts';
import { keptDefaults } from './protection-defaults.ts';
import { type RoomDeps, roomOfUser } from './room.ts';

export interface AccountDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  /** Where the service is reached from outside: webhook URLs begin with it. */
  readonly baseUrl: string;
}

/** Whose account, and by which request. */
export interface Owner {
  readonly id: UserId;
  readonly context: RequestContext;
  /** In which session, where it is one. */
  readonly sessionId?: SessionId;
}

/** One who makes something of which the plan has room for so many. */
export interface Maker extends Owner {
  readonly user: User;
}

export type ShownAccount = ReturnType<typeof showAccount>;
export type WithSecret = ShownAccount & { readonly webhook_secret: string };

function showAccount({ baseUrl }: Pick<AccountDeps, 'baseUrl'>, account: Account) {
  return {
    id: account.id,
    name: account.name,
    broker: account.brokerName,
    environment: account.environment,
    max_request_age: account.maxRequestAge,
    allowed_symbols: account.allowedSymbols,
    out_of_sync: account.outOfSync,
    margin_mode: takesMarginMode(account.brokerName) ? account.marginMode : null,
    guards: showGuards(account.guards),
    protection_defaults: account.protectionDefaults,
    unprotected: account.unprotected,
    trigger_by: account.triggerBy,
    quantity_multiplier: toNumber(account.quantityMultiplier),
    silence_after: account.silenceAfter,
    require_platform_certificate: account.requirePlatformCertificate,
    halted: account.halted,
    broker_credentials_verified: account.credentialsVerified,
    credentials_refused: account.credentialsRefused,
    has_credentials: account.sealedCredentials !== null,
    ...(account.brokerName === 'paper' ? { paper: paperOf(account) } : {}),
    webhook_url: `${baseUrl}/webhook/${account.webhookToken}/order`,
    webhook_token: account.webhookToken,
    created_at: account.createdAt,
  };
}

function paperOf({ id, paper }: Account): PaperSettings {
  const reading = readPaperSettings(paper);
  // They were read by the same rules before they were stored.
  if ('problems' in reading) throw new Error(`the stored paper settings of ${id}: ${reading.problems[0]}`);
  return reading.settings;
}

export async function ownAccount({ db }: { db: Db }, user: UserId, id: string): Promise<Account | Denial> {
  const account = isUuid(id) ? await findAccount(db, id as AccountId) : null;
  return account?.userId === user ? account : noSuchAccount();
}

export const noSuchAccount = (): Denial => deny('not_found', { detail: 'You have no such trading account.' });

export async function readAccounts(
  deps: Pick<AccountDeps, 'db' | 'baseUrl'>,
  user: UserId,
  page: PageRequest,
): Promise<Page<ShownAccount>> {
  const { after, limit } = onePage(page);
  const found = await listAccounts(deps.db.lists, user, {
    after: after as AccountId | null,
    limit,
    bytes: MOST_CHARACTERS,
  });
  return pageOf(found, page, (account) => showAccount(deps, account));
}

export async function readAccount(
  deps: Pick<AccountDeps, 'db' | 'baseUrl'>,
  user: UserId,
  id: string,
): Promise<ShownAccount | Denial> {
  const account = await ownAccount(deps, user, id);
  return isDenial(account) ? account : showAccount(deps, account);
}

export interface NewAccount {
  readonly name: string;
  readonly broker: BrokerName;
  /** undefined: what the broker's accounts are otherwise. */
  readonly environment: string | undefined;
  readonly maxRequestAge: number;
  readonly allowedSymbols: readonly string[];
  readonly outOfSync: OutOfSync;
  /** undefined: not given. */
  readonly marginMode: MarginMode | undefined;
  readonly silenceAfter: number | null;
  /** Those that are to hold entries back; undefined: none. */
  readonly guards: unknown;
  /** By symbol; null: none. */
  readonly protectionDefaults: unknown;
  readonly unprotected: Unprotected;
  readonly triggerBy: TriggerBy;
  readonly quantityMultiplier: Decimal;
  /** undefined: not given. */
  readonly paper: unknown;
}

export async function createAccount(
  deps: AccountDeps & RoomDeps & { readonly secrets: SecretBox },
  owner: Maker,
  { broker, ...fields }: NewAccount,
): Promise<WithSecret | Denial> {
  if (fields.allowedSymbols.length > MOST_SYMBOLS) return tooManySymbols();
  const paper = broker === 'paper' ? readPaperSettings(fields.paper) : null;
  const guards = mergeGuards({}, fields.guards ?? {});
  if ('problems' in guards) return unreadableSetting(guards);
  if (paper && 'problems' in paper) return unreadableSetting(paper);
  if (!paper && fields.paper !== undefined) return notPaper();
  const environment = environmentOf(broker, fields.environment);
  if (environment === null) return noEnvironment(broker);
  if (fields.marginMode !== undefined && !takesMarginMode(broker)) return noMarginMode(broker);
  const defaults = keptDefaults(broker, fields.protectionDefaults);
  if (isDenial(defaults)) return defaults;
  const secret = randomToken();
  const now = deps.clock.now();
  const id = newId() as AccountId;
  const account: Account = {
    id,
    userId: owner.id,
    name: fields.name,
    brokerName: broker,
    environment,
    webhookToken: randomToken(),
    webhookSecret: deps.secrets.seal(secret, id),
    maxRequestAge: fields.maxRequestAge,
    allowedSymbols: fields.allowedSymbols,
    outOfSync: fields.outOfSync,
    marginMode: fields.marginMode ?? 'cross',
    protectionDefaults: defaults.kept,
    unprotected: fields.unprotected,
    triggerBy: fields.triggerBy,
    quantityMultiplier: fields.quantityMultiplier,
    guards: guards.guards,
    silenceAfter: fields.silenceAfter,
    requirePlatformCertificate: false,
    sealedCredentials: null,
    credentialsVerified: !NEEDS_CREDENTIALS[broker],
    credentialsRefused: false,
    halted: false,
    paper: paper && storedPaperSettings(paper.settings),
    connectionVersion: 1,
    credentialsVersion: 1,
    revision: 1,
    createdAt: timestamp(now),
  };
  const lost = await deps.db.commit([
    ...roomFor('accounts', owner.id, roomOfUser(deps, owner.user)),
    insertAccount(account),
    noted(owner, account.id, 'account_created', now, { broker }),
  ]);
  if (lost !== null) return deny('too_many');
  return { ...showAccount(deps, account), webhook_secret: secret };
}

export interface AccountFields {
  readonly name?: string;
  readonly maxRequestAge?: number;
  readonly allowedSymbols?: readonly string[];
  readonly outOfSync?: OutOfSync;
  readonly marginMode?: MarginMode;
  readonly silenceAfter?: number | null;
  readonly requirePlatformCertificate?: boolean;
  /** As a whole: what is not in it is gone. */
  readonly protectionDefaults?: unknown;
  readonly unprotected?: Unprotected;
  readonly triggerBy?: TriggerBy;
  readonly quantityMultiplier?: Decimal;
  /** Merged guard by guard. */
  readonly guards?: unknown;
  /** Merged into what is there. */
  readonly paper?: unknown;
}

/** Paper settings are merged by comparing and setting; so many lost rounds are no longer bad luck. */
const ROUNDS = 20;

export async function updateAccount(
  deps: AccountDeps & {
    readonly checksCertificates: boolean;
    /** What `max_daily_loss` counts from today. */
    beginningOfDay(account: Account): Promise<readonly Statement[] | Denial>;
    /** What waits in its book for a price comes to what it came to up to now; `isJump`: and at the prices of now. */
    settlePaper(account: AccountId, paper: PaperSettings, isJump: boolean): Promise<void>;
  },
  owner: Owner,
  id: string,
  { paper: patch, guards: guardsPatch, ...fields }: AccountFields,
): Promise<ShownAccount | Denial> {
  if ((fields.allowedSymbols?.length ?? 0) > MOST_SYMBOLS) return tooManySymbols();
  if (fields.requirePlatformCertificate && !deps.checksCertificates) return nobodyChecks();
  let beginning: readonly Statement[] | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const account = await ownAccount(deps, owner.id, id);
    if (isDenial(account)) return account;
    if (fields.marginMode !== undefined && !takesMarginMode(account.brokerName))
      return noMarginMode(account.brokerName);
    const unit: Statement[] = [];
    const guards = guardsPatch === undefined ? null : mergeGuards(account.guards, guardsPatch);
    if (guards && 'problems' in guards) return unreadableSetting(guards);
    if (guards) unit.push(accountStands(account), changeAccount(account.id, guards));
    // Another number on the same day counts from where the one before did.
    const isNew = account.guards.max_daily_loss === undefined;
    if (guards && isNew && guards.guards.max_daily_loss !== undefined) {
      const found: readonly Statement[] | Denial = beginning ?? (await deps.beginningOfDay(account));
      if (isDenial(found)) return found;
      beginning = found;
      unit.push(...found);
    }
    const defaults =
      fields.protectionDefaults === undefined
        ? null
        : keptDefaults(account.brokerName, fields.protectionDefaults);
    if (defaults && isDenial(defaults)) return defaults;
    if (Object.keys(fields).length > 0)
      unit.push(
        changeAccount(account.id, { ...fields, ...(defaults && { protectionDefaults: defaults.kept }) }),
      );
    const paper = patch === undefined ? null : mergedPaper(account, patch);
    if (paper && isDenial(paper)) return paper;
    if (paper) {
      await deps.settlePaper(account.id, paper.before, false);
      unit.push(changePaper(account.id, account.connectionVersion, storedPaperSettings(paper.after)));
    }
    const changed = [
      ...Object.keys(fields).map(asShown),
      ...(patch === undefined ? [] : ['paper']),
      ...(guards ? ['guards'] : []),
    ];
    unit.push(noted(owner, account.id, 'account_updated', deps.clock.now(), { changed }));
    const lost = await deps.db.commit(unit);
    if (lost === null) {
      if (paper && !hasSamePrices(paper.before, paper.after))
        await deps.settlePaper(account.id, paper.after, true);
      return readAccount(deps, owner.id, id);
    }
    // Halted, changed or gone since it was read.
    if (lost !== 'version' && !guards) return noSuchAccount();
  }
  return deny('account_changed');
}

function mergedPaper(account: Account, patch: unknown) {
  if (account.brokerName !== 'paper') return notPaper();
  const before = paperOf(account);
  const merged = mergePaperSettings(before, patch);
  if ('problems' in merged) return unreadableSetting(merged);
  return { before, after: merged.settings };
}

/** maxRequestAge → max_request_age: the audit log speaks as the API does. */
export const asShown = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** One change of an own account, with its entry, in one unit; the account as it is afterwards. */
export async function changeOwn(
  deps: AccountDeps,
  owner: Owner,
  id: string,
  action: string,
  change: (account: AccountId) => Statement,
): Promise<ShownAccount | Denial> {
  const account = await ownAccount(deps, owner.id, id);
  if (isDenial(account)) return account;
  const lost = await deps.db.commit([change(account.id), noted(owner, account.id, action, deps.clock.now())]);
  return lost === null ? readAccount(deps, owner.id, id) : noSuchAccount();
}

function noted(
  { id: userId, context }: Owner,
  account: AccountId,
  action: string,
  now: number,
  metadata: Readonly<Record<string, unknown>> = {},
): Statement {
  const resource = { type: 'account', id: account };
  return audit(
    context,
    { userId, action, failure: null, resource, metadata: { trading_account_id: account, ...metadata } },
    now,
  );
}
