// How long orders took until the broker had answered, as a distribution: so many in each span of time, and so many by the broker's own share.

/** Each is about half as long again as the one before: what is fast is told apart as finely as what is slow. */
const UP_TO_MS = [1, 10, 100, 1_000]
  .flatMap((one) => [1, 1.5, 2, 3, 5, 7].map((times) => times * one))
  .filter(Number.isInteger);

export function openLatencies() {
  // One more than there are bounds: whatever took longer than the last.
  const spans = Array.from({ length: UP_TO_MS.length + 1 }, () => ({ orders: 0, broker: 0 }));
  const spanOf = (ms: number) => spans[UP_TO_MS.filter((bound) => bound < ms).length];
  return {
    /** `broker`: of it, from when it was sent; null: nobody knows. */
    take(ms: number, broker: number | null): void {
      const whole = spanOf(ms);
      const part = broker === null ? undefined : spanOf(broker);
      if (whole) whole.orders++;
      if (part) part.broker++;
    },
    /** From the first in which there is something to the last. */
    read() {
      const isUsed = ({ orders, broker }: { readonly orders: number; readonly broker: number }) =>
        orders + broker > 0;
      const [first, last] = [spans.findIndex(isUsed), spans.findLastIndex(isUsed)];
      return spans
        .map((span, index) => ({ up_to_ms: UP_TO_MS[index] ?? null, ...span }))
        .slice(Math.max(first, 0), last + 1);
    },
  };
}
