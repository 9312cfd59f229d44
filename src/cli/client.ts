// The API as a program uses it: an address and a key.

import type { Desk } from './desk.ts';
import { type ExitCode, type Output, visible } from './output.ts';

export interface ClientOptions {
  readonly url?: string;
  readonly key?: string;
}

export const URL_OPTION = ['--url <url>', 'where the service is; else FILLPATH_URL, else BASE_URL'] as const;
export const KEY_OPTION = [
  '--key <key>',
  'an API key; better set as FILLPATH_KEY, which the list of processes does not show',
] as const;

export interface Api {
  get(path: string, init?: { headers?: Record<string, string>; signal?: AbortSignal }): Promise<Response>;
}

/** What the service answered where it did not do what was asked. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** 1: the service refused what was asked, and that was told. */
export async function unlessRefused(output: Output, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof Refused)) throw fault;
    output.complain(fault.message);
    return 1;
  }
}

/** A list of the API, whole. */
export async function* everyOne<Item>(api: Api, path: string): AsyncGenerator<Item> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await api.get(`${path}?limit=200${cursor && `&cursor=${cursor}`}`);
    const page = (await answer.json()) as { items: Item[]; next_cursor: string | null };
    yield* page.items;
    cursor = page.next_cursor;
  }
}

export function openApi({ client, config }: Pick<Desk, 'client' | 'config'>, options: ClientOptions): Api {
  const settings = client();
  const key = options.key ?? settings.key;
  if (!key) throw new Error('An API key is needed: --key, or FILLPATH_KEY. `fillpath key add` makes one.');
  // What names the service itself is asked for only where nobody named another.
  const base = baseOf(options.url ?? settings.url ?? config().http.baseUrl);
  return {
    async get(path, { headers = {}, ...init } = {}) {
      const answer = await ask(`${base}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, ...headers },
      });
      if (!answer.ok) throw new Refused(answer.status, problemIn(await answer.text(), answer.status));
      return answer;
    },
  };
}

export function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`${url} is not the address of a service, such as https://…`);
  return url.replace(/\/+$/, '');
}

/** A connection that fails says no more than "fetch failed" otherwise. */
export async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'error', ...init });
  } catch (fault) {
    const { cause, message } = fault as Error & { cause?: { code?: string; message?: string } };
    throw new Error(`${new URL(url).origin} cannot be reached: ${cause?.code ?? cause?.message ?? message}`, {
      cause: fault,
    });
  }
}

/** What a problem answer says; of anything else, its status. */
export function problemIn(text: string, status: number): string {
  try {
    const { title, detail, code } = JSON.parse(text) as { title?: string; detail?: string; code?: string };
    if (title && detail) return `${visible(title)}: ${visible(detail)} (${code})`;
  } catch {}
  return `The answer was ${status}, and it did not come from Fillpath.`;
}
