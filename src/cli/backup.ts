// Backups of the embedded data, while the service runs or not.

import type { Counts } from '../data/restored.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import { makeBackup, restoreBackup } from '../roles/backup.ts';
import { type AddCommands, type Desk, examples, JSON_OPTION } from './desk.ts';

const countsText = ({ users, accounts, orders, under_way, audit_entries }: Counts): string =>
  `${users} users, ${accounts} accounts, ${orders} orders (${under_way} under way), ${audit_entries} entries in the audit log, which is whole`;

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

export const backup: AddCommands = (noun, { output, config, does }) => {
  noun
    .argument('<file>', 'a file that is not there yet, or a folder, in which it is named by the time')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('backup /mnt/elsewhere/', 'backup today.sqlite --json'))
    .action(
      does((file: string, { json }: { json?: true }) =>
        orRefusal(output, async () => {
          const report = await makeBackup(config(), file);
          if (json) {
            output.json(report);
            return 0;
          }
          output.print(`${report.file}: ${(report.bytes / 2 ** 20).toFixed(1)} MB, read again and sound.`);
          output.print(`${countsText(report.counts)}.`);
          output.print(`audit head ${report.head}`);
          output.print(
            report.keys_in === null
              ? 'The keys are not in it. Keep APP_KEY, WORKER_KEY and JWT_SECRET apart from it.'
              : `The keys are not in it. Keep ${report.keys_in} apart from it: without APP_KEY and WORKER_KEY nothing that is sealed can be opened.`,
          );
          return 0;
        }),
      ),
    );
};

interface RestoreOptions {
  readonly into: string;
  readonly keys?: string;
  readonly halt: boolean;
  readonly json?: true;
}

export const restore: AddCommands = (noun, { output, config, does }) => {
  noun
    .argument('<file>', 'what `backup` made')
    .requiredOption('--into <folder>', 'an empty folder, the DATA_DIR of the next start')
    .option(
      '--keys <folder>',
      'the folder `keys` that was kept apart; without it they are in the environment',
    )
    .option('--no-halt', 'leave accounts as they are: only where the service was stopped before the backup')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('restore today.sqlite --into ./restored --keys ./kept/keys'))
    .action(
      does((file: string, { into, keys, halt, json }: RestoreOptions) =>
        orRefusal(output, async () => {
          const report = await restoreBackup(config(), { file, into, keys: keys ?? null, halt });
          if (json) {
            output.json(report);
            return 0;
          }
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
              : 'Accounts were left as they are.',
          );
          output.print('Everybody is logged out, and signals of before this moment are refused.');
          output.print(
            `Start it with DATA_DIR=${report.folder}${report.has_keys ? '' : ' and the keys that go with it'}.`,
          );
          return 0;
        }),
      ),
    );
};
