// Traps for killing a process at an exact moment: the next request that comes to that moment is told of, and stands
// still there until it is released or the time is up.

export const MOMENTS = ['position', 'arrived', 'accepted', 'answered'] as const;
type Moment = (typeof MOMENTS)[number];

/** Who fell into it. */
interface Victim {
  readonly account: string;
  /** null: it was no order. */
  readonly client_order_id: string | null;
}

export interface TrapOrder {
  /** null: requests without a name in front of their path. */
  readonly asker: string | null;
  readonly at: Moment;
  readonly within_ms?: number;
  readonly hold_ms?: number;
  /** For nothing but orders that only reduce. */
  readonly closes?: boolean;
  /** For nothing but stops; without it for no stop. */
  readonly stops?: boolean;
}

interface Trap extends TrapOrder {
  readonly id: number;
  spring(victim: Victim | null): void;
}

const WITHIN_MS = 30_000;
const HOLD_MS = 30_000;

export function createTraps() {
  const traps = new Set<Trap>();
  const held = new Map<number, () => void>();
  let ids = 0;

  return {
    /** `caught` is null where nobody came in time. */
    set(order: TrapOrder): { id: number; caught: Promise<Victim | null>; remove(): void } {
      const caught = Promise.withResolvers<Victim | null>();
      const spring = (victim: Victim | null) => {
        clearTimeout(timer);
        traps.delete(trap);
        caught.resolve(victim);
      };
      const trap: Trap = { ...order, id: ++ids, spring };
      const timer = setTimeout(spring, order.within_ms ?? WITHIN_MS, null);
      traps.add(trap);
      return { id: trap.id, caught: caught.promise, remove: () => spring(null) };
    },

    /** A request comes to this moment. */
    async pass(
      at: Moment,
      asker: string | null,
      victim: Victim,
      what: 'entry' | 'close' | 'stop' = 'entry',
    ): Promise<void> {
      const isMeant = ({ closes = false, stops = false }: Trap) =>
        stops ? what === 'stop' : what === 'close' || (what === 'entry' && !closes);
      const trap = traps.values().find((trap) => trap.at === at && trap.asker === asker && isMeant(trap));
      if (!trap) return;
      trap.spring(victim);
      // What was answered is gone, and cannot stand still any more.
      if (at === 'answered') return;
      const released = Promise.withResolvers<void>();
      const timer = setTimeout(released.resolve, trap.hold_ms ?? HOLD_MS);
      held.set(trap.id, released.resolve);
      await released.promise;
      clearTimeout(timer);
      held.delete(trap.id);
    },

    /** Whether anything was held. */
    release(id: number): boolean {
      const release = held.get(id);
      release?.();
      return release !== undefined;
    },

    close(): void {
      for (const trap of [...traps]) trap.spring(null);
      for (const release of held.values()) release();
    },
  };
}
