// What both floors are made of: a bare server, and the gathering of what waits at one moment into one group.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const FILLED = '{"status":"filled"}';
const DUPLICATE = '{"status":"duplicate"}';

/** `place` says whether it was the first of its kind. */
export function serveFloor(place: (body: string) => Promise<boolean>): void {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', async () => {
      const isFirst = await place(body);
      const answer = isFirst ? FILLED : DUPLICATE;
      response
        .writeHead(isFirst ? 200 : 409, {
          'content-type': 'application/json',
          'content-length': answer.length,
        })
        .end(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}

/** While one group is under way the next one gathers. Resolves with what is asked for, once its whole group is done. */
export function grouped<Item>(run: (items: readonly Item[]) => unknown): (item: Item) => Promise<void> {
  let waiting: { readonly item: Item; readonly done: () => void }[] = [];
  let isBusy = false;
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await run(group.map(({ item }) => item));
      for (const { done } of group) done();
    }
    isBusy = false;
  }
  return (item) =>
    new Promise((done) => {
      waiting.push({ item, done });
      if (isBusy) return;
      isBusy = true;
      // Whoever arrives in this very turn comes along.
      setImmediate(work);
    });
}
