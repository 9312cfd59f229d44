// Who asks and who answers, each on a processor of its own. On a shared one the system may wake the client where the service runs on:
// then the client sees an answer when the service has nothing left to do, and not when it was given.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Until what comes back is called: whoever this process starts is kept where it is itself. */
export function keepApart(service: number): () => void {
  const processors = availableParallelism();
  if (processors < 2) return () => {};
  keep(service, '0');
  keep(process.pid, `1-${processors - 1}`);
  return () => keep(process.pid, `0-${processors - 1}`);
}

/** With all of its threads. */
const keep = (pid: number, on: string): void =>
  void execFileSync('taskset', ['-a', '-c', '-p', on, String(pid)], { stdio: 'ignore' });
