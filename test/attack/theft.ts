// Who had something once, and wants to stay: by a backup that was in their hands. Item 24.

import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hashToken } from '../../src/app/identity/tokens.ts';
import { type Attack, WITHOUT_SERVERS } from './attacks.ts';

const PLANTED_KEY = `insert into api_keys (id, user_id, name, key_hash, created_at)
  select '01900000-0000-7000-8000-000000000001', id, 'planted', '${hashToken('known')}', created_at from users limit 1`;
const PLANTED_TRIGGER = `create trigger planted after insert on user_sessions
  begin update users set is_admin = 1 where id = new.user_id; end`;

export const plantedBackup: Attack = {
  item: 24,
  title: "an administrator's key and a trigger are planted in a backup",
  before: 'restored without a word: the key is good, and every login makes an administrator',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const { product } = desk;
    await desk.person();
    const folder = mkdtempSync(join(tmpdir(), 'attack-backup-'));
    try {
      const kept = join(product.dataDir, 'keys');
      const keys = existsSync(kept) ? ['--keys', kept] : [];
      const restore = (file: string, ...options: string[]) => {
        const into = join(folder, 'restored');
        const { code, text } = product.command('restore', file, '--into', into, ...keys, ...options);
        rmSync(into, { recursive: true, force: true });
        return { isRefused: code === 1, words: text.replaceAll(folder, '').split(/[.:] /, 2).join(': ') };
      };
      const backup = (name: string) => {
        const file = join(folder, name);
        const { code, text } = product.command('backup', file);
        if (code !== 0) throw new Error(text);
        return file;
      };
      const planted = (file: string, ...statements: string[]) => {
        const db = new DatabaseSync(file);
        for (const statement of statements) db.exec(statement);
        db.close();
        return file;
      };
      const key = restore(planted(backup('key'), PLANTED_KEY));
      const trigger = restore(planted(backup('trigger'), PLANTED_TRIGGER));
      // As one from before: all behind the database is cut off.
      const bare = backup('bare');
      const header = new DatabaseSync(bare, { readOnly: true });
      const pages = header.prepare(
        'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
      );
      const { bytes } = pages.get() as { bytes: number };
      header.close();
      truncateSync(bare, bytes);
      const stripped = restore(planted(bare, PLANTED_TRIGGER), '--unsigned');
      return {
        got: `the key: ${key.words}; the trigger: ${trigger.words}; the proof cut off: ${stripped.words}`,
        isClosed: [key, trigger, stripped].every(({ isRefused }) => isRefused),
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
