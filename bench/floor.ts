// The least that a durable order can cost in one process: node:http reads a request, its hash is claimed once, node:sqlite
// writes the order and then its result, each group of them with one wait for the disk, and the answer goes out.
// One argument: the file of its database.

import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { grouped, serveFloor } from './floor-shared.ts';

const db = new DatabaseSync(process.argv[2] ?? ':memory:');
db.exec('pragma journal_mode = wal; pragma synchronous = full');
db.exec('create table orders (id integer primary key, body text not null, status text)');
const begin = db.prepare('begin immediate');
const commit = db.prepare('commit');
const insert = db.prepare('insert into orders (id, body) values (?, ?)');
const fill = db.prepare(`update orders set status = 'filled' where id = ?`);

const claimed = new Set<string>();
let orders = 0;

/** Each group waits for the disk once. */
const write = grouped((writes: readonly (() => void)[]) => {
  begin.run();
  for (const each of writes) each();
  commit.run();
});

serveFloor(async (body) => {
  const signal = hash('sha256', body);
  if (claimed.has(signal)) return false;
  claimed.add(signal);
  const id = ++orders;
  await write(() => insert.run(id, body));
  await write(() => fill.run(id));
  return true;
});
