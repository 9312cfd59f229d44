// HTTP as every connector needs it. An answer is read to its end, within the call's time and a limit of size, before anybody
// looks at it; a request leaves once; and where none can have left, that is known.

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const MOST_BYTES = 1_048_576;

/** An answer that was read to its end: a body that stalls ends with the call's signal. */
export async function askWhole(fetch: Fetch, url: string, init: RequestInit, most: number = MOST_BYTES) {
  // Nobody is followed elsewhere, least of all with credentials.
  const response = await fetch(url, { ...init, redirect: 'error', ...once(init) });
  const { status, headers, ok } = response;
  // What is long is what was asked for: a refusal never is.
  return { status, headers, bytes: await readAtMost(ok ? most : MOST_BYTES, response) };
}

/** The given fetch, whose answers are whole. */
export function wholeAnswers(fetch: Fetch, most: number = MOST_BYTES): Fetch {
  return async (url, init) => {
    const { status, headers, bytes } = await askWhole(fetch, url, init, most);
    const whole = new Response(bytes.length > 0 ? streamOf(bytes) : null, { status, headers });
    asked.set(whole, { method: init.method ?? 'GET', url });
    return whole;
  };
}

const asked = new WeakMap<Response, { readonly method: string; readonly url: string }>();

/** What it answers, where it came through here. */
export const askedFor = (response: Response): { readonly method: string; readonly url: string } =>
  asked.get(response) ?? { method: 'GET', url: response.url };

/** As a stream, because a text would be sent again by fetch itself after some answers (421 is one). */
function once({ body, headers }: RequestInit): RequestInit {
  if (typeof body !== 'string') return {};
  const bytes = Buffer.from(body);
  const length = new Headers(headers);
  // Without it the body would go in chunks, which not every server takes.
  length.set('content-length', String(bytes.length));
  return { body: streamOf(bytes), headers: length, duplex: 'half' } as RequestInit;
}

async function readAtMost(most: number, { body }: Response): Promise<Uint8Array<ArrayBuffer>> {
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
  (await readAtMost(Number.POSITIVE_INFINITY, response)).buffer;

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
