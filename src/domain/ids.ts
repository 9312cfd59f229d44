// Ids are branded, so that two strings can never be swapped by accident.

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type UserId = Id<'user'>;
export type AccountId = Id<'account'>;
export type OrderId = Id<'order'>;
export type GroupId = Id<'group'>;
export type ClientOrderId = Id<'client-order'>;
export type SessionId = Id<'session'>;

/** RFC 3339 in UTC with milliseconds and Z: sorts as text, and is what the API shows. */
export type Timestamp = Id<'timestamp'>;

/** Of one second many are asked for, and of a few at a time: all but the milliseconds is made once. */
const PLACES = 16;
const seconds = new Array<number>(PLACES).fill(Number.NaN);
const beginnings = new Array<string>(PLACES).fill('');
const ENDS = Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);

export function timestamp(ms: number): Timestamp {
  const whole = Math.trunc(ms);
  const second = Math.floor(whole / 1000);
  const place = second & (PLACES - 1);
  if (seconds[place] !== second) {
    beginnings[place] = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    seconds[place] = second;
  }
  return ((beginnings[place] as string) + ENDS[whole - second * 1000]) as Timestamp;
}

export const millis = (time: Timestamp): number => Date.parse(time);

/** No UUIDv7 that is made at this time or later is smaller. */
export function earliestId(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const isUuid = (text: string): boolean => UUID.test(text);
