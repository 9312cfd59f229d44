// What the demo's user has: a login, an API key, and paper accounts with their webhooks.

import type { Answer, Client, Request } from './client.ts';
import { FIRST_PRICES } from './market.ts';

export interface Login {
  readonly email: string;
  readonly password: string;
}

/** Each says of itself what it is. */
const ACCOUNTS = {
  crypto: { name: 'Demo crypto (paper)', paper: { latency_ms: 25 } },
  futures: {
    name: 'Demo futures (paper)',
    paper: { starting_cash: 250_000, latency_ms: 35 },
    guards: { max_order_quantity: { 'ES1!': 3, '*': 10 }, max_price_deviation_percent: 2 },
  },
  shares: { name: 'Demo shares (paper)', paper: { latency_ms: 15 } },
  stops: { name: 'Demo stops (paper)', paper: { latency_ms: 20, price: FIRST_PRICES } },
  badDays: { name: 'Demo bad days (paper)', paper: { latency_ms: 60 }, unprotected: 'alert' },
  halted: { name: 'Demo halted (paper)', paper: {} },
} as const;
export type AccountName = keyof typeof ACCOUNTS;

interface DemoAccount {
  readonly id: string;
  readonly token: string;
  readonly secret: string;
}

export interface Desk {
  readonly login: Login;
  readonly apiKey: string;
  readonly accounts: Readonly<Record<AccountName, DemoAccount>>;
  /** One signal for three of them, one of which is halted. */
  readonly group: DemoAccount;
}

/** Who was asked to do something with which the demo stands or falls. */
async function must(client: Client, request: Request): Promise<Record<string, unknown>> {
  const { status, body } = await client.send(request);
  if (status >= 200 && status < 300) return (body ?? {}) as Record<string, unknown>;
  const detail = (body as { detail?: unknown } | null)?.detail ?? '';
  throw new Error(`The demo could not be set up: ${request.path} answered ${status}. ${detail}`);
}

export interface OwnSession {
  /** With the session's token, and the proof that a change is its own. */
  send(request: Pick<Request, 'method' | 'path' | 'body'>): Promise<Record<string, unknown>>;
  /** Without that proof. */
  sendUnproven(request: Pick<Request, 'method' | 'path' | 'body'>): Promise<Answer>;
}

/** For what only a session may do; it ends with it. */
export async function withSession<Result>(
  client: Client,
  { email, password }: Login,
  work: (session: OwnSession) => Promise<Result>,
): Promise<Result> {
  const { access_token, csrf_token } = await must(client, {
    ...{ method: 'POST', path: '/auth/token', as: 'owner' },
    body: { grant_type: 'password', username: email, password },
  });
  const bearer = { authorization: `Bearer ${access_token}` };
  const proven = { ...bearer, 'x-csrf-token': String(csrf_token) };
  const session: OwnSession = {
    send: (request) => must(client, { ...request, headers: proven, as: 'owner' }),
    sendUnproven: (request) => client.send({ ...request, headers: bearer, as: 'owner' }),
  };
  const result = await work(session);
  await session.send({ method: 'POST', path: '/auth/logout' });
  return result;
}

export async function setUpDesk(client: Client, login: Login): Promise<Desk> {
  await must(client, { method: 'POST', path: '/setup/admin', body: login, as: 'owner' });
  const { version } = await must(client, { method: 'GET', path: '/public/terms', as: 'owner' });
  return withSession(client, login, async ({ send }) => {
    await send({ method: 'POST', path: '/settings/terms', body: { version } });
    const { key } = await send({ method: 'POST', path: '/settings/api-keys', body: { name: 'the demo' } });
    const make = async (name: AccountName): Promise<DemoAccount> => {
      const body = { broker: 'paper', ...ACCOUNTS[name] };
      const made = await send({ method: 'POST', path: '/trading/accounts', body });
      return {
        id: String(made.id),
        token: String(made.webhook_token),
        secret: String(made.webhook_secret),
      };
    };
    const accounts = {
      crypto: await make('crypto'),
      futures: await make('futures'),
      shares: await make('shares'),
      stops: await make('stops'),
      badDays: await make('badDays'),
      halted: await make('halted'),
    };
    const made = await send({
      ...{ method: 'POST', path: '/trading/groups' },
      body: {
        name: 'Demo group',
        members: [
          { trading_account_id: accounts.crypto.id },
          { trading_account_id: accounts.shares.id, factor: 0.5, symbols: { 'SOLUSDT.P': 'SOLUSDT' } },
          { trading_account_id: accounts.halted.id },
        ],
      },
    });
    const group = {
      id: String(made.id),
      token: String(made.webhook_token),
      secret: String(made.webhook_secret),
    };
    return { login, apiKey: String(key), accounts, group };
  });
}
