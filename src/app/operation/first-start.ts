// The first start on an empty database: terms of service that can be accepted, and, outside production, an admin with
// a paper account, so that a newcomer places the first order by pasting one command.

import { randomBytes } from 'node:crypto';
import { insertAccount } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import { insertApiKey } from '../../data/identity/api-keys.ts';
import {
  claimFirstAdmin,
  currentTermsVersion,
  hasUsers,
  insertTerms,
  insertUser,
} from '../../data/identity/users.ts';
import { ONE } from '../../domain/decimal.ts';
import { type AccountId, millis, timestamp, type UserId } from '../../domain/ids.ts';
import { templateWith } from '../../domain/signals/template.ts';
import { audit, OURSELVES } from '../audit/audit.ts';
import type { PasswordHasher } from '../identity/passwords.ts';
import { hashToken } from '../identity/tokens.ts';
import { newId } from '../new-id.ts';
import { randomToken, type SecretBox } from '../secret-box.ts';

export interface FirstUser {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly webhookToken: string;
  readonly webhookSecret: string;
}

const FIRST_TERMS = {
  version: '1',
  text: 'Fillpath sends the orders that your signals ask for to your broker. You decide what is traded; trading can lose money.',
};

interface FirstStartDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly secrets: SecretBox;
  readonly hasher: PasswordHasher;
}

export async function publishFirstTerms({
  db,
  clock,
}: Pick<FirstStartDeps, 'db' | 'clock'>): Promise<string> {
  const current = await currentTermsVersion(db);
  if (current !== null) return current;
  await db.commit([insertTerms({ ...FIRST_TERMS, published_at: timestamp(clock.now()) })]);
  // Not our own constant: another process may have been first.
  return (await currentTermsVersion(db)) ?? FIRST_TERMS.version;
}

/** Null where there are users already. */
export async function seedFirstUser(deps: FirstStartDeps, termsVersion: string): Promise<FirstUser | null> {
  const { db, clock, secrets, hasher } = deps;
  if (await hasUsers(db)) return null;
  const now = timestamp(clock.now());
  const first: FirstUser = {
    email: 'admin@fillpath.local',
    password: randomBytes(12).toString('base64url'),
    apiKey: randomToken(),
    webhookToken: randomToken(),
    webhookSecret: randomToken(),
  };
  const userId = newId() as UserId;
  const accountId = newId() as AccountId;
  const keyId = newId();
  const passwordHash = await hasher.hash(first.password);
  const lost = await db.commit([
    claimFirstAdmin(now),
    insertUser(
      {
        id: userId,
        email: first.email,
        isAdmin: true,
        isActive: true,
        plan: 'desk',
        planExpiresAt: null,
        termsVersion,
        emailVerified: true,
      },
      passwordHash,
      now,
    ),
    insertApiKey({
      id: keyId,
      userId,
      name: 'first start',
      keyHash: hashToken(first.apiKey),
      expiresAt: null,
      createdAt: now,
    }),
    insertAccount({
      id: accountId,
      userId,
      name: 'Paper',
      brokerName: 'paper',
      environment: 'live',
      webhookToken: first.webhookToken,
      webhookSecret: secrets.seal(first.webhookSecret, accountId),
      maxRequestAge: 300,
      allowedSymbols: [],
      outOfSync: 'hold',
      marginMode: 'cross',
      protectionDefaults: null,
      unprotected: 'close',
      triggerBy: 'last',
      quantityMultiplier: ONE,
      guards: {},
      silenceAfter: null,
      requirePlatformCertificate: false,
      sealedCredentials: null,
      credentialsVerified: true,
      credentialsRefused: false,
      halted: false,
      paper: {},
      connectionVersion: 1,
      credentialsVersion: 1,
      revision: 1,
      createdAt: now,
    }),
    audit(
      OURSELVES,
      {
        userId,
        action: 'first_admin',
        failure: null,
        resource: { type: 'user', id: userId },
        metadata: { by: 'first start', api_key_id: keyId, trading_account_id: accountId },
      },
      millis(now),
    ),
  ]);
  // Another process has made the first user meanwhile.
  return lost === null ? first : null;
}

/** What the first start prints. Each command works as it stands: the shell puts the present time into the signal. */
export function welcome(first: FirstUser, address: string): string {
  const webhook = `${address}/webhook/${first.webhookToken}/order`;
  const real = `{"action":"buy","symbol":"BTCUSDT","quantity":0.01,"timestamp":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","secret":"${first.webhookSecret}"}`;
  return `
Fillpath has made a first user. This is shown once; keep it.

  address   ${address}
  API docs  ${address}/docs
  email     ${first.email}
  password  ${first.password}
  API key   ${first.apiKey}

Place a simulated order through the webhook:

curl -sS '${webhook}?simulation=true' -d '{"action":"buy","symbol":"BTCUSDT","quantity":0.01}'

Place an order on the paper account:

curl -sS '${webhook}' -d '${real}'

The message for a strategy's alert on the charting platform, whose webhook URL is ${webhook}:

${templateWith(first.webhookSecret)}

See your orders:

curl -sS '${address}/trading/orders' -H 'Authorization: Bearer ${first.apiKey}'
`;
}
