// The least that a durable order can cost on this machine: node:http reads a request, node:sqlite writes one row and
// waits for the disk, and the answer goes out. One argument: the file of its database.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2] ?? ':memory:');
db.exec('pragma journal_mode = wal; pragma synchronous = full');
db.exec('create table orders (id integer primary key, body text not null)');
const insert = db.prepare('insert into orders (body) values (?)');

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  insert.run(JSON.stringify(JSON.parse(body)));
  const answer = '{"status":"filled"}';
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    .end(answer);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
