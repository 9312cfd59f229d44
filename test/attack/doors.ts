// Doors that somebody left open: a careless proxy, a shared folder, packages that nobody looked at. Items 8 and 11.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, told, WITHOUT_SERVERS } from './attacks.ts';

const admin = { email: 'mallory@example.com', password: 'a horse, a staple, a thief' };

/** Before there is an admin. */
export const firstAdmin: Attack = {
  item: 8,
  title: 'strangers behind a trusted proxy that names no valid client make themselves the first admin',
  before: "the proxy's own loopback address made the first admin",
  modes: ['default', 'production'],
  async run(desk) {
    const names = ['unknown', '', '_hidden', '127.0.0.1, unknown', 'localhost', '127.0.0.1.', '"127.0.0.1"'];
    const answers = new Map<string, string>();
    for (const name of names)
      answers.set(name, told(await desk.ask('/setup/admin', { body: admin, from: name })));
    const forwarded = { body: admin, from: null, headers: { forwarded: 'for=unknown' } };
    answers.set('Forwarded: for=unknown', told(await desk.ask('/setup/admin', forwarded)));
    if (desk.product.mode === 'production')
      answers.set('nobody at all', told(await desk.ask('/setup/admin', { body: admin, from: null })));
    const metrics = told(await desk.ask('/metrics', { from: 'unknown' }));
    const open = [...answers].filter(([, answer]) => answer !== '403 ip_not_allowed');
    return {
      got:
        open.length === 0
          ? `403 to all ${answers.size} names; /metrics ${metrics}`
          : `open: ${open.join('; ')}`,
      isClosed: open.length === 0 && metrics.startsWith('403'),
    };
  },
};

export const lockFile: Attack = {
  item: 11,
  title: 'another user of the machine opens `lock` in a shared DATA_DIR',
  before: 'readable, and so it can be held: the service does not start again',
  // With a database elsewhere there is none.
  modes: WITHOUT_SERVERS,
  async run(desk) {
    const mode = (statSync(join(desk.product.dataDir, 'lock')).mode & 0o777).toString(8);
    return { got: `mode ${mode}`, isClosed: mode === '600' };
  },
};

interface Lockfile {
  readonly packages: Readonly<Record<string, { link?: boolean; integrity?: string }>>;
}

export const packages: Attack = {
  item: 11,
  title: 'a package registry gives out another content for a package of the lockfile',
  before: '25 packages without integrity: taken as they come',
  modes: ['default'],
  async run(desk) {
    const lock = JSON.parse(
      readFileSync(join(desk.product.checkout, 'package-lock.json'), 'utf8'),
    ) as Lockfile;
    const loose = Object.entries(lock.packages).filter(
      ([path, { link, integrity }]) => path && !link && !integrity,
    );
    const all = Object.keys(lock.packages).length - 1;
    return { got: `${loose.length} of ${all} packages without integrity`, isClosed: loose.length === 0 };
  },
};
