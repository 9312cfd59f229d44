// The head of the audit log's chain, kept outside the database: in a file that who can write to the database alone
// cannot reach. It is written whole or not at all, whatever dies when.

import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChainHead, headText, readHeadText } from '../../domain/audit-chain.ts';

export interface HeadMemory {
  /** null: nothing was kept yet. */
  recall(): Promise<ChainHead | null>;
  keep(head: ChainHead): Promise<void>;
}

/** Each database has its own: a folder may have served another one before. */
export function keptHead(
  dir: string,
  databaseUrl: string | undefined,
): HeadMemory & { readonly file: string } {
  const file = join(dir, databaseUrl === undefined ? 'audit-head' : `audit-head-${placeOf(databaseUrl)}`);
  return {
    file,
    async recall() {
      const text = await readFile(file, 'utf8').catch((fault: NodeJS.ErrnoException) => {
        if (fault.code === 'ENOENT') return null;
        throw fault;
      });
      if (text === null) return null;
      const head = readHeadText(text.trimEnd());
      if (!head) throw new Error(`The file ${file} does not hold the head of an audit log.`);
      return head;
    },
    async keep(head) {
      // Not by the number of the process, which is 1 in every container that shares the folder.
      const draft = `${file}.${randomBytes(6).toString('hex')}`;
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writeFile(`${headText(head)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    },
  };
}

/** By its address, not by anything that stands in it. */
function placeOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 12);
}
