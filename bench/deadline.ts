// Loaded before a part of the bench: ends it when its time is over. What it started ends with it.

const mostMs = Number(process.env.BENCH_MOST_MS);

setTimeout(() => {
  console.error(`not finished within ${(mostMs / 1_000).toFixed(0)} s`);
  process.exit(1);
}, mostMs).unref();
