// A POST to an address that a user has chosen. The name is resolved once, every answer must be one that may be reached, and
// exactly the checked address is connected to: a name that resolves to something else a moment later is not asked again.
// No redirects, no proxy of the environment, little time, and of the answer no more than a few kilobytes.

import { lookup, Resolver } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type AllowedNetworks, standingOf } from './addresses.ts';

export interface Answered {
  readonly status: number;
  /** Milliseconds; null: it does not say. */
  readonly retryAfterMs: number | null;
  /** Its beginning. For those who know whom they have asked: it is never shown of a stranger's server. */
  readonly body: string;
}

/** Nothing was answered. The words are for the user, and the same for a name that is not there and one of our own network. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

export type Post = (
  url: string,
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<Answered>;

export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface PostSettings {
  readonly allowed: AllowedNetworks;
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  /** Of certificates besides those of the platform. */
  readonly ca?: string;
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 16_384;
/** Of the public internet; what listens elsewhere does not expect a webhook. */
const PORTS: ReadonlySet<string> = new Set(['', '443', '8443']);

const NOT_REACHABLE = 'The host in the address does not lead to an address of the public internet.';

/**
 * Not by the platform's getaddrinfo, which has few threads and shares them with passwords and files: a user's slow name
 * server would hold up everybody.
 */
const resolveByServers: Resolve = async (name, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

export function openPost({
  allowed,
  resolve = resolveByServers,
  timeoutMs = TIMEOUT_MS,
  ca,
}: PostSettings): Post {
  async function addressOf(url: URL, signal: AbortSignal): Promise<string> {
    const host = hostOf(url);
    const found = isIP(host) ? [host] : await resolve(host, signal).catch(() => []);
    const standings = found.map((address) => standingOf(address, allowed));
    if (found.length === 0 || standings.includes('refused')) throw new Unanswered(NOT_REACHABLE);
    const isOwn = standings.every((standing) => standing === 'allowed');
    if (!isOwn && (url.protocol !== 'https:' || !PORTS.has(url.port)))
      throw new Unanswered('Only https is used, on port 443 or 8443.');
    // Most hosts reach an IPv4 address; not all of them an IPv6 one.
    return found.find((address) => isIP(address) === 4) ?? (found[0] as string);
  }

  async function ask(
    url: URL,
    { headers, body }: Parameters<Post>[1],
    signal: AbortSignal,
  ): Promise<Answered> {
    const address = await addressOf(url, signal);
    const isTls = url.protocol === 'https:';
    const request = (isTls ? httpsRequest : httpRequest)({
      host: address,
      port: url.port || (isTls ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      // The certificate is to be the name's, whichever address it leads to.
      ...(isTls && !isIP(hostOf(url)) ? { servername: hostOf(url) } : {}),
      ...(ca === undefined ? {} : { ca }),
      // One of its own: it knows nothing of a proxy, and keeps no connection to a stranger.
      agent: false,
      signal,
      headers: {
        ...headers,
        host: url.host,
        'content-length': String(Buffer.byteLength(body)),
        connection: 'close',
      },
    });
    const answered = new Promise<Answered>((done, fail) => {
      request.on('error', (fault) => fail(new Unanswered(wordsOf(fault))));
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        const end = () =>
          done({
            status: response.statusCode ?? 0,
            retryAfterMs: retryAfterMs(response.headers['retry-after']),
            body: Buffer.concat(chunks).toString('utf8').slice(0, MOST_BYTES),
          });
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes <= MOST_BYTES) return;
          end();
          request.destroy();
        });
        response.on('end', end);
        // What it has said counts, even if it breaks off behind it.
        response.on('error', end);
        response.on('close', end);
      });
    });
    request.end(body);
    return answered;
  }

  return async (text, sent) => {
    const cut = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(() => {
        fail(new Unanswered('It did not answer in time.'));
        cut.abort();
      }, timeoutMs);
    });
    try {
      return await Promise.race([ask(new URL(text), sent, cut.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** By the platform, with its own names such as localhost: the operator's are few, and theirs to keep quick. */
const resolveByPlatform: Resolve = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** To an address that the operator has chosen and no user: wherever it stands, and else as carefully. */
export const openOwnPost = (settings: PostSettings): Post =>
  openPost({ resolve: resolveByPlatform, ...settings, allowed: { has: () => true } });

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** In seconds. The other form is a date, by a clock that is not ours. */
function retryAfterMs(value: string | undefined): number | null {
  const seconds = Number(value ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null;
}

/** By its kind: a fault's own words name addresses. */
function wordsOf(fault: unknown): string {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  if (code === 'ECONNREFUSED') return 'It refuses connections.';
  if (code.includes('CERT') || code.includes('TLS') || code.includes('SSL') || code.includes('SELF_SIGNED'))
    return 'Its certificate is not valid for this name.';
  return 'The connection broke off.';
}
