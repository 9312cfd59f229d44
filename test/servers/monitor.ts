// What Redis is asked, told by itself.

import type { Redis } from 'ioredis';

/**
 * As the client's own `monitor()`, which fails where a command of somebody else's comes together with the answer to its own,
 * and then tries for ever to come back, even to a server that has stopped.
 */
export async function openMonitor(redis: Redis): Promise<Redis> {
  for (;;) {
    const monitor = redis.duplicate({ monitor: true, lazyConnect: false, retryStrategy: () => null });
    const fault = await new Promise<Error | null>((resolve) => {
      monitor.once('monitoring', () => resolve(null));
      // For good: each further command that came with the answer is one more fault, which somebody has to hear.
      monitor.on('error', resolve);
    });
    if (fault === null) return monitor;
    monitor.disconnect();
    if (!fault.message.includes('Command queue state error')) throw fault;
  }
}
