// What the runner may tell the exchange in its control room.

import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { findListing } from '../src/broker/paper/market.ts';
import type { Manners } from '../src/broker/paper/rules.ts';
import { MOVES, STOPS } from '../src/domain/capabilities.ts';
import { type Decimal, decimal, parseDecimal } from '../src/domain/decimal.ts';
import type { Registration } from './exchange-desk.ts';
import type { AskedStop } from './exchange-dialect.ts';
import { FAULTS, type FaultOrder, GARBAGE } from './exchange-faults.ts';
import type { Standing } from './exchange-standing.ts';
import type { Span } from './exchange-traits.ts';
import { MOMENTS, type TrapOrder } from './exchange-traps.ts';

/** A request that is not as agreed. */
export class Malformed extends Error {}

export const exactly = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export function read<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  if (Value.Check(schema, body)) return body as Static<Schema>;
  const [error] = Value.Errors(schema, body);
  throw new Malformed(`${error?.instancePath || 'the body'} ${error?.message ?? 'is not as agreed'}`);
}

const ms = Type.Integer({ minimum: 0, maximum: 3_600_000 });
const span = Type.Union([exactly({ least: ms, most: ms }), Type.Null()]);

const Credentials = exactly({
  api_key: Type.String({ minLength: 1 }),
  api_secret: Type.String({ minLength: 1 }),
  passphrase: Type.Optional(Type.String()),
});

const Told = exactly({
  refuses_duplicates: Type.Optional(Type.Union([Type.Boolean(), Type.Literal('while_open')])),
  reduce_only: Type.Optional(Type.Boolean()),
  fills_after_ms: Type.Optional(Type.Unsafe<Span | null>(span)),
  forgets_ids_after_ms: Type.Optional(Type.Unsafe<Span | null>(span)),
  limits: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()])),
  second_stop: Type.Optional(Type.Enum(['beside', 'refused', 'instead'])),
  ends_with_position: Type.Optional(Type.Boolean()),
  stops_need_position: Type.Optional(Type.Boolean()),
  reserves: Type.Optional(Type.Boolean()),
  stop: Type.Optional(Type.Enum([...STOPS])),
  moves: Type.Optional(Type.Enum([...MOVES])),
  /** Of its book, as a paper account has them. */
  paper: Type.Optional(Type.Unknown()),
  credentials: Type.Optional(Credentials),
  permissions: Type.Optional(Type.Array(Type.Enum(['read', 'trade', 'withdraw']))),
  addresses: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
  position_mode: Type.Optional(Type.Enum(['one_way', 'hedged'])),
  account_type: Type.Optional(Type.Enum(['unified', 'classic'])),
  margin_mode: Type.Optional(Type.Enum(['cross', 'isolated'])),
  stray: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()])),
  demo: Type.Optional(Type.Boolean()),
});
type AccountOrder = Static<typeof Told>;

const or = <Value>(told: Value | undefined, otherwise: Value): Value =>
  told === undefined ? otherwise : told;

/** What is not said is as before. */
export function readRegistration(body: unknown, before: Registration): Registration {
  const told = read(Told, body);
  const { traits } = before;
  return {
    paper: or(told.paper, before.paper),
    traits: {
      refusesDuplicates: or(told.refuses_duplicates, traits.refusesDuplicates),
      reduceOnly: or(told.reduce_only, traits.reduceOnly),
      fillsAfterMs: or(told.fills_after_ms, traits.fillsAfterMs),
      forgetsIdsAfterMs: or(told.forgets_ids_after_ms, traits.forgetsIdsAfterMs),
      limits: or(told.limits, traits.limits),
      manners: { ...traits.manners, ...readManners(told) },
      able: {
        ...traits.able,
        ...(told.stop !== undefined && { stop: told.stop }),
        ...(told.moves !== undefined && { moves: told.moves }),
      },
    },
    standing: readStanding(told, before.standing),
  };
}

