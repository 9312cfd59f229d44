// What goes wrong at the exchange, as it is told to: each fault for a while, for some accounts or askers, always or by
// chance. A request meets those that hold when it comes.

import { unit } from '../src/broker/paper/market.ts';

export const FAULTS = [
  'slow',
  'slow_answer',
  'reset',
  'lose',
  'stall',
  'garbage',
  'refuse',
  'hang',
  /** The credentials are refused, though they are right. */
  'deny',
  /** Positions are told as they were a while ago. */
  'lag',
] as const;

export interface FaultOrder {
  readonly kind: (typeof FAULTS)[number];
  readonly ttl_ms: number;
  /** All where there is none. */
  readonly accounts?: readonly string[];
  readonly askers?: readonly string[];
  /** `orders`: the placing of orders and of stops, and what ends an order; `stops`: of these only; `look_ups`: what became of them. */
  readonly calls?: 'all' | 'orders' | 'stops' | 'look_ups';
  readonly probability?: number;
  readonly seed?: number;
  /** Of `slow`, `slow_answer` and `lag`. */
  readonly ms?: number;
  /** Of `deny`: it passes after so many. */
  readonly times?: number;
  /** Of `garbage`: whether the request is taken all the same. */
  readonly taken?: boolean;
  /** Of `garbage`: always this one; otherwise one kind after the other. */
  readonly garbage?: GarbageName;
  /** Of `refuse`. */
  readonly retry_after_ms?: number;
}

interface Fault extends FaultOrder {
  readonly ended: Promise<void>;
  end(): void;
  /** How many requests could have met it, and how many did. */
  drawn: number;
  met: number;
}

interface Request {
  /** null: nobody's in particular. */
  readonly account: string | null;
  readonly asker: string | null;
  readonly call: 'orders' | 'stops' | 'look_ups' | 'other';
}

const CALLS: Readonly<Record<NonNullable<FaultOrder['calls']>, readonly Request['call'][]>> = {
  all: ['orders', 'stops', 'look_ups', 'other'],
  orders: ['orders', 'stops'],
  stops: ['stops'],
  look_ups: ['look_ups'],
};

/** What one request has to go through. */
export interface Trouble {
  readonly slowMs: number;
  readonly slowAnswerMs: number;
  /** Until this is over nothing is done. */
  readonly hang: Promise<unknown> | null;
  /** Instead of taking it. */
  readonly before: 'reset' | 'garbage' | 'refuse' | 'deny' | null;
  /** `stall`: the answer breaks off in the middle, and the connection stays. */
  readonly after: 'lose' | 'stall' | 'garbage' | null;
  readonly garbage: GarbageName;
  readonly retryAfterMs: number;
  /** So old is what is told of positions. */
  readonly lagMs: number;
}

export function createFaults() {
  const faults = new Map<number, Fault>();
  let ids = 0;

  function concerns(fault: Fault, { account, asker, call }: Request): boolean {
    if (fault.accounts && !(account !== null && fault.accounts.includes(account))) return false;
    if (fault.askers && !(asker !== null && fault.askers.includes(asker))) return false;
    if (!CALLS[fault.calls ?? 'all'].includes(call)) return false;
    return unit(`${fault.seed ?? 1}:${fault.drawn++}`) < (fault.probability ?? 1);
  }

  return {
    add(order: FaultOrder): number {
      const id = ++ids;
      const ended = Promise.withResolvers<void>();
      const end = () => {
        clearTimeout(timer);
        faults.delete(id);
        ended.resolve();
      };
      const timer = setTimeout(end, order.ttl_ms);
      faults.set(id, { ...order, ended: ended.promise, end, drawn: 0, met: 0 });
      return id;
    },

    /** What hangs goes on. */
    clear(): void {
      for (const fault of [...faults.values()]) fault.end();
    },

    meet(request: Request): Trouble {
      const met = [...faults.values()].filter((fault) => concerns(fault, request));
      const of = (...kinds: FaultOrder['kind'][]) => met.filter(({ kind }) => kinds.includes(kind));
      const sum = (kind: FaultOrder['kind']) => of(kind).reduce((total, { ms = 0 }) => total + ms, 0);
      const hanging = of('hang');
      const before = of('reset', 'refuse', 'deny', 'garbage').find(
        ({ kind, taken }) => kind !== 'garbage' || !taken,
      );
      const after = of('lose', 'stall', 'garbage').find(({ kind, taken }) => kind !== 'garbage' || taken);
      if (before?.kind === 'deny' && ++before.met === before.times) before.end();
      const garbage = [before, after].find((fault) => fault?.kind === 'garbage');
      return {
        slowMs: sum('slow'),
        slowAnswerMs: sum('slow_answer'),
        hang: hanging.length === 0 ? null : Promise.all(hanging.map(({ ended }) => ended)),
        before: (before?.kind ?? null) as Trouble['before'],
        after: (after?.kind ?? null) as Trouble['after'],
        garbage: garbage?.garbage ?? inTurn(garbage ? garbage.met++ : 0),
        retryAfterMs: before?.retry_after_ms ?? 1_000,
        lagMs: Math.max(0, ...of('lag').map(({ ms = 0 }) => ms)),
      };
    },
  };
}

