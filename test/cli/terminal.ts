// Commands as a test runs them: in this process, against a world that is running.

import type { Input } from '../../src/cli/desk.ts';
import { openOutput, type Writable } from '../../src/cli/output.ts';
import { runCommand } from '../../src/cli/program.ts';
import type { ClientSettings } from '../../src/config/client.ts';
import type { Config } from '../../src/config/config.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Around {
  readonly client?: Partial<ClientSettings>;
  /** What is piped in. */
  readonly stdin?: string;
  /** What somebody types who is asked; without it there is no terminal. */
  readonly typed?: string | (() => Promise<string>);
  /** Told of every line as it comes. */
  readonly heard?: (line: string) => void;
}

export function terminal(config: Config, { client = {}, stdin = '', typed, heard }: Around = {}) {
  const input: Input = {
    isTerminal: typed !== undefined,
    read: async () => stdin,
    ask: async () => (typeof typed === 'function' ? typed() : (typed ?? '')),
  };
  const around = {
    config: () => config,
    client: () => ({ url: undefined, key: undefined, secret: undefined, ...client }),
    input,
  };
  return async (...args: readonly string[]): Promise<Ran> => {
    const texts = { out: '', err: '' };
    const into = (which: 'out' | 'err'): Writable => ({
      write(text) {
        texts[which] += text;
        heard?.(text);
      },
    });
    const code = await runCommand(around, args, openOutput({ out: into('out'), err: into('err') }));
    return { code, ...texts };
  };
}
