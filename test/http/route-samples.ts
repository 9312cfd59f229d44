// A request for every route that would be answered well if only the caller is the right one. A route that takes an id
// or a body needs one here, or the route matrix fails and names it.

import { randomUUIDv7 } from 'node:crypto';
import { createTokens, hashToken } from '../../src/app/identity/tokens.ts';
import { sql } from '../../src/data/engine/db.ts';
import { insertRefreshToken } from '../../src/data/identity/sessions.ts';
import { leaveProtections } from '../../src/data/orders/protections-left.ts';
import { plainRecoveryCode, stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Headers, makeApiKey, makeSession, SIGNED } from '../accounts/credentials.ts';
import { TELEGRAM } from '../notify/desk.ts';
import { PASSWORD, type Trader, type World } from '../world.ts';

export interface Sample {
  /** For the places in the route's URL. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
  /** The status of the right caller, where it is an error all the same. */
  readonly status?: number;
  /** Names a thing of its owner that nobody else has; without this said, what has an id in its URL does. */
  readonly owned?: boolean;
}

/** Whose request it is; on an open route, a user that the request is about. */
export interface Owner {
  readonly world: World;
  readonly trader: Trader;
}

export type MakeSample = (owner: Owner) => Sample | Promise<Sample>;

const NEW_PASSWORD = 'another horse, another staple';
const TOTP_SECRET = Buffer.alloc(20, 3);
const RECOVERY_CODE = () => `TEST-${randomUUIDv7()}`;

const ofAccount =
  (body?: unknown): MakeSample =>
  ({ trader }) => ({ params: { id: trader.account.id }, ...(body === undefined ? {} : { body }) });

const order: MakeSample = async ({ world, trader }) => {
  const { body } = await world.send(trader, {}, { query: '?simulation=true' });
  return { params: { id: body.order_id } };
};

/** A group of two of the trader's accounts. */
const ofGroup =
  (body?: unknown): MakeSample =>
  async ({ world, trader }) => {
    const other = await world.addAccount(trader);
    const members = [trader, other].map(({ account }) => ({ trading_account_id: account.id }));
    const made = await world.as<{ id: string }>(trader, 'POST', '/trading/groups', { name: 'Both', members });
    return { params: { id: made.body.id }, ...(body === undefined ? {} : { body }) };
  };

/** An order that waits for its fill. */
const resting: MakeSample = async ({ world, trader }) => {
  await world.setPaper(trader, { fill: 'never' });
  const { body } = await world.send(trader);
  return { params: { id: body.order_id } };
};

/** A position with a stop. */
const protection: MakeSample = async ({ world, trader }) => {
  const { body } = await world.send(trader, { stop_loss: '5%' }, { query: '?simulation=true' });
  return { params: { id: body.protection?.id ?? '' } };
};

/** One that nobody looks after. */
const leftProtection: MakeSample = async (owner) => {
  const sample = await protection(owner);
  await owner.world.db.commit([leaveProtections('restored', timestamp(Date.now()), owner.trader.account.id)]);
  return sample;
};

/** Fill verification has given it up. */
const givenUp: MakeSample = async (owner) => {
  const { params } = await resting(owner);
  await owner.world.db.commit([
    sql`update fill_checks set state = 'dead_letter', visible_at = null where order_id = ${params?.id ?? ''}`,
  ]);
  return { params: params ?? {}, body: { outcome: 'not_filled' } };
};

/** A strategy has said where it stands. */
const aligned: MakeSample = async ({ world, trader }) => {
  await world.send(trader, { market_position: 'long', market_position_size: 1 });
  return { params: { id: trader.account.id }, body: { symbol: 'BTCUSDT' } };
};

/** Nobody is asked for it: what it leads to is no address of the public internet. */
const destination: MakeSample = async ({ world, trader }) => {
  const body = { kind: 'webhook', name: 'Mine', events: ['fill'], url: 'https://127.0.0.1/hook' };
  const made = await world.inSession<{ id: string }>(trader, 'POST', '/settings/notifications', body);
  return { params: { id: made.body.id } };
};

const signal: MakeSample = async ({ world, trader }) => {
  await world.send(trader, {}, { query: '?simulation=true' });
  const { body } = await world.as<{ items: { id: string }[] }>(trader, 'GET', '/trading/signals');
  return { params: { id: body.items[0]?.id ?? '' } };
};

const otherUser: MakeSample = async ({ world }) => ({ params: { id: (await world.makeTrader()).user.id } });

/** A second factor that is enrolled, and confirmed or not. */
async function secondFactor({ world, trader }: Owner, confirmed: boolean): Promise<string> {
  const now = timestamp(world.clock.now());
  const code = RECOVERY_CODE();
  await world.db.commit([
    sql`insert into second_factors (user_id, totp_secret, created_at, confirmed_at, last_step)
        values (${trader.user.id}, ${world.secrets.seal(TOTP_SECRET.toString('base64url'), trader.user.id)}, ${now},
          ${confirmed ? now : null}, 0)`,
    sql`insert into recovery_codes (code_hash, user_id)
        values (${hashToken(plainRecoveryCode(code))}, ${trader.user.id})`,
  ]);
  return code;
}

