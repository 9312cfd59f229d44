// What every process of a run loads, compiled once, before the first of them: each would compile it anew until one of them has ended
// well, which takes longer than loading it, and programs that are killed keep nothing for the next.

import { flushCompileCache } from 'node:module';

await import('../../src/main.ts');
await import('../../src/roles/api.ts');
await import('../../src/roles/worker.ts');
await import('../../src/roles/verifier.ts');
await import('../../src/broker/ccxt/open.ts');
await import('../world.ts');
flushCompileCache();
process.exit(0);
