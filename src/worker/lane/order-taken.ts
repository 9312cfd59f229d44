// Two workers believe that they have the user: the one that began last has.

/** Another worker has taken the order, or the user, over: whatever this one was about to do, it must not. */
export class OrderTaken extends Error {
  override readonly name = 'OrderTaken';
}
