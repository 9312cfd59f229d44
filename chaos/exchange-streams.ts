// What the exchange tells by itself: to whoever has logged in and subscribed at its private stream, each change of an order.
// The dialect knows the words (StreamDialect); faults meet a stream as they meet a request.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AccountId } from '../src/domain/ids.ts';
import type { SeenOrder, StreamDialect, StreamTalk, StreamVisit } from './exchange-dialect.ts';
import type { createFaults } from './exchange-faults.ts';

interface Streams {
  readonly dialect: StreamDialect | undefined;
  open(visit: StreamVisit): StreamTalk;
  readonly faults: Pick<ReturnType<typeof createFaults>, 'meet'>;
}

interface Ear {
  readonly socket: WebSocket;
  readonly talk: StreamTalk;
  readonly asker: string | null;
}

/** What no client should be troubled by. */
const NONSENSE = [
  '<html><body>It works!</body></html>',
  '{"topic":"order","channel":"futures.orders","arg":{"channel":"orders"},"e":"ORDER_TRADE_UPDATE"',
  '{"topic":"order","data":{}}',
  '{"topic":"order","channel":"futures.orders","event":"update","result":[null],"data":[[1]],"arg":{"channel":"orders"}}',
  '{"e":"ORDER_TRADE_UPDATE","o":null}',
  'null',
  '[]',
  '',
];

export function openStreams({ dialect, open, faults }: Streams) {
  const server = new WebSocketServer({ noServer: true });
  const ears = new Set<Ear>();
  let opened = 0;

  function say(socket: WebSocket, said: string | object): void {
    socket.send(typeof said === 'string' ? said : JSON.stringify(said));
  }

  function listenTo(socket: WebSocket, talk: StreamTalk, asker: string | null): void {
    const ear: Ear = { socket, talk, asker };
    ears.add(ear);
    const meet = () => {
      const account = talk.account();
      if (account === null) return;
      opened++;
      if (faults.meet({ account, asker, call: 'other' }).before !== null) socket.terminate();
    };
    socket.on('close', () => ears.delete(ear));
    socket.on('error', () => socket.terminate());
    socket.on('message', (data) => {
      const before = talk.account();
      for (const answer of talk.hear(String(data))) say(socket, answer);
      if (talk.account() !== before) meet();
    });
    // Some need not log in.
    meet();
  }

  const earsOf = (account: AccountId) => [...ears].filter(({ talk }) => talk.account() === account);

  return {
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://exchange');
      const [, first = '', rest = ''] = /^\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
      const isNamed = dialect !== undefined && !dialect.isAt(pathname) && dialect.isAt(rest);
      if (!dialect || !(isNamed || dialect.isAt(pathname))) {
        socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      const { headers } = request;
      const talk = open({ path: isNamed ? rest : pathname, query: searchParams, headers });
      server.handleUpgrade(request, socket, head, (accepted) => {
        const asker = isNamed ? decodeURIComponent(first) : null;
        listenTo(accepted, talk, asker);
      });
    },

    changed(account: AccountId, orders: readonly SeenOrder[]): void {
      for (const { socket, talk, asker } of earsOf(account))
        for (const order of orders) {
          const trouble = faults.meet({ account, asker, call: 'look_ups' });
          if (trouble.before === 'reset') socket.terminate();
          else if (trouble.before === 'garbage' || trouble.after === 'garbage') babble(socket);
          else if (trouble.before === null && !trouble.hang) say(socket, talk.tell(order));
        }
    },

    /** How many listen to the account's orders, and how many ever did to anybody's. */
    state: (account: AccountId) => ({ listening: earsOf(account).length, opened }),

    cut(account: AccountId): void {
      for (const { socket } of earsOf(account)) socket.terminate();
    },

    babble(account: AccountId): void {
      for (const { socket } of earsOf(account)) babble(socket);
    },

    async close(): Promise<void> {
      for (const { socket } of ears) {
        const closed = once(socket, 'close');
        socket.terminate();
        await closed;
      }
      server.close();
    },
  };

  function babble(socket: WebSocket): void {
    for (const nonsense of NONSENSE) say(socket, nonsense);
    socket.send(Buffer.from([0, 255, 254, 1]), { binary: true });
  }
}
