// What is asked of an account's broker, always through the user's worker: are the credentials good, what is held, what
// can be traded.

import { TRADABLE } from '../../broker/broker.ts';
import { type Account, changeAccountAt } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import { ordersOf } from '../../data/orders/own-legs.ts';
import { NEEDS_CREDENTIALS } from '../../domain/brokers.ts';
import { toNumber } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial, ruleOf } from '../../domain/denial.ts';
import { type AccountId, timestamp, type UserId } from '../../domain/ids.ts';
import type { Mailbox, Work } from '../../worker/host/mailbox.ts';
import type { Pool } from '../../worker/host/pool.ts';
import { audit, writeAudit } from '../audit/audit.ts';
import type { Page, PageRequest } from '../pages.ts';
import { type AccountDeps, type Owner, ownAccount, readAccount, type ShownAccount } from './accounts.ts';
import { identified, type OtherAccountDeps } from './other-account.ts';

export interface AskDeps {
  readonly pool: Pool;
  readonly mailbox: Pick<Mailbox, 'ask'>;
  readonly responseWaitMs: number;
}

type Enquiry =
  | 'verify'
  | 'positions'
  | 'balance'
  | 'quote'
  | 'candles'
  | 'openOrders'
  | 'flatten'
  | 'symbols'
  | 'plan'
  | 'resetSimulation';

/** Nothing was ordered: what asks may ask again. */
const AGAIN = { advice: 'Try again in a moment.' };
export const UPGRADING = deny('worker_unavailable', { ...AGAIN, detail: 'The service is being upgraded.' });

export const NO_SYMBOL = deny('not_found', {
  detail: 'The account’s broker has no such symbol, or it is not traded now.',
  advice: 'The Trade drawer finds what can be traded, and GET /trading/accounts/{id}/symbols lists it.',
});

/** Nobody who trades is held back by it. */
export const LESS = {
  advice: 'Ask less often, and again after the time given in Retry-After. Orders are not held back.',
};

export const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

export async function askWorker<K extends Enquiry>(
  { pool, mailbox, responseWaitMs }: AskDeps,
  user: UserId,
  request: { kind: K } & Work[K]['request'],
): Promise<Exclude<Work[K]['answer'], { readonly unavailable: string }> | Denial> {
  if (!(await pool.ensure(user)))
    return deny('worker_unavailable', {
      ...AGAIN,
      detail: 'No trading worker could be started in time.',
    });
  const answer = await mailbox.ask(user, request, responseWaitMs);
  if (answer === null)
    return deny('worker_unavailable', {
      ...AGAIN,
      detail: 'The trading worker did not answer in time.',
    });
  if ('unavailable' in answer) {
    const { unavailable, retryAfterMs, isLimited = false } = answer;
    const retryAfter = retryAfterMs === undefined ? {} : { retryAfter: secondsOf(retryAfterMs) };
    if (isLimited) return deny('rate_limited', { ...LESS, ...retryAfter, detail: `${unavailable}.` });
    return deny('broker_unavailable', {
      ...AGAIN,
      ...retryAfter,
      detail: `The broker cannot be reached: ${unavailable.replace(/[.\s]+$/, '')}.`,
    });
  }
  return answer as Exclude<Work[K]['answer'], { readonly unavailable: string }>;
}

/** `warnings`: what does not keep the account from trading, in words. */
export type VerifiedAccount = ShownAccount & { readonly warnings: readonly string[] };

interface VerifyDeps extends AskDeps, OtherAccountDeps {
  readonly mailbox: Pick<Mailbox, 'ask' | 'tell'>;
}

/** The worker opens the broker's connection with the account's credentials. */
export async function verifyAccount(
  deps: AccountDeps & VerifyDeps,
  owner: Owner,
  id: string,
): Promise<VerifiedAccount | Denial> {
  const account = await ownAccount(deps, owner.id, id);
  if (isDenial(account)) return account;
  const outcome = await verify(deps, owner, account);
  if (!isDenial(outcome)) {
    const verified = await readAccount(deps, owner.id, id);
    return isDenial(verified) ? verified : { ...verified, warnings: outcome.warnings };
  }
  await writeAudit(deps, owner.context, {
    ...verification(owner, account),
    // Not the broker's words: they answer credentials, and may repeat them.
    failure: ruleOf(outcome.code).title,
    metadata: { code: outcome.code, trading_account_id: account.id },
  });
  return outcome;
}

async function verify(
  deps: VerifyDeps,
  owner: Owner,
  account: Account,
): Promise<Denial | Pick<VerifiedAccount, 'warnings'>> {
  if (NEEDS_CREDENTIALS[account.brokerName] && account.sealedCredentials === null)
    return deny('credentials_missing');
  const verdict = await askWorker(deps, owner.id, {
    kind: 'verify',
    accountId: account.id,
    version: account.connectionVersion,
  });
  if (isDenial(verdict)) return verdict;
  const now = deps.clock.now();
  if ('verified' in verdict) {
    const { noted, isOther } = await identified(deps, owner, account, verdict.identity);
    // Of these very credentials: others may have been stored while the broker was asked.
    const lost = await deps.db.commit([
      changeAccountAt(account.id, verdict.verified, {
        credentials: { verified: true, at: timestamp(now), warnings: verdict.warnings },
      }),
      ...noted,
      audit(owner.context, { ...verification(owner, account), failure: null }, now),
    ]);
    if (lost !== null) return deny('account_changed');
    if (isOther)
      await deps.mailbox
        .tell(owner.id, { kind: 'recover', accountId: account.id, isOther })
        .catch(() => undefined);
    // What nobody looked after until now.
    await deps.mailbox.tell(owner.id, { kind: 'recover' }).catch(() => undefined);
    return { warnings: verdict.warnings };
  }
  // What was verified once and is refused now must not pass for verified; a later change has cleared the flag itself.
  await deps.db.commit([
    changeAccountAt(account.id, account.connectionVersion, {
      credentials: { verified: false, at: timestamp(now), warnings: [] },
    }),
  ]);
  if ('unreadable' in verdict) return deny('credentials_unreadable');
  if ('unfit' in verdict) return deny('account_unfit', { detail: verdict.unfit });
  return deny('credentials_rejected', { detail: `The broker refuses the credentials: ${verdict.rejected}` });
}

