// Those who meet at a running product: its admin, users who registered as anybody can, and whoever attacks them. Each
// speaks HTTP from an address of its own.

import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { ORIGIN, type Product } from './product.ts';

export interface Question {
  readonly method?: string;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whose address: a number of ours; or what a trusted proxy says, and null where it says nothing. */
  readonly from?: number | string | null;
  /** A connection of its own. */
  readonly fresh?: boolean;
  readonly timeoutMs?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any route of any version
type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body's fields; none where it is no JSON. */
  readonly body: Json;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly from: number;
  /** In a session. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface TradingAccount {
  readonly id: string;
  readonly webhook_token: string;
  readonly webhook_secret: string;
}

export const PASSWORD = 'a horse, a staple, a battery';

export type Desk = Awaited<ReturnType<typeof openDesk>>;

export async function openDesk(product: Product) {
  const isProduction = product.mode === 'production';
  const agents = new Map<string, Agent>();
  const agentOf = (key: string): Agent => {
    const agent = agents.get(key) ?? new Agent({ keepAlive: true, maxSockets: 64 });
    agents.set(key, agent);
    return agent;
  };
  let addresses = 0;
  /** Nobody has used it: what is counted of one does not count for another. */
  const newAddress = (): number => ++addresses;

  /** Where it connects from, and whom the proxy names. */
  function placeOf(from: number | string | null): { localAddress: string; headers: Record<string, string> } {
    if (typeof from === 'string') return { localAddress: '127.0.0.1', headers: { 'x-forwarded-for': from } };
    if (from === null) return { localAddress: '127.0.0.1', headers: {} };
    const ends = `${from >> 8}.${from & 255}`;
    if (!isProduction) return { localAddress: `127.7.${ends}`, headers: {} };
    return { localAddress: '127.0.0.1', headers: { 'x-forwarded-for': `198.18.${ends}` } };
  }

  function ask(path: string, question: Question = {}): Promise<Answer> {
    const { method, body, headers = {}, from = 1, fresh = false, timeoutMs = 30_000 } = question;
    const place = placeOf(from);
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: product.port,
          path,
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          localAddress: place.localAddress,
          agent: fresh ? new Agent() : agentOf(place.localAddress),
          timeout: timeoutMs,
          headers: {
            ...place.headers,
            ...(isProduction ? { origin: ORIGIN } : {}),
            ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
            ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () => {
            const read = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: read,
              body: fieldsOf(read),
            });
          });
        },
      );
      outgoing.once('error', reject);
      outgoing.once('timeout', () => outgoing.destroy(new Error('no answer')));
      outgoing.end(text);
    });
  }

  /** Fails where the answer is another one: the attack would be none. */
  async function must(status: number, answering: Promise<Answer>): Promise<Answer> {
    const answer = await answering;
    if (answer.status !== status)
      throw new Error(`not ${status} but ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer;
  }

  async function enter(email: string, password: string, from: number | string) {
    const body = { grant_type: 'password', username: email, password };
    const { body: entered } = await must(200, ask('/auth/token', { body, from }));
    return (method: string, path: string, given?: unknown): Promise<Answer> =>
      ask(path, {
        method,
        from,
        ...(given === undefined ? {} : { body: given }),
        headers: { authorization: `Bearer ${entered.access_token}`, 'x-csrf-token': entered.csrf_token },
      });
  }

  const byKey =
    (key: string, from: number | string) =>
    (method: string, path: string, body?: unknown): Promise<Answer> =>
      ask(path, {
        method,
        from,
        ...(body === undefined ? {} : { body }),
        headers: { authorization: `Bearer ${key}` },
      });

  /** From loopback, as the defaults want it. */
  async function openAdmin() {
    if (product.adminKey !== undefined) return byKey(product.adminKey, newAddress());
    const admin = { email: 'admin@example.com', password: PASSWORD };
    await must(201, ask('/setup/admin', { body: admin, from: '127.0.0.1' }));
    return enter(admin.email, admin.password, '127.0.0.1');
  }
  let admin: ReturnType<typeof openAdmin> | undefined;

  const desk = {
    product,
    newAddress,
    placeOf,
    ask,
    must,
    enter,
    byKey,
    async admin(method: string, path: string, body?: unknown): Promise<Answer> {
      admin ??= openAdmin();
      return (await admin)(method, path, body);
    },
    /** As anybody can become one; `plan` is given by the admin. */
    async person(plan?: string): Promise<Person> {
      const from = newAddress();
      const email = `${randomUUID()}@example.com`;
      const body = { email, password: PASSWORD, accept_terms: true };
      const { body: made } = await must(201, ask('/auth/register', { body, from }));
      if (plan) await must(200, desk.admin('PATCH', `/deployment/users/${made.user.id}`, { plan }));
      const session = await enter(email, PASSWORD, from);
      return { id: made.user.id, email, password: PASSWORD, from, ask: session };
    },
    async account(owner: Pick<Person, 'ask'>, fields: object = {}): Promise<TradingAccount> {
      const body = { name: 'Paper', broker: 'paper', paper: { latency_ms: 0 }, ...fields };
      return (await must(201, owner.ask('POST', '/trading/accounts', body))).body;
    },
    async apiKey(owner: Pick<Person, 'ask'>): Promise<string> {
      return (await must(201, owner.ask('POST', '/settings/api-keys', { name: 'stolen' }))).body.key;
    },
    signal: signalOf,
    webhook(
      account: Pick<TradingAccount, 'webhook_token'>,
      body: unknown,
      question: Question & { query?: string } = {},
    ) {
      const { query = '', ...rest } = question;
      return ask(`/webhook/${account.webhook_token}/order${query}`, { ...rest, body: JSON.stringify(body) });
    },
    async held(
      owner: Pick<Person, 'ask'>,
      account: TradingAccount,
    ): Promise<readonly { symbol: string; quantity: number }[]> {
      return (await must(200, owner.ask('GET', `/trading/accounts/${account.id}/positions`))).body.items;
    },
    close(): void {
      for (const agent of agents.values()) agent.destroy();
    },
  };
  return desk;
}

let signals = 0;

/** A genuine signal, made now, and no replay of another. */
export function signalOf(account: Pick<TradingAccount, 'webhook_secret'>, fields: object = {}) {
  const timestamp = new Date().toISOString().replace('Z', `${String(++signals).padStart(6, '0')}Z`);
  return {
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 0.01,
    timestamp,
    secret: account.webhook_secret,
    ...fields,
  };
}

function fieldsOf(text: string): Json {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
