// Proves that the audit log is whole, beside the running service or without it.

import { auditKeyOf, type ChainReport, verifyAuditLog } from '../app/audit/chain.ts';
import type { Config } from '../config/config.ts';
import { keptHead } from '../data/audit/kept-head.ts';
import { type ChainHead, headText, readHeadText } from '../domain/audit-chain.ts';
import { millis } from '../domain/ids.ts';
import { appKeyOf, hasAppKey, openDatabase } from '../roles/adapters.ts';
import { type AddCommands, examples, JSON_OPTION } from './desk.ts';
import type { ExitCode, Output } from './output.ts';

/** Sealing takes a second. */
const LONG_UNSEALED_MS = 3_600_000;

interface VerifyOptions {
  readonly head?: string;
  readonly json?: true;
}

export const audit: AddCommands = (noun, { output, config, giveWay, does }) => {
  noun
    .command('verify')
    .description('prove that no sealed entry was changed, removed or added')
    .option('--head <head>', 'also prove that it contains this head, as `audit head` printed it earlier')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('audit verify', 'audit verify --head 1042:9f2c…'))
    .action(
      does(async (options: VerifyOptions) => {
        giveWay?.();
        const kept = options.head === undefined ? [] : [readHeadText(options.head)];
        if (kept.includes(null)) {
          output.complain('--head takes what `audit head` printed: COUNT:HASH');
          return 2;
        }
        const heads = kept as ChainHead[];
        const report = await verify(config(), heads);
        return options.json ? reportJson(report, output) : reportWords(report, heads, output);
      }),
    );
  noun
    .command('head')
    .description("print the chain's head, to be kept elsewhere")
    .option(...JSON_OPTION)
    .addHelpText('after', examples('audit head >> /mnt/elsewhere/fillpath-heads'))
    .action(
      does(async ({ json }: { json?: true }) => {
        const { problems, head } = await verify(config(), []);
        if (problems.length > 0) {
          output.complain('BROKEN: run `audit verify`.');
          return 1;
        }
        if (json) output.json({ head: headText(head), entries: head.entries });
        else output.print(headText(head));
        return 0;
      }),
    );
};

const isLate = ({ unsealedSince }: ChainReport): boolean =>
  unsealedSince !== null && Date.now() - millis(unsealedSince) > LONG_UNSEALED_MS;

function reportJson(report: ChainReport, output: Output): ExitCode {
  const { problems, head, unsealed, unsealedSince, begins } = report;
  const whole = problems.length === 0 && !isLate(report);
  output.json({
    whole,
    problems,
    head: headText(head),
    sealed: head.entries,
    unsealed,
    unsealed_since: unsealedSince,
    pruned: begins.entries,
  });
  return whole ? 0 : 1;
}

function reportWords(report: ChainReport, kept: readonly ChainHead[], { print, complain }: Output): ExitCode {
  const { problems, head, unsealed, unsealedSince, begins } = report;
  for (const problem of problems) complain(`BROKEN: ${problem}`);
  if (isLate(report))
    complain(`UNSEALED: ${unsealed} entries, the oldest from ${unsealedSince}. The verifier's log says why.`);
  if (problems.length > 0 || isLate(report)) return 1;
  print(`The audit log is whole: ${head.entries} entries sealed, ${unsealed} not yet.`);
  if (begins.entries > 0) print(`Entries 1 to ${begins.entries} were pruned.`);
  for (const given of kept)
    print(
      given.entries < begins.entries
        ? 'The head given is one of those, and could not be compared.'
        : `It contains the head given, ${headText(given)}.`,
    );
  print(`head ${headText(head)}`);
  return 0;
}

/** Against the heads given, and the one that a sealer on this machine remembers. */
async function verify(config: Config, kept: readonly ChainHead[]): Promise<ChainReport> {
  // A key made here and now would find every entry changed.
  if (!hasAppKey(config)) throw new Error(`APP_KEY is not set, and there is none in ${config.data.dir}.`);
  const closers: (() => unknown)[] = [];
  const db = await openDatabase(config, closers, { alone: false, readOnly: true });
  try {
    // Before the log: it grows, and what is remembered then may not be in what was read.
    const remembered = await keptHead(config.data.dir, config.data.databaseUrl).recall();
    const isNew = remembered && !kept.some((head) => headText(head) === headText(remembered));
    const heads = isNew ? [...kept, remembered] : kept;
    return await verifyAuditLog({ db, auditKey: auditKeyOf(appKeyOf(config)) }, heads);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
