// What protects everybody's positions: which stops are missing, and what was done about one.

import { type KeptProtection, readAnyProtection, readKeptProtections } from '../app/operation/protections.ts';
import { pagesOf } from '../app/pages.ts';
import { isDenial } from '../domain/denial.ts';
import { PROTECTION_STATES } from '../domain/protection/protection.ts';
import { asOperator } from '../roles/operator.ts';
import { type AddCommands, examples, JSON_OPTION, refused, type WithJson } from './desk.ts';
import type { Column, ExitCode, Tone } from './output.ts';

interface ListOptions extends WithJson {
  readonly state?: string;
}

export const protections: AddCommands = (noun, { output, config, does }) => {
  noun
    .command('list')
    .description("list what protects everybody's positions now; those without their stop first")
    .option('--state <state>', `only these: ${KEPT.join(', ')}`)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('protections list', 'protections list --state unprotected'))
    .action(
      does(async ({ state, json }: ListOptions) => {
        const only = KEPT.find((known) => known === state) ?? null;
        if (state !== undefined && only === null) {
          output.complain(`--state takes one of ${KEPT.join(', ')}.`);
          return 2;
        }
        return asOperator<ExitCode>(config(), 'protections list', async (operator) => {
          const found: KeptProtection[] = [];
          for await (const { items } of pagesOf((page) =>
            readKeptProtections(operator, { ...page, state: only }),
          ))
            found.push(...items);
          const missing = found.filter((each) => each.unprotected_since !== null);
          const others = found.filter((each) => each.unprotected_since === null);
          const all = [...missing.toSorted(longestFirst), ...others];
          if (json) output.json(all);
          else
            output.table(
              all,
              columnsAt(operator.clock.now()),
              only === null ? 'No position is protected.' : 'There are no such protections.',
            );
          return 0;
        });
      }),
    );

  noun
    .command('show')
    .description('show one, and what was done about it')
    .argument('<protection>', 'its id')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('protections show 019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10'))
    .action(
      does(async (id: string, { json }: WithJson) =>
        asOperator<ExitCode>(config(), 'protections show', async (operator) => {
          const found = await readAnyProtection(operator, id);
          if (isDenial(found)) return refused(output, found);
          if (json) output.json(found);
          else {
            output.table([found], columnsAt(operator.clock.now()), null);
            output.print('');
            output.table(found.history, HISTORY, 'Nothing was done about it yet.');
          }
          return 0;
        }),
      ),
    );
};

/** What is over, or left at its broker, nobody looks after. */
const KEPT = PROTECTION_STATES.filter((state) => state !== 'ended' && state !== 'left');

const longestFirst = (one: KeptProtection, other: KeptProtection): number =>
  (one.unprotected_since ?? '') < (other.unprotected_since ?? '') ? -1 : 1;

const TONES: Readonly<Record<string, Tone>> = {
  standing: 'good',
  unprotected: 'bad',
  unwatched: 'warn',
};

/** `2026-11-17T11:02:16.581Z (41 s)`. */
function missingSince({ unprotected_since }: KeptProtection, now: number): string | null {
  if (unprotected_since === null) return null;
  return `${unprotected_since} (${Math.max(0, Math.round((now - Date.parse(unprotected_since)) / 1000))} s)`;
}

const columnsAt = (now: number): readonly Column<KeptProtection>[] => [
  { title: 'STATE', value: (each) => each.state, tone: (each) => TONES[each.state] },
  { title: 'NO STOP SINCE', value: (each) => missingSince(each, now) },
  { title: 'USER', value: (each) => each.user },
  { title: 'ACCOUNT', value: (each) => each.account },
  { title: 'MODE', value: (each) => (each.simulation ? 'simulated' : each.broker) },
  { title: 'SYMBOL', value: (each) => each.symbol },
  { title: 'SIDE', value: (each) => each.side },
  { title: 'STOP', value: (each) => each.stop_loss, align: 'right' },
  { title: 'SEEN', value: (each) => each.seen_at },
  { title: 'PROTECTION', value: (each) => each.id },
  { title: 'WHY', value: (each) => each.reason },
];

interface Line {
  readonly at: string;
  readonly what: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly by: string | null;
}

const HISTORY: readonly Column<Line>[] = [
  { title: 'AT', value: (line) => line.at },
  { title: 'WHAT', value: (line) => line.what },
  { title: 'FROM', value: (line) => line.from, align: 'right' },
  { title: 'TO', value: (line) => line.to, align: 'right' },
  { title: 'BY', value: (line) => line.by },
];
