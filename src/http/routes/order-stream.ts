// The user's order changes as server-sent events. An answer without an end: it goes on until the client leaves, what
// opened it is no longer good, or the service stops.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller, Credentials } from '../../app/identity/access.ts';
import type { FeedEvent, Reader } from '../../app/orders/feeds.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { sendDenial } from '../problem.ts';

export interface OrderStreamRoutes {
  openStream(user: UserId, after: string | null, reader: Reader): Promise<Denial | OpenStream>;
  isStillIn(caller: Caller, credentials: Credentials): Promise<boolean>;
}

interface OpenStream {
  /** It is still there. */
  prolong(): void;
  close(): Promise<void>;
}

/** Anything: a place that nobody knows is one that was lost. */
const Place = Type.Object({
  'last-event-id': Type.Optional(Type.String({ description: 'the `id` of the last event that arrived' })),
});

const COMMENT_EVERY_MS = 15_000;
const COMMENT = ':\n\n';
/** A browser keeps comments to itself: a page hears by this that somebody is there. */
const ALIVE = 'event: alive\ndata: {}\n\n';
/** Who has not taken so much is cut off, and goes on from the last event that arrived. */
const MOST_UNSENT = 1024 * 1024;
/** Whoever reads gets what is unsent within this time when a stream ends. */
const LAST_WORDS_MS = 1_000;

const DOC: RouteDoc = {
  id: 'streamOrders',
  tag: 'Orders',
  summary: 'Follow the orders as they change',
  description:
    'Server-sent events. `order`: an order is new or has changed; its data is the record, as `GET /trading/orders/{id}` answers it, and many changes at once are one event. Each has its place in the stream as `id`; a client that sends the last one as `Last-Event-ID`, as browsers do, misses nothing of the last 5 minutes. `reset`: something may have been missed; read anew what you show. An event may come twice. A comment comes every 15 s, and where a session opened the stream the event `alive` with it, because browsers hide comments from scripts. Such a stream has the event `signals` too: signals have arrived that became no order; read anew what you show of them. It ends with the session or the API key. Open it before you read a list, and the list has no gap either. A user may have ten open at most.',
  answers: {
    200: {
      text: 'The events, without an end.',
      schema: Type.String({
        examples: [
          'event: order\nid: 3f9c1b2a7d4e-12\ndata: {"order_id":"019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10","status":"filled"}\n\n',
        ],
      }),
    },
  },
  answerType: 'text/event-stream',
  denials: ['store_unavailable', 'list_too_slow'],
};

export function orderStreamRoutes(server: FastifyInstance, deps: OrderStreamRoutes): void {
  const open = new Set<() => Promise<void>>();
  // They would never end by themselves.
  server.addHook('preClose', async () => {
    await Promise.all([...open].map((end) => end()));
  });

  server.get(
    '/trading/orders/stream',
    { config: { access: 'user', doc: DOC }, schema: { headers: Place } },
    async (request, reply) => {
      reply
        .type('text/event-stream')
        // For a proxy in front that would collect the events.
        .header('x-accel-buffering', 'no')
        .header('connection', 'close');
      if (request.method === 'HEAD') return reply.send('');

      const isOfPage = request.cookies?.access_token !== undefined;
      const body = new Readable({ read() {} });
      const write = (text: string) => {
        if (body.destroyed || text === '') return;
        // Of what was told before: nobody could take this one yet.
        if (body.readableLength > MOST_UNSENT) body.destroy();
        else body.push(text);
      };
      const reader: Reader = {
        tell: (events) => write(textOf(events, isOfPage)),
        checkAccess: () => void checkAccess(),
      };
      const { 'last-event-id': after = null } = request.headers as { 'last-event-id'?: string };
      const stream = await deps.openStream(request.caller.user.id, after, reader);
      if (isDenial(stream)) return sendDenial(request, reply.removeHeader('connection'), stream);

      const closed = Promise.withResolvers<void>();
      const end = () => {
        body.push(null);
        setTimeout(() => reply.raw.destroy(), LAST_WORDS_MS).unref();
        return closed.promise;
      };
      async function checkAccess(): Promise<void> {
        // Where nobody can say now, the next time decides.
        const isIn = await deps.isStillIn(request.caller, credentialsOf(request)).catch(() => true);
        if (!isIn && !body.destroyed) await end();
      }
      // Who takes nothing from one comment to the next is gone.
      let isStuck = false;
      reply.raw.on('drain', () => {
        isStuck = false;
      });
      const comments = setInterval(() => {
        const wasStuck = isStuck;
        isStuck = reply.raw.writableLength > 0;
        if (wasStuck && isStuck) body.destroy();
        write(isOfPage ? `${COMMENT}${ALIVE}` : COMMENT);
        if (!body.destroyed) (stream as OpenStream).prolong();
        void checkAccess();
      }, COMMENT_EVERY_MS).unref();
      open.add(end);
      const finish = () => {
        clearInterval(comments);
        open.delete(end);
        body.destroy();
        void stream.close().finally(closed.resolve);
      };
      reply.raw.once('close', finish);
      if (reply.raw.destroyed) finish();
      return reply.send(body);
    },
  );
}

const credentialsOf = ({ cookies, headers }: FastifyRequest): Credentials => ({
  cookie: cookies.access_token,
  authorization: headers.authorization,
});

/** The same events go to all streams of a user: they are written once. */
const toPages = new WeakMap<readonly FeedEvent[], string>();
const toPrograms = new WeakMap<readonly FeedEvent[], string>();

function textOf(events: readonly FeedEvent[], isOfPage: boolean): string {
  const written = isOfPage ? toPages : toPrograms;
  const known = written.get(events);
  if (known !== undefined) return known;
  // A program is told of orders, as agreed, and of nothing else.
  const heard = isOfPage ? events : events.filter(({ kind }) => kind !== 'signals');
  const text = heard.map(eventText).join('');
  written.set(events, text);
  return text;
}

/** JSON has no line breaks of its own. A place alone is no event to the client, and remembered all the same. */
function eventText(event: FeedEvent): string {
  const place = `id: ${event.place}\n`;
  if (event.kind === 'place') return `${place}\n`;
  const data = event.kind === 'order' ? event.record : {};
  return `event: ${event.kind}\n${place}data: ${JSON.stringify(data)}\n\n`;
}
