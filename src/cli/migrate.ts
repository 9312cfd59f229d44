// The schema, brought up to date before a start or without one.

import packageJson from '../../package.json' with { type: 'json' };
import { migrate, schemaOf } from '../data/engine/migrate.ts';
import { openDatabase } from '../roles/adapters.ts';
import { type AddCommands, examples, JSON_OPTION, type WithJson } from './desk.ts';

export const migrating: AddCommands = (noun, { output, config, does }) => {
  noun
    .option('--check', 'change nothing; exit with 1 if something is pending')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('migrate --check', 'migrate'))
    .action(
      does(async ({ check = false, json }: WithJson & { check?: boolean }) => {
        const closers: (() => unknown)[] = [];
        try {
          // The embedded database belongs to one process, and what runs there now expects the schema that it has.
          const db = await openDatabase(config(), closers, { alone: !check, readOnly: check });
          const { version: program } = packageJson;
          const { pending, refusal } = await schemaOf(db, program);
          if (refusal !== null) throw new Error(refusal);
          if (!check && pending.length > 0) await migrate(db, Date.now(), { program });
          if (json) output.json(check ? { pending } : { applied: pending });
          else if (pending.length === 0) output.print('The schema is up to date.');
          else for (const name of pending) output.print(`${check ? 'pending' : 'applied'} ${name}`);
          return check && pending.length > 0 ? 1 : 0;
        } finally {
          for (const close of closers.reverse()) await close();
        }
      }),
    );
};
