// Replies as data: each file of replies/<broker>/ is one reply of that broker, as it is on the wire, and what it means in our
// words. One test reads them all through the connectors. Whoever meets a new reply adds a file, and writes no code.
// ADD_A_BROKER.md says what stands in one.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import {
  type Broker,
  BrokerBusy,
  type BrokerOrder,
  BrokerUnavailable,
  type Instrument,
  type OpenBroker,
  type OrderQuery,
  type TellUnreadable,
} from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import type { Fetch } from '../../src/broker/wire.ts';
import { BROKERS, type BrokerName } from '../../src/domain/brokers.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';

const FOLDER = new URL('./replies/', import.meta.url);

/** The paper broker has no wire. */
interface Wire {
  readonly fetch: Fetch;
  readonly unreadable: TellUnreadable;
}

const OPENERS: Readonly<Record<Exclude<BrokerName, 'paper'>, (wire: Wire) => OpenBroker>> = {
  binance: (wire) => openCcxt('binance', wire),
  bybit: (wire) => openCcxt('bybit', wire),
  okx: (wire) => openCcxt('okx', wire),
  gate: (wire) => openCcxt('gate', wire),
  bitget: (wire) => openCcxt('bitget', wire),
  alpaca: (wire) => openAlpaca(wire),
  shioaji: (wire) =>
    openShioaji({
      ...wire,
      url: 'http://shioaji.invalid',
      clock: { now: () => Date.parse('2026-11-17T02:00:00Z') },
    }),
};

const exactly = { additionalProperties: false };
const optional = <Schema extends Parameters<typeof Type.Optional>[0]>(schema: Schema) =>
  Type.Optional(schema);
const sentence = Type.String({ minLength: 10 });

const Reply = Type.Object(
  {
    status: optional(Type.Integer()),
    headers: optional(Type.Record(Type.String(), Type.String())),
    body: optional(Type.Unknown()),
    /** Instead of a body of JSON. */
    text: optional(Type.String()),
  },
  exactly,
);

/** Of the order that is placed, or looked for, or of the question. */
const Asked = Type.Object(
  {
    symbol: optional(Type.String()),
    side: optional(Type.Enum(['buy', 'sell'])),
    quantity: optional(Type.String()),
    reduce_only: optional(Type.Boolean()),
    client_order_id: optional(Type.String()),
    /** null: the broker has given none. */
    broker_ref: optional(Type.Union([Type.String(), Type.Null()])),
    sent_at: optional(Type.String()),
    environment: optional(Type.String()),
  },
  exactly,
);

const Day = Type.Object(
  { asked: Asked, replies: Type.Record(Type.String({ pattern: '^(GET|POST|DELETE|PUT) /' }), Reply) },
  exactly,
);

const Entry = Type.Object(
  {
    title: sentence,
    /** Where it is known from. */
    source: sentence,
    /** What the broker says else; good-day without a word. */
    day: optional(Type.String()),
    call: Type.Enum([
      'open',
      'verify',
      'resolve',
      'instruments',
      'position',
      'positions',
      'balance',
      'quote',
      'place',
      'find',
      'open_orders',
      'cancel',
    ]),
    asked: optional(Asked),
    request: Type.String({ pattern: '^(GET|POST|DELETE|PUT) /' }),
    ...Reply.properties,
    besides: optional(Day.properties.replies),
    /** What the request must have had. */
    sent: optional(
      Type.Object(
        { headers: optional(Type.Record(Type.String(), Type.String())), body: optional(Type.Unknown()) },
        exactly,
      ),
    ),
    means: Type.Unknown(),
    /** As which calls it is counted among the replies that nobody could read. */
    unreadable: optional(Type.Array(Type.String())),
  },
  exactly,
);
type Entry = Static<typeof Entry>;
type Reply = Static<typeof Reply>;

