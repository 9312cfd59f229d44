// The port is looked at before anything else is done: a start that finds it taken leaves nothing behind, and tells nobody a
// password that is then lost.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { CannotStart } from '../domain/cannot-start.ts';

interface Place {
  readonly host: string;
  /** 0: any free one, which nobody can have taken. */
  readonly port: number;
}

/**
 * Opened, and closed again at once: until everything is ready connections are refused, so that whatever stands in front goes to
 * another process with them. Who takes the port meanwhile is noticed when it is opened for good.
 */
export async function refuseTakenPort({ host, port }: Place): Promise<void> {
  if (port === 0) return;
  const door = createServer().listen({ host, port });
  await once(door, 'listening').catch((fault: unknown) => {
    throw portRefusal(fault, { host, port });
  });
  door.close();
  await once(door, 'close');
}

/** What an operator can do about it; anything else is a fault, and stays one. */
export function portRefusal(fault: unknown, { host, port }: Place): unknown {
  switch ((fault as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CannotStart(
        `Port ${port} on ${host} is taken by another program. Stop that one, or set PORT to a free port.`,
      );
    case 'EACCES':
      return new CannotStart(
        `This user may not open port ${port} on ${host}. Set PORT to one above 1023, or let a proxy in front have it.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CannotStart(
        `${host} is not an address of this machine. Set HOST to one that is: 127.0.0.1 for this machine alone, 0.0.0.0 for all of its networks.`,
      );
    default:
      return fault;
  }
}
