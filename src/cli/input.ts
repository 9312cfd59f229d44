// What a person types, or another program pipes in.

import { text } from 'node:stream/consumers';
import type { Input } from './desk.ts';

export const openInput = (stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream): Input => ({
  isTerminal: stdin.isTTY && stderr.isTTY,
  read: async () => (await text(stdin)).replace(/\r?\n$/, ''),
  async ask(question) {
    const { createInterface } = await import('node:readline/promises');
    // On stderr, so that what is piped on stays what was asked for.
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
});