/** Not yet among the compiler's own. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Numbers as they are written in the file: a double would lose digits of an id. */
const asWritten = (text: string): unknown =>
  JSON.parse(text, (_key, part, context?: { source?: string }) =>
    typeof part === 'number' ? rawJSON(context?.source ?? String(part)) : part,
  );

function read<Schema extends typeof Entry | typeof Day>(schema: Schema, file: string): Static<Schema> {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  const [problem] = Value.Errors(schema, JSON.parse(text));
  assert.equal(problem, undefined, `${file} ${JSON.stringify(problem)}`);
  return asWritten(text) as Static<Schema>;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

function answered({ status, headers, body, text }: Reply): Response {
  return new Response(text ?? JSON.stringify(body), {
    status: Number(plain(status) ?? 200),
    headers: new Headers(headers),
  });
}

const PREFIX = /^(\/api\/v1)?/;

/** The connector, and a broker that says what is written down. */
async function replay(broker: keyof typeof OPENERS, entry: Entry): Promise<void> {
  const day = read(Day, `${broker}/${entry.day ?? 'good-day'}.json`);
  const replies = { ...day.replies, ...entry.besides, [entry.request]: entry };
  const asked: { readonly headers: Headers; readonly body: string }[] = [];
  const unexpected: string[] = [];
  const unreadable: string[] = [];
  const fetch: Fetch = async (address, init) => {
    const { pathname } = new URL(address);
    const request = `${init.method ?? 'GET'} ${broker === 'shioaji' ? pathname.replace(PREFIX, '') : pathname}`;
    const body = init.body ? await new Response(init.body as ReadableStream).text() : '';
    if (request === entry.request) asked.push({ headers: new Headers(init.headers), body });
    const reply = replies[request];
    if (reply) return answered(reply);
    unexpected.push(request);
    return new Response('', { status: 501 });
  };
  const open = OPENERS[broker]({ fetch, unreadable: ({ call }) => void unreadable.push(call) });
  const terms = { ...day.asked, ...entry.asked };
  const told = await tell(open, entry.call, terms);
  assert.deepEqual(unexpected, [], 'asked for, and neither in the file nor in the good day');
  assert.ok(asked.length > 0, `nobody asked ${entry.request}`);
  match(told, plain(entry.means), 'means');
  if (entry.unreadable !== undefined) assert.deepEqual(unreadable, entry.unreadable, 'unreadable');
  if (!entry.sent) return;
  const last = asked.at(-1);
  for (const [name, value] of Object.entries(entry.sent.headers ?? {}))
    for (const { headers } of asked) assert.equal(headers.get(name), value, `sent.headers.${name}`);
  if (entry.sent.body !== undefined)
    match(JSON.parse(last?.body || 'null'), plain(entry.sent.body), 'sent.body');
}

async function tell(open: OpenBroker, call: Entry['call'], terms: Static<typeof Asked>): Promise<unknown> {
  const account = {
    id: 'replies' as AccountId,
    environment: terms.environment ?? 'live',
    paper: null,
    credentials: { api_key: 'a-key-of-replies', api_secret: 'a-secret-of-replies', passphrase: 'a-phrase' },
  };
  try {
    const broker = await open(account, NO_HURRY);
    return inOurWords(await ask(broker, call, terms));
  } catch (fault) {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    return {
      fault: fault.name,
      message: fault.message,
      ...(fault instanceof BrokerBusy && { retry_after_s: fault.retryAfterMs / 1000, scope: fault.scope }),
    };
  }
}

async function ask(broker: Broker, call: Entry['call'], terms: Static<typeof Asked>): Promise<unknown> {
  const { symbol = '', side = 'buy', reduce_only: reduceOnly = false } = terms;
  const quantity = decimal(terms.quantity ?? '1');
  const clientOrderId = (terms.client_order_id ?? '') as ClientOrderId;
  const brokerRef = terms.broker_ref ?? null;
  const instrument = async (): Promise<Instrument> => {
    const found = await broker.resolve(symbol, NO_HURRY);
    assert.ok(!('rejection' in found), `${symbol} is not in the good day's list`);
    return found;
  };
  switch (call) {
    case 'open':
      return { outcome: 'open' };
    case 'verify':
      return broker.verify(NO_HURRY);
    case 'resolve': {
      const found = await broker.resolve(symbol, NO_HURRY);
      return 'rejection' in found ? found.rejection : found;
    }
    case 'instruments':
      return broker.instruments({ query: '', after: null, limit: 100 }, NO_HURRY);
    case 'position':
      return { quantity: await broker.position(await instrument(), NO_HURRY) };
    case 'positions':
      return broker.positions(NO_HURRY);
    case 'balance':
      return broker.balance(NO_HURRY);
    case 'quote':
      return broker.quote(await instrument(), NO_HURRY);
    case 'place': {
      const order: BrokerOrder = {
        ...{ clientOrderId, instrument: await instrument(), side, quantity, reduceOnly },
        sendBefore: NEVER,
      };
      const placed = await broker.place(order, NO_HURRY);
      if (placed.outcome === 'accepted') return { outcome: 'accepted', ...placed.state };
      return placed.outcome === 'rejected' ? { outcome: 'rejected', ...placed.error } : placed;
    }
    case 'find': {
      const query: OrderQuery = {
        ...{ clientOrderId, brokerRef, symbol, side, quantity },
        sentAt: timestamp(Date.parse(terms.sent_at ?? '')),
      };
      return (await broker.find(query, NO_HURRY)) ?? { outcome: 'not_found' };
    }
    case 'open_orders':
      return broker.openOrders(NO_HURRY);
    case 'cancel':
      await broker.cancel({ clientOrderId, brokerRef: brokerRef ?? '', symbol }, NO_HURRY);
      return { outcome: 'ended' };
  }
}

/** As the API spells them. */
function inOurWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOurWords);
  if (typeof value !== 'object' || value === null) return value;
  const spelled = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [spelled(name), inOurWords(part)]));
}

