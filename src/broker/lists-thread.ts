// The thread that reads long lists, with a heap of its own. It has no network: where a reader must ask for more, lists.ts asks,
// which also starts it.

import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { AssetColumns } from './alpaca/assets.ts';
import type { Listing, ListingOf } from './ccxt/listing.ts';
import type { ListedContract, Month, OddMonth, OddTrade, Trade } from './shioaji/answers.ts';

export type Bytes = ArrayBuffer;

/** Of one more answer that a list is made of. */
export interface ListRequest {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

type Ask = (request: ListRequest) => Promise<Bytes>;

/** What there is to be read; undefined: it is not as agreed. */
export interface Readers {
  ccxtMarkets(of: ListingOf, ask: Ask): Promise<Listing>;
  alpacaAssets(bytes: Bytes): AssetColumns | undefined;
  shioajiContracts(bytes: Bytes): readonly ListedContract[] | undefined;
  shioajiMonths(bytes: Bytes): readonly (Month | OddMonth)[] | undefined;
  shioajiTrades(bytes: Bytes): readonly (Trade | OddTrade)[] | undefined;
}

export type ToThread =
  | { readonly id: number; readonly name: keyof Readers; readonly question: unknown }
  /** null: nobody answered. */
  | { readonly turn: number; readonly bytes: Bytes | null };

export type FromThread =
  | { readonly id: number; readonly turn: number; readonly request: ListRequest }
  | { readonly id: number; readonly value?: unknown; readonly fault?: Error };

/** Each is loaded with the first list of its kind. */
const READERS: { readonly [Name in keyof Readers]: () => Promise<Readers[Name]> } = {
  ccxtMarkets: async () => (await import('./ccxt/listing.ts')).readListing,
  alpacaAssets: async () => (await import('./alpaca/assets.ts')).readAssets,
  shioajiContracts: async () => (await import('./shioaji/answers.ts')).readContracts,
  shioajiMonths: async () => (await import('./shioaji/answers.ts')).readMonths,
  shioajiTrades: async () => (await import('./shioaji/answers.ts')).readTrades,
};

/** Half as much of a processor as others where there is too little for all. */
const NICE = 3;
// Elsewhere this would be about the whole process.
if (process.platform === 'linux')
  setPriority(0, Math.min(getPriority(0) + NICE, constants.priority.PRIORITY_LOW));

const say = (words: FromThread) => parentPort?.postMessage(words);

const asked = new Map<number, PromiseWithResolvers<Bytes>>();
let turns = 0;

const askFor =
  (id: number): Ask =>
  (request) => {
    const turn = ++turns;
    const answer = Promise.withResolvers<Bytes>();
    asked.set(turn, answer);
    say({ id, turn, request });
    return answer.promise;
  };

parentPort?.on('message', async (words: ToThread) => {
  if ('turn' in words) {
    const { turn, bytes } = words;
    if (bytes) asked.get(turn)?.resolve(bytes);
    else asked.get(turn)?.reject(new Error('nobody answered'));
    asked.delete(turn);
    return;
  }
  const { id, name, question } = words;
  try {
    const read = (await READERS[name]()) as (question: unknown, ask: Ask) => unknown;
    say({ id, value: await read(question, askFor(id)) });
  } catch (fault) {
    const { message, stack } = fault as Error;
    say({ id, fault: Object.assign(new Error(message), { stack }) });
  }
});
