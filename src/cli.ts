// Commands beside the service: `npm run cli -- audit verify`.

import { auditKeyOf, type ChainReport, verifyAuditLog } from './app/audit/chain.ts';
import type { Config } from './config/config.ts';
import { keptHead } from './data/kept-head.ts';
import { type ChainHead, headText, readHeadText } from './domain/audit-chain.ts';
import { millis } from './domain/ids.ts';
import { errorsList } from './http/docs/errors-list.ts';
import { appKeyOf, hasAppKey, openDatabase } from './roles/adapters.ts';

export const USAGE = `Usage:
  npm start                                   run the service
  npm start -- --demo                         run it with invented strategies that play on paper accounts
  npm run config                              list the settings
  npm run cli -- audit verify [--head HEAD]   prove that the audit log is whole, and contains the head kept earlier
  npm run cli -- audit head                   print the chain's head, to be kept elsewhere
  npm run cli -- errors                       print every error, as ERRORS.md has them`;

/** Sealing takes a second. */
const LONG_UNSEALED_MS = 3_600_000;

interface Output {
  print(text: string): void;
  complain(text: string): void;
}

/** The exit code: 0 good, 1 a finding, 2 no command of ours, or one that could not be carried out. */
export async function runCommand(config: Config, args: readonly string[], output: Output): Promise<number> {
  try {
    return await run(config, args, output);
  } catch (fault) {
    output.complain((fault as Error).message);
    return 2;
  }
}

async function run(config: Config, args: readonly string[], output: Output): Promise<number> {
  const [noun, verb, ...rest] = args;
  if (
    noun === 'audit' &&
    verb === 'verify' &&
    (rest.length === 0 || (rest[0] === '--head' && rest.length === 2))
  ) {
    const kept = rest[1] === undefined ? [] : [readHeadText(rest[1])];
    if (kept.includes(null)) {
      output.complain('--head takes what `audit head` printed: COUNT:HASH');
      return 2;
    }
    return auditVerify(config, kept as ChainHead[], output);
  }
  if (noun === 'audit' && verb === 'head' && rest.length === 0) return auditHead(config, output);
  if (noun === 'errors' && verb === undefined) {
    output.print(errorsList().trimEnd());
    return 0;
  }
  output.complain(USAGE);
  return 2;
}

async function auditVerify(
  config: Config,
  kept: readonly ChainHead[],
  { print, complain }: Output,
): Promise<number> {
  const { problems, head, unsealed, unsealedSince, begins } = await verify(config, kept);
  for (const problem of problems) complain(`BROKEN: ${problem}`);
  const isLate = unsealedSince !== null && Date.now() - millis(unsealedSince) > LONG_UNSEALED_MS;
  if (isLate)
    complain(`UNSEALED: ${unsealed} entries, the first since ${unsealedSince}. The verifier's log says why.`);
  if (problems.length > 0 || isLate) return 1;
  print(`The audit log is whole: ${head.entries} entries sealed, ${unsealed} not yet.`);
  if (begins.entries > 0) print(`Entries 1 to ${begins.entries} were pruned.`);
  if (kept.some(({ entries }) => entries < begins.entries))
    print('The head given is one of those, and could not be compared.');
  print(`head ${headText(head)}`);
  return 0;
}

async function auditHead(config: Config, output: Output): Promise<number> {
  const { problems, head } = await verify(config, []);
  if (problems.length === 0) output.print(headText(head));
  else output.complain('BROKEN: run `audit verify`.');
  return problems.length === 0 ? 0 : 1;
}

/** Against the heads given, and the one that a sealer on this machine remembers. */
async function verify(config: Config, kept: readonly ChainHead[]): Promise<ChainReport> {
  // A key made here and now would find every entry changed.
  if (!hasAppKey(config)) throw new Error(`APP_KEY is not set, and there is none in ${config.data.dir}.`);
  const closers: (() => unknown)[] = [];
  const db = await openDatabase(config, closers, { alone: false });
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
