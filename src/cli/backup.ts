// Backups of the embedded data, while the service runs or not.

import type { Counts } from '../data/orders/restored.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import { makeBackup, restoreBackup } from '../roles/backup.ts';
import type { KeyPlaces } from '../roles/restore-keys.ts';
import { type AddCommands, type Desk, examples, JSON_OPTION } from './desk.ts';

const countsText = ({ users, accounts, orders, under_way, audit_entries }: Counts): string =>
  `users: ${users}, accounts: ${accounts}, orders: ${orders} (under way: ${under_way}), entries in the audit log, which is whole: ${audit_entries}`;

/** Where each of them is, so that whoever keeps them keeps all. */
function keysText({ folder, in_folder, in_environment }: KeyPlaces): string {
  const both = [
    ...(folder === null ? [] : [`${folder} (${inWords(in_folder)})`]),
    ...(in_environment.length === 0 ? [] : [`${inWords(in_environment)} from the environment or .env`]),
  ];
  return `Keep these apart from it: ${both.join(', and ')}. Without APP_KEY and WORKER_KEY nothing that is sealed can be opened.`;
}

const inWords = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');

/** What cannot be done, and rightly so, is a refusal. */
async function orRefusal(output: Desk['output'], work: () => Promise<0>): Promise<0 | 1> {
  try {
    return await work();
  } catch (fault) {
    if (!(fault instanceof CannotStart)) throw fault;
    output.complain(fault.message);
    return 1;
  }
}

export const backup: AddCommands = (noun, { output, config, giveWay, does }) => {
  noun
    .argument('<file>', 'a file that does not exist yet, or a folder, in which it is named after the time')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('backup /mnt/elsewhere/', 'backup today.sqlite --json'))
    .action(
      does((file: string, { json }: { json?: true }) =>
        orRefusal(output, async () => {
          giveWay?.();
          const report = await makeBackup(config(), file);
          if (json) {
            output.json(report);
            return 0;
          }
          output.print(
            `${report.file}: ${(report.bytes / 2 ** 20).toFixed(1)} MB, read back and found sound.`,
          );
          output.print(`${countsText(report.counts)}.`);
          output.print(`audit head ${report.head}`);
          output.print(`The keys are not in it. ${keysText(report.keys)}`);
          return 0;
        }),
      ),
    );
};

interface RestoreOptions {
  readonly into: string;
  readonly keys?: string | null;
  readonly halt: boolean;
  readonly loseCredentials?: boolean;
  readonly unsigned?: boolean;
  readonly json?: true;
}

export const restore: AddCommands = (noun, { output, config, does }) => {
  noun
    .argument('<file>', 'what `backup` made')
    .requiredOption('--into <folder>', 'an empty folder, the DATA_DIR of the next start')
    .option(
      '--keys <folder>',
      'the folder `keys` that was kept apart; what is not in it is taken from the environment',
    )
    .option('--no-halt', 'do not halt the accounts: only if the service was stopped before the backup')
    .option(
      '--lose-credentials',
      'restore although WORKER_KEY is lost: broker credentials must be sent again',
    )
    .option(
      '--unsigned',
      'take one from a release before backups carried a proof: nobody can tell whether it was changed',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', examples('restore today.sqlite --into ./restored --keys ./kept/keys'))
    .action(
      does((file: string, { into, keys = null, json, ...options }: RestoreOptions) =>
        orRefusal(output, async () => {
          const report = await restoreBackup(config(), { file, into, keys, ...options });
          for (const warning of report.warnings) output.complain(warning);
          if (json) {
            output.json(report);
            return 0;
          }
          for (const note of report.notes) output.print(note);
          const { unknown, expired } = report.settled;
          output.print(
            `${report.folder} has the data of ${report.backed_up_at}: ${countsText(report.counts)}.`,
          );
          output.print(
            unknown + expired === 0
              ? 'No order was under way.'
              : `Of the orders that were under way none is sent from here: ${unknown} are unknown, and ${expired} expired.`,
          );
          output.print(
            report.halted
              ? 'Every account is halted: exits pass, entries do not. Compare the positions at the brokers before you resume one.'
              : 'The accounts were not halted.',
          );
          output.print('Signals from before this moment are refused.');
          output.print(
            'What was revoked or changed since the backup is not known here. So every session, API key and password has ended, and notification destinations wait to be confirmed.',
          );
          output.print(
            'Everybody sets a new password: by mail (Forgot password), or you set it with `npx fillpath user password EMAIL`, your own first.',
          );
          output.print(
            `Start it with DATA_DIR=${report.folder}${report.has_keys ? '' : ' and the keys of this environment'}.`,
          );
          return 0;
        }),
      ),
    );
};
