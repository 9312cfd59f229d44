// The least that an order over PostgreSQL and Redis can cost, with its roles apart. The API: node:http reads a request,
// Redis claims its hash, PostgreSQL writes the order, Redis hands it to the worker. The worker: PostgreSQL writes the
// result, Redis tells the API, and the answer goes out. Everything that waits at one moment goes together.
// One argument: api or worker. By the environment: DATABASE_URL and REDIS_URL.

import { hash, randomUUIDv7 } from 'node:crypto';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { grouped, serveFloor } from './floor-shared.ts';

const TO_WORKER = 'floor:placed';
const TO_API = 'floor:filled';

const redis = new Redis(process.env.REDIS_URL ?? '', { protocol: 2, enableAutoPipelining: true });
const listener = new Redis(process.env.REDIS_URL ?? '', { protocol: 2 });
// As durable as the service's own commits, whatever the server's default is.
const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  max: 1,
  options: '-c synchronous_commit=on -c default_transaction_isolation=read\\ committed',
});

interface Order {
  readonly id: string;
  readonly body: string;
}

async function runApi(): Promise<void> {
  await pool.query(
    'create table if not exists floor_orders (id uuid primary key, body text not null, status text) with (fillfactor = 50)',
  );
  const write = grouped(async (orders: readonly Order[]) => {
    const ids = orders.map(({ id }) => id);
    await pool.query({
      name: 'place',
      text: 'insert into floor_orders (id, body) select * from unnest($1::uuid[], $2::text[])',
      values: [ids, orders.map(({ body }) => body)],
    });
    await redis.rpush(TO_WORKER, ids.join(' '));
  });
  const filled = new Map<string, () => void>();
  listener.on('message', (_channel, ids: string) => {
    for (const id of ids.split(' ')) filled.get(id)?.();
  });
  await listener.subscribe(TO_API);
  serveFloor(async (body) => {
    const claim = await redis.set(`floor:once:${hash('sha256', body)}`, '1', 'PX', 60_000, 'NX');
    if (claim === null) return false;
    const id = randomUUIDv7();
    const result = new Promise<void>((resolve) => filled.set(id, resolve));
    await write({ id, body });
    await result;
    filled.delete(id);
    return true;
  });
}

async function runWorker(): Promise<void> {
  console.log('ready at http://no.address');
  for (;;) {
    const [, first = ''] = (await listener.blpop(TO_WORKER, 0)) ?? [];
    const more = (await listener.lpop(TO_WORKER, 1_000)) ?? [];
    const ids = [first, ...more].join(' ');
    await pool.query({
      name: 'fill',
      text: `update floor_orders set status = 'filled' where id = any($1::uuid[])`,
      values: [ids.split(' ')],
    });
    await redis.publish(TO_API, ids);
  }
}

await (process.argv[2] === 'worker' ? runWorker() : runApi());
