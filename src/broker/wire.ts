// HTTP as every connector needs it. An answer is read to its end, within the call's time and a limit of size, before anybody
// looks at it; a request leaves once; and where none can have left, that is known.

import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { Agent, request } from 'undici';

/** What is read of an answer, as the platform's own Response has it. */
interface Reply extends Pick<Response, 'status' | 'headers' | 'ok'> {
  readonly body: AsyncIterable<Uint8Array> | Response['body'];
}

/** One request, one answer. */
export type Wire = (url: string, init: RequestInit) => Promise<Reply>;
/** The platform's own fetch, and whoever takes its place, are such. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Of our own: nobody else's settings count. Each request has its connection for itself: over HTTP/2 one that is dead would hold up everybody, and
 * what it refused would be sent again.
 */
const connections = new Agent({ allowH2: false });

/** Nobody is followed elsewhere, least of all with credentials. */
const ELSEWHERE = [301, 302, 303, 307, 308];

/**
 * The platform's client under its `fetch`, asked itself: an order is a few requests, and each takes a third of the processor time so. Nothing is
 * sent twice, nobody is followed, and an answer is not packed, or unpacked here.
 */
export const send: Wire = async (url, { method = 'GET', headers, body = null, signal = null }) => {
  if (body !== null && typeof body !== 'string') throw new TypeError('a body is a text');
  const { statusCode, ...answer } = await request(url, {
    method: method as 'GET',
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(headers)) },
    body,
    signal,
    dispatcher: connections,
  });
  if (ELSEWHERE.includes(statusCode)) {
    // That it was broken off is told to nobody else.
    answer.body.on('error', () => {}).destroy();
    throw new Error('it was answered from elsewhere');
  }
  return {
    status: statusCode,
    ok: statusCode >= 200 && statusCode < 300,
    headers: new Headers(Object.entries(answer.headers).flatMap(([name, value]) => several(name, value))),
    body: unpacked(answer.body, answer.headers['content-encoding']),
  };
};

function unpacked(body: Readable, encoding: string | string[] | undefined): Readable {
  if (encoding === undefined || encoding === 'identity') return body;
  // A fault of the one ends the other, and is told where that is read.
  return pipeline(body, encoding === 'br' ? createBrotliDecompress() : createUnzip(), () => {});
}

const several = (name: string, value: string | string[] | undefined): [string, string][] =>
  [value ?? []].flat().map((each) => [name, each]);

const MOST_BYTES = 1_048_576;

/** An answer that was read to its end: a body that stalls ends with the call's signal. */
export async function askWhole(wire: Wire, url: string, init: RequestInit, most: number = MOST_BYTES) {
  const { status, headers, ok, body } = await wire(url, init);
  // What is long is what was asked for: a refusal never is.
  return { status, headers, bytes: await readAtMost(ok ? most : MOST_BYTES, body) };
}

/** As a fetch whose answers are whole, for those who know nothing else. */
export function wholeAnswers(wire: Wire, most: number = MOST_BYTES): Fetch {
  return async (url, init) => {
    const { status, headers, bytes } = await askWhole(wire, url, init, most);
    const whole = new Response(bytes.length > 0 ? streamOf(bytes) : null, { status, headers });
    asked.set(whole, { method: init.method ?? 'GET', url });
    return whole;
  };
}

const asked = new WeakMap<Response, { readonly method: string; readonly url: string }>();

/** What it answers, where it came through here. */
export const askedFor = (response: Response): { readonly method: string; readonly url: string } =>
  asked.get(response) ?? { method: 'GET', url: response.url };

async function readAtMost(most: number, body: Reply['body']): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    if (length > most) throw new Error(`an answer of more than ${most} bytes`);
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (only && chunks.length === 1 && only.length === only.buffer.byteLength) return only;
  const bytes = new Uint8Array(length);
  let filled = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return bytes;
}

/** Of megabytes each copy is felt: a stream passes them on as they are. */
const streamOf = (bytes: Uint8Array): ReadableStream =>
  new ReadableStream({
    start(stream) {
      stream.enqueue(bytes);
      stream.close();
    },
  });

/** Of an answer that is whole: the bytes themselves, which may be given away. */
export const bytesOf = async (response: Response): Promise<ArrayBuffer> =>
  (await readAtMost(Number.POSITIVE_INFINITY, response.body)).buffer;

/** undefined: it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where no connection came about, nothing was written to one. */
export function isUnsent(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  if (fault instanceof AggregateError) return fault.errors.length > 0 && fault.errors.every(isUnsent);
  const { code, syscall, cause } = fault as NodeJS.ErrnoException;
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    isUnsent(cause)
  );
}

/** Without what a path must not end with to be continued. */
export function baseAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}
