// What `broker try` and `broker compare` say at their end.

import type { Outcome } from '../app/trial/trial.ts';
import { subtract } from '../domain/decimal.ts';
import type { TrialRow, Verdict } from '../domain/trial/row.ts';
import type { Compared } from '../roles/trial.ts';
import { type Output, type Tone, visible } from './output.ts';

const VERDICTS: Readonly<Record<Verdict, readonly [word: string, tone: Tone]>> = {
  as_assumed: ['as assumed', 'good'],
  noted: ['noted', 'warn'],
  surprise: ['SURPRISE', 'bad'],
  not_tried: ['not tried', 'quiet'],
};

/** So much of a text is in the table; what is longer stands whole below it, where it matters. */
const WIDEST = 56;
const cut = (text: string): string => (text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text);

interface Standing {
  /** Why the account that was halted for it still is; null: it is not, or was before. */
  readonly staysHalted: 'changed' | 'not over' | null;
  readonly isLive: boolean;
  readonly file: string;
}

export const CHANGED_MEANWHILE =
  'The account stays halted: somebody changed it meanwhile, and may have halted it, too. It is resumed on its page.';

export function tellOutcome(output: Output, outcome: Outcome, standing: Standing): void {
  const { rows, ended, why, home, equity } = outcome;
  if (ended === 'declined') return;
  if (ended === 'refused') {
    output.complain(why ?? 'It was not begun.');
    if (standing.staysHalted !== null) output.complain(CHANGED_MEANWHILE);
    return;
  }
  output.table<TrialRow>(
    rows,
    [
      { title: 'STEP', value: ({ step }) => step },
      { title: 'ASSUMED', value: ({ assumed }) => cut(assumed) },
      { title: 'SEEN', value: ({ seen }) => cut(seen) },
      {
        title: 'VERDICT',
        value: ({ verdict }) => VERDICTS[verdict][0],
        tone: ({ verdict }) => VERDICTS[verdict][1],
      },
    ],
    null,
  );
  output.print('');
  for (const { step, seen, verdict } of rows)
    if (verdict === 'surprise' || (verdict === 'noted' && seen.length > WIDEST))
      output.print(`${output.paint(VERDICTS[verdict][1], `${step}:`)} ${visible(seen)}`);
  output.print(output.paint(ended === 'well' ? 'good' : 'bad', ENDINGS[ended]));
  if (home) {
    if (home.isFlat) output.print(`The account is flat again. ${sentence(home.words)}`);
    else output.complain(output.paint('bad', home.words));
  } else output.print('Nothing was sent.');
  if (equity)
    output.print(`The account’s equity is ${subtract(equity.before, equity.after)} less than before.`);
  if (standing.staysHalted === 'changed') output.print(CHANGED_MEANWHILE);
  if (standing.staysHalted === 'not over')
    output.print(
      `The account stays halted. Resume it on its page when ${ended === 'surprised' ? 'you know what the surprise means' : 'it is flat'}.`,
    );
  output.print(`All that was asked and answered is in ${standing.file}, without keys and account numbers.`);
  if (ended === 'surprised' || rows.some(({ verdict }) => verdict === 'noted'))
    output.print(
      'Send us that file: what it shows becomes a part of the tests. `fillpath broker compare FILE` reads it again.',
    );
}

const ENDINGS = {
  well: 'All that could be tried is as it is assumed.',
  surprised:
    'It ended at a surprise: something is not as it is assumed. Do not trade here before you know why.',
  interrupted: 'It was interrupted.',
} as const;

const sentence = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());

export function tellComparison(output: Output, compared: Compared): void {
  const { title, began, calls, replies, otherwise, fields, cutAfter } = compared;
  output.print(`${title}, ${began}: ${calls} calls, ${replies} replies.`);
  if (cutAfter !== null)
    output.complain(
      `It has no end: the trial was interrupted, or the file was cut after line ${cutAfter}. What is there was compared; ask for the whole file.`,
    );
  for (const { call, field, what } of fields)
    output.print(
      `${output.paint(what === 'missing' ? 'bad' : 'warn', what)}  ${title}, ${visible(call)}: ${visible(field)}`,
    );
  for (const { call, nth, field, before, now } of otherwise)
    output.print(
      `${output.paint('bad', 'otherwise')}  ${title}, ${call} (call ${nth}): ${visible(field)} was ${visible(before)}, and is read as ${visible(now)}`,
    );
  if (fields.length === 0 && otherwise.length === 0)
    output.print('No difference: every reply has the fields that are known, and is read as it was then.');
}