const readManners = (told: AccountOrder): Partial<Manners> => ({
  ...(told.second_stop !== undefined && { secondStop: told.second_stop }),
  ...(told.ends_with_position !== undefined && { endsWithPosition: told.ends_with_position }),
  ...(told.stops_need_position !== undefined && { stopsNeedPosition: told.stops_need_position }),
  ...(told.reserves !== undefined && { reserves: told.reserves }),
});

function readStanding(told: AccountOrder, before: Standing): Standing {
  const { credentials: keys } = told;
  return {
    apiKey: keys?.api_key ?? before.apiKey,
    apiSecret: keys?.api_secret ?? before.apiSecret,
    passphrase: keys?.passphrase ?? before.passphrase,
    permissions: told.permissions ?? before.permissions,
    addresses: or(told.addresses, before.addresses),
    positionMode: told.position_mode ?? before.positionMode,
    accountType: told.account_type ?? before.accountType,
    marginMode: told.margin_mode ?? before.marginMode,
    stray: or(told.stray, before.stray),
    isDemo: told.demo ?? before.isDemo,
  };
}

export const readClock = (body: unknown): number =>
  read(exactly({ ahead_ms: Type.Integer() }), body).ahead_ms;

const names = Type.Array(Type.String(), { minItems: 1 });

const Fault = exactly({
  kind: Type.Enum([...FAULTS]),
  ttl_ms: ms,
  accounts: Type.Optional(names),
  askers: Type.Optional(names),
  calls: Type.Optional(Type.Enum(['all', 'orders', 'stops', 'look_ups'])),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: Type.Optional(Type.Integer()),
  ms: Type.Optional(ms),
  times: Type.Optional(Type.Integer({ minimum: 1 })),
  taken: Type.Optional(Type.Boolean()),
  garbage: Type.Optional(Type.Enum([...GARBAGE])),
  retry_after_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 9_999_999 })),
});
export const readFault = (body: unknown): FaultOrder => read(Fault, body) as FaultOrder;

const Trap = exactly({
  asker: Type.Union([Type.String(), Type.Null()]),
  at: Type.Enum([...MOMENTS]),
  within_ms: Type.Optional(ms),
  hold_ms: Type.Optional(ms),
  closes: Type.Optional(Type.Boolean()),
  stops: Type.Optional(Type.Boolean()),
});
export const readTrap = (body: unknown): TrapOrder => read(Trap, body) as TrapOrder;

const Prices = Type.Record(Type.String(), Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()]));

/** By the engine's listings. */
export function readPrices(body: unknown): ReadonlyMap<string, Decimal | null> {
  return new Map(
    Object.entries(read(Prices, body)).map(([name, price]) => {
      const listing = findListing(name);
      if (!listing) throw new Malformed(`the engine does not list ${name}`);
      return [listing.symbol, price === null ? null : decimal(price)];
    }),
  );
}

const amount = Type.Refine(Type.Unsafe<Decimal>(Type.String()), (text) => parseDecimal(text) === text);

const StopByHand = exactly({
  client_order_id: Type.Optional(Type.String({ minLength: 1 })),
  /** On the wire, as the quantity is. */
  symbol: Type.String({ minLength: 1 }),
  side: Type.Enum(['buy', 'sell']),
  /** Without one all that is held. */
  quantity: Type.Optional(amount),
  price: amount,
});

/** One that the account's owner sets there himself. */
export function readStopByHand(body: unknown): AskedStop {
  const { client_order_id, symbol, side, quantity, price } = read(StopByHand, body);
  const clientOrderId = client_order_id ?? `byhand${Date.now()}`;
  return { clientOrderId, symbol, side, quantity: quantity ?? null, price, triggerBy: 'last' };
}

/** In percent of where it stands: above zero is up. */
export const readMoveByHand = (body: unknown): number =>
  read(exactly({ percent: Type.Number({ minimum: -50, maximum: 50 }) }), body).percent;

export function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (fault) {
    throw new Malformed(String(fault));
  }
}
