// What Redis is asked, counted by Redis itself.

import { Redis } from 'ioredis';

export interface Commands {
  /** By processes, a script counting once. */
  readonly sent: number;
  /** By the server, what scripts do included. */
  readonly done: number;
}

/** While the task runs; without what is asked whether or not there is anything to do: who is there. */
export async function commandsOf(url: string, task: () => Promise<unknown>): Promise<Commands> {
  const admin = new Redis(url, { protocol: 2 });
  const monitor = await admin.monitor();
  let sent = 0;
  let done = 0;
  // A script of ours about presence does nothing else; its commands follow each other.
  let isPresence = false;
  monitor.on('monitor', (_time: string, [name = '', ...args]: readonly string[], source: string) => {
    const isOurs = args.some((arg) => arg.startsWith('fillpath:'));
    if (source !== 'lua') isPresence = args.some((arg) => arg.startsWith('fillpath:present:'));
    if (isPresence || !(isOurs || source === 'lua') || /^(?:un)?subscribe$/i.test(name)) return;
    done++;
    if (source !== 'lua') sent++;
  });
  await task();
  monitor.disconnect();
  admin.disconnect();
  return { sent, done };
}
