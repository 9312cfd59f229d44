// Long answers are compressed for who takes that, on the routes that say so. A compressed answer tells its length, and so
// whether two parts of it are alike: where a secret stands beside a text of somebody else's, that somebody could guess
// the secret bit by bit (BREACH). So it is not the rule: a route that packs answers no secret, whoever asks.

import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { takes } from './pages.ts';
import { READING } from './reads-at-once.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Nothing in its answers is secret, and they may be long. */
    packs?: true;
  }
}

/** Below this it is one packet either way. */
const LONG = 1_200;
/** Near the best for a text of this size, in a fraction of the time. */
const BROTLI = { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } };

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
/** From the one that we like best. */
const PACKINGS = [
  ['br', (text: string) => brotli(text, BROTLI)],
  ['gzip', (text: string) => zip(text)],
] as const;

/** Before the routes. With the route alone: an order's answer is not looked at. */
export function packAnswers(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (!route.config?.packs || !READING.has(String(route.method)) || route.method === 'HEAD') return;
    route.onSend = async (request, reply, payload) => {
      // What is sent as it is read, as CSV is, goes as it is.
      if (typeof payload !== 'string') return payload;
      reply.header('vary', vary(reply.getHeader('vary')));
      if (payload.length < LONG) return payload;
      const accepted = request.headers['accept-encoding'];
      const packing = PACKINGS.find(([name]) => takes(accepted, name));
      if (!packing) return payload;
      const [name, pack] = packing;
      reply.header('content-encoding', name);
      return pack(payload);
    };
  });
}

/** CORS has its own word there. */
const vary = (known: unknown): string =>
  known === undefined ? 'Accept-Encoding' : `${String(known)}, Accept-Encoding`;
