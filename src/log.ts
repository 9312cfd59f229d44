// The log: JSON lines on standard output. Secrets, tokens and bodies never reach it.

import { type DestinationStream, type Logger, pino } from 'pino';

export function openLog(level: string, destination?: DestinationStream): Logger {
  const options = { level, serializers: { fault: shown } };
  return destination ? pino(options, destination) : pino(options);
}

/** Without its cause and its own fields: a connector's fault may carry the request that it made, keys and all. */
function shown(fault: unknown): unknown {
  if (!(fault instanceof Error)) return String(fault);
  return { type: fault.name, message: fault.message, stack: fault.stack };
}
