// The dashboard: one document for every page's path, and its files under /static, as web/build.ts left them. They are read
// once, so that no path of a request ever names a file. Who is logged in is none of their business: they hold nothing of
// anybody, and the API decides.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { READING } from './reads-at-once.ts';

/** web/routes.tsx has the same; a test holds the two together. */
const PAGE =
  /^\/(?:|signals(?:\/[^/]+)?|orders\/[^/]+|protections\/[^/]+|positions|trades(?:\/[^/]+)?|performance|accounts(?:\/[^/]+)?|groups(?:\/[^/]+)?|check|security|notifications|operation|login|register|forgot-password|reset-password|verify-email|terms|welcome)$/;
/** Whatever is unknown here is a program's business, and stays a problem document. */
const OF_PROGRAMS =
  /^\/(?:trading|settings|auth|deployment|webhook|public|setup|static|docs|health|metrics|openapi\.json)(?:\/|$)/;

export const isPage = (path: string): boolean => PAGE.test(path);
export const isOfPrograms = (path: string): boolean => OF_PROGRAMS.test(path);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** From the one that we like best. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const DOCUMENT = 'index.html';

interface File {
  readonly type: string;
  readonly plain: Buffer;
  readonly encoded: ReadonlyMap<string, Buffer>;
}

export interface Pages {
  /** Null: it is neither a page nor a file of one. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
}

const NOT_BUILT =
  '<!doctype html><title>Fillpath</title><p>The pages are not built. Run <code>npm run build</code> and start again. The API works without them: <a href="/docs">/docs</a>.';

export function openPages(folder: string): Pages {
  const files = readFiles(folder);
  // Its files have their content in their names; the document itself is asked for each time.
  const document = files.get(DOCUMENT);
  const tag = document && `"${createHash('sha256').update(document.plain).digest('base64url').slice(0, 27)}"`;

  function sendDocument(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
    if (!document || !tag)
      return reply.code(503).header('retry-after', '60').type('text/html; charset=utf-8').send(NOT_BUILT);
    reply.headers({ 'cache-control': 'no-cache', etag: tag });
    if (status === 200 && request.headers['if-none-match'] === tag) return reply.code(304).send();
    return send(request, reply.code(status), document);
  }

  return {
    answer(request, reply) {
      if (!READING.has(request.method)) return null;
      const path = request.url.replace(/[?#].*$/s, '');
      const name = path.startsWith('/static/') ? path.slice('/static/'.length) : null;
      const file = name === null || name === DOCUMENT ? undefined : files.get(name);
      if (file) {
        reply.header('cache-control', 'public, max-age=31536000, immutable');
        return send(request, reply, file);
      }
      // Another build's, where one replaces the other: it may be here at the next try.
      if (name !== null) reply.header('cache-control', 'no-store');
      if (isPage(path)) return sendDocument(request, reply, 200);
      const isForPerson = !isOfPrograms(path) && /\btext\/html\b/.test(request.headers.accept ?? '');
      return isForPerson ? sendDocument(request, reply, 404) : null;
    },
  };
}

function send(request: FastifyRequest, reply: FastifyReply, { type, plain, encoded }: File): FastifyReply {
  reply.type(type);
  if (encoded.size === 0) return reply.send(plain);
  reply.header('vary', 'Accept-Encoding');
  const accepted = request.headers['accept-encoding'];
  for (const [name] of ENCODINGS) {
    const body = encoded.get(name);
    if (body && takes(accepted, name)) return reply.header('content-encoding', name).send(body);
  }
  return reply.send(plain);
}

/** `br;q=0` is a refusal. */
export const takes = (accepted: string | string[] | undefined, encoding: string): boolean =>
  new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[\\d.]+\\s*)?(?:,|$)`, 'i').test(
    String(accepted ?? ''),
  );

function readFiles(folder: string): ReadonlyMap<string, File> {
  if (!existsSync(folder)) return new Map();
  const names = new Set(readdirSync(folder));
  const read = (name: string) => readFileSync(join(folder, name));
  return new Map(
    [...names].flatMap((name): [string, File][] => {
      const type = TYPES[extname(name)];
      if (!type) return [];
      const encoded = ENCODINGS.filter(([, suffix]) => names.has(name + suffix)).map(
        ([encoding, suffix]) => [encoding, read(name + suffix)] as const,
      );
      return [[name, { type, plain: read(name), encoded: new Map(encoded) }]];
    }),
  );
}
