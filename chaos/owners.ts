// What users do with an API key of their own: look at positions, verify credentials, pull the kill switch and let go of it.

import { setTimeout as sleep } from 'node:timers/promises';
import { hashToken } from '../src/app/identity/tokens.ts';
import { type Db, sql } from '../src/data/engine/db.ts';
import { insertApiKey } from '../src/data/identity/api-keys.ts';
import { timestamp } from '../src/domain/ids.ts';
import type { Desk } from './desks.ts';

const KEY = 'the-key-of-the-operator-of-this-very-run';
const ANSWER_MS = 20_000;

export interface Owners {
  /** Of an admin. */
  readonly operatorKey: string;
  /** null: no answer, or one that broke off. */
  ask(
    desk: Desk,
    api: { readonly url: string },
    call: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: object },
  ): Promise<Answer | null>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number;
}

/** What a broker takes in a minute may be nearly used up: who is told so asks again as he was told, a few times. */
async function patiently(ask: () => Promise<Answer | null>, times = 5): Promise<Answer | null> {
  const answer = await ask();
  if (answer?.status !== 429 || times === 0) return answer;
  await sleep(answer.retryAfterMs);
  return patiently(ask, times - 1);
}

/** Every account has a key of its user's; the first one's is an admin. */
export async function makeOwners(db: Db, desks: readonly Desk[]): Promise<Owners> {
  const now = timestamp(Date.now());
  const keys = new Map(desks.map((desk, index) => [desk, `${KEY}-${index}`]));
  for (const [{ trader }, key] of keys)
    await db.commit([
      insertApiKey({
        id: crypto.randomUUID(),
        userId: trader.user.id,
        name: 'chaos',
        keyHash: hashToken(key),
        expiresAt: null,
        createdAt: now,
      }),
    ]);
  await db.commit([sql`update users set is_admin = ${true} where id = ${desks[0]?.trader.user.id ?? ''}`]);
  return {
    operatorKey: `${KEY}-0`,
    ask: (desk, { url }, { method, path, body }) =>
      fetch(`${url}/trading/accounts/${desk.trader.account.id}/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${keys.get(desk)}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(body && { body: JSON.stringify(body) }),
      })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as unknown,
          retryAfterMs: Number(response.headers.get('retry-after') ?? 1) * 1_000,
        }))
        .catch(() => null),
  };
}

/** As the API tells them, by account; and of whom it tells nothing. */
export async function readPositions(
  owners: Owners,
  apis: readonly { readonly url: string }[],
  desks: readonly Desk[],
  listingOf: (symbol: string) => string,
) {
  const told = new Map<string, { symbol: string; quantity: number }[]>();
  const problems: string[] = [];
  for (const [index, desk] of desks.entries()) {
    const api = apis[index % apis.length] ?? { url: '' };
    const answer = await patiently(() => owners.ask(desk, api, { method: 'GET', path: 'positions' }));
    if (answer?.status !== 200) {
      problems.push(`the positions of ${desk.name}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      continue;
    }
    const { items } = answer.body as { items: { symbol: string; quantity: number }[] };
    told.set(
      desk.trader.account.id,
      items.map(({ symbol, quantity }) => ({ symbol: listingOf(symbol), quantity })),
    );
  }
  return { told, problems };
}

/** Whose credentials count as refused. Their users verify them again, now that all is well. */
export async function verifyRefused(
  db: Db,
  owners: Owners,
  api: { readonly url: string },
  desks: readonly Desk[],
): Promise<ReadonlySet<string>> {
  const rows = await db.all<{ id: string }>(
    sql`select id from trading_accounts where broker_credentials_verified = ${false}`,
  );
  const refused = new Set(rows.map(({ id }) => id));
  for (const desk of desks)
    if (refused.has(desk.trader.account.id)) await owners.ask(desk, api, { method: 'POST', path: 'verify' });
  return refused;
}
