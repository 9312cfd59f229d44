// A thread that only reads leaves the processor after every short piece of its work. A low priority alone would not do: where there
// is no other processor, Linux lets whoever runs run on until its clock ticks, which takes up to 4 ms, and an order comes to its
// thread ten times on its way. Whoever waits for the processor gets it when this thread rests.

const PIECE_MS = 0.5;
/** The shortest that a thread can sleep; in the end it is twice as long. */
const REST_MS = 0.05;

/** Of this thread: nobody ever wakes it here. Null where it does not give way. */
let bed: Int32Array<SharedArrayBuffer> | null = null;
let rested = 0;

/** From now on this thread rests wherever it is at the end of a piece. */
export function restBetweenPieces(): void {
  bed = new Int32Array(new SharedArrayBuffer(4));
}

/** Here is the end of a piece, however small. */
export function giveWay(): void {
  if (!bed || performance.now() - rested < PIECE_MS) return;
  Atomics.wait(bed, 0, 0, REST_MS);
  rested = performance.now();
}