async function sealedCredentials({ world, trader }: Owner): Promise<string> {
  const { CompactEncrypt, importJWK } = await import('jose');
  const { body: key } = await world.request<Record<string, string>>({
    method: 'GET',
    url: '/auth/public-key',
  });
  const content = {
    user_id: trader.user.id,
    trading_account_id: trader.account.id,
    credentials: { api_key: 'x', api_secret: 'y' },
  };
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid ?? '' })
    .encrypt(await importJWK(key, 'ECDH-ES'));
}

export const SAMPLES: Readonly<Record<string, MakeSample>> = {
  'POST /webhook/:token/order': ({ world, trader }) => ({
    params: { token: trader.account.webhookToken },
    body: world.signal(trader),
  }),

  'POST /trading/order': ({ trader }) => ({
    owned: true,
    body: {
      trading_account_id: trader.account.id,
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 1,
      simulation: true,
    },
  }),
  'GET /trading/orders/:id': order,
  'GET /trading/orders/:id/story': order,
  'POST /trading/orders/:id/look': resting,
  'POST /trading/orders/:id/cancel': resting,
  'POST /trading/orders/:id/settle': givenUp,
  'GET /trading/protections/:id': protection,
  'POST /trading/protections/:id/look': protection,
  'POST /trading/protections/:id/resume': leftProtection,
  'GET /trading/performance': () => ({ query: '?simulation=true' }),
  'GET /trading/trades/summary': () => ({ query: '?simulation=true' }),
  'GET /trading/trades/:id': order,

  'POST /trading/accounts': () => ({ body: { name: 'Paper', broker: 'paper' } }),
  'GET /trading/accounts/:id': ofAccount(),
  'PATCH /trading/accounts/:id': ofAccount({ name: 'Renamed' }),
  'DELETE /trading/accounts/:id': ofAccount(),
  'POST /trading/groups': async ({ world, trader }) => {
    const other = await world.addAccount(trader);
    const members = [trader, other].map(({ account }) => ({ trading_account_id: account.id }));
    return { body: { name: 'Both', members }, owned: true };
  },
  'GET /trading/groups/:id': ofGroup(),
  'PATCH /trading/groups/:id': ofGroup({ name: 'Two' }),
  'DELETE /trading/groups/:id': ofGroup(),
  'GET /trading/groups/:id/webhook-secret': ofGroup(),
  'POST /trading/groups/:id/webhook-secret': ofGroup(),
  'POST /trading/groups/:id/webhook-token': ofGroup(),
  'POST /trading/groups/:id/check': ofGroup({ message: '{"action": "buy"}' }),
  'GET /trading/accounts/:id/webhook-secret': ofAccount(),
  'POST /trading/accounts/:id/webhook-secret': ofAccount(),
  'POST /trading/accounts/:id/webhook-token': ofAccount(),
  'PUT /trading/accounts/:id/credentials': async (owner) => ({
    params: { id: owner.trader.account.id },
    body: { sealed: await sealedCredentials(owner) },
  }),
  'POST /trading/accounts/:id/verify': ofAccount(),
  'GET /trading/accounts/:id/positions': ofAccount(),
  'POST /trading/accounts/:id/align': aligned,
  'POST /trading/accounts/:id/check': ofAccount({ message: '{"action": "buy"}' }),
  'GET /trading/signals/:id': signal,
  'POST /trading/order/plan': ({ trader }) => ({
    body: { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
    owned: true,
  }),
  'GET /trading/accounts/:id/simulation/positions': ofAccount(),
  'POST /trading/accounts/:id/simulation/reset': ofAccount(),
  'GET /trading/accounts/:id/balance': ofAccount(),
  'GET /trading/accounts/:id/quote': ({ trader }) => ({
    params: { id: trader.account.id },
    query: '?symbol=BTCUSDT',
  }),
  'GET /trading/accounts/:id/candles': ({ trader }) => ({
    params: { id: trader.account.id },
    query: '?symbol=BTCUSDT&interval=1h',
  }),
  'GET /trading/accounts/:id/open-orders': ofAccount(),
  'GET /trading/accounts/:id/symbols': ofAccount(),
  'POST /trading/accounts/:id/halt': ofAccount({ flatten: false }),
  'POST /trading/accounts/:id/resume': ofAccount(),

  'POST /settings/api-keys': () => ({ body: { name: 'another' } }),
  'DELETE /settings/api-keys/:id': async ({ world, trader }) => ({
    params: { id: (await makeApiKey(world, trader.user)).id },
  }),
  'POST /settings/allowed-ips': () => ({ body: { ip_address: '127.0.0.1' } }),
  'DELETE /settings/allowed-ips/:id': async ({ world, trader }) => {
    const id = randomUUIDv7();
    await world.db.commit([
      sql`insert into user_allowed_ips (id, user_id, ip_address, label, created_at)
          values (${id}, ${trader.user.id}, '127.0.0.1', null, ${timestamp(world.clock.now())})`,
    ]);
    return { params: { id } };
  },
  'POST /settings/notifications': () => ({ body: { ...TELEGRAM, name: 'Phone', events: ['fill'] } }),
  'GET /settings/notifications/:id': destination,
  'PATCH /settings/notifications/:id': async (owner) => ({
    ...(await destination(owner)),
    body: { paused: true },
  }),
  'DELETE /settings/notifications/:id': destination,
  'POST /settings/notifications/:id/test': destination,
  'GET /settings/notifications/:id/deliveries': destination,
  'POST /settings/terms': () => ({ body: { version: '1' } }),

  'POST /auth/register': () => ({
    body: { email: `${randomUUIDv7()}@example.com`, password: PASSWORD },
  }),
  'POST /auth/login': ({ trader }) => ({ body: { email: trader.user.email, password: PASSWORD } }),
  'POST /auth/login/totp': async (owner) => {
    const code = await secondFactor(owner, true);
    const { email } = owner.trader.user;
    const { body } = await owner.world.request<{ login_token: string }>({
      method: 'POST',
      url: '/auth/login',
      body: { email, password: PASSWORD },
    });
    return { body: { login_token: body.login_token, code } };
  },
  'POST /auth/token': ({ trader }) => ({
    body: { grant_type: 'password', username: trader.user.email, password: PASSWORD },
  }),
  'POST /auth/silent-refresh': async ({ world, trader }) => {
    const { id } = await makeSession(world, trader.user);
    const tokens = createTokens({ secret: SIGNED.JWT_SECRET, clock: world.clock });
    const token = tokens.issue('refresh', { user: trader.user.id, session: id }, 60_000);
    const expiresAt = timestamp(world.clock.now() + 60_000);
    await world.db.commit([insertRefreshToken({ tokenHash: hashToken(token), sessionId: id, expiresAt })]);
    return { headers: { cookie: `refresh_token=${token}` } };
  },
  'POST /auth/forgot-password': ({ trader }) => ({ body: { email: trader.user.email } }),
  'POST /auth/reset-password': async ({ world, trader }) => {
    const token = randomUUIDv7();
    await world.db.commit([
      sql`insert into password_resets (token_hash, user_id, expires_at)
          values (${hashToken(token)}, ${trader.user.id}, ${timestamp(world.clock.now() + 60_000)})`,
    ]);
    return { body: { token, password: NEW_PASSWORD } };
  },
  'POST /auth/verify-email': async ({ world, trader }) => {
    const token = randomUUIDv7();
    const { id, email } = trader.user;
    await world.db.commit([
      sql`update users set email_verified = ${false} where id = ${id}`,
      sql`insert into email_claims (token_hash, email, user_id, expires_at)
          values (${hashToken(token)}, ${email}, ${id}, ${timestamp(world.clock.now() + 60_000)})`,
    ]);
    return { body: { token } };
  },
  'POST /auth/verify-email/resend': async ({ world, trader }) => {
    await world.db.commit([sql`update users set email_verified = ${false} where id = ${trader.user.id}`]);
    return {};
  },
  'DELETE /auth/sessions/:id': async ({ world, trader }) => ({
    params: { id: (await makeSession(world, trader.user)).id },
  }),
  'POST /auth/totp/enrol': () => ({ body: { password: PASSWORD } }),
  'POST /auth/totp/confirm': async (owner) => {
    await secondFactor(owner, false);
    return { body: { code: totpCode(TOTP_SECRET, stepAt(owner.world.clock.now())) } };
  },
  'POST /auth/password': () => ({ body: { current_password: PASSWORD, password: NEW_PASSWORD } }),
  'POST /auth/totp/disable': async (owner) => {
    await secondFactor(owner, true);
    return { body: { password: PASSWORD } };
  },

  // The matrix has admins already.
  'POST /setup/admin': () => ({ body: { email: 'root@example.com', password: PASSWORD }, status: 409 }),
  'POST /deployment/workers/:user_id/stop': async ({ world }) => {
    const working = await world.makeTrader();
    await world.send(working, {}, { query: '?simulation=true' });
    return { params: { user_id: working.user.id } };
  },
  'POST /deployment/dead-letters/:id/retry': async ({ world }) => {
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, {}, { query: '?simulation=true' });
    // Not due for a while: what is tested is who may ask for it.
    await world.db.commit([
      sql`insert into fill_checks (order_id, user_id, state, attempts, next_at)
          values (${body.order_id}, ${trader.user.id}, 'dead_letter', 4, ${timestamp(world.clock.now())})
          on conflict (order_id) do update set state = 'dead_letter'`,
    ]);
    return { params: { id: body.order_id } };
  },
  'GET /deployment/users/:id': otherUser,
  'PATCH /deployment/users/:id': async (owner) => ({
    ...(await otherUser(owner)),
    body: { plan: 'pro' },
  }),
  'POST /deployment/users/:id/secure': otherUser,
  'DELETE /deployment/sessions/:id': async ({ world }) => {
    const { user } = await world.makeTrader();
    return { params: { id: (await makeSession(world, user)).id } };
  },
  'PUT /deployment/terms': () => ({ body: { version: randomUUIDv7(), text: 'Other terms.' } }),
};
