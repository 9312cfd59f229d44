// A thread that only reads leaves the processor after every short piece of its work. A low priority alone would not do: where there
// is no other processor, Linux lets whoever runs run on until its clock ticks, which takes up to 4 ms, and an order comes to its
// thread ten times on its way. Whoever waits for the processor gets it when this thread rests. While an order is on its way in the same
// process, the thread rests until that is done; not for long at once, so that those who look still see something where others trade
// without a pause.

const PIECE_MS = 0.5;
/** The shortest that a thread can sleep; in the end it is twice as long. */
const REST_MS = 0.05;
/** At most for orders, after each piece. */
const FOR_ORDERS_MS = 5;
/** One that takes longer waits for its broker, and needs no processor for that. */
const FRESH_MS = 25;
/** Of a process of its own, which hears of no orders: it works for a seventh of the time. */
const REST_APART_MS = 3;

/** How many orders of this process are on their way, and when the last one came. Threads are given it when they are started. */
export const orders = new Int32Array(new SharedArrayBuffer(8));
const [COUNT, CAME_AT] = [0, 1];

/** What is returned is called once, when it is done. */
export function orderComes(): () => void {
  Atomics.add(orders, COUNT, 1);
  Atomics.store(orders, CAME_AT, sharedMs());
  return () => {
    if (Atomics.sub(orders, COUNT, 1) === 1) Atomics.notify(orders, COUNT);
  };
}

/** The same in every thread. It begins anew from time to time: only differences count. */
const sharedMs = (): number => Date.now() | 0;

interface Rest {
  /** Nobody ever wakes this thread here. */
  readonly bed: Int32Array<SharedArrayBuffer>;
  readonly ms: number;
  readonly ordersThere: Int32Array | null;
}

/** Of this thread. Null where it does not give way. */
let rest: Rest | null = null;
let rested = 0;

/** From now on this thread rests wherever it is at the end of a piece. `ordersThere`: of the process that it is a thread of. */
export function restBetweenPieces(ordersThere: Int32Array | null = null): void {
  const bed = new Int32Array(new SharedArrayBuffer(4));
  rest = { bed, ms: ordersThere ? REST_MS : REST_APART_MS, ordersThere };
}

/** Here is the end of a piece, however small. */
export function giveWay(): void {
  if (!rest || performance.now() - rested < PIECE_MS) return;
  Atomics.wait(rest.bed, 0, 0, rest.ms);
  if (rest.ordersThere) awaitOrders(rest.ordersThere);
  rested = performance.now();
}

function awaitOrders(there: Int32Array): void {
  const count = Atomics.load(there, COUNT);
  const isFresh = ((sharedMs() - Atomics.load(there, CAME_AT)) | 0) < FRESH_MS;
  if (count > 0 && isFresh) Atomics.wait(there, COUNT, count, FOR_ORDERS_MS);
}
