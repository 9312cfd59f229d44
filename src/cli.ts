// Commands beside the service: `npm run cli -- audit verify`.

import { auditKeyOf, verifyAuditLog } from './app/audit/chain.ts';
import type { Config } from './config/config.ts';
import { headText, readHeadText } from './domain/audit-chain.ts';
import { errorsList } from './http/docs/errors-list.ts';
import { appKeyOf, hasAppKey, openDatabase } from './roles/adapters.ts';

export const USAGE = `Usage:
  npm start                                   run the service
  npm run config                              list the settings
  npm run cli -- audit verify [--head HEAD]   prove that the audit log is whole, and contains the head kept earlier
  npm run cli -- audit head                   print the chain's head, to be kept elsewhere
  npm run cli -- errors                       print every error, as ERRORS.md has them`;

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
    const kept = rest[1] === undefined ? null : readHeadText(rest[1]);
    if (rest[1] !== undefined && !kept) {
      output.complain('--head takes what `audit head` printed: COUNT:HASH');
      return 2;
    }
    return auditVerify(config, kept, output);
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
  kept: ReturnType<typeof readHeadText>,
  { print, complain }: Output,
): Promise<number> {
  const { problems, head, unsealed } = await withChain(config, (chain) => verifyAuditLog(chain, kept));
  for (const problem of problems) complain(`BROKEN: ${problem}`);
  if (problems.length > 0) return 1;
  print(`The audit log is whole: ${head.entries} entries sealed, ${unsealed} not yet.`);
  print(`head ${headText(head)}`);
  return 0;
}

async function auditHead(config: Config, output: Output): Promise<number> {
  const { problems, head } = await withChain(config, (chain) => verifyAuditLog(chain, null));
  if (problems.length === 0) output.print(headText(head));
  else output.complain('BROKEN: run `audit verify`.');
  return problems.length === 0 ? 0 : 1;
}

async function withChain<T>(
  config: Config,
  use: (chain: { db: Awaited<ReturnType<typeof openDatabase>>; auditKey: Buffer }) => Promise<T>,
): Promise<T> {
  // A key made here and now would find every entry changed.
  if (!hasAppKey(config)) throw new Error(`APP_KEY is not set, and there is none in ${config.data.dir}.`);
  const closers: (() => unknown)[] = [];
  const db = await openDatabase(config, closers, { alone: false });
  try {
    return await use({ db, auditKey: auditKeyOf(appKeyOf(config)) });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
