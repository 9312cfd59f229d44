// The least that an order over PostgreSQL and Redis can cost: node:http reads a request, Redis claims it, PostgreSQL
// writes one row and waits for the disk, and the answer goes out. By the environment: DATABASE_URL and REDIS_URL.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { Pool } from 'pg';

const redis = new Redis(process.env.REDIS_URL ?? '', { protocol: 2, enableAutoPipelining: true });
// As durable as the service's own commits, whatever the server's default is.
const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10,
  options: '-c synchronous_commit=on',
});
await pool.query(
  'create table if not exists floor_orders (id bigint generated always as identity, body text)',
);
let claims = 0;

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  await redis.set(`floor:${process.pid}:${++claims}`, '1', 'PX', 60_000, 'NX');
  await pool.query({ name: 'insert', text: 'insert into floor_orders (body) values ($1)', values: [body] });
  const answer = '{"status":"filled"}';
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    .end(answer);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
