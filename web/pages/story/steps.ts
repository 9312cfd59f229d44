// The waterfall: an order's steps in milliseconds since its arrival, and whose time each was. What the trace cannot tell apart
// (reading the position at the broker, and planning) is nobody's alone.

import type { components } from '../../api/schema.ts';
import { minus, plus } from '../../parts/exact.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { isResting, takenBackBy } from '../../parts/resting/words.ts';

type Order = components['schemas']['OrderRecord'];
type Leg = Order['legs'][number];

export type Whose = 'before' | 'ours' | 'theirs' | 'both' | 'lost';

export interface Step {
  readonly name: string;
  readonly whose: Whose;
  /** When it began and ended; null: it has not ended. */
  readonly from: number;
  readonly at: number | null;
  /** Signed, after it; undefined: it changed nothing, or it is not known. */
  readonly position?: number;
  /** It is one of the two. */
  readonly doubt?: readonly [number, number];
  /** After the answer: not drawn, because it may be minutes later. */
  readonly isLate?: boolean;
}

export interface Fall {
  readonly steps: readonly Step[];
  /** From arrival to answer; null: there is none yet. */
  readonly total: number | null;
  readonly sums: Readonly<Record<Whose, number>>;
}

export interface Before {
  /** By the sender's clock. */
  readonly signalTime: number | null;
  /** How many checks passed; null: it came from no webhook. */
  readonly checks: number | null;
}

export function fallOf(order: Order, { checks }: Before): Fall {
  const { trace, legs } = order;
  const steps: Step[] = [];
  const answered = trace.answered ?? null;
  let cursor = 0;
  let hasAnswered = false;
  const add = (name: string, whose: Whose, at: number | null, more: Partial<Step> = {}) => {
    const isLate = answered !== null && at !== null && at > answered;
    if (isLate && !hasAnswered) answer('Waited for the broker, answered', 'theirs');
    // Clocks of two machines may differ by a little: nothing ends before it began.
    const end = at === null ? null : Math.max(cursor, at);
    steps.push({ name, whose, from: cursor, at: end, ...more, ...(isLate && { isLate }) });
    cursor = end ?? cursor;
  };
  const answer = (name: string, whose: Whose) => {
    hasAnswered = true;
    add(name, whose, answered);
  };

  if (trace.validated !== undefined)
    add(
      checks === null ? 'Arrived, checked' : `Arrived, ${counted(checks, 'check')} passed`,
      'ours',
      trace.validated,
    );
  if (trace.taken !== undefined) add('Recorded, queued, taken up', 'ours', trace.taken);

  let held = order.position_before;
  const since = (at: string) => Date.parse(at) - Date.parse(order.submitted_at);
  legs.forEach((leg, index) => {
    if (leg.sent_at === null) return;
    const sent = index === 0 ? (trace.sent ?? since(leg.sent_at)) : since(leg.sent_at);
    if (index === 0) add(planned(order), 'both', sent, held === null ? {} : { position: held });
    else add(`${NAMES[legs[index - 1]?.leg ?? 'exit']} seen to be filled, ${leg.leg} released`, 'ours', sent);
    const after = held === null ? null : moved(held, leg, leg.fill_quantity ?? 0);
    for (const step of legSteps(order, leg, { since, held, after })) add(...step);
    held = after;
  });

  if (answered !== null && !hasAnswered) {
    if (legs.some(({ sent_at }) => sent_at !== null)) answer('Recorded, answered', 'ours');
    else if (order.position_before === null) answer('Decided, recorded, answered', 'ours');
    else {
      const at = order.position_before;
      hasAnswered = true;
      add('Position read, decided, answered', 'both', answered, { position: at });
    }
  }
  // Beside the order's own time: its answer waits for no stop.
  const kept = protectedStep(order, since);
  const isLate = kept !== null && answered !== null && kept.at !== null && kept.at > answered;
  return {
    steps: kept ? [...steps, { ...kept, ...(isLate && { isLate }) }] : steps,
    total: answered,
    sums: sumsOf(steps),
  };
}

/** From its first fill until the broker showed the stop. */
function protectedStep(order: Order, since: (at: string) => number): Step | null {
  const { unprotected_ms: took, legs } = order;
  const filledAt = legs.find(({ leg, filled_at }) => leg === 'entry' && filled_at !== null)?.filled_at;
  if (took === null || !filledAt) return null;
  const from = Math.max(0, since(filledAt));
  return { name: 'Protected: its stop seen at the broker', whose: 'theirs', from, at: from + took };
}

const NAMES = { exit: 'Exit', entry: 'Entry' } as const;

function planned({ legs, guards }: Order): string {
  const plan = legs.length > 1 ? 'planned: close, then enter' : 'planned';
  const passed = guards.filter(({ outcome }) => outcome === 'passed').length;
  return `Position read, ${plan}${passed > 0 ? `; ${counted(passed, 'guard')} passed` : ''}`;
}

const moved = (held: number, { side }: Leg, quantity: number): number =>
  side === 'buy' ? plus(held, quantity) : minus(held, quantity);

interface Around {
  readonly since: (at: string) => number;
  readonly held: number | null;
  readonly after: number | null;
}
type Drawn = readonly [name: string, whose: Whose, at: number | null, more?: Partial<Step>];

function legSteps(order: Order, leg: Leg, around: Around): readonly Drawn[] {
  const { acked_at, filled_at, fill_price, fill_quantity, status } = leg;
  if (acked_at === null) return [unansweredStep(order, leg, around)];
  const name = NAMES[leg.leg];
  const acked = around.since(acked_at);
  const position = around.after === null ? {} : { position: around.after };
  if (filled_at === null) {
    // What we took back had rested before: its end was not the answer to its sending.
    const ended = waitsOf(order, leg) ? 'rests' : ENDED.has(status) ? status : 'acknowledged';
    return [[`${name} sent, ${ended}`, 'theirs', acked, fill_quantity ? position : {}]];
  }
  const filled = around.since(filled_at);
  const atPrice = fill_price === null ? '' : ` at ${figure(fill_price)}`;
  if (filled <= acked) return [[`${name} sent, filled${atPrice}`, 'theirs', acked, position]];
  return [
    [`${name} sent, acknowledged`, 'theirs', acked],
    [`${name} filled${atPrice}`, 'theirs', filled, position],
  ];
}

const waitsOf = (order: Order, { leg, status }: Leg): boolean =>
  leg === 'entry' && (isResting(order) || (status === 'cancelled' && takenBackBy(order.error) !== null));

function unansweredStep({ trace, status }: Order, leg: Leg, { held }: Around): Drawn {
  const name = NAMES[leg.leg];
  if (leg.status === 'unknown' || status === 'unknown') {
    const doubt = held === null ? {} : { doubt: [held, moved(held, leg, leg.quantity)] as const };
    return [`${name} sent, no answer`, 'lost', trace.answered ?? null, doubt];
  }
  if (leg.status === 'sending') return [`${name} sent, waiting for the answer`, 'theirs', null];
  return [`${name} sent, ${leg.status}`, 'theirs', trace.acked ?? trace.answered ?? null];
}

const ENDED = new Set(['cancelled', 'failed', 'rejected', 'expired']);

function sumsOf(steps: readonly Step[]): Record<Whose, number> {
  const sums = { before: 0, ours: 0, theirs: 0, both: 0, lost: 0 };
  for (const { whose, from, at, isLate } of steps) if (at !== null && !isLate) sums[whose] += at - from;
  return sums;
}

/** Some four or five, at round numbers. */
export function ticksOf(end: number): number[] {
  const rough = end / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}