interface Wire {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** Longer than the body where the connection breaks in the middle of it. */
  readonly length: number;
}

const PAGE = '<!doctype html><html><body><h1>It works!</h1></body></html>';

/** These come in turn. */
const IN_TURN = ['page', 'half', 'nothing', 'object', 'gaps', 'types', 'page_404', 'broken_off'] as const;
/** These are believable, each in its place: they come only where they are asked for. */
const BELIEVABLE = ['empty_lists', 'nameless', 'another'] as const;
export const GARBAGE = [...IN_TURN, ...BELIEVABLE] as const;
type GarbageName = (typeof GARBAGE)[number];

export const GARBAGE_KINDS = IN_TURN.length;
const inTurn = (turn: number): GarbageName => IN_TURN[turn % GARBAGE_KINDS] as GarbageName;

/** Nonsense instead of an answer. `idFields`: where an order's ids stand in it. */
export function garbage(
  name: GarbageName,
  { status, body }: { status: number; body: object },
  idFields: readonly string[],
): Wire {
  const text = JSON.stringify(body);
  const half = text.slice(0, Math.floor(text.length / 2));
  const wire = (answer: { status: number; type?: string; body: string; length?: number }): Wire => ({
    type: 'application/json',
    length: Buffer.byteLength(answer.body),
    ...answer,
  });
  const json = (value: unknown) => wire({ status, body: JSON.stringify(value) });
  const kinds: Record<GarbageName, () => Wire> = {
    page: () => wire({ status: 200, type: 'text/html', body: PAGE }),
    half: () => wire({ status, body: half }),
    nothing: () => wire({ status: 200, body: '' }),
    object: () => wire({ status: 200, body: '{}' }),
    gaps: () => {
      const torn = withGaps(body);
      return json(JSON.stringify(torn) === text ? Object.fromEntries(Object.entries(body).slice(1)) : torn);
    },
    types: () => json(wrongTypes(body)),
    page_404: () => wire({ status: 404, type: 'text/html', body: PAGE }),
    broken_off: () => wire({ status, body: half, length: Buffer.byteLength(text) }),
    empty_lists: () => json(JSON.parse(text, (_, value) => (Array.isArray(value) ? [] : value))),
    nameless: () => json(JSON.parse(text, (key, value) => (idFields.includes(key) ? undefined : value))),
    another: () => json(JSON.parse(text, (key, value) => (idFields.includes(key) ? other(value) : value))),
  };
  return kinds[name]();
}

const other = (id: unknown): unknown => (typeof id === 'number' ? id + 1 : `${id}x`);

/** Its parts with nothing but what each had last; where there are no rows, one with nothing in it. */
function withGaps(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map((row) => withGaps(row, depth + 1)) : [{}];
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const words = entries.filter(([, part]) => !isObject(part));
  const isEnvelope = depth === 0 && words.length < entries.length;
  const last = words.at(-1);
  const kept = entries.filter((entry) => isEnvelope || isObject(entry[1]) || entry[0] === last?.[0]);
  return Object.fromEntries(kept.map(([key, part]) => [key, withGaps(part, depth + 1)]));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The same fields, and nothing in them as it should be. */
function wrongTypes(value: unknown): unknown {
  if (Array.isArray(value)) return {};
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, wrongTypes(part)]));
  if (typeof value === 'string') return 0;
  return typeof value === 'boolean' ? 'true' : [];
}
