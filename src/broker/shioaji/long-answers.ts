// Answers that may be long: they are read by the thread that reads lists. The orders of a day seldom are, and whoever looks for
// one of them is in a hurry: few are read here.

import { readList } from '../lists.ts';
import type { Readers } from '../lists-thread.ts';
import { readTrades } from './answers.ts';
import { type Api, unanswered } from './api.ts';

/** So many are read before anybody else notices. */
const FEW_BYTES = 1_048_576;

type LongAnswer = 'shioajiContracts' | 'shioajiMonths' | 'shioajiTrades';
type Rows<Name extends LongAnswer> = ReturnType<Readers[Name]>;

export async function askForMany<Name extends LongAnswer>(
  api: Api,
  name: Name,
  { signal, path, body }: { readonly signal: AbortSignal; readonly path: string; readonly body?: object },
): Promise<NonNullable<Rows<Name>>> {
  const answer = await api.askForList(signal, path, body);
  const rows = answer.kind === 'answer' ? await rowsIn(name, answer.body) : undefined;
  if (!rows) {
    if (answer.kind === 'answer') api.unreadable(path, 'a list');
    throw unanswered(answer);
  }
  return rows as NonNullable<Rows<Name>>;
}

const rowsIn = (name: LongAnswer, bytes: ArrayBuffer) =>
  name === 'shioajiTrades' && bytes.byteLength <= FEW_BYTES ? readTrades(bytes) : readList(name, bytes);