const verification = ({ id: userId }: Owner, account: Account) => ({
  userId,
  action: 'credentials_verified',
  resource: { type: 'account', id: account.id },
  metadata: { trading_account_id: account.id },
});

/** Takes back the entries that rest at the broker; what is held then, and which of them may yet be filled. */
export const clearEntries = (deps: AskDeps, user: UserId, accountId: AccountId) =>
  askWorker(deps, user, { kind: 'flatten', accountId, withinMs: deps.responseWaitMs });

export async function heldPositions(
  deps: AskDeps,
  user: UserId,
  { id: accountId, connectionVersion: version }: Pick<Account, 'id' | 'connectionVersion'>,
  { simulation }: { readonly simulation: boolean } = { simulation: false },
) {
  const answer = await askWorker(deps, user, { kind: 'positions', accountId, simulation, version });
  // A worker of the release before lists only what can be traded, and does not say so.
  return isDenial(answer) ? answer : answer.positions.map((position) => ({ ...TRADABLE, ...position }));
}

/** The account's simulated book is flat from now on, as at first. Null: done. */
export async function resetSimulation(
  deps: AccountDeps & AskDeps,
  owner: Owner,
  id: string,
): Promise<Denial | null> {
  const account = await ownAccount(deps, owner.id, id);
  if (isDenial(account)) return account;
  const answer = await askWorker(deps, owner.id, { kind: 'resetSimulation', accountId: account.id });
  const denial = isDenial(answer) ? answer : answer.reset ? null : stillSimulating();
  await writeAudit(deps, owner.context, {
    userId: owner.id,
    action: 'simulation_reset',
    failure: denial,
    resource: { type: 'account', id: account.id },
    metadata: { trading_account_id: account.id, ...(denial ? { code: denial.code } : {}) },
  });
  return denial;
}

const stillSimulating = (): Denial =>
  deny('orders_under_way', { advice: 'Wait until its simulated orders have ended, then reset it again.' });

export async function readBalance(deps: AskDeps & { readonly db: Db }, user: UserId, id: string) {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  const { id: accountId, connectionVersion: version } = account;
  const answer = await askWorker(deps, user, { kind: 'balance', accountId, version });
  if (isDenial(answer)) return answer;
  const { currency, equity, cash, available } = answer.balance;
  return {
    currency,
    equity: toNumber(equity),
    cash: toNumber(cash),
    available: toNumber(available),
  };
}

export async function readQuote(
  deps: AskDeps & { readonly db: Db },
  user: UserId,
  id: string,
  asked: { readonly symbol: string; readonly simulation: boolean },
) {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  if (!deps.pool.allKnow('enquiries')) return UPGRADING;
  const { id: accountId, connectionVersion: version } = account;
  const answer = await askWorker(deps, user, { kind: 'quote', accountId, version, ...asked });
  if (isDenial(answer)) return answer;
  if (!answer.quote) return NO_SYMBOL;
  const { symbol, bid, ask } = answer.quote;
  return { symbol, bid: toNumber(bid), ask: toNumber(ask) };
}

/** Those that have not ended at the broker, whoever sent them. */
export async function readOpenOrders(deps: AskDeps & { readonly db: Db }, user: UserId, id: string) {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  if (!deps.pool.allKnow('enquiries')) return UPGRADING;
  const { id: accountId, connectionVersion: version } = account;
  const answer = await askWorker(deps, user, { kind: 'openOrders', accountId, version });
  if (isDenial(answer)) return answer;
  const orderOf = await ordersOf(deps.db.lists, user, answer.openOrders);
  return {
    items: answer.openOrders.map((order) => ({
      symbol: order.symbol,
      side: order.side,
      quantity: toNumber(order.quantity),
      fill_quantity: toNumber(order.fillQuantity),
      reduce_only: order.reduceOnly,
      broker_ref: order.brokerRef,
      client_order_id: order.clientOrderId,
      order_id: orderOf(order),
    })),
  };
}

export async function readSymbols(
  deps: AskDeps & { readonly db: Db },
  user: UserId,
  id: string,
  { query, cursor, limit }: PageRequest & { readonly query: string },
): Promise<Page<object> | Denial> {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  const search = { accountId: account.id, query, after: cursor, limit };
  const answer = await askWorker(deps, user, { kind: 'symbols', ...search });
  if (isDenial(answer)) return answer;
  const { instruments, hasMore } = answer;
  return {
    items: instruments.map((instrument) => ({
      symbol: instrument.symbol,
      description: instrument.description,
      contract_size: toNumber(instrument.contractSize),
      quantity_step: toNumber(instrument.quantityStep),
      min_quantity: toNumber(instrument.minQuantity),
      tick_size: toNumber(instrument.tickSize),
      open: instrument.open,
      next_open: instrument.nextOpen,
    })),
    next_cursor: hasMore ? (instruments.at(-1)?.symbol ?? null) : null,
  };
}