/** In these a part of the words is enough. */
const WORDS = ['message', 'reason'];
/** By how much a delay may differ: time passes until it is asked for. */
const TENTH = 0.1;

/** All that is expected is there; what else there is, is not looked at. */
function match(told: unknown, expected: unknown, path: string): void {
  const shown = `${path} of ${JSON.stringify(told)}`;
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(told) && told.length === expected.length, `${shown}: ${expected.length} rows`);
    expected.forEach((part, index) => {
      match(told[index], part, `${path}[${index}]`);
    });
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof told === 'object' && told !== null && !Array.isArray(told), shown);
    assert.ok(Object.keys(expected).length > 0, `${path} expects nothing`);
    for (const [name, part] of Object.entries(expected)) {
      const own: unknown = (told as Record<string, unknown>)[name];
      const here = `${path}.${name}`;
      if (WORDS.includes(name) && typeof part === 'string')
        assert.ok(String(own).includes(part), `${here} of ${JSON.stringify(told)}`);
      else if (name === 'retry_after_s')
        assert.ok(Math.abs(Number(own) - Number(part)) <= Number(part) * TENTH, `${here}: ${String(own)}`);
      else match(own, part, here);
    }
  } else assert.deepEqual(told, expected, shown);
}

for (const broker of Object.keys(OPENERS) as (keyof typeof OPENERS)[])
  describe(`replies of ${BROKERS[broker].title}`, () => {
    const files = readdirSync(new URL(`${broker}/`, FOLDER)).filter((file) => !file.startsWith('good-day'));
    test('are written down', () => assert.ok(files.length > 0));
    for (const file of files) {
      const name = `${broker}/${file}`;
      // What cannot be read is a failing test, with the file's name.
      const { title } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as { title?: string };
      test(`${title ?? 'without a title'} (${file})`, async () => {
        await replay(broker, read(Entry, name));
      });
    }
  });
